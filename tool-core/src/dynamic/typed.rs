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

use super::portable::{CONSTRAINTS, Document, Node, Others, exact, merged};
use super::violations::join;
use crate::args::ArgumentError;
use crate::ordered_json::Json;
use crate::schema::decode_check::rejection;
use crate::schema::validate::ValidateError;
use crate::schema::violation::Violations;

/// What a type says about itself, as JSON texts.
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
    let write = |form| write(&document, form).to_string();
    TypedSchema {
        shown: write(Form::Shown),
        accepted: write(Form::Accepted),
        description,
    }
}

/// Returns the schema of results that are serialized from `T`.
pub(super) fn output<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    match document(settings.into_generator().into_root_schema_for::<T>().into()) {
        Ok(document) => write(&document, Form::Result).to_string(),
        Err(text) => text,
    }
}

/// Reads a schema and makes it as minimal as those of the macros. Returns the text of one that is nested
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
    minimise(&mut document.root);
    for (_, definition) in &mut document.definitions {
        minimise(definition);
    }
    Ok(document)
}

fn minimise(node: &mut Node) {
    let properties = node.properties.iter_mut().map(|(_, node)| node);
    let patterns = node.patterns.iter_mut().map(|(_, node)| node);
    let lists = node.prefix.iter_mut().chain(&mut node.any_of);
    for inner in properties.chain(patterns).chain(lists) {
        minimise(inner);
    }
    if let Some(items) = &mut node.items {
        minimise(items);
    }
    if let Others::Like(values) = &mut node.others {
        minimise(values);
    }
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
        let values = member.values.as_deref().unwrap_or_default();
        let text = member.text(&member.sentences);
        match values {
            [Json::String(value)] if !text.is_empty() => {
                joined.sentences.push(format!("{value}: {text}"));
            }
            _ if !text.is_empty() => joined.sentences.push(text),
            _ => {}
        }
        joined.types.clone_from(&member.types);
        joined
            .values
            .get_or_insert_default()
            .extend_from_slice(values);
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

/// What a schema is written for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Models.
    Shown,
    /// The validation of calls.
    Accepted,
    /// Models and the validation of results.
    Result,
}

fn write(document: &Document, form: Form) -> Json {
    let mut members = form.members(&document.root);
    if !document.definitions.is_empty() {
        let definitions = document.definitions.iter();
        let definitions = definitions.map(|(name, node)| (name.clone(), form.schema(node)));
        members.push(("$defs".into(), Json::Object(definitions.collect())));
    }
    Json::Object(members)
}

/// The ranges of integers, by the formats that `schemars` gives them.
const RANGES: [(&str, i128, i128); 6] = [
    ("int32", i32::MIN as i128, i32::MAX as i128),
    ("int64", i64::MIN as i128, i64::MAX as i128),
    ("int", isize::MIN as i128, isize::MAX as i128),
    ("uint32", 0, u32::MAX as i128),
    ("uint64", 0, u64::MAX as i128),
    ("uint", 0, usize::MAX as i128),
];

impl Form {
    fn schema(self, node: &Node) -> Json {
        Json::Object(self.members(node))
    }

    fn list(self, nodes: &[Node]) -> Json {
        Json::Array(nodes.iter().map(|node| self.schema(node)).collect())
    }

    fn members(self, node: &Node) -> Vec<(String, Json)> {
        let mut out = Vec::new();
        if node.never {
            out.push(("not".into(), Json::Object(Vec::new())));
        } else if let Some(reference) = &node.reference {
            out.push(("$ref".into(), Json::from(&**reference)));
        } else if !node.any_of.is_empty() {
            out.push(("anyOf".into(), self.list(&node.any_of)));
        } else {
            let types = node.types.as_deref().unwrap_or_default();
            let nullable = types.iter().position(|name| name == "null");
            match (types, nullable) {
                ([], _) => {
                    if let Some(values) = &node.values {
                        out.push(("enum".into(), Json::Array(values.clone())));
                    }
                }
                ([name], _) => self.typed(node, name, &mut out),
                (names, _) => {
                    let each = names.iter().map(|name| {
                        let mut member = Vec::new();
                        self.typed(node, name, &mut member);
                        Json::Object(member)
                    });
                    out.push(("anyOf".into(), Json::Array(each.collect())));
                }
            }
        }
        out.extend(node.rest.iter().cloned());
        let text = node.text(&node.sentences);
        if !text.is_empty() {
            out.push(("description".into(), Json::String(text)));
        }
        for name in ["default", "examples"] {
            if let Some(keyword) = node.keyword(name) {
                out.push((name.into(), keyword.clone()));
            }
        }
        out
    }

