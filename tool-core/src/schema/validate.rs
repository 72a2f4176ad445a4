//! Validates the arguments of a call against a schema tree and collects all violations.
//!
//! The validator is not generic: one instance serves every tool and every type.

mod candidates;
mod coerce;
mod decoding;
mod distinct;
pub(crate) mod incremental;
mod path;
mod results;
mod rewrite;
mod text;
mod unions;

use std::borrow::Cow;

use serde::de::IgnoredAny;

use self::candidates::may_be_kind;
pub(crate) use self::distinct::duplicate_item;
#[cfg(feature = "dynamic")]
pub(crate) use self::path::push_index;
pub(crate) use self::path::{Path, path_at, push_key};
pub(crate) use self::results::validate_result;
use self::rewrite::Rewrite;
pub(crate) use self::text::push_null;
use super::const_string::count_characters;
use super::cursor::Cursor;
use super::messages::{did_you_mean, expected, integer_in_full, itself, push, shorten, unknown};
use super::not_json;
use super::numbers::{EXACT_IN_FLOAT, rounds_to_same, values_round, whole_number};
use super::parts::NumberKeyword;
use super::property::Members;
use super::secret::any_secret;
use super::sets::{BitSet, KeySet};
use super::violation::{Coercion, Violation, Violations};
use super::{
    ArrayRule, IntegerRange, Kind, MapRule, NumberRange, Property, Schema, StringRule, Strings,
    Text,
};

/// The deepest nesting of a value, which equals the limit of `serde_json` so that no reader overflows
/// its stack.
pub(crate) const DEPTH: usize = 127;

/// Returns where the value at the start of `text` ends, if it matches `schema` as it is.
///
/// The text need not be JSON. If it is not, the result is meaningless, but the time is still bounded.
pub(crate) fn conforms(schema: &Schema, text: &str) -> Option<usize> {
    conforms_within(&mut budget(text), schema, text)
}

/// Returns the same. `budget` is the number of bytes that unions may validate again, and decreases as they
/// do, so that many values in one text take no more time than one.
pub(crate) fn conforms_within(budget: &mut usize, schema: &Schema, text: &str) -> Option<usize> {
    if let Some(length) = plain_length(schema, text) {
        return Some(length);
    }
    let mut validator = Validator::new(text, false);
    (validator.budget, validator.decode_budget) = (*budget, *budget);
    validator.value(schema, &Path::ROOT, 0);
    *budget = validator.budget.min(validator.decode_budget);
    validator
        .violations
        .is_empty()
        .then(|| validator.cursor.position())
}

/// Returns the length of a string or an integer that conforms to a schema and is spelled plainly. Other
/// values need a validator.
pub(crate) fn plain_length(schema: &Schema, text: &str) -> Option<usize> {
    let mut cursor = Cursor::new(text);
    let conforms = match &schema.kind {
        Kind::Integer(range) => {
            matches!(range.violated(cursor.eat_integer()?.into()), [None, None])
        }
        Kind::String(rule) if rule.pattern.is_empty() => {
            cursor.peek();
            let string = cursor.eat_plain_string()?;
            rule.lengths.is_any() || rule.lengths.accepts(string.chars().count())
        }
        Kind::Nullable(inner) => return plain_length(inner, text),
        _ => return None,
    };
    conforms.then(|| cursor.position())
}

/// Returns the number of bytes of a text that unions may validate again.
pub(crate) fn budget(text: &str) -> usize {
    text.len().saturating_mul(512).saturating_add(1 << 16)
}

/// Arguments in the form that serde accepts.
pub(crate) struct Normalised {
    pub(crate) text: String,
    pub(crate) coercions: Vec<Coercion>,
}

/// The options of [`normalise`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// `true` if the conversions in [`coerce`] are applied.
    pub(crate) is_lenient: bool,
    /// `true` if the text was written from a JSON value, which rounds integers of more than 64 bits.
    pub(crate) is_rounded: bool,
}

/// The error of [`normalise`].
pub(crate) enum ValidateError {
    /// The text is not JSON. Contains the mistake, in words.
    NotJson(String),
    Invalid(Violations),
}

