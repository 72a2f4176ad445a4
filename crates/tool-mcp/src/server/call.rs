//! One call: context, progress, cancellation, result.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    ErrorCode, InputRequiredResult, MetaObject, ProgressNotificationParam, ProgressToken,
    RequestMetaObject,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, Peer};
use serde_json::Value;
use tokio::sync::Notify;
use tool_core::call::{Arguments, Progress, TraceContext};
use tool_core::dialect::Dialect;
use tool_core::hooks::Hold;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult};
use tool_dialects::Mcp;

use super::admission::{Admission, Refused};
use super::approvals::{Found, HeldCall, InboxError, log};
use super::apps::has_apps;
use super::ask::{Asker, ToolElicitor};
use super::lines::RawArguments;
#[cfg(feature = "server-http")]
use super::lines::arguments_in;
use super::request::{Request, Token, UserId, is_modern};
use super::state::Binding;
use super::tasks::TaskPolicy;
use super::{Core, LOCAL};
#[cfg(feature = "client")]
use crate::gateway::MadeAgain;
use crate::lock;

/// An error that a tool returns to end its call with an error of the protocol, in place of a result that the
/// model reads.
///
/// ```
/// use tool_core::tool;
/// use tool_mcp::server::ProtocolError;
///
/// /// Reads a file.
/// #[tool]
/// fn read_file(path: &str) -> Result<String, ProtocolError> {
///     Err(ProtocolError::new(-32002, format!("{path} does not exist")))
/// }
/// # let _ = read_file;
/// ```
#[derive(Clone, Debug)]
pub struct ProtocolError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl ProtocolError {
    /// Creates an error with a code of JSON-RPC or MCP, such as -32602 for invalid parameters.
    pub fn new(code: i32, message: impl Into<String>) -> ProtocolError {
        ProtocolError {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data.
    pub fn data(mut self, data: Value) -> ProtocolError {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ProtocolError {}

/// The result of a call, or an error of the protocol.
pub(super) type Finished = Result<Box<CallToolResult>, ErrorData>;

/// The purpose of a function's call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Tool,
    Resource,
    Prompt,
}

impl Purpose {
    /// Returns the function's name in signed states and approvals. A tool and a resource with the same name
    /// differ here: no name has a space.
    fn bound_name(self, name: &str) -> Cow<'_, str> {
        match self {
            Purpose::Tool => name.into(),
            Purpose::Resource => format!("resource {name}").into(),
            Purpose::Prompt => format!("prompt {name}").into(),
        }
    }
}

impl Core {
    pub(super) async fn call(
        self: &Arc<Self>,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let registry = self.registry_of(&context);
        self.run(Purpose::Tool, registry, request, context).await
    }

    /// Calls a function of a registry.
    pub(super) async fn run(
        self: &Arc<Self>,
        purpose: Purpose,
        registry: Registry,
        mut request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Without apps, a client may be sending what a model wrote.
        let is_known = |tool: &ToolEntry| tool.is_for_models() || has_apps(&context);
        let mut is_of_app = false;
        #[cfg_attr(not(feature = "client"), expect(unused_mut))]
        let mut tool = registry.get(&request.name).filter(is_known);
        #[cfg(feature = "client")]
        if tool.is_none() && purpose == Purpose::Tool {
            tool = self.tool_of_app(&request.name, &registry, &context)?;
            is_of_app = tool.is_some();
        }
        let Some(tool) = tool else {
            return Err(unknown_tool(&registry, &request.name));
        };
        let asks = tool.has_context() || registry.has_before_hooks();
        let is_modern = is_modern(&context);
        let arguments = match (context.extensions.remove(), request.arguments.take()) {
            (Some(RawArguments(text)), _) => Arguments::from(text),
            #[cfg(feature = "server-http")]
            (None, Some(arguments)) if arguments.values().any(has_large_integer) => {
                match exact_arguments(&context) {
                    Some(text) => Arguments::from(text),
                    None => Arguments::from(arguments),
                }
            }
            (None, Some(arguments)) => Arguments::from(arguments),
            (None, None) => Arguments::from(""),
        };
        // A call that may end with a question is made again with equal arguments.
        let may_wait = asks && (is_modern || self.options.approvals.is_some());
        let bound = may_wait.then(|| arguments.clone());
        let call = ToolCall::new(context.id.to_string(), &*tool.name, arguments);
        // This comes before the application's closure, so that the closure may remove or replace the trace.
        let call = match trace_context(&context.meta) {
            Some(trace) => call.with(trace),
            None => call,
        };
        #[cfg(feature = "client")]
        let call = self.count_hops(call, &context)?;
        let seen = Request::new(&context);
        let call = self.identify(&seen, call)?;
        is_of_app |= !tool.is_for_models();
        let call = if is_of_app { call.from_app() } else { call };
        let user = call.get::<UserId>().cloned();
        let who = named(&call).map(UserId::as_str);
        let admission = Admission::new(self, who, call.get::<Token>());
        if let Some(admission) = &admission
            && let Err(refused) = ruled(&seen, admission.admit(&tool))
        {
            let text = ContentBlock::text(refused.message(&tool.name));
            return Ok(CallToolResponse::Complete(CallToolResult::error(vec![
                text,
            ])));
        }
        let call = match admission {
            Some(admission) => admission.guard(call),
            None => call,
        };
        // Only calls with hooks are held; others don't pay for the name.
        let is_local = self.options.identity.is_none() && !seen.is_http() && user.is_none();
        let call = if is_local && registry.has_before_hooks() {
            call.with(UserId::new(LOCAL))
        } else {
            call
        };
        let binding = |user: Option<&UserId>| {
            let user = user.map(UserId::as_str);
            Binding::new(&purpose.bound_name(&tool.name), bound.as_ref(), user)
        };
        let held = match (&self.options.approvals, named(&call)) {
            (Some(approvals), Some(user)) if asks => {
                let binding = binding(Some(user));
                Some(HeldCall::new(
                    approvals,
                    &registry,
                    user,
                    &purpose.bound_name(&tool.name),
                    &binding,
                    &self.key,
                ))
            }
            _ => None,
        };
        let binding = || binding(user.as_ref());
        let is_answered = is_modern && request.request_state.is_some();
        if purpose == Purpose::Tool && self.is_task(&tool, &context, is_answered)? {
            let answered = match request.request_state.filter(|_| is_answered) {
                Some(state) => Some((
                    self.states.open(&state, &binding())?,
                    request.input_responses,
                )),
                None => None,
            };
            let capabilities = context.client_capabilities();
            let started = self
                .tasks
                .start(registry, call, user, capabilities, held, answered);
            return started.await;
        }
        let progress = context.meta.get_progress_token().map(|token| {
            let reports = Arc::new(Reports::default());
            (reports, token)
        });
        let call = match &progress {
            Some((reports, _)) => {
                let reports = reports.clone();
                call.on_progress(move |progress| reports.push(progress))
            }
            None => call,
        };
        if !asks {
            let running = pin!(async {
                let result = registry.call(call).await;
                finished(result, None, purpose)
            });
            let result = until_end(running, progress, &context).await??;
            return Ok(CallToolResponse::Complete(*result));
        }
        let asker = Arc::new(Asker::new(&context, is_modern));
        #[cfg(feature = "client")]
        let call = if is_modern {
            call.with(MadeAgain)
        } else {
            call
        };
        if is_modern && let Some(state) = &request.request_state {
            let state = self.states.open(state, &binding())?;
            asker.resume(state, request.input_responses.take());
        }
        // Its future is large, and most tools neither ask nor have hooks.
        let running = Box::pin(async {
            tokio::select! {
                biased;
                finished = run_call(purpose, &registry, call, &asker, held.as_ref()) => Some(finished),
                () = asker.suspended() => None,
            }
        });
        match until_end(running, progress, &context).await? {
            Some(finished) => Ok(CallToolResponse::Complete(*finished?)),
            None => {
                if let Some(held) = &held {
                    held.suspend().await;
                }
                let (questions, state) = asker.take_questions();
                let state = self.states.seal(state, &binding())?;
                let result = InputRequiredResult::new(Some(questions), Some(state));
                Ok(CallToolResponse::InputRequired(result))
            }
        }
    }

    /// Attaches the application's values for the request to a call.
    pub(super) fn identify(
        &self,
        request: &Request<'_>,
        call: ToolCall,
    ) -> Result<ToolCall, ErrorData> {
        // The user of the token.
        #[cfg(feature = "server-http")]
        let call = match request.extension::<UserId>() {
            Some(user) => call.with(user.clone()),
            None => call,
        };
        #[cfg(feature = "server-http")]
        let call = match request.extension::<Token>() {
            Some(token) => call.with(token.clone()),
            None => call,
        };
        match &self.options.identity {
            Some(identity) => identity(request, call)
                .map_err(|refusal| ErrorData::invalid_request(refusal.0, None)),
            None => Ok(call),
        }
    }

    /// Returns the user of a request that is not a call.
    pub(super) fn user(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<UserId>, ErrorData> {
        let call = ToolCall::new(context.id.to_string(), "", "");
        let call = self.identify(&Request::new(context), call)?;
        Ok(call.get::<UserId>().cloned())
    }

    /// Returns the user of an HTTP request whose message is not read yet.
    #[cfg(feature = "server-http")]
    pub(super) fn http_user(
        &self,
        parts: &::http::request::Parts,
    ) -> Result<Option<UserId>, ErrorData> {
        let call = ToolCall::new("", "", "");
        let call = self.identify(&Request::of_http(parts), call)?;
        Ok(call.get::<UserId>().cloned())
    }

    /// Returns `true` if a call is a task from now on. `is_answered` is `true` if it is made again with answers.
    fn is_task(
        &self,
        tool: &ToolEntry,
        context: &RequestContext<RoleServer>,
        is_answered: bool,
    ) -> Result<bool, ErrorData> {
        let policy = match &self.options.policies {
            Some(policies) => policies(tool),
            None => TaskPolicy::Never,
        };
        if policy == TaskPolicy::Never || policy == TaskPolicy::AfterQuestions && !is_answered {
            return Ok(false);
        }
        let is_supported = context
            .client_capabilities()
            .is_some_and(|capabilities| capabilities.supports_tasks());
        if policy == TaskPolicy::Required && !is_supported {
            return Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_tasks().build(),
            ));
        }
        Ok(is_supported)
    }
}

/// Tells the HTTP response of a request whether its call is admitted.
pub(super) fn ruled(request: &Request<'_>, admitted: Result<(), Refused>) -> Result<(), Refused> {
    #[cfg(feature = "server-http")]
    if let Some(ruling) = request.extension::<super::http::Ruling>() {
        ruling.set(admitted.clone());
    }
    let _ = request;
    admitted
}

/// Returns the error for a call of a tool that a registry does not have.
fn unknown_tool(registry: &Registry, name: &str) -> ErrorData {
    // With the nearest name.
    let call = ToolCall::new("", name, "");
    let message = match registry.validate(&call) {
        Err(error) if error.kind() == ToolErrorKind::UnknownTool => error.message().to_owned(),
        _ => format!("unknown tool {name}"),
    };
    ErrorData::invalid_params(message, None)
}

/// Returns `true` for a value with an integer that does not fit into 64 bits, which `rmcp` reads as a float.
#[cfg(feature = "server-http")]
fn has_large_integer(value: &Value) -> bool {
    /// Two to the power of 63. Floats of this size are integers.
    const LARGE: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().is_some_and(|float| float.abs() >= LARGE)
        }
        Value::Array(items) => items.iter().any(has_large_integer),
        Value::Object(members) => members.values().any(has_large_integer),
        _ => false,
    }
}

