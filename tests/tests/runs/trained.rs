//! Runs with tools on which providers trained their models, killed inside of each and resumed.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{FileJournal, Run, RunOutcome};
use tool_agent::testing::ScriptedModel;
use tool_core::content::Image;
use tool_core::dialect::Dialect;
use tool_core::hooks::Decision;
use tool_core::{Registry, tool, tools};
use tool_dialects::{Anthropic, OpenAiResponses, anthropic, openai};

use super::interruptions::{Points, append, go_on, go_on_until_killed, run_and_kill};

struct Effects(std::path::PathBuf, Arc<Points>);

impl Effects {
    fn happen(&self, what: &str) -> String {
        self.1.pass();
        append(&self.0, &format!("{what}\n"));
        self.1.pass();
        format!("did {what}")
    }
}

/// Takes notes.
#[tool(provides = anthropic::Memory20250818, idempotent, unlinked)]
fn memory(command: anthropic::MemoryCommand, #[param(context)] effects: &Effects) -> String {
    let _ = command;
    effects.happen("memory")
}

/// Runs commands.
#[tool(provides = anthropic::Bash20250124, idempotent, unlinked)]
fn bash(input: anthropic::BashCommand, #[param(context)] effects: &Effects) -> String {
    let _ = input;
    effects.happen("bash")
}

/// Edits files.
#[tool(
    provides = anthropic::TextEditor20250728,
    name = "str_replace_based_edit_tool",
    idempotent,
    unlinked
)]
fn edit(command: anthropic::EditorCommand, #[param(context)] effects: &Effects) -> String {
    let _ = command;
    effects.happen("edit")
}

/// Uses the desktop.
#[tool(provides = anthropic::Computer20250124<800, 600>, idempotent, unlinked)]
fn computer(action: anthropic::ComputerAction, #[param(context)] effects: &Effects) -> Image {
    let _ = action;
    Image::png(effects.happen("computer"))
}

/// Runs commands.
#[tool(provides = openai::Shell, idempotent, unlinked)]
fn shell(
    action: openai::ShellAction,
    #[param(context)] effects: &Effects,
) -> Vec<openai::ShellOutput> {
    let run = |command: &String| openai::ShellOutput::exit(0, effects.happen(command), "");
    action.commands.iter().map(run).collect()
}

/// Runs a program.
#[tool(provides = openai::LocalShell, idempotent, unlinked)]
fn local_shell(action: openai::LocalShellAction, #[param(context)] effects: &Effects) -> String {
    let _ = action;
    effects.happen("local")
}

/// Changes files.
#[tool(provides = openai::ApplyPatch, idempotent, unlinked)]
fn apply_patch(operation: openai::PatchOperation, #[param(context)] effects: &Effects) -> String {
    effects.happen(operation.path())
}

/// Uses the browser.
#[tool(provides = openai::Computer, name = "browser", idempotent, unlinked)]
fn browser(input: openai::ComputerActions, #[param(context)] effects: &Effects) -> Image {
    let _ = input;
    Image::png(effects.happen("browser"))
}

fn openai_items() -> Value {
    json!([
        {"type": "shell_call", "id": "i1", "call_id": "c1", "status": "completed",
            "action": {"commands": ["one", "two"], "max_output_length": 100}},
        {"type": "local_shell_call", "id": "i2", "call_id": "c2", "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "apply_patch_call", "id": "i3", "call_id": "c3", "status": "completed",
            "operation": {"type": "delete_file", "path": "patch"}},
        {"type": "computer_call", "id": "i4", "call_id": "c4", "status": "completed",
            "pending_safety_checks": [], "actions": [{"type": "screenshot"}]},
    ])
}

