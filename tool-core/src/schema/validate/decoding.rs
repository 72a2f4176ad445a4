//! What serde makes of a value: whether its type accepts it, and the time that it takes to decode nested unions.
//!
//! The validator skips the schemas of a union that a value cannot match, and so is fast where serde
//! is not: an untagged enum tries its variants in order, and each attempt decodes everything inside
//! the value until something does not fit. Nested in one another, that takes exponential time. This
//! follows serde's attempts within a budget.

use super::candidates::{has_tag, may_be_kind, members};
use super::rewrite::Rewrite;
use super::{DEPTH, Path, Validator, conforms, write_secret_mismatch};
use crate::schema::cursor::Cursor;
use crate::schema::decode_check::{DecodeCheckFn, rejection};
use crate::schema::property::Members;
use crate::schema::{Kind, Schema};

impl Validator<'_> {
    /// Validates a value whose type may reject what its schema allows.
    pub(super) fn check_decoding(
        &mut self,
        decode_check: DecodeCheckFn,
        schema: &Schema,
        path: &Path<'_>,
        depth: usize,
    ) {
        let found = self.violations.mark();
        self.cursor.peek();
        let start = self.cursor.position();
        let before = self.output.as_ref().map(Rewrite::mark);
        self.match_kind(schema, path, depth);
        let (Some(output), Some(before)) = (&mut self.output, before) else {
            return;
        };
        if self.violations.mark() != found {
            return;
        }
        let value = output.value(before, start..self.cursor.position());
        if self.deepest_union >= NESTED_UNIONS
            && !is_quick_to_decode(&mut self.decode_budget, schema, value)
        {
            self.report_too_complex(path);
        } else if let Some(error) = decode_check(value, None) {
            if schema.has_secrets() {
                return self.report(path, |out| write_secret_mismatch(out, schema));
            }
            self.report(path, |out| *out += &rejection(&error, Some(schema)));
        }
    }
}

/// The nesting of unions from which on the attempts are counted. Below, a type has few.
pub(super) const NESTED_UNIONS: usize = 3;

/// The budget is used up.
struct TooSlow;

/// The answer of serde to an attempt.
#[derive(Clone, Copy, PartialEq)]
enum Fits {
    Yes,
    No,
    /// Unknown: all that may follow is counted.
    Perhaps,
}

/// Returns `false` if serde may take too long to decode `text`, which matches `schema`.
pub(super) fn is_quick_to_decode(budget: &mut usize, schema: &Schema, text: &str) -> bool {
    attempt(schema, text, budget, 0).is_ok()
}

/// Follows the attempt to decode a value.
fn attempt(schema: &Schema, text: &str, budget: &mut usize, depth: usize) -> Result<Fits, TooSlow> {
    *budget = budget.checked_sub(text.len() + 1).ok_or(TooSlow)?;
    // Deeper values are rejected before they are decoded.
    if depth > DEPTH {
        return Ok(Fits::No);
    }
    let first = text.bytes().next().unwrap_or_default();
    let mut cursor = Cursor::new(text);
    let fits = match schema.kind {
        Kind::Reference(reference) => return attempt((reference.target)(), text, budget, depth),
        Kind::Nullable(inner) if first != b'n' => return attempt(inner, text, budget, depth),
        Kind::AnyOf(schemas) => {
            let members = members(text);
            let mut fits = Fits::No;
            for schema in schemas {
                // serde reads a tag first.
                if let Kind::Object(properties) = schema.kind
                    && !properties
                        .iter()
                        .all(|property| has_tag(&members, property))
                {
                    continue;
                }
                match attempt(schema, text, budget, depth)? {
                    Fits::Yes => return Ok(yes(schema)),
                    Fits::Perhaps => fits = Fits::Perhaps,
                    Fits::No => {}
                }
            }
            fits
        }
        _ if !may_be_kind(schema, first) => Fits::No,
        Kind::Array(rule) => items(&mut cursor, budget, depth, |_| Some(rule.items))?,
        Kind::Tuple(schemas) => items(&mut cursor, budget, depth, |at| schemas.get(at).copied())?,
        Kind::Map(rule) => {
            let mut all = Fits::Yes;
            cursor.eat(b'{');
            while cursor.peek() != b'}' && cursor.peek() != 0 {
                cursor.key();
                match attempt(rule.values, cursor.value(), budget, depth + 1)? {
                    Fits::No => return Ok(Fits::No),
                    Fits::Perhaps => all = Fits::Perhaps,
                    Fits::Yes => {}
                }
                cursor.eat(b',');
            }
            all
        }
        Kind::Object(properties) => {
            let Members { known, others } = Members::of(properties);
            let mut all = Fits::Yes;
            let mut required = known
                .iter()
                .filter(|property| property.is_required())
                .count();
            cursor.eat(b'{');
            while cursor.peek() != b'}' && cursor.peek() != 0 {
                let key = cursor.key().text().unwrap_or_default();
                cursor.peek();
                let value = cursor.value();
                cursor.eat(b',');
                let property = known.iter().find(|property| property.has_name(&key));
                let is_required = property.is_some_and(crate::schema::Property::is_required);
                required = required.saturating_sub(usize::from(is_required));
                let inner = match property {
                    Some(_) if value == "null" => {
                        all = Fits::Perhaps;
                        continue;
                    }
                    Some(property) => property.schema,
                    None => match others {
                        Some(values) => values,
                        // Ignored, or the end of the attempt.
                        None => {
                            all = Fits::Perhaps;
                            continue;
                        }
                    },
                };
                match attempt(inner, value, budget, depth + 1)? {
                    Fits::No => return Ok(Fits::No),
                    Fits::Perhaps => all = Fits::Perhaps,
                    Fits::Yes => {}
                }
            }
            if required > 0 {
                return Ok(Fits::No);
            }
            all
        }
        // A constraint may be the schema's alone.
        _ if conforms(schema, text).is_none() => Fits::Perhaps,
        _ => Fits::Yes,
    };
    Ok(match fits {
        Fits::Yes => yes(schema),
        other => other,
    })
}

/// Follows the decoding of the items of an array, each with its schema.
fn items<'s>(
    cursor: &mut Cursor<'_>,
    budget: &mut usize,
    depth: usize,
    schema: impl Fn(usize) -> Option<&'s Schema>,
) -> Result<Fits, TooSlow> {
    let mut all = Fits::Yes;
    let mut count = 0;
    cursor.eat(b'[');
    while cursor.peek() != b']' && cursor.peek() != 0 {
        let Some(schema) = schema(count) else {
            return Ok(Fits::No);
        };
        match attempt(schema, cursor.value(), budget, depth + 1)? {
            Fits::No => return Ok(Fits::No),
            Fits::Perhaps => all = Fits::Perhaps,
            Fits::Yes => {}
        }
        count += 1;
        cursor.eat(b',');
    }
    Ok(all)
}

/// Returns the answer for a value that matches a schema: its type may still reject it.
fn yes(schema: &Schema) -> Fits {
    if schema.decode_check.is_some() {
        Fits::Perhaps
    } else {
        Fits::Yes
    }
}
