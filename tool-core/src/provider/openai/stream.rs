//! The stream of OpenAI's Responses API (`ResponseStreamEvent` and `ResponseStreamState` of OpenAI's
//! Python SDK 3.54, 2026-11).

use serde_json::{Map, Value};

use super::response::{FORMAT, USAGE, asked, is_call, stop};
use crate::call::ToolCall;
use crate::provider::event::{Event, Json};
use crate::provider::response::{ResponseError, is_type, mark_truncated};
use crate::provider::stream::{Output, StreamEvent, StreamFormat, broken_off};

#[derive(Default)]
pub(super) struct ResponseStream {
    started: Vec<Started>,
    /// The finished items, each with its position.
    items: Vec<(usize, Value)>,
    /// `true` once a message has text, after which another starts a paragraph.
    has_text: bool,
    starts_paragraph: bool,
    response: Option<Map<String, Value>>,
}

/// A call that has started.
struct Started {
    /// The position of its item.
    place: usize,
    /// The id in its item, which may be empty.
    id: String,
    is_read: bool,
}

impl ResponseStream {
    /// Starts the call of an item. Returns its position among the calls.
    fn start(&mut self, place: usize, call: &ToolCall, out: &mut Output) -> usize {
        let known = self.started.iter().position(|known| known.place == place);
        known.unwrap_or_else(|| {
            self.started.push(Started {
                place,
                id: call.id.clone(),
                is_read: false,
            });
            out.start(call.clone())
        })
    }

    /// Returns `true` if the call of an item of the whole response was read before. Some servers leave items out,
    /// which moves the others.
    fn is_read(&self, place: usize, call: &ToolCall) -> bool {
        let mut read = self.started.iter().filter(|started| started.is_read);
        read.any(|known| known.id == call.id && (known.place == place || !call.id.is_empty()))
    }

    /// Reads an event that adds a piece. Returns `false` for others.
    fn delta<'e>(&mut self, kind: &str, event: impl Json<'e>, out: &mut Output) -> bool {
        let delta = event.get("delta").as_str().unwrap_or_default();
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                if !delta.is_empty() {
                    if std::mem::take(&mut self.starts_paragraph) {
                        out.text("\n\n");
                    }
                    self.has_text = true;
                    out.text(delta);
                }
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                out.reasoning(delta);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let place = place(event);
                let mut started = self.started.iter();
                let index = started.position(|known| Some(known.place) == place);
                match index {
                    Some(index) if kind.starts_with("response.custom") => {
                        out.freeform(index, delta);
                    }
                    Some(index) => out.arguments(index, delta),
                    None => {}
                }
            }
            _ => return false,
        }
        true
    }

    fn item(&mut self, event: &Value, is_done: bool, out: &mut Output) -> Read {
        let place = place(event);
        let place = place.ok_or_else(|| FORMAT.error("an item has no valid `output_index`"))?;
        let item = &event["item"];
        if !is_done {
            out.release();
        }
        if is_call(item) {
            let call = FORMAT.call(self.items.len(), item)?;
            let index = self.start(place, &call, out);
            if is_done && !std::mem::replace(&mut self.started[index].is_read, true) {
                out.end(index, call);
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
    fn end(&mut self, event: &Value, out: &mut Output) -> Read {
        let Value::Object(response) = &event["response"] else {
            return Err(FORMAT.error("`response` is missing"));
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
        let items = FORMAT.array(&whole, "output")?;
        let is_truncated = FORMAT.is_truncated(&whole["status"]);
        out.release_last(is_truncated && items.last().is_some_and(is_call));
        for (place, item) in items.iter().enumerate().filter(|(_, item)| is_call(item)) {
            let mut call = FORMAT.call(place, item)?;
            if !self.is_read(place, &call) {
                if is_truncated && place + 1 == items.len() {
                    mark_truncated(&mut call);
                }
                let index = self.start(place, &call, out);
                out.call(index, call);
            }
        }
        // Only the whole response shows whether they are answered.
        for call in asked(&whole, items).0 {
            out.push(StreamEvent::Call(call));
        }
        out.usage(USAGE.read(&whole["usage"]));
        out.stop(stop(&whole).unwrap_or("completed"));
        if let Value::Object(response) = whole {
            self.response = Some(response);
        }
        Ok(())
    }
}

type Read = Result<(), ResponseError>;

impl StreamFormat for ResponseStream {
    fn read(&mut self, event: &Value, out: &mut Output) -> Read {
        let Some(kind) = event["type"].as_str() else {
            FORMAT.check_error(event)?;
            return Err(FORMAT.error("an event has no `type`"));
        };
        if self.delta(kind, event, out) {
            return Ok(());
        }
        match kind {
            "response.output_item.added" if event["item"].is_object() => {
                self.item(event, false, out)?;
            }
            "response.output_item.done" if event["item"].is_object() => {
                self.item(event, true, out)?;
            }
            "response.completed" | "response.incomplete" => self.end(event, out)?,
            "response.failed" => {
                return Err(FORMAT.provider_error(&event["response"]["error"]));
            }
            "error" if event["error"].is_object() => {
                return Err(FORMAT.provider_error(&event["error"]));
            }
            "error" => {
                // Its `type` is the event's.
                let mut error = event.clone();
                error["type"] = Value::Null;
                return Err(FORMAT.provider_error(&error));
            }
            // Their content is repeated in the items.
            kind if kind.starts_with("response.") => {
                if !is_known(kind) {
                    out.unknown(kind);
                }
            }
            "keepalive" | "ping" => {}
            kind => out.unknown(kind),
        }
        Ok(())
    }

    fn read_event(&mut self, event: Event<'_>, out: &mut Output) -> Read {
        // Most events are pieces.
        match event.get("type").as_str() {
            Some(kind) if self.delta(kind, event, out) => Ok(()),
            _ => self.read(&event.value(), out),
        }
    }

    fn response(self) -> Result<Value, ResponseError> {
        let response = self.response.map(Value::Object);
        response.ok_or_else(|| broken_off("`response.completed` is missing"))
    }
}

/// Returns the position of an event's item in the output.
fn place<'e>(event: impl Json<'e>) -> Option<usize> {
    usize::try_from(event.get("output_index").as_u64()?).ok()
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
