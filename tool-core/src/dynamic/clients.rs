//! `_meta` and `icons` of a tool, in the form of the Model Context Protocol.

use serde_json::{Map, Value};

use crate::spec::ForClients;

/// The member of `_meta` that the dialect writes from tags.
const TAGS: &str = "tool-core/tags";

/// Checks the members of a tool. Invalid members of a tool from elsewhere are left out.
pub(super) fn for_clients(
    meta: Option<Value>,
    icons: Option<Value>,
    is_foreign: bool,
    problems: &mut Vec<String>,
) -> Option<Box<ForClients>> {
    let mut wrong = |problem: &str| {
        if !is_foreign {
            problems.push(problem.to_owned());
        }
    };
    let meta = match meta {
        Some(Value::Object(mut meta)) => {
            meta.remove(TAGS);
            meta
        }
        Some(Value::Null) | None => Map::new(),
        Some(_) => {
            wrong("its `meta` is not an object");
            Map::new()
        }
    };
    let listed = match icons {
        Some(Value::Array(icons)) => icons,
        Some(Value::Null) | None => Vec::new(),
        Some(_) => {
            wrong("its `icons` are not a list");
            Vec::new()
        }
    };
    let icons: Vec<_> = listed.iter().filter_map(icon).collect();
    if icons.len() < listed.len() {
        wrong(
            "an icon is not an object with `src`, a URL that starts with `https://` or `data:image/`",
        );
    }
    if meta.is_empty() && icons.is_empty() {
        return None;
    }
    let [for_models, for_apps] = visibility(&meta);
    let text = |is_empty: bool, value: Value| {
        if is_empty {
            String::new()
        } else {
            value.to_string()
        }
    };
    Some(Box::new(ForClients {
        meta: text(meta.is_empty(), Value::Object(meta)).into(),
        icons: text(icons.is_empty(), Value::Array(icons)).into(),
        for_models,
        for_apps,
    }))
}

/// Returns whether models and apps may use the tool: both, unless `ui.visibility` says otherwise. Neither may use a tool
/// with a visibility that can't be read.
fn visibility(meta: &Map<String, Value>) -> [bool; 2] {
    let Some(visibility) = meta.get("ui").and_then(|ui| ui.get("visibility")) else {
        return [true; 2];
    };
    let items = visibility.as_array();
    ["model", "app"].map(|name| items.is_some_and(|items| items.iter().any(|item| item == name)))
}

/// Returns what the protocol knows of an icon, if its URL is harmless: clients fetch it.
fn icon(icon: &Value) -> Option<Value> {
    let url = icon.get("src")?.as_str()?;
    if !["https://", "data:image/"]
        .iter()
        .any(|start| url.starts_with(start))
    {
        return None;
    }
    let is_valid = |key: &str, value: &Value| match key {
        "src" | "mimeType" => value.is_string(),
        "sizes" => value
            .as_array()
            .is_some_and(|sizes| sizes.iter().all(Value::is_string)),
        "theme" => value == "light" || value == "dark",
        _ => false,
    };
    let members = icon
        .as_object()?
        .iter()
        .filter(|(key, value)| is_valid(key, value));
    Some(
        members
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}
