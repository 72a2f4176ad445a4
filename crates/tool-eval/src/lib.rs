#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules, from the bottom up.
//
// error         an error names its file, line and case
// storage       reads and writes files
// recordings    responses of models, for replays
// report, html  results, as values, text and a page of HTML
// attempt       a conversation of a model, and its calls
// case          the words of a user, and the calls that they should lead to
// baseline      earlier results
// score         compares calls
// summary       sums of attempts, and digests of tools
// candidate     a model to evaluate
// run           asks models, and checks their calls
// file          cases and models from a file
// bfcl          entries of the Berkeley Function Calling Leaderboard
// guide         only documentation

mod attempt;
mod baseline;
pub mod bfcl;
mod candidate;
mod case;
mod error;
mod file;
#[cfg(any(doc, doctest))]
#[doc = include_str!("guide.md")]
pub mod guide {}
mod html;
mod recordings;
mod report;
mod run;
mod score;
mod storage;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use self::case::Check;

pub use self::attempt::{Attempt, MadeCall};
pub use self::baseline::Baseline;
pub use self::candidate::Candidate;
pub use self::case::{Case, ExpectedCall, Order};
pub use self::error::EvalError;
pub use self::file::{EvalFile, ModelSettings};
pub use self::recordings::Recordings;
pub use self::report::{
    AttemptReport, CallOutcome, CallReport, CaseReport, Change, ChangeKind, ComparedCall,
    ComparedParameter, Comparison, ModelReport, Passes, Report,
};

/// Cases, and the settings to run them. See the [front page](crate) for an example.
///
/// ```
/// use tool_eval::{Case, Eval};
///
/// let eval = Eval::new([
///     Case::new("greeting", "Hello!").no_call(),
///     Case::new("half", "Half the volume").call("set_volume", serde_json::json!({"percent": 50})),
/// ]);
/// assert_eq!(eval.repeats(5).cases().len(), 2);
/// ```
#[doc(alias("benchmark"))]
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

impl Eval {
    /// Creates an evaluation that tries each case once.
    pub fn new(cases: impl IntoIterator<Item = Case>) -> Eval {
        Eval {
            cases: cases.into_iter().collect(),
            ..Eval::default()
        }
    }

    /// Sets the number of attempts at each case, at least one. Use several, because a model's answers vary.
    pub fn repeats(mut self, repeats: u32) -> Self {
        self.repeats = Some(repeats.max(1));
        self
    }

    /// Sets the number of attempts that are made at the same time. The default is one.
    pub fn concurrency(mut self, attempts: usize) -> Self {
        self.concurrency = Some(attempts.max(1));
        self
    }

    /// Sets the maximum number of requests in an attempt, at least one. The default is 8. If it is reached, the calls
    /// so far are compared.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.max_rounds = Some(rounds.max(1));
        self
    }

    /// Runs the tools in all cases, with all their effects; see [`Case::run_tools`].
    pub fn run_tools(mut self) -> Self {
        self.runs_tools = true;
        self
    }

    /// Sets the result for calls of a tool, in cases without their own [result](Case::result).
    pub fn result(mut self, tool: impl Into<String>, result: impl Into<Value>) -> Self {
        self.results.insert(tool.into(), result.into());
        self
    }

    /// Registers a check that cases can name; see [`Case::predicate`].
    ///
    /// ```
    /// use tool_eval::{Case, Eval};
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
    /// Returns an error if one of these cases does not exist.
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
}

impl fmt::Debug for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eval")
            .field("cases", &self.cases)
            .field("repeats", &self.repeats)
            .finish_non_exhaustive()
    }
}
