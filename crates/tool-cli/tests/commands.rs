//! The commands in a pipe: only JSON, messages that name the flag, and exit codes.

mod support;

use serde_json::{Value, json};
use support::{desk, desk_in, desk_without_notes};

/// Runs a command that succeeds, and returns its JSON.
fn json_of(flags: &[&str], input: &str) -> Value {
    let ran = desk(flags, input);
    assert_eq!((ran.code, &*ran.log), (Some(0), ""), "{flags:?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{flags:?}: {error}: {}", ran.out))
}

/// Asserts that a command fails with this code and a message that contains these words.
fn fails(code: i32, flags: &[&str], words: &[&str]) {
    let ran = desk(flags, "");
    assert_eq!(ran.code, Some(code), "{flags:?}: {ran:?}");
    for word in words {
        assert!(
            ran.log.contains(word),
            "{flags:?}: {word:?} is not in {}",
            ran.log
        );
    }
}

#[test]
fn tools_are_listed_and_shown_without_their_context() {
    let tools = json_of(&["list"], "");
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names[..2], [json!("count"), json!("delete_note")]);
    assert_eq!(
        json_of(&["list", "--tag", "weather"], "")
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let shown = json_of(&["show", "get-forecast"], "");
    assert_eq!(shown["parameters"]["properties"]["days"]["maximum"], 14);
    assert_eq!(shown["examples"][0]["city"], "Lisbon");
    fails(2, &["show", "get_forecasts"], &["get_forecast"]);
}

