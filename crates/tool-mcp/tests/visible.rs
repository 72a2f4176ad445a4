//! Servers that show each client some of the tools: the others are unknown by each way in.

#[path = "support/notes.rs"]
mod notes;
mod support;

use notes::{export_notes, print_notes, relay, wipe_notes};
use rmcp::model::{CacheScope, SubscriptionFilter};
use serde_json::json;
use support::{BOTH, Lifecycle, Running, TestClient, call, connect, in_time, text};
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;

/// Shows a note.
#[tool(unlinked)]
fn show_note() -> &'static str {
    "a note"
}

fn registry() -> Registry {
    let tools = tools![show_note, wipe_notes, export_notes, print_notes, relay];
    Registry::builder().tools(tools).build().unwrap()
}

/// Tools for admins are not visible.
fn server(registry: &Registry) -> Server {
    let server = Server::new(registry.clone()).cache_for(std::time::Duration::ZERO);
    server.visible(|request, tool| {
        assert_eq!(request.client().unwrap().0, "tests");
        !tool.tags().any(|tag| tag == "admin")
    })
}

/// Returns the message of a call that can't be routed.
async fn unknown(client: &Running, name: &'static str) -> String {
    let result = call(client, name, json!({})).await;
    let message = result["error"]["message"].as_str().unwrap();
    // The reference is random.
    let (name, rest) = message.split_once(" [ref ").unwrap();
    format!("{name}{}", rest.split_once(']').unwrap().1)
}

/// Lists the tools so often that a notice before would have arrived.
async fn settle(client: &Running) {
    for _ in 0..20 {
        client.list_all_tools().await.unwrap();
    }
}

#[tokio::test]
async fn a_tool_that_is_not_visible_is_unknown_by_each_way_in() {
    for lifecycle in BOTH {
        let client = connect(server(&registry()), lifecycle, TestClient::default()).await;
        let list = client.list_tools(None).await.unwrap();
        let names: Vec<_> = list.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["print_notes", "relay", "show_note"]);
        if lifecycle == Lifecycle::Modern {
            assert_eq!(list.cache_scope, Some(CacheScope::Private));
        }
        // As by a server that does not have the tools.
        let others = tools![show_note, print_notes, relay];
        let others = Server::new(Registry::builder().tools(others).build().unwrap());
        let other = connect(others, lifecycle, TestClient::default()).await;
        for name in ["wipe_notes", "wipe_note", "export_notes", "export_note"] {
            assert_eq!(unknown(&client, name).await, unknown(&other, name).await);
        }

        // Tools find and call those that are visible.
        let relay = async |name: &str, arguments: serde_json::Value| {
            let arguments = arguments.to_string();
            let arguments = json!({"name": name, "arguments": arguments});
            text(&client, "relay", arguments).await
        };
        let found = relay("search_tools", json!({"query": "export or print notes"})).await;
        assert!(found.contains("print_notes"), "{found}");
        assert!(!found.contains("export_notes"), "{found}");
        for name in ["wipe_notes", "export_notes"] {
            for result in [
                relay(name, json!({})).await,
                relay("call_tool", json!({"name": name})).await,
            ] {
                assert!(result.starts_with("unknown tool"), "{result}");
            }
        }
        assert_eq!(relay("show_note", json!({})).await, "a note");
        let result = relay("call_tool", json!({"name": "print_notes"})).await;
        assert_eq!(result, "printed");
    }
}

/// Another tool for admins.
#[tool(unlinked, tags = ["admin"])]
fn ban() {}

/// Another tool for all.
#[tool(unlinked)]
fn wave() {}

#[tokio::test]
async fn a_client_is_notified_of_changes_of_the_tools_that_it_sees() {
    let registry = registry();
    let handler = TestClient::default();
    let client = connect(server(&registry), Lifecycle::Legacy, handler.clone()).await;
    client.list_all_tools().await.unwrap();
    registry.add(tools![ban]).unwrap();
    settle(&client).await;
    tokio::select! {
        biased;
        () = handler.changes.notified() => panic!("a notice of a tool that is not visible"),
        () = std::future::ready(()) => {}
    }
    registry.add(tools![wave]).unwrap();
    in_time(handler.changes.notified()).await;

    let client = connect(server(&registry), Lifecycle::Modern, TestClient::default()).await;
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let mut subscription = in_time(client.listen(filter)).await.unwrap();
    registry.remove("ban").unwrap();
    settle(&client).await;
    tokio::select! {
        biased;
        _ = subscription.next() => panic!("a notice of a tool that is not visible"),
        () = std::future::ready(()) => {}
    }
    registry.remove("wave").unwrap();
    assert!(in_time(subscription.next()).await.unwrap().is_some());
}
