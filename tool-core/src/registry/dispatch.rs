//! Runs one call, from its arguments to its result.
//!
//! Most calls only run their tool, so they take a short path ([`run_sync`], [`run_async`], and
//! [`run_sync_in_run`] in a conversation). Calls with hooks, decisions, limits, timeouts or threads, and
//! async calls with context values, take the full path ([`run_full`]).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::nesting::{CallFuture, MAX_DEPTH, at_depth, depth, one_deeper};
use super::permit::Permit;
use super::policy::Policy;
use super::read_result::is_read_result;
use super::{Inner, Snapshot};
use crate::args::{ArgumentError, Input};
use crate::call::approval::Hosted;
use crate::call::boundary::{Caught, catch, panic_text};
use crate::call::cancellation::CancellationToken;
use crate::call::context::{CallContext, Host};
use crate::call::error::ToolError;
use crate::call::extensions::{CallExtensions, Nesting, get_value};
use crate::call::hold::Decided;
use crate::call::origin::ResultHead;
use crate::call::{
    Arguments, CallHead, Decision, Hold, TRUNCATED, ToolCall, ToolResult, check_start,
};
use crate::hooks::observe::Timer;
use crate::hooks::{Gate, HookCall};
use crate::output::Outcome;
use crate::results::{NOTE, Page, ResultScope, ResultStore, Spill, new_handle};
use crate::runtime::{BoxFuture, NoRuntime, Runtime, either};
use crate::schema::validate::Options;
use crate::schema::violation::Coercion;
use crate::telemetry::{self, Scope, Telemetry};
use crate::tool::{AsyncStart, Invoke, SyncResult, ToolEntry};

type SyncFn = for<'a> fn(&'a Input) -> SyncResult;
type AsyncFn = for<'a> fn(&'a Input) -> AsyncStart<'a>;

/// Why a call has no output.
enum CallFailure {
    Arguments(ArgumentError),
    Panicked(String),
    TimedOut(Timeout),
    Cancelled,
    Denied(String),
    Held(Box<Hold>),
    Unavailable(String),
}

type CallOutcome = Result<Outcome, CallFailure>;
/// The outcome of a call, and the coercions of its arguments.
type Finished = (CallOutcome, Vec<Coercion>);

fn fail(failure: CallFailure) -> Finished {
    (Err(failure), Vec::new())
}

/// The function that runs a call.
pub(super) enum CallPath {
    Sync(SyncFn),
    /// A sync tool, whose call is one of a conversation: it has a position, a key, a token or context values.
    SyncInRun(SyncFn),
    Async(AsyncFn),
    Full,
}

/// Returns the shortest path for a call.
#[inline]
pub(super) fn call_path(inner: &Inner, tool: &ToolEntry, call: &ToolCall) -> CallPath {
    let is_plain =
        inner.is_plain && call.extensions.is_none() && call.origin.is_none() && !call.is_truncated;
    match tool.invoke() {
        Invoke::Sync(invoke) if is_plain => CallPath::Sync(invoke),
        Invoke::Sync(invoke) if inner.is_plain && is_alone(call) => CallPath::SyncInRun(invoke),
        Invoke::Async(invoke) if is_plain && inner.policy.timeout_of(tool).is_none() => {
            CallPath::Async(invoke)
        }
        _ => CallPath::Full,
    }
}

/// Runs a sync tool. Not an async function, because the state of a future is moved around.
pub(super) fn run_sync(
    inner: Arc<Inner>,
    tool: ToolEntry,
    invoke: SyncFn,
    call: ToolCall,
) -> ToolResult {
    let telemetry = Telemetry::new(&call, Some(&tool), &inner.policy.telemetry);
    let mut input = input(inner, &tool, call, 0);
    let outcome = telemetry.run(|| {
        one_deeper(|depth| {
            input.set_depth(depth);
            invoke_sync(invoke, &input)
        })
    });
    let coercions = input.finish();
    let result = to_result(input.take_head(), coercions, outcome, Some(&tool));
    telemetry.finish(&result);
    result
}

