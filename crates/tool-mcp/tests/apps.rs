//! Metadata, icons and apps, of this server and of others.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rmcp::model::{CacheScope, ReadResourceRequestParams};
use serde_json::{Value, json};
use support::{BOTH, Lifecycle, Running, TestClient, call, connect, import_of, in_time, text};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
use tool_dialects::OpenAiChat;
use tool_mcp::server::{Annotations, App, AppPermission};
use tool_mcp::{Protocol, Server};

/// Draws the sales.
#[tool(
    unlinked,
    meta = r#"{"com.example/cost": 3}"#,
    icons = "https://example.com/chart.png"
)]
fn draw_sales(weeks: u8) -> Vec<u32> {
    vec![7; weeks.into()]
}

/// Turns to another page.
#[tool(unlinked, meta = r#"{"ui": {"visibility": ["app"]}}"#)]
fn turn_page(page: u32) -> u32 {
    page + 1
}

/// Deletes the sales.
#[tool(unlinked, tags = ["admin"], meta = r#"{"ui": {"visibility": ["model"]}}"#)]
fn delete_sales() -> String {
    "deleted".into()
}

/// A note.
#[tool(unlinked, meta = r#"{"a": 1}"#, icons = [icon("https://example.com/n.svg", sizes = ["any"])])]
fn note(id: u64) -> String {
    format!("note {id}")
}

/// The rules.
#[tool(unlinked, icons = "https://example.com/rules.png")]
fn rules() -> String {
    "Be kind.".into()
}

/// Reviews it.
#[tool(
    unlinked,
    meta = r#"{"b": 2}"#,
    icons = "https://example.com/review.png"
)]
fn review() -> String {
    "Review it.".into()
}

/// Text that ends the script of a page that does not escape it.
const HTML: &str =
    "<!doctype html><script>const end = '</script><script>alert(1)</script>'</script>\u{2028}<p>ü";
const URI: &str = "ui://sales/chart";

fn registry() -> Registry {
    let tools = tools![draw_sales, turn_page, delete_sales];
    Registry::builder().tools(tools).build().unwrap()
}

fn app() -> App {
    App::new(HTML)
        .connect_to(["https://api.example.com", "wss://*.example.com:8443"])
        .load_from(["https://cdn.example.com"])
        .frames_of(["https://www.example.com"])
        .permission(AppPermission::Camera)
        .permission(AppPermission::ClipboardWrite)
        .border(true)
}

fn server() -> Server {
    Server::new(registry()).ui("draw_sales", URI, app())
}

fn host() -> TestClient {
    TestClient::with_apps()
}

