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

use crate::call::Extra;
use crate::call::boundary::{OwnedError, Source};
use crate::call::error::{InvalidResult, Transient};
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

/// An output with parts that few outputs have.
pub struct RichOutcome {
    /// A string, a JSON text or an error.
    pub(crate) output: Outcome,
    pub(crate) extra: Extra,
}

impl Outcome {
    /// Converts a value: a string stays as it is, `()` becomes `ok`, everything else JSON.
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
            // It was `()`.
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
        self.with_extra(|extra| extra.is_secret = true)
    }

    /// Changes what comes with the output.
    fn with_extra(self, change: impl FnOnce(&mut Extra)) -> Outcome {
        let (output, mut extra) = match self {
            Outcome::Rich(rich) => (rich.output, rich.extra),
            output => (output, Extra::default()),
        };
        change(&mut extra);
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

/// Types that are more than their serialized value, alone and as the success of a `Result`.
macro_rules! success {
    ($([$($generics:tt)*] $type:ty, [$($kind:ident)?] [$($bounds:tt)*] $convert:expr;)*) => {$(
        impl<$($generics)*> ReturnValue<$type> {
            /// Converts the value.
            pub fn success<$($kind)?>(self) -> Converted<Infallible> where $($bounds)* {
                Converted(Ok($convert(self.0)))
            }
        }

        impl<$($generics)* E> ReturnValue<Result<$type, E>> {
            /// Converts the value, or moves the error.
            pub fn success<$($kind)?>(self) -> Converted<E> where $($bounds)* {
                Converted(self.0.map($convert))
            }
        }
    )*};
}

success! {
    [] String, [] [] Outcome::Text;
    [T: IntoOutput<kind::Parts>,] T, [] [] T::into_outcome;
    [T,] (T, Vec<Content>), [] [T: Serialize] IntoOutput::<kind::ValueAndParts>::into_outcome;
    [T,] Returned<T>, [K] [T: IntoOutput<K>] IntoOutput::into_outcome;
}

/// A result that is written as JSON. All types with `Serialize` implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "this type, or one inside of it, does not implement `serde::Serialize`",
    note = "for your own struct or enum, add `#[derive(serde::Serialize)]`",
    note = "for `Rc` and `Arc`, enable the feature `rc` of serde",
    note = "for a type of another crate, enable the feature `serde` of that crate, or return a `String`"
)]
pub trait Serialized: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Serialized for T {}

/// Converts the value of a `Result`.
pub trait SuccessOfResult<T, E> {
    /// Serializes the value, or moves the error.
    fn success(self) -> Converted<E>
    where
        T: Serialized;
}

impl<T, E> SuccessOfResult<T, E> for ReturnValue<Result<T, E>> {
    fn success(self) -> Converted<E>
    where
        T: Serialized,
    {
        Converted(self.0.map(|value| Outcome::value(&value)))
    }
}

/// Converts any other value.
pub trait SuccessOfValue<T> {
    /// Serializes the value.
    fn success(&self) -> Converted<Infallible>
    where
        T: Serialized;
}

impl<T> SuccessOfValue<T> for ReturnValue<T> {
    fn success(&self) -> Converted<Infallible>
    where
        T: Serialized,
    {
        Converted(Ok(Outcome::value(&self.0)))
    }
}

/// The return value of a function, with its success converted and its error left alone.
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
    /// Uses the `Display` text for the model, and copies the messages of the error and of its sources
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
        E: Displayed;
}

/// An error that the model can read. All types with `Display` implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "does not implement `Display`",
    note = "implement `std::fmt::Display`: the model reads its text",
    note = "or return a `String`: `.map_err(|error| format!(\"…\"))`"
)]
pub trait Displayed: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display> Displayed for E {}

impl<E> DisplayedError<E> for Converted<E> {
    fn outcome(&mut self) -> Outcome
    where
        E: Displayed,
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

/// An output schema, and the known properties of the values that the type writes.
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

/// The output schema of a return type: the inherent constant if it exists, otherwise the schema of
/// [`NoOutput`].
pub struct Output<T: ?Sized>(PhantomData<T>);

macro_rules! schemas_of_outputs {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Output<$type> {
            /// The schema of the value.
            pub const SCHEMA: Option<OutputSchema> = output_schema(T::SCHEMA, T::WRITES);
        }
    )*};
}

schemas_of_outputs! {
    [T: ToolType + ?Sized] T;
    [T: ToolType, E] Result<T, E>;
    [T: ToolType] (T, Vec<Content>);
    [T: ToolType, E] Result<(T, Vec<Content>), E>;
    [T: ToolType] Returned<T>;
    [T: ToolType, E] Result<Returned<T>, E>;
    [T: ToolType] Returned<(T, Vec<Content>)>;
    [T: ToolType, E] Result<Returned<(T, Vec<Content>)>, E>;
}

/// `()` has none: it becomes `ok`, not `null`.
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
