//! A tool accepts exactly the arguments that an independent validator accepts by the emitted
//! schema.
//!
//! `TOOL_CORE_LONG=1` checks more than a million pairs.

use std::collections::BTreeMap;

use properties::exceptions::{Exception, explain};
use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::Value;

/// Counts for one type or for all.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    excepted: BTreeMap<Exception, usize>,
    disagreements: Vec<String>,
}

#[test]
fn a_tool_accepts_what_its_schema_describes() {
    let subjects = Subject::all();
    assert!(subjects.len() >= 150, "{} rows", subjects.len());
    let pairs = rounds(150, 6000);
    let mut all = Tally::default();
    let mut one_sided = Vec::new();
    for subject in &subjects {
        let mut tally = Tally::default();
        let mut random = Random::named(subject.row.name, 1);
        let sampler = Sampler::new(&subject.schema);
        for round in 0..pairs {
            let valid = sampler.sample(&mut random);
            let arguments = match round % 3 {
                0 => valid,
                _ => mutate::value(&valid, &subject.schema, &mut random),
            };
            let text = arguments.to_string();
            let text = if random.percent(15) {
                mutate::spelling(&text, &mut random)
            } else {
                text
            };
            check(subject, &text, &mut tally);
        }
        // Few random strings are socket addresses.
        let few = if subject.row.name.starts_with("parsed_") {
            200
        } else {
            40
        };
        if tally.accepted < pairs / few || tally.rejected < pairs / few {
            one_sided.push(format!(
                "{}: {} and {}",
                subject.row.name, tally.accepted, tally.rejected
            ));
        }
        all.accepted += tally.accepted;
        all.rejected += tally.rejected;
        for (exception, count) in tally.excepted {
            *all.excepted.entry(exception).or_default() += count;
        }
        // The shortest is the easiest to read.
        tally.disagreements.sort_by_key(String::len);
        all.disagreements
            .extend(tally.disagreements.into_iter().take(2));
    }
    let checked = all.accepted + all.rejected + all.excepted.values().sum::<usize>();
    println!(
        "{} types, {checked} pairs: {} accepted by both, {} rejected by both, excepted {:?}",
        subjects.len(),
        all.accepted,
        all.rejected,
        all.excepted
    );
    assert!(
        all.disagreements.is_empty(),
        "{}",
        all.disagreements.join("\n")
    );
    assert!(
        one_sided.is_empty(),
        "too few accepted or rejected: {one_sided:#?}"
    );
}

fn check(subject: &Subject, text: &str, tally: &mut Tally) {
    let Ok(arguments) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let is_valid = subject.validator.is_valid(&arguments);
    let result = subject.call(text, false);
    match (is_valid, !result.is_error()) {
        (true, true) => tally.accepted += 1,
        (false, false) => tally.rejected += 1,
        (_, is_accepted) => match explain(subject, &arguments, is_accepted) {
            Some(exceptions) => {
                for exception in exceptions.into_iter().take(1) {
                    *tally.excepted.entry(exception).or_default() += 1;
                }
            }
            None => tally.disagreements.push(format!(
                "{}: {text} is {} by {}\n    and the tool said: {}",
                subject.row.name,
                if is_valid { "valid" } else { "invalid" },
                subject.row.tool.parameters_json(),
                result.content(),
            )),
        },
    }
}
