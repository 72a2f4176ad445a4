//! Lists and calls the tools of a server, with a real client in both lifecycles.

mod support;

use serde_json::json;
use support::{BOTH, Lifecycle, TestClient, call, connect, in_time, text};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tool_core::content::{Content, Image};
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::ProtocolError;

/// Adds two numbers.
#[tool(read_only, title = "Sum")]
fn add(b: i64, a: i64) -> i64 {
    a + b
}

#[derive(serde::Serialize, tool_core::ToolType)]
struct Point {
    x: i32,
    y: i32,
}

/// Mirrors a point.
#[tool(tags = ["geometry"])]
fn mirror(x: i32, y: i32) -> Point {
    Point { x: -x, y: -y }
}

/// Says something.
#[tool]
fn say(text: String) -> String {
    text
}

/// Takes a picture.
#[tool]
fn take_picture() -> (String, Vec<Content>) {
    ("a cat".into(), vec![Image::png([1, 2, 3]).into()])
}

/// Doubles a number.
#[tool(unlinked)]
fn double(number: i128) -> i128 {
    2 * number
}

/// Always fails.
#[tool]
fn fail() -> Result<String, String> {
    Err("the disk is full".into())
}

/// Always fails with an error of the protocol.
#[tool]
fn fail_hard() -> Result<String, ProtocolError> {
    Err(ProtocolError::new(-32002, "no such file").data(json!({"path": "/x"})))
}

fn registry() -> Registry {
    let tools = tools![add, mirror, say, take_picture, fail, fail_hard];
    Registry::builder().tools(tools).build().unwrap()
}

fn server() -> Server {
    Server::new(registry())
        .name("test", "1.2.3")
        .instructions("Be kind.")
}

#[tokio::test]
async fn tools_are_listed_and_called_in_both_lifecycles() {
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, TestClient::default()).await;
        let info = client.peer_info().unwrap();
        assert_eq!(info.instructions.as_deref(), Some("Be kind."));
        let implementation = info.server_info.as_ref().unwrap();
        assert_eq!(
            (&*implementation.name, &*implementation.version),
            ("test", "1.2.3")
        );
        assert_eq!(
            info.capabilities.tools.as_ref().unwrap().list_changed,
            Some(true)
        );

        let list = client.list_tools(None).await.unwrap();
        let names: Vec<_> = list.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(
            names,
            ["add", "fail", "fail_hard", "mirror", "say", "take_picture"]
        );
        let tool = &list.tools[0];
        assert_eq!(tool.title.as_deref(), Some("Sum"));
        assert_eq!(
            tool.annotations.as_ref().unwrap().read_only_hint,
            Some(true)
        );
        // In the order of the function.
        let properties = tool.input_schema["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["b", "a"]);
        let meta = list.tools[3].meta.as_ref().unwrap();
        assert_eq!(meta.0["tool-core/tags"], json!(["geometry"]));
        let is_modern = lifecycle == Lifecycle::Modern;
        assert_eq!(list.ttl_ms.is_some(), is_modern);
        assert_eq!(list.cache_scope.is_some(), is_modern);
        // Before 2026-07-28, only objects are structured.
        assert_eq!(tool.output_schema.is_some(), is_modern);
        assert!(list.tools[3].output_schema.is_some());

        assert_eq!(text(&client, "add", json!({"a": 2, "b": 3})).await, "5");
        assert_eq!(text(&client, "say", json!({"text": "hi"})).await, "hi");
        let result = call(&client, "mirror", json!({"x": 1, "y": 2})).await;
        assert_eq!(result["structuredContent"], json!({"x": -1, "y": -2}));
        assert_eq!(result["content"][0]["text"], r#"{"x":-1,"y":-2}"#);
        assert_eq!(result["isError"], false);
        assert_eq!(result.get("resultType").is_some(), is_modern);
        let result = call(&client, "take_picture", json!({})).await;
        assert_eq!(
            result["content"],
            json!([
                {"type": "text", "text": "a cat"},
                {"type": "image", "data": "AQID", "mimeType": "image/png"},
            ])
        );
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn failures_are_results_and_what_can_not_be_routed_is_a_protocol_error() {
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, TestClient::default()).await;
        let result = call(&client, "fail", json!({})).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with(": the disk is full"), "{text}");
        let result = call(&client, "add", json!({"a": "two"})).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("\n- b: ") && text.contains("\n- a: "),
            "{text}"
        );

        let error = &call(&client, "ad", json!({})).await["error"];
        assert_eq!(error["code"], -32602);
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with("did you mean add?"), "{message}");
        let error = &call(&client, "fail_hard", json!({})).await["error"];
        assert_eq!(
            *error,
            json!({"code": -32002, "message": "no such file", "data": {"path": "/x"}})
        );
    }
}

