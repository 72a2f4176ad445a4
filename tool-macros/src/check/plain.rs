//! Checks that need only the spelling of a type: constraints, defaults and examples that do not fit a
//! number, a string, a `bool` or a list.
//!
//! Constants check all types, with the same words (`schema/constrain.rs` and `schema/examples.rs` of
//! `tool-core`), but rustc shows more lines around their message, and no type. So this repeats the checks
//! for the most frequent mistakes.

use syn::{GenericArgument, PathArguments, Type};

use crate::model::constraint::Constraint;
use crate::model::constraints::Constraints;
use crate::model::types::peel;
use crate::util::errors::Errors;
use crate::util::literal::Literal;
use crate::util::tokens::{Ends, ends, spelled};

/// The JSON type of a plain type.
enum Kind {
    Boolean,
    /// The least and the greatest value, and whether the schema shows them.
    Integer((i128, bool), (i128, bool)),
    Number,
    String,
    Array,
}

/// Returns the kind of a type by its name. Returns `None` if another type may have the name.
fn kind(ty: &Type) -> Option<Kind> {
    let path = match peel(ty) {
        Type::Slice(_) => return Some(Kind::Array),
        Type::Path(path) if path.qself.is_none() => &path.path,
        _ => return None,
    };
    // Another crate may have a `Vec`, too.
    let name = path.segments.first().filter(|_| path.segments.len() == 1)?;
    let inner = match &name.arguments {
        PathArguments::None => return scalar(&name.ident.to_string()),
        PathArguments::AngleBracketed(arguments) => &arguments.args,
        PathArguments::Parenthesized(_) => return None,
    };
    match inner.first() {
        Some(GenericArgument::Type(inner)) if name.ident == "Option" => kind(inner),
        Some(GenericArgument::Type(_)) if name.ident == "Vec" && inner.len() == 1 => {
            Some(Kind::Array)
        }
        _ => None,
    }
}

fn scalar(name: &str) -> Option<Kind> {
    let signed = |bits: u32, is_shown| {
        let most = i128::MAX >> (128 - bits);
        Kind::Integer((-1 - most, is_shown), (most, is_shown))
    };
    let unsigned =
        |bits: u32, is_shown| Kind::Integer((0, true), (i128::MAX >> (127 - bits), is_shown));
    Some(match name {
        "bool" => Kind::Boolean,
        "f32" | "f64" => Kind::Number,
        "str" | "String" => Kind::String,
        "i8" => signed(8, true),
        "i16" => signed(16, true),
        "i32" => signed(32, false),
        // A constant checks whether the target has fewer bits.
        "i64" | "isize" => signed(64, false),
        "i128" => signed(128, false),
        "u8" => unsigned(8, true),
        "u16" => unsigned(16, true),
        "u32" => unsigned(32, false),
        "u64" | "usize" => unsigned(64, false),
        "u128" => unsigned(127, false),
        _ => return None,
    })
}

/// Checks the constraints, the default and the examples of a parameter or a field.
pub(super) fn check(
    name: impl Fn() -> String,
    ty: &Type,
    constraints: &Constraints,
    default: Option<(&Literal, Ends)>,
    errors: &mut Errors,
) {
    if default.is_none() && constraints.is_empty() {
        return;
    }
    let Some(mut kind) = kind(ty).filter(|_| constraints.schema_override.is_none()) else {
        return;
    };
    let mut is_fine = true;
    for constraint in &constraints.narrowings {
        if let Some((ends, problem)) = misfit(&mut kind, ty, constraint) {
            errors.between(ends, format!("`{}`: {problem}", name()));
            is_fine = false;
        }
    }
    let examples = constraints.literals();
    let default = default.map(|(literal, ends)| ("default", literal, ends));
    for (what, literal, ends) in default.into_iter().chain(examples).filter(|_| is_fine) {
        if let Some(problem) = mismatch(&kind, literal) {
            let name = name();
            let message = format!("`{name}`: this {what} does not match the schema: {problem}");
            errors.between(ends, message);
        }
    }
}

/// Checks a field whose members are to be members of the type around it.
pub(super) fn flatten(name: &str, ty: &Type, errors: &mut Errors) {
    if kind(ty).is_some() {
        let message = format!(
            "`{name}`: only a struct, an enum of structs or a map can be flattened; remove \
             `#[serde(flatten)]`"
        );
        errors.at(ty, message);
    }
}

