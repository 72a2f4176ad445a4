//! Two JSON Schemas, part by part: what one accepts and the other does not.
//!
//! The keywords of a schema each narrow what it accepts. So where every keyword of the new schema
//! lets pass what that of the old one did, the whole of it does. Keywords that depend on each other
//! are compared together, and what can't be compared so is told as a change that breaks.

mod arrays;
mod objects;
mod scalars;
mod unions;

use super::change::Class;
use super::compare::reworded;
use crate::json::Json;
use crate::json::keywords::{is_opaque, is_word, without_words};

/// Whose schemas they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Those of calls.
    Arguments,
    /// Those of results.
    Results,
}

/// What a difference does to the values that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The same values mean the same.
    Wording,
    /// The same values, which may mean something else.
    Meaning,
    /// All that were accepted, and more.
    Wider,
    /// None that was not accepted.
    Narrower,
    /// An object may have a member more.
    Member,
    /// Others.
    Other,
}

impl Effect {
    pub(super) fn class(self, direction: Direction) -> Class {
        match (self, direction) {
            (Effect::Wording, _) => Class::Wording,
            (Effect::Meaning | Effect::Member, _) => Class::Compatible,
            (Effect::Wider, Direction::Arguments) => Class::Compatible,
            (Effect::Narrower, Direction::Results) => Class::Compatible,
            _ => Class::Breaking,
        }
    }
}

/// One difference, at a place.
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) effect: Effect,
    pub(super) message: String,
}

/// What is different between two schemas, each a document of its own.
pub(super) fn compare(old: &Json, new: &Json, path: &str) -> Vec<Finding> {
    let mut walk = Walk {
        old_root: old,
        new_root: new,
        found: Vec::new(),
        seen: Vec::new(),
        steps: STEPS,
    };
    if old.get("$schema") != new.get("$schema") {
        walk.add(
            path,
            Effect::Other,
            "`$schema` changed, and with it the meaning of the rest",
        );
    }
    walk.schema(old, new, path);
    walk.found
}

/// How many pairs of nodes are looked at. Unions within unions could ask for exponentially many.
const STEPS: usize = 100_000;

/// The schema that accepts everything.
static ANYTHING: Json = Json::Object(Vec::new());

struct Walk<'s> {
    old_root: &'s Json,
    new_root: &'s Json,
    found: Vec<Finding>,
    /// The pairs that references have led to. A pair is taken to be alike while it is looked at:
    /// were it not, that would be found and told.
    seen: Vec<(*const Json, *const Json)>,
    steps: usize,
}

impl<'s> Walk<'s> {
    fn add(&mut self, path: &str, effect: Effect, message: impl Into<String>) {
        self.found.push(Finding {
            path: path.to_owned(),
            effect,
            message: message.into(),
        });
    }

    /// Compares two nodes.
    fn schema(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        if std::ptr::eq(old, new) {
            return;
        }
        if self.steps == 0 {
            return self.add(path, Effect::Other, "too intricate to be compared");
        }
        self.steps -= 1;
        let (old_node, new_node) = (resolve(self.old_root, old), resolve(self.new_root, new));
        let (Some(old_node), Some(new_node)) = (old_node, new_node) else {
            if old != new || self.old_root != self.new_root {
                self.add(path, Effect::Other, "refers to what can't be compared");
            }
            return;
        };
        self.words([old, old_node], [new, new_node], path);
        let pair = (std::ptr::from_ref(old_node), std::ptr::from_ref(new_node));
        let refers = !std::ptr::eq(old, old_node) || !std::ptr::eq(new, new_node);
        if refers && self.seen.contains(&pair) {
            return;
        }
        if refers {
            self.seen.push(pair);
        }
        self.node(old_node, new_node, path);
    }

