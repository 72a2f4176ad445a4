//! A [`Report`] as an HTML page, in the style of tool-core's catalogues. Every text goes through [`escape`].

use std::collections::BTreeMap;

use tool_docs::{HtmlPage, escape};

use crate::report::{
    AttemptReport, CallOutcome, CallReport, CaseReport, ChangeKind, ComparedCall,
    ComparedParameter, ModelReport, NOTE, Passes, Report,
};

/// Failed cases start expanded up to this many.
const FEW: usize = 3;

impl Report {
    /// Returns the report as one self-contained HTML page, which loads nothing. It shows the models, the changes since
    /// the baseline, and for each case the expected calls beside the calls made.
    ///
    /// ```
    /// use tool_eval::Report;
    ///
    /// fn save(report: &Report) -> std::io::Result<()> {
    ///     std::fs::write("report.html", report.to_html())
    /// }
    /// # let _ = save;
    /// ```
    pub fn to_html(&self) -> String {
        let failed = self.models.iter().flat_map(|model| &model.cases);
        let failed = failed.filter(|case| !case.passes.is_perfect()).count();
        let mut out = models(self);
        for (model, at) in self.models.iter().zip(0..) {
            section(model, at, failed <= FEW, &mut out);
        }
        HtmlPage::new("Evaluation")
            .entries("cases", "Cases")
            .introduction(verdict(self))
            .main(out)
            .to_html()
    }
}

/// Returns whether the check passed.
fn verdict(report: &Report) -> String {
    let failures = report.failures();
    let tried = match report.repeats {
        1 => "Each case was tried once.".to_owned(),
        repeats => format!("Each case was tried {repeats} times."),
    };
    if failures.is_empty() {
        return format!(
            "<p><strong class=\"passed\">The check passes.</strong> {tried} {}</p>",
            escape(NOTE)
        );
    }
    let word = if failures.len() == 1 {
        "failure"
    } else {
        "failures"
    };
    format!(
        "<p><strong class=\"failed\">The check fails: {} {word}.</strong> {tried} {}</p>",
        failures.len(),
        escape(NOTE)
    )
}

/// Returns the table of the models. A bar shows each rate and its interval.
fn models(report: &Report) -> String {
    let table = report.table();
    let mut out = String::from(
        "<div class=\"wide\" role=\"region\" aria-label=\"Models\" tabindex=\"0\"><table>\n",
    );
    for (row, at) in table.iter().zip(0_usize..) {
        let model = at.checked_sub(1).and_then(|at| report.models.get(at));
        out += if at == 0 { "<thead><tr>" } else { "<tr>" };
        for (cell, column) in row.iter().zip(0..) {
            let cell = escape(cell);
            out += &match (model, column) {
                (None, _) => format!("<th scope=\"col\">{cell}</th>"),
                (Some(_), 0) => format!("<th scope=\"row\">{cell}</th>"),
                (Some(model), 3) => format!("<td>{cell}{}</td>", bar(model.passes)),
                (Some(_), _) => format!("<td>{cell}</td>"),
            };
        }
        out += if at == 0 {
            "</tr></thead>\n<tbody>"
        } else {
            "</tr>\n"
        };
    }
    out + "</tbody></table></div>\n"
}

/// Returns an SVG of a rate and its interval.
fn bar(passes: Passes) -> String {
    let (low, high) = passes.interval();
    let [low, high, rate] = [low, high, passes.rate()].map(|share| share * 100.0);
    format!(
        "<svg width=\"104\" height=\"10\" viewBox=\"-2 0 104 10\" aria-hidden=\"true\">\
         <rect class=\"track\" x=\"0\" y=\"4\" width=\"100\" height=\"2\"/>\
         <rect class=\"interval\" x=\"{low:.1}\" y=\"2\" width=\"{:.1}\" height=\"6\"/>\
         <rect class=\"rate\" x=\"{:.1}\" y=\"0\" width=\"3\" height=\"10\"/></svg>",
        high - low,
        rate - 1.5
    )
}