/// Returns the arguments of a call as they are in the body of its HTTP request.
#[cfg(feature = "server-http")]
fn exact_arguments(context: &RequestContext<RoleServer>) -> Option<String> {
    let http = context.extensions.get::<::http::request::Parts>()?;
    arguments_in(http.extensions.get::<super::http::BodyText>()?.get()?)
}

/// Returns the trace of the client (2026-07-28, `basic`, and SEP-414: `traceparent`, `tracestate` and `baggage`
/// have no prefix).
fn trace_context(meta: &RequestMetaObject) -> Option<TraceContext> {
    let mut trace = TraceContext::new(meta.get_traceparent()?)?;
    if let Some(state) = meta.get_tracestate() {
        trace = trace.with_tracestate(state);
    }
    if let Some(baggage) = meta.get_baggage() {
        trace = trace.with_baggage(baggage);
    }
    Some(trace)
}

/// Returns the user of a call. An empty name is none.
pub(super) fn named(call: &ToolCall) -> Option<&UserId> {
    let user = call.get::<UserId>();
    user.filter(|user| !user.as_str().trim().is_empty())
}

/// Runs a call to its end. Asks its user whether to run it if a hook wants a confirmation, and looks for
/// another user's decision if a hook holds it. A caller never decides on a hold, and a user without a name
/// decides on nothing.
pub(super) async fn run_call(
    purpose: Purpose,
    registry: &Registry,
    call: ToolCall,
    asker: &Arc<Asker>,
    waiting: Option<&Arc<HeldCall>>,
) -> Finished {
    let mut call = call.elicit_with(Arc::new(ToolElicitor(asker.clone())));
    if let Some(waiting) = waiting {
        call = waiting.guard(call);
    }
    loop {
        // Only calls that hooks or their tools hold are made again.
        let again = (waiting.is_some() || registry.has_before_hooks()).then(|| call.clone());
        let result = registry.call(call).await;
        let hold = result.error().and_then(|error| error.hold()).cloned();
        let (Some(again), Some(hold)) = (again, hold) else {
            if let Some(waiting) = waiting {
                waiting.end().await;
            }
            return finished(result, Some(asker), purpose);
        };
        call = if hold.is_confirmation() {
            let Some(user) = named(&again).cloned() else {
                return finished(result, Some(asker), purpose);
            };
            match asker.decide(&hold).await {
                Ok(decision) => again.decided_by(hold, decision, user.as_str()),
                // The result says that the call waits for approval.
                Err(_) => return finished(result, Some(asker), purpose),
            }
        } else {
            let Some(waiting) = waiting else {
                return finished(result, Some(asker), purpose);
            };
            match find_decision(again, &hold, waiting, asker).await {
                Ok(call) => call,
                Err(result) => return Ok(result),
            }
        };
    }
}

