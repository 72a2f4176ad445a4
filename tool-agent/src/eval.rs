//! Evaluations: do models call the tools right?
//!
//! A [`Case`] has what a user says and the calls that a model should make. An [`Eval`] asks models and compares their calls.
//! The [guide](crate::guide::evaluations) describes cases in files, recordings for CI, and baselines.
//!
//! ```
//! use serde_json::json;
//! use tool_agent::Agent;
//! use tool_agent::eval::{Candidate, Case, Eval};
//! use tool_agent::testing::ScriptedModel;
//! use tool_core::dialect::OpenAiChat;
//! use tool_core::{Registry, tool, tools};
//!
//! /// Sets the volume.
//! #[tool]
//! fn set_volume(#[param(range = 0..=100)] percent: u8) {
//!     println!("volume {percent} %");
//! }
//!
//! // In place of a provider; `model::HttpModel` asks one.
//! let model = ScriptedModel::new([
//!     json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
//!         {"id": "call_1", "type": "function",
//!          "function": {"name": "set_volume", "arguments": "{\"percent\":50.0}"}},
//!     ]}}]}),
//!     json!({"choices": [{"message": {"role": "assistant", "content": "Done."}}]}),
//! ]);
//! let registry = Registry::builder().tools(tools![set_volume]).build()?;
//! let agent = Agent::new(registry, OpenAiChat::default(), model);
//!
//! let eval = Eval::new([
//!     Case::new("half", "Half the volume, please").call("set_volume", json!({"percent": 50})),
//! ]);
//! let report = eval.run_blocking([Candidate::new("scripted", agent)])?;
//! assert_eq!(report.failures(), [""; 0]);
//! println!("{report}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Tools do not run**: a call is validated, and answered with the result of the case. [`Case::run_tools`] runs them.

mod baseline;
pub mod bfcl;
mod case;
mod file;
mod html;
mod recordings;
mod report;
mod score;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::future::ready;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tool_core::runtime::{BoxFuture, block_on};
use tool_core::{Registry, ToolCall, ToolResult};

use self::case::Check;
use self::recordings::Replay;
use self::score::Wanted;
use crate::Agent;
use crate::agent::CallService;
use crate::guarded::caught;
use crate::run::{Run, RunSettings};
use crate::testing::{RecordedModel, Recorder};

pub use self::baseline::Baseline;
pub use self::case::{Case, ExpectedCall, Order};
pub use self::file::{EvalFile, ModelSettings};
pub use self::recordings::Recordings;
pub use self::report::{
    AttemptReport, CallOutcome, CallReport, CaseReport, Change, ChangeKind, ComparedCall,
    ComparedParameter, Comparison, ModelReport, Passes, Report,
};
pub use self::score::MadeCall;

/// The most calls of an attempt.
const MOST_CALLS: u32 = 256;

/// The most bytes of a file.
const LONGEST: u64 = 256 << 20;

/// Cases, and how often they are tried. See the [module](self) for an example.
///
/// ```
/// use tool_agent::eval::{Case, Eval};
///
/// let eval = Eval::new([
///     Case::new("greeting", "Hello!").no_call(),
///     Case::new("half", "Half the volume").call("set_volume", serde_json::json!({"percent": 50})),
/// ]);
/// assert_eq!(eval.repeats(5).cases().len(), 2);
/// ```
#[derive(Clone, Default)]
#[must_use = "call `run`"]
pub struct Eval {
    cases: Vec<Case>,
    predicates: BTreeMap<String, Check>,
    results: BTreeMap<String, Value>,
    repeats: Option<u32>,
    concurrency: Option<usize>,
    max_rounds: Option<u32>,
    runs_tools: bool,
}

/// A model that is evaluated: an agent with its registry, its dialect and its model.
///
/// ```no_run
/// # #[cfg(feature = "http")]
/// # fn main() -> Result<(), tool_agent::eval::EvalError> {
/// use tool_agent::Agent;
/// use tool_agent::eval::{Candidate, Case, Eval};
/// use tool_agent::model::HttpModel;
/// use tool_core::Registry;
/// use tool_core::dialect::OpenAiChat;
///
/// let models = ["qwen3", "llama3.3"].map(|name| {
///     let dialect = OpenAiChat::default();
///     let model = HttpModel::new(&dialect, name).base_url("http://localhost:11434/v1");
///     Candidate::new(name, Agent::new(Registry::linked().unwrap(), dialect, model))
/// });
/// let eval = Eval::new([Case::new("greeting", "Hello!").no_call()]).repeats(5);
/// println!("{}", eval.run_blocking(models)?);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "http"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Candidate {
    name: String,
    agent: Agent,
    replay: Option<Replay>,
    is_recorded: bool,
}

