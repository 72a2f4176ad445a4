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

/// Runs commands below a subcommand.
fn nested(flags: &[&str]) -> support::Ran {
    support::run(support::nested().arg("tools").args(flags))
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
    assert_eq!(tools.as_array().unwrap().len(), 8);
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
    assert_eq!(check.code, Some(0), "{check:?}");
    assert!(check.out.starts_with("ok: 8 tools\n"), "{}", check.out);
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
    let script = desk(&["completions", "bash"], "").out;
    let complete = bash("desk", &script);
    assert_eq!(complete("desk sho"), "show\n");
    assert_eq!(complete("desk call get_"), "get_forecast\n");
    assert_eq!(complete("desk call get_forecast --ci"), "--city\n");
    let departure = complete("desk call find_trains --to Porto --dep");
    assert_eq!(departure.lines().count(), 3, "{departure}");
    assert_eq!(complete("desk call get_forecast --arg").lines().count(), 2);
    assert_eq!(complete("desk call get_forecast --city Lis"), "\n");
    assert!(complete("desk call --jso").contains("--jsonl"));
    if cfg!(feature = "web") {
        assert_eq!(complete("desk web --o"), "--open\n");
    }
    assert_eq!(
        complete("desk call get_forecast --unit fah"),
        "fahrenheit\n"
    );
    let script = nested(&["completions", "bash"]).out;
    let complete = bash("app", &script);
    assert!(complete("app to").contains("tools"));
    assert_eq!(complete("app tools call book"), "book_room\n");
    assert_eq!(complete("app tools call book_room --ni"), "--nights\n");
}

/// Returns a function that completes the last word of a line.
#[cfg(unix)]
fn bash(program: &str, script: &str) -> impl Fn(&str) -> String + use<> {
    let path = tempdir("bash").join(program);
    std::fs::write(&path, script).unwrap();
    let program = program.to_owned();
    move |words| {
        let at = words.split(' ').count() - 1;
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={at}; _{program} {program} \"${{COMP_WORDS[{at}]}}\" \
             \"${{COMP_WORDS[{}]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            path.display(),
            at - 1,
        );
        let output = std::process::Command::new("bash")
            .args(["--norc", "-c", &line])
            .output()
            .expect("bash runs");
        String::from_utf8(output.stdout).expect("text")
    }
}

/// So does zsh, in a terminal of its own.
#[cfg(unix)]
#[test]
fn zsh_completes() {
    use std::process::Command;
    let folder = tempdir("zsh");
    for (program, script) in [
        ("desk", desk(&["completions", "zsh"], "")),
        ("app", nested(&["completions", "zsh"])),
    ] {
        std::fs::write(folder.join(program), script.out).unwrap();
    }
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
        ("app tools sho", "show"),
        ("app tools call book_room --ni", "--nights"),
    ] {
        let script = folder.join(line.split(' ').next().unwrap());
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

#[test]
fn commands_work_below_a_subcommand() {
    let listed = nested(&["list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = nested(&["completions", shell]);
        assert_eq!(script.code, Some(0), "{shell}: {}", script.log);
        assert!(script.out.contains("book_room"), "{shell}");
    }
    let skill = nested(&["skill"]).out;
    let mut head = skill.lines().skip(1);
    assert_eq!(head.next(), Some("name: app-tools"));
    let description = head.next().unwrap().strip_prefix("description: ").unwrap();
    let description: String = serde_json::from_str(description).expect("a string of YAML");
    assert!(description.starts_with("Calls the tools of `app tools`: "));
    assert!(skill.contains("`app tools call book_room --nights 2 --view sea`"));
    let help = nested(&["call", "book_room", "--help"]).out;
    assert!(help.contains("Usage: app tools call book_room"), "{help}");
}

#[test]
fn arguments_may_stand_without_a_flag() {
    for words in [
        &["nights=3", "view=sea", "guests=Ada"][..],
        &["--nights", "3", "view=sea", "guests=Ada"],
        &[r#" {"nights": 3, "view": "sea", "guests": ["Ada"]}"#],
    ] {
        let ran = nested(&[&["call", "book_room"], words].concat());
        assert_eq!(
            ran.out, "\"3 Some(\\\"sea\\\") [\\\"Ada\\\"]\"\n",
            "{ran:?}"
        );
    }
    for words in [&["3"][..], &["--nights", "3", "{}"]] {
        let ran = nested(&[&["call", "book_room"], words].concat());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.log.contains("expected a flag, NAME=VALUE"), "{ran:?}");
    }
}

#[test]
fn help_tells_what_a_value_must_be() {
    let help = nested(&["call", "book_room", "--help"]).out;
    for note in [
        "[required] [1 to 14]",
        "[may be repeated] [at most 3 items]",
    ] {
        assert!(help.contains(note), "{help}");
    }
    let help = desk(&["call", "find_trains", "--help"], "").out;
    assert!(help.contains("[each 0 to 255]"), "{help}");
}

#[test]
fn errors_are_for_a_person() {
    let ran = nested(&["call", "break_down"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let error = ran.log.split("error: ").last().unwrap();
    assert!(
        error.contains("the cable is cut") && !error.contains("[ref"),
        "{error}"
    );
    for (flags, words) in [
        (&["call", "xyz"][..], "`list` shows the tools"),
        (&["show", "book_rom"], "did you mean book_room?"),
        (
            &["list", "--tag", "roms"],
            "no tool has the tag `roms`; the tags are rooms",
        ),
    ] {
        let ran = nested(flags);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(
            ran.log.contains(words) && !ran.log.contains("[ref"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_check_says_what_it_compared() {
    let folder = tempdir("check");
    let check = |is_empty: bool| {
        let mut command = support::nested();
        command.args(["tools", "check"]).current_dir(&folder);
        if is_empty {
            command.env("NO_TOOLS", "1");
        }
        support::run(&mut command)
    };
    let ran = check(false);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.starts_with("ok: 2 tools\n  examples accepted\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains("  not compared: a lock file"), "{ran:?}");
    let ran = check(true);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.log.contains("there are no tools"), "{ran:?}");
    std::fs::write(folder.join("tools.lock.json"), "{}").unwrap();
    let ran = check(false);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.log.contains("tools.lock.json is not compared"),
        "{ran:?}"
    );
}

#[test]
fn a_file_of_html_gets_html() {
    let folder = tempdir("html");
    for (file, start) in [("tools.html", "<!"), ("tools.md", "# ")] {
        let ran = desk_in(&folder, &["docs", "-o", file], "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let page = std::fs::read_to_string(folder.join(file)).unwrap();
        assert!(page.starts_with(start), "{file}: {page}");
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
