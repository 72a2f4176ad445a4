//! Compares the items of an array as the values that they decode to.
//!
//! Different strings may be one value to the tool: an enum value in another case or under an alias,
//! `1` and `1.0`, a property that is absent or `null`, an address in two spellings. Each item is
//! rewritten into a string that all spellings of a value share.

use std::borrow::Cow;
use std::collections::HashSet;

use super::candidates::{may_be_kind, may_match, members};
use super::rewrite::Mark;
use super::{DEPTH, Path, Validator};
use crate::schema::cursor::{Cursor, unquote};
use crate::schema::messages::shorten;
use crate::schema::numbers::whole_number;
use crate::schema::property::Members;
use crate::schema::{Kind, NumberRange, Property, Schema};

/// The budget is used up.
struct TooComplex;

impl Validator<'_> {
    /// Reports an item that equals an earlier one of the array that was just validated. It starts at `start`, and
    /// `before` is from before it.
    pub(super) fn check_distinct(
        &mut self,
        items: &Schema,
        start: usize,
        before: Option<Mark>,
        path: &Path<'_>,
    ) {
        let place = start..self.cursor.position();
        let array = match (&mut self.output, before) {
            (Some(output), Some(before)) => output.value(before, place),
            _ => self.text.get(place).unwrap_or_default(),
        };
        let message = match duplicate(items, array, &mut self.budget) {
            Ok(None) => return,
            Ok(Some(_)) if items.has_secrets() => "contains an item twice; give it once".into(),
            Ok(Some(twice)) => format!("contains {} twice; give it once", shorten(twice)),
            Err(TooComplex) => return self.report_too_complex(path),
        };
        self.report(path, |out| out.push_str(&message));
    }
}

/// Returns an item of a JSON array that equals an earlier one, as JSON Schema compares.
pub(crate) fn duplicate_item(array: &str) -> Option<&str> {
    duplicate(&Schema::ANY, array, &mut 0).ok().flatten()
}

/// Returns an item of a JSON array that decodes to the same value as an earlier one. `budget` is the
/// number of bytes that may be validated to find the variants of unions.
fn duplicate<'t>(
    items: &Schema,
    array: &'t str,
    budget: &mut usize,
) -> Result<Option<&'t str>, TooComplex> {
    let mut seen = HashSet::new();
    let mut cursor = Cursor::new(array);
    cursor.eat(b'[');
    while !matches!(cursor.peek(), b']' | 0) {
        let item = cursor.value();
        if !seen.insert(canonical(items, item, budget, 0)?) {
            return Ok(Some(item));
        }
        cursor.eat(b',');
    }
    Ok(None)
}

/// Returns a string that all spellings of a value share.
fn canonical<'t>(
    schema: &Schema,
    text: &'t str,
    budget: &mut usize,
    depth: usize,
) -> Result<Cow<'t, str>, TooComplex> {
    if depth > DEPTH {
        return Ok(text.into());
    }
    if let Some(decode_check) = schema.decode_check {
        let mut canonical = String::new();
        if decode_check(text, Some(&mut canonical)).is_none() && !canonical.is_empty() {
            return Ok(canonical.into());
        }
    }
    let first = text.bytes().next().unwrap_or_default();
    Ok(match &schema.kind {
        Kind::Nullable(inner) if first != b'n' => return canonical(inner, text, budget, depth),
        Kind::Reference(reference) => {
            return canonical((reference.target)(), text, budget, depth);
        }
        Kind::AnyOf(schemas) => {
            let schema = variant(schemas, text, budget)?;
            return canonical(schema, text, budget, depth);
        }
        Kind::Any => match first {
            b'[' => list(text, budget, depth, |_| Some(&Schema::ANY))?
                .join(",")
                .into(),
            b'{' => object(text, &[], Some(&Schema::ANY), budget, depth)?.into(),
            b'"' => unquote(text).map_or(text.into(), |text| quoted(&text).into()),
            b'-' | b'0'..=b'9' => any_number(text),
            _ => text.into(),
        },
        // The value does not match.
        _ if !may_be_kind(schema, first) => return canonical(&Schema::ANY, text, budget, depth),
        Kind::Integer(_) => whole_number(text).unwrap_or(text.into()),
        Kind::Number(range) => number(range, text),
        Kind::Enum(strings) => {
            let value = unquote(text).and_then(|text| strings.value_of(&text));
            match value {
                Some(value) => quoted(value).into(),
                None => return canonical(&Schema::ANY, text, budget, depth),
            }
        }
        Kind::Array(rule) => {
            let mut items = list(text, budget, depth, |_| Some(rule.items))?;
            if rule.is_set {
                items.sort_unstable();
                items.dedup();
            }
            items.join(",").into()
        }
        Kind::Tuple(schemas) => list(text, budget, depth, |at| schemas.get(at).copied())?
            .join(",")
            .into(),
        Kind::Map(rule) => {
            let mut members = Vec::new();
            for (key, value) in self::members(text) {
                let key = match rule.keys.kind {
                    Kind::Enum(strings) => strings.value_of(&key).map_or(key, Cow::Borrowed),
                    _ => key,
                };
                let value = canonical(rule.values, value, budget, depth + 1)?;
                members.push(member(&key, &value));
            }
            sorted(members).into()
        }
        Kind::Object(properties) => {
            let Members { known, others } = Members::of(properties);
            object(text, &known, others, budget, depth)?.into()
        }
        Kind::String(_) | Kind::Null | Kind::Boolean | Kind::Nullable(_) => {
            return canonical(&Schema::ANY, text, budget, depth);
        }
    })
}

