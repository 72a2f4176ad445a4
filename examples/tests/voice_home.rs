//! Runs the voice assistant as a user does, and checks four errors that such tools had elsewhere.

use std::collections::BTreeMap;
use std::path::PathBuf;

use examples::program::{assert_closed_early, assert_rejected, run};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::schema::{Kind, Property};
use tool_core::{Registry, Tool, ToolCall};
use tool_dialects::OpenAiChat;
use tool_docs::testing;

#[path = "../voice_home/tools.rs"]
mod tools;

/// The slots of an intent, from Home Assistant's list.
#[derive(Deserialize)]
struct Slots {
    required: Vec<String>,
    optional: Vec<String>,
}

fn intents() -> BTreeMap<String, Slots> {
    let recorded = include_str!("../voice_home/recorded/intents.json");
    serde_json::from_str(recorded).expect("slots")
}

fn registry() -> Registry {
    Registry::linked().expect("unique names")
}

#[test]
fn no_catch_all_parameter_leaks_into_a_schema() {
    let sent: Value = serde_json::from_str(registry().render(&OpenAiChat::default()).as_str())
        .expect("the tools are JSON");
    let sent = sent.as_array().expect("an array");
    for (name, slots) in intents() {
        let tool = sent.iter().find(|tool| tool["function"]["name"] == *name);
        let parameters = &tool.expect("every intent is a tool")["function"]["parameters"];
        let mut wanted: Vec<_> = slots.required.iter().chain(&slots.optional).collect();
        wanted.sort();
        let keys = parameters["properties"].as_object().expect("an object");
        let mut keys: Vec<_> = keys.keys().collect();
        keys.sort();
        assert_eq!(keys, wanted, "{name}");
        assert_eq!(parameters["additionalProperties"], false, "{name}");
        let required: Vec<_> = slots.required.iter().map(String::as_str).collect();
        let none = json!([]);
        let said = parameters.get("required").unwrap_or(&none);
        let mut said: Vec<_> = said.as_array().into_iter().flatten().collect();
        said.sort_by_key(|name| name.as_str());
        assert_eq!(json!(said), json!(required), "{name}");
    }
    // A tool without parameters has no catch-all parameter.
    assert_eq!(
        tools::nevermind::SPEC.parameters_json(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
    let extra = ToolCall::new("1", "HassNevermind", json!({"kwargs": {}}));
    let rejected = registry().call_blocking(extra);
    assert!(
        rejected.content().contains("kwargs: unknown"),
        "{}",
        rejected.content()
    );
}

#[test]
fn a_schema_reads_back_in_types() {
    let spec = tools::light_set::SPEC;
    let brightness = spec.parameters().property("brightness").expect("a slot");
    assert!(!brightness.is_required());
    assert_eq!(brightness.description(), "Brightness in percent.");
    assert!(matches!(brightness.schema().kind(), Kind::Integer(_)));
    let registry = registry();
    let tool = registry.get("HassLightSet").expect("it is linked");
    let names = tool.parameters().properties().iter().map(Property::name);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["name", "area", "floor", "brightness", "color"]
    );
}

#[test]
fn a_call_has_its_id_its_name_its_arguments_and_what_is_wrong_with_them() {
    let message = |arguments: &str| {
        json!({"choices": [{"message": {"tool_calls": [
            {"id": "call_9", "type": "function",
             "function": {"name": "HassLightSet", "arguments": arguments}},
        ]}}]})
    };
    let read = |arguments| {
        let turn = OpenAiChat::default().read(&message(arguments));
        turn.expect("a completion").calls.remove(0)
    };
    let whole = read(r#"{"area":"hall","brightness":5}"#);
    assert_eq!((&*whole.id, &*whole.name), ("call_9", "HassLightSet"));
    assert_eq!(whole.parse_error(), None);
    let arguments = whole.arguments.to_object().expect("an object");
    assert_eq!(
        Value::from(arguments),
        json!({"area": "hall", "brightness": 5})
    );
    let broken = read(r#"{"area":"hall","bright"#);
    assert!(broken.parse_error().is_some());
    assert_eq!(broken.arguments.to_object().err(), broken.parse_error());
    let result = registry().call_blocking(broken);
    assert_eq!(result.call_id(), "call_9");
    assert!(
        result.content().contains("not valid JSON"),
        "{}",
        result.content()
    );
}

#[test]
fn every_tool_is_sent_once_and_runs_its_own_function() {
    let registry = registry();
    let specs = registry.specs();
    let names: Vec<_> = specs.iter().map(|tool| tool.name.to_string()).collect();
    let wanted: Vec<_> = intents().into_keys().collect();
    assert_eq!(names, wanted);
    let arguments = |name: &str| match name {
        "HassSetPosition" => json!({"position": 1}),
        "HassClimateSetTemperature" => json!({"temperature": 2}),
        "HassListAddItem" => json!({"item": "milk", "name": "shopping"}),
        _ => json!({}),
    };
    // Each returns its own slots; no other tool would.
    for (name, slots) in intents() {
        let result = registry.call_blocking(ToolCall::new("1", &*name, arguments(&name)));
        let answer = result.structured().expect("slots");
        let mut wanted: Vec<_> = slots.required.iter().chain(&slots.optional).collect();
        wanted.sort();
        let mut got: Vec<_> = answer.as_object().expect("an object").keys().collect();
        got.sort();
        assert_eq!(got, wanted, "{name}");
    }
}

/// The flags of the benchmark.
fn eval<'f>(flags: &[&'f str]) -> Vec<&'f str> {
    [&["eval"], flags].concat()
}

