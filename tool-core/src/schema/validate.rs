//! Walks a schema tree over the arguments of a call and collects what does not fit.
//!
//! The walker is not generic: one instance serves every tool and every type.

mod compounds;
mod lenient;
mod path;
mod respell;
mod scalars;
mod steps;
mod unions;

use serde::de::IgnoredAny;

#[cfg(feature = "dynamic")]
pub(crate) use self::compounds::repeated;
use self::path::Path;
pub(crate) use self::path::path_at;
use self::respell::Respelling;
use self::unions::suits;
use super::cursor::Cursor;
use super::decode_check::{DecodeCheckFn, refused};
use super::words::{expected, push, shorten};
use super::{Kind, Schema};
use crate::schema::violation::{Coercion, Violation, Violations};

/// How deep a value may nest: what `serde_json` accepts, so that no reader overflows its stack.
pub(crate) const DEPTH: usize = 127;

/// Where the value at the start of `text` ends, if it is exactly what `schema` describes.
///
/// The text need not be JSON. On other text the answer means nothing, but comes soon.
pub(crate) fn conforms(schema: &Schema, text: &str) -> Option<usize> {
    let mut walker = Walker::new(text, false);
    walker.value(schema, &Path::ROOT, 0);
    walker.found.is_empty().then(|| walker.cursor.position())
}

/// Arguments in the form that decoding wants.
pub(crate) struct Normal {
    pub(crate) text: String,
    pub(crate) coercions: Vec<Coercion>,
}

/// Why a text is no arguments for a tool.
pub(crate) enum ValidateError {
    /// What `serde_json` says of a text that is no JSON.
    NoJson(String),
    Mistakes(Violations),
}

/// The same arguments in the form that decoding wants, or everything that is wrong with them.
///
/// The form differs where the schema is laxer than serde: an integer spelled `20.0`, `null` for a
/// member that may be left out, an absent `Option` in a newtype, an enum value in another case.
/// `is_lenient` adds what [`lenient`] knows.
pub(crate) fn normalise(
    schema: &Schema,
    text: &str,
    is_lenient: bool,
) -> Result<Normal, ValidateError> {
    let mut walker = Walker::new(text, true);
    walker.is_lenient = is_lenient;
    walker.value(schema, &Path::ROOT, 0);
    // Of what is no JSON the walk knows nothing.
    if !walker.is_json_to_the_end()
        && let Some(Err(problem)) = walker.verdict
    {
        return Err(ValidateError::NoJson(problem.to_string()));
    }
    match walker.output {
        Some(output) if walker.found.is_empty() => Ok(Normal {
            text: output.finish(),
            coercions: walker.coercions,
        }),
        _ => Err(ValidateError::Mistakes(walker.found)),
    }
}

struct Walker<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
    found: Violations,
    /// What differs in the normal form of the arguments, when that is wanted.
    output: Option<Respelling<'t>>,
    is_lenient: bool,
    /// Whether nothing was passed that may be no JSON, if that matters; see [`steps`].
    is_plain: bool,
    /// What `serde_json` said of the text, if it was asked.
    verdict: Option<serde_json::Result<IgnoredAny>>,
    /// Whether a value of an enum may differ by case. Only where it can be respelled, and in a
    /// union only when nothing fits as it is.
    folds: bool,
    coercions: Vec<Coercion>,
    /// Where a value stands that was last taken for a list of one.
    listed: Option<usize>,
    /// How many bytes may still be looked at more than once. Unions within unions could ask for
    /// exponentially many.
    budget: usize,
}

impl<'t> Walker<'t> {
    fn new(text: &'t str, respells: bool) -> Self {
        Walker {
            text,
            cursor: Cursor::new(text),
            found: Violations::default(),
            output: respells.then(|| Respelling::new(text)),
            is_lenient: false,
            is_plain: respells,
            verdict: None,
            folds: respells,
            coercions: Vec::new(),
            listed: None,
            budget: text.len().saturating_mul(512).saturating_add(1 << 16),
        }
    }

    #[inline]
    fn value(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        match schema.trial {
            // Without an output a decoder follows, which says the same.
            Some(trial) if self.output.is_some() => self.tried(trial, schema, path, depth),
            _ => self.described(schema, path, depth),
        }
    }

    /// A value of a type that may refuse what its schema allows.
    fn tried(&mut self, trial: DecodeCheckFn, schema: &Schema, path: &Path<'_>, depth: usize) {
        let found = self.found.mark();
        self.cursor.peek();
        let start = self.cursor.position();
        let before = self.output.as_ref().map(Respelling::mark);
        self.described(schema, path, depth);
        let (Some(output), Some(before)) = (&mut self.output, before) else {
            return;
        };
        if self.found.mark() == found
            && let Some(problem) = trial(output.value(before, start..self.cursor.position()))
        {
            self.report(path, |words| *words += &refused(&problem, Some(schema)));
        }
    }

    fn described(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        if depth > DEPTH {
            self.pass();
            return self.report(path, |words| {
                push(words, format_args!("nested deeper than {DEPTH} levels"));
            });
        }
        let first = self.cursor.peek();
        let kind = match &schema.kind {
            // The words go on to say that it may be `null`.
            Kind::Nullable(inner) if first != b'n' && is_plain(inner) => &inner.kind,
            kind => kind,
        };
        match (kind, first) {
            (Kind::Any, _) => self.any(path, depth),
            (Kind::Nullable(_) | Kind::Null, b'n') | (Kind::Boolean, b't' | b'f') => {
                self.pass();
            }
            (Kind::Nullable(inner), _) if suits(inner, first) => self.value(inner, path, depth),
            (Kind::Integer(range), b'-' | b'0'..=b'9') => self.integer(schema, range, path),
            (Kind::Number(range), b'-' | b'0'..=b'9') => self.number(range, path),
            (Kind::String(rule), b'"') => self.string(schema, rule, path),
            (Kind::Enum(strings), b'"') => self.one_of(schema, strings, path),
            (Kind::Array(rule), b'[') => self.array(schema, rule, path, depth),
            (Kind::Tuple(items), b'[') => self.tuple(schema, items, path, depth),
            (Kind::Map(rule), b'{') => self.map(schema, rule, path, depth),
            (Kind::Object(properties), b'{') => self.object(properties, path, depth),
            (Kind::AnyOf(schemas), _) => self.any_of(schema, schemas, path, depth),
            (Kind::Reference(reference), _) => self.value((reference.target)(), path, depth),
            _ if self.is_lenient => self.coerce(schema, path, depth),
            _ => self.mismatch(schema, path),
        }
    }

    fn mismatch(&mut self, schema: &Schema, path: &Path<'_>) {
        let text = self.pass();
        self.unlike(schema, text, path);
    }

    /// Reports a value that is not what was expected.
    fn unlike(&mut self, schema: &Schema, text: &str, path: &Path<'_>) {
        self.report(path, |words| unlike(words, schema, text));
    }

    fn report(&mut self, path: &Path<'_>, message: impl FnOnce(&mut String)) {
        self.found
            .push_with(|| Violation::new(path.text(), message));
    }
}

/// Whether nothing but its kind says what a schema accepts.
fn is_plain(schema: &Schema) -> bool {
    schema.trial.is_none() && !matches!(schema.kind, Kind::Reference(_))
}

/// "expected …, got …"
fn unlike(words: &mut String, schema: &Schema, text: &str) {
    words.push_str("expected ");
    expected(words, schema);
    words.push_str(", got ");
    words.push_str(&shorten(text));
}