/// Returns `true` if nothing decides on the call before it runs, and no other call made it.
fn is_alone(call: &ToolCall) -> bool {
    let is_alone = |extensions: &CallExtensions| {
        extensions.parent.is_none()
            && extensions.starts.is_empty()
            && extensions.decided.iter().next().is_none()
    };
    !call.is_truncated
        && call.approvals().is_empty()
        && call.server().is_none()
        && call.extensions.as_deref().is_none_or(is_alone)
}

/// Runs a sync tool whose call is one of a conversation.
pub(super) fn run_sync_in_run(
    inner: Arc<Inner>,
    tool: ToolEntry,
    invoke: SyncFn,
    call: ToolCall,
) -> ToolResult {
    let telemetry = Telemetry::new(&call, Some(&tool), &inner.policy.telemetry);
    let extensions = call.extensions.as_deref();
    let token = extensions.and_then(|extensions| extensions.cancellation.as_ref());
    let is_cancelled = token.is_some_and(CancellationToken::is_cancelled);
    let origin = call.origin.clone();
    let mut input = input(inner, &tool, call, 0);
    let (head, outcome, coercions) = telemetry.run(|| {
        let outcome = if is_cancelled {
            Err(CallFailure::Cancelled)
        } else {
            one_deeper(|depth| {
                input.set_depth(depth);
                invoke_sync(invoke, &input)
            })
        };
        let coercions = input.finish();
        let head = input.take_head();
        // The application's attached values may panic.
        match catch(|| drop(input)) {
            Ok(()) => (head, outcome, coercions),
            Err(panic) => (head, Err(CallFailure::Panicked(panic)), Vec::new()),
        }
    });
    let result = to_result(head, coercions, outcome, Some(&tool)).with_origin(origin);
    telemetry.finish(&result);
    result
}

/// Runs an async tool.
pub(super) fn run_async(
    inner: Arc<Inner>,
    tool: ToolEntry,
    invoke: AsyncFn,
    call: ToolCall,
) -> impl Future<Output = ToolResult> + Send + use<> {
    let telemetry = Telemetry::new(&call, Some(&tool), &inner.policy.telemetry);
    let depth = depth() + 1;
    CallFuture::new(depth, telemetry.scope(), async move {
        let mut input = input(inner, &tool, call, depth);
        let outcome = invoke_async(invoke, &input).await;
        let coercions = input.finish();
        let result = to_result(input.take_head(), coercions, outcome, Some(&tool));
        telemetry.finish(&result);
        result
    })
}

/// Runs a tool of any kind with everything that surrounds it.
pub(super) fn run_full(
    inner: Arc<Inner>,
    tool: ToolEntry,
    call: ToolCall,
) -> impl Future<Output = ToolResult> + Send + use<> {
    let telemetry = Telemetry::new(&call, Some(&tool), &inner.policy.telemetry);
    let timer = Timer::start(inner.policy.observers.as_ref(), &tool);
    let parent = call.extensions.as_ref();
    let parent = parent.and_then(|extensions| extensions.parent.as_ref());
    let depth = parent.map_or(0, |parent| parent.depth).max(depth()) + 1;
    CallFuture::new(depth, telemetry.scope(), async move {
        let head = call.head();
        let scope = telemetry.scope();
        let running = run_with_hooks(&inner, tool, call, &head, scope, depth);
        // The runtime is code of the application too.
        let result = Caught::new(pin!(running)).await;
        let result = result.unwrap_or_else(|panic| {
            let failure = Err(CallFailure::Panicked(panic));
            let failed = to_result(head.call, Vec::new(), failure, None);
            without_hooks(&inner.policy, failed.with_origin(head.origin))
        });
        if let Some(timer) = timer {
            timer.finish(&result);
        }
        telemetry.finish(&result);
        result
    })
}

/// Validates a call of a tool without running it. Returns the arguments as the tool would get them.
pub(super) fn validate_call(
    inner: &Arc<Inner>,
    tool: &ToolEntry,
    call: ToolCall,
) -> Result<String, Box<ToolError>> {
    let failure = if call.is_truncated {
        CallFailure::Arguments(ArgumentError::Malformed(TRUNCATED.into()))
    } else {
        let mut input = input(Arc::clone(inner), tool, call, 1);
        // Context values may be missing: the call runs later, or elsewhere.
        let failure = match dry_run(tool, &mut input) {
            Ok(()) | Err(CallFailure::Arguments(ArgumentError::MissingContext(_))) => {
                return Ok(input.take_normalised_text());
            }
            Err(failure) => failure,
        };
        input.finish();
        failure
    };
    Err(to_error(&tool.name, failure, Some(tool)))
}

