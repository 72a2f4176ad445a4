//! Generated and mutated diffs, compared with OpenAI's own package: both return the same text, or both fail.
//!
//! `TOOL_FILES_ORACLE` names a Python interpreter with the package `openai-agents`. Without it the test is skipped.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tool_files::diff;

const CASES: usize = 20_000;

/// Generates lines that are often equal, or equal except for whitespace.
fn lines() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[ab]{0,2}",
        2 => "[ \t]{0,2}[ab][ \t]{0,2}",
        1 => "[ab\u{a0}\u{1c}\u{85}\u{3000}\u{feff}\u{200b}\r ]{0,3}",
        1 => "(@@|@@ a|\\*\\*\\*|\\+|-| )",
    ]
}

fn texts() -> impl Strategy<Value = String> {
    (
        prop::collection::vec(lines(), 0..12),
        "(\n|\r\n)",
        any::<bool>(),
    )
        .prop_map(|(lines, end, is_closed)| {
            let mut text = lines.join(&end);
            if is_closed {
                text.push_str(&end);
            }
            text
        })
}

/// A line of a diff. `Header` has the index of a line of the text.
#[derive(Debug, Clone)]
enum Part {
    Keep,
    Delete,
    Add(String),
    Skip,
    Header(usize),
    Other(String),
}

fn parts() -> impl Strategy<Value = Part> {
    prop_oneof![
        6 => Just(Part::Keep),
        4 => Just(Part::Delete),
        4 => lines().prop_map(Part::Add),
        2 => Just(Part::Skip),
        3 => (0_usize..12).prop_map(Part::Header),
        1 => "(@@|@@ |@@ a|@@  b|\\*\\*\\* End of File|\\*\\*\\* End of File |\\*\\*\\* End Patch|\\*\\*\\* Update File: a|\\*\\*\\*| a|-b|a||\r)"
            .prop_map(Part::Other),
    ]
}

fn diffs(text: &str, parts: &[Part], end: &str) -> String {
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let mut at = 0;
    let mut written = Vec::new();
    for part in parts {
        let line = lines.get(at).copied().unwrap_or_default();
        match part {
            Part::Keep => written.push(format!(" {line}")),
            Part::Delete => written.push(format!("-{line}")),
            Part::Add(line) => written.push(format!("+{line}")),
            Part::Header(number) => {
                written.push(format!("@@ {}", lines.get(*number).unwrap_or(&"zz")));
            }
            Part::Other(line) => written.push(line.clone()),
            Part::Skip => {}
        }
        at += usize::from(matches!(part, Part::Keep | Part::Delete | Part::Skip));
    }
    written.join(end)
}

fn cases() -> impl Strategy<Value = (String, String, &'static str)> {
    let noise = prop::option::weighted(0.2, (any::<prop::sample::Index>(), "[-+ @*\na]"));
    let modes = prop_oneof![9 => Just("default"), 1 => Just("create")];
    (
        texts(),
        prop::collection::vec(parts(), 0..10),
        "(\n|\n|\r\n)",
        noise,
        modes,
    )
        .prop_map(|(text, parts, end, noise, mode)| {
            let mut diff = diffs(&text, &parts, &end);
            if mode == "create" && noise.is_none() {
                diff = parts.iter().map(|part| format!("+{part:?}{end}")).collect();
            }
            if let Some((place, noise)) = noise {
                let places: Vec<_> = diff
                    .char_indices()
                    .map(|(at, _)| at)
                    .chain([diff.len()])
                    .collect();
                diff.insert_str(places[place.index(places.len())], &noise);
            }
            (text, diff, mode)
        })
}

#[test]
fn diffs_apply_as_in_the_package_of_openai() {
    let Some(python) = env::var_os("TOOL_FILES_ORACLE") else {
        println!("skipped: TOOL_FILES_ORACLE names no Python interpreter with `openai-agents`");
        return;
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = cases();
    let cases: Vec<_> = (0..CASES)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect();
    let mut oracle = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = oracle.stdin.take().unwrap();
    let asked: String = cases
        .iter()
        .map(|case| serde_json::to_string(case).unwrap() + "\n")
        .collect();
    let writer = thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
    let output = oracle.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let results = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Option<String>> = results
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(results.len(), CASES);
    let mut applied = 0;
    for ((text, diff, mode), expected) in cases.iter().zip(results) {
        let result = if *mode == "create" {
            diff::create(diff)
        } else {
            diff::apply(text, diff)
        };
        applied += usize::from(expected.is_some());
        assert_eq!(
            result.as_ref().ok(),
            expected.as_ref(),
            "{mode} {text:?}\n{diff:?}\n{result:?}"
        );
    }
    println!("{applied} of {CASES} diffs apply");
    assert!(
        (CASES / 5..CASES * 4 / 5).contains(&applied),
        "{applied} of {CASES}"
    );
}
