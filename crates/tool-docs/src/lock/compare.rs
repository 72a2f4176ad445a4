//! Compares two locks, tool by tool.

use tool_core::__docs::Drafts;
use tool_core::schema::Json;

use super::Lock;
use super::changes::{Change, Changes, Class};
use super::schemas::{self, Direction, text_change};
use crate::keywords::without_annotations;

/// Compares two locks and classifies every change.
///
/// The result is empty only if the locks are equal.
///
/// ```
/// use tool_docs::lock::{Class, Lock, compare};
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
/// # Ok::<(), tool_docs::lock::LockError>(())
/// ```
pub fn compare(old: &Lock, new: &Lock) -> Changes {
    let has = |lock: &Lock, name: &str| lock.tools.iter().any(|(other, _)| other == name);
    let removed = old.tools.iter().filter(|(name, _)| !has(new, name));
    let added = new.tools.iter().filter(|(name, _)| !has(old, name));
    let mut added: Vec<_> = added.collect();
    let mut changes = Vec::new();
    for (name, spec) in removed {
        let successor = added.iter().position(|(_, other)| is_renamed(spec, other));
        let message = match successor.map(|at| added.remove(at)) {
            Some((new_name, new_spec)) => {
                compare_tool(new_name, spec, new_spec, &mut changes);
                format!("renamed to `{new_name}`")
            }
            None => "removed".to_owned(),
        };
        changes.push(change(name, "", Class::Breaking, message));
    }
    for (name, _) in added {
        changes.push(change(name, "", Class::Compatible, "added".to_owned()));
    }
    for (name, spec) in &old.tools {
        if let Some((_, new_spec)) = new.tools.iter().find(|(other, _)| other == name) {
            compare_tool(name, spec, new_spec, &mut changes);
        }
    }
    changes.sort_by(|left, right| (&left.tool, right.class).cmp(&(&right.tool, left.class)));
    Changes(changes)
}

fn change(tool: &str, path: &str, class: Class, message: String) -> Change {
    Change {
        tool: tool.to_owned(),
        path: path.to_owned(),
        class,
        message,
    }
}

/// Returns `true` if a removed and an added tool differ only in name.
fn is_renamed(old: &Json, new: &Json) -> bool {
    let compared = |schema| without_annotations(schema, Drafts::of(schema));
    let [old_schema, new_schema] = [old, new].map(|spec| spec.get("parameters").map(compared));
    old.get("description") == new.get("description") && old_schema == new_schema
}

fn compare_tool(name: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let before = changes.len();
    let mut add = |path: &str, class, message| changes.push(change(name, path, class, message));
    for key in [
        "title",
        "description",
        "when_to_use",
        "returns",
        "examples",
        "freeform",
        "grammar",
        "programmatic",
    ] {
        if let Some(message) = text_change(old.get(key), new.get(key)) {
            add(key, Class::Wording, message.to_owned());
        }
    }
    compare_hints(old, new, &mut add);
    let empty = Json::Object(Vec::new());
    let [old_schema, new_schema] = [old, new].map(|spec| spec.get("parameters").unwrap_or(&empty));
    for difference in schemas::compare(old_schema, new_schema, "parameters") {
        let class = difference.effect.class(Direction::Arguments);
        add(&difference.path, class, difference.message);
    }
    match (old.get("output"), new.get("output")) {
        (None, None) => {}
        (Some(_), None) => add("output", Class::Breaking, "schema removed".into()),
        (None, Some(_)) => add("output", Class::Compatible, "schema added".into()),
        (Some(old), Some(new)) => {
            for difference in schemas::compare(old, new, "output") {
                let class = difference.effect.class(Direction::Results);
                add(&difference.path, class, difference.message);
            }
        }
    }
    if changes.len() == before && old != new {
        let message = "written differently, such as in another key order";
        changes.push(change(name, "", Class::Wording, message.into()));
    }
}

/// Compares the annotations. An unset hint has MCP's default, which is the worse value.
fn compare_hints(old: &Json, new: &Json, add: &mut impl FnMut(&str, Class, String)) {
    // Each hint with its better value.
    let hints = [
        ("read_only", true),
        ("destructive", false),
        ("idempotent", true),
        ("open_world", false),
        ("background", false),
    ];
    for (key, better) in hints {
        let hint = |spec: &Json| match spec.get("annotations").and_then(|all| all.get(key)) {
            Some(Json::Boolean(value)) => Some(*value),
            _ => None,
        };
        let (old, new) = (hint(old), hint(new));
        let class = match (old == Some(better), new == Some(better)) {
            _ if old == new => continue,
            (true, false) => Class::Breaking,
            (false, true) => Class::Compatible,
            _ => Class::Wording,
        };
        let text = |hint: Option<bool>| hint.map_or("unset".to_owned(), |hint| hint.to_string());
        add(key, class, format!("{} -> {}", text(old), text(new)));
    }
}
