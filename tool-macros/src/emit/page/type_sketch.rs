//! What the names of types tell of a schema.

mod types;

use self::types::{of_schema, of_type};
use crate::model::constraints::{End, Narrowing, SchemaOverride};
use crate::model::tool::{Parameter, WhenAbsent};
use crate::model::types::Passing;
use crate::util::json::escape;
use crate::util::literal::Literal;
use crate::util::markdown;

/// A schema, as far as names tell.
pub(super) struct TypeSketch {
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
    Array(Box<TypeSketch>),
    Nullable(Box<TypeSketch>),
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

impl TypeSketch {
    /// What a parameter's name of a type and its constraints tell, and whether it may be left out.
    pub(super) fn of(parameter: &Parameter) -> (TypeSketch, bool) {
        let shown = match &parameter.constraints.stand_in {
            Some(SchemaOverride::Type(ty)) => of_type(ty),
            Some(SchemaOverride::Schema(written)) => of_schema(&written.value()),
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

    fn new(kind: Kind) -> TypeSketch {
        TypeSketch {
            kind,
            keywords: Vec::new(),
            texts: Vec::new(),
        }
    }

    fn with(mut self, keyword: &'static str, value: impl ToString) -> TypeSketch {
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
