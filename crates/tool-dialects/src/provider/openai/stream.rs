//! The stream of OpenAI's Responses API (`ResponseStreamEvent` and `ResponseStreamState` of OpenAI's
//! Python SDK 3.54, 2026-11).

use serde_json::{Map, Value, json};
use tool_core::ToolCall;
use tool_core::dialect::write::{Event, Json};
use tool_core::dialect::{ResponseError, StreamEvent};

use super::response::{FORMAT, USAGE, asked, is_call, stop};
use crate::provider::response::{is_type, mark_truncated};
use crate::provider::stream::{Output, StreamFormat, broken_off, check_count, piece, size};

#[derive(Default)]
pub(super) struct ResponseStream {
    items: Vec<Item>,
    /// `true` once a message has text, after which another starts a paragraph.
    has_text: bool,
    starts_paragraph: bool,
    response: Option<Map<String, Value>>,
}

/// An item of the output.
struct Item {
    /// Its position in the output.
    place: usize,
    /// As it is once it is done, and before that as it was added.
    value: Value,
    /// The pieces of its text, summary or arguments.
    pieces: String,
    /// The position of its call.
    call: Option<usize>,
    is_done: bool,
}

/// Adds the text, summary or arguments of an item that has none.
fn fill(mut item: Value, pieces: &str) -> Value {
    let (key, value) = match item["type"].as_str() {
        Some("message") => (
            "content",
            json!([{ "type": "output_text", "text": pieces }]),
        ),
        Some("reasoning") => (
            "summary",
            json!([{ "type": "summary_text", "text": pieces }]),
        ),
        Some("function_call") => ("arguments", json!(pieces)),
        Some("custom_tool_call") => ("input", json!(pieces)),
        _ => return item,
    };
    let known = &item[key];
    let is_empty = known.is_null() || *known == "" || *known == json!([]);
    if is_empty && !pieces.is_empty() {
        item[key] = value;
    }
    item
}

