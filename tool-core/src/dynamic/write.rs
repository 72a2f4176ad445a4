//! Writes [`Node`]s as JSON Schema.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use super::node::{Document, Form, MAX_REST, Node, Others};
use crate::ordered_json::Json;
use crate::ordered_json::keywords::Keyword;

type Members = Vec<(String, Json)>;

fn set(out: &mut Members, key: &str, value: impl Into<Json>) {
    out.push((key.to_owned(), value.into()));
}

/// Writes a schema with its definitions.
pub(super) fn document(document: &Document, form: Form) -> Json {
    let mut out = form.members(&document.root);
    if !document.definitions.is_empty() {
        let definitions = document.definitions.iter();
        let definitions = definitions.map(|(name, node)| (name.clone(), form.schema(node)));
        set(&mut out, "$defs", definitions.collect::<Json>());
    }
    Json::Object(out)
}

const NEVER: &str = "No value is accepted here; leave it out.";

impl Form {
    pub(super) fn schema(self, node: &Node) -> Json {
        Json::Object(self.members(node))
    }

    fn list(self, nodes: &[Node]) -> Json {
        nodes.iter().map(|node| self.schema(node)).collect()
    }

    fn members(self, node: &Node) -> Members {
        let is_portable = self == Form::Portable;
        let mut out = Vec::new();
        let mut sentences = node.sentences.clone();
        if node.never && is_portable {
            sentences.insert(NEVER.into());
        }
        let types = node.types.as_deref().unwrap_or_default();
        if node.never && !is_portable {
            set(&mut out, "not", Json::Object(Vec::new()));
        } else if let Some(reference) = &node.reference {
            set(&mut out, "$ref", &**reference);
            let is_annotated =
                !node.text(&sentences).is_empty() || node.keyword("default").is_some();
            // Some providers accept nothing next to a reference.
            if is_portable && is_annotated {
                let alone = Json::Object(std::mem::take(&mut out));
                set(&mut out, "anyOf", Json::Array(vec![alone]));
            }
        } else if !node.any_of.is_empty() {
            set(&mut out, "anyOf", self.list(&node.any_of));
        } else if let (Some(values), true) = (&node.values, is_portable || types.is_empty()) {
            if is_portable {
                write_values(node, values, &mut sentences, &mut out);
            } else {
                set(&mut out, "enum", values.iter().cloned().collect::<Json>());
            }
        } else {
            self.types(node, types, &mut out);
        }
        out.extend(node.rest.iter().cloned());
        let description = node.text(&sentences);
        if !description.is_empty() {
            set(&mut out, "description", &*description);
        }
        for name in ["default", "examples"] {
            if let Some(value) = node.keyword(name) {
                set(&mut out, name, value.clone());
            }
        }
        out
    }

    fn types(self, node: &Node, types: &[String], out: &mut Members) {
        let is_scalar = |name: &str| matches!(name, "string" | "number" | "integer" | "boolean");
        match types {
            [] => {}
            [name] => self.typed(node, name, out),
            [name, null] | [null, name]
                if self == Form::Portable && null == "null" && is_scalar(name) =>
            {
                self.typed(node, name, out);
                let names = [&**name, "null"].map(Json::from);
                out[0].1 = names.into_iter().collect();
            }
            names => {
                let each = names.iter().map(|name| {
                    let mut member = Vec::new();
                    self.typed(node, name, &mut member);
                    Json::Object(member)
                });
                set(out, "anyOf", each.collect::<Json>());
            }
        }
    }

    /// Writes one type with its keywords.
    fn typed(self, node: &Node, name: &str, out: &mut Members) {
        set(out, "type", name);
        if let Some(values) = node.values.as_ref().filter(|_| name != "null") {
            let values = values.iter().filter(|value| **value != Json::Null);
            return set(out, "enum", values.cloned().collect::<Json>());
        }
        match name {
            "object" => self.object(node, out),
            "array" => self.array(node, out),
            _ => {}
        }
        let restricted = if name == "integer" { "number" } else { name };
        let own = |(keyword, _): &&(String, Json)| {
            Keyword::of(keyword).is_some_and(|row| row.restricts == restricted)
        };
        out.extend(node.keywords.iter().filter(own).cloned());
    }

