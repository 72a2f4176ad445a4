//! The stream of Cohere's chat (`V2ChatStreamResponse` of Cohere's Python SDK 7.3, 2026-11).

use serde_json::{Map, Value, json};

use super::{Calls, StreamEvent, StreamFormat, append, broken_off, merge, piece, update};
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::usage::Usage;

pub(crate) struct Chat {
    format: &'static ResponseFormat,
    response: Map<String, Value>,
    /// The message, without its lists.
    message: Option<Map<String, Value>>,
    content: Parts,
    tool_calls: Parts,
    citations: Parts,
    calls: Calls,
    is_stopped: bool,
}

/// The items of a list, each with its index in the stream, and `true` once it has ended.
type Parts = Vec<(u64, Value, bool)>;

impl Chat {
    pub(crate) fn new(format: &'static ResponseFormat) -> Chat {
        Chat {
            format,
            response: Map::new(),
            message: None,
            content: Vec::new(),
            tool_calls: Vec::new(),
            citations: Vec::new(),
            calls: Calls::default(),
            is_stopped: false,
        }
    }

    fn start_call(
        &mut self,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let call = &event["delta"]["message"]["tool_calls"];
        self.calls.release(out);
        let started = self.format.call(self.tool_calls.len(), call)?;
        let index = self.calls.start(&started, out);
        if let Some(arguments) = piece(&call["function"], "arguments") {
            out.push(StreamEvent::Arguments {
                index,
                piece: arguments.to_owned(),
            });
        }
        start(self.format, &mut self.tool_calls, event, call.clone())
    }

    fn continue_call(
        &mut self,
        event: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let (index, call) = open(self.format, &mut self.tool_calls, event)?;
        let delta = &event["delta"]["message"]["tool_calls"];
        if let Some(arguments) = piece(&delta["function"], "arguments") {
            out.push(StreamEvent::Arguments {
                index,
                piece: arguments.to_owned(),
            });
        }
        continue_with(call, delta);
        Ok(())
    }

    fn end_call(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let (index, call) = open(self.format, &mut self.tool_calls, event)?;
        let call = self.format.call(index, call)?;
        self.tool_calls[index].2 = true;
        self.calls.end(call, out);
        Ok(())
    }

    fn stop(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let delta = &event["delta"];
        if self.tool_calls.iter().any(|(_, _, is_ended)| !is_ended) {
            return Err(broken_off("`tool-call-end` is missing"));
        }
        update(&mut self.response, delta);
        out.extend(Usage::find(delta).map(StreamEvent::Usage));
        let reason = delta["finish_reason"].as_str().unwrap_or_default();
        self.calls
            .stop(self.format.truncated.contains(&reason), out);
        out.push(StreamEvent::Stop(reason.to_owned()));
        self.is_stopped = true;
        Ok(())
    }
}

/// Starts an item of a list.
fn start(
    format: &ResponseFormat,
    parts: &mut Parts,
    event: &Value,
    item: Value,
) -> Result<(), ResponseError> {
    let index = index(format, event)?;
    if parts.iter().any(|(known, ..)| *known == index) {
        return Err(format.error(format_args!("item {index} of a list starts twice")));
    }
    parts.push((index, item, false));
    Ok(())
}

/// Returns an item that has not ended, and its position.
fn open<'p>(
    format: &ResponseFormat,
    parts: &'p mut Parts,
    event: &Value,
) -> Result<(usize, &'p mut Value), ResponseError> {
    let index = index(format, event)?;
    let place = parts.iter().rposition(|(known, ..)| *known == index);
    match place.map(|place| (place, &mut parts[place])) {
        Some((place, (_, item, false))) => Ok((place, item)),
        _ => Err(format.error(format_args!("item {index} of a list is not open"))),
    }
}

fn index(format: &ResponseFormat, event: &Value) -> Result<u64, ResponseError> {
    let index = event["index"].as_u64();
    index.ok_or_else(|| format.error("an event of a list has no valid `index`"))
}

fn continue_with(item: &mut Value, delta: &Value) {
    if let (Value::Object(item), Value::Object(delta)) = (item, delta) {
        merge(item, delta);
    }
}

/// Emits the text and the reasoning in a part of the content.
fn emit(part: &Value, out: &mut Vec<StreamEvent>) {
    let text = piece(part, "text").map(|text| StreamEvent::Text(text.to_owned()));
    let thinking = piece(part, "thinking").map(|text| StreamEvent::Reasoning(text.to_owned()));
    out.extend(text.into_iter().chain(thinking));
}

impl StreamFormat for Chat {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let Some(kind) = event["type"].as_str() else {
            self.format.check_error(event)?;
            return Err(if event["message"].is_string() {
                self.format.provider_error(event)
            } else {
                self.format.error("an event has no `type`")
            });
        };
        let format = self.format;
        let delta = &event["delta"]["message"];
        if let ("message-end", Some(error)) = (kind, piece(&event["delta"], "error")) {
            return Err(format.provider_error(&json!({ "message": error })));
        }
        if self.message.is_none()
            && (kind.starts_with("content-") || kind.starts_with("tool-") || kind == "message-end")
        {
            return Err(format.error("`message-start` is missing"));
        }
        match kind {
            "message-start" => {
                if let Some(id) = event.get("id") {
                    self.response.insert("id".into(), id.clone());
                }
                let mut message = delta.as_object().cloned().unwrap_or_default();
                // Empty lists and texts.
                message.retain(|_, value| value.as_str().is_some_and(|text| !text.is_empty()));
                self.message = Some(message);
            }
            "content-start" => {
                self.calls.release(out);
                emit(&delta["content"], out);
                start(format, &mut self.content, event, delta["content"].clone())?;
            }
            "content-delta" => {
                emit(&delta["content"], out);
                continue_with(open(format, &mut self.content, event)?.1, &delta["content"]);
            }
            "content-end" => {
                let (place, _) = open(format, &mut self.content, event)?;
                self.content[place].2 = true;
            }
            "tool-plan-delta" => {
                if let (Some(message), Some(plan)) = (&mut self.message, piece(delta, "tool_plan"))
                {
                    append(message, "tool_plan", plan);
                    out.push(StreamEvent::Reasoning(plan.to_owned()));
                }
            }
            "tool-call-start" => self.start_call(event, out)?,
            "tool-call-delta" => self.continue_call(event, out)?,
            "tool-call-end" => self.end_call(event, out)?,
            "citation-start" => {
                let citation = delta["citations"].clone();
                start(format, &mut self.citations, event, citation)?;
            }
            "message-end" => self.stop(event, out)?,
            "citation-end" | "debug" => {}
            kind => out.push(StreamEvent::Unknown(kind.to_owned())),
        }
        Ok(())
    }

    fn response(self) -> Result<Value, ResponseError> {
        let (Some(mut message), true) = (self.message, self.is_stopped) else {
            return Err(broken_off("`message-end` is missing"));
        };
        let lists = [
            ("content", self.content),
            ("tool_calls", self.tool_calls),
            ("citations", self.citations),
        ];
        for (key, parts) in lists {
            if !parts.is_empty() {
                let items = parts.into_iter().map(|(_, item, _)| item).collect();
                message.insert(key.into(), items);
            }
        }
        let mut response = self.response;
        response.insert("message".into(), message.into());
        Ok(Value::Object(response))
    }
}
