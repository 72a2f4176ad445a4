//! The span of generated tokens.
//!
//! rustc hashes a token's span relative to its item, so that an edit elsewhere in the file leaves the
//! compiled item valid, unless the token's hygiene comes from a macro's expansion: that hash contains
//! the absolute position of the macro call. An edit would then compile every tool below it again. So
//! the generated tokens have the hygiene of the function's or the type's name, and the location of the
//! attribute.

use std::cell::Cell;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

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

/// Returns a number without a suffix and with that span.
pub(crate) fn number(number: usize) -> Literal {
    let mut literal = Literal::usize_unsuffixed(number);
    literal.set_span(site());
    literal
}

/// A number or a boolean with the span of generated tokens.
pub(crate) fn respanned(value: impl ToTokens) -> TokenStream {
    let respan = |mut tree: TokenTree| {
        tree.set_span(site());
        tree
    };
    value.into_token_stream().into_iter().map(respan).collect()
}

/// `quote!` with that span.
macro_rules! code {
    ($($tokens:tt)*) => {
        ::quote::quote_spanned!($crate::util::site::site()=> $($tokens)*)
    };
}

pub(crate) use code;

/// Generated tokens that are not yet a stream.
///
/// `quote!` joins streams, and each join passes both through the compiler. Half of the time of the
/// macro went there. These are moved.
#[derive(Clone, Default)]
pub(crate) struct Trees(Vec<TokenTree>);

impl Trees {
    /// Appends one token of the generated code: a word, a lifetime or a punctuation.
    pub(crate) fn token(&mut self, span: Span, text: &str) {
        let first = text.as_bytes()[0];
        if first == b'_' || first.is_ascii_alphabetic() {
            self.0.push(Ident::new(text, span).into());
            return;
        }
        let (marks, word) = match text.strip_prefix('\'') {
            Some(word) => ("'", Some(word)),
            None => (text, None),
        };
        for (at, mark) in marks.bytes().enumerate() {
            let is_last = at + 1 == marks.len() && word.is_none();
            let spacing = if is_last {
                Spacing::Alone
            } else {
                Spacing::Joint
            };
            let mut mark = Punct::new(char::from(mark), spacing);
            mark.set_span(span);
            self.0.push(mark.into());
        }
        if let Some(word) = word {
            self.0.push(Ident::new(word, span).into());
        }
    }

    /// Appends a group.
    pub(crate) fn group(&mut self, span: Span, delimiter: Delimiter, inside: Trees) {
        let mut group = Group::new(delimiter, inside.into());
        group.set_span(span);
        self.0.push(group.into());
    }

    /// Appends other code.
    pub(crate) fn put(&mut self, code: impl Code) {
        code.append_to(self);
    }
}

impl From<Trees> for TokenStream {
    fn from(trees: Trees) -> TokenStream {
        trees.0.into_iter().collect()
    }
}

impl FromIterator<TokenTree> for Trees {
    fn from_iter<I: IntoIterator<Item = TokenTree>>(trees: I) -> Trees {
        Trees(trees.into_iter().collect())
    }
}

impl From<TokenStream> for Trees {
    fn from(tokens: TokenStream) -> Trees {
        Trees(tokens.into_iter().collect())
    }
}

impl ToTokens for Trees {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().cloned());
    }

    fn into_token_stream(self) -> TokenStream {
        self.into()
    }
}

/// A value that [`trees!`](crate::util::site::trees) accepts after `#`. It is moved there.
pub(crate) trait Code {
    fn append_to(self, trees: &mut Trees);
}

impl Code for Trees {
    fn append_to(mut self, trees: &mut Trees) {
        if trees.0.is_empty() {
            *trees = self;
        } else {
            trees.0.append(&mut self.0);
        }
    }
}

impl Code for &Trees {
    fn append_to(self, trees: &mut Trees) {
        trees.0.extend(self.0.iter().cloned());
    }
}

impl Code for TokenStream {
    fn append_to(self, trees: &mut Trees) {
        trees.0.extend(self);
    }
}

impl Code for TokenTree {
    fn append_to(self, trees: &mut Trees) {
        trees.0.push(self);
    }
}

impl Code for &Ident {
    fn append_to(self, trees: &mut Trees) {
        self.clone().append_to(trees);
    }
}

macro_rules! single_trees {
    ($($tree:ident)*) => {$(
        impl Code for $tree {
            fn append_to(self, trees: &mut Trees) {
                trees.0.push(self.into());
            }
        }
    )*};
}

single_trees!(Ident Literal Group);

impl<C: Code> Code for Option<C> {
    fn append_to(self, trees: &mut Trees) {
        if let Some(code) = self {
            code.append_to(trees);
        }
    }
}

impl<C: Code> Code for Vec<C> {
    fn append_to(self, trees: &mut Trees) {
        for code in self {
            code.append_to(trees);
        }
    }
}

/// [`trees!`](crate::util::site::trees) with a span before `=>`.
macro_rules! trees_at {
    ($span:expr=> $($tokens:tt)*) => {{
        #[allow(unused_mut)]
        let mut trees = $crate::util::site::Trees::default();
        #[allow(unused_variables)]
        let span: ::proc_macro2::Span = $span;
        $crate::util::site::put!(trees span $($tokens)*);
        trees
    }};
}

/// `code!` for parts that every tool has: the tokens as [`Trees`]. A value after `#` is moved, and there
/// are no repetitions; a `Vec` is appended whole.
macro_rules! trees {
    ($($tokens:tt)*) => {
        $crate::util::site::trees_at!($crate::util::site::site()=> $($tokens)*)
    };
}

macro_rules! put {
    ($trees:ident $span:ident) => {};
    ($trees:ident $span:ident # $hole:ident $($rest:tt)*) => {
        $trees.put($hole);
        $crate::util::site::put!($trees $span $($rest)*);
    };
    ($trees:ident $span:ident ( $($inside:tt)* ) $($rest:tt)*) => {
        let inside = $crate::util::site::trees_at!($span=> $($inside)*);
        $trees.group($span, ::proc_macro2::Delimiter::Parenthesis, inside);
        $crate::util::site::put!($trees $span $($rest)*);
    };
    ($trees:ident $span:ident [ $($inside:tt)* ] $($rest:tt)*) => {
        let inside = $crate::util::site::trees_at!($span=> $($inside)*);
        $trees.group($span, ::proc_macro2::Delimiter::Bracket, inside);
        $crate::util::site::put!($trees $span $($rest)*);
    };
    ($trees:ident $span:ident { $($inside:tt)* } $($rest:tt)*) => {
        let inside = $crate::util::site::trees_at!($span=> $($inside)*);
        $trees.group($span, ::proc_macro2::Delimiter::Brace, inside);
        $crate::util::site::put!($trees $span $($rest)*);
    };
    ($trees:ident $span:ident $token:tt $($rest:tt)*) => {
        $trees.token($span, stringify!($token));
        $crate::util::site::put!($trees $span $($rest)*);
    };
}

pub(crate) use {put, trees, trees_at};
