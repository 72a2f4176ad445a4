//! Conversions of a lenient registry: values in quotes, and single values for arrays.

use super::candidates::may_be_kind;
use super::{Path, Validator};
use crate::schema::cursor::unquote;
use crate::schema::secret::HIDDEN;
use crate::schema::violation::Coercion;
use crate::schema::{Kind, Property, Schema};

impl Validator<'_> {
    /// Converts a value of another kind if its meaning is clear, and records the coercion.
    pub(super) fn coerce(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        let start = self.cursor;
        let text = self.skip_value();
        if let Some(inner) = unquote(text)
            && let inner = inner.trim_ascii()
            && spells(schema, inner)
        {
            let (found, coercions) = (self.violations.mark(), self.coercions.len());
            let mut validator = Validator::new(inner, self.output.is_some());
            validator.is_lenient = true;
            validator.budget = self.budget / 2;
            validator.value(schema, path, depth);
            self.note(
                schema,
                path,
                text,
                "converted a string to the value it contains",
            );
            self.is_exhausted |= validator.is_exhausted;
            self.violations.append(validator.violations);
            self.coercions.append(&mut validator.coercions);
            if let Some(rewritten) = validator.output {
                self.rewrite_since(start.position(), &rewritten.finish());
            }
            if self.violations.mark() != found {
                self.coercions.truncate(coercions);
            }
            return;
        }
        // Wraps a value only once: an array of arrays is not clearly meant, and a type that is an
        // array of itself would never end.
        if let Kind::Array(rule) = &without_null(schema).kind
            && rule.lengths.accepts(1)
            && !matches!(text.bytes().next(), Some(b'[' | b'{' | b'n'))
            && self.wrapped_at != Some(start.position())
        {
            self.wrapped_at = Some(start.position());
            let first = start.clone().peek();
            self.cursor = start;
            self.note(schema, path, text, "wrapped a single value in an array");
            self.rewrite_since(self.cursor.position(), "[");
            let found = self.violations.mark();
            self.value(rule.items, path, depth + 1);
            if self.violations.mark() != found && !may_be_kind(without_null(rule.items), first) {
                // The value is not an item either: report that an array was expected.
                self.violations.split_off(found);
                self.report_mismatch(schema, text, path);
            }
            return self.rewrite_since(self.cursor.position(), "]");
        }
        self.report_mismatch(schema, text, path);
    }

    /// Returns `true` if the value that follows is text that says that there is none.
    pub(super) fn is_nothing_next(&mut self, property: &Property) -> bool {
        if !self.is_lenient || self.cursor.peek() != b'"' {
            return false;
        }
        let mut ahead = self.cursor;
        let text = ahead.string().text();
        text.is_some_and(|text| is_nothing(property.schema(), &text))
    }

    /// Takes text that says that there is no value for an absent one, and records the coercion.
    #[cold]
    pub(super) fn take_nothing(&mut self, property: &Property, start: usize, path: &Path<'_>) {
        self.cursor.peek();
        let value = self.cursor.position();
        let text = self.skip_value();
        let schema = property.schema();
        self.note(
            schema,
            path,
            text,
            "took a string that says so for no value",
        );
        if property.ignores_null() {
            self.remove_since(start);
        } else {
            self.rewrite_since(value, "null");
        }
    }

    fn note(&mut self, schema: &Schema, path: &Path<'_>, text: &str, what: &str) {
        let shown = if schema.has_secrets() { HIDDEN } else { text };
        self.coercions.push(Coercion::new(path.text(), shown, what));
    }
}

/// Returns `true` if text says that there is no value, and is none itself.
pub(super) fn is_nothing(schema: &Schema, text: &str) -> bool {
    let accepts_text = match &without_null(schema).kind {
        Kind::Enum(strings) => strings.accepts(text) || strings.match_ignoring_case(text).is_some(),
        _ => may_be_kind(without_null(schema), b'"'),
    };
    matches!(text.trim_ascii(), "" | "null") && !accepts_text
}

/// Returns the schema of the values other than `null`.
fn without_null(schema: &Schema) -> &Schema {
    match schema.kind {
        Kind::Nullable(inner) => inner,
        _ => schema,
    }
}

/// Returns `true` if the text is JSON of the kind of `schema`.
fn spells(schema: &Schema, text: &str) -> bool {
    let first = text.bytes().next().unwrap_or(0);
    let is_kind = match schema.kind {
        Kind::Boolean => return text == "true" || text == "false",
        Kind::Nullable(inner) => return spells(inner, text),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Object(_) | Kind::Map(_) => first == b'{',
        _ => false,
    };
    is_kind && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
