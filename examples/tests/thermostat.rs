//! Runs the thermostat as a user does, and checks what model and operator see of a failure.

use examples::folder::Temporary;
use examples::program::{assert_closed_early, assert_rejected, run};
use examples::provider::Scripted;
use genai::chat::{ChatMessage, ToolCall as GenaiCall, ToolName};
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::{Run, RunOutcome};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolErrorKind};
use tool_docs::testing;

#[path = "../thermostat/chat.rs"]
mod chat;
#[path = "../thermostat/tools.rs"]
mod tools;

use chat::{Genai, Provider};
use tools::Thermostat;

fn registry(failures: u32) -> Registry {
    let thermostat = Thermostat::new(19.5, failures);
    let registry = Registry::builder().toolset("", thermostat).build();
    registry.expect("two tools")
}

fn recorded() -> Vec<Value> {
    serde_json::from_str(include_str!("../thermostat/recorded/chat.json")).expect("responses")
}

/// Every failure becomes a result, without `Debug` output or causes. So do invalid arguments.
#[test]
fn the_model_reads_what_happened_and_no_more() {
    let registry = registry(1);
    let call = |name: &str, arguments: Value| {
        registry.call_blocking(ToolCall::new("call_1", name, arguments))
    };
    let failed = call("get_current_temperature", Value::Null);
    let error = failed.error().expect("a sensor that fails");
    assert!(error.is_retryable());
    let said = failed.content();
    assert!(said.contains("the sensor does not answer"), "{said}");
    assert!(said.contains(error.id()), "{said}");
    for secret in ["0x48", "SensorError", "BusError", "Transient", "Err("] {
        assert!(!said.contains(secret), "{said}");
    }
    let again = call("get_current_temperature", json!({}));
    assert_eq!(again.content(), "19.5");

    for arguments in [
        Value::Null,
        json!({}),
        json!({"celsius": "21"}),
        json!({"celsius": 45}),
        json!("21"),
        json!([21]),
    ] {
        let rejected = call("set_current_temperature", arguments.clone());
        let kind = rejected.error().map(tool_core::ToolError::kind);
        let kinds = [
            ToolErrorKind::InvalidArguments,
            ToolErrorKind::MalformedJson,
        ];
        assert!(
            kind.is_some_and(|kind| kinds.contains(&kind)),
            "{arguments}"
        );
        assert_eq!(call("get_current_temperature", json!({})).content(), "19.5");
    }
}

