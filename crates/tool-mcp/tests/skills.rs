//! Skills, by a handler that a server joins.
#![cfg(feature = "skills")]

mod support;

use rmcp::model::{GetSkillRequestParams, ReadResourceRequestParams};
use serde_json::json;
use support::{BOTH, TestClient, connect, in_time, text};
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::Skills;

/// Adds two numbers.
#[tool(unlinked)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// A note.
#[tool(unlinked)]
fn note(id: u64) -> u64 {
    id
}

#[tokio::test]
async fn skills_are_served_beside_tools_and_resources() {
    let folder = std::env::temp_dir().join(format!("tool-mcp-skills-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("billing")).unwrap();
    let skill = "---\nname: billing\ndescription: Writes invoices.\n---\nWrite it.\n";
    std::fs::write(folder.join("billing/SKILL.md"), skill).unwrap();
    for lifecycle in BOTH {
        let registry = Registry::builder().tools(tools![add]).build().unwrap();
        let server = Server::new(registry)
            .resource("notes://{id}", tools![note])
            .with_handler(Skills::from_folder(&folder).unwrap());
        let client = connect(server, lifecycle, TestClient::default()).await;
        let skills = in_time(client.list_all_skills()).await.unwrap();
        let uri = "skill://billing/SKILL.md";
        assert_eq!(skills.len(), 1);
        assert_eq!((&*skills[0].uri, skills[0].name()), (uri, "billing"));
        let got = in_time(client.get_skill(GetSkillRequestParams::new(uri)))
            .await
            .unwrap();
        assert_eq!(got.skill, skills[0]);
        let read = async |uri: &str| {
            let read = in_time(client.read_resource(ReadResourceRequestParams::new(uri))).await;
            json!(read.unwrap())["contents"][0]["text"].clone()
        };
        assert_eq!(read(uri).await, skill);
        assert_eq!(read("notes://7").await, "7");
        assert_eq!(text(&client, "add", json!({"a": 2, "b": 3})).await, "5");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let error = Skills::from_folder(&folder).unwrap_err().to_string();
    assert!(error.starts_with("the folder of skills: "), "{error}");
}
