//! [`ToolResult`]: the result of one call.

use serde_json::Value;

use crate::call::error::ToolError;
use crate::call::head::{CallHead, WireId};
use crate::call::truncate::truncate;
use crate::schema::numbers::rounded_integer;
use crate::schema::violation::Coercion;

/// The result of one call: the tool's output, or an error.
///
/// With the feature `agent`, serde saves it, apart from what only the operator may see: the
/// [details](ToolError::detail) and the source of an error.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "agent", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolResult {
    call_id: String,
    name: String,
    /// The tool's output; unused if there is an error, which has its own message.
    content: String,
    /// `true` if the content is JSON.
    is_json: bool,
    /// Boxed, because few results have one and all are moved.
    error: Option<Box<ToolError>>,
    pub(crate) coercions: Vec<Coercion>,
    pub(crate) wire_id: WireId,
}

impl ToolResult {
    /// Creates the result of a call. The output comes with `true` if it is JSON.
    #[inline]
    pub(crate) fn new(
        call: CallHead,
        output: Result<(String, bool), Box<ToolError>>,
        coercions: Vec<Coercion>,
    ) -> ToolResult {
        let (content, is_json, error) = match output {
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

    /// Creates the result of a call that failed.
    #[cfg(feature = "agent")]
    pub(crate) fn failed(call: CallHead, error: ToolError) -> ToolResult {
        ToolResult::new(call, Err(Box::new(error)), Vec::new())
    }

    /// Returns the id of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the tool name that the model called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text for the model: the tool's output, or the error message.
    pub fn content(&self) -> &str {
        match &self.error {
            Some(error) => error.message(),
            None => &self.content,
        }
    }

    /// Returns the output as a JSON value, unless the tool returned a string or `()`. Also returns
    /// `None` if the output contains an integer of more than 64 bits, which a `Value` would round;
    /// [`structured_json`](ToolResult::structured_json) has it.
    pub fn structured(&self) -> Option<Value> {
        let json = self.structured_json()?;
        if rounded_integer(json).is_some() {
            return None;
        }
        serde_json::from_str(json).ok()
    }

    /// Returns the output as JSON text, exact, unless the tool returned a string or `()`.
    pub fn structured_json(&self) -> Option<&str> {
        (self.is_json && self.error.is_none()).then_some(&*self.content)
    }

    /// Returns `true` if the call failed.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the error, if the call failed.
    pub fn error(&self) -> Option<&ToolError> {
        self.error.as_deref()
    }

    /// Returns the text of the output, or the error. A tool that passes a call on to another
    /// registry returns this: the error then keeps its kind, violations and reference.
    ///
    /// ```
    /// use tool_core::{CallContext, Registry, ToolCall, ToolError, ToolErrorKind, tool, tools};
    ///
    /// mod remote {
    ///     /// Weather forecast for a city.
    ///     #[tool_core::tool(unlinked)]
    ///     pub fn get_forecast(city: &str, days: u8) -> String {
    ///         format!("{city}: sunny for {days} days")
    ///     }
    /// }
    ///
    /// /// Weather forecast for a city.
    /// #[tool]
    /// async fn get_forecast(
    ///     city: &str,
    ///     #[param(context)] remote: &Registry,
    ///     call: &CallContext,
    /// ) -> Result<String, ToolError> {
    ///     let arguments = serde_json::json!({ "city": city });
    ///     let call = ToolCall::new(call.call_id(), "get_forecast", arguments);
    ///     remote.call(call).await.into_result()
    /// }
    ///
    /// let remote = Registry::builder().tools(tools![remote::get_forecast]).build()?;
    /// let registry = Registry::builder().tools(tools![get_forecast]).context(remote).build()?;
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// let error = registry.call_blocking(call).into_result().unwrap_err();
    /// assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    /// assert_eq!(error.violations()[0].path(), "days");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error, if the call failed.
    pub fn into_result(self) -> Result<String, ToolError> {
        match self.error {
            Some(error) => Err(*error),
            None => Ok(self.content),
        }
    }

    /// Returns the values that a lenient registry converted to make the arguments valid; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    pub fn coercions(&self) -> &[Coercion] {
        &self.coercions
    }

    /// Replaces the text for the model. The output becomes plain text and is no longer
    /// [structured](ToolResult::structured). An error stays an error and keeps its reference.
    ///
    /// A client of the Model Context Protocol may reject text from a tool with an output schema.
    /// A tool whose results are replaced should return a `String`.
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

    /// Truncates the text for the model to `cap` bytes.
    pub(crate) fn truncate(&mut self, cap: usize) {
        match &mut self.error {
            Some(error) => error.truncate(cap),
            None => self.is_json &= !truncate(&mut self.content, cap),
        }
    }

    /// Returns the call of the result.
    #[cfg(feature = "agent")]
    pub(crate) fn head(&self) -> CallHead {
        CallHead {
            id: self.call_id.clone(),
            name: self.name.clone(),
            wire_id: self.wire_id,
        }
    }

    /// Assigns the result to another call.
    pub(crate) fn with_head(mut self, call: CallHead) -> ToolResult {
        self.call_id = call.id;
        self.name = call.name;
        self.wire_id = call.wire_id;
        self
    }

    pub(crate) fn error_mut(&mut self) -> Option<&mut ToolError> {
        self.error.as_deref_mut()
    }
}
