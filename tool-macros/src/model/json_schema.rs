//! `#[param(schema = r#"…"#)]`: a JSON Schema, read into what is enforced.
//!
//! It becomes the same constant data as any other schema, so it is enforced like any other; a
//! keyword that could not be enforced is an error.

mod json;

use self::json::Json;
use crate::util::pattern::translate;

/// A node of a schema, as far as a tree of the runtime can say it.
pub(crate) enum Node {
    Any,
    Null,
    Boolean,
    Integer {
        minimum: Option<i128>,
        maximum: Option<i128>,
        multiple_of: Option<i128>,
    },
    Number {
        minimum: Option<(f64, bool)>,
        maximum: Option<(f64, bool)>,
        multiple_of: Option<f64>,
    },
    String {
        minimum: usize,
        maximum: Option<usize>,
        pattern: String,
        format: String,
    },
    Enum(Vec<String>),
    Array {
        items: Box<Described>,
        minimum: usize,
        maximum: Option<usize>,
        unique: bool,
    },
    Tuple(Vec<Described>),
    Map {
        values: Box<Described>,
        minimum: usize,
        maximum: Option<usize>,
    },
    Object(Vec<(String, bool, Described)>),
    AnyOf(Vec<Described>),
    Nullable(Box<Described>),
}

/// A node with its description.
pub(crate) struct Described {
    pub(crate) node: Node,
    pub(crate) description: String,
}

/// Reads a schema; the error says what can't be enforced.
pub(crate) fn read(text: &str) -> Result<Described, String> {
    describe(&mut json::parse(text)?)
}

fn describe(json: &mut Json) -> Result<Described, String> {
    let Json::Object(members) = json else {
        return Err("a schema must be a JSON object, such as {\"type\":\"string\"}".into());
    };
    let mut keywords = Keywords(std::mem::take(members));
    let description = keywords.text("description")?.unwrap_or_default();
    let node = node(&mut keywords)?;
    match keywords.0.first() {
        None => Ok(Described { node, description }),
        Some((keyword, _)) => Err(format!(
            "the keyword `{keyword}` cannot be enforced here; remove it, or put it into the \
             description"
        )),
    }
}

fn node(keywords: &mut Keywords) -> Result<Node, String> {
    if let Some(values) = keywords.take("enum") {
        keywords.take("type");
        return strings(values).map(Node::Enum);
    }
    if let Some(value) = keywords.take("const") {
        keywords.take("type");
        return strings(Json::Array(vec![value])).map(Node::Enum);
    }
    if let Some(schemas) = keywords.take("anyOf") {
        let Json::Array(mut schemas) = schemas else {
            return Err("`anyOf` must be a list of schemas".into());
        };
        let schemas: Result<Vec<_>, _> = schemas.iter_mut().map(describe).collect();
        return schemas.map(Node::AnyOf);
    }
    match keywords.take("type") {
        None => Ok(Node::Any),
        Some(Json::String(name)) => typed(&name, keywords),
        Some(Json::Array(names)) => match &names[..] {
            [Json::String(name), Json::String(null)] if null == "null" => {
                Ok(Node::Nullable(Box::new(Described {
                    node: typed(name, keywords)?,
                    description: String::new(),
                })))
            }
            _ => Err(
                "a list of types must have the form `[…, \"null\"]`; use `anyOf` for others".into(),
            ),
        },
        Some(_) => Err("`type` must be a string".into()),
    }
}

fn typed(name: &str, keywords: &mut Keywords) -> Result<Node, String> {
    Ok(match name {
        "null" => Node::Null,
        "boolean" => Node::Boolean,
        "integer" => Node::Integer {
            minimum: keywords.integer("minimum")?,
            maximum: keywords.integer("maximum")?,
            multiple_of: keywords.integer("multipleOf")?,
        },
        "number" => Node::Number {
            minimum: keywords.bound("minimum", "exclusiveMinimum")?,
            maximum: keywords.bound("maximum", "exclusiveMaximum")?,
            multiple_of: keywords.number("multipleOf")?,
        },
        "string" => Node::String {
            minimum: keywords.length("minLength")?.unwrap_or(0),
            maximum: keywords.length("maxLength")?,
            pattern: pattern(keywords)?,
            format: keywords.text("format")?.unwrap_or_default(),
        },
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

fn pattern(keywords: &mut Keywords) -> Result<String, String> {
    let pattern = keywords.text("pattern")?.unwrap_or_default();
    if !pattern.is_empty() {
        translate(&pattern)?;
    }
    Ok(pattern)
}

fn array(keywords: &mut Keywords) -> Result<Node, String> {
    if let Some(Json::Array(mut items)) = keywords.take("prefixItems") {
        for keyword in ["items", "minItems", "maxItems"] {
            keywords.take(keyword);
        }
        let items: Result<Vec<_>, _> = items.iter_mut().map(describe).collect();
        return items.map(Node::Tuple);
    }
    let Some(mut items) = keywords.take("items") else {
        return Err(
            "an array requires `items` because OpenAI rejects one without; add them".into(),
        );
    };
    Ok(Node::Array {
        items: Box::new(describe(&mut items)?),
        minimum: keywords.length("minItems")?.unwrap_or(0),
        maximum: keywords.length("maxItems")?,
        unique: matches!(keywords.take("uniqueItems"), Some(Json::Boolean(true))),
    })
}

fn object(keywords: &mut Keywords) -> Result<Node, String> {
    let additional = keywords.take("additionalProperties");
    let Some(properties) = keywords.take("properties") else {
        let values = match additional {
            None | Some(Json::Boolean(true)) => Described {
                node: Node::Any,
                description: String::new(),
            },
            Some(mut values) => describe(&mut values)?,
        };
        return Ok(Node::Map {
            values: Box::new(values),
            minimum: keywords.length("minProperties")?.unwrap_or(0),
            maximum: keywords.length("maxProperties")?,
        });
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
    let properties: Result<Vec<_>, _> = properties
        .into_iter()
        .map(|(key, mut schema)| Ok((key.clone(), required.contains(&key), describe(&mut schema)?)))
        .collect();
    properties.map(Node::Object)
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

/// The keywords of a schema that nobody has asked for yet.
struct Keywords(Vec<(String, Json)>);

impl Keywords {
    fn take(&mut self, keyword: &str) -> Option<Json> {
        let place = self.0.iter().position(|(name, _)| name == keyword)?;
        Some(self.0.remove(place).1)
    }

    fn text(&mut self, keyword: &str) -> Result<Option<String>, String> {
        match self.take(keyword) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{keyword}` must be a string")),
        }
    }

    fn number(&mut self, keyword: &str) -> Result<Option<f64>, String> {
        match self.take(keyword) {
            None => Ok(None),
            Some(Json::Number(text)) => Ok(text.parse().ok()),
            Some(_) => Err(format!("`{keyword}` must be a number")),
        }
    }

    fn integer(&mut self, keyword: &str) -> Result<Option<i128>, String> {
        match self.take(keyword) {
            None => Ok(None),
            Some(Json::Number(text)) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("`{keyword}` of an integer must be an integer")),
            },
            Some(_) => Err(format!("`{keyword}` must be a number")),
        }
    }

    fn length(&mut self, keyword: &str) -> Result<Option<usize>, String> {
        let length = self.integer(keyword)?;
        let whole = length.map(usize::try_from).transpose();
        whole.map_err(|_| format!("`{keyword}` must be an integer of at least zero"))
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
