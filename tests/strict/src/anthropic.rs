//! The Messages API.

use std::collections::HashSet;

use serde_json::Value;

use crate::Format;
use crate::shared::{Calls, Checked, arguments_value, id, is_plain, name, text};

/// Returns the blocks of a content with their places. A text alone is one block.
fn blocks<'a>(message: &'a Value, place: &str) -> Result<Vec<(String, &'a Value)>, String> {
    match &message["content"] {
        text @ Value::String(_) => Ok(vec![(format!("{place}.content"), text)]),
        Value::Array(blocks) => {
            let numbered = blocks.iter().enumerate();
            Ok(numbered
                .map(|(at, block)| (format!("{place}.content[{at}]"), block))
                .collect())
        }
        other => Err(format!(
            "{place}.content: it is no text and no list: {other}"
        )),
    }
}

/// Returns the text of a block of text.
fn said(block: &Value) -> Option<&str> {
    block
        .as_str()
        .or_else(|| block["text"].as_str().filter(|_| block["type"] == "text"))
}

/// Checks the texts of a content.
fn texts<'a>(blocks: impl Iterator<Item = &'a Value>, place: &str) -> Checked {
    let mut said = blocks.filter_map(said).peekable();
    if said.peek().is_none() {
        return Ok(());
    }
    let mut is_blank = true;
    for text in said {
        // vercel/ai#5576 (2026-07-22), anthropics/claude-code#62396 (2026-05-26): "text content blocks must be non-empty"
        if text.is_empty() {
            return Err(format!("{place}: a text is empty"));
        }
        is_blank &= text.trim().is_empty();
    }
    // LibreChat-AI/agents#124, tried (2026-04-30): a blank text is rejected where the message has no other text: "must contain
    // non-whitespace text"
    if is_blank {
        Err(format!("{place}: the text is blank"))
    } else {
        Ok(())
    }
}

pub(crate) fn check(request: &Value, history: &[Value]) -> Checked {
    // Messages of one role that follow each other are one: platform.claude.com, "Messages" (2026).
    let mut calls = Calls::default();
    // "`tool_use` ids must be unique", in all messages: trycua/cua#524 (2025)
    let mut ids = HashSet::new();
    let mut last_role = "";
    let listed = request["tools"].as_array().into_iter().flatten();
    let mut tools: HashSet<_> = listed.filter_map(|tool| tool["name"].as_str()).collect();
    // Set while a message of the user may still begin with results.
    let mut at_results = false;
    for (at, message) in history.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = text(message, "role", &place)?;
        if role == "system" {
            calls.end(&place)?;
            // platform.claude.com, "Mid-conversation system messages and tool changes" (2026-11)
            if last_role != "user"
                || history
                    .get(at + 1)
                    .is_some_and(|next| next["role"] != "assistant")
            {
                return Err(format!(
                    "{place}: a message of the system must follow the user's and stand before the assistant's"
                ));
            }
            tool_changes(message, &mut tools, &place)?;
            continue;
        }
        match (role, last_role) {
            ("user" | "assistant", last) if last == role => {}
            ("user", _) => at_results = true,
            ("assistant", "user") => {}
            ("assistant", _) => {
                return Err(format!("{place}: the first message is the assistant's"));
            }
            _ => return Err(format!("{place}: there is no role {role:?}")),
        }
        if role == "assistant" && last_role == "user" {
            calls.end(&place)?;
            calls.forget();
        }
        last_role = role;
        let blocks = blocks(message, &place)?;
        // anthropics/claude-code#6774 (2025-08-28): "all messages must have non-empty content except for the optional final
        // assistant message"
        let may_be_empty = role == "assistant" && at + 1 == history.len();
        if !may_be_empty && (blocks.is_empty() || message["content"].as_str() == Some("")) {
            return Err(format!("{place}: the content is empty"));
        }
        if !may_be_empty || !message["content"].is_string() {
            texts(blocks.iter().map(|(_, block)| *block), &place)?;
        }
        for (place, block) in blocks {
            let kind = block["type"].as_str();
            if kind == Some("tool_result") {
                if role != "user" || !at_results {
                    // apify/tester-mcp-client#12 (2025-03-07): "Messages following `tool_use` blocks must begin with a matching
                    // number of `tool_result` blocks"
                    return Err(format!(
                        "{place}: a result is not at the start of the user's message"
                    ));
                }
                result(block, &place)?;
                calls.result(text(block, "tool_use_id", &place)?, &place)?;
                continue;
            }
            if role == "user" {
                // anthropics/claude-code#8210 (2025-09-26): "`tool_use` ids were found without `tool_result` blocks
                // immediately after"
                calls.end(&place)?;
                at_results = false;
            }
            match kind {
                None if block.is_string() => {}
                Some("text") => {
                    text(block, "text", &place)?;
                }
                Some("tool_use") if role == "assistant" => {
                    let call_id = text(block, "id", &place)?;
                    // maximhq/bifrost#5097 (2026-07-10), QwenLM/qwen-code#8160 (2026-07-30): "String should match pattern
                    // '^[a-zA-Z0-9_-]+$'"
                    id(call_id, usize::MAX, &place, is_plain)?;
                    let called = text(block, "name", &place)?;
                    name(Format::Anthropic, called, &place)?;
                    // anthropic 2.12.0 (Python), ToolUseBlockParam.input: a dictionary (2026-11)
                    arguments_value(&block["input"], &place)?;
                    if !ids.insert(call_id) {
                        return Err(format!("{place}: two calls have the id {call_id}"));
                    }
                    calls.call(call_id, called, &place)?;
                }
                // anthropic 2.12.0 (Python), ThinkingBlockParam: `signature` and `thinking` are required (2026-11)
                Some("thinking") => {
                    text(block, "thinking", &place)?;
                    text(block, "signature", &place)?;
                }
                // Others are of tools that Anthropic runs, and media.
                Some(_) => {}
                None => return Err(format!("{place}: the block has no type: {block}")),
            }
        }
    }
    calls.end("the end of the messages")?;
    // Anthropic accepts it by now, its proxies don't: anomalyco/opencode#8246 (2026-01-13), BerriAI/litellm#24712 (2026-03-28):
    // "Anthropic doesn't support tool calling without `tools=` param specified"
    if !ids.is_empty() && !request["tools"].is_array() {
        return Err("tools: they are missing, and there are calls in the messages".to_owned());
    }
    Ok(())
}

