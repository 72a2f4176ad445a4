//! A model's call, and the one result that it gets.

mod arguments;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod panic_payload;

use std::any::Any;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::call::context::{CallExtensions, CancellationToken, Progress, ProgressSink};
use crate::call::error::ToolError;
use crate::schema::violation::Coercion;

pub use arguments::Arguments;

/// A call that a model made.
///
/// Two calls are equal when the model made them so: what the application gave them on their way
/// does not count.
#[derive(Clone)]
pub struct ToolCall {
    /// The provider's id of the call, which the result carries back.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text or as JSON.
    pub arguments: Arguments,
    pub(crate) wire_id: WireId,
    /// Whether the response ended before the arguments did.
    pub(crate) is_cut_short: bool,
    /// In a box, since most calls have none and all are moved.
    pub(crate) given: Option<Box<CallExtensions>>,
}

impl PartialEq for ToolCall {
    fn eq(&self, other: &ToolCall) -> bool {
        self.id == other.id
            && self.name == other.name
            && self.arguments == other.arguments
            && self.wire_id == other.wire_id
            && self.is_cut_short == other.is_cut_short
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
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
            is_cut_short: false,
            given: None,
        }
    }

    /// Gives the call a value that the model neither sees nor forges: the user it is made for, the
    /// tenant, a connection. There is one of each type; a tool reads it from its
    /// [`CallContext`](crate::CallContext).
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> ToolCall {
        self.given().values.insert(value);
        self
    }

    /// Lets a token end the call before its time, with a result that says so.
    pub fn cancel_with(mut self, token: &CancellationToken) -> ToolCall {
        self.given().cancellation = Some(token.clone());
        self
    }

    /// Hears what the tool reports on its way; see
    /// [`CallContext::report`](crate::CallContext::report). It runs where the tool does, and
    /// should not take long.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_core::{CallContext, Progress, Registry, ToolCall, tool, tools};
    ///
    /// /// Counts to three.
    /// #[tool]
    /// fn count(call: &CallContext) {
    ///     for done in 1..=3 {
    ///         call.report(&Progress::of(f64::from(done), 3.0));
    ///     }
    /// }
    ///
    /// let heard = Arc::new(Mutex::new(Vec::new()));
    /// let sink = heard.clone();
    /// let call = ToolCall::new("call_1", "count", "")
    ///     .on_progress(move |progress| sink.lock().unwrap().push(progress.done));
    /// Registry::builder().tools(tools![count]).build()?.call_blocking(call);
    /// assert_eq!(*heard.lock().unwrap(), [1.0, 2.0, 3.0]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn on_progress(mut self, tell: impl Fn(&Progress) + Send + Sync + 'static) -> ToolCall {
        self.given().progress = Some(ProgressSink::new(tell));
        self
    }

    /// The call without its arguments.
    pub(crate) fn head(&self) -> CallHead {
        CallHead {
            id: self.id.clone(),
            name: self.name.clone(),
            wire_id: self.wire_id,
        }
    }

    fn given(&mut self) -> &mut CallExtensions {
        self.given.get_or_insert_default()
    }

    /// Why the arguments are no JSON object, if they are none. Absent arguments, `null` and empty
    /// text count as the empty object, unless the provider says that it was
    /// [cut short](crate::dialect::Dialect::calls):
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Anthropic, Dialect};
    ///
    /// let response = json!({
    ///     "role": "assistant",
    ///     "content": [{"type": "tool_use", "id": "call_1", "name": "delete_notes", "input": {}}],
    ///     "stop_reason": "max_tokens",
    /// });
    /// let calls = Anthropic::default().calls(&response)?;
    /// assert!(calls[0].parse_error().unwrap().starts_with("the response was cut short"));
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    pub fn parse_error(&self) -> Option<String> {
        if self.is_cut_short {
            return Some(CUT_SHORT.into());
        }
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

/// What a model is told of a call that its response had no room for.
pub(crate) const CUT_SHORT: &str = "the response was cut short before their end; make the call \
    again, in a response that is shorter";
const NOT_AN_OBJECT: &str = "the arguments are JSON, but not an object";

/// How the id of a call stood in the provider's message, so that its result answers in kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WireId {
    /// As a string.
    #[default]
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
    /// Answers a call with a tool's text, which may be JSON, or with the reason why there is none.
    #[inline]
    pub(crate) fn new(
        call: CallHead,
        given: Result<(String, bool), Box<ToolError>>,
        coercions: Vec<Coercion>,
    ) -> ToolResult {
        let (content, is_json, error) = match given {
            Ok((content, is_json)) => (content, is_json, None),
            Err(error) => (String::new(), false, Some(error)),
        };
        ToolResult {
            call_id: call.id,
            name: call.name,
            content,
            is_json,
            error,
            coercions,
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

    /// The result as a JSON value, when the tool returned something other than a string or nothing.
    pub fn structured(&self) -> Option<Value> {
        self.structured_json()
            .and_then(|json| serde_json::from_str(json).ok())
    }

    /// The result as JSON text, when the tool returned something other than a string or nothing.
    pub fn structured_json(&self) -> Option<&str> {
        (self.is_json && self.error.is_none()).then_some(&*self.content)
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// The same result with another text for the model. It is text and no longer
    /// [structured](ToolResult::structured); an error stays one, and its reference goes with it.
    ///
    /// A client of the Model Context Protocol may refuse text where the tool has an output schema.
    /// Tools whose results are put into other words had better return a `String`.
    pub fn with_content(mut self, text: impl Into<String>) -> ToolResult {
        match &mut self.error {
            Some(error) => error.map_message(text.into()),
            None => {
                self.content = text.into();
                self.is_json = false;
            }
        }
        self
    }

    /// Cuts the text for the model to so many bytes, and says so.
    pub(crate) fn truncate(&mut self, cap: usize) {
        match &mut self.error {
            Some(error) => error.truncate(cap),
            None => self.is_json &= !truncate(&mut self.content, cap),
        }
    }

    /// The same result for another call.
    pub(crate) fn answering(mut self, call: CallHead) -> ToolResult {
        self.call_id = call.id;
        self.name = call.name;
        self.wire_id = call.wire_id;
        self
    }

    pub(crate) fn error_mut(&mut self) -> Option<&mut ToolError> {
        self.error.as_deref_mut()
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
#[derive(Clone, Default)]
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) wire_id: WireId,
}

/// Cuts a text that is longer, between two characters, and says behind it what is missing.
pub(crate) fn truncate(text: &mut String, cap: usize) -> bool {
    let length = text.len();
    if length <= cap {
        return false;
    }
    let end = (0..=cap).rev().find(|&at| text.is_char_boundary(at));
    let end = end.unwrap_or_default();
    text.truncate(end);
    let missing = length - end;
    text.push_str(&format!(
        "\n[cut: {missing} of {length} bytes are left out]"
    ));
    true
}
