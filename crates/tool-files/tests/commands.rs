//! Commands of models, sent as calls to a registry, and the results that models read.

mod support;

use std::fs;
use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use support::Place;
use tool_core::{Registry, ToolCall};
use tool_dialects::{Anthropic, OpenAiChat, OpenAiResponses};
use tool_files::shell::{BashTool, Limits, Output, Shell, ShellTool};
use tool_files::{Editor, Memory, Patcher};

/// Returns what the model reads, and whether it is an error.
fn call(registry: &Registry, name: &str, arguments: Value) -> (String, bool) {
    let result = registry.call_blocking(ToolCall::new("1", name, arguments));
    (result.content().to_owned(), result.is_error())
}

fn ok(registry: &Registry, name: &str, arguments: Value) -> String {
    let (text, is_error) = call(registry, name, arguments);
    assert!(!is_error, "{text}");
    text
}

fn error(registry: &Registry, name: &str, arguments: Value) -> String {
    let (text, is_error) = call(registry, name, arguments);
    assert!(is_error, "{text}");
    // The registry writes this in front of each tool's message.
    text.split_once("]: ").expect("a reference").1.to_owned()
}

#[test]
fn a_model_keeps_a_memory() {
    let place = Place::new();
    let registry = Registry::builder().toolset("", Memory::new(place.folder()));
    let registry = registry.build().unwrap();
    let ok = |arguments| ok(&registry, "memory", arguments);
    let error = |arguments| error(&registry, "memory", arguments);

    let created = ok(
        json!({"command": "create", "path": "/memories/people/ann.md", "file_text": "likes tea\nlikes tea\nsings\n"}),
    );
    assert_eq!(
        created,
        "File created successfully at: /memories/people/ann.md"
    );
    let again =
        error(json!({"command": "create", "path": "/memories/people/ann.md", "file_text": ""}));
    assert_eq!(again, "File /memories/people/ann.md already exists");

    fs::write(place.inside(".hidden"), "").unwrap();
    let list = ok(json!({"command": "view", "path": "/memories"}));
    let lines: Vec<_> = list.lines().collect();
    assert_eq!(
        lines[0],
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
    );
    let (_, folder) = lines[1].split_once('\t').unwrap();
    assert_eq!(
        (folder, lines[2], lines.len()),
        ("/memories/people/", "26B\t/memories/people/ann.md", 3)
    );
    let list = ok(json!({"command": "view", "path": "/memories/people/"}));
    assert!(
        list.ends_with(
            "in /memories/people, excluding hidden items:\n26B\t/memories/people/ann.md"
        ),
        "{list}"
    );

    let file =
        ok(json!({"command": "view", "path": "/memories/people/ann.md", "view_range": [2, 3]}));
    assert_eq!(
        file,
        "Here's the content of /memories/people/ann.md with line numbers:\n     2\tlikes tea\n     3\tsings"
    );
    let range =
        error(json!({"command": "view", "path": "/memories/people/ann.md", "view_range": [9, 10]}));
    assert!(
        range.starts_with("Invalid `view_range`: [9, 10]. The file has 4 lines"),
        "{range}"
    );

    let replace = |old: &str, new: &str| json!({"command": "str_replace", "path": "/memories/people/ann.md", "old_str": old, "new_str": new});
    assert_eq!(
        error(replace("tea", "coffee")),
        "No replacement was performed. Multiple occurrences of old_str `tea` in lines: 1, 2. Please ensure it is unique"
    );
    assert_eq!(
        error(replace("milk", "coffee")),
        "No replacement was performed, old_str `milk` did not appear verbatim in /memories/people/ann.md."
    );
    assert_eq!(
        ok(replace("tea\nsings", "coffee\nsings")),
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     \
         1\tlikes tea\n     2\tlikes coffee\n     3\tsings\n     4\t"
    );
    let insert = |line: u32| json!({"command": "insert", "path": "/memories/people/ann.md", "insert_line": line, "insert_text": "is tall\n"});
    assert_eq!(
        ok(insert(0)),
        "The file /memories/people/ann.md has been edited."
    );
    assert_eq!(
        error(insert(9)),
        "Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]"
    );

    let rename =
        |from: &str, to: &str| json!({"command": "rename", "old_path": from, "new_path": to});
    assert_eq!(
        ok(rename("/memories/people", "/memories/friends/old")),
        "Successfully renamed /memories/people to /memories/friends/old"
    );
    assert_eq!(
        fs::read_to_string(place.inside("friends/old/ann.md")).unwrap(),
        "is tall\nlikes tea\nlikes coffee\nsings\n"
    );
    assert_eq!(
        error(rename("/memories/friends/old", "/memories/friends")),
        "The destination /memories/friends already exists"
    );
    assert_eq!(
        error(rename("/memories/gone", "/memories/x")),
        "The path /memories/gone does not exist. Please provide a valid path."
    );
    assert_eq!(
        error(rename("/memories", "/memories/x")),
        "Cannot rename the /memories directory itself"
    );
    assert_eq!(
        error(json!({"command": "delete", "path": "/memories/"})),
        "Cannot delete the /memories/ directory itself"
    );
    assert_eq!(
        ok(json!({"command": "delete", "path": "/memories/friends"})),
        "Successfully deleted /memories/friends"
    );
    assert!(!place.inside("friends").exists());

    for path in [
        "/etc/passwd",
        "memories/a",
        "/memoriesx/a",
        "/memories2",
        "../a",
        "",
        "people/ann.md",
    ] {
        let text = error(json!({"command": "view", "path": path}));
        assert_eq!(
            text,
            format!("The path {path} is not valid: it must start with /memories.")
        );
    }
    for path in [
        "/memories/../secret.md",
        "/memories//secret.md",
        "/memories/%2e%2e\\secret.md",
    ] {
        let text = error(json!({"command": "view", "path": path}));
        assert!(
            text.starts_with(&format!("The path {path} is not valid: ")),
            "{text}"
        );
    }
    place.assert_secret();
}