#[test]
fn only_a_call_creates_what_tools_need() {
    for flags in [
        &["list"][..],
        &["show", "count"],
        &["docs"],
        &["render", "mcp"],
        &["check"],
        &["skill"],
        &["completions", "bash"],
        &["call", "count", "--help"],
    ] {
        let ran = desk_without_notes(flags);
        assert_eq!(ran.code, Some(0), "{flags:?}: {ran:?}");
    }
    let ran = desk_without_notes(&["call", "count", "--to", "0"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("Notes: `NOTES` has no notes"), "{ran:?}");
}

#[test]
fn flags_become_arguments() {
    let call = |flags: &[&str]| json_of(&[&["call"], flags].concat(), "");
    let lisbon = json!("Lisbon: 3 days of 21 °C");
    assert_eq!(
        call(&["get-forecast", "--city", "Lisbon", "--days", "3"]),
        lisbon
    );
    assert_eq!(
        call(&[
            "get_forecast",
            "--city=Lisbon",
            "--days=3",
            "--unit",
            "celsius"
        ]),
        lisbon
    );
    assert_eq!(
        call(&[
            "get_forecast",
            "--arguments",
            r#"{"city":"Lisbon","days":3}"#
        ]),
        lisbon
    );
    assert_eq!(
        call(&["get_forecast", "--arg", "city=Lisbon", "--arg", "days=3"]),
        lisbon
    );
    // Digits and other letters stay strings where the schema requires a string.
    assert_eq!(
        call(&["get_forecast", "--city", "12", "--days", "1"]),
        json!("12: 1 days of 21 °C")
    );
    assert_eq!(
        call(&["get_forecast", "--city", "@@x", "--days", "1"]),
        json!("@x: 1 days of 21 °C")
    );
    assert_eq!(
        call(&["get_forecast", "--arg", "city=@x", "--days", "1"]),
        json!("@x: 1 days of 21 °C")
    );
    // Nested objects, lists and negative numbers.
    let trains = call(&[
        "find_trains",
        "--to",
        "Porto",
        "--departure.not-before",
        "08:00",
        "--departure.not-after",
        "9:00",
        "--delay",
        "-5",
        "--classes",
        "1",
        "--classes",
        "2",
    ]);
    assert_eq!(
        trains[0],
        json!({"number": 102, "leaves": "08:00", "platform": "Porto, -5 min"})
    );
    assert_eq!(trains[1]["leaves"], "9:00");
    let whole = call(&[
        "find_trains",
        "--to",
        "Porto",
        "--departure",
        r#"{"not_before":"07:00"}"#,
    ]);
    assert_eq!(whole[0]["leaves"], "07:00");
}

#[test]
fn values_come_from_files_and_standard_input() {
    let folder = tempdir("values");
    std::fs::write(folder.join("city.txt"), "Porto").unwrap();
    let flags = ["call", "get_forecast", "--city", "@city.txt", "--days", "2"];
    let ran = desk_in(&folder, &flags, "");
    assert_eq!(ran.out, "\"Porto: 2 days of 21 °C\"\n", "{ran:?}");
    let city = json_of(
        &["call", "get_forecast", "--city", "-", "--days", "2"],
        "Faro",
    );
    assert_eq!(city, "Faro: 2 days of 21 °C");
    let whole = json_of(
        &["call", "get_forecast", "--arguments", "-"],
        r#"{"city":"Faro","days":2}"#,
    );
    assert_eq!(whole, "Faro: 2 days of 21 °C");
    fails(
        2,
        &["call", "get_forecast", "--city", "@none.txt", "--days", "2"],
        &["--city", "none.txt"],
    );
    fails(
        2,
        &["call", "get_forecast", "--city", "-", "--days", "-"],
        &["--days", "already read by --city"],
    );
}

#[test]
fn violations_name_the_flag() {
    fails(
        2,
        &["call", "get_forecast", "--days", "300"],
        &["--days: ", "14", "--city: "],
    );
    fails(
        2,
        &[
            "call",
            "find_trains",
            "--to",
            "Porto",
            "--departure.not-after",
            "9",
        ],
        &["--departure.not-before: "],
    );
    fails(
        2,
        &[
            "call",
            "find_trains",
            "--to",
            "x",
            "--departure.not-before",
            "8",
            "--classes",
            "x",
        ],
        &["--classes at [0]: "],
    );
    fails(
        2,
        &["call", "get_forecast", "--days", "many", "--city", "x"],
        &["--days: ", "integer"],
    );
    fails(2, &["call", "get_forecast", "--town", "x"], &["--town"]);
    fails(
        2,
        &["call", "get_forecast", "--arguments", "{}", "--city", "x"],
        &["--arguments", "--city"],
    );
    fails(
        2,
        &["call", "get_forecast", "--arguments", "{"],
        &["get_forecast"],
    );
    fails(
        2,
        &["call", "get_forecast", "--arg", "city"],
        &["NAME=VALUE"],
    );
    fails(2, &["call", "get_forecasts"], &["get_forecast"]);
    fails(2, &["call"], &["--jsonl"]);
    fails(2, &["list", "--nope"], &["--nope"]);
    fails(2, &[], &["list"]);
}

#[test]
fn a_failed_call_has_an_exit_code_and_an_error_in_json() {
    let ran = desk(&["call", "read_note", "--id", "7"], "");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(error["error"]["kind"], "failed");
    assert!(ran.log.contains("there is no note 7"), "{ran:?}");
    let ran = desk(&["call", "get_forecast", "--city", "x", "--days", "0"], "");
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &error["error"]["violations"][0]["path"]),
        (Some(2), &json!("days"))
    );
    // There is nobody to decide, so the tool does not run.
    let ran = desk(&["call", "delete_note", "--id", "-1"], "y\n");
    let error: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &error["error"]["kind"]),
        (Some(1), &json!("held"))
    );
}

#[test]
fn lines_of_calls_have_lines_of_results() {
    let calls = "{\"name\":\"read_note\",\"arguments\":{\"id\":1}}\n\nnonsense\n{\"name\":\"read_note\",\"arguments\":{\"id\":9}}\n";
    let ran = desk(&["call", "--jsonl"], calls);
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0], json!({"result": "Call Ada."}));
    assert_eq!(lines[1]["error"]["kind"], "malformed_line");
    assert!(
        lines[1]["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("line 3: "),
        "{ran:?}"
    );
    assert_eq!(lines[2]["error"]["kind"], "failed");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    fails(2, &["call", "--jsonl", "count"], &["count"]);
}

#[test]
fn pictures_are_saved_and_named() {
    let folder = tempdir("pictures");
    for number in [1, 2] {
        let ran = desk_in(&folder, &["call", "--out", ".", "draw_chart"], "");
        let parts: Value = serde_json::from_str(&ran.out).unwrap();
        let file = parts[0]["file"].as_str().unwrap();
        assert!(
            file.ends_with(&format!("draw_chart-{number}.png")),
            "{file}"
        );
        assert_eq!(std::fs::read(folder.join(file)).unwrap(), b"\x89PNG");
    }
    fails(
        1,
        &["call", "--out", "no/such/folder", "draw_chart"],
        &["no/such/folder"],
    );
}

