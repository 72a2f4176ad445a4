//! `mcp` and `install`.

#![cfg(feature = "mcp")]

mod support;

use serde_json::{Value, json};
use support::{desk, desk_in};

#[test]
fn the_tools_are_served_on_lines() {
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "read_note", "arguments": {"id": 1}}});
    let ran = desk(&["mcp"], &format!("{initialize}\n{initialized}\n{call}\n"));
    let answers: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        answers[0]["result"]["serverInfo"]["name"], "desk",
        "{ran:?}"
    );
    assert_eq!(answers[0]["result"]["serverInfo"]["version"], "1.0.0");
    assert_eq!(
        answers[1]["result"]["content"][0]["text"], "Call Ada.",
        "{ran:?}"
    );
    let ran = desk(&["mcp", "--http", "0.0.0.0:1"], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("loopback"), "{ran:?}");
}

#[test]
fn a_manifest_is_written_without_serving() {
    let about = "Notes of a desk.";
    let ran = desk(
        &["mcp", "--manifest", "io.github.ada/desk", "--about", about],
        "",
    );
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&json["name"], &json["version"]),
        (&json!("io.github.ada/desk"), &json!("1.0.0"))
    );
    assert_eq!(json["description"], about);
    let ran = desk(&["mcp", "--manifest", "desk", "--about", about], "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.log.contains("io.github.ada/desk"), "{ran:?}");
    assert_eq!(
        desk(&["mcp", "--manifest", "io.github.ada/desk"], "").code,
        Some(2)
    );
}

#[test]
fn an_entry_is_added_to_those_of_others() {
    let folder = std::env::temp_dir().join(format!("tool-cli-{}-install", std::process::id()));
    std::fs::create_dir_all(folder.join(".vscode")).unwrap();
    let print = |client| desk_in(&folder, &["install", client, "--print"], "");
    let new: Value = serde_json::from_str(&print("claude-code").out).unwrap();
    assert_eq!(new["mcpServers"]["desk"]["args"], json!(["mcp"]));

    let path = folder.join(".vscode/mcp.json");
    std::fs::write(
        &path,
        r#"{"servers":{"zoo":{"command":"zoo"},"desk":{},"ant":1},"inputs":[]}"#,
    )
    .unwrap();
    let out = print("vscode").out;
    let place = |word: &str| {
        out.find(word)
            .unwrap_or_else(|| panic!("{word} is not in {out}"))
    };
    assert!(
        place("zoo") < place("desk")
            && place("desk") < place("ant")
            && place("ant") < place("inputs")
    );
    // There is nobody to agree.
    let ran = desk_in(&folder, &["install", "vscode"], "y\n");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .starts_with(r#"{"servers""#)
    );
    for broken in ["// a comment\n{}", "[]", r#"{"servers":1}"#] {
        std::fs::write(&path, broken).unwrap();
        let ran = print("vscode");
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.log.contains(".vscode/mcp.json"), "{ran:?}");
    }
    assert_eq!(print("emacs").code, Some(2));

    // A client with one file for all projects.
    let path = folder.join(match std::env::consts::OS {
        "windows" => "Claude/claude_desktop_config.json",
        "macos" => "Library/Application Support/Claude/claude_desktop_config.json",
        _ => ".config/Claude/claude_desktop_config.json",
    });
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, r#"{"theme":"dark"}"#).unwrap();
    let desktop = |home: &str| {
        let mut command = support::nested();
        command.args(["tools", "install", "claude-desktop", "--print"]);
        support::run(command.env("HOME", home).env("APPDATA", home))
    };
    let new: Value = serde_json::from_str(&desktop(folder.to_str().unwrap()).out).unwrap();
    assert_eq!(new["theme"], "dark");
    let args = &new["mcpServers"]["app-tools"]["args"];
    assert_eq!(args, &json!(["tools", "mcp"]));
    assert_eq!(desktop("").code, Some(2));
    let _ = std::fs::remove_dir_all(&folder);
}