async fn listed(client: &Running) -> Vec<Value> {
    let tools = client.list_all_tools().await.unwrap();
    tools.iter().map(|tool| json!(tool)).collect()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

async fn read(client: &Running, uri: &str) -> Value {
    let params = ReadResourceRequestParams::new(uri);
    match in_time(client.read_resource(params)).await {
        Ok(result) => json!(result),
        Err(rmcp::ServiceError::McpError(error)) => json!({ "error": error }),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn resources_and_prompts_have_icons_metadata_and_annotations() {
    for lifecycle in BOTH {
        let server = Server::new(Registry::new())
            .resource("notes://{id}", tools![note])
            .resource("house:rules", tools![rules])
            .annotate(
                "notes://{id}",
                Annotations::default().for_user().for_model().for_user(),
            )
            .annotate(
                "house:rules",
                Annotations::default().for_model().priority(0.5),
            )
            .prompt(tools![review]);
        let client = connect(server, lifecycle, TestClient::default()).await;
        let resources = json!(client.list_all_resources().await.unwrap());
        assert_eq!(
            resources,
            json!([{
                "uri": "house:rules", "name": "rules", "description": "The rules.",
                "icons": [{"src": "https://example.com/rules.png"}],
                "annotations": {"audience": ["assistant"], "priority": 0.5},
            }])
        );
        let templates = json!(client.list_all_resource_templates().await.unwrap());
        assert_eq!(
            templates[0]["icons"],
            json!([{"src": "https://example.com/n.svg", "sizes": ["any"]}])
        );
        assert_eq!(templates[0]["_meta"], json!({"a": 1}));
        assert_eq!(
            templates[0]["annotations"],
            json!({"audience": ["user", "assistant"]})
        );
        let prompts = json!(client.list_all_prompts().await.unwrap());
        assert_eq!(
            prompts[0]["icons"],
            json!([{"src": "https://example.com/review.png"}])
        );
        assert_eq!(prompts[0]["_meta"], json!({"b": 2}));
    }
}

#[tokio::test]
async fn an_app_is_found_by_its_tool_and_read_as_it_is() {
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, host()).await;
        let tools = listed(&client).await;
        assert_eq!(names(&tools), ["delete_sales", "draw_sales", "turn_page"]);
        let ui = json!({"resourceUri": URI, "visibility": ["model", "app"]});
        assert_eq!(tools[1]["_meta"], json!({"com.example/cost": 3, "ui": ui}));
        assert_eq!(
            tools[1]["icons"],
            json!([{"src": "https://example.com/chart.png"}])
        );
        assert_eq!(tools[2]["_meta"], json!({"ui": {"visibility": ["app"]}}));

        let resources = json!(client.list_all_resources().await.unwrap());
        let meta = json!({"ui": {
            "csp": {
                "connectDomains": ["https://api.example.com", "wss://*.example.com:8443"],
                "resourceDomains": ["https://cdn.example.com"],
                "frameDomains": ["https://www.example.com"],
            },
            "permissions": {"camera": {}, "clipboardWrite": {}},
            "prefersBorder": true,
        }});
        let mime_type = "text/html;profile=mcp-app";
        assert_eq!(
            resources,
            json!([{"uri": URI, "name": "sales/chart", "mimeType": mime_type, "_meta": meta}])
        );
        let page = read(&client, URI).await;
        let content = json!({"uri": URI, "mimeType": mime_type, "text": HTML, "_meta": meta});
        assert_eq!(page["contents"], json!([content]));
        assert!(read(&client, "ui://sales/other").await["error"].is_object());
        let capabilities = client.peer_info().unwrap().capabilities.clone();
        assert!(capabilities.resources.is_some());
        assert!(json!(capabilities.extensions)["io.modelcontextprotocol/ui"].is_object());
        // The app calls it by its host.
        assert_eq!(text(&client, "turn_page", json!({"page": 1})).await, "2");
        assert_eq!(text(&client, "delete_sales", json!({})).await, "deleted");
    }
}

#[tokio::test]
async fn a_client_without_apps_gets_no_tools_for_them() {
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, TestClient::default()).await;
        let page = client.list_tools(None).await.unwrap();
        assert_eq!(
            names(&[json!(page.tools[0]), json!(page.tools[1])]),
            ["delete_sales", "draw_sales"]
        );
        assert_eq!(page.tools.len(), 2);
        if lifecycle == Lifecycle::Modern {
            assert_eq!(page.cache_scope, Some(CacheScope::Private));
        }
        let result = call(&client, "turn_page", json!({"page": 1})).await;
        assert_eq!(result["error"]["code"], -32602, "{result}");
    }
    // Of tools for all, there is one list.
    let all = Registry::builder()
        .tools(tools![draw_sales])
        .build()
        .unwrap();
    let client = connect(Server::new(all), Lifecycle::Modern, TestClient::default()).await;
    let page = client.list_tools(None).await.unwrap();
    assert_eq!(page.cache_scope, Some(CacheScope::Public));
}

#[tokio::test]
async fn an_app_of_an_invisible_tool_is_unknown() {
    for lifecycle in BOTH {
        let server = server()
            .ui("delete_sales", "ui://admin", "<p>admin")
            .visible(|_, tool| !tool.tags().any(|tag| tag == "admin"));
        let client = connect(server, lifecycle, host()).await;
        let resources = client.list_all_resources().await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, [URI]);
        let hidden = read(&client, "ui://admin").await;
        let unknown = read(&client, "ui://none").await;
        assert_eq!(hidden["error"]["code"], unknown["error"]["code"]);
        assert_eq!(hidden["error"]["message"], unknown["error"]["message"]);
    }
}

#[tokio::test]
async fn apps_and_resources_are_listed_together_in_pages() {
    let server = server()
        .ui("turn_page", "ui://a", "<p>a")
        .ui("delete_sales", URI, app())
        .resource("house:rules", tools![rules])
        .resource("z:rules", tools![note_of_the_day])
        .page_size(2);
    let client = connect(server, Lifecycle::Legacy, host()).await;
    let resources = client.list_all_resources().await.unwrap();
    let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
    assert_eq!(uris, ["house:rules", "ui://a", URI, "z:rules"]);
    let tools = listed(&client).await;
    // Two tools share an app, and what a tool says of itself is kept.
    assert_eq!(
        tools[0]["_meta"]["ui"],
        json!({"visibility": ["model"], "resourceUri": URI})
    );
    assert_eq!(
        tools[2]["_meta"]["ui"],
        json!({"visibility": ["app"], "resourceUri": "ui://a"})
    );
}

