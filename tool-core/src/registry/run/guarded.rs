//! A call that is more than its tool: with gates, limits, time-outs, threads or a token.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::{AtOnce, Done, Inner, Stop, begun, conclude, done, input};
use crate::args::Input;
use crate::call::{CallHead, ToolCall, ToolResult};
use crate::context::CancellationToken;
use crate::registry::gate::{Gate, PendingCall};
use crate::registry::policy::Policy;
use crate::runtime::{NoRuntime, Runtime};
use crate::telemetry::{Scope, Telemetry};
use crate::tool::{Ended, Invoke, ToolEntry};
use crate::violation::Coercion;

/// Runs a call. The state of it all is large, and moved no more once it is in its box.
pub(super) fn run(
    inner: Arc<Inner>,
    tool: ToolEntry,
    call: ToolCall,
) -> impl Future<Output = ToolResult> + Send + use<> {
    Box::pin(async move {
        let telemetry = Telemetry::new(&call, Some(&tool));
        let result = telemetry.instrument(whole(&inner, tool, call, telemetry.scope()));
        let result = result.await;
        telemetry.ended(&result);
        result
    })
}

/// The call with all that stands around its tool.
async fn whole(inner: &Inner, tool: ToolEntry, call: ToolCall, scope: &Scope) -> ToolResult {
    let head = CallHead {
        id: call.id.clone(),
        name: call.name.clone(),
        wire_id: call.wire_id,
    };
    let token = call.given.as_ref();
    let token = token.and_then(|given| given.cancellation.clone());
    let running = admitted(inner, tool.clone(), call, scope);
    let (done, coercions) = match token {
        Some(token) => until_cancelled(&token, running).await,
        None => running.await,
    };
    let mut result = conclude(head, coercions, done);
    let policy = &inner.policy;
    if let Some(cap) = policy.output_cap {
        result.cut(cap);
    }
    retell(policy, &mut result);
    for hook in &policy.after {
        let (id, name, wire_id) = (
            result.call_id().to_owned(),
            result.name().to_owned(),
            result.wire_id,
        );
        let coercions = std::mem::take(&mut result.coercions);
        let rewritten = match catch_unwind(AssertUnwindSafe(|| hook(tool.clone(), result))) {
            Ok(rewriting) => AssertUnwindSafe(rewriting).catch_unwind().await,
            Err(payload) => Err(payload),
        };
        // Whatever the hook gave, it answers this call.
        let head = CallHead { id, name, wire_id };
        result = match rewritten {
            Ok(rewritten) => rewritten.answering(head),
            Err(payload) => {
                let mut failed = conclude(head, Vec::new(), Err(Stop::Panicked(payload)));
                retell(policy, &mut failed);
                failed
            }
        };
        result.coercions.extend(coercions);
    }
    result
}

/// Ends a call when its token is cancelled, and does not begin it when it was before.
async fn until_cancelled(
    token: &CancellationToken,
    running: impl Future<Output = (Done, Vec<Coercion>)>,
) -> (Done, Vec<Coercion>) {
    let cancelled = token.cancelled();
    if token.is_cancelled() {
        return (Err(Stop::Cancelled), Vec::new());
    }
    match select(pin!(running), cancelled).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => (Err(Stop::Cancelled), Vec::new()),
    }
}

