//! [`Report`]: what an evaluation found, as a value, as JSON, as text and as Markdown. `html` writes it as a page.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};
use tool_core::dialect::Usage;
use tool_core::visible;

use super::Recordings;

/// What an evaluation found. serde writes it as JSON, and `Display` as text for a terminal.
///
/// Secret arguments are not in it. What the user says and the other arguments are.
///
/// ```
/// use tool_agent::eval::Report;
///
/// /// What a comment on a pull request says.
/// fn comment(report: &Report) -> String {
///     let verdict = if report.is_passed() { "All as before." } else { "Something got worse." };
///     format!("{verdict}\n\n{}", report.to_markdown())
/// }
/// # let _ = comment;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// How often each case was tried.
    pub repeats: u32,
    /// The models, in the order in which they were asked.
    pub models: Vec<ModelReport>,
}

/// What a model did.
///
/// ```
/// use tool_agent::eval::ModelReport;
///
/// fn line(model: &ModelReport) -> String {
///     let (low, high) = model.passes.interval();
///     format!("{}: {:.0} to {:.0} %", model.name, 100.0 * low, 100.0 * high)
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelReport {
    /// The name of the model in the evaluation.
    pub name: String,
    /// The attempts of all cases.
    pub passes: Passes,
    /// The mean score of the attempts, from 0 to 1.
    pub score: f64,
    /// The calls that were rejected and then corrected.
    pub corrected: u32,
    /// The calls that were rejected and not corrected.
    pub rejected: u32,
    /// What all attempts used. `None` if the provider does not say it.
    pub usage: Option<Usage>,
    /// The time of all attempts, in milliseconds. `None` if the responses were recorded earlier.
    pub millis: Option<u64>,
    /// What all attempts cost, in millionths of the currency of the prices. `None` without prices or usage.
    pub micros: Option<u64>,
    /// How often each parameter of the expected calls was right, as `tool.parameter`.
    pub parameters: BTreeMap<String, Passes>,
    /// A digest of each tool's description and parameters, to find what changed since a baseline.
    pub tools: BTreeMap<String, String>,
    /// The cases, in the order of the evaluation.
    pub cases: Vec<CaseReport>,
    /// How it compares with a [baseline](super::Baseline). `None` if the baseline does not have the model.
    pub comparison: Option<Comparison>,
    #[serde(skip)]
    pub(super) recordings: Option<Recordings>,
}

/// What a model did in a case.
///
/// ```
/// use tool_agent::eval::{CaseReport, ModelReport};
///
/// /// The cases that need a better description most.
/// fn worst(model: &ModelReport) -> Vec<&CaseReport> {
///     let mut cases: Vec<_> = model.cases.iter().collect();
///     cases.sort_by(|one, other| one.score.total_cmp(&other.score));
///     cases.into_iter().take(5).collect()
/// }
/// # let _ = worst;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// The name of the case.
    pub name: String,
    /// What the user says.
    pub says: String,
    /// The line of the case in its file.
    pub line: Option<usize>,
    /// The attempts.
    pub passes: Passes,
    /// The mean score of the attempts, from 0 to 1.
    pub score: f64,
    /// How many calls are expected. `None` if any calls are right, such as where code checks the attempt.
    #[serde(default)]
    pub expected: Option<usize>,
    /// Each attempt.
    pub attempts: Vec<AttemptReport>,
}

/// What a model did in one attempt.
///
/// ```
/// use tool_agent::eval::{AttemptReport, CaseReport};
///
/// fn problems(case: &CaseReport) -> impl Iterator<Item = &str> {
///     let failed = case.attempts.iter().filter(|attempt| !attempt.is_passed());
///     failed.flat_map(|attempt: &AttemptReport| &attempt.problems).map(|problem| &**problem)
/// }
/// # let _ = problems;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptReport {
    /// What is wrong. The attempt passed if nothing is.
    pub problems: Vec<String>,
    /// Why the attempt did not end, such as without a connection. It is a problem, too.
    pub error: Option<String>,
    /// The share of what is right, from 0 to 1: of the parameters of each expected call, and of the calls.
    pub score: f64,
    /// The calls, with those that were rejected.
    pub calls: Vec<CallReport>,
    /// Each expected call beside the call that was compared with it, in the order of the case.
    #[serde(default)]
    pub compared: Vec<ComparedCall>,
    /// The places in [`calls`](AttemptReport::calls) of those that are compared with none and that the case does not allow.
    #[serde(default)]
    pub unexpected: Vec<usize>,
    /// How often each compared parameter was right, as `tool.parameter`.
    pub parameters: Vec<(String, bool)>,
    /// What the responses used. `None` if the provider does not say it.
    pub usage: Option<Usage>,
    /// The time until the end of the attempt, in milliseconds. `None` if the responses were recorded earlier.
    pub millis: Option<u64>,
    /// What the responses cost, in millionths of the currency of the prices.
    pub micros: Option<u64>,
}

