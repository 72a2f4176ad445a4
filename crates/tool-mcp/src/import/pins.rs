//! Keeps the hashes of accepted tools in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tool_core::files;

use crate::{hex, sorted_json};

/// The hashes of a server's description of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    /// Of the title and the description.
    description: String,
    parameters: String,
    output: String,
    annotations: String,
    /// The hash of the tool's app and of the callers that are allowed; empty if the server states neither,
    /// as in older files.
    #[serde(default, skip_serializing_if = "String::is_empty")]
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

/// The file: the accepted tools of one server, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pins {
    pub(super) tools: BTreeMap<String, Pin>,
}

impl Pins {
    /// Reads the file. `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Pins>, String> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("can't read {}: {error}", path.display())),
        };
        let pins = serde_json::from_slice(&text);
        // Not treated as missing: then all tools would be accepted.
        pins.map(Some).map_err(|error| {
            format!(
                "{} is not a file of accepted tools: {error}",
                path.display()
            )
        })
    }

    /// Writes the file. Readers see the old file or the new one.
    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let written = serde_json::to_vec_pretty(self)
            .map_err(io::Error::other)
            .and_then(|mut text| {
                text.push(b'\n');
                files::replace(path, &text)
            });
        written.map_err(|error| format!("can't write {}: {error}", path.display()))
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
    fn a_damaged_file_is_an_error() {
        let directory = std::env::temp_dir().join(format!("tool-mcp-pins-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("pins.json");
        assert_eq!(Pins::read(&path).unwrap(), None);
        let mut pins = Pins::default();
        pins.tools.insert("a".into(), pin(json!({})));
        pins.write(&path).unwrap();
        pins.write(&path).unwrap();
        assert_eq!(Pins::read(&path).unwrap(), Some(pins));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        for text in ["", "{", "{}", r#"{"tools":{"a":{}}}"#] {
            fs::write(&path, text).unwrap();
            assert!(Pins::read(&path).is_err(), "{text}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }
}
