//! [`Report`]: the results of an evaluation, as a value, as JSON, as text and as Markdown. `html` writes a page.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};
use tool_core::dialect::Usage;
use tool_core::visible;

use crate::recordings::Recordings;

/// The results of an evaluation. Serialize it as JSON with serde; `Display` writes text for a terminal.
///
/// It contains the user's words and the arguments of calls, except secret ones.
///
/// ```
/// use tool_eval::Report;
///
/// /// Writes a comment for a pull request.
/// fn comment(report: &Report) -> String {
///     let verdict = if report.is_passed() { "All as before." } else { "Something got worse." };
///     format!("{verdict}\n\n{}", report.to_markdown())
/// }
/// # let _ = comment;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The number of attempts at each case.
    pub repeats: u32,
    /// The models, in the order of the evaluation.
    pub models: Vec<ModelReport>,
}

/// The results of a model.
///
/// ```
/// use tool_eval::ModelReport;
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
    /// The attempts at all cases.
    pub passes: Passes,
    /// The mean score of the attempts, from 0 to 1.
    pub score: f64,
    /// Number of calls that were rejected and then corrected.
    pub corrected: u32,
    /// Number of calls that were rejected and not corrected.
    pub rejected: u32,
    /// The usage of all attempts. `None` if the provider does not report it.
    pub usage: Option<Usage>,
    /// The time of all attempts, in milliseconds. `None` if the responses were replayed.
    pub millis: Option<u64>,
    /// The cost of all attempts, in millionths of the currency of the prices. `None` without prices or usage.
    pub micros: Option<u64>,
    /// How often each parameter of the expected calls was right, as `tool.parameter`.
    pub parameters: BTreeMap<String, Passes>,
    /// A digest of each tool's description and parameters. It shows which tools changed since a baseline.
    pub tools: BTreeMap<String, String>,
    /// The cases, in the order of the evaluation.
    pub cases: Vec<CaseReport>,
    /// The comparison with a [baseline](crate::Baseline). `None` if the baseline does not contain the model.
    pub comparison: Option<Comparison>,
    #[serde(skip)]
    pub(crate) recordings: Option<Recordings>,
}

/// The results of a model in a case.
///
/// ```
/// use tool_eval::{CaseReport, ModelReport};
///
/// /// Returns the cases that most need a better description.
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
    /// The words of the user.
    pub says: String,
    /// The line of the case in its file.
    pub line: Option<usize>,
    /// The attempts.
    pub passes: Passes,
    /// The mean score of the attempts, from 0 to 1.
    pub score: f64,
    /// The number of expected calls. `None` if any calls are allowed, for instance because code checks the attempt.
    #[serde(default)]
    pub expected: Option<usize>,
    /// Each attempt.
    pub attempts: Vec<AttemptReport>,
}

/// The result of one attempt.
///
/// ```
/// use tool_eval::{AttemptReport, CaseReport};
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
    /// Descriptions of the mistakes. The attempt passed if there are none.
    pub problems: Vec<String>,
    /// The reason why the attempt could not finish, such as a lost connection. It counts as a mistake, too.
    pub error: Option<String>,
    /// The share of correct parameters and calls, from 0 to 1.
    pub score: f64,
    /// The calls, including rejected ones.
    pub calls: Vec<CallReport>,
    /// Each expected call beside its counterpart, in the order of the case.
    #[serde(default)]
    pub compared: Vec<ComparedCall>,
    /// The indices in [`calls`](AttemptReport::calls) of calls without a counterpart that the case does not allow.
    #[serde(default)]
    pub unexpected: Vec<usize>,
    /// Each compared parameter, as `tool.parameter`, and whether it was right.
    pub parameters: Vec<(String, bool)>,
    /// The usage of the responses. `None` if the provider does not report it.
    pub usage: Option<Usage>,
    /// The duration of the attempt, in milliseconds. `None` if the responses were replayed.
    pub millis: Option<u64>,
    /// The cost of the responses, in millionths of the currency of the prices.
    pub micros: Option<u64>,
}

impl AttemptReport {
    /// Returns `true` if the attempt has no mistakes.
    pub fn is_passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// A call of a model.
///
/// ```
/// use tool_eval::CallReport;
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
    /// The outcome of the call.
    pub outcome: CallOutcome,
    /// The reason why the call was rejected.
    pub rejected: Option<String>,
}

/// An expected call, and its counterpart among the model's calls.
///
/// ```
/// use tool_eval::{AttemptReport, ComparedCall};
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
    /// The index of the counterpart in [`AttemptReport::calls`]. `None` if it has none.
    pub made: Option<usize>,
    /// The parameters of both calls, sorted by name.
    pub parameters: Vec<ComparedParameter>,
}