/// Validates arguments and rewrites them into the form that serde accepts. Returns all violations.
///
/// The form differs where the schema accepts more than serde: an integer spelled `20.0`, `null` for
/// an optional property, an absent `Option` in a newtype, an enum value in another case, a key of a flattened map before the
/// key of a flattened variant. Aliases of
/// properties are replaced too, so that hooks see one name.
pub(crate) fn normalise(
    schema: &Schema,
    text: &str,
    options: Options,
) -> Result<Normalised, ValidateError> {
    let mut validator = Validator::new(text, true);
    validator.is_lenient = options.is_lenient;
    validator.is_rounded = options.is_rounded;
    validator.value(schema, &Path::ROOT, 0);
    // Violations found in invalid JSON are meaningless.
    if !validator.is_json_to_end()
        && let Some(Err(error)) = &validator.json_check
    {
        return Err(ValidateError::NotJson(not_json::why(text, error)));
    }
    match validator.output {
        Some(output) if validator.violations.is_empty() => Ok(Normalised {
            text: output.finish(),
            coercions: validator.coercions,
        }),
        _ => Err(ValidateError::Invalid(validator.violations)),
    }
}

/// Decodes the values in valid arguments by their `Deserialize`, too. Returns the differences; none in an optimised build.
pub(crate) fn compare_decoding(schema: &Schema, text: &str) -> Violations {
    let mut validator = Validator::new(text, true);
    #[cfg(debug_assertions)]
    {
        validator.compares = true;
    }
    validator.value(schema, &Path::ROOT, 0);
    validator.violations
}

struct Validator<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
    violations: Violations,
    /// The rewritten arguments, if they are wanted.
    output: Option<Rewrite<'t>>,
    is_lenient: bool,
    is_rounded: bool,
    /// `true` if the text has only one of the parameters, so that no other is missing.
    is_part: bool,
    /// `true` if values are decoded by their `Deserialize` too, and differences are violations.
    #[cfg(debug_assertions)]
    compares: bool,
    /// `true` while everything skipped is known to be JSON, if that matters; see [`text`].
    is_plain_json: bool,
    /// The result of checking the text with `serde_json`, once that was necessary.
    json_check: Option<serde_json::Result<IgnoredAny>>,
    /// `true` if an enum value may differ in case and an integer may be spelled `20.0`: only where
    /// they can be rewritten, and in a union only after nothing has matched as it is, because serde
    /// chooses by the spelling.
    respells: bool,
    coercions: Vec<Coercion>,
    /// The position of the value that was last wrapped in an array.
    wrapped_at: Option<usize>,
    /// The number of bytes that unions may still validate again. Without a limit, nested unions
    /// take exponential time.
    budget: usize,
    /// The number of bytes that may be validated again to explain why a value matches none of several
    /// schemas.
    explanations: usize,
    /// `true` if what is found is reported, so that it is worth an explanation.
    explains: bool,
    /// The number of bytes that serde may decode in attempts at the variants of nested unions.
    decode_budget: usize,
    /// The number of unions around the current value.
    unions: usize,
    /// The most unions nested in one another so far.
    deepest_union: usize,
    /// `true` once a budget was too small.
    is_exhausted: bool,
}

impl<'t> Validator<'t> {
    fn new(text: &'t str, rewrites: bool) -> Self {
        Validator {
            text,
            cursor: Cursor::new(text),
            violations: Violations::default(),
            output: rewrites.then(|| Rewrite::new(text)),
            is_lenient: false,
            is_rounded: false,
            is_part: false,
            #[cfg(debug_assertions)]
            compares: false,
            is_plain_json: rewrites,
            json_check: None,
            respells: rewrites,
            coercions: Vec::new(),
            wrapped_at: None,
            budget: budget(text),
            explanations: text.len().saturating_mul(32),
            explains: rewrites,
            decode_budget: budget(text),
            unions: 0,
            deepest_union: 0,
            is_exhausted: false,
        }
    }