/// Another.
#[tool(unlinked)]
fn note_of_the_day() -> u8 {
    1
}

/// Returns the message of the panic.
fn panics<T>(build: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(build))
        .err()
        .expect("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn mistakes_end_the_program_when_the_server_is_built() {
    let message = panics(|| server().ui("draw_sale", "ui://a", "a"));
    assert!(
        message.contains("the tool draw_sale, which the registry does not have"),
        "{message}"
    );
    for uri in [
        "https://a",
        "ui://",
        "ui:/a",
        "UI://a",
        "ui://a b",
        "ui://{a}",
        "ui://a\n",
        "",
    ] {
        let message = panics(|| server().ui("turn_page", uri, "a"));
        assert!(message.contains("is not the URI of an app"), "{message}");
    }
    let message = panics(|| server().ui("turn_page", URI, "another"));
    assert!(message.contains("two apps have the URI"), "{message}");
    let message = panics(|| server().ui("draw_sales", "ui://b", "a"));
    assert!(
        message.contains("has the app `ui://sales/chart` already"),
        "{message}"
    );
    let message = panics(|| server().resource("ui://sales/{id}", tools![note]));
    assert!(message.contains("has the URI of an app"), "{message}");
    let taken = || Server::new(registry()).resource("ui://sales/{id}", tools![note]);
    let message = panics(|| taken().ui("draw_sales", "ui://sales/7", "a"));
    assert!(message.contains("has the URI of a resource"), "{message}");
    for origin in [
        "",
        "example.com",
        "https://",
        "https://a.b/c",
        "https://a.b; script-src *",
        "'self'",
        "data:",
        "*",
        "https://a.b c",
    ] {
        let message = panics(|| App::new("a").connect_to([origin]));
        assert!(message.contains("is not an origin"), "{message}");
    }
    let message = panics(|| server().annotate("house:rules", Annotations::default()));
    assert!(
        message.contains("there is no resource `house:rules`"),
        "{message}"
    );
    let message = panics(|| Annotations::default().priority(1.5));
    assert!(message.contains("is not between 0 and 1"), "{message}");
}