impl Candidate {
    /// Creates a candidate. The name is in reports and baselines.
    ///
    /// The agent's prices count what an attempt costs. Its journal and its listener are not used, and its closures for
    /// calls and context values only by cases that [run tools](Case::run_tools).
    pub fn new(name: impl Into<String>, agent: Agent) -> Candidate {
        Candidate {
            name: name.into(),
            agent,
            replay: None,
            is_recorded: false,
        }
    }

    /// Answers with recorded responses in place of the model. An attempt fails if the tools, the case or its results have
    /// changed since, because the model may answer in another way.
    pub fn replay(mut self, recordings: Recordings) -> Self {
        self.replay = Some(Replay::Attempts(recordings));
        self
    }

    /// Keeps the responses, as [`ModelReport::recordings`].
    pub fn record(mut self) -> Self {
        self.is_recorded = true;
        self
    }

    /// Repeats requests that fail, as [`Agent::retry`] does.
    #[cfg(feature = "tower")]
    pub fn retry(mut self, policy: crate::model::Retry) -> Self {
        self.agent = self.agent.retry(policy);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a model did in an attempt, for checks by code.
///
/// ```
/// use tool_agent::eval::Attempt;
///
/// fn calls_little(attempt: &Attempt<'_>) -> Result<(), String> {
///     match attempt.calls().len() {
///         ..=3 => Ok(()),
///         calls => Err(format!("{calls} calls, where 3 are enough")),
///     }
/// }
/// # let _ = calls_little;
/// ```
#[derive(Debug)]
pub struct Attempt<'a> {
    run: &'a Run,
    calls: &'a [MadeCall],
}

impl Attempt<'_> {
    /// Returns the calls in their order, also those that were rejected.
    pub fn calls(&self) -> &[MadeCall] {
        self.calls
    }

    /// Returns the text of the last response.
    pub fn answer(&self) -> &str {
        self.run.rounds().last().map_or("", |round| round.text())
    }

    /// Returns the run, with the calls as the model wrote them.
    pub fn run(&self) -> &Run {
        self.run
    }
}

/// A case and what it expects, decoded by the tools of a registry.
struct Prepared<'e> {
    case: &'e Case,
    wanted: Vec<Wanted<'e>>,
    registry: Registry,
    check: Option<&'e Check>,
}

impl Eval {
    /// Creates an evaluation that tries each case once.
    pub fn new(cases: impl IntoIterator<Item = Case>) -> Eval {
        Eval {
            cases: cases.into_iter().collect(),
            ..Eval::default()
        }
    }

