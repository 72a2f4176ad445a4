//! Calls a tool of a server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomResult, GetMeta, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};
use tool_core::call::{TraceContext, Transient};
use tool_core::{AnyOutput, CallContext};

use super::link::Link;
use super::live::Live;
use super::request::{Effect, RequestError, describe, effect, send, text};
use super::rounds::{Answers, CallError, MAX_ROUNDS, REQUIRED, Required, Task, Unfinished, answer};
use super::shared::Shared;
use super::tasks;
use super::transport::{Request, Waiting};
use crate::gateway::{HOPS, Hops};

/// The key of the least serious message that a server of version 2026-07-28 logs for a request, in its metadata.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A tool of a server, as its calls need it.
pub(super) struct Target {
    pub(super) shared: Arc<Shared>,
    /// The name that the server knows.
    pub(super) name: String,
    pub(super) has_output_schema: bool,
    /// `true` if a trusted server says that repeating a call does no harm.
    pub(super) is_repeatable: bool,
}

/// Calls the tool. Runs on the runtime of the import, whatever thread the call is made on.
pub(super) async fn call(
    target: Arc<Target>,
    arguments: Value,
    context: CallContext,
) -> Result<AnyOutput, CallError> {
    let runtime = target.shared.runtime.clone();
    // Here, inside the span of the call.
    let trace = target.shared.settings.tracer.current(&context);
    let task = runtime.spawn(async move { run(&target, arguments, context, trace).await });
    let mut task = AbortOnDrop(task);
    match (&mut task.0).await {
        Ok(result) => result,
        Err(_) => Err("the runtime of the import has stopped".into()),
    }
}

/// Ends a task together with the future that waits for it.
pub(crate) struct AbortOnDrop<T>(pub(crate) tokio::task::JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(
    target: &Target,
    arguments: Value,
    context: CallContext,
    trace: Option<TraceContext>,
) -> Result<AnyOutput, CallError> {
    let shared = &target.shared;
    let live = match shared.link() {
        Link::Up(live) => live,
        Link::Away { reason, restarts } => {
            return Err(away(&shared.settings.name, &reason, restarts));
        }
        Link::Closed => return Err("the server of this tool was removed".into()),
    };
    let token = context.cancellation().clone();
    tokio::select! {
        result = complete(target, &live, arguments, context, trace) => result,
        () = token.cancelled() => Err("the call was cancelled".into()),
    }
}

fn away(server: &str, reason: &str, restarts: bool) -> CallError {
    let text = format!("the call was not sent: the server {server} of this tool is away: {reason}");
    if restarts {
        Transient::new(format!("{text}; it is being restarted")).into()
    } else {
        format!("{text}; it is not restarted").into()
    }
}

/// Calls until there is a result, answering what the server asks.
async fn complete(
    target: &Target,
    live: &Live,
    arguments: Value,
    context: CallContext,
    trace: Option<TraceContext>,
) -> Result<AnyOutput, CallError> {
    let shared = &target.shared;
    let mut params = CallToolRequestParams::new(target.name.clone());
    params.arguments = match arguments {
        Value::Object(members) => Some(members),
        _ => Some(Map::new()),
    };
    let request = |answers: Answers| {
        let mut params = params.clone();
        params.input_responses = answers.responses;
        params.request_state = answers.state;
        ClientRequest::CallToolRequest(CallToolRequest::new(params))
    };
    let ended = until_result(shared, live, &context, trace, request).await;
    let (result, carried) = ended.map_err(|unfinished| match unfinished {
        Unfinished::Failed(error) => failure(target, &error),
        Unfinished::Task(problem) => unknown_effect(target, &of_task(&problem)),
        Unfinished::Other(error) => error,
    })?;
    match result {
        ServerResult::CallToolResult(result) => output(target, json!(result), &carried),
        // Results without content.
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
            output(target, json!({}), &carried)
        }
        // Parts that `rmcp` can't read are replaced by notes.
        ServerResult::CustomResult(result) => output(target, result.0, &carried),
        _ => Err(text(&shared.secrets, "the server answered with another result").into()),
    }
}