/// The call behind its gates and its turn.
async fn admitted(
    inner: &Inner,
    tool: ToolEntry,
    mut call: ToolCall,
    scope: &Scope,
) -> (Done, Vec<Coercion>) {
    let policy = &inner.policy;
    for hook in &policy.before {
        let pending = PendingCall {
            tool: tool.clone(),
            call: call.clone(),
            registry: policy.context.clone(),
        };
        let decided = match catch_unwind(AssertUnwindSafe(|| hook(pending))) {
            Ok(deciding) => AssertUnwindSafe(deciding).catch_unwind().await,
            Err(payload) => Err(payload),
        };
        match decided {
            Ok(Gate::Allow) => {}
            Ok(Gate::Deny(reason)) => return (Err(Stop::Denied(reason)), Vec::new()),
            Ok(Gate::Change(arguments)) => call.arguments = arguments,
            Err(payload) => return (Err(Stop::Panicked(payload)), Vec::new()),
        }
    }
    // Held to the end, by the thread of a tool that blocks too.
    #[cfg(feature = "tokio")]
    let turn = match &policy.limit {
        // Nobody closes it.
        Some(limit) => Arc::clone(limit).acquire_owned().await.ok(),
        None => None,
    };
    #[cfg(not(feature = "tokio"))]
    let turn = ();
    let invoke = tool.invoke();
    let limit = tool.timeout().or(policy.timeout);
    let mut input = input(inner, tool, call);
    match invoke {
        Invoke::Sync(invoke) => {
            let ended = catch_unwind(AssertUnwindSafe(|| invoke(&input)));
            let (_, coercions) = input.finish();
            drop(turn);
            (done(ended), coercions)
        }
        Invoke::Async(invoke) => {
            let runtime = policy.runtime.as_deref();
            let ended = in_time(runtime, limit, begun(invoke, &input)).await;
            let stays = !matches!(ended, Err(Stop::TimedOut(_)));
            let coercions = match stays {
                true => input.finish().1,
                false => Vec::new(),
            };
            drop(turn);
            (ended, coercions)
        }
        Invoke::Blocking(invoke) => {
            let scope = scope.clone();
            let job = Job {
                invoke,
                input,
                turn,
                scope,
            };
            blocking(policy, limit, job).await
        }
    }
}

/// Waits for a tool as long as it may take.
async fn in_time(
    runtime: Option<&dyn Runtime>,
    limit: Option<Duration>,
    running: impl Future<Output = Done>,
) -> Done {
    let Some(limit) = limit else {
        return running.await;
    };
    let sleep = match runtime
        .ok_or(NoRuntime)
        .and_then(|runtime| runtime.sleep(limit))
    {
        Ok(sleep) => sleep,
        Err(none) => return Err(Stop::Unavailable(none.to_string())),
    };
    match select(pin!(running), sleep).await {
        Either::Left((done, _)) => done,
        Either::Right(_) => Err(Stop::TimedOut(limit)),
    }
}

/// A sync tool on its way to another thread.
struct Job<T> {
    invoke: AtOnce,
    input: Input,
    turn: T,
    scope: Scope,
}

/// Runs a tool on a thread that it may block. When the time is up the thread goes on, without
/// anybody who waits for it: it is told by the token of its context.
async fn blocking<T: Send + 'static>(
    policy: &Policy,
    limit: Option<Duration>,
    job: Job<T>,
) -> (Done, Vec<Coercion>) {
    /// Cancels the token of a call that is given up.
    struct GivenUp(CancellationToken, bool);

    impl Drop for GivenUp {
        fn drop(&mut self) {
            if !self.1 {
                self.0.cancel();
            }
        }
    }

    let Some(runtime) = policy.runtime.as_deref() else {
        return (Err(Stop::Unavailable(NoRuntime.to_string())), Vec::new());
    };
    let mut given_up = GivenUp(job.input.cancellation().clone(), false);
    let place: Arc<Mutex<Option<(std::thread::Result<Ended>, Vec<Coercion>)>>> = Arc::default();
    let result = Arc::clone(&place);
    let started = runtime.spawn_blocking(Box::new(move || {
        let Job {
            invoke,
            mut input,
            turn,
            scope,
        } = job;
        let ended = scope.run(|| catch_unwind(AssertUnwindSafe(|| invoke(&input))));
        let (_, coercions) = input.finish();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some((ended, coercions));
        drop(turn);
    }));
    let ended = match started {
        Ok(ended) => ended,
        Err(none) => return (Err(Stop::Unavailable(none.to_string())), Vec::new()),
    };
    let mut coercions = Vec::new();
    let waiting = async {
        ended.await;
        match place.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((ended, told)) => {
                coercions = told;
                done(ended)
            }
            // The runtime ends, and runs no more jobs.
            None => Err(Stop::Cancelled),
        }
    };
    let done = in_time(Some(runtime), limit, waiting).await;
    given_up.1 = !matches!(done, Err(Stop::TimedOut(_)));
    (done, coercions)
}

/// Puts an error into the words of the application.
pub(super) fn retell(policy: &Policy, result: &mut ToolResult) {
    let (Some(retell), Some(error)) = (&policy.retell, result.error_mut()) else {
        return;
    };
    // An error in telling of an error must not be what the model sees.
    if let Ok(Some(text)) = catch_unwind(AssertUnwindSafe(|| retell(error))) {
        error.retell(text);
    }
}
