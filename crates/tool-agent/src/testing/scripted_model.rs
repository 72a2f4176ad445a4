//! [`ScriptedModel`]: a model that answers from a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use serde_json::Value;

use crate::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// A [`Model`] that answers requests with responses from a list, and keeps the requests. Use it to test programs with
/// an [`Agent`](crate::Agent), and for demonstrations without a provider.
///
/// Clones share the list and the requests.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::dialects::Anthropic;
/// use tool_agent::testing::ScriptedModel;
///
/// let model = ScriptedModel::new([
///     json!({"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]}),
/// ]);
/// let agent = Agent::new(Registry::new(), Anthropic::default(), model.clone());
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// assert_eq!(model.requests()[0].messages[0]["content"], "Hello?");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    responses: VecDeque<Result<Scripted, ModelError>>,
    requests: Vec<Request>,
}

#[derive(Debug)]
enum Scripted {
    Whole(Value),
    Stream(Vec<Result<Value, ModelError>>),
}

impl ScriptedModel {
    /// Creates a model with these responses, each in the provider's format. It returns them in order. Further requests
    /// fail.
    pub fn new(responses: impl IntoIterator<Item = Value>) -> ScriptedModel {
        let model = ScriptedModel::default();
        for response in responses {
            model.push(response);
        }
        model
    }

    /// Adds a response at the end of the list.
    pub fn push(&self, response: Value) {
        self.push_result(Ok(Scripted::Whole(response)));
    }

    /// Adds a streamed response at the end of the list, as events in the provider's format.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let chunk = |text, stop| {
    ///     json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": stop}]})
    /// };
    /// let model = ScriptedModel::new([]);
    /// model.push_stream([chunk("Hel", None), chunk("lo!", Some("stop"))]);
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn push_stream(&self, events: impl IntoIterator<Item = Value>) {
        let events = events.into_iter().map(Ok).collect();
        self.push_result(Ok(Scripted::Stream(events)));
    }

    /// Adds a stream that breaks off with an error after these events.
    pub fn push_broken_stream(&self, events: impl IntoIterator<Item = Value>, error: ModelError) {
        let events = events.into_iter().map(Ok).chain([Err(error)]).collect();
        self.push_result(Ok(Scripted::Stream(events)));
    }

    /// Adds a failing request at the end of the list.
    pub fn push_error(&self, error: ModelError) {
        self.push_result(Err(error));
    }

    fn push_result(&self, response: Result<Scripted, ModelError>) {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        script.responses.push_back(response);
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        let script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        script.requests.clone()
    }
}

impl Model for ScriptedModel {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let mut script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = script.requests.len() + 1;
        script.requests.push(request);
        let response = script.responses.pop_front().unwrap_or_else(|| {
            let problem = format!(
                "the script has no response for request {number}; add one with `ScriptedModel::push`"
            );
            Err(ModelError::new(ModelErrorKind::Other, problem))
        });
        let response = response.map(|response| match response {
            Scripted::Whole(response) => Response::Whole(response),
            Scripted::Stream(events) => Response::stream(stream::iter(events)),
        });
        Box::pin(std::future::ready(response))
    }
}
