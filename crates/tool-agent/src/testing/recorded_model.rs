//! [`RecordedModel`]: recorded streams, chosen by the request.

use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::runtime::BoxFuture;

use super::hidden::Hidden;
use crate::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// A recorded response, and the request that it answers.
///
/// ```
/// use serde_json::json;
/// use tool_agent::testing::Recording;
///
/// let recording: Recording = serde_json::from_value(json!({
///     "after": "weather",
///     "events": [{"choices": [{"delta": {"content": "Sunny."}, "finish_reason": "stop"}]}],
/// }))?;
/// assert_eq!(recording.after, "weather");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Recording {
    /// A text in the new part of the request, which is a message of the user or results of calls. Ignored if there is a
    /// [`request`](Recording::request).
    pub after: String,
    /// The [digest](Request::digest) of the only request that this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The parts of that request, each with its name, if the recorder [keeps](super::Recorder::keep_requests) them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<(String, String)>,
    /// The events of a stream, in the provider's format.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Value>,
    /// A response that is not a stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
}

/// A [`Model`] that answers with recorded responses, for demonstrations and for tests of pages. It looks only at the
/// request, so it also works after a restart of the program. Use a [`Recorder`](super::Recorder) to record another
/// model.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::testing::{RecordedModel, Recording};
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// let recordings: Vec<Recording> = serde_json::from_value(json!([
///     {"after": "weather", "events": [{"choices": [{"delta": {"content": "Sunny."}, "finish_reason": "stop"}]}]},
///     {"after": "", "events": [{"choices": [{"delta": {"content": "Hello!"}, "finish_reason": "stop"}]}]},
/// ]))?;
/// let model = RecordedModel::new(recordings);
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// assert_eq!(agent.ask_blocking("How is the weather?")?, "Sunny.");
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RecordedModel {
    recordings: Arc<Vec<Recording>>,
    /// Set if some recordings answer only one request.
    is_exact: bool,
    hidden: Hidden,
    wait: Arc<dyn Fn() -> BoxFuture<()> + Send + Sync>,
}

impl RecordedModel {
    /// Answers each request with the first matching recording. If none matches, the request fails.
    pub fn new(recordings: impl IntoIterator<Item = Recording>) -> RecordedModel {
        let recordings: Vec<_> = recordings.into_iter().collect();
        RecordedModel {
            is_exact: recordings
                .iter()
                .any(|recording| recording.request.is_some()),
            recordings: Arc::new(recordings),
            hidden: Hidden::default(),
            wait: Arc::new(|| Box::pin(ready(()))),
        }
    }

    /// Sets what stands for a secret that the recorder has [left out](super::Recorder::hide): this value takes the place of
    /// the secret in requests and in responses. Choose one that is nowhere else in the conversation.
    #[must_use]
    pub fn hide(mut self, name: &str, value: impl Into<String>) -> RecordedModel {
        self.hidden.add(name, value.into());
        self
    }

    /// Waits for a future before each event, for instance `tokio::time::sleep`.
    pub fn wait<F>(mut self, wait: impl Fn() -> F + Send + Sync + 'static) -> RecordedModel
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.wait = Arc::new(move || Box::pin(wait()));
        self
    }
}

impl RecordedModel {
    /// Returns in what a request differs first from the nearest recorded one.
    fn difference(&self, now: &[(String, String)]) -> Option<String> {
        let same = |recording: &&Recording| {
            let same = recording.asked.iter().filter(|part| now.contains(part));
            same.count()
        };
        let kept = self.recordings.iter();
        let kept = kept.filter(|recording| !recording.asked.is_empty());
        let asked = &kept.max_by_key(same)?.asked;
        let names = now.iter().chain(asked).map(|(name, _)| name);
        let find = |parts: &'_ [(String, String)], name: &String| {
            let found = parts.iter().find(|(own, _)| own == name);
            found.map_or_else(String::new, |(_, text)| text.clone())
        };
        let differing = names.map(|name| (name, find(asked, name), find(now, name)));
        let (name, recorded, now) = { differing }.find(|(_, recorded, now)| recorded != now)?;
        let equal = recorded.chars().zip(now.chars());
        let equal = equal.take_while(|(recorded, now)| recorded == now).count();
        let (recorded, now) = (part(&recorded, equal), part(&now, equal));
        Some(format!(
            ", first in `{name}`, which has {now} in place of {recorded}"
        ))
    }
}

/// Shows a text from shortly before the character at which it differs.
fn part(text: &str, differs_at: usize) -> String {
    const BEFORE: usize = 20;
    const SHOWN: usize = 100;
    if text.is_empty() {
        return "nothing".into();
    }
    let start = differs_at.saturating_sub(BEFORE);
    let shown: String = text.chars().skip(start).take(SHOWN).collect();
    let is_cut = text.chars().count() > start + SHOWN;
    let (before, behind) = (
        if start > 0 { "…" } else { "" },
        if is_cut { "…" } else { "" },
    );
    format!("`{before}{shown}{behind}`")
}

impl Model for RecordedModel {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let mut new = Vec::new();
        let after_response = request.messages.rsplit(|message| is_response(message));
        for message in after_response.take(1).flatten() {
            strings(message, &mut new);
        }
        let mut recordings = self.recordings.iter();
        let hide = |text: &str| self.hidden.hide(text);
        let digest = self.is_exact.then(|| request.digest_of(hide));
        let fits = |recording: &&Recording| match &recording.request {
            Some(recorded) => digest.as_ref() == Some(recorded),
            None => new.iter().any(|text| text.contains(&recording.after)),
        };
        let Some(found) = recordings.find(fits) else {
            let problem = if self.is_exact {
                let parts = request.parts().into_iter();
                let parts: Vec<_> = parts.map(|(name, text)| (name, hide(&text))).collect();
                let difference = self.difference(&parts).unwrap_or_default();
                format!(
                    "the request was not recorded: the tools, the messages or the results differ from the recorded \
                     ones{difference}; record it again"
                )
            } else {
                "no recording fits the request: what came after the last response has the `after` of none".into()
            };
            let error = ModelError::new(ModelErrorKind::Other, problem);
            return Box::pin(ready(Err(error)));
        };
        if let Some(mut response) = found.response.clone() {
            self.hidden.show_in(std::slice::from_mut(&mut response));
            return Box::pin(ready(Ok(Response::Whole(response))));
        }
        let mut events = found.events.clone();
        self.hidden.show_in(&mut events);
        let wait = Arc::clone(&self.wait);
        let events = stream::iter(events).then(move |event| {
            let waiting = wait();
            async move {
                waiting.await;
                Ok(event)
            }
        });
        Box::pin(ready(Ok(Response::stream(events))))
    }
}

/// Returns `true` for a part of a response in any provider's format.
fn is_response(message: &Value) -> bool {
    let is_call = message.get("arguments").is_some() || message["type"] == "reasoning";
    is_call || message["role"] == "assistant" || message["role"] == "model"
}

fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        _ => {}
    }
}

impl fmt::Debug for RecordedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedModel")
            .field("recordings", &self.recordings.len())
            .finish_non_exhaustive()
    }
}
