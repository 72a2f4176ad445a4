//! [`References`]: finds the schemas that references of a schema lead to.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::ordered_json::keywords::{Applies, Holds, Keyword};
use crate::ordered_json::{Json, pointer_key};

/// The number of members from which an object gets an index.
const MANY: usize = 32;

type Index<'s> = HashMap<&'s str, &'s Json>;

/// A whole schema, with an index of the large objects in it.
pub(super) struct References<'s> {
    pub(super) root: &'s Json,
    indices: RefCell<HashMap<*const Json, Index<'s>>>,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Json) -> References<'s> {
        References {
            root,
            indices: RefCell::default(),
        }
    }

    /// Returns the value of an object's member, in constant time.
    pub(super) fn get(&self, object: &'s Json, key: &str) -> Option<&'s Json> {
        let members = object.members();
        if members.len() < MANY {
            return object.get(key);
        }
        let mut indices = self.indices.borrow_mut();
        let index = indices
            .entry(object)
            .or_insert_with(|| members.iter().map(|(key, value)| (&**key, value)).collect());
        index.get(key).copied()
    }

    /// Finds the schema of a reference: by its place, its anchor or its address.
    pub(super) fn find(&self, reference: &str) -> Option<&'s Json> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = match address {
            "" => self.root,
            address => having(self.root, &|schema| {
                let id = schema.get_str("$id").or(schema.get_str("id"));
                id.is_some_and(|id| id.trim_end_matches('#').ends_with(address))
            })?,
        };
        match fragment {
            "" => Some(base),
            pointer if pointer.starts_with('/') => {
                let mut steps = pointer.split('/').skip(1);
                steps.try_fold(base, |value, step| match value {
                    Json::Array(_) => value.child(&decoded(step)),
                    _ => self.get(value, &decoded(step)),
                })
            }
            anchor => having(base, &|schema| {
                let is = |key, prefix: &str| {
                    let name = schema.get_str(key);
                    name.and_then(|name| name.strip_prefix(prefix)) == Some(anchor)
                };
                is("$anchor", "") || is("$dynamicAnchor", "") || is("$id", "#") || is("id", "#")
            }),
        }
    }

    /// Returns the schemas that apply to the same value as a schema with this keyword.
    pub(super) fn in_place(
        &self,
        keyword: &'static Keyword,
        value: &'s Json,
    ) -> impl Iterator<Item = &'s Json> + use<'s> {
        let target = match (keyword.holds, value) {
            (Holds::Reference, Json::String(reference)) => self.find(reference),
            _ => None,
        };
        let schemas = keyword.schemas(value).map(|(_, schema)| schema);
        let schemas = schemas.filter(|_| keyword.applies == Applies::Itself);
        target.into_iter().chain(schemas)
    }
}

/// Returns the first object that fulfils a condition.
pub(super) fn having<'s>(value: &'s Json, condition: &impl Fn(&Json) -> bool) -> Option<&'s Json> {
    match value {
        Json::Object(_) if condition(value) => Some(value),
        Json::Object(members) => members
            .iter()
            .find_map(|(_, value)| having(value, condition)),
        Json::Array(items) => items.iter().find_map(|value| having(value, condition)),
        _ => None,
    }
}

/// Returns the keywords of a schema that have a row in the table, with their values.
pub(super) fn rows(schema: &Json) -> impl Iterator<Item = (&'static Keyword, &Json)> {
    let members = schema.members().iter();
    members.filter_map(|(name, value)| Some((Keyword::of(name)?, value)))
}

/// Decodes a step of a reference.
pub(super) fn decoded(step: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = step.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let escaped = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => bytes.push(*first),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    pointer_key(&text)
}
