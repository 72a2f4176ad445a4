//! The Responses API.

use std::collections::HashSet;

use serde_json::Value;

use crate::Format;
use crate::shared::{Calls, Checked, arguments_text, id, items, name, text};

/// Items with a call, and how the item of their result ends.
fn is_call(kind: &str) -> bool {
    matches!(kind, "function_call" | "custom_tool_call")
}

fn is_result(kind: &str) -> bool {
    matches!(kind, "function_call_output" | "custom_tool_call_output")
}

pub(crate) fn check(request: &Value, history: &[Value]) -> Checked {
    // The other half of the conversation may be stored at OpenAI.
    let is_whole = request["previous_response_id"].is_null() && request["conversation"].is_null();
    let mut calls = Calls::default();
    let listed = request["tools"].as_array().into_iter().flatten();
    let mut tools: HashSet<_> = listed.filter_map(|tool| tool["name"].as_str()).collect();
    for (at, item) in history.iter().enumerate() {
        let place = format!("input[{at}]");
        // An item without a type is a message.
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "message" => message(item, &place)?,
            kind if is_call(kind) => {
                let call_id = text(item, "call_id", &place)?;
                // openai/openai-openapi@f85dbe2, FunctionCallOutputItemParam.call_id: 64 characters (2026-08-21);
                // AnswerDotAI/fastllm#45 (2026-06-08): "Expected a string with maximum length 64"
                id(call_id, 64, &place, |_| true)?;
                let called = text(item, "name", &place)?;
                name(Format::Responses, called, &place)?;
                if kind == "function_call" {
                    // vLLM's Responses API reads them, too: local-inference-lab/vllm#684 (2026-09-06)
                    arguments_text(&item["arguments"], &place)?;
                } else {
                    text(item, "input", &place)?;
                }
                calls.call(call_id, called, &place)?;
            }
            kind if is_result(kind) => {
                if !item["output"].is_string() && !item["output"].is_array() {
                    return Err(format!(
                        "{place}: `output` is no text and no list: {}",
                        item["output"]
                    ));
                }
                let call_id = text(item, "call_id", &place)?;
                // continuedev/continue#10092 (2026-02-01): "No tool call found for function call output with call_id"
                if is_whole {
                    calls.result(call_id, &place)?;
                }
            }
            // openai 3.57.0 (Python), AdditionalTools: only `developer` is supported (2026-11)
            "additional_tools" => {
                if item["role"] != "developer" {
                    return Err(format!(
                        "{place}: the role is not developer: {}",
                        item["role"]
                    ));
                }
                calls.end(&place)?;
                for (place, tool) in items(item, "tools", &place) {
                    let added = text(tool, "name", &place)?;
                    name(Format::Responses, added, &place)?;
                    if !tools.insert(added) {
                        return Err(format!("{place}: two tools have the name {added}"));
                    }
                }
            }
            "reasoning" => {
                // ggml-org/llama.cpp#29159 (2026-09-19): without a list it is no item
                if !item["summary"].is_array() {
                    return Err(format!(
                        "{place}: `summary` is no list: {}",
                        item["summary"]
                    ));
                }
                // openai/openai-node#1567 (2025-07-01), vercel/ai#7099 (2025-07..2026-07): "was provided without its required
                // following item"
                let next = history.get(at + 1);
                let follows = next.is_some_and(|next| {
                    let kind = next["type"].as_str().unwrap_or("message");
                    !is_result(kind) && (kind != "message" || next["role"] == "assistant")
                });
                if !follows {
                    return Err(format!(
                        "{place}: the reasoning has no item that follows it"
                    ));
                }
            }
            // Of the tools that OpenAI runs, and of others, no rules are known here.
            _ => {}
        }
    }
    // symgraph/GhidrAssist#78 (2026-03-12), Azure/azure-sdk-for-python#46092 (2026-04-02): "No tool output found for function
    // call"
    calls.end("the end of the input")
}

fn message(item: &Value, place: &str) -> Checked {
    let role = text(item, "role", place)?;
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        return Err(format!("{place}: there is no role {role:?}"));
    }
    // openai/openai-openapi@f85dbe2, EasyInputMessage and OutputMessage: a text or a list of parts, each with its type
    // (2026-08-21)
    match &item["content"] {
        Value::String(_) => Ok(()),
        Value::Array(_) => items(item, "content", place).try_for_each(|(place, part)| {
            let kind = text(part, "type", &place)?;
            let expected = if role == "assistant" {
                &["output_text", "refusal"][..]
            } else {
                &["input_text", "input_image", "input_file", "input_audio"]
            };
            if expected.contains(&kind) {
                Ok(())
            } else {
                Err(format!(
                    "{place}: a message of the {role} has no part of the type {kind}"
                ))
            }
        }),
        other => Err(format!(
            "{place}: `content` is no text and no list: {other}"
        )),
    }
}
