//! Converts outputs that do not come from a tool: to an [`Answer`], to a result.

use std::error::Error;

use super::{IntoOutput, Outcome, RichOutcome};
use crate::call::boundary::Source;
use crate::call::error::{InvalidResult, ToolError};
use crate::call::{Answer, AnswerOutput as Output, CallHead, Decision, ToolCall, ToolResult};
use crate::schema::violation::Coercion;

impl Decision {
    /// Ends the call with this output, in place of the tool's; see
    /// [`Gate::answer`](crate::hooks::Gate::answer).
    pub fn answer<Kind>(output: impl IntoOutput<Kind>) -> Decision {
        Decision::Answer(Answer::new(output))
    }
}

impl Answer {
    /// Converts a value as a tool's result is converted.
    pub(crate) fn new<Kind>(output: impl IntoOutput<Kind>) -> Answer {
        Answer(to_output(output.into_outcome()))
    }

    pub(crate) fn failed(message: String) -> Answer {
        Answer(Output::Failed {
            message,
            cause: None,
        })
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        to_outcome(self.0)
    }
}

fn to_output(outcome: Outcome) -> Output {
    match outcome {
        Outcome::Text(text) => Output::Text(text),
        Outcome::Json(json) => Output::Json(json),
        Outcome::Failed { message, source } => Output::Failed {
            message,
            cause: source.map(|source| source.to_string()),
        },
        Outcome::Invalid(invalid) => Output::Unwritable {
            cause: invalid
                .source
                .map_or_else(String::new, |source| source.to_string()),
        },
        Outcome::Rich(rich) => Output::WithParts {
            output: Box::new(to_output(rich.output)),
            extra: rich.extra,
        },
    }
}

fn to_outcome(output: Output) -> Outcome {
    match output {
        Output::Text(text) => Outcome::Text(text),
        Output::Json(json) => Outcome::Json(json),
        Output::Failed { message, cause } => Outcome::Failed {
            message,
            source: cause.map(Into::into),
        },
        Output::Unwritable { cause } => Outcome::unwritable(cause.into()),
        Output::WithParts { output, extra } => Outcome::rich(to_outcome(*output), extra),
    }
}

/// Results of calls that no registry ran.
impl ToolResult {
    /// Creates the result of a call that the application answers itself, such as one of a tool that runs
    /// in the user's browser. The output is converted like a tool's; see [`IntoOutput`].
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::content::{Content, Image};
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "take_picture", "");
    /// let result = ToolResult::new(&call, json!({"width": 640}));
    /// assert_eq!(result.structured(), Some(json!({"width": 640})));
    /// let picture = Image::jpeg(b"\xff\xd8");
    /// let result = ToolResult::new(&call, (json!({"width": 640}), vec![Content::from(picture)]));
    /// assert_eq!(result.parts()[0], Content::text(r#"{"width":640}"#));
    /// ```
    pub fn new<Kind>(call: &ToolCall, output: impl IntoOutput<Kind>) -> ToolResult {
        let head = call.head();
        let result = ToolResult::of_outcome(head.call, output.into_outcome(), Vec::new());
        result.with_origin(head.origin)
    }

    /// Creates the result of a call that failed. The model sees the error's text. A [`ToolError`] keeps
    /// its kind if it belongs to a tool of the same name.
    ///
    /// ```
    /// use tool_core::{ToolCall, ToolErrorKind, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "take_picture", "");
    /// let result = ToolResult::failed(&call, "the camera is covered");
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Failed);
    /// assert!(result.content().ends_with("the camera is covered"));
    /// ```
    pub fn failed(call: &ToolCall, error: impl Into<Box<dyn Error + Send + Sync>>) -> ToolResult {
        let error = error.into();
        let message = error.to_string();
        let source = Some(Source::new(error));
        let head = call.head();
        let outcome = Outcome::Failed { message, source };
        ToolResult::of_outcome(head.call, outcome, Vec::new()).with_origin(head.origin)
    }

    /// Creates the result of a call whose arguments needed these conversions.
    #[inline]
    pub(crate) fn of_outcome(
        call: CallHead,
        outcome: Outcome,
        coercions: Vec<Coercion>,
    ) -> ToolResult {
        let output = match outcome {
            Outcome::Text(text) => Ok((text, false)),
            Outcome::Json(json) => Ok((json, true)),
            Outcome::Failed { message, source } => Err(failed(&call.name, &message, source)),
            Outcome::Invalid(invalid) => Err(invalid_result(&call.name, *invalid)),
            Outcome::Rich(rich) => return rich_result(call, *rich, coercions),
        };
        ToolResult::from_output(call, output, coercions)
    }
}

/// Creates the result of an output with parts.
#[cold]
fn rich_result(call: CallHead, rich: RichOutcome, coercions: Vec<Coercion>) -> ToolResult {
    let result = ToolResult::of_outcome(call, rich.output, coercions);
    if result.is_error() {
        result
    } else {
        result.with_extra(rich.extra)
    }
}

/// Boxes the error here, so that a successful call reserves no space for it.
#[cold]
#[allow(clippy::unnecessary_box_returns)]
fn failed(tool: &str, message: &str, source: Option<Source>) -> Box<ToolError> {
    Box::new(ToolError::failed(tool, message, source))
}

/// Boxes the error here, as [`failed`] does.
#[cold]
#[allow(clippy::unnecessary_box_returns)]
fn invalid_result(tool: &str, invalid: InvalidResult) -> Box<ToolError> {
    Box::new(ToolError::invalid_result(tool, invalid))
}
