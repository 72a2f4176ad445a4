//! Whatever comes as a call: no panic, no hang, and the tool does not run on what is refused.
//!
//! `fuzz/` runs the same probes under libFuzzer.

use proofs::random::Random;
use proofs::subject::Subject;
use proofs::{mutate, probe, rounds};

#[test]
fn any_bytes_are_answered() {
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
fn any_json_is_answered() {
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 3);
        for _ in 0..rounds(20, 2000) {
            probe::json(&subject, &mut random);
        }
    }
}

#[test]
fn calls_that_are_nearly_valid_are_answered() {
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 4);
        for _ in 0..rounds(30, 5000) {
            probe::mutated(&subject, &mut random);
        }
    }
}

#[test]
fn a_call_of_great_depth_or_length_is_answered() {
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
