//! Tools on which providers trained their models: `#[tool(provides = …)]`.

#![allow(clippy::unused_async)]

use serde_json::{Value, json};
use tool_core::call::CancellationToken;
use tool_core::content::{Audio, Content, File, Image};
use tool_core::dialect::{Dialect, HostedTool, ToolChoice, Turn};
use tool_core::hooks::{Decision, Gate};
use tool_core::{
    AnyOutput, CallContext, Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult, tool, tools,
    toolset,
};
use tool_dialects::{Anthropic, Bedrock, Gemini, OpenAiChat, OpenAiResponses, anthropic, openai};

use super::streams;

/// Notes that outlive the conversation.
#[tool(provides = anthropic::Memory20250818, unlinked)]
fn memory(command: anthropic::MemoryCommand) -> Result<String, String> {
    Ok(format!("{command:?}"))
}

/// Runs commands.
#[tool(provides = anthropic::Bash20250124, unlinked)]
async fn bash(input: anthropic::BashCommand, call: &CallContext) -> Result<String, String> {
    match input.command.as_deref() {
        Some("fail") => Err("exit code 1".into()),
        Some("panic") => panic!("a bug in {}", call.tool_name()),
        _ => Ok(format!("{input:?}")),
    }
}

/// Edits files.
#[tool(
    provides = anthropic::TextEditor20250728<9000>,
    name = "str_replace_based_edit_tool",
    unlinked
)]
fn edit(command: anthropic::EditorCommand) -> String {
    format!("{command:?}")
}

/// Uses the desktop.
#[tool(provides = anthropic::Computer20251124<1024, 768, true>, unlinked)]
fn computer(action: anthropic::ComputerAction) -> AnyOutput {
    match action {
        anthropic::ComputerAction::CursorPosition => AnyOutput::new("X=1,Y=2"),
        _ => AnyOutput::new(Image::png(*b"\x89PNG")),
    }
}

/// Runs commands.
#[tool(provides = openai::Shell, unlinked)]
fn shell(action: openai::ShellAction) -> Result<Vec<openai::ShellOutput>, String> {
    let run = |command: &String| match &**command {
        "panic" => panic!("a bug"),
        "wait" => openai::ShellOutput::timeout("so far", ""),
        "false" => openai::ShellOutput::exit(1, "", "no"),
        other => openai::ShellOutput::exit(0, format!("ran {other}"), ""),
    };
    match &*action.commands {
        [first, ..] if first == "fail" => Err("the sandbox is gone".into()),
        commands => Ok(commands.iter().map(run).collect()),
    }
}

/// Runs a program.
#[tool(provides = openai::LocalShell, unlinked)]
fn local_shell(action: openai::LocalShellAction) -> Result<String, String> {
    match &*action.command {
        [first] if first == "fail" => Err("the sandbox is gone".into()),
        command => Ok(format!("{command:?} {:?}", action.env)),
    }
}

/// Changes files.
#[tool(provides = openai::ApplyPatch, unlinked)]
fn apply_patch(operation: openai::PatchOperation) -> Result<String, String> {
    match &operation {
        openai::PatchOperation::DeleteFile { path } if path == "missing" => {
            Err("there is no such file".into())
        }
        operation => Ok(format!("changed {}", operation.path())),
    }
}

/// Uses the browser.
#[tool(provides = openai::Computer, name = "browser", unlinked)]
fn browser(input: openai::ComputerActions) -> Result<AnyOutput, String> {
    let picture = |byte| Content::from(Image::png([0x89, b'P', b'N', b'G', byte]));
    match &*input.actions {
        [openai::ComputerAction::Wait] => Err("the browser is gone".into()),
        [openai::ComputerAction::Screenshot] => Ok(AnyOutput::new(Image::png(*b"\x89PNG"))),
        [openai::ComputerAction::Type { text }] => Ok(AnyOutput::new(text.clone())),
        _ => Ok(AnyOutput::new((
            "two pictures",
            vec![picture(1), picture(2), Audio::mp3([0; 4]).into()],
        ))),
    }
}

