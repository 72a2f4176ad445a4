//! `key`, `key = value` lists, the inside of `#[tool(…)]` and `#[param(…)]`.
//!
//! Every key is kept with its span. What nobody asked for is an error in the end, so a key can't
//! be forgotten in silence.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, LitBool, LitStr, Meta, Token};

use crate::util::errors::Errors;
use crate::util::json;
use crate::util::names::{did_you_mean, list};

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
        let span = self.name.span();
        let wanted = format!("`{0}` needs a value; write `{0} = {form}`", self.name);
        let Some(value) = self.value.filter(|value| !value.is_empty()) else {
            errors.span(span, wanted);
            return None;
        };
        match syn::parse2(value.clone()) {
            Ok(parsed) => Some((parsed, span)),
            Err(_) => {
                errors.at(
                    value,
                    wanted.replace("needs a value", "has a value of another form"),
                );
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
                    format!("`#[{name}]` needs keys; write `#[{name}(key = value)]`"),
                ),
            }
        }
        keys
    }

    fn extend(&mut self, arguments: TokenStream, errors: &mut Errors) {
        let parsed = syn::parse::Parser::parse2(
            |input: ParseStream<'_>| {
                let mut keys = Vec::new();
                while !input.is_empty() {
                    keys.push(key(input)?);
                    if !input.is_empty() {
                        input.parse::<Token![,]>()?;
                    }
                }
                Ok(keys)
            },
            arguments,
        );
        for key in errors.keep(parsed).unwrap_or_default() {
            if self.given.iter().any(|other| other.name == key.name) {
                errors.at(
                    &key.name,
                    format!("`{}` is given twice; keep one", key.name),
                );
            } else {
                self.given.push(key);
            }
        }
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

    /// `name`, or `name = literal` as JSON text.
    pub(crate) fn literal(
        &mut self,
        name: &'static str,
        errors: &mut Errors,
    ) -> Option<(Option<String>, Span)> {
        let key = self.take(name)?;
        let span = key.span();
        let Some(value) = key.value else {
            return Some((None, span));
        };
        match json::literal(value.clone()) {
            Ok(json) => Some((Some(json), span)),
            Err(_) => {
                let message = format!(
                    "a {name} is part of the schema, so it must be a literal; write a string, a \
                     number, `true`, `false` or a list of these, or `{name}` alone for `Default::default()`"
                );
                match value.is_empty() {
                    true => errors.span(span, message),
                    false => errors.at(value, message),
                }
                None
            }
        }
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for Key { name, .. } in self.given {
            let text = name.unraw().to_string();
            let hint = did_you_mean(&text, self.known.iter().copied());
            let hint = match hint.is_empty() {
                true => format!("; it takes {}", list(&self.known)),
                false => hint,
            };
            errors.at(&name, format!("`{}` has no key `{text}`{hint}", self.kind));
        }
    }
}

/// A key and the tokens of its value, up to the next comma.
fn key(input: ParseStream<'_>) -> syn::Result<Key> {
    let name = Ident::parse_any(input)?;
    if input.parse::<Option<Token![=]>>()?.is_none() {
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(Key { name, value: None });
        }
        let stray: TokenTree = input.parse()?;
        return Err(syn::Error::new_spanned(
            stray,
            format!("expected `,` or `=` after `{name}`"),
        ));
    }
    let mut value = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?.to_tokens(&mut value);
    }
    Ok(Key {
        name,
        value: Some(value),
    })
}
