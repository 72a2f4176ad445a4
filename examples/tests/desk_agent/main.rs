//! Runs the agent as a user does, and checks what a model can't make it do.

use std::fs;
use std::path::PathBuf;

use examples::folder::Temporary;
use examples::program::{assert_closed_early, assert_rejected, run};
use examples::provider::Scripted;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::dialects::{OpenAiChat, OpenAiResponses};
use tool_agent::run::{Run, RunOutcome};
use tool_core::{Registry, ToolCall, ToolError, ToolErrorKind};
use tool_docs::testing;

mod confinement;
#[path = "../../desk_agent/desk.rs"]
mod desk;
#[path = "../../desk_agent/model.rs"]
mod model;
#[path = "../../desk_agent/python.rs"]
mod python;
mod session;
#[path = "../../desk_agent/stub.rs"]
mod stub;
#[path = "../../desk_agent/tools.rs"]
mod tools;

use desk::Desk;
use tools::SystemPrompt;

/// Runs a test with a desk and a secret file next to it.
fn at_a_desk(test: impl FnOnce(&Temporary, &Desk)) {
    let around = Temporary::new().expect("a folder");
    fs::write(around.path().join("secret.md"), "SECRET").expect("a file");
    fs::create_dir(around.path().join("desk")).expect("a folder");
    let desk = Desk::open(&around.path().join("desk")).expect("a desk");
    fs::write(around.path().join("desk/plan.md"), "fine\n").expect("a file");
    test(&around, &desk);
    let secret = fs::read_to_string(around.path().join("secret.md"));
    assert_eq!(secret.expect("it is still there"), "SECRET");
}

fn registry(desk: Desk, prompt: SystemPrompt) -> Registry {
    let registry = Registry::builder().linked().context(desk).context(prompt);
    registry.build().expect("unique names")
}

fn call(registry: &Registry, name: &str, arguments: Value) -> String {
    let result = registry.call_blocking(ToolCall::new("1", name, arguments));
    result.content().to_owned()
}

#[test]
fn a_proposal_adds_a_folder_and_no_tool() {
    at_a_desk(|around, _| {
        let desk = Desk::open(&around.path().join("desk")).expect("a desk");
        let registry = registry(desk, SystemPrompt::new(""));
        let before = format!("{registry:?}");
        let proposal = |name: &str| json!({"name": name, "description": "Deletes\n*/ fn main() {", "parameters": {"type": "object"}});
        for number in 1..=2 {
            let text = call(&registry, "propose_function_tool", proposal("sweep"));
            assert_eq!(text, format!("tool_proposals/sweep/{number}"));
        }
        assert_eq!(format!("{registry:?}"), before);
        let unknown = call(&registry, "sweep", json!({}));
        assert!(unknown.starts_with("unknown tool"), "{unknown}");

        let folder = around.path().join("desk/tool_proposals/sweep/2");
        let spec = fs::read_to_string(folder.join("tool.json")).expect("a file");
        let spec: Value = serde_json::from_str(&spec).expect("JSON");
        assert_eq!(spec["parameters"], json!({"type": "object"}));
        let stub = fs::read_to_string(folder.join("sweep.rs")).expect("a file");
        let code = stub.lines().filter(|line| !line.starts_with("///"));
        let code: Vec<_> = code.collect();
        let function = "fn sweep() -> Result<String, String> {";
        assert_eq!(code, ["#[tool]", function, "    todo!()", "}"]);

        for name in ["../sweep", "Sweep", "1st", "a/b", "", "ä", &"a".repeat(41)] {
            let text = call(&registry, "propose_function_tool", proposal(name));
            assert!(text.starts_with("invalid arguments"), "{name}: {text}");
        }
    });
}

#[test]
fn the_model_can_neither_see_nor_replace_context_values() {
    at_a_desk(|around, _| {
        let desk = Desk::open(&around.path().join("desk")).expect("a desk");
        let registry = registry(desk, SystemPrompt::new("Be kind."));
        let tools = registry.render(&OpenAiResponses::default());
        assert!(!tools.as_str().contains("\"desk\":"), "{tools}");
        let forged = json!({"path": "secret.md", "desk": "/"});
        let text = call(&registry, "read_file", forged);
        assert!(text.contains("desk: unknown"), "{text}");
        let long = json!({"path": "memory.md", "text": "a".repeat(20_001)});
        let text = call(&registry, "write_file", long);
        assert!(text.contains("text: "), "{text}");

        let whole = call(&registry, "get_system_prompt", json!({}));
        assert_eq!(whole, "Be kind.");
        call(&registry, "set_system_prompt", json!({"text": "Be brief."}));
        call(
            &registry,
            "add_to_system_prompt",
            json!({"text": "Be calm."}),
        );
        let whole = call(&registry, "get_system_prompt", json!({}));
        assert_eq!(whole, "Be brief.\n\nBe calm.");
        for _ in 0..5 {
            let text = json!({"text": "a".repeat(1000)});
            call(&registry, "add_to_system_prompt", text);
        }
        let whole = call(&registry, "get_system_prompt", json!({}));
        assert!(whole.len() < 4000, "{}", whole.len());
    });
}

