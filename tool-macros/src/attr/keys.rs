//! The keys of `#[tool(…)]` and `#[param(…)]`: lists of `key` and `key = value`.
//!
//! Each key keeps its span. A key that no caller has taken is reported as unknown at the end.

use std::iter;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Expr, Lit, LitBool, LitStr, Meta};

use crate::util::errors::Errors;
use crate::util::literal::Literal;
use crate::util::names::{choice, did_you_mean, is_like, list, plain};
use crate::util::tokens::{Ends, ends};

/// Words of JSON Schema and of other libraries, the key of ours that must be known here, and what to write instead.
const ELSEWHERE: [(&str, &str, &str); 10] = [
    (
        "min max minimum maximum ge le gt lt exclusive_minimum exclusive_maximum",
        "range",
        "write both bounds as a range, such as `range = 1..=14`",
    ),
    (
        "min_length max_length min_len max_len len min_items max_items size",
        "length",
        "write both bounds as a range, such as `length = 1..=80`",
    ),
    ("regex", "pattern", "write `pattern = r\"^[a-z]+$\"`"),
    ("step", "multiple_of", "write `multiple_of = 5`"),
    ("unique_items", "unique", "write `unique`"),
    (
        "choices one_of values allowed variants",
        "range",
        "use an enum that derives `ToolType` as the type",
    ),
    (
        "required optional nullable",
        "range",
        "remove it: an `Option` and a parameter with a `default` may be left out, and any other is required",
    ),
    (
        "docs help about summary",
        "",
        "write it as a doc comment, after `///`",
    ),
    (
        "when_to_use use_when returns",
        "",
        "write it in the doc comment, below the heading `# When to use` or `# Returns`",
    ),
    (
        "requires_approval needs_approval approval confirm requires_confirmation",
        "",
        "decide in a hook: `RegistryBuilder::before` with `Gate::confirm` or `Gate::hold`",
    ),
];

/// The keys that an attribute may have several times.
const REPEATABLE: [(&str, &str); 1] = [("#[tool]", "example")];

/// A key and the tokens of its value, if there are any.
pub(crate) struct Key {
    name: Ident,
    value: Option<TokenStream>,
}

impl Key {
    pub(crate) fn span(&self) -> Span {
        self.name.span()
    }

    /// Returns a value that is one word as a string, or the form of a string.
    fn quoted(&self) -> String {
        let value = self.value.clone().unwrap_or_default();
        match value.into_iter().collect::<Vec<_>>().as_slice() {
            [TokenTree::Ident(word)] => format!("\"{}\"", plain(word)),
            _ => "\"…\"".into(),
        }
    }

    /// Parses the whole value. `form` shows a valid one in errors.
    fn parse<T: Parse>(self, form: &str, errors: &mut Errors) -> Option<(T, Span)> {
        let Key { name, value } = self;
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let message = format!("`{name}` requires a value; write `{name} = {form}`");
            errors.at(&name, message);
            return None;
        };
        let parser = |input: ParseStream<'_>| Ok((input.parse::<T>()?, input.parse()?));
        let parsed: syn::Result<(T, TokenStream)> = parser.parse2(value.clone());
        let Ok((parsed, rest)) = parsed else {
            let message = format!("invalid value for `{name}`; write `{name} = {form}`");
            errors.at(value, message);
            return None;
        };
        if let Some(stray) = rest.into_iter().next() {
            let message =
                format!("unexpected token after the value of `{name}`; separate keys with commas");
            errors.at(stray, message);
            return None;
        }
        Some((parsed, name.span()))
    }
}

/// Splits keys at their commas. A comma without a key before it is an error.
pub(super) fn pieces(
    arguments: TokenStream,
) -> impl Iterator<Item = Result<Vec<TokenTree>, TokenTree>> {
    let mut trees = arguments.into_iter();
    iter::from_fn(move || {
        let mut one = Vec::new();
        for tree in trees.by_ref() {
            match tree {
                TokenTree::Punct(comma) if comma.as_char() == ',' && !is_inside_generics(&one) => {
                    return Some(if one.is_empty() {
                        Err(comma.into())
                    } else {
                        Ok(one)
                    });
                }
                tree => one.push(tree),
            }
        }
        (!one.is_empty()).then_some(Ok(one))
    })
}

/// Returns `true` inside of the generics of a type, where a comma does not end the key.
fn is_inside_generics(one: &[TokenTree]) -> bool {
    let is_type = matches!(one.first(), Some(TokenTree::Ident(key)) if key == "provides");
    let count = |wanted: char| {
        let is_wanted = |tree: &&TokenTree| matches!(tree, TokenTree::Punct(found) if found.as_char() == wanted);
        one.iter().filter(is_wanted).count()
    };
    is_type && count('<') > count('>')
}

