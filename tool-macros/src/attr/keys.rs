//! `key`, `key = value` lists, the inside of `#[tool(…)]` and `#[param(…)]`.
//!
//! Every key is kept with its span. What nobody asked for is an error in the end, so a key can't
//! be forgotten in silence.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, LitBool, LitStr, Meta};

use crate::util::errors::Errors;
use crate::util::literal::Literal;
use crate::util::names::{did_you_mean, is_like, list};

/// One key, with its value's tokens if it has one.
pub(crate) struct Key {
    name: Ident,
    value: Option<TokenStream>,
}

impl Key {
    pub(crate) fn span(&self) -> Span {
        self.name.span()
    }

    fn parse<T: Parse>(self, form: &str, errors: &mut Errors) -> Option<(T, Span)> {
        let Key { name, value } = self;
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            errors.at(
                &name,
                format!("`{name}` requires a value; write `{name} = {form}`"),
            );
            return None;
        };
        let parser = |input: ParseStream<'_>| Ok((input.parse::<T>()?, input.parse()?));
        let parsed: syn::Result<(T, TokenStream)> = parser.parse2(value.clone());
        match parsed {
            Ok((parsed, rest)) => match rest.into_iter().next() {
                None => Some((parsed, name.span())),
                Some(stray) => {
                    let message = format!(
                        "unexpected token after the value of `{name}`; separate keys with commas"
                    );
                    errors.at(stray, message);
                    None
                }
            },
            Err(_) => {
                let message = format!("invalid value for `{name}`; write `{name} = {form}`");
                errors.at(value, message);
                None
            }
        }
    }
}

/// The keys of all attributes of one kind on one item.
pub(crate) struct Keys {
    /// `#[tool]` or `#[param]`, for messages.
    kind: &'static str,
    given: Vec<Key>,
    /// The names of keys that were reported already, so they are neither missing nor unknown.
    spoiled: Vec<Ident>,
    /// The keys that somebody asked for, present or not.
    known: Vec<&'static str>,
}

impl Keys {
    /// The arguments of an attribute macro.
    pub(crate) fn of_arguments(
        kind: &'static str,
        arguments: TokenStream,
        errors: &mut Errors,
    ) -> Keys {
        let mut keys = Keys {
            kind,
            given: Vec::new(),
            spoiled: Vec::new(),
            known: Vec::new(),
        };
        keys.extend(arguments, errors);
        keys
    }

