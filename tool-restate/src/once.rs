//! [`Once`]: calls that run at most once, although Restate tries again whatever has no result.
//!
//! The first step of a call saves a random number. An attempt that reads its own number back is the first, and runs the tool
//! in a task. A later attempt in the same process waits for that task. Any other one can't know what happened, so the call
//! is interrupted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use serde::{Deserialize, Serialize};
use tool_core::ToolResult;
use tool_core::call::CancellationToken;

use crate::lock;

/// The number of an attempt, and how the call runs. It is saved, because another attempt may have other tools.
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

/// Returns a number that no other attempt has.
pub(crate) fn random() -> Result<u64, getrandom::Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// How long a result is kept for another attempt, if Restate does not say that it has it.
const KEPT: Duration = Duration::from_secs(600);

/// The calls that run in this process.
#[derive(Clone, Default)]
pub(crate) struct Once(Arc<Mutex<HashMap<u64, Running>>>);

#[derive(Clone)]
struct Running {
    result: Shared<BoxFuture<'static, Option<ToolResult>>>,
    stop: CancellationToken,
}

impl Once {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<u64, Running>) -> T) -> T {
        act(&mut lock(&self.0))
    }

    /// Starts a call in a task, which goes on when the connection to Restate breaks.
    pub(crate) fn start(
        &self,
        start: Start,
        stop: CancellationToken,
        running: impl Future<Output = ToolResult> + Send + 'static,
    ) {
        let task = tokio::spawn(running);
        // `None` if the task panicked. The registry catches the panics of tools.
        let result = async move { task.await.ok() }.boxed().shared();
        let ended = result.clone();
        self.with(|calls| calls.insert(start.number, Running { result, stop }));
        let once = self.clone();
        tokio::spawn(async move {
            ended.await;
            tokio::time::sleep(KEPT).await;
            once.forget(start);
        });
    }

    /// Waits for the result of a call that was started in this process. `None` if it was not.
    pub(crate) async fn result(&self, start: Start) -> Option<ToolResult> {
        let running = self.with(|calls| calls.get(&start.number).cloned())?;
        running.result.await
    }

    /// Cancels a call.
    pub(crate) fn cancel(&self, start: Start) {
        if let Some(running) = self.with(|calls| calls.remove(&start.number)) {
            running.stop.cancel();
        }
    }

    /// Forgets a call, whose result Restate has.
    pub(crate) fn forget(&self, start: Start) {
        self.with(|calls| calls.remove(&start.number));
    }
}
