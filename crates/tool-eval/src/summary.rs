//! Sums up attempts in the reports of cases and models.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use tool_core::Registry;

use crate::case::Case;
use crate::report::{AttemptReport, CallOutcome, CaseReport, ModelReport, Passes};

pub(crate) fn case_report(case: &Case, attempts: Vec<AttemptReport>) -> CaseReport {
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

pub(crate) fn model_report(name: &str, cases: Vec<CaseReport>) -> ModelReport {
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

/// Returns the mean, or 0 if there are no scores.
fn mean(scores: impl ExactSizeIterator<Item = f64>) -> f64 {
    // The number of attempts is small, so a float represents it exactly.
    #[allow(clippy::cast_precision_loss)]
    let count = scores.len().max(1) as f64;
    scores.sum::<f64>() / count
}

/// Returns a digest of each tool.
pub(crate) fn digests(registry: &Registry) -> BTreeMap<String, String> {
    let digests = registry.specs().into_iter().map(|tool| {
        let text = format!("{}\0{}", tool.prompt(), tool.parameters_json());
        (tool.name.to_string(), digest(&text))
    });
    digests.collect()
}

/// Returns the start of a text's SHA-256 hash in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
