//! Keeps the accepted tools in a file.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs, io};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tool_core::files;

use crate::{hex, sorted_json};

/// The hashes of a server's description of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    /// Of the title and the description.
    description: String,
    parameters: String,
    output: String,
    annotations: String,
    /// Of the tool's app and of the callers that are allowed; empty if the server states neither.
    ui: String,
}

/// Returns the hash of some members of an object.
pub(super) fn hash(object: &Map<String, Value>, keys: &[&str]) -> String {
    let mut text = String::new();
    for key in keys {
        sorted_json::write(object.get(*key).unwrap_or(&Value::Null), &mut text);
        text.push('\n');
    }
    digest(text.as_bytes())
}

impl Pin {
    pub(super) fn of(tool: &Map<String, Value>) -> Pin {
        let tool = &steady(tool);
        let meta = tool.get("_meta").and_then(Value::as_object);
        let meta = meta.filter(|meta| meta.contains_key("ui"));
        Pin {
            description: hash(tool, &["title", "description"]),
            parameters: hash(tool, &["inputSchema"]),
            output: hash(tool, &["outputSchema"]),
            annotations: hash(tool, &["annotations"]),
            ui: meta.map_or_else(String::new, |meta| hash(meta, &["ui"])),
        }
    }

    /// Returns what differs.
    pub(super) fn changes(&self, new: &Pin) -> Vec<&'static str> {
        let pairs = [
            ("description", &self.description, &new.description),
            ("parameters", &self.parameters, &new.parameters),
            ("output", &self.output, &new.output),
            ("annotations", &self.annotations, &new.annotations),
            ("app", &self.ui, &new.ui),
        ];
        let changed = pairs.into_iter().filter(|(_, old, new)| old != new);
        changed.map(|(name, _, _)| name).collect()
    }
}

/// Returns a tool with the items of defaults such as `"labels,status"` in order: a server that joins a set lists them in
/// another order each time it starts (mcp-atlassian, November 2026).
fn steady(tool: &Map<String, Value>) -> Map<String, Value> {
    fn sort(value: &mut Value) {
        match value {
            Value::Object(members) => members.iter_mut().for_each(|(key, value)| match value {
                Value::String(text) if key == "default" => {
                    let mut items: Vec<_> = text.split(',').collect();
                    items.sort_unstable();
                    *text = items.join(",");
                }
                _ => sort(value),
            }),
            Value::Array(items) => items.iter_mut().for_each(sort),
            _ => {}
        }
    }
    let mut tool = tool.clone();
    tool.values_mut().for_each(sort);
    tool
}

/// The file: the accepted tools of one server as it lists them, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pins(BTreeMap<String, Map<String, Value>>);

impl Pins {
    pub(super) fn get(&self, name: &str) -> Option<Pin> {
        self.0.get(name).map(Pin::of)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds what is accepted of a tool: all but icons and other metadata, which change unnoticed.
    pub(super) fn insert(&mut self, name: &str, tool: &Map<String, Value>) {
        let ui = tool.get("_meta").and_then(|meta| meta.get("ui"));
        let meta = ui.map(|ui| ("_meta".to_owned(), json!({"ui": ui})));
        let kept = [
            "annotations",
            "description",
            "inputSchema",
            "outputSchema",
            "title",
        ];
        let kept = kept.into_iter().filter_map(|key| {
            let value = tool.get(key).filter(|value| !value.is_null())?;
            Some((key.to_owned(), value.clone()))
        });
        let name = name.to_owned();
        let mut tool: Map<_, _> = [("name".to_owned(), Value::from(&*name))]
            .into_iter()
            .collect();
        tool.extend(meta.into_iter().chain(kept));
        self.0.insert(name, steady(&tool));
    }

    /// Reads the file. `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Pins>, String> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("can't read {}: {error}", path.display())),
        };
        // Not treated as missing: then all tools would be accepted.
        let wrong = |problem: String| {
            format!(
                "{} is not a file of accepted tools: {problem}",
                path.display()
            )
        };
        let json: Value =
            serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        let Some(Value::Array(tools)) = json.get("tools") else {
            return Err(wrong("it has no array `tools`".into()));
        };
        let mut pins = Pins::default();
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str);
            let (Some(name), Some(tool)) = (name, tool.as_object()) else {
                return Err(wrong("a tool has no name".into()));
            };
            pins.insert(name, tool);
        }
        Ok(Some(pins))
    }

    /// Writes the file. Readers see the old file or the new one.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let written = files::replace(path, self.to_string().as_bytes());
        written.map_err(|error| format!("can't write {}: {error}", path.display()))
    }
}

