//! Arrays and objects.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Path, Walker};
use crate::schema::property::Members;
use crate::schema::seen::{Keys, Seen};
use crate::schema::words::{expected, push, shorten, unknown};
use crate::schema::{ArrayRule, Kind, Lengths, MapRule, Property, Schema};

impl Walker<'_> {
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
            self.unlike(schema, &count.to_string(), path);
        }
        if rule.is_unique {
            let array = start.text_to(&self.cursor);
            if let Some(twice) = repeated(array) {
                self.report(path, |words| {
                    let twice = shorten(&twice);
                    push(words, format_args!("holds {twice} twice; give it once"));
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
            self.unlike(schema, &count.to_string(), path);
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
        self.open(b'[');
        while self.goes_on(b']', count == 0) {
            match schema(count) {
                Some(schema) => self.value(schema, &path.index(count), depth + 1),
                None => {
                    self.pass();
                }
            }
            count += 1;
        }
        count
    }

    pub(super) fn map(&mut self, schema: &Schema, rule: &MapRule, path: &Path<'_>, depth: usize) {
        let mut seen = Keys::default();
        let mut is_first = true;
        self.open(b'{');
        while self.goes_on(b'}', is_first) {
            is_first = false;
            if let Some(key) = self.key() {
                let path = path.key(&key);
                if seen.contains(&key) {
                    self.duplicate(&path);
                } else if is_key(rule.keys, &key) {
                    self.value(rule.values, &path, depth + 1);
                } else {
                    self.pass();
                    self.report(&path, |words| {
                        words.push_str("unknown; a key must be ");
                        expected(words, rule.keys);
                    });
                }
                seen.insert(key);
            }
        }
        if !rule.lengths.admits(seen.len()) {
            let count = seen.len();
            self.unlike(schema, &count.to_string(), path);
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
        // A model mostly keeps to the order of the schema.
        let mut next = 0;
        let mut before = b'{';
        loop {
            let expected = known.get(next);
            let mut start = self.cursor.position() + 1;
            let is_next = expected.is_some_and(|property| self.eat_next(before, property));
            if !is_next {
                let is_first = before == b'{';
                if is_first {
                    self.open(b'{');
                }
                if !self.goes_on(b'}', is_first) {
                    break;
                }
                start = self.cursor.position();
            }
            before = b',';
            if let Some(property) = expected
                && (is_next || self.cursor.eat_key(property.name.json()))
            {
                let path = path.key(property.name());
                self.member(property, start, seen.insert(next), &path, depth);
                next += 1;
            } else if let Some(key) = self.key() {
                let place = known.iter().position(|property| property.is_called(&key));
                if let Some(place) = place {
                    let (property, is_new) = (&known[place], seen.insert(place));
                    self.member(property, start, is_new, &path.key(&key), depth);
                    next = place + 1;
                } else if let Some(values) = others {
                    let path = path.key(&key);
                    if seen_others.contains(&key) {
                        self.duplicate(&path);
                    } else {
                        self.value(values, &path, depth + 1);
                        seen_others.insert(key);
                    }
                } else {
                    self.pass();
                    let names = known.iter().map(Property::name);
                    self.report(&path.key(&key), |words| unknown(words, &key, names));
                }
            }
        }
        for (place, property) in known.iter().enumerate() {
            if seen.contains(place) {
                continue;
            }
            if property.required {
                self.report(&path.key(property.name()), |words| {
                    words.push_str("missing; expected ");
                    expected(words, property.schema);
                });
            } else if property.takes_null() {
                self.add_null(property);
            }
        }
    }

    /// Steps over a brace or a comma, the key of this property and its colon, if they come without
    /// a space.
    #[inline]
    fn eat_next(&mut self, before: u8, property: &Property) -> bool {
        property.name.is_plain() && self.cursor.eat_member(before, property.name())
    }

    /// Walks over the value of a member whose key was passed since `start`.
    #[inline]
    fn member(
        &mut self,
        property: &Property,
        start: usize,
        is_new: bool,
        path: &Path<'_>,
        depth: usize,
    ) {
        if !is_new {
            return self.duplicate(path);
        }
        let may_be_null = !property.required || property.nullable;
        if may_be_null && self.cursor.peek() == b'n' {
            if property.drops_null() {
                self.pass();
                return self.leave_out(start);
            }
            if property.nullable {
                self.pass();
                return;
            }
        }
        self.value(property.schema, path, depth + 1);
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
            _ => {
                self.pass();
            }
        }
    }

    fn duplicate(&mut self, path: &Path<'_>) {
        self.pass();
        self.report(path, |words| words.push_str("given twice; give it once"));
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
