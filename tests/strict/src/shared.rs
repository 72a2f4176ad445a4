//! What the formats have in common: names, ids, arguments, and calls with their results.

use std::collections::HashSet;

use serde_json::Value;

use crate::Format;

/// Why a request is rejected.
pub(crate) type Checked = Result<(), String>;

/// Returns the text under a key.
pub(crate) fn text<'a>(value: &'a Value, key: &str, place: &str) -> Result<&'a str, String> {
    value[key]
        .as_str()
        .ok_or_else(|| format!("{place}: `{key}` is no string: {}", value[key]))
}

/// Returns the list under a key, with the place of each item.
pub(crate) fn items<'a>(
    value: &'a Value,
    key: &str,
    place: &str,
) -> impl Iterator<Item = (String, &'a Value)> {
    let place = format!("{place}.{key}");
    let items = value[key].as_array().map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .enumerate()
        .map(move |(at, item)| (format!("{place}[{at}]"), item))
}

/// Checks a text by its characters and its length.
fn word(what: &str, word: &str, max: usize, place: &str, allowed: fn(u8) -> bool) -> Checked {
    if word.is_empty() {
        return Err(format!("{place}: the {what} is empty"));
    }
    if word.chars().count() > max {
        return Err(format!(
            "{place}: the {what} has more than {max} characters: {word}"
        ));
    }
    if !word.bytes().all(allowed) {
        return Err(format!(
            "{place}: the {what} has characters that are not allowed: {word:?}"
        ));
    }
    Ok(())
}

/// Letters, digits, `_` and `-`.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Checks the name of a tool, also in a history.
pub(crate) fn name(format: Format, name: &str, place: &str) -> Checked {
    match format {
        // openai/openai-openapi@f85dbe2, FunctionToolParam.name: ^[a-zA-Z0-9_-]{1,128}$ (2026-08-21)
        Format::Responses => word("name", name, 128, place, is_plain),
        // google-genai 3.4.0 (Python), FunctionDeclaration.name: a letter or `_`, then also `.`, `:` and `-`, 128 at most
        // (2026-11)
        Format::Gemini | Format::Interactions => {
            word("name", name, 128, place, |byte| {
                is_plain(byte) || byte == b'.' || byte == b':'
            })?;
            if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                Ok(())
            } else {
                Err(format!(
                    "{place}: the name starts with no letter and no `_`: {name}"
                ))
            }
        }
        // ^[a-zA-Z0-9_-]{1,64}$: openai/openai-openapi@f85dbe2, FunctionObject.name (2026-08-21); platform.claude.com, "Define
        // tools" (2026); botocore 1.43, ToolName (2026-11); mistral-rouille 1.1.4 (2025)
        _ => word("name", name, 64, place, is_plain),
    }
}

/// Checks the id of a call.
pub(crate) fn id(id: &str, max: usize, place: &str, allowed: fn(u8) -> bool) -> Checked {
    word("id", id, max, place, allowed)
}

/// Checks arguments that are sent as text.
pub(crate) fn arguments_text(arguments: &Value, place: &str) -> Checked {
    let Some(text) = arguments.as_str() else {
        return Err(format!("{place}: the arguments are no string: {arguments}"));
    };
    // ggml-org/llama.cpp#25510 (2026-07-10): text that is no JSON is answered with a status of 500.
    // vllm-project/vllm#48922 (2026-07-17), #50861 (2026-08-03): so are other values, which no template can write.
    // sgl-project/sglang#28035 (2026-06-12): the same.
    match serde_json::from_str(text) {
        Ok(Value::Object(_)) => Ok(()),
        _ => Err(format!("{place}: the arguments are no JSON object: {text}")),
    }
}

/// Checks arguments that are sent as a value.
pub(crate) fn arguments_value(arguments: &Value, place: &str) -> Checked {
    if arguments.is_object() {
        Ok(())
    } else {
        Err(format!(
            "{place}: the arguments are no JSON object: {arguments}"
        ))
    }
}

/// Returns the names of the tools in a request.
fn tool_names(format: Format, request: &Value) -> Vec<(String, &str)> {
    let (list, key, inner) = match format {
        Format::Bedrock => (
            &request["toolConfig"]["tools"],
            "toolConfig.tools",
            "toolSpec",
        ),
        Format::Gemini => (&request["tools"], "tools", ""),
        Format::Chat(_) | Format::Cohere | Format::Mistral | Format::XAi => {
            (&request["tools"], "tools", "function")
        }
        _ => (&request["tools"], "tools", ""),
    };
    let mut names = Vec::new();
    for (at, entry) in list.as_array().into_iter().flatten().enumerate() {
        let place = format!("{key}[{at}]");
        let declared = entry["functionDeclarations"].as_array();
        if let (Format::Gemini, Some(declared)) = (format, declared) {
            names.extend(
                declared
                    .iter()
                    .filter_map(|tool| Some((place.clone(), tool["name"].as_str()?))),
            );
        } else {
            let tool = if inner.is_empty() {
                entry
            } else {
                &entry[inner]
            };
            names.extend(tool["name"].as_str().map(|name| (place, name)));
        }
    }
    names
}

/// Checks the names of the tools that a request offers.
pub(crate) fn tools(format: Format, request: &Value) -> Checked {
    let mut seen = HashSet::new();
    for (place, tool) in tool_names(format, request) {
        name(format, tool, &place)?;
        // Anthropic and DeepSeek: "Tool names must be unique": anthropics/claude-code#10687 (2025-10-31),
        // liliMozi/openhanako#789 (2026-05-10)
        if !seen.insert(tool) {
            return Err(format!("{place}: two tools have the name {tool}"));
        }
    }
    Ok(())
}

/// `true` if the request offers a tool.
pub(crate) fn has_tools(format: Format, request: &Value) -> bool {
    !tool_names(format, request).is_empty()
        || format != Format::Bedrock
            && request["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty())
}

/// Calls whose results are expected.
#[derive(Default)]
pub(crate) struct Calls<'a> {
    waiting: Vec<(&'a str, &'a str)>,
    answered: HashSet<&'a str>,
}

impl<'a> Calls<'a> {
    /// Adds a call, whose id is new.
    pub(crate) fn call(&mut self, id: &'a str, name: &'a str, place: &str) -> Checked {
        let known = self.waiting.iter().any(|(waiting, _)| *waiting == id);
        if known || self.answered.contains(id) {
            return Err(format!("{place}: two calls have the id {id}"));
        }
        self.waiting.push((id, name));
        Ok(())
    }

    /// Takes the result of a call, and returns the name of its tool.
    pub(crate) fn result(&mut self, id: &'a str, place: &str) -> Result<&'a str, String> {
        let Some(at) = self.waiting.iter().position(|(waiting, _)| *waiting == id) else {
            let why = if self.answered.contains(id) {
                "is the second one of its call"
            } else {
                "has no call"
            };
            return Err(format!("{place}: the result for {id:?} {why}"));
        };
        self.answered.insert(id);
        Ok(self.waiting.remove(at).1)
    }

    /// Checks that each call has its result.
    pub(crate) fn end(&self, place: &str) -> Checked {
        match self.waiting.first() {
            Some((id, _)) => Err(format!(
                "{place}: the call {id:?} has no result before this"
            )),
            None => Ok(()),
        }
    }

    /// Forgets the answered calls: what follows may use their ids again.
    pub(crate) fn forget(&mut self) {
        self.answered.clear();
    }
}
