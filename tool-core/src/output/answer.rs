//! Converts an [`Answer`] from a value, and to an outcome.

use serde::Serialize;

use super::Outcome;
use crate::call::{Answer, AnswerOutput as Output, Decision};

impl Decision {
    /// Ends the call with this output, in place of the tool's; see
    /// [`Gate::answer`](crate::Gate::answer).
    pub fn answer(output: impl Serialize) -> Decision {
        Decision::Answer(Answer::new(&output))
    }
}

impl Answer {
    /// Converts a value like that of a tool.
    pub(crate) fn new(output: &impl Serialize) -> Answer {
        Answer(match Outcome::value(output) {
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
        })
    }

    pub(crate) fn failed(message: String) -> Answer {
        Answer(Output::Failed {
            message,
            cause: None,
        })
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        match self.0 {
            Output::Text(text) => Outcome::Text(text),
            Output::Json(json) => Outcome::Json(json),
            Output::Failed { message, cause } => Outcome::Failed {
                message,
                source: cause.map(Into::into),
            },
            Output::Unwritable { cause } => Outcome::unwritable(cause.into()),
        }
    }
}
