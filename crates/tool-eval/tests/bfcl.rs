//! Entries of the Berkeley Function Calling Leaderboard. Our verdicts equal those of its own checker, in Python:
//!
//! ```text
//! python3 -m venv target/bfcl && target/bfcl/bin/pip install --no-deps bfcl-eval
//! BFCL_PYTHON=$PWD/target/bfcl/bin/python BFCL_DATA=/path/to/bfcl cargo test -p tool-eval --test bfcl
//! ```
//!
//! The folder contains files such as `BFCL_v4_parallel.json`, and the answers in `possible_answer`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::testing::ScriptedModel;
use tool_core::Registry;
use tool_eval::{Candidate, Eval, bfcl};

/// A verdict of the original checker.
#[derive(Deserialize)]
struct Judged {
    file: String,
    id: String,
    kind: String,
    calls: Vec<Map<String, Value>>,
    is_valid: bool,
    why: String,
}

#[test]
fn verdicts_equal_those_of_the_leaderboard() {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(python), Some(data)) = (variable("BFCL_PYTHON"), variable("BFCL_DATA")) else {
        println!("skipped: set BFCL_PYTHON and BFCL_DATA");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bfcl.py");
    let ran = Command::new(python)
        .arg(script)
        .arg(&data)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut entries: BTreeMap<String, BTreeMap<String, bfcl::Entry>> = BTreeMap::new();
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let judged: Judged = serde_json::from_str(line).unwrap();
        let entries = entries.entry(judged.file.clone()).or_insert_with(|| {
            let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
            let answers = read(data.join("possible_answer").join(&judged.file));
            let entries = bfcl::entries(&read(data.join(&judged.file)), &answers).unwrap();
            entries
                .into_iter()
                .map(|entry| (entry.id().to_owned(), entry))
                .collect()
        });
        let calls = judged.calls.iter().map(|call| {
            let (name, arguments) = call.iter().next().unwrap();
            (name.clone(), arguments.as_object().unwrap().clone())
        });
        let verdict = entries[&judged.id].check(&calls.collect::<Vec<_>>());
        let count: &mut (u32, u32) = counts.entry(judged.kind.clone()).or_default();
        count.0 += u32::from(judged.is_valid);
        count.1 += 1;
        if verdict.is_ok() != judged.is_valid {
            let calls = json!(judged.calls);
            wrong.push(format!(
                "{} ({}): {verdict:?}, not {} ({}): {calls}",
                judged.id, judged.kind, judged.is_valid, judged.why
            ));
        }
    }
    println!("valid and all, by kind: {counts:?}");
    let mutations = counts
        .iter()
        .filter(|(kind, _)| *kind != "answer")
        .map(|(_, count)| count.1);
    assert!(mutations.sum::<u32>() >= 5000, "{counts:?}");
    assert!(
        wrong.is_empty(),
        "{} differ: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(20)]
    );
}

/// Our own entries in the leaderboard's form, with its types, dots in names and kinds of answers.
fn sample() -> (String, String) {
    let function = |name: &str| {
        json!({"name": name, "description": "Finds a song.", "parameters": {"type": "dict", "properties": {
            "title": {"type": "string"},
            "length": {"type": "float"},
            "year": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filter": {"type": "dict", "properties": {"live": {"type": "boolean"}}},
        }, "required": ["title"]}})
    };
    let question = json!([[{"role": "user", "content": "Find it"}]]);
    let entry =
        |id: &str, functions: Value| json!({"id": id, "question": question, "function": functions});
    let right = json!({"title": ["Blue, in Green"], "length": [5.5, 5], "year": [1959, ""], "tags": [["jazz", "cool"], ""], "filter": [{"live": [false, ""]}, ""]});
    let entries = [
        entry("simple_python_0", json!([function("song.find")])),
        entry(
            "multiple_0",
            json!([function("song.list"), function("song.find")]),
        ),
        entry("parallel_0", json!([function("song.find")])),
        entry("irrelevance_0", json!([function("song.find")])),
    ];
    let answers = [
        json!({"id": "simple_python_0", "ground_truth": [{"song.find": right}]}),
        json!({"id": "multiple_0", "ground_truth": [{"song.find": right}]}),
        json!({"id": "parallel_0", "ground_truth": [{"song.find": right}, {"song.find": {"title": ["So What"], "length": [9.0]}}]}),
    ];
    let lines = |values: &[Value]| values.iter().map(|value| format!("{value}\n")).collect();
    (lines(&entries), lines(&answers))
}

