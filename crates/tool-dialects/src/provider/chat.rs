//! The format of chat completions, which several providers share.

mod calls;
pub(crate) mod stream;

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::{Content, Image};
use tool_core::dialect::write::{
    AnswerFormat, Choice, JsonWriter, NamedTool, Reason, RequestParts, RequestWriter, WireId,
    write_head,
};
use tool_core::dialect::{Dialect, HostedTool, Message, ResponseError, Turn, Unanswered};
use tool_core::{ToolEntry, ToolResult};

use crate::provider::entry::NameRules;
use crate::provider::history::{
    ArgumentsForm, History, NO_TEXT, call_text, is_flat_object, user_blocks,
};
use crate::provider::hosted_tool;
use crate::provider::media::{Unwritable, Written, WrittenResult, chat_text, wire_id, write_parts};
use crate::provider::message;
use crate::provider::response::{
    CustomCalls, NoId, Reasons, ResponseFormat, content_text, has_refusal, string, with_role,
};
use crate::provider::usage::Counts;

/// The format of a response, for providers to adapt.
pub(crate) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion",
    call: "a call in `choices[0].message.tool_calls`",
    items: "/choices/0/message/tool_calls",
    is_call,
    id: "id",
    no_id: NoId::Make,
    name: "function.name",
    arguments: "function.arguments",
    reasons: REASONS,
    custom: Some(&CUSTOM),
    has_origin: false,
};

/// The reasons of OpenAI, then of servers that speak its format (rule `openai.chat.ends`).
const REASONS: Reasons = &[
    ("stop", Reason::Answered),
    ("tool_calls", Reason::Calls),
    ("length", Reason::Length),
    ("content_filter", Reason::Filtered),
    ("function_call", Reason::Calls),
    // OpenRouter and Mistral, for a response that failed on its way.
    ("error", Reason::Failed),
    // xAI.
    ("end_turn", Reason::Answered),
    // Text Generation Inference.
    ("eos_token", Reason::Answered),
    ("stop_sequence", Reason::Sequence),
    // Mistral, when the context of the model is full.
    ("model_length", Reason::Length),
    // DeepSeek.
    ("insufficient_system_resource", Reason::Failed),
    // Z.AI.
    ("model_context_window_exceeded", Reason::Length),
    ("sensitive", Reason::Filtered),
    ("network_error", Reason::Failed),
    // vLLM and SGLang.
    ("abort", Reason::Failed),
];

/// How the calls of earlier messages are sent. llama.cpp and vLLM parse the arguments, and OpenAI checks names
/// (rule `openai.chat.history`). The ids are the server's.
pub(crate) const HISTORY: History = History {
    call: &FORMAT,
    items: "tool_calls",
    arguments: ArgumentsForm::Text,
    names: NameRules::COMMON,
    ids: None,
    result_id: "tool_call_id",
    result_name: None,
    text: None,
};

const CUSTOM: CustomCalls = CustomCalls {
    kind: "custom",
    name: "custom.name",
    input: "custom.input",
};

/// From the reference documentation of OpenAI, Mistral and xAI, as of 2026-11.
const USAGE: Counts = Counts {
    input: &["prompt_tokens"],
    cached_input: &["prompt_tokens_details.cached_tokens"],
    output: &["completion_tokens"],
};

/// Writes functions, each with the keys that `schema` writes, then hosted tools.
pub(crate) fn write_tools(
    tools: &[ToolEntry],
    hosted: &[HostedTool],
    out: &mut JsonWriter,
    schema: impl Fn(&ToolEntry, &mut JsonWriter),
) {
    out.array(|out| {
        for tool in tools {
            write_tool(tool, out, &schema);
        }
        hosted_tool::write(hosted, out);
    });
}

/// Writes one function.
#[inline]
pub(crate) fn write_tool(
    tool: &ToolEntry,
    out: &mut JsonWriter,
    schema: impl Fn(&ToolEntry, &mut JsonWriter),
) {
    out.object(|out| {
        out.word("type").string("function");
        out.word("function").object(|out| {
            write_head(tool, out);
            schema(tool, out);
        });
    });
}