/// Returns a call with the decision on its hold, for which a task waits. Without one, returns a result that says so.
async fn find_decision(
    call: ToolCall,
    hold: &Hold,
    waiting: &Arc<HeldCall>,
    asker: &Arc<Asker>,
) -> Result<ToolCall, Box<CallToolResult>> {
    loop {
        let id = match waiting.find(call.clone(), hold).await {
            Ok(Found::Decided(call)) => {
                if let Some(task) = asker.task() {
                    task.set_message(None);
                }
                return Ok(*call);
            }
            Ok(Found::Waiting(id)) => id,
            Err(error) => return Err(not_asked(hold, &error)),
        };
        let Some(task) = asker.task() else {
            let text = format!(
                "{} was not run: it waits for approval {id}: {}. Somebody else decides. Make the same call with the \
                 same arguments later to get the result.",
                hold.tool(),
                hold.reason()
            );
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            let mut meta = MetaObject::default();
            meta.insert(APPROVAL.into(), id.into());
            result.meta = Some(meta);
            return Err(Box::new(result));
        };
        task.set_message(Some(&format!("waits for approval {id}")));
        waiting.changed(&id).await;
    }
}

/// The key of the id of an approval in the metadata of a result.
const APPROVAL: &str = "tool-core/approval";

/// Returns the result of a held call that can't wait.
fn not_asked(hold: &Hold, error: &InboxError) -> Box<CallToolResult> {
    let problem = match error {
        InboxError::Full => "too many calls wait for approval",
        InboxError::Failed(_) => {
            log(error);
            "nobody can be asked for approval at the moment"
        }
    };
    let text = format!(
        "{} was not run: it needs approval: {}. But {problem}; try again later.",
        hold.tool(),
        hold.reason()
    );
    Box::new(CallToolResult::error(vec![ContentBlock::text(text)]))
}

