//! `#[param(schema = r#"…"#)]`: a parsed JSON Schema.
//!
//! It becomes the same constant data as the schema of a type, and is enforced in the same way. A
//! keyword that can't be enforced is an error.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::LitStr;

use super::constraint::Constraint;
use crate::util::errors::Errors;
use crate::util::json::{self, Json};
use crate::util::pattern::translate;
use crate::util::site::{respanned, string};
use crate::util::tokens::{bound, maximum, option, text};

/// A schema.
pub(crate) struct JsonSchema {
    pub(crate) kind: Kind,
    pub(crate) constraints: Vec<Constraint>,
    pub(crate) description: Option<String>,
}

/// The kind of value that a schema describes.
pub(crate) enum Kind {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Enum(Vec<String>),
    Array(Box<JsonSchema>),
    Tuple(Vec<JsonSchema>),
    Map(Box<JsonSchema>),
    /// Each property has a key, `true` if it is required, and a schema.
    Object(Vec<(String, bool, JsonSchema)>),
    AnyOf(Vec<JsonSchema>),
    Nullable(Box<JsonSchema>),
}

impl JsonSchema {
    /// Parses a schema. After an error, it describes any value.
    pub(crate) fn parse(literal: &LitStr, errors: &mut Errors) -> JsonSchema {
        let span = literal.span();
        let schema = json::parse(&literal.value()).and_then(|json| read(json, span));
        schema.unwrap_or_else(|problem| {
            errors.at(literal, problem);
            Kind::Any.into()
        })
    }
}

impl From<Kind> for JsonSchema {
    fn from(kind: Kind) -> JsonSchema {
        JsonSchema {
            kind,
            constraints: Vec::new(),
            description: None,
        }
    }
}

fn read(json: Json, span: Span) -> Result<JsonSchema, String> {
    let Json::Object(members) = json else {
        return Err("a schema must be a JSON object, such as {\"type\":\"string\"}".into());
    };
    let mut keywords = Keywords {
        members,
        span,
        constraints: Vec::new(),
    };
    let description = keywords.text("description")?;
    let kind = kind(&mut keywords)?;
    match keywords.members.first() {
        None => Ok(JsonSchema {
            kind,
            constraints: keywords.constraints,
            description,
        }),
        Some((keyword, _)) => Err(format!(
            "the keyword `{keyword}` cannot be enforced here; remove it, or put it into the \
             description"
        )),
    }
}

fn read_all(schemas: Vec<Json>, span: Span) -> Result<Vec<JsonSchema>, String> {
    schemas.into_iter().map(|json| read(json, span)).collect()
}

fn kind(keywords: &mut Keywords) -> Result<Kind, String> {
    if let Some(values) = keywords.take("enum") {
        keywords.take("type");
        return strings(values).map(Kind::Enum);
    }
    if let Some(value) = keywords.take("const") {
        keywords.take("type");
        return strings(Json::Array(vec![value])).map(Kind::Enum);
    }
    if let Some(schemas) = keywords.take("anyOf") {
        let Json::Array(schemas) = schemas else {
            return Err("`anyOf` must be a list of schemas".into());
        };
        return read_all(schemas, keywords.span).map(Kind::AnyOf);
    }
    match keywords.take("type") {
        None => Ok(Kind::Any),
        Some(Json::String(name)) => kind_of_type(&name, keywords),
        Some(Json::Array(names)) => match &names[..] {
            [Json::String(name), Json::String(null)] if null == "null" => {
                Ok(Kind::Nullable(Box::new(JsonSchema {
                    kind: kind_of_type(name, keywords)?,
                    constraints: std::mem::take(&mut keywords.constraints),
                    description: None,
                })))
            }
            _ => Err(
                "a list of types must have the form `[…, \"null\"]`; use `anyOf` for others".into(),
            ),
        },
        Some(_) => Err("`type` must be a string".into()),
    }
}

fn kind_of_type(name: &str, keywords: &mut Keywords) -> Result<Kind, String> {
    Ok(match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "integer" => {
            let bounds = [keywords.integer("minimum")?, keywords.integer("maximum")?];
            if bounds != [None, None] {
                keywords.constrain(
                    "integers",
                    bounds.map(|end| option(end.map(respanned))).into(),
                );
            }
            if let Some(step) = keywords.integer("multipleOf")? {
                keywords.constrain("multiple_of_integer", vec![respanned(step)]);
            }
            Kind::Integer
        }
        "number" => {
            let bounds = [
                keywords.bound("minimum", "exclusiveMinimum")?,
                keywords.bound("maximum", "exclusiveMaximum")?,
            ];
            if bounds != [None, None] {
                let bound = |(value, is_exclusive)| bound(value, is_exclusive);
                let bounds = bounds.map(|end| option(end.map(bound)));
                keywords.constrain("numbers", bounds.into());
            }
            if let Some(step) = keywords.number("multipleOf")? {
                keywords.constrain("multiple_of_number", vec![bound(step, false)]);
            }
            Kind::Number
        }
        "string" => {
            keywords.constrain_length("minLength", "maxLength")?;
            if let Some(pattern) = keywords.text("pattern")? {
                let regex = translate(&pattern)?;
                keywords.constrain(
                    "pattern",
                    vec![text(&pattern), string(&regex).into_token_stream()],
                );
            }
            if let Some(format) = keywords.text("format")? {
                keywords.constrain("format", vec![string(&format).into_token_stream()]);
            }
            Kind::String
        }
        "array" => array(keywords)?,
        "object" => object(keywords)?,
        other => {
            return Err(format!(
                "unknown JSON Schema type `{other}`; write `null`, `boolean`, `integer`, `number`, \
                 `string`, `array` or `object`"
            ));
        }
    })
}

