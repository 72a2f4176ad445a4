//! [`Keys`]: the keys of a foreign schema, and the valid keys that stand for them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::cost::{in_place, size};
use crate::ordered_json::{Json, pointer_key};
use crate::provider::portable::{is_param_name, is_tool_name, with_suffix};

/// The position of schemas in the value of a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The value is a schema, or a list of schemas.
    Schema,
    /// Each member of the value is a schema.
    Members,
    /// Like `Members`, and the keys are keys of arguments.
    Properties,
    /// The value is a list of keys of arguments.
    KeyList,
    /// The value is data, or text.
    Data,
}

/// Returns where a keyword has schemas. An unknown keyword may contain some that a reference
/// leads to.
pub(super) fn position(keyword: &str) -> Position {
    match keyword {
        "properties" | "dependentSchemas" | "dependencies" | "dependentRequired" => {
            Position::Properties
        }
        "patternProperties" | "$defs" | "definitions" => Position::Members,
        "required" => Position::KeyList,
        "const" | "enum" | "default" | "example" | "examples" | "type" | "title"
        | "description" | "pattern" | "format" | "$schema" | "$id" | "id" | "$anchor"
        | "$comment" => Position::Data,
        _ => Position::Schema,
    }
}

/// The renamed keys of one tool, at every depth.
#[derive(Debug, Default)]
pub(super) struct Keys {
    valid: HashMap<String, String>,
    originals: HashMap<String, String>,
}

impl Keys {
    /// Finds the keys of a schema that some provider rejects, and a name for each. The names are
    /// distinct, unlike every key of the schema, and depend on the keys only.
    pub(super) fn of(schema: &Json) -> Keys {
        let mut all = BTreeSet::new();
        collect(schema, &mut all);
        let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for key in all.iter().filter(|key| !is_param_name(key)) {
            names
                .entry(valid_name(key, "key", false))
                .or_default()
                .push(key);
        }
        let mut keys = Keys::default();
        for (name, originals) in names {
            let is_free = originals.len() == 1 && !all.contains(&name);
            for original in originals {
                let mut valid = name.clone();
                if !is_free {
                    valid = with_suffix(&name, original);
                }
                // Equal hashes are possible, and so is a key that looks like this.
                while all.contains(&valid) || keys.originals.contains_key(&valid) {
                    valid = with_suffix(&name, &valid);
                }
                keys.originals.insert(valid.clone(), original.into());
                keys.valid.insert(original.into(), valid);
            }
        }
        keys
    }

