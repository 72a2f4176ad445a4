//! Rust text and literals as JSON.

use std::fmt::Write;

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Lit, Token, bracketed, token};

/// What stands between the quotes of the JSON string that says `text`.
pub(crate) fn escape(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                write!(json, "\\u{:04x}", u32::from(control)).expect("a String takes any text");
            }
            other => json.push(other),
        }
    }
    json
}

/// The JSON text of a Rust literal: a string, a character, a number, a truth value, or a list of
/// these in brackets.
pub(crate) fn literal(tokens: TokenStream) -> syn::Result<String> {
    value.parse2(tokens)
}

fn value(input: ParseStream<'_>) -> syn::Result<String> {
    if input.peek(token::Bracket) {
        let content;
        bracketed!(content in input);
        let items = Punctuated::<String, Token![,]>::parse_terminated_with(&content, value)?;
        let items: Vec<_> = items.into_iter().collect();
        return Ok(format!("[{}]", items.join(",")));
    }
    let sign = match input.parse::<Option<Token![-]>>()? {
        Some(_) => "-",
        None => "",
    };
    match input.parse::<Lit>()? {
        Lit::Int(number) => Ok(format!("{sign}{}", number.base10_digits())),
        Lit::Float(number) => Ok(format!("{sign}{}", number.base10_parse::<f64>()?)),
        Lit::Str(text) if sign.is_empty() => Ok(format!("\"{}\"", escape(&text.value()))),
        Lit::Char(text) if sign.is_empty() => {
            Ok(format!("\"{}\"", escape(&text.value().to_string())))
        }
        Lit::Bool(truth) if sign.is_empty() => Ok(truth.value.to_string()),
        other => Err(syn::Error::new_spanned(other, "this has no form in JSON")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_their_json_form() {
        for (rust, json) in [
            ("-5i64", "-5"),
            ("0xff", "255"),
            ("1.", "1"),
            ("1e3", "1000"),
            ("r#\"a\"b\"#", "\"a\\\"b\""),
            ("'\\u{1}'", "\"\\u0001\""),
            ("[1, 2,]", "[1,2]"),
            ("true", "true"),
        ] {
            assert_eq!(literal(rust.parse().unwrap()).unwrap(), json);
        }
        for rust in ["-true", "None", "b'a'", "1 + 2", ""] {
            assert!(literal(rust.parse().unwrap()).is_err(), "{rust}");
        }
    }
}