    /// Tries each case this often, at least once. The answers of models vary.
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = Some(repeats.max(1));
        self
    }

    /// Makes this many attempts at the same time, at least one, which is the default.
    pub fn concurrency(mut self, attempts: usize) -> Self {
        self.concurrency = Some(attempts.max(1));
        self
    }

    /// Sets the most requests of an attempt, at least one. 8 by default. The calls so far count when they are used up.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.max_rounds = Some(rounds.max(1));
        self
    }

    /// Runs the tools of all cases, with all their effects; see [`Case::run_tools`].
    pub fn run_tools(mut self) -> Self {
        self.runs_tools = true;
        self
    }

    /// Sets the result of the calls of a tool, in cases that have no [result](Case::result) for it.
    pub fn result(mut self, tool: impl Into<String>, result: impl Into<Value>) -> Self {
        self.results.insert(tool.into(), result.into());
        self
    }

    /// Registers a check that cases name; see [`Case::predicate`].
    ///
    /// ```
    /// use tool_agent::eval::{Case, Eval};
    ///
    /// let eval = Eval::new([Case::new("poem", "Write a poem").predicate("is_short")])
    ///     .predicate("is_short", |attempt| match attempt.answer().lines().count() {
    ///         ..=20 => Ok(()),
    ///         lines => Err(format!("the poem has {lines} lines")),
    ///     });
    /// # let _ = eval;
    /// ```
    pub fn predicate(
        mut self,
        name: impl Into<String>,
        check: impl Fn(&Attempt<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.predicates.insert(name.into(), Arc::new(check));
        self
    }

    /// Keeps only the cases with these names.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no case of a name.
    pub fn only<N: AsRef<str>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Eval, EvalError> {
        let mut kept = BTreeSet::new();
        for name in names {
            let name = name.as_ref();
            if !self.cases.iter().any(|case| case.name == name) {
                return Err(EvalError::new(format!("there is no case `{name}`")));
            }
            kept.insert(name.to_owned());
        }
        self.cases.retain(|case| kept.contains(&case.name));
        Ok(self)
    }

    /// Returns the cases.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Returns `true` if a case runs tools.
    pub fn runs_tools(&self) -> bool {
        self.runs_tools || self.cases.iter().any(|case| case.runs_tools)
    }

    /// Checks the cases without asking a model, as [`run`](Eval::run) does first.
    ///
    /// # Errors
    ///
    /// Returns an error if two cases have the same name, a case expects nothing or names a predicate that is not registered,
    /// a tool does not exist, rejects the arguments of an expected call, or can't return a [result](Case::result) by its output
    /// schema.
    pub fn check(&self, registry: &Registry) -> Result<(), EvalError> {
        self.prepare(registry).map(drop)
    }

    fn prepare<'e>(&'e self, registry: &Registry) -> Result<Vec<Prepared<'e>>, EvalError> {
        let mut names = BTreeSet::new();
        let prepared = self.cases.iter().map(|case| {
            let fail = |message: String| EvalError::of_case(case, None, message);
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

    /// Asks each model, and compares its calls with the expected ones. A request that fails, such as without a connection,
    /// fails the attempt.
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

    /// Does the same as [`run`](Eval::run), and blocks the thread. Not for async code.
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

    /// Makes one attempt. Returns the recorded responses, too.
    async fn attempt(
        &self,
        model: &Candidate,
        prepared: &Prepared<'_>,
        repeat: u32,
    ) -> (AttemptReport, Vec<crate::testing::Recording>) {
        let case = prepared.case;
        let calls = (!self.runs_tools && !case.runs_tools).then(|| self.stub(prepared));
        let mut agent = model.agent.clone().with_registry(prepared.registry.clone());
        agent = agent.evaluated(calls);
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
                let recording = Recorder::of(model);
                recorder = Some(recording.clone());
                recording
            });
        }

        let settings = RunSettings {
            max_rounds: case.max_rounds.or(self.max_rounds).unwrap_or(8).max(1),
            max_calls: MOST_CALLS,
            ..RunSettings::default()
        };
        let id = format!("eval {} {repeat}", case.name);
        let mut run = Run::builder(id).settings(settings).build();
        let started = Instant::now();
        let outcome = match run.push(agent.dialect().user_message(&case.says)) {
            Ok(()) => agent.run(&mut run).await.map(drop),
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
            let checked =
                caught("", || check(&attempt)).unwrap_or_else(|_| Err("the check panicked".into()));
            if let Err(problem) = checked {
                scored.problems.push(problem);
                is_checked = true;
            }
        }
        if is_checked && case.calls.is_none() {
            scored.share = 0.0;
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

    /// Returns what answers calls in place of the tools. A search for deferred tools runs, because it has no effects.
    fn stub(&self, prepared: &Prepared<'_>) -> CallService {
        let registry = prepared.registry.clone();
        let mut results = self.results.clone();
        results.extend(prepared.case.results.clone());
        Arc::new(move |call: ToolCall| -> BoxFuture<ToolResult> {
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
        })
    }
}

impl fmt::Debug for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eval")
            .field("cases", &self.cases)
            .field("repeats", &self.repeats)
            .finish_non_exhaustive()
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

/// Checks that a tool could return a result, by its output schema. A tool without one may return anything.
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

/// Returns the mean; 0 of nothing.
fn mean(scores: impl ExactSizeIterator<Item = f64>) -> f64 {
    // There are fewer attempts than a float has digits.
    #[allow(clippy::cast_precision_loss)]
    let count = scores.len().max(1) as f64;
    scores.sum::<f64>() / count
}

fn case_report(case: &Case, attempts: Vec<AttemptReport>) -> CaseReport {
    let mut passes = Passes::default();
    for attempt in &attempts {
        passes.count(attempt.is_passed());
    }
    CaseReport {
        name: case.name.clone(),
        says: case.says.clone(),
        line: case.line,
        passes,
        score: mean(attempts.iter().map(|attempt| attempt.score)),
        expected: case.calls.as_ref().map(Vec::len),
        attempts,
    }
}