impl AttemptReport {
    /// Returns `true` if nothing is wrong.
    pub fn is_passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A call of a model.
///
/// ```
/// use tool_agent::eval::CallReport;
///
/// fn line(call: &CallReport) -> String {
///     format!("{}({})", call.tool, call.arguments)
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallReport {
    /// The name of the tool.
    pub tool: String,
    /// The arguments as JSON text, without secrets.
    pub arguments: String,
    /// What became of the call.
    pub outcome: CallOutcome,
    /// Why the call was rejected.
    pub rejected: Option<String>,
}

/// An expected call, and the call of the model that was compared with it.
///
/// ```
/// use tool_agent::eval::{AttemptReport, ComparedCall};
///
/// fn missing(attempt: &AttemptReport) -> impl Iterator<Item = &ComparedCall> {
///     attempt.compared.iter().filter(|call| call.made.is_none())
/// }
/// # let _ = missing;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComparedCall {
    /// The name of the tool.
    pub tool: String,
    /// The place of the made call in [`AttemptReport::calls`]. `None` if there is none for it.
    pub made: Option<usize>,
    /// The parameters of both calls, sorted by name.
    pub parameters: Vec<ComparedParameter>,
}

/// A parameter of an expected call and of the one that was made.
///
/// ```
/// use tool_agent::eval::{ComparedCall, ComparedParameter};
///
/// fn wrong(call: &ComparedCall) -> impl Iterator<Item = &ComparedParameter> {
///     call.parameters.iter().filter(|parameter| !parameter.is_right)
/// }
/// # let _ = wrong;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComparedParameter {
    /// The name.
    pub name: String,
    /// The expected value as JSON text, without secrets, and cut if it is long. `None` if none is expected.
    pub expected: Option<String>,
    /// The value that the model wrote, in the same form. `None` if it wrote none.
    pub made: Option<String>,
    /// `true` if the values are equal for the tool, or the value is not compared.
    pub is_right: bool,
}

/// What became of a call.
///
/// ```
/// use tool_agent::eval::{CallOutcome, CallReport};
///
/// /// Counts the requests that a better message or description would save.
/// fn corrected(calls: &[CallReport]) -> usize {
///     calls.iter().filter(|call| call.outcome == CallOutcome::Corrected).count()
/// }
/// # let _ = corrected;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallOutcome {
    /// The arguments are valid.
    Valid,
    /// It was rejected, and a later call corrected it.
    Corrected,
    /// It was rejected.
    Rejected,
}

/// How many attempts passed.
///
/// ```
/// use tool_agent::eval::Passes;
///
/// let passes = Passes::new(8, 10);
/// assert_eq!(passes.rate(), 0.8);
/// let (low, high) = passes.interval();
/// assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Passes {
    /// How many passed.
    pub passed: u32,
    /// How many there were.
    pub attempts: u32,
}

impl Passes {
    /// Creates a count. `passed` is not more than `attempts`.
    pub fn new(passed: u32, attempts: u32) -> Passes {
        Passes {
            passed: passed.min(attempts),
            attempts,
        }
    }

    pub(super) fn count(&mut self, is_passed: bool) {
        self.passed += u32::from(is_passed);
        self.attempts += 1;
    }

    /// Returns the share that passed, from 0 to 1; 0 without attempts.
    pub fn rate(self) -> f64 {
        if self.attempts == 0 {
            return 0.0;
        }
        f64::from(self.passed) / f64::from(self.attempts)
    }

