//! The stream of chat completions, which several providers share (`ChatCompletionChunk` and
//! `ChatCompletionStreamState` of OpenAI's Python SDK 3.54, `CompletionChunk` of Mistral's 3.7,
//! 2026-11).

use serde_json::{Map, Value, json};

use super::USAGE;
use crate::provider::event::{Event, Json, Latest};
use crate::provider::response::{ResponseError, ResponseFormat, mark_truncated};
use crate::provider::stream::{
    Output, StreamFormat, append, broken_off, is_complete, merge, piece,
};

pub(crate) struct Chunks {
    format: &'static ResponseFormat,
    /// `true` if hosted tools may answer calls in the same response, so that only the end tells which
    /// calls are left.
    has_hosted_calls: bool,
    /// The response without its choices.
    response: Latest,
    choices: Vec<Choice>,
    is_stopped: bool,
}

#[derive(Default)]
struct Choice {
    index: u64,
    /// The choice without its messages.
    rest: Map<String, Value>,
    /// More than one only with hosted tools.
    messages: Vec<Message>,
}

#[derive(Default)]
struct Message {
    index: u64,
    /// The message without its calls.
    rest: Map<String, Value>,
    calls: Vec<Call>,
}

struct Call {
    index: Option<u64>,
    value: Map<String, Value>,
    /// The position among the calls of the response, once the name is known.
    started: Option<usize>,
    /// `true` once the call was emitted, or can't be before the end.
    is_checked: bool,
    is_emitted: bool,
}

impl Chunks {
    pub(crate) fn new(format: &'static ResponseFormat) -> Chunks {
        Chunks {
            format,
            has_hosted_calls: false,
            response: Latest::default(),
            choices: Vec::new(),
            is_stopped: false,
        }
    }

    pub(crate) fn with_hosted_calls(mut self) -> Chunks {
        self.has_hosted_calls = true;
        self
    }

