//! Literals of the source, as JSON text and as constant data.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Lit, LitStr, Token, bracketed, token};

use super::json::Json;

/// A name: a string literal, or the text of an identifier.
#[derive(Clone)]
pub(crate) struct Text {
    value: String,
    span: Span,
}

impl Text {
    pub(crate) fn new(value: String, span: Span) -> Text {
        Text { value, span }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.value
    }
}

impl From<LitStr> for Text {
    fn from(literal: LitStr) -> Text {
        Text::new(literal.value(), literal.span())
    }
}

/// As a string literal.
impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        LitStr::new(&self.value, self.span).to_tokens(tokens);
    }
}

/// Returns the text of a name.
pub(crate) fn value(name: &Text) -> String {
    name.value.clone()
}

/// Returns the text of a string literal.
pub(crate) fn text_of(literal: &LitStr) -> String {
    match simple(&literal.token().to_string()) {
        Some(text) => text.to_owned(),
        None => literal.value(),
    }
}

/// Returns the text of a string token, or `None` if only `LitStr` can read it. `LitStr::value` reads
/// character by character, which was a tenth of the macro's time, unoptimised as it is.
pub(crate) fn simple(source: &str) -> Option<&str> {
    let bytes = source.as_bytes();
    let is_simple = bytes.len() >= 2
        && bytes[0] == b'"'
        && bytes[bytes.len() - 1] == b'"'
        && !bytes.contains(&b'\\')
        && !bytes.contains(&b'\r');
    is_simple.then(|| &source[1..source.len() - 1])
}

/// A string, a character, a number, a boolean, or a list of these in brackets.
#[derive(Clone)]
pub(crate) enum Literal {
    Boolean(bool),
    Integer(i128),
    Number(f64),
    String(String),
    Array(Vec<Literal>),
}

impl Literal {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Literal> {
        literal.parse2(tokens)
    }

    /// Returns its JSON text.
    pub(crate) fn json(&self) -> String {
        self.to_json().text()
    }

    /// Returns the code of it as constant data.
    pub(crate) fn constant(&self) -> TokenStream {
        self.to_json().constant()
    }

    fn to_json(&self) -> Json {
        match self {
            Literal::Boolean(truth) => Json::Boolean(*truth),
            Literal::Integer(number) => Json::Number(number.to_string()),
            Literal::Number(number) => Json::Number(number.to_string()),
            Literal::String(text) => Json::String(text.clone()),
            Literal::Array(items) => Json::Array(items.iter().map(Literal::to_json).collect()),
        }
    }
}

fn literal(input: ParseStream<'_>) -> syn::Result<Literal> {
    if input.peek(token::Bracket) {
        let content;
        bracketed!(content in input);
        let items = Punctuated::<Literal, Token![,]>::parse_terminated_with(&content, literal)?;
        return Ok(Literal::Array(items.into_iter().collect()));
    }
    let minus = input.parse::<Option<Token![-]>>()?.is_some();
    match input.parse::<Lit>()? {
        Lit::Int(number) => {
            let sign = if minus { "-" } else { "" };
            let digits = format!("{sign}{}", number.base10_digits());
            let integer = digits.parse().map_err(|_| input.error("too large"))?;
            Ok(Literal::Integer(integer))
        }
        Lit::Float(number) => {
            let magnitude: f64 = number.base10_parse()?;
            if magnitude.is_infinite() {
                return Err(input.error("too large"));
            }
            Ok(Literal::Number(if minus { -magnitude } else { magnitude }))
        }
        Lit::Str(text) if !minus => Ok(Literal::String(text.value())),
        Lit::Char(text) if !minus => Ok(Literal::String(text.value().to_string())),
        Lit::Bool(truth) if !minus => Ok(Literal::Boolean(truth.value)),
        _ => Err(input.error("not a JSON literal")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_become_json() {
        for (rust, json) in [
            ("-5i64", "-5"),
            ("0xff", "255"),
            ("1.", "1"),
            ("1e3", "1000"),
            ("-0.5", "-0.5"),
            ("r#\"a\"b\"#", "\"a\\\"b\""),
            ("'\\u{1}'", "\"\\u0001\""),
            ("[1, 2,]", "[1,2]"),
            ("true", "true"),
        ] {
            assert_eq!(Literal::parse(rust.parse().unwrap()).unwrap().json(), json);
        }
        for rust in ["-true", "None", "b'a'", "1 + 2", ""] {
            assert!(Literal::parse(rust.parse().unwrap()).is_err(), "{rust}");
        }
    }
}
