//! Reads the list of a server's tools.

use std::collections::HashSet;

use crate::util::json::{self, Json};

/// A tool of a server.
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input: Json,
    pub(super) output: Option<Json>,
}

/// Reads a list, the result of `tools/list`, and reports every problem.
pub(super) fn read(text: &str, file: &str, mut report: impl FnMut(String)) -> Vec<Listed> {
    let json = match json::parse(text) {
        Ok(json) => json,
        Err(problem) => {
            report(format!("`{file}` is no list of tools: {problem}"));
            return Vec::new();
        }
    };
    let Some(Json::Array(tools)) = json.get("tools") else {
        report(format!(
            "`{file}` is no list of tools: it has no array `tools`"
        ));
        return Vec::new();
    };
    let mut names = HashSet::new();
    let mut listed = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = tool.str("name").filter(|name| !name.is_empty());
        let Some(name) = name else {
            report(format!(
                "in `{file}`, the tool at position {at} has no name"
            ));
            continue;
        };
        let mut is_object = |key: &str, json: Option<&Json>| {
            let is_object = matches!(json, Some(Json::Object(_)));
            if !is_object {
                report(format!(
                    "in `{file}`, `{key}` of the tool `{name}` is no object"
                ));
            }
            is_object
        };
        let input = tool.get("inputSchema");
        let output = tool.get("outputSchema");
        if !is_object("inputSchema", input)
            || output.is_some() && !is_object("outputSchema", output)
        {
            continue;
        }
        if !names.insert(name) {
            report(format!("in `{file}`, two tools have the name `{name}`"));
            continue;
        }
        listed.push(Listed {
            name: name.to_owned(),
            description: tool.str("description").unwrap_or_default().to_owned(),
            input: input.cloned().unwrap_or(Json::Null),
            output: output.cloned(),
        });
    }
    listed
}
