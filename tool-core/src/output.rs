//! Converts the return value of a tool's function to the result that the model reads.

mod answer;
mod into;
mod text;

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;
use std::mem;

use serde::Serialize;

use crate::call::boundary::{OwnedError, Source};
use crate::call::error::{InvalidResult, Transient};
use crate::call::{AppValue, Extra};
use crate::content::Content;
use crate::schema::validate::validate_result;
use crate::schema::violation::Violations;
use crate::schema::{Direction, Kind, Schema};
use crate::types::{ToolType, WRITES_EXACTLY, WRITES_NULLS};

pub(crate) use into::kind;
pub use into::{AnyOutput, IntoOutput, Returned};

/// The outcome of a tool that ran.
pub enum Outcome {
    #[doc(hidden)]
    Text(String),
    #[doc(hidden)]
    Json(String),
    #[doc(hidden)]
    Failed {
        message: String,
        source: Option<Source>,
    },
    /// The value is not what the output schema describes, or can't be serialized.
    #[doc(hidden)]
    Invalid(Box<InvalidResult>),
    /// An output with parts, or with a value for the application.
    #[doc(hidden)]
    Rich(Box<RichOutcome>),
}

/// An output with what few outputs have.
pub struct RichOutcome {
    /// A text, a JSON text or an error.
    pub(crate) output: Outcome,
    pub(crate) extra: Extra,
}

impl Outcome {
    /// Converts a value: a string stays as it is, a unit becomes `ok`, everything else JSON.
    pub(crate) fn value<T: Serialize + ?Sized>(value: &T) -> Outcome {
        match text::write(value) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::unwritable(Source::new(error)),
        }
    }

    /// Creates the outcome of a value that can't be serialized.
    pub(crate) fn unwritable(source: Source) -> Outcome {
        Outcome::Invalid(Box::new(InvalidResult {
            violations: Violations::one(String::new(), "can't be written as JSON"),
            source: Some(source),
        }))
    }

    /// Creates the outcome of a value that does not match the output schema.
    pub(crate) fn invalid(violations: Violations) -> Outcome {
        Outcome::Invalid(Box::new(InvalidResult {
            violations,
            source: None,
        }))
    }

    /// Validates the output against an output schema.
    #[cold]
    pub(crate) fn validate(self, schema: &Schema) -> Outcome {
        let result = match &self {
            Outcome::Json(json) => validate_result(schema, json),
            // A unit.
            Outcome::Text(text) if text == "ok" && validate_result(schema, "null").is_ok() => {
                Ok(())
            }
            Outcome::Text(text) => {
                let json = serde_json::to_string(text).expect("a string is JSON");
                validate_result(schema, &json)
            }
            Outcome::Failed { .. } | Outcome::Invalid(_) => Ok(()),
            Outcome::Rich(_) => return self.map_rich(|output| output.validate(schema)),
        };
        match result {
            Ok(()) => self,
            Err(violations) => Outcome::invalid(violations),
        }
    }

    /// Validates the return value of a function, as far as its type does not guarantee the schema.
    pub(crate) fn validate_as(self, output: &OutputSchema) -> Outcome {
        match &self {
            Outcome::Json(json) if output.writes & WRITES_NULLS == 0 || json.contains("null") => {
                self.validate(output.schema)
            }
            Outcome::Text(_) if output.writes & WRITES_NULLS == 0 => self.validate(output.schema),
            Outcome::Rich(_) => self.map_rich(|inner| inner.validate_as(output)),
            _ => self,
        }
    }

    /// Changes the output that has parts.
    pub(crate) fn map_rich(self, map: impl FnOnce(Outcome) -> Outcome) -> Outcome {
        match self {
            Outcome::Rich(rich) => Outcome::rich(map(rich.output), rich.extra),
            other => map(other),
        }
    }

    /// Converts the result of a tool that has no generated code.
    #[cfg(feature = "dynamic")]
    pub(crate) fn result<T, E, K>(result: Result<T, E>) -> Outcome
    where
        T: IntoOutput<K>,
        E: Display + Into<Box<dyn Error + Send + Sync>>,
    {
        Converted(result.map(T::into_outcome)).outcome()
    }

    /// Marks an output that contains secrets.
    #[cold]
    pub(crate) fn secret(self) -> Outcome {
        let (output, mut extra) = match self {
            Outcome::Rich(rich) => (rich.output, rich.extra),
            output => (output, Extra::default()),
        };
        extra.is_secret = true;
        Outcome::rich(output, extra)
    }

    /// Adds a value for the application.
    fn for_app(self, app: AppValue) -> Outcome {
        let (output, mut extra) = match self {
            Outcome::Rich(rich) => (rich.output, rich.extra),
            output => (output, Extra::default()),
        };
        extra.app = Some(app);
        Outcome::rich(output, extra)
    }

    pub(crate) fn rich(output: Outcome, extra: Extra) -> Outcome {
        Outcome::Rich(Box::new(RichOutcome { output, extra }))
    }
}

