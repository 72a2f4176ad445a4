//! [`Compaction`]: when a summary replaces old messages, and who writes it.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;
use tool_core::runtime::BoxFuture;

use super::error::ContextError;

/// Settings to replace the old messages of a long run by a summary; see [`Agent::compact`](crate::Agent::compact).
///
/// ```
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, Compaction};
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// // Above 100,000 tokens, the model summarizes all but the last six parts.
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
///     .compact(Compaction::at_tokens(100_000).keep(6));
/// # let _ = agent;
/// ```
#[doc(alias("summarization", "context window"))]
#[derive(Clone)]
pub struct Compaction {
    pub(super) tokens: u64,
    pub(super) kept_parts: usize,
    pub(super) summary: Summary,
}

#[derive(Clone)]
pub(super) enum Summary {
    /// The model writes it, following these instructions.
    Model(String),
    Application(Summarise),
}

/// Writes the summary of messages.
pub(super) type Summarise =
    Arc<dyn Fn(Vec<Arc<Value>>) -> BoxFuture<Result<String, ContextError>> + Send + Sync>;

const INSTRUCTIONS: &str = "Summarise the conversation so far. The summary replaces the messages above, so \
    keep what is needed to go on: what the user wants, what was done and found, with names and numbers, what \
    was decided, and what is left to do. Answer with the summary alone.";

impl Compaction {
    /// Replaces old messages once a response used this many tokens, including its request. The last four parts of the
    /// conversation stay, and the model writes the summary.
    pub fn at_tokens(tokens: u64) -> Compaction {
        Compaction {
            tokens,
            kept_parts: 4,
            summary: Summary::Model(INSTRUCTIONS.into()),
        }
    }

    /// Sets the number of parts of the conversation to keep, at least one. A part is a message of the user, or a
    /// response with the results of its calls.
    pub fn keep(mut self, parts: usize) -> Self {
        self.kept_parts = parts.max(1);
        self
    }

    /// Sets the instructions by which the model writes the summary.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.summary = Summary::Model(instructions.into());
        self
    }

    /// Lets your application write the summary. The closure gets the messages in the provider's format. An error ends
    /// the run with [`AgentError::Summary`](crate::AgentError::Summary).
    ///
    /// ```
    /// use tool_agent::Compaction;
    ///
    /// let policy = Compaction::at_tokens(100_000).summary_with(async |messages| {
    ///     Ok(format!("{} messages are left out", messages.len()))
    /// });
    /// # let _ = policy;
    /// ```
    pub fn summary_with<F>(
        mut self,
        summarise: impl Fn(Vec<Arc<Value>>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let summarise: Summarise = Arc::new(move |messages| Box::pin(summarise(messages)));
        self.summary = Summary::Application(summarise);
        self
    }
}

impl fmt::Debug for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compaction")
            .field("tokens", &self.tokens)
            .field("kept_parts", &self.kept_parts)
            .finish_non_exhaustive()
    }
}
