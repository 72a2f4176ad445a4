//! Asks the user a question while a tool runs.
//!
//! A tool calls [`CallContext::elicit`](crate::CallContext::elicit). The caller decides how to ask the
//! user, with [`ToolCall::elicit_with`](crate::ToolCall::elicit_with). A server of the Model Context
//! Protocol (the crate `tool-mcp`) does that with its client.
//!
//! ```
//! use std::sync::Arc;
//! use tool_core::call::elicit::{Elicit, ElicitError, ElicitRequest, Elicited, Elicitor};
//! use tool_core::runtime::BoxFuture;
//! use tool_core::{CallContext, Registry, ToolCall, ToolType, tool, tools};
//!
//! /// The seat of a passenger.
//! #[derive(ToolType)]
//! struct Seat {
//!     /// The row.
//!     row: u8,
//! }
//!
//! /// Books a seat.
//! #[tool]
//! async fn book_seat(call: &CallContext) -> Result<String, ElicitError> {
//!     let question = Elicit::<Seat>::form("Where do you want to sit?");
//!     Ok(match call.elicit("seat", question).await? {
//!         Elicited::Accepted(seat) => format!("booked in row {}", seat.row),
//!         Elicited::Declined | Elicited::Dismissed => "booked any seat".into(),
//!     })
//! }
//!
//! /// Always chooses row 7.
//! struct Row7;
//!
//! impl Elicitor for Row7 {
//!     fn elicit(&self, _: &str, _: ElicitRequest) -> BoxFuture<Result<Elicited, ElicitError>> {
//!         Box::pin(async { Ok(Elicited::Accepted(serde_json::json!({ "row": 7 }))) })
//!     }
//! }
//!
//! let registry = Registry::builder().tools(tools![book_seat]).build()?;
//! let call = ToolCall::new("call_1", "book_seat", "").elicit_with(Arc::new(Row7));
//! assert_eq!(registry.call_blocking(call).content(), "booked in row 7");
//! # Ok::<(), tool_core::RegistryError>(())
//! ```
//!
//! # A tool may run again
//!
//! Some protocols have no connection that stays open for an answer: the call ends with the question, and
//! the client makes it again with the answer. Your tool then runs from its start, and
//! [`elicit`](crate::CallContext::elicit) returns the answer at once. So:
//!
//! - Use a fixed key for each question. A key has one answer in a call.
//! - Code before a question runs once for each run. It must be harmless to repeat, or you remember its
//!   result with [`CallContext::keep`](crate::CallContext::keep).
//! - The future of the tool is dropped at the question. Other work of the same tool is dropped with it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::decode::{DecodeOwned, decode_text};
use crate::runtime::BoxFuture;
use crate::schema::validate::{Options, ValidateError, normalise};
use crate::types::ToolType;

/// A question to the user, whose answer is read as a `T`.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::call::elicit::Elicit;
///
/// #[derive(ToolType)]
/// struct Seat {
///     #[param(range = 1..=30)]
///     row: u8,
/// }
///
/// // In a tool: `call.elicit("seat", question).await?` returns an `Elicited<Seat>`.
/// let question = Elicit::<Seat>::form("Which row would you like?");
/// assert_eq!(question.request().message, "Which row would you like?");
/// ```
#[derive(Debug)]
pub struct Elicit<T = Value> {
    request: ElicitRequest,
    read: fn(Value) -> Result<T, ElicitError>,
    /// Set if answers are validated against the JSON text of the schema.
    validates: bool,
}

impl<T> Clone for Elicit<T> {
    fn clone(&self) -> Elicit<T> {
        Elicit {
            request: self.request.clone(),
            read: self.read,
            validates: self.validates,
        }
    }
}

impl<T: ToolType + DecodeOwned> Elicit<T> {
    /// Asks for the fields of a struct. They should be strings, numbers, booleans, enums of strings or lists
    /// of such enums: clients show a form without nesting.
    pub fn form(message: impl Into<String>) -> Elicit<T> {
        Elicit::new(message, ElicitMode::Form(T::SCHEMA.to_json()), |answer| {
            let options = Options {
                is_rounded: true,
                ..Options::default()
            };
            match normalise(T::SCHEMA, &answer.to_string(), options) {
                Ok(normalised) => decode_text(&normalised.text).map_err(ElicitError::invalid),
                Err(ValidateError::NotJson(problem)) => Err(ElicitError::invalid(problem)),
                Err(ValidateError::Invalid(violations)) => {
                    let (listed, _) = violations.into_parts();
                    let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
                    Err(ElicitError::invalid(listed.join("; ")))
                }
            }
        })
    }
}