    /// Writes one type with its keywords.
    fn typed(self, node: &Node, name: &str, out: &mut Vec<(String, Json)>) {
        out.push(("type".into(), Json::from(name)));
        if let Some(values) = node.values.as_ref().filter(|_| name != "null") {
            let values = values.iter().filter(|value| **value != Json::Null);
            out.push(("enum".into(), Json::Array(values.cloned().collect())));
            return;
        }
        match name {
            "object" => self.object(node, out),
            "array" => self.array(node, out),
            _ => {}
        }
        let group = if name == "integer" { "number" } else { name };
        let own = CONSTRAINTS.iter().filter(|(_, kind)| *kind == group);
        let format = node.keyword("format").and_then(Json::as_str);
        for (keyword, _) in own {
            if let Some(value) = node.keyword(keyword) {
                out.push(((*keyword).into(), value.clone()));
            } else if self == Form::Accepted
                && let Some((_, minimum, maximum)) =
                    RANGES.iter().find(|(name, ..)| Some(*name) == format)
            {
                let bound = match *keyword {
                    "minimum" if node.keyword("exclusiveMinimum").is_none() => minimum,
                    "maximum" if node.keyword("exclusiveMaximum").is_none() => maximum,
                    _ => continue,
                };
                out.push(((*keyword).into(), Json::Number(bound.to_string())));
            }
        }
    }

    fn object(self, node: &Node, out: &mut Vec<(String, Json)>) {
        let is_closed = matches!(node.others, Others::Closed);
        if !node.properties.is_empty() || is_closed && node.patterns.is_empty() {
            let properties = node.properties.iter().map(|(key, property)| {
                let is_optional = !node.required.contains(key);
                let property = match self {
                    Form::Shown if is_optional => &without_null(property.clone()),
                    _ => property,
                };
                (key.clone(), self.property(property))
            });
            out.push(("properties".into(), Json::Object(properties.collect())));
        }
        if !node.required.is_empty() {
            let required = node.required.iter().map(|key| Json::from(&**key));
            out.push(("required".into(), Json::Array(required.collect())));
        }
        if !node.patterns.is_empty() {
            let patterns = node.patterns.iter();
            let patterns = patterns.map(|(pattern, node)| (pattern.clone(), self.schema(node)));
            out.push(("patternProperties".into(), Json::Object(patterns.collect())));
        }
        match &node.others {
            Others::Unsaid => {}
            Others::Open if node.properties.is_empty() => {}
            Others::Open => out.push(("additionalProperties".into(), Json::Object(Vec::new()))),
            Others::Closed => out.push(("additionalProperties".into(), Json::Boolean(false))),
            Others::Like(values) => {
                out.push(("additionalProperties".into(), self.schema(values)));
            }
        }
        for name in ["minProperties", "maxProperties"] {
            if let Some(value) = node.keyword(name) {
                out.push((name.into(), value.clone()));
            }
        }
    }

    /// Writes a property: its only value is a tag.
    fn property(self, node: &Node) -> Json {
        let mut members = self.members(node);
        if let Some(values) = &node.values
            && let [Json::String(_)] = &values[..]
            && let Some(listed) = members.iter_mut().find(|(name, _)| name == "enum")
        {
            *listed = ("const".into(), values[0].clone());
        }
        Json::Object(members)
    }

    fn array(self, node: &Node, out: &mut Vec<(String, Json)>) {
        let items = node.items.as_deref();
        if node.prefix.is_empty() {
            out.push((
                "items".into(),
                items.map_or(Json::Object(Vec::new()), |items| self.schema(items)),
            ));
            return;
        }
        out.push(("prefixItems".into(), self.list(&node.prefix)));
        let maximum = node.keyword("maxItems").and_then(Json::as_number);
        if maximum.and_then(|text| text.parse().ok()) == Some(node.prefix.len()) {
            out.push(("items".into(), Json::Boolean(false)));
        } else if let Some(items) = items {
            out.push(("items".into(), self.schema(items)));
        }
    }
}

/// Removes `null` from what a schema accepts, unless it accepts nothing else.
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
            Segment::Seq { index } => out.push_str(&format!("[{index}]")),
            Segment::Map { key: step } | Segment::Enum { variant: step } => {
                out = join(&out, step);
            }
            Segment::Unknown => break,
        }
    }
    out
}