#[test]
fn an_editor_keeps_line_ends() {
    let place = Place::new();
    fs::write(place.inside("a.txt"), "one\r\ntwo\r\nthree").unwrap();
    let registry =
        Registry::builder().toolset("", Editor::new(place.folder()).mounted_at("/repo/"));
    let registry = registry.build().unwrap();
    let name = "str_replace_based_edit_tool";
    let view = ok(
        &registry,
        name,
        json!({"command": "view", "path": "/repo/a.txt", "view_range": [1, -1]}),
    );
    assert_eq!(
        view,
        "Here's the content of /repo/a.txt with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree"
    );
    ok(
        &registry,
        name,
        json!({"command": "str_replace", "path": "/repo/a.txt", "old_str": "one\ntwo", "new_str": "1\n2\n"}),
    );
    ok(
        &registry,
        name,
        json!({"command": "str_replace", "path": "/repo/a.txt", "old_str": "three"}),
    );
    ok(
        &registry,
        name,
        json!({"command": "insert", "path": "/repo/a.txt", "insert_line": 1, "insert_text": "x\ny"}),
    );
    assert_eq!(
        fs::read_to_string(place.inside("a.txt")).unwrap(),
        "1\r\nx\r\ny\r\n2\r\n\r\n"
    );
    ok(
        &registry,
        name,
        json!({"command": "create", "path": "/repo/src/b.txt", "file_text": "b"}),
    );
    let list = ok(&registry, name, json!({"command": "view", "path": "/repo"}));
    assert!(
        list.ends_with("\t/repo/src/\n1B\t/repo/src/b.txt"),
        "{list}"
    );
    let outside = error(
        &registry,
        name,
        json!({"command": "view", "path": "src/b.txt"}),
    );
    assert_eq!(
        outside,
        "The path src/b.txt is not valid: it must start with /repo."
    );
}

#[test]
fn a_patch_applies_whole_or_not_at_all() {
    let place = Place::new();
    fs::write(place.inside("a.txt"), "one\r\ntwo\r\n").unwrap();
    let registry = Registry::builder()
        .toolset("", Patcher::new(place.folder()))
        .build()
        .unwrap();
    let read = |name| fs::read_to_string(place.inside(name)).unwrap();
    let update = |diff: &str| json!({"type": "update_file", "path": "a.txt", "diff": diff});
    assert_eq!(
        ok(&registry, "apply_patch", update(" one\n-two\n+zwei")),
        "Updated a.txt"
    );
    assert_eq!(read("a.txt"), "one\r\nzwei\r\n");
    let text = error(
        &registry,
        "apply_patch",
        update("-one\n+eins\n@@\n-two\n+2"),
    );
    assert_eq!(
        text,
        "The diff does not apply to a.txt: Invalid Context 1:\ntwo"
    );
    assert_eq!(read("a.txt"), "one\r\nzwei\r\n");
    let create = json!({"type": "create_file", "path": "src/b.txt", "diff": "+b\n+c\n"});
    assert_eq!(
        ok(&registry, "apply_patch", create.clone()),
        "Created src/b.txt"
    );
    assert_eq!(read("src/b.txt"), "b\nc");
    assert_eq!(
        error(&registry, "apply_patch", create),
        "File src/b.txt already exists"
    );
    let delete = json!({"type": "delete_file", "path": "src/b.txt"});
    assert_eq!(ok(&registry, "apply_patch", delete), "Deleted src/b.txt");
    let text = error(
        &registry,
        "apply_patch",
        json!({"type": "delete_file", "path": "src"}),
    );
    assert_eq!(text, "The path src is not a file.");
}

