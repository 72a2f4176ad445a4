//! Functions for the tools of a server: `client!`.

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use support::{import_of, in_time};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolType, tool, tools};
use tool_mcp::client::CallErrorKind;
use tool_mcp::{Import, Server};

tool_mcp::client! {
    /// A desk.
    #[derive(Clone, Debug, PartialEq)]
    mod desk = "tests/typed/desk.tools.json";
}

const FILE: &str = "tests/typed/desk.tools.json";

/// The state of an issue.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize, ToolType)]
#[serde(rename_all = "kebab-case")]
enum State {
    Open,
    WontFix,
}

#[derive(serde::Serialize, serde::Deserialize, ToolType)]
struct Author {
    /// Their name.
    name: String,
    mail: Option<String>,
}

#[derive(serde::Serialize, serde::Deserialize, ToolType)]
struct Issue {
    number: i64,
    title: String,
    state: State,
    authors: Vec<Author>,
    score: f64,
}

/// Adds an issue.
///
/// # Arguments
/// * `title` - what is wrong
/// * `state` - open if left out
/// * `authors` - who has seen it
#[tool]
fn add_issue(title: String, state: Option<State>, authors: Vec<Author>) -> Issue {
    Issue {
        number: 7,
        title,
        state: state.unwrap_or(State::Open),
        authors,
        score: 0.5,
    }
}

/// A tool that returns its arguments, with a schema of its own.
fn echo(name: &str, parameters: Value, output: Option<Value>) -> DynamicTool {
    let mut tool = DynamicTool::foreign(name)
        .description("Echoes.")
        .parameters(parameters);
    if let Some(output) = output {
        tool = tool.output(output);
    }
    tool.build(async |arguments: Value, _| Ok::<_, String>(arguments))
        .unwrap()
}

fn odd() -> Vec<DynamicTool> {
    let node = json!({
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}, "all": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        "required": ["value"],
    });
    vec![
        echo(
            "list-nodes",
            json!({
                "type": "object",
                "properties": {
                    "first": {"$ref": "#/$defs/node"},
                    "type": {"const": "list"},
                    "3d": {"type": ["boolean", "null"]},
                    "per page": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    "perPage": {"type": "number"},
                    "weights": {"type": "object", "additionalProperties": {"type": "number"}},
                    "mixed": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                },
                "required": ["first", "type", "3d", "mixed"],
                "$defs": {"node": node},
            }),
            Some(json!({
                "type": "object",
                "properties": {"first": {"$ref": "#/$defs/node"}, "perPage": {"type": ["number", "null"]}, "type": {"enum": ["list", "tree"]}},
                "required": ["first", "type"],
                "$defs": {"node": node},
            })),
        ),
        echo("ping", json!({"type": "object"}), None),
    ]
}

fn server() -> Registry {
    let registry = Registry::builder()
        .tools(tools![add_issue])
        .build()
        .unwrap();
    for tool in odd() {
        registry.add(tool).unwrap();
    }
    registry
}

