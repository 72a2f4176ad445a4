//! [`Baseline`]: earlier results, in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::EvalError;
use crate::report::{Change, ChangeKind, Comparison, ModelReport, Passes, Report};
use crate::storage::{read_text, replace};

/// The version of the file.
const VERSION: u32 = 1;

/// The earlier results, in a file such as `eval.lock.json`. Keep it in version control beside the lock file of the
/// tools. A check then fails if a model got worse since, for instance because a tool's description changed.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_eval::{Baseline, Candidate, Case, Eval};
///
/// let eval = Eval::new([Case::new("greeting", "Hello!").no_call()]);
/// let model = ScriptedModel::default().say("Hello!");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// let mut report = eval.run_blocking([Candidate::new("model", agent)])?;
/// let baseline = Baseline::of(&report);
/// baseline.compare(&mut report, 0.0);
/// assert!(report.is_passed());
/// # Ok::<(), tool_eval::EvalError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    models: BTreeMap<String, Model>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    tools: BTreeMap<String, String>,
    cases: BTreeMap<String, Passes>,
}

impl Default for Baseline {
    fn default() -> Baseline {
        Baseline {
            version: VERSION,
            models: BTreeMap::new(),
        }
    }
}

impl Baseline {
    /// Creates the baseline of a report.
    pub fn of(report: &Report) -> Baseline {
        let mut baseline = Baseline::default();
        baseline.update(report);
        baseline
    }

    /// Reads a file. Returns `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be read, is not a baseline, or was written by a later version.
    pub fn read(path: impl AsRef<Path>) -> Result<Option<Baseline>, EvalError> {
        let path = path.as_ref();
        if let Err(error) = fs::metadata(path)
            && error.kind() == ErrorKind::NotFound
        {
            return Ok(None);
        }
        let wrong = |message: String| EvalError::of_file(path, message);
        let text = read_text(path)?;
        let baseline: Baseline = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not a baseline; write it again: {error}")))?;
        if baseline.version != VERSION {
            let message = format!(
                "the baseline has version {}, this program reads {VERSION}; write it again",
                baseline.version
            );
            return Err(wrong(message));
        }
        let counts = baseline.models.values().flat_map(|model| &model.cases);
        for (name, passes) in counts {
            if passes.passed > passes.attempts || passes.attempts == 0 {
                return Err(wrong(format!(
                    "case `{name}`: {passes} attempts can't pass; write it again"
                )));
            }
        }
        Ok(Some(baseline))
    }

    /// Replaces the results of the report's models, and keeps other models.
    pub fn update(&mut self, report: &Report) {
        for model in &report.models {
            let cases = model.cases.iter();
            let saved = Model {
                tools: model.tools.clone(),
                cases: cases.map(|case| (case.name.clone(), case.passes)).collect(),
            };
            self.models.insert(model.name.clone(), saved);
        }
    }

    /// Writes the file. It is replaced atomically.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), EvalError> {
        replace(path.as_ref(), self)
    }

    /// Compares a report with the baseline, and adds a [comparison](ModelReport::comparison) to each model in the
    /// baseline. A case is worse if its rate of passed attempts is lower by more than `tolerance`, from 0 to 1. With
    /// few attempts, chance alone changes the rate: with 5, a tolerance of 0.2 allows one to fail.
    pub fn compare(&self, report: &mut Report, tolerance: f64) {
        for model in &mut report.models {
            let before = self.models.get(&model.name);
            model.comparison = before.map(|before| comparison(model, before, tolerance));
        }
    }
}

fn comparison(model: &ModelReport, before: &Model, tolerance: f64) -> Comparison {
    let mut changes = Vec::new();
    for case in &model.cases {
        let before = before.cases.get(&case.name).copied();
        let now = case.passes;
        // Rates of small numbers are either equal or differ by more than this.
        let kind = match before.map(|before| now.rate() - before.rate()) {
            None => ChangeKind::New,
            Some(change) if change < -tolerance - 1e-9 => ChangeKind::Worse,
            Some(change) if change > 1e-9 => ChangeKind::Better,
            Some(_) => continue,
        };
        changes.push(Change {
            case: case.name.clone(),
            kind,
            before,
            now,
        });
    }
    let (old, new) = (&before.tools, &model.tools);
    let mut changed_tools: Vec<_> = new
        .iter()
        .filter(|(name, digest)| old.get(*name) != Some(digest))
        .map(|(name, _)| name.clone())
        .chain(old.keys().filter(|name| !new.contains_key(*name)).cloned())
        .collect();
    changed_tools.sort();
    Comparison {
        changes,
        changed_tools,
    }
}
