//! What is shown of a type, and of a schema in its place.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

use super::{Kind, TypeSketch};
use crate::model::json_schema::{Node, read};
use crate::model::types::peel;

pub(super) fn of_type(ty: &Type) -> TypeSketch {
    let ty = peel(ty);
    let known = match ty {
        Type::Path(path) if path.qself.is_none() => of_path(&path.path),
        Type::Slice(slice) => Some(TypeSketch::new(Kind::Array(Box::new(of_type(&slice.elem))))),
        Type::Array(array) => length(&array.len).map(|length| {
            TypeSketch::new(Kind::Array(Box::new(of_type(&array.elem))))
                .with("minItems", length)
                .with("maxItems", length)
        }),
        _ => None,
    };
    known.unwrap_or_else(|| TypeSketch::new(Kind::Rust(spelled(ty.to_token_stream()))))
}

fn length(length: &Expr) -> Option<usize> {
    match length {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok().filter(|length| *length > 0),
        _ => None,
    }
}

/// The names that mean the same in nearly every program.
fn of_path(path: &syn::Path) -> Option<TypeSketch> {
    let (last, before) = (path.segments.last()?, path.segments.len() - 1);
    let is_std = ["std", "core", "alloc"]
        .iter()
        .any(|krate| path.segments[0].ident == krate);
    if before > 0 && !is_std {
        return None;
    }
    let inner = match &last.arguments {
        PathArguments::None => None,
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => {
            match &arguments.args[0] {
                GenericArgument::Type(inner) => Some(Box::new(of_type(inner))),
                _ => return None,
            }
        }
        _ => return None,
    };
    let name = last.ident.to_string();
    let integer = || TypeSketch::new(Kind::Integer);
    let shown = match (&*name, inner) {
        ("bool", None) => TypeSketch::new(Kind::Boolean),
        ("f32" | "f64", None) => TypeSketch::new(Kind::Number),
        ("str" | "String", None) => TypeSketch::new(Kind::String),
        ("char", None) => TypeSketch::new(Kind::String)
            .with("minLength", 1)
            .with("maxLength", 1),
        ("u8", None) => integer().with("minimum", 0).with("maximum", u8::MAX),
        ("u16", None) => integer().with("minimum", 0).with("maximum", u16::MAX),
        ("i8", None) => integer().with("minimum", i8::MIN).with("maximum", i8::MAX),
        ("i16", None) => integer()
            .with("minimum", i16::MIN)
            .with("maximum", i16::MAX),
        ("u32" | "u64" | "u128" | "usize", None) => integer().with("minimum", 0),
        ("i32" | "i64" | "i128" | "isize", None) => integer(),
        ("Vec", Some(inner)) => TypeSketch::new(Kind::Array(inner)),
        ("Option", Some(inner)) if !matches!(inner.kind, Kind::Nullable(_)) => {
            TypeSketch::new(Kind::Nullable(inner))
        }
        _ => return None,
    };
    Some(shown)
}

/// The type of a schema that stands in an attribute, where it can be read.
pub(super) fn of_schema(written: &str) -> TypeSketch {
    fn name(node: &Node) -> &'static str {
        match node {
            Node::Any | Node::AnyOf(_) | Node::Nullable(_) => "any",
            Node::Null => "null",
            Node::Boolean => "boolean",
            Node::Integer { .. } => "integer",
            Node::Number { .. } => "number",
            Node::String { .. } | Node::Enum(_) => "string",
            Node::Array { .. } | Node::Tuple(_) => "array",
            Node::Map { .. } | Node::Object(_) => "object",
        }
    }
    match read(written).map(|described| described.node) {
        Ok(Node::Nullable(inner)) => {
            let inner = TypeSketch::new(Kind::Schema(name(&inner.node)));
            TypeSketch::new(Kind::Nullable(Box::new(inner)))
        }
        Ok(node) => TypeSketch::new(Kind::Schema(name(&node))),
        // `check` has reported it.
        Err(_) => TypeSketch::new(Kind::Schema("any")),
    }
}

/// A type as people write it. The text of tokens has spaces that depend on where they come from.
fn spelled(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut was_word = false;
    for tree in tokens {
        let is_word = matches!(tree, TokenTree::Ident(_) | TokenTree::Literal(_));
        if is_word && was_word {
            text.push(' ');
        }
        was_word = is_word;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                text.push_str(&spelled(group.stream()));
                text.push_str(close);
            }
            TokenTree::Punct(mark) => match (mark.as_char(), mark.spacing()) {
                (mark @ (',' | ';'), _) => {
                    text.push(mark);
                    text.push(' ');
                }
                ('-', Spacing::Joint) => text.push_str(" -"),
                ('>', _) if text.ends_with(" -") => text.push_str("> "),
                (mark @ ('+' | '='), _) => text.push_str(&format!(" {mark} ")),
                (mark, _) => text.push(mark),
            },
            word => text.push_str(&word.to_string()),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_spelled_as_people_write_it() {
        for ty in [
            "HashMap<String, [u8; 3]>",
            "&'a str",
            "Box<dyn Fn(u8, u8) -> Vec<u8> + Send>",
            "<T as Trait<u8>>::X",
            "crate::a::B",
            "(u8, u16)",
            "Sum<{ N }>",
        ] {
            assert_eq!(spelled(ty.parse().unwrap()), ty);
        }
    }

    #[test]
    fn names_tell_a_type_only_where_they_mean_one() {
        for (ty, words) in [
            (
                "Vec<Option<std::string::String>>",
                "array of string or null",
            ),
            ("[[f64; 2]]", "array of arrays of numbers"),
            ("Vec<Unit>", "array of `Unit`"),
            ("other::String", "`other::String`"),
            ("Option<Option<u8>>", "`Option<Option<u8>>`"),
            ("HashMap<String, u8>", "`HashMap<String, u8>`"),
            ("Vec<u8, Local>", "`Vec<u8, Local>`"),
            ("[u8; LENGTH]", "`[u8; LENGTH]`"),
        ] {
            let ty: Type = syn::parse_str(ty).unwrap();
            assert_eq!(of_type(&ty).words(), words);
        }
    }
}