/// The value of a key that accepts a constant.
pub(crate) enum TextOrConstant {
    Text(LitStr),
    /// An expression.
    Constant(TokenStream),
}

/// The keys of all attributes of one kind on an item.
pub(crate) struct Keys {
    /// The attribute, such as `#[tool]`, for errors.
    kind: &'static str,
    found: Vec<Key>,
    /// Keys with a reported syntax error, which are neither missing nor unknown.
    invalid: Vec<Ident>,
    /// The keys that callers have asked for, present or not.
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
            found: Vec::new(),
            invalid: Vec::new(),
            known: Vec::new(),
        };
        keys.extend(arguments, errors);
        keys
    }

    /// The arguments of every `#[param(…)]` among `attrs`.
    pub(crate) fn of_param(attrs: &[Attribute], errors: &mut Errors) -> Keys {
        let mut keys = Keys::of_arguments("#[param]", TokenStream::new(), errors);
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("param")) {
            match &attr.meta {
                Meta::List(list) => keys.extend(list.tokens.clone(), errors),
                _ => errors.at(
                    attr,
                    "`#[param]` requires keys; write `#[param(key = value)]`",
                ),
            }
        }
        keys
    }

    fn extend(&mut self, arguments: TokenStream, errors: &mut Errors) {
        // An invalid key ends at the next comma, so that it does not hide other errors.
        for piece in pieces(arguments) {
            match piece {
                Ok(trees) => self.one(trees, errors),
                Err(comma) => {
                    errors.at(comma, "expected a key before this comma; remove the comma");
                }
            }
        }
    }

    /// Reads `key` or `key = value`.
    fn one(&mut self, trees: Vec<TokenTree>, errors: &mut Errors) {
        let kind = self.kind;
        let mut trees = trees.into_iter();
        let name = match trees.next() {
            Some(TokenTree::Ident(name)) => name,
            Some(TokenTree::Literal(text)) if text.to_string().ends_with('"') => {
                let message = format!(
                    "expected a key of `{kind}`; write `key = {text}`, or a description as a doc comment"
                );
                errors.at(text, message);
                return;
            }
            other => {
                errors.at(
                    other,
                    format!("expected a key of `{kind}`; write `key` or `key = value`"),
                );
                return;
            }
        };
        let known = self.found.iter().map(|key| &key.name).chain(&self.invalid);
        let is_repeatable = REPEATABLE
            .iter()
            .any(|(of, key)| *of == kind && name == key);
        if !is_repeatable && known.into_iter().any(|other| *other == name) {
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
                self.invalid.push(name);
                return;
            }
        };
        self.found.push(Key { name, value });
    }

    /// Returns `true` if there is a key with this or a similar name, valid or not.
    pub(crate) fn has_similar(&self, name: &str) -> bool {
        let names = self.found.iter().map(|key| &key.name).chain(&self.invalid);
        names
            .into_iter()
            .any(|found| is_like(&found.to_string(), name))
    }

    /// Takes the key of this name, with any value.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Key> {
        if self.found.is_empty() {
            return None;
        }
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        let place = self.found.iter().position(|key| key.name == name)?;
        Some(self.found.remove(place))
    }

    /// Takes a key that belongs elsewhere, and does not suggest its name.
    pub(crate) fn misplaced(&mut self, name: &str) -> Option<Key> {
        let place = self.found.iter().position(|key| key.name == name)?;
        Some(self.found.remove(place))
    }

    /// Takes `name = "text"`.
    pub(crate) fn text(&mut self, name: &'static str, errors: &mut Errors) -> Option<LitStr> {
        let key = self.take(name)?;
        let form = match name {
            "timeout" => "\"30s\"".into(),
            "meta" => "r#\"{…}\"#".into(),
            _ => key.quoted(),
        };
        let (text, _) = key.parse::<LitStr>(&form, errors)?;
        Some(text)
    }

    /// Takes every `name = "text"`.
    pub(crate) fn texts(&mut self, name: &'static str, errors: &mut Errors) -> Vec<LitStr> {
        let mut texts = Vec::new();
        while let Some(key) = self.take(name) {
            let text = key.parse::<LitStr>("r#\"{…}\"#", errors);
            texts.extend(text.map(|(text, _)| text));
        }
        texts
    }

    /// Takes `name = "text"` or `name = expression`.
    pub(crate) fn text_or_constant(
        &mut self,
        name: &'static str,
        errors: &mut Errors,
    ) -> Option<TextOrConstant> {
        let key = self.take(name)?;
        let is_literal = |input: ParseStream<'_>| {
            let is_literal = input.is_empty() || input.peek(Lit);
            input.parse::<TokenStream>()?;
            Ok(is_literal)
        };
        let value = key.value.clone().unwrap_or_default();
        if is_literal.parse2(value.clone()).is_ok_and(|is| !is)
            && syn::parse2::<Expr>(value.clone()).is_ok()
        {
            return Some(TextOrConstant::Constant(value));
        }
        let form = key.quoted();
        let (text, _) = key.parse(&form, errors)?;
        Some(TextOrConstant::Text(text))
    }

    /// Takes `name`, `name = true` or `name = false`.
    pub(crate) fn flag(&mut self, name: &'static str, errors: &mut Errors) -> Option<(bool, Span)> {
        let key = self.take(name)?;
        if key.value.is_none() {
            return Some((true, key.span()));
        }
        let (flag, span) = key.parse::<LitBool>("true", errors)?;
        Some((flag.value, span))
    }

    /// Takes `name`, `name = true`, `name = false` or `name = word`. The second is `true` for the word.
    pub(crate) fn flag_or(
        &mut self,
        name: &'static str,
        word: &'static str,
        errors: &mut Errors,
    ) -> Option<(bool, bool, Span)> {
        let key = self.take(name)?;
        let span = key.span();
        let Some(value) = &key.value else {
            return Some((true, false, span));
        };
        if value.to_string() == word {
            return Some((true, true, span));
        }
        let (flag, span) = key.parse::<LitBool>(word, errors)?;
        Some((flag.value, false, span))
    }

    /// Takes `name = some::path`.
    pub(crate) fn path(&mut self, name: &'static str, errors: &mut Errors) -> Option<syn::Path> {
        let (path, _) = self.take(name)?.parse("some::path", errors)?;
        Some(path)
    }

    /// Takes `name` or `name = literal`, and where it is.
    pub(crate) fn literal(
        &mut self,
        name: &'static str,
        errors: &mut Errors,
    ) -> Option<(Option<Literal>, Ends)> {
        let key = self.take(name)?;
        let span = key.span();
        let Some(value) = key.value else {
            return Some((None, (span, span)));
        };
        match Literal::parse(value.clone()) {
            Ok(literal) => Some((Some(literal), ends(&value))),
            Err(_) => {
                let bare = match name {
                    "default" => ", or `default` alone for `Default::default()`",
                    _ => "",
                };
                let message = format!(
                    "`{name}` must be a literal because it becomes part of the schema; write a \
                     string, a number, `true`, `false` or a list of these{bare}"
                );
                if value.is_empty() {
                    errors.span(span, message);
                } else {
                    errors.at(value, message);
                }
                None
            }
        }
    }

    /// Takes `name = tokens`. The error for a missing value shows `form`.
    pub(crate) fn tokens(
        &mut self,
        name: &'static str,
        form: &str,
        errors: &mut Errors,
    ) -> Option<TokenStream> {
        let (tokens, _) = self.take(name)?.parse(form, errors)?;
        Some(tokens)
    }

    /// Takes `name = Type`.
    pub(crate) fn ty(&mut self, name: &'static str, errors: &mut Errors) -> Option<syn::Type> {
        let (ty, _) = self.take(name)?.parse("Type", errors)?;
        Some(ty)
    }

    /// Reports every other key of a context parameter.
    pub(crate) fn finish_context(self, errors: &mut Errors) {
        for Key { name, .. } in self.found {
            errors.at(
                &name,
                format!(
                    "the model never sees a context parameter; remove `{name}`, or remove \
                     `context`"
                ),
            );
        }
    }

    /// Reports every key that no caller has taken.
    pub(crate) fn finish(self, errors: &mut Errors) {
        for Key { name, .. } in self.found {
            let text = name.unraw().to_string();
            let known = self.known.iter().copied();
            let begun: Vec<_> = known
                .clone()
                .filter(|known| known.starts_with(&text))
                .collect();
            let mut hint = match (&begun[..], translated(&text, &self.known)) {
                ([], Some(advice)) => format!("; {advice}"),
                ([], None) => did_you_mean(&text, known),
                (begun, _) => format!("; did you mean {}?", choice(begun)),
            };
            if hint.is_empty() {
                hint = format!("; valid keys: {}", list(&self.known));
            }
            errors.at(
                &name,
                format!("unknown key `{text}` in `{}`{hint}", self.kind),
            );
        }
    }
}

/// Returns the advice for a word of JSON Schema or of another library, if its key is known here.
fn translated(word: &str, known: &[&str]) -> Option<&'static str> {
    let is_word = |words: &str| words.split(' ').any(|one| one == word);
    let (_, key, advice) = ELSEWHERE.iter().find(|(words, ..)| is_word(words))?;
    (key.is_empty() || known.contains(key)).then_some(*advice)
}