/// The return value of a function. Generated code converts it with
/// `ReturnValue(value).success().outcome()`.
///
/// Method resolution selects the implementation by type, so that a `Result` is found behind an
/// alias too: inherent methods first, then [`SuccessOfResult`], then [`SuccessOfValue`], which
/// needs a reference. Each call has the span of the type that it converts.
pub struct ReturnValue<T>(pub T);

impl ReturnValue<String> {
    /// Moves the string.
    pub fn success(self) -> Converted<Infallible> {
        Converted(Ok(Outcome::Text(self.0)))
    }
}

impl<E> ReturnValue<Result<String, E>> {
    /// Moves the string or the error.
    pub fn success(self) -> Converted<E> {
        Converted(self.0.map(Outcome::Text))
    }
}

impl<T: IntoOutput<kind::Parts>> ReturnValue<T> {
    /// Moves the parts.
    pub fn success(self) -> Converted<Infallible> {
        Converted(Ok(self.0.into_outcome()))
    }
}

impl<T: IntoOutput<kind::Parts>, E> ReturnValue<Result<T, E>> {
    /// Moves the parts or the error.
    pub fn success(self) -> Converted<E> {
        Converted(self.0.map(T::into_outcome))
    }
}

impl<T> ReturnValue<(T, Vec<Content>)> {
    /// Serializes the value and moves the parts.
    pub fn success(self) -> Converted<Infallible>
    where
        T: Serialize,
    {
        Converted(Ok(self.0.into_outcome()))
    }
}

impl<T, E> ReturnValue<Result<(T, Vec<Content>), E>> {
    /// Serializes the value and moves the parts, or moves the error.
    pub fn success(self) -> Converted<E>
    where
        T: Serialize,
    {
        Converted(self.0.map(IntoOutput::<kind::ValueAndParts>::into_outcome))
    }
}

impl<T> ReturnValue<Returned<T>> {
    /// Converts the value, and moves that for the application.
    pub fn success<K>(self) -> Converted<Infallible>
    where
        T: IntoOutput<K>,
    {
        Converted(Ok(self.0.into_outcome()))
    }
}

impl<T, E> ReturnValue<Result<Returned<T>, E>> {
    /// Converts the value, and moves that for the application, or moves the error.
    pub fn success<K>(self) -> Converted<E>
    where
        T: IntoOutput<K>,
    {
        Converted(self.0.map(IntoOutput::into_outcome))
    }
}

/// Converts the value of a `Result`.
pub trait SuccessOfResult<T, E> {
    /// Serializes the value, or moves the error.
    fn success(self) -> Converted<E>
    where
        T: Serialize;
}

impl<T, E> SuccessOfResult<T, E> for ReturnValue<Result<T, E>> {
    fn success(self) -> Converted<E>
    where
        T: Serialize,
    {
        Converted(self.0.map(|value| Outcome::value(&value)))
    }
}

/// Converts any other value.
pub trait SuccessOfValue<T> {
    /// Serializes the value.
    fn success(&self) -> Converted<Infallible>
    where
        T: Serialize;
}