/// Runs a call until it ends or is cancelled, and sends its progress. All reports are sent before this
/// returns. The caller pins the call, because a future that is moved in takes memory in each of the futures
/// around it once more.
pub(super) async fn until_end<T>(
    running: impl Future<Output = T> + Unpin,
    progress: Option<(Arc<Reports>, ProgressToken)>,
    context: &RequestContext<RoleServer>,
) -> Result<T, ErrorData> {
    let cancelled = context.ct.cancelled();
    // The client gets no response to a request that it has cancelled.
    let no_response = || Err(ErrorData::internal_error("cancelled", None));
    let Some((reports, token)) = progress else {
        return tokio::select! {
            biased;
            ended = running => Ok(ended),
            () = cancelled => no_response(),
        };
    };
    let mut pump = pin!(reports.send_to(&context.peer, &token));
    let ended = tokio::select! {
        biased;
        ended = running => ended,
        () = cancelled => return no_response(),
        () = &mut pump => unreachable!("reports are closed after the call"),
    };
    reports.close();
    pump.await;
    Ok(ended)
}

/// The most progress reports that wait to be sent. The newest replaces the last.
const WAITING: usize = 1024;

/// The progress reports of a call that are not sent yet.
#[derive(Default)]
pub(super) struct Reports {
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Progress>,
    /// The progress of the last report.
    done: Option<f64>,
    is_closed: bool,
}

