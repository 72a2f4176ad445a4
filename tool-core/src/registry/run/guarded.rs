//! A call that is more than its tool: with gates, limits, time-outs, threads or a token.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::{CallOutcome, Inner, Stop, SyncFn, begun, conclude, done, input};
use crate::args::{ArgumentError, Input};
use crate::call::context::CancellationToken;
use crate::call::error::ToolError;
use crate::call::panic_payload;
use crate::call::{CUT_SHORT, CallHead, ToolCall, ToolResult};
use crate::registry::gate::{Gate, PendingCall};
use crate::registry::policy::Policy;
use crate::runtime::{BoxFuture, NoRuntime, Runtime};
use crate::schema::violation::Coercion;
use crate::telemetry::{Scope, Telemetry};
use crate::tool::{Invoke, SyncResult, ToolEntry};

/// Runs a call. The state of it all is large, and moved no more once it is in its box.
pub(in crate::registry) fn run(
    inner: Arc<Inner>,
    tool: ToolEntry,
    call: ToolCall,
) -> impl Future<Output = ToolResult> + Send + use<> {
    Box::pin(async move {
        let telemetry = Telemetry::new(&call, Some(&tool));
        let head = call.head();
        let running = whole(&inner, tool, call, &head, telemetry.scope());
        // What is dropped before its end may panic too, and so may the runtime.
        let running = AssertUnwindSafe(running).catch_unwind();
        let ended = telemetry.instrument(running).await;
        let result = ended.unwrap_or_else(|payload| {
            let mut result = conclude(head, Vec::new(), Err(Stop::Panicked(payload)));
            map_message(&inner.policy, &mut result);
            truncate(&inner.policy, &mut result);
            result
        });
        telemetry.ended(&result);
        result
    })
}

/// The call with all that stands around its tool.
async fn whole(
    inner: &Inner,
    tool: ToolEntry,
    call: ToolCall,
    head: &CallHead,
    scope: Scope,
) -> ToolResult {
    let token = call.given.as_ref();
    let token = token.and_then(|given| given.cancellation.clone());
    let running = admitted(inner, tool.clone(), call, scope);
    let (done, coercions) = match token {
        Some(token) => until_cancelled(&token, running).await,
        None => running.await,
    };
    let mut result = conclude(head.clone(), coercions, done);
    let policy = &inner.policy;
    map_message(policy, &mut result);
    for hook in &policy.after {
        let coercions = std::mem::take(&mut result.coercions);
        // A hook that panics gives nothing back.
        let earlier = result.error().map(ToolError::earlier);
        result = match caught(|| hook(tool.clone(), result)).await {
            // Whatever the hook gave, it answers this call.
            Ok(rewritten) => rewritten.answering(head.clone()),
            Err(payload) => {
                let mut failed = conclude(head.clone(), Vec::new(), Err(Stop::Panicked(payload)));
                if let (Some(error), Some(earlier)) = (failed.error_mut(), earlier) {
                    error.after(earlier);
                }
                map_message(policy, &mut failed);
                failed
            }
        };
        result.coercions.extend(coercions);
    }
    // At last, so that a hook that hides something never meets half of it.
    truncate(policy, &mut result);
    result
}

/// What a hook gives, or what it panics with before or after its first wait.
async fn caught<T>(hook: impl FnOnce() -> BoxFuture<T>) -> std::thread::Result<T> {
    match catch_unwind(AssertUnwindSafe(hook)) {
        Ok(running) => AssertUnwindSafe(running).catch_unwind().await,
        Err(payload) => Err(payload),
    }
}

/// Ends a call when its token is cancelled, and does not begin it when it was before.
async fn until_cancelled(
    token: &CancellationToken,
    running: impl Future<Output = (CallOutcome, Vec<Coercion>)>,
) -> (CallOutcome, Vec<Coercion>) {
    let cancelled = token.cancelled();
    if token.is_cancelled() {
        return (Err(Stop::Cancelled), Vec::new());
    }
    // The token is asked first: a tool that ends early because of it has not done its work.
    match select(cancelled, pin!(running)).await {
        Either::Left(_) => (Err(Stop::Cancelled), Vec::new()),
        Either::Right((done, _)) => done,
    }
}

