//! What the names of types tell of a schema.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

use crate::model::constraints::{End, Narrowing, StandIn};
use crate::model::json_schema::{Node, read};
use crate::model::tool::{Parameter, WhenAbsent};
use crate::model::types::{Passing, peel};
use crate::util::json::escape;
use crate::util::literal::Literal;
use crate::util::markdown;

/// A schema, as far as names tell.
pub(super) struct Shown {
    kind: Kind,
    /// Its constraints: keywords of JSON Schema and their values in JSON.
    keywords: Vec<(&'static str, String)>,
    /// The keywords whose values are texts, as they were written.
    texts: Vec<(&'static str, String)>,
}

enum Kind {
    Boolean,
    Integer,
    Number,
    String,
    Array(Box<Shown>),
    Nullable(Box<Shown>),
    /// The types of JSON that another schema says, which is not shown.
    Schema(&'static str),
    /// A type of which only its own crate knows more.
    Rust(String),
}

/// In the order of the runtime's writer.
const KEYWORDS: [&str; 12] = [
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
];

impl Shown {
    /// What a parameter's name of a type and its constraints tell, and whether it may be left out.
    pub(super) fn of(parameter: &Parameter) -> (Shown, bool) {
        let shown = match &parameter.constraints.stand_in {
            Some(StandIn::Type(ty)) => of_type(ty),
            Some(StandIn::Schema(written)) => of_schema(&written.value()),
            None => of_type(parameter.passing.inner()),
        };
        let is_lent = matches!(parameter.passing, Passing::OptionallyBorrowed(_));
        let (mut shown, is_nullable) = match shown.kind {
            Kind::Nullable(inner) => (*inner, true),
            _ => (shown, false),
        };
        for (narrowing, _) in &parameter.constraints.narrowings {
            shown.narrow(narrowing);
        }
        let is_filled = !matches!(parameter.when_absent, WhenAbsent::None);
        (shown, is_nullable || is_lent || is_filled)
    }

    fn new(kind: Kind) -> Shown {
        Shown {
            kind,
            keywords: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn with(mut self, keyword: &'static str, value: impl ToString) -> Shown {
        self.set(keyword, Some(value));
        self
    }

    fn set(&mut self, keyword: &'static str, value: Option<impl ToString>) {
        let Some(value) = value else { return };
        self.keywords.retain(|(other, _)| *other != keyword);
        self.keywords.push((keyword, value.to_string()));
    }

    fn get(&self, keyword: &str) -> Option<&str> {
        let found = self.keywords.iter().find(|(name, _)| *name == keyword);
        found.map(|(_, value)| &**value)
    }

    fn narrow(&mut self, narrowing: &Narrowing) {
        match narrowing {
            Narrowing::Integers(from, to) => {
                self.set("minimum", *from);
                self.set("maximum", *to);
            }
            Narrowing::Numbers(from, to) => {
                self.end(["minimum", "exclusiveMinimum"], *from);
                self.end(["maximum", "exclusiveMaximum"], *to);
            }
            Narrowing::Length(from, to) => {
                let [least, most] = match self.kind {
                    Kind::Array(_) => ["minItems", "maxItems"],
                    _ => ["minLength", "maxLength"],
                };
                self.keywords
                    .retain(|(name, _)| ![least, most].contains(name));
                self.set(least, Some(*from).filter(|from| *from > 0));
                self.set(most, *to);
            }
            Narrowing::Pattern(pattern, _) => self.texts.push(("pattern", pattern.clone())),
            Narrowing::Format(format) => self.texts.push(("format", format.clone())),
            Narrowing::MultipleOfInteger(step) => self.set("multipleOf", Some(step)),
            Narrowing::MultipleOfNumber(step) => {
                self.set("multipleOf", Some(Literal::Number(*step).json()));
            }
            Narrowing::Unique => self.set("uniqueItems", Some(true)),
        }
    }

    fn end(&mut self, [inclusive, exclusive]: [&'static str; 2], end: Option<End>) {
        let Some(End {
            value,
            is_exclusive,
        }) = end
        else {
            return;
        };
        let keyword = if is_exclusive { exclusive } else { inclusive };
        self.set(keyword, Some(Literal::Number(value).json()));
    }

    /// The type in words, for a cell of a table.
    pub(super) fn words(&self) -> String {
        match &self.kind {
            Kind::Boolean => "boolean".into(),
            Kind::Integer => "integer".into(),
            Kind::Number => "number".into(),
            Kind::String => "string".into(),
            Kind::Array(items) => format!("array of {}", items.plural()),
            Kind::Nullable(inner) => format!("{} or null", inner.words()),
            Kind::Schema(name) => (*name).into(),
            Kind::Rust(name) => markdown::code(name),
        }
    }

    fn plural(&self) -> String {
        match &self.kind {
            Kind::Boolean | Kind::Integer | Kind::Number | Kind::String => {
                format!("{}s", self.words())
            }
            Kind::Array(items) => format!("arrays of {}", items.plural()),
            _ => self.words(),
        }
    }

    /// The constraints in words, for a cell of a table.
    pub(super) fn constraints(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Kind::Array(items) = &self.kind {
            let of_each = items.constraints().into_iter();
            words.extend(of_each.map(|one| match one.starts_with("each ") {
                true => one,
                false => format!("each {one}"),
            }));
        }
        match (self.get("minimum"), self.get("maximum")) {
            (Some(from), Some(to)) => words.push(format!("{from} to {to}")),
            (Some(from), None) => words.push(format!("at least {from}")),
            (None, Some(to)) => words.push(format!("at most {to}")),
            (None, None) => {}
        }
        let numbers = [
            ("exclusiveMinimum", "above"),
            ("exclusiveMaximum", "below"),
            ("multipleOf", "a multiple of"),
        ];
        for (keyword, relation) in numbers {
            words.extend(
                self.get(keyword)
                    .map(|number| format!("{relation} {number}")),
            );
        }
        let unit = match self.kind {
            Kind::String => "character",
            // What a length counts is up to the type.
            _ => "",
        };
        words.extend(self.lengths("minLength", "maxLength", unit));
        words.extend(self.lengths("minItems", "maxItems", "item"));
        for (keyword, text) in &self.texts {
            let relation = match *keyword {
                "pattern" => "matches",
                other => other,
            };
            words.push(format!("{relation} {}", markdown::code(text)));
        }
        if self.get("uniqueItems").is_some() {
            words.push("no item twice".into());
        }
        words
    }

    fn lengths(&self, least: &str, most: &str, unit: &str) -> Option<String> {
        let count = |number: &str| match (unit, number) {
            ("", _) => format!("{number} long"),
            (_, "1") => format!("1 {unit}"),
            _ => format!("{number} {unit}s"),
        };
        match (self.get(least), self.get(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("exactly {}", count(most))),
            (Some(least), Some(most)) => Some(format!("{least} to {}", count(most))),
            (Some(least), None) => Some(format!("at least {}", count(least))),
            (None, Some(most)) => Some(format!("at most {}", count(most))),
            (None, None) => None,
        }
    }

    /// The members of its JSON form, where the name tells all of it.
    pub(super) fn members(&self) -> Option<Vec<(String, String)>> {
        let name = match &self.kind {
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array(_) => "array",
            Kind::Nullable(inner) => {
                let inner = object(&inner.members()?);
                let null = object(&[("type".into(), "\"null\"".into())]);
                return Some(vec![("anyOf".into(), format!("[{inner}, {null}]"))]);
            }
            Kind::Schema(_) | Kind::Rust(_) => return None,
        };
        let mut members = vec![("type".into(), format!("\"{name}\""))];
        if let Kind::Array(items) = &self.kind {
            members.push(("items".into(), object(&items.members()?)));
        }
        let mut keywords: Vec<_> = self.keywords.clone();
        let texts = self.texts.iter();
        keywords.extend(texts.map(|(name, text)| (*name, format!("\"{}\"", escape(text)))));
        keywords.sort_by_key(|(name, _)| KEYWORDS.iter().position(|known| known == name));
        members.extend(
            keywords
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Some(members)
    }
}

/// Members as JSON text: on one line if they are short.
pub(super) fn object(members: &[(String, String)]) -> String {
    let members = members
        .iter()
        .map(|(key, value)| format!("\"{key}\": {value}"));
    let members: Vec<_> = members.collect();
    let line = members.join(", ");
    if line.len() <= 76 && !line.contains('\n') {
        return format!("{{{line}}}");
    }
    // No text of JSON holds an end of a line.
    let lines = members.join(",\n").replace('\n', "\n  ");
    format!("{{\n  {lines}\n}}")
}

fn of_type(ty: &Type) -> Shown {
    let ty = peel(ty);
    let known = match ty {
        Type::Path(path) if path.qself.is_none() => of_path(&path.path),
        Type::Slice(slice) => Some(Shown::new(Kind::Array(Box::new(of_type(&slice.elem))))),
        Type::Array(array) => length(&array.len).map(|length| {
            Shown::new(Kind::Array(Box::new(of_type(&array.elem))))
                .with("minItems", length)
                .with("maxItems", length)
        }),
        _ => None,
    };
    known.unwrap_or_else(|| Shown::new(Kind::Rust(spelled(ty.to_token_stream()))))
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
fn of_path(path: &syn::Path) -> Option<Shown> {
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
    let integer = || Shown::new(Kind::Integer);
    let shown = match (&*name, inner) {
        ("bool", None) => Shown::new(Kind::Boolean),
        ("f32" | "f64", None) => Shown::new(Kind::Number),
        ("str" | "String", None) => Shown::new(Kind::String),
        ("char", None) => Shown::new(Kind::String)
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
        ("Vec", Some(inner)) => Shown::new(Kind::Array(inner)),
        ("Option", Some(inner)) if !matches!(inner.kind, Kind::Nullable(_)) => {
            Shown::new(Kind::Nullable(inner))
        }
        _ => return None,
    };
    Some(shown)
}

/// The type of a schema that stands in an attribute, where it can be read.
fn of_schema(written: &str) -> Shown {
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
            let inner = Shown::new(Kind::Schema(name(&inner.node)));
            Shown::new(Kind::Nullable(Box::new(inner)))
        }
        Ok(node) => Shown::new(Kind::Schema(name(&node))),
        // `check` has reported it.
        Err(_) => Shown::new(Kind::Schema("any")),
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
