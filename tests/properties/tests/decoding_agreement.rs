//! A type that decodes by its own schema gets the same values as by serde, and reports the same violations.
//!
//! `TOOL_CORE_LONG=1` checks more than a million calls.

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::{Row, Subject};
use properties::{mutate, rounds};

#[test]
fn a_type_decodes_as_serde_decodes_it() {
    let (mut types, mut accepted, mut rejected) = (0, 0, 0);
    let mut differences = Vec::new();
    for own in Subject::all() {
        let Some((tool, is_same)) = own.row.by_serde.clone() else {
            continue;
        };
        let by_serde = Subject::new(Row {
            name: own.row.name,
            tool,
            round_trip: None,
            by_serde: None,
            typed: None,
        });
        assert_eq!(own.schema, by_serde.schema, "{}", own.row.name);
        types += 1;
        let mut random = Random::named(own.row.name, 9);
        let sampler = Sampler::new(&own.schema);
        let mut found = Vec::new();
        for round in 0..rounds(300, 8000) {
            let mut arguments = sampler.sample(&mut random);
            if round % 3 == 0 {
                arguments = mutate::value(&arguments, &own.schema, &mut random);
            }
            let mut text = arguments.to_string();
            if random.percent(15) {
                text = mutate::spelling(&text, &mut random);
            }
            match is_same(&own, &by_serde, &text) {
                Ok(true) => accepted += 1,
                Ok(false) => rejected += 1,
                Err(difference) => found.push(format!("{}: {difference}", own.row.name)),
            }
        }
        // The shortest is the easiest to read.
        found.sort_by_key(String::len);
        differences.extend(found.into_iter().take(2));
    }
    println!("{types} types: {accepted} calls accepted both ways, {rejected} rejected both ways");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(types >= 120, "{types} types");
    assert!(
        accepted > rejected,
        "{accepted} accepted, {rejected} rejected"
    );
}
