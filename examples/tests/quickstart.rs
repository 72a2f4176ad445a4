//! Runs the quickstart as a user does.

use std::path::PathBuf;

use examples::program::{assert_closed_early, assert_rejected, run};
use serde_json::Value;

const PROVIDERS: [&str; 6] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "gemini-interactions",
    "mcp",
];

#[test]
fn one_screen_shows_the_tools_each_call_and_its_result() {
    for provider in PROVIDERS {
        let ran = run("quickstart", &["--provider", provider], "");
        let out = ran.out;
        assert_eq!(ran.code, Some(0), "{provider}: {}", ran.log);
        assert_eq!(ran.log, "", "{provider}");
        for part in [
            &format!("4 tools for {provider}, "),
            "\n  find_trains ",
            "result 3: done      IC 523 runs on time\n",
            "result 4: rejected  invalid arguments for find_trains [ref ",
            "- form: unknown; did you mean \"from\"?\n",
            "- limit: 300 is above the maximum 255\n",
            "- from: missing; expected a string\n",
            "Évora",
            "the results (",
        ] {
            assert!(out.contains(part), "{provider} misses {part:?}:\n{out}");
        }
        let done = |line: &&str| line.starts_with("result ") && line.contains(": done");
        assert_eq!(out.lines().filter(done).count(), 3, "{provider}:\n{out}");
        assert!(out.lines().count() <= 26, "{provider}:\n{out}");
        let is_short = |line: &str| line.chars().count() <= 80;
        assert!(out.lines().all(is_short), "{provider}:\n{out}");
    }
}

/// What `README.md` shows is printed, but for the references, which are random.
#[test]
fn the_page_of_the_examples_shows_what_is_printed() {
    let hidden = |text: &str| {
        let mut parts = text.split("[ref ").map(str::to_owned).collect::<Vec<_>>();
        for part in &mut parts[1..] {
            part.replace_range(..6, "······");
        }
        parts.join("[ref ")
    };
    let page = include_str!("../README.md");
    let (_, rest) = page.split_once("```text\n").unwrap();
    let (shown, _) = rest.split_once("```").unwrap();
    assert_eq!(hidden(shown), hidden(&run("quickstart", &[], "").out));
}

#[test]
fn the_log_has_the_references_that_the_model_sees() {
    for provider in PROVIDERS {
        let ran = run("quickstart", &["--provider", provider, "--log"], "");
        let references: Vec<_> = ran.out.split("[ref ").skip(1).collect();
        assert_eq!(references.len(), 2, "{provider}: {}", ran.out);
        for reference in references {
            assert!(ran.log.contains(&reference[..6]), "{provider}: {}", ran.log);
        }
        let done = ran.log.lines().filter(|line| line.contains(" INFO "));
        assert_eq!(done.count(), 3, "{provider}: {}", ran.log);
    }
}

#[test]
fn json_has_the_whole_request_and_follow_up() {
    let lists = [
        "messages",
        "input",
        "messages",
        "contents",
        "input",
        "responses",
    ];
    for (provider, list) in PROVIDERS.into_iter().zip(lists) {
        let ran = run("quickstart", &["--provider", provider, "--json"], "");
        assert_eq!(ran.code, Some(0), "{provider}: {}", ran.log);
        let whole: Value = serde_json::from_str(&ran.out).expect("JSON");
        let tools = whole["request"]["tools"].to_string();
        for tool in [
            "find_trains",
            "list_stations",
            "reserve_seats",
            "train_status",
        ] {
            assert!(tools.contains(tool), "{provider}: {tools}");
        }
        // The schemas keep the order of the parameters.
        let (from, to) = (ran.out.find("\"from\""), ran.out.find("\"to\""));
        assert!(from.is_some() && from < to, "{provider}: {}", ran.out);
        let follow_up = &whole["follow_up"][list];
        assert!(follow_up.is_array(), "{provider}: {}", ran.out);
        let follow_up = follow_up.to_string();
        for part in [
            "IC 523 runs on time",
            "reserve_seats failed",
            "did you mean",
            "Évora",
        ] {
            assert!(follow_up.contains(part), "{provider} misses {part:?}");
        }
    }
}

#[test]
fn a_response_comes_from_a_file_or_from_standard_input() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("quickstart/recorded");
    let file = folder.join("anthropic.json");
    let path = file.to_str().expect("a path that is text");
    let flags = ["--provider", "anthropic", "--response", path, "--json"];
    let from_file = run("quickstart", &flags, "");
    assert!(from_file.out.contains("toolu_01A9mPq3ZsLk5VtR8wYxBcDe"));

    let response = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"list_stations","input":{}}]}"#;
    let flags = ["--provider", "anthropic", "--response", "-"];
    let from_input = run("quickstart", &flags, response);
    assert_eq!(from_input.code, Some(0));
    for part in [
        "The response has 1 call.",
        "call 1:   list_stations {}\nresult 1: done ",
        "the model's turn (1 item) and the results (1 item).",
    ] {
        assert!(from_input.out.contains(part), "{}", from_input.out);
    }

    let answer = r#"{"role":"assistant","content":[{"type":"text","text":"At 08:30."}]}"#;
    let nothing = run("quickstart", &flags, answer);
    assert_eq!(nothing.code, Some(0));
    assert!(
        nothing
            .out
            .contains("The response has no calls.\nmodel:    At 08:30.\n"),
        "{}",
        nothing.out
    );
}

#[test]
fn bad_flags_and_bad_input_say_what_is_wrong_and_exit_with_2() {
    let cases: [(&[&str], &str, &str); 8] = [
        (&["--provider", "anthropc"], "", "value exists: 'anthropic'"),
        (&["--provder"], "", "argument exists: '--provider'"),
        (&["--jsonn"], "", "argument exists: '--json'"),
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
        assert_rejected("quickstart", flags, input, said);
    }
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("quickstart");
}
