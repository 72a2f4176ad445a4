//! Tags of tools.

use serde_json::json;
use tool_core::dialect::HostedTool;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, Tool, tool, tools, toolset};
use tool_dialects::{Anthropic, Mcp};
use tool_docs::Docs;
use tool_docs::lock::Lock;

/// Bans a user.
#[tool(tags = ["admin", "users:write"], timeout = "1s")]
async fn ban(name: &str) -> usize {
    std::future::ready(name.len()).await
}

/// Lists users.
#[tool(read_only, tags = ["users"])]
fn list() {}

/// Has no tags.
#[tool]
fn plain() {}

struct Desk(u8);

#[toolset]
impl Desk {
    /// Opens it.
    #[tool(tags = ["users"])]
    fn open(&self) -> u8 {
        self.0
    }
}

fn registry() -> Registry {
    let dynamic = DynamicTool::builder("remote")
        .description("Runs elsewhere.")
        .tags(["admin", "v1.2", "admin"])
        .build(async |_, _| Ok::<_, String>(()))
        .expect("a valid tool");
    Registry::builder()
        .tools(tools![ban, list, plain])
        .toolset("desk_", Desk(1))
        .tool(dynamic)
        .hosted(HostedTool::new(
            json!({"type": "web_search_20250305", "name": "web_search"}),
        ))
        .build()
        .expect("unique names")
}

fn names(registry: &Registry) -> Vec<String> {
    registry
        .specs()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

#[test]
fn every_kind_of_tool_has_tags() {
    assert!(ban::SPEC.tags().eq(["admin", "users:write"]));
    assert_eq!(plain::SPEC.tags().len(), 0);
    let registry = registry();
    let tags = |name: &str| {
        registry
            .get(name)
            .expect("a tool")
            .tags()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(tags("desk_open"), "users");
    assert_eq!(tags("remote"), "admin v1.2");
}

#[test]
fn tools_with_any_of_the_tags_are_selected() {
    let registry = registry();
    let admin = registry.select_tags(["admin"]);
    assert_eq!(names(&admin), ["ban", "remote"]);
    assert_eq!(names(&registry.select_tags(["users", "admin"])).len(), 4);
    assert_eq!(names(&admin.select_tags(["v1.2"])), ["remote"]);
    assert!(registry.select_tags([]).is_empty());
    // Hosted tools have no tags, while `select` keeps them.
    assert!(admin.hosted().is_empty());
    let kept = registry.select(|tool| tool.tags().any(|tag| tag == "admin"));
    assert_eq!(kept.hosted().len(), 1);
}

#[test]
fn only_mcp_lists_tags() {
    let registry = registry();
    let tools: serde_json::Value =
        serde_json::from_str(registry.render(&Mcp::default()).as_str()).expect("JSON");
    let meta = |name: &str| {
        let tools = tools.as_array().expect("a list").iter();
        let tool = tools
            .clone()
            .find(|tool| tool["name"] == name)
            .expect("a tool");
        tool.get("_meta").cloned()
    };
    assert_eq!(
        meta("ban"),
        Some(json!({"tool-core/tags": ["admin", "users:write"]}))
    );
    assert_eq!(meta("plain"), None);
    assert!(
        !registry
            .render(&Anthropic::default())
            .as_str()
            .contains("users:write")
    );
}

#[test]
fn the_catalogue_shows_tags_and_the_lock_file_does_not() {
    let registry = registry();
    let docs = Docs::new(&registry);
    assert!(docs.to_markdown().contains("\nTags: admin, users:write.\n"));
    let html = docs.to_html();
    assert!(html.contains("\">admin</a> <a href=\"#tag-"), "{html}");
    assert!(html.contains("\">users:write</a>"), "{html}");
    assert!(!Lock::new(&registry).to_string().contains("users:write"));
}

#[test]
fn a_dynamic_tool_rejects_invalid_tags() {
    let error = DynamicTool::builder("remote")
        .description("Runs elsewhere.")
        .tags(["", "two words", "a\u{1b}[31m", "fine"])
        .build(async |_, _| Ok::<_, String>(()))
        .expect_err("three are invalid");
    assert_eq!(error.problems().len(), 3);
    assert!(!error.to_string().contains('\u{1b}'), "{error}");
}