impl Elicit<()> {
    /// Asks to accept or decline something.
    pub fn confirm(message: impl Into<String>) -> Elicit<()> {
        let schema = r#"{"type":"object","properties":{}}"#.into();
        Elicit::new(message, ElicitMode::Form(schema), |_| Ok(()))
    }

    /// Asks to visit a page, such as to log in or to pay. The user's input there does not pass through the
    /// client. An accepted answer means that the user agreed to open the page.
    pub fn visit(message: impl Into<String>, url: impl Into<String>) -> Elicit<()> {
        Elicit::new(message, ElicitMode::Url(url.into()), |_| Ok(()))
    }
}

impl Elicit {
    /// Asks for a value that matches a JSON Schema, which is JSON text or a `Value`. With the feature
    /// `dynamic`, an answer that does not match the schema is an error, and so is each answer if the schema
    /// is invalid. Without it, answers are not validated.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::call::elicit::Elicit;
    ///
    /// let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    /// let question = Elicit::with_schema("What is your name?", schema);
    /// assert_eq!(question.request().message, "What is your name?");
    /// ```
    pub fn with_schema(message: impl Into<String>, schema: impl ToString) -> Elicit {
        let mut question = Elicit::new(message, ElicitMode::Form(schema.to_string()), Ok);
        question.validates = true;
        question
    }
}

impl<T> Elicit<T> {
    fn new(
        message: impl Into<String>,
        mode: ElicitMode,
        read: fn(Value) -> Result<T, ElicitError>,
    ) -> Elicit<T> {
        let message = message.into();
        Elicit {
            request: ElicitRequest { message, mode },
            read,
            validates: false,
        }
    }

    /// Returns the question.
    pub fn request(&self) -> &ElicitRequest {
        &self.request
    }

    pub(crate) async fn ask(
        self,
        elicitor: Option<Arc<dyn Elicitor>>,
        key: String,
    ) -> Result<Elicited<T>, ElicitError> {
        let Some(elicitor) = elicitor else {
            return Err(ElicitError::unsupported("the call has nobody to ask"));
        };
        let schema = match &self.request.mode {
            ElicitMode::Form(schema) if self.validates => Some(schema.clone()),
            _ => None,
        };
        let answer = elicitor.elicit(&key, self.request).await?;
        Ok(match answer {
            Elicited::Accepted(value) => {
                if let Some(schema) = schema {
                    validate(&schema, &value)?;
                }
                Elicited::Accepted((self.read)(value)?)
            }
            Elicited::Declined => Elicited::Declined,
            Elicited::Dismissed => Elicited::Dismissed,
        })
    }
}

/// Validates an answer against the JSON text of a schema.
#[cfg(feature = "dynamic")]
fn validate(schema: &str, answer: &Value) -> Result<(), ElicitError> {
    let validated = crate::dynamic::compiled::validate(schema, &answer.to_string());
    validated.map_err(|violations| {
        let (listed, _) = violations.into_parts();
        let listed: Vec<_> = listed.iter().map(ToString::to_string).collect();
        ElicitError::invalid(listed.join("; "))
    })
}

#[cfg(not(feature = "dynamic"))]
#[allow(clippy::unnecessary_wraps)] // as with the feature
fn validate(_: &str, _: &Value) -> Result<(), ElicitError> {
    Ok(())
}

/// A question to the user, as an [`Elicitor`] gets it.
///
/// ```
/// use tool_core::call::elicit::{Elicit, ElicitMode};
///
/// let question = Elicit::visit("Please pay.", "https://pay.example/7");
/// let request = question.request();
/// assert_eq!(request.message, "Please pay.");
/// assert_eq!(request.mode, ElicitMode::Url("https://pay.example/7".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// The text for the user.
    pub message: String,
    /// The way to answer.
    pub mode: ElicitMode,
}