#[test]
fn recorded_models_are_scored_in_one_table() {
    let ran = run("voice_home", &eval(&["--format", "text"]), "");
    assert_eq!(ran.code, Some(0), "{}", ran.log);
    for part in [
        "large  11/12   92 %  65-99 %",
        "small  6/12    50 %  25-75 %",
        "turn on the ceiling light in the kitchen: HassTurnOn is missing",
        "HassClimateGetTemperature instead of HassClimateSetTemperature",
        "kwargs: unknown",
        "brightness: expected an integer from 0 to 100, got 0.33",
        "HassGetState: state is missing, expected \"open\"",
        "HassSetPosition: device_class is \"blind\", expected none",
    ] {
        assert!(ran.out.contains(part), "{part:?} is missing:\n{}", ran.out);
    }
    let ran = run("voice_home", &[], "");
    let report: Value = serde_json::from_str(&ran.out).expect("JSON in a pipe");
    let [large, small] = [0, 1].map(|at| &report["models"][at]);
    // `50.0` equals `50`, and the call with `0.33` was corrected.
    assert_eq!(large["corrected"], 1);
    assert_eq!(
        large["parameters"]["HassLightSet.brightness"],
        json!({"passed": 2, "attempts": 2})
    );
    assert_eq!(
        (&small["corrected"], &small["rejected"]),
        (&json!(0), &json!(3))
    );
    assert!(
        small["score"].as_f64() > Some(0.5),
        "partial scores: {}",
        small["score"]
    );
    assert!(small["micros"].as_u64() < large["micros"].as_u64());
}

#[test]
fn a_model_that_gets_worse_fails_the_check() {
    let folder = std::env::temp_dir().join(format!("voice-home-{}", std::process::id()));
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("voice_home");
    std::fs::create_dir_all(folder.join("recorded")).expect("a folder");
    for file in [
        "tools.eval.toml",
        "eval.lock.json",
        "recorded/large.json",
        "recorded/small.json",
    ] {
        std::fs::copy(from.join(file), folder.join(file)).expect("a file of the benchmark");
    }
    let cases = folder.join("tools.eval.toml");
    let cases = cases.to_str().expect("a path that is text");
    let flags = eval(&[cases, "--format", "text"]);
    assert_eq!(run("voice_home", &flags, "").code, Some(0));
    let large = folder.join("recorded/large.json");
    let text = std::fs::read_to_string(&large).expect("recordings");
    std::fs::write(&large, text.replace("ceiling light\\", "ceiling\\")).expect("a file");
    let ran = run("voice_home", &flags, "");
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let said = "large: turn on the ceiling light in the kitchen: worse than the baseline, 1/1 passed before, now 0/1";
    assert!(ran.log.contains(said), "{}", ran.log);
    assert_eq!(
        run("voice_home", &eval(&[cases, "--update"]), "").code,
        Some(0)
    );
    assert_eq!(run("voice_home", &flags, "").code, Some(0));
    std::fs::remove_dir_all(&folder).expect("the folder");
}

#[test]
fn bad_input_exits_with_2() {
    let rejected = |flags: &[&str], said| assert_rejected("voice_home", flags, "", said);
    rejected(&["eval", "no/such.toml"], "no/such.toml: can't be read");
    rejected(
        &["eval", "--model", "qwen3"],
        "there is no model `qwen3` in the file",
    );
    rejected(
        &["eval", "--model", "m", "--provider", "open-ai"],
        "there is no provider `open-ai`",
    );
    rejected(
        &["ways", "olama", "http://localhost:1/v1", "m"],
        "there is no server \"olama\"",
    );
    rejected(&["ways", "ollama"], "`ways` needs the name of a server");
    rejected(&["eval", "--case", "dance"], "there is no case `dance`");
    rejected(&["eval", "--format", "html"], "html");
}

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --test voice_home`.
#[test]
fn lock_and_catalogue_are_up_to_date() {
    testing::check(&registry())
        .lock("voice_home/tools.lock.json")
        .docs("voice_home/TOOLS.md")
        .run();
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("voice_home");
}
