//! [`BackgroundCalls`]: calls in the background, while an agent drives their run, and while it rests.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tool_core::ToolResult;
use tool_core::call::{CallPosition, CancellationToken};
use tool_core::runtime::BoxFuture;

use super::Agent;
use crate::run::{Run, RunError};

/// Calls in the background of runs that rest; see [`Agent::leave_background`].
///
/// They go on while something waits for [`ended`](BackgroundCalls::ended), or while an agent drives their run. Once one has
/// ended, drive its run again, such as with [`Agent::run`]: the model gets the result. Clones are the same calls, and
/// dropping the last one drops them: the run then has to be [resumed](Run::resume), which the agent does.
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Run, RunOutcome};
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, BackgroundCalls};
/// use tool_core::dialect::OpenAiChat;
/// use tool_core::{Registry, tool, tools};
///
/// /// Builds the project, which takes minutes.
/// #[tool(background)]
/// async fn build_project() -> &'static str {
///     tokio::task::yield_now().await;
///     "built"
/// }
///
/// let registry = Registry::builder().tools(tools![build_project]).build()?;
/// let call = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "build_project", "arguments": "{}"}},
/// ]}}]});
/// let saying = |text: &str| json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
/// let model = ScriptedModel::new([call, saying("I am building it."), saying("It is built.")]);
/// let background = BackgroundCalls::new();
/// let agent = Agent::new(registry, OpenAiChat::default(), model).leave_background(&background);
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut run = Run::new("conversation-1");
/// let outcome = agent.reply(&mut run, "Build it, please.").await?;
/// assert_eq!(outcome, RunOutcome::Answered("I am building it.".into()));
///
/// // Until then, `agent.reply` adds what the user says in the meantime.
/// assert_eq!(background.ended().await.as_deref(), Some("conversation-1"));
/// let outcome = agent.run(&mut run).await?;
/// assert_eq!(outcome, RunOutcome::Answered("It is built.".into()));
/// # Ok::<(), tool_agent::AgentError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct BackgroundCalls(Arc<Mutex<HashMap<String, Calls>>>);

impl BackgroundCalls {
    /// Creates it without calls.
    pub fn new() -> BackgroundCalls {
        BackgroundCalls::default()
    }

    /// Waits until a call has ended, and returns the id of its run, which an agent has to drive. Returns `None` if there is
    /// no call. Only one task at a time may wait.
    pub async fn ended(&self) -> Option<String> {
        poll_fn(|cx| {
            let mut runs = self.lock();
            for (id, calls) in runs.iter_mut() {
                calls.poll(cx);
                if !calls.ended.is_empty() {
                    return Poll::Ready(Some(id.clone()));
                }
            }
            if runs.is_empty() {
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    }

    /// Returns `true` if no run that rests has left a call here.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Cancels the calls. They end with errors, which their runs still have to take.
    pub fn cancel(&self) {
        for calls in self.lock().values() {
            calls.stop.cancel();
        }
    }

    /// Returns `true` if there is a result that its run has yet to take.
    #[cfg(feature = "conversations")]
    pub(crate) fn has_ended(&self) -> bool {
        let runs = self.lock();
        runs.values().any(|calls| !calls.ended.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Calls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BackgroundCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.lock().len();
        f.debug_struct("BackgroundCalls")
            .field("runs", &runs)
            .finish_non_exhaustive()
    }
}

/// The calls of a run that this process runs in the background.
#[derive(Default)]
struct Calls {
    running: FuturesUnordered<BoxFuture<ToolResult>>,
    /// The results that the run does not have yet.
    ended: VecDeque<ToolResult>,
    positions: HashSet<CallPosition>,
    stop: CancellationToken,
}

impl Calls {
    /// Takes the results that there are.
    fn poll(&mut self, cx: &mut Context<'_>) {
        while let Poll::Ready(Some(result)) = self.running.poll_next_unpin(cx) {
            self.ended.push_back(result);
        }
    }
}

/// The calls of a run in the background, while an agent drives it. Then they end, unless the agent leaves them.
pub(super) struct Background {
    run: String,
    calls: Calls,
    left: Option<BackgroundCalls>,
}

impl Background {
    pub(super) fn of(agent: &Agent, run: &Run) -> Background {
        let left = agent.background.clone();
        let calls = left.as_ref().and_then(|left| left.lock().remove(run.id()));
        Background {
            run: run.id().to_owned(),
            calls: calls.unwrap_or_default(),
            left,
        }
    }

    /// Returns `true` if the agent returns while they run.
    pub(super) fn is_left(&self) -> bool {
        self.left.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.positions.is_empty()
    }

    /// Returns what cancels the next calls.
    pub(super) fn stop(&mut self) -> CancellationToken {
        if self.calls.stop.is_cancelled() {
            // That of earlier calls, which have copies.
            self.calls.stop = CancellationToken::new();
        }
        self.calls.stop.clone()
    }

    pub(super) fn cancel(&self) {
        self.calls.stop.cancel();
    }

    pub(super) fn push(&mut self, position: CallPosition, calling: BoxFuture<ToolResult>) {
        self.calls.positions.insert(position);
        self.calls.running.push(calling);
    }

    /// Resumes a run, apart from these calls.
    pub(super) fn resume(&self, run: &mut Run, agent: &Agent) -> Result<Vec<ToolResult>, RunError> {
        let runs_here = |position: &CallPosition| self.calls.positions.contains(position);
        run.resume_others(agent.dialect(), &agent.registry, runs_here)
    }

    /// Takes the next result that the run still waits for. Skips a call that has ended in another way, such as in another process.
    pub(super) fn take(&mut self, run: &Run) -> Option<ToolResult> {
        loop {
            let result = self.calls.ended.pop_front()?;
            let position = result.position();
            position.map(|position| self.calls.positions.remove(position));
            if run.awaits_in_background(result.position()) {
                return Some(result);
            }
        }
    }

    /// Waits for a future while the calls go on.
    pub(super) async fn meanwhile<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        let mut waiting = pin!(waiting);
        poll_fn(|cx| {
            self.calls.poll(cx);
            waiting.as_mut().poll(cx)
        })
        .await
    }

    /// Waits until a call has ended, here or among others.
    pub(super) async fn or_ended<F: Future<Output = ToolResult>>(
        &mut self,
        others: &mut FuturesUnordered<F>,
    ) -> Ended {
        poll_fn(|cx| {
            if let Poll::Ready(Some(result)) = others.poll_next_unpin(cx) {
                return Poll::Ready(Ended::Other(result));
            }
            self.calls.poll(cx);
            if !self.calls.ended.is_empty() {
                Poll::Ready(Ended::Here)
            } else if others.is_empty() && self.calls.running.is_empty() {
                Poll::Ready(Ended::Nothing)
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

/// Which call has ended first.
pub(super) enum Ended {
    /// A call in the background, whose result is there to be [taken](Background::take).
    Here,
    /// Another call.
    Other(ToolResult),
    /// Nothing runs.
    Nothing,
}

impl Drop for Background {
    fn drop(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if let Some(left) = &self.left
            && !calls.positions.is_empty()
        {
            left.lock().insert(self.run.clone(), calls);
        }
    }
}