/// Answers a call of a tool that does not exist.
#[cold]
pub(super) fn unknown_tool(inner: &Inner, call: ToolCall, snapshot: &Snapshot) -> ToolResult {
    let error = snapshot.unknown_tool(&call.name);
    not_run(inner, call, error)
}

/// Answers a call of a tool that the provider runs, with the decision on it.
#[cold]
pub(super) fn hosted(inner: &Inner, call: ToolCall) -> ToolResult {
    const APPROVED: &str = "approved";
    let telemetry = Telemetry::new(&call, None, &inner.policy.telemetry);
    let outcome = match decide_hosted(&call) {
        Ok(()) => Ok((APPROVED.to_owned(), false)),
        Err(failure) => Err(to_error(&call.name, failure, None)),
    };
    let head = call.head();
    let result = ToolResult::from_output(head.call, outcome, Vec::new()).with_origin(head.origin);
    let result = without_hooks(&inner.policy, result);
    telemetry.finish(&result);
    result
}

/// Checks that a call that the provider runs is approved as it is.
fn decide_hosted(call: &ToolCall) -> Result<(), CallFailure> {
    let denied = |reason: &str| Err(CallFailure::Denied(reason.to_owned()));
    let (Some(server), [_, ..]) = (call.server(), call.approvals()) else {
        return denied("the provider runs it and asked for no approval");
    };
    if call.is_truncated {
        let error = ArgumentError::Malformed(TRUNCATED.into());
        return Err(CallFailure::Arguments(error));
    }
    if call
        .cancellation()
        .is_some_and(CancellationToken::is_cancelled)
    {
        return Err(CallFailure::Cancelled);
    }
    let extensions = call.extensions.as_deref();
    // They are asked about tools of the registry.
    if extensions.is_some_and(|own| !own.starts.is_empty()) {
        return denied("a check before its start can't be made, because the provider runs it");
    }
    let none = Decided::default();
    let decided = extensions.map_or(&none, |own| &own.decided);
    match decided.other_than_allow() {
        Some(Decision::Deny(reason)) => return denied(reason),
        Some(_) => {
            return denied("the provider runs it, so that it can only be allowed or denied");
        }
        None => {}
    }
    for (number, request) in (1..).zip(call.approvals()) {
        let hosted =
            Hosted::new(server, &call.name, &call.arguments).map_err(CallFailure::Denied)?;
        let hold = Hold::of_hosted(hosted, number, request);
        if !decided.allows(&hold, None) {
            return Err(CallFailure::Held(Box::new(hold)));
        }
    }
    Ok(())
}

/// Answers a call that does not run.
pub(super) fn not_run(inner: &Inner, call: ToolCall, error: ToolError) -> ToolResult {
    let telemetry = Telemetry::new(&call, None, &inner.policy.telemetry);
    let result = ToolResult::of_error(call.head(), error);
    let result = without_hooks(&inner.policy, result);
    telemetry.finish(&result);
    result
}

/// Creates the input of the tool's function.
#[inline]
fn input(inner: Arc<Inner>, tool: &ToolEntry, call: ToolCall, depth: u32) -> Input {
    // Before the rest is put together, which then is moved only once.
    let options = Options {
        is_lenient: inner.policy.is_lenient,
        is_rounded: call.arguments.is_rounded(),
    };
    let text = call.arguments.into_text_with(|text| freeform(tool, text));
    let head = CallHead {
        id: call.id,
        name: call.name,
        wire_id: call.wire_id,
        is_wrapped: call.is_wrapped,
    };
    let mut extensions = call.extensions;
    if let Some(position) = call
        .origin
        .as_ref()
        .and_then(|origin| origin.position.as_ref())
    {
        extensions.get_or_insert_default().nesting = Some(Nesting::of(position));
    }
    let context = CallContext::new(head, extensions, inner, depth);
    Input::new(
        tool.properties(),
        tool.receiver().cloned(),
        context,
        text,
        options,
    )
}

