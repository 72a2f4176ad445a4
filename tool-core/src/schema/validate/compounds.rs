//! Arrays and objects.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Path, Walker};
use crate::schema::property::Members;
use crate::schema::seen::{Keys, Seen};
use crate::schema::words::{expected, shorten, unknown};
use crate::schema::{ArrayRule, Kind, Lengths, MapRule, Property, Schema};

impl<'t> Walker<'t> {
    pub(super) fn array(
        &mut self,
        schema: &Schema,
        rule: &ArrayRule,
        path: &Path<'_>,
        depth: usize,
    ) {
        let start = self.cursor.clone();
        let count = self.items(path, depth, |_| Some(rule.items));
        if !rule.lengths.admits(count) {
            self.report(path, || {
                format!("expected {}, got {count}", expected(schema))
            });
        }
        if rule.is_unique {
            let array = start.text_to(&self.cursor);
            if let Some(twice) = repeated(array) {
                self.report(path, || {
                    format!("holds {} twice; give it once", shorten(&twice))
                });
            }
        }
    }

    pub(super) fn tuple(
        &mut self,
        schema: &Schema,
        items: &[&'static Schema],
        path: &Path<'_>,
        depth: usize,
    ) {
        let count = self.items(path, depth, |at| items.get(at).copied());
        if count != items.len() {
            self.report(path, || {
                format!("expected {}, got {count}", expected(schema))
            });
        }
    }

    /// Walks over the items of an array, each with its schema if there is one for it.
    fn items<'s>(
        &mut self,
        path: &Path<'_>,
        depth: usize,
        schema: impl Fn(usize) -> Option<&'s Schema>,
    ) -> usize {
        let mut count = 0;
        self.write("[");
        self.cursor.eat(b'[');
        while !self.cursor.eat(b']') && self.cursor.peek() != 0 {
            if count > 0 {
                self.cursor.eat(b',');
                self.write(",");
            }
            match schema(count) {
                Some(schema) => self.value(schema, &path.index(count), depth + 1),
                None => self.copy(),
            }
            count += 1;
        }
        self.write("]");
        count
    }

    pub(super) fn map(&mut self, schema: &Schema, rule: &MapRule, path: &Path<'_>, depth: usize) {
        let mut seen = Keys::default();
        let mut first = true;
        self.write("{");
        self.cursor.eat(b'{');
        while self.is_before_member() {
            if let Some((quoted, key)) = self.key() {
                let path = path.key(&key);
                if seen.contains(&key) {
                    self.duplicate(&path);
                } else if is_key(rule.keys, &key) {
                    self.write_key(quoted, &mut first);
                    self.value(rule.values, &path, depth + 1);
                } else {
                    self.cursor.value();
                    self.report(&path, || {
                        format!("unknown; a key must be {}", expected(rule.keys))
                    });
                }
                seen.insert(key);
            }
            self.cursor.eat(b',');
        }
        self.write("}");
        if !rule.lengths.admits(seen.len()) {
            let count = seen.len();
            self.report(path, || {
                format!("expected {}, got {count}", expected(schema))
            });
        }
    }

    pub(super) fn object(
        &mut self,
        properties: &'static [Property],
        path: &Path<'_>,
        depth: usize,
    ) {
        let Members { known, others } = Members::of(properties);
        let mut seen = Seen::default();
        let mut seen_others = Keys::default();
        let mut first = true;
        // A model mostly keeps to the order of the schema.
        let mut next = 0;
        self.write("{");
        self.cursor.eat(b'{');
        while self.is_before_member() {
            if let Some(property) = known.get(next)
                && self.cursor.eat_key(property.name.json())
            {
                let key = (property.name.json(), property.name());
                self.member(property, key, seen.insert(next), &mut first, path, depth);
                next += 1;
            } else if let Some((quoted, key)) = self.key() {
                let place = known.iter().position(|property| property.is_called(&key));
                if let Some(place) = place {
                    let (property, is_new) = (&known[place], seen.insert(place));
                    self.member(property, (quoted, &key), is_new, &mut first, path, depth);
                    next = place + 1;
                } else if let Some(values) = others {
                    let path = path.key(&key);
                    if seen_others.contains(&key) {
                        self.duplicate(&path);
                    } else {
                        self.write_key(quoted, &mut first);
                        self.value(values, &path, depth + 1);
                        seen_others.insert(key);
                    }
                } else {
                    self.cursor.value();
                    let names = known.iter().map(Property::name);
                    self.report(&path.key(&key), || unknown(&key, names));
                }
            }
            self.cursor.eat(b',');
        }
        self.write("}");
        for (place, property) in known.iter().enumerate() {
            if seen.contains(place) {
                continue;
            }
            if property.required {
                self.report(&path.key(property.name()), || {
                    ["missing; expected ", &expected(property.schema)].concat()
                });
            } else if property.takes_null() {
                self.add_null(property);
            }
        }
    }

