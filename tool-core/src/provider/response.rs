//! Reading a provider's response: the calls in it, or why it is no response.

use std::error::Error;
use std::fmt;

use serde_json::Value;

use crate::call::{Arguments, ToolCall, WireId};
use crate::schema::messages::shorten;

/// Why no calls can be read: the JSON is not the expected response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseError {
    message: String,
}

impl ResponseError {
    /// An error of this message, for a [`Dialect`](crate::dialect::Dialect) of your own.
    pub fn new(message: impl Into<String>) -> ResponseError {
        ResponseError {
            message: message.into(),
        }
    }
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ResponseError {}

/// What a response looks like, and where the parts of a call stand in one of its items. Paths are
/// keys with dots between them.
pub(crate) struct Layout {
    /// What the response is, to stand after "not".
    pub(crate) response: &'static str,
    /// What a call is, to stand before "has no".
    pub(crate) call: &'static str,
    pub(crate) id: &'static str,
    /// Whether a call without an id is usual. One is made up then, and the result goes without.
    pub(crate) id_is_optional: bool,
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
    /// Where it stands why the model stopped.
    pub(crate) stop: &'static str,
    /// Which reasons say that it did so in the middle of what it was writing.
    pub(crate) cut_short: &'static [&'static str],
}

impl Layout {
    /// The array `key` of a response.
    pub(crate) fn array<'r>(
        &self,
        response: &'r Value,
        key: &str,
    ) -> Result<&'r [Value], ResponseError> {
        self.refuse_error(response)?;
        if !response.is_object() {
            return Err(self.refuse("the JSON is not an object"));
        }
        match &response[key] {
            Value::Array(items) => Ok(items),
            Value::Null => Err(self.refuse(format_args!("`{key}` is missing"))),
            _ => Err(self.refuse(format_args!("`{key}` is not an array"))),
        }
    }

    /// The first of the array `key` of a response, which has one at least.
    pub(crate) fn first<'r>(
        &self,
        response: &'r Value,
        key: &str,
    ) -> Result<&'r Value, ResponseError> {
        let items = self.array(response, key)?;
        let none = || self.refuse(format_args!("`{key}` is empty"));
        items.first().ok_or_else(none)
    }

    /// An array further inside, whose absence means that it is empty.
    pub(crate) fn optional_array<'r>(
        &self,
        value: &'r Value,
        path: &str,
    ) -> Result<&'r [Value], ResponseError> {
        match find(value, path) {
            Value::Array(items) => Ok(items),
            Value::Null => Ok(&[]),
            _ => Err(self.refuse(format_args!("`{path}` is not an array"))),
        }
    }

    /// The calls among the items of what holds them.
    pub(crate) fn calls(
        &self,
        holder: &Value,
        items: &[Value],
        is_call: impl Fn(&Value) -> bool,
    ) -> Result<Vec<ToolCall>, ResponseError> {
        let placed = items.iter().enumerate();
        let calls = placed.filter(|(_, item)| is_call(item));
        let calls = calls.map(|(place, item)| self.call(place, item));
        let mut calls = calls.collect::<Result<Vec<_>, _>>()?;
        let stop = find(holder, self.stop).as_str();
        let is_cut_short = stop.is_some_and(|reason| self.cut_short.contains(&reason));
        // What the model wrote last is what has no end.
        if let (true, Some(item), Some(call)) = (is_cut_short, items.last(), calls.last_mut())
            && is_call(item)
        {
            call.is_truncated = match &call.arguments {
                // Text shows its end by its last brace.
                Arguments::Text(text) => {
                    text.trim_ascii().is_empty() || call.parse_error().is_some()
                }
                // The provider has closed what was open.
                Arguments::Json(_) => true,
            };
        }
        Ok(calls)
    }

    /// The call that an item holds; `place` is that of the item.
    ///
    /// What can be called is called: odd arguments are for the tool to refuse, in a result that
    /// the model reads.
    fn call(&self, place: usize, item: &Value) -> Result<ToolCall, ResponseError> {
        let Some(name) = find(item, self.name).as_str() else {
            return Err(self.incomplete(self.name));
        };
        let (id, wire_id) = match find(item, self.id) {
            Value::String(id) if !(id.is_empty() && self.id_is_optional) => {
                (id.clone(), WireId::Text)
            }
            Value::Number(id) => (id.to_string(), WireId::Number),
            _ if self.id_is_optional => (format!("call_{place}"), WireId::Absent),
            _ => return Err(self.incomplete(self.id)),
        };
        let mut call = ToolCall::new(id, name, find(item, self.arguments).clone());
        call.wire_id = wire_id;
        Ok(call)
    }

    /// "not a chat completion: …"
    pub(crate) fn refuse(&self, problem: impl fmt::Display) -> ResponseError {
        ResponseError::new(format!("not {}: {problem}", self.response))
    }

    /// An error when the response is the provider's own error message.
    ///
    /// OpenAI, Anthropic, Gemini and JSON-RPC all put it under `error`. A response that went well
    /// may carry `"error": null`.
    pub(crate) fn refuse_error(&self, response: &Value) -> Result<(), ResponseError> {
        let error = &response["error"];
        match error {
            Value::Object(_) => Err(self.refuse_said(error)),
            Value::String(said) => Err(self.refuse_words("", said)),
            _ => Ok(()),
        }
    }

    /// What a provider's error message says, or a whole response that is one.
    pub(crate) fn refuse_said(&self, error: &Value) -> ResponseError {
        let said = match error["message"].as_str() {
            Some(message) => message.to_owned(),
            None => shorten(&error.to_string()).into_owned(),
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
        self.refuse_words(&label, &said)
    }

    fn refuse_words(&self, label: &str, said: &str) -> ResponseError {
        self.refuse(format_args!(
            "the provider answered with the error {label}{said}"
        ))
    }

    fn incomplete(&self, part: &str) -> ResponseError {
        self.refuse(format_args!("{} has no valid `{part}`", self.call))
    }
}

/// Whether the `type` of an item is this one.
pub(crate) fn is_type(item: &Value, name: &str) -> bool {
    item["type"] == name
}

/// The words of a message's content: a string, or the texts of its parts in a row. In those of
/// OpenAI a refusal has a key of its own.
pub(crate) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            // Gemini's reasoning is a text, too.
            let said = parts.iter().filter(|part| part["thought"] != true);
            said.filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str()))
                .collect()
        }
        _ => String::new(),
    }
}

/// The value at a path, `null` when there is none.
pub(crate) fn find<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |value, key| &value[key])
}