/// Returns the JSON text of free-form arguments.
#[cold]
fn freeform(tool: &ToolEntry, text: String) -> String {
    match tool.freeform() {
        Some(freeform) => freeform.arguments(&text),
        None => text,
    }
}

/// Converts free-form arguments to JSON.
fn as_json(tool: &ToolEntry, arguments: Arguments) -> Arguments {
    match arguments {
        Arguments::Freeform(text) => Arguments::Text(freeform(tool, text)),
        other => other,
    }
}

/// Runs a sync tool, at its depth.
#[inline]
fn invoke_sync(invoke: SyncFn, input: &Input) -> CallOutcome {
    if input.depth() > MAX_DEPTH {
        return too_deep();
    }
    // Not `catch`, which would move the outcome once more.
    match catch_unwind(AssertUnwindSafe(|| invoke(input))) {
        Ok(outcome) => outcome.map_err(CallFailure::Arguments),
        Err(payload) => Err(CallFailure::Panicked(panic_text(payload))),
    }
}

async fn invoke_async(invoke: AsyncFn, input: &Input) -> CallOutcome {
    if input.depth() > MAX_DEPTH {
        return too_deep();
    }
    match catch(|| invoke(input)) {
        Ok(Ok(running)) => {
            let outcome = Caught::new(running).await;
            outcome.map_err(CallFailure::Panicked)
        }
        Ok(Err(error)) => Err(CallFailure::Arguments(error)),
        Err(panic) => Err(CallFailure::Panicked(panic)),
    }
}

#[cold]
fn too_deep() -> CallOutcome {
    Err(CallFailure::Unavailable(format!(
        "calls are nested deeper than {MAX_DEPTH} levels; a tool that calls tools must end"
    )))
}

#[inline]
fn to_result(
    head: CallHead,
    coercions: Vec<Coercion>,
    outcome: CallOutcome,
    tool: Option<&ToolEntry>,
) -> ToolResult {
    match outcome {
        Ok(outcome) => ToolResult::of_outcome(head, outcome, coercions),
        Err(failure) => {
            let error = to_error(&head.name, failure, tool);
            ToolResult::from_output(head, Err(error), coercions)
        }
    }
}

/// Boxes the error here, so that a successful call reserves no space for it.
#[cold]
#[allow(clippy::unnecessary_box_returns)]
fn to_error(tool: &str, failure: CallFailure, entry: Option<&ToolEntry>) -> Box<ToolError> {
    // A caller that uses another name for the tool, such as the original one, may use other keys too.
    let entry = entry.filter(|entry| entry.name == tool);
    let example = || entry.and_then(|entry| entry.offered_example());
    Box::new(match failure {
        CallFailure::Arguments(ArgumentError::Malformed(problem)) => {
            let mut error = ToolError::malformed_json(tool, &problem);
            // Arguments that the response cut off may have fitted.
            error.offer(example().filter(|_| problem != TRUNCATED));
            error
        }
        CallFailure::Arguments(ArgumentError::Invalid(invalid)) => {
            let mut error = ToolError::invalid_arguments(tool, invalid.0);
            error.offer(example());
            error
        }
        CallFailure::Arguments(ArgumentError::MissingContext(ty)) => {
            let detail = format!(
                "the call has no context value of type {ty}; add one with `ToolCall::with`"
            );
            ToolError::unavailable(tool, detail)
        }
        CallFailure::Arguments(ArgumentError::DryRun) => {
            ToolError::unavailable(tool, "the call was validated and not run".into())
        }
        CallFailure::Panicked(panic) => ToolError::panicked(tool, panic),
        CallFailure::TimedOut(Timeout {
            after,
            may_retry,
            may_continue,
        }) => ToolError::timed_out(tool, after, may_retry, may_continue),
        CallFailure::Cancelled => ToolError::cancelled(tool),
        CallFailure::Denied(reason) => ToolError::denied(tool, &reason),
        CallFailure::Held(hold) => ToolError::of_hold(*hold),
        CallFailure::Unavailable(detail) => ToolError::unavailable(tool, detail),
    })
}

