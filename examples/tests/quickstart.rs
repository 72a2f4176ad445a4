//! The quickstart as a user runs it.

use std::path::PathBuf;

use examples::program::{assert_closed_early, assert_refused, run};

const PROVIDERS: [&str; 5] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "mcp",
];

#[test]
fn every_provider_gets_results_and_errors_with_a_reference_that_the_log_has_too() {
    for provider in PROVIDERS {
        let ran = run("quickstart", &["--provider", provider], "");
        let (out, log) = (ran.out, ran.log);
        assert_eq!(ran.code, Some(0), "{provider}: {log}");
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
    let from_file = run(
        "quickstart",
        &["--provider", "anthropic", "--response", path],
        "",
    );
    assert!(from_file.out.contains("toolu_01A9mPq3ZsLk5VtR8wYxBcDe"));

    let response = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"list_stations","input":{}}]}"#;
    let flags = ["--provider", "anthropic", "--response", "-"];
    let from_input = run("quickstart", &flags, response);
    assert_eq!(from_input.code, Some(0));
    assert!(from_input.out.contains("result t1: done"));
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
        assert_refused("quickstart", flags, input, said);
    }
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("quickstart");
}