/// Returns the schema of a union that a value is decoded by.
fn variant(
    schemas: &[&'static Schema],
    text: &str,
    budget: &mut usize,
) -> Result<&'static Schema, TooComplex> {
    let members = members(text);
    let mut candidates = schemas
        .iter()
        .copied()
        .filter(|schema| may_match(schema, text, &members));
    let first = candidates.next();
    let Some(second) = candidates.next() else {
        return Ok(first.unwrap_or(&Schema::ANY));
    };
    for schema in first.into_iter().chain([second]).chain(candidates) {
        *budget = budget.checked_sub(text.len()).ok_or(TooComplex)?;
        let mut validator = Validator::new(text, false);
        validator.budget = *budget;
        validator.value(schema, &Path::ROOT, 0);
        *budget = validator.budget;
        if validator.violations.is_empty() {
            return Ok(schema);
        }
    }
    Ok(&Schema::ANY)
}

/// Returns the items of an array, each with its schema if it has one.
fn list<'t, 's>(
    text: &'t str,
    budget: &mut usize,
    depth: usize,
    schema: impl Fn(usize) -> Option<&'s Schema>,
) -> Result<Vec<Cow<'t, str>>, TooComplex> {
    let mut items = Vec::new();
    // Brackets distinguish an array from its only item.
    items.push("[".into());
    let mut cursor = Cursor::new(text);
    cursor.eat(b'[');
    while !matches!(cursor.peek(), b']' | 0) {
        let schema = schema(items.len() - 1).unwrap_or(&Schema::ANY);
        items.push(canonical(schema, cursor.value(), budget, depth + 1)?);
        cursor.eat(b',');
    }
    items.push("]".into());
    Ok(items)
}

/// Returns an object without properties that mean the same as absent ones.
fn object(
    text: &str,
    known: &[Property],
    others: Option<&'static Schema>,
    budget: &mut usize,
    depth: usize,
) -> Result<String, TooComplex> {
    let mut members = Vec::new();
    for (key, value) in self::members(text) {
        let property = known.iter().find(|property| property.has_name(&key));
        let Some(property) = property else {
            let value = canonical(others.unwrap_or(&Schema::ANY), value, budget, depth + 1)?;
            members.push(member(&key, &value));
            continue;
        };
        if value == "null" && (property.ignores_null() || property.defaults_to_null()) {
            continue;
        }
        let value = match value {
            "null" if property.is_nullable() => value.into(),
            _ => canonical(property.schema, value, budget, depth + 1)?,
        };
        members.push(member(property.name(), &value));
    }
    Ok(sorted(members))
}

fn member(key: &str, value: &str) -> Cow<'static, str> {
    format!("{key:?}:{value}").into()
}

/// Takes the type that a list has, because each type of sorted values is 4 kB of code.
fn sorted(mut members: Vec<Cow<'_, str>>) -> String {
    members.sort_unstable();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a number as its float type holds it.
fn number<'t>(range: &NumberRange, text: &'t str) -> Cow<'t, str> {
    match text.parse::<f64>() {
        // Adding zero makes the negative zero positive, which it equals.
        #[allow(clippy::cast_possible_truncation)]
        Ok(number) if range.magnitude < f64::MAX => (number as f32 + 0.0).to_string().into(),
        Ok(number) => (number + 0.0).to_string().into(),
        Err(_) => text.into(),
    }
}

/// Returns a number as `serde_json` holds it, without a fraction of zero.
fn any_number(text: &str) -> Cow<'_, str> {
    let Ok(number) = serde_json::from_str::<serde_json::Number>(text) else {
        return text.into();
    };
    let held = number.to_string();
    match whole_number(&held) {
        Some(Cow::Owned(digits)) => digits.into(),
        _ => held.into(),
    }
}
