//! The keys of attributes as written, for editors: those that are unknown or unfinished too.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use super::keys::pieces;
use crate::util::names::is_one_of;
use crate::util::site::site;

/// Where an attribute is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Tool,
    Toolset,
    Parameter,
    Container,
    Variant,
    Field,
}

/// A key and the tokens of its value.
pub(crate) struct WrittenKey {
    pub(crate) name: Ident,
    pub(crate) value: TokenStream,
}

/// An attribute with keys.
pub(crate) struct WrittenAttribute {
    pub(crate) place: Place,
    /// `param`, or `tool` on a method. The name of a macro's own attribute is not among its input.
    pub(crate) name: Option<Ident>,
    pub(crate) keys: Vec<WrittenKey>,
}

/// Returns the attributes of `#[tool(arguments)] item`.
pub(crate) fn of_tool(arguments: TokenStream, item: TokenStream) -> Vec<WrittenAttribute> {
    let mut found = vec![own(Place::Tool, arguments)];
    parameters(item, &mut found);
    found
}

/// Returns the attributes of `#[toolset(arguments)] item`: its own, and those on methods and their parameters.
pub(crate) fn of_toolset(arguments: TokenStream, item: TokenStream) -> Vec<WrittenAttribute> {
    let mut found = vec![own(Place::Toolset, arguments)];
    for block in groups(item, Delimiter::Brace) {
        collect(block.stream(), Place::Tool, &mut found);
        parameters(block.stream(), &mut found);
    }
    found
}

/// Returns the attributes on a type, its variants and its fields.
pub(crate) fn of_type(item: TokenStream) -> Vec<WrittenAttribute> {
    let is_enum = item
        .clone()
        .into_iter()
        .any(|tree| is_one_of(&tree, &["enum"]));
    let mut found = Vec::new();
    collect(item.clone(), Place::Container, &mut found);
    for body in bodies(item) {
        if !is_enum {
            collect(body, Place::Field, &mut found);
            continue;
        }
        collect(body.clone(), Place::Variant, &mut found);
        for fields in bodies(body) {
            collect(fields, Place::Field, &mut found);
        }
    }
    found
}

fn own(place: Place, arguments: TokenStream) -> WrittenAttribute {
    WrittenAttribute {
        place,
        name: None,
        keys: keys(arguments),
    }
}

fn parameters(item: TokenStream, found: &mut Vec<WrittenAttribute>) {
    for list in groups(item, Delimiter::Parenthesis) {
        collect(list.stream(), Place::Parameter, found);
    }
}

/// The tokens in braces and in parentheses.
fn bodies(item: TokenStream) -> impl Iterator<Item = TokenStream> {
    let braces = groups(item.clone(), Delimiter::Brace);
    let bodies = braces.chain(groups(item, Delimiter::Parenthesis));
    bodies.map(|group| group.stream())
}

/// Returns the keys of the arguments of an attribute, and `__` where the next one would begin, so that an editor finds the
/// same path there when it completes it.
fn keys(arguments: TokenStream) -> Vec<WrittenKey> {
    let is_comma =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ',');
    let is_open = arguments
        .clone()
        .into_iter()
        .last()
        .is_none_or(|last| is_comma(&last));
    let mut keys = Vec::new();
    for piece in pieces(arguments).flatten() {
        let mut piece = piece.into_iter();
        if let Some(TokenTree::Ident(name)) = piece.next() {
            let value = piece.skip(1).collect();
            keys.push(WrittenKey { name, value });
        }
    }
    if is_open {
        let name = Ident::new("__", site());
        let value = TokenStream::new();
        keys.push(WrittenKey { name, value });
    }
    keys
}

fn groups(tokens: TokenStream, delimiter: Delimiter) -> impl Iterator<Item = Group> {
    tokens.into_iter().filter_map(move |tree| match tree {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    })
}

/// Adds the attributes `param`, or `tool` on a method, that are not inside of a group.
fn collect(tokens: TokenStream, place: Place, found: &mut Vec<WrittenAttribute>) {
    let wanted = if place == Place::Tool {
        "tool"
    } else {
        "param"
    };
    for group in groups(tokens, Delimiter::Bracket) {
        let (mut name, mut arguments) = (None, None);
        for tree in group.stream() {
            match tree {
                TokenTree::Ident(word) if arguments.is_none() => name = Some(word),
                TokenTree::Group(group) => arguments = Some(group.stream()),
                _ => {}
            }
        }
        if name.as_ref().is_some_and(|name| name == wanted) {
            let keys = arguments.map_or_else(Vec::new, keys);
            found.push(WrittenAttribute { place, name, keys });
        }
    }
}
