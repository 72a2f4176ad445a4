//! Apps of servers that a gateway imports.

mod support;

use rmcp::model::{
    InitializeResult, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use support::{BOTH, Lifecycle, Running, TestClient, call, connect, import_of, in_time, text};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolEntry, tool, tools};
use tool_mcp::server::App;
use tool_mcp::{Protocol, Server};

const URI: &str = "ui://sales/chart";

/// Draws the sales.
#[tool(unlinked)]
fn draw_sales(#[param(context)] name: &&'static str) -> String {
    format!("sales of {name}")
}

/// Turns to another page.
#[tool(unlinked, meta = r#"{"ui": {"visibility": ["app"]}}"#)]
fn turn_page(page: u32, #[param(context)] name: &&'static str) -> String {
    format!("page {page} of {name}")
}

/// Deletes the sales.
#[tool(unlinked, meta = r#"{"ui": {"visibility": ["model"]}}"#)]
fn delete_sales() -> String {
    "deleted".into()
}

/// Links to a page that no list has.
#[tool(unlinked, meta = r#"{"ui": {"resourceUri": "ui://hidden/page"}}"#)]
fn show_hidden() -> String {
    "shown".into()
}

/// Links to the page as servers did before the extension.
#[tool(unlinked, meta = r#"{"ui/resourceUri": "ui://sales/chart"}"#)]
fn draw_old() -> String {
    "drawn".into()
}

/// Links to two pages, of which one is of another server.
#[tool(
    unlinked,
    meta = r#"{"ui": {"resourceUri": "ui://two/own"}, "ui/resourceUri": "ui://sales/chart"}"#
)]
fn draw_both() -> String {
    "drawn".into()
}

/// Links to the page in the old way, and to nothing in the new one.
#[tool(
    unlinked,
    meta = r#"{"ui": {"resourceUri": 7}, "ui/resourceUri": "ui://sales/chart"}"#
)]
fn draw_odd() -> String {
    "drawn".into()
}

fn registry(name: &'static str, more: Vec<ToolEntry>) -> Registry {
    let tools = Registry::builder()
        .tools(tools![draw_sales, turn_page, delete_sales])
        .tools(more)
        .context(name);
    tools.build().unwrap()
}

/// A server with an app.
fn sales(name: &'static str) -> Server {
    let app = App::new(format!("<p>{name}")).connect_to([format!("https://{name}.example.com")]);
    Server::new(registry(name, Vec::new())).ui("draw_sales", URI, app)
}

async fn connected(server: Server, lifecycle: Lifecycle, client: TestClient) -> Running {
    for import in server.imports().all() {
        in_time(import.connected()).await.unwrap();
    }
    connect(server, lifecycle, client).await
}

/// The names of the tools, with the pages that they link to.
async fn links(client: &Running) -> Vec<(String, Option<String>)> {
    let tools = client.list_all_tools().await.unwrap();
    let links = tools.iter().map(|tool| {
        let meta = json!(tool.meta);
        let uri = &meta["ui"]["resourceUri"];
        let uri = uri.as_str().or(meta["ui/resourceUri"].as_str());
        (tool.name.to_string(), uri.map(str::to_owned))
    });
    links.collect()
}

fn expected(links: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    let owned = links
        .iter()
        .map(|(name, uri)| ((*name).to_owned(), uri.map(str::to_owned)));
    owned.collect()
}

async fn uris(client: &Running) -> Vec<String> {
    let resources = client.list_all_resources().await.unwrap();
    let uris = resources.iter().map(|resource| resource.uri.clone());
    uris.collect()
}

async fn read(client: &Running, uri: &str) -> Value {
    let params = ReadResourceRequestParams::new(uri);
    match in_time(client.read_resource(params)).await {
        Ok(result) => json!(result),
        Err(rmcp::ServiceError::McpError(error)) => json!({ "error": error }),
        Err(error) => panic!("{error}"),
    }
}

