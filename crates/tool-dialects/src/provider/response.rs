//! [`ResponseFormat`]: reads the calls in a provider's response.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Value, json};
use tool_core::ToolCall;
use tool_core::call::Arguments;
use tool_core::dialect::write::{Reason, WireId, shorten};
use tool_core::dialect::{ResponseError, Turn};

use crate::provider::forms;

/// The reasons to stop of a dialect.
pub(crate) type Reasons = &'static [(&'static str, Reason)];

/// The shape of a response, and of the items in it that are calls. Paths are keys separated by dots.
pub(crate) struct ResponseFormat {
    /// The response in an error text, after "not".
    pub(crate) response: &'static str,
    /// A call in an error text, before "has no".
    pub(crate) call: &'static str,
    /// The JSON pointer of the items in a response.
    pub(crate) items: &'static str,
    /// Returns `true` for an item that is a call.
    pub(crate) is_call: fn(&Value) -> bool,
    /// The path of the id in a call.
    pub(crate) id: &'static str,
    /// How a call without an id is treated.
    pub(crate) no_id: NoId,
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
    /// The reasons to stop.
    pub(crate) reasons: Reasons,
    /// The form of calls whose arguments are text, if there are any.
    pub(crate) custom: Option<&'static CustomCalls>,
    /// Set when a call may have a `caller` and a `namespace`, and may be `async`.
    pub(crate) has_origin: bool,
}

/// The treatment of a call without an id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoId {
    /// It gets one, and its result is sent without.
    Omit,
    /// It gets one, which is sent with the call and its result.
    Make,
    /// It is an error.
    Reject,
}

/// The form of calls whose arguments are text.
pub(crate) struct CustomCalls {
    /// Their `type`.
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    pub(crate) input: &'static str,
}

