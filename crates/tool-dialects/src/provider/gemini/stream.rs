//! The stream of Gemini: responses, each with further parts (`GenerateContentResponse` of Google's Gen AI
//! SDK 3.4, 2026-11).

use serde_json::{Map, Value};
use tool_core::dialect::ResponseError;
use tool_core::dialect::write::{Event, Json};

use super::response::{FORMAT, USAGE};
use crate::provider::latest::Latest;
use crate::provider::stream::{Output, StreamFormat, broken_off, size, update};

#[derive(Default)]
pub(super) struct Chunks {
    /// The response without its candidates.
    response: Latest,
    /// The first candidate without its content.
    candidate: Map<String, Value>,
    content: Map<String, Value>,
    parts: Vec<Value>,
    /// The position of a call whose arguments are streamed, which is the last part.
    open_call: Option<usize>,
    is_blocked: bool,
}

impl Chunks {
    fn part<'e>(&mut self, part: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        let call = part.get("functionCall");
        if self.open_call.is_some() && call.is_object() && call.get("name").is_null() {
            return self.continue_call(&part.value(), out);
        }
        if self.open_call.is_some() {
            return Err(FORMAT.error("a call has not ended when the next part starts"));
        }
        out.release();
        if call.is_object() {
            return self.start_call(&part.value(), out);
        }
        let Some(text) = part.get("text").as_str() else {
            self.parts.push(part.value().into_owned());
            return Ok(());
        };
        let thought = part.get("thought");
        if thought.is(&Value::Bool(true)) {
            out.reasoning(text);
        } else {
            out.text(text);
        }
        // A part with a signature must be sent back unmerged (Gemini's guide "Thought signatures",
        // 2025-11).
        match self.parts.last_mut() {
            Some(last) if is_plain(&*last) && is_plain(part) && thought.is(&last["thought"]) => {
                if let Value::String(known) = &mut last["text"] {
                    known.push_str(text);
                }
            }
            _ => self.parts.push(part.value().into_owned()),
        }
        Ok(())
    }

    fn start_call(&mut self, part: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let call = FORMAT.call(self.parts.len(), part)?;
        let index = out.start(call.clone());
        let streamed = &part["functionCall"];
        self.parts.push(part.clone());
        if streamed["willContinue"] == true || !streamed["partialArgs"].is_null() {
            self.open_call = Some(index);
            if let Some(Value::Object(call)) = self.call_mut() {
                call.remove("partialArgs");
                call.remove("willContinue");
                call.entry("args").or_insert_with(|| Map::new().into());
            }
            return self.add_arguments(streamed, out);
        }
        let arguments = &streamed["args"];
        if arguments.is_object() {
            out.arguments(index, arguments.to_string());
        }
        // The provider may have closed an incomplete value.
        out.hold(index, call);
        Ok(())
    }

    fn continue_call(&mut self, part: &Value, out: &mut Output) -> Result<(), ResponseError> {
        if let (Some(signature), Some(Value::Object(last))) =
            (part.get("thoughtSignature"), self.parts.last_mut())
        {
            last.insert("thoughtSignature".into(), signature.clone());
        }
        self.add_arguments(&part["functionCall"], out)
    }

    /// Adds arguments that are streamed (`PartialArg`, Vertex AI).
    fn add_arguments(&mut self, call: &Value, out: &mut Output) -> Result<(), ResponseError> {
        for part in call["partialArgs"].as_array().into_iter().flatten() {
            let path = part["jsonPath"].as_str().and_then(steps);
            let arguments = self.call_mut().and_then(|call| call.get_mut("args"));
            let (Some(path), Some(arguments)) = (path, arguments) else {
                return Err(FORMAT.error("`partialArgs` has no valid `jsonPath`"));
            };
            if !set(arguments, &path, part) {
                return Err(FORMAT.error("`partialArgs` does not fit the arguments so far"));
            }
        }
        if call["willContinue"] != true {
            let index = self.open_call.take().unwrap_or_default();
            let place = self.parts.len() - 1;
            let call = FORMAT.call(place, &self.parts[place])?;
            let arguments = &self.parts[place]["functionCall"]["args"];
            out.arguments(index, arguments.to_string());
            out.hold(index, call);
        }
        Ok(())
    }

    /// Returns `true` as long as there is no candidate.
    fn is_empty(&self) -> bool {
        self.candidate.is_empty() && self.content.is_empty() && self.parts.is_empty()
    }

    fn call_mut(&mut self) -> Option<&mut Value> {
        self.parts.last_mut()?.get_mut("functionCall")
    }
}

/// Returns `true` for text, or a thought, without a signature or other members.
fn is_plain<'e>(part: impl Json<'e>) -> bool {
    let mut members = part.members();
    members.all(|(key, _)| key == "text" || key == "thought") && part.get("text").as_str().is_some()
}