impl Reports {
    fn push(&self, progress: &Progress) {
        let mut queue = lock(&self.queue);
        // The progress must increase (2026-07-28, `basic/utilities/progress`).
        let increases = queue.done.is_none_or(|done| progress.done > done);
        if !progress.done.is_finite() || !increases || queue.is_closed {
            return;
        }
        queue.done = Some(progress.done);
        if queue.waiting.len() == WAITING {
            queue.waiting.pop_back();
        }
        queue.waiting.push_back(progress.clone());
        drop(queue);
        self.changed.notify_one();
    }

    fn close(&self) {
        lock(&self.queue).is_closed = true;
        self.changed.notify_one();
    }

    /// Sends the reports, until they are closed and all are sent.
    async fn send_to(&self, peer: &Peer<RoleServer>, token: &ProgressToken) {
        loop {
            let (next, is_closed) = {
                let mut queue = lock(&self.queue);
                (queue.waiting.pop_front(), queue.is_closed)
            };
            match next {
                Some(progress) => {
                    let mut params = ProgressNotificationParam::new(token.clone(), progress.done);
                    params.total = progress.total.filter(|total| total.is_finite());
                    params.message = progress.message;
                    // Waits until it is sent.
                    let _ = peer.notify_progress(params).await;
                }
                None if is_closed => return,
                None => self.changed.notified().await,
            }
        }
    }
}

/// Converts a result.
fn finished(result: ToolResult, asker: Option<&Arc<Asker>>, purpose: Purpose) -> Finished {
    if let Some(error) = result.error() {
        if let Some(error) = protocol_error(error) {
            return Err(error);
        }
        if asker.is_some_and(|asker| asker.lacks_capability()) {
            return Err(ErrorData::missing_required_client_capability(
                ClientCapabilities::builder().enable_elicitation().build(),
            ));
        }
        if purpose != Purpose::Tool {
            return Err(ErrorData::new(
                code_of(error.kind()),
                error.message().to_owned(),
                None,
            ));
        }
        let text = ContentBlock::text(error.message());
        return Ok(Box::new(CallToolResult::error(vec![text])));
    }
    Ok(Box::new(if result.parts().is_empty() {
        let structured = result.structured();
        let text = result.into_result().unwrap_or_default();
        let mut wire = CallToolResult::success(vec![ContentBlock::text(text)]);
        wire.structured_content = structured;
        wire
    } else {
        with_parts(&result)
    }))
}

/// Returns the code for an error of a function that is no tool.
fn code_of(kind: ToolErrorKind) -> ErrorCode {
    match kind {
        ToolErrorKind::MalformedJson | ToolErrorKind::InvalidArguments => ErrorCode::INVALID_PARAMS,
        ToolErrorKind::Denied | ToolErrorKind::Held => ErrorCode::INVALID_REQUEST,
        _ => ErrorCode::INTERNAL_ERROR,
    }
}

/// Converts a result with images and the like, in the form of the dialect.
fn with_parts(result: &ToolResult) -> CallToolResult {
    let mut responses = Mcp::v2026_07_28().results(std::slice::from_ref(result));
    let written = responses
        .first_mut()
        .map(|response| response["result"].take());
    serde_json::from_value(written.unwrap_or_default()).unwrap_or_else(|error| {
        tracing::error!(%error, "a result is not what MCP allows; its text is sent");
        CallToolResult::success(vec![ContentBlock::text(result.content())])
    })
}

/// Returns the error of the protocol that a tool asked for.
fn protocol_error(error: &dyn Error) -> Option<ErrorData> {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<ProtocolError>() {
            let ProtocolError {
                code,
                message,
                data,
            } = error.clone();
            return Some(ErrorData::new(ErrorCode(code), message, data));
        }
        source = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_for_a_tool_is_not_for_a_resource_of_its_name() {
        let purposes = [Purpose::Tool, Purpose::Resource, Purpose::Prompt];
        let bindings = purposes.map(|purpose| {
            let name = purpose.bound_name("note");
            Binding::new(&name, None, Some("ada")).digest().to_vec()
        });
        assert!(
            bindings[0] != bindings[1] && bindings[1] != bindings[2] && bindings[0] != bindings[2]
        );
    }

    #[test]
    fn a_flood_of_progress_is_bounded_and_ends_with_the_newest() {
        let reports = Reports::default();
        for done in 1..=10_000 {
            reports.push(&Progress::new(f64::from(done)));
        }
        reports.push(&Progress::new(9.0));
        let queue = lock(&reports.queue);
        assert_eq!(queue.waiting.len(), WAITING);
        assert_eq!(queue.waiting.front(), Some(&Progress::new(1.0)));
        assert_eq!(queue.waiting.back(), Some(&Progress::new(10_000.0)));
    }
}
