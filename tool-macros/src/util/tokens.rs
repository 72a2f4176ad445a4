//! Values as tokens of the generated code, whatever their names mean where it ends up.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::json;
use super::literal::Literal;

/// `"text"` as a `Text`, with its JSON form if that differs.
pub(crate) fn text(text: &str) -> TokenStream {
    let mut escaped = json::escape(text);
    if escaped == text {
        escaped.clear();
    }
    quote!(__tool_core::text(#text, #escaped))
}

/// `Some(…)` or `None`.
pub(crate) fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(__tool_core::Some(#value)),
        None => quote!(__tool_core::None),
    }
}

/// A maximum length, or that of the target machine, which is not that of this one.
pub(crate) fn maximum(length: Option<usize>) -> TokenStream {
    match length {
        Some(length) => quote!(#length),
        None => quote!(::core::primitive::usize::MAX),
    }
}

/// One end of a range of floats.
pub(crate) fn bound(value: f64, is_exclusive: bool) -> TokenStream {
    let json = Literal::Number(value).json();
    quote!(__tool_core::constrain::bound(#value, #json, #is_exclusive))
}
