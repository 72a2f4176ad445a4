//! Values as tokens of the generated code. They mean the same under every name in scope.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Generics, Token, WhereClause, WherePredicate};

use super::json;
use super::literal::Literal;
use super::site::{code, number, respanned, site, string};

/// The spans of a first and a last token. rustc underlines all of an expression that starts and ends with them.
pub(crate) type Ends = (Span, Span);

/// Returns the spans of the first and the last token.
pub(crate) fn ends(tokens: &impl ToTokens) -> Ends {
    let mut spans = tokens.to_token_stream().into_iter().map(|tree| tree.span());
    let first = spans.next().unwrap_or_else(site);
    (first, spans.last().unwrap_or(first))
}

/// Returns tokens as users write them, without the spaces of `TokenStream`: `Vec<u8>`.
pub(crate) fn spelled(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}

/// `"text"` as a `Text`, with its JSON form if that differs.
pub(crate) fn text(text: &str) -> TokenStream {
    let (both, plain) = (string(&both(text)), number(text.len()));
    code!(__tool_core::text(#both, #plain))
}

/// Returns a text, and after it its JSON form if that differs.
pub(crate) fn both(text: &str) -> String {
    if json::is_same(text) {
        return text.to_owned();
    }
    text.to_owned() + &json::escape(text)
}

/// `Some(…)` or `None`.
pub(crate) fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => code!(__tool_core::Some(#value)),
        None => code!(__tool_core::None),
    }
}

/// A maximum length, or the maximum of the target machine, which differs from this one's.
pub(crate) fn maximum(length: Option<usize>) -> TokenStream {
    match length {
        Some(length) => respanned(length),
        None => code!(::core::primitive::usize::MAX),
    }
}

/// One end of a range of floats.
pub(crate) fn bound(value: f64, is_exclusive: bool) -> TokenStream {
    let json = string(&Literal::Number(value).json());
    let (value, is_exclusive) = (respanned(value), respanned(is_exclusive));
    code!(__tool_core::constrain::bound(#value, #json, #is_exclusive))
}

/// Adds a bound whose comma and `where` have the span of generated tokens.
pub(crate) fn add_predicate(generics: &mut Generics, predicate: WherePredicate) {
    let clause = generics.where_clause.get_or_insert_with(|| WhereClause {
        where_token: Token![where](site()),
        predicates: Punctuated::new(),
    });
    if !clause.predicates.empty_or_trailing() {
        clause.predicates.push_punct(Token![,](site()));
    }
    clause.predicates.push_value(predicate);
}