/// Runs a call until it ends or is cancelled, then the `after` hooks.
async fn run_with_hooks(
    inner: &Arc<Inner>,
    tool: ToolEntry,
    mut call: ToolCall,
    head: &ResultHead,
    scope: Scope,
    depth: u32,
) -> ToolResult {
    call.arguments = as_json(&tool, call.arguments);
    let limit = TextLimit::of(&inner.policy, &tool, &call);
    let extensions = call.extensions.as_ref();
    let token = extensions.and_then(|extensions| extensions.cancellation.clone());
    let policy = &inner.policy;
    let has_hooks =
        !(policy.before.is_empty() && policy.after.is_empty() && call.approvals().is_empty());
    let mut hook_call = has_hooks.then(|| HookCall {
        tool: tool.clone(),
        // The arguments follow once they are valid. Only `after` hooks see others.
        call: if policy.after.is_empty() {
            call.without_arguments()
        } else {
            call.clone()
        },
        host: Arc::clone(inner) as Arc<dyn Host>,
    });
    let with_examples = tool.has_examples().then(|| tool.clone());
    let running = run_gated(inner, tool, call, &mut hook_call, scope, depth);
    let (outcome, coercions) = match token {
        Some(token) => until_cancelled(&token, running).await,
        None => running.await,
    };
    let result = to_result(
        head.call.clone(),
        coercions,
        outcome,
        with_examples.as_ref(),
    );
    let mut result = result.with_origin(head.origin.clone());
    map_message(policy, &mut result);
    for (hook, hook_call) in policy.after.iter().zip(hook_call.iter().cycle()) {
        let coercions = std::mem::take(&mut result.coercions);
        // A hook that panics loses the result.
        let replaced = result.error_mut().map(ToolError::replaced);
        result = match run_hook(|| hook(hook_call.clone(), result)).await {
            // The hook may return the result of another call.
            Ok(result) => result.with_head(head.clone()),
            Err(panic) => {
                let failure = CallFailure::Panicked(panic);
                let failed = to_result(head.call.clone(), Vec::new(), Err(failure), None);
                let mut failed = failed.with_origin(head.origin.clone());
                if let (Some(error), Some(replaced)) = (failed.error_mut(), replaced) {
                    error.set_replaced(replaced);
                }
                map_message(policy, &mut failed);
                failed
            }
        };
        result.coercions.extend(coercions);
    }
    // After the hooks, so that a hook that redacts something sees the whole text.
    limit_media(policy, &mut result);
    match limit {
        TextLimit::None => {}
        TextLimit::Truncate(cap) => result.truncate(cap),
        TextLimit::Keep(cap, scope) => {
            let is_kept = match policy.context.get::<Spill>() {
                Some(spill) => keep(&*spill.store, &scope, &mut result, cap).await,
                None => false,
            };
            if !is_kept {
                result.truncate(cap);
            }
        }
    }
    result
}

/// What happens to a text that is too long for a model.
enum TextLimit {
    None,
    Truncate(usize),
    /// It is kept in the registry's store.
    Keep(usize, ResultScope),
}

impl TextLimit {
    fn of(policy: &Policy, tool: &ToolEntry, call: &ToolCall) -> TextLimit {
        let Some(cap) = policy.output_cap else {
            return TextLimit::None;
        };
        if policy.context.get::<Spill>().is_none() {
            return TextLimit::Truncate(cap);
        }
        // It limits itself, and adds a note.
        if is_read_result(tool) {
            return TextLimit::Truncate(cap.saturating_add(NOTE));
        }
        let extensions = call.extensions.as_deref();
        // A tool reads the result, not a model.
        if extensions.is_some_and(|own| own.parent.is_some()) {
            return TextLimit::None;
        }
        match get_value::<ResultScope>(extensions, &policy.context) {
            Some(scope) => TextLimit::Keep(cap, scope.clone()),
            None => TextLimit::Truncate(cap),
        }
    }
}