fn array(keywords: &mut Keywords) -> Result<Kind, String> {
    if let Some(Json::Array(items)) = keywords.take("prefixItems") {
        for keyword in ["items", "minItems", "maxItems"] {
            keywords.take(keyword);
        }
        return read_all(items, keywords.span).map(Kind::Tuple);
    }
    let Some(items) = keywords.take("items") else {
        return Err(
            "an array requires `items` because OpenAI rejects one without; add them".into(),
        );
    };
    let items = read(items, keywords.span)?;
    keywords.constrain_length("minItems", "maxItems")?;
    if let Some(Json::Boolean(true)) = keywords.take("uniqueItems") {
        keywords.constrain("unique", Vec::new());
    }
    Ok(Kind::Array(Box::new(items)))
}

fn object(keywords: &mut Keywords) -> Result<Kind, String> {
    let additional = keywords.take("additionalProperties");
    let Some(properties) = keywords.take("properties") else {
        let values = match additional {
            None | Some(Json::Boolean(true)) => Kind::Any.into(),
            Some(values) => read(values, keywords.span)?,
        };
        keywords.constrain_length("minProperties", "maxProperties")?;
        return Ok(Kind::Map(Box::new(values)));
    };
    if !matches!(additional, Some(Json::Boolean(false))) {
        return Err(
            "an object with `properties` must be closed; add `\"additionalProperties\":false`"
                .into(),
        );
    }
    let required = keywords.take("required").map_or(Ok(Vec::new()), strings)?;
    let Json::Object(properties) = properties else {
        return Err("`properties` must be an object of schemas".into());
    };
    for name in &required {
        if !properties.iter().any(|(key, _)| key == name) {
            return Err(format!(
                "`required` contains `{name}`, which is not a property; remove it, or add it to \
                 `properties`"
            ));
        }
    }
    let properties: Result<Vec<_>, String> = properties
        .into_iter()
        .map(|(key, schema)| {
            let is_required = required.contains(&key);
            Ok((key, is_required, read(schema, keywords.span)?))
        })
        .collect();
    properties.map(Kind::Object)
}

fn strings(json: Json) -> Result<Vec<String>, String> {
    let Json::Array(values) = json else {
        return Err("expected a list of strings".into());
    };
    let strings = values.into_iter().map(|value| match value {
        Json::String(text) => Ok(text),
        _ => Err(
            "expected a string because Gemini accepts no other values; write it in quotes".into(),
        ),
    });
    strings.collect()
}

/// The keywords of a schema that are not read yet, and the constraints that are.
struct Keywords {
    members: Vec<(String, Json)>,
    span: Span,
    constraints: Vec<Constraint>,
}

impl Keywords {
    fn take(&mut self, keyword: &str) -> Option<Json> {
        let place = self.members.iter().position(|(name, _)| name == keyword)?;
        Some(self.members.remove(place).1)
    }

    /// Takes a keyword. Returns an error if `read` does not accept its value.
    fn value<T>(
        &mut self,
        keyword: &str,
        expected: &str,
        read: impl Fn(Json) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let value = self.take(keyword).map(read);
        let error = || format!("`{keyword}` must be {expected}");
        value.map(|value| value.ok_or_else(error)).transpose()
    }

    /// Takes a string. An empty one counts as absent.
    fn text(&mut self, keyword: &str) -> Result<Option<String>, String> {
        let text = self.value(keyword, "a string", |json| match json {
            Json::String(text) => Some(text),
            _ => None,
        })?;
        Ok(text.filter(|text| !text.is_empty()))
    }

    fn number_text(&mut self, keyword: &str) -> Result<Option<String>, String> {
        self.value(keyword, "a number", |json| match json {
            Json::Number(text) => Some(text),
            _ => None,
        })
    }

    fn number(&mut self, keyword: &str) -> Result<Option<f64>, String> {
        let text = self.number_text(keyword)?;
        Ok(text.and_then(|text| text.parse().ok()))
    }

    fn integer(&mut self, keyword: &str) -> Result<Option<i128>, String> {
        let number = self.number_text(keyword)?.map(|text| text.parse());
        let number = number.transpose();
        number.map_err(|_| format!("`{keyword}` of an integer must be an integer"))
    }

    fn length(&mut self, keyword: &str) -> Result<Option<usize>, String> {
        let length = self.integer(keyword)?;
        let length = length.map(usize::try_from).transpose();
        length.map_err(|_| format!("`{keyword}` must be an integer of at least zero"))
    }

    fn constrain_length(&mut self, min: &str, max: &str) -> Result<(), String> {
        let (min, max) = (self.length(min)?, self.length(max)?);
        if min.is_some() || max.is_some() {
            let min = min.unwrap_or_default();
            self.constrain("length", vec![respanned(min), maximum(max)]);
        }
        Ok(())
    }

    /// Adds a call of a function of `tool_core::__private::constrain`.
    fn constrain(&mut self, function: &'static str, arguments: Vec<TokenStream>) {
        let constraint = Constraint::new(function, (self.span, self.span), arguments);
        self.constraints.push(constraint);
    }

    fn bound(&mut self, inclusive: &str, exclusive: &str) -> Result<Option<(f64, bool)>, String> {
        match (self.number(inclusive)?, self.number(exclusive)?) {
            (Some(_), Some(_)) => Err(format!(
                "`{inclusive}` and `{exclusive}` cannot be combined; remove one of the two"
            )),
            (Some(value), None) => Ok(Some((value, false))),
            (None, value) => Ok(value.map(|value| (value, true))),
        }
    }
}
