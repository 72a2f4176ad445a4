//! A model's call, and the one result that it gets.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::violation::Coercion;

/// A call that a model made.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The provider's id of the call, which the result carries back.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text or as JSON.
    pub arguments: Arguments,
    pub(crate) wire_id: WireId,
}

impl ToolCall {
    /// A call of the tool `name`. The arguments are JSON text (`&str`, `String`) or a value
    /// (`Value`, `Map`).
    ///
    /// ```
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// assert_eq!(call.parse_error(), None);
    /// let broken = ToolCall::new("call_2", "get_forecast", r#"{"city":"Lis"#);
    /// assert!(broken.parse_error().is_some());
    /// ```
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            wire_id: WireId::Text,
        }
    }

    /// Why the arguments are no JSON object, if they are none. Absent arguments, `null` and empty
    /// text count as the empty object.
    pub fn parse_error(&self) -> Option<String> {
        let text = match &self.arguments {
            Arguments::Json(Value::Object(_) | Value::Null) => return None,
            Arguments::Json(_) => return Some(NOT_AN_OBJECT.into()),
            Arguments::Text(text) => text.trim_ascii(),
        };
        if text.is_empty() || text == "null" {
            return None;
        }
        match serde_json::from_str::<IgnoredAny>(text) {
            Err(error) => Some(error.to_string()),
            Ok(_) if !text.starts_with('{') => Some(NOT_AN_OBJECT.into()),
            Ok(_) => None,
        }
    }
}

const NOT_AN_OBJECT: &str = "the arguments are JSON, but not an object";

/// The arguments of a call: JSON text as it came, or a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// Text that should be a JSON object.
    Text(String),
    /// A value that should be an object.
    Json(Value),
}

impl Arguments {
    /// The text that is decoded. `null` and nothing at all are no arguments.
    pub(crate) fn into_text(self) -> String {
        match self {
            Arguments::Text(text) if text.starts_with('{') => text,
            Arguments::Json(Value::Null) => "{}".into(),
            Arguments::Json(value) => value.to_string(),
            Arguments::Text(text) if matches!(text.trim_ascii(), "" | "null") => "{}".into(),
            Arguments::Text(text) => text,
        }
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments::Json(Value::Null)
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Arguments::Text(text.into())
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Arguments::Text(text)
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Arguments::Json(value)
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(members: Map<String, Value>) -> Self {
        Arguments::Json(Value::Object(members))
    }
}

/// How the id of a call stood in the provider's message, so that its result answers in kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireId {
    /// As a string.
    Text,
    /// As a JSON number, as JSON-RPC allows.
    Number,
    /// Not at all, as in Gemini's calls: the id was made up here.
    Absent,
}

/// The result of one call: what the tool returned, or why there is nothing.
#[derive(Debug)]
pub struct ToolResult {
    call_id: String,
    name: String,
    /// The tool's text; unused when there is an error, which has its own.
    content: String,
    is_json: bool,
    /// In a box, since few results have one and all are moved.
    error: Option<Box<ToolError>>,
    pub(crate) coercions: Vec<Coercion>,
    pub(crate) wire_id: WireId,
}

impl ToolResult {
    pub(crate) fn success(call: CallHead, content: String, is_json: bool) -> ToolResult {
        ToolResult {
            call_id: call.id,
            name: call.name,
            content,
            is_json,
            error: None,
            coercions: Vec::new(),
            wire_id: call.wire_id,
        }
    }

    pub(crate) fn failure(call: CallHead, error: ToolError) -> ToolResult {
        ToolResult {
            call_id: call.id,
            name: call.name,
            content: String::new(),
            is_json: false,
            error: Some(Box::new(error)),
            coercions: Vec::new(),
            wire_id: call.wire_id,
        }
    }

    /// The id of the call that this answers.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The name that the model called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text for the model: the tool's own, or the message of the error.
    pub fn content(&self) -> &str {
        match &self.error {
            Some(error) => error.message(),
            None => &self.content,
        }
    }

    /// The result as a JSON value, when the tool returned something other than a string.
    pub fn structured(&self) -> Option<Value> {
        self.structured_json()
            .and_then(|json| serde_json::from_str(json).ok())
    }

    /// The result as JSON text, when the tool returned something other than a string.
    pub fn structured_json(&self) -> Option<&str> {
        (self.is_json && self.error.is_none()).then_some(&*self.content)
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// What a lenient registry took for something else to make the arguments fit; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    pub fn coercions(&self) -> &[Coercion] {
        &self.coercions
    }

    /// Why the call failed.
    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_deref()
    }
}

/// A call without its arguments: what its result needs to know of it.
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) wire_id: WireId,
}
