//! Tools whose parameters are one type that describes itself with `schemars`.
//!
//! Its schema is read like one from elsewhere, without losing a constraint, and written as the macros
//! write theirs: inlined, closed, without titles and formats of numbers. Optional properties are shown
//! without `null`, which calls may send all the same.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::node::{Document, Form, Node, Others, merged};
use super::read::exact;
use super::write;
use crate::args::ArgumentError;
use crate::ordered_json::Json;
use crate::ordered_json::keywords::Keyword;
use crate::schema::decode_check::rejection;
use crate::schema::validate::{ValidateError, push_index, push_key};
use crate::schema::violation::Violations;

/// A type's description and schemas, as JSON texts.
#[derive(Clone, Debug)]
pub(super) struct TypedSchema {
    /// The schema that models are given.
    pub(super) shown: String,
    /// The schema that calls are validated against.
    pub(super) accepted: String,
    /// The type's documentation.
    pub(super) description: String,
}

/// Returns the schema of arguments that are deserialized as `T`.
pub(super) fn parameters<T: JsonSchema>() -> TypedSchema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    both(settings.into_generator().into_root_schema_for::<T>().into())
}

fn both(schema: Value) -> TypedSchema {
    let mut document = match document(schema) {
        Ok(document) => document,
        Err(text) => {
            return TypedSchema {
                shown: text.clone(),
                accepted: text,
                description: String::new(),
            };
        }
    };
    let description = std::mem::take(&mut document.root.description);
    let write = |change: fn(&mut Node)| {
        let mut document = document.clone();
        document.visit(&mut |node| change(node));
        written(document)
    };
    TypedSchema {
        shown: write(hide_null),
        accepted: write(bound),
        description,
    }
}

/// Writes a schema, with the keywords of each type in the order of the table.
fn written(mut document: Document) -> String {
    let order = |(keyword, _): &(String, Json)| Keyword::of(keyword).map(std::ptr::from_ref);
    document.visit(&mut |node| node.keywords.sort_by_key(order));
    write::document(&document, Form::Exact).to_string()
}

/// Returns the schema of results that are serialized from `T`.
pub(super) fn output<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    match document(settings.into_generator().into_root_schema_for::<T>().into()) {
        Ok(document) => written(document),
        Err(text) => text,
    }
}

/// Reads a schema and makes it as minimal as the schemas of the macros. Returns the text of one that is nested
/// too deeply, which the builder reports.
fn document(mut schema: Value) -> Result<Document, String> {
    if let Value::Object(members) = &mut schema {
        // The name of the type.
        members.remove("title");
    }
    let text = schema.to_string();
    let Ok(json) = Json::parse(&text) else {
        return Err(text);
    };
    let mut document = exact(&json);
    document.visit(&mut minimise);
    Ok(document)
}

fn minimise(node: &mut Node) {
    // serde ignores other keys, and a model should know that it misspelled one. An object without any
    // property may be a map.
    if matches!(node.others, Others::Unsaid) && !node.properties.is_empty() {
        node.others = Others::Closed;
    }
    node.keywords
        .retain(|(name, value)| name != "default" || *value != Json::Null);
    node.never |= node.is_contradictory;
    node.never |= !node.any_of.is_empty() && node.any_of.iter().all(|member| member.never);
    node.any_of.retain(|member| !member.never);
    let members = std::mem::take(&mut node.any_of).into_iter();
    node.any_of = members.flat_map(spliced).collect();
    join_values(node);
    unwrap(node);
}

/// Returns the members of a union that has nothing but a description, or the schema itself.
fn spliced(mut member: Node) -> Vec<Node> {
    let union = std::mem::take(&mut member.any_of);
    if union.is_empty() || !member.is_open() || !member.keywords.is_empty() {
        member.any_of = union;
        return vec![member];
    }
    let members = union.into_iter().map(|mut inner| {
        if inner.description.is_empty() {
            inner.description.clone_from(&member.description);
        }
        inner
    });
    members.collect()
}