/// The differences between the requests of providers.
pub(crate) struct ChatRequest {
    /// The choice that requires a call, if there is one.
    pub(crate) required: Option<&'static str>,
    /// Set if the choice may name one tool.
    pub(crate) has_named_choice: bool,
    /// Set if several calls in a response can be allowed and forbidden.
    pub(crate) has_parallel: bool,
    /// Set if the choice may list the allowed tools.
    pub(crate) has_allowed_tools: bool,
    /// Set if free-form tools are custom tools.
    pub(crate) has_custom_tools: bool,
}

impl ChatRequest {
    /// OpenAI's.
    pub(crate) const OPENAI: ChatRequest = ChatRequest {
        required: Some("required"),
        has_named_choice: true,
        has_parallel: true,
        has_allowed_tools: true,
        has_custom_tools: true,
    };
}

/// Writes the form of the answer, with `strict` if it is given.
pub(crate) fn write_answer(schema: &str, is_strict: Option<bool>, out: &mut RequestWriter) {
    out.field(&["response_format"], |json| {
        json.object(|json| {
            json.word("type").string("json_schema");
            json.word("json_schema").object(|json| {
                json.word("name").string(AnswerFormat::NAME);
                json.word("schema").raw(schema);
                if let Some(is_strict) = is_strict {
                    json.word("strict").boolean(is_strict);
                }
            });
        });
    });
}

/// Writes the fields of a request.
pub(crate) fn write_request(
    dialect: &impl Dialect,
    form: &ChatRequest,
    parts: &RequestParts<'_>,
    out: &mut RequestWriter,
) {
    let filtered;
    let parts = if form.has_allowed_tools {
        parts
    } else {
        filtered = parts.filtered(out);
        &filtered
    };
    out.tools(&["tools"], parts, |json| {
        dialect.write_tools(parts.tools(), parts.hosted(), json);
    });
    if parts.is_empty() {
        // A choice without tools is rejected (OpenAI's API description, `tool_choice`).
        return out.ignores_without_tools(parts);
    }
    let path = &["tool_choice"];
    match (parts.choice(), parts.only()) {
        (Some(Choice::None), _) => out.field(path, |json| {
            json.string("none");
        }),
        (Some(Choice::Tool(NamedTool::Function(tool))), _) if form.has_named_choice => {
            out.field(path, |json| write_reference(tool, form, json));
        }
        (Some(Choice::Tool(NamedTool::Function(_))), _) => {
            out.lacks("choice of one tool");
        }
        (Some(Choice::Tool(NamedTool::Hosted(tool))), _) => out.cannot_require(tool),
        (choice, Some(only)) => out.field(path, |json| {
            json.object(|json| {
                json.word("type").string("allowed_tools");
                json.word("allowed_tools").object(|json| {
                    write_allowed(choice, json);
                    json.word("tools").array(|json| {
                        for tool in only {
                            match tool {
                                NamedTool::Function(tool) => write_reference(tool, form, json),
                                NamedTool::Hosted(tool) => hosted_tool::write_reference(tool, json),
                                _ => {}
                            }
                        }
                    });
                });
            });
        }),
        (Some(Choice::Required), None) => match form.required {
            Some(required) => out.field(path, |json| {
                json.string(required);
            }),
            None => out.lacks("choice that requires a call"),
        },
        (Some(_), None) => out.field(path, |json| {
            json.string("auto");
        }),
        (None, None) => {}
    }
    if !form.has_parallel {
        out.ignores_parallel(parts);
    } else if let Some(is_allowed) = parts.parallel() {
        out.field(&["parallel_tool_calls"], |json| {
            json.boolean(is_allowed);
        });
    }
}

/// Writes the mode of a list of allowed tools.
pub(crate) fn write_allowed(choice: Option<Choice<'_>>, json: &mut JsonWriter) {
    let mode = match choice {
        Some(Choice::Required) => "required",
        _ => "auto",
    };
    json.word("mode").string(mode);
}

fn write_reference(tool: &ToolEntry, form: &ChatRequest, json: &mut JsonWriter) {
    let kind = if form.has_custom_tools && tool.is_freeform() {
        "custom"
    } else {
        "function"
    };
    json.object(|json| {
        json.word("type").string(kind);
        json.word(kind).object(|json| {
            json.word("name").string(&tool.name);
        });
    });
}

/// Writes the schema of the arguments unchanged.
pub(crate) fn parameters(tool: &ToolEntry, out: &mut JsonWriter) {
    out.word("parameters").raw(tool.portable_json());
}