    /// What is told of a value, and not asked of it. Beside a reference, before what it refers to.
    fn words(&mut self, old: [&Json; 2], new: [&Json; 2], path: &str) {
        let told = |[near, far]: [&'_ Json; 2], key| near.get(key).or(far.get(key)).cloned();
        for key in ["title", "description", "examples"] {
            if let Some(message) = reworded(told(old, key).as_ref(), told(new, key).as_ref()) {
                self.add(path, Effect::Wording, format!("{key} {message}"));
            }
        }
        let message = match (told(old, "default"), told(new, "default")) {
            (old, new) if old == new => return,
            (Some(old), Some(new)) => format!("default {old} -> {new}"),
            (None, Some(new)) => format!("default {new} added"),
            (_, None) => "default removed".to_owned(),
        };
        self.add(path, Effect::Meaning, message);
    }

    /// Compares two nodes that are no references, but for their words.
    fn node(&mut self, old: &'s Json, new: &'s Json, path: &str) {
        let nothing = [old, new].map(|schema| *schema == Json::Boolean(false));
        match nothing {
            [true, true] => return,
            [true, false] => return self.add(path, Effect::Wider, "may be there now"),
            [false, true] => return self.add(path, Effect::Narrower, "may not be there any more"),
            [false, false] => {}
        }
        let [old, new] = [old, new].map(|schema| match schema {
            Json::Boolean(_) => &ANYTHING,
            other => other,
        });
        let is_nested = !std::ptr::eq(old, self.old_root);
        if is_opaque(old, is_nested) || is_opaque(new, is_nested) {
            let is_same = without_words(old) == without_words(new);
            // What it refers to may be another schema by now.
            let is_closed = !refers(old) || self.old_root == self.new_root;
            if !(is_same && is_closed) {
                self.add(
                    path,
                    Effect::Other,
                    "changed in a way that can't be compared",
                );
            }
            return;
        }
        if self.are_unions(old, new, path) {
            return;
        }
        if !self.types(old, new, path) {
            return;
        }
        self.values(old, new, path);
        self.numbers(old, new, path);
        self.lengths(old, new, path);
        self.texts(old, new, path);
        self.items(old, new, path);
        self.members(old, new, path);
        self.all_of(old, new, path);
    }

    /// Whether everything that `old` accepts is accepted by `new`.
    fn fits(&mut self, old: &'s Json, new: &'s Json) -> bool {
        self.fits_from([self.old_root, self.new_root], old, new, self.seen.clone())
    }

    /// Whether everything that `new` accepts was accepted by `old`.
    fn fitted(&mut self, old: &'s Json, new: &'s Json) -> bool {
        let seen = self.seen.iter().map(|(old, new)| (*new, *old)).collect();
        self.fits_from([self.new_root, self.old_root], new, old, seen)
    }

    fn fits_from(
        &mut self,
        [narrow_root, wide_root]: [&'s Json; 2],
        narrow: &'s Json,
        wide: &'s Json,
        seen: Vec<(*const Json, *const Json)>,
    ) -> bool {
        let mut walk = Walk {
            old_root: narrow_root,
            new_root: wide_root,
            found: Vec::new(),
            seen,
            steps: self.steps,
        };
        walk.schema(narrow, wide, "");
        self.steps = walk.steps;
        let mut found = walk.found.iter();
        found.all(|found| found.effect.class(Direction::Arguments) < Class::Breaking)
    }
}

/// What a schema stands for; `None` where that is not in this document, or not all of it.
fn resolve<'s>(root: &'s Json, schema: &'s Json) -> Option<&'s Json> {
    let mut schema = schema;
    for _ in 0..32 {
        let Some(reference) = schema.get("$ref") else {
            return Some(schema);
        };
        let mut others = schema.members().iter();
        if !others
            .all(|(key, _)| is_word(key) || ["$ref", "$defs", "definitions"].contains(&&**key))
        {
            return None;
        }
        let pointer = reference.text()?.strip_prefix('#')?;
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        schema = root.pointer(pointer).filter(|_| is_pointer)?;
    }
    None
}

/// Whether there is a reference anywhere in a schema.
fn refers(schema: &Json) -> bool {
    match schema {
        Json::Array(items) => items.iter().any(refers),
        Json::Object(members) => members
            .iter()
            .any(|(key, value)| key == "$ref" || refers(value)),
        _ => false,
    }
}
