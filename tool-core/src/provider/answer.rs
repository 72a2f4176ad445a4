//! [`TypedAnswer`]: asks for a final answer of a type, and reads it.

use std::any::type_name;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use serde_json::Value;

use crate::call::ToolResult;
use crate::decode::{DecodeOwned, ReadError, decode_text};
use crate::provider::end::{End, Reason};
use crate::provider::reshape;
use crate::provider::rule_check;
use crate::provider::subset::Subset;
use crate::provider::target::Target;
use crate::provider::turn::Turn;
use crate::provider::writer::JsonWriter;
use crate::schema::decode_check::rejection;
use crate::schema::messages::shorten;
use crate::schema::validate::{Options, ValidateError, normalise};
use crate::schema::violation::{Violation, Violations};
use crate::schema::{Kind, Property, Schema, Text};
use crate::spec::{Annotations, Details, DynamicParts, Location, OutputValues, Parts, ToolSpec};
use crate::tool::{LiveTool, StaticSpec, ToolEntry};
use crate::types::ToolType;

/// The tool by which a model answers, where the provider has no structured output.
pub(crate) const TOOL: &str = "final_answer";

/// The form of a final answer; see [`RequestOptions::answer`](crate::dialect::RequestOptions::answer).
///
/// ```
/// use tool_core::dialect::write::AnswerFormat;
///
/// // Providers require an object, so other types stand under `answer`.
/// let schema = AnswerFormat::of::<Vec<String>>().schema();
/// assert!(schema.property("answer").is_some());
/// ```
#[derive(Clone, Copy)]
pub struct AnswerFormat {
    /// An object.
    schema: &'static Schema,
    is_wrapped: bool,
    /// The path of the type.
    name: &'static str,
}

impl AnswerFormat {
    /// The name of the schema in a request, and the key of a value that is no object.
    pub const NAME: &str = "answer";

    /// Returns the form of a type.
    pub fn of<T: ToolType + ?Sized>() -> AnswerFormat {
        let is_wrapped = !matches!(T::SCHEMA.kind, Kind::Object(_));
        AnswerFormat {
            schema: if is_wrapped {
                Wrapped::<T>::SCHEMA
            } else {
                T::SCHEMA
            },
            is_wrapped,
            name: type_name::<T>(),
        }
    }

    /// Returns the schema: the type's if it is an object, and otherwise an object with the value
    /// under `answer`.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Writes the schema in a subset. Returns what the target rejects.
    pub fn reduced(&self, target: Target, subset: &Subset) -> Result<String, String> {
        rule_check::check(self.schema, target)?;
        let mut out = JsonWriter::new();
        reshape::write(self.schema, subset, &mut out);
        Ok(out.into_string())
    }

    /// Returns the tool by which a model answers.
    pub(crate) fn tool(&self) -> ToolEntry {
        let description = "Gives the final answer. Call it alone, once the task is done.";
        AnswerFormat::entry(TOOL, description, &self.schema.to_json())
    }

    /// Returns the entry of a tool that no registry has.
    pub(crate) fn entry(name: &str, description: &'static str, parameters: &str) -> ToolEntry {
        let parts = DynamicParts {
            parameters: parameters.into(),
            output: Arc::default(),
            output_values: OutputValues::Any,
            portable: None,
            is_reduced: false,
            unusual_keys: Vec::new(),
            source: None,
            is_untrusted: false,
            for_clients: None,
            details: Details::EMPTY,
        };
        ToolEntry::from_live(LiveTool {
            spec: ToolSpec {
                name: name.to_owned().into(),
                description: description.into(),
                annotations: Annotations::default(),
                location: Location::EMPTY,
                parameters: None,
                output: None,
                json_middle: 0,
                parts: Parts::Dynamic(Arc::new(parts)),
            },
            invoke: StaticSpec::EMPTY.invoke,
            receiver: None,
            group: None,
            group_description: None,
            is_deferred: false,
            validate_answer: None,
        })
    }
}

/// How a model is made to answer in a form, from the strongest way to the weakest; see
/// [`ToolRequest::answer_way`](crate::dialect::ToolRequest::answer_way).
///
/// The answer is checked in any case: a wrong one is an error that lists all violations.
///
/// ```
/// use tool_core::dialect::AnswerWay;
///
/// assert_eq!(AnswerWay::Json.as_str(), "JSON, with the schema in the prompt");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnswerWay {
    /// The provider is sent the schema, in a field of the request.
    Schema,
    /// The model calls the tool `final_answer`, whose arguments have the schema.
    Call,
    /// The provider makes sure that the answer is JSON, and the system prompt has the schema.
    Json,
    /// The system prompt has the schema.
    Prompt,
}