/// Reads the first choice of a response.
pub(crate) fn read(format: &ResponseFormat, response: &Value) -> Result<Turn, ResponseError> {
    let message = &response["choices"][0]["message"];
    if let Some(calls) = listed(&message["tool_calls"]) {
        let mut response = response.clone();
        response["choices"][0]["message"]["tool_calls"] = calls;
        return read(format, &response);
    }
    let choice = format.first(response, "choices")?;
    let message = &choice["message"];
    // A chunk of a stream has `delta` instead. Its calls must not be ignored.
    if !message.is_object() {
        return Err(format.error(match choice["delta"] {
            Value::Object(_) => {
                "it is an event of a stream, which the reader of `Dialect::stream` takes"
            }
            _ => "`choices[0].message` is missing",
        }));
    }
    let calls = items(format, message)?;
    format.turn(response, calls, &choice["finish_reason"], outline)
}

/// Returns what some servers send in place of a list of calls as one: a call, or an empty string for none.
fn listed(calls: &Value) -> Option<Value> {
    match calls {
        Value::Object(_) => Some(json!([calls])),
        Value::String(text) if text.is_empty() => Some(json!([])),
        _ => None,
    }
}

/// Returns the items of a message that may be calls.
pub(crate) fn items<'m>(
    format: &ResponseFormat,
    message: &'m Value,
) -> Result<&'m [Value], ResponseError> {
    format.optional_array(&message["tool_calls"], "message.tool_calls")
}

/// Returns `true` for a call that the application runs. Some servers omit the type, or have one that is none.
fn is_call(call: &Value) -> bool {
    match call["type"].as_str() {
        Some("" | "tool") => call["function"].is_object(),
        Some(kind) => kind == "function" || kind == CUSTOM.kind,
        None => call["type"].is_null(),
    }
}

/// Returns the calls of a message that are of an unknown type, and the only call of the form before tools (`function_call`,
/// rule `openai.chat.answers`).
pub(crate) fn unanswered(message: &Value) -> Vec<Unanswered> {
    let calls = message["tool_calls"].as_array();
    let calls = calls.filter(|calls| !calls.is_empty());
    let Some(calls) = calls else {
        let call = &message["function_call"];
        let is_call = call["name"].as_str().is_some_and(|name| !name.is_empty());
        let asked = || Unanswered::new("function_call", None, call.clone());
        return is_call.then(asked).into_iter().collect();
    };
    let asked = calls.iter().filter(|call| !is_call(call));
    asked
        .map(|call| Unanswered::of(call, call["id"].as_str()))
        .collect()
}

/// Returns the turn of a response without its calls.
pub(crate) fn outline(response: &Value) -> Turn {
    let choice = &response["choices"][0];
    let message = &choice["message"];
    let content = &message["content"];
    let mut text = content_text(content);
    let mut is_refused = has_refusal(content);
    // A refusal comes with empty content.
    if text.is_empty() {
        text = string(&message["refusal"]).unwrap_or_default();
        is_refused = !text.is_empty();
    }
    let error = &choice["error"];
    let mut turn = Turn::new(vec![with_content(with_role(message, "assistant"))]);
    turn.has_output = text.is_empty() && has_output(message);
    turn.text = text;
    turn.reason = is_refused.then_some(Reason::Refused);
    // OpenRouter's, which comes with the reason `error`.
    turn.explanation = string(&error["message"]).or_else(|| string(error));
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = string(&choice["finish_reason"]);
    turn.unanswered = unanswered(message);
    turn
}

/// Returns a message with text, perhaps empty, in place of no content (rule `openai.chat.history_content`). Most messages
/// with calls have none, so that requests can repeat them unchanged.
fn with_content(mut message: Value) -> Value {
    if message.is_object() && message["content"].is_null() {
        message["content"] = "".into();
    }
    message
}

/// The keys of a model's message that a request repeats (rule `openai.chat.history_keys`): the keys of
/// OpenAI's API description, and the keys in which servers keep data that they need again.
const REPEATED: [&str; 12] = [
    "annotations",
    "audio",
    "content",
    "extra_content",
    "function_call",
    "name",
    "prefix",
    "provider_specific_fields",
    "refusal",
    "role",
    "thinking_blocks",
    "tool_calls",
];

