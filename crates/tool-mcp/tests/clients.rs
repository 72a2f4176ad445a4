//! Clients and servers of others, against this crate. Both are installed from registries, so the tests run with
//! `TOOL_MCP_CLIENTS=1` alone; `.ci/run clients` does that.
#![cfg(all(unix, feature = "client", feature = "server-http"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tool_core::hooks::Gate;
use tool_core::{Registry, ToolCall, ToolError, ToolErrorKind};
use tool_dialects::Mcp;
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

/// Where a server comes from, and the path of its program there.
enum From {
    /// A package of npm.
    Node(&'static str),
    /// A file with packages of `PyPI`.
    Python(&'static str, &'static str),
    /// It can't run here, for this reason.
    Nowhere(&'static str),
}

use From::{Node, Nowhere, Python};

/// Servers for the SDK for Python, and for its version before.
const NEW: &str = "servers";
const OLD: &str = "servers_old_sdk";

/// A server of others, and a call of one of its tools. `{work}` is a folder, and `{page}` a page on this machine.
struct Other {
    name: &'static str,
    from: From,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    /// At least.
    tools: usize,
    call: (&'static str, &'static str),
    /// A part of the result. It is empty for servers that need a network or an account: they say what is wrong.
    result: &'static str,
}

const OTHERS: [Other; 26] = [
    Other {
        name: "everything",
        from: Node("@modelcontextprotocol/server-everything/dist/index.js"),
        arguments: &["stdio"],
        environment: &[],
        tools: 8,
        call: ("echo", r#"{"message": "hello"}"#),
        result: "hello",
    },
    Other {
        name: "filesystem",
        from: Node("@modelcontextprotocol/server-filesystem/dist/index.js"),
        arguments: &["{work}"],
        environment: &[],
        tools: 10,
        call: ("list_directory", r#"{"path": "{work}"}"#),
        result: ".git",
    },
    Other {
        name: "memory",
        from: Node("@modelcontextprotocol/server-memory/dist/index.js"),
        arguments: &[],
        environment: &[("MEMORY_FILE_PATH", "{work}/memory.json")],
        tools: 9,
        call: ("open_nodes", r#"{"names": ["Ada"]}"#),
        result: "entities",
    },
    Other {
        name: "sequential-thinking",
        from: Node("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
        arguments: &[],
        environment: &[],
        tools: 1,
        call: (
            "sequentialthinking",
            r#"{"thought": "x", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}"#,
        ),
        result: "thoughtHistoryLength",
    },
    Other {
        name: "notion",
        from: Node("@notionhq/notion-mcp-server/bin/cli.mjs"),
        arguments: &[],
        environment: &[("NOTION_TOKEN", "ntn_none")],
        tools: 20,
        call: ("API-get-self", "{}"),
        result: "",
    },
    Other {
        name: "github",
        from: Node("@modelcontextprotocol/server-github/dist/index.js"),
        arguments: &[],
        environment: &[("GITHUB_PERSONAL_ACCESS_TOKEN", "none")],
        tools: 20,
        call: ("search_repositories", r#"{"query": "tool"}"#),
        result: "",
    },
    Other {
        name: "postgres",
        from: Node("@modelcontextprotocol/server-postgres/dist/index.js"),
        // Nobody listens.
        arguments: &["postgresql://127.0.0.1:1/none"],
        environment: &[],
        tools: 1,
        call: ("query", r#"{"sql": "SELECT 1"}"#),
        result: "",
    },
    Other {
        name: "slack",
        from: Node("@modelcontextprotocol/server-slack/dist/index.js"),
        arguments: &[],
        environment: &[("SLACK_BOT_TOKEN", "none"), ("SLACK_TEAM_ID", "T0")],
        tools: 8,
        call: ("slack_list_channels", "{}"),
        result: "",
    },
    Other {
        name: "playwright",
        from: Node("@playwright/mcp/cli.js"),
        // A browser would outlive the server that is killed.
        arguments: &["--headless", "--executable-path", "/nonexistent"],
        environment: &[],
        tools: 20,
        call: ("browser_navigate", r#"{"url": "{page}"}"#),
        result: "",
    },
    Other {
        name: "chrome-devtools",
        from: Node("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"),
        arguments: &["--headless", "--executablePath", "/nonexistent"],
        environment: &[("CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS", "1")],
        tools: 20,
        call: ("list_pages", "{}"),
        result: "",
    },
    Other {
        name: "figma",
        from: Node("figma-developer-mcp/dist/bin.js"),
        arguments: &["--stdio", "--figma-api-key=none"],
        environment: &[],
        tools: 2,
        call: ("get_figma_data", r#"{"fileKey": "none"}"#),
        result: "",
    },
    Other {
        name: "kubernetes",
        from: Node("mcp-server-kubernetes/dist/index.js"),
        arguments: &[],
        environment: &[],
        tools: 20,
        call: ("ping", "{}"),
        result: "",
    },
    Other {
        name: "mongodb",
        from: Node("mongodb-mcp-server/dist/index.js"),
        arguments: &[],
        environment: &[("MDB_MCP_TELEMETRY", "disabled")],
        tools: 20,
        call: ("list-databases", r#"{"connectionId": "none"}"#),
        result: "",
    },
    Other {
        name: "tavily",
        from: Node("tavily-mcp/build/index.js"),
        arguments: &[],
        environment: &[("TAVILY_API_KEY", "none")],
        tools: 5,
        call: ("tavily_search", r#"{"query": "tool"}"#),
        result: "",
    },
    Other {
        name: "brave",
        from: Node("@brave/brave-search-mcp-server/dist/index.js"),
        arguments: &["--transport", "stdio"],
        environment: &[("BRAVE_API_KEY", "none")],
        tools: 6,
        call: ("brave_web_search", r#"{"query": "tool"}"#),
        result: "",
    },
    Other {
        name: "context7",
        from: Node("@upstash/context7-mcp/dist/index.js"),
        arguments: &[],
        environment: &[],
        tools: 2,
        call: (
            "resolve-library-id",
            r#"{"query": "tool", "libraryName": "tool"}"#,
        ),
        result: "",
    },
    Other {
        name: "dbhub",
        from: Node("@bytebase/dbhub/dist/index.js"),
        arguments: &["--transport", "stdio", "--dsn", "sqlite:///:memory:"],
        environment: &[],
        tools: 1,
        call: ("execute_sql", r#"{"sql": "SELECT 41 + 1 AS answer"}"#),
        result: "42",
    },
    Other {
        name: "stripe",
        from: Nowhere("it passes on to a server at its maker's site, and does not answer without"),
        arguments: &["--api-key=sk_test_none"],
        environment: &[],
        tools: 0,
        call: ("", "{}"),
        result: "",
    },
    Other {
        name: "time",
        from: Python(NEW, "mcp-server-time"),
        arguments: &[],
        environment: &[],
        tools: 2,
        call: ("get_current_time", r#"{"timezone": "Europe/Lisbon"}"#),
        result: "Europe/Lisbon",
    },
    Other {
        name: "fetch",
        from: Python(NEW, "mcp-server-fetch"),
        arguments: &["--ignore-robots-txt", "--allow-private-ips"],
        environment: &[("NO_PROXY", "*")],
        tools: 1,
        call: ("fetch", r#"{"url": "{page}", "raw": true}"#),
        result: "a page of ours",
    },
    Other {
        name: "git",
        from: Python(NEW, "mcp-server-git"),
        arguments: &[],
        environment: &[],
        tools: 10,
        call: ("git_status", r#"{"repo_path": "{work}"}"#),
        result: "branch",
    },
    Other {
        name: "duckduckgo",
        from: Python(NEW, "duckduckgo-mcp-server"),
        arguments: &[],
        environment: &[],
        tools: 2,
        call: ("search", r#"{"query": "tool"}"#),
        result: "",
    },
    Other {
        name: "excel",
        from: Python(NEW, "excel-mcp-server"),
        arguments: &["stdio"],
        environment: &[],
        tools: 10,
        call: ("create_workbook", r#"{"path": "{work}/book.xlsx"}"#),
        result: "",
    },
    Other {
        name: "sqlite",
        from: Python(OLD, "mcp-server-sqlite"),
        arguments: &["--db-path", "{work}/data.sqlite"],
        environment: &[],
        tools: 6,
        call: ("read_query", r#"{"query": "SELECT 41 + 1 AS answer"}"#),
        result: "42",
    },
    Other {
        name: "word",
        from: Python(OLD, "word_mcp_server"),
        arguments: &[],
        environment: &[],
        tools: 40,
        call: ("create_document", r#"{"filename": "{work}/text.docx"}"#),
        result: "text.docx",
    },
    Other {
        name: "atlassian",
        from: Python(OLD, "mcp-atlassian"),
        arguments: &[],
        environment: &[
            ("JIRA_URL", "http://127.0.0.1:1"),
            ("JIRA_PERSONAL_TOKEN", "none"),
            ("CONFLUENCE_URL", "http://127.0.0.1:1"),
            ("CONFLUENCE_PERSONAL_TOKEN", "none"),
        ],
        tools: 60,
        call: ("jira_get_issue", r#"{"issue_key": "DESK-7"}"#),
        result: "",
    },
];

/// The folder of what is installed, and what the table calls `{work}` and `{page}`.
struct Place {
    target: PathBuf,
    node: Option<String>,
    work: String,
    page: String,
}

impl Place {
    fn fill(&self, text: &str) -> String {
        text.replace("{work}", &self.work)
            .replace("{page}", &self.page)
    }

    /// Returns the file of a server's tools, which the first connection writes.
    fn list(&self, other: &Other) -> PathBuf {
        let name = format!("{}.tools.json", other.name);
        self.target.join("lists").join(name)
    }

    /// Returns the command that starts a server, or why it can't run here.
    fn command(&self, other: &Other) -> Result<Vec<String>, &'static str> {
        let (program, script) = match (&other.from, &self.node) {
            (Nowhere(reason), _) => return Err(reason),
            (Node(_), None) => return Err("there is no Node, or no registry"),
            (Node(path), Some(node)) => {
                let path = self.target.join("npm/node_modules").join(path);
                (node.into(), Some(path))
            }
            (Python(file, program), _) => (self.target.join(file).join("bin").join(program), None),
        };
        if !script.as_ref().unwrap_or(&program).exists() {
            return Err("it is not installed");
        }
        let command = [Some(program), script].into_iter().flatten();
        let command = command.map(|path: PathBuf| path.to_str().unwrap().to_owned());
        let arguments = other.arguments.iter().map(|text| self.fill(text));
        Ok(command.chain(arguments).collect())
    }
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
async fn servers_of_others_are_imported_judged_called_killed_and_restarted() {
    let Some(printed) = script(&["install"]) else {
        return;
    };
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
    let work = target.join("work");
    for folder in [&work, &target.join("lists")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let work = work.canonicalize().unwrap();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(&work)
        .status();
    let node = printed.lines().find_map(|line| line.strip_prefix("node "));
    let place = Place {
        target,
        node: node.map(ToOwned::to_owned),
        work: work.to_str().unwrap().to_owned(),
        page: page().await,
    };
    // Some of them, by name.
    let only = std::env::var("TOOL_MCP_SERVERS").ok();
    let is_wanted = |name: &str| {
        let only = only.as_deref();
        only.is_none_or(|only| only.split(',').any(|wanted| wanted == name))
    };
    let mut checked = 0;
    for other in OTHERS.iter().filter(|other| is_wanted(other.name)) {
        let command = match &made {
            Ok(status) if status.success() => place.command(other),
            _ if other.name == "git" => Err("there is no git"),
            _ => place.command(other),
        };
        match command {
            Ok(command) => {
                check(other, command, &place).await;
                checked += 1;
            }
            Err(reason) => println!("skipped: {}: {reason}", other.name),
        }
    }
    println!("{checked} of {} servers", OTHERS.len());
}

/// A registry with a hook that stops each call before its tool, if this is set. A hook sees what fits the schema alone.
fn judging(is_judging: &Arc<AtomicBool>) -> Registry {
    let is_judging = is_judging.clone();
    let registry = Registry::builder().before(move |_| {
        let is_judging = is_judging.load(Ordering::Relaxed);
        async move {
            if is_judging {
                Gate::fail(FITS)
            } else {
                Gate::Allow
            }
        }
    });
    registry.build().unwrap()
}

const FITS: &str = "the arguments fit";

/// Compares what the registry says of arguments with what a validator says by the schema that the server lists. Returns how
/// many were compared.
async fn judge(registry: &Registry, other: &Other) -> usize {
    let listed = registry.render(&Mcp::v2026_07_28());
    let tools: Vec<Value> = serde_json::from_str(listed.as_str()).unwrap();
    assert!(
        tools.len() >= other.tools,
        "{}: {}",
        other.name,
        tools.len()
    );
    let mut count = 0;
    for tool in &tools {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(schema)
            .unwrap_or_else(|error| panic!("{}, {name}: {error}", other.name));
        for arguments in samples(schema) {
            let fits = validator.is_valid(&arguments);
            let result = registry
                .call(ToolCall::new("call_1", name, arguments.clone()))
                .await;
            let is_accepted = match result.error().map(ToolError::kind) {
                Some(ToolErrorKind::InvalidArguments) => false,
                _ if result.content().contains(FITS) => true,
                _ => panic!("{}, {name}: {}", other.name, result.content()),
            };
            // What is meant, though it is not written as the schema says, is accepted too.
            assert!(
                is_accepted || !fits,
                "{}, {name}: {arguments} fits {schema}, but: {}",
                other.name,
                result.content()
            );
            if is_accepted && !fits {
                let is_lenient = arguments.as_object().is_some_and(|arguments| {
                    let mut values = arguments.values();
                    values.any(|value| value.is_null() || value.is_f64() || value.is_string())
                });
                assert!(
                    is_lenient,
                    "{}, {name}: {arguments} does not fit {schema}",
                    other.name
                );
            }
            count += 1;
        }
    }
    count
}

/// Arguments of which some fit a schema and some don't: all parameters or the required ones, each of them also with a value
/// of another type or missing.
fn samples(schema: &Value) -> Vec<Value> {
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let all: Map<_, _> = properties
        .iter()
        .map(|(name, property)| (name.clone(), sample(schema, property, 0)))
        .collect();
    let mut least = all.clone();
    least.retain(|name, _| required.contains(&name.as_str()));
    let mut samples = vec![
        json!([]),
        json!({}),
        Value::Object(all),
        least.clone().into(),
    ];
    for name in properties.keys() {
        for wrong in [
            json!(null),
            json!(7),
            json!(0.5),
            json!("text"),
            json!([{}]),
            json!({"a": 1}),
            json!(true),
        ] {
            let mut arguments = least.clone();
            arguments.insert(name.clone(), wrong);
            samples.push(arguments.into());
        }
        let mut arguments = least.clone();
        if arguments.remove(name).is_some() {
            samples.push(arguments.into());
        }
    }
    samples
}

/// Returns a value that may fit a schema.
fn sample(root: &Value, schema: &Value, depth: usize) -> Value {
    if depth > 8 {
        return json!({});
    }
    let next = |schema: &Value| sample(root, schema, depth + 1);
    if let Some(target) = schema["$ref"]
        .as_str()
        .and_then(|path| path.strip_prefix('#'))
    {
        return root.pointer(target).map_or(json!({}), next);
    }
    if let Some(value) = schema
        .get("const")
        .or(schema["enum"].get(0))
        .or(schema.get("default"))
    {
        return value.clone();
    }
    for union in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[union].get(0) {
            return next(first);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str());
    match kind.unwrap_or("object") {
        "string" => json!("text"),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "null" => json!(null),
        "array" => json!([next(&schema["items"])]),
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let properties = properties.map(|(name, schema)| (name.clone(), next(schema)));
            Value::Object(properties.collect())
        }
    }
}

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args([name, pid.trim()]).status();
    assert!(sent.unwrap().success());
}

/// Waits until a process is gone, also from the table of processes.
async fn is_gone(name: &str, pid: &str) {
    let path = format!("/proc/{}", pid.trim());
    for _ in 0..1000 {
        if !Path::new(&path).exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{name}: the process is still there");
}

async fn check(other: &Other, server: Vec<String>, place: &Place) {
    let pid_file = place.target.join(format!("{}.pid", other.name));
    let mut command = tokio::process::Command::new("sh");
    let environment = other.environment.iter();
    // The shell becomes the server, with the same id.
    command
        .args(["-c", r#"echo $$ >"$1"; shift; exec "$@""#, "sh"])
        .arg(&pid_file)
        .args(server)
        .envs(environment.map(|(name, value)| (name, place.fill(value))));
    let backoff = Backoff::default().first(Duration::from_millis(10));
    let is_judging = Arc::new(AtomicBool::new(true));
    let registry = judging(&is_judging);
    let list = place.list(other);
    let _ = std::fs::remove_file(&list);
    let import = Import::command(command)
        .name(other.name)
        .pin(list)
        .protocol(Protocol::Newest)
        .restart(backoff)
        .connect_timeout(Duration::from_secs(60));
    let import = import
        .connect(&registry)
        .await
        .unwrap_or_else(|error| panic!("{}: {error}", other.name));
    let report = import.report();
    assert!(report.rejected.is_empty(), "{}: {report}", other.name);
    let repaired = report
        .taken
        .iter()
        .filter(|tool| !tool.repairs.is_empty())
        .count();
    let judged = judge(&registry, other).await;
    is_judging.store(false, Ordering::Relaxed);
    let call = || {
        let (name, arguments) = other.call;
        let arguments = place.fill(arguments);
        registry.call(ToolCall::new("call_1", name, arguments))
    };
    let result = call().await;
    let is_expected = |text: &str| !text.is_empty() && text.contains(other.result);
    let kind = result.error().map(ToolError::kind);
    assert!(
        is_expected(result.content()) && kind != Some(ToolErrorKind::InvalidArguments),
        "{}: {}",
        other.name,
        result.content()
    );

    // A process that is stopped takes the call, and never answers.
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    signal("-STOP", &pid);
    let running = call();
    let killed = async {
        // The call is sent meanwhile. If it is not, it fails all the same.
        tokio::time::sleep(Duration::from_millis(50)).await;
        signal("-KILL", &pid);
    };
    let ended = async { tokio::join!(running, killed).0 };
    let ended = tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .unwrap_or_else(|_| panic!("{}: the call does not end", other.name));
    assert!(
        ended.is_error()
            && ended
                .content()
                .contains(&format!("the server {}", other.name)),
        "{}: {}",
        other.name,
        ended.content()
    );
    is_gone(other.name, &pid).await;
    // Calls fail, retryably, until the server is back.
    let again = tokio::time::timeout(Duration::from_secs(60), async {
        // Before the import notices the end, a call is sent to nobody, and may have had an effect for all it knows.
        while import.status() == Status::Connected {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        loop {
            let result = call().await;
            if !result.error().is_some_and(ToolError::is_retryable) {
                return result;
            }
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
    assert_eq!(
        import.status(),
        Status::Connected,
        "{}: {again:?}",
        other.name
    );
    println!(
        "{}: protocol {}, {} tools, {repaired} repaired, {judged} calls judged, called, killed in a call ({:?}), \
         restarted",
        other.name,
        report.protocol,
        report.taken.len(),
        ended.content()
    );
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    import.close().await;
    is_gone(other.name, &pid).await;
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
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
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