fn openai_answer() -> Value {
    json!({"output": [{"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "Done."}]}]})
}

/// Responds with a call of each tool, then with the answer.
fn respond(request: &Request, is_openai: bool) -> Value {
    let is_first = request.messages.len() == 1;
    match (is_openai, is_first) {
        (true, true) => json!({"output": openai_items()}),
        (true, false) => openai_answer(),
        (false, true) => {
            let uses = [
                (
                    "memory",
                    json!({"command": "delete", "path": "/memories/a"}),
                ),
                ("bash", json!({"command": "ls"})),
                (
                    "str_replace_based_edit_tool",
                    json!({"command": "create", "path": "a", "file_text": "b"}),
                ),
                ("computer", json!({"action": "screenshot"})),
            ];
            let uses = uses.into_iter().map(|(name, input)| {
                json!({"type": "tool_use", "id": format!("t-{name}"), "name": name, "input": input})
            });
            json!({"role": "assistant", "content": uses.collect::<Vec<_>>(),
                "stop_reason": "tool_use"})
        }
        (false, false) => json!({"role": "assistant", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Done."}]}),
    }
}

fn registry(folder: &Path, points: Arc<Points>) -> Registry {
    let effects = Effects(folder.join("effects"), points);
    let builder = Registry::builder()
        .tools(tools![memory, bash, edit, computer])
        .tools(tools![shell, local_shell, apply_patch, browser]);
    builder.context(effects).build().unwrap()
}

fn agent(folder: &Path, stop_at: u32) -> Agent {
    let points = Arc::new(Points {
        next: AtomicU32::new(0),
        stop_at,
    });
    let is_openai = folder.ends_with("openai");
    let dialect: Box<dyn Dialect> = if is_openai {
        Box::new(OpenAiResponses::default())
    } else {
        Box::new(Anthropic::default())
    };
    let model = move |request: Request| {
        std::future::ready(Ok::<_, ModelError>(respond(&request, is_openai)))
    };
    let journal = FileJournal::new(folder.join("journal"));
    Agent::new(registry(folder, points), dialect, model).journal(journal)
}

/// The process that is killed. Does nothing in a usual run of the tests.
#[test]
fn interrupted_process() {
    go_on_until_killed(agent);
}

#[test]
fn each_tool_is_killed_and_its_run_resumed() {
    let root = std::env::temp_dir().join(format!("tool-core-trained-{}", std::process::id()));
    let mut stops = 0;
    for provider in ["openai", "anthropic"] {
        for stop_at in 0.. {
            let folder = root.join(stop_at.to_string()).join(provider);
            fs::create_dir_all(&folder).unwrap();
            let is_stopped = run_and_kill("trained::interrupted_process", &folder, stop_at);
            let (run, outcome) = go_on(&agent(&folder, u32::MAX));
            assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
            let calls: Vec<_> = run.rounds()[0].calls().collect();
            assert_eq!(calls.len(), 4, "{provider}");
            assert!(calls.iter().all(|(_, result)| !result.unwrap().is_error()));
            let text = json!(run.messages()).to_string();
            for (call, _) in calls {
                assert!(text.matches(&call.id).count() >= 2, "{text}");
            }
            if provider == "openai" {
                for kind in ["shell", "local_shell", "apply_patch", "computer"] {
                    let output = format!(r#""type":"{kind}_call_output""#);
                    assert_eq!(text.matches(&output).count(), 1, "{kind}: {text}");
                }
                assert!(text.contains(r#""max_output_length":100"#), "{text}");
            }
            if !is_stopped {
                break;
            }
            stops += 1;
        }
    }
    fs::remove_dir_all(&root).unwrap();
    // Before and after each effect: five of OpenAI's tools, four of Anthropic's.
    assert_eq!(stops, 18);
}

/// Without a tool that provides it, the run ends with what is unanswered.
#[test]
fn what_no_tool_provides_stays_unanswered() {
    let response = json!({"output": openai_items()});
    let registry = Registry::builder().tools(tools![apply_patch]);
    let effects = Effects(
        std::env::temp_dir().join(format!("tool-core-trained-{}.txt", std::process::id())),
        Arc::new(Points {
            next: AtomicU32::new(0),
            stop_at: u32::MAX,
        }),
    );
    let file = effects.0.clone();
    let registry = registry.context(effects).build().unwrap();
    let model = ScriptedModel::new([response]);
    let agent = Agent::new(registry, OpenAiResponses::default(), model);
    let mut run = Run::new("run-1");
    run.push(json!({"role": "user", "content": "Go."})).unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    fs::remove_file(file).unwrap();
    let RunOutcome::Unanswered(asked) = outcome else {
        panic!("{outcome:?}");
    };
    let kinds: Vec<_> = asked.iter().map(|asked| &*asked.kind).collect();
    assert_eq!(kinds, ["shell_call", "local_shell_call", "computer_call"]);
    let (call, result) = run.rounds()[0].calls().next().unwrap();
    assert_eq!(
        (&*call.name, result.unwrap().content()),
        ("apply_patch", "did patch")
    );
}

/// The run waits for the decision on a safety check, also in a later process, and tells OpenAI what was acknowledged.
#[test]
fn a_safety_check_waits_for_a_decision() {
    let check = json!({"id": "sc_1", "code": "irrelevant_domain", "message": "Another page."});
    let item = json!({"type": "computer_call", "id": "i", "call_id": "c", "status": "completed",
        "pending_safety_checks": [check], "actions": [{"type": "wait"}]});
    let folder = std::env::temp_dir().join(format!("tool-core-checks-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let points = Arc::new(Points {
        next: AtomicU32::new(0),
        stop_at: u32::MAX,
    });
    let registry = registry(&folder, points.clone());
    let model = ScriptedModel::new([json!({"output": [item]}), openai_answer()]);
    let agent = Agent::new(registry, OpenAiResponses::default(), model);
    let mut run = Run::new("run-1");
    run.push(json!({"role": "user", "content": "Go."})).unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert_eq!(outcome.as_str(), "waiting", "{outcome:?}");
    assert_eq!(points.next.load(Ordering::Relaxed), 0);
    let mut run: Run = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
    let pending = &run.pending()[0];
    let reason = "safety check irrelevant_domain: Another page.";
    assert_eq!(pending.hold().reason(), reason);
    let registry = agent.registry();
    run.decide(registry, pending.fingerprint(), Decision::Allow, "ada")
        .unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    let output = run
        .messages()
        .iter()
        .find(|item| item["type"] == "computer_call_output");
    assert_eq!(
        output.unwrap()["acknowledged_safety_checks"],
        json!([check])
    );
    fs::remove_dir_all(&folder).unwrap();
}