    /// Returns the interval of Wilson's score for the rate of more attempts, with a confidence of 95 %. It takes the
    /// attempts as independent of each other, and is (0, 1) without attempts.
    pub fn interval(self) -> (f64, f64) {
        /// Of the normal distribution, at 97.5 %.
        const Z: f64 = 1.959_963_984_540_054;
        if self.attempts == 0 {
            return (0.0, 1.0);
        }
        let (n, rate) = (f64::from(self.attempts), self.rate());
        let scale = 1.0 + Z * Z / n;
        let center = (rate + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        // Rounding may exclude a rate of 0 or 1.
        (
            (center - half).clamp(0.0, rate),
            (center + half).clamp(rate, 1.0),
        )
    }

    /// Returns `true` if all passed.
    pub fn is_perfect(self) -> bool {
        self.passed == self.attempts
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.passed, self.attempts))
    }
}

/// A model now and in a baseline.
///
/// ```
/// use tool_agent::eval::Comparison;
///
/// fn cause(comparison: &Comparison) -> String {
///     format!("changed since: {}", comparison.changed_tools.join(", "))
/// }
/// # let _ = cause;
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The cases that changed.
    pub changes: Vec<Change>,
    /// The tools that were added, removed or described in another way since.
    pub changed_tools: Vec<String>,
}

/// A case that changed since a baseline.
///
/// ```
/// use tool_agent::eval::{Change, ChangeKind, Comparison};
///
/// fn lost(comparison: &Comparison) -> impl Iterator<Item = &Change> {
///     comparison.changes.iter().filter(|change| change.kind == ChangeKind::Worse)
/// }
/// # let _ = lost;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// The name of the case.
    pub case: String,
    /// Whether the change is a failure of the check.
    pub kind: ChangeKind,
    /// The attempts of the baseline. `None` if the case is new.
    pub before: Option<Passes>,
    /// The attempts now.
    pub now: Passes,
}

/// How a case changed since a baseline.
///
/// ```
/// use tool_agent::eval::ChangeKind;
///
/// fn sign(kind: ChangeKind) -> &'static str {
///     match kind {
///         ChangeKind::Better => "+",
///         ChangeKind::Worse => "-",
///         _ => "*",
///     }
/// }
/// # let _ = sign;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// More attempts pass.
    Better,
    /// Fewer attempts pass, by more than is tolerated.
    Worse,
    /// The case is not in the baseline.
    New,
}

impl ChangeKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Better => "better",
            ChangeKind::Worse => "worse",
            ChangeKind::New => "new",
        }
    }
}

impl ModelReport {
    /// Returns the responses, for [`Candidate::replay`](super::Candidate::replay), if the candidate
    /// [recorded](super::Candidate::record) them.
    pub fn recordings(&self) -> Option<&Recordings> {
        self.recordings.as_ref()
    }

    /// Returns why the check of this model fails; nothing if it passes. Compared with a baseline, a case that is worse fails,
    /// and a new one of which an attempt failed. Without one, each case of which an attempt failed does.
    pub fn failures(&self) -> Vec<String> {
        let first_problem = |name: &str| {
            let case = self.cases.iter().find(|case| case.name == name);
            let attempts = case.into_iter().flat_map(|case| &case.attempts);
            let mut problems = attempts.flat_map(|attempt| &attempt.problems);
            problems.next().map_or("", String::as_str)
        };
        let failed = |name: &str, what: String| {
            format!("{}: {name}: {what}: {}", self.name, first_problem(name))
        };
        let Some(comparison) = &self.comparison else {
            let cases = self.cases.iter().filter(|case| !case.passes.is_perfect());
            return cases
                .map(|case| failed(&case.name, format!("{} passed", case.passes)))
                .collect();
        };
        let changes = comparison.changes.iter();
        changes
            .filter_map(|change| match (change.kind, change.before) {
                (ChangeKind::Worse, Some(before)) => {
                    let what = format!(
                        "worse than the baseline, {before} passed before, now {}",
                        change.now
                    );
                    Some(failed(&change.case, what))
                }
                (ChangeKind::New, _) if !change.now.is_perfect() => {
                    let what = format!("not in the baseline, {} passed", change.now);
                    Some(failed(&change.case, what))
                }
                _ => None,
            })
            .collect()
    }
}

impl Report {
    /// Returns why the check fails, for each model; see [`ModelReport::failures`].
    pub fn failures(&self) -> Vec<String> {
        self.models.iter().flat_map(ModelReport::failures).collect()
    }

    /// Returns `true` if the check passes.
    pub fn is_passed(&self) -> bool {
        self.failures().is_empty()
    }

