//! The keys of `#[param(…)]` that narrow, annotate or replace the schema of a parameter or a field.
//!
//! A key that narrows or annotates a schema is declared here alone, as a function in [`NARROWINGS`] or
//! [`ANNOTATIONS`]: how its value is read and checked, and how the page in rustdoc shows it. A narrowing
//! also names the function of `tool_core::__private::constrain` that the generated code calls.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{LitFloat, LitInt, Token, Type};

use super::constraint::Constraint;
use super::json_schema::JsonSchema;
use crate::attr::Keys;
use crate::util::errors::Errors;
use crate::util::json::escape;
use crate::util::literal::Literal;
use crate::util::names::list;
use crate::util::site::{respanned, string};
use crate::util::tokens::{Ends, bound, ends, maximum, option, text};
use crate::util::{markdown, pattern};

/// Reads one key.
type Read = fn(&mut Keys, &mut Errors) -> Option<Constraint>;

/// The keys that narrow a schema, in the order of their JSON keywords.
const NARROWINGS: [Read; 7] = [range, multiple_of, length, pattern, format, unique, secret];
/// The keys that add something to a property and leave its schema alone.
const ANNOTATIONS: [Read; 1] = [example];

/// The formats that OpenAI's and Anthropic's strict modes accept.
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

/// Everything that `#[param]` states about a schema.
#[derive(Default)]
pub(crate) struct Constraints {
    pub(crate) schema_override: Option<SchemaOverride>,
    pub(crate) narrowings: Vec<Constraint>,
    pub(crate) annotations: Vec<Constraint>,
    /// Set when the field leads back to a type that contains it.
    pub(crate) is_recursive: bool,
}

/// The replacement for the type's own schema.
pub(crate) enum SchemaOverride {
    /// `schema = r#"…"#`
    Schema { text: String, schema: JsonSchema },
    /// `as = Type`
    Type(Box<Type>),
}

impl Constraints {
    pub(crate) fn read(keys: &mut Keys, errors: &mut Errors) -> Constraints {
        let mut all = |reads: &[Read]| {
            let found = reads.iter().filter_map(|read| read(keys, errors));
            found.collect::<Vec<_>>()
        };
        Constraints {
            narrowings: all(&NARROWINGS),
            annotations: all(&ANNOTATIONS),
            schema_override: schema_override(keys, errors),
            is_recursive: false,
        }
    }

    /// Adds the pattern of a grammar in its place among the keywords.
    pub(crate) fn add_pattern(&mut self, pattern: String, regex: &str, ends: Ends) {
        let is_later = |one: &Constraint| matches!(one.function, "format" | "unique" | "secret");
        let at = self.narrowings.iter().position(is_later);
        let at = at.unwrap_or(self.narrowings.len());
        self.narrowings.insert(at, matching(pattern, regex, ends));
    }

    /// Returns `true` if there is no key about the schema.
    pub(crate) fn is_empty(&self) -> bool {
        let is_open = self.schema_override.is_none();
        is_open && self.narrowings.is_empty() && self.annotations.is_empty()
    }

    /// Returns `true` if `pattern` is among the keys.
    pub(crate) fn has_pattern(&self) -> bool {
        self.narrowings.iter().any(|one| one.function == "pattern")
    }

    /// The values of annotations, with the names of their keys.
    pub(crate) fn literals(&self) -> impl Iterator<Item = (&'static str, &Literal, Ends)> {
        self.annotations.iter().filter_map(|one| {
            let literal = one.literal.as_ref()?;
            Some((one.function, literal, one.ends))
        })
    }

    /// Reports a string that does not match the pattern. A constant cannot run a regular expression.
    pub(crate) fn check_literal(&self, literal: &Literal, ends: Ends, errors: &mut Errors) {
        if let Literal::String(text) = literal
            && let Some(pattern) = self.broken_pattern(text)
        {
            let message =
                format!("this text does not match the pattern `{pattern}`; write one that does");
            errors.between(ends, message);
        }
    }
}

impl Constraints {
    /// Returns the pattern, if a string does not match it.
    pub(crate) fn broken_pattern(&self, text: &str) -> Option<&str> {
        let pattern = self.narrowings.iter().find(|one| one.function == "pattern");
        match pattern.and_then(|one| one.literal.as_ref()) {
            Some(Literal::String(pattern)) if !pattern::is_match(pattern, text) => Some(pattern),
            _ => None,
        }
    }
}

