//! [`ScriptedModel`]: a model that answers from a list.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream;
use serde_json::Value;
use tool_core::ToolCall;

use crate::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};

/// A [`Model`] that answers requests with responses from a list, and keeps the requests. Use it to test programs with
/// an [`Agent`](crate::Agent), and for demonstrations without a provider.
///
/// Clones share the list and the requests.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::dialects::Anthropic;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::{Registry, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let model = ScriptedModel::default().call("add", json!({"a": 2, "b": 3})).say("It is 5.");
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let agent = Agent::new(registry, Anthropic::default(), model.clone());
/// assert_eq!(agent.ask_blocking("What is 2 + 3?")?, "It is 5.");
/// let result = &model.requests()[1].messages[2]["content"][0];
/// assert_eq!(result["content"], "5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The dialect of the agent writes the responses. Use [`new`](ScriptedModel::new) and [`push`](ScriptedModel::push) for
/// what only a provider's own JSON has, such as reasoning or the use of tokens.
#[doc(alias("mock", "TestModel"))]
#[derive(Clone, Debug, Default)]
pub struct ScriptedModel(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    responses: VecDeque<Result<Scripted, ModelError>>,
    requests: Vec<Request>,
    /// The calls of responses that a dialect writes.
    calls: u32,
}

#[derive(Debug)]
enum Scripted {
    Whole(Value),
    Stream(Vec<Result<Value, ModelError>>),
    Parts(String, Vec<ToolCall>),
}

/// Responses that the agent's dialect writes.
impl ScriptedModel {
    /// Adds a response with this text at the end of the list.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::dialects::Gemini;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    ///
    /// let model = ScriptedModel::default().say("Hello!");
    /// let agent = Agent::new(Registry::new(), Gemini::default(), model);
    /// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
    /// # Ok::<(), tool_agent::AgentError>(())
    /// ```
    pub fn say(self, text: impl Into<String>) -> ScriptedModel {
        self.push_result(Ok(Scripted::Parts(text.into(), Vec::new())));
        self
    }

    /// Adds a response with a call of this tool at the end of the list.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let model = ScriptedModel::default().call("add", json!({"a": 2, "b": 3})).say("It is 5.");
    /// # let _ = model;
    /// ```
    pub fn call(self, tool: impl Into<String>, arguments: Value) -> ScriptedModel {
        self.calls([(tool, arguments)])
    }

    /// Adds a response with several calls at the end of the list. Their ids are `call00001` and so on.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let sums = [("add", json!({"a": 2, "b": 3})), ("add", json!({"a": 4, "b": 5}))];
    /// let model = ScriptedModel::default().calls(sums).say("They are 5 and 9.");
    /// # let _ = model;
    /// ```
    pub fn calls<T: Into<String>>(
        self,
        calls: impl IntoIterator<Item = (T, Value)>,
    ) -> ScriptedModel {
        let calls = calls.into_iter().map(|(tool, arguments)| {
            let mut script = self.script();
            script.calls += 1;
            // Nine letters and digits, as Mistral wants them.
            ToolCall::new(format!("call{:05}", script.calls), tool, arguments)
        });
        let calls = calls.collect();
        self.push_result(Ok(Scripted::Parts(String::new(), calls)));
        self
    }
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
        self.script().responses.push_back(response);
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.script().requests.clone()
    }
}

impl Model for ScriptedModel {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let mut script = self.script();
        let number = script.requests.len() + 1;
        script.requests.push(request);
        let response = script.responses.pop_front().unwrap_or_else(|| {
            let problem = format!(
                "the script has no response for request {number}; add one with `ScriptedModel::say` or `push`"
            );
            Err(ModelError::new(ModelErrorKind::Other, problem))
        });
        let response = response.map(|response| match response {
            Scripted::Whole(response) => Response::Whole(response),
            Scripted::Stream(events) => Response::stream(stream::iter(events)),
            Scripted::Parts(text, calls) => Response::Parts { text, calls },
        });
        Box::pin(std::future::ready(response))
    }
}
