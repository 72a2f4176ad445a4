//! `eval`: files, models, baselines and recordings, and exit codes.

#![cfg(feature = "eval")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{desk, desk_in};

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = format!("tool-cli-eval-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const CASES: &str = r#"
[[models]]
name = "recorded"
provider = "openai-chat"
recording = "recorded.json"

[[cases]]
name = "note"
says = "Delete the seventh note"
calls = [{ tool = "delete_note", arguments = { id = 7 } }]

[[cases]]
name = "forecast"
says = "Three days in Lisbon?"
calls = [{ tool = "get_forecast", arguments = { city = "Lisbon", days = 3, unit = "celsius" } }]
"#;

fn call(name: &str, arguments: &Value) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": name, "arguments": arguments.to_string()}}]}}]})
}

fn done() -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": "OK."}}]})
}

/// Recordings, written by hand, of a model that deletes this note.
fn recorded(note: u32) -> String {
    json!([
        {"after": "seventh", "response": call("delete_note", &json!({"id": note}))},
        {"after": "Lisbon", "response": call("get_forecast", &json!({"city": "Lisbon", "days": 3.0, "unit": "CELSIUS"}))},
        {"after": "", "response": done()},
    ])
    .to_string()
}

fn folder(name: &str, note: u32) -> Folder {
    let folder = Folder::new(name);
    folder.write("tools.eval.toml", CASES);
    folder.write("recorded.json", &recorded(note));
    folder
}