/// `range = 1..=14` or `range = 0.5..1.0`
fn range(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let tokens = keys.tokens("range", "1..=14", errors)?;
    let ends = ends(&tokens);
    match Range::parse(tokens.clone()) {
        Ok(Range::Integers(from, to)) => Some(
            Constraint::new(
                "integers",
                ends,
                vec![option(from.map(respanned)), option(to.map(respanned))],
            )
            .keyword("minimum", from)
            .keyword("maximum", to)
            .summary(between(from, to)),
        ),
        Ok(Range::Numbers(from, to, is_exclusive)) => {
            let arguments = [(from, false), (to, is_exclusive)]
                .map(|(end, is_exclusive)| option(end.map(|value| bound(value, is_exclusive))));
            let number = |value| Literal::Number(value).json();
            let (from, to) = (from.map(number), to.map(number));
            let constraint =
                Constraint::new("numbers", ends, arguments.into()).keyword("minimum", from.clone());
            Some(match (is_exclusive, to) {
                (true, Some(to)) => {
                    let above = from.map(|from| format!("at least {from}, "));
                    constraint
                        .keyword("exclusiveMaximum", Some(&to))
                        .summary(format!("{}below {to}", above.unwrap_or_default()))
                }
                (_, to) => constraint
                    .keyword("maximum", to.clone())
                    .summary(between(from, to)),
            })
        }
        Err(problem) => {
            errors.at(tokens, problem);
            None
        }
    }
}

/// `multiple_of = 5` or `multiple_of = 0.5`
fn multiple_of(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let (step, ends) = keys.literal("multiple_of", errors)?;
    let (function, step, argument) = match step {
        Some(Literal::Integer(step)) if step > 0 => {
            ("multiple_of_integer", step.to_string(), respanned(step))
        }
        Some(Literal::Number(step)) if step > 0.0 => {
            let json = Literal::Number(step).json();
            ("multiple_of_number", json, bound(step, false))
        }
        _ => {
            let message =
                "`multiple_of` requires a number greater than zero; write `multiple_of = 5`";
            errors.between(ends, message);
            return None;
        }
    };
    Some(
        Constraint::new(function, ends, vec![argument])
            .keyword("multipleOf", Some(&step))
            .summary(format!("a multiple of {step}")),
    )
}

/// `length = 1..=64` or `length = 3`
fn length(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let tokens = keys.tokens("length", "1..=64", errors)?;
    let ends = ends(&tokens);
    match lengths(tokens.clone()) {
        Ok((from, to)) => {
            let least = Some(from).filter(|from| *from > 0);
            Some(
                // The page writes these keywords for arrays too.
                Constraint::new("length", ends, vec![respanned(from), maximum(to)])
                    .keyword("minLength", least)
                    .keyword("maxLength", to)
                    .summary(format!("length {}", between(least, to))),
            )
        }
        Err(problem) => {
            errors.at(tokens, problem);
            None
        }
    }
}

/// `pattern = "^[a-z]+$"`
fn pattern(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let written = keys.text("pattern", errors)?;
    let pattern = written.value();
    match pattern::translate(&pattern) {
        Ok(regex) => Some(matching(pattern, &regex, ends(&written))),
        Err(problem) => {
            errors.at(&written, problem);
            None
        }
    }
}

/// The constraint of a pattern and its translation.
fn matching(pattern: String, regex: &str, ends: Ends) -> Constraint {
    let arguments = vec![text(&pattern), string(regex).into_token_stream()];
    let mut constraint = Constraint::new("pattern", ends, arguments)
        .keyword("pattern", Some(quoted(&pattern)))
        .summary(format!("matches {}", markdown::code(&pattern)));
    constraint.literal = Some(Literal::String(pattern));
    constraint
}

/// `format = "email"`
fn format(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let written = keys.text("format", errors)?;
    let format = written.value();
    if !FORMATS.contains(&&*format) {
        let known = list(&FORMATS);
        errors.at(&written, format!("unknown format; write one of {known}"));
    }
    Some(
        Constraint::new(
            "format",
            ends(&written),
            vec![string(&format).into_token_stream()],
        )
        .keyword("format", Some(quoted(&format)))
        .summary(format!("format {}", markdown::code(&format))),
    )
}

/// `unique`
fn unique(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let (_, span) = keys.flag("unique", errors).filter(|(flag, _)| *flag)?;
    Some(
        Constraint::new("unique", (span, span), Vec::new())
            .keyword("uniqueItems", Some(true))
            .summary("unique items"),
    )
}

/// `secret`
fn secret(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let (_, span) = keys.flag("secret", errors).filter(|(flag, _)| *flag)?;
    Some(Constraint::new("secret", (span, span), Vec::new()).summary("secret"))
}

/// `example = literal`
fn example(keys: &mut Keys, errors: &mut Errors) -> Option<Constraint> {
    let (literal, ends) = keys.literal("example", errors)?;
    let Some(literal) = literal else {
        errors.between(ends, "`example` requires a value; write `example = \"…\"`");
        return None;
    };
    let json = literal.json();
    let mut constraint = Constraint::new("example", ends, Vec::new())
        .keyword("examples", Some(format!("[{json}]")))
        .summary(format!("such as {}", markdown::code(&json)));
    constraint.literal = Some(literal);
    Some(constraint)
}