    #[inline]
    fn value(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        if schema.is_secret {
            return self.secret_value(schema, path, depth);
        }
        self.shown_value(schema, path, depth);
    }

    /// Validates a secret value. All mistakes inside of it are one violation, which shows nothing of the
    /// value.
    #[cold]
    fn secret_value(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        let (found, coercions) = (self.violations.mark(), self.coercions.len());
        self.shown_value(schema, path, depth);
        for coercion in &mut self.coercions[coercions..] {
            coercion.hide(path.text());
        }
        if self.violations.mark() != found {
            self.violations.split_off(found);
            self.report(path, |out| write_secret_mismatch(out, schema));
        }
    }

    #[inline]
    fn shown_value(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        let decode_check = schema.decode_check;
        #[cfg(debug_assertions)]
        let decode_check = if self.compares {
            schema.comparison
        } else {
            decode_check
        };
        match decode_check {
            // Without rewriting, the value is decoded next anyway.
            Some(decode_check) if self.output.is_some() => {
                self.check_decoding(decode_check, schema, path, depth);
            }
            _ => self.match_kind(schema, path, depth),
        }
    }

    fn match_kind(&mut self, schema: &Schema, path: &Path<'_>, depth: usize) {
        if depth > DEPTH {
            self.skip_value();
            return self.report(path, |out| {
                push(out, format_args!("nested deeper than {DEPTH} levels"));
            });
        }
        let first = self.cursor.peek();
        let kind = match &schema.kind {
            // The mismatch message then mentions `null`.
            Kind::Nullable(inner) if first != b'n' && is_plain(inner) => &inner.kind,
            kind => kind,
        };
        match (kind, first) {
            (Kind::Any, _) => self.any(path, depth),
            (Kind::Nullable(_) | Kind::Null, b'n') | (Kind::Boolean, b't' | b'f') => {
                self.skip_value();
            }
            (Kind::Nullable(inner), _) if may_be_kind(inner, first) => {
                self.value(inner, path, depth);
            }
            (Kind::Integer(range), b'-' | b'0'..=b'9') => self.integer(schema, range, path),
            (Kind::Number(range), b'-' | b'0'..=b'9') => self.number(range, path),
            (Kind::String(rule), b'"') => self.string(schema, rule, path),
            (Kind::Enum(strings), b'"') => self.enum_value(schema, strings, path),
            (Kind::Array(rule), b'[') => self.array(schema, rule, path, depth),
            (Kind::Tuple(items), b'[') => self.tuple(schema, items, path, depth),
            (Kind::Map(rule), b'{') => self.map(schema, rule, path, depth),
            (Kind::Object(properties), b'{') => self.object(properties, path, depth),
            (Kind::AnyOf(schemas), _) => self.union(schema, schemas, path, depth),
            (Kind::Reference(reference), _) => self.value((reference.target)(), path, depth),
            _ if self.is_lenient => self.coerce(schema, path, depth),
            _ => self.reject_value(schema, path),
        }
    }

    fn reject_value(&mut self, schema: &Schema, path: &Path<'_>) {
        let text = self.skip_value();
        self.report_mismatch(schema, text, path);
    }

    /// Reports that a value is not the expected one.
    fn report_mismatch(&mut self, schema: &Schema, text: &str, path: &Path<'_>) {
        self.report(path, |out| write_mismatch(out, schema, text));
    }

    fn report(&mut self, path: &Path<'_>, message: impl FnOnce(&mut String)) {
        self.violations
            .push_with(|| Violation::new(path.text(), message));
    }

