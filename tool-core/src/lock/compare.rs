//! Two locks, tool by tool.

use super::Lock;
use super::change::{Change, Changes, Class};
use super::schemas::{self, Direction, Finding};
use crate::json::Json;
use crate::json::keywords::without_words;

/// What is different between two locks, and how grave that is.
///
/// Nothing is found only between equal locks.
///
/// ```
/// use tool_core::lock::{Class, Lock, compare};
///
/// let old: Lock = r#"{"version": 1, "tools": {"greet": {
///     "description": "Says hello.",
///     "parameters": {"type": "object", "properties": {"name": {"type": "string"}},
///                    "additionalProperties": false}}}}"#.parse()?;
/// let new: Lock = r#"{"version": 1, "tools": {"greet": {
///     "description": "Says hello.",
///     "parameters": {"type": "object", "properties": {"who": {"type": "string"}},
///                    "additionalProperties": false}}}}"#.parse()?;
/// let changes = compare(&old, &new);
/// assert_eq!(changes.class(), Some(Class::Breaking));
/// let change = changes.iter().next().unwrap();
/// assert_eq!(change.to_string(), "breaking    greet, parameters.name: renamed to `who`");
/// # Ok::<(), tool_core::lock::LockError>(())
/// ```
pub fn compare(old: &Lock, new: &Lock) -> Changes {
    let find = |lock: &Lock, name: &str| lock.tools.iter().any(|(other, _)| other == name);
    let gone: Vec<_> = old
        .tools
        .iter()
        .filter(|(name, _)| !find(new, name))
        .collect();
    let mut come: Vec<_> = new
        .tools
        .iter()
        .filter(|(name, _)| !find(old, name))
        .collect();
    let mut found = Vec::new();
    for (name, spec) in gone {
        let twin = come.iter().position(|(_, other)| is_same_tool(spec, other));
        let message = match twin.map(|at| come.remove(at)) {
            Some((new, other)) => {
                tool(new, spec, other, &mut found);
                format!("renamed to `{new}`")
            }
            None => "removed".to_owned(),
        };
        found.push(change(name, "", Class::Breaking, message));
    }
    for (name, _) in come {
        found.push(change(name, "", Class::Compatible, "added".to_owned()));
    }
    for (name, spec) in &old.tools {
        if let Some((_, other)) = new.tools.iter().find(|(other, _)| other == name) {
            tool(name, spec, other, &mut found);
        }
    }
    found.sort_by(|left, right| (&left.tool, right.class).cmp(&(&right.tool, left.class)));
    Changes(found)
}

fn change(tool: &str, path: &str, class: Class, message: String) -> Change {
    Change {
        tool: tool.to_owned(),
        path: path.to_owned(),
        class,
        message,
    }
}

/// Whether a tool that is gone and one that has come are one tool of another name.
fn is_same_tool(old: &Json, new: &Json) -> bool {
    old.get("description") == new.get("description")
        && [old.get("parameters"), new.get("parameters")]
            .map(|schema| schema.map(without_words))
            .windows(2)
            .all(|pair| pair[0] == pair[1])
}

/// Compares the specs of one tool.
fn tool(name: &str, old: &Json, new: &Json, found: &mut Vec<Change>) {
    let before = found.len();
    let mut add = |path: &str, class, message| found.push(change(name, path, class, message));
    for key in ["title", "description", "when_to_use", "returns"] {
        if let Some(message) = reworded(old.get(key), new.get(key)) {
            add(key, Class::Wording, message);
        }
    }
    promises(old, new, &mut add);
    let empty = Json::Object(Vec::new());
    let [old_schema, new_schema] = [old, new].map(|spec| spec.get("parameters").unwrap_or(&empty));
    for Finding {
        path,
        effect,
        message,
    } in schemas::compare(old_schema, new_schema, "parameters")
    {
        add(&path, effect.class(Direction::Arguments), message);
    }
    match (old.get("output"), new.get("output")) {
        (None, None) => {}
        (Some(_), None) => add("output", Class::Breaking, "no longer has a schema".into()),
        (None, Some(_)) => add("output", Class::Compatible, "has a schema now".into()),
        (Some(old), Some(new)) => {
            for Finding {
                path,
                effect,
                message,
            } in schemas::compare(old, new, "output")
            {
                add(&path, effect.class(Direction::Results), message);
            }
        }
    }
    if found.len() == before && old != new {
        let message = "written in another way, such as another order of keys";
        found.push(change(name, "", Class::Wording, message.into()));
    }
}

/// What became of a text.
pub(super) fn reworded(old: Option<&Json>, new: Option<&Json>) -> Option<String> {
    match (old, new) {
        (None, None) => None,
        (Some(old), Some(new)) if old == new => None,
        (Some(_), Some(_)) => Some("reworded".to_owned()),
        (None, Some(_)) => Some("added".to_owned()),
        (Some(_), None) => Some("removed".to_owned()),
    }
}

/// Compares what two specs promise of a tool's behaviour. What is not said means what MCP lets it
/// mean, which is the worse.
fn promises(old: &Json, new: &Json, add: &mut impl FnMut(&str, Class, String)) {
    // Whether `true` is the better.
    let hints = [
        ("read_only", true),
        ("destructive", false),
        ("idempotent", true),
        ("open_world", false),
    ];
    for (key, good) in hints {
        let said = |spec: &Json| match spec.get("annotations").and_then(|all| all.get(key)) {
            Some(Json::Boolean(value)) => Some(*value),
            _ => None,
        };
        let (old, new) = (said(old), said(new));
        let class = match (old == Some(good), new == Some(good)) {
            _ if old == new => continue,
            (true, false) => Class::Breaking,
            (false, true) => Class::Compatible,
            _ => Class::Wording,
        };
        let word = |value: Option<bool>| match value {
            Some(value) => value.to_string(),
            None => "not said".to_owned(),
        };
        add(key, class, format!("{} -> {}", word(old), word(new)));
    }
}
