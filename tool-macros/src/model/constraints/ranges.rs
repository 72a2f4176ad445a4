//! `1..=14`, `0.5..1.0`, `..=5`: ranges of literals.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
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

const FORM: &str = "this is no range of numbers; write `1..=14`, `1..` or `0.5..=1.0`";

impl Range {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Range> {
        let span = tokens.span();
        let (from, to, is_exclusive) = ends.parse2(tokens).map_err(|_| syn::Error::new(span, FORM))?;
        match (from, to) {
            (None, None) => Err(syn::Error::new(span, "this range bounds nothing; give it an end")),
            (Some(Number::Integer(from)), Some(Number::Integer(to))) => {
                let to = if is_exclusive { to.saturating_sub(1) } else { to };
                filled(from <= to, span)?;
                Ok(Range::Integers(Some(from), Some(to)))
            }
            (Some(Number::Integer(from)), None) => Ok(Range::Integers(Some(from), None)),
            (None, Some(Number::Integer(to))) => {
                let to = if is_exclusive { to.saturating_sub(1) } else { to };
                Ok(Range::Integers(None, Some(to)))
            }
            (from, to) => {
                let float = |number| match number {
                    Number::Float(float) => Ok(float),
                    Number::Integer(_) => Err(syn::Error::new(
                        span,
                        "one end of this range is whole and one is not; write both as floats",
                    )),
                };
                let from = from.map(float).transpose()?;
                let to = to.map(float).transpose()?;
                if let (Some(from), Some(to)) = (from, to) {
                    filled(from < to || from == to && !is_exclusive, span)?;
                }
                Ok(Range::Numbers(
                    from.map(|value| End { value, is_exclusive: false }),
                    to.map(|value| End { value, is_exclusive }),
                ))
            }
        }
    }
}

/// A range of lengths.
pub(crate) fn length(tokens: TokenStream) -> syn::Result<(usize, Option<usize>)> {
    const FORM: &str = "this is no range of lengths; write `1..=64`, `1..` or `..=64`";
    let span = tokens.span();
    let wrong = || syn::Error::new(span, FORM);
    let whole = |number| usize::try_from(number).map_err(|_| wrong());
    match Range::parse(tokens).map_err(|error| match error.to_string().contains("no value") {
        true => error,
        false => wrong(),
    })? {
        Range::Integers(from, to) => {
            Ok((whole(from.unwrap_or(0))?, to.map(whole).transpose()?))
        }
        Range::Numbers(..) => Err(wrong()),
    }
}

fn filled(filled: bool, span: Span) -> syn::Result<()> {
    match filled {
        true => Ok(()),
        false => Err(syn::Error::new(span, "no value is in this range; swap its ends or widen it")),
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
        return parsed.map(|value| Some(Number::Float(value))).map_err(|_| input.error(FORM));
    }
    let integer: LitInt = input.parse()?;
    let parsed = format!("{sign}{}", integer.base10_digits()).parse();
    parsed.map(|value| Some(Number::Integer(value))).map_err(|_| input.error(FORM))
}
