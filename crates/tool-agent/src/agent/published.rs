//! Messages for users about errors of runs. The cause stays in the log.

use tool_core::call::Reference;

use super::{AgentError, Unfinished, UnfinishedReason};
use crate::guarded::caught;
use crate::model::ModelErrorKind;
use crate::run::JournalError;

impl AgentError {
    /// Logs the error, and returns a sentence for the user. It ends with the reference of the log entry.
    ///
    /// The error itself is for the operator, because it may name URLs, accounts and files. A few errors are told as
    /// they are and not logged, because the user can do something about them: a decision that they may not make, and a
    /// run that waits or reached a limit.
    ///
    /// ```
    /// use tool_agent::AgentError;
    /// use tool_agent::model::{ModelError, ModelErrorKind};
    ///
    /// let refused = "429 from http://10.0.0.7/v1: organisation org-12 used all its tokens";
    /// let error = AgentError::Model(ModelError::new(ModelErrorKind::RateLimited, refused));
    /// let sentence = error.publish();
    /// assert!(sentence.starts_with("the model is busy; try again later [ref "), "{sentence}");
    /// ```
    pub fn publish(&self) -> String {
        let sentence = match self {
            AgentError::Decide(error) => return error.to_string(),
            AgentError::Unfinished(unfinished) => {
                return match &unfinished.reason {
                    UnfinishedReason::Ended(outcome) => Unfinished::describe(outcome),
                    UnfinishedReason::Failed(error) => error.publish(),
                };
            }
            AgentError::Model(error) => match error.kind() {
                ModelErrorKind::RateLimited | ModelErrorKind::Overloaded => {
                    "the model is busy; try again later"
                }
                ModelErrorKind::TimedOut | ModelErrorKind::Connection => {
                    "the model can't be reached; try again later"
                }
                _ => "the request to the model failed",
            },
            AgentError::Response(_) | AgentError::Answer(_) => {
                "the response of the model can't be used; try again"
            }
            AgentError::Journal(JournalError::Conflict(_)) => {
                "the conversation went on elsewhere; try again"
            }
            AgentError::Journal(_) | AgentError::Replay(_) => {
                "the conversation can't be saved or loaded"
            }
            _ => "the conversation can't go on, because of an error in this program",
        };
        let reference = Reference::unique();
        let _ = caught("", || {
            #[cfg(feature = "tracing")]
            tracing::event!(
                name: "exception",
                target: "tool_agent",
                tracing::Level::ERROR,
                {
                    "error.type" = self.kind(),
                    reference = reference.as_str(),
                    exception.message = %format!("{self:?}").escape_debug(),
                },
                "the error of a run was told to a user"
            );
        });
        format!("{sentence} [ref {reference}]")
    }
}