    pub(super) fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }

    /// Returns each original key with the valid one, sorted.
    pub(super) fn pairs(&self) -> BTreeMap<&str, &str> {
        let pairs = self.valid.iter();
        pairs.map(|(key, valid)| (&**key, &**valid)).collect()
    }

    fn valid<'k>(&'k self, key: &'k str) -> &'k str {
        self.valid.get(key).map_or(key, String::as_str)
    }

    /// Renames the keys of a schema.
    pub(super) fn rename(&self, schema: &Json) -> Json {
        match schema {
            Json::Array(items) => Json::Array(items.iter().map(|item| self.rename(item)).collect()),
            Json::Object(members) => {
                let renamed = members
                    .iter()
                    .map(|(keyword, value)| (keyword.clone(), self.rename_keyword(keyword, value)));
                Json::Object(renamed.collect())
            }
            other => other.clone(),
        }
    }

    fn rename_keyword(&self, keyword: &str, value: &Json) -> Json {
        let list = |value: &Json| {
            let rename = |item: &Json| match item {
                Json::String(key) => Json::from(self.valid(key)),
                other => other.clone(),
            };
            Json::Array(value.items().iter().map(rename).collect())
        };
        match (keyword, position(keyword), value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _, Json::String(reference)) => {
                Json::String(self.rename_reference(reference))
            }
            ("default" | "example" | "examples", ..) => self.rename_data(value),
            (_, Position::KeyList, Json::Array(_)) => list(value),
            (_, Position::Properties | Position::Members, Json::Object(members)) => {
                let is_property = position(keyword) == Position::Properties;
                let renamed = members.iter().map(|(key, value)| {
                    let key = if is_property { self.valid(key) } else { key };
                    let value = match value {
                        Json::Array(_) => list(value),
                        schema => self.rename(schema),
                    };
                    (key.to_owned(), value)
                });
                Json::Object(renamed.collect())
            }
            (_, Position::Schema, _) => self.rename(value),
            _ => value.clone(),
        }
    }

    /// Renames the steps of a reference that lead through properties.
    fn rename_reference(&self, reference: &str) -> String {
        let Some((address, pointer)) = reference.split_once("#/") else {
            return reference.into();
        };
        let mut renamed = format!("{address}#");
        let mut is_key = false;
        for step in pointer.split('/') {
            let key = decoded(step);
            renamed.push('/');
            match self.valid.get(&key).filter(|_| is_key) {
                Some(valid) => renamed.push_str(valid),
                None => renamed.push_str(step),
            }
            is_key = !is_key && position(step) == Position::Properties;
        }
        renamed
    }

    /// Renames the keys of a default or an example.
    pub(super) fn rename_data(&self, value: &Json) -> Json {
        match value {
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.rename_data(item)).collect())
            }
            Json::Object(members) => {
                let renamed = members
                    .iter()
                    .map(|(key, value)| (self.valid(key).to_owned(), self.rename_data(value)));
                Json::Object(renamed.collect())
            }
            other => other.clone(),
        }
    }

    /// Gives the keys of arguments their original names, where the original schema has them. Returns
    /// the number of renamed keys.
    pub(super) fn restore(&self, schema: &Value, arguments: &mut Value) -> usize {
        let mut restorer = Restorer {
            keys: self,
            root: schema,
            left: (1 << 16) + 64 * size(arguments),
            renamed: 0,
        };
        let root = restorer.closure([schema]);
        restorer.value(&root, arguments);
        restorer.renamed
    }

    /// Returns `true` if a value has a key that was renamed in the schema.
    pub(super) fn has_original(&self, value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| self.has_original(item)),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| self.valid.contains_key(key) || self.has_original(value)),
            _ => false,
        }
    }
}

/// Walks over arguments, with all schemas that may apply to each value.
struct Restorer<'s> {
    keys: &'s Keys,
    root: &'s Value,
    /// The visits that are left. After that, keys are renamed wherever they are.
    left: usize,
    renamed: usize,
}

impl<'s> Restorer<'s> {
    fn value(&mut self, schemas: &[&'s Value], value: &mut Value) {
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let inner = schemas.iter().flat_map(|schema| item_schemas(schema, at));
                    let inner = self.closure(inner);
                    self.value(&inner, item);
                }
            }
            Value::Object(members) => {
                self.rename(schemas, members);
                for (key, member) in members {
                    let inner = schemas
                        .iter()
                        .flat_map(|schema| member_schemas(schema, key));
                    let inner = self.closure(inner);
                    self.value(&inner, member);
                }
            }
            _ => {}
        }
    }

    fn rename(&mut self, schemas: &[&'s Value], members: &mut Map<String, Value>) {
        let is_renamed = |key: &str, original: &str, members: &Map<String, Value>| {
            let has = |schema: &&Value| declares(schema, original);
            (self.left == 0 || schemas.iter().any(has))
                && !members.contains_key(original)
                && key != original
        };
        let renamed: Vec<_> = members
            .keys()
            .filter_map(|key| Some((key.clone(), self.keys.originals.get(key)?.clone())))
            .filter(|(key, original)| is_renamed(key, original, members))
            .collect();
        if renamed.is_empty() {
            return;
        }
        self.renamed += renamed.len();
        let renamed: HashMap<_, _> = renamed.into_iter().collect();
        let members_before = std::mem::take(members);
        // Rebuilt, so that the order stays where a map keeps it.
        members.extend(members_before.into_iter().map(|(key, value)| {
            let original = renamed.get(&key).cloned();
            (original.unwrap_or(key), value)
        }));
    }

    /// Adds the schemas that apply to the same value.
    fn closure(&mut self, schemas: impl IntoIterator<Item = &'s Value>) -> Vec<&'s Value> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut queue: Vec<_> = schemas.into_iter().collect();
        while let Some(schema) = queue.pop() {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            if seen.insert(std::ptr::from_ref(schema)) {
                found.push(schema);
                for (keyword, inner) in schema.as_object().into_iter().flatten() {
                    queue.extend(in_place(self.root, keyword, inner));
                }
            }
        }
        found
    }
}