/// Makes one list of the variants of an enum, whose descriptions become one.
fn join_values(node: &mut Node) {
    let is_list = |member: &Node| {
        member.values.is_some()
            && member.types.as_deref() == Some(&["string".to_owned()])
            && member.keywords.is_empty()
    };
    let first = node.any_of.iter().position(is_list);
    let lists = node.any_of.iter().filter(|member| is_list(member));
    let (Some(first), true) = (first, lists.count() > 1) else {
        return;
    };
    let mut joined = Node::default();
    node.any_of.retain(|member| {
        if !is_list(member) {
            return true;
        }
        let values = member.values.clone().unwrap_or_default();
        let text = member.text(&member.sentences);
        match values.first() {
            _ if text.is_empty() => {}
            Some(Json::String(value)) if values.len() == 1 => {
                joined.sentences.insert(format!("{value}: {text}"));
            }
            _ => {
                joined.sentences.insert(text);
            }
        }
        joined.types.clone_from(&member.types);
        joined.values.get_or_insert_default().extend(values);
        false
    });
    node.any_of.insert(first, joined);
}

/// Replaces a union of one schema by that.
fn unwrap(node: &mut Node) {
    if let [_] = &node.any_of[..] {
        let mut only = node.any_of.remove(0);
        if !node.description.is_empty() {
            only.description.clear();
            only.sentences.clear();
        }
        *node = merged(std::mem::take(node), only);
    }
}

/// The greatest `f32`, whose format is `float`.
const MOST_F32: &str = "3.4028234663852886e38";

/// The ranges of integers, by the formats that `schemars` gives them.
const RANGES: [(&str, i128, i128); 6] = [
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("int", isize::MIN as i128, isize::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
    ("uint", 0, usize::MAX as i128),
];

/// Adds the bounds of number types.
fn bound(node: &mut Node) {
    let format = node.keyword("format").and_then(Json::as_str);
    let range = RANGES.iter().find(|(name, ..)| Some(*name) == format);
    let (minimum, maximum) = match range {
        Some((_, minimum, maximum)) => (minimum.to_string(), maximum.to_string()),
        None if format == Some("float") => (format!("-{MOST_F32}"), MOST_F32.to_owned()),
        None => return,
    };
    for (keyword, exclusive, limit) in [
        ("minimum", "exclusiveMinimum", minimum),
        ("maximum", "exclusiveMaximum", maximum),
    ] {
        if node.keyword(keyword).or(node.keyword(exclusive)).is_none() {
            node.keywords.push((keyword.into(), Json::Number(limit)));
        }
    }
}

/// Removes `null` from the values that optional properties accept.
fn hide_null(node: &mut Node) {
    for (key, property) in &mut node.properties {
        if !node.required.contains(key) {
            *property = without_null(std::mem::take(property));
        }
    }
}

/// Removes `null` from the values that a schema accepts, unless it accepts nothing else.
fn without_null(mut node: Node) -> Node {
    let is_null = |node: &Node| node.types.as_deref() == Some(&["null".to_owned()]);
    if let Some(types) = node.types.as_mut().filter(|types| types.len() > 1) {
        types.retain(|name| name != "null");
    }
    if let Some(values) = node.values.as_mut().filter(|values| values.len() > 1) {
        values.retain(|value| *value != Json::Null);
    }
    if node.any_of.iter().any(|member| !is_null(member)) {
        node.any_of.retain(|member| !is_null(member));
    }
    unwrap(&mut node);
    node
}

/// Deserializes valid arguments.
pub(super) fn decode<T: DeserializeOwned>(arguments: &Value) -> Result<T, ArgumentError> {
    T::deserialize(arguments).map_err(|error| {
        // Following the path costs time, so that only rejected arguments are read a second time.
        let located = serde_path_to_error::deserialize::<_, T>(arguments).err();
        let path = located.map_or(String::new(), |error| path(error.path()));
        let problem = rejection(&error.to_string(), None);
        ValidateError::Invalid(Violations::one(path, &problem)).into()
    })
}

/// Returns the path of a violation.
fn path(path: &serde_path_to_error::Path) -> String {
    let mut out = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => push_index(&mut out, *index),
            Segment::Map { key: step } | Segment::Enum { variant: step } => {
                push_key(&mut out, step);
            }
            Segment::Unknown => break,
        }
    }
    out
}