#[test]
fn the_conversation_uses_the_types_of_genai() {
    let provider = Scripted::serve(recorded()).expect("a port");
    let model = Provider::new("scripted", Some(&provider.url())).expect("a client");
    let agent = Agent::new(registry(1), Genai, model);
    let tools: Vec<genai::chat::Tool> =
        serde_json::from_str(agent.registry().render(&Genai).as_str()).expect("genai's tools");
    assert_eq!(
        tools[0].name,
        ToolName::Custom("get_current_temperature".into())
    );

    let mut run = Run::new("run-1");
    let pushed = run.push(json!(ChatMessage::user("Two degrees warmer.")));
    pushed.expect("no open calls");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.expect("a runtime").block_on(agent.run(&mut run));
    let answer = "It is set to 21.5 degrees.".to_owned();
    assert_eq!(ended.expect("an answer"), RunOutcome::Answered(answer));
    for message in run.messages() {
        let read = serde_json::from_value::<ChatMessage>(Value::clone(message));
        read.expect("a message of genai");
    }

    // The retry has its own id, and each call has one result.
    let calls = run.rounds().iter().flat_map(tool_agent::run::Round::calls);
    let ids: Vec<_> = calls.map(|(call, _)| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4"]);
    let asked = provider.asked();
    let sent = |asked: usize| {
        let messages = provider.asked()[asked].body["messages"].clone();
        messages
            .as_array()
            .expect("messages")
            .last()
            .expect("one")
            .clone()
    };
    assert_eq!(asked[0].path, "/chat/completions");
    assert_eq!(
        asked[0].body["tools"][0]["function"]["parameters"],
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
    assert_eq!(sent(1)["tool_call_id"], "call_1");
    assert!(
        sent(1)["content"]
            .as_str()
            .expect("text")
            .contains("does not answer")
    );
    assert_eq!(sent(2)["content"], "19.5");
    assert!(
        sent(3)["content"]
            .as_str()
            .expect("text")
            .contains("temperature: unknown")
    );
    assert_eq!(sent(4)["content"], "21.5");
}

/// In `genai`, arguments are a `Value`: a string if they could not be parsed.
#[test]
fn arguments_that_are_not_json_get_a_result() {
    let call = GenaiCall {
        call_id: "call_1".into(),
        fn_name: "set_current_temperature".into(),
        fn_arguments: Value::String(r#"{"celsius":21"#.into()),
        thought_signatures: None,
    };
    let call = ToolCall::new(call.call_id, call.fn_name, call.fn_arguments);
    assert!(call.parse_error().is_some());
    let result = registry(0).call_blocking(call);
    let kind = result.error().map(tool_core::ToolError::kind);
    assert_eq!(kind, Some(ToolErrorKind::MalformedJson));
    let whole = Value::String(r#"{"celsius":21}"#.into());
    let call = ToolCall::new("call_2", "set_current_temperature", whole);
    assert_eq!(registry(0).call_blocking(call).content(), "21.0");
    assert!(Genai.read(&json!({"choices": []})).is_err());
}

#[test]
fn the_log_has_the_cause_and_the_reference_for_the_model() {
    let ran = run("thermostat", &["--log"], "");
    assert_eq!(ran.code, Some(0), "{}", ran.log);
    for part in [
        "call_1 get_current_temperature\n    get_current_temperature failed [ref ",
        "call_2 get_current_temperature\n    19.5",
        "- celsius: missing",
        "model: It is 21.5 degrees.",
    ] {
        assert!(ran.out.contains(part), "{part:?} is missing:\n{}", ran.out);
    }
    let references: Vec<_> = ran
        .out
        .split("[ref ")
        .skip(1)
        .map(|rest| &rest[..6])
        .collect();
    assert_eq!(references.len(), 2, "{}", ran.out);
    for reference in &references {
        assert!(ran.log.contains(reference), "{reference}: {}", ran.log);
    }
    let logged = ran.log.lines().find(|line| line.contains(references[0]));
    assert!(
        logged.is_some_and(|line| line.contains("address 0x48")),
        "{}",
        ran.log
    );
    assert!(!ran.out.contains("0x48"), "{}", ran.out);
}

#[test]
fn a_working_and_a_broken_sensor() {
    let ran = run("thermostat", &["--failures", "0"], "");
    assert!(!ran.out.contains("does not answer"), "{}", ran.out);
    let calls = recorded();
    let gives_up = json!([calls[0], calls[1], {"choices": [{"message": {
        "role": "assistant", "content": "The sensor is broken; what does it show?",
    }}]}]);
    let folder = Temporary::new().expect("a folder");
    let script = folder.path().join("script.json");
    std::fs::write(&script, gives_up.to_string()).expect("a file");
    let script = script.to_str().expect("a path that is text");
    let flags = ["--failures", "9", "--script", script, "--turns", "-"];
    let ran = run("thermostat", &flags, "Make it warmer.\n");
    assert_eq!(ran.code, Some(0), "{}", ran.log);
    assert_eq!(ran.out.matches("does not answer").count(), 2, "{}", ran.out);
    assert!(
        ran.out.contains("model: The sensor is broken"),
        "{}",
        ran.out
    );
}

#[test]
fn bad_input_exits_with_2() {
    let rejected = |flags: &[&str], input: &str, said| {
        assert_rejected("thermostat", flags, input, said);
    };
    rejected(&["--failures", "some"], "", "some");
    rejected(&["--turns", "no/such"], "", "can't read no/such");
    rejected(&["--turns", "-"], "\n", "there are no turns");
    rejected(&["--script", "-"], "{}", "the script is not a JSON array");
    rejected(&["--script", "-"], "[]", "the script has ended");
    rejected(
        &["--script", "-"],
        r#"[{"weather": "fine"}]"#,
        "the request to the model failed",
    );
}

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --features thermostat --test thermostat`.
#[test]
fn lock_and_catalogue_are_up_to_date() {
    testing::check(&registry(0))
        .lock("thermostat/tools.lock.json")
        .docs("thermostat/TOOLS.md")
        .run();
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("thermostat");
}
