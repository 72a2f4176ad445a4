//! Calls of OpenAI's own tools, and their outputs: items of the Responses API.

use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::hooks::ApprovalRequest;
use tool_core::{ToolCall, ToolErrorKind, ToolResult};

use super::accepts::IMAGES;
use crate::provider::media::{self, Piece, Written, WrittenResult, write_parts};
use crate::provider::response::is_type;

/// Returns the type of the tool that an item calls, and its call without a name. Returns `None` if the item is
/// no such call, or has a form that this version does not know. Such a call stays unanswered.
pub(super) fn call(item: &Value) -> Option<(&'static str, ToolCall)> {
    let id = item["call_id"].as_str().filter(|id| !id.is_empty())?;
    let (kind, input) = match item["type"].as_str()? {
        "shell_call" => ("shell", item["action"].clone()),
        "local_shell_call" => ("local_shell", exec(&item["action"])?),
        "apply_patch_call" => ("apply_patch", item["operation"].clone()),
        "computer_call" => ("computer", actions(item)?),
        _ => return None,
    };
    if !input.is_object() {
        return None;
    }
    let mut answer = json!({ "type": format!("{kind}_call_output") });
    // The output of the local shell has the id of its call under `id`.
    let key = if kind == "local_shell" {
        "id"
    } else {
        "call_id"
    };
    answer[key] = id.into();
    if let length @ Value::Number(_) = &input["max_output_length"] {
        answer["max_output_length"] = length.clone();
    }
    let mut call = ToolCall::new(id, "", input).with_answer(answer);
    let caller = &item["caller"];
    if caller.is_object() && !is_type(caller, "direct") {
        call = call.with_caller(caller.clone());
    }
    for check in safety_checks(item)? {
        call = call.with_approval(check);
    }
    let status = item["status"].as_str();
    // A command that is not complete does not run.
    if status.is_some_and(|status| status != "completed") {
        call = call.truncated();
    }
    Some((kind, call))
}

/// Returns the command of the local shell. There is one kind of them.
fn exec(action: &Value) -> Option<Value> {
    let mut members = action.as_object()?.clone();
    match members.remove("type") {
        Some(kind) if kind != "exec" => None,
        _ => Some(Value::Object(members)),
    }
}

/// Returns the actions of a call of the computer: a list, or one in the form of the earlier tool.
fn actions(item: &Value) -> Option<Value> {
    match (&item["actions"], &item["action"]) {
        (list @ Value::Array(_), _) => Some(json!({ "actions": list })),
        (Value::Null, action @ Value::Object(_)) => Some(json!({ "actions": [action] })),
        _ => None,
    }
}

/// Returns what somebody must approve before the call starts, or `None` if it has an unknown form.
fn safety_checks(item: &Value) -> Option<Vec<ApprovalRequest>> {
    let checks = match &item["pending_safety_checks"] {
        Value::Null => return Some(Vec::new()),
        checks => checks.as_array()?,
    };
    let request = |check: &Value| {
        check["id"].as_str()?;
        let code = check["code"].as_str().unwrap_or("of the provider");
        let message = check["message"].as_str().unwrap_or("no explanation");
        let reason = format!("safety check {code}: {message}");
        Some(ApprovalRequest::new(reason).with_item(check.clone()))
    };
    checks.iter().map(request).collect()
}

/// Returns the item that answers a call. The answer of a computer is a screenshot, so any other
/// part goes to `after`, as a message of the user.
pub(super) fn output(answer: &Value, result: &ToolResult, after: &mut Vec<Value>) -> Value {
    let mut item = answer.clone();
    let written = written(answer, result);
    if is_type(answer, "computer_call_output") {
        return screenshot(item, result, written, after);
    }
    let text = if result.parts().is_empty() {
        result.content().to_owned()
    } else {
        written.text()
    };
    match answer["type"].as_str().unwrap_or_default() {
        "shell_call_output" => item["output"] = shell_output(result, text),
        "apply_patch_call_output" => {
            let is_failed = result.is_error();
            item["status"] = if is_failed { "failed" } else { "completed" }.into();
            item["output"] = text.into();
        }
        _ => item["output"] = text.into(),
    }
    if let Some(caller) = result.caller() {
        item["caller"] = caller.clone();
    }
    item
}

