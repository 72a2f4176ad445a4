//! The loop around a model: send a request, run the tools it calls, send their results, until it
//! calls no more tools.
//!
//! An [`Agent`] combines a [`Registry`], a [`Dialect`] and a limit of rounds. You implement
//! [`Model`] over the HTTP client of your choice. It adds the rest of the request, such as the name
//! of the model or a system prompt.
//!
//! The loop:
//!
//! - renders the tools for every request, so tools that were added in the meantime are included,
//! - runs the calls of one response concurrently,
//! - sends rejected arguments and tool errors to the model as results, so that it can correct them,
//! - continues after a response in which the provider [paused](Dialect::is_paused),
//! - stops with an answer, at the limit of rounds, or when its future is dropped.
//!
//! It does not stream responses, retry failed requests, trim a long conversation, or store
//! anything. Retry in [`Model::ask`]. To store a conversation, save
//! [`Transcript::messages`] and collect them into a new [`Transcript`] later.
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use serde_json::{Value, json};
//! use tool_core::agent::{Agent, Model, Request, RunOutcome, Transcript};
//! use tool_core::dialect::OpenAiChat;
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// A scripted provider.
//! struct Scripted(AtomicU32);
//!
//! impl Model for Scripted {
//!     type Error = Infallible;
//!
//!     async fn ask(&self, request: Request<'_>) -> Result<Value, Infallible> {
//!         let _body = json!({"model": "…", "messages": request.messages, "tools": request.tools});
//!         Ok(match self.0.fetch_add(1, Ordering::Relaxed) {
//!             0 => json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
//!                 {"id": "call_1", "type": "function",
//!                  "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}},
//!             ]}}]}),
//!             _ => json!({"choices": [{"message": {"role": "assistant", "content": "It is 5."}}]}),
//!         })
//!     }
//! }
//!
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! let agent = Agent::new(registry, OpenAiChat::default());
//! let mut transcript = Transcript::new();
//! transcript.push(json!({"role": "user", "content": "What is 2 + 3?"}));
//! let outcome = agent.run_blocking(&Scripted(AtomicU32::new(0)), &mut transcript)?;
//! assert_eq!(outcome, RunOutcome::Answered("It is 5.".into()));
//! assert_eq!(transcript.rounds()[0].results[0].content(), "5");
//! assert_eq!(transcript.messages().len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, join_all, ready, select};
use serde_json::Value;

use crate::Registry;
use crate::call::boundary::{Guarded, catch};
use crate::call::context::CancellationToken;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, Rendered, ResponseError};
use crate::runtime::block_on::block_on;

/// A model that answers requests: a provider's API, or a script in a test.
pub trait Model {
    /// The error of a failed request.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// Sends a request and returns the provider's whole response.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response. The agent does not retry.
    fn ask(&self, request: Request<'_>) -> impl Future<Output = Result<Value, Self::Error>> + Send;
}

/// The agent's part of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'r> {
    /// The conversation, in the provider's format.
    pub messages: &'r [Value],
    /// The value of the request's `tools` field.
    pub tools: &'r Rendered,
}

/// A registry, a dialect and a limit of rounds.
///
/// See the [module](self) for an example.
#[derive(Clone)]
pub struct Agent<D> {
    registry: Registry,
    dialect: D,
    max_rounds: usize,
    prepare: Option<Prepare>,
    cancellation: Option<CancellationToken>,
}

/// A function that is applied to every call before it runs.
type Prepare = Arc<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOutcome {
    /// The model called no more tools and answered with this text. The text may be empty or end
    /// mid-sentence if the provider filtered or truncated it; the response passed through
    /// [`Model::ask`] has the reason.
    Answered(String),
    /// The limit of rounds was reached while the model still called tools. Their results are in
    /// the transcript, and another run continues from there.
    OutOfRounds,
    /// The token of the [agent](Agent::cancel_with) was cancelled. The transcript ends with a
    /// complete round, and another run can continue it.
    Cancelled,
}

impl<D: Dialect> Agent<D> {
    /// Creates an agent with a limit of 16 rounds.
    pub fn new(registry: Registry, dialect: D) -> Agent<D> {
        Agent {
            registry,
            dialect,
            max_rounds: 16,
            prepare: None,
            cancellation: None,
        }
    }