/// How a provider takes the messages of its model.
pub(crate) struct ModelMessages<'k> {
    pub(crate) history: &'k History,
    /// The keys besides [`REPEATED`] that are repeated. `None` if all are.
    pub(crate) more_keys: Option<&'k [&'k str]>,
    /// The keys that are not repeated.
    pub(crate) rejected: &'k [&'k str],
    /// Set if a message without calls needs text.
    pub(crate) needs_text: bool,
    /// Set if a message with calls needs reasoning.
    pub(crate) needs_reasoning: bool,
}

impl ModelMessages<'_> {
    /// OpenAI's.
    pub(crate) const OPENAI: ModelMessages<'static> = ModelMessages {
        history: &HISTORY,
        more_keys: Some(&[]),
        rejected: &[],
        needs_text: false,
        needs_reasoning: false,
    };

    /// Returns a message as a request repeats it.
    pub(crate) fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        if self.is_plain(message) {
            return Cow::Borrowed(message);
        }
        let repeated = self.history.repeat(message);
        let Value::Object(members) = message else {
            return repeated;
        };
        if message["role"] != "assistant" {
            return repeated;
        }
        let calls = message["tool_calls"].as_array();
        let has_calls = calls.is_some_and(|calls| !calls.is_empty());
        let is_repeated = |key: &str| match key {
            // OpenAI rejects an empty array.
            "tool_calls" => has_calls,
            // The only call again (llama-cpp-python).
            "function_call" => !has_calls,
            key if self.rejected.contains(&key) => false,
            _ => self.more_keys.is_none_or(|more| {
                // Such as `reasoning_content` (DeepSeek) and `reasoning_details` (OpenRouter).
                REPEATED.contains(&key) || key.starts_with("reasoning_") || more.contains(&key)
            }),
        };
        let content = match &message["content"] {
            content @ (Value::Null | Value::String(_)) if self.needs_text && !has_calls => {
                let is_empty = content.as_str().is_none_or(str::is_empty);
                is_empty.then_some(NO_TEXT)
            }
            // Some servers reject `null` (rule `openai.chat.history_content`).
            Value::Null if self.more_keys.is_some() => Some(""),
            _ => None,
        };
        let has_reasoning = members.contains_key("reasoning_content");
        let reasoning = (self.needs_reasoning && has_calls && !has_reasoning).then_some(NO_TEXT);
        let more = [("content", content), ("reasoning_content", reasoning)];
        if more.iter().all(|(_, text)| text.is_none()) && members.keys().all(|key| is_repeated(key))
        {
            return repeated;
        }
        let mut repeated = repeated.into_owned();
        if let Value::Object(members) = &mut repeated {
            members.retain(|key, _| is_repeated(key));
            for (key, text) in more {
                members.extend(text.map(|text| (key.into(), text.into())));
            }
        }
        Cow::Owned(repeated)
    }

    /// Returns `true` for a message as most are. It takes one pass, because a look-up compares many keys.
    fn is_plain(&self, message: &Value) -> bool {
        let Value::Object(members) = message else {
            return false;
        };
        let (mut is_model, mut has_calls, mut text) = (false, false, None);
        let mut has_reasoning = !self.needs_reasoning;
        for (key, value) in members {
            match (key.as_str(), value) {
                ("role", Value::String(role)) => is_model = role == "assistant",
                ("content", Value::String(content)) => text = Some(content),
                ("tool_calls", Value::Array(calls)) if !calls.is_empty() => {
                    has_calls = calls.iter().all(|call| self.is_plain_call(call));
                    if !has_calls {
                        return false;
                    }
                }
                ("tool_call_id", Value::String(id)) if self.history.accepts_id(id) => {}
                ("annotations" | "refusal" | "reasoning_content", _)
                    if !self.rejected.contains(&&**key) =>
                {
                    has_reasoning |= key == "reasoning_content";
                }
                _ => return false,
            }
        }
        let has_text = |text: &String| !self.needs_text || !text.is_empty();
        !is_model
            || text.is_some_and(|text| {
                if has_calls {
                    has_reasoning
                } else {
                    has_text(text)
                }
            })
    }

    fn is_plain_call(&self, call: &Value) -> bool {
        let Value::Object(members) = call else {
            return false;
        };
        let is_plain = |(key, value): (&String, &Value)| match (key.as_str(), value) {
            ("type", Value::String(kind)) => kind == "function",
            ("id", Value::String(id)) => self.history.accepts_id(id),
            ("function", Value::Object(function)) => {
                let mut members = function.iter();
                function.len() == 2
                    && members.all(|(key, value)| match (key.as_str(), value) {
                        ("name", Value::String(name)) => self.history.names.accepts_name(name),
                        ("arguments", Value::String(text)) => is_flat_object(text),
                        _ => false,
                    })
            }
            _ => false,
        };
        members.len() == 3 && members.iter().all(is_plain)
    }
}