#[test]
fn providers_catalogues_checks_and_skills() {
    let tools = json_of(&["render", "anthropic"], "");
    assert_eq!(tools.as_array().unwrap().len(), 7);
    assert_eq!(
        json_of(&["render", "openai-chat", "--strict"], "")[0]["function"]["strict"],
        true
    );
    fails(
        2,
        &["render", "gemini", "--strict"],
        &["gemini has no strict mode"],
    );
    fails(2, &["render", "nobody"], &["nobody", "anthropic"]);
    let page = desk(&["docs", "--title", "Desk"], "");
    assert!(page.out.starts_with("# Desk\n"), "{}", page.out);
    let html = desk(&["docs", "--html"], "");
    assert!(html.out.starts_with("<!"), "{}", html.out);
    let check = desk(&["check"], "");
    assert_eq!((check.code, &*check.out), (Some(0), "ok: 7 tools\n"));
    let skill = desk(&["skill"], "");
    assert!(skill.out.starts_with("---\nname: desk\n"), "{}", skill.out);
    assert!(
        skill
            .out
            .contains("`desk call get_forecast --city Lisbon --days 3`"),
        "{}",
        skill.out
    );
    assert_eq!(desk(&["--version"], "").out, "desk 1.0.0\n");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let mut child = support::command()
        .args(["docs", "--html"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn completions_know_tools_and_flags() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = desk(&["completions", shell], "");
        assert_eq!(script.code, Some(0), "{shell}: {}", script.log);
        assert!(
            script.out.contains("get_forecast") && script.out.contains("departure.not-before"),
            "{shell}"
        );
    }
    fails(2, &["completions", "cmd"], &["bash"]);
}

/// bash completes the name of a tool, its flags and the values of a flag.
#[cfg(unix)]
#[test]
fn bash_completes() {
    use std::process::Command;
    let folder = tempdir("bash");
    let script = folder.join("desk.bash");
    std::fs::write(&script, desk(&["completions", "bash"], "").out).unwrap();
    let complete = |words: &str, at: usize| {
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={at}; _desk desk \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            at - 1,
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &line])
            .output()
            .expect("bash runs");
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(complete("desk call get_", 2).contains("get_forecast"));
    assert!(complete("desk call get_forecast --ci", 3).contains("--city"));
    assert_eq!(
        complete("desk call get_forecast --unit fah", 4),
        "fahrenheit\n"
    );
}

/// So does zsh, in a terminal of its own.
#[cfg(unix)]
#[test]
fn zsh_completes() {
    use std::process::Command;
    let folder = tempdir("zsh");
    let script = folder.join("desk.zsh");
    std::fs::write(&script, desk(&["completions", "zsh"], "").out).unwrap();
    for (line, expected) in [
        ("desk sho", "show"),
        ("desk show get", "get_forecast"),
        ("desk call get_", "get_forecast"),
        ("desk call get_forecast --ci", "--city"),
        (
            "desk call find_trains --departure.not-b",
            "--departure.not-before",
        ),
        ("desk call get_forecast --unit fah", "fahrenheit"),
    ] {
        let matches = folder.join("matches");
        let _ = std::fs::remove_file(&matches);
        let ran = Command::new("zsh")
            .args([
                "-f",
                concat!(env!("CARGO_MANIFEST_DIR"), "/tests/complete.zsh"),
            ])
            .arg(&script)
            .arg(&matches)
            .arg(line)
            .output();
        let ran = match ran {
            Ok(ran) if ran.status.code() != Some(77) => ran,
            _ => return eprintln!("skipped: zsh is missing, or its module zpty is"),
        };
        let found = std::fs::read_to_string(&matches).unwrap_or_default();
        assert_eq!(found, format!("{expected}\nEND\n"), "{line}: {ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_cancels_the_call() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut child = support::command()
        .args(["call", "count", "--to", "100000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Before the signal handler is installed, Ctrl-C just ends the program.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    let code = child.wait().unwrap().code();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    let error: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &error["error"]["kind"]),
        (Some(130), &json!("cancelled"))
    );
}

/// Returns an empty folder.
fn tempdir(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("tool-cli-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
