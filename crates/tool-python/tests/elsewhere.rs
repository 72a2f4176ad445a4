//! The guide `src/elsewhere.md`, and the server for other systems.
#![cfg(target_os = "linux")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use tool_python::{Error, Layer, Policy, Sandbox};

const GUIDE: &str = include_str!("../src/elsewhere.md");

#[test]
fn the_guide_quotes_the_messages_that_lead_to_it() {
    let old = Sandbox::probe().without(Layer::Landlock);
    let missing = Sandbox::new(Policy::new().kernel(old));
    let errors = [
        Error::Unsupported("macos"),
        Error::Capabilities(vec!["CAP_SYS_PTRACE"]),
        Error::Root,
        missing.expect_err("it is rejected"),
    ];
    // The guide wraps lines anywhere, and shortens messages with `…`.
    let guide = GUIDE.split_whitespace().collect::<Vec<_>>().join(" ");
    for error in errors {
        let message = error.to_string();
        let start = message.split(": ").next().unwrap_or_default();
        assert!(
            guide.contains(&format!("\"{start}")),
            "the guide lacks {start:?}"
        );
    }
}

/// Uses the server like a program on another system.
#[test]
fn the_server_runs_code() {
    let this = std::env::current_exe().unwrap();
    let server = this.ancestors().nth(2).unwrap().join("examples/server");
    if !server.exists() {
        eprintln!("skipped: the example `server` is not built");
        return;
    }
    let mut command = Command::new(server);
    if common::is_root() {
        // Runs as the container does.
        command.uid(common::NOBODY.uid).gid(common::NOBODY.gid);
    }
    let mut child = command
        .env("PATH", common::python().parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"python_sandbox","arguments":{"code":"6 * 7"}}}"#,
    ];
    for message in messages {
        // Fails if the server could not start.
        let _ = writeln!(input, "{message}");
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = lines
        .map_while(Result::ok)
        .find(|line| line.contains("\"id\":2"));
    drop(input);
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    match answer {
        Some(answer) => assert!(answer.contains("42"), "{answer}"),
        None if log.contains("Permission denied") && common::is_root() => {
            eprintln!("skipped: another user can't run it: {log}");
        }
        None => assert!(!Sandbox::probe().complete(), "{log}"),
    }
}
