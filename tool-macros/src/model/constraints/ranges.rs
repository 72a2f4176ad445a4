//! `1..=14`, `0.5..1.0`, `..=5`: ranges of literals.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{LitFloat, LitInt, Token};

/// A range of numbers.
pub(crate) enum Range {
    Integers(Option<i128>, Option<i128>),
    Numbers(Option<End>, Option<End>),
}

/// One end of a range of numbers that need not be whole.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) value: f64,
    pub(crate) is_exclusive: bool,
}

enum Number {
    Integer(i128),
    Float(f64),
}

const FORM: &str = "invalid range; write `1..=14`, `1..` or `0.5..=1.0`";
const LENGTHS: &str = "invalid range of lengths; write `1..=64`, `1..` or `..=64`";
const EMPTY: &str = "empty range; swap its ends or widen it";

impl Range {
    /// Reads a range; the error says what is wrong with it and what to do.
    pub(crate) fn parse(tokens: TokenStream) -> Result<Range, &'static str> {
        let (from, to, is_exclusive) = ends.parse2(tokens).map_err(|_| FORM)?;
        let last = |to: i128| to.saturating_sub(i128::from(is_exclusive));
        match (from, to) {
            (None, None) => Err("unbounded range; add at least one end"),
            (Some(Number::Integer(from)), Some(Number::Integer(to))) => match from <= last(to) {
                true => Ok(Range::Integers(Some(from), Some(last(to)))),
                false => Err(EMPTY),
            },
            (Some(Number::Integer(from)), None) => Ok(Range::Integers(Some(from), None)),
            (None, Some(Number::Integer(to))) => Ok(Range::Integers(None, Some(last(to)))),
            (from, to) => {
                let (from, to) = (from.map(float).transpose()?, to.map(float).transpose()?);
                if let (Some(from), Some(to)) = (from, to)
                    && (from > to || is_exclusive && from >= to)
                {
                    return Err(EMPTY);
                }
                let end = |is_exclusive| {
                    move |value| End {
                        value,
                        is_exclusive,
                    }
                };
                Ok(Range::Numbers(
                    from.map(end(false)),
                    to.map(end(is_exclusive)),
                ))
            }
        }
    }
}

fn float(number: Number) -> Result<f64, &'static str> {
    match number {
        Number::Float(float) => Ok(float),
        Number::Integer(_) => Err(
            "the ends of a range must both be integers or both be floats; write both as \
             floats",
        ),
    }
}

/// Reads a range of lengths.
pub(crate) fn length(tokens: TokenStream) -> Result<(usize, Option<usize>), &'static str> {
    let whole = |number| usize::try_from(number).map_err(|_| LENGTHS);
    match Range::parse(tokens) {
        Ok(Range::Integers(from, to)) => {
            Ok((whole(from.unwrap_or(0))?, to.map(whole).transpose()?))
        }
        Err(EMPTY) => Err(EMPTY),
        _ => Err(LENGTHS),
    }
}

fn ends(input: ParseStream<'_>) -> syn::Result<(Option<Number>, Option<Number>, bool)> {
    let from = number(input)?;
    let is_exclusive = input.parse::<Option<Token![..=]>>()?.is_none();
    if is_exclusive {
        input.parse::<Token![..]>()?;
    }
    let to = number(input)?;
    match input.is_empty() {
        true => Ok((from, to, is_exclusive)),
        false => Err(input.error(FORM)),
    }
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
    parsed
        .map(|value| Some(Number::Integer(value)))
        .map_err(|_| input.error(FORM))
}