    fn integer(&mut self, schema: &Schema, range: &IntegerRange, path: &Path<'_>) {
        let start = self.cursor;
        let (number, digits) = match self.cursor.eat_integer() {
            Some(number) => (i128::from(number), Cow::Borrowed("")),
            None => {
                let text = self.scalar();
                let digits = whole_number(text);
                let digits = digits.filter(|digits| self.respells || digits == text);
                let Some(digits) = digits else {
                    return self.report_mismatch(schema, text, path);
                };
                if let Some((keyword, limit)) = range.type_limit(&digits) {
                    if self.is_rounded && values_round() {
                        return self.report_rounded(text, path);
                    }
                    return self.report_limit(text, keyword, &limit, path);
                }
                // Beyond 128 bits only the sign matters.
                let most = if digits.starts_with('-') {
                    i128::MIN
                } else {
                    i128::MAX
                };
                (digits.parse().unwrap_or(most), digits)
            }
        };
        let text = start.text_to(&self.cursor);
        let [end, mut step] = range.violated(number);
        if let Cow::Owned(digits) = digits {
            let may_be_rounded = self.is_rounded
                && number.unsigned_abs() >= EXACT_IN_FLOAT
                && end.is_none_or(|(_, limit)| rounds_to_same(number, limit))
                && values_round();
            if may_be_rounded {
                return self.report_rounded(text, path);
            }
            if matches!([end, step], [None, None]) {
                return self.rewrite_since(start.position(), &digits);
            }
        }
        // Beyond 128 bits `number` is only a placeholder.
        if end.is_some() && matches!(number, i128::MIN | i128::MAX) {
            step = None;
        }
        for (keyword, limit) in [end, step].into_iter().flatten() {
            self.report_limit(text, keyword, itoa::Buffer::new().format(limit), path);
        }
    }

    fn report_rounded(&mut self, text: &str, path: &Path<'_>) {
        self.report(path, |out| {
            let (got, least, most) = (shorten(text), i64::MIN, u64::MAX);
            push(
                out,
                format_args!(
                    "{got} may have been rounded on the way; \
                     give an integer from {least} to {most} in plain digits"
                ),
            );
        });
    }

    fn number(&mut self, range: &NumberRange, path: &Path<'_>) {
        let start = self.cursor;
        let number = match self.cursor.eat_decimal() {
            None => self.scalar().parse().ok(),
            plain => plain,
        };
        let text = start.text_to(&self.cursor);
        let number = number.unwrap_or(f64::INFINITY);
        let [end, mut step] = range.violated(number, text);
        if number.abs() > range.magnitude {
            step = None;
            if end.is_none() {
                return self.report(path, |out| {
                    push(out, format_args!("{} is out of range", shorten(text)));
                });
            }
        }
        for (keyword, limit) in [end, step].into_iter().flatten() {
            self.report_limit(text, keyword, limit.json, path);
        }
    }

    /// Reports a number that violates a limit.
    fn report_limit(&mut self, text: &str, keyword: &NumberKeyword, limit: &str, path: &Path<'_>) {
        self.report(path, |out| {
            out.push_str(&shorten(text));
            out.push_str(" is ");
            out.push_str(keyword.relation);
            out.push(' ');
            out.push_str(limit);
        });
    }