/// Stores the text of a result if it is too long, and leaves its start in the result. Returns `false` if it did not.
async fn keep(
    store: &dyn ResultStore,
    scope: &ResultScope,
    result: &mut ToolResult,
    cap: usize,
) -> bool {
    let Some(text) = result.text_beyond(cap) else {
        return false;
    };
    let handle = new_handle(result.has_secrets());
    let page = Page::of(&text, 0, None, cap, &handle);
    let bytes = text.len();
    let problem = match run_hook(|| store.put(scope, &handle, text)).await {
        Ok(Ok(())) => {
            result.keep_start(&page, handle, bytes);
            return true;
        }
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    let tool = result.name();
    telemetry::noted(&format!(
        "the result of {tool} is truncated, because it could not be kept: {problem}"
    ));
    false
}

/// Runs a hook and catches its panics.
async fn run_hook<T>(hook: impl FnOnce() -> BoxFuture<T>) -> Result<T, String> {
    Caught::new(catch(hook)?).await
}

/// Runs a call until it ends or its token is cancelled. Does not start it if the token already is.
async fn until_cancelled(
    token: &CancellationToken,
    running: impl Future<Output = Finished>,
) -> Finished {
    if token.is_cancelled() {
        return fail(CallFailure::Cancelled);
    }
    let cancelled = async {
        token.cancelled().await;
        fail(CallFailure::Cancelled)
    };
    // The token is polled first, because a tool that ends early on cancellation has not done its work.
    either(pin!(cancelled), pin!(running)).await
}

/// Validates the call, runs the `before` hooks, waits for a permit and runs the tool. Updates `hook_call`
/// to the call that the tool gets.
async fn run_gated(
    inner: &Arc<Inner>,
    tool: ToolEntry,
    mut call: ToolCall,
    hook_call: &mut Option<HookCall>,
    scope: Scope,
    depth: u32,
) -> Finished {
    let policy = &inner.policy;
    if depth > MAX_DEPTH {
        return (too_deep(), Vec::new());
    }
    if call.is_truncated {
        let error = ArgumentError::Malformed(TRUNCATED.into());
        return fail(CallFailure::Arguments(error));
    }
    let mut parent = None;
    let mut decided = Decided::default();
    let mut is_changed = false;
    let mut starts = Vec::new();
    if let Some(extensions) = &mut call.extensions {
        starts.clone_from(&extensions.starts);
        parent.clone_from(&extensions.parent);
        decided.clone_from(&extensions.decided);
        match decided.other_than_allow() {
            Some(Decision::Deny(reason)) => return fail(CallFailure::Denied(reason.clone())),
            Some(Decision::Answer(answer)) => {
                let outcome = tool.validate_answer(answer.clone().into_outcome());
                return (Ok(outcome), Vec::new());
            }
            Some(Decision::Change(arguments)) => {
                call.arguments = as_json(&tool, arguments.clone());
                is_changed = true;
            }
            Some(Decision::Allow) | None => {}
        }
    }
    let mut input = input(Arc::clone(inner), &tool, call, depth);
    if hook_call.is_some() {
        let decided = (&decided, is_changed);
        let outcome = run_before_hooks(policy, &tool, &mut input, hook_call, decided).await;
        if let Err(outcome) = outcome {
            return (outcome, input.finish());
        }
    }
    // Held until the tool ends, by the thread of a blocking tool too.
    let permit = Permit::acquire(policy, parent.as_ref(), !tool.has_context()).await;
    if let Some(permit) = permit.for_nested() {
        input.set_permit(permit);
    }
    let is_nested = parent.is_some();
    let refused = match check_start(&starts, &tool, is_nested).await {
        Ok(Ok(())) => None,
        Ok(Err(reason)) => Some(CallFailure::Denied(reason)),
        Err(panic) => Some(CallFailure::Panicked(panic)),
    };
    if let Some(refused) = refused {
        return (Err(refused), input.finish());
    }
    let timeout = policy
        .timeout_of(&tool)
        .map(|after| Timeout::of(&tool, after));
    match tool.invoke() {
        Invoke::Sync(invoke) => {
            let outcome = invoke_sync(invoke, &input);
            (outcome, input.finish())
        }
        Invoke::Async(invoke) => {
            let runtime = policy.runtime.as_deref();
            let outcome = with_timeout(runtime, timeout, invoke_async(invoke, &input)).await;
            let coercions = if matches!(outcome, Err(CallFailure::TimedOut(_))) {
                Vec::new()
            } else {
                input.finish()
            };
            (outcome, coercions)
        }
        Invoke::Blocking(invoke) => {
            let job = BlockingJob {
                invoke,
                input,
                permit,
                scope,
            };
            run_blocking(policy, timeout, job).await
        }
    }
}

/// Validates the call and runs the `before` hooks. Returns an error with the outcome if the tool must
/// not run. The last hook takes the call.
async fn run_before_hooks(
    policy: &Policy,
    tool: &ToolEntry,
    input: &mut Input,
    hook_call: &mut Option<HookCall>,
    (decided, is_changed): (&Decided, bool),
) -> Result<(), CallOutcome> {
    // First, so that nobody is asked to approve a call that can't run.
    validate(tool, input, hook_call)?;
    let changed = is_changed.then(|| input.normalised_text().to_owned());
    let mut holds = 0;
    let mut check_hold = |input: &Input, reason, is_confirmation, request: Option<_>| {
        holds += 1;
        let arguments = input.normalised_text();
        let kind = (holds, is_confirmation);
        let mut hold = Hold::new(&tool.name, tool.properties(), arguments, reason, kind);
        if let Some(request) = request {
            hold = hold.with_approval(request);
        }
        if decided.allows(&hold, changed.as_deref()) {
            return Ok(());
        }
        Err(Err(CallFailure::Held(Box::new(hold))))
    };
    let approvals = hook_call
        .iter()
        .flat_map(|hook_call| hook_call.call.approvals());
    for request in approvals {
        let reason = request.reason().to_owned();
        check_hold(input, reason, false, Some(request.clone()))?;
    }
    for (number, hook) in (1..).zip(&policy.before) {
        let is_last = number == policy.before.len() && policy.after.is_empty();
        let given = if is_last {
            hook_call.take()
        } else {
            hook_call.clone()
        };
        let Some(given) = given else { break };
        match run_hook(|| hook(given)).await {
            Ok(Gate::Allow) => {}
            Ok(Gate::Deny(reason)) => return Err(Err(CallFailure::Denied(reason))),
            Ok(Gate::Change(arguments)) => {
                input.set_arguments(as_json(tool, arguments));
                validate(tool, input, hook_call)?;
            }
            Ok(Gate::Answer(answer)) => {
                return Err(Ok(tool.validate_answer(answer.into_outcome())));
            }
            Ok(Gate::Hold(reason)) => check_hold(input, reason, false, None)?,
            Ok(Gate::Confirm(reason)) => check_hold(input, reason, true, None)?,
            Err(panic) => return Err(Err(CallFailure::Panicked(panic))),
        }
    }
    Ok(())
}

/// Validates a call without running it, and shows hooks the arguments that the tool will get.
fn validate(
    tool: &ToolEntry,
    input: &mut Input,
    hook_call: &mut Option<HookCall>,
) -> Result<(), CallOutcome> {
    dry_run(tool, input).map_err(Err)?;
    if let Some(hook_call) = hook_call {
        hook_call.call.arguments = Arguments::Text(input.normalised_text().to_owned());
    }
    Ok(())
}

/// Decodes the arguments of a call without running it.
fn dry_run(tool: &ToolEntry, input: &mut Input) -> Result<(), CallFailure> {
    // Decoding runs code of the parameters' types.
    let validated = catch(|| {
        input.validate(tool, |input| match tool.invoke() {
            Invoke::Sync(invoke) | Invoke::Blocking(invoke) => invoke(input).err(),
            Invoke::Async(invoke) => invoke(input).err(),
        })
    });
    match validated {
        Ok(validated) => validated.map_err(CallFailure::Arguments),
        Err(panic) => Err(CallFailure::Panicked(panic)),
    }
}

/// The timeout of a call.
#[derive(Clone, Copy)]
struct Timeout {
    after: Duration,
    /// `true` if repeating the call does no harm.
    may_retry: bool,
    /// `true` if the tool can't be stopped.
    may_continue: bool,
}

impl Timeout {
    fn of(tool: &ToolEntry, after: Duration) -> Timeout {
        Timeout {
            after,
            may_retry: tool.is_repeatable(),
            may_continue: matches!(tool.invoke(), Invoke::Blocking(_)),
        }
    }
}

async fn with_timeout(
    runtime: Option<&dyn Runtime>,
    timeout: Option<Timeout>,
    running: impl Future<Output = CallOutcome>,
) -> CallOutcome {
    let Some(timeout) = timeout else {
        return running.await;
    };
    let sleep = runtime
        .ok_or(NoRuntime)
        .and_then(|runtime| runtime.sleep(timeout.after));
    let sleep = match sleep {
        Ok(sleep) => Caught::new(sleep),
        Err(error) => return Err(CallFailure::Unavailable(error.to_string())),
    };
    let timed_out = async {
        Err(match sleep.await {
            Ok(()) => CallFailure::TimedOut(timeout),
            Err(panic) => CallFailure::Panicked(panic),
        })
    };
    either(pin!(running), pin!(timed_out)).await
}

/// A blocking tool to run on another thread.
struct BlockingJob {
    invoke: SyncFn,
    input: Input,
    permit: Permit,
    scope: Scope,
}

/// Runs a tool on a thread that may block. After a timeout the thread keeps running, and the tool learns of
/// it only from the token of its context.
async fn run_blocking(policy: &Policy, timeout: Option<Timeout>, job: BlockingJob) -> Finished {
    /// Cancels a token when dropped, unless disarmed.
    struct CancelOnDrop {
        token: CancellationToken,
        is_armed: bool,
    }

    impl Drop for CancelOnDrop {
        fn drop(&mut self) {
            if self.is_armed {
                self.token.cancel();
            }
        }
    }

    let Some(runtime) = policy.runtime.as_deref() else {
        return fail(CallFailure::Unavailable(NoRuntime.to_string()));
    };
    let mut guard = CancelOnDrop {
        token: job.input.cancellation().clone(),
        is_armed: true,
    };
    let slot: Arc<Mutex<Option<Finished>>> = Arc::default();
    let thread_slot = Arc::clone(&slot);
    let started = runtime.spawn_blocking(Box::new(move || {
        let BlockingJob {
            invoke,
            mut input,
            permit: _permit,
            scope,
        } = job;
        // The call may have ended while this job was queued.
        if input.cancellation().is_cancelled() {
            return;
        }
        let outcome = at_depth(input.depth(), || scope.run(|| invoke_sync(invoke, &input)));
        let coercions = input.finish();
        *thread_slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((outcome, coercions));
    }));
    let finished = match started {
        Ok(finished) => Caught::new(finished),
        Err(error) => return fail(CallFailure::Unavailable(error.to_string())),
    };
    let mut coercions = Vec::new();
    let waiting = async {
        if let Err(panic) = finished.await {
            return Err(CallFailure::Panicked(panic));
        }
        match slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((outcome, thread_coercions)) => {
                coercions = thread_coercions;
                outcome
            }
            // The runtime shut down, or the call ended before the job started.
            None => Err(CallFailure::Cancelled),
        }
    };
    let outcome = with_timeout(Some(runtime), timeout, waiting).await;
    guard.is_armed = matches!(outcome, Err(CallFailure::TimedOut(_)));
    (outcome, coercions)
}

/// Applies the registry's policy to a failure that no `after` hook sees.
#[cold]
fn without_hooks(policy: &Policy, mut result: ToolResult) -> ToolResult {
    map_message(policy, &mut result);
    limit_media(policy, &mut result);
    if let Some(cap) = policy.output_cap {
        result.truncate(cap);
    }
    result
}

/// Replaces the message of an error, if the application asks for it.
fn map_message(policy: &Policy, result: &mut ToolResult) {
    let (Some(map_error), Some(error)) = (&policy.map_error, result.error_mut()) else {
        return;
    };
    // If the closure panics, the model sees the original message.
    if let Ok(Some(text)) = catch(|| map_error(error)) {
        error.map_message(text);
    }
}

/// Limits the media that the model gets.
fn limit_media(policy: &Policy, result: &mut ToolResult) {
    if let Some(cap) = policy.media_cap {
        result.limit_media(cap);
    }
}
