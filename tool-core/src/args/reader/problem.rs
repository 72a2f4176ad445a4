//! Why a value could not be read.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

/// Nothing where it is not what the type reads, or no JSON: most of them are never put into words,
/// since the walk over the schema finds better ones. In a box, so that a value that could be read
/// is not moved in the company of an absent problem.
#[derive(Debug)]
pub struct Problem(Option<Box<Cause>>);

#[derive(Debug)]
enum Cause {
    /// What the type itself said of it.
    Told(String),
    /// What `serde_json` said of it.
    Json(serde_json::Error),
}

impl Problem {
    #[cold]
    pub(super) fn unfit() -> Problem {
        Problem(None)
    }

    #[cold]
    pub(super) fn json(problem: serde_json::Error) -> Problem {
        Problem(Some(Box::new(Cause::Json(problem))))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            None => f.write_str("not accepted"),
            Some(Cause::Told(words)) => f.write_str(words),
            Some(Cause::Json(problem)) => problem.fmt(f),
        }
    }
}

impl std::error::Error for Problem {}

impl Error for Problem {
    fn custom<T: fmt::Display>(words: T) -> Self {
        Problem(Some(Box::new(Cause::Told(words.to_string()))))
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Problem::unfit()
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Problem::unfit()
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Problem::unfit()
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Problem::unfit()
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Problem::unfit()
    }

    fn missing_field(_: &'static str) -> Self {
        Problem::unfit()
    }

    fn duplicate_field(_: &'static str) -> Self {
        Problem::unfit()
    }
}
