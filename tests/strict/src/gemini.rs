//! The two APIs of Gemini.

use serde_json::Value;

use crate::Format;
use crate::shared::{Calls, Checked, arguments_value, id, items, name, text};

/// The keys of a part that hold data: google-genai 3.4.0 (Python), Part (2026-11).
const DATA: [&str; 11] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "thoughtSignature",
    "videoMetadata",
];

/// A call of a model's turn, whose id Gemini may leave out.
struct Open<'a> {
    id: Option<&'a str>,
    name: &'a str,
}

pub(crate) fn check(history: &[Value]) -> Checked {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut last_role = "";
    for (at, content) in history.iter().enumerate() {
        let place = format!("contents[{at}]");
        // A content without a role is the user's: google-genai 3.4.0 (Python), Content (2026-11).
        let role = content["role"].as_str().unwrap_or("user");
        if !matches!(role, "user" | "model" | "function") {
            return Err(format!("{place}: there is no role {role:?}"));
        }
        // egoist/chatwise-releases#250 (2025-02-18), coze-dev/coze-studio#46 (2025-07-26): "contents.parts must not be empty"
        if content["parts"].as_array().is_none_or(Vec::is_empty) {
            return Err(format!(
                "{place}: the parts are no list with parts: {}",
                content["parts"]
            ));
        }
        let mut answers = Vec::new();
        let mut made = Vec::new();
        for (place, part) in items(content, "parts", &place) {
            // boldsoftware/sketch#68 (2025-05-06), router-for-me/CLIProxyAPI#1292 (2026-01-28): "required oneof field 'data' must
            // have one initialized field", also for an empty text
            let has_data = DATA.iter().any(|key| match &part[*key] {
                Value::Null => false,
                Value::String(text) => !text.is_empty(),
                _ => true,
            });
            if !has_data {
                return Err(format!("{place}: the part has no data: {part}"));
            }
            if part["functionCall"].is_object() {
                made.push(call(&part["functionCall"], &place)?);
            }
            if part["functionResponse"].is_object() {
                answers.push((place, &part["functionResponse"]));
            }
        }
        // google-gemini/gemini-cli#3814 (2025-07-10), #17208 (2026-01-21): "the number of function response parts is equal to the
        // number of function call parts of the function call turn"
        if answers.len() != open.len() {
            return Err(format!(
                "{place}: there are {} results for {} calls",
                answers.len(),
                open.len()
            ));
        }
        for (place, response) in answers {
            answer(response, &mut open, &place)?;
        }
        if !made.is_empty() {
            if role != "model" {
                return Err(format!("{place}: a call in a content of the role {role}"));
            }
            // "function call turn comes immediately after a user turn or after a function response turn":
            // google-gemini/gemini-cli#11814 (2025-10-23), quarkiverse/quarkus-langchain4j#1271 (2025-02-07)
            if last_role != "user" && last_role != "function" {
                return Err(format!("{place}: calls follow no content of the user"));
            }
        }
        open = made;
        last_role = role;
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "the end of the contents: {} calls have no result",
            open.len()
        ))
    }
}

fn call<'a>(call: &'a Value, place: &str) -> Result<Open<'a>, String> {
    // smallmain/vscode-unify-chat-provider#48 (2026-03-04): "function_call.name: Name cannot be empty"
    let called = text(call, "name", place)?;
    name(Format::Gemini, called, place)?;
    // google-genai 3.4.0 (Python), FunctionCall.args: an object, which may be left out (2026-11)
    if !call["args"].is_null() {
        arguments_value(&call["args"], place)?;
    }
    Ok(Open {
        id: call["id"].as_str(),
        name: called,
    })
}

/// Takes the call of a result: that of its id, or the next one of its name.
fn answer(response: &Value, open: &mut Vec<Open<'_>>, place: &str) -> Checked {
    // langflow-ai/langflow#9437 (2025): "function_response.name: Name cannot be empty"
    let called = text(response, "name", place)?;
    // google-genai 3.4.0 (Python), FunctionResponse.response: an object (2026-11)
    if !response["response"].is_object() {
        return Err(format!(
            "{place}: the response is no JSON object: {}",
            response["response"]
        ));
    }
    // AstrBotDevs/AstrBot#9876 (2026-08-30): the name must be that of the call
    let found = open
        .iter()
        .position(|call| call.id == response["id"].as_str() && call.name == called);
    match found {
        Some(at) => {
            open.remove(at);
            Ok(())
        }
        None => Err(format!("{place}: the result of {called} has no call")),
    }
}

pub(crate) fn check_interactions(request: &Value, history: &[Value]) -> Checked {
    // The other half of the conversation may be stored at Google.
    let is_whole = request["previous_interaction_id"].is_null();
    let mut calls = Calls::default();
    for (at, step) in history.iter().enumerate() {
        let place = format!("input[{at}]");
        match text(step, "type", &place)? {
            "function_call" => {
                // google-genai 3.6.1 (Python), FunctionCallStep: `id`, `name` and `arguments`, an object (2026-11)
                let call_id = text(step, "id", &place)?;
                id(call_id, usize::MAX, &place, |_| true)?;
                let called = text(step, "name", &place)?;
                name(Format::Interactions, called, &place)?;
                arguments_value(&step["arguments"], &place)?;
                calls.call(call_id, called, &place)?;
            }
            "function_result" => {
                let call_id = text(step, "call_id", &place)?;
                let called = text(step, "name", &place)?;
                if step["result"].is_null() {
                    return Err(format!("{place}: `result` is missing"));
                }
                if is_whole {
                    // genai 0.7.2 (Rust), gemini_ix, tried by its authors: a result with another name than its call's is
                    // rejected (2026-08-31)
                    let expected = calls.result(call_id, &place)?;
                    if called != expected {
                        return Err(format!(
                            "{place}: the result of {called} is for a call of {expected}"
                        ));
                    }
                }
            }
            // google-genai 3.6.1 (Python), UserInputStep and ModelOutputStep: a list of contents, each with its type (2026-11)
            "user_input" | "model_output" => {
                for (place, content) in items(step, "content", &place) {
                    text(content, "type", &place)?;
                }
            }
            _ => {}
        }
    }
    calls.end("the end of the input")
}