#[tokio::test]
async fn the_list_has_pages_and_follows_the_registry() {
    for lifecycle in BOTH {
        let registry = registry();
        // The client keeps pages for the time that the server allows.
        let server = Server::new(registry.clone())
            .page_size(4)
            .cache_for(std::time::Duration::ZERO);
        let client = connect(server, lifecycle, TestClient::default()).await;
        let first = client.list_tools(None).await.unwrap();
        assert_eq!(first.tools.len(), 4);
        let cursor = first.next_cursor.clone().unwrap();
        // The last tool of the page is gone when the next is asked for.
        registry.remove("mirror").unwrap();
        let next = rmcp::model::PaginatedRequestParams::default().with_cursor(Some(cursor));
        let second = client.list_tools(Some(next)).await.unwrap();
        let names: Vec<_> = second.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["say", "take_picture"]);
        assert_eq!(second.next_cursor, None);
        let all = client.list_all_tools().await.unwrap();
        assert_eq!(all.len(), 5);
        let bad = rmcp::model::PaginatedRequestParams::default().with_cursor(Some("x".into()));
        let error = client.list_tools(Some(bad)).await.unwrap_err();
        assert!(error.to_string().contains("unknown cursor"), "{error}");
    }
}

#[tokio::test]
async fn a_legacy_client_is_notified_of_changes() {
    let registry = registry();
    let handler = TestClient::default();
    let client = connect(
        Server::new(registry.clone()),
        Lifecycle::Legacy,
        handler.clone(),
    )
    .await;
    client.list_all_tools().await.unwrap();
    // On a thread without a runtime.
    std::thread::spawn(move || registry.remove("say").unwrap())
        .join()
        .unwrap();
    in_time(handler.changes.notified()).await;
    assert_eq!(client.list_all_tools().await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_modern_client_that_listens_is_notified_of_changes() {
    let registry = registry();
    let server = Server::new(registry.clone());
    let client = connect(server, Lifecycle::Modern, TestClient::default()).await;
    let filter = rmcp::model::SubscriptionFilter::builder()
        .tools_list_changed()
        .build();
    let mut subscription = in_time(client.listen(filter)).await.unwrap();
    registry.remove("say").unwrap();
    let change = in_time(subscription.next()).await.unwrap();
    assert!(
        matches!(
            change,
            Some(rmcp::model::ServerNotification::ToolListChangedNotification(_))
        ),
        "{change:?}"
    );
    assert_eq!(client.list_all_tools().await.unwrap().len(), 5);
}

/// Sends lines to a server. Returns the responses.
async fn lines(server: Server, lines: &[&str]) -> Vec<serde_json::Value> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(server.serve_stream(input, output));
    let (reading, mut writing) = tokio::io::split(near);
    let mut reading = BufReader::new(reading).lines();
    let mut responses = Vec::new();
    for line in lines {
        writing.write_all(line.as_bytes()).await.unwrap();
        writing.write_all(b"\n").await.unwrap();
        let response = in_time(reading.next_line()).await.unwrap().unwrap();
        responses.push(serde_json::from_str(&response).unwrap());
    }
    responses
}

#[tokio::test]
async fn arguments_reach_a_tool_as_they_were_written() {
    let registry = Registry::builder().tools(tools![double, say]).build();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"lines","version":"1"}}}"#;
    let responses = lines(
        Server::new(registry.unwrap()),
        &[
            initialize,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"double","arguments":{"number":36893488147419103232}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"text":"a","text":"b"}}}"#,
            // Wrong parameters of a known method, and an unknown method.
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"say","arguments":[1]}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/shout"}"#,
        ],
    )
    .await;
    // More than 64 bits.
    let text = &responses[1]["result"]["content"][0]["text"];
    assert_eq!(text, "73786976294838206464");
    assert_eq!(responses[2]["result"]["isError"], true);
    assert_eq!(responses[3]["error"]["code"], -32602);
    assert_eq!(responses[4]["error"]["code"], -32602);
    assert_eq!(responses[5]["error"]["code"], -32601);
}