    /// Returns the report as a page of Markdown: a table of the models, a table of the cases, and what went wrong.
    pub fn to_markdown(&self) -> String {
        let mut page = String::from("# Evaluation\n\n");
        let table = self.table();
        for (row, at) in table.iter().zip(0..) {
            let cells = row.iter().map(|cell| escaped(cell));
            page += &format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
            if at == 0 {
                page += &format!("|{}\n", " --- |".repeat(row.len()));
            }
        }
        page += &format!("\n{NOTE}\n\n## Cases\n\n| case |");
        for model in &self.models {
            page += &format!(" {} |", escaped(&model.name));
        }
        page += &format!("\n|{}\n", " --- |".repeat(self.models.len() + 1));
        let cases = self.models.first().map_or(&[][..], |model| &model.cases);
        for (case, at) in cases.iter().zip(0..) {
            page += &format!("| {} |", escaped(&case.name));
            for model in &self.models {
                let passes = model.cases.get(at).map(|case| case.passes);
                page += &format!(" {} |", passes.unwrap_or_default());
            }
            page.push('\n');
        }
        for model in &self.models {
            page += &format!("\n## {}\n\n", escaped(&model.name));
            let lines = model.details();
            for line in &lines {
                page += &format!("- {}\n", escaped(line));
            }
            if lines.is_empty() {
                page += "Each attempt passed.\n";
            }
        }
        page
    }

    /// Returns the rows of the table of models, with its heads.
    pub(super) fn table(&self) -> Vec<Vec<String>> {
        let heads = [
            "model",
            "passed",
            "rate",
            "95 %",
            "score",
            "corrected",
            "rejected",
            "tokens",
            "time",
            "cost",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        for model in &self.models {
            let (low, high) = model.passes.interval();
            rows.push(vec![
                model.name.clone(),
                model.passes.to_string(),
                percent(model.passes.rate()),
                format!("{:.0}-{:.0} %", low * 100.0, high * 100.0),
                format!("{:.3}", model.score),
                model.corrected.to_string(),
                model.rejected.to_string(),
                or_none(model.usage.map(|usage| usage.total().to_string())),
                or_none(
                    model
                        .millis
                        .map(|millis| format!("{}.{} s", millis / 1000, millis % 1000 / 100)),
                ),
                or_none(model.micros.map(|micros| {
                    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
                })),
            ]);
        }
        rows
    }
}

/// What the interval means.
pub(super) const NOTE: &str = "95 %: Wilson's interval for the rate, from the attempts of all cases. Score: the mean share of the calls and \
                    parameters that are right.";

impl ModelReport {
    /// Returns a line for each case that failed, parameter that was wrong, and change since the baseline.
    fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for case in self.cases.iter().filter(|case| !case.passes.is_perfect()) {
            let mut problems: Vec<&str> = Vec::new();
            for problem in case.attempts.iter().flat_map(|attempt| &attempt.problems) {
                if !problems.contains(&problem.as_str()) {
                    problems.push(problem);
                }
            }
            lines.push(format!(
                "{} passed: {}: {}",
                case.passes,
                case.name,
                problems.join("; ")
            ));
        }
        for (name, passes) in self
            .parameters
            .iter()
            .filter(|(_, passes)| !passes.is_perfect())
        {
            lines.push(format!("{passes} right: the parameter {name}"));
        }
        let Some(comparison) = &self.comparison else {
            return lines;
        };
        for change in &comparison.changes {
            let kind = change.kind.as_str();
            let before = change
                .before
                .map_or_else(String::new, |before| format!(", {before} before"));
            lines.push(format!(
                "{kind} than the baseline: {}: {}{before}",
                change.case, change.now
            ));
        }
        if !comparison.changed_tools.is_empty() {
            let tools = comparison.changed_tools.join(", ");
            lines.push(format!("tools that changed since the baseline: {tools}"));
        }
        lines
    }
}

/// A table of the models, and for each model its cases with what went wrong.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.table();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        for row in &rows {
            let mut line = String::new();
            for (cell, column) in row.iter().zip(0..) {
                let width = width(column).unwrap_or_default();
                write!(line, "{cell:<width$}  ")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        writeln!(f, "{NOTE}")?;
        for model in &self.models {
            writeln!(f, "\n{}:", model.name)?;
            for case in model.cases.iter().filter(|case| case.passes.is_perfect()) {
                writeln!(f, "  passed  {}", case.name)?;
            }
            for line in model.details() {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

/// Returns a text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible::escape(text).chars() {
        match c {
            '\n' | '\t' => escaped.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '&' | '~' => {
                escaped.extend(['\\', c]);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