fn section(model: &ModelReport, at: usize, is_open: bool, out: &mut String) {
    let changes: BTreeMap<_, _> = model
        .comparison
        .iter()
        .flat_map(|comparison| &comparison.changes)
        .map(|change| (&*change.case, change.kind))
        .collect();
    *out += &format!("<section>\n<h2>{}</h2>\n", escape(&model.name));
    compared(model, at, out);
    parameters(model, out);
    for (case, number) in model.cases.iter().zip(0..) {
        let change = changes.get(&*case.name).copied();
        *out += &details(case, change, &anchor(at, number), is_open);
    }
    *out += "</section>\n";
}

/// Returns the id of a model's case, from their positions.
fn anchor(model: usize, case: usize) -> String {
    format!("case-{model}-{case}")
}

/// Writes the changes since the baseline.
fn compared(model: &ModelReport, at: usize, out: &mut String) {
    let Some(comparison) = &model.comparison else {
        *out += "<p>There is no baseline to compare with.</p>\n";
        return;
    };
    if !comparison.changed_tools.is_empty() {
        let tools = comparison.changed_tools.iter();
        let tools: Vec<_> = tools
            .map(|tool| format!("<code>{}</code>", escape(tool)))
            .collect();
        *out += &format!(
            "<p>Tools that changed since the baseline: {}.</p>\n",
            tools.join(", ")
        );
    }
    if comparison.changes.is_empty() {
        *out += "<p>No case changed since the baseline.</p>\n";
        return;
    }
    *out += "<table>\n<thead><tr><th scope=\"col\">Changed case</th><th scope=\"col\">before</th>\
             <th scope=\"col\">now</th><th scope=\"col\">change</th></tr></thead>\n<tbody>";
    for change in &comparison.changes {
        let place = model.cases.iter().position(|case| case.name == change.case);
        let name = escape(&change.case);
        let name = place.map_or_else(
            || name.clone(),
            |place| format!("<a href=\"#{}\">{name}</a>", anchor(at, place)),
        );
        let before = change
            .before
            .map_or_else(|| "-".into(), |passes| passes.to_string());
        let kind = change.kind.as_str();
        *out += &format!(
            "<tr><th scope=\"row\">{name}</th><td>{before}</td><td>{}</td><td class=\"{kind}\">{kind}</td></tr>\n",
            change.now
        );
    }
    *out += "</tbody></table>\n";
}

/// Writes how often parameters were right, if they were wrong at least once.
fn parameters(model: &ModelReport, out: &mut String) {
    let parameters = model.parameters.iter();
    let wrong: Vec<_> = parameters
        .filter(|(_, passes)| !passes.is_perfect())
        .map(|(name, passes)| format!("<code>{}</code> {passes}", escape(name)))
        .collect();
    if !wrong.is_empty() {
        *out += &format!(
            "<p>How often parameters were right: {}.</p>\n",
            wrong.join(", ")
        );
    }
}

fn details(case: &CaseReport, change: Option<ChangeKind>, anchor: &str, is_open: bool) -> String {
    let is_passed = case.passes.is_perfect();
    let verdict = if is_passed { "passed" } else { "failed" };
    let open = if is_open && !is_passed { " open" } else { "" };
    let mut badges = format!("<b class=\"{verdict}\">{} passed</b>", case.passes);
    let mut tags = format!("<a href=\"#tag-{verdict}\">{verdict}</a>");
    if let Some(kind) = change {
        let kind = kind.as_str();
        badges += &format!(" <b class=\"{kind}\">{kind}</b>");
        tags += &format!(" <a href=\"#tag-{kind}\">{kind}</a>");
    }
    let line = case
        .line
        .map_or_else(String::new, |line| format!(" · line {line}"));
    let mut out = format!(
        "<details{open}><summary><h3>{}</h3> {badges} <span>{}</span></summary><div id=\"{anchor}\" class=\"whole\">\n\
         <p>{tags} score {:.3}{line}</p>\n",
        escape(&case.name),
        escape(&case.says),
        case.score
    );
    for (places, attempt) in alike(&case.attempts) {
        write_attempt(case, &places, attempt, &mut out);
    }
    out + "</div></details>\n"
}

/// Groups attempts that differ only in time and cost. Each group has their numbers, starting at 1.
fn alike(attempts: &[AttemptReport]) -> Vec<(Vec<usize>, &AttemptReport)> {
    let mut groups: Vec<(Vec<usize>, &AttemptReport)> = Vec::new();
    for (attempt, number) in attempts.iter().zip(1..) {
        let is_same = |other: &AttemptReport| {
            other.problems == attempt.problems
                && other.compared == attempt.compared
                && other.calls == attempt.calls
        };
        match groups.iter_mut().find(|(_, other)| is_same(other)) {
            Some((numbers, _)) => numbers.push(number),
            None => groups.push((vec![number], attempt)),
        }
    }
    groups
}