/// Returns why a constraint does not fit, and where. Narrows the range of an integer if it fits.
fn misfit(kind: &mut Kind, ty: &Type, constraint: &Constraint) -> Option<(Ends, String)> {
    let only = |only: &str, instead: &str| {
        let key = match constraint.function {
            "integers" | "numbers" => "range",
            "multiple_of_integer" | "multiple_of_number" => "multiple_of",
            key => key,
        };
        Some(format!("`{key}` applies only to {only}; {instead}"))
    };
    let problem = match (constraint.function, kind) {
        ("integers", Kind::Integer(least, most)) => {
            let held = (least.0, most.0);
            let limits = [
                ("minimum", "starts", "a start", least),
                ("maximum", "ends", "an end", most),
            ];
            for (keyword, relation, end, limit) in limits {
                let Some(at) = constraint.keyword_value(keyword) else {
                    continue;
                };
                let at = at.parse().ok()?;
                if at < held.0 || held.1 < at {
                    // Both the end and the type are underlined.
                    let first = match keyword {
                        "minimum" => constraint.ends.0,
                        _ => constraint.ends.1,
                    };
                    let problem = format!(
                        "the range {relation} at {at}, but `{}` holds {} to {}; use {end} that the \
                         type can hold",
                        spelled(ty),
                        held.0,
                        held.1,
                    );
                    return Some(((first, ends(ty).1), problem));
                }
                *limit = (at, true);
            }
            None
        }
        ("integers", Kind::Number) => {
            let float = |keyword| {
                constraint
                    .keyword_value(keyword)
                    .map(|end| format!("{end}.0"))
            };
            let (from, to) = (float("minimum"), float("maximum"));
            let to = to.map_or_else(|| "..".into(), |to| format!("..={to}"));
            let from = from.unwrap_or_default();
            Some(format!(
                "a range of floats needs float ends; write `{from}{to}`"
            ))
        }
        ("numbers", Kind::Integer(..)) => {
            Some("a range of integers needs integer ends, such as `1..=14`".into())
        }
        ("numbers", Kind::Number) => None,
        ("integers" | "numbers", Kind::String | Kind::Array) => {
            only("numbers", "use `length` for strings and arrays")
        }
        ("integers" | "numbers", Kind::Boolean) => only("numbers", "remove it"),
        ("length", Kind::Integer(..) | Kind::Number) => {
            only("strings, arrays and maps", "use `range` for numbers")
        }
        ("length", Kind::Boolean) => only("strings, arrays and maps", "remove it"),
        ("multiple_of_integer", Kind::Integer(..)) | ("multiple_of_number", Kind::Number) => None,
        ("multiple_of_integer", Kind::Number) => {
            let step = constraint.keyword_value("multipleOf")?;
            Some(format!(
                "`multiple_of` for a float needs a float; write `{step}.0`"
            ))
        }
        ("multiple_of_number", Kind::Integer(..)) => {
            Some("`multiple_of` for an integer needs an integer, such as `5`".into())
        }
        ("multiple_of_integer" | "multiple_of_number", _) => only("numbers", "remove it"),
        ("pattern" | "format", kind) if !matches!(kind, Kind::String) => {
            only("strings", "remove it")
        }
        ("unique", kind) if !matches!(kind, Kind::Array) => only("arrays", "remove it"),
        _ => None,
    };
    problem.map(|problem| (constraint.ends, problem))
}

/// Returns why a literal is not a value of a type. Constants know the rest.
fn mismatch(kind: &Kind, literal: &Literal) -> Option<String> {
    let expected = match (kind, literal) {
        (Kind::Integer(least, most), Literal::Integer(number)) => {
            let json = literal.json();
            return if *number < least.0 {
                Some(format!("{json} is below the minimum {}", least.0))
            } else if *number > most.0 {
                Some(format!("{json} is above the maximum {}", most.0))
            } else {
                None
            };
        }
        (Kind::Integer(..) | Kind::Number, Literal::Integer(_) | Literal::Number(_))
        | (Kind::Boolean, Literal::Boolean(_))
        | (Kind::String, Literal::String(_))
        | (Kind::Array, Literal::Array(_)) => return None,
        (Kind::Boolean, _) => "true or false".into(),
        (Kind::Number, _) => "a number".into(),
        (Kind::String, _) => "a string".into(),
        (Kind::Array, _) => "an array".into(),
        (Kind::Integer((least, true), (most, true)), _) => {
            format!("an integer from {least} to {most}")
        }
        (Kind::Integer((least, true), _), _) => format!("an integer of at least {least}"),
        (Kind::Integer(_, (most, true)), _) => format!("an integer of at most {most}"),
        (Kind::Integer(..), _) => "an integer".into(),
    };
    Some(format!("expected {expected}, got {}", literal.json()))
}
