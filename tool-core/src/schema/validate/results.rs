//! Validates the JSON text of a result against its output schema.
//!
//! A result has to match exactly what the schema shows. The validator of arguments accepts more: other
//! spellings, aliases, and `null` for an absent property.

use super::candidates::{has_tag, may_be_kind, members};
use super::{Path, Validator, duplicate_item, is_key, write_mismatch, write_secret_mismatch};
use crate::schema::cursor::Cursor;
use crate::schema::messages::{expected, unknown};
use crate::schema::property::Members;
use crate::schema::sets::KeySet;
use crate::schema::violation::{Violation, Violations};
use crate::schema::{Direction, Kind, MapRule, Property, Schema};

/// Validates a result, which must be JSON. Returns all violations.
pub(crate) fn validate_result(schema: &Schema, json: &str) -> Result<(), Violations> {
    let mut validator = ResultValidator {
        cursor: Cursor::new(json),
        violations: Violations::default(),
        budget: json.len().saturating_mul(512).saturating_add(1 << 16),
    };
    validator.value(schema, &Path::ROOT);
    if validator.violations.is_empty() {
        Ok(())
    } else {
        Err(validator.violations)
    }
}

struct ResultValidator<'t> {
    cursor: Cursor<'t>,
    violations: Violations,
    /// The number of bytes that unions may still validate. Without a limit, nested unions take
    /// exponential time.
    budget: usize,
}