#[test]
fn calls_are_judged_by_the_rules_of_the_leaderboard() {
    let (entries, answers) = sample();
    let entries = bfcl::entries(&entries, &answers).unwrap();
    let call = |arguments: Value| {
        (
            "song.find".to_owned(),
            arguments.as_object().unwrap().clone(),
        )
    };
    let one = |arguments: Value| entries[0].check(&[call(arguments)]);
    // Case, spaces and some punctuation of strings don't matter. An integer passes as a float, but no float as an
    // integer.
    assert_eq!(one(json!({"title": "blue in-green", "length": 5})), Ok(()));
    assert_eq!(
        one(
            json!({"title": "Blue in Green", "length": 5.5, "year": 1959, "tags": ["JAZZ", "cool"], "filter": {}})
        ),
        Ok(())
    );
    for (arguments, problem) in [
        (json!({"length": 5}), "title is missing"),
        (json!({"title": "Blue in Green"}), "length is missing"),
        (
            json!({"title": "So What", "length": 5}),
            "title has another value",
        ),
        (
            json!({"title": "Blue in Green", "length": 5, "year": 1959.0}),
            "year has another type",
        ),
        (
            json!({"title": "Blue in Green", "length": 5, "tags": ["cool", "jazz"]}),
            "tags has another value",
        ),
        (
            json!({"title": "Blue in Green", "length": 5, "filter": {"live": true}}),
            "filter has another value",
        ),
        (
            json!({"title": "Blue in Green", "length": 5, "more": 1}),
            "more is not expected",
        ),
    ] {
        let error = one(arguments).unwrap_err();
        assert!(error.starts_with(problem), "{error}");
    }
    // A required parameter may be absent from the answer.
    let (entry, answer) = sample();
    let answer = answer
        .replace(r#""title":["Blue, in Green"],"#, "")
        .replace(r#","title":["Blue, in Green"]"#, "");
    let untitled = bfcl::entries(&entry, &answer).unwrap();
    let error = untitled[0]
        .check(&[call(json!({"length": 5}))])
        .unwrap_err();
    assert_eq!(error, "title is missing");
    let other = ("song.list".to_owned(), Map::new());
    assert!(
        entries[1]
            .check(&[other])
            .unwrap_err()
            .contains("song.list instead of")
    );
    let first = call(json!({"title": "Blue in Green", "length": 5}));
    let second = call(json!({"title": "So what", "length": 9}));
    assert_eq!(entries[2].check(&[second.clone(), first.clone()]), Ok(()));
    assert!(entries[2].check(&[first.clone(), first.clone()]).is_err());
    assert!(
        entries[2]
            .check(&[second])
            .unwrap_err()
            .starts_with("1 calls, expected 2")
    );
    assert_eq!(entries[3].check(&[]), Ok(()));
    assert!(entries[3].check(&[first]).is_err());
}

#[test]
fn entries_are_cases_with_their_own_tools() {
    let (entries, answers) = sample();
    let eval = Eval::new(bfcl::cases(&entries, &answers).unwrap());
    let call = |arguments: &str| {
        // Providers reject a dot in the name of a function.
        json!({"id": arguments, "type": "function", "function": {"name": "song_find", "arguments": arguments}})
    };
    let says = |calls: &[Value]| json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": calls}}]});
    let right = call(r#"{"title":"Blue in Green","length":5.5}"#);
    let model = ScriptedModel::new([
        says(std::slice::from_ref(&right)),
        says(&[call(r#"{"title":"Blue in Green"}"#)]),
        says(&[call(r#"{"title":"so what","length":9}"#), right]),
        json!({"choices": [{"message": {"role": "assistant", "content": "I can't."}}]}),
    ]);
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), model.clone());
    let report = eval.run_blocking([Candidate::new("model", agent)]).unwrap();
    assert_eq!(
        report.failures(),
        ["model: multiple_0: 0/1 passed: length is missing"]
    );
    let tools: Value = serde_json::from_str(model.requests()[0].tools().as_str()).unwrap();
    let parameters = &tools[0]["function"]["parameters"];
    assert_eq!(parameters["properties"]["length"]["type"], "number");
}

#[test]
fn entries_of_other_forms_are_rejected_with_their_line() {
    let (entries, answers) = sample();
    let error =
        |entries: &str, answers: &str| bfcl::cases(entries, answers).unwrap_err().to_string();
    assert_eq!(error("\n{", &answers).find("line 2: not an entry"), Some(0));
    assert_eq!(
        error(&entries, "[]").find("line 1: not a possible answer"),
        Some(0)
    );
    let none = error(&entries, "");
    assert!(
        none.starts_with("line 1: case `simple_python_0`: the entry has no possible answer"),
        "{none}"
    );
    let java = error(
        &entries.replace("simple_python_0", "simple_java_0"),
        &answers,
    );
    assert!(
        java.contains("entries of this category are not read"),
        "{java}"
    );
    let system = error(
        &entries.replace(r#""role":"user""#, r#""role":"system""#),
        &answers,
    );
    assert!(system.contains("one message of the user"), "{system}");
}