fn schema_override(keys: &mut Keys, errors: &mut Errors) -> Option<SchemaOverride> {
    let schema = keys.text("schema", errors);
    let ty = keys.ty("as", errors);
    match (schema, ty) {
        (Some(schema), Some(_)) => {
            let message = "`schema` and `as` cannot be combined; remove one of the two";
            errors.at(&schema, message);
            None
        }
        (Some(text), None) => Some(SchemaOverride::Schema {
            schema: JsonSchema::parse(&text, errors),
            text: text.value(),
        }),
        (None, Some(ty)) => Some(SchemaOverride::Type(Box::new(ty))),
        (None, None) => None,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// `1 to 14`, `at least 1` or `at most 14`
fn between<T: PartialEq + ToString>(from: Option<T>, to: Option<T>) -> String {
    let same = from == to;
    match (
        from.map(|from| from.to_string()),
        to.map(|to| to.to_string()),
    ) {
        (Some(from), Some(_)) if same => from,
        (Some(from), Some(to)) => format!("{from} to {to}"),
        (Some(from), None) => format!("at least {from}"),
        (None, Some(to)) => format!("at most {to}"),
        (None, None) => String::new(),
    }
}

/// A range of literals: `1..=14`, `0.5..1.0` or `..=5`.
enum Range {
    Integers(Option<i128>, Option<i128>),
    /// The last is `true` if the upper end is exclusive.
    Numbers(Option<f64>, Option<f64>, bool),
}

enum Number {
    Integer(i128),
    Float(f64),
    /// An integer beyond `i128`.
    TooLarge,
}

const FORM: &str = "invalid range; write `1..=14`, `1..` or `0.5..=1.0`";
const LENGTHS: &str = "invalid range of lengths; write `1..=64`, `1..`, `..=64` or `3`";
const EMPTY: &str = "empty range; swap its ends or widen it";
const TOO_LARGE: &str = "an end of a range is within the limits of `i128`; leave this one out";

impl Range {
    /// Reads a range, or returns the error message.
    fn parse(tokens: TokenStream) -> Result<Range, &'static str> {
        let (from, to, is_exclusive) = from_to.parse2(tokens).map_err(|_| FORM)?;
        let last = |to: i128| to.saturating_sub(i128::from(is_exclusive));
        match (from, to) {
            (None, None) => Err("unbounded range; add at least one end"),
            (Some(Number::TooLarge), _) | (_, Some(Number::TooLarge)) => Err(TOO_LARGE),
            (Some(Number::Integer(from)), Some(Number::Integer(to))) if from > last(to) => {
                Err(EMPTY)
            }
            (Some(Number::Integer(from)), Some(Number::Integer(to))) => {
                Ok(Range::Integers(Some(from), Some(last(to))))
            }
            (Some(Number::Integer(from)), None) => Ok(Range::Integers(Some(from), None)),
            (None, Some(Number::Integer(to))) => Ok(Range::Integers(None, Some(last(to)))),
            (from, to) => {
                let (from, to) = (from.map(float).transpose()?, to.map(float).transpose()?);
                if let (Some(from), Some(to)) = (from, to)
                    && (from > to || is_exclusive && from >= to)
                {
                    return Err(EMPTY);
                }
                Ok(Range::Numbers(from, to, is_exclusive))
            }
        }
    }
}

fn float(number: Number) -> Result<f64, &'static str> {
    match number {
        Number::Float(float) => Ok(float),
        Number::Integer(_) | Number::TooLarge => {
            Err("the ends of a range must both be integers or both be floats; write both as floats")
        }
    }
}

/// Reads a length or a range of lengths, or returns the error message.
fn lengths(tokens: TokenStream) -> Result<(usize, Option<usize>), &'static str> {
    let length = |number| usize::try_from(number).map_err(|_| LENGTHS);
    if let Ok(Some(Number::Integer(exact))) = number.parse2(tokens.clone()) {
        let exact = length(exact)?;
        return Ok((exact, Some(exact)));
    }
    match Range::parse(tokens) {
        Ok(Range::Integers(from, to)) => {
            Ok((length(from.unwrap_or(0))?, to.map(length).transpose()?))
        }
        Err(EMPTY) => Err(EMPTY),
        _ => Err(LENGTHS),
    }
}

fn from_to(input: ParseStream<'_>) -> syn::Result<(Option<Number>, Option<Number>, bool)> {
    let from = number(input)?;
    let is_exclusive = input.parse::<Option<Token![..=]>>()?.is_none();
    if is_exclusive {
        input.parse::<Token![..]>()?;
    }
    Ok((from, number(input)?, is_exclusive))
}

fn number(input: ParseStream<'_>) -> syn::Result<Option<Number>> {
    if input.is_empty() || input.peek(Token![..]) || input.peek(Token![..=]) {
        return Ok(None);
    }
    let sign = match input.parse::<Option<Token![-]>>()? {
        Some(_) => "-",
        None => "",
    };
    if input.peek(LitFloat) {
        let float: LitFloat = input.parse()?;
        let parsed = format!("{sign}{}", float.base10_digits()).parse();
        return parsed
            .map(|value| Some(Number::Float(value)))
            .map_err(|_| input.error(FORM));
    }
    let integer: LitInt = input.parse()?;
    let parsed = format!("{sign}{}", integer.base10_digits()).parse();
    Ok(Some(parsed.map_or(Number::TooLarge, Number::Integer)))
}
