//! The stream of Cohere's chat (`V2ChatStreamResponse` of Cohere's Python SDK 7.3, 2026-11).

use serde_json::{Map, Value, json};
use tool_core::dialect::ResponseError;

use super::response::{FORMAT, USAGE};
use crate::provider::stream::{
    Output, StreamFormat, append, broken_off, check_count, merge, piece, size, update,
};

#[derive(Default)]
pub(super) struct Chat {
    response: Map<String, Value>,
    /// The message, without its lists.
    message: Option<Map<String, Value>>,
    content: Parts,
    tool_calls: Parts,
    citations: Parts,
    is_stopped: bool,
}

/// The items of a list, each with its index in the stream, and `true` once it has ended.
type Parts = Vec<(u64, Value, bool)>;

impl Chat {
    fn start_call(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let call = &event["delta"]["message"]["tool_calls"];
        out.release();
        if (FORMAT.is_call)(call) {
            let started = FORMAT.call(self.tool_calls.len(), call)?;
            let index = out.start(started);
            out.arguments(index, arguments(call));
        }
        start(&mut self.tool_calls, event, call.clone())
    }

    fn continue_call(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let (place, call) = open(&mut self.tool_calls, event)?;
        let delta = &event["delta"]["message"]["tool_calls"];
        continue_with(call, delta);
        if let Some(index) = self.call_index(place) {
            out.arguments(index, arguments(delta));
        }
        Ok(())
    }

    fn end_call(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let (place, _) = open(&mut self.tool_calls, event)?;
        self.tool_calls[place].2 = true;
        if let Some(index) = self.call_index(place) {
            out.end(index, FORMAT.call(place, &self.tool_calls[place].1)?);
        }
        Ok(())
    }

    /// Returns the position among the calls of an item of `tool_calls`, if it is a call.
    fn call_index(&self, place: usize) -> Option<usize> {
        let is_call = |(_, item, _): &&(u64, Value, bool)| (FORMAT.is_call)(item);
        let before = self.tool_calls[..place].iter().filter(is_call);
        is_call(&&self.tool_calls[place]).then(|| before.count())
    }

    fn stop(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let delta = &event["delta"];
        if self.tool_calls.iter().any(|(_, _, is_ended)| !is_ended) {
            return Err(broken_off("`tool-call-end` is missing"));
        }
        update(&mut self.response, delta);
        out.usage(USAGE.read(&delta["usage"]));
        out.release_last(FORMAT.is_truncated(&delta["finish_reason"]));
        out.stop(delta["finish_reason"].as_str().unwrap_or_default());
        self.is_stopped = true;
        Ok(())
    }
}

/// Returns the piece of the arguments in a call or its update.
fn arguments(call: &Value) -> &str {
    call["function"]["arguments"].as_str().unwrap_or_default()
}

/// Starts an item of a list.
fn start(parts: &mut Parts, event: &Value, item: Value) -> Result<(), ResponseError> {
    let index = index(event)?;
    if parts.iter().any(|(known, ..)| *known == index) {
        return Err(FORMAT.error(format_args!("item {index} of a list starts twice")));
    }
    check_count(parts.len())?;
    parts.push((index, item, false));
    Ok(())
}

/// Returns an item that has not ended, and its position.
fn open<'p>(parts: &'p mut Parts, event: &Value) -> Result<(usize, &'p mut Value), ResponseError> {
    let index = index(event)?;
    let place = parts.iter().rposition(|(known, ..)| *known == index);
    match place.map(|place| (place, &mut parts[place])) {
        Some((place, (_, item, false))) => Ok((place, item)),
        _ => Err(FORMAT.error(format_args!("item {index} of a list is not open"))),
    }
}

fn index(event: &Value) -> Result<u64, ResponseError> {
    let index = event["index"].as_u64();
    index.ok_or_else(|| FORMAT.error("an event of a list has no valid `index`"))
}

fn continue_with(item: &mut Value, delta: &Value) {
    if let (Value::Object(item), Value::Object(_)) = (item, delta) {
        merge(item, delta);
    }
}

impl StreamFormat for Chat {
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let Some(kind) = event["type"].as_str() else {
            return Err(FORMAT.untyped(event, "type"));
        };
        let delta = &event["delta"]["message"];
        if let ("message-end", Some(error)) = (kind, piece(&event["delta"], "error")) {
            return Err(FORMAT.provider_error(&json!({ "message": error })));
        }
        if self.message.is_none()
            && (kind.starts_with("content-") || kind.starts_with("tool-") || kind == "message-end")
        {
            return Err(FORMAT.error("`message-start` is missing"));
        }
        match kind {
            "message-start" => {
                if let Some(id) = event.get("id") {
                    self.response.insert("id".into(), id.clone());
                }
                let mut message = delta.as_object().cloned().unwrap_or_default();
                // Empty lists and strings.
                message.retain(|_, value| value.as_str().is_some_and(|text| !text.is_empty()));
                self.message = Some(message);
            }
            "content-start" => {
                out.release();
                out.part(&delta["content"]);
                start(&mut self.content, event, delta["content"].clone())?;
            }
            "content-delta" => {
                out.part(&delta["content"]);
                continue_with(open(&mut self.content, event)?.1, &delta["content"]);
            }
            "content-end" => {
                let (place, _) = open(&mut self.content, event)?;
                self.content[place].2 = true;
            }
            "tool-plan-delta" => {
                if let (Some(message), Some(plan)) = (&mut self.message, piece(delta, "tool_plan"))
                {
                    append(message, "tool_plan", plan);
                    out.reasoning(plan);
                }
            }
            "tool-call-start" => self.start_call(event, out)?,
            "tool-call-delta" => self.continue_call(event, out)?,
            "tool-call-end" => self.end_call(event, out)?,
            "citation-start" => {
                let citation = delta["citations"].clone();
                start(&mut self.citations, event, citation)?;
            }
            "message-end" => self.stop(event, out)?,
            "citation-end" | "debug" => {}
            kind => out.unknown(kind),
        }
        Ok(())
    }

    fn kept(&mut self) -> usize {
        let lists = [&self.content, &self.tool_calls, &self.citations];
        let items = lists.into_iter().flatten().map(|(_, item, _)| item);
        let message = self.message.iter().flat_map(Map::values);
        size(items.chain(message).chain(self.response.values()))
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