impl AnswerWay {
    /// Returns the way in words.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerWay::Schema => "the provider's structured output",
            AnswerWay::Call => "a call of `final_answer`",
            AnswerWay::Json => "JSON, with the schema in the prompt",
            AnswerWay::Prompt => "the schema in the prompt",
        }
    }
}

/// The answer that settings ask for.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "SavedAnswer", from = "SavedAnswer")
)]
pub(crate) enum Answer {
    Of(AnswerFormat),
    /// Of settings that were saved, until they are given the type again.
    #[cfg_attr(not(feature = "serde"), allow(dead_code))]
    Saved(SavedAnswer),
}

/// The saved form of the type of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SavedAnswer {
    /// The path of the type, for messages.
    pub(crate) name: String,
    /// JSON text.
    pub(crate) schema: String,
}

impl From<AnswerFormat> for SavedAnswer {
    fn from(format: AnswerFormat) -> SavedAnswer {
        SavedAnswer {
            name: format.name.to_owned(),
            schema: format.schema.to_json(),
        }
    }
}

impl From<Answer> for SavedAnswer {
    fn from(answer: Answer) -> SavedAnswer {
        match answer {
            Answer::Of(format) => format.into(),
            Answer::Saved(saved) => saved,
        }
    }
}

impl From<SavedAnswer> for Answer {
    fn from(saved: SavedAnswer) -> Answer {
        Answer::Saved(saved)
    }
}

impl PartialEq for AnswerFormat {
    /// Two types may have one name, and equal types different addresses of their schema.
    fn eq(&self, other: &AnswerFormat) -> bool {
        ptr::eq(self.schema, other.schema)
            && (self.is_wrapped, self.name) == (other.is_wrapped, other.name)
    }
}

impl fmt::Debug for AnswerFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerFormat")
            .field(&self.schema.to_json())
            .finish()
    }
}

/// The object around a value that is not one. Providers accept no other schema at the root.
struct Wrapped<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Wrapped<T> {
    const SCHEMA: &'static Schema = &Schema::object(Self::PROPERTIES);
    const PROPERTIES: &'static [Property] =
        &[Property::new(Text::new(AnswerFormat::NAME), T::SCHEMA)];
}

/// Reads the final answer of a type that a request [asked](crate::dialect::RequestOptions::answer) for.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Dialect, TypedAnswer};
/// use tool_dialects::Anthropic;
/// use tool_core::{Registry, ToolType};
///
/// #[derive(Debug, PartialEq, ToolType)]
/// struct Forecast {
///     city: String,
///     #[param(range = -90..=60)]
///     high: i8,
/// }
///
/// let dialect = Anthropic::default();
/// let request = Registry::new().request(&dialect).answer::<Forecast>().build()?;
/// assert_eq!(json!(request.fields())["output_config"]["format"]["type"], "json_schema");
///
/// let response = json!({"role": "assistant", "content": [
///     {"type": "text", "text": "{\"city\":\"Lisbon\",\"high\":21}"},
/// ]});
/// let forecast = TypedAnswer::<Forecast>::read(&dialect.read(&response)?)?;
/// assert_eq!(forecast, Forecast { city: "Lisbon".into(), high: 21 });
///
/// // All violations are reported at once.
/// let error = TypedAnswer::<Forecast>::parse(r#"{"city":1,"high":100}"#).unwrap_err();
/// assert_eq!(error.violations().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedAnswer<T>(PhantomData<T>);

impl<T: ToolType + DecodeOwned> TypedAnswer<T> {
    /// Reads the answer in a response.
    ///
    /// # Errors
    ///
    /// Returns an error if the response has calls of tools in place of an answer, or if the answer does
    /// not match the schema of the type.
    pub fn read(turn: &Turn) -> Result<T, AnswerError> {
        match turn.calls.iter().find(|call| call.name == TOOL) {
            Some(call) => {
                let options = Options {
                    is_rounded: call.arguments.is_rounded(),
                    ..Options::default()
                };
                Self::parse_with(&call.arguments.clone().into_text(), options)
            }
            None if turn.calls.is_empty() => Self::parse(&turn.text),
            None => Err(AnswerError::other("the response has calls and no answer")),
        }
    }

    /// Reads the answer in the text of a response. A code fence around it is ignored, and so are thoughts before it, in
    /// `<think>` and `</think>`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON or does not match the schema of the type.
    pub fn parse(text: &str) -> Result<T, AnswerError> {
        Self::parse_with(without_fence(text), Options::default())
    }