/// The call behind its gates and its turn.
async fn admitted(
    inner: &Inner,
    tool: ToolEntry,
    mut call: ToolCall,
    scope: Scope,
) -> (CallOutcome, Vec<Coercion>) {
    let policy = &inner.policy;
    for hook in &policy.before {
        let pending = PendingCall {
            tool: tool.clone(),
            call: call.clone(),
            registry: policy.context.clone(),
        };
        match caught(|| hook(pending)).await {
            Ok(Gate::Allow) => {}
            Ok(Gate::Deny(reason)) => return (Err(Stop::Denied(reason)), Vec::new()),
            Ok(Gate::Change(arguments)) => {
                call.arguments = arguments;
                call.is_cut_short = false;
            }
            Err(payload) => return (Err(Stop::Panicked(payload)), Vec::new()),
        }
    }
    if call.is_cut_short {
        let refusal = ArgumentError::Malformed(CUT_SHORT.into());
        return (Err(Stop::Refused(refusal)), Vec::new());
    }
    // Held to the end, by the thread of a tool that blocks too.
    let turn = Turn::wait(policy).await;
    let invoke = tool.invoke();
    let limit = policy.limit_of(&tool);
    let mut input = input(inner, &tool, call);
    match invoke {
        Invoke::Sync(invoke) => {
            let ended = catch_unwind(AssertUnwindSafe(|| invoke(&input)));
            (done(ended), input.finish())
        }
        Invoke::Async(invoke) => {
            let runtime = policy.runtime.as_deref();
            let ended = in_time(runtime, limit, begun(invoke, &input)).await;
            let stays = !matches!(ended, Err(Stop::TimedOut(_)));
            let coercions = match stays {
                true => input.finish(),
                false => Vec::new(),
            };
            (ended, coercions)
        }
        Invoke::Blocking(invoke) => {
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

/// A call's right to run.
struct Turn {
    #[cfg(feature = "tokio")]
    _permit: Option<tokio::sync::OwnedSemaphorePermit>,
}

impl Turn {
    #[cfg(feature = "tokio")]
    async fn wait(policy: &Policy) -> Turn {
        let permit = match &policy.limit {
            // Nobody closes it.
            Some(limit) => Arc::clone(limit).acquire_owned().await.ok(),
            None => None,
        };
        Turn { _permit: permit }
    }

    #[cfg(not(feature = "tokio"))]
    #[allow(clippy::unused_async)] // The other one waits.
    async fn wait(_: &Policy) -> Turn {
        Turn {}
    }
}

/// Waits for a tool as long as it may take.
async fn in_time(
    runtime: Option<&dyn Runtime>,
    limit: Option<Duration>,
    running: impl Future<Output = CallOutcome>,
) -> CallOutcome {
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
struct Job {
    invoke: SyncFn,
    input: Input,
    turn: Turn,
    scope: Scope,
}

/// What a thread leaves behind.
type ThreadOutcome = (std::thread::Result<SyncResult>, Vec<Coercion>);

/// Runs a tool on a thread that it may block. When the time is up the thread goes on, without
/// anybody who waits for it: it is told by the token of its context.
async fn blocking(
    policy: &Policy,
    limit: Option<Duration>,
    job: Job,
) -> (CallOutcome, Vec<Coercion>) {
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
    let place: Arc<Mutex<Option<ThreadOutcome>>> = Arc::default();
    let result = Arc::clone(&place);
    let started = runtime.spawn_blocking(Box::new(move || {
        let Job {
            invoke,
            mut input,
            turn: _turn,
            scope,
        } = job;
        // It may have waited for a thread longer than anybody waited for it.
        if input.cancellation().is_cancelled() {
            return;
        }
        let ended = scope.run(|| catch_unwind(AssertUnwindSafe(|| invoke(&input))));
        let coercions = input.finish();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some((ended, coercions));
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
            // The runtime ends and runs no more jobs, or the call was over before the job began.
            None => Err(Stop::Cancelled),
        }
    };
    let done = in_time(Some(runtime), limit, waiting).await;
    given_up.1 = !matches!(done, Err(Stop::TimedOut(_)));
    (done, coercions)
}

/// Puts an error into the words of the application.
pub(super) fn map_message(policy: &Policy, result: &mut ToolResult) {
    let (Some(map_message), Some(error)) = (&policy.map_message, result.error_mut()) else {
        return;
    };
    // An error in telling of an error must not be what the model sees.
    match catch_unwind(AssertUnwindSafe(|| map_message(error))) {
        Ok(Some(text)) => error.map_message(text),
        Ok(None) => {}
        Err(payload) => panic_payload::discard(payload),
    }
}

/// Cuts the text for the model to what it may be.
pub(super) fn truncate(policy: &Policy, result: &mut ToolResult) {
    if let Some(cap) = policy.output_cap {
        result.truncate(cap);
    }
}
