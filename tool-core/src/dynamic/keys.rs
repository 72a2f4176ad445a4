//! [`Keys`]: the keys of a foreign schema, and the valid keys that stand for them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::cost::size;
use super::references::{References, decoded};
use crate::ordered_json::Json;
use crate::ordered_json::keywords::{Applies, Holds, Keyword, Step, rows};
use crate::provider::portable::{is_param_name, is_tool_name, with_suffix};

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
        for &key in all.iter().filter(|key| !is_param_name(key)) {
            names
                .entry(valid_name(key, "key", false))
                .or_default()
                .push(key);
        }
        let mut keys = Keys::default();
        for (name, originals) in names {
            let is_free = originals.len() == 1 && !all.contains(&*name);
            for original in originals {
                let mut valid = name.clone();
                if !is_free {
                    valid = with_suffix(&name, original);
                }
                // Equal hashes are possible, and so is a key that looks like this.
                while all.contains(&*valid) || keys.originals.contains_key(&valid) {
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

    fn rename_keyword(&self, name: &str, value: &Json) -> Json {
        let Some(keyword) = Keyword::of(name) else {
            // It may contain schemas that a reference leads to.
            return self.rename(value);
        };
        match (name, keyword.holds, value) {
            (_, Holds::Reference, Json::String(reference)) => {
                Json::String(self.rename_reference(reference))
            }
            ("default" | "example" | "examples", ..) => self.rename_data(value),
            _ => keyword.map(value, &mut |schema| self.rename(schema), &|key| {
                self.valid(key).to_owned()
            }),
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
            let keyword = Keyword::of(step).filter(|_| !is_key);
            is_key = keyword.is_some_and(|keyword| keyword.holds == Holds::Properties);
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
    pub(super) fn restore(&self, schema: &Json, arguments: &mut Value) -> usize {
        let mut restorer = Restorer {
            keys: self,
            references: References::new(schema),
            left: (1 << 16) + 64 * size(arguments),
            renamed: 0,
        };
        let root = restorer.closure(vec![schema]);
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
    references: References<'s>,
    /// The visits that are left. After that, keys are renamed wherever they are.
    left: usize,
    renamed: usize,
}

impl<'s> Restorer<'s> {
    fn value(&mut self, schemas: &[&'s Json], value: &mut Value) {
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let inner = self.below(schemas, Step::Index(at));
                    self.value(&inner, item);
                }
            }
            Value::Object(members) => {
                self.rename(schemas, members);
                for (key, member) in members {
                    let inner = self.below(schemas, Step::Key(key));
                    self.value(&inner, member);
                }
            }
            _ => {}
        }
    }

    /// Returns the schemas that apply to a member or an item.
    fn below(&mut self, schemas: &[&'s Json], step: Step<'_>) -> Vec<&'s Json> {
        let mut found = Vec::new();
        for (keyword, value) in schemas.iter().flat_map(|schema| rows(schema)) {
            match (keyword.applies, step, keyword.holds) {
                (Applies::Members, Step::Key(key), Holds::Properties) => {
                    found.extend(self.references.get(value, key));
                }
                (Applies::Items, Step::Index(at), _) if matches!(value, Json::Array(_)) => {
                    found.extend(value.items().get(at));
                }
                (Applies::Members, Step::Key(_), _) | (Applies::Items, Step::Index(_), _) => {
                    found.extend(keyword.schemas(value).map(|(_, schema)| schema));
                }
                _ => {}
            }
        }
        self.closure(found)
    }

    fn rename(&mut self, schemas: &[&'s Json], members: &mut Map<String, Value>) {
        let is_renamed = |key: &str, original: &str, members: &Map<String, Value>| {
            let has = |schema: &&'s Json| self.declares(schema, original);
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

    /// Returns `true` if a schema names a key.
    fn declares(&self, schema: &'s Json, key: &str) -> bool {
        let lists = |list: &Json| list.items().iter().any(|item| item.as_str() == Some(key));
        rows(schema).any(|(keyword, value)| match keyword.holds {
            Holds::Properties => {
                let mut members = value.members().iter();
                self.references.get(value, key).is_some() || members.any(|(_, list)| lists(list))
            }
            Holds::Keys => lists(value),
            _ => false,
        })
    }

    /// Adds the schemas that apply to the same value.
    fn closure(&mut self, schemas: Vec<&'s Json>) -> Vec<&'s Json> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut queue = schemas;
        while let Some(schema) = queue.pop() {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            if seen.insert(std::ptr::from_ref(schema)) {
                found.push(schema);
                for (keyword, inner) in rows(schema) {
                    queue.extend(self.references.in_place(keyword, inner));
                }
            }
        }
        found
    }
}

/// Collects the keys of arguments that a schema names, at every depth.
fn collect<'s>(schema: &'s Json, keys: &mut BTreeSet<&'s str>) {
    let list = |list: &'s Json, keys: &mut BTreeSet<&'s str>| {
        keys.extend(list.items().iter().filter_map(Json::as_str));
    };
    schema.items().iter().for_each(|item| collect(item, keys));
    for (name, value) in schema.members() {
        let Some(keyword) = Keyword::of(name) else {
            collect(value, keys);
            continue;
        };
        if keyword.holds == Holds::Keys {
            list(value, keys);
        }
        for (step, schema) in keyword.schemas(value) {
            if let (Holds::Properties, Step::Key(key)) = (keyword.holds, step) {
                keys.insert(key);
            }
            match (keyword.holds, schema) {
                (Holds::Properties, Json::Array(_)) => list(schema, keys),
                _ => collect(schema, keys),
            }
        }
    }
}

/// Returns the keys of a schema that some provider rejects.
pub(super) fn unusual(schema: &Json) -> Vec<String> {
    let mut all = BTreeSet::new();
    collect(schema, &mut all);
    let all = all.into_iter().filter(|key| !is_param_name(key));
    all.map(str::to_owned).collect()
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
        let ordered = Json::parse(&schema.to_string()).unwrap();
        assert_eq!(keys(&schema).restore(&ordered, &mut arguments), 3);
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
