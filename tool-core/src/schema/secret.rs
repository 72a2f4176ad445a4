//! Secret values: what is marked with `#[param(secret)]`.
//!
//! Everything that shows arguments or results to anybody but the model goes through [`redact`]. It copies
//! JSON text and replaces each value at a secret place. When in doubt it hides: a value of another kind than
//! the schema expects, or under a key that the schema does not know, is hidden if a secret may be meant.

use std::collections::HashMap;

use serde::de::IgnoredAny;

use super::cursor::Cursor;
use super::property::Members;
use super::{Direction, Kind, Property, Results, Schema};

/// Stands in for a secret value.
pub(crate) const HIDDEN: &str = "[secret]";
const HIDDEN_JSON: &str = "\"[secret]\"";

/// Shorter strings are not searched for in other strings: they occur by chance.
const SEARCHED: usize = 4;
/// The most strings that are searched for. With more, the whole other text is hidden.
const SEARCHED_TEXTS: usize = 100;

impl Schema {
    /// Returns `true` if a value of the schema is or may contain a secret.
    pub(crate) fn has_secrets(&self) -> bool {
        if self.is_secret || self.kind.is_leaf() && matches!(self.results, Results::Same) {
            return self.is_secret;
        }
        // In the order of discovery; a recursive type is entered once.
        let mut seen = vec![std::ptr::from_ref(self)];
        let mut open = vec![self];
        while let Some(schema) = open.pop() {
            if schema.is_secret {
                return true;
            }
            let target = match schema.kind {
                Kind::Reference(reference) => Some((reference.target)()),
                _ => None,
            };
            let other = match schema.results {
                Results::Other(other) => Some(other),
                _ => None,
            };
            let children = (0..).map_while(|at| schema.child(Direction::Arguments, at));
            for inner in children.chain(target).chain(other) {
                if !seen.contains(&std::ptr::from_ref(inner)) {
                    seen.push(inner);
                    open.push(inner);
                }
            }
        }
        false
    }
}

