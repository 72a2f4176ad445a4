//! Records of runs and requests for the registry's observers. If a run or request is dropped before it ends, its record
//! is `cancelled`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;
use tool_core::dialect::{Turn, Usage};
use tool_core::hooks::{RequestRecord, RunRecord};

use super::observed::Observed;
use crate::agent::error::AgentError;
use crate::model::Request;
use crate::run::RunOutcome;

const CANCELLED: &str = "cancelled";

/// Measures a duration. Zero on platforms without a clock.
pub(super) struct Clock(Option<Instant>);

impl Clock {
    pub(super) fn start() -> Clock {
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        Clock(has_clock.then(Instant::now))
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}

/// Counts the steps of an agent with a run.
pub(super) struct RunCounter<'a> {
    agent: Observed<'a>,
    clock: Clock,
    requests: AtomicU32,
    calls: AtomicU32,
    /// `false` if dropping it without an end records nothing, because another process continues the run.
    is_whole: bool,
    /// The outcome or the error.
    ended: OnceLock<Result<&'static str, &'static str>>,
}

impl<'a> RunCounter<'a> {
    pub(super) fn new(agent: Observed<'a>) -> RunCounter<'a> {
        RunCounter {
            agent,
            clock: Clock::start(),
            requests: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            is_whole: true,
            ended: OnceLock::new(),
        }
    }

    /// Records a run only at its end, not on drop.
    pub(super) fn of_steps(mut self) -> Self {
        self.is_whole = false;
        self
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_calls(&self, calls: usize) {
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    pub(super) fn end(&self, ended: &Result<RunOutcome, AgentError>) {
        let ended = ended.as_ref().map(RunOutcome::as_str);
        let _ = self.ended.set(ended.map_err(AgentError::kind));
    }
}

impl Drop for RunCounter<'_> {
    fn drop(&mut self) {
        if !self.is_whole && self.ended.get().is_none() {
            return;
        }
        let agent = self.agent;
        let ended = self.ended.get().copied().unwrap_or(Err(CANCELLED));
        let mut record = RunRecord::new(agent.provider, self.clock.elapsed());
        record.model = agent.model;
        record.outcome = ended.ok();
        record.error = ended.err();
        record.requests = *self.requests.get_mut();
        record.calls = *self.calls.get_mut();
        agent.registry.observe_run(&record);
    }
}

/// Measures a request.
pub(super) struct RequestTimer<'a> {
    agent: Observed<'a>,
    clock: Clock,
    retries: Arc<AtomicU32>,
    first_chunk: OnceLock<Duration>,
    response: OnceLock<(Option<String>, Option<Usage>)>,
    /// The error, if any.
    ended: OnceLock<Option<&'static str>>,
}

impl<'a> RequestTimer<'a> {
    pub(super) fn new(agent: Observed<'a>, request: &Request) -> RequestTimer<'a> {
        RequestTimer {
            agent,
            clock: Clock::start(),
            retries: request.retry_counter(),
            first_chunk: OnceLock::new(),
            response: OnceLock::new(),
            ended: OnceLock::new(),
        }
    }

    pub(super) fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Returns the time until the stream started.
    pub(super) fn first_chunk(&self) -> Duration {
        *self.first_chunk.get_or_init(|| self.clock.elapsed())
    }

    pub(super) fn respond(&self, turn: &Turn, response: &Value) {
        let model = response_model(response).map(str::to_owned);
        let _ = self.response.set((model, turn.usage));
    }

    pub(super) fn end<T>(&self, ended: &Result<T, AgentError>) {
        let _ = self.ended.set(ended.as_ref().err().map(AgentError::kind));
    }
}

impl Drop for RequestTimer<'_> {
    fn drop(&mut self) {
        let agent = self.agent;
        let mut record = RequestRecord::new(agent.provider, self.clock.elapsed());
        record.model = agent.model;
        if let Some((model, usage)) = self.response.get() {
            record.response_model = model.as_deref();
            record.usage = *usage;
        }
        record.error = self.ended.get().copied().unwrap_or(Some(CANCELLED));
        record.first_chunk = self.first_chunk.get().copied();
        record.retries = self.retries();
        agent.registry.observe_request(&record);
    }
}

/// Returns the model named in a response.
pub(super) fn response_model(response: &Value) -> Option<&str> {
    let model = response["model"].as_str();
    model.or_else(|| response["modelVersion"].as_str())
}