/// Checks a message that changes tools (anthropic 2.14.0 (Python), `BetaRequestToolAdditionBlockParam` and
/// `BetaRequestToolRemovalBlockParam`, 2026-11). `tools` are the names of the tools so far.
fn tool_changes<'m>(message: &'m Value, tools: &mut HashSet<&'m str>, place: &str) -> Checked {
    for (place, block) in blocks(message, place)? {
        let tool = &block["tool"];
        match (block["type"].as_str(), tool["type"].as_str()) {
            (Some("tool_addition"), Some("tool_definition")) => {
                let definition = &tool["definition"];
                let added = text(definition, "name", &place)?;
                name(Format::Anthropic, added, &place)?;
                if !definition["input_schema"].is_object() && definition["type"].is_null() {
                    return Err(format!("{place}: the tool {added} has no `input_schema`"));
                }
                tools.insert(added);
            }
            (Some("tool_removal"), Some("tool_reference")) => {
                let removed = text(tool, "name", &place)?;
                if !tools.remove(removed) {
                    return Err(format!("{place}: there is no tool {removed}"));
                }
            }
            (Some("text"), None) => {
                text(block, "text", &place)?;
            }
            _ => return Err(format!("{place}: the block changes no tool: {block}")),
        }
    }
    Ok(())
}

fn result(block: &Value, place: &str) -> Checked {
    let is_empty = match &block["content"] {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => {
            texts(blocks.iter(), place)?;
            blocks.is_empty()
        }
        other => {
            return Err(format!(
                "{place}.content: it is no text and no list: {other}"
            ));
        }
    };
    // bytedance/trae-agent#231 (2025-07-30), jlevy/markform#153 (2026-02-16): "content cannot be empty if `is_error` is true"
    if is_empty && block["is_error"] == true {
        return Err(format!("{place}: the content of an error is empty"));
    }
    Ok(())
}
