//! The properties of objects.

use tool_core::__docs::Drafts;
use tool_core::schema::Json;

use super::{ANYTHING, Comparison, Effect};
use crate::keywords::without_annotations;

/// The keywords of an object's properties.
struct Object<'s> {
    properties: &'s [(String, Json)],
    required: Vec<&'s str>,
    others: &'s Json,
    patterns: &'s [(String, Json)],
}

impl<'s> Object<'s> {
    fn new(schema: &'s Json) -> Object<'s> {
        let required = schema.get_items("required").iter();
        Object {
            properties: schema.get_members("properties"),
            required: required.filter_map(Json::as_str).collect(),
            others: schema.get("additionalProperties").unwrap_or(&ANYTHING),
            patterns: schema.get_members("patternProperties"),
        }
    }

    fn get(&self, key: &str) -> Option<&'s Json> {
        let found = self.properties.iter().find(|(name, _)| name == key);
        found.map(|(_, schema)| schema)
    }

    fn requires(&self, key: &str) -> bool {
        self.required.contains(&key)
    }

    /// Returns `true` if other properties are rejected.
    fn is_closed(&self) -> bool {
        *self.others == Json::Boolean(false)
    }
}

impl<'s> Comparison<'s> {
    pub(super) fn properties(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let (old, new) = (Object::new(old), Object::new(new));
        let renamed = renamed(&old, &new, self.drafts);
        for (key, schema) in old.properties {
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
        for (key, schema) in new.properties {
            if old.get(key).is_none() && !renamed.iter().any(|(_, to)| to == key) {
                self.added(key, schema, [&old, &new], &format!("{path}.{key}"));
            }
        }
        self.required(&old, &new, path);
        self.patterns(&old, &new, path);
        self.schema(old.others, new.others, &format!("{path}.*"));
    }

    fn removed(&mut self, key: &str, schema: &'s Json, [old, new]: [&Object<'s>; 2], path: &str) {
        if !old.patterns.is_empty() || !new.patterns.is_empty() {
            let message = "removed, but a pattern of `patternProperties` may match it";
            return self.add(path, Effect::Other, message);
        }
        if !new.is_closed() {
            return self.schema(schema, new.others, path);
        }
        // Readers of a result could rely on a required property.
        let effect = if old.requires(key) {
            Effect::Other
        } else {
            Effect::Narrower
        };
        self.add(path, effect, "removed");
    }

    fn added(&mut self, key: &str, schema: &'s Json, [old, new]: [&Object<'s>; 2], path: &str) {
        if !old.patterns.is_empty() || !new.patterns.is_empty() {
            let message = "added, but a pattern of `patternProperties` may have matched it";
            return self.add(path, Effect::Other, message);
        }
        if !old.is_closed() {
            self.schema(old.others, schema, path);
        } else if new.requires(key) {
            self.add(path, Effect::Narrower, "added, required");
        } else {
            self.add(path, Effect::AddedProperty, "added, optional");
        }
    }

    fn required(&mut self, old: &Object<'s>, new: &Object<'s>, path: &str) {
        // A property that one object has and the other rejects is already reported.
        let is_reported = |one: &Object<'_>, other: &Object<'_>, key: &str| {
            one.get(key).is_some() && other.get(key).is_none() && other.is_closed()
        };
        for key in &new.required {
            if !old.requires(key) && !is_reported(new, old, key) {
                self.add(&format!("{path}.{key}"), Effect::Narrower, "now required");
            }
        }
        for key in &old.required {
            if !new.requires(key) && !is_reported(old, new, key) {
                let path = format!("{path}.{key}");
                self.add(&path, Effect::Wider, "no longer required");
            }
        }
    }

    fn patterns(&mut self, old: &Object<'s>, new: &Object<'s>, path: &str) {
        let has = |object: &Object<'_>, key| object.patterns.iter().any(|(other, _)| other == key);
        let is_same = old.patterns.len() == new.patterns.len()
            && new.patterns.iter().all(|(key, _)| has(old, key));
        if !is_same {
            let message = "the patterns of `patternProperties` changed";
            return self.add(path, Effect::Other, message);
        }
        for (key, schema) in old.patterns {
            let other = new.patterns.iter().find(|(other, _)| other == key);
            let other = other.map_or(&ANYTHING, |(_, other)| other);
            self.schema(schema, other, &format!("{path}.{key}"));
        }
    }
}

/// Finds renamed properties: a removed and an added one that are equal to each other and to no
/// other.
fn renamed<'s>(old: &Object<'s>, new: &Object<'s>, drafts: Drafts) -> Vec<(&'s str, &'s str)> {
    let only_in = |one: &Object<'s>, other: &Object<'s>| -> Vec<(&'s str, (bool, Json))> {
        let only = one.properties.iter();
        let only = only.filter(|(key, _)| other.get(key).is_none());
        let only = only.map(|(key, schema)| {
            let compared = without_annotations(schema, drafts);
            (&**key, (one.requires(key), compared))
        });
        only.collect()
    };
    let (removed, added) = (only_in(old, new), only_in(new, old));
    let renamed = removed.iter().filter_map(|(from, property)| {
        let mut equal = added.iter().filter(|(_, other)| other == property);
        let ((to, _), None) = (equal.next()?, equal.next()) else {
            return None;
        };
        let count = removed.iter().filter(|(_, other)| other == property);
        (count.count() == 1).then_some((*from, *to))
    });
    renamed.collect()
}
