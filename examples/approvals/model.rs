//! The recorded model: responses in the events of OpenAI's streams.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::Value;
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// A recorded conversation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    /// The texts that the user may write.
    pub(crate) suggestions: Vec<String>,
    responses: Vec<Recorded>,
}

/// A response to requests whose new messages contain a text.
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
}

impl Model for RecordedModel {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        // The new messages: a question, or the results of calls.
        let mut parts = request
            .messages
            .rsplit(|message| message["role"] == "assistant");
        let new = parts.next().unwrap_or_default().iter();
        let new: String = new
            .filter_map(|message| message["content"].as_str())
            .collect();
        let mut responses = self.script.responses.iter();
        let found = responses.find(|response| new.contains(&response.after));
        let response = found.map(|response| {
            let (events, pace) = (response.events.clone(), self.pace);
            Response::stream(stream::iter(events).then(move |event| async move {
                tokio::time::sleep(pace).await;
                Ok(event)
            }))
        });
        let response = response.ok_or_else(|| {
            let problem = "the script has no response to this message";
            ModelError::new(ModelErrorKind::Other, problem)
        });
        Box::pin(std::future::ready(response))
    }
}
