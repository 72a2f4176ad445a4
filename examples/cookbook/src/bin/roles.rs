//! Tools for roles: what a model is shown, and what a call may do.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-dialects
//! cargo add serde_json
//! cargo run
//! ```
//!
//! Three ways, from the outside in:
//! - `select_tags`: a registry with some of the tools. The others do not exist there. The prompt differs by role.
//! - `only`: the model gets all tools and may call some, so that the cached prompt stays the same. Where a provider
//!   can't restrict calls, the others are left out. Either way the registry would run them: it is not a check.
//! - A `before` hook: checks every call, with the role of its user. Nothing gets around it.

use tool_core::hooks::Gate;
use tool_core::{Registry, RegistryError, ToolCall, tool};
use tool_dialects::OpenAiResponses;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Reader,
    Editor,
}

/// Lists the titles of all pages.
#[tool(read_only, tags = ["read"])]
fn list_pages() -> Vec<&'static str> {
    vec!["Start", "Imprint"]
}

/// Deletes a page.
#[tool(destructive, tags = ["edit"])]
fn delete_page(title: &str) -> String {
    format!("deleted {title}")
}

fn registry() -> Result<Registry, RegistryError> {
    Registry::builder()
        .linked()
        .before(async |hook| match hook.get::<Role>() {
            Some(Role::Editor) => Gate::Allow,
            Some(Role::Reader) if hook.tool.annotations.read_only == Some(true) => Gate::Allow,
            Some(Role::Reader) => Gate::deny("only editors may change pages"),
            // Somebody forgot `ToolCall::with`.
            None => Gate::deny("the role is unknown"),
        })
        .build()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = registry()?;
    let dialect = OpenAiResponses::default();

    // Another registry.
    let readers = tools.select_tags(["read"]);
    assert_eq!(readers.specs().len(), 1);

    // The same tools, of which one may be called.
    let request = tools.request(&dialect).only(["list_pages"]).build()?;
    println!("{}", request.body(serde_json::json!({"model": "gpt-5.2"})));

    // The check.
    let delete = ToolCall::new("call_1", "delete_page", r#"{"title":"Imprint"}"#);
    let denied = tools.call_blocking(delete.clone().with(Role::Reader));
    println!("{}", denied.content());
    assert!(denied.content().ends_with("only editors may change pages"));
    let deleted = tools.call_blocking(delete.with(Role::Editor));
    assert_eq!(deleted.content(), "deleted Imprint");
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::ToolErrorKind;

    use super::*;

    #[test]
    fn roles_restrict_what_models_see_and_what_calls_do() {
        main().unwrap();
    }

    #[test]
    fn only_restricts_calls_and_keeps_the_tools() {
        let tools = registry().unwrap();
        let request = tools
            .request(&OpenAiResponses::default())
            .only(["list_pages"])
            .build()
            .unwrap();
        let body: serde_json::Value = serde_json::from_str(&request.body(json!({}))).unwrap();
        assert_eq!(body["tools"].as_array().unwrap().len(), 2);
        assert_eq!(body["tool_choice"]["tools"][0]["name"], "list_pages");
    }

    #[test]
    fn a_selection_knows_no_other_tools_and_keeps_the_hooks() {
        let readers = registry().unwrap().select_tags(["read"]);
        let call = ToolCall::new("call_1", "delete_page", r#"{"title":"Imprint"}"#);
        let result = readers.call_blocking(call.with(Role::Editor));
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::UnknownTool);
        let editors = registry().unwrap().select_tags(["edit"]);
        let call = ToolCall::new("call_1", "delete_page", r#"{"title":"Imprint"}"#);
        let result = editors.call_blocking(call.with(Role::Reader));
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    }

    #[test]
    fn a_call_without_a_role_does_not_run() {
        let result = registry()
            .unwrap()
            .call_blocking(ToolCall::new("call_1", "list_pages", ""));
        assert!(result.content().ends_with("the role is unknown"));
    }
}
