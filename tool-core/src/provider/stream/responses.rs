//! The stream of OpenAI's Responses API (`ResponseStreamEvent` and `ResponseStreamState` of OpenAI's
//! Python SDK 3.54, 2026-11).

use serde_json::{Map, Value};

use super::{Calls, StreamEvent, StreamFormat, broken_off, piece};
use crate::call::ToolCall;
use crate::provider::response::{ResponseError, ResponseFormat, is_type};
use crate::provider::usage::Usage;

pub(crate) struct ResponseStream {
    format: &'static ResponseFormat,
    /// The calls that have started: the position of their item, and whether they were read.
    started: Vec<(u64, bool)>,
    /// The finished items, each with its position.
    items: Vec<(u64, Value)>,
    calls: Calls,
    /// The ids of the calls that were read.
    read: Vec<String>,
    /// `true` once a message has text, after which another starts a paragraph.
    has_text: bool,
    starts_paragraph: bool,
    response: Option<Map<String, Value>>,
}

impl ResponseStream {
    pub(crate) fn new(format: &'static ResponseFormat) -> ResponseStream {
        ResponseStream {
            format,
            started: Vec::new(),
            items: Vec::new(),
            calls: Calls::default(),
            read: Vec::new(),
            has_text: false,
            starts_paragraph: false,
            response: None,
        }
    }

    /// Starts the call of an item. Returns its position among the calls.
    fn start(&mut self, place: u64, call: &ToolCall, out: &mut Vec<StreamEvent>) -> usize {
        let known = self.started.iter().position(|(known, _)| *known == place);
        known.unwrap_or_else(|| {
            self.started.push((place, false));
            self.calls.start(call, out)
        })
    }

    fn item(&mut self, event: &Value, is_done: bool, out: &mut Vec<StreamEvent>) -> Read {
        let place = event["output_index"].as_u64();
        let place =
            place.ok_or_else(|| self.format.error("an item has no valid `output_index`"))?;
        let item = &event["item"];
        if !is_done {
            self.calls.release(out);
        }
        if is_type(item, "function_call") || self.format.is_custom(item) {
            let call = self.format.call(self.items.len(), item)?;
            let index = self.start(place, &call, out);
            if is_done && !std::mem::replace(&mut self.started[index].1, true) {
                self.read.push(call.id.clone());
                self.calls.end(call, out);
            }
        } else if is_type(item, "message") && !is_done {
            self.starts_paragraph = self.has_text;
        }
        if is_done {
            self.items.retain(|(known, _)| *known != place);
            self.items.push((place, item.clone()));
        }
        Ok(())
    }

    /// Reads the whole response at the end of the stream.
    fn end(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Read {
        let Value::Object(response) = &event["response"] else {
            return Err(self.format.error("`response` is missing"));
        };
        let mut response = response.clone();
        // Some servers leave out what they have sent before.
        if response
            .get("output")
            .is_none_or(|output| *output == Value::Array(Vec::new()))
        {
            self.items.sort_by_key(|(place, _)| *place);
            let items = std::mem::take(&mut self.items).into_iter();
            response.insert("output".into(), items.map(|(_, item)| item).collect());
        }
        let whole = Value::Object(response);
        let items = self.format.array(&whole, "output")?;
        let calls = self.format.calls(&whole, items, |item| {
            is_type(item, "function_call") || self.format.is_custom(item)
        })?;
        let last = calls.last().is_some_and(ToolCall::is_truncated);
        self.calls.stop(last, out);
        for call in calls {
            if !self.read.contains(&call.id) {
                self.calls.start(&call, out);
                out.push(StreamEvent::Call(call));
            }
        }
        out.extend(Usage::find(&whole).map(StreamEvent::Usage));
        let reason = piece(&whole["incomplete_details"], "reason");
        let reason = reason.or_else(|| piece(&whole, "status"));
        out.push(StreamEvent::Stop(reason.unwrap_or("completed").to_owned()));
        if let Value::Object(response) = whole {
            self.response = Some(response);
        }
        Ok(())
    }
}

type Read = Result<(), ResponseError>;

impl StreamFormat for ResponseStream {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Read {
        let Some(kind) = event["type"].as_str() else {
            self.format.check_error(event)?;
            return Err(self.format.error("an event has no `type`"));
        };
        let delta = || piece(event, "delta").map(str::to_owned);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                if let Some(text) = delta() {
                    if std::mem::take(&mut self.starts_paragraph) {
                        out.push(StreamEvent::Text("\n\n".into()));
                    }
                    self.has_text = true;
                    out.push(StreamEvent::Text(text));
                }
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                out.extend(delta().map(StreamEvent::Reasoning));
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let place = event["output_index"].as_u64();
                let mut started = self.started.iter();
                let index = started.position(|(known, _)| Some(*known) == place);
                if let (Some(index), Some(piece)) = (index, delta()) {
                    out.push(if kind == "response.custom_tool_call_input.delta" {
                        StreamEvent::Freeform { index, piece }
                    } else {
                        StreamEvent::Arguments { index, piece }
                    });
                }
            }
            "response.output_item.added" if event["item"].is_object() => {
                self.item(event, false, out)?;
            }
            "response.output_item.done" if event["item"].is_object() => {
                self.item(event, true, out)?;
            }
            "response.completed" | "response.incomplete" => self.end(event, out)?,
            "response.failed" => {
                return Err(self.format.provider_error(&event["response"]["error"]));
            }
            "error" if event["error"].is_object() => {
                return Err(self.format.provider_error(&event["error"]));
            }
            "error" => {
                // Its `type` is that of the event.
                let mut error = event.clone();
                error["type"] = Value::Null;
                return Err(self.format.provider_error(&error));
            }
            // Their content is repeated in the items.
            kind if kind.starts_with("response.") => {
                if !is_known(kind) {
                    out.push(StreamEvent::Unknown(kind.to_owned()));
                }
            }
            "keepalive" | "ping" => {}
            kind => out.push(StreamEvent::Unknown(kind.to_owned())),
        }
        Ok(())
    }

    fn response(self) -> Result<Value, ResponseError> {
        let response = self.response.map(Value::Object);
        response.ok_or_else(|| broken_off("`response.completed` is missing"))
    }
}

/// Returns `true` for an event that repeats or announces what other events have.
fn is_known(kind: &str) -> bool {
    const PARTS: [&str; 14] = [
        "apply_patch_call",
        "audio",
        "code_interpreter_call",
        "compaction",
        "content_part",
        "custom_tool_call_input",
        "file_search_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "output_text",
        "reasoning",
        "shell_call",
        "web_search_call",
    ];
    let rest = kind.strip_prefix("response.").unwrap_or_default();
    matches!(rest, "created" | "queued" | "in_progress")
        || rest.starts_with("function_call_arguments.")
        || rest.starts_with("output_item.")
        || rest.starts_with("refusal.")
        || PARTS.iter().any(|part| rest.starts_with(part))
}
