//! What a lenient registry forgives: values in quotes, one value where a list is wanted.

use super::unions::suits;
use super::{Path, Walker};
use crate::schema::cursor::unquote;
use crate::schema::violation::Coercion;
use crate::schema::{Kind, Schema};

impl Walker<'_> {
    /// Takes a value of another kind for what it plainly means, and notes that.
    pub(super) fn coerce(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        let start = self.cursor.clone();
        let text = self.pass();
        if let Some(inner) = unquote(text)
            && let inner = inner.trim_ascii()
            && means(schema, inner)
        {
            let (found, coercions) = (self.found.mark(), self.coercions.len());
            let mut walker = Walker::new(inner, self.output.is_some());
            walker.is_lenient = true;
            walker.budget = self.budget / 2;
            walker.value(schema, path, depth);
            self.note(path, text, "text was taken for the value that it spells");
            self.found.append(walker.found);
            self.coercions.append(&mut walker.coercions);
            if let Some(respelled) = walker.output {
                self.respell(start.position(), &respelled.finish());
            }
            if self.found.mark() != found {
                self.coercions.truncate(coercions);
            }
            return;
        }
        // Not twice: a list of lists is not plainly meant, and a list of itself has no end.
        if let Kind::Array(rule) = &without_null(schema).kind
            && !matches!(text.bytes().next(), Some(b'[' | b'{' | b'n'))
            && self.listed != Some(start.position())
        {
            self.listed = Some(start.position());
            let first = start.clone().peek();
            self.cursor = start;
            self.note(path, text, "one value was taken for a list of one");
            self.respell(self.cursor.position(), "[");
            let found = self.found.mark();
            self.value(rule.items, path, depth + 1);
            if self.found.mark() != found && !suits(without_null(rule.items), first) {
                // It is no item either: only a list stands there.
                self.found.split_off(found);
                self.unlike(schema, text, path);
            }
            return self.respell(self.cursor.position(), "]");
        }
        self.unlike(schema, text, path);
    }

    fn note(&mut self, path: &Path<'_>, text: &str, what: &str) {
        self.coercions.push(Coercion::new(path.text(), text, what));
    }
}

/// What a schema accepts besides `null`.
fn without_null(schema: &Schema) -> &Schema {
    match schema.kind {
        Kind::Nullable(inner) => inner,
        _ => schema,
    }
}

/// Whether text can be read as a value of this kind.
fn means(schema: &Schema, text: &str) -> bool {
    let first = text.bytes().next().unwrap_or(0);
    let is_kind = match schema.kind {
        Kind::Boolean => return text == "true" || text == "false",
        Kind::Nullable(inner) => return means(inner, text),
        Kind::Integer(_) | Kind::Number(_) => matches!(first, b'-' | b'0'..=b'9'),
        Kind::Array(_) | Kind::Tuple(_) => first == b'[',
        Kind::Object(_) | Kind::Map(_) => first == b'{',
        _ => false,
    };
    is_kind && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
