//! Runs the cases of an [`Eval`].

use std::collections::BTreeSet;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_agent::testing::{RecordedModel, Recorder};
use tool_core::runtime::{BoxFuture, block_on};
use tool_core::{Registry, ToolCall, ToolError, ToolResult};

use crate::attempt::{Attempt, MadeCall};
use crate::case::{Case, Check};
use crate::score::{self, Wanted};
use crate::summary::{case_report, digests, model_report};
use crate::{AttemptReport, Candidate, Eval, EvalError, ModelReport, Recordings, Report};

/// Maximum number of calls in an attempt.
const MOST_CALLS: u32 = 256;

/// A case with its expected calls, decoded by a registry's tools.
struct Prepared<'e> {
    case: &'e Case,
    wanted: Vec<Wanted<'e>>,
    registry: Registry,
    check: Option<&'e Check>,
}

impl Eval {
    /// Checks the cases without asking a model. [`run`](Eval::run) does so first.
    ///
    /// # Errors
    ///
    /// Returns an error if two cases have the same name, or a case expects nothing or names an unregistered predicate.
    /// Also if a tool does not exist, rejects the arguments of an expected call, or can't return a
    /// [result](Case::result) because of its output schema.
    pub fn check(&self, registry: &Registry) -> Result<(), EvalError> {
        self.prepare(registry).map(drop)
    }

    /// Asks each model, and compares its calls with the expected ones. A request that fails, for instance because there
    /// is no connection, fails the attempt.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`check`](Eval::check), before a model is asked.
    pub async fn run(
        &self,
        models: impl IntoIterator<Item = Candidate>,
    ) -> Result<Report, EvalError> {
        let models: Vec<_> = models.into_iter().collect();
        let mut names = BTreeSet::new();
        for model in &models {
            if !names.insert(&model.name) {
                let message = format!("two models have the name `{}`; rename one", model.name);
                return Err(EvalError::new(message));
            }
            self.check(model.agent.registry())?;
        }
        let mut report = Report {
            repeats: self.repeats.unwrap_or(1),
            models: Vec::new(),
        };
        for model in &models {
            report
                .models
                .push(self.run_model(model, report.repeats).await?);
        }
        Ok(report)
    }

    /// Runs the evaluation like [`run`](Eval::run), but blocks the thread. Don't call it in async code.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Eval::run).
    pub fn run_blocking(
        &self,
        models: impl IntoIterator<Item = Candidate>,
    ) -> Result<Report, EvalError> {
        block_on(self.run(models)).map_err(|error| EvalError::new(error.to_string()))?
    }