    fn string(&mut self, schema: &Schema, rule: &StringRule, path: &Path<'_>) {
        let quoted = self.string_token();
        if rule.lengths.is_any() && rule.pattern.is_empty() && quoted.is_text() {
            return;
        }
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.report_surrogate(path);
        };
        if !rule.lengths.is_any() && !rule.lengths.accepts(text.chars().count()) {
            self.report_mismatch(schema, quoted, path);
        } else if !matches_pattern(rule, &text) {
            self.report(path, |out| {
                let (got, pattern) = (shorten(quoted), rule.pattern.as_str());
                push(
                    out,
                    format_args!("{got} does not match the pattern {pattern}"),
                );
            });
        }
    }

    fn enum_value(&mut self, schema: &Schema, strings: &Strings, path: &Path<'_>) {
        let start = self.cursor.position();
        let quoted = self.string_token();
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.report_surrogate(path);
        };
        if strings.contains(&text) {
            return;
        }
        if self.respells
            && let Some(value) = strings.match_ignoring_case(&text)
        {
            return self.rewrite_since(start, &format!("\"{}\"", value.json()));
        }
        // A value in another case does not count as any other string.
        if strings.is_open
            && !strings.is_excluded(&text)
            && strings.match_ignoring_case(&text).is_none()
        {
            return;
        }
        self.report(path, |out| {
            write_mismatch(out, schema, quoted);
            did_you_mean(out, &text, strings.values.iter().map(Text::as_str));
        });
    }

    fn report_surrogate(&mut self, path: &Path<'_>) {
        let message = "contains an unpaired surrogate, which is not valid text";
        self.report(path, |out| out.push_str(message));
    }

    fn array(&mut self, schema: &Schema, rule: &ArrayRule, path: &Path<'_>, depth: usize) {
        let start = self.cursor.position();
        let before = self.output.as_ref().map(Rewrite::mark);
        let count = self.items(path, depth, |_| Some(rule.items));
        if !rule.lengths.accepts(count) {
            self.report_mismatch(schema, &count.to_string(), path);
        }
        if rule.is_unique {
            self.check_distinct(rule.items, start, before, path);
        }
    }

    fn tuple(&mut self, schema: &Schema, items: &[&'static Schema], path: &Path<'_>, depth: usize) {
        let count = self.items(path, depth, |at| items.get(at).copied());
        if count != items.len() {
            self.report_mismatch(schema, &count.to_string(), path);
        }
    }

    /// Validates the items of an array, each with its schema if it has one. Returns their number.
    fn items<'s>(
        &mut self,
        path: &Path<'_>,
        depth: usize,
        schema: impl Fn(usize) -> Option<&'s Schema>,
    ) -> usize {
        let mut count = 0;
        self.open(b'[');
        while self.has_next(b']', count == 0) {
            match schema(count) {
                Some(schema) => self.value(schema, &path.index(count), depth + 1),
                None => {
                    self.skip_value();
                }
            }
            count += 1;
        }
        count
    }

    fn map(&mut self, schema: &Schema, rule: &MapRule, path: &Path<'_>, depth: usize) {
        let mut seen = KeySet::default();
        let mut respelled = 0;
        let mut is_first = true;
        self.open(b'{');
        while self.has_next(b'}', is_first) {
            is_first = false;
            self.cursor.peek();
            let start = self.cursor.position();
            let Some(key) = self.key(path) else {
                continue;
            };
            let path = path.key(&key);
            let Some(value) = self.map_key(rule.keys, key.clone(), start) else {
                self.skip_value();
                self.report(&path, |out| write_unknown_key(out, rule.keys, &key));
                seen.insert(key);
                continue;
            };
            if !seen.contains(&value) {
                self.value(rule.values, &path, depth + 1);
                seen.insert(value);
            } else if value == key {
                self.duplicate(&path);
            } else {
                respelled += 1;
                self.skip_value();
                self.report(&path, |out| write_same_key(out, &value));
            }
        }
        let count = seen.len() + respelled;
        if !rule.lengths.accepts(count) {
            self.report_mismatch(schema, &count.to_string(), path);
        }
    }

    /// Returns a key as the name of the value that it is decoded to, and rewrites it if it differs in
    /// case. Returns `None` if it is not accepted.
    fn map_key(&mut self, keys: &Schema, key: Cow<'t, str>, start: usize) -> Option<Cow<'t, str>> {
        if let Kind::Enum(strings) = keys.kind
            && !strings.contains(&key)
            && let Some(value) = strings.match_ignoring_case(&key)
        {
            if !self.respells {
                return None;
            }
            self.rewrite_since(start, &format!("\"{}\":", value.json()));
        }
        let is_escaped = matches!(key, Cow::Owned(_));
        let value = key_value(keys, key)?;
        // serde reads digits and booleans as they are written.
        let is_read_raw = match keys.kind {
            Kind::Enum(strings) => strings.needs_text,
            _ => matches!(keys.kind, Kind::Integer(_)),
        };
        if is_escaped && is_read_raw {
            self.rewrite_since(start, &format!("\"{value}\":"));
        }
        Some(value)
    }

    fn object(&mut self, properties: &'static [Property], path: &Path<'_>, depth: usize) {
        let Members { known, others } = Members::of(properties);
        let mut seen = BitSet::default();
        let mut seen_others = KeySet::default();
        // Another key may be a secret's key, misspelled.
        let mut hides_others = None;
        let place = self.cursor.position();
        let output = self.output.as_ref().map(Rewrite::mark);
        // `true` if a key of a flattened map comes before a key of a flattened variant.
        let mut is_mixed = false;
        // Models mostly follow the order of the schema.
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
                if !self.has_next(b'}', is_first) {
                    break;
                }
                start = self.cursor.position();
            }
            before = b',';
            if let Some(property) = expected
                && (is_next || self.cursor.eat_key(property.json_key()))
            {
                let path = path.key(property.name());
                self.member(property, start, seen.insert(next), &path, depth);
                next += 1;
            } else if let Some(key) = self.key(path) {
                let place = known.iter().position(|property| property.has_name(&key));
                if let Some(place) = place {
                    let (property, is_new) = (&known[place], seen.insert(place));
                    let is_removed = property.ignores_null()
                        && (self.cursor.peek() == b'n' || self.is_nothing_next(property));
                    if key != property.name() && !is_removed {
                        let name = property.name_json();
                        self.rewrite_since(start, &format!("\"{name}\":"));
                    }
                    self.member(property, start, is_new, &path.key(&key), depth);
                    next = place + 1;
                } else if let Some(values) = others {
                    is_mixed |= self.unions > 0
                        && (known.iter().enumerate())
                            .any(|(at, property)| property.is_required() && !seen.contains(at));
                    let path = path.key(&key);
                    if seen_others.contains(&key) {
                        self.duplicate(&path);
                    } else {
                        if *hides_others.get_or_insert_with(|| any_secret(&known)) {
                            self.secret_value(values, &path, depth + 1);
                        } else {
                            self.value(values, &path, depth + 1);
                        }
                        seen_others.insert(key);
                    }
                } else {
                    self.skip_value();
                    let names = known.iter().map(Property::name);
                    self.report(&path.key(&key), |out| unknown(out, &key, names));
                }
            }
        }
        for (place, property) in known.iter().enumerate() {
            if seen.contains(place) {
                continue;
            }
            if self.is_part && depth == 0 {
                continue;
            }
            if property.is_required() {
                self.report(&path.key(property.name()), |out| {
                    out.push_str("missing; expected ");
                    expected(out, property.schema);
                });
            } else if property.defaults_to_null() {
                self.insert_null(property);
            }
        }
        if is_mixed && let (Some(rewrite), Some(before)) = (&mut self.output, output) {
            let is_known = |key: &str| known.iter().any(|property| property.has_name(key));
            rewrite.move_first(before, place..self.cursor.position(), is_known);
        }
    }

    /// Skips `before`, which is a brace or a comma, and the key and colon of `property`, if there is
    /// no white space.
    #[inline]
    fn eat_next(&mut self, before: u8, property: &Property) -> bool {
        let name = property.plain_key();
        name.is_some_and(|name| self.cursor.eat_member(before, name))
    }

    /// Validates the value of a property, whose key starts at `start`.
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
        let may_be_null = !property.is_required() || property.is_nullable();
        if self.is_lenient && may_be_null && may_omit(property) && self.is_nothing_next(property) {
            return self.take_nothing(property, start, path);
        }
        if may_be_null && self.cursor.peek() == b'n' {
            if property.ignores_null() {
                // serde would read `None`, and not the default.
                if property.is_nullable() && self.output.is_none() {
                    return self.reject_value(property.schema, path);
                }
                self.skip_value();
                return self.remove_since(start);
            }
            if property.is_nullable() {
                self.skip_value();
                return;
            }
        }
        self.value(property.schema, path, depth + 1);
    }

    /// Validates any value: checks only its depth and the uniqueness of its keys.
    fn any(&mut self, path: &Path<'_>, depth: usize) {
        const ANY: &Schema = &Schema::ANY;
        const NUMBERS: &NumberRange = &NumberRange::up_to(f64::MAX);
        match self.cursor.peek() {
            b'{' => self.map(ANY, &MapRule::ANY, path, depth),
            b'[' => self.array(ANY, &ArrayRule::ANY, path, depth),
            b'"' => self.string(ANY, &StringRule::ANY, path),
            b'-' | b'0'..=b'9' => self.number(NUMBERS, path),
            _ => {
                self.skip_value();
            }
        }
    }

    fn duplicate(&mut self, path: &Path<'_>) {
        self.skip_value();
        self.report(path, |out| out.push_str("given twice; give it once"));
    }
}

