//! [`Recorder`]: a model that records the responses of another.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use serde_json::Value;

use super::Recording;
use super::hidden::Hidden;
use crate::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// Passes requests to another [`Model`] and keeps its responses, for a [`RecordedModel`](super::RecordedModel).
///
/// This is the way to test an application: record its conversations once, keep the recordings in a file beside the test, and
/// replay them for ever, without a key and without costs. Record again where a test fails because a tool, a prompt or a
/// result has changed.
///
/// A recording has the [digest](Request::digest) of its request, so other requests don't get its response. It contains
/// the model's output, including arguments of calls, which may be secret. The key and the headers of a request are not
/// in it, and [`hide`](Recorder::hide) leaves out other secrets. Failed requests and broken streams are not kept.
///
/// Clones share the recordings.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::testing::{RecordedModel, Recorder, ScriptedModel};
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// // This stands in for a provider.
/// let model = ScriptedModel::new([
///     json!({"choices": [{"message": {"role": "assistant", "content": "Hello!"}}]}),
/// ]);
/// let recorder = Recorder::new(model);
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), recorder.clone());
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
///
/// let recorded = RecordedModel::new(recorder.recordings());
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), recorded);
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone)]
pub struct Recorder {
    model: Arc<dyn Model>,
    recordings: Arc<Mutex<Vec<Recording>>>,
    keeps_requests: bool,
    hidden: Hidden,
}

impl Recorder {
    /// Records the responses of a model.
    pub fn new(model: impl Model + 'static) -> Recorder {
        Recorder::shared(Arc::new(model))
    }

    /// Records the responses of a shared model, such as the one of an [`Agent`](crate::Agent::map_model).
    pub fn shared(model: Arc<dyn Model>) -> Recorder {
        Recorder {
            model,
            recordings: Arc::default(),
            keeps_requests: false,
            hidden: Hidden::default(),
        }
    }

    /// Keeps the requests, too, so that the error about a request that was not recorded shows in what it differs. They have
    /// the messages of the user, the results of calls and the tools.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_agent::testing::{RecordedModel, Recorder, ScriptedModel};
    /// use tool_core::Registry;
    ///
    /// let model = ScriptedModel::new([
    ///     json!({"choices": [{"message": {"role": "assistant", "content": "5"}}]}),
    /// ]);
    /// let recorder = Recorder::new(model).keep_requests();
    /// let agent = |model| Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// let recording = Agent::new(Registry::new(), OpenAiChat::default(), recorder.clone());
    /// recording.ask_blocking("What is 2 + 3?")?;
    ///
    /// let error = agent(RecordedModel::new(recorder.recordings())).ask_blocking("What is 2 + 4?");
    /// let error = error.unwrap_err().to_string();
    /// assert!(error.contains("`messages[0]`"), "{error}");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn keep_requests(mut self) -> Recorder {
        self.keeps_requests = true;
        self
    }

    /// Leaves a secret out of the recordings: `<NAME>` stands for it, in requests and in responses. Give the
    /// [`RecordedModel`](super::RecordedModel::hide) another value of that name, which stands for the secret in tests.
    ///
    /// In a stream, the secret may be in several pieces. In a JSON text, its form with escapes is replaced as well, and a
    /// number becomes a text.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_agent::testing::{RecordedModel, Recorder, ScriptedModel};
    /// use tool_core::Registry;
    ///
    /// let model = ScriptedModel::new([
    ///     json!({"choices": [{"message": {"role": "assistant", "content": "Your code is 7K-31."}}]}),
    /// ]);
    /// let recorder = Recorder::new(model).keep_requests().hide("CODE", "7K-31");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), recorder.clone());
    /// agent.ask_blocking("I am 7K-31. What is my code?")?;
    /// let written = json!(recorder.recordings()).to_string();
    /// assert!(!written.contains("7K-31") && written.contains("<CODE>"));
    ///
    /// let model = RecordedModel::new(recorder.recordings()).hide("CODE", "test");
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// assert_eq!(agent.ask_blocking("I am test. What is my code?")?, "Your code is test.");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    #[must_use]
    pub fn hide(mut self, name: &str, secret: impl Into<String>) -> Recorder {
        self.hidden.add(name, secret.into());
        self
    }

    /// Returns the recordings so far, in the order in which the responses ended.
    pub fn recordings(&self) -> Vec<Recording> {
        let recordings = self.recordings.lock();
        recordings.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds a recording.
fn keep(
    recordings: &Mutex<Vec<Recording>>,
    hidden: &Hidden,
    (request, asked): (String, Vec<(String, String)>),
    mut events: Vec<Value>,
    mut response: Option<Value>,
) {
    hidden.hide_in(&mut events);
    hidden.hide_in(response.as_mut_slice());
    let recording = Recording {
        after: String::new(),
        request: Some(request),
        asked,
        events,
        response,
    };
    let mut recordings = recordings.lock().unwrap_or_else(PoisonError::into_inner);
    recordings.push(recording);
}

impl Model for Recorder {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        Box::pin(async move {
            let hidden = self.hidden.clone();
            let mut asked = Vec::new();
            if self.keeps_requests {
                let parts = request.parts().into_iter();
                asked.extend(parts.map(|(name, text)| (name, hidden.hide(&text))));
            }
            let mut asked = (request.digest_of(|text| hidden.hide(text)), asked);
            let mut stream = match self.model.ask(request).await? {
                Response::Whole(response) => {
                    let kept = Some(response.clone());
                    keep(&self.recordings, &hidden, asked, Vec::new(), kept);
                    return Ok(Response::Whole(response));
                }
                Response::Parts { .. } => {
                    let problem = "a recording needs responses in the format of a provider";
                    return Err(ModelError::new(ModelErrorKind::Other, problem));
                }
                Response::Stream(stream) => stream,
            };
            let recordings = Arc::clone(&self.recordings);
            let mut events: Option<Vec<Value>> = Some(Vec::new());
            Ok(Response::stream(futures_util::stream::poll_fn(
                move |context| {
                    let polled = stream.poll_next_unpin(context);
                    match &polled {
                        std::task::Poll::Ready(Some(Ok(event))) => {
                            if let Some(events) = &mut events {
                                events.push(event.value().into_owned());
                            }
                        }
                        std::task::Poll::Ready(Some(Err(_))) => events = None,
                        std::task::Poll::Ready(None) => {
                            if let Some(events) = events.take() {
                                let asked = std::mem::take(&mut asked);
                                keep(&recordings, &hidden, asked, events, None);
                            }
                        }
                        std::task::Poll::Pending => {}
                    }
                    polled
                },
            )))
        })
    }

    fn name(&self) -> Option<&str> {
        self.model.name()
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("recordings", &self.recordings().len())
            .finish_non_exhaustive()
    }
}
