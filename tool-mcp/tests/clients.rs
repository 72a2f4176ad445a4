//! Clients and servers of others, against this crate. Both are installed from registries, so the tests run with
//! `TOOL_MCP_CLIENTS=1` alone; `.ci/run clients` does that.
#![cfg(all(unix, feature = "client", feature = "server-http"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tool_core::{Registry, ToolCall, ToolError};
use tool_mcp::{Backoff, Import, Protocol, Status};

/// Two installations at once would disturb each other.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Runs the script with these arguments and returns what it prints, or `None` without `TOOL_MCP_CLIENTS=1`.
fn script(arguments: &[&str]) -> Option<String> {
    if std::env::var_os("TOOL_MCP_CLIENTS").is_none() {
        println!("skipped: TOOL_MCP_CLIENTS is not set");
        return None;
    }
    let _guard = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/run");
    let output = Command::new(path).args(arguments).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    println!("{printed}");
    assert!(output.status.success(), "{printed}{errors}");
    Some(printed)
}

#[test]
fn clients_of_others_call_tools_over_both_transports() {
    script(&[]);
}

/// A server of others, and a call of one of its tools.
struct Other {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    environment: &'static [(&'static str, &'static str)],
    tools: usize,
    call: (&'static str, Value),
    /// A part of the result; empty if the call can't succeed here.
    result: &'static str,
}

/// Answers each request with a text.
async fn page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 14\r\n\
                connection: close\r\n\r\na page of ours";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_others_are_imported_called_killed_and_restarted() {
    let Some(printed) = script(&["install"]) else {
        return;
    };
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/clients");
    let work = target.join("work");
    std::fs::create_dir_all(&work).unwrap();
    let work = work.canonicalize().unwrap();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(&work)
        .status();
    let mut others = Vec::new();
    if let Some(node) = printed.lines().find_map(|line| line.strip_prefix("node ")) {
        let package = |path: &str| {
            let path = target.join("npm/node_modules").join(path);
            path.to_str().unwrap().to_owned()
        };
        others.push(Other {
            name: "everything",
            program: node.into(),
            arguments: vec![
                package("@modelcontextprotocol/server-everything/dist/index.js"),
                "stdio".into(),
            ],
            environment: &[],
            tools: 8,
            call: ("echo", json!({"message": "hello"})),
            result: "hello",
        });
        others.push(Other {
            name: "filesystem",
            program: node.into(),
            arguments: vec![
                package("@modelcontextprotocol/server-filesystem/dist/index.js"),
                work.to_str().unwrap().to_owned(),
            ],
            environment: &[],
            tools: 10,
            call: ("list_directory", json!({"path": work})),
            result: ".git",
        });
        others.push(Other {
            name: "notion",
            program: node.into(),
            arguments: vec![package("@notionhq/notion-mcp-server/bin/cli.mjs")],
            environment: &[("NOTION_TOKEN", "ntn_none")],
            tools: 20,
            call: ("API-get-self", json!({})),
            // It has no account.
            result: "",
        });
    }
    let python = |name: &str| target.join("servers/bin").join(name);
    if python("mcp-server-time").exists() {
        others.push(Other {
            name: "time",
            program: python("mcp-server-time"),
            arguments: Vec::new(),
            environment: &[],
            tools: 2,
            call: ("get_current_time", json!({"timezone": "Europe/Lisbon"})),
            result: "Europe/Lisbon",
        });
        others.push(Other {
            name: "fetch",
            program: python("mcp-server-fetch"),
            // The page is on this machine.
            arguments: vec!["--ignore-robots-txt".into(), "--allow-private-ips".into()],
            environment: &[("NO_PROXY", "*")],
            tools: 1,
            call: ("fetch", json!({"url": page().await, "raw": true})),
            result: "a page of ours",
        });
        if made.is_ok_and(|status| status.success()) {
            others.push(Other {
                name: "git",
                program: python("mcp-server-git"),
                arguments: Vec::new(),
                environment: &[],
                tools: 10,
                call: ("git_status", json!({"repo_path": work})),
                result: "branch",
            });
        }
    }
    for other in &others {
        check(other, &target).await;
    }
}