/// Returns `true` if a schema names a key.
fn declares(schema: &Value, key: &str) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords
        .iter()
        .any(|(keyword, value)| match (position(keyword), value) {
            (Position::Properties, Value::Object(members)) => {
                let lists = members.values().filter_map(Value::as_array).flatten();
                members.contains_key(key) || lists.into_iter().any(|other| other == key)
            }
            (Position::KeyList, Value::Array(keys)) => keys.iter().any(|other| other == key),
            _ => false,
        })
}

fn member_schemas<'s>(schema: &'s Value, key: &str) -> Vec<&'s Value> {
    let Value::Object(keywords) = schema else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (keyword, value) in keywords {
        match (&**keyword, value) {
            ("properties", Value::Object(properties)) => found.extend(properties.get(key)),
            ("patternProperties", Value::Object(patterns)) => found.extend(patterns.values()),
            ("additionalProperties" | "unevaluatedProperties", Value::Object(_)) => {
                found.push(value);
            }
            _ => {}
        }
    }
    found
}

fn item_schemas(schema: &Value, at: usize) -> Vec<&Value> {
    let Value::Object(keywords) = schema else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (keyword, value) in keywords {
        match (&**keyword, value) {
            ("items" | "prefixItems", Value::Array(schemas)) => found.extend(schemas.get(at)),
            ("items" | "additionalItems" | "unevaluatedItems" | "contains", Value::Object(_)) => {
                found.push(value);
            }
            _ => {}
        }
    }
    found
}

/// Collects the keys of arguments that a schema names, at every depth.
fn collect(schema: &Json, keys: &mut BTreeSet<String>) {
    match schema {
        Json::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        Json::Object(members) => {
            for (keyword, value) in members {
                match position(keyword) {
                    Position::KeyList => collect_list(value, keys),
                    Position::Properties | Position::Members => {
                        for (key, value) in value.members() {
                            if position(keyword) == Position::Properties {
                                keys.insert(key.clone());
                            }
                            match value {
                                Json::Array(_) => collect_list(value, keys),
                                schema => collect(schema, keys),
                            }
                        }
                    }
                    Position::Schema => collect(value, keys),
                    Position::Data => {}
                }
            }
        }
        _ => {}
    }
}

fn collect_list(list: &Json, keys: &mut BTreeSet<String>) {
    let listed = list.items().iter().filter_map(Json::as_str);
    keys.extend(listed.map(str::to_owned));
}

/// Returns the keys of a schema that some provider rejects.
pub(super) fn unusual(schema: &Json) -> Vec<String> {
    let mut all = BTreeSet::new();
    collect(schema, &mut all);
    all.retain(|key| !is_param_name(key));
    all.into_iter().collect()
}

/// Decodes a step of a reference.
pub(super) fn decoded(step: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = step.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let escaped = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => bytes.push(*first),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    pointer_key(&text)
}

/// Returns a name that every provider accepts for a tool.
pub(super) fn valid_tool_name(name: &str) -> String {
    if is_tool_name(name) {
        return name.into();
    }
    valid_name(name, "tool", true)
}

