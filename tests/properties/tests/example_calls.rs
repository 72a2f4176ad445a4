//! What the compiler says about an example is what the schema and a call say.
//!
//! An example is accepted if an independent validator accepts it by the emitted schema and the tool
//! accepts it as a call. Where the compiler leaves the verdict to a call, because of a pattern, a format
//! or a type's own code, it must still accept everything that both accept.

use std::collections::BTreeSet;

use properties::exceptions::{Exception, explain};
use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::Value;
use tool_core::__private::Literal;
use tool_core::__private::examples::verdict;

#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    undecided: usize,
}

#[test]
fn the_compiler_accepts_what_the_schema_and_a_call_accept() {
    let pairs = rounds(150, 5000);
    let mut tally = Tally::default();
    let mut undecided_rows = BTreeSet::new();
    let mut disagreements = Vec::new();
    let subjects = Subject::all();
    for subject in &subjects {
        let mut random = Random::named(subject.row.name, 7);
        let sampler = Sampler::new(&subject.schema);
        for round in 0..pairs {
            let valid = sampler.sample(&mut random);
            let arguments = match round % 3 {
                0 => valid,
                _ => mutate::value(&valid, &subject.schema, &mut random),
            };
            if !arguments.is_object() {
                continue;
            }
            let found = examine(subject, &arguments);
            if found.violations == 0 && !found.is_decided {
                undecided_rows.insert(subject.row.name);
            }
            match (found.violations, found.is_decided) {
                (0, true) => tally.accepted += 1,
                (0, false) => tally.undecided += 1,
                _ => tally.rejected += 1,
            }
            disagreements.extend(disagreement(subject, &arguments, found));
        }
    }
    println!(
        "{} types: {tally:?}, undecided in {} types",
        subjects.len(),
        undecided_rows.len()
    );
    disagreements.sort_by_key(String::len);
    disagreements.truncate(40);
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    assert!(
        tally.accepted > pairs * subjects.len() / 5 && tally.rejected > pairs * subjects.len() / 5,
        "one-sided: {tally:?}"
    );
    assert!(
        undecided_rows.len() < subjects.len() / 2,
        "undecided: {undecided_rows:?}"
    );
}

#[derive(Clone, Copy, Debug)]
struct Verdict {
    violations: usize,
    is_decided: bool,
}

fn examine(subject: &Subject, arguments: &Value) -> Verdict {
    let schema = subject.row.tool.spec().parameters();
    let (violations, is_decided) = verdict(schema.properties(), &literal(arguments));
    Verdict {
        violations,
        is_decided,
    }
}

/// Returns a value as the macro writes it. Literals live in constants, so they are leaked.
fn literal(value: &Value) -> Literal {
    let leaked = |text: String| &*text.leak();
    match value {
        Value::Null => Literal::Null,
        Value::Bool(truth) => Literal::Boolean(*truth),
        Value::Number(number) => {
            let json = leaked(number.to_string());
            Literal::Number(json, json.parse().expect("a float"))
        }
        Value::String(text) => Literal::String(leaked(text.clone()), text.chars().count()),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(literal).collect();
            Literal::Array(leaked(value.to_string()), items.leak())
        }
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (leaked(key.clone()), literal(value)));
            let members = members.collect::<Vec<_>>().leak();
            Literal::Object(leaked(value.to_string()), members)
        }
    }
}

fn disagreement(subject: &Subject, arguments: &Value, found: Verdict) -> Option<String> {
    let is_valid = subject.validator.is_valid(arguments);
    let is_accepted = subject.accepts(arguments);
    let expected = is_valid && is_accepted;
    let agrees = match (found.violations == 0, found.is_decided) {
        (true, true) => expected,
        (true, false) => true,
        (false, _) => !expected,
    };
    let is_excepted = || {
        let exceptions = explain(subject, arguments, is_accepted).unwrap_or_default();
        let allowed: &[Exception] = if is_accepted {
            // Multiples are computed in decimal, as in a call.
            &[Exception::DecimalStep]
        } else {
            // Types with a `Deserialize` of their own, and times that the system cannot represent.
            &[Exception::Parsed, Exception::Magnitude]
        };
        !exceptions.is_empty() && exceptions.iter().all(|one| allowed.contains(one))
    };
    (!agrees && !is_excepted()).then(|| {
        format!(
            "{}: {arguments}: {found:?}, valid: {is_valid}, accepted: {is_accepted}, by {}",
            subject.row.name,
            subject.row.tool.parameters_json(),
        )
    })
}
