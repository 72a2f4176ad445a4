//! [`Compaction`]: summaries in place of old messages.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_core::dialect::{End, RequestOptions, ToolChoice, Usage};
use tool_core::runtime::BoxFuture;

use super::{Agent, AgentError, ContextError, EventSink, Invocation, telemetry};
use crate::guarded::answered;
use crate::model::Request;
use crate::run::Run;

/// Settings to replace the old messages of a long run by a summary; see [`Agent::compact`].
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
#[derive(Clone)]
pub struct Compaction {
    tokens: u64,
    kept_parts: usize,
    summary: Summary,
}

#[derive(Clone)]
enum Summary {
    /// The model writes it, following these instructions.
    Model(String),
    Application(Summarise),
}

/// Writes the summary of messages.
type Summarise =
    Arc<dyn Fn(Vec<Arc<Value>>) -> BoxFuture<Result<String, ContextError>> + Send + Sync>;

const INSTRUCTIONS: &str = "Summarise the conversation so far. The summary replaces the messages above, so \
    keep what is needed to go on: what the user wants, what was done and found, with names and numbers, what \
    was decided, and what is left to do. Answer with the summary alone.";

/// Precedes the summary.
const HEADING: &str = "Summary of the conversation so far:\n";

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
    /// the run with [`AgentError::Summary`].
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

/// A summary, with its usage.
pub(super) struct Summarised {
    /// The messages that the summary replaces.
    pub(super) old: Range<usize>,
    pub(super) message: Value,
    pub(super) usage: Option<Usage>,
}

impl Agent {
    /// Returns the messages to replace before the next request.
    pub(super) fn old_messages(&self, run: &Run) -> Option<Range<usize>> {
        let compaction = self.compaction.as_ref()?;
        let used = run.rounds().last()?.usage()?.total();
        let is_long = used >= compaction.tokens;
        is_long.then(|| run.old_messages(compaction.kept_parts))?
    }

    /// Writes a summary of these messages. Returns `None` if the model wrote none.
    pub(super) async fn summarise(
        &self,
        invocation: &Invocation<'_>,
        run: &Run,
        old: Range<usize>,
    ) -> Result<Option<Summarised>, AgentError> {
        let Some(compaction) = &self.compaction else {
            return Ok(None);
        };
        let messages = run.sent_part(&old);
        let (text, usage) = match &compaction.summary {
            Summary::Application(summarise) => {
                let text = answered("the summary", || summarise(messages.to_vec())).await;
                (text.map_err(AgentError::Summary)?, None)
            }
            Summary::Model(instructions) => {
                let mut messages = messages.to_vec();
                let asked = self.dialect.user_message(instructions);
                let between = messages
                    .last()
                    .and_then(|last| self.dialect.between(last, &asked));
                messages.extend(between.into_iter().chain([asked]).map(Arc::new));
                // The messages contain calls, and some providers reject those in a request without tools.
                let options = RequestOptions::new().choice(ToolChoice::None);
                let tools = self
                    .registry
                    .request(&*self.dialect)
                    .options(options)
                    .history(messages.iter().map(|message| &**message))
                    .build();
                let tools = tools.map_err(AgentError::Request)?;
                let request = Request::of(Arc::new(messages), tools);
                let events = EventSink::default();
                let part = telemetry::Summary {
                    old: old.clone(),
                    instructions,
                };
                let asking = self.response(invocation, request, run, &events, Some(&part));
                let (turn, _) = asking.await?;
                // A refusal can't serve as a summary.
                match turn.end() {
                    End::Answered | End::Length => (turn.text, turn.usage),
                    _ => return Ok(None),
                }
            }
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        let message = self.dialect.user_message(&format!("{HEADING}{text}"));
        let next = run.messages().get(old.end);
        let (old, message) = match next.and_then(|next| joined(&message, next)) {
            Some(message) => (old.start..old.end + 1, message),
            None => (old, message),
        };
        Ok(Some(Summarised {
            old,
            message,
            usage,
        }))
    }
}

/// Joins two messages of the user if both consist of parts. Amazon Bedrock rejects two such messages in a row.
fn joined(message: &Value, other: &Value) -> Option<Value> {
    let parts = other["content"].as_array()?;
    if message["role"] != "user" || other["role"] != "user" {
        return None;
    }
    let mut joined = message.clone();
    joined["content"].as_array_mut()?.extend_from_slice(parts);
    Some(joined)
}