impl ResultValidator<'_> {
    fn value(&mut self, schema: &Schema, path: &Path<'_>) {
        let form = schema.form(Direction::Result);
        let found = self.violations.mark();
        self.shown_value(form, path);
        if (schema.is_secret || form.is_secret) && self.violations.mark() != found {
            self.violations.split_off(found);
            self.report(path, |out| write_secret_mismatch(out, form));
        }
    }

    fn shown_value(&mut self, schema: &Schema, path: &Path<'_>) {
        match (&schema.kind, self.cursor.peek()) {
            (Kind::Any, _) | (Kind::Null | Kind::Nullable(_), b'n') => {
                self.cursor.value();
            }
            (Kind::Nullable(inner), _) => self.value(inner, path),
            (Kind::Reference(reference), _) => self.value((reference.target)(), path),
            (Kind::AnyOf(schemas), _) => self.union(schema, schemas, path),
            (Kind::Enum(strings), b'"') => {
                let quoted = self.cursor.string();
                let text = quoted.text().unwrap_or_default();
                if !strings.values.iter().any(|value| value.as_str() == text) {
                    self.report(path, |out| write_mismatch(out, schema, quoted.json()));
                }
            }
            (Kind::Array(rule), b'[') => {
                let start = self.cursor;
                let count = self.items(path, |_| Some(rule.items));
                if !rule.lengths.accepts(count) {
                    self.report(path, |out| write_mismatch(out, schema, &count.to_string()));
                }
                if rule.is_unique && duplicate_item(start.text_to(&self.cursor)).is_some() {
                    self.report(path, |out| out.push_str("contains an item twice"));
                }
            }
            (Kind::Tuple(schemas), b'[') => {
                let count = self.items(path, |at| schemas.get(at).copied());
                if count != schemas.len() {
                    self.report(path, |out| write_mismatch(out, schema, &count.to_string()));
                }
            }
            (Kind::Map(rule), b'{') => self.map(schema, rule, path),
            (Kind::Object(properties), b'{') => self.object(properties, path),
            _ => {
                let mut validator = Validator::new(self.cursor.value(), false);
                // `2.0` is an integer.
                validator.respells = true;
                validator.value(schema, path, 0);
                self.violations.append(validator.violations);
            }
        }
    }

    fn report(&mut self, path: &Path<'_>, message: impl FnOnce(&mut String)) {
        self.violations
            .push_with(|| Violation::new(path.text(), message));
    }

    /// Validates the items of an array, each with its schema if it has one. Returns their number.
    fn items(
        &mut self,
        path: &Path<'_>,
        schema: impl Fn(usize) -> Option<&'static Schema>,
    ) -> usize {
        let mut count = 0;
        self.cursor.eat(b'[');
        while self.has_next(b']', count == 0) {
            match schema(count) {
                Some(schema) => self.value(schema, &path.index(count)),
                None => {
                    self.cursor.value();
                }
            }
            count += 1;
        }
        count
    }

    /// Returns `true` if an array or an object has another item. Skips the comma before it, or the
    /// closing bracket.
    fn has_next(&mut self, end: u8, is_first: bool) -> bool {
        if self.cursor.eat(end) {
            return false;
        }
        if !is_first {
            self.cursor.eat(b',');
        }
        self.cursor.peek() != 0
    }

    fn map(&mut self, schema: &Schema, rule: &MapRule, path: &Path<'_>) {
        let keys = rule.keys.form(Direction::Result);
        let mut seen = KeySet::default();
        self.cursor.eat(b'{');
        while self.has_next(b'}', seen.len() == 0) {
            let key = self.cursor.key().text().unwrap_or_default();
            let path = path.key(&key);
            let is_valid = match keys.kind {
                Kind::Enum(strings) => strings.values.iter().any(|value| value.as_str() == key),
                _ => is_key(keys, &key),
            };
            if !is_valid {
                self.report(&path, |out| {
                    out.push_str("unknown; a key must be ");
                    expected(out, keys);
                });
            }
            if seen.contains(&key) {
                self.report(&path, |out| out.push_str("given twice"));
            }
            self.value(rule.values, &path);
            seen.insert(key);
        }
        if !rule.lengths.accepts(seen.len()) {
            let count = seen.len();
            self.report(path, |out| write_mismatch(out, schema, &count.to_string()));
        }
    }

    fn object(&mut self, properties: &'static [Property], path: &Path<'_>) {
        let Members { known, others } = Members::in_direction(properties, Direction::Result);
        let mut seen = KeySet::default();
        self.cursor.eat(b'{');
        while self.has_next(b'}', seen.len() == 0) {
            let key = self.cursor.key().text().unwrap_or_default();
            let path = path.key(&key);
            // serde writes a key twice if a flattened map contains one of the struct's own.
            if seen.contains(&key) {
                self.report(&path, |out| out.push_str("given twice"));
            }
            match known.iter().find(|property| property.name() == key) {
                Some(property) => self.member(property, &path),
                None => match others {
                    Some(values) => self.value(values, &path),
                    None => {
                        self.cursor.peek();
                        self.cursor.value();
                        let names = known.iter().map(Property::name);
                        self.report(&path, |out| unknown(out, &key, names));
                    }
                },
            }
            seen.insert(key);
        }
        for property in &*known {
            let is_required = property.is_required() && !property.is_skipped_in_results();
            if is_required && !seen.contains(property.name()) {
                self.report(&path.key(property.name()), |out| out.push_str("missing"));
            }
        }
    }

    fn member(&mut self, property: &Property, path: &Path<'_>) {
        let is_null = self.cursor.peek() == b'n';
        if is_null && property.is_nullable() && property.result.is_none() {
            self.cursor.value();
        } else {
            self.value(property.value(Direction::Result), path);
        }
    }

    /// Validates a value that must match one of several schemas. Reports the violations of the one
    /// with the fewest.
    fn union(&mut self, schema: &Schema, schemas: &[&'static Schema], path: &Path<'_>) {
        let first = self.cursor.peek();
        let start = self.cursor;
        let text = self.cursor.value();
        let end = self.cursor;
        let members = members(text);
        let mark = self.violations.mark();
        let mut fewest: Option<Violations> = None;
        for candidate in schemas {
            let form = candidate.form(Direction::Result);
            let has_tags = form.properties().iter().all(|one| has_tag(&members, one));
            if !has_tags {
                continue;
            }
            let Some(left) = self.budget.checked_sub(text.len()) else {
                return self.report(path, |out| out.push_str("too complex to check"));
            };
            self.budget = left;
            self.cursor = start;
            self.value(form, path);
            if self.violations.mark() == mark {
                return;
            }
            let found = self.violations.split_off(mark);
            let is_fewest = fewest
                .as_ref()
                .is_none_or(|fewest| found.len() < fewest.len());
            if is_fewest && may_be_kind(form, first) {
                fewest = Some(found);
            }
        }
        self.cursor = end;
        match fewest {
            Some(found) => self.violations.append(found),
            None => self.report(path, |out| write_mismatch(out, schema, text)),
        }
    }
}
