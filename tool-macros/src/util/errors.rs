//! Collects errors, so that one build shows them all.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use super::editor;
use super::site::site;
use super::tokens::Ends;

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Errors {
    found: Vec<syn::Error>,
}

impl Errors {
    /// Adds an error that underlines `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.found.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds an error that underlines `span`.
    pub(crate) fn span(&mut self, span: Span, message: impl Display) {
        self.found.push(syn::Error::new(span, message));
    }

    /// Adds an error that underlines everything between two tokens.
    pub(crate) fn between(&mut self, (first, last): Ends, message: impl Display) {
        let (first, last) = (quote_spanned!(first=> _), quote_spanned!(last=> _));
        self.at(quote!(#first #last), message);
    }

    /// Adds the errors of a parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.found.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns a `compile_error!` for each error, in the order of the source.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.into_expressions().into_iter().collect()
    }

    /// The same, each as an expression.
    pub(crate) fn into_expressions(self) -> Vec<TokenStream> {
        let errors = self.sorted();
        let tokens = errors.iter().map(syn::Error::to_compile_error);
        if editor::is_running() {
            return tokens.map(without_crate).collect();
        }
        tokens.collect()
    }

    fn sorted(self) -> Vec<syn::Error> {
        let mut found: Vec<_> = self.found.into_iter().flatten().collect();
        found.sort_by_key(|error| position(error.span()));
        found
    }
}

/// Moves `::core::` away from the token with the error, where an editor would show the documentation of that crate.
fn without_crate(error: TokenStream) -> TokenStream {
    let mut trees: Vec<_> = error.into_iter().collect();
    let is_path = |tree: &TokenTree| tree.to_string() != "compile_error";
    for tree in trees.iter_mut().take_while(|tree| is_path(tree)) {
        tree.set_span(site());
    }
    trees.into_iter().collect()
}

/// Returns line and column. A unit test runs outside rustc and has none.
fn position(span: Span) -> (usize, usize) {
    if !proc_macro::is_available() {
        return (0, 0);
    }
    let span = span.unwrap();
    (span.line(), span.column())
}