/// The way to answer a question.
///
/// ```
/// use tool_core::call::elicit::{Elicit, ElicitMode};
///
/// let question = Elicit::confirm("Delete the note?");
/// let shown = match &question.request().mode {
///     ElicitMode::Form(schema) => format!("a form with {schema}"),
///     ElicitMode::Url(url) => format!("a link to {url}"),
///     _ => "nothing".into(),
/// };
/// assert!(shown.starts_with(r#"a form with {"type":"object""#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitMode {
    /// A form. Contains the JSON Schema of the answer, an object, as JSON text.
    Form(String),
    /// A page to visit. Contains its URL.
    Url(String),
}

/// The answer of the user.
///
/// ```
/// use tool_core::call::elicit::Elicited;
///
/// let answer = Elicited::Accepted(7_u8);
/// let reply = match answer {
///     Elicited::Accepted(row) => format!("booked in row {row}"),
///     Elicited::Declined => "no seat, as you wish".into(),
///     Elicited::Dismissed => "no answer; ask again later".into(),
/// };
/// assert_eq!(reply, "booked in row 7");
/// assert_eq!(answer.accepted(), Some(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicited<T = Value> {
    /// The user accepted, and gave this.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user closed the question without an answer.
    Dismissed,
}

impl<T> Elicited<T> {
    /// Returns what the user gave, if the user accepted.
    pub fn accepted(self) -> Option<T> {
        match self {
            Elicited::Accepted(value) => Some(value),
            Elicited::Declined | Elicited::Dismissed => None,
        }
    }
}

/// The reason why there is no answer.
///
/// ```
/// use tool_core::call::elicit::ElicitError;
///
/// let error = ElicitError::unsupported("the client shows no forms");
/// assert_eq!(error.to_string(), "the user can't be asked: the client shows no forms");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitError {
    /// The user can't be asked.
    Unsupported(String),
    /// The answer does not match the question.
    Invalid(String),
    /// The question got lost, such as with the connection.
    Failed(String),
}

impl ElicitError {
    /// Creates the error of a user who can't be asked.
    pub fn unsupported(reason: impl Into<String>) -> ElicitError {
        ElicitError::Unsupported(reason.into())
    }

    /// Creates the error of an answer that does not match the question.
    pub fn invalid(problem: impl fmt::Display) -> ElicitError {
        ElicitError::Invalid(problem.to_string())
    }

    /// Creates the error of a question that got lost.
    pub fn failed(problem: impl fmt::Display) -> ElicitError {
        ElicitError::Failed(problem.to_string())
    }
}

impl fmt::Display for ElicitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, why) = match self {
            ElicitError::Unsupported(why) => ("the user can't be asked", why),
            ElicitError::Invalid(why) => ("the user's answer is invalid", why),
            ElicitError::Failed(why) => ("the user could not be asked", why),
        };
        write!(f, "{what}: {why}")
    }
}

impl Error for ElicitError {}

/// Asks the user, on behalf of the tools of a call.
///
/// ```
/// use tool_core::call::elicit::{ElicitError, ElicitMode, ElicitRequest, Elicited, Elicitor};
/// use tool_core::runtime::BoxFuture;
///
/// /// Accepts what needs no form, and declines everything else.
/// struct Confirms;
///
/// impl Elicitor for Confirms {
///     fn elicit(&self, _: &str, request: ElicitRequest) -> BoxFuture<Result<Elicited, ElicitError>> {
///         let answer = match request.mode {
///             ElicitMode::Form(_) => Elicited::Declined,
///             _ => Elicited::Accepted(serde_json::json!({})),
///         };
///         Box::pin(async { Ok(answer) })
///     }
/// }
///
/// let call = tool_core::ToolCall::new("call_1", "pay", "").elicit_with(std::sync::Arc::new(Confirms));
/// # let _ = call;
/// ```
pub trait Elicitor: Send + Sync {
    /// Asks a question. `key` identifies it within the call: the same key has the same answer.
    ///
    /// The future may also never resolve, and be dropped with the call, because the call may be made again
    /// with the answer.
    fn elicit(&self, key: &str, request: ElicitRequest)
    -> BoxFuture<Result<Elicited, ElicitError>>;

    /// Keeps JSON text for a later run of the same call; see
    /// [`CallContext::keep`](crate::CallContext::keep). Does nothing by default, for calls that run once.
    fn keep(&self, key: &str, json: String) {
        let _ = (key, json);
    }

