//! One call of one tool, from its arguments to its result.
//!
//! Most calls are nothing but their tool, and take the short way. Gates, limits, time-outs and
//! threads are in [`guarded`].

mod guarded;

pub(super) use guarded::run as guarded;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;

use super::{Inner, Snapshot};
use crate::args::{ArgumentError, Input};
use crate::call::context::CallContext;
use crate::call::error::ToolError;
use crate::call::panic_payload::Payload;
use crate::call::{CallHead, ToolCall, ToolResult};
use crate::output::Outcome;
use crate::schema::violation::Coercion;
use crate::telemetry::Telemetry;
use crate::tool::{AsyncStart, Invoke, SyncResult, ToolEntry};

type SyncFn = for<'a> fn(&'a Input) -> SyncResult;
type AsyncFn = for<'a> fn(&'a Input) -> AsyncStart<'a>;

/// Why a tool gave nothing.
enum Stop {
    Failed {
        message: String,
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    Refused(ArgumentError),
    Panicked(Payload),
    TimedOut(Duration),
    Cancelled,
    Denied(String),
    Unavailable(String),
}

/// What comes of a call.
type CallOutcome = Result<Outcome, Stop>;

/// How a call is run.
pub(super) enum CallPath {
    Sync(SyncFn),
    Async(AsyncFn),
    Full,
}

/// The shortest way that does what is asked of a call.
#[inline]
pub(super) fn way(inner: &Inner, tool: &ToolEntry, call: &ToolCall) -> CallPath {
    let is_plain = inner.is_plain && call.given.is_none() && !call.is_cut_short;
    match tool.invoke() {
        Invoke::Sync(invoke) if is_plain => CallPath::Sync(invoke),
        Invoke::Async(invoke) if is_plain && inner.policy.limit_of(tool).is_none() => {
            CallPath::Async(invoke)
        }
        _ => CallPath::Full,
    }
}

/// Runs a sync tool to its end, without a future of its own: what a future carries is moved about.
pub(super) fn at_once(
    inner: &Inner,
    tool: ToolEntry,
    invoke: SyncFn,
    call: ToolCall,
) -> ToolResult {
    let telemetry = Telemetry::new(&call, Some(&tool));
    let mut input = input(inner, &tool, call);
    let ended = telemetry.run(|| catch_unwind(AssertUnwindSafe(|| invoke(&input))));
    let coercions = input.finish();
    let result = conclude(input.take_head(), coercions, done(ended));
    telemetry.ended(&result);
    result
}

/// Runs an async tool. The state of it all is large, and moved no more once it is in its box.
pub(super) fn later(
    inner: Arc<Inner>,
    tool: ToolEntry,
    invoke: AsyncFn,
    call: ToolCall,
) -> impl Future<Output = ToolResult> + Send + use<> {
    Box::pin(async move {
        let telemetry = Telemetry::new(&call, Some(&tool));
        let mut input = input(&inner, &tool, call);
        let done = telemetry.instrument(begun(invoke, &input)).await;
        let coercions = input.finish();
        let result = conclude(input.take_head(), coercions, done);
        telemetry.ended(&result);
        result
    })
}

/// What a call brings to its tool.
#[inline]
fn input(inner: &Inner, tool: &ToolEntry, call: ToolCall) -> Input {
    // Before the rest is put together, which then is moved but once.
    let text = call.arguments.into_text();
    let head = CallHead {
        id: call.id,
        name: call.name,
        wire_id: call.wire_id,
    };
    let policy = &inner.policy;
    let context = CallContext::new(head, call.given, policy.context.clone());
    Input::new(
        tool.properties(),
        tool.receiver().cloned(),
        context,
        text,
        policy.is_lenient,
    )
}

/// Begins an async tool, and waits for its end.
async fn begun(invoke: AsyncFn, input: &Input) -> CallOutcome {
    match catch_unwind(AssertUnwindSafe(|| invoke(input))) {
        Ok(Ok(running)) => {
            let ended = AssertUnwindSafe(running).catch_unwind().await;
            ended.map_err(Stop::Panicked)
        }
        Ok(Err(refusal)) => Err(Stop::Refused(refusal)),
        Err(payload) => Err(Stop::Panicked(payload)),
    }
}

#[inline]
fn done(ended: std::thread::Result<SyncResult>) -> CallOutcome {
    match ended {
        Ok(ended) => ended.map_err(Stop::Refused),
        Err(payload) => Err(Stop::Panicked(payload)),
    }
}

/// Answers a call of a tool that is not there.
#[cold]
pub(super) fn unknown(inner: &Inner, call: ToolCall, snapshot: &Snapshot) -> ToolResult {
    let telemetry = Telemetry::new(&call, None);
    let error = ToolError::unknown_tool(&call.name, snapshot.names());
    let mut result = ToolResult::new(call.head(), Err(Box::new(error)), Vec::new());
    guarded::map_message(&inner.policy, &mut result);
    guarded::truncate(&inner.policy, &mut result);
    telemetry.ended(&result);
    result
}

/// The result of a call, and what was taken for something else on the way.
#[inline]
fn conclude(head: CallHead, coercions: Vec<Coercion>, done: CallOutcome) -> ToolResult {
    let given = match done {
        Ok(Outcome::Text(text)) => Ok((text, false)),
        Ok(Outcome::Json(json)) => Ok((json, true)),
        Ok(Outcome::Failed { message, source }) => {
            Err(error(&head.name, Stop::Failed { message, source }))
        }
        Err(stop) => Err(error(&head.name, stop)),
    };
    ToolResult::new(head, given, coercions)
}

/// In a box here already, so that a success never carries the room for it.
#[cold]
#[allow(clippy::unnecessary_box_returns)]
fn error(tool: &str, stop: Stop) -> Box<ToolError> {
    Box::new(match stop {
        Stop::Failed { message, source } => ToolError::failed(tool, &message, source),
        Stop::Refused(ArgumentError::Malformed(problem)) => {
            ToolError::malformed_json(tool, &problem)
        }
        Stop::Refused(ArgumentError::Invalid(mistakes)) => {
            ToolError::invalid_arguments(tool, mistakes.0)
        }
        Stop::Refused(ArgumentError::MissingContext(ty)) => {
            let lack = format!("the call brought no `{ty}`; give it one with `ToolCall::with`");
            ToolError::unavailable(tool, lack)
        }
        Stop::Panicked(payload) => ToolError::panicked(tool, payload),
        Stop::TimedOut(limit) => ToolError::timed_out(tool, limit),
        Stop::Cancelled => ToolError::cancelled(tool),
        Stop::Denied(reason) => ToolError::denied(tool, &reason),
        Stop::Unavailable(lack) => ToolError::unavailable(tool, lack),
    })
}