/// Returns `true` if a value of the schema is or may contain a secret, for the schema of a whole result: what
/// a reference refers to is part of it.
pub(crate) const fn is_marked(schema: &Schema) -> bool {
    let form = schema.form(Direction::Result);
    if schema.is_secret || form.is_secret {
        return true;
    }
    let mut at = 0;
    while let Some(inner) = form.child(Direction::Result, at) {
        if is_marked(inner) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns `true` if arguments with these properties may contain a secret.
pub(crate) fn any_secret(properties: &[Property]) -> bool {
    properties
        .iter()
        .any(|property| property.schema.has_secrets())
}

/// JSON text without its secrets.
pub(crate) struct Redacted {
    pub(crate) text: String,
    /// The strings and numbers that were hidden and are long enough to be searched for.
    pub(crate) hidden: Vec<String>,
}

/// Replaces the secrets in the arguments of a tool. Hides all of a string that is not JSON.
pub(crate) fn redact_arguments(parameters: &'static [Property], json: &str) -> Redacted {
    redact(&Schema::object(parameters), Direction::Arguments, json)
}

/// Replaces the secrets in the JSON text of a result.
pub(crate) fn redact_result(schema: &Schema, json: &str) -> Redacted {
    redact(schema, Direction::Result, json)
}

fn redact(schema: &Schema, direction: Direction, json: &str) -> Redacted {
    let mut redaction = Redaction {
        direction,
        out: Redacted {
            text: String::with_capacity(json.len()),
            hidden: Vec::new(),
        },
        known: HashMap::new(),
    };
    if serde_json::from_str::<IgnoredAny>(json).is_ok() {
        redaction.value(&mut Cursor::new(json), &[schema]);
    } else {
        redaction.out.text.push_str(HIDDEN);
        push_hidden(&mut redaction.out.hidden, json.trim());
    }
    redaction.out
}

/// Replaces every occurrence of hidden strings in another text.
pub(crate) fn redact_text(text: &str, hidden: &[String]) -> String {
    if hidden.len() > SEARCHED_TEXTS {
        return HIDDEN.to_owned();
    }
    let mut text = text.to_owned();
    // One may be a part of another.
    let mut hidden: Vec<_> = hidden.iter().collect();
    hidden.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in hidden {
        // As it is, as in JSON, and as `Debug` writes it.
        let json = serde_json::to_string(secret).unwrap_or_default();
        let debug = format!("{secret:?}");
        for spelling in [secret, json.trim_matches('"'), debug.trim_matches('"')] {
            if !spelling.is_empty() && text.contains(spelling) {
                text = text.replace(spelling, HIDDEN);
            }
        }
    }
    text
}

fn push_hidden(hidden: &mut Vec<String>, text: &str) {
    let is_searched = hidden.len() <= SEARCHED_TEXTS && text.chars().count() >= SEARCHED;
    if is_searched && !hidden.iter().any(|known| known == text) {
        hidden.push(text.to_owned());
    }
}

struct Redaction {
    direction: Direction,
    out: Redacted,
    /// The schemas so far, by address, with `true` if they have secrets.
    known: HashMap<*const Schema, bool>,
}

impl Redaction {
    /// Copies a value that matches one of these schemas.
    fn value(&mut self, cursor: &mut Cursor<'_>, schemas: &[&Schema]) {
        let has_secrets = |schema: &&Schema| {
            let known = self.known.entry(std::ptr::from_ref(*schema));
            *known.or_insert_with(|| schema.has_secrets())
        };
        if !schemas.iter().any(has_secrets) {
            cursor.peek();
            self.out.text.push_str(cursor.value());
            return;
        }
        let Some(forms) = forms(schemas, self.direction) else {
            return self.hide(cursor);
        };
        let is_object = |schema: &&Schema| matches!(schema.kind, Kind::Object(_) | Kind::Map(_));
        let mut objects = forms.iter().filter(|form| is_object(form));
        match cursor.peek() {
            b'{' if objects.next().is_some() => self.object(cursor, &forms),
            // An array in the place of an object may be the values of its members.
            b'[' if !objects.any(|form| form.has_secrets()) => self.array(cursor, &forms),
            _ => self.hide(cursor),
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, forms: &[&Schema]) {
        cursor.eat(b'{');
        self.out.text.push('{');
        let mut is_first = true;
        while !cursor.eat(b'}') && cursor.peek() != 0 {
            let quoted = cursor.key();
            let key = quoted.text().unwrap_or_default();
            if !is_first {
                self.out.text.push(',');
            }
            is_first = false;
            let mut inner = Vec::new();
            for form in forms {
                match form.kind {
                    Kind::Object(properties) => {
                        let Members { known, others } =
                            Members::in_direction(properties, self.direction);
                        let found = known.iter().find(|property| property.has_name(&key));
                        // Whichever form the mark is on.
                        let both = found.map(|one| [one.schema, one.value(self.direction)]);
                        inner.extend(both.into_iter().flatten());
                        // A misspelled key may mean a secret.
                        let is_other = found.is_none() && !any_secret(&known);
                        inner.extend(others.filter(|_| is_other));
                    }
                    Kind::Map(rule) => inner.push(rule.values),
                    _ => {}
                }
            }
            self.out.text.push_str(quoted.json());
            self.out.text.push(':');
            if inner.is_empty() {
                self.hide(cursor);
            } else {
                self.value(cursor, &inner);
            }
            cursor.eat(b',');
        }
        self.out.text.push('}');
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, forms: &[&Schema]) {
        cursor.eat(b'[');
        self.out.text.push('[');
        let mut at = 0;
        while !cursor.eat(b']') && cursor.peek() != 0 {
            if at > 0 {
                self.out.text.push(',');
            }
            let items = forms.iter().filter_map(|form| match form.kind {
                Kind::Array(rule) => Some(rule.items),
                Kind::Tuple(items) => items.get(at).copied(),
                _ => None,
            });
            let items: Vec<_> = items.collect();
            if items.is_empty() {
                self.hide(cursor);
            } else {
                self.value(cursor, &items);
            }
            at += 1;
            cursor.eat(b',');
        }
        self.out.text.push(']');
    }

    fn hide(&mut self, cursor: &mut Cursor<'_>) {
        cursor.peek();
        self.note(cursor.value());
        self.out.text.push_str(HIDDEN_JSON);
    }

    /// Keeps the strings and numbers of a hidden value, and the keys, which may belong to a map.
    fn note(&mut self, json: &str) {
        let mut cursor = Cursor::new(json);
        loop {
            match cursor.peek() {
                0 => return,
                b'"' => {
                    let quoted = cursor.string();
                    let text = quoted.text().unwrap_or_default();
                    push_hidden(&mut self.out.hidden, &text);
                }
                b'{' | b'}' | b'[' | b']' | b',' | b':' => cursor.skip(1),
                _ => {
                    let text = cursor.scalar();
                    if !matches!(text, "true" | "false" | "null") {
                        push_hidden(&mut self.out.hidden, text);
                    }
                }
            }
        }
    }
}

/// Returns the schemas that a value may match, without unions, references and `null`. Returns `None` if one
/// of them describes a secret.
fn forms<'s>(schemas: &[&'s Schema], direction: Direction) -> Option<Vec<&'s Schema>> {
    let mut forms: Vec<&Schema> = Vec::new();
    let mut seen: Vec<*const Schema> = Vec::new();
    let mut open: Vec<&Schema> = schemas.to_vec();
    while let Some(marked) = open.pop() {
        let schema = marked.form(direction);
        if marked.is_secret || schema.is_secret {
            return None;
        }
        if seen.contains(&std::ptr::from_ref(schema)) {
            continue;
        }
        seen.push(schema);
        match schema.kind {
            Kind::AnyOf(schemas) => open.extend(schemas),
            Kind::Nullable(inner) => open.push(inner),
            Kind::Reference(reference) => open.push((reference.target)()),
            _ => forms.push(schema),
        }
    }
    Some(forms)
}
