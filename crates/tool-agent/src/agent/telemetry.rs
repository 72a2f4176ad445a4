//! Telemetry of runs and requests for an operator: `tracing` spans, and records for the registry's observers, following
//! OpenTelemetry's conventions for generative AI. The spans `chat`, and `execute_tool` of `tool-core`, are children of
//! `invoke_agent`. The span of a request contains its messages only if the application asks for that.
//!
//! Several processes may drive a run, one after the other. The run saves the trace of the span that drives it, and the
//! next `invoke_agent` span links to it.
//!
//! A subscriber is code of the application. If it panics, the run goes on without its log. Without the feature
//! `tracing`, there are no spans.

#[cfg(feature = "tracing")]
mod content;
#[cfg(feature = "tracing")]
mod links;
mod observed;
mod record;
#[cfg(feature = "tracing")]
mod span;

use std::ops::Range;
#[cfg(feature = "tracing")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "tracing")]
use tool_core::Registry;
#[cfg(feature = "tracing")]
use tool_core::call::{Secrets, TraceContext};
#[cfg(feature = "tracing")]
use tracing::field::Empty;

use serde_json::Value;
use tool_core::dialect::Turn;

#[cfg(feature = "tracing")]
pub(super) use self::links::TraceLinks;
pub(super) use self::observed::Observed;
use self::record::{RequestTimer, RunCounter};
#[cfg(feature = "tracing")]
use self::span::GuardedSpan;
use super::error::AgentError;
use crate::model::{ModelError, Request};
use crate::run::{Run, RunOutcome};

/// One stretch of driving a run.
pub(super) struct Invocation<'a> {
    counter: RunCounter<'a>,
    #[cfg(feature = "tracing")]
    span: GuardedSpan,
    /// The trace of the span, if runs save it.
    #[cfg(feature = "tracing")]
    trace: Option<TraceContext>,
    /// The secrets of the run, needed if spans show messages.
    #[cfg(feature = "tracing")]
    known: Mutex<content::Known>,
}

/// The messages of a request for a summary: the messages to replace, and the instructions.
#[cfg_attr(not(feature = "tracing"), allow(dead_code))]
pub(super) struct Summary<'s> {
    pub(super) old: Range<usize>,
    pub(super) instructions: &'s str,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(agent: Observed<'a>, run: &Run) -> Invocation<'a> {
        let counter = RunCounter::new(agent);
        #[cfg(not(feature = "tracing"))]
        {
            let _ = run;
            Invocation { counter }
        }
        #[cfg(feature = "tracing")]
        {
            let span = GuardedSpan::new(|| {
                tracing::info_span!(
                    target: "tool_agent",
                    "invoke_agent",
                    "otel.status_code" = Empty,
                    "gen_ai.operation.name" = "invoke_agent",
                    "gen_ai.provider.name" = agent.provider,
                    "gen_ai.request.model" = agent.model,
                    "gen_ai.conversation.id" = run.id(),
                    "error.type" = Empty,
                )
            });
            let trace = agent
                .links
                .zip(span.enabled())
                .and_then(|(links, span)| links.attach(span, run.trace()));
            Invocation {
                counter,
                span,
                trace,
                known: Mutex::default(),
            }
        }
    }

    /// Creates the invocation of a driver that may continue in another process.
    pub(super) fn of_steps(agent: Observed<'a>, run: &Run) -> Invocation<'a> {
        let mut invocation = Invocation::new(agent, run);
        invocation.counter = invocation.counter.of_steps();
        invocation
    }

    /// Runs a step within the span.
    pub(super) async fn step<T>(&self, running: impl Future<Output = T>) -> T {
        #[cfg(not(feature = "tracing"))]
        {
            running.await
        }
        #[cfg(feature = "tracing")]
        {
            self.span.around(running).await
        }
    }

    /// Records how the run ended.
    pub(super) fn end(&self, ended: &Result<RunOutcome, AgentError>) {
        #[cfg(feature = "tracing")]
        if let Err(error) = ended {
            failed(&self.span, error.kind());
        }
        self.counter.end(ended);
    }

    /// Drives the run within the span.
    pub(super) async fn run(
        &self,
        driving: impl Future<Output = Result<RunOutcome, AgentError>>,
    ) -> Result<RunOutcome, AgentError> {
        let ended = self.step(driving).await;
        self.end(&ended);
        ended
    }

    /// Returns the known secrets of the run.
    #[cfg(feature = "tracing")]
    fn secrets(&self, registry: &Registry, run: &Run) -> Secrets {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.of_run(registry, run)
    }

    /// Logs that another model is asked, within the span.
    pub(super) fn fell_back(from: &str, to: &str, error: &ModelError) {
        #[cfg(not(feature = "tracing"))]
        let _ = (from, to, error);
        #[cfg(feature = "tracing")]
        let _ = crate::guarded::caught("", || {
            tracing::event!(
                name: "fallback",
                target: "tool_agent",
                tracing::Level::WARN,
                {
                    "error.type" = error.kind().as_str(),
                    exception.message = %format!("{error:?}").escape_debug(),
                    fallback.from = from,
                    fallback.to = to,
                },
                "a model is down, and another one is asked"
            );
        });
    }

    /// Counts started calls.
    pub(super) fn count_calls(&self, calls: usize) {
        self.counter.count_calls(calls);
    }

    /// Saves the trace in the run, so that the next span can link to it.
    pub(super) fn save_in(&self, run: &mut Run) {
        #[cfg(not(feature = "tracing"))]
        let _ = (self, run);
        #[cfg(feature = "tracing")]
        if let Some(trace) = &self.trace {
            run.set_trace(trace.traceparent());
        }
    }
}