/// Replaces what is not valid in a name. A name that would lose too much gets a suffix.
fn valid_name(name: &str, fallback: &str, has_hyphens: bool) -> String {
    let is_valid = |character: char| {
        character.is_ascii_alphanumeric() || character == '_' || has_hyphens && character == '-'
    };
    let replaced = |character| if is_valid(character) { character } else { '_' };
    let mut valid: String = name.chars().map(replaced).collect();
    // `$filter` and `@type` read better without a leading `_`.
    if !name.starts_with('_') {
        valid = valid.trim_start_matches(['_', '-']).into();
    }
    if !name.ends_with('_') {
        valid.truncate(valid.trim_end_matches('_').len());
    }
    let is_legible = name.is_ascii() && valid.bytes().any(|byte| byte.is_ascii_alphanumeric());
    if !valid.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        valid = fallback.into();
    }
    if !valid.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        valid.insert(0, '_');
    }
    if valid.len() > 64 || !is_legible && !name.is_empty() {
        valid = with_suffix(&valid, name);
    }
    valid
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(schema: &Value) -> Keys {
        Keys::of(&Json::parse(&schema.to_string()).unwrap())
    }

    #[test]
    fn names_become_valid_and_stay_legible() {
        for (name, valid) in [
            ("files/read", "files_read"),
            ("notion.search.pages", "notion_search_pages"),
            ("9lives", "_9lives"),
            ("a-b", "a-b"),
            ("", "tool"),
            ("get weather!", "get_weather"),
        ] {
            assert_eq!(valid_tool_name(name), valid);
        }
        for name in [
            "日本語",
            "größe",
            "-",
            "...",
            &"x".repeat(200),
            &"é/".repeat(90),
        ] {
            let valid = valid_tool_name(name);
            assert!(is_tool_name(&valid), "{name}: {valid}");
            assert_eq!(valid, valid_tool_name(name));
        }
        assert_ne!(valid_tool_name("日本"), valid_tool_name("語"));
    }

    #[test]
    fn keys_get_distinct_valid_names() {
        let keys = keys(&json!({
            "properties": {
                "file-path": {}, "$filter": {}, "@type": {}, "type": {}, "a.b": {}, "a-b": {},
                "": {}, "größe": {}, "ok_1": {},
                "deep": {"items": {"anyOf": [{"properties": {"x y": {}}}]}},
            },
            "required": ["not listed"],
            "$defs": {"d-1": {"properties": {"in-def": {"enum": [{"in-data": 1}]}}}},
        }));
        let pairs = keys.pairs();
        assert_eq!(pairs["file-path"], "file_path");
        assert_eq!(pairs["$filter"], "filter");
        assert_eq!(pairs["x y"], "x_y");
        assert_eq!(pairs["not listed"], "not_listed");
        assert_eq!(pairs["in-def"], "in_def");
        assert_eq!(pairs[""], "key");
        assert!(pairs["@type"].starts_with("type_"));
        assert!(!pairs.contains_key("type") && !pairs.contains_key("d-1"));
        assert!(!pairs.contains_key("in-data"));
        let valid: BTreeSet<_> = pairs.values().collect();
        assert_eq!(valid.len(), pairs.len());
        assert!(valid.into_iter().all(|key| is_param_name(key)));
    }

    #[test]
    fn keys_are_restored_where_the_schema_has_them() {
        let schema = json!({
            "type": "object",
            "properties": {
                "file-path": {"type": "string"},
                "free": {"type": "object"},
                "tree": {"$ref": "#/$defs/tree"},
            },
            "$defs": {"tree": {"anyOf": [{"type": "null"}, {
                "type": "object",
                "properties": {"sub-tree": {"$ref": "#/$defs/tree"}},
            }]}},
        });
        let mut arguments = json!({
            "file_path": "x",
            "free": {"file_path": "stays", "sub_tree": 1},
            "tree": {"sub_tree": {"sub_tree": null, "file_path": 7}},
        });
        assert_eq!(keys(&schema).restore(&schema, &mut arguments), 3);
        assert_eq!(
            arguments,
            json!({
                "file-path": "x",
                "free": {"file_path": "stays", "sub_tree": 1},
                "tree": {"sub-tree": {"sub-tree": null, "file_path": 7}},
            })
        );
    }

    #[test]
    fn references_through_properties_are_renamed() {
        let schema = json!({
            "properties": {"a-b": {"type": "string"}, "c": {"$ref": "#/properties/a-b"}},
        });
        let renamed = keys(&schema).rename(&Json::parse(&schema.to_string()).unwrap());
        let reference = renamed.pointer("/properties/c/$ref").and_then(Json::as_str);
        assert_eq!(reference, Some("#/properties/a_b"));
    }
}
