//! [`References`]: finds the schemas that references of a schema lead to.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use crate::ordered_json::keywords::{Applies, Holds, Keyword};
use crate::ordered_json::{Json, pointer_key};

/// The number of members from which an object gets an index.
const MANY: usize = 32;

type Index<'s> = HashMap<&'s str, &'s Json>;

/// A whole schema, with an index of its large objects and its named parts.
pub(super) struct References<'s> {
    pub(super) root: &'s Json,
    indices: RefCell<HashMap<*const Json, Index<'s>>>,
    /// The schemas with an address, by each of its ends that starts with a step.
    addresses: OnceCell<Index<'s>>,
    /// The schemas with an anchor inside of a schema.
    anchors: RefCell<HashMap<*const Json, Index<'s>>>,
}

/// The most steps of an address that a reference may leave out.
const MAX_STEPS: usize = 8;

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Json) -> References<'s> {
        References {
            root,
            indices: RefCell::default(),
            addresses: OnceCell::new(),
            anchors: RefCell::default(),
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
            address => *self
                .addresses
                .get_or_init(|| addresses(self.root))
                .get(address)?,
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
            anchor => {
                let mut all = self.anchors.borrow_mut();
                let inside = all.entry(base).or_insert_with(|| anchors(base));
                inside.get(anchor).copied()
            }
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

fn addresses(root: &Json) -> Index<'_> {
    let mut index = Index::new();
    each_object(root, &mut |schema| {
        let Some(id) = schema.get_str("$id").or(schema.get_str("id")) else {
            return;
        };
        let id = id.trim_end_matches('#');
        index.entry(id).or_insert(schema);
        let ends = id.rmatch_indices('/').take(MAX_STEPS);
        for end in ends.map(|(at, _)| &id[at + 1..]) {
            index.entry(end).or_insert(schema);
        }
    });
    index
}

fn anchors(base: &Json) -> Index<'_> {
    let mut index = Index::new();
    each_object(base, &mut |schema| {
        for (key, prefix) in [
            ("$anchor", ""),
            ("$dynamicAnchor", ""),
            ("$id", "#"),
            ("id", "#"),
        ] {
            let name = schema.get_str(key);
            if let Some(name) = name.and_then(|name| name.strip_prefix(prefix)) {
                index.entry(name).or_insert(schema);
            }
        }
    });
    index
}

/// Returns `true` if an object, at any depth, has a member whose key fulfils a condition.
pub(super) fn has_key(value: &Json, matches: &dyn Fn(&str) -> bool) -> bool {
    let mut members = value.members().iter();
    members.any(|(key, inner)| matches(key) || has_key(inner, matches))
        || value.items().iter().any(|inner| has_key(inner, matches))
}

/// Returns `true` for a keyword that holds a reference.
pub(super) fn is_reference(keyword: &str) -> bool {
    keyword.starts_with('$')
        && Keyword::of(keyword).is_some_and(|keyword| keyword.holds == Holds::Reference)
}

/// Calls a function with each object, the outer ones first.
pub(super) fn each_object<'s>(value: &'s Json, visit: &mut dyn FnMut(&'s Json)) {
    if let Json::Object(_) = value {
        visit(value);
    }
    for (_, inner) in value.members() {
        each_object(inner, visit);
    }
    for inner in value.items() {
        each_object(inner, visit);
    }
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
