//! The stream of chat completions, which several providers share (`ChatCompletionChunk` and
//! `ChatCompletionStreamState` of OpenAI's Python SDK 3.54, `CompletionChunk` of Mistral's 3.7,
//! 2026-11).

use serde_json::{Map, Value, json};
use tool_core::dialect::ResponseError;
use tool_core::dialect::write::{Event, Json};

use super::USAGE;
use super::calls::{Call, Calls, Piece, is_empty};
use crate::provider::latest::Latest;
use crate::provider::response::{ResponseFormat, mark_truncated};
use crate::provider::stream::{
    MOST, Output, StreamFormat, append, broken_off, is_complete, merge, merge_member, size,
};

pub(crate) struct Chunks {
    format: &'static ResponseFormat,
    /// `true` if hosted tools may answer calls in the same response, so that only the end tells which
    /// calls are left.
    has_hosted_calls: bool,
    /// The response without its choices.
    response: Latest,
    /// The first is the answer.
    choices: Vec<Choice>,
    /// Set once no more log probabilities are kept, because in a long answer they take more memory than all
    /// else.
    has_long_logprobs: bool,
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
    calls: Calls,
}

impl Chunks {
    pub(crate) fn new(format: &'static ResponseFormat) -> Chunks {
        Chunks {
            format,
            has_hosted_calls: false,
            response: Latest::default(),
            choices: Vec::new(),
            has_long_logprobs: false,
        }
    }

    pub(crate) fn with_hosted_calls(mut self) -> Chunks {
        self.has_hosted_calls = true;
        self
    }

    fn choice<'e>(&mut self, choice: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        if !choice.is_object() {
            return Err(self.format.error("an item of `choices` is not an object"));
        }
        let index = choice.get("index").as_u64().unwrap_or(0);
        let known = self.choices.iter().position(|known| known.index == index);
        let place = known.unwrap_or_else(|| {
            self.choices.push(Choice {
                index,
                ..Choice::default()
            });
            self.choices.len() - 1
        });
        let first = place == 0;
        let (mut delta, mut message, mut stop) = (None, None, None);
        for (key, value) in choice.members() {
            match key {
                "delta" => delta = Some(value),
                "message" => message = Some(value),
                "finish_reason" => {
                    if self.choices[place].stop(value) {
                        stop = value.as_str();
                    }
                }
                "logprobs" if self.has_long_logprobs => {}
                _ => self.choices[place].member(key, value),
            }
        }
        if let Some(delta) = delta.filter(|delta| delta.is_object()) {
            self.delta(place, delta, first, out)?;
        }
        // Some servers send a short response whole, others repeat it at the end.
        let mut messages = self.choices[place].messages.iter();
        if let Some(message) = message.filter(|message| message.is_object())
            && messages.all(Message::is_empty)
        {
            self.delta(place, message, first, out)?;
        }
        if let Some(reason) = stop.filter(|_| first) {
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
            ("tool_calls", _) if value.is_object() => {
                self.call(place, value, (0, 1), first, out)?;
            }
            ("tool_calls", _) => {
                let count = value.items().count();
                for (at, call) in value.items().enumerate() {
                    self.call(place, call, (at, count), first, out)?;
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
            _ => merge_member(&mut message.rest, key, value),
        }
        Ok(())
    }

    /// Reads a piece of a call, whose message is at `place`. `of` is its place in the delta, and how many calls that has.
    fn call<'e>(
        &mut self,
        place: (usize, usize),
        delta: impl Json<'e>,
        of: (usize, usize),
        first: bool,
        out: &mut Output,
    ) -> Result<(), ResponseError> {
        if !delta.is_object() {
            return Err(self
                .format
                .error("an item of `tool_calls` is not an object"));
        }
        let format = self.format;
        let calls = &mut self.choices[place.0].messages[place.1].calls;
        let piece = Piece::of(delta);
        let found = calls.find(&piece, of);
        let found = found.map_err(|problem| format.error(format_args!("a call: {problem}")))?;
        let at = found.unwrap_or(calls.list.len());
        if found.is_none() {
            if first && !self.has_hosted_calls {
                emit_complete(format, &mut calls.list, out)?;
            }
            calls.list.push(Call::new(&piece));
        }
        let call = &mut calls.list[at];
        call.add(delta);
        if !first {
            return Ok(());
        }
        let mut piece = piece.text;
        if call.started.is_none() {
            let value = call.to_value(true);
            if call.name().is_empty() || !(format.is_call)(&value) {
                return Ok(());
            }
            call.started = Some(out.start(format.call(at, &value)?));
            // Including what came before the name.
            piece = call.arguments().into_owned().into();
        }
        // The arguments may follow an empty object, which would show that they are not valid.
        if !call.is_shown && !call.is_custom() && is_empty(&call.arguments()) {
            return Ok(());
        }
        call.is_shown |= !piece.is_empty();
        match call.started {
            Some(index) if call.is_custom() => out.freeform(index, piece),
            Some(index) => out.arguments(index, piece),
            None => {}
        }
        Ok(())
    }

    /// Emits the calls that are left at the end, except calls that a hosted tool has answered.
    fn emit_calls(&mut self, out: &mut Output) -> Result<(), ResponseError> {
        let Some(choice) = self.choices.first() else {
            return Ok(());
        };
        let stop = choice.rest.get("finish_reason").unwrap_or(&Value::Null);
        let is_truncated = self.format.is_truncated(stop);
        let messages = &choice.messages;
        for (at_message, message) in messages.iter().enumerate() {
            let is_last_message = at_message + 1 == messages.len();
            let calls = &message.calls.list;
            for (at, call) in calls.iter().enumerate() {
                let value = call.to_value(true);
                if call.has_changed() {
                    let problem = "a call goes on after its arguments were complete";
                    return Err(self.format.error(problem));
                }
                if call.emitted.is_some() || !(self.format.is_call)(&value) {
                    continue;
                }
                let mut read = self.format.call(at, &value)?;
                let index = call.started.unwrap_or_else(|| out.start(read.clone()));
                if is_truncated && is_last_message && at + 1 == calls.len() {
                    mark_truncated(&mut read);
                }
                let mut answers = messages.iter();
                if !answers.any(|message| message.answers(&read.id)) {
                    if !call.is_shown && !call.is_custom() {
                        out.arguments(index, call.arguments());
                    }
                    out.call(index, read);
                }
            }
        }
        Ok(())
    }
}