/// A step of a path to an argument.
enum Step {
    Key(String),
    Index(usize),
}

/// Parses a path as `$.foo.bar[0]["key"]`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            steps.push(Step::Key(after[..end].to_owned()));
            rest = &after[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        if let Some(quote @ ('"' | '\'')) = inner.chars().next() {
            let (key, after) = inner[1..].split_once(quote)?;
            steps.push(Step::Key(key.to_owned()));
            rest = after.strip_prefix(']')?;
        } else {
            let (index, after) = inner.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            rest = after;
        }
    }
    Some(steps)
}

/// Sets or continues the argument at a path. Returns `false` if the path does not fit.
fn set(arguments: &mut Value, path: &[Step], part: &Value) -> bool {
    let mut place = arguments;
    for step in path {
        place = match step {
            Step::Key(key) => {
                if place.is_null() {
                    *place = Map::new().into();
                }
                let Value::Object(members) = place else {
                    return false;
                };
                members.entry(key.clone()).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if place.is_null() {
                    *place = Value::Array(Vec::new());
                }
                let Value::Array(items) = place else {
                    return false;
                };
                if *index == items.len() {
                    items.push(Value::Null);
                }
                match items.get_mut(*index) {
                    Some(item) => item,
                    None => return false,
                }
            }
        };
    }
    let members = part.as_object().into_iter().flatten();
    for (key, value) in members {
        match (&**key, value) {
            ("stringValue", Value::String(piece)) => match &mut *place {
                Value::String(text) => text.push_str(piece),
                other => *other = piece.as_str().into(),
            },
            ("numberValue" | "boolValue", value) => *place = value.clone(),
            ("nullValue", _) => *place = Value::Null,
            _ => {}
        }
    }
    true
}

impl Chunks {
    fn chunk<'e>(&mut self, event: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        if !event.get("error").is_null() {
            FORMAT.check_error(&event.value())?;
        }
        if !event.is_object() {
            return Err(FORMAT.error("an event is not an object"));
        }
        for (key, value) in event.members() {
            if key != "candidates" && !value.is_null() {
                self.response.set(key, value);
            }
        }
        let candidate = event.get("candidates").first();
        if candidate.is_null()
            && let Some(error) = FORMAT.reported(&event.value())
        {
            return Err(error);
        }
        let content = candidate.get("content");
        for (key, value) in content.members().filter(|(key, _)| *key != "parts") {
            set_member(&mut self.content, key, value);
        }
        for part in content.get("parts").items() {
            self.part(part, out)?;
        }
        for (key, value) in candidate.members().filter(|(key, _)| *key != "content") {
            match self.candidate.get_mut(key) {
                Some(_) if value.is_null() => {}
                Some(Value::Object(known)) if value.is_object() => update(known, &value.value()),
                _ => set_member(&mut self.candidate, key, value),
            }
        }
        out.usage(USAGE.read(event.get("usageMetadata")));
        if let Some(reason) = candidate.get("finishReason").as_str() {
            // Some chunks have a reason of their own, and more parts follow.
            out.release_last(FORMAT.is_truncated(&reason.into()));
            out.stop(reason);
        } else if let Some(reason) = event.get("promptFeedback").get("blockReason").as_str()
            && self.is_empty()
        {
            out.stop(reason);
            self.is_blocked = true;
        }
        Ok(())
    }
}

/// Sets a member, which most events repeat.
fn set_member<'e>(members: &mut Map<String, Value>, key: &str, value: impl Json<'e>) {
    match members.get_mut(key) {
        Some(known) if value.is(known) => {}
        Some(known) => *known = value.value().into_owned(),
        None => {
            members.insert(key.to_owned(), value.value().into_owned());
        }
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
        let stop = self.candidate.get("finishReason");
        if !is_done && !self.is_blocked && !stop.is_some_and(Value::is_string) {
            return Err(broken_off("`finishReason` is missing"));
        }
        if self.open_call.is_some() {
            return Err(broken_off("a call has not ended"));
        }
        out.release_last(stop.is_some_and(|stop| FORMAT.is_truncated(stop)));
        Ok(())
    }

    fn kept(&mut self) -> usize {
        let candidate = self.candidate.values().chain(self.content.values());
        self.response.size() + size(candidate.chain(&self.parts))
    }

    fn response(self) -> Result<Value, ResponseError> {
        if self.is_empty() {
            return Ok(Value::Object(self.response.into_values()));
        }
        let mut candidate = self.candidate;
        if !self.parts.is_empty() || !self.content.is_empty() {
            let mut content = self.content;
            content.insert("parts".into(), self.parts.into());
            candidate.insert("content".into(), content.into());
        }
        let mut response = self.response.into_values();
        response.insert("candidates".into(), vec![Value::Object(candidate)].into());
        Ok(Value::Object(response))
    }
}
