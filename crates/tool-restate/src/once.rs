//! [`Once`]: runs calls at most once, although Restate retries everything that has no result.
//!
//! The first step of a call saves a random number. This process keeps the prepared call under that number. The first
//! attempt in this process that reads the number back runs the tool in a task, and other attempts wait for that task.
//! An attempt in another process can't know how far the call got, so the call is interrupted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::{Deserialize, Serialize};
use tool_agent::PreparedCall;
use tool_core::ToolResult;
use tool_core::call::CancellationToken;

use crate::lock;

/// The number of an attempt, and whether it may be repeated. Saved, because another attempt may have other tools.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Start {
    number: u64,
    /// `true` if the tool may run again.
    pub(crate) is_repeatable: bool,
}

impl Start {
    pub(crate) fn new(is_repeatable: bool) -> Result<Start, getrandom::Error> {
        Ok(Start {
            number: random()?,
            is_repeatable,
        })
    }
}

/// Returns a number that is unique to the attempt.
pub(crate) fn random() -> Result<u64, getrandom::Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The time for which a prepared or finished call is kept, if Restate never confirms that it has the result.
const KEPT: Duration = Duration::from_secs(600);

/// The calls of this process.
#[derive(Clone, Default)]
pub(crate) struct Once(Arc<Mutex<Calls>>);

#[derive(Default)]
struct Calls {
    prepared: HashMap<u64, PreparedCall>,
    running: HashMap<u64, Running>,
    /// The time of each call's last check, oldest first. May still list calls that were dropped.
    looked_at: VecDeque<(Instant, u64)>,
}

#[derive(Clone)]
struct Running {
    result: Shared<BoxFuture<'static, Option<ToolResult>>>,
    stop: CancellationToken,
}

impl Once {
    fn with<T>(&self, act: impl FnOnce(&mut Calls) -> T) -> T {
        act(&mut lock(&self.0))
    }

    /// Keeps a call for attempts that read this start back.
    pub(crate) fn prepare(&self, start: Start, call: PreparedCall) {
        let forgotten = self.with(|calls| {
            let forgotten = calls.forget_old();
            calls.looked_at.push_back((Instant::now(), start.number));
            (forgotten, calls.prepared.insert(start.number, call))
        });
        // Dropped outside of the lock, because it contains values of the application.
        drop(forgotten);
    }

    /// Takes a call that was prepared in this process and has not been run.
    pub(crate) fn take(&self, start: Start) -> Option<PreparedCall> {
        self.with(|calls| calls.prepared.remove(&start.number))
    }

    /// Runs a call that was prepared in this process. It runs in a task, so it continues if the connection to Restate
    /// breaks. Waits for the result, even if an earlier attempt started the call. Returns `None` if another process
    /// prepared the call.
    pub(crate) async fn result<F>(
        &self,
        start: Start,
        run: impl FnOnce(PreparedCall, CancellationToken) -> F,
    ) -> Option<ToolResult>
    where
        F: Future<Output = ToolResult> + Send + 'static,
    {
        let running = self.with(|calls| {
            if let Some(prepared) = calls.prepared.remove(&start.number) {
                let stop = CancellationToken::new();
                let task = tokio::spawn(run(prepared, stop.clone()));
                // `None` if the task panicked. Panics of tools don't get here, because the registry catches them.
                let result = async move { task.await.ok() }.boxed().shared();
                let running = Running { result, stop };
                calls.running.insert(start.number, running);
            }
            calls.running.get(&start.number).cloned()
        })?;
        running.result.await
    }

    /// Cancels a call.
    pub(crate) fn cancel(&self, start: Start) {
        let (_, running) = self.with(|calls| calls.forget(start.number));
        if let Some(running) = running {
            running.stop.cancel();
        }
    }

    /// Forgets a call once Restate has its result.
    pub(crate) fn forget(&self, start: Start) {
        drop(self.with(|calls| calls.forget(start.number)));
    }
}

/// A forgotten call, to be dropped outside of the lock.
type Forgotten = (Option<PreparedCall>, Option<Running>);

impl Calls {
    fn forget(&mut self, number: u64) -> Forgotten {
        (self.prepared.remove(&number), self.running.remove(&number))
    }

    /// Forgets calls if no attempt asked for them in time. Running calls are checked again later.
    fn forget_old(&mut self) -> Vec<Forgotten> {
        let mut forgotten = Vec::new();
        while let Some((at, number)) = self.looked_at.front().copied()
            && at.elapsed() > KEPT
        {
            self.looked_at.pop_front();
            let running = self.running.get(&number);
            if running.is_some_and(|running| running.result.peek().is_none()) {
                self.looked_at.push_back((Instant::now(), number));
            } else {
                forgotten.push(self.forget(number));
            }
        }
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tool_agent::Agent;
    use tool_agent::dialects::OpenAiChat;
    use tool_agent::run::Run;
    use tool_agent::testing::ScriptedModel;
    use tool_core::{Registry, ToolCall, tool, tools};

    use super::*;

    static PAID: AtomicU32 = AtomicU32::new(0);

    /// Pays.
    #[tool(unlinked)]
    async fn pay() -> u32 {
        tokio::task::yield_now().await;
        PAID.fetch_add(1, Ordering::Relaxed) + 1
    }

    #[tokio::test]
    async fn a_call_runs_once_in_the_process_that_prepared_it() {
        let registry = Registry::builder().tools(tools![pay]).build().unwrap();
        let agent = Agent::new(registry, OpenAiChat::default(), ScriptedModel::new([]));
        let (here, there) = (Once::default(), Once::default());
        let start = Start::new(false).unwrap();
        let call = ToolCall::new("call_1", "pay", "");
        let prepared = agent.prepare(Run::new("run-1").info(), call).await.unwrap();
        // The attempt that prepared the call ends here, without knowing that its start is saved.
        here.prepare(start, prepared);
        let attempt = async |once: &Once| {
            let agent = agent.clone();
            let run = |prepared, stop| async move { agent.call_prepared(prepared, &stop).await };
            let result = once.result(start, run).await;
            result.map(|result| result.content().to_owned())
        };
        assert_eq!(attempt(&there).await, None);
        let (one, other) = tokio::join!(attempt(&here), attempt(&here));
        assert_eq!((one.as_deref(), other.as_deref()), (Some("1"), Some("1")));
        assert_eq!(attempt(&here).await.as_deref(), Some("1"));
        here.forget(start);
        assert_eq!(attempt(&here).await, None);
        assert_eq!(PAID.load(Ordering::Relaxed), 1);
    }
}
