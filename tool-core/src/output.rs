//! From what a function returns to the text that a model reads.

mod text;

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Display;
use std::marker::PhantomData;

use serde::Serialize;

use crate::call::boundary::{ErrorTexts, Source};
use crate::call::error::Transient;
use crate::schema::{Kind, Schema};
use crate::types::ToolType;

/// How a tool that was run ended.
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
}

impl Outcome {
    /// A string as it is, nothing as `ok`, everything else as JSON.
    pub(crate) fn value<T: Serialize + ?Sized>(value: &T) -> Outcome {
        match text::write(value) {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed {
                message: "its result can't be written as JSON".into(),
                source: Some(Source::new(error)),
            },
        }
    }
}

/// What a function returned. A `Result` and a `String` are told from everything else by their
/// types, through an alias too: what they do in their own way is an inherent method, and comes
/// before that of [`Plain`].
pub struct Returned<T>(pub T);

impl<T, E> Returned<Result<T, E>> {
    /// The value, or the error.
    pub fn split(self) -> Result<T, E> {
        self.0
    }
}

impl Returned<String> {
    /// The string itself.
    pub fn outcome(self) -> Outcome {
        Outcome::Text(self.0)
    }
}

/// The way of all other types.
pub trait Plain<T> {
    /// The value.
    fn split(self) -> Result<T, Infallible>;

    /// The value as text for the model.
    fn outcome(self) -> Outcome
    where
        T: Serialize;
}

impl<T> Plain<T> for Returned<T> {
    fn split(self) -> Result<T, Infallible> {
        Ok(self.0)
    }

    fn outcome(self) -> Outcome
    where
        T: Serialize,
    {
        Outcome::value(&self.0)
    }
}

/// The error that a function returned.
pub struct Failure<E>(pub E);

impl<E: Display + Into<Box<dyn Error + Send + Sync>>> Failure<E> {
    /// `Display` for the model, and the error itself for the operator.
    pub fn outcome(self) -> Outcome {
        Outcome::Failed {
            message: self.0.to_string(),
            source: Some(Source::new(self.0)),
        }
    }
}

/// The way of an error that only its own thread may hold, such as a `Box<dyn Error>`.
pub trait Confined<E> {
    /// `Display` for the model, and the words of the error and of its sources for the operator.
    fn outcome(self) -> Outcome;
}

impl<E: Display + Into<Box<dyn Error>>> Confined<E> for Failure<E> {
    fn outcome(self) -> Outcome {
        let message = self.0.to_string();
        let source = match self.0.into().downcast::<Transient>() {
            Ok(transient) => Source::new(*transient),
            Err(error) => Source::new(ErrorTexts::of(&*error)),
        };
        Outcome::Failed {
            message,
            source: Some(source),
        }
    }
}

/// The way of an error that can only be displayed. It is behind a reference, so that the method is
/// found after that of [`Confined`].
pub trait Displayed<E> {
    /// `Display` for the model.
    fn outcome(self) -> Outcome
    where
        E: Display;
}

impl<E> Displayed<E> for &Failure<E> {
    fn outcome(self) -> Outcome
    where
        E: Display,
    {
        Outcome::Failed {
            message: self.0.to_string(),
            source: None,
        }
    }
}

/// The output schema of a return type: an inherent constant where there is one, that of
/// [`NoOutput`] otherwise.
pub struct Output<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Output<T> {
    /// Its schema.
    pub const SCHEMA: Option<&'static Schema> = of_results(T::SCHEMA);
}

impl<T: ToolType, E> Output<Result<T, E>> {
    /// The schema of its success.
    pub const SCHEMA: Option<&'static Schema> = of_results(T::SCHEMA);
}

/// `()` is answered with a word, not with `null`.
const fn of_results(schema: &'static Schema) -> Option<&'static Schema> {
    if schema.describes_results() && !matches!(schema.kind, Kind::Null) {
        Some(schema)
    } else {
        None
    }
}

/// The way of a type without a schema.
pub trait NoOutput {
    /// None.
    const SCHEMA: Option<&'static Schema> = None;
}

impl<T: ?Sized> NoOutput for Output<T> {}