    fn choice<'e>(&mut self, choice: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        let index = choice.get("index").as_u64().unwrap_or(0);
        let known = self.choices.iter().position(|known| known.index == index);
        let place = known.unwrap_or_else(|| {
            self.choices.push(Choice {
                index,
                ..Choice::default()
            });
            self.choices.len() - 1
        });
        let first = index == 0;
        if !choice.is_object() {
            return Err(self.format.error("an item of `choices` is not an object"));
        }
        for (key, value) in choice.members().filter(|(key, _)| *key != "delta") {
            let rest = &mut self.choices[place].rest;
            match rest.get_mut(key) {
                Some(Value::Object(known)) if key == "logprobs" => merge(known, value),
                Some(known) => {
                    if !value.is_null() && !value.is(known) {
                        *known = value.value().into_owned();
                    }
                }
                None => {
                    rest.insert(key.to_owned(), value.value().into_owned());
                }
            }
        }
        let delta = choice.get("delta");
        if delta.is_object() {
            self.delta(place, delta, first, out)?;
        } else if choice.get("message").is_object() {
            return Err(self
                .format
                .error("this is a whole response, and no event of a stream"));
        }
        if let Some(reason) = piece(choice, "finish_reason")
            && first
            && !self.is_stopped
        {
            self.is_stopped = true;
            self.emit_calls(&choice.get("finish_reason").value(), out)?;
            out.stop(reason);
        }
        Ok(())
    }

    fn delta<'e>(
        &mut self,
        choice: usize,
        delta: impl Json<'e>,
        first: bool,
        out: &mut Output,
    ) -> Result<(), ResponseError> {
        let messages = &mut self.choices[choice].messages;
        let index = if self.has_hosted_calls {
            delta.get("index").as_u64().unwrap_or(0)
        } else {
            0
        };
        let known = messages.iter().position(|known| known.index == index);
        let place = known.unwrap_or_else(|| {
            messages.push(Message {
                index,
                ..Message::default()
            });
            messages.len() - 1
        });
        let place = (choice, place);
        let mut members = delta.members();
        let (one, another) = (members.next(), members.next());
        if let (Some((key, value)), None) = (one, another) {
            return self.member(place, key, value, first, out);
        }
        let members = one.into_iter().chain(another).chain(members);
        let mut members: Vec<_> = members.collect();
        // The pieces of one delta come in this order, however the event was read.
        members.sort_unstable_by_key(|(key, _)| *key);
        for (key, value) in members {
            self.member(place, key, value, first, out)?;
        }
        Ok(())
    }

    /// Reads a member of a delta, whose message is at `place`.
    fn member<'e>(
        &mut self,
        place: (usize, usize),
        key: &str,
        value: impl Json<'e>,
        first: bool,
        out: &mut Output,
    ) -> Result<(), ResponseError> {
        let message = &mut self.choices[place.0].messages[place.1];
        match (key, value.as_str()) {
            ("tool_calls", _) => {
                for call in value.items() {
                    self.call(place, call, first, out)?;
                }
            }
            ("index", _) if self.has_hosted_calls => {}
            ("content", Some(text)) => {
                add_text(&mut message.rest, text);
                if first {
                    out.text(text);
                }
            }
            ("content", _) if value.is_array() => {
                let parts = value.items().map(|part| part.value().into_owned());
                add_parts(&mut message.rest, &parts.collect::<Vec<_>>(), first, out);
            }
            // DeepSeek, xAI and vLLM name it `reasoning_content`, OpenRouter `reasoning`.
            ("refusal" | "reasoning_content" | "reasoning", Some(text)) => {
                append(&mut message.rest, key, text);
                match key {
                    _ if !first => {}
                    "refusal" => out.text(text),
                    _ => out.reasoning(text),
                }
            }
            _ if value.is_null() && message.rest.contains_key(key) => {}
            _ => {
                let update = Map::from_iter([(key.to_owned(), value.value().into_owned())]);
                merge(&mut message.rest, &Value::Object(update));
            }
        }
        Ok(())
    }

    /// Reads a piece of a call, whose message is at `place`.
    fn call<'e>(
        &mut self,
        place: (usize, usize),
        delta: impl Json<'e>,
        first: bool,
        out: &mut Output,
    ) -> Result<(), ResponseError> {
        if !delta.is_object() {
            return Err(self
                .format
                .error("an item of `tool_calls` is not an object"));
        }
        let index = delta.get("index").as_u64();
        let function = delta.get("function");
        let calls = &mut self.choices[place.0].messages[place.1].calls;
        // Some servers number all calls 0, or not at all, and send each of them whole.
        let is_new = |call: &Call| {
            let id = piece(delta, "id");
            let is_other =
                id.is_some_and(|id| call.value.get("id").is_some_and(|known| known != id));
            let has_name = |key| piece(delta.get(key), "name").is_some();
            let is_whole = || {
                let arguments = call.value.get("function").map(|call| &call["arguments"]);
                let arguments = arguments.and_then(Value::as_str).unwrap_or_default();
                !has_id(&call.value)
                    && piece(function, "arguments").is_some()
                    && is_complete(&arguments.into())
            };
            (is_other || id.is_none() && is_whole()) && (has_name("function") || has_name("custom"))
        };
        let known = match index {
            Some(_) => calls.iter().rposition(|call| call.index == index),
            None => calls.len().checked_sub(1),
        };
        let known = known.filter(|&known| !is_new(&calls[known]));
        let at = if let Some(at) = known {
            at
        } else {
            calls.push(Call {
                index,
                value: Map::new(),
                started: None,
                is_checked: false,
                is_emitted: false,
            });
            calls.len() - 1
        };
        if known.is_none() && first && !self.has_hosted_calls {
            self.emit_complete(place, at, out)?;
        }
        let format = self.format;
        let call = &mut self.choices[place.0].messages[place.1].calls[at];
        let input = delta.get("custom").get("input");
        let arguments = if input.is_null() {
            function.get("arguments")
        } else {
            input
        };
        if call.is_emitted
            && arguments
                .as_str()
                .is_some_and(|text| !text.trim_ascii().is_empty())
        {
            return Err(format.error("a call goes on after its arguments were complete"));
        }
        merge(&mut call.value, delta);
        if !first {
            return Ok(());
        }
        let mut piece = arguments.as_str().unwrap_or_default().to_owned();
        if call.started.is_none() {
            let value = Value::Object(call.value.clone());
            let Ok(started) = format.call(at, &value) else {
                return Ok(());
            };
            if !(format.is_call)(&value) {
                return Ok(());
            }
            call.started = Some(out.start(started));
            // Including what came before the name.
            let arguments = if format.is_custom(&value) {
                &value["custom"]["input"]
            } else {
                &value["function"]["arguments"]
            };
            piece = match arguments {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                arguments => arguments.to_string(),
            };
        }
        match call.started {
            Some(index) if call.value.get("custom").is_some_and(Value::is_object) => {
                out.freeform(index, piece);
            }
            Some(index) => out.arguments(index, piece),
            None => {}
        }
        Ok(())
    }

    /// Emits the calls before position `end` whose arguments are complete.
    fn emit_complete(
        &mut self,
        place: (usize, usize),
        end: usize,
        out: &mut Output,
    ) -> Result<(), ResponseError> {
        let calls = &mut self.choices[place.0].messages[place.1].calls;
        // Those before were checked when this one started.
        let Some((at, call)) = calls[..end].iter_mut().enumerate().next_back() else {
            return Ok(());
        };
        let is_function = call.value.get("type").is_none_or(|kind| kind == "function");
        let (Some(index), false) = (call.started, call.is_checked || !is_function) else {
            return Ok(());
        };
        call.is_checked = true;
        let read = self.format.call(at, &Value::Object(call.value.clone()))?;
        if is_complete(&read.arguments) {
            call.is_emitted = true;
            out.call(index, read);
        }
        Ok(())
    }

    /// Emits the calls that are left at the end, except those that a hosted tool has answered.
    fn emit_calls(&mut self, stop: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let first = self.choices.iter().find(|choice| choice.index == 0);
        let messages = first.map_or(&[][..], |choice| &choice.messages);
        let is_truncated = self.format.is_truncated(stop);
        for (at_message, message) in messages.iter().enumerate() {
            let is_last_message = at_message + 1 == messages.len();
            for (at, call) in message.calls.iter().enumerate() {
                let value = Value::Object(call.value.clone());
                if call.is_emitted || !(self.format.is_call)(&value) {
                    continue;
                }
                let mut read = self.format.call(at, &value)?;
                let index = call.started.unwrap_or_else(|| out.start(read.clone()));
                if is_truncated && is_last_message && at + 1 == message.calls.len() {
                    mark_truncated(&mut read);
                }
                let mut answers = messages.iter();
                if !answers.any(|message| message.answers(&read.id)) {
                    out.call(index, read);
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if a call has an id.
fn has_id(call: &Map<String, Value>) -> bool {
    call.get("id")
        .and_then(Value::as_str)
        .is_some_and(|id| !id.is_empty())
}

impl Choice {
    fn into_value(self, keeps_index: bool) -> Value {
        let mut value = self.rest;
        let messages = self.messages.into_iter();
        let mut messages = messages.map(|message| message.into_value(keeps_index));
        let (first, second) = (messages.next(), messages.next());
        match (first, second) {
            (None, _) => value.insert("message".into(), json!({ "role": "assistant" })),
            (Some(only), None) => value.insert("message".into(), only),
            (first, second) => {
                let all = first.into_iter().chain(second).chain(messages);
                value.insert("messages".into(), all.collect())
            }
        };
        Value::Object(value)
    }
}

impl Message {
    /// Returns `true` for the result of a call.
    fn answers(&self, id: &str) -> bool {
        self.rest
            .get("tool_call_id")
            .is_some_and(|known| known == id)
    }

    fn into_value(self, keeps_index: bool) -> Value {
        let mut value = self.rest;
        if !self.calls.is_empty() {
            let calls = self.calls.into_iter().map(|mut call| {
                if !keeps_index {
                    call.value.remove("index");
                }
                Value::Object(call.value)
            });
            value.insert("tool_calls".into(), calls.collect());
        }
        Value::Object(value)
    }
}

/// Adds text to a content that may consist of parts.
fn add_text(message: &mut Map<String, Value>, text: &str) {
    match message.get_mut("content") {
        Some(Value::Array(parts)) if !text.is_empty() => {
            add_part(parts, &json!({ "type": "text", "text": text }));
        }
        Some(Value::Array(_)) => {}
        _ => append(message, "content", text),
    }
}

/// Adds parts of Mistral's content. Text before them becomes a part.
fn add_parts(message: &mut Map<String, Value>, parts: &[Value], first: bool, out: &mut Output) {
    let content = message.entry("content").or_insert(Value::Null);
    if let Some(text) = content.as_str().filter(|text| !text.is_empty()) {
        *content = json!([{ "type": "text", "text": text }]);
    } else if !content.is_array() {
        *content = Value::Array(Vec::new());
    }
    for part in parts {
        if first {
            out.text(part["text"].as_str().unwrap_or_default());
            for thought in part["thinking"].as_array().into_iter().flatten() {
                out.reasoning(thought["text"].as_str().unwrap_or_default());
            }
        }
        if let Value::Array(content) = content {
            add_part(content, part);
        }
    }
}

/// Adds a part, or continues the last one if both are text or both are reasoning.
fn add_part(parts: &mut Vec<Value>, part: &Value) {
    let last = parts.last_mut().filter(|last| last["type"] == part["type"]);
    let Some(Value::Object(last)) = last else {
        return parts.push(part.clone());
    };
    match part["type"].as_str() {
        Some("text") => append(last, "text", part["text"].as_str().unwrap_or_default()),
        Some("thinking") => {
            for (key, value) in part.as_object().into_iter().flatten() {
                match (last.get_mut(key), value) {
                    (Some(Value::Array(known)), Value::Array(more)) => {
                        for part in more {
                            add_part(known, part);
                        }
                    }
                    _ => {
                        last.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        _ => parts.push(part.clone()),
    }
}

impl Chunks {
    fn chunk<'e>(&mut self, event: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        if !event.is_object() {
            return Err(self.format.error("an event is not an object"));
        }
        let (mut choices, mut usage, mut is_error) = (None, None, false);
        // In one pass, because a look-up compares many keys.
        for (key, value) in event.members() {
            match key {
                "choices" => {
                    choices = Some(value);
                    continue;
                }
                "error" if !value.is_null() => self.format.check_error(&event.value())?,
                "object" => is_error = value.as_str() == Some("error"),
                "usage" => usage = USAGE.read(value),
                _ => {}
            }
            if !value.is_null() || !self.response.has(key) {
                self.response.set(key, value);
            }
        }
        if is_error {
            return Err(self.format.provider_error(&event.value()));
        }
        match choices {
            Some(choices) if choices.is_array() => {
                for choice in choices.items() {
                    self.choice(choice, out)?;
                }
            }
            Some(choices) if !choices.is_null() => {
                return Err(self.format.error("`choices` is not an array"));
            }
            _ => {}
        }
        out.usage(usage);
        Ok(())
    }
}

impl StreamFormat for Chunks {
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        self.chunk(event, out)
    }

    fn read_event(&mut self, event: Event<'_>, out: &mut Output) -> Result<(), ResponseError> {
        self.chunk(event, out)
    }

    fn response(self) -> Result<Value, ResponseError> {
        if !self.is_stopped {
            return Err(broken_off("`finish_reason` is missing"));
        }
        let keeps_index = self.has_hosted_calls;
        let mut response = self.response.into_values();
        response.insert("object".into(), "chat.completion".into());
        let mut choices = self.choices;
        choices.sort_by_key(|choice| choice.index);
        let choices = choices.into_iter();
        let choices = choices.map(|choice| choice.into_value(keeps_index));
        response.insert("choices".into(), choices.collect());
        Ok(Value::Object(response))
    }
}