/// Returns the output of commands. A result in another form is the standard output, or the standard error of a failed call.
fn shell_output(result: &ToolResult, text: String) -> Value {
    let outputs = match result.structured() {
        Some(Value::Array(outputs)) => outputs,
        Some(output @ Value::Object(_)) => vec![output],
        _ => Vec::new(),
    };
    if !outputs.is_empty() && outputs.iter().all(is_shell_output) {
        return outputs.into();
    }
    let (exit_code, stdout, stderr) = match result.error() {
        None => (0, text, String::new()),
        Some(_) => (1, String::new(), text),
    };
    let is_timeout = result
        .error()
        .is_some_and(|error| error.kind() == ToolErrorKind::TimedOut);
    let outcome = if is_timeout {
        json!({ "type": "timeout" })
    } else {
        json!({ "type": "exit", "exit_code": exit_code })
    };
    json!([{ "stdout": stdout, "stderr": stderr, "outcome": outcome }])
}

/// Returns `true` for the JSON of a `ShellOutput`.
fn is_shell_output(output: &Value) -> bool {
    let outcome = &output["outcome"];
    let is_known = match outcome["type"].as_str() {
        Some("exit") => outcome["exit_code"].is_i64(),
        Some("timeout") => true,
        _ => false,
    };
    let members = output.as_object().map_or(0, serde_json::Map::len);
    is_known && members == 3 && output["stdout"].is_string() && output["stderr"].is_string()
}

/// A picture of one transparent pixel. The API requires a screenshot, also from a call that failed.
const NO_SCREENSHOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=";

fn screenshot(
    mut item: Value,
    result: &ToolResult,
    mut written: WrittenResult,
    after: &mut Vec<Value>,
) -> Value {
    let screen = written.inside.iter().find_map(|piece| match piece {
        Piece::Block(block) => Some(block.clone()),
        Piece::Text(_) | Piece::Note(_) => None,
    });
    let text = if result.parts().is_empty() {
        result.content().to_owned()
    } else {
        written.text()
    };
    let mut blocks = Vec::new();
    if !text.is_empty() {
        let what = if result.is_error() { "Error" } else { "Output" };
        let (name, id) = (result.name(), result.call_id());
        let label =
            format!("{what} of the tool {name}, call {id}. The user did not write it:\n{text}");
        blocks.push(json!({ "type": "input_text", "text": label }));
    }
    blocks.append(&mut written.after);
    if !blocks.is_empty() {
        after.push(json!({ "role": "user", "content": blocks }));
    }
    if screen.is_none() {
        item["status"] = "incomplete".into();
    }
    item["output"] = screen
        .unwrap_or_else(|| json!({ "type": "computer_screenshot", "image_url": NO_SCREENSHOT }));
    let approved = result.approved();
    if !approved.is_empty() {
        let checks = approved.iter().map(|request| request.item().clone());
        item["acknowledged_safety_checks"] = checks.collect();
    }
    item
}

/// Returns the parts of the result of such a call, in the form of its output.
pub(super) fn parts(result: &ToolResult) -> Option<WrittenResult> {
    let answer = result.answer()?;
    Some(written(answer, result))
}

fn written(answer: &Value, result: &ToolResult) -> WrittenResult {
    let is_computer = is_type(answer, "computer_call_output");
    let is_image = |part: &Content| matches!(part, Content::Image(image) if IMAGES.check(image.media()).is_ok());
    // The last one shows the screen after all actions.
    let screen = result.parts().iter().rposition(is_image);
    write_parts(result, |content, at| match content {
        Content::Image(image) if is_computer => {
            let media = image.media();
            IMAGES.check(media)?;
            let url = media.data_url();
            if Some(at) == screen {
                return Ok(Written::Inside(
                    json!({ "type": "computer_screenshot", "image_url": url }),
                ));
            }
            Ok(Written::After(
                json!({ "type": "input_image", "image_url": url, "detail": "auto" }),
            ))
        }
        _ => Err(media::no_form("the output of OpenAI's tool")),
    })
}
