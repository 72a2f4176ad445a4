//! The members of objects.

use super::{ANYTHING, Effect, Walk};
use crate::json::Json;
use crate::json::keywords::without_words;

/// What a schema says of the members of an object.
struct Members<'s> {
    known: &'s [(String, Json)],
    required: Vec<&'s str>,
    others: &'s Json,
    patterns: &'s [(String, Json)],
}

impl<'s> Members<'s> {
    fn of(schema: &'s Json) -> Members<'s> {
        let list = |key| schema.get(key).map_or(&[][..], Json::members);
        let required = schema.get("required").map_or(&[][..], Json::items);
        Members {
            known: list("properties"),
            required: required.iter().filter_map(Json::text).collect(),
            others: schema.get("additionalProperties").unwrap_or(&ANYTHING),
            patterns: list("patternProperties"),
        }
    }

    fn get(&self, key: &str) -> Option<&'s Json> {
        let found = self.known.iter().find(|(name, _)| name == key);
        found.map(|(_, schema)| schema)
    }

    fn requires(&self, key: &str) -> bool {
        self.required.contains(&key)
    }

    /// Whether no other member may be there.
    fn is_closed(&self) -> bool {
        *self.others == Json::Boolean(false)
    }
}

impl<'s> Walk<'s> {
    pub(super) fn members(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let (old, new) = (Members::of(old), Members::of(new));
        let renamed = renamed(&old, &new);
        for (key, schema) in old.known {
            let place = format!("{path}.{key}");
            match new.get(key) {
                Some(other) => self.schema(schema, other, &place),
                None => match renamed.iter().find(|(from, _)| from == key) {
                    Some((_, to)) => {
                        self.add(&place, Effect::Other, format!("renamed to `{to}`"));
                    }
                    None => self.removed(key, schema, [&old, &new], &place),
                },
            }
        }
        for (key, schema) in new.known {
            if old.get(key).is_none() && !renamed.iter().any(|(_, to)| to == key) {
                self.added(key, schema, [&old, &new], &format!("{path}.{key}"));
            }
        }
        self.required(&old, &new, path);
        self.patterns(&old, &new, path);
        self.schema(old.others, new.others, &format!("{path}.*"));
    }

    /// A member that has no schema of its own any more.
    fn removed(&mut self, key: &str, schema: &'s Json, of: [&Members<'s>; 2], path: &str) {
        let [old, new] = of;
        if !old.patterns.is_empty() || !new.patterns.is_empty() {
            return self.add(
                path,
                Effect::Other,
                "removed, where keys of a pattern are taken",
            );
        }
        if !new.is_closed() {
            return self.schema(schema, new.others, path);
        }
        // Those who read it miss it, if they could rely on it.
        let effect = match old.requires(key) {
            true => Effect::Other,
            false => Effect::Narrower,
        };
        self.add(path, effect, "removed");
    }

    /// A member that had no schema of its own.
    fn added(&mut self, key: &str, schema: &'s Json, of: [&Members<'s>; 2], path: &str) {
        let [old, new] = of;
        if !old.patterns.is_empty() || !new.patterns.is_empty() {
            // Perhaps it had to be what a pattern of keys says.
            return self.add(
                path,
                Effect::Other,
                "added, where keys of a pattern were taken",
            );
        }
        if !old.is_closed() {
            self.schema(old.others, schema, path);
        } else if new.requires(key) {
            self.add(path, Effect::Narrower, "added, and required");
        } else {
            self.add(path, Effect::Member, "added, optional");
        }
    }

    fn required(&mut self, old: &Members<'s>, new: &Members<'s>, path: &str) {
        // Whether it is in only one of them, which the other refuses: that is told already.
        let is_told = |one: &Members<'_>, other: &Members<'_>, key: &str| {
            one.get(key).is_some() && other.get(key).is_none() && other.is_closed()
        };
        for key in &new.required {
            if !old.requires(key) && !is_told(new, old, key) {
                self.add(&format!("{path}.{key}"), Effect::Narrower, "required now");
            }
        }
        for key in &old.required {
            if !new.requires(key) && !is_told(old, new, key) {
                self.add(
                    &format!("{path}.{key}"),
                    Effect::Wider,
                    "no longer required",
                );
            }
        }
    }

    fn patterns(&mut self, old: &Members<'s>, new: &Members<'s>, path: &str) {
        let is_same = old.patterns.len() == new.patterns.len()
            && new
                .patterns
                .iter()
                .all(|(key, _)| old.patterns.iter().any(|(other, _)| other == key));
        if !is_same {
            return self.add(
                path,
                Effect::Other,
                "other patterns of keys (`patternProperties`)",
            );
        }
        for (key, schema) in old.patterns {
            let other = new.patterns.iter().find(|(other, _)| other == key);
            let other = other.map_or(&ANYTHING, |(_, other)| other);
            self.schema(schema, other, &format!("{path}.{key}"));
        }
    }
}

/// The members that are still there by another name: one is gone, one has come, and both are alike
/// and like no other.
fn renamed<'s>(old: &Members<'s>, new: &Members<'s>) -> Vec<(&'s str, &'s str)> {
    let unlike = |members: &Members<'s>, others: &Members<'s>| -> Vec<(&'s str, bool, Json)> {
        let gone = members
            .known
            .iter()
            .filter(|(key, _)| others.get(key).is_none());
        let gone = gone.map(|(key, schema)| (&**key, members.requires(key), without_words(schema)));
        gone.collect()
    };
    let (gone, come) = (unlike(old, new), unlike(new, old));
    let same = |left: &(&str, bool, Json), right: &(&str, bool, Json)| {
        left.1 == right.1 && left.2 == right.2
    };
    let mut renamed = Vec::new();
    for from in &gone {
        let mut twins = come.iter().filter(|to| same(from, to));
        if let (Some(to), None) = (twins.next(), twins.next())
            && gone.iter().filter(|other| same(other, to)).count() == 1
        {
            renamed.push((from.0, to.0));
        }
    }
    renamed
}