    fn prepare<'e>(&'e self, registry: &Registry) -> Result<Vec<Prepared<'e>>, EvalError> {
        let mut names = BTreeSet::new();
        let prepared = self.cases.iter().map(|case| {
            let fail = |message: String| case.error(None, message);
            if !names.insert(&case.name) {
                return Err(fail("another case has this name; rename one".into()));
            }
            let registry = case.registry.as_ref().unwrap_or(registry);
            let expects_nothing = case.calls.is_none() && case.forbidden.is_empty();
            if expects_nothing && case.predicate.is_none() && case.check.is_none() {
                let message = "the case expects nothing; add calls, forbidden tools or a predicate";
                return Err(fail(message.into()));
            }
            for tool in case.forbidden.iter().chain(case.results.keys()) {
                let call = ToolCall::new("", &**tool, "{}");
                if registry.get(tool).is_none()
                    && let Err(unknown) = registry.validate(&call)
                {
                    return Err(fail(score::reason(&unknown)));
                }
            }
            for (tool, result) in self.results.iter().chain(&case.results) {
                check_result(registry, tool, result).map_err(fail)?;
            }
            let registered = case.predicate.as_ref().map(|name| {
                self.predicates.get(name).ok_or_else(|| {
                    let mut message = format!("there is no predicate `{name}`; register it");
                    let known: Vec<_> = self.predicates.keys().map(String::as_str).collect();
                    if !known.is_empty() {
                        message += &format!(", or use one of `{}`", known.join("`, `"));
                    }
                    fail(message)
                })
            });
            Ok(Prepared {
                case,
                wanted: score::wanted(case, registry)?,
                registry: registry.clone(),
                check: registered.transpose()?,
            })
        });
        prepared.collect()
    }

    async fn run_model(&self, model: &Candidate, repeats: u32) -> Result<ModelReport, EvalError> {
        let prepared = self.prepare(model.agent.registry())?;
        let attempts = prepared
            .iter()
            .flat_map(|case| (0..repeats).map(move |repeat| (case, repeat)));
        let attempts =
            stream::iter(attempts).map(|(case, repeat)| self.attempt(model, case, repeat));
        let concurrency = self.concurrency.unwrap_or(1);
        let finished: Vec<_> = attempts.buffered(concurrency).collect().await;

        let mut recordings = model.is_recorded.then(Recordings::default);
        let mut finished = finished.into_iter();
        let mut cases = Vec::new();
        for Prepared { case, .. } in &prepared {
            let mut attempts = Vec::new();
            for (repeat, (attempt, recorded)) in (0..repeats).zip(&mut finished) {
                if let Some(recordings) = &mut recordings {
                    recordings.add(&case.name, repeat, recorded);
                }
                attempts.push(attempt);
            }
            cases.push(case_report(case, attempts));
        }
        let mut report = model_report(&model.name, cases);
        report.tools = digests(model.agent.registry());
        report.recordings = recordings;
        Ok(report)
    }

    /// Makes one attempt. Also returns its responses for a recording.
    async fn attempt(
        &self,
        model: &Candidate,
        prepared: &Prepared<'_>,
        repeat: u32,
    ) -> (AttemptReport, Vec<tool_agent::testing::Recording>) {
        let case = prepared.case;
        let calls = (!self.runs_tools && !case.runs_tools).then(|| self.stub(prepared));
        let mut agent = model.agent.clone().with_registry(prepared.registry.clone());
        agent = agent.detached();
        if let Some(answer) = calls {
            agent = agent.answer_calls(answer);
        }
        if let Some(replay) = &model.replay {
            match replay.of(&case.name, repeat) {
                Some(recordings) => agent = agent.map_model(|_| RecordedModel::new(recordings)),
                None => {
                    let problem =
                        format!("attempt {} was not recorded; record it again", repeat + 1);
                    return (AttemptReport::failed(problem), Vec::new());
                }
            }
        }
        let mut recorder = None;
        if model.is_recorded {
            agent = agent.map_model(|model| {
                let recording = Recorder::shared(model);
                recorder = Some(recording.clone());
                recording
            });
        }

        let mut settings = RunSettings::default();
        settings.max_rounds = case.max_rounds.or(self.max_rounds).unwrap_or(8).max(1);
        settings.max_calls = MOST_CALLS;
        let id = format!("eval {} {repeat}", case.name);
        let mut run = Run::builder(id).settings(settings).build();
        let started = Instant::now();
        let outcome = match run.push(agent.dialect().user_message(&case.says)) {
            Ok(()) => agent.run(&mut run).await,
            Err(error) => Err(error.into()),
        };
        let elapsed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);

        let made = score::made(&run, &prepared.registry);
        let mut scored = score::score(case, &prepared.wanted, &made);
        let attempt = Attempt {
            run: &run,
            calls: &made,
        };
        let mut is_checked = false;
        for check in prepared.check.into_iter().chain(&case.check) {
            let checked = catch_unwind(AssertUnwindSafe(|| check(&attempt)));
            let checked = checked.unwrap_or_else(|payload| {
                // Dropping the payload may panic too, which `of_panic` prevents.
                drop(ToolError::of_panic("", payload));
                Err("the check panicked".into())
            });
            if let Err(problem) = checked {
                scored.problems.push(problem);
                is_checked = true;
            }
        }
        if is_checked && case.calls.is_none() {
            scored.share = 0.0;
        }
        // Explains the missing calls.
        if let (Ok(RunOutcome::NoAnswer(none)), false) = (&outcome, scored.problems.is_empty()) {
            scored.problems.push(none.to_string());
        }
        let error = outcome
            .err()
            .map(|error| format!("the request failed: {error}"));
        if let Some(error) = &error {
            scored.problems.insert(0, error.clone());
            scored.share = 0.0;
        }
        let rounds = run.rounds().iter();
        let has_usage = run.rounds().iter().any(|round| round.usage().is_some());
        let report = AttemptReport {
            problems: scored.problems,
            error,
            score: scored.share,
            calls: made.iter().map(MadeCall::report).collect(),
            compared: scored.compared,
            unexpected: scored.unexpected,
            parameters: scored.parameters,
            usage: has_usage.then(|| run.usage()),
            millis: model.replay.is_none().then_some(elapsed),
            micros: (has_usage && agent.has_prices())
                .then(|| rounds.fold(0, |sum: u64, round| sum.saturating_add(round.micros()))),
        };
        (
            report,
            recorder.map_or_else(Vec::new, |recorder| recorder.recordings()),
        )
    }

    /// Returns the function that answers calls in place of the tools. Searches for deferred tools still run, because
    /// they have no effects.
    fn stub(
        &self,
        prepared: &Prepared<'_>,
    ) -> impl Fn(ToolCall) -> BoxFuture<ToolResult> + Send + Sync + use<> {
        let registry = prepared.registry.clone();
        let mut results = self.results.clone();
        results.extend(prepared.case.results.clone());
        move |call: ToolCall| -> BoxFuture<ToolResult> {
            let mut resolved = call.clone();
            let tool = registry.resolve(&mut resolved);
            if tool.is_some() && registry.get(&resolved.name).is_none() || call.server().is_some() {
                return Box::pin(registry.call(call));
            }
            let result = match registry.validate(&call) {
                Err(error) => registry.fail(call, error),
                Ok(_) => match results.get(&resolved.name) {
                    Some(result) => ToolResult::new(&call, result.clone()),
                    None => ToolResult::new(&call, "Done."),
                },
            };
            Box::pin(ready(result))
        }
    }
}

impl AttemptReport {
    fn failed(problem: String) -> AttemptReport {
        AttemptReport {
            problems: vec![problem.clone()],
            error: Some(problem),
            score: 0.0,
            calls: Vec::new(),
            compared: Vec::new(),
            unexpected: Vec::new(),
            parameters: Vec::new(),
            usage: None,
            millis: None,
            micros: None,
        }
    }
}

/// Checks a result against the output schema of its tool. A tool without one may return anything.
fn check_result(registry: &Registry, tool: &str, result: &Value) -> Result<(), String> {
    let Some(entry) = registry.get(tool) else {
        return Ok(());
    };
    let answered = entry.answer(&ToolCall::new("", tool, ""), result.clone());
    let problem = answered.error().map(score::reason);
    problem.map_or(Ok(()), |reason| {
        Err(format!(
            "{tool} can't return the result; correct it: {reason}"
        ))
    })
}