    /// Returns the JSON text that an earlier run of the same call kept.
    fn kept(&self, key: &str) -> Option<String> {
        let _ = key;
        None
    }
}

/// Asks on behalf of a nested call, whose keys are its own.
pub(crate) struct NestedElicitor {
    pub(crate) outer: Arc<dyn Elicitor>,
    /// The id of the nested call.
    pub(crate) call_id: String,
}

impl NestedElicitor {
    fn key(&self, key: &str) -> String {
        format!("{}/{key}", self.call_id)
    }
}

impl Elicitor for NestedElicitor {
    fn elicit(
        &self,
        key: &str,
        request: ElicitRequest,
    ) -> BoxFuture<Result<Elicited, ElicitError>> {
        self.outer.elicit(&self.key(key), request)
    }

    fn keep(&self, key: &str, json: String) {
        self.outer.keep(&self.key(key), json);
    }

    fn kept(&self, key: &str) -> Option<String> {
        self.outer.kept(&self.key(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    struct Answers(Result<Elicited, ElicitError>);

    impl Elicitor for Answers {
        fn elicit(&self, _: &str, _: ElicitRequest) -> BoxFuture<Result<Elicited, ElicitError>> {
            Box::pin(std::future::ready(self.0.clone()))
        }
    }

    fn ask<T>(
        question: Elicit<T>,
        answer: Result<Elicited, ElicitError>,
    ) -> Result<Elicited<T>, ElicitError> {
        let asked = question.ask(Some(Arc::new(Answers(answer))), "key".into());
        asked.now_or_never().expect("the answer is there")
    }

    #[cfg(feature = "dynamic")]
    #[test]
    fn answers_to_a_schema_are_validated() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {"row": {"type": "integer", "maximum": 30}},
            "required": ["row"],
        });
        let answer = |json: &str| Ok(Elicited::Accepted(serde_json::from_str(json).unwrap()));
        let question = || Elicit::with_schema("Which row?", &schema);
        let accepted = ask(question(), answer(r#"{"row":30}"#));
        assert_eq!(
            accepted,
            Ok(Elicited::Accepted(serde_json::json!({"row": 30})))
        );
        for invalid in [r#"{"row":31}"#, r#"{"row":"7"}"#, "{}", "[]"] {
            let error = ask(question(), answer(invalid)).unwrap_err();
            assert!(
                matches!(error, ElicitError::Invalid(_)),
                "{invalid}: {error}"
            );
        }
        // A user who declines fills in nothing.
        let declined = ask(question(), Ok(Elicited::Declined));
        assert_eq!(declined, Ok(Elicited::Declined));
        let invalid = Elicit::with_schema("Which row?", r#"{"type": 7}"#);
        let error = ask(invalid, answer("{}")).unwrap_err();
        assert!(matches!(error, ElicitError::Invalid(_)), "{error}");
    }

    #[test]
    fn answers_are_validated_and_errors_passed_on() {
        let question = Elicit::<Vec<u8>>::form("Which?");
        let answer = |json: &str| Ok(Elicited::Accepted(serde_json::from_str(json).unwrap()));
        assert_eq!(
            ask(question.clone(), answer("[1, 2.0]")),
            Ok(Elicited::Accepted(vec![1, 2]))
        );
        let error = ask(question.clone(), answer(r#"[1, 256, "x"]"#)).unwrap_err();
        let ElicitError::Invalid(problems) = &error else {
            panic!("{error}")
        };
        assert!(
            problems.contains("[1]: ") && problems.contains("; [2]: "),
            "{problems}"
        );
        assert_eq!(
            ask(question.clone(), Ok(Elicited::Declined)),
            Ok(Elicited::Declined)
        );
        let lost = ElicitError::failed("gone");
        assert_eq!(ask(question, Err(lost.clone())), Err(lost));
        assert_eq!(
            ask(Elicit::confirm("Yes?"), answer("{}")),
            Ok(Elicited::Accepted(()))
        );
        let nobody = Elicit::confirm("Yes?").ask(None, "key".into());
        let nobody = nobody.now_or_never().expect("nobody is asked");
        assert_eq!(
            nobody.unwrap_err().to_string(),
            "the user can't be asked: the call has nobody to ask"
        );
    }
}