const PROTOCOLS: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_metadata_icons_and_apps_on() {
    for protocol in PROTOCOLS {
        for prefix in ["", "s_"] {
            let registry = Registry::new();
            let import = import_of(server)
                .name("sales")
                .prefix(prefix)
                .protocol(protocol)
                .apps();
            let import = in_time(import.connect(&registry)).await.unwrap();
            let sent = registry.render(&OpenAiChat::default()).as_str().to_owned();
            assert!(
                sent.contains("draw_sales") && sent.contains("delete_sales"),
                "{sent}"
            );
            assert!(
                !sent.contains("turn_page") && !sent.contains("example.com"),
                "{sent}"
            );

            let call_name = format!("{prefix}turn_page");
            let direct = ToolCall::new("call_1", &*call_name, r#"{"page":1}"#);
            let direct = in_time(registry.call(direct)).await;
            assert_eq!(direct.error().unwrap().kind(), ToolErrorKind::UnknownTool);
            let of_app = ToolCall::new("call_2", "turn_page", r#"{"page":1}"#);
            assert_eq!(in_time(import.call_from_app(of_app)).await.content(), "2");
            assert_eq!(import.read_resource(URI).await.unwrap()[0]["text"], HTML);

            let client = connect(Server::new(registry.clone()), Lifecycle::Modern, host()).await;
            let tools = listed(&client).await;
            let own = connect(server(), Lifecycle::Modern, host()).await;
            for (passed, own) in tools.iter().zip(listed(&own).await) {
                assert_eq!(
                    passed["name"],
                    format!("{prefix}{}", own["name"].as_str().unwrap())
                );
                assert_eq!(passed["icons"], own["icons"]);
                let mut meta = own["_meta"].clone();
                // Tags are those of the registry.
                meta.as_object_mut().unwrap().remove("tool-core/tags");
                assert_eq!(passed["_meta"], meta);
            }
            assert_eq!(tools.len(), 3);
            let name: &'static str = if prefix.is_empty() {
                "turn_page"
            } else {
                "s_turn_page"
            };
            assert_eq!(text(&client, name, json!({"page": 1})).await, "2");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_reaches_no_tool_that_is_hidden_from_it() {
    /// Belongs to the program.
    #[tool(unlinked)]
    fn wipe_disk() -> String {
        "wiped".into()
    }
    let registry = Registry::builder()
        .tools(tools![wipe_disk])
        .build()
        .unwrap();
    let import = in_time(
        import_of(server)
            .name("sales")
            .prefix("s_")
            .apps()
            .connect(&registry),
    )
    .await
    .unwrap();
    let other = || {
        Server::new(
            Registry::builder()
                .tools(tools![draw_sales])
                .build()
                .unwrap(),
        )
    };
    let other = in_time(
        import_of(other)
            .name("sales")
            .prefix("o_")
            .apps()
            .connect(&registry),
    )
    .await
    .unwrap();
    for name in [
        "delete_sales",
        "s_delete_sales",
        "wipe_disk",
        "o_draw_sales",
        "s_turn_page",
        "",
        "_disk",
    ] {
        let result = in_time(import.call_from_app(ToolCall::new("call_1", name, "{}"))).await;
        let kind = result.error().map(tool_core::ToolError::kind);
        assert_eq!(kind, Some(ToolErrorKind::Denied), "{name}");
    }
    let shared = ToolCall::new("call_2", "draw_sales", r#"{"weeks":1}"#);
    assert_eq!(
        in_time(import.call_from_app(shared.clone()))
            .await
            .content(),
        "[7]"
    );
    import.close().await;
    assert_eq!(in_time(other.call_from_app(shared)).await.content(), "[7]");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_gets_tools_for_apps_only_if_it_has_them() {
    for protocol in PROTOCOLS {
        let registry = Registry::new();
        let import = import_of(server)
            .name("sales")
            .protocol(protocol)
            .connect(&registry);
        let import = in_time(import).await.unwrap();
        assert!(registry.get("turn_page").is_none());
        assert!(registry.get("draw_sales").is_some());
        drop(import);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_app_is_held_until_it_is_accepted() {
    let path = std::env::temp_dir().join(format!("tool-mcp-apps-{}.json", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let connect = async |server: fn() -> Server| {
        let registry = Registry::new();
        let import = import_of(server)
            .name("sales")
            .apps()
            .pin(&path)
            .connect(&registry);
        (in_time(import).await.unwrap(), registry)
    };
    let (import, registry) = connect(server).await;
    assert!(import.report().held.is_empty());
    assert!(registry.get("draw_sales").is_some());
    drop(import);
    let (import, registry) =
        connect(|| Server::new(self::registry()).ui("draw_sales", "ui://other", HTML)).await;
    let report = import.report();
    let held: Vec<_> = report
        .held
        .iter()
        .map(|tool| (tool.source(), tool.changes().to_vec()))
        .collect();
    assert_eq!(held, [("draw_sales", vec!["app"])]);
    assert!(registry.get("draw_sales").is_none());
    std::fs::remove_file(&path).unwrap();
}

#[tokio::test]
async fn a_client_gets_an_error_for_a_call_with_wrong_arguments_of_an_app() {
    let client = connect(server(), Lifecycle::Modern, host()).await;
    let result = call(&client, "turn_page", json!({"page": "</script>"})).await;
    assert_eq!(result["isError"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_icon_is_followed() {
    let tool = |icon: &str| {
        DynamicTool::builder("draw")
            .description("Draws.")
            .icons(json!([{"src": icon}]))
            .build(async |_, _| Ok::<_, String>(()))
            .unwrap()
    };
    let theirs = Registry::builder()
        .tool(tool("https://a.b/1.png"))
        .build()
        .unwrap();
    let (registry, served) = (Registry::new(), theirs.clone());
    let import = import_of(move || Server::new(served.clone()))
        .name("sales")
        .connect(&registry);
    let _import = in_time(import).await.unwrap();
    let has = |icon: &str| {
        registry
            .get("draw")
            .unwrap()
            .icons_json()
            .unwrap()
            .contains(icon)
    };
    assert!(has("1.png"));
    theirs.replace(tool("https://a.b/2.png")).unwrap();
    in_time(async {
        while !has("2.png") {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