impl ResponseStream {
    /// Returns which item an event is about. Some servers leave out the position of the item, or its id, or both: then a
    /// piece is of the last item that is not done.
    fn find<'e>(&self, event: impl Json<'e>, item: &Value) -> Option<usize> {
        let items = &self.items;
        if let Some(place) = place(event) {
            return items.iter().rposition(|known| known.place == place);
        }
        let id = piece(item, "id").or(piece(event, "item_id"));
        let has_id = |known: &Item| id.is_some() && known.value["id"].as_str() == id;
        let is_same = |known: &Item| {
            let is_one = item.is_null()
                || ["type", "call_id"]
                    .iter()
                    .all(|key| known.value[*key] == item[*key]);
            !known.is_done && is_one
        };
        let by_id = items.iter().rposition(has_id);
        by_id.or_else(|| match item {
            Value::Null => items.iter().rposition(is_same),
            _ => items.iter().position(is_same),
        })
    }

    /// Adds an item. Returns which it is.
    fn add<'e>(&mut self, event: impl Json<'e>, value: Value) -> Result<usize, ResponseError> {
        check_count(self.items.len())?;
        // The position is the server's, which may be any number.
        let after = |item: &Item| item.place.saturating_add(1);
        let next = || self.items.iter().map(after).max();
        self.items.push(Item {
            place: place(event).or_else(next).unwrap_or(0),
            value,
            pieces: String::new(),
            call: None,
            is_done: false,
        });
        Ok(self.items.len() - 1)
    }

    /// Reads an event that adds a piece. Returns `false` for others.
    fn delta<'e>(
        &mut self,
        kind: &str,
        event: impl Json<'e>,
        out: &mut Output,
    ) -> Result<bool, ResponseError> {
        let delta = event.get("delta").as_str().unwrap_or_default();
        let of = match kind {
            "response.output_text.delta" | "response.refusal.delta" => "message",
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                "reasoning"
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                ""
            }
            _ => return Ok(false),
        };
        let found = match self.find(event, &Value::Null) {
            // Some servers announce no messages.
            None if of == "message" && !delta.is_empty() => {
                let message = json!({ "type": of, "role": "assistant" });
                Some(self.add(event, message)?)
            }
            found => found,
        };
        let item = found.map(|found| &mut self.items[found]);
        if let Some(item) = item {
            item.pieces.push_str(delta);
            match item.call {
                Some(index) if kind.starts_with("response.custom") => out.freeform(index, delta),
                Some(index) if of.is_empty() => out.arguments(index, delta),
                _ => {}
            }
        }
        match of {
            "message" if !delta.is_empty() => {
                if std::mem::take(&mut self.starts_paragraph) {
                    out.text("\n\n");
                }
                self.has_text = true;
                out.text(delta);
            }
            "reasoning" => out.reasoning(delta),
            _ => {}
        }
        Ok(true)
    }

    fn item(&mut self, event: &Value, is_done: bool, out: &mut Output) -> Read {
        let item = &event["item"];
        let is_named = place(event).is_some() || piece(item, "id").is_some();
        let found = self.find(event, item).filter(|_| is_done || is_named);
        let found = match found {
            Some(found) => found,
            None => self.add(event, item.clone())?,
        };
        if !is_done {
            out.release();
        }
        let known = &mut self.items[found];
        let was_done = known.is_done;
        if is_done {
            known.value = fill(item.clone(), &known.pieces);
            known.is_done = true;
        }
        if is_call(item) {
            let call = FORMAT.call(found, &known.value)?;
            let index = *known.call.get_or_insert_with(|| out.start(call.clone()));
            if is_done && !was_done {
                out.end(index, call);
            }
        } else if is_type(item, "message") && !is_done {
            self.starts_paragraph = self.has_text;
        }
        Ok(())
    }

    /// Returns the position of the call of an item of the whole response, and `true` if the call was read before. Some
    /// servers leave items out, which moves the others.
    fn started(&self, place: usize, call: &ToolCall) -> Option<(usize, bool)> {
        let has_id = |item: &&Item| item.value["call_id"].as_str().unwrap_or_default() == call.id;
        let is_there = |item: &&Item| item.place == place;
        let calls = || self.items.iter().filter(|item| item.call.is_some());
        let named = calls().filter(has_id);
        let known = named.clone().find(is_there);
        let known = known.or_else(|| named.clone().next().filter(|_| !call.id.is_empty()));
        let known = known.or_else(|| calls().filter(is_there).find(|item| !item.is_done));
        known.and_then(|item| Some((item.call?, item.is_done)))
    }

    /// Reads the whole response at the end of the stream.
    fn complete(&mut self, event: &Value, out: &mut Output) -> Read {
        let Value::Object(response) = &event["response"] else {
            return Err(FORMAT.error("`response` is missing"));
        };
        if self.response.is_some() {
            return Ok(());
        }
        let mut response = response.clone();
        match response.get_mut("output") {
            Some(Value::Array(output)) if !output.is_empty() => {
                // Some servers leave out text that they have sent before.
                for (place, item) in output.iter_mut().enumerate() {
                    let mut items = self.items.iter();
                    let known = items
                        .find(|known| known.place == place && known.value["type"] == item["type"]);
                    if let Some(known) = known.filter(|_| is_type(item, "message")) {
                        *item = fill(item.take(), &known.pieces);
                    }
                }
            }
            // And others everything.
            None | Some(Value::Null | Value::Array(_)) => {
                let mut items: Vec<_> = self.items.iter().collect();
                items.sort_by_key(|item| item.place);
                let items = items.into_iter();
                let items = items.map(|item| fill(item.value.clone(), &item.pieces));
                response.insert("output".into(), items.collect());
            }
            _ => {}
        }
        let whole = Value::Object(response);
        let items = FORMAT.array(&whole, "output")?;
        let is_truncated = FORMAT.is_truncated(&whole["status"]);
        out.release_last(is_truncated && items.last().is_some_and(is_call));
        for (place, item) in items.iter().enumerate().filter(|(_, item)| is_call(item)) {
            let mut call = FORMAT.call(place, item)?;
            let started = self.started(place, &call);
            if !started.is_some_and(|(_, is_read)| is_read) {
                if is_truncated && place + 1 == items.len() {
                    mark_truncated(&mut call);
                }
                let index = started.map_or_else(|| out.start(call.clone()), |(index, _)| index);
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
            return Err(FORMAT.untyped(event, "type"));
        };
        if self.delta(kind, event, out)? {
            return Ok(());
        }
        match kind {
            "response.output_item.added" if event["item"].is_object() => {
                self.item(event, false, out)?;
            }
            "response.output_item.done" if event["item"].is_object() => {
                self.item(event, true, out)?;
            }
            "response.completed" | "response.incomplete" => self.complete(event, out)?,
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
            Some(kind) if self.delta(kind, event, out)? => Ok(()),
            _ => self.read(&event.value(), out),
        }
    }

    fn end(&mut self, is_done: bool, out: &mut Output) -> Read {
        match &self.response {
            Some(_) => Ok(()),
            None if is_done && !self.items.is_empty() => {
                self.complete(&json!({ "response": {} }), out)
            }
            None => Err(broken_off("`response.completed` is missing")),
        }
    }

    fn kept(&mut self) -> usize {
        let items = self.items.iter();
        let items = items.map(|item| size([&item.value]) + item.pieces.len());
        items.sum::<usize>() + size(self.response.iter().flat_map(Map::values))
    }

    fn response(self) -> Result<Value, ResponseError> {
        Ok(Value::Object(self.response.unwrap_or_default()))
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
