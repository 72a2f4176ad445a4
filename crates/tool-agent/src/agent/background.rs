//! [`BackgroundCalls`]: calls in the background, while an agent drives their run and while it rests.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tool_core::call::{CallPosition, CancellationToken};
use tool_core::dialect::Dialect;
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolResult};

use crate::run::{Run, RunError};

/// Calls in the background of resting runs; see [`Agent::leave_background`](crate::Agent::leave_background).
///
/// They make progress while you wait for [`ended`](BackgroundCalls::ended), or while an agent drives their run. Once a
/// call has ended, drive its run again, for instance with [`Agent::run`](crate::Agent::run), so that the model gets the result. Clones
/// share the calls. Dropping the last clone drops them; an agent that drives the run later treats them as
/// [interrupted](Run::resume).
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Run, RunOutcome};
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, BackgroundCalls};
/// use tool_agent::dialects::OpenAiChat;
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
/// let model = ScriptedModel::default()
///     .call("build_project", json!({}))
///     .say("I am building it.")
///     .say("It is built.");
/// let background = BackgroundCalls::new();
/// let agent = Agent::new(registry, OpenAiChat::default(), model).leave_background(&background);
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut run = Run::new("conversation-1");
/// let outcome = agent.reply(&mut run, "Build it, please.").await?;
/// assert_eq!(outcome, RunOutcome::Answered("I am building it.".into()));
///
/// // If the user says something before that, pass it to `agent.reply`.
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
    /// Creates a value without calls.
    pub fn new() -> BackgroundCalls {
        BackgroundCalls::default()
    }

    /// Waits until a call has ended, and returns the id of its run. Drive that run next. Returns `None` if there are no
    /// calls. Only one task at a time may wait.
    pub async fn ended(&self) -> Option<String> {
        poll_fn(|cx| {
            let ids: Vec<_> = self.lock().keys().cloned().collect();
            for id in ids {
                let waker = cx.waker().clone();
                // Taken under the lock of the map: once an agent drives the run, only that agent polls its calls.
                let polling = self.lock().get(&id).map(|calls| calls.take(waker));
                polling.map(|polling| polling.run(cx));
                if self.lock().get(&id).is_some_and(Calls::has_ended) {
                    return Poll::Ready(Some(id));
                }
            }
            if self.is_empty() {
                return Poll::Ready(None);
            }
            Poll::Pending
        })
        .await
    }

    /// Returns `true` if no resting run has calls here.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Cancels the calls. They end with errors, which are results for their runs.
    pub fn cancel(&self) {
        let stops: Vec<_> = self
            .lock()
            .values()
            .map(|calls| calls.stop.clone())
            .collect();
        for stop in stops {
            stop.cancel();
        }
    }

    /// Returns `true` if a run has not taken a result yet.
    #[cfg(feature = "conversations")]
    pub(crate) fn has_ended(&self) -> bool {
        self.lock().values().any(Calls::has_ended)
    }

    /// Returns the calls of resting runs. While they are locked, don't run or drop code of the application.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Calls>> {
        lock(&self.0)
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

/// The background calls of a run in this process.
#[derive(Default)]
struct Calls {
    state: Arc<Mutex<State>>,
    positions: HashSet<CallPosition>,
    stop: CancellationToken,
}

#[derive(Default)]
struct State {
    /// Moved out while they are polled, because they are code of the application, which may call back.
    running: FuturesUnordered<BoxFuture<ToolResult>>,
    is_polled: bool,
    /// Woken when they can be polled again.
    waiting: Option<Waker>,
    /// The results that the run has not taken yet.
    ended: VecDeque<ToolResult>,
}

impl Calls {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn has_ended(&self) -> bool {
        !self.state().ended.is_empty()
    }

    /// Takes the calls to poll them. If they are being polled, the waker is woken afterwards.
    fn take(&self, waker: Waker) -> Polling {
        let mut state = self.state();
        let mut polling = Polling {
            state: Arc::clone(&self.state),
            running: None,
            unused: Some(waker),
        };
        if state.is_polled {
            std::mem::swap(&mut state.waiting, &mut polling.unused);
        } else {
            state.is_polled = true;
            polling.running = Some(std::mem::take(&mut state.running));
        }
        polling
    }

    /// Polls the calls and keeps their results. Returns `true` if none is left.
    fn poll(&self, cx: &mut Context<'_>) -> bool {
        let state = self.state();
        if state.running.is_empty() && !state.is_polled {
            return true;
        }
        drop(state);
        self.take(cx.waker().clone()).run(cx)
    }
}