#[test]
fn the_loop_sends_complete_requests() {
    at_a_desk(|around, _| {
        let desk = Desk::open(&around.path().join("desk")).expect("a desk");
        let prompt = SystemPrompt::new("Be kind.");
        let registry = registry(desk, prompt.clone());
        let recorded = include_str!("../../desk_agent/recorded/responses.json");
        let responses: Vec<Value> = serde_json::from_str(recorded).expect("responses");
        let provider = Scripted::serve(responses).expect("a port");
        let api = model::Api::Responses;
        let model = model::model(api, &provider.url(), "scripted", prompt);
        let agent = Agent::new(registry, OpenAiResponses::default(), model);
        let mut run = Run::new("run-1");
        let question = agent.dialect().user_message("Read my plan.");
        run.push(question).expect("no open calls");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let ended = runtime.expect("a runtime").block_on(agent.run(&mut run));
        let answer = "Proofs are due on Friday; I wrote it down.".to_owned();
        assert_eq!(ended.expect("an answer"), RunOutcome::Answered(answer));
        assert_eq!(run.rounds().len(), 3);
        let results = run.rounds()[1].calls().filter_map(|(_, result)| result);
        let kinds = results.map(|result| result.error().map(ToolError::kind));
        let failed = Some(ToolErrorKind::Failed);
        assert_eq!(kinds.collect::<Vec<_>>(), [None, failed, failed, None]);

        let asked = provider.asked();
        assert_eq!(asked.len(), 3);
        for (asked, length) in asked.iter().zip([1, 5, 13]) {
            assert_eq!(asked.path, "/responses");
            assert_eq!(asked.body["input"].as_array().map(Vec::len), Some(length));
            let tools = asked.body["tools"].as_array().expect("tools");
            assert_eq!(tools.len(), agent.registry().len());
        }
        assert_eq!(asked[0].body["instructions"], "Be kind.");
        assert_eq!(asked[1].body["instructions"], "Be kind.");
        let added = "Be kind.\n\nAnswer in one sentence.";
        assert_eq!(asked[2].body["instructions"], added);
        let output = &asked[1].body["input"][3];
        assert_eq!(output["call_id"], "call_1");
        assert_eq!(output["output"], "fine\n");
    });
}