fn write_attempt(case: &CaseReport, numbers: &[usize], attempt: &AttemptReport, out: &mut String) {
    let verdict = if attempt.is_passed() {
        "passed"
    } else {
        "failed"
    };
    let names: Vec<_> = numbers.iter().map(usize::to_string).collect();
    let word = if numbers.len() == 1 {
        "Attempt"
    } else {
        "Attempts"
    };
    let name = if case.attempts.len() == 1 {
        "The attempt".to_owned()
    } else {
        format!("{word} {}", names.join(", "))
    };
    *out += &format!("<h4>{name} {verdict}</h4>\n");
    if !attempt.problems.is_empty() {
        let problems = attempt.problems.iter();
        let problems: Vec<_> = problems
            .map(|problem| format!("<li>{}</li>", escape(problem)))
            .collect();
        *out += &format!("<ul class=\"list\">{}</ul>\n", problems.concat());
    }
    for call in &attempt.compared {
        let made = call.made.and_then(|at| attempt.calls.get(at));
        write_compared(call, made, out);
    }
    let is_compared = |at: usize| attempt.compared.iter().any(|call| call.made == Some(at));
    for (call, at) in attempt.calls.iter().zip(0..) {
        if !is_compared(at) {
            write_other(call, attempt.unexpected.contains(&at), out);
        }
    }
    if attempt.calls.is_empty() {
        *out += match case.expected {
            Some(0) => "<p>No call was expected, and none was made.</p>\n",
            _ => "<p>No call was made.</p>\n",
        };
    }
}

/// Writes an expected call beside the call made.
fn write_compared(call: &ComparedCall, made: Option<&CallReport>, out: &mut String) {
    let note = match made {
        None => " <strong class=\"failed\">is missing</strong>".to_owned(),
        Some(made) => outcome(made),
    };
    *out += &format!(
        "<div class=\"call\"><p><code>{}</code>{note}</p>",
        escape(&call.tool)
    );
    if call.parameters.is_empty() {
        *out += "</div>\n";
        return;
    }
    *out += "\n<table><thead><tr><th scope=\"col\">Parameter</th><th scope=\"col\">Expected</th>\
             <th scope=\"col\">Made</th></tr></thead>\n<tbody>";
    for parameter in &call.parameters {
        let ComparedParameter {
            name,
            expected,
            made: value,
            is_right,
        } = parameter;
        let differs = !is_right && made.is_some();
        let class = if differs { " class=\"differs\"" } else { "" };
        let written = |value: &Option<String>| match value {
            Some(text) => format!("<code>{}</code>", escape(text)),
            None => "none".to_owned(),
        };
        let mark = if differs {
            " <strong class=\"failed\">differs</strong>"
        } else {
            ""
        };
        *out += &format!(
            "<tr{class}><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}{mark}</td></tr>\n",
            escape(name),
            written(expected),
            written(value)
        );
    }
    *out += "</tbody></table></div>\n";
}

/// Writes a call without an expected counterpart.
fn write_other(call: &CallReport, is_unexpected: bool, out: &mut String) {
    let note = match call.outcome {
        CallOutcome::Valid if is_unexpected => {
            " <strong class=\"failed\">was not expected</strong>".into()
        }
        CallOutcome::Valid => " beside the expected calls".to_owned(),
        _ => outcome(call),
    };
    *out += &format!(
        "<div class=\"call\"><p><code>{}</code>{note}</p><pre>{}</pre></div>\n",
        escape(&call.tool),
        escape(&call.arguments)
    );
}

/// Returns the outcome of a call, unless it is valid.
fn outcome(call: &CallReport) -> String {
    let reason = call.rejected.as_deref().unwrap_or_default();
    let word = match call.outcome {
        CallOutcome::Valid => return String::new(),
        CallOutcome::Corrected => "was rejected and then corrected",
        CallOutcome::Rejected => "was rejected",
    };
    format!(
        " <strong class=\"failed\">{word}</strong>: {}",
        escape(reason)
    )
}