/// A parameter of an expected call and of its counterpart.
///
/// ```
/// use tool_eval::{ComparedCall, ComparedParameter};
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
    /// The expected value as JSON, without secrets, and shortened if it is long. `None` if none is expected.
    pub expected: Option<String>,
    /// The model's value, in the same form. `None` if it wrote none.
    pub made: Option<String>,
    /// `true` if the tool treats the values as equal, or the value is ignored.
    pub is_right: bool,
}

/// The outcome of a call.
///
/// ```
/// use tool_eval::{CallOutcome, CallReport};
///
/// /// Counts requests that a better message or description would save.
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
    /// The call was rejected, and a later call corrected it.
    Corrected,
    /// The call was rejected and not corrected.
    Rejected,
}

/// A number of passed attempts, out of all.
///
/// ```
/// use tool_eval::Passes;
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
    /// The number of passed attempts.
    pub passed: u32,
    /// The number of all attempts.
    pub attempts: u32,
}

impl Passes {
    /// Creates a count. `passed` is limited to `attempts`.
    pub fn new(passed: u32, attempts: u32) -> Passes {
        Passes {
            passed: passed.min(attempts),
            attempts,
        }
    }

    pub(crate) fn count(&mut self, is_passed: bool) {
        self.passed += u32::from(is_passed);
        self.attempts += 1;
    }

    /// Returns the share of passed attempts, from 0 to 1. It is 0 without attempts.
    pub fn rate(self) -> f64 {
        if self.attempts == 0 {
            return 0.0;
        }
        f64::from(self.passed) / f64::from(self.attempts)
    }

    /// Returns Wilson's score interval for the rate, with a confidence of 95 %. It assumes that attempts are
    /// independent. Without attempts it is (0, 1).
    pub fn interval(self) -> (f64, f64) {
        /// The 97.5 % quantile of the normal distribution.
        const Z: f64 = 1.959_963_984_540_054;
        if self.attempts == 0 {
            return (0.0, 1.0);
        }
        let (n, rate) = (f64::from(self.attempts), self.rate());
        let scale = 1.0 + Z * Z / n;
        let center = (rate + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
        // Rounding could exclude a rate of exactly 0 or 1.
        (
            (center - half).clamp(0.0, rate),
            (center + half).clamp(rate, 1.0),
        )
    }

    /// Returns `true` if all attempts passed.
    pub fn is_perfect(self) -> bool {
        self.passed == self.attempts
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.passed, self.attempts))
    }
}

/// A comparison of a model with its baseline.
///
/// ```
/// use tool_eval::Comparison;
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
    /// The tools that were added, removed or changed since.
    pub changed_tools: Vec<String>,
}

/// A case that changed since a baseline.
///
/// ```
/// use tool_eval::{Change, ChangeKind, Comparison};
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
    /// The kind of the change, which tells whether the check fails.
    pub kind: ChangeKind,
    /// The attempts in the baseline. `None` if the case is new.
    pub before: Option<Passes>,
    /// The attempts now.
    pub now: Passes,
}

/// The kind of a case's change since a baseline.
///
/// ```
/// use tool_eval::ChangeKind;
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
    /// More attempts passed.
    Better,
    /// Fewer attempts passed, by more than the tolerance.
    Worse,
    /// The case is not in the baseline.
    New,
}

impl ChangeKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Better => "better",
            ChangeKind::Worse => "worse",
            ChangeKind::New => "new",
        }
    }
}

impl ModelReport {
    /// Returns the responses, for [`Candidate::replay`](crate::Candidate::replay), if the candidate
    /// [recorded](crate::Candidate::record) them.
    pub fn recordings(&self) -> Option<&Recordings> {
        self.recordings.as_ref()
    }

    /// Returns the reasons why the check of this model fails. Empty if it passes. With a baseline, a case fails if it
    /// got worse, or if it is new and an attempt failed. Without one, a case fails if an attempt failed.
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
    /// Returns the reasons why the check fails, by model; see [`ModelReport::failures`].
    pub fn failures(&self) -> Vec<String> {
        self.models.iter().flat_map(ModelReport::failures).collect()
    }

    /// Returns `true` if the check passes.
    pub fn is_passed(&self) -> bool {
        self.failures().is_empty()
    }

    /// Returns the report as Markdown, with a table of the models, a table of the cases, and the mistakes.
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

    /// Returns the rows of the table of models, including its head.
    pub(crate) fn table(&self) -> Vec<Vec<String>> {
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

/// Explains the interval.
pub(crate) const NOTE: &str = "95 %: Wilson's interval for the rate, from the attempts of all cases. Score: the mean share of the calls and \
                    parameters that are right.";

impl ModelReport {
    /// Returns a line for each failed case, wrong parameter, and change since the baseline.
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

/// Writes a table of the models, and the cases and mistakes of each.
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

/// Escapes a text for Markdown.
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
