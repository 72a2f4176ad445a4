//! What a tool accepts is what an independent validator accepts by the emitted schema.
//!
//! `TOOL_CORE_LONG=1` judges more than a million pairs.

use std::collections::BTreeMap;

use proofs::exceptions::{Exception, explain};
use proofs::random::Random;
use proofs::sample::Sampler;
use proofs::subject::Subject;
use proofs::{mutate, rounds};
use serde_json::Value;

/// What came of the pairs of one type or of all.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    refused: usize,
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
            let text = match random.percent(15) {
                true => mutate::spelling(&text, &mut random),
                false => text,
            };
            judge(subject, &text, &mut tally);
        }
        // Hardly any string is a socket's address.
        let few = if subject.row.name.starts_with("parsed_") {
            200
        } else {
            40
        };
        if tally.accepted < pairs / few || tally.refused < pairs / few {
            one_sided.push(format!(
                "{}: {} and {}",
                subject.row.name, tally.accepted, tally.refused
            ));
        }
        all.accepted += tally.accepted;
        all.refused += tally.refused;
        for (exception, count) in tally.excepted {
            *all.excepted.entry(exception).or_default() += count;
        }
        // The shortest says most.
        tally.disagreements.sort_by_key(String::len);
        all.disagreements
            .extend(tally.disagreements.into_iter().take(2));
    }
    let judged = all.accepted + all.refused + all.excepted.values().sum::<usize>();
    println!(
        "{} types, {judged} pairs: {} accepted by both, {} refused by both, excepted {:?}",
        subjects.len(),
        all.accepted,
        all.refused,
        all.excepted
    );
    assert!(
        all.disagreements.is_empty(),
        "{}",
        all.disagreements.join("\n")
    );
    assert!(
        one_sided.is_empty(),
        "too few accepted or refused: {one_sided:#?}"
    );
}

fn judge(subject: &Subject, text: &str, tally: &mut Tally) {
    let Ok(arguments) = serde_json::from_str::<Value>(text) else {
        return;
    };
    let is_valid = subject.judge.is_valid(&arguments);
    let result = subject.call(text, false);
    match (is_valid, !result.is_error()) {
        (true, true) => tally.accepted += 1,
        (false, false) => tally.refused += 1,
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
