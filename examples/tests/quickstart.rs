//! The quickstart as a user runs it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const PROVIDERS: [&str; 5] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "mcp",
];

fn quickstart(flags: &[&str], input: &str) -> Output {
    // Tests run from `target/<profile>/deps`, beside `examples`.
    let mut program = std::env::current_exe().expect("this test is a file");
    program.pop();
    program.pop();
    program.push("examples/quickstart");
    let mut child = Command::new(program.with_extension(std::env::consts::EXE_EXTENSION))
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo builds the examples before the tests");
    // A program that refuses its flags closes its input early.
    let _ = child
        .stdin
        .take()
        .expect("piped")
        .write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn every_provider_gets_results_and_errors_with_a_reference_that_the_log_has_too() {
    for provider in PROVIDERS {
        let output = quickstart(&["--provider", provider], "");
        let (out, log) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{provider}: {log}");
        for part in [
            "# request\n{\"tools\":[",
            "IC 523 runs on time",
            "reserve_seats failed",
            "did you mean",
            "Évora",
        ] {
            assert!(out.contains(part), "{provider} misses {part:?}:\n{out}");
        }
        let references: Vec<_> = out.split("[ref ").skip(1).map(|rest| &rest[..6]).collect();
        assert_eq!(references.len(), 2, "{provider}");
        for reference in references {
            assert!(
                log.contains(reference),
                "{provider}: the log lacks {reference}:\n{log}"
            );
        }
    }
}

#[test]
fn a_response_comes_from_a_file_or_from_standard_input() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("quickstart/recorded");
    let file = folder.join("anthropic.json");
    let path = file.to_str().expect("a path that is text");
    let from_file = quickstart(&["--provider", "anthropic", "--response", path], "");
    assert!(text(&from_file.stdout).contains("toolu_01A9mPq3ZsLk5VtR8wYxBcDe"));

    let response = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"list_stations","input":{}}]}"#;
    let from_input = quickstart(&["--provider", "anthropic", "--response", "-"], response);
    assert_eq!(from_input.status.code(), Some(0));
    assert!(text(&from_input.stdout).contains("result t1: done"));
}

#[test]
fn bad_flags_and_bad_input_say_what_is_wrong_and_exit_with_2() {
    let cases: [(&[&str], &str, &str); 6] = [
        (&["--provider", "anthropc"], "", "'anthropic'"),
        (&["--verbose"], "", "--verbose"),
        (
            &["--response", "no/such/file.json"],
            "",
            "can't read no/such/file.json",
        ),
        (
            &["--response", "-"],
            "{\"output\":[",
            "the response is not JSON",
        ),
        (
            &["--response", "-"],
            "{\"weather\":\"fine\"}",
            "`output` is missing",
        ),
        (
            &["--provider", "openai-chat", "--response", "-"],
            "{\"error\":{\"message\":\"Rate limit reached\",\"type\":\"requests\"}}",
            "Rate limit reached",
        ),
    ];
    for (flags, input, said) in cases {
        let output = quickstart(flags, input);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {error}");
        assert!(error.contains(said), "{flags:?} says only: {error}");
        assert!(!error.contains("panicked"), "{error}");
    }
}
