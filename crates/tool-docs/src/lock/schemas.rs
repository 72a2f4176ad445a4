//! Compares two JSON Schemas: which values one accepts and the other does not.
//!
//! Each keyword of a schema restricts the accepted values independently. If every keyword of the
//! new schema accepts what the same keyword of the old one did, so does the whole schema. Keywords
//! that depend on each other are compared together; what can't be compared counts as breaking.

mod constraints;
mod objects;
mod unions;

use tool_core::__docs::Drafts;
use tool_core::schema::Json;

use super::changes::Class;
use crate::keywords::{is_annotation, is_opaque, without_annotations};

/// The use of a schema, which decides whether wider or narrower is breaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Arguments,
    Results,
}

/// The effect of a difference on the accepted values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The same values with the same meaning.
    Wording,
    /// The same values, which may mean something else.
    Meaning,
    /// More values.
    Wider,
    /// Fewer values.
    Narrower,
    /// Objects may have one more property.
    AddedProperty,
    /// Other values, or unknown.
    Other,
}

impl Effect {
    pub(super) fn class(self, direction: Direction) -> Class {
        match (self, direction) {
            (Effect::Wording, _) => Class::Wording,
            (Effect::Meaning | Effect::AddedProperty, _) => Class::Compatible,
            (Effect::Wider, Direction::Arguments) => Class::Compatible,
            (Effect::Narrower, Direction::Results) => Class::Compatible,
            _ => Class::Breaking,
        }
    }
}

/// A difference at a path.
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) effect: Effect,
    pub(super) message: String,
}

/// Compares two whole schemas.
pub(super) fn compare(old: &Json, new: &Json, path: &str) -> Vec<Difference> {
    let mut comparison = Comparison {
        old_root: old,
        new_root: new,
        drafts: Drafts::of(old).union(Drafts::of(new)),
        differences: Vec::new(),
        seen: Vec::new(),
        steps: MAX_STEPS,
    };
    if old.get("$schema") != new.get("$schema") {
        comparison.add(
            path,
            Effect::Other,
            "`$schema` changed, which can change the meaning of every keyword",
        );
    }
    comparison.schema(old, new, path);
    comparison.differences
}

/// Describes the change of an optional text or value.
pub(super) fn text_change(old: Option<&Json>, new: Option<&Json>) -> Option<&'static str> {
    match (old, new) {
        (old, new) if old == new => None,
        (None, _) => Some("added"),
        (_, None) => Some("removed"),
        _ => Some("changed"),
    }
}

/// The maximum number of compared pairs: nested unions could need exponentially many.
const MAX_STEPS: usize = 100_000;

/// The schema that accepts everything.
static ANYTHING: Json = Json::Object(Vec::new());

struct Comparison<'s> {
    old_root: &'s Json,
    new_root: &'s Json,
    drafts: Drafts,
    differences: Vec<Difference>,
    /// The pairs that references have led to. While a pair is compared, it is assumed to be equal;
    /// any difference is reported by the first comparison.
    seen: Vec<(*const Json, *const Json)>,
    steps: usize,
}

impl<'s> Comparison<'s> {
    fn add(&mut self, path: &str, effect: Effect, message: impl Into<String>) {
        self.differences.push(Difference {
            path: path.to_owned(),
            effect,
            message: message.into(),
        });
    }

    fn schema(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        if std::ptr::eq(old, new) {
            return;
        }
        if self.steps == 0 {
            return self.add(path, Effect::Other, "too complex to compare");
        }
        self.steps -= 1;
        let targets = (resolve(self.old_root, old), resolve(self.new_root, new));
        let (Some(old_target), Some(new_target)) = targets else {
            if old != new || self.old_root != self.new_root {
                self.add(
                    path,
                    Effect::Other,
                    "has a reference that can't be compared",
                );
            }
            return;
        };
        self.annotations([old, old_target], [new, new_target], path);
        let is_reference = !std::ptr::eq(old, old_target) || !std::ptr::eq(new, new_target);
        if is_reference {
            let pair = (
                std::ptr::from_ref(old_target),
                std::ptr::from_ref(new_target),
            );
            if self.seen.contains(&pair) {
                return;
            }
            self.seen.push(pair);
        }
        self.target(old_target, new_target, path);
    }

    /// Compares annotations. One next to a reference overrides the target's.
    fn annotations(&mut self, old: [&Json; 2], new: [&Json; 2], path: &str) {
        let value = |[schema, target]: [&'_ Json; 2], key| {
            let value = schema.get(key).or(target.get(key));
            value.cloned()
        };
        for key in ["title", "description", "examples"] {
            let (old, new) = (value(old, key), value(new, key));
            if let Some(message) = text_change(old.as_ref(), new.as_ref()) {
                self.add(path, Effect::Wording, format!("{key} {message}"));
            }
        }
        let (old, new) = (value(old, "default"), value(new, "default"));
        if old != new {
            let message = constraints::change("default", old, new);
            self.add(path, Effect::Meaning, message);
        }
    }

