//! [`ToolResult`]: the result of one call.

use std::any::Any;
use std::fmt;

use serde::de::{DeserializeOwned, Error as _, IntoDeserializer};
use serde_json::Value;

use crate::call::approval::ApprovalRequest;
use crate::call::error::{ToolError, ToolErrorKind};
use crate::call::extra::{Extra, joined_text};
use crate::call::head::{CALL_TOOL, CallHead, WireId};
use crate::call::origin::{Origin, ResultHead, origin};
use crate::call::position::CallPosition;
use crate::call::tool_call::ToolCall;
use crate::call::truncate::truncate;
use crate::content::Content;
use crate::results::Page;
use crate::runtime::{HAS_THREADS, NoRuntime, block_on};
use crate::schema::numbers::rounded_integer;
use crate::schema::secret::HIDDEN;
use crate::schema::violation::Coercion;

/// The result of one call: the tool's output, or an error.
///
/// With the feature `serde`, serde saves it, except the parts for the operator alone: the
/// [details](ToolError::detail) and the source of an error.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#));
/// assert_eq!((result.call_id(), result.content()), ("call_1", "5"));
///
/// let result = registry.call_blocking(ToolCall::new("call_2", "add", r#"{"a":2}"#));
/// assert_eq!(result.error().unwrap().violations()[0].path(), "b");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolResult {
    call_id: String,
    name: String,
    /// The tool's output; unused if there is an error, which has its own message.
    content: String,
    /// `true` if the content is JSON.
    is_json: bool,
    /// Boxed, because few results have one and all are moved.
    error: Option<Box<ToolError>>,
    /// Boxed, because few results have parts.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    extra: Option<Box<Extra>>,
    pub(crate) coercions: Vec<Coercion>,
    pub(crate) wire_id: WireId,
    /// Set if the model called `call_tool` with the name of the tool.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    is_wrapped: bool,
}

