//! One call of a client, with all that it must pass.

use std::pin::pin;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    InputRequiredResult, RequestMetaObject,
};
use rmcp::service::{RequestContext, RoleServer};
#[cfg(feature = "server-http")]
use serde_json::Value;
use tool_core::call::{Arguments, TraceContext};
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind};

use super::admission::{Admission, ruled};
use super::approvals::{HeldCall, Missing};
use super::ask::Asker;
use super::core::Core;
#[cfg(feature = "server-http")]
use super::http::body::BodyText;
use super::lines::RawArguments;
#[cfg(feature = "server-http")]
use super::lines::arguments_in;
use super::progress::{Reports, until_end};
use super::request::{LOCAL, Request, Token, UserId, has_apps, is_modern, named, result_scope};
use super::result::{Purpose, finished};
use super::run::run_call;
use super::state::Binding;
use super::task_settings::TaskPolicy;
#[cfg(feature = "client")]
use crate::gateway::MadeAgain;

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
        let call = match result_scope(&call, &context) {
            Some(scope) if registry.result_store().is_some() => call.with(scope),
            _ => call,
        };
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
                HeldCall::new(
                    approvals,
                    &registry,
                    user,
                    &purpose.bound_name(&tool.name),
                    &binding,
                    &self.key,
                )
            }
            (Some(_), None) => Err(Missing::User),
            _ => Err(Missing::Approvals),
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
            let started = self.tasks.start(user.as_ref(), async move |task| {
                let asker = Arc::new(Asker::of_task(task.clone(), capabilities));
                if let Some((state, responses)) = answered {
                    asker.resume(state, responses);
                }
                let call = call.on_progress(move |progress| {
                    if let Some(message) = &progress.message {
                        task.set_message(Some(message));
                    }
                });
                run_call(purpose, &registry, call, &asker, held.as_ref()).await
            });
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
                if let Ok(held) = &held {
                    held.suspend().await;
                }
                let (questions, state) = asker.take_questions();
                let state = self.states.seal(state, &binding())?;
                let result = InputRequiredResult::new(Some(questions), Some(state));
                Ok(CallToolResponse::InputRequired(result))
            }
        }
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
    arguments_in(http.extensions.get::<BodyText>()?.get()?)
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