async fn check(other: &Other, target: &Path) {
    let pid_file = target.join(format!("{}.pid", other.name));
    let mut command = tokio::process::Command::new("sh");
    // The shell becomes the server, with the same id.
    command
        .args(["-c", r#"echo $$ >"$1"; shift; exec "$@""#, "sh"])
        .arg(&pid_file)
        .arg(&other.program)
        .args(&other.arguments)
        .envs(other.environment.iter().copied());
    let backoff = Backoff::default().first(Duration::from_millis(10));
    let registry = Registry::new();
    let import = Import::command(command)
        .name(other.name)
        .protocol(Protocol::Newest)
        .restart(backoff)
        .connect_timeout(Duration::from_secs(60));
    let import = import
        .connect(&registry)
        .await
        .unwrap_or_else(|error| panic!("{}: {error}", other.name));
    let report = import.report();
    assert!(
        report.taken.len() >= other.tools && report.rejected.is_empty(),
        "{}: {report}",
        other.name
    );
    let repaired = report
        .taken
        .iter()
        .filter(|tool| !tool.repairs.is_empty())
        .count();
    let call = || {
        let (name, arguments) = &other.call;
        registry.call(ToolCall::new("call_1", *name, arguments.clone()))
    };
    let result = call().await;
    let is_expected = |text: &str| !text.is_empty() && text.contains(other.result);
    assert!(
        is_expected(result.content()),
        "{}: {}",
        other.name,
        result.content()
    );

    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let killed = Command::new("kill")
        .args(["-9", pid.trim()])
        .status()
        .unwrap();
    assert!(killed.success());
    // Calls fail, retryably, until the server is back. The first ones may still find the old one: they are answered, or
    // end with it, and then nobody knows whether they had an effect.
    let is_new = || std::fs::read_to_string(&pid_file).is_ok_and(|new| new != pid);
    let again = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let was_new = is_new();
            let result = call().await;
            let is_retryable = result.error().is_some_and(ToolError::is_retryable);
            if is_new() && !is_retryable {
                return result;
            }
            let ended = !was_new && result.is_error();
            assert!(
                is_retryable || ended || is_expected(result.content()),
                "{}: {}",
                other.name,
                result.content()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let again = again
        .await
        .unwrap_or_else(|_| panic!("{} did not come back", other.name));
    assert!(
        is_expected(again.content()),
        "{}: {}",
        other.name,
        again.content()
    );
    assert_eq!(import.status(), Status::Connected);
    println!(
        "{}: protocol {}, {} tools, {repaired} repaired, called, killed, restarted",
        other.name,
        report.protocol,
        report.taken.len()
    );
    import.close().await;
    assert!(registry.is_empty(), "{}", other.name);
}

/// A tool of the bundle.
#[tool_core::tool(unlinked)]
fn find_note(id: u32) -> u32 {
    id
}

#[test]
fn the_official_program_accepts_a_bundle() {
    let Some(printed) = script(&["install"]) else {
        return;
    };
    let Some(node) = printed.lines().find_map(|line| line.strip_prefix("node ")) else {
        return;
    };
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/clients");
    let package = target.join("npm/node_modules/@anthropic-ai/mcpb");
    let registry = Registry::builder().tools(tool_core::tools![find_note]);
    let variable = tool_mcp::server::Variable::new("DESK_TOKEN", "Token of the desk.");
    let manifest = tool_mcp::Server::new(registry.build().unwrap())
        .name("desk", "1.2.0")
        .manifest("io.github.ada/desk", "Notes of a desk.")
        .author("Ada")
        .title("Desk")
        .license("MIT")
        .website("https://example.com/desk")
        .repository("https://github.com/ada/desk")
        .argument("mcp")
        .variable(variable.required().secret());
    let json = manifest.bundle_json().unwrap();
    let schema = package.join("schemas/mcpb-manifest-v0.3.schema.json");
    let schema = std::fs::read_to_string(schema).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let schema = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .unwrap();
    let problems: Vec<_> = schema
        .iter_errors(&json)
        .map(|error| error.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    let mut wrong = json.clone();
    wrong["server"]["type"] = "rust".into();
    assert!(!schema.is_valid(&wrong));

    let work = target.join("bundle");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(work.join("server")).unwrap();
    std::fs::write(work.join("manifest.json"), json.to_string()).unwrap();
    std::fs::write(work.join("server/desk"), "a program").unwrap();
    let run = |arguments: &[&std::ffi::OsStr]| {
        let ran = Command::new(node)
            .arg(package.join("dist/cli/cli.js"))
            .args(arguments)
            .output();
        let ran = ran.unwrap();
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        (ran.status.success(), said.into_owned())
    };
    let (is_valid, said) = run(&["validate".as_ref(), work.join("manifest.json").as_os_str()]);
    assert!(is_valid, "{said}");
    #[cfg(feature = "mcpb")]
    {
        let (file, unpacked) = (work.join("desk.mcpb"), work.join("unpacked"));
        std::fs::write(&file, manifest.bundle(b"a program").unwrap()).unwrap();
        let (is_valid, said) = run(&["unpack".as_ref(), file.as_os_str(), unpacked.as_os_str()]);
        assert!(is_valid, "{said}");
        assert_eq!(
            std::fs::read(unpacked.join("server/desk")).unwrap(),
            b"a program"
        );
    }
}