/// The text of the file: a result of `tools/list`. The keys are sorted, as servers may order them anew.
impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools = self.0.values().map(|tool| {
            let mut tool = tool.clone();
            tool.values_mut().for_each(Value::sort_all_objects);
            Value::Object(tool)
        });
        let tools: Vec<_> = tools.collect();
        writeln!(f, "{:#}", json!({"tools": tools}))
    }
}

/// Returns the SHA-256 of bytes, as `sha256:` and hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pin(tool: Value) -> Pin {
        Pin::of(tool.as_object().unwrap())
    }

    #[test]
    fn the_order_of_keys_and_unknown_members_do_not_matter() {
        let one = pin(json!({"description": "d", "inputSchema": {"a": 1, "b": [1, 2]}}));
        let other = pin(
            json!({"inputSchema": {"b": [1, 2], "a": 1}, "description": "d", "x": 1, "_meta": {"x": 1}}),
        );
        assert_eq!(one, other);
    }

    #[test]
    fn the_order_of_items_in_a_default_does_not_matter() {
        let of =
            |default: &str| json!({"inputSchema": {"properties": {"a": {"default": default}}}});
        assert_eq!(pin(of("b,a")), pin(of("a,b")));
        assert_ne!(pin(of("b,a")), pin(of("a,b,c")));
        let file = |default: &str| {
            let mut pins = Pins::default();
            pins.insert("a", of(default).as_object().unwrap());
            pins.to_string()
        };
        assert_eq!(file("b,a"), file("a,b"));
    }

    #[test]
    fn each_change_is_named() {
        let tool = json!({"description": "d", "inputSchema": {"a": [1, 2]}});
        for (change, name) in [
            (json!({"description": "e"}), "description"),
            (json!({"title": "t"}), "description"),
            (json!({"inputSchema": {"a": [2, 1]}}), "parameters"),
            (json!({"inputSchema": {"a": ["1", 2]}}), "parameters"),
            (json!({"outputSchema": {}}), "output"),
            (
                json!({"annotations": {"readOnlyHint": true}}),
                "annotations",
            ),
            (json!({"_meta": {"ui": {"visibility": ["app"]}}}), "app"),
        ] {
            let mut changed = tool.clone();
            for (key, value) in change.as_object().unwrap() {
                changed[key] = value.clone();
            }
            assert_eq!(pin(tool.clone()).changes(&pin(changed)), [name], "{change}");
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_a_damaged_one_is_an_error() {
        let directory = std::env::temp_dir().join(format!("tool-mcp-pins-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("pins.json");
        assert_eq!(Pins::read(&path).unwrap(), None);
        let mut pins = Pins::default();
        let tool = json!({"inputSchema": {"b": 1, "a": 1e300}, "_meta": {"x": 1, "ui": {"a": 1}}, "icons": []});
        let tool = tool.as_object().unwrap();
        pins.insert("a", tool);
        assert_eq!(pins.get("a"), Some(Pin::of(tool)));
        pins.write(&path).unwrap();
        pins.write(&path).unwrap();
        assert_eq!(Pins::read(&path).unwrap(), Some(pins));
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.ends_with("\"a\": 1e+300,\n        \"b\": 1\n      }\n    }\n  ]\n}\n"),
            "{text}"
        );
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        for text in ["", "{", "{}", r#"{"tools":{"a":{}}}"#, r#"{"tools":[{}]}"#] {
            fs::write(&path, text).unwrap();
            assert!(Pins::read(&path).is_err(), "{text}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