impl ResponseFormat {
    /// Returns the array `key` of a response.
    pub(crate) fn array<'r>(
        &self,
        response: &'r Value,
        key: &str,
    ) -> Result<&'r [Value], ResponseError> {
        self.check_error(response)?;
        match &response[key] {
            Value::Array(items) => Ok(items),
            Value::Null => Err(self.missing(response, key)),
            _ => Err(match forms::other(self.response, response) {
                Some(other) => self.error(other),
                None => self.error(format_args!("`{key}` is not an array")),
            }),
        }
    }

    /// Returns the first item of the array `key` of a response.
    pub(crate) fn first<'r>(
        &self,
        response: &'r Value,
        key: &str,
    ) -> Result<&'r Value, ResponseError> {
        let items = self.array(response, key)?;
        let empty = || {
            self.error(format_args!(
                "`{key}` is empty: there is no answer; repeat the request"
            ))
        };
        items.first().ok_or_else(empty)
    }

    /// Returns an array deeper inside, at this path. An absent one is empty.
    pub(crate) fn optional_array<'r>(
        &self,
        items: &'r Value,
        path: &str,
    ) -> Result<&'r [Value], ResponseError> {
        match items {
            Value::Array(items) => Ok(items),
            Value::Null => Ok(&[]),
            _ => Err(self.error(format_args!("`{path}` is not an array"))),
        }
    }

    /// Returns the turn of a response with these items and this reason to stop. `outline` returns the turn
    /// without the calls of these items.
    pub(crate) fn turn(
        &self,
        response: &Value,
        items: &[Value],
        stop: &Value,
        outline: fn(&Value) -> Turn,
    ) -> Result<Turn, ResponseError> {
        let mut calls = self.calls(stop, items)?;
        let mut ids = CallIds::of(self);
        if calls.len() > 1 || calls.iter().any(|call| call.id.is_empty()) {
            for call in &mut calls {
                ids.add(call);
            }
        }
        let turn = outline(&self.with_ids(Cow::Borrowed(response), &ids));
        Ok(self.with_reason(turn).with_calls(calls))
    }

    /// Returns the response with the ids that were made for its calls.
    pub(crate) fn with_ids<'r>(
        &self,
        mut response: Cow<'r, Value>,
        ids: &CallIds,
    ) -> Cow<'r, Value> {
        if ids.made.is_empty() {
            return response;
        }
        let items = response.to_mut().pointer_mut(self.items);
        let items = items.and_then(Value::as_array_mut).into_iter().flatten();
        let mut calls = items.filter(|item| (self.is_call)(item));
        let mut next = 0;
        for (index, id) in &ids.made {
            if let Some(call) = calls.nth(index - next) {
                let (parent, key) = self.id.split_once('.').unwrap_or(("", self.id));
                let parent = if parent.is_empty() {
                    call
                } else {
                    &mut call[parent]
                };
                parent[key] = id.as_str().into();
            }
            next = index + 1;
        }
        response
    }

    /// Returns the calls among `items` of a response with this reason to stop.
    pub(crate) fn calls(
        &self,
        stop: &Value,
        items: &[Value],
    ) -> Result<Vec<ToolCall>, ResponseError> {
        let is_call = self.is_call;
        let indexed = items.iter().enumerate();
        let calls = indexed.filter(|(_, item)| is_call(item));
        let calls = calls.map(|(index, item)| self.call(index, item));
        let mut calls = calls.collect::<Result<Vec<_>, _>>()?;
        // Only the last item can be incomplete.
        if let (Some(item), Some(call)) = (items.last(), calls.last_mut())
            && self.is_truncated(stop)
            && is_call(item)
        {
            mark_truncated(call);
        }
        Ok(calls)
    }

    /// Adds to a turn what its reason to stop means, unless the response says more.
    pub(crate) fn with_reason(&self, mut turn: Turn) -> Turn {
        let reason = || self.reason(turn.stop.as_deref()?);
        turn.reason = turn.reason.or_else(reason);
        turn
    }

    fn reason(&self, stop: &str) -> Option<Reason> {
        let mut reasons = self.reasons.iter();
        let known = reasons.find(|(known, _)| *known == stop);
        known.map(|(_, reason)| *reason)
    }

    /// Returns `true` for a reason to stop in the middle of the output.
    pub(crate) fn is_truncated(&self, stop: &Value) -> bool {
        let reason = stop.as_str().and_then(|stop| self.reason(stop));
        reason.is_some_and(Reason::cuts)
    }

    /// Reads the call at `index`. Its id is empty until [`CallIds`] makes one.
    ///
    /// Invalid arguments are no error here: the tool rejects them, in a result that the model reads.
    pub(crate) fn call(&self, index: usize, item: &Value) -> Result<ToolCall, ResponseError> {
        let custom = self.custom.filter(|custom| is_type(item, custom.kind));
        let name_path = custom.map_or(self.name, |custom| custom.name);
        let Some(name) = find(item, name_path).as_str() else {
            return Err(self.incomplete(name_path));
        };
        let (id, wire_id) = match find(item, self.id) {
            Value::String(id) if !id.is_empty() || self.no_id == NoId::Reject => {
                (id.clone(), WireId::Text)
            }
            Value::Number(id) => (id.to_string(), WireId::Number),
            _ => match self.no_id {
                NoId::Omit => (format!("call_{index}"), WireId::Absent),
                NoId::Make => (String::new(), WireId::Text),
                NoId::Reject => return Err(self.incomplete(self.id)),
            },
        };
        let mut call = if let Some(custom) = custom {
            let text = find(item, custom.input).as_str().unwrap_or_default();
            ToolCall::new(id, name, Arguments::Freeform(text.to_owned()))
                .with_wire_id(WireId::Custom)
        } else {
            ToolCall::new(id, name, find(item, self.arguments).clone()).with_wire_id(wire_id)
        };
        if self.has_origin {
            let caller = &item["caller"];
            // Calls of the model itself need no caller.
            if caller.is_object() && !is_type(caller, "direct") {
                call = call.with_caller(caller.clone());
            }
            if let Some(namespace) = item["namespace"].as_str() {
                call = call.with_namespace(namespace);
            }
            if item["async"] == true {
                call = call.with_late_result();
            }
        }
        Ok(call)
    }

    /// Returns the error of a response without this key, or that is no object.
    pub(crate) fn missing(&self, response: &Value, key: &str) -> ResponseError {
        self.reported(response).unwrap_or_else(|| {
            let found = forms::found(self.response, response);
            self.error(format_args!("`{key}` is missing; {found}"))
        })
    }

    /// Returns the error "not a chat completion: …".
    pub(crate) fn error(&self, problem: impl fmt::Display) -> ResponseError {
        ResponseError::new(format!("not {}: {problem}", self.response))
    }

    /// Returns an error if the response is the provider's own error message.
    ///
    /// OpenAI, Anthropic, Gemini and JSON-RPC all put it under `error`. A successful response may
    /// have `"error": null` or an empty object.
    pub(crate) fn check_error(&self, response: &Value) -> Result<(), ResponseError> {
        let error = &response["error"];
        match error {
            Value::Object(members) if !members.is_empty() => Err(self.provider_error(error)),
            Value::String(message) if !message.is_empty() => {
                Err(self.provider_message("", message))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error that is in place of a response, in one of the forms of gateways and frameworks (rule
    /// `openai.chat.errors`).
    pub(crate) fn reported(&self, response: &Value) -> Option<ResponseError> {
        let base = &response["base_resp"];
        let code = &base["status_code"];
        let (code, message) = if code.is_number() && *code != 0 {
            (code, &base["status_msg"])
        } else {
            let keys = ["msg", "detail", "message"].iter();
            let mut messages = keys.map(|key| &response[*key]);
            let message = messages.find(|text| text.is_string() || text.is_array());
            (&response["code"], message?)
        };
        Some(self.provider_error(&json!({ "code": code, "message": message })))
    }

    /// Returns the error of an event of a stream that has no type under this key.
    pub(crate) fn untyped(&self, event: &Value, key: &str) -> ResponseError {
        let error = self
            .check_error(event)
            .err()
            .or_else(|| self.reported(event));
        error.unwrap_or_else(|| self.error(format_args!("an event has no `{key}`")))
    }

    /// Returns the error for a provider's error message.
    pub(crate) fn provider_error(&self, error: &Value) -> ResponseError {
        let message = match &error["message"] {
            Value::String(message) => message.clone(),
            Value::Null => shorten(&error.to_string()).into_owned(),
            message => shorten(&message.to_string()).into_owned(),
        };
        let labels = ["status", "code", "type"].iter();
        let label = labels
            .map(|&key| &error[key])
            .find_map(|label| match label {
                Value::String(label) => Some(format!("{label}: ")),
                Value::Number(code) => Some(format!("{code}: ")),
                _ => None,
            })
            .unwrap_or_default();
        self.provider_message(&label, &message)
    }

    /// Returns the error for a response in the background that the provider still works on.
    pub(crate) fn not_ended(&self, status: &str) -> ResponseError {
        self.error(format_args!(
            "it has not ended, its status is `{status}`; request it without `background`, or read it when it has ended"
        ))
    }

    fn provider_message(&self, label: &str, message: &str) -> ResponseError {
        self.error(format_args!(
            "the provider answered with the error {label}{message}"
        ))
    }

    fn incomplete(&self, part: &str) -> ResponseError {
        self.error(format_args!("{} has no valid `{part}`", self.call))
    }
}

/// The ids of the calls of a response. Two calls must not share one, because providers would mix up their results.
#[derive(Default)]
pub(crate) struct CallIds {
    /// Set if the ids belong to requests that are answered one by one.
    are_kept: bool,
    known: HashSet<String>,
    /// How many calls there are.
    count: usize,
    /// The number in the next id that is made.
    next: usize,
    /// The calls whose ids were made, by position.
    made: Vec<(usize, String)>,
}

impl CallIds {
    /// Creates the ids for a response of this format.
    pub(crate) fn of(format: &ResponseFormat) -> CallIds {
        CallIds {
            are_kept: format.no_id == NoId::Reject,
            ..CallIds::default()
        }
    }

    /// Adds the next call. It gets a new id if it has none, or if an earlier call has the same.
    /// Returns its position.
    pub(crate) fn add(&mut self, call: &mut ToolCall) -> usize {
        let index = self.count;
        self.count += 1;
        if self.are_kept || call.wire_id() == WireId::Absent {
            return index;
        }
        if call.id.is_empty() || self.known.contains(&call.id) {
            call.id = self.make();
            with_text_id(call);
            self.made.push((index, call.id.clone()));
        }
        self.known.insert(call.id.clone());
        index
    }

    /// Returns how many calls there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Makes an id of nine letters and digits, because Mistral accepts no other (its API reference, 2026-11).
    fn make(&mut self) -> String {
        loop {
            let id = format!("call{:05}", self.next);
            self.next += 1;
            if !self.known.contains(&id) {
                return id;
            }
        }
    }

    /// Replaces the id of the call at a position, if one was made for it.
    pub(crate) fn apply(&self, index: usize, call: &mut ToolCall) {
        if let Ok(found) = self.made.binary_search_by_key(&index, |(index, _)| *index) {
            call.id.clone_from(&self.made[found].1);
            with_text_id(call);
        }
    }
}

/// Marks the last call of a truncated response, unless its arguments show that they are complete.
pub(crate) fn mark_truncated(call: &mut ToolCall) {
    let is_truncated = match &call.arguments {
        // Nothing shows where free-form text ends.
        Arguments::Freeform(_) => true,
        // Complete text is valid JSON.
        Arguments::Text(text) => text.trim_ascii().is_empty() || call.parse_error().is_some(),
        // The provider may have closed the incomplete value.
        Arguments::Json(_) => true,
    };
    if is_truncated {
        *call = call.clone().truncated();
    }
}

/// Makes the id of a call a string: a new one has the form of no number.
fn with_text_id(call: &mut ToolCall) {
    if call.wire_id() == WireId::Number {
        *call = call.clone().with_wire_id(WireId::Text);
    }
}

/// Returns a string of a response.
pub(crate) fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns a message of the model, with this role if it has none: some servers leave it out.
pub(crate) fn with_role(message: &Value, role: &str) -> Value {
    let mut message = message.clone();
    if message.is_object() && message["role"].is_null() {
        message["role"] = role.into();
    }
    message
}

/// Returns the message if its content is not empty: providers reject one that is.
pub(crate) fn message_with(content: &Value, message: impl FnOnce() -> Value) -> Vec<Value> {
    match content {
        Value::Array(parts) if !parts.is_empty() => vec![message()],
        _ => Vec::new(),
    }
}

/// Returns `true` if the `type` of an item is `name`.
pub(crate) fn is_type(item: &Value, name: &str) -> bool {
    item["type"] == name
}

/// Returns the text of a message's content: a string, or its joined text parts. OpenAI's
/// parts have refusals under another key.
pub(crate) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str()))
            .collect(),
        _ => String::new(),
    }
}

/// Returns `true` if a part of a message's content is a refusal.
pub(crate) fn has_refusal(content: &Value) -> bool {
    let mut parts = content.as_array().into_iter().flatten();
    parts.any(|part| {
        part["refusal"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    })
}

/// Returns the value at a path, or `null`.
pub(crate) fn find<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, key| &value[key])
}
