//! Errors, collected so that one build shows them all.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// Every mistake found so far, in the order of the source.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Adds a mistake that underlines `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake that underlines `span`.
    pub(crate) fn span(&mut self, span: Span, message: impl Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Adds the mistakes of a parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    /// The value of a parser, or nothing and its mistakes.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// One `compile_error!` a mistake.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found
            .iter()
            .map(syn::Error::to_compile_error)
            .collect()
    }
}
