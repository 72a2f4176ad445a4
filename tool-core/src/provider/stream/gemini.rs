//! The stream of Gemini: responses, each with further parts (`GenerateContentResponse` of Google's Gen AI
//! SDK 3.4, 2026-11).

use serde_json::{Map, Value};

use super::{Calls, StreamEvent, StreamFormat, broken_off, update};
use crate::call::ToolCall;
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::usage::Usage;

/// Returns an error for a response without an answer.
type Check = fn(&Value) -> Result<Vec<ToolCall>, ResponseError>;

pub(crate) struct Chunks {
    format: &'static ResponseFormat,
    check: Check,
    /// The response without its candidates.
    response: Map<String, Value>,
    /// The first candidate without its content.
    candidate: Map<String, Value>,
    content: Map<String, Value>,
    parts: Vec<Value>,
    /// The position of a call whose arguments are streamed, which is the last part.
    open_call: Option<usize>,
    calls: Calls,
    is_stopped: bool,
}

impl Chunks {
    /// `check` reads the calls of a whole response.
    pub(crate) fn new(format: &'static ResponseFormat, check: Check) -> Chunks {
        Chunks {
            format,
            check,
            response: Map::new(),
            candidate: Map::new(),
            content: Map::new(),
            parts: Vec::new(),
            open_call: None,
            calls: Calls::default(),
            is_stopped: false,
        }
    }

    fn part(&mut self, part: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let call = &part["functionCall"];
        if self.open_call.is_some() && call.is_object() && call["name"].is_null() {
            return self.continue_call(part, out);
        }
        if self.open_call.is_some() {
            return Err(self
                .format
                .error("a call has not ended when the next part starts"));
        }
        self.calls.release(out);
        if call.is_object() {
            return self.start_call(part, out);
        }
        let Some(text) = part["text"].as_str() else {
            self.parts.push(part.clone());
            return Ok(());
        };
        if !text.is_empty() {
            let text = text.to_owned();
            out.push(if part["thought"] == true {
                StreamEvent::Reasoning(text)
            } else {
                StreamEvent::Text(text)
            });
        }
        // A part with a signature must be sent back unmerged (Gemini's guide "Thought signatures",
        // 2025-11).
        match self.parts.last_mut() {
            Some(last)
                if is_plain(last) && is_plain(part) && last["thought"] == part["thought"] =>
            {
                if let Value::String(known) = &mut last["text"] {
                    known.push_str(text);
                }
            }
            _ => self.parts.push(part.clone()),
        }
        Ok(())
    }

    fn start_call(
        &mut self,
        part: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let call = self.format.call(self.parts.len(), part)?;
        let index = self.calls.start(&call, out);
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
            out.push(StreamEvent::Arguments {
                index,
                piece: arguments.to_string(),
            });
        }
        // The provider may have closed an incomplete value.
        self.calls.hold(call, out);
        Ok(())
    }

    fn continue_call(
        &mut self,
        part: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        if let (Some(signature), Some(Value::Object(last))) =
            (part.get("thoughtSignature"), self.parts.last_mut())
        {
            last.insert("thoughtSignature".into(), signature.clone());
        }
        self.add_arguments(&part["functionCall"], out)
    }

    /// Adds arguments that are streamed (`PartialArg`, Vertex AI).
    fn add_arguments(
        &mut self,
        call: &Value,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        for part in call["partialArgs"].as_array().into_iter().flatten() {
            let path = part["jsonPath"].as_str().and_then(steps);
            let arguments = self.call_mut().and_then(|call| call.get_mut("args"));
            let (Some(path), Some(arguments)) = (path, arguments) else {
                return Err(self.format.error("`partialArgs` has no valid `jsonPath`"));
            };
            if !set(arguments, &path, part) {
                return Err(self
                    .format
                    .error("`partialArgs` does not fit the arguments so far"));
            }
        }
        if call["willContinue"] != true {
            let index = self.open_call.take().unwrap_or_default();
            let place = self.parts.len() - 1;
            let call = self.format.call(place, &self.parts[place])?;
            out.push(StreamEvent::Arguments {
                index,
                piece: self.parts[place]["functionCall"]["args"].to_string(),
            });
            self.calls.hold(call, out);
        }
        Ok(())
    }

    fn call_mut(&mut self) -> Option<&mut Value> {
        self.parts.last_mut()?.get_mut("functionCall")
    }

    fn whole(&self) -> Value {
        let mut content = self.content.clone();
        content.insert("parts".into(), self.parts.clone().into());
        let mut candidate = self.candidate.clone();
        if !self.parts.is_empty() || !self.content.is_empty() {
            candidate.insert("content".into(), content.into());
        }
        let mut response = self.response.clone();
        if !candidate.is_empty() {
            response.insert("candidates".into(), vec![Value::Object(candidate)].into());
        }
        Value::Object(response)
    }
}

/// Returns `true` for text, or a thought, without a signature or other members.
fn is_plain(part: &Value) -> bool {
    let members = part.as_object();
    members.is_some_and(|members| members.keys().all(|key| key == "text" || key == "thought"))
        && part["text"].is_string()
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

impl StreamFormat for Chunks {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        self.format.check_error(event)?;
        let Value::Object(members) = event else {
            return Err(self.format.error("an event is not an object"));
        };
        for (key, value) in members {
            if key != "candidates" && !value.is_null() {
                self.response.insert(key.clone(), value.clone());
            }
        }
        let candidate = &event["candidates"][0];
        let content = &candidate["content"];
        for (key, value) in content.as_object().into_iter().flatten() {
            if key != "parts" {
                self.content.insert(key.clone(), value.clone());
            }
        }
        for part in content["parts"].as_array().into_iter().flatten() {
            self.part(part, out)?;
        }
        for (key, value) in candidate.as_object().into_iter().flatten() {
            match (&**key, self.candidate.get_mut(key), value) {
                ("content", ..) | (_, Some(_), Value::Null) => {}
                (_, Some(Value::Object(known)), value @ Value::Object(_)) => update(known, value),
                _ => {
                    self.candidate.insert(key.clone(), value.clone());
                }
            }
        }
        out.extend(Usage::find(event).map(StreamEvent::Usage));
        let is_blocked = candidate.is_null() && event["promptFeedback"]["blockReason"].is_string();
        if let Some(reason) = candidate["finishReason"].as_str() {
            if self.open_call.is_some() {
                return Err(broken_off("a call has not ended"));
            }
            (self.check)(&self.whole())?;
            self.calls
                .stop(self.format.truncated.contains(&reason), out);
            out.push(StreamEvent::Stop(reason.to_owned()));
            self.is_stopped = true;
        } else if is_blocked {
            (self.check)(&self.whole())?;
        }
        Ok(())
    }

    fn response(self) -> Result<Value, ResponseError> {
        if !self.is_stopped {
            return Err(broken_off("`finishReason` is missing"));
        }
        Ok(self.whole())
    }
}