const PROTOCOLS: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_pages_and_tools_for_apps_on() {
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let import = import_of(|| sales("one")).protocol(protocol);
            let server = Server::new(Registry::new()).import("one_", import);
            let client = connected(server, lifecycle, TestClient::with_apps()).await;
            let capabilities = json!(client.peer_info().unwrap().capabilities);
            assert!(capabilities["extensions"]["io.modelcontextprotocol/ui"].is_object());
            assert_eq!(
                links(&client).await,
                expected(&[
                    ("one_delete_sales", None),
                    ("one_draw_sales", Some(URI)),
                    ("one_turn_page", None),
                ])
            );
            assert_eq!(uris(&client).await, [URI]);
            let page = &read(&client, URI).await["contents"][0];
            assert_eq!(page["text"], "<p>one");
            assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
            assert_eq!(
                page["_meta"]["ui"]["csp"]["connectDomains"],
                json!(["https://one.example.com"])
            );
            // The page knows no prefix.
            for name in ["turn_page", "one_turn_page"] {
                assert_eq!(
                    text(&client, name, json!({"page": 2})).await,
                    "page 2 of one"
                );
            }
            assert_eq!(text(&client, "draw_sales", json!({})).await, "sales of one");
            // Of tools for models alone, no app knows.
            let result = call(&client, "delete_sales", json!({})).await;
            assert_eq!(result["error"]["code"], -32602, "{result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_gateway_without_apps_gets_no_tools_for_them() {
    for lifecycle in BOTH {
        let server = Server::new(Registry::new()).import("one_", import_of(|| sales("one")));
        let client = connected(server, lifecycle, TestClient::default()).await;
        let names: Vec<_> = links(&client).await;
        let names: Vec<_> = names.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["one_delete_sales", "one_draw_sales"]);
        for name in ["one_turn_page", "turn_page", "draw_sales"] {
            let result = call(&client, name, json!({"page": 1})).await;
            assert_eq!(result["error"]["code"], -32602, "{name} {result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_never_shown_for_the_results_of_another_server() {
    let old = || {
        Server::new(registry(
            "two",
            tools![draw_old, draw_both, draw_odd].into(),
        ))
    };
    let two = import_of(move || old().ui("draw_sales", URI, "<p>two"));
    let server = Server::new(Registry::new())
        .import("one_", import_of(|| sales("one")))
        .import("two_", two.tags(["two"]));
    let client = connected(server, Lifecycle::Modern, TestClient::with_apps()).await;
    let tools = client.list_all_tools().await.unwrap();
    let linking = tools
        .iter()
        .filter(|tool| json!(tool).to_string().contains(URI));
    let linking: Vec<_> = linking.map(|tool| &*tool.name).collect();
    assert_eq!(linking, ["one_draw_sales"]);
    let mut both = tools.iter().filter(|tool| tool.name == "two_draw_both");
    let both = json!(both.next().unwrap().meta);
    assert_eq!(both["ui"]["resourceUri"], "ui://two/own");
    assert_eq!(uris(&client).await, [URI]);
    assert_eq!(read(&client, URI).await["contents"][0]["text"], "<p>one");
    // Both have a tool of this name, and the server can't tell whose page calls it.
    let result = call(&client, "turn_page", json!({"page": 1})).await;
    let message = result["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("call one of one_turn_page, two_turn_page"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_see_the_first_server_gets_the_page_of_the_next() {
    for lifecycle in BOTH {
        let server = Server::new(Registry::new())
            .import("one_", import_of(|| sales("one")).tags(["secret"]))
            .import("two_", import_of(|| sales("two")))
            .visible(|_, tool| !tool.tags().any(|tag| tag == "secret"));
        let client = connected(server, lifecycle, TestClient::with_apps()).await;
        assert_eq!(
            links(&client).await,
            expected(&[
                ("two_delete_sales", None),
                ("two_draw_sales", Some(URI)),
                ("two_turn_page", None),
            ])
        );
        assert_eq!(read(&client, URI).await["contents"][0]["text"], "<p>two");
        assert_eq!(
            text(&client, "turn_page", json!({"page": 1})).await,
            "page 1 of two"
        );
    }
}

/// Only the functions that read resources are visible.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_invisible_tool_of_an_imported_server_is_unknown() {
    for lifecycle in BOTH {
        let server = Server::new(Registry::new())
            .import("one_", import_of(|| sales("one")))
            .visible(|_, tool| !tool.name.ends_with("draw_sales"));
        let client = connected(server, lifecycle, TestClient::with_apps()).await;
        assert_eq!(uris(&client).await, [""; 0]);
        let (hidden, unknown) = (read(&client, URI).await, read(&client, "ui://none").await);
        assert_eq!(hidden["error"]["code"], unknown["error"]["code"]);
        assert_eq!(hidden["error"]["message"], unknown["error"]["message"]);
        let result = call(&client, "draw_sales", json!({})).await;
        assert_eq!(result["error"]["code"], -32602, "{result}");
    }
}

/// The tool links to the page, which is not read from the next server in its place.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_a_server_whose_resources_are_hidden_is_unknown() {
    let server = Server::new(Registry::new())
        .import("one_", import_of(|| sales("one")))
        .import("two_", import_of(|| sales("two")))
        .visible(|_, tool| &*tool.name != "one_read_resource");
    let client = connected(server, Lifecycle::Modern, TestClient::with_apps()).await;
    assert_eq!(
        read(&client, URI).await["error"]["message"],
        "unknown resource"
    );
    assert_eq!(uris(&client).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_app_and_the_tools_of_the_gateway_itself_come_first() {
    let own = sales("own");
    let server = own.import("one_", import_of(|| sales("one")));
    let client = connected(server, Lifecycle::Modern, TestClient::with_apps()).await;
    let links = links(&client).await;
    let links: Vec<_> = links.iter().filter(|(_, uri)| uri.is_some()).collect();
    assert_eq!(links, [&("draw_sales".to_owned(), Some(URI.to_owned()))]);
    assert_eq!(read(&client, URI).await["contents"][0]["text"], "<p>own");
    assert_eq!(
        text(&client, "turn_page", json!({"page": 1})).await,
        "page 1 of own"
    );
    // So does a resource.
    let server = Server::new(Registry::new())
        .resource("ui://sales/{id}", tools![own_page])
        .import("one_", import_of(|| sales("one")));
    let client = connected(server, Lifecycle::Modern, TestClient::with_apps()).await;
    assert_eq!(read(&client, URI).await["contents"][0]["text"], "chart");
    let links = self::links(&client).await;
    assert!(links.iter().all(|(_, uri)| uri.is_none()), "{links:?}");
}

/// The header of a request is compared with the arguments of the tool that it names.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_arguments_are_sent_as_headers_is_called_by_its_own_name() {
    let schema = r#"{
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
    }"#;
    let open = DynamicTool::foreign("open_region")
        .description("Opens a region.")
        .parameters_json(schema)
        .build(async |_, _| Ok::<_, String>("open"))
        .unwrap();
    let tools = Registry::builder().tool(open).build().unwrap();
    let import = import_of(move || Server::new(tools.clone()));
    let server = Server::new(Registry::new()).import("one_", import);
    let client = connected(server, Lifecycle::Modern, TestClient::with_apps()).await;
    let named = text(&client, "one_open_region", json!({"region": "eu"})).await;
    assert!(named.contains("open"), "{named}");
    let result = call(&client, "open_region", json!({"region": "eu"})).await;
    assert_eq!(result["error"]["code"], -32602, "{result}");
}

/// A page.
#[tool(unlinked)]
fn own_page(id: String) -> String {
    id
}

/// Reads what it does not list.
struct Hidden;

impl ServerHandler for Hidden {
    fn get_info(&self) -> InitializeResult {
        InitializeResult::new(ServerCapabilities::builder().enable_resources().build())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = ResourceContents::text("<p>hidden", request.uri);
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(
            vec![contents],
        )))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_a_server_does_not_list_is_read_for_its_tool() {
    for lifecycle in BOTH {
        let hidden = || {
            let tools = Registry::builder().tools(tools![show_hidden]);
            Server::new(tools.build().unwrap()).with_handler(Hidden)
        };
        let server = Server::new(Registry::new())
            .import("one_", import_of(|| sales("one")))
            .import("two_", import_of(hidden));
        let client = connected(server, lifecycle, TestClient::with_apps()).await;
        let page = read(&client, "ui://hidden/page").await;
        assert_eq!(page["contents"][0]["text"], "<p>hidden");
        // Of another page that no tool links to, it is not asked.
        let unknown = read(&client, "ui://hidden/other").await;
        assert_eq!(unknown["error"]["message"], "unknown resource");
    }
}