    /// Limits the number of requests in one run.
    pub fn rounds(mut self, max: usize) -> Self {
        self.max_rounds = max;
        self
    }

    /// Ends a run with [`RunOutcome::Cancelled`] as soon as the token is cancelled. The request to
    /// the model is dropped. Running calls are cancelled, and their round is added to the transcript
    /// with the results so far. As always, a sync tool and an `after` hook run to their end.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use serde_json::Value;
    /// use tool_core::agent::{Agent, Model, Request, RunOutcome, Transcript};
    /// use tool_core::dialect::Anthropic;
    /// use tool_core::{CancellationToken, Registry};
    ///
    /// /// Never responds.
    /// struct Silent;
    ///
    /// impl Model for Silent {
    ///     type Error = Infallible;
    ///
    ///     async fn ask(&self, _: Request<'_>) -> Result<Value, Infallible> {
    ///         std::future::pending().await
    ///     }
    /// }
    ///
    /// let stop = CancellationToken::new();
    /// let agent = Agent::new(Registry::new(), Anthropic::default()).cancel_with(&stop);
    /// let thread = std::thread::spawn(move || {
    ///     agent.run_blocking(&Silent, &mut Transcript::new()).unwrap()
    /// });
    /// stop.cancel();
    /// assert_eq!(thread.join().unwrap(), RunOutcome::Cancelled);
    /// ```
    pub fn cancel_with(mut self, token: &CancellationToken) -> Self {
        self.cancellation = Some(token.clone());
        self
    }

    /// Applies a function to every call before it runs, such as to add the current user, or a token
    /// that cancels this call alone. Clone an agent to serve several users. If the function panics,
    /// the call ends as if its tool had panicked.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::agent::Agent;
    /// use tool_core::dialect::Anthropic;
    ///
    /// struct User(&'static str);
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default());
    /// let agent_for_ada = agent.clone().each_call(|call| call.with(User("Ada")));
    /// # let _ = agent_for_ada;
    /// ```
    pub fn each_call(
        mut self,
        prepare: impl Fn(ToolCall) -> ToolCall + Send + Sync + 'static,
    ) -> Self {
        let prepare = Guarded::new(prepare);
        self.prepare = Some(Arc::new(move |call| prepare(call)));
        self
    }

    /// Returns the registry. Tools may be added and removed during a run.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &D {
        &self.dialect
    }

    /// Runs [`run`](Agent::run) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run).
    pub fn run_blocking<M: Model>(
        &self,
        model: &M,
        transcript: &mut Transcript,
    ) -> Result<RunOutcome, AgentError> {
        block_on(self.run(model, transcript))
    }

    /// Sends requests and runs the calls of each response concurrently, until the model calls no
    /// more tools and has not [paused](Dialect::is_paused). Each round is added to the transcript.
    ///
    /// Dropping the future stops the run. The transcript then ends with a complete round, in which
    /// every call has a result.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails or the dialect can't read the response. The transcript
    /// is then as after the last complete round, and the run can be repeated.
    pub async fn run<M: Model>(
        &self,
        model: &M,
        transcript: &mut Transcript,
    ) -> Result<RunOutcome, AgentError> {
        let token = self.cancellation.clone().unwrap_or_default();
        for _ in 0..self.max_rounds {
            if token.is_cancelled() {
                return Ok(RunOutcome::Cancelled);
            }
            let tools = self.registry.render(&self.dialect);
            let response = model.ask(Request {
                messages: transcript.messages(),
                tools: &tools,
            });
            let Some(response) = until_cancelled(&token, response).await else {
                return Ok(RunOutcome::Cancelled);
            };
            let response = response.map_err(|error| AgentError::Model(error.into()))?;
            let calls = self.dialect.calls(&response)?;
            let is_last = calls.is_empty() && !self.dialect.is_paused(&response);
            let running = calls.iter().map(|call| self.call(call.clone(), &token));
            let results = join_all(running).await;
            let follow_up = self.dialect.follow_up(&response, &results);
            let text = self.dialect.text(&response);
            transcript.messages.extend(follow_up);
            let answer = is_last.then(|| text.clone());
            transcript.rounds.push(Round {
                calls,
                results,
                text,
            });
            if let Some(answer) = answer {
                return Ok(RunOutcome::Answered(answer));
            }
        }
        Ok(if token.is_cancelled() {
            RunOutcome::Cancelled
        } else {
            RunOutcome::OutOfRounds
        })
    }

    /// Applies the function of [`each_call`](Agent::each_call). If it panics, returns the result of
    /// the call.
    fn prepare(&self, call: ToolCall) -> Result<ToolCall, ToolResult> {
        let Some(prepare) = &self.prepare else {
            return Ok(call);
        };
        let unprepared = call.clone();
        catch(|| prepare(call)).map_err(|panic| self.registry.panicked(unprepared, panic))
    }

    /// Runs one call, cancelled by the token of the run and by its own.
    fn call(&self, call: ToolCall, token: &CancellationToken) -> impl Future<Output = ToolResult> {
        let mut call = match self.prepare(call) {
            Ok(call) => call,
            Err(result) => return Either::Left(ready(result)),
        };
        let own = call.take_cancellation();
        let both = if own.is_some() {
            token.child()
        } else {
            token.clone()
        };
        let running = match self.cancellation {
            None if own.is_none() => self.registry.call(call),
            _ => self.registry.call(call.cancel_with(&both)),
        };
        Either::Right(async move {
            let Some(own) = own else {
                return running.await;
            };
            match select(own.cancelled(), pin!(running)).await {
                Either::Left(((), running)) => {
                    both.cancel();
                    running.await
                }
                Either::Right((result, _)) => result,
            }
        })
    }
}