    /// Compares everything but annotations of two schemas that are not references.
    fn target(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        match [old, new].map(|schema| *schema == Json::Boolean(false)) {
            [true, true] => return,
            [true, false] => return self.add(path, Effect::Wider, "now allowed"),
            [false, true] => return self.add(path, Effect::Narrower, "no longer allowed"),
            [false, false] => {}
        }
        let [old, new] = [old, new].map(|schema| match schema {
            Json::Boolean(_) => &ANYTHING,
            other => other,
        });
        let is_nested = !std::ptr::eq(old, self.old_root);
        let drafts = self.drafts;
        if [old, new]
            .iter()
            .any(|schema| is_opaque(schema, is_nested, drafts))
        {
            let is_same = without_annotations(old, drafts) == without_annotations(new, drafts);
            // The target of an unchanged reference may have changed.
            let is_closed = !has_reference(old) || self.old_root == self.new_root;
            if !(is_same && is_closed) {
                self.add(
                    path,
                    Effect::Other,
                    "changed in a way that can't be compared",
                );
            }
            return;
        }
        if self.union(old, new, path) || !self.types(old, new, path) {
            return;
        }
        self.values(old, new, path);
        self.numbers(old, new, path);
        self.lengths(old, new, path);
        self.texts(old, new, path);
        self.items(old, new, path);
        self.properties(old, new, path);
        self.all_of(old, new, path);
    }

    /// Compares `prefixItems` and `items`.
    fn items(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let [old_prefix, new_prefix] = [old, new].map(|schema| schema.get_items("prefixItems"));
        let [old_rest, new_rest] = [old, new].map(|s| s.get("items").unwrap_or(&ANYTHING));
        for at in 0..old_prefix.len().max(new_prefix.len()) {
            let old = old_prefix.get(at).unwrap_or(old_rest);
            let new = new_prefix.get(at).unwrap_or(new_rest);
            self.schema(old, new, &format!("{path}[{at}]"));
        }
        self.schema(old_rest, new_rest, &format!("{path}[]"));
    }

    fn all_of(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let [old, new] = [old, new].map(|schema| schema.get_items("allOf"));
        for (old, new) in old.iter().zip(new) {
            self.schema(old, new, path);
        }
        if new.len() > old.len() {
            self.add(path, Effect::Narrower, "must match more schemas of `allOf`");
        }
        if new.len() < old.len() {
            self.add(path, Effect::Wider, "must match fewer schemas of `allOf`");
        }
    }

    /// Returns `true` if `new` accepts everything that `old` accepts.
    fn is_old_accepted(&mut self, old: &'s Json, new: &'s Json) -> bool {
        self.accepts([self.old_root, self.new_root], old, new, self.seen.clone())
    }

    /// Returns `true` if `old` accepts everything that `new` accepts.
    fn is_new_accepted(&mut self, old: &'s Json, new: &'s Json) -> bool {
        let seen = self.seen.iter().map(|(old, new)| (*new, *old)).collect();
        self.accepts([self.new_root, self.old_root], new, old, seen)
    }

    /// Returns `true` if `wide` accepts everything that `narrow` accepts.
    fn accepts(
        &mut self,
        [narrow_root, wide_root]: [&'s Json; 2],
        narrow: &'s Json,
        wide: &'s Json,
        seen: Vec<(*const Json, *const Json)>,
    ) -> bool {
        let mut comparison = Comparison {
            old_root: narrow_root,
            new_root: wide_root,
            drafts: self.drafts,
            differences: Vec::new(),
            seen,
            steps: self.steps,
        };
        comparison.schema(narrow, wide, "");
        self.steps = comparison.steps;
        let mut differences = comparison.differences.iter();
        differences.all(|other| other.effect.class(Direction::Arguments) < Class::Breaking)
    }
}

/// Follows references; `None` if one leads out of the document or has other keywords next to it.
fn resolve<'s>(root: &'s Json, schema: &'s Json) -> Option<&'s Json> {
    let mut schema = schema;
    let drafts = Drafts::of(root);
    for _ in 0..32 {
        let Some(reference) = schema.get("$ref") else {
            return Some(schema);
        };
        let mut keys = schema.members().iter().map(|(key, _)| key);
        let is_known = |key: &String| {
            is_annotation(key, drafts) || ["$ref", "$defs", "definitions"].contains(&&**key)
        };
        if !keys.all(is_known) {
            return None;
        }
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        schema = root.pointer(pointer).filter(|_| is_pointer)?;
    }
    None
}

fn has_reference(schema: &Json) -> bool {
    let mut members = schema.members().iter();
    schema.items().iter().any(has_reference)
        || members.any(|(key, value)| key == "$ref" || has_reference(value))
}