/// Imports from a server with these tools, beside another tool with a name of its.
async fn import(theirs: Registry) -> Import {
    let registry = Registry::new();
    let import = import_of(move || Server::new(theirs.clone()))
        .name("desk")
        .prefix("my_");
    in_time(import.connect(&registry)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_is_what_the_server_lists() {
    let listed = import(server()).await.pins().await.unwrap();
    if std::env::var_os("TOOL_CORE_UPDATE").is_some() {
        std::fs::write(FILE, &listed).unwrap();
    }
    assert_eq!(std::fs::read_to_string(FILE).unwrap(), listed);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_as_functions() {
    let import = import(server()).await;
    let author = desk::AddIssueAuthors {
        name: "Ada".into(),
        mail: None,
    };
    let mut issue = desk::AddIssue::new(vec![author], "It smokes.");
    issue.state = Some(desk::AddIssueState::WontFix);
    let added = in_time(desk::add_issue(&import, issue)).await.unwrap();
    assert_eq!((added.number, &*added.title), (7, "It smokes."));
    assert_eq!(added.state, desk::AddIssueResultState::WontFix);
    assert_eq!(
        (&*added.authors[0].name, &added.authors[0].mail),
        ("Ada", &None)
    );
    assert_eq!(added.score.to_string(), "0.5");

    // Names that Rust can't have, recursion, and null.
    let leaf = desk::ListNodesNode {
        value: 2,
        next: None,
        all: None,
    };
    let first = desk::ListNodesNode {
        value: 1,
        next: Some(Box::new(leaf.clone())),
        all: Some(vec![leaf]),
    };
    let nodes = desk::ListNodes {
        per_page: Some(4),
        per_page_2: Some(2.5),
        ..desk::ListNodes::new(None, first, json!("x"), desk::ListNodesType::List)
    };
    let nodes = in_time(desk::list_nodes(&import, nodes)).await.unwrap();
    assert_eq!(nodes.r#type, desk::ListNodesResultType::List);
    assert_eq!(nodes.first.next.unwrap().value, 2);
    assert_eq!(nodes.first.all.unwrap()[0].value, 2);
    assert_eq!(nodes.per_page, Some(2.5));

    // Without an output schema, the result is as every result.
    let pong = in_time(desk::ping(&import, desk::Ping::default()))
        .await
        .unwrap();
    assert_eq!(pong.content(), "{}");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_arrive_with_the_names_of_the_server() {
    let seen = Arc::new(Mutex::new(Value::Null));
    let noted = seen.clone();
    let [nodes, _] = <[_; 2]>::try_from(odd()).ok().unwrap();
    let parameters: Value =
        serde_json::from_str(&nodes.spec().source().unwrap().parameters).unwrap();
    let tool = DynamicTool::foreign("list-nodes")
        .description("Notes.")
        .parameters(parameters);
    let tool = tool.build(move |arguments: Value, _| {
        *noted.lock().unwrap() = arguments;
        async { Ok::<_, String>(()) }
    });
    let import = import(Registry::builder().tool(tool.unwrap()).build().unwrap()).await;
    let first = desk::ListNodesNode {
        value: 1,
        next: None,
        all: None,
    };
    let mut nodes = desk::ListNodes::new(None, first, json!(1), desk::ListNodesType::List);
    nodes.per_page = Some(3);
    nodes.weights = Some([("a".to_owned(), 0.5)].into_iter().collect());
    // This server returns nothing, which does not fit.
    let error = in_time(desk::list_nodes(&import, nodes)).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Changed);
    assert_eq!(
        *seen.lock().unwrap(),
        json!({"first": {"value": 1}, "type": "list", "3d": null, "per page": 3, "mixed": 1, "weights": {"a": 0.5}})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_server_is_an_error_that_names_server_tool_and_field() {
    let issue = || desk::AddIssue::new(vec![], "It smokes.");
    let changed = async |parameters: Value, result: Value| {
        let tool = DynamicTool::foreign("add_issue")
            .description("Adds.")
            .parameters(parameters);
        let tool = tool.output(json!({"type": "object"}));
        let tool = tool.build(move |_: Value, _| {
            let result = result.clone();
            async move { Ok::<_, String>(result) }
        });
        let import = import(Registry::builder().tool(tool.unwrap()).build().unwrap()).await;
        let error = in_time(desk::add_issue(&import, issue()))
            .await
            .unwrap_err();
        (error.kind(), error.to_string())
    };
    let open = json!({"type": "object", "properties": {"title": {}, "authors": {}}});
    let result = json!({"number": 1, "title": "t", "state": "open", "authors": [{"name": 1}], "score": 1, "new": 1});
    let (kind, text) = changed(open.clone(), result.clone()).await;
    assert_eq!(kind, CallErrorKind::Changed);
    assert!(
        text.starts_with("the result of the tool `add_issue` of the server desk does not fit: `authors[0].name` is a number, but must be a string; "),
        "{text}"
    );
    let mut result = result;
    (result["authors"], result["state"]) = (json!([]), json!("closed"));
    let (_, text) = changed(open, result).await;
    assert!(
        text.contains("`state` is a string, but none of \"open\", \"wont-fix\""),
        "{text}"
    );

    // The server would ignore it.
    let removed = json!({"type": "object", "properties": {"title": {}}});
    let (kind, text) = changed(removed, json!({})).await;
    assert_eq!(kind, CallErrorKind::Changed);
    assert!(
        text.starts_with("the tool `add_issue` of the server desk has no parameter `authors`; "),
        "{text}"
    );

    let retyped =
        json!({"type": "object", "properties": {"title": {"type": "integer"}, "authors": {}}});
    let (kind, text) = changed(retyped, json!({})).await;
    assert_eq!(kind, CallErrorKind::Failed);
    assert!(
        text.starts_with("the tool `add_issue` of the server desk: ") && text.contains("title"),
        "{text}"
    );

    let import = import(Registry::new()).await;
    let error = in_time(desk::add_issue(&import, issue()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Absent);
    let text = error.to_string();
    assert!(
        text.starts_with("the server desk has no tool `add_issue`: it lists no such tool; "),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_held_back_says_so() {
    let folder = std::env::temp_dir().join(format!("tool-mcp-typed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("desk.tools.json");
    let mut pinned = std::fs::read_to_string(Path::new(FILE)).unwrap();
    pinned = pinned.replace("\"Adds an issue.\"", "\"Adds an issue, and more.\"");
    std::fs::write(&file, pinned).unwrap();
    let theirs = server();
    let import = import_of(move || Server::new(theirs.clone()))
        .name("desk")
        .pin(&file);
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    let error = in_time(desk::add_issue(&import, desk::AddIssue::new(vec![], "")))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server desk has no tool `add_issue`: it is held back, because its description changed; accept it with \
         `Import::accept`"
    );
    // The others are as in the file.
    in_time(desk::ping(&import, desk::Ping::default()))
        .await
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Compiles a package with a module for each list in the folder `TOOL_LISTS`: files with an array of tools, as servers list
/// them, or what `pin` writes.
#[test]
fn the_lists_of_real_servers_compile() {
    let Some(folder) = std::env::var_os("TOOL_LISTS") else {
        println!("TOOL_LISTS is not set");
        return;
    };
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lists");
    std::fs::create_dir_all(package.join("src")).unwrap();
    let mut modules = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let list = serde_json::from_str::<Value>(&text).unwrap_or_default();
        let Some(tools) = list.get("tools").unwrap_or(&list).as_array() else {
            continue;
        };
        let (name, _) = path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .split_once('.')
            .unwrap();
        count += tools.len();
        let file = format!("{name}.tools.json");
        std::fs::write(package.join(&file), json!({"tools": tools}).to_string()).unwrap();
        modules += &format!(
            "tool_mcp::client! {{ pub mod {} = {file:?}; }}\n",
            name.replace('-', "_")
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = format!(
        "[package]\nname = \"lists\"\nedition = \"2024\"\n[dependencies]\ntool-mcp = {{ path = {root:?} }}\n[workspace]\n"
    );
    std::fs::write(package.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(root.join("../../Cargo.lock"), package.join("Cargo.lock")).unwrap();
    std::fs::write(
        package.join("src/lib.rs"),
        format!("#![deny(warnings)]\n{modules}"),
    )
    .unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let checked = std::process::Command::new(env!("CARGO"))
        .args(["check", "--offline", "--target-dir"])
        .arg(target)
        .current_dir(package)
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    println!("{count} tools compile");
}
