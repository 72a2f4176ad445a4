//! Writes summaries of old messages.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_core::Registry;
use tool_core::dialect::{End, RequestOptions, ToolChoice, Usage};

use super::compaction::Summary;
use super::fallback::Speaker;
use super::{Agent, AgentError, EventSink, Invocation, telemetry};
use crate::guarded::answered;
use crate::model::Request;
use crate::run::Run;

/// Precedes the summary.
const HEADING: &str = "Summary of the conversation so far:\n";

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
        speaker: &Speaker,
        registry: &Registry,
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
                let asked = speaker.dialect.user_message(instructions);
                let between = messages
                    .last()
                    .and_then(|last| speaker.dialect.between(last, &asked));
                messages.extend(between.into_iter().chain([asked]).map(Arc::new));
                // The messages contain calls, and some providers reject those in a request without tools.
                let options = RequestOptions::new().choice(ToolChoice::None);
                let tools = registry
                    .request(&*speaker.dialect)
                    .options(options)
                    .history(messages.iter().map(|message| &**message))
                    .build_in(&speaker.requests);
                let tools = tools.map_err(AgentError::Request)?;
                let request = Request::of(Arc::new(messages), tools);
                let events = EventSink::default();
                let part = telemetry::Summary {
                    old: old.clone(),
                    instructions,
                };
                let asking = self.response(speaker, invocation, request, run, &events, Some(&part));
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
        let message = speaker.dialect.user_message(&format!("{HEADING}{text}"));
        Ok(Some(Summarised {
            old,
            message,
            usage,
        }))
    }
}