    fn object(self, node: &Node, out: &mut Members) {
        let is_portable = self == Form::Portable;
        let is_left_out = |node: &Node| is_portable && node.never;
        let mut names = HashSet::new();
        let mut done = HashSet::new();
        let mut properties = Vec::new();
        for (key, property) in &node.properties {
            names.insert(key);
            if is_left_out(property) {
                done.insert(key);
            } else {
                properties.push((key.clone(), self.property(key, property)));
            }
        }
        let mut required = Vec::new();
        for key in &node.required {
            if done.insert(key) {
                required.push(Json::from(&**key));
                if is_portable && names.insert(key) {
                    set(&mut properties, key, Json::Object(Vec::new()));
                }
            }
        }
        let has_properties = !properties.is_empty();
        let is_closed = matches!(node.others, Others::Closed);
        if is_portable || has_properties || is_closed && node.patterns.is_empty() {
            set(out, "properties", Json::Object(properties));
        }
        if !required.is_empty() {
            set(out, "required", Json::Array(required));
        }
        if !node.patterns.is_empty() {
            let patterns = node.patterns.iter();
            let patterns = patterns.map(|(pattern, node)| (pattern.clone(), self.schema(node)));
            set(out, "patternProperties", patterns.collect::<Json>());
        }
        let others = match &node.others {
            Others::Unsaid => return,
            Others::Open if is_portable => Json::Boolean(true),
            Others::Open if !has_properties => return,
            Others::Open => Json::Object(Vec::new()),
            Others::Closed => Json::Boolean(false),
            Others::Like(schema) if is_left_out(schema) => Json::Boolean(false),
            Others::Like(schema) => match self.schema(schema) {
                Json::Object(members) if is_portable && members.is_empty() => Json::Boolean(true),
                schema => schema,
            },
        };
        set(out, "additionalProperties", others);
    }

    /// Writes a property. A title that repeats its key says nothing.
    fn property(self, key: &str, node: &Node) -> Json {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(|character| character.is_alphanumeric());
            letters.flat_map(char::to_lowercase).collect()
        };
        let mut members = if !node.title.is_empty() && letters(key) == letters(&node.title) {
            let mut untitled = node.clone();
            untitled.title.clear();
            self.members(&untitled)
        } else {
            self.members(node)
        };
        // The only value of a property is a tag.
        if self != Form::Portable
            && let Some(values) = node.values.as_ref().filter(|values| values.len() == 1)
            && let Some(Json::String(tag)) = values.first()
            && let Some(listed) = members.iter_mut().find(|(name, _)| name == "enum")
        {
            *listed = ("const".into(), Json::from(&**tag));
        }
        Json::Object(members)
    }

    fn array(self, node: &Node, out: &mut Members) {
        let is_portable = self == Form::Portable;
        let items = node.items.as_deref();
        let rest = items.filter(|items| !(is_portable && items.never));
        let rest = rest.map(|items| self.schema(items));
        if node.prefix.is_empty() {
            return set(out, "items", rest.unwrap_or(Json::Object(Vec::new())));
        }
        let maximum = node.keyword("maxItems").and_then(Json::as_number);
        let count = node.prefix.len();
        set(out, "prefixItems", self.list(&node.prefix));
        if is_portable {
            let prefix = node.prefix.iter().map(|node| self.schema(node));
            let mut distinct: IndexSet<Json> = prefix.chain(rest).collect();
            let items = match distinct.pop() {
                Some(only) if distinct.is_empty() => only,
                last => {
                    distinct.extend(last);
                    Json::object([("anyOf", Some(distinct.into_iter().collect()))])
                }
            };
            set(out, "items", items);
            if items_are_excluded(node) && maximum.is_none() {
                set(out, "maxItems", Json::Number(count.to_string()));
            }
        } else if maximum.and_then(|text| text.parse().ok()) == Some(count) {
            set(out, "items", false);
        } else if let Some(items) = rest {
            set(out, "items", items);
        }
    }
}

fn items_are_excluded(node: &Node) -> bool {
    node.items.as_ref().is_some_and(|items| items.never)
}

/// Writes the listed values, each type apart.
fn write_values(
    node: &Node,
    values: &IndexSet<Json>,
    sentences: &mut IndexSet<String>,
    out: &mut Members,
) {
    let accepts = |name: &str| {
        let mut types = node.types.iter().flatten();
        node.types.is_none()
            || types.any(|other| other == name || name == "integer" && other == "number")
    };
    let mut groups: IndexMap<&str, Vec<Json>> = IndexMap::new();
    let mut complex = Vec::new();
    for value in values {
        let name = value.type_name();
        if !accepts(name) {
            continue;
        }
        if matches!(value, Json::Array(_) | Json::Object(_)) {
            complex.push(value.to_string());
        }
        groups.entry(name).or_default().push(value.clone());
    }
    if groups.is_empty() {
        sentences.insert(NEVER.into());
    }
    let listed = complex.join(" or ");
    if !complex.is_empty() && listed.len() <= MAX_REST {
        let other = if groups.len() > 1 {
            "An object or array must be"
        } else {
            "Must be"
        };
        sentences.insert(format!("{other} {listed}."));
    }
    let written = groups.into_iter().map(|(name, values)| {
        let mut out = Vec::new();
        set(&mut out, "type", name);
        match name {
            "array" => set(&mut out, "items", Json::Object(Vec::new())),
            "object" => set(&mut out, "properties", Json::Object(Vec::new())),
            "null" => {}
            _ => set(&mut out, "enum", Json::Array(values)),
        }
        out
    });
    let mut written: Vec<Members> = written.collect();
    if written.len() > 1 {
        let each = written.into_iter().map(Json::Object);
        set(out, "anyOf", each.collect::<Json>());
    } else if let Some(only) = written.pop() {
        out.extend(only);
    }
}
