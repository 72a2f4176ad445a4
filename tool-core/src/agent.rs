//! The loop around a model: ask it, run its calls, tell it their results, until it calls nothing.
//!
//! An [`Agent`] is a [`Registry`] and a [`Dialect`] with
//! a limit of rounds. The model is whatever can be asked: a [`Model`] sends a request over the HTTP
//! client of your choice, and adds what the request needs besides, such as the model's name or a
//! system prompt. The tools are rendered for every request anew, so that those that were added in
//! the meantime are there.
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! use serde_json::{Value, json};
//! use tool_core::agent::{Agent, RunOutcome, Model, Request, Transcript};
//! use tool_core::dialect::OpenAiChat;
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// Stands for a provider.
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
//! let ended = agent.run_blocking(&Scripted(AtomicU32::new(0)), &mut transcript)?;
//! assert_eq!(ended, RunOutcome::Answered("It is 5.".into()));
//! assert_eq!(transcript.rounds()[0].results[0].content(), "5");
//! assert_eq!(transcript.messages().len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod transcript;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, join_all, select};
use serde_json::Value;

pub use self::transcript::{Round, Transcript};
use crate::Registry;
use crate::call::context::CancellationToken;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, Rendered, ResponseError};
use crate::runtime::block_on::block_on;

/// Whoever answers a request: a provider, or a script in a test.
pub trait Model {
    /// Why there is no response: an error, a box of one, or a text.
    type Error: Into<Box<dyn Error + Send + Sync>>;

    /// Sends the request and gives back the whole response, as the provider wrote it.
    ///
    /// # Errors
    ///
    /// When none came. What is worth another try is tried again here, or around this.
    fn ask(&self, request: Request<'_>) -> impl Future<Output = Result<Value, Self::Error>> + Send;
}

/// What is asked of a model in one round.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'r> {
    /// The conversation so far, in the provider's own form.
    pub messages: &'r [Value],
    /// The value of the request's `tools` field.
    pub tools: &'r Rendered,
}

/// A registry and a dialect, and how often a model is asked.
///
/// The [module](self) shows one at work.
#[derive(Clone)]
pub struct Agent<D> {
    registry: Registry,
    dialect: D,
    most_rounds: usize,
    prepare: Option<Prepare>,
    cancellation: Option<CancellationToken>,
}

/// What is done to every call before it is run.
type Prepare = Arc<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOutcome {
    /// The model called nothing more, and said this. It is empty when the provider let nothing
    /// through, and may end in the middle of a sentence: the reason is in the response, which
    /// [`Model::ask`] has seen.
    Answered(String),
    /// The model was asked as often as it may be, and called tools to the last. They were run, and
    /// it has not seen their results: another run goes on from there.
    OutOfRounds,
    /// The token of the [agent](Agent::cancel_with) was cancelled. The transcript has whole rounds
    /// only, so another run can continue it.
    Cancelled,
}

impl<D: Dialect> Agent<D> {
    /// An agent that asks a model sixteen times at most.
    pub fn new(registry: Registry, dialect: D) -> Agent<D> {
        Agent {
            registry,
            dialect,
            most_rounds: 16,
            prepare: None,
            cancellation: None,
        }
    }

    /// The same agent, which asks a model so many times at most in one run.
    pub fn rounds(mut self, most: usize) -> Self {
        self.most_rounds = most;
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

    /// Prepares every call with this closure before it runs: attaches the current user, or a token
    /// that cancels this call alone. One agent serves many users with a clone for each.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::agent::Agent;
    /// use tool_core::dialect::Anthropic;
    ///
    /// struct User(&'static str);
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default());
    /// let of_ada = agent.clone().each_call(|call| call.with(User("Ada")));
    /// # let _ = of_ada;
    /// ```
    pub fn each_call(
        mut self,
        prepare: impl Fn(ToolCall) -> ToolCall + Send + Sync + 'static,
    ) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// The tools. They may be added and removed at any time.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How the provider writes.
    pub fn dialect(&self) -> &D {
        &self.dialect
    }

    /// The same as [`run`](Agent::run) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Agent::run).
    pub fn run_blocking<M: Model>(
        &self,
        model: &M,
        transcript: &mut Transcript,
    ) -> Result<RunOutcome, AgentError> {
        block_on(self.run(model, transcript))
    }

    /// Asks the model and runs its calls, those of one response side by side, until it calls
    /// nothing and has not [paused](Dialect::is_paused). The transcript grows with every round.
    ///
    /// Dropping the future stops the run. The transcript then holds whole rounds alone, no call
    /// without its result.
    ///
    /// # Errors
    ///
    /// When the model has no response, or one that the dialect can't read. The transcript is then
    /// as the last round left it, and the run can be tried again.
    pub async fn run<M: Model>(
        &self,
        model: &M,
        transcript: &mut Transcript,
    ) -> Result<RunOutcome, AgentError> {
        let token = self.cancellation.clone().unwrap_or_default();
        for _ in 0..self.most_rounds {
            if token.is_cancelled() {
                return Ok(RunOutcome::Cancelled);
            }
            let tools = self.registry.render(&self.dialect);
            let request = Request {
                messages: transcript.messages(),
                tools: &tools,
            };
            let Some(response) = until_cancelled(&token, model.ask(request)).await else {
                return Ok(RunOutcome::Cancelled);
            };
            let response = response.map_err(|error| AgentError::Model(error.into()))?;
            let calls = self.dialect.calls(&response)?;
            let is_last = calls.is_empty() && !self.dialect.is_paused(&response);
            let running = calls.iter().map(|call| self.call(call.clone(), &token));
            let results = join_all(running).await;
            let follow_up = self.dialect.follow_up(&response, &results);
            let text = self.dialect.text(&response);
            transcript.add(
                Round {
                    calls,
                    results,
                    text,
                },
                follow_up,
            );
            if is_last {
                let rounds = transcript.rounds().last();
                let text = rounds.map(|round| round.text.clone());
                return Ok(RunOutcome::Answered(text.unwrap_or_default()));
            }
        }
        Ok(if token.is_cancelled() {
            RunOutcome::Cancelled
        } else {
            RunOutcome::OutOfRounds
        })
    }

    /// Runs one call, cancelled by the token of the run and by its own.
    fn call(&self, call: ToolCall, token: &CancellationToken) -> impl Future<Output = ToolResult> {
        let mut call = match &self.prepare {
            Some(prepare) => prepare(call),
            None => call,
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
        async move {
            let Some(own) = own else {
                return running.await;
            };
            match select(own.cancelled(), pin!(running)).await {
                Either::Left((_, running)) => {
                    both.cancel();
                    running.await
                }
                Either::Right((result, _)) => result,
            }
        }
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
            .field("most_rounds", &self.most_rounds)
            .finish_non_exhaustive()
    }
}

/// Why a run stopped before its end.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentError {
    /// The model gave no response.
    Model(Box<dyn Error + Send + Sync>),
    /// The response is none of the dialect's.
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
            AgentError::Model(error) => write!(f, "the model gave no response: {error}"),
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
