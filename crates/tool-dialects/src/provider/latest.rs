//! [`Latest`]: members of a response of which each event may bring another value.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tool_core::dialect::write::Json;

use crate::provider::stream::size;

/// A value of an event that is kept as it came.
#[derive(Clone, Debug, PartialEq)]
enum Kept {
    Value(Value),
    Text(String),
}

/// Members of a response of which each event may bring another value.
#[derive(Default)]
pub(crate) struct Latest {
    /// The first ones, which are searched one by one.
    members: Vec<(String, Kept)>,
    /// Where the next member is likely to be, because all events have the same order.
    next: usize,
    /// No provider sends so many.
    more: BTreeMap<String, Kept>,
}

/// The members of a [`Latest`] that are searched one by one.
const SEARCHED: usize = 32;

impl Latest {
    fn find(&mut self, key: &str) -> Option<usize> {
        let is_next = |(known, _): &(String, Kept)| known == key;
        let found = if self.members.get(self.next).is_some_and(is_next) {
            self.next
        } else {
            self.members.iter().position(is_next)?
        };
        self.next = found + 1;
        Some(found)
    }

    /// Returns `true` if there is a member `key`.
    pub(crate) fn has(&mut self, key: &str) -> bool {
        self.find(key).is_some() || self.more.contains_key(key)
    }

    /// Sets a member.
    pub(crate) fn set<'e>(&mut self, key: &str, value: impl Json<'e>) {
        if let Some(found) = self.find(key) {
            keep(value, &mut self.members[found].1);
        } else if let Some(known) = self.more.get_mut(key) {
            keep(value, known);
        } else {
            let mut kept = Kept::Text(String::new());
            keep(value, &mut kept);
            if self.members.len() < SEARCHED {
                self.members.push((key.to_owned(), kept));
            } else {
                self.more.insert(key.to_owned(), kept);
            }
        }
    }

    /// Returns about how many bytes the members take as values.
    pub(crate) fn size(&self) -> usize {
        let members = self.members.iter().map(|(_, kept)| kept);
        let members = members.chain(self.more.values());
        let size = |kept: &Kept| match kept {
            Kept::Value(value) => size([value]),
            Kept::Text(json) => json.len() * 70,
        };
        members.map(size).sum()
    }

    /// Returns the members as values.
    pub(crate) fn into_values(self) -> Map<String, Value> {
        let members = self.members.into_iter().chain(self.more);
        let members = members.map(|(key, kept)| {
            let value = match kept {
                Kept::Value(value) => value,
                Kept::Text(json) => {
                    let value = serde_json::from_str(&json);
                    debug_assert!(value.is_ok(), "{value:?}");
                    value.unwrap_or_default()
                }
            };
            (key, value)
        });
        members.collect()
    }
}

/// Replaces what is kept of an earlier event.
fn keep<'e>(value: impl Json<'e>, kept: &mut Kept) {
    match (value.json_text(), kept) {
        (Some(text), Kept::Text(known)) if known == text => {}
        (Some(text), Kept::Text(known)) => {
            known.clear();
            known.push_str(text);
        }
        (Some(text), kept) => *kept = Kept::Text(text.to_owned()),
        (None, Kept::Value(known)) if value.is(known) => {}
        (None, kept) => *kept = Kept::Value(value.value().into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_core::dialect::write::EventReader;

    #[test]
    fn the_latest_value_of_any_number_of_members_is_kept() {
        let mut latest = Latest::default();
        let keys: Vec<_> = (0..100).map(|at| at.to_string()).collect();
        for round in 0..3_u64 {
            for key in keys.iter().rev().skip(usize::from(round == 1)) {
                assert_eq!(latest.has(key), round > 0);
                latest.set(key, &Value::from(round));
            }
        }
        latest.set("50", EventReader::default().read("[7]").unwrap());
        let values = latest.into_values();
        assert_eq!(values.len(), 100);
        assert_eq!(
            (&values["99"], &values["50"]),
            (&2.into(), &serde_json::json!([7]))
        );
    }
}