    /// The arguments of every `#[name(…)]` among `attrs`.
    pub(crate) fn of_attributes(
        kind: &'static str,
        name: &str,
        attrs: &[Attribute],
        errors: &mut Errors,
    ) -> Keys {
        let mut keys = Keys::of_arguments(kind, TokenStream::new(), errors);
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
            match &attr.meta {
                Meta::List(list) => keys.extend(list.tokens.clone(), errors),
                _ => errors.at(
                    attr,
                    format!("`#[{name}]` requires keys; write `#[{name}(key = value)]`"),
                ),
            }
        }
        keys
    }

    fn extend(&mut self, arguments: TokenStream, errors: &mut Errors) {
        // What is no key ends at the next comma, so that one mistake does not hide another.
        let mut trees = arguments.into_iter().peekable();
        while trees.peek().is_some() {
            let mut one = Vec::new();
            let comma = loop {
                match trees.next() {
                    Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => break Some(comma),
                    Some(tree) => one.push(tree),
                    None => break None,
                }
            };
            match (one.is_empty(), comma) {
                (true, Some(comma)) => errors.at(
                    comma,
                    "expected a key before this comma; \
                 remove the comma",
                ),
                _ => self.one(one, errors),
            }
        }
    }

    /// `key` or `key = value`.
    fn one(&mut self, trees: Vec<TokenTree>, errors: &mut Errors) {
        let kind = self.kind;
        let mut trees = trees.into_iter();
        let name = match trees.next() {
            Some(TokenTree::Ident(name)) => name,
            other => {
                errors.at(
                    other,
                    format!("expected a key of `{kind}`; write `key` or `key = value`"),
                );
                return;
            }
        };
        let known = self.given.iter().map(|key| &key.name).chain(&self.spoiled);
        if known.into_iter().any(|other| *other == name) {
            errors.at(
                &name,
                format!("duplicate key `{name}`; remove one of the two"),
            );
            return;
        }
        let value = match trees.next() {
            None => None,
            Some(TokenTree::Punct(mark)) if mark.as_char() == '=' => Some(trees.collect()),
            Some(stray) => {
                errors.at(
                    stray,
                    format!(
                        "expected `,` or `=` after `{name}`; write `{name}, …` or `{name} = …`"
                    ),
                );
                self.spoiled.push(name);
                return;
            }
        };
        self.given.push(Key { name, value });
    }

    /// Whether a key of this name was meant, however well it was written.
    pub(crate) fn meant(&self, name: &str) -> bool {
        let names = self.given.iter().map(|key| &key.name).chain(&self.spoiled);
        names
            .into_iter()
            .any(|given| is_like(&given.to_string(), name))
    }

    /// The key of this name, whatever its value.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Key> {
        self.known.push(name);
        let place = self.given.iter().position(|key| key.name == name)?;
        Some(self.given.remove(place))
    }

    /// `name = "text"`.
    pub(crate) fn text(&mut self, name: &'static str, errors: &mut Errors) -> Option<LitStr> {
        let (text, _) = self.take(name)?.parse::<LitStr>("\"…\"", errors)?;
        Some(text)
    }

    /// `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&mut self, name: &'static str, errors: &mut Errors) -> Option<(bool, Span)> {
        let key = self.take(name)?;
        if key.value.is_none() {
            return Some((true, key.span()));
        }
        let (flag, span) = key.parse::<LitBool>("true", errors)?;
        Some((flag.value, span))
    }

    /// `name = some::path`.
    pub(crate) fn path(&mut self, name: &'static str, errors: &mut Errors) -> Option<syn::Path> {
        let (path, _) = self.take(name)?.parse("some::path", errors)?;
        Some(path)
    }

    /// `name`, or `name = literal`, with its span.
    pub(crate) fn literal(
        &mut self,
        name: &'static str,
        errors: &mut Errors,
    ) -> Option<(Option<Literal>, Span)> {
        let key = self.take(name)?;
        let span = key.span();
        let Some(value) = key.value else {
            return Some((None, span));
        };
        match Literal::parse(value.clone()) {
            Ok(literal) => Some((Some(literal), value.span())),
            Err(_) => {
                let bare = match name {
                    "default" => ", or `default` alone for `Default::default()`",
                    _ => "",
                };
                let message = format!(
                    "`{name}` must be a literal because it becomes part of the schema; write a \
                     string, a number, `true`, `false` or a list of these{bare}"
                );
                match value.is_empty() {
                    true => errors.span(span, message),
                    false => errors.at(value, message),
                }
                None
            }
        }
    }

    /// `name = tokens`, whatever they are.
    pub(crate) fn tokens(
        &mut self,
        name: &'static str,
        form: &str,
        errors: &mut Errors,
    ) -> Option<TokenStream> {
        let (tokens, _) = self.take(name)?.parse(form, errors)?;
        Some(tokens)
    }

    /// `name = Type`.
    pub(crate) fn ty(&mut self, name: &'static str, errors: &mut Errors) -> Option<syn::Type> {
        let (ty, _) = self.take(name)?.parse("Type", errors)?;
        Some(ty)
    }

    /// Reports every key beside `context`, since no model fills the parameter.
    pub(crate) fn finish_injected(self, errors: &mut Errors) {
        for Key { name, .. } in self.given {
            errors.at(
                &name,
                format!(
                    "the model never sees a context parameter; remove `{name}`, or remove \
                     `context`"
                ),
            );
        }
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for Key { name, .. } in self.given {
            let text = name.unraw().to_string();
            let hint = did_you_mean(&text, self.known.iter().copied());
            let hint = match hint.is_empty() {
                true => format!("; valid keys: {}", list(&self.known)),
                false => hint,
            };
            errors.at(
                &name,
                format!("unknown key `{text}` in `{}`{hint}", self.kind),
            );
        }
    }
}