    /// Walks over the value of a member whose key, as it stands in JSON and as text, was passed.
    fn member(
        &mut self,
        property: &Property,
        (quoted, key): (&str, &str),
        is_new: bool,
        first: &mut bool,
        path: &Path<'_>,
        depth: usize,
    ) {
        let path = path.key(key);
        if !is_new {
            return self.duplicate(&path);
        }
        let may_be_null = !property.required || property.nullable;
        if may_be_null && self.cursor.peek() == b'n' {
            if property.drops_null() {
                self.cursor.value();
                return;
            }
            if property.nullable {
                self.write_key(quoted, first);
                return self.copy();
            }
        }
        self.write_key(quoted, first);
        self.value(property.schema, &path, depth + 1);
    }

    /// Adds a member to the object that was written last. serde lets an `Option` be absent, but
    /// not a newtype of one, nor one that is read `with` a function.
    fn add_null(&mut self, property: &Property) {
        if let Some(output) = &mut self.output {
            output.pop();
            let comma = if output.ends_with('{') { "" } else { "," };
            output.push_str(&format!("{comma}\"{}\":null}}", property.name.json()));
        }
    }

    /// Any value: only its depth and the uniqueness of its keys are judged.
    pub(super) fn any(&mut self, path: &Path<'_>, depth: usize) {
        const ANY: &Schema = &Schema::ANY;
        const ITEMS: &ArrayRule = &ArrayRule {
            items: ANY,
            lengths: Lengths::ANY,
            is_unique: false,
        };
        const MEMBERS: &MapRule = &MapRule {
            keys: &Schema::STRING,
            values: ANY,
            lengths: Lengths::ANY,
        };
        let (Kind::String(text), Kind::Number(number)) =
            (&Schema::STRING.kind, &Schema::NUMBER.kind)
        else {
            unreachable!("these are their kinds")
        };
        match self.cursor.peek() {
            b'{' => self.map(ANY, MEMBERS, path, depth),
            b'[' => self.array(ANY, ITEMS, path, depth),
            b'"' => self.string(ANY, text, path),
            b'-' | b'0'..=b'9' => self.number(number, path),
            _ => self.copy(),
        }
    }

    /// Whether another member of an object comes; steps over its end if none does.
    fn is_before_member(&mut self) -> bool {
        !self.cursor.eat(b'}') && self.cursor.peek() != 0
    }

    /// Steps over the next key: how it stands between its quotes, and as text. What is no text is
    /// reported, and its value passed.
    fn key(&mut self) -> Option<(&'t str, Cow<'t, str>)> {
        let key = self.cursor.key();
        let text = key.text();
        if text.is_none() {
            self.cursor.value();
            self.no_text(&Path::ROOT.key(key.json()));
        }
        Some((key.inner(), text?))
    }

    fn duplicate(&mut self, path: &Path<'_>) {
        self.cursor.value();
        self.report(path, || "given twice; give it once".into());
    }

    fn write_key(&mut self, quoted: &str, first: &mut bool) {
        if let Some(output) = &mut self.output {
            output.push_str(if *first { "\"" } else { ",\"" });
            output.push_str(quoted);
            output.push_str("\":");
        }
        *first = false;
    }
}

/// Whether `key` is one of a map whose keys follow this schema.
fn is_key(keys: &Schema, key: &str) -> bool {
    match keys.kind {
        Kind::Enum(strings) => strings.admits(key),
        // As serde reads the keys of a map of integers: no sign and no zero too many.
        Kind::Integer(range) => {
            let digits = key.strip_prefix('-').unwrap_or(key);
            let spelled = digits == "0" && digits == key
                || digits.bytes().all(|byte| byte.is_ascii_digit())
                    && digits.bytes().next().is_some_and(|byte| byte != b'0');
            let number = key.parse().unwrap_or(i128::MAX);
            spelled && range.minimum <= number && number <= range.maximum
        }
        Kind::String(rule) => rule.lengths.is_any() || rule.lengths.admits(key.chars().count()),
        _ => true,
    }
}

/// The first item of a well-formed array that equals one before it, as JSON Schema compares.
pub(crate) fn repeated(array: &str) -> Option<String> {
    let items: Vec<serde_json::Value> = serde_json::from_str(array).ok()?;
    let mut seen = HashSet::new();
    items
        .into_iter()
        .map(|item| canonical(&item))
        .find(|item| !seen.insert(item.clone()))
}

/// A text that equal values share: keys sorted, numbers by value.
fn canonical(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        serde_json::Value::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", canonical(value)))
                .collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        serde_json::Value::Number(number) => {
            let text = number.to_string();
            crate::schema::numbers::whole_number(&text)
                .unwrap_or(Cow::Borrowed(&text))
                .into_owned()
        }
        other => other.to_string(),
    }
}