impl<T> SuccessOfValue<T> for ReturnValue<T> {
    fn success(&self) -> Converted<Infallible>
    where
        T: Serialize,
    {
        Converted(Ok(Outcome::value(&self.0)))
    }
}

/// The return value of a function whose success is converted and whose error is not.
pub struct Converted<E>(Result<Outcome, E>);

impl<E: Display + Into<Box<dyn Error + Send + Sync>>> Converted<E> {
    /// Uses the `Display` text of an error for the model, and passes the error to the operator.
    pub fn outcome(self) -> Outcome {
        self.0.unwrap_or_else(|error| Outcome::Failed {
            message: error.to_string(),
            source: Some(Source::new(error)),
        })
    }
}

/// Converts an error that is not `Send` or not `Sync`, such as a `Box<dyn Error>`.
pub trait ConfinedError<E> {
    /// Uses the `Display` text for the model, and copies the texts of the error and of its sources
    /// for the operator.
    fn outcome(self) -> Outcome;
}

impl<E: Display + Into<Box<dyn Error>>> ConfinedError<E> for Converted<E> {
    fn outcome(self) -> Outcome {
        self.0.unwrap_or_else(|error| {
            let message = error.to_string();
            let source = match error.into().downcast::<Transient>() {
                Ok(transient) => Source::new(*transient),
                Err(error) => Source::new(OwnedError::of(&*error)),
            };
            Outcome::Failed {
                message,
                source: Some(source),
            }
        })
    }
}

/// Converts an error that only implements `Display`. The method takes a reference, so that
/// [`ConfinedError`] is found first.
pub trait DisplayedError<E> {
    /// Uses the `Display` text for the model.
    fn outcome(&mut self) -> Outcome
    where
        E: Display;
}

impl<E> DisplayedError<E> for Converted<E> {
    fn outcome(&mut self) -> Outcome
    where
        E: Display,
    {
        match &mut self.0 {
            Ok(outcome) => mem::replace(outcome, Outcome::Text(String::new())),
            Err(error) => Outcome::Failed {
                message: error.to_string(),
                source: None,
            },
        }
    }
}

/// An output schema, and what the type is known to write.
#[derive(Clone, Copy)]
pub struct OutputSchema {
    pub(crate) schema: &'static Schema,
    /// The type's [`ToolType::WRITES`].
    pub(crate) writes: u8,
}

impl OutputSchema {
    /// Returns `true` if the type guarantees the schema, so that results need no validation.
    pub(crate) const fn is_guaranteed(&self) -> bool {
        self.writes == WRITES_EXACTLY
    }
}

/// The output schema of a return type: the inherent constant if it exists, otherwise that of
/// [`NoOutput`].
pub struct Output<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Output<T> {
    /// The schema of the type.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType, E> Output<Result<T, E>> {
    /// The schema of a success.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType> Output<(T, Vec<Content>)> {
    /// The schema of the value.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType, E> Output<Result<(T, Vec<Content>), E>> {
    /// The schema of the value of a success.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType> Output<Returned<T>> {
    /// The schema of the value.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType, E> Output<Result<Returned<T>, E>> {
    /// The schema of the value of a success.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType> Output<Returned<(T, Vec<Content>)>> {
    /// The schema of the value.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

impl<T: ToolType, E> Output<Result<Returned<(T, Vec<Content>)>, E>> {
    /// The schema of the value of a success.
    pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
}

/// A unit has none: it becomes `ok`, not `null`.
const fn output_schema(schema: &'static Schema, writes: u8) -> Option<OutputSchema> {
    let form = schema.form(Direction::Result);
    if schema.describes_results() && !matches!(form.kind, Kind::Null) {
        Some(OutputSchema { schema, writes })
    } else {
        None
    }
}

/// The output schema of a type that has none.
pub trait NoOutput {
    /// `None`.
    const SCHEMA: Option<OutputSchema> = None;
}

impl<T: ?Sized> NoOutput for Output<T> {}