#[cfg(feature = "tracing")]
fn failed(span: &GuardedSpan, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// One request to the model.
pub(super) struct Chat<'a> {
    timer: RequestTimer<'a>,
    #[cfg(feature = "tracing")]
    span: GuardedSpan,
    /// Used to show the response, if spans show messages.
    #[cfg(feature = "tracing")]
    content: Option<(&'a Registry, usize, Secrets)>,
}

impl<'a> Chat<'a> {
    pub(super) fn new(
        agent: Observed<'a>,
        invocation: &Invocation<'_>,
        run: &Run,
        request: &Request,
        summary: Option<&Summary<'_>>,
    ) -> Chat<'a> {
        invocation.counter.count_request();
        let timer = RequestTimer::new(agent, request);
        #[cfg(not(feature = "tracing"))]
        {
            let _ = (run, summary);
            Chat { timer }
        }
        #[cfg(feature = "tracing")]
        {
            let model = agent.model;
            let span = GuardedSpan::new(|| {
                tracing::info_span!(
                    target: "tool_agent",
                    "chat",
                    "otel.name" = model.map(|model| format!("chat {model}")),
                    "otel.kind" = "client",
                    "otel.status_code" = Empty,
                    "gen_ai.operation.name" = "chat",
                    "gen_ai.provider.name" = agent.provider,
                    "gen_ai.request.model" = model,
                    "gen_ai.conversation.id" = run.id(),
                    "gen_ai.response.model" = Empty,
                    "gen_ai.response.finish_reasons" = Empty,
                    "gen_ai.response.time_to_first_chunk" = Empty,
                    "gen_ai.usage.input_tokens" = Empty,
                    "gen_ai.usage.cache_read.input_tokens" = Empty,
                    "gen_ai.usage.output_tokens" = Empty,
                    "gen_ai.input.messages" = Empty,
                    "gen_ai.output.messages" = Empty,
                    "tool_agent.request.retries" = Empty,
                    "error.type" = Empty,
                )
            });
            let cap = agent.content.filter(|_| span.enabled().is_some());
            let content = cap.map(|cap| {
                let secrets = invocation.secrets(agent.registry, run);
                let end = summary.map_or(usize::MAX, |summary| summary.old.end);
                let instructions = summary.map(|summary| summary.instructions);
                let input = content::input(agent.registry, &secrets, run, end, instructions, cap);
                span.record("gen_ai.input.messages", input);
                (agent.registry, cap, secrets)
            });
            Chat {
                timer,
                span,
                content,
            }
        }
    }

    /// Sends the request within the span.
    pub(super) async fn run<T>(
        &self,
        asking: impl Future<Output = Result<T, AgentError>>,
    ) -> Result<T, AgentError> {
        #[cfg(not(feature = "tracing"))]
        let asked = asking.await;
        #[cfg(feature = "tracing")]
        let asked = self.span.around(asking).await;
        #[cfg(feature = "tracing")]
        if self.timer.retries() > 0 {
            let retries = self.timer.retries();
            self.span.record("tool_agent.request.retries", retries);
        }
        #[cfg(feature = "tracing")]
        if let Err(error) = &asked {
            failed(&self.span, error.kind());
            let cause = format!("{error:?}");
            self.span.inside(|| {
                tracing::event!(
                    name: "exception",
                    target: "tool_agent",
                    tracing::Level::WARN,
                    { exception.message = %cause.escape_debug(), },
                    "the request to the model failed"
                );
            });
        }
        self.timer.end(&asked);
        asked
    }

    /// Records when a stream starts.
    pub(super) fn first_chunk(&self) {
        let time = self.timer.first_chunk();
        #[cfg(not(feature = "tracing"))]
        let _ = time;
        #[cfg(feature = "tracing")]
        self.span
            .record("gen_ai.response.time_to_first_chunk", time.as_secs_f64());
    }

    /// Records the response's own data, such as its model and usage.
    pub(super) fn finish(&self, turn: &Turn, response: &Value) {
        self.timer.respond(turn, response);
        #[cfg(feature = "tracing")]
        {
            if let Some(model) = record::response_model(response) {
                self.span.record("gen_ai.response.model", model);
            }
            if let Some(stop) = &turn.stop {
                self.span
                    .record("gen_ai.response.finish_reasons", stop.as_str());
            }
            if let Some(usage) = turn.usage {
                for (field, tokens) in [
                    ("gen_ai.usage.input_tokens", usage.input),
                    ("gen_ai.usage.cache_read.input_tokens", usage.cached_input),
                    ("gen_ai.usage.output_tokens", usage.output),
                ] {
                    // OpenTelemetry has only signed integers. The layer for `tracing` exports others as text.
                    let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
                    self.span.record(field, tokens);
                }
            }
            if let Some((registry, cap, secrets)) = &self.content {
                let output = content::output(registry, secrets, turn, *cap);
                self.span.record("gen_ai.output.messages", output);
            }
        }
    }
}