#[test]
fn the_older_api_gets_the_system_prompt_in_a_message() {
    let provider = Scripted::serve(vec![
        json!({"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}),
    ]);
    let provider = provider.expect("a port");
    let prompt = SystemPrompt::new("Be kind.");
    let model = model::model(model::Api::Chat, &provider.url(), "scripted", prompt);
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    let question = json!({"role": "user", "content": "Are you there?"});
    let mut run = Run::new("run-1");
    run.push(question.clone()).expect("no open calls");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.expect("a runtime").block_on(agent.run(&mut run));
    assert_eq!(
        ended.expect("an answer"),
        RunOutcome::Answered("Yes.".into())
    );
    let asked = provider.asked();
    assert_eq!(asked[0].path, "/chat/completions");
    let system = json!({"role": "system", "content": "Be kind."});
    assert_eq!(asked[0].body["messages"], json!([system, question]));
}

#[test]
fn what_a_model_writes_does_not_control_the_terminal() {
    at_a_desk(|around, _| {
        let hostile = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}";
        let arguments = json!({"path": hostile}).to_string();
        let script = json!([
            {"output": [
                {"type": "function_call", "call_id": hostile, "name": hostile, "arguments": "{}"},
                {"type": "function_call", "call_id": "2", "name": "read_file", "arguments": arguments},
                {"type": "function_call", "call_id": "3", "name": "set_system_prompt", "arguments": json!({"text": hostile}).to_string()},
                {"type": "function_call", "call_id": "4", "name": "get_system_prompt", "arguments": "{}"},
            ]},
            {"output": [{"type": "message", "content": [{"type": "output_text", "text": hostile}]}]},
            {"error": {"message": hostile}},
        ]);
        let path = around.path().join("script.json");
        fs::write(&path, script.to_string()).expect("a file");
        let path = path.to_str().expect("a path that is text");
        let flags = ["--task", "-", "--script", path, "--log"];
        let ran = run("desk_agent", &flags, "Hello.\nAgain.\n");
        assert_eq!(ran.code, Some(2), "{}", ran.log);
        for text in [&ran.out, &ran.log] {
            assert!(text.contains(r"\u001b[2J"), "{text:?}");
            let odd = text
                .chars()
                .find(|&c| c != '\n' && c.is_control() || c == '\u{202e}');
            assert_eq!(odd, None, "{text:?}");
        }
    });
}

#[test]
fn task_script_and_desk_come_from_files() {
    at_a_desk(|around, _| {
        let call = json!([
            {"output": [{"type": "function_call", "call_id": "1", "name": "read_file",
                         "arguments": "{\"path\":\"plan.md\"}"}]},
            {"output": [{"type": "message", "content": [{"type": "output_text", "text": "All is fine."}]}]},
        ]);
        let script = around.path().join("script.json");
        fs::write(&script, call.to_string()).expect("a file");
        let desk = around.path().join("desk");
        let text = |path: &PathBuf| path.to_str().expect("a path that is text").to_owned();
        let (script, desk) = (text(&script), text(&desk));
        let flags = ["--task", "-", "--script", &script, "--desk", &desk];
        let ran = run("desk_agent", &flags, "How are things?\n");
        assert_eq!(ran.code, Some(0), "{}", ran.log);
        assert!(
            ran.out.contains("  | fine\nmodel: All is fine."),
            "{}",
            ran.out
        );

        let flags = ["--script", &script, "--rounds", "1", "--task", "-"];
        let ran = run("desk_agent", &flags, "How are things?\n");
        assert!(ran.out.contains("stopped after 1 rounds"), "{}", ran.out);
    });
}

#[test]
fn bad_input_exits_with_2() {
    let rejected = |flags: &[&str], input: &str, said| {
        assert_rejected("desk_agent", flags, input, said);
    };
    rejected(&["--api", "chta"], "", "'chat'");
    rejected(&["--rounds", "many"], "", "many");
    rejected(&["--approve"], "", "--approve <HASH>");
    rejected(&["--approve", "y"], "", "64 hexadecimal digits");
    let hash = "0".repeat(64);
    let both = ["--unattended", "--approve", &hash];
    rejected(&both, "", "cannot be used with");
    rejected(&["--task", "no/such"], "", "can't read no/such");
    rejected(&["--task", "-"], " \n", "the task is empty");
    // Without a request.
    rejected(&["--url", "x"], "", "must start with http:// or https://");
    let no_model = ["--url", "http://127.0.0.1:9", "--model", ""];
    rejected(&no_model, "", "the name of the model is empty");
    rejected(&["--desk", "no/such"], "", "can't open the folder no/such");
    rejected(&["--script", "-"], "{}", "the script is not a JSON array");
    // The script ends too early, or answers with an error.
    rejected(&["--script", "-"], "[]", "the script has ended");
    rejected(
        &["--script", "-"],
        r#"[{"error": {"message": "no quota"}}]"#,
        "no quota",
    );
    rejected(
        &["--script", "-"],
        r#"[{"weather": "fine"}]"#,
        "`output` is missing",
    );
}

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --features desk_agent --test desk_agent`.
#[test]
fn lock_and_catalogue_are_up_to_date() {
    let folder = Temporary::new().expect("a folder");
    let desk = Desk::open(folder.path()).expect("a desk");
    testing::check(&registry(desk, SystemPrompt::new("")))
        .lock("desk_agent/tools.lock.json")
        .docs("desk_agent/TOOLS.md")
        .run();
}

#[test]
fn output_that_is_closed_early_ends_it_quietly() {
    assert_closed_early("desk_agent");
}

#[test]
fn the_tools_have_a_command_line() {
    let ran = run("desk_agent", &["tools", "list"], "");
    assert!(ran.out.contains(r#""name":"read_file""#), "{ran:?}");
    let read = ["tools", "call", "read_file", "--path", "plan.md"];
    let ran = run("desk_agent", &read, "");
    assert!(ran.out.contains("# Plan"), "{ran:?}");
    at_a_desk(|around, _| {
        let desk = around.path().join("desk");
        let desk = desk.to_str().expect("a path of text");
        let ran = run("desk_agent", &[&["--desk", desk], &read[..]].concat(), "");
        assert!(ran.out.contains("fine"), "{ran:?}");
        let escape = [
            "--desk",
            desk,
            "tools",
            "call",
            "read_file",
            "--path",
            "../secret.md",
        ];
        let ran = run("desk_agent", &escape, "");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.log.contains("not valid") && !ran.out.contains("SECRET"),
            "{ran:?}"
        );
    });
}