/// Returns a tool for each form that the markers have.
pub(super) fn tools() -> Vec<ToolEntry> {
    let mut tools = Vec::from(tools![memory, bash, edit, computer]);
    tools.extend(tools![shell, local_shell, apply_patch, browser]);
    tools
}

pub(super) fn registry() -> Registry {
    Registry::builder().tools(tools()).build().unwrap()
}

/// Items of OpenAI's responses, each with what its output must be: calls that succeed and such that fail in every way.
pub(super) fn openai_cases() -> Vec<(Value, Value)> {
    let exit = |code: i32, stdout: &str, stderr: &str| {
        json!({"stdout": stdout, "stderr": stderr,
            "outcome": {"type": "exit", "exit_code": code}})
    };
    let shell = |commands: &[&str]| {
        json!({"type": "shell_call", "status": "completed",
            "action": {"commands": commands, "timeout_ms": 1000, "max_output_length": 500}})
    };
    let patch = |path: &str| {
        json!({"type": "apply_patch_call", "status": "completed",
            "operation": {"type": "delete_file", "path": path}})
    };
    let computer = |action: Value| {
        json!({"type": "computer_call", "status": "completed", "pending_safety_checks": [],
            "actions": [action]})
    };
    let screenshot = json!({"output": {"type": "computer_screenshot",
        "image_url": "data:image/png;base64,iVBORw=="}});
    let several = json!({"output": {"type": "computer_screenshot",
        "image_url": "data:image/png;base64,iVBORwI="}});
    vec![
        (
            shell(&["ls", "false", "wait"]),
            json!({"max_output_length": 500, "output": [exit(0, "ran ls", ""), exit(1, "", "no"),
                {"stdout": "so far", "stderr": "", "outcome": {"type": "timeout"}}]}),
        ),
        (
            shell(&["fail"]),
            json!({"output": [exit(1, "", "the sandbox is gone")]}),
        ),
        (shell(&["panic"]), json!({})),
        (
            json!({"type": "shell_call", "status": "completed", "action": {"commands": "ls"}}),
            json!({}),
        ),
        (
            json!({"type": "shell_call", "status": "completed", "action": {"commands": ["ls"],
                "timeout_ms": null, "max_output_length": null}, "environment": {"type": "local"},
                "caller": {"type": "program", "caller_id": "call_p"}}),
            json!({"output": [exit(0, "ran ls", "")],
                "caller": {"type": "program", "caller_id": "call_p"}}),
        ),
        (
            json!({"type": "local_shell_call", "status": "completed", "action": {"type": "exec",
                "command": ["ls", "-l"], "env": {"A": "b"}, "working_directory": "/tmp"}}),
            json!({"output": r#"["ls", "-l"] {"A": "b"}"#}),
        ),
        (
            json!({"type": "local_shell_call", "status": "completed", "action": {"type": "exec",
                "command": ["fail"], "env": {}}}),
            json!({"output": "the sandbox is gone"}),
        ),
        (
            patch("a.txt"),
            json!({"status": "completed", "output": "changed a.txt"}),
        ),
        (
            patch("missing"),
            json!({"status": "failed", "output": "there is no such file"}),
        ),
        (computer(json!({"type": "screenshot"})), screenshot.clone()),
        (
            json!({"type": "computer_call", "status": "completed", "pending_safety_checks": [],
                "action": {"type": "screenshot"}}),
            screenshot,
        ),
        (
            computer(json!({"type": "click", "button": "left", "x": 1, "y": 2})),
            several,
        ),
        (
            computer(json!({"type": "type", "text": "only words"})),
            json!({"status": "incomplete"}),
        ),
        (
            computer(json!({"type": "wait"})),
            json!({"status": "incomplete"}),
        ),
    ]
}

/// Reads a response with these items, whole and streamed.
fn read(items: &[Value], status: &str) -> Turn {
    let dialect = OpenAiResponses::default();
    let whole = dialect
        .read(&json!({"status": status, "output": items}))
        .unwrap();
    let events = items.iter().enumerate().flat_map(|(index, item)| {
        let event = |kind| {
            json!({"type": format!("response.output_item.{kind}"), "output_index": index,
                "item": item})
        };
        [event("added"), event("done")]
    });
    let kind = if status == "incomplete" {
        "incomplete"
    } else {
        "completed"
    };
    let end = json!({"type": format!("response.{kind}"),
        "response": {"status": status, "output": []}});
    let events: Vec<_> = events.chain([end]).collect();
    assert_eq!(streams::read(&dialect, &events).turn, whole);
    whole
}

/// Returns the cases as one response, with ids.
pub(super) fn openai_items() -> Vec<Value> {
    let items = openai_cases().into_iter().enumerate();
    items
        .map(|(index, (mut item, _))| {
            item["id"] = format!("item_{index}").into();
            item["call_id"] = format!("call_{index}").into();
            item
        })
        .collect()
}

fn call_all(registry: &Registry, turn: &Turn) -> Vec<ToolResult> {
    let calls = turn.calls.iter().cloned();
    calls.map(|call| registry.call_blocking(call)).collect()
}

#[test]
fn a_request_has_the_entry_of_the_provider() {
    let registry = registry();
    let rendered = json!(registry.render(&Anthropic::default()));
    let own = |rendered: &Value| {
        let tools = rendered.as_array().unwrap().iter();
        let own = tools.filter(|tool| tool["type"].is_string() && tool["type"] != "function");
        own.cloned().collect::<Vec<_>>()
    };
    let expected = json!([
        {"type": "bash_20250124", "name": "bash"},
        {"type": "computer_20251124", "name": "computer", "display_width_px": 1024,
            "display_height_px": 768, "enable_zoom": true},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool",
            "max_characters": 9000},
    ]);
    assert_eq!(json!(own(&rendered)), expected);
    assert_eq!(rendered.as_array().unwrap().len(), 8);
    let expected = json!([
        {"type": "apply_patch"},
        {"type": "computer"},
        {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}},
    ]);
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        let rendered = json!(registry.render(&dialect));
        assert_eq!(json!(own(&rendered)), expected);
        assert_eq!(rendered.as_array().unwrap().len(), 8);
    }
    let functions = json!(registry.render(&OpenAiResponses::default().functions_only()));
    assert_eq!(own(&functions), [] as [Value; 0]);
    for dialect in [
        &OpenAiChat::default() as &dyn Dialect,
        &Gemini::default(),
        &Bedrock::default(),
    ] {
        let text = registry.render(dialect).to_string();
        assert!(
            !text.contains("memory_20250818") && !text.contains("environment"),
            "{text}"
        );
        assert!(
            text.contains("insert_line") && text.contains("Notes that outlive"),
            "{text}"
        );
    }
}