/// Returns `true` if `null` means that there is no value.
fn may_omit(property: &Property) -> bool {
    property.ignores_null() || property.is_nullable()
}

/// Returns `true` if the kind alone decides what a schema accepts.
fn is_plain(schema: &Schema) -> bool {
    schema.decode_check.is_none() && !matches!(schema.kind, Kind::Reference(_))
}

/// Writes what is expected in the place of a secret, or of a value that contains one.
#[cold]
pub(crate) fn write_secret_mismatch(out: &mut String, schema: &Schema) {
    out.push_str("not accepted; expected ");
    expected(out, schema);
    out.push_str(" (the value is secret and not shown)");
}

/// Writes "expected …, got …".
fn write_mismatch(out: &mut String, schema: &Schema, text: &str) {
    if schema.has_secrets() {
        return write_secret_mismatch(out, schema);
    }
    let start = out.len();
    out.push_str("expected ");
    expected(out, schema);
    let itself = itself(&out[start..], text);
    out.push_str(", got ");
    out.push_str(&shorten(text));
    out.push_str(itself);
}

#[cfg(feature = "regex")]
fn matches_pattern(rule: &StringRule, text: &str) -> bool {
    rule.pattern.is_empty() || super::pattern::is_match(rule.regex, text)
}

/// Without the feature, schemas have no patterns.
#[cfg(not(feature = "regex"))]
fn matches_pattern(_: &StringRule, _: &str) -> bool {
    true
}

