//! The recorded model: responses in the events of OpenAI's streams.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tool_core::agent::{Model, ModelError, ModelErrorKind, ModelFuture, Request};
use tool_core::dialect::{Dialect, OpenAiChat};

use crate::view::View;

/// A recorded conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// What the user may write.
    pub(crate) suggestions: Vec<String>,
    responses: Vec<Recorded>,
}

/// A response to requests whose last message contains a text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    after: String,
    events: Vec<Value>,
}

/// Answers from a script. It looks only at the request, so that it goes on after a restart.
pub(crate) struct RecordedModel {
    pub(crate) script: Script,
    /// The time between two events.
    pub(crate) pace: Duration,
    pub(crate) view: Arc<View>,
}

impl Model for RecordedModel {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        Box::pin(async move {
            let failed = |problem: String| ModelError::new(ModelErrorKind::Other, problem);
            let last = request
                .messages
                .last()
                .and_then(|message| message["content"].as_str());
            let last = last.unwrap_or_default();
            let mut responses = self.script.responses.iter();
            let response = responses
                .find(|response| last.contains(&response.after))
                .ok_or_else(|| failed("the script has no response for this message".into()))?;
            let mut reader = OpenAiChat::default().stream();
            for event in &response.events {
                tokio::time::sleep(self.pace).await;
                let read = reader
                    .event(event)
                    .map_err(|error| failed(error.to_string()))?;
                for event in read {
                    self.view.stream(event);
                }
            }
            reader.finish().map_err(|error| failed(error.to_string()))
        })
    }
}