/// Waits for the future, or returns `None` when the token is cancelled.
async fn until_cancelled<T>(
    token: &CancellationToken,
    running: impl Future<Output = T>,
) -> Option<T> {
    match select(token.cancelled(), pin!(running)).await {
        Either::Left(_) => None,
        Either::Right((value, _)) => Some(value),
    }
}

impl<D: fmt::Debug> fmt::Debug for Agent<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("registry", &self.registry)
            .field("dialect", &self.dialect)
            .field("max_rounds", &self.max_rounds)
            .finish_non_exhaustive()
    }
}

/// A conversation: its messages, and the calls and results of each round.
///
/// ```
/// use serde_json::json;
/// use tool_core::agent::Transcript;
///
/// let mut transcript = Transcript::new();
/// transcript.push(json!({"role": "user", "content": "What time is it?"}));
/// assert_eq!(transcript.messages().len(), 1);
/// assert!(transcript.rounds().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Value>,
    rounds: Vec<Round>,
}

/// One request with its response and results.
#[derive(Debug)]
#[non_exhaustive]
pub struct Round {
    /// The calls of the response; empty if the model answered or the provider paused.
    pub calls: Vec<ToolCall>,
    /// The results, in the order of the calls.
    pub results: Vec<ToolResult>,
    /// The text of the response.
    pub text: String,
}

impl Transcript {
    /// Creates an empty conversation.
    pub fn new() -> Transcript {
        Transcript::default()
    }

    /// Adds a message in the provider's format, such as the user's next question.
    pub fn push(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// Returns the messages of the next request, in the provider's format.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Returns the rounds of all runs, in order.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }
}

impl FromIterator<Value> for Transcript {
    fn from_iter<I: IntoIterator<Item = Value>>(messages: I) -> Self {
        Transcript {
            messages: messages.into_iter().collect(),
            rounds: Vec::new(),
        }
    }
}

/// The error of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentError {
    /// The request failed.
    Model(Box<dyn Error + Send + Sync>),
    /// The dialect can't read the response.
    Response(ResponseError),
}

impl From<ResponseError> for AgentError {
    fn from(error: ResponseError) -> Self {
        AgentError::Response(error)
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Model(error) => write!(f, "the request to the model failed: {error}"),
            AgentError::Response(error) => error.fmt(f),
        }
    }
}

impl Error for AgentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AgentError::Model(error) => Some(&**error),
            AgentError::Response(_) => None,
        }
    }
}