/// Returns a key as the name of the value that it is decoded to. Returns `None` if it is not accepted.
fn key_value<'k>(keys: &Schema, key: Cow<'k, str>) -> Option<Cow<'k, str>> {
    match keys.kind {
        Kind::Enum(strings) => strings.value_of(&key).map(Cow::Borrowed),
        _ => is_key(keys, &key).then_some(key),
    }
}

fn write_unknown_key(out: &mut String, keys: &Schema, key: &str) {
    out.push_str("unknown; a key must be ");
    match &keys.kind {
        Kind::Integer(range) if is_integer(key) => integer_in_full(out, range),
        _ => expected(out, keys),
    }
}

/// Reports a key that means the same value as an earlier one.
fn write_same_key(out: &mut String, value: &str) {
    push(
        out,
        format_args!("means \"{value}\", which is given twice; give it once"),
    );
}

/// Returns `true` if `key` matches the schema of a map's keys, which is not an enum.
pub(super) const fn is_key(keys: &Schema, key: &str) -> bool {
    match keys.kind {
        Kind::Integer(range) => {
            is_integer(key)
                && match i128::from_str_radix(key, 10) {
                    Ok(number) => range.minimum <= number && number <= range.maximum,
                    // `i128::MAX` stands for the maximum of `u128`.
                    Err(_) => {
                        range.minimum >= 0
                            && range.maximum == i128::MAX
                            && u128::from_str_radix(key, 10).is_ok()
                    }
                }
        }
        Kind::String(rule) => rule.lengths.is_any() || rule.lengths.accepts(count_characters(key)),
        _ => true,
    }
}

/// Returns `true` if a key is an integer as serde reads it: no plus sign and no leading zeros.
const fn is_integer(key: &str) -> bool {
    let key = key.as_bytes();
    let digits = match key {
        [b'-', digits @ ..] => digits,
        digits => digits,
    };
    match digits {
        [] => false,
        [b'0', ..] => key.len() == 1,
        _ => {
            let mut at = 0;
            while at < digits.len() && digits[at].is_ascii_digit() {
                at += 1;
            }
            at == digits.len()
        }
    }
}
