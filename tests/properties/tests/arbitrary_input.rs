//! Any input as a call: no panic, no hang, and no run of a rejected call.
//!
//! `tool-core/fuzz` runs the same probes under libFuzzer.

use properties::random::Random;
use properties::subject::Subject;
use properties::{mutate, probe, rounds};

#[test]
fn arbitrary_bytes_get_a_result() {
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 2);
        for _ in 0..rounds(15, 2000) {
            let count = random.below(40);
            let bytes: Vec<u8> = (0..count).map(|_| random.word().to_le_bytes()[0]).collect();
            probe::bytes(&subject, &bytes);
            probe::bytes(&subject, &mutate::bytes(Vec::new(), &mut random));
        }
    }
}

#[test]
fn arbitrary_json_gets_a_result() {
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 3);
        for _ in 0..rounds(20, 2000) {
            probe::json(&subject, &mut random);
        }
    }
}

#[test]
fn nearly_valid_calls_get_a_result() {
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 4);
        for _ in 0..rounds(30, 5000) {
            probe::mutated(&subject, &mut random);
        }
    }
}

#[test]
fn deeply_nested_and_long_calls_get_a_result() {
    let deep = |open: &str, times: usize| open.repeat(times);
    let long = format!("\"{}\"", "a".repeat(1 << 14));
    let texts = [
        deep("[", 10_000),
        deep("{\"value\":", 5000),
        deep("{\"children\":[", 1000),
        format!("{}{}", deep("[", 127), deep("]", 127)),
        format!("{}0{}", deep("{\"next\":", 126), deep("}", 126)),
        format!(
            "{}{}{}",
            deep("{\"negate\":", 100),
            "{\"number\":1}",
            deep("}", 100)
        ),
        format!(
            "{}{}{}",
            deep("{\"op\":\"Not\",\"query\":", 60),
            "{\"op\":\"All\"}",
            deep("}", 60)
        ),
        format!("[{}1]", deep("1,", 5000)),
        format!("{{{}\"z\":1}}", deep("\"z\":1,", 2000)),
        long,
        "1".repeat(5000),
        format!("1e{}", "9".repeat(1000)),
        format!("-0.{}1", "0".repeat(1000)),
    ];
    for subject in Subject::all() {
        for text in &texts {
            probe::bytes(&subject, text.as_bytes());
        }
    }
}