    fn parse_with(text: &str, options: Options) -> Result<T, AnswerError> {
        let format = AnswerFormat::of::<T>();
        let normalised = normalise(format.schema, text, options);
        let normalised = normalised.map_err(|error| match error {
            ValidateError::NotJson(problem) => AnswerError::other(format!(
                "the answer is not valid JSON: {problem}: {}",
                shorten(text)
            )),
            ValidateError::Invalid(violations) => AnswerError::invalid(violations),
        })?;
        let decoded = if format.is_wrapped {
            unwrap(&normalised.text)
        } else {
            decode_text(&normalised.text)
        };
        decoded.map_err(|error| {
            let problem = rejection(&error.to_string(), None);
            AnswerError::invalid(Violations::one(String::new(), &problem))
        })
    }
}

impl Turn {
    /// Reads a call of the tool `final_answer` as the answer: the text is then the arguments of that call,
    /// and there are no calls. Where the provider has no structured output, the model
    /// [answers](crate::dialect::RequestOptions::answer) with such a call.
    ///
    /// `results` is [`Dialect::results`](crate::dialect::Dialect::results). The results of all calls become
    /// part of the messages, because providers reject a conversation with a call that has none.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Anthropic;
    ///
    /// let dialect = Anthropic::default();
    /// let mut turn = dialect.read(&json!({"role": "assistant", "content": [
    ///     {"type": "tool_use", "id": "1", "name": "final_answer", "input": {"total": 5}},
    /// ]}))?;
    /// turn.accept_answer(|results| dialect.results(results));
    /// assert_eq!(turn.text, r#"{"total":5}"#);
    /// assert!(turn.calls.is_empty());
    /// assert_eq!(turn.messages[1]["content"][0]["content"], "received");
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    pub fn accept_answer(&mut self, results: impl FnOnce(&[ToolResult]) -> Vec<Value>) {
        let Some(answer) = self.calls.iter().find(|call| call.name == TOOL) else {
            return;
        };
        self.text = answer.arguments.clone().into_text();
        // The calls that the reason to stop announced are gone.
        if self.end() == End::Calls {
            self.reason = Some(Reason::Answered);
        }
        let ended = self.calls.drain(..).map(|call| {
            let text = if call.name == TOOL {
                "received"
            } else {
                "not run, because the response has a final answer"
            };
            ToolResult::new(&call, text)
        });
        self.messages.extend(results(&ended.collect::<Vec<_>>()));
    }
}

/// Decodes the only member of an object. It is there, because normalising fills in `null`.
fn unwrap<T: DecodeOwned>(text: &str) -> Result<T, ReadError> {
    let mut members: BTreeMap<String, T> = decode_text(text)?;
    let missing = || serde::de::Error::missing_field(AnswerFormat::NAME);
    members.remove(AnswerFormat::NAME).ok_or_else(missing)
}

/// Removes a Markdown code fence around an answer, and the thoughts that some servers leave before it.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let thoughts = text.strip_prefix("<think>");
    let text = match thoughts.and_then(|thoughts| thoughts.split_once("</think>")) {
        Some((_, answer)) => answer.trim(),
        None => text,
    };
    let inside = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((_, inside)) => inside.trim(),
        None => text,
    }
}

/// The error of an answer that can't be read.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::dialect::TypedAnswer;
///
/// #[derive(Debug, ToolType)]
/// struct Review {
///     #[param(range = 1..=5)]
///     stars: u8,
/// }
///
/// let error = TypedAnswer::<Review>::parse(r#"{"stars":9}"#).unwrap_err();
/// assert_eq!(error.violations()[0].path(), "stars");
/// // For the model, which may try again.
/// println!("{error}");
/// ```
#[derive(Clone)]
pub struct AnswerError {
    message: String,
    violations: Vec<Violation>,
}

impl AnswerError {
    fn other(message: impl Into<String>) -> AnswerError {
        AnswerError {
            message: message.into(),
            violations: Vec::new(),
        }
    }

    fn invalid(violations: Violations) -> AnswerError {
        let (listed, more) = violations.into_parts();
        let mut message = "the answer is not valid:".to_owned();
        for violation in &listed {
            message.push_str("\n- ");
            message.push_str(violation.as_str());
        }
        if more > 0 {
            message.push_str(&format!("\n- and {more} more"));
        }
        AnswerError {
            message,
            violations: listed,
        }
    }

    /// Returns everything that is wrong with an answer that is JSON, at most 20 violations.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text can be sent to the model, so that it corrects the answer.
impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for AnswerError {}