/// Returns `true` if a message has other output than text: audio, images of `OpenRouter`, or parts of Mistral's content.
fn has_output(message: &Value) -> bool {
    const WITHOUT_OUTPUT: [&str; 4] = ["text", "thinking", "refusal", "reasoning"];
    let is_output = |part: &Value| {
        let kind = part["type"].as_str();
        kind.is_some_and(|kind| !WITHOUT_OUTPUT.contains(&kind))
    };
    let any = |items: &Value| {
        items
            .as_array()
            .is_some_and(|items| items.iter().any(is_output))
    };
    message["audio"].is_object() || any(&message["images"]) || any(&message["content"])
}

/// Writes a part for the user's message after the results.
pub(crate) type WritePart = fn(&Content) -> Result<Value, Unwritable>;

/// Writes the parts of a result. Only text can be in it.
pub(crate) fn written(result: &ToolResult, part: WritePart) -> WrittenResult {
    write_parts(result, |content, _| part(content).map(Written::After))
}

/// Writes a message that has no format.
pub(crate) fn write_message(message: &Message, part: WritePart) -> Option<Vec<Value>> {
    Some(vec![match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(parts) => match &**parts {
            [Content::Text(text)] => json!({ "role": "user", "content": text }),
            parts => {
                let blocks = user_blocks(parts, |result| written(result, part), chat_text);
                json!({ "role": "user", "content": blocks })
            }
        },
        Message::Model { text, calls } => {
            let mut message = json!({ "role": "assistant", "content": text });
            let calls = calls.iter().map(|call| {
                let function = json!({ "name": call.name, "arguments": call_text(call) });
                json!({ "id": call.id, "type": "function", "function": function })
            });
            let calls: Vec<_> = calls.collect();
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            message
        }
        _ => return None,
    }])
}

/// Reads a message, for another provider.
pub(crate) fn read_message(message: &Value) -> (Option<Message>, Vec<String>) {
    message::read(message, |part| {
        let at = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
        Some(match part["type"].as_str()? {
            "image_url" => {
                let url = at("/image_url").or_else(|| at("/image_url/url"))?;
                Image::url(url).into()
            }
            "input_audio" => {
                let data = at("/input_audio").or_else(|| at("/input_audio/data"))?;
                // Mistral's have no format, and WAV starts with `RIFF`.
                let is_wav = at("/input_audio/format") == Some("wav") || data.starts_with("UklGR");
                let media_type = if is_wav { "audio/wav" } else { "audio/mpeg" };
                return message::media(media_type, Some(data), None, None);
            }
            "file" => message::file(at("/file/filename"), at("/file/file_data")?).into(),
            "document_url" => message::file(at("/document_name"), at("/document_url")?).into(),
            _ => return None,
        })
    })
}

/// Returns one message per result, then one of the user with the parts that are not text.
pub(crate) fn results(results: &[ToolResult], part: WritePart) -> Vec<Value> {
    let mut after = Vec::new();
    let message = |result: &ToolResult| {
        let mut written = written(result, part);
        let text = if result.parts().is_empty() {
            result.content().to_owned()
        } else {
            written.text()
        };
        if let Some((label, blocks)) = written.labelled_after(result) {
            after.push(chat_text(label));
            after.extend(blocks);
        }
        let mut message = json!({ "role": "tool", "content": text });
        if result.wire_id() != WireId::Absent {
            message["tool_call_id"] = wire_id(result);
        }
        message
    };
    let mut messages: Vec<_> = results.iter().map(message).collect();
    if !after.is_empty() {
        messages.push(json!({ "role": "user", "content": after }));
    }
    messages
}