impl ToolResult {
    /// Creates the result of a call. The output comes with `true` if it is JSON.
    #[inline]
    pub(crate) fn from_output(
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
            extra: None,
            coercions,
            wire_id: call.wire_id,
            is_wrapped: call.is_wrapped,
        }
    }

    /// Creates the result of a call that failed.
    pub(crate) fn of_error(head: ResultHead, error: ToolError) -> ToolResult {
        let result = ToolResult::from_output(head.call, Err(Box::new(error)), Vec::new());
        result.with_origin(head.origin)
    }

    /// Returns the id of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the name of the tool. If the model called a deferred tool by `call_tool`, it is the name of the
    /// deferred tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the form in which the provider sent the call.
    pub fn wire_id(&self) -> WireId {
        self.wire_id
    }

    /// Returns the name in the model's call, which a result repeats.
    pub fn wire_name(&self) -> &str {
        let written = self
            .origin()
            .and_then(|origin| origin.written_name.as_deref());
        match written {
            Some(written) => written,
            None if self.is_wrapped => CALL_TOOL,
            None => &self.name,
        }
    }

    /// Adds parts and a value for the application.
    pub(crate) fn with_extra(mut self, extra: Extra) -> ToolResult {
        self.extra = Some(Box::new(extra));
        self
    }

    /// Returns the text for the model: the tool's output, or the error message. If the tool returned
    /// only [parts](ToolResult::parts), it is their text, one part a line.
    pub fn content(&self) -> &str {
        match &self.error {
            Some(error) => error.message(),
            None => &self.content,
        }
    }

    /// Returns the parts for the model, if the result is more than a string or a value: the text of the
    /// value, if the tool returned one, and the parts. A dialect sends them in place of the
    /// [content](ToolResult::content). Empty for a plain result and for an error.
    ///
    /// ```
    /// use tool_core::content::Image;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "draw", "");
    /// assert_eq!(ToolResult::new(&call, Image::png([0; 8])).parts().len(), 1);
    /// assert!(ToolResult::new(&call, "only text").parts().is_empty());
    /// ```
    pub fn parts(&self) -> &[Content] {
        match &self.extra {
            Some(extra) if self.error.is_none() => &extra.parts,
            _ => &[],
        }
    }

    /// Returns the value of this type that the tool added [for the application](crate::Returned::for_app).
    /// No model sees it, and it is not saved with a run.
    pub fn app<T: Any>(&self) -> Option<&T> {
        let app = self.extra.as_ref()?.app.as_ref()?;
        app.0.downcast_ref()
    }

    /// Returns the output as a JSON value, unless the tool returned a string, `()` or only
    /// [parts](ToolResult::parts). Also returns `None` if the output contains an integer of more than 64 bits, which a `Value` would round;
    /// [`structured_json`](ToolResult::structured_json) has it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "count", "");
    /// assert_eq!(ToolResult::new(&call, vec![1, 2]).structured(), Some(json!([1, 2])));
    /// assert_eq!(ToolResult::new(&call, "[1,2]").structured(), None);
    /// ```
    pub fn structured(&self) -> Option<Value> {
        let json = self.structured_json()?;
        if rounded_integer(json).is_some() {
            return None;
        }
        serde_json::from_str(json).ok()
    }

    /// Returns the output as JSON text, exact, unless the tool returned a string, `()` or only
    /// [parts](ToolResult::parts).
    pub fn structured_json(&self) -> Option<&str> {
        (self.is_json && self.error.is_none()).then_some(&*self.content)
    }

    /// Returns `true` if the call failed.
    pub fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// Returns the error, if the call failed.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall};
    ///
    /// let result = Registry::new().call_blocking(ToolCall::new("call_1", "get_time", ""));
    /// if let Some(error) = result.error() {
    ///     // For the log. The model gets the message.
    ///     eprintln!("{}: {} {}", error.id(), error.kind(), error.detail());
    /// }
    /// assert!(result.is_error());
    /// ```
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

    /// Returns the output as parts, or the error. A tool that passes a call on, and whose result may have
    /// [parts](ToolResult::parts), returns this.
    ///
    /// # Errors
    ///
    /// Returns the error, if the call failed.
    pub fn into_parts(self) -> Result<Vec<Content>, ToolError> {
        match (self.error, self.extra) {
            (Some(error), _) => Err(*error),
            (None, Some(extra)) if !extra.parts.is_empty() => Ok(extra.parts),
            (None, _) => Ok(vec![Content::Text(self.content)]),
        }
    }

    /// Returns the output as a value of a type: a string is a string, everything else what its JSON text says.
    ///
    /// ```
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "roll_die", "");
    /// assert_eq!(ToolResult::new(&call, 4).value::<u8>()?, 4);
    /// assert_eq!(ToolResult::new(&call, "four").value::<String>()?, "four");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the output is not a `T`, or if the call failed.
    pub fn value<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.error() {
            Some(error) => Err(serde_json::Error::custom(error.message())),
            None if self.is_json => serde_json::from_str(&self.content),
            None => T::deserialize(self.content().into_deserializer()),
        }
    }

    /// Returns `true` if the output contains secrets, so that `Debug` and [`line`](ToolResult::line) do not show it.
    pub fn has_secrets(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.is_secret)
    }

    /// Marks an output that [contains secrets](ToolResult::has_secrets), such as one that repeats the output of another
    /// call.
    ///
    /// ```
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "get_key", "");
    /// let result = ToolResult::new(&call, "hunter2").with_secrets();
    /// assert_eq!((result.content(), &*result.line()), ("hunter2", "[secret]"));
    /// ```
    pub fn with_secrets(mut self) -> ToolResult {
        self.extra.get_or_insert_default().is_secret = true;
        self
    }

    /// Returns the text for the model as a line for a log or a page, with [a line](Content::line) for each
    /// picture or file in place of its bytes. Secrets are left out.
    ///
    /// ```
    /// use tool_core::content::Image;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "take_picture", "");
    /// let result = ToolResult::new(&call, Image::png(vec![0; 12_345]));
    /// assert_eq!(result.line(), "image/png, 12 kB");
    /// ```
    pub fn line(&self) -> String {
        if self.has_secrets() {
            return HIDDEN.into();
        }
        let text = match self.parts() {
            [] => self.content().to_owned(),
            parts => {
                let lines: Vec<_> = parts.iter().map(Content::line).collect();
                lines.join("; ")
            }
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the values that a lenient registry converted to make the arguments valid; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    pub fn coercions(&self) -> &[Coercion] {
        &self.coercions
    }

    /// Replaces the model's view of the result by a string, [parts](ToolResult::parts) included. The output
    /// is no longer [structured](ToolResult::structured). An error stays an error and keeps its reference.
    ///
    /// A client of the Model Context Protocol may reject text from a tool with an output schema. So if you
    /// replace a tool's results, let it return a `String`.
    pub fn with_content(mut self, text: impl Into<String>) -> ToolResult {
        match &mut self.error {
            Some(error) => error.map_message(text.into()),
            None => {
                self.content = text.into();
                self.is_json = false;
                if let Some(extra) = &mut self.extra {
                    extra.parts.clear();
                    extra.kept = None;
                }
            }
        }
        self
    }

    /// Replaces the model's view of the result by parts, such as the result's own with a string redacted.
    /// The output is no longer [structured](ToolResult::structured). Does not change an error.
    ///
    /// ```
    /// use tool_core::content::{Content, Image};
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "take_picture", "");
    /// let parts = vec![Content::text("of Ada"), Image::png("…").into()];
    /// let result = ToolResult::new(&call, parts);
    /// let redacted = result.parts().iter().cloned().map(|part| match part {
    ///     Content::Text(text) => Content::text(text.replace("Ada", "***")),
    ///     other => other,
    /// });
    /// let redacted = redacted.collect();
    /// assert_eq!(result.with_parts(redacted).content(), "of ***");
    /// ```
    pub fn with_parts(mut self, parts: Vec<Content>) -> ToolResult {
        if self.error.is_none() {
            self.content = joined_text(&parts);
            self.is_json = false;
            let extra = self.extra.get_or_insert_default();
            extra.parts = parts;
            extra.has_value = false;
            extra.kept = None;
        }
        self
    }

    /// Returns the handle of the whole text and its size in bytes, if the text was too long and a store
    /// [keeps](crate::RegistryBuilder::spill) it.
    ///
    /// ```
    /// use tool_core::registry::{MemoryResults, ResultScope};
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Counts.
    /// #[tool]
    /// fn count() -> String {
    ///     "123456789".into()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![count]).spill(MemoryResults::new(), 4).build()?;
    /// let call = ToolCall::new("call_1", "count", "");
    /// let result = registry.call_blocking(call.clone().with(ResultScope::new("chat 7")));
    /// assert_eq!(result.kept().unwrap().1, 9);
    /// // Nobody knows whose this one is.
    /// assert!(registry.call_blocking(call).kept().is_none());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn kept(&self) -> Option<(&str, usize)> {
        let (handle, bytes) = self.extra.as_ref()?.kept.as_ref()?;
        Some((handle, *bytes))
    }

    /// Returns the text that a store should keep, if it is longer than `cap` bytes.
    pub(crate) fn text_beyond(&self, cap: usize) -> Option<String> {
        let is_long = |text: &&str| text.len() > cap;
        match (self.parts(), &self.error) {
            ([], None) => Some(&*self.content).filter(is_long).map(str::to_owned),
            (parts, None) => Some(joined_text(parts)).filter(|text| text.len() > cap),
            // The other errors are of the registry.
            (_, Some(error)) if error.kind() == ToolErrorKind::Failed => {
                Some(error.message()).filter(is_long).map(str::to_owned)
            }
            (_, Some(_)) => None,
        }
    }

    /// Leaves a page at the start of the text, which a store has under a handle.
    pub(crate) fn keep_start(&mut self, page: &Page, handle: String, bytes: usize) {
        let (end, note) = (page.bytes.end, &*page.note);
        let start = |text: &str| [&text[..end], note].concat();
        let extra = self.extra.get_or_insert_default();
        extra.kept = Some((handle, bytes));
        match &mut self.error {
            Some(error) => {
                error.map_message(start(error.message()));
                // The operator's text is limited, too.
                error.truncate(error.message().len());
            }
            None => {
                extra.keep_start(end, note);
                // The text of a value, whose parts follow, may be whole.
                if self.content.len() > end {
                    self.content = start(&self.content);
                    self.is_json = false;
                }
            }
        }
    }

    /// Truncates the text for the model to `cap` bytes.
    pub(crate) fn truncate(&mut self, cap: usize) {
        match &mut self.error {
            Some(error) => error.truncate(cap),
            None => {
                self.is_json &= !truncate(&mut self.content, cap);
                if let Some(extra) = &mut self.extra {
                    extra.truncate(cap);
                }
            }
        }
    }

    /// Replaces media that do not fit in `cap` bytes by notes.
    pub(crate) fn limit_media(&mut self, cap: usize) {
        if let Some(extra) = &mut self.extra {
            extra.limit_media(cap);
        }
    }

    /// Assigns the result to another call: the result of an earlier call with the same arguments, or of a
    /// layer that made another call.
    ///
    /// ```
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let cached = ToolResult::new(&ToolCall::new("call_1", "roll_die", ""), 4);
    /// let call = ToolCall::new("call_2", "roll_die", "");
    /// assert_eq!(cached.for_call(&call).call_id(), "call_2");
    /// ```
    pub fn for_call(self, call: &ToolCall) -> ToolResult {
        self.with_head(call.head())
    }

    pub(crate) fn with_head(mut self, head: ResultHead) -> ToolResult {
        self.call_id = head.call.id;
        self.name = head.call.name;
        self.wire_id = head.call.wire_id;
        self.is_wrapped = head.call.is_wrapped;
        self.with_origin(head.origin)
    }

    /// Returns the item that answers the call, without what the result adds, if the dialect
    /// [set](ToolCall::with_answer) one.
    pub fn answer(&self) -> Option<&Value> {
        self.origin()?.answer.as_ref()
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.extra.as_ref()?.origin.as_deref()
    }

    /// Sets who made the call.
    pub(crate) fn with_origin(mut self, origin: Option<Box<Origin>>) -> ToolResult {
        if origin.is_some() || self.extra.is_some() {
            self.extra.get_or_insert_default().origin = origin;
        }
        self
    }

    pub(crate) fn error_mut(&mut self) -> Option<&mut ToolError> {
        self.error.as_deref_mut()
    }
}