/// The calls of a run, taken out of the lock to be polled. Dropping this puts them back.
struct Polling {
    state: Arc<Mutex<State>>,
    /// `None` if they are being polled elsewhere.
    running: Option<FuturesUnordered<BoxFuture<ToolResult>>>,
    /// Kept here so that it is dropped without a lock, like the calls.
    unused: Option<Waker>,
}

impl Polling {
    /// Polls the calls and keeps their results. Returns `true` if none is left.
    fn run(mut self, cx: &mut Context<'_>) -> bool {
        let Some(running) = &mut self.running else {
            return false;
        };
        while let Poll::Ready(Some(result)) = running.poll_next_unpin(cx) {
            lock(&self.state).ended.push_back(result);
        }
        running.is_empty()
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        let mut state = lock(&self.state);
        running.extend(std::mem::take(&mut state.running));
        state.running = running;
        state.is_polled = false;
        let waiting = state.waiting.take();
        drop(state);
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The background calls of a run while an agent drives it. Afterwards they end, unless the agent leaves them.
pub(super) struct Background {
    run: String,
    calls: Calls,
    left: Option<BackgroundCalls>,
}

impl Background {
    /// Takes the calls of a run that an earlier driver left.
    pub(super) fn of(left: Option<BackgroundCalls>, run: &Run) -> Background {
        let calls = left.as_ref().and_then(|left| left.lock().remove(run.id()));
        Background {
            run: run.id().to_owned(),
            calls: calls.unwrap_or_default(),
            left,
        }
    }

    /// Returns `true` if the agent may return while they run.
    pub(super) fn is_left(&self) -> bool {
        self.left.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.positions.is_empty()
    }

    /// Returns the token that cancels the next calls.
    pub(super) fn stop(&mut self) -> CancellationToken {
        if self.calls.stop.is_cancelled() {
            // Earlier calls have clones of the old token.
            self.calls.stop = CancellationToken::new();
        }
        self.calls.stop.clone()
    }

    pub(super) fn cancel(&self) {
        self.calls.stop.cancel();
    }

    pub(super) fn push(&mut self, position: CallPosition, calling: BoxFuture<ToolResult>) {
        self.calls.positions.insert(position);
        self.calls.state().running.push(calling);
    }

    /// Resumes a run, except for these calls.
    pub(super) fn resume(
        &self,
        run: &mut Run,
        dialect: &dyn Dialect,
        registry: &Registry,
    ) -> Result<Vec<ToolResult>, RunError> {
        let runs_here = |position: &CallPosition| self.calls.positions.contains(position);
        run.resume_others(dialect, registry, runs_here)
    }

    /// Takes the next result that the run is waiting for. Skips results of calls that have ended otherwise, such as in
    /// another process.
    pub(super) fn take(&mut self, run: &Run) -> Option<ToolResult> {
        loop {
            let result = self.calls.state().ended.pop_front()?;
            let position = result.position();
            position.map(|position| self.calls.positions.remove(position));
            if run.awaits_in_background(result.position()) {
                return Some(result);
            }
        }
    }

    /// Waits for a future, and polls the calls meanwhile.
    pub(super) async fn meanwhile<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        let mut waiting = pin!(waiting);
        poll_fn(|cx| {
            self.calls.poll(cx);
            waiting.as_mut().poll(cx)
        })
        .await
    }

    /// Waits until one of these calls or of `running` has ended.
    pub(super) async fn or_ended<F: Future<Output = ToolResult>>(
        &mut self,
        others: &mut FuturesUnordered<F>,
    ) -> Ended {
        poll_fn(|cx| {
            if let Poll::Ready(Some(result)) = others.poll_next_unpin(cx) {
                return Poll::Ready(Ended::Other(result));
            }
            let is_idle = self.calls.poll(cx);
            if self.calls.has_ended() {
                Poll::Ready(Ended::Here)
            } else if others.is_empty() && is_idle {
                Poll::Ready(Ended::Nothing)
            } else {
                Poll::Pending
            }
        })
        .await
    }
}

/// The call that ended first.
pub(super) enum Ended {
    /// A call in the background. Its result can be [taken](Background::take).
    Here,
    /// Another call.
    Other(ToolResult),
    /// No call is running.
    Nothing,
}

impl Drop for Background {
    fn drop(&mut self) {
        let calls = std::mem::take(&mut self.calls);
        if let Some(left) = &self.left
            && !calls.positions.is_empty()
        {
            let replaced = left.lock().insert(self.run.clone(), calls);
            // Dropped outside of the lock.
            drop(replaced);
        }
    }
}
