//! One call of one tool, from its arguments to its result.
//!
//! A sync tool runs without a future of its own: what a future carries is moved about.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use futures_util::FutureExt;

use crate::args::{Input, Refusal};
use crate::call::{CallHead, ToolCall, ToolResult};
use crate::error::ToolError;
use crate::output::Outcome;
use crate::telemetry::Telemetry;
use crate::tool::{Begun, Ended, ToolEntry};
use crate::violation::Coercion;

type AtOnce = for<'a> fn(&'a Input) -> Ended;
type Later = for<'a> fn(&'a Input) -> Begun<'a>;

/// Runs a sync tool to its end.
pub(super) fn at_once(
    tool: &ToolEntry,
    invoke: AtOnce,
    call: ToolCall,
    is_lenient: bool,
) -> ToolResult {
    let telemetry = Telemetry::new(&call);
    let (id, name, wire_id) = (call.id, call.name, call.wire_id);
    let mut input = Input::new(tool.schema(), call.arguments.into_text(), is_lenient);
    let ended = telemetry.in_scope(|| catch_unwind(AssertUnwindSafe(|| invoke(&input))));
    let head = CallHead { id, name, wire_id };
    let result = conclude(head, input.take_coercions(), ended);
    telemetry.ended(&result);
    result
}

/// Runs an async tool. The state of it all is large, and moved no more once it is in its box.
pub(super) fn later(
    tool: &ToolEntry,
    invoke: Later,
    call: ToolCall,
    is_lenient: bool,
) -> impl Future<Output = ToolResult> + Send + use<> {
    let schema = tool.schema();
    Box::pin(async move {
        let telemetry = Telemetry::new(&call);
        let (id, name, wire_id) = (call.id, call.name, call.wire_id);
        let mut input = Input::new(schema, call.arguments.into_text(), is_lenient);
        let running = async {
            match catch_unwind(AssertUnwindSafe(|| invoke(&input))) {
                Ok(Ok(running)) => AssertUnwindSafe(running).catch_unwind().await.map(Ok),
                Ok(Err(refusal)) => Ok(Err(refusal)),
                Err(payload) => Err(payload),
            }
        };
        let ended = telemetry.instrument(running).await;
        let head = CallHead { id, name, wire_id };
        let result = conclude(head, input.take_coercions(), ended);
        telemetry.ended(&result);
        result
    })
}

/// Answers a call of a tool that is not there.
#[cold]
pub(super) fn unknown<'a>(
    call: ToolCall,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> ToolResult {
    let telemetry = Telemetry::new(&call);
    let error = ToolError::unknown_tool(&call, names);
    let (id, name, wire_id) = (call.id, call.name, call.wire_id);
    let result = ToolResult::failure(CallHead { id, name, wire_id }, error);
    telemetry.ended(&result);
    result
}

/// The result of a call, and what was taken for something else on the way.
#[inline]
fn conclude(head: CallHead, coercions: Vec<Coercion>, ended: thread::Result<Ended>) -> ToolResult {
    let mut result = match ended {
        Ok(Ok(Outcome::Text(text))) => ToolResult::success(head, text, false),
        Ok(Ok(Outcome::Json(json))) => ToolResult::success(head, json, true),
        failed => {
            let error = error(&head.name, failed);
            ToolResult::failure(head, error)
        }
    };
    result.coercions = coercions;
    result
}

#[cold]
fn error(tool: &str, ended: thread::Result<Ended>) -> ToolError {
    match ended {
        Ok(Ok(Outcome::Failed { message, source })) => ToolError::failed(tool, &message, source),
        Ok(Ok(Outcome::Text(text) | Outcome::Json(text))) => ToolError::failed(tool, &text, None),
        Ok(Err(Refusal::Malformed(problem))) => ToolError::malformed_json(tool, &problem),
        Ok(Err(Refusal::Invalid(mistakes))) => ToolError::invalid_arguments(tool, mistakes.0),
        Err(payload) => ToolError::panicked(tool, &*payload),
    }
}
