//! The span of generated tokens.
//!
//! rustc hashes a token's span relative to its item, so that an edit elsewhere in the file leaves the
//! compiled item valid, unless the token's hygiene is that of a macro's expansion: that hash contains
//! the absolute position of the macro call. An edit would then compile every tool below it again. So
//! the generated tokens have the hygiene of the function's name, and the location of the attribute.

use std::cell::Cell;

use proc_macro2::{Literal, Span};

thread_local! {
    static SITE: Cell<Option<Span>> = const { Cell::new(None) };
}

/// Gives the tokens that [`code!`](crate::util::site::code) writes the hygiene of a token of the
/// user.
pub(crate) fn set_site(user: Span) {
    SITE.set(Some(Span::call_site().resolved_at(user)));
}

/// Returns the span of generated tokens.
pub(crate) fn site() -> Span {
    SITE.get().unwrap_or_else(Span::call_site)
}

/// Returns a string literal with that span.
pub(crate) fn string(text: &str) -> Literal {
    let mut literal = Literal::string(text);
    literal.set_span(site());
    literal
}

/// `quote!` with that span.
macro_rules! code {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!($crate::util::site::site()=> $($tokens)*)
    };
}

pub(crate) use code;