impl Choice {
    /// Reads a reason to stop. Returns `true` if it replaces the known one: the last one counts, because some servers send one
    /// with each call. But a later "stop" says less than any other reason.
    fn stop<'e>(&mut self, reason: impl Json<'e>) -> bool {
        let known = self.rest.get("finish_reason");
        let has_reason = known
            .and_then(Value::as_str)
            .is_some_and(|known| !known.is_empty());
        let is_new = match reason.as_str() {
            None | Some("") => false,
            Some("stop") => !has_reason,
            Some(_) => known.is_none_or(|known| !reason.is(known)),
        };
        if is_new || known.is_none() {
            let reason = reason.value().into_owned();
            self.rest.insert("finish_reason".into(), reason);
        }
        is_new
    }

    /// Reads any other member than its message.
    fn member<'e>(&mut self, key: &str, value: impl Json<'e>) {
        match self.rest.get_mut(key) {
            Some(Value::Object(known)) if key == "logprobs" => merge(known, value),
            Some(known) => {
                if !value.is_null() && !value.is(known) {
                    *known = value.value().into_owned();
                }
            }
            None => {
                self.rest.insert(key.to_owned(), value.value().into_owned());
            }
        }
    }

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
    /// Returns `true` if it has nothing but a role.
    fn is_empty(&self) -> bool {
        let mut rest = self.rest.iter();
        let is_nothing = |value: &Value| value.is_null() || *value == "" || *value == json!([]);
        self.calls.list.is_empty() && rest.all(|(key, value)| key == "role" || is_nothing(value))
    }

    /// Returns `true` for the result of a call.
    fn answers(&self, id: &str) -> bool {
        self.rest
            .get("tool_call_id")
            .is_some_and(|known| known == id)
    }

    fn into_value(self, keeps_index: bool) -> Value {
        let mut value = self.rest;
        let calls = self.calls.list;
        if !calls.is_empty() {
            let calls = calls.iter().map(|call| call.to_value(keeps_index));
            value.insert("tool_calls".into(), calls.collect());
        }
        Value::Object(value)
    }
}

/// Emits the last call if nothing that a server sends can change it, now that another one starts. Servers go on after an
/// empty object, and otherwise only by adding to the text that they have sent.
fn emit_complete(
    format: &ResponseFormat,
    calls: &mut [Call],
    out: &mut Output,
) -> Result<(), ResponseError> {
    let Some((at, call)) = calls.iter_mut().enumerate().next_back() else {
        return Ok(());
    };
    let (Some(index), false) = (
        call.started,
        call.is_custom() || is_empty(&call.arguments()),
    ) else {
        return Ok(());
    };
    let read = format.call(at, &call.to_value(true))?;
    if is_complete(&read.arguments) {
        call.emitted = Some(call.arguments().into_owned());
        out.call(index, read);
    }
    Ok(())
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
            _ => {
                // Every event of the stream says so.
                if event.get("object").is_null()
                    && let Some(error) = self.format.reported(&event.value())
                {
                    return Err(error);
                }
            }
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

    fn end(&mut self, is_done: bool, out: &mut Output) -> Result<(), ResponseError> {
        let first = self.choices.first().map(|first| &first.rest);
        let stop = first.and_then(|rest| rest.get("finish_reason"));
        if !is_done && stop.and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(broken_off("neither `finish_reason` nor `[DONE]` came"));
        }
        self.emit_calls(out)
    }

    fn kept(&mut self) -> usize {
        let choices = self.choices.iter().map(|choice| {
            let messages = choice.messages.iter().map(|message| {
                let calls = message.calls.list.iter().map(Call::size);
                size(message.rest.values()) + calls.sum::<usize>()
            });
            size(choice.rest.values()) + messages.sum::<usize>()
        });
        let kept = self.response.size() + choices.sum::<usize>();
        self.has_long_logprobs |= kept > MOST / 2;
        kept
    }

    fn response(self) -> Result<Value, ResponseError> {
        let keeps_index = self.has_hosted_calls;
        let mut response = self.response.into_values();
        response.insert("object".into(), "chat.completion".into());
        let mut choices = self.choices;
        if let [_, others @ ..] = &mut choices[..] {
            others.sort_by_key(|choice| choice.index);
        }
        let choices = choices.into_iter();
        let choices = choices.map(|choice| choice.into_value(keeps_index));
        response.insert("choices".into(), choices.collect());
        Ok(Value::Object(response))
    }
}
