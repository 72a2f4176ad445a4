//! The Converse API.

use serde_json::Value;

use crate::Format;
use crate::shared::{Calls, Checked, arguments_value, has_tools, id, is_plain, items, name, text};

pub(crate) fn check(request: &Value, history: &[Value]) -> Checked {
    let mut calls = Calls::default();
    let mut has_calls = false;
    for (at, message) in history.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = text(message, "role", &place)?;
        // langgenius/dify#12340 (2025-01-03): "A conversation must start with a user message"; langchain-ai/langchain-aws#130
        // (2024-08-01), #192 (2024-09-10): "A conversation must alternate between user and assistant roles"
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if role != expected {
            return Err(format!(
                "{place}: the role {role} is not {expected}: the roles alternate"
            ));
        }
        // "The content field in the Message object is empty": botocore 1.43, ContentBlocks (2026-11)
        if message["content"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!(
                "{place}: the content is no list with blocks: {}",
                message["content"]
            ));
        }
        for (place, block) in items(message, "content", &place) {
            // botocore 1.43, ContentBlock: a union (2026-11)
            if block.as_object().is_none_or(|block| block.len() != 1) {
                return Err(format!("{place}: the block has not one key: {block}"));
            }
            // NousResearch/hermes-agent#55092, tried (2026-09-02): "The text field in the ContentBlock object is blank". A blank
            // text in a result is accepted.
            if block["text"]
                .as_str()
                .is_some_and(|text| text.trim().is_empty())
            {
                return Err(format!("{place}: the text is blank"));
            }
            let call = &block["toolUse"];
            // A call that Bedrock ran has its result in the same message.
            if call.is_object() && call["type"] != "server_tool_use" {
                has_calls = true;
                // botocore 1.43, ToolUseBlock, ToolUseId, ToolName: all three are required (2026-11)
                let call_id = tool_use_id(call, &place)?;
                let called = text(call, "name", &place)?;
                name(Format::Bedrock, called, &place)?;
                // "The format of the value at …toolUse.input is invalid. Provide a json object", as for the JSON of results:
                // sigoden/aichat#1550 (2026-09-09)
                arguments_value(&call["input"], &place)?;
                calls.call(call_id, called, &place)?;
            }
            if block["toolResult"].is_object() && role == "user" {
                // dify-official-plugins#765 (2025-04-21): "The number of toolResult blocks exceeds the number of toolUse blocks
                // of previous turn"
                calls.result(tool_use_id(&block["toolResult"], &place)?, &place)?;
                result(&block["toolResult"], &place)?;
            }
        }
        if role == "user" {
            // agno-agi/agno#6698 (2026-02-24): "Expected toolResult blocks at messages.2.content for the following Ids"
            calls.end(&format!("the end of {place}"))?;
            calls.forget();
        }
    }
    calls.end("the end of the messages")?;
    // vxcontrol/pentagi#196 (2026-03-11), langgenius/dify#17545 (2025-04-07): "The toolConfig field must be defined when using
    // toolUse and toolResult content blocks"; botocore 1.43, ToolConfigurationToolsList: one tool at least (2026-11)
    if has_calls && !has_tools(Format::Bedrock, request) {
        return Err("toolConfig: it has no tools, and there are calls in the messages".to_owned());
    }
    if !request["toolConfig"].is_null() && !has_tools(Format::Bedrock, request) {
        return Err("toolConfig.tools: there is none".to_owned());
    }
    Ok(())
}

/// Returns the checked id: `[a-zA-Z0-9_.:-]+`, 64 at most (botocore 1.43, `ToolUseId`, 2026-11).
fn tool_use_id<'a>(block: &'a Value, place: &str) -> Result<&'a str, String> {
    let found = text(block, "toolUseId", place)?;
    id(found, 64, place, |byte| {
        is_plain(byte) || byte == b'.' || byte == b':'
    })?;
    Ok(found)
}

fn result(result: &Value, place: &str) -> Checked {
    let Some(content) = result["content"].as_array() else {
        return Err(format!(
            "{place}: the content of the result is no list: {}",
            result["content"]
        ));
    };
    // aws-samples/sample-multi-agent-orchestration-chat-on-agentcore#15 (2026-06-01): "cannot be empty when status value is
    // error"; stdapi-ai/stdapi.ai#226 (2026-09-10): Nova rejects the empty list in any case
    if content.is_empty() {
        return Err(format!("{place}: the content of the result is empty"));
    }
    for block in content {
        // sigoden/aichat#1550 (2026-09-09): "Provide a json object for the field"
        if block.get("json").is_some_and(|json| !json.is_object()) {
            return Err(format!(
                "{place}: the JSON of the result is no object: {}",
                block["json"]
            ));
        }
    }
    match result["status"].as_str() {
        // botocore 1.43, ToolResultStatus (2026-11)
        Some("success" | "error") => Ok(()),
        None if result["status"].is_null() => Ok(()),
        _ => Err(format!("{place}: there is no status {}", result["status"])),
    }
}
