//! A result matches the output schema, as an independent validator sees it, or is an error.

use std::collections::BTreeMap;

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::table::returning;
use properties::written::{ReturningSubject, Verdict};
use properties::{mutate, rounds};
use serde_json::Value;

#[test]
fn every_result_matches_its_output_schema() {
    let arguments: BTreeMap<&str, Value> = Subject::all()
        .into_iter()
        .map(|subject| (subject.row.name, subject.schema))
        .collect();
    let mut invalid_types = Vec::new();
    let (mut types, mut valid, mut invalid) = (0, 0, 0);
    for returning in returning() {
        let subject = ReturningSubject::new(returning);
        let name = subject.returning.name;
        let mut random = Random::named(name, 9);
        let read = arguments.get(name);
        let sampler = read.map(Sampler::new);
        let mut own = [0, 0];
        for round in 0..rounds(100, 5000) {
            let mut json = Value::Null;
            if let (Some(sampler), Some(read)) = (&sampler, read) {
                json = sampler.sample(&mut random);
                for _ in 0..round % 3 {
                    json = mutate::value(&json, read, &mut random);
                }
                json = json.get_mut("value").map(Value::take).unwrap_or_default();
            }
            match (subject.returning.probe)(&subject, &json, &mut random) {
                Some(Verdict::Valid) => own[0] += 1,
                Some(Verdict::Invalid) => own[1] += 1,
                None => {}
            }
        }
        assert!(own[0] > 0, "{name}: no valid result of {own:?}");
        types += 1;
        valid += own[0];
        invalid += own[1];
        if own[1] > 0 {
            invalid_types.push(name);
        }
    }
    println!("{types} types, {valid} valid results, {invalid} invalid ones of {invalid_types:?}");
    // The causes of invalid results: NaN, constraints, `Serialize` by hand, and inserted maps.
    for name in [
        "f64_",
        "list_floats",
        "percent",
        "fields",
        "shape",
        "written_lying",
        "written_measured",
    ] {
        assert!(
            invalid_types.contains(&name),
            "{name} has no invalid result"
        );
    }
}