origin!(ToolResult);

impl ToolResult {
    /// Returns the approvals that the provider asked for, and that somebody gave by allowing the call. A dialect repeats
    /// them where the provider expects that.
    pub fn approved(&self) -> &[ApprovalRequest] {
        self.origin().map_or(&[], |origin| &origin.approvals)
    }
}

/// Runs a call on this thread.
pub(crate) fn run_blocking<F: Future<Output = ToolResult>>(
    call: ToolCall,
    run: impl FnOnce(ToolCall) -> F,
) -> ToolResult {
    let head = (!HAS_THREADS).then(|| call.head());
    block_on(run(call)).unwrap_or_else(|_| {
        let head = head.expect("this platform has no threads");
        let error = ToolError::unavailable(&head.call.name, NoRuntime.to_string());
        ToolResult::of_error(head, error)
    })
}

/// Compares what the model gets, and for which call.
impl PartialEq for ToolResult {
    fn eq(&self, other: &ToolResult) -> bool {
        self.call_id == other.call_id
            && self.name == other.name
            && self.content() == other.content()
            && self.is_json == other.is_json
            && self.is_error() == other.is_error()
            && self.parts() == other.parts()
    }
}

impl fmt::Debug for ToolResult {
    /// Does not show an output with [secrets](macro@crate::tool#secrets).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ToolResult");
        out.field("call_id", &self.call_id)
            .field("name", &self.name);
        let is_secret = self.has_secrets();
        match &self.error {
            Some(error) => out.field("error", error),
            None if is_secret => out.field("content", &HIDDEN),
            None => out
                .field("content", &self.content)
                .field("parts", &self.parts()),
        };
        out.field("coercions", &self.coercions)
            .finish_non_exhaustive()
    }
}
