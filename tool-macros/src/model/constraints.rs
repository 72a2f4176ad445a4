//! `#[param(…)]`: what narrows or replaces the schema of a parameter's or a field's type.

mod ranges;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{LitStr, Type};

pub(crate) use self::ranges::End;
use self::ranges::Range;
use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::literal::Literal;
use crate::util::pattern;

/// Everything that `#[param]` says of a schema.
#[derive(Default)]
pub(crate) struct Constraints {
    pub(crate) stand_in: Option<SchemaOverride>,
    pub(crate) narrowings: Vec<(Narrowing, Span)>,
    pub(crate) example: Option<(Literal, Span)>,
    /// Whether the field leads back to a type that holds it.
    pub(crate) is_recursive: bool,
}

/// What takes the place of the type's own schema.
pub(crate) enum SchemaOverride {
    /// `schema = r#"…"#`
    Schema(LitStr),
    /// `as = Type`
    Type(Box<Type>),
}

/// One narrower bound.
pub(crate) enum Narrowing {
    Integers(Option<i128>, Option<i128>),
    Numbers(Option<End>, Option<End>),
    Length(usize, Option<usize>),
    /// In the dialect of JSON Schema, and in that of the `regex` crate.
    Pattern(String, String),
    Format(String),
    MultipleOfInteger(i128),
    MultipleOfNumber(f64),
    Unique,
}

/// The formats that OpenAI's and Anthropic's strict modes know.
const FORMATS: [&str; 10] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uuid",
];

impl Constraints {
    pub(crate) fn read(keys: &mut Keys, errors: &mut Errors) -> Constraints {
        let mut narrowings = Vec::new();
        if let Some(tokens) = keys.tokens("range", "1..=14", errors) {
            let span = tokens.span();
            match Range::parse(tokens.clone()) {
                Ok(Range::Integers(from, to)) => {
                    narrowings.push((Narrowing::Integers(from, to), span));
                }
                Ok(Range::Numbers(from, to)) => {
                    narrowings.push((Narrowing::Numbers(from, to), span));
                }
                Err(problem) => errors.at(tokens, problem),
            }
        }
        if let Some(tokens) = keys.tokens("length", "1..=64", errors) {
            let span = tokens.span();
            match ranges::length(tokens.clone()) {
                Ok((from, to)) => narrowings.push((Narrowing::Length(from, to), span)),
                Err(problem) => errors.at(tokens, problem),
            }
        }
        if let Some(pattern) = keys.text("pattern", errors) {
            match pattern::translate(&pattern.value()) {
                Ok(regex) => {
                    let narrowing = Narrowing::Pattern(pattern.value(), regex);
                    narrowings.push((narrowing, pattern.span()));
                }
                Err(problem) => errors.at(&pattern, problem),
            }
        }
        if let Some(format) = keys.text("format", errors) {
            if !FORMATS.contains(&&*format.value()) {
                let known = crate::util::names::list(&FORMATS);
                errors.at(&format, format!("unknown format; write one of {known}"));
            }
            narrowings.push((Narrowing::Format(format.value()), format.span()));
        }
        match keys.literal("multiple_of", errors) {
            Some((Some(Literal::Integer(step)), span)) if step > 0 => {
                narrowings.push((Narrowing::MultipleOfInteger(step), span));
            }
            Some((Some(Literal::Number(step)), span)) if step > 0.0 => {
                narrowings.push((Narrowing::MultipleOfNumber(step), span));
            }
            Some((_, span)) => errors.span(
                span,
                "`multiple_of` requires a number greater than zero; write `multiple_of = 5`",
            ),
            None => {}
        }
        if let Some((true, span)) = keys.flag("unique", errors) {
            narrowings.push((Narrowing::Unique, span));
        }
        let example = match keys.literal("example", errors) {
            Some((None, span)) => {
                errors.span(span, "`example` requires a value; write `example = \"…\"`");
                None
            }
            Some((Some(literal), span)) => Some((literal, span)),
            None => None,
        };
        Constraints {
            stand_in: stand_in(keys, errors),
            narrowings,
            example,
            is_recursive: false,
        }
    }

    /// The pattern among them.
    pub(crate) fn pattern(&self) -> Option<&str> {
        self.narrowings
            .iter()
            .find_map(|(narrowing, _)| match narrowing {
                Narrowing::Pattern(pattern, _) => Some(&**pattern),
                _ => None,
            })
    }

    /// Reports a literal that its own pattern refuses: a constant can't run a regular expression.
    pub(crate) fn check_literal(&self, literal: &Literal, span: Span, errors: &mut Errors) {
        if let (Some(pattern), Literal::String(text)) = (self.pattern(), literal)
            && !pattern::is_match(pattern, text)
        {
            errors.span(
                span,
                format!("this text does not match the pattern `{pattern}`; write one that does"),
            );
        }
    }
}

fn stand_in(keys: &mut Keys, errors: &mut Errors) -> Option<SchemaOverride> {
    let schema = keys.text("schema", errors);
    let ty = keys.ty("as", errors);
    match (schema, ty) {
        (Some(schema), Some(_)) => {
            errors.at(
                &schema,
                "`schema` and `as` cannot be combined; remove one of the two",
            );
            None
        }
        (Some(schema), None) => Some(SchemaOverride::Schema(schema)),
        (None, Some(ty)) => Some(SchemaOverride::Type(Box::new(ty))),
        (None, None) => None,
    }
}