/// Makes a request of a call until there is a result, and answers the server's questions.
pub(super) async fn until_result(
    shared: &Arc<Shared>,
    live: &Live,
    context: &CallContext,
    trace: Option<TraceContext>,
    request: impl Fn(Answers) -> ClientRequest,
) -> Result<(ServerResult, Arc<Request>), Unfinished> {
    let limit = shared.settings.call_timeout;
    let passes_on = shared.settings.answerer.passes_on();
    let mut answers = Answers::default();
    let mut kept: Option<Required> = passes_on.then(|| context.kept(REQUIRED)).flatten();
    for round in kept.as_ref().map_or(0, |required| required.round)..MAX_ROUNDS {
        // A question that this call already answers does not make the server run it again.
        if let Some(mut required) = kept.take() {
            if let Some(task) = required.task.take() {
                let Required {
                    round, requests, ..
                } = required;
                return tasks::until_ended(shared, context, task, round, requests).await;
            }
            answers = answer(shared, context, required).await?;
            continue;
        }
        let (carried, events) = Request::new(Some(context.clone()));
        let mut request = request(std::mem::take(&mut answers));
        for (name, value) in trace.iter().flat_map(TraceContext::headers) {
            request.get_meta_mut().insert(name.to_owned(), value.into());
        }
        if let Some(level) = shared.settings.capabilities.log_level()
            && live.is_modern
        {
            let level = json!(level.to_wire());
            request.get_meta_mut().insert(LOG_LEVEL.to_owned(), level);
        }
        if shared.settings.gateway.is_some() {
            let hops = context.get::<Hops>().map_or(0, |hops| hops.0);
            let hops = (hops + 1).into();
            request.get_meta_mut().insert(HOPS.to_owned(), hops);
        }
        let result = send(live, request, carried.clone(), events, limit).await;
        if let Err(RequestError::NotSent | RequestError::Service(ServiceError::TransportClosed)) =
            &result
        {
            shared.wait_until_lost(live).await;
        }
        let mut result = match result.map_err(Unfinished::Failed)? {
            // Or a result that `rmcp` can't read.
            ServerResult::CustomResult(result) => result.0,
            result @ (ServerResult::InputRequiredResult(_) | ServerResult::CreateTaskResult(_)) => {
                json!(result)
            }
            result => return Ok((result, carried)),
        };
        if result["resultType"] == "task"
            && let Some(task) = Task::read(&result)
        {
            return tasks::until_ended(shared, context, task, round, Map::new()).await;
        }
        if result["resultType"] != "input_required" {
            let result = ServerResult::CustomResult(CustomResult::new(result));
            return Ok((result, carried));
        }
        let required = Required {
            round: round + 1,
            requests: match result["inputRequests"].take() {
                Value::Object(requests) => requests,
                _ => Map::new(),
            },
            state: result["requestState"].as_str().map(str::to_owned),
            task: None,
        };
        if required.requests.is_empty() {
            // The server asks to come again.
            tokio::time::sleep(Duration::from_millis(100 << round)).await;
        } else if passes_on {
            // The question may end this run of the call.
            context.keep(REQUIRED, &required);
        }
        let waiting = Waiting::new(vec![carried.clone()]);
        answers = answer(shared, context, required).await?;
        drop(waiting);
    }
    let problem = format!("the server asked {MAX_ROUNDS} times for input, without a result");
    Err(problem.into())
}

/// Added to a result that contained an invalid Unicode escape.
const REPAIRED: &str =
    "[The server sent what is no Unicode character; each of these is U+FFFD here.]";

fn output(target: &Target, mut result: Value, request: &Request) -> Result<AnyOutput, CallError> {
    if request.is_repaired.load(Ordering::Relaxed) {
        note(&mut result, REPAIRED);
    }
    AnyOutput::from_mcp(result, target.has_output_schema)
        .map_err(|error| text(&target.shared.secrets, &error).into())
}

/// Adds a note to a result, unless its only block is its structured value.
fn note(result: &mut Value, note: &str) {
    let is_structured = !result["structuredContent"].is_null();
    match result["content"].as_array_mut().map(Vec::as_mut_slice) {
        Some([block]) if block["type"] == "text" && !is_structured => {
            let text = block["text"].as_str().unwrap_or_default();
            if serde_json::from_str::<Map<String, Value>>(text).is_err() {
                block["text"] = format!("{text}\n{note}").into();
            }
        }
        Some(_) => {
            if let Some(blocks) = result["content"].as_array_mut() {
                blocks.push(json!({"type": "text", "text": note}));
            }
        }
        None => {}
    }
}

/// Words why a call has no result, and whether it may be repeated: if it was not sent, or if repeating does no harm.
fn failure(target: &Target, error: &RequestError) -> CallError {
    let shared = &target.shared;
    let text = describe(error, &shared.secrets);
    // Tools of several servers are called side by side.
    let text = match text.strip_prefix("the server ") {
        Some(rest) => format!("the server {} {rest}", shared.settings.name),
        None => text,
    };
    let restarts = shared.settings.backoff.is_some();
    let restarting = match error {
        RequestError::Service(ServiceError::TransportClosed) if restarts => {
            "; the server is being restarted"
        }
        _ => "",
    };
    match effect(error) {
        Effect::NotSent if matches!(error, RequestError::NotSent) => {
            away(&shared.settings.name, "the connection is lost", restarts)
        }
        Effect::NotSent => Transient::new(format!("the call was not sent: {text}")).into(),
        Effect::Answered => text.into(),
        Effect::Unknown => unknown_effect(target, &format!("{text}{restarting}")),
    }
}

/// Words why a call that the server may have got has no result.
fn unknown_effect(target: &Target, text: &str) -> CallError {
    if target.is_repeatable {
        let reason = "the call may be repeated: the server says that this does no harm";
        return Transient::new(format!("{text}; {reason}")).into();
    }
    let reason = "the call may have had an effect, so check before you repeat it";
    format!("{text}; {reason}").into()
}

/// Words what became of a task.
pub(super) fn of_task(problem: &str) -> String {
    format!("the server continued the call as a task, which {problem}")
}