#[test]
fn a_check_that_passes_ends_with_0_and_one_that_fails_with_1() {
    let good = folder("good", 7);
    // No context value is created and no tool runs; otherwise a hook would hold the call.
    let ran = desk_in(&good, &["eval"], "");
    assert_eq!((ran.code, &*ran.log), (Some(0), ""), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        report["models"][0]["passes"],
        json!({"passed": 2, "attempts": 2})
    );

    let bad = folder("bad", 8);
    let ran = desk_in(&bad, &["eval", "--format", "markdown"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log
            .contains("recorded: note: 0/1 passed: delete_note: id is 8, expected 7"),
        "{ran:?}"
    );
    assert!(ran.out.contains("| recorded | 1/2 |"), "{ran:?}");
    let ran = desk_in(&bad, &["eval", "--case", "forecast"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = desk_in(
        &bad,
        &["eval", "--case", "forecast", "-o", "report.json"],
        "",
    );
    assert_eq!((ran.code, &*ran.out), (Some(0), ""), "{ran:?}");
    assert!(bad.read("report.json").contains("\"forecast\""));
    // The page is written beside the report, even if a check fails.
    let ran = desk_in(&bad, &["eval", "--html", "report.html"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.starts_with('{'), "{ran:?}");
    let page = bad.read("report.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("<code>7</code>"),
        "{page}"
    );
    let ran = desk_in(&bad, &["eval", "--html", "no/such/report.html"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log.contains("can't write no/such/report.html"),
        "{ran:?}"
    );
}

#[test]
fn every_dialect_with_an_api_can_be_asked() {
    let folder = folder("dialects", 7);
    for provider in ["gemini-interactions", "gemini", "bedrock", "cohere"] {
        folder.write("other.toml", &CASES.replace("openai-chat", provider));
        let ran = desk_in(&folder, &["eval", "other.toml", "--case", "note"], "");
        // The recording was made with another API.
        assert_eq!(ran.code, Some(1), "{provider}: {ran:?}");
    }
    let ran = desk_in(&folder, &["eval", "--model", "m", "--provider", "mcp"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("there is no provider `mcp`"), "{ran:?}");
    assert!(ran.log.contains("`gemini-interactions`"), "{ran:?}");
}

#[test]
fn a_baseline_accepts_what_failed_before() {
    let folder = folder("baseline", 8);
    assert_eq!(desk_in(&folder, &["eval", "--update"], "").code, Some(0));
    assert_eq!(desk_in(&folder, &["eval"], "").code, Some(0));
    folder.write("recorded.json", &recorded(7));
    let ran = desk_in(&folder, &["eval", "--format", "text"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out
            .contains("better than the baseline: note: 1/1, 0/1 before"),
        "{ran:?}"
    );
    assert_eq!(desk_in(&folder, &["eval", "--update"], "").code, Some(0));
    folder.write("recorded.json", &recorded(8));
    let ran = desk_in(&folder, &["eval"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log
            .contains("note: worse than the baseline, 1/1 passed before, now 0/1"),
        "{ran:?}"
    );

    // A model that does not answer can't become a baseline.
    let baseline = folder.read("eval.lock.json");
    folder.write("recorded.json", "[]");
    let ran = desk_in(&folder, &["eval", "--update"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log
            .contains("nothing is written, because recorded did not answer"),
        "{ran:?}"
    );
    assert_eq!(folder.read("eval.lock.json"), baseline);
    folder.write("eval.lock.json", "{}");
    let ran = desk_in(&folder, &["eval"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("not a baseline"), "{ran:?}");
}

#[test]
fn wrong_files_and_flags_end_with_2() {
    let folder = folder("wrong", 7);
    for (file, words) in [
        (
            CASES.replace("says = \"Del", "said = \"Del"),
            "tools.eval.toml:9: case `note`: unknown field `said`",
        ),
        (
            CASES.replace("id = 7", "id = true"),
            "tools.eval.toml:10: case `note`: the tool rejects the expected call",
        ),
        (
            CASES.replace("delete_note", "delete_notes"),
            "did you mean delete_note",
        ),
        (
            CASES.replace("openai-chat", "open-ai"),
            "tools.eval.toml:4: there is no provider `open-ai`",
        ),
        (
            CASES.replace("recorded.json", "none.json"),
            "none.json: can't be read",
        ),
        (
            CASES.replace(
                "calls = [{ tool = \"delete_note\"",
                "predicate = \"p\"\ncalls = [{ tool = \"delete_note\"",
            ),
            "there is no predicate `p`",
        ),
    ] {
        folder.write("wrong.toml", &file);
        let ran = desk_in(&folder, &["eval", "wrong.toml"], "");
        assert_eq!(ran.code, Some(2), "{words}: {ran:?}");
        assert!(
            ran.log.contains(&words.replace("tools.eval", "wrong")),
            "{words}: {ran:?}"
        );
    }
    for (flags, words) in [
        (
            &["eval", "--model", "other"][..],
            "there is no model `other`",
        ),
        (&["eval", "--url", "http://localhost:1"], "--model"),
        (&["eval", "--case", "other"], "there is no case `other`"),
        (&["eval", "--repeats", "0"], "--repeats"),
        (&["eval", "--concurrency", "65"], "--concurrency"),
        (
            &["eval", "--record", "--case", "note"],
            "cannot be used with",
        ),
        (&["eval", "--answers", "a.json"], "--bfcl"),
        (
            &["eval", "--bfcl", "b.json", "--case", "note"],
            "cannot be used with",
        ),
        (
            &[
                "eval",
                "--record",
                "--model",
                "m",
                "--url",
                "http://localhost:1",
            ],
            "--record needs a model of the file",
        ),
        (
            &["eval", "--update", "--case", "note"],
            "cannot be used with",
        ),
        (
            &["eval", "--model", "m", "--url", "localhost:1"],
            "must start with http://",
        ),
        (
            &["eval", "--model", "m", "--key-env", "NO_SUCH_KEY_HERE"],
            "NO_SUCH_KEY_HERE",
        ),
    ] {
        let ran = desk_in(&folder, flags, "");
        assert_eq!(ran.code, Some(2), "{flags:?}: {ran:?}");
        assert!(
            ran.log.contains(words),
            "{flags:?}: {words} is not in {ran:?}"
        );
    }
    let ran = desk(&["eval", "no-such.toml"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");

    let unrecorded = CASES.replace("recording = \"recorded.json\"\n", "");
    folder.write("unrecorded.toml", &unrecorded);
    let ran = desk_in(&folder, &["eval", "unrecorded.toml", "--record"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("has no `recording`"), "{ran:?}");
    let cases = &CASES[CASES.find("[[cases]]").unwrap()..];
    folder.write("unasked.toml", cases);
    let ran = desk_in(&folder, &["eval", "unasked.toml"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("there is no model to ask"), "{ran:?}");
}

/// Answers requests on a local port, and returns their bodies.
fn server(responses: Vec<Value>) -> (String, std::thread::JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let answered = responses.into_iter().map(|response| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let text = response.to_string();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            )
            .unwrap();
            serde_json::from_slice(&body).unwrap()
        });
        answered.collect()
    });
    (url, thread)
}

#[test]
fn a_server_is_asked_recorded_and_replayed() {
    let folder = Folder::new("server");
    let answers = || {
        vec![
            call("delete_note", &json!({"id": 7})),
            done(),
            call(
                "get_forecast",
                &json!({"city": "Lisbon", "days": 3, "unit": "celsius"}),
            ),
            done(),
        ]
    };
    let (url, asked) = server(answers());
    let file = format!("system = \"Be brief.\"\n{CASES}")
        .replace("provider", &format!("url = {url:?}\nprovider"));
    folder.write("tools.eval.toml", &file);
    let ran = desk_in(&folder, &["eval", "--record"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked = asked.join().unwrap();
    assert_eq!(asked[0]["model"], "recorded");
    assert!(
        asked[0]["messages"].to_string().contains("Be brief."),
        "{}",
        asked[0]
    );
    assert!(
        asked[1]["messages"].to_string().contains("Done."),
        "{}",
        asked[1]
    );
    // The server has stopped.
    let ran = desk_in(&folder, &["eval"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = desk_in(&folder, &["eval", "--live", "--case", "note"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("the request failed"), "{ran:?}");
    // There is no recording of the changed question.
    folder.write(
        "tools.eval.toml",
        &file.replace("the seventh", "note seven, the seventh"),
    );
    let ran = desk_in(&folder, &["eval"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("the request was not recorded"), "{ran:?}");

    // Flags can name another server.
    folder.write("tools.eval.toml", CASES);
    let (url, asked) = server(answers());
    let ran = desk_in(&folder, &["eval", "--model", "qwen3", "--url", &url], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(asked.join().unwrap()[0]["model"], "qwen3");
}

#[test]
fn entries_of_the_leaderboard_are_cases_without_a_file() {
    let folder = Folder::new("bfcl");
    let entry = json!({"id": "simple_python_0", "question": [[{"role": "user", "content": "10 by 5?"}]], "function": [
        {"name": "math.area", "description": "The area.", "parameters": {"type": "dict",
         "properties": {"base": {"type": "integer"}}, "required": ["base"]}}]});
    let answer = json!({"id": "simple_python_0", "ground_truth": [{"math.area": {"base": [10]}}]});
    folder.write("BFCL_v4_simple_python.json", &entry.to_string());
    folder.write("answers.json", &answer.to_string());
    let (url, asked) = server(vec![call("math_area", &json!({"base": 10}))]);
    let flags = [
        "eval",
        "--bfcl",
        "BFCL_v4_simple_python.json",
        "--answers",
        "answers.json",
        "--model",
        "m",
        "--url",
        &url,
    ];
    let ran = desk_in(&folder, &flags, "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["models"][0]["passes"]["passed"], 1, "{ran:?}");
    assert_eq!(
        asked.join().unwrap()[0]["tools"].as_array().unwrap().len(),
        1
    );
    // A low score is not a failure, but a model that does not answer is.
    let (other, asked) = server(vec![done()]);
    let at = |url| [&flags[..8], &[url]].concat();
    let ran = desk_in(&folder, &at(&*other), "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["models"][0]["passes"]["passed"], 0, "{ran:?}");
    asked.join().unwrap();
    let ran = desk_in(&folder, &at(&*url), "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("m did not answer"), "{ran:?}");
    // The baseline in a file is for the file's own cases.
    folder.write("tools.eval.toml", CASES);
    folder.write("eval.lock.json", "not read");
    let (other, asked) = server(vec![done()]);
    let ran = desk_in(&folder, &at(&*other), "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    asked.join().unwrap();
    let ran = desk_in(
        &folder,
        &["eval", "--bfcl", "none.json", "--model", "m", "--url", &url],
        "",
    );
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
