//! [`Recorder`]: a model that records the responses of another.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt;
use serde_json::Value;

use super::Recording;
use crate::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// Passes requests to another [`Model`] and keeps its responses, for a [`RecordedModel`](super::RecordedModel).
///
/// This is the way to test an application: record its conversations once, keep the recordings in a file beside the test, and
/// replay them for ever, without a key and without costs. Record again where a test fails because a tool, a prompt or a
/// result has changed.
///
/// A recording has the [digest](Request::digest) of its request, so other requests don't get its response. It contains
/// the model's output, including arguments of calls, which may be secret. The key and the headers of a request are not
/// in it. Failed requests and broken streams are not kept.
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

    /// Returns the recordings so far, in the order in which the responses ended.
    pub fn recordings(&self) -> Vec<Recording> {
        let recordings = self.recordings.lock();
        recordings.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds a recording.
fn keep(
    recordings: &Mutex<Vec<Recording>>,
    (request, asked): (String, Vec<(String, String)>),
    events: Vec<Value>,
    response: Option<Value>,
) {
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
            let asked = if self.keeps_requests {
                request.parts()
            } else {
                Vec::new()
            };
            let mut asked = (request.digest(), asked);
            let mut stream = match self.model.ask(request).await? {
                Response::Whole(response) => {
                    keep(&self.recordings, asked, Vec::new(), Some(response.clone()));
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
                                keep(&recordings, std::mem::take(&mut asked), events, None);
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