/// Returns its input as output, and ignores the limits.
struct Spy;

impl Shell for Spy {
    async fn run(&self, command: &str, limits: &Limits) -> io::Result<Output> {
        match command {
            "fail" => Err(io::Error::other("the key of the container is abc")),
            "hang" => Ok(Output::timed_out("half", "")),
            "flood" => Ok(Output::exited(0, vec![b'a'; 1000], vec![0xFF; 1000])),
            _ => {
                let out = format!("{command} {} {:?}", limits.output_bytes, limits.variables);
                let time = match limits.time.as_secs() {
                    0..=8 => "short",
                    9..=10 => "long",
                    _ => "too long",
                };
                Ok(Output::exited(3, out, time))
            }
        }
    }
}

#[test]
fn a_shell_gets_the_limits_of_the_program() {
    let limits = Limits::default()
        .time(Duration::from_secs(10))
        .output_bytes(100)
        .variable("A", "b");
    let registry = Registry::builder()
        .toolset("", BashTool::new(Spy, limits.clone()))
        .toolset("", ShellTool::new(Spy, limits))
        .build()
        .unwrap();
    let bash = |command: &str| call(&registry, "bash", json!({"command": command}));
    assert_eq!(bash("ls").0, "ls 100 [(\"A\", \"b\")]\nlong\n[exit code 3]");
    assert_eq!(
        bash("hang").0,
        "half\n[ended after 10000 ms: the time is over]"
    );
    let (flood, _) = bash("flood");
    assert!(
        flood.starts_with(&format!("{}\n[truncated]", "a".repeat(100))) && flood.len() < 600,
        "{flood}"
    );
    let failed = error(&registry, "bash", json!({"command": "fail"}));
    assert_eq!(failed, "The shell is not available.");
    assert_eq!(
        ok(&registry, "bash", json!({"restart": true})),
        "The shell has been restarted."
    );
    assert!(call(&registry, "bash", json!({})).1);

    let shell =
        |arguments| serde_json::from_str::<Value>(&ok(&registry, "shell", arguments)).unwrap();
    let outputs =
        shell(json!({"commands": ["ls", "hang"], "timeout_ms": 5000, "max_output_length": 4}));
    assert_eq!(
        outputs,
        json!([
            {"stdout": "ls 4\n[truncated]", "stderr": "shor\n[truncated]", "outcome": {"type": "exit", "exit_code": 3}},
            {"stdout": "half", "stderr": "", "outcome": {"type": "timeout"}},
        ])
    );
    // A model can't ask for more than the program allows.
    let outputs = shell(
        json!({"commands": ["x"], "timeout_ms": 1_000_000_000, "max_output_length": 1_000_000}),
    );
    assert_eq!(outputs[0]["stdout"], "x 100 [(\"A\", \"b\")]");
    assert_eq!(outputs[0]["stderr"], "long");
    let outputs = shell(json!({"commands": ["x"], "timeout_ms": 0}));
    assert_eq!(outputs[0]["outcome"]["type"], "timeout");
    let many = error(&registry, "shell", json!({"commands": vec!["x"; 33]}));
    assert!(many.starts_with("Too many commands"), "{many}");
    let failed = error(&registry, "shell", json!({"commands": ["fail"]}));
    assert_eq!(failed, "The shell is not available.");
}

#[test]
fn each_provider_gets_the_tools_in_its_form() {
    let place = Place::new();
    let registry = Registry::builder()
        .toolset("", Memory::new(place.folder()))
        .toolset("", Editor::new(place.folder()))
        .toolset("", Patcher::new(place.folder()))
        .build()
        .unwrap();
    let types = |rendered: String| {
        let tools: Vec<Value> = serde_json::from_str(&rendered).unwrap();
        let types = tools
            .iter()
            .map(|tool| tool["type"].as_str().unwrap_or("custom").to_owned());
        let mut types: Vec<_> = types.collect();
        types.sort_unstable();
        types
    };
    assert_eq!(
        types(registry.render(&Anthropic::default()).as_str().to_owned()),
        ["custom", "memory_20250818", "text_editor_20250728"]
    );
    assert_eq!(
        types(
            registry
                .render(&OpenAiResponses::default())
                .as_str()
                .to_owned()
        ),
        ["apply_patch", "function", "function"]
    );
    assert_eq!(
        types(registry.render(&OpenAiChat::default()).as_str().to_owned()),
        ["function", "function", "function"]
    );
}