fn model_report(name: &str, cases: Vec<CaseReport>) -> ModelReport {
    let attempts: Vec<_> = cases.iter().flat_map(|case| &case.attempts).collect();
    let mut passes = Passes::default();
    let mut parameters: BTreeMap<String, Passes> = BTreeMap::new();
    let (mut corrected, mut rejected) = (0, 0);
    for attempt in &attempts {
        passes.count(attempt.is_passed());
        for (name, is_right) in &attempt.parameters {
            parameters.entry(name.clone()).or_default().count(*is_right);
        }
        for call in &attempt.calls {
            corrected += u32::from(call.outcome == CallOutcome::Corrected);
            rejected += u32::from(call.outcome == CallOutcome::Rejected);
        }
    }
    let sum = |of: fn(&AttemptReport) -> Option<u64>| {
        attempts
            .iter()
            .filter_map(|attempt| of(attempt))
            .reduce(u64::saturating_add)
    };
    let usage = attempts
        .iter()
        .filter_map(|attempt| attempt.usage)
        .reduce(|sum, usage| sum + usage);
    let (millis, micros) = (sum(|attempt| attempt.millis), sum(|attempt| attempt.micros));
    ModelReport {
        name: name.to_owned(),
        passes,
        score: mean(attempts.iter().map(|attempt| attempt.score)),
        corrected,
        rejected,
        usage,
        millis,
        micros,
        parameters,
        tools: BTreeMap::new(),
        cases,
        comparison: None,
        recordings: None,
    }
}

/// Returns a digest of each tool.
fn digests(registry: &Registry) -> BTreeMap<String, String> {
    let digests = registry.specs().into_iter().map(|tool| {
        let text = format!("{}\0{}", tool.prompt(), tool.parameters_json());
        (tool.name.to_string(), digest(&text))
    });
    digests.collect()
}

/// Returns the start of the SHA-256 of a text, in hexadecimal digits.
fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The error of cases that can't be evaluated, or of a file: what is wrong, and where.
///
/// ```
/// use tool_agent::eval::{Case, Eval};
/// use tool_core::Registry;
///
/// let eval = Eval::new([Case::new("lights", "Turn on the light.").forbid("turn_off")]);
/// let error = eval.check(&Registry::new()).unwrap_err();
/// assert!(error.to_string().starts_with("case `lights`: "), "{error}");
/// ```
#[derive(Clone)]
pub struct EvalError {
    file: Option<PathBuf>,
    line: Option<usize>,
    case: Option<String>,
    message: String,
}

impl EvalError {
    fn new(message: impl Into<String>) -> EvalError {
        EvalError {
            file: None,
            line: None,
            case: None,
            message: message.into(),
        }
    }

    fn of_file(path: &Path, message: impl Into<String>) -> EvalError {
        EvalError::new(message).in_file(path)
    }

    /// Adds the file with the case, unless the error has one.
    pub fn in_file(mut self, path: impl AsRef<Path>) -> EvalError {
        self.file.get_or_insert_with(|| path.as_ref().to_owned());
        self
    }

    /// Returns the error of a case, at this line or at that of the case.
    fn of_case(case: &Case, line: Option<usize>, message: impl Into<String>) -> EvalError {
        let mut error = EvalError::new(message);
        error.case = Some(case.name.clone());
        error.line = line.or(case.line);
        error
    }

    /// Returns the line of the file, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the name of the case.
    pub fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(case) = &self.case {
            write!(f, "case `{case}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for EvalError {}

/// Reads a file.
fn read_text(path: &Path) -> Result<String, EvalError> {
    let fail = |error: std::io::Error| EvalError::of_file(path, format!("can't be read: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(fail)?;
    // Opened first, so that it is the file that is read. Reading a pipe could wait for ever.
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(EvalError::of_file(
            path,
            "can't be read: it is not a regular file",
        ));
    }
    file.take(LONGEST + 1)
        .read_to_string(&mut text)
        .map_err(fail)?;
    if text.len() as u64 > LONGEST {
        return Err(EvalError::of_file(
            path,
            format!("has more than {LONGEST} bytes"),
        ));
    }
    Ok(text)
}

/// Replaces a file by a value as JSON: a reader never sees a half of it.
fn replace(path: &Path, value: &impl Serialize) -> Result<(), EvalError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| EvalError::of_file(path, format!("can't be written: {error}")))?;
    text.push('\n');
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        EvalError::of_file(path, format!("can't be written: {error}"))
    })
}