/// The header is for tools that are sent.
#[test]
fn the_computer_needs_a_beta_header_of_anthropic() {
    let with = |tools: Vec<ToolEntry>| {
        let registry = Registry::builder().tools(tools).build().unwrap();
        let dialect = Anthropic::default();
        let request = registry.request(&dialect).build().unwrap();
        let found = request
            .headers()
            .filter(|(name, _)| *name == "anthropic-beta");
        found
            .map(|(_, value)| value.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(with(tools()), ["computer-use-2025-11-24"]);
    assert_eq!(with(tools![memory].into()), [] as [String; 0]);
}

#[test]
fn a_choice_names_the_tool_of_the_provider() {
    let registry = registry();
    let choice = |dialect: &dyn Dialect, name: &str| {
        let request = registry
            .request(dialect)
            .choice(ToolChoice::Tool(name.into()));
        let request = request.build().unwrap();
        let body: Value = serde_json::from_str(&request.body(json!({}))).unwrap();
        (body["tool_choice"].clone(), request.notes().len())
    };
    let dialect = OpenAiResponses::default();
    assert_eq!(
        choice(&dialect, "browser"),
        (json!({"type": "computer"}), 0)
    );
    assert_eq!(choice(&dialect, "shell"), (json!({"type": "shell"}), 0));
    assert_eq!(choice(&dialect, "local_shell"), (Value::Null, 1));
    let named = json!({"type": "tool", "name": "memory"});
    assert_eq!(choice(&Anthropic::default(), "memory"), (named, 0));
    let request = registry
        .request(&dialect)
        .only(["shell", "memory"])
        .build()
        .unwrap();
    let body: Value = serde_json::from_str(&request.body(json!({}))).unwrap();
    assert_eq!(
        body["tool_choice"]["tools"],
        json!([{"type": "shell"}, {"type": "function", "name": "memory"}])
    );
}

/// Of two functions that provide the same, a request has one in the provider's form, and it gets the calls.
#[test]
fn a_request_has_each_tool_of_a_provider_once() {
    mod second {
        use tool_dialects::openai;

        /// Runs commands elsewhere.
        #[tool_core::tool(provides = openai::Shell, unlinked)]
        pub(super) fn another_shell(action: openai::ShellAction) -> String {
            format!("elsewhere: {:?}", action.commands)
        }
    }
    let hosted = HostedTool::new(json!({"type": "shell"}));
    let registry = Registry::builder()
        .tools(tools![shell, second::another_shell])
        .hosted(hosted.clone())
        .build()
        .unwrap();
    let rendered = registry.render(&OpenAiResponses::default());
    assert!(
        rendered.rejected()[0].tool == hosted,
        "{:?}",
        rendered.rejected()
    );
    let tools = json!(rendered);
    let kinds: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["type"])
        .collect();
    assert_eq!(kinds, ["shell", "function"]);
    let items = openai_items();
    let turn = registry.claim(read(&items[..1], "completed"));
    assert_eq!(turn.calls[0].name, "another_shell");
    // Its result has no form that OpenAI knows: it is what the command wrote.
    let output = &OpenAiResponses::default().results(&call_all(&registry, &turn))[0];
    assert!(
        output["output"][0]["stdout"]
            .as_str()
            .unwrap()
            .starts_with("elsewhere: [\"ls\"")
    );
}

struct Notes(String);

#[toolset]
impl Notes {
    /// Notes of one kind.
    #[tool(provides = anthropic::Memory20250818)]
    fn memory(&self, command: anthropic::MemoryCommand) -> String {
        format!("{}: {command:?}", self.0)
    }

    /// Runs commands.
    #[tool(provides = openai::Shell, name = "run")]
    async fn shell(&self, action: openai::ShellAction) -> String {
        format!("{}: {:?}", self.0, action.commands)
    }
}

/// A method is a body too. With a prefix, Anthropic's models would not find it, and it is an ordinary tool.
#[test]
fn methods_provide_tools_under_the_name_that_models_know() {
    let registry = Registry::builder()
        .toolset("", Notes("own".into()))
        .toolset("other_", Notes("other".into()))
        .build()
        .unwrap();
    let tools = json!(registry.render(&Anthropic::default()));
    let kinds: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (&tool["name"], &tool["type"]))
        .collect();
    let null = Value::Null;
    let expected = [
        ("memory", json!("memory_20250818")),
        ("other_memory", null.clone()),
        ("other_run", null.clone()),
        ("run", null),
    ];
    assert_eq!(kinds.len(), 4);
    for ((name, kind), (expected, known)) in kinds.into_iter().zip(&expected) {
        assert_eq!((name, kind), (&json!(expected), known));
    }
    let call = ToolCall::new("c", "memory", r#"{"command":"delete","path":"a"}"#);
    assert!(
        registry
            .call_blocking(call)
            .content()
            .starts_with("own: Delete")
    );
    let turn = registry.claim(read(&openai_items()[..1], "completed"));
    assert_eq!(turn.calls[0].name, "other_run");
    assert!(
        registry
            .call_blocking(turn.calls[0].clone())
            .content()
            .starts_with("other: [")
    );
}

/// The API has no form for a tool of its own that is deferred.
#[test]
fn a_tool_of_a_provider_is_deferred_where_the_provider_can_do_that() {
    let registry = Registry::builder()
        .tools(tools())
        .defer(|_| true)
        .build()
        .unwrap();
    let tools = json!(registry.render(&OpenAiResponses::default()));
    let tools = tools.as_array().unwrap();
    let shell = tools.iter().find(|tool| tool["type"] == "shell").unwrap();
    assert_eq!(
        *shell,
        json!({"type": "shell", "environment": {"type": "local"}})
    );
    let tools = json!(registry.render(&Anthropic::default()));
    let tools = tools.as_array().unwrap();
    let memory = json!({"type": "memory_20250818", "name": "memory", "defer_loading": true});
    assert!(tools.contains(&memory), "{tools:?}");
}

#[test]
fn the_input_is_the_whole_and_other_models_write_the_parameter() {
    let registry = registry();
    let call = |name: &str, arguments: &str| {
        let result = registry.call_blocking(ToolCall::new("c", name, arguments));
        let value = serde_json::from_str::<Value>(arguments).unwrap();
        let as_value = registry.call_blocking(ToolCall::new("c", name, value));
        assert_eq!(as_value.is_error(), result.is_error());
        result
    };
    let whole = call("memory", r#"{"command":"view","path":"/memories"}"#);
    assert_eq!(
        whole.content(),
        r#"View { path: "/memories", view_range: None }"#
    );
    let wrapped = call(
        "memory",
        r#"{"command":{"command":"view","path":"/memories"}}"#,
    );
    assert_eq!(wrapped.content(), whole.content());
    // The parameter has the name of a member.
    let bash = call("bash", r#"{"command":"ls"}"#);
    assert_eq!(
        bash.content(),
        r#"BashCommand { command: Some("ls"), restart: false }"#
    );
    let restart = call("bash", r#"{"restart":true}"#);
    assert_eq!(
        restart.content(),
        "BashCommand { command: None, restart: true }"
    );
    let insert = call(
        "str_replace_based_edit_tool",
        r#"{"command":"insert","path":"a","insert_line":0,"new_str":"x"}"#,
    );
    assert!(
        insert.content().contains(r#"insert_text: "x""#),
        "{}",
        insert.content()
    );
    for wrong in [
        r#"{"command":"view"}"#,
        r#"{"command":"view","path":"a","more":1}"#,
        r#"{"command":"run","path":"a"}"#,
        r#"{"command":{"command":"view"}}"#,
        r#"{"command":{"command":"view","path":"a"},"path":"a"}"#,
        "{}",
        "[]",
        "7",
    ] {
        let result = call("memory", wrong);
        assert!(result.is_error(), "{wrong}");
    }
    let result = call("memory", r#"{"command":"view","pat":1}"#);
    let violations: Vec<_> = result.error().unwrap().violations().iter().collect();
    assert!(
        violations.iter().any(|one| one.path() == "path"),
        "{violations:?}"
    );
    let result = call("memory", r#"{"command":{"command":"view"}}"#);
    assert_eq!(
        result.error().unwrap().violations()[0].path(),
        "command.path"
    );
    let twice = ToolCall::new("c", "memory", r#"{"command":"view","path":"a","path":"b"}"#);
    assert!(registry.call_blocking(twice).is_error());
    // Arguments that arrive in pieces get the same verdict.
    for (text, is_accepted) in [
        (r#"{"command":"view","path":"/memories"}"#, true),
        (r#"{"command":{"command":"view","path":"/memories"}}"#, true),
        (r#"{"command":{"command":"view"}}"#, false),
        (r#"{"command":"view"}"#, false),
    ] {
        let mut reader = registry.arguments("memory").unwrap();
        for piece in text.split_inclusive(':') {
            reader.push(piece);
        }
        assert_eq!(reader.finish().is_ok(), is_accepted, "{text}");
        let call = ToolCall::new("c", "memory", text);
        assert_eq!(registry.validate(&call).is_ok(), is_accepted, "{text}");
        assert!(
            registry.shown(&call).starts_with(r#"{"command":{"#),
            "{text}"
        );
    }
}

/// A hook sees and changes the arguments with the key of the parameter, and may leave it out.
#[test]
fn hooks_see_the_parameter() {
    let registry = Registry::builder()
        .tools(tools())
        .before(async |hook| {
            let arguments = hook.call.arguments.to_object().unwrap();
            assert!(arguments["action"]["commands"].is_array(), "{arguments:?}");
            Gate::change(json!({"commands": ["changed"]}))
        })
        .build()
        .unwrap();
    let turn = registry.claim(read(&openai_items()[..1], "completed"));
    let results = call_all(&registry, &turn);
    let items = OpenAiResponses::default().results(&results);
    assert_eq!(items[0]["output"][0]["stdout"], "ran changed");
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "it panics")]
fn each_item_of_openai_is_a_call_and_gets_its_output() {
    let registry = registry();
    let items = openai_items();
    let turn = read(&items, "completed");
    assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, items.len()));
    let turn = registry.claim(turn);
    assert_eq!((turn.calls.len(), turn.unanswered.len()), (items.len(), 0));
    // Saved and loaded.
    let calls = serde_json::to_string(&turn.calls).unwrap();
    let calls: Vec<ToolCall> = serde_json::from_str(&calls).unwrap();
    assert_eq!(calls, turn.calls);
    let results: Vec<_> = calls
        .into_iter()
        .map(|call| registry.call_blocking(call))
        .collect();
    let results = serde_json::to_string(&results).unwrap();
    let results: Vec<ToolResult> = serde_json::from_str(&results).unwrap();
    let dialect = OpenAiResponses::default();
    let outputs = dialect.results(&results);
    for ((item, (_, expected)), output) in items.iter().zip(openai_cases()).zip(&outputs) {
        let kind = format!("{}_output", item["type"].as_str().unwrap());
        assert_eq!(output["type"], *kind);
        let key = if kind.starts_with("local_shell") {
            "id"
        } else {
            "call_id"
        };
        assert_eq!(output[key], item["call_id"]);
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(plain(output[key].clone()), *value, "{item}");
        }
    }
    // What has no place in a screenshot follows as messages: the second picture and its caption, only words, and an error.
    let messages = &outputs[items.len()..];
    let texts: Vec<_> = messages
        .iter()
        .map(|message| &message["content"][0]["text"])
        .collect();
    assert_eq!(messages.len(), 3);
    assert!(
        texts[0]
            .as_str()
            .unwrap()
            .starts_with("Output of the tool browser, call call_11.")
    );
    assert!(texts[0].as_str().unwrap().contains("two pictures"));
    assert_eq!(messages[0]["content"][1]["type"], "input_image");
    assert!(texts[1].as_str().unwrap().ends_with("only words"));
    assert!(
        texts[2]
            .as_str()
            .unwrap()
            .starts_with("Error of the tool browser, call call_13.")
    );
    assert_eq!(dialect.omitted(&results).len(), 1);
}

/// Returns an output without the head of error messages, which has a random reference.
fn plain(output: Value) -> Value {
    match output {
        Value::String(text) => match text.split_once("]: ") {
            Some((head, message)) if head.contains("[ref ") => message.into(),
            _ => text.into(),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members.map(|(key, value)| (key, plain(value))).collect()
        }
        other => other,
    }
}

#[test]
fn calls_that_do_not_run_have_an_output_too() {
    let registry = registry();
    let items = openai_items();
    let turn = registry.claim(read(&items, "completed"));
    let token = CancellationToken::new();
    token.cancel();
    let cancelled = turn.calls.iter().map(|call| {
        let result = registry.call_blocking(call.clone().cancel_with(&token));
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
        result
    });
    let unknown = turn.calls.iter().map(|call| {
        let result = Registry::new().call_blocking(call.clone());
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
        result
    });
    let results: Vec<_> = cancelled.chain(unknown).collect();
    let outputs = OpenAiResponses::default().results(&results);
    for (output, result) in outputs.iter().zip(&results) {
        let kind = output["type"].as_str().unwrap();
        let message = match kind {
            "shell_call_output" => {
                assert_eq!(output["output"][0]["outcome"]["exit_code"], 1);
                &output["output"][0]["stderr"]
            }
            "computer_call_output" => {
                let picture = output["output"]["image_url"].as_str().unwrap();
                assert!(picture.starts_with("data:image/png;base64,"));
                continue;
            }
            _ => &output["output"],
        };
        assert_eq!(message, result.content(), "{kind}");
    }
}

/// What is not complete does not run, and what has another form than this version knows is not made up.
#[test]
fn what_is_incomplete_does_not_run() {
    let registry = registry();
    let mut items = openai_items();
    items.truncate(1);
    let turn = registry.claim(read(&items, "incomplete"));
    assert!(turn.calls[0].is_truncated());
    items[0]["status"] = "in_progress".into();
    let turn = registry.claim(read(&items, "completed"));
    assert!(turn.calls[0].is_truncated());
    let outputs = OpenAiResponses::default().results(&call_all(&registry, &turn));
    let stderr = outputs[0]["output"][0]["stderr"].as_str().unwrap();
    assert!(stderr.contains("truncated"), "{stderr}");

    let strange = [
        json!({"type": "shell_call", "call_id": "", "action": {"commands": ["ls"]}}),
        json!({"type": "shell_call", "id": "i", "action": {"commands": ["ls"]}}),
        json!({"type": "shell_call", "call_id": "c"}),
        json!({"type": "shell_call", "call_id": "c", "action": "ls"}),
        json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "spawn"}}),
        json!({"type": "apply_patch_call", "call_id": "c", "operation": []}),
        json!({"type": "computer_call", "call_id": "c"}),
        json!({"type": "computer_call", "call_id": "c", "actions": [],
            "pending_safety_checks": [{"code": "no id"}]}),
        json!({"type": "computer_call", "call_id": "c", "actions": [],
            "pending_safety_checks": "all"}),
    ];
    for item in strange {
        let turn = registry.claim(read(std::slice::from_ref(&item), "completed"));
        assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, 1), "{item}");
    }
}

mod ordinary {
    /// Is no shell of OpenAI.
    #[tool_core::tool(name = "shell", unlinked)]
    pub(super) fn shell(commands: Vec<String>) -> usize {
        commands.len()
    }
}

#[test]
fn only_what_a_tool_provides_becomes_a_call() {
    let items = openai_items();
    let registry = Registry::builder()
        .tools(tools![apply_patch])
        .build()
        .unwrap();
    let turn = registry.claim(read(&items, "completed"));
    assert_eq!(
        (turn.calls.len(), turn.unanswered.len()),
        (2, items.len() - 2)
    );
    assert!(turn.calls.iter().all(|call| call.name == "apply_patch"));
    assert!(
        turn.unanswered
            .iter()
            .all(|asked| asked.kind != "apply_patch_call")
    );

    // A tool that merely has the name of the provider's gets nothing.
    let registry = Registry::builder()
        .tools(tools![ordinary::shell])
        .build()
        .unwrap();
    let turn = registry.claim(read(&items[..1], "completed"));
    assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, 1));

    // Of two with one id, the second is not made: their results would be mixed up.
    let registry = self::registry();
    let function = json!({"type": "function_call", "call_id": "call_0", "name": "memory",
        "arguments": "{\"command\":\"view\",\"path\":\"a\"}"});
    let mut copy = items[1].clone();
    copy["call_id"] = "call_1".into();
    let turn = read(
        &[function, items[0].clone(), items[1].clone(), copy],
        "completed",
    );
    let turn = registry.claim(turn);
    let ids: Vec<_> = turn.calls.iter().map(|call| &*call.id).collect();
    assert_eq!(
        (&*ids, turn.unanswered.len()),
        (&["call_0", "call_1"][..], 2)
    );
}

/// A person decides on what OpenAI wants checked, and OpenAI is told what was acknowledged.
#[test]
fn safety_checks_are_holds() {
    let registry = registry();
    let checks = json!([{"id": "sc_1", "code": "malicious_instructions", "message": "It says so."},
        {"id": "sc_2", "code": null, "message": null}]);
    let item = json!({"type": "computer_call", "id": "cu_1", "call_id": "call_1",
        "status": "completed", "pending_safety_checks": checks,
        "actions": [{"type": "screenshot"}]});
    let turn = registry.claim(read(&[item], "completed"));
    let call = turn.calls[0].clone();
    let held = |call: &ToolCall| {
        let result = registry.call_blocking(call.clone());
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Held);
        error.hold().unwrap().clone()
    };
    let first = held(&call);
    assert_eq!(
        first.reason(),
        "safety check malicious_instructions: It says so."
    );
    let dialect = OpenAiResponses::default();
    let denied = call
        .clone()
        .decided(first.clone(), Decision::deny("not here"));
    let output = &dialect.results(&[registry.call_blocking(denied)])[0];
    assert!(output["acknowledged_safety_checks"].is_null(), "{output}");
    let call = call.decided(first, Decision::Allow);
    let second = held(&call);
    let result = registry.call_blocking(call.decided(second, Decision::Allow));
    let output = &dialect.results(&[result])[0];
    assert_eq!(output["acknowledged_safety_checks"], checks);
    assert_eq!(
        output["output"]["image_url"],
        "data:image/png;base64,iVBORw=="
    );
}

/// Anthropic's results are blocks as of any tool.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "it panics")]
fn results_of_anthropic_have_pictures_and_errors() {
    let registry = registry();
    let calls = anthropic_inputs().into_iter().enumerate();
    let blocks: Vec<_> = calls
        .map(|(index, (name, input))| {
            json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": input})
        })
        .collect();
    let response = json!({"role": "assistant", "content": blocks, "stop_reason": "tool_use"});
    let dialect = Anthropic::default();
    let turn = registry.claim(dialect.read(&response).unwrap());
    assert_eq!(turn.calls.len(), blocks.len());
    let results = call_all(&registry, &turn);
    let message = &dialect.results(&results)[0];
    let of = |name: &str| {
        let at = turn
            .calls
            .iter()
            .position(|call| call.name == name)
            .unwrap();
        &message["content"][at]
    };
    assert_eq!(of("computer")["content"][0]["type"], "image");
    assert!(
        of("memory")["content"]
            .as_str()
            .unwrap()
            .starts_with("View")
    );
    let errors = results.iter().filter(|result| result.is_error()).count();
    assert_eq!(errors, 2);
    let failed = message["content"].as_array().unwrap().iter();
    assert_eq!(failed.filter(|block| block["is_error"] == true).count(), 2);
}

/// Inputs of Anthropic's tools, of which two fail.
pub(super) fn anthropic_inputs() -> Vec<(&'static str, Value)> {
    vec![
        (
            "memory",
            json!({"command": "view", "path": "/memories", "view_range": [1, -1]}),
        ),
        ("bash", json!({"command": "ls"})),
        ("bash", json!({"command": "fail"})),
        ("bash", json!({"command": "panic"})),
        ("computer", json!({"action": "screenshot"})),
        ("computer", json!({"action": "cursor_position"})),
        (
            "computer",
            json!({"action": "zoom", "region": [0, 0, 10, 10]}),
        ),
        (
            "str_replace_based_edit_tool",
            json!({"command": "str_replace", "path": "a", "old_str": "b"}),
        ),
    ]
}

/// Other kinds of parts are not lost silently.
#[test]
fn parts_without_a_place_are_told() {
    let registry = registry();
    let turn = registry.claim(read(&openai_items()[..1], "completed"));
    let file = File::new("a.txt", "text/plain", "the text of the file");
    let parts = vec![
        Content::text("a caption"),
        Image::png([1; 4]).into(),
        file.into(),
    ];
    let result = ToolResult::new(&turn.calls[0], parts);
    let dialect = OpenAiResponses::default();
    let stdout = dialect.results(std::slice::from_ref(&result))[0]["output"][0]["stdout"].clone();
    let stdout = stdout.as_str().unwrap();
    assert!(
        stdout.contains("a caption") && stdout.contains("omitted"),
        "{stdout}"
    );
    assert!(stdout.contains("the text of the file"), "{stdout}");
    assert_eq!(dialect.omitted(&[result]).len(), 1);
}
