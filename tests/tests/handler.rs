//! Handlers with a name of their own: nothing in the namespace of types has the name of the
//! function.

#![deny(
    missing_docs,
    missing_debug_implementations,
    missing_copy_implementations
)]
#![deny(unreachable_pub, dead_code)]
#![allow(clippy::unused_self, clippy::trivially_copy_pass_by_ref)]

use tool_core::{Registry, Tool, ToolCall, tool, tools};

mod search {
    //! A module that is re-exported with the function of its name.

    use tool_core::tool;

    /// Finds pages.
    #[tool(handler = SearchTool, name = "web_search")]
    pub(crate) fn search(query: &str) -> usize {
        query.len()
    }
}
pub(crate) use search::{SearchTool, search};

mod weather {
    //! A module beside a function of its name.

    pub(crate) const CITY: &str = "Lisbon";
}

/// Weather in a city.
#[tool(handler = WeatherTool)]
#[deprecated]
pub async fn weather(city: &str) -> String {
    std::future::ready(format!("{city}, not {}", weather::CITY)).await
}

/// Rolls dice. The function has the name of a crate that is used below.
#[tool(handler = r#Dice, read_only, unlinked)]
fn serde(sides: Sides) -> u32 {
    sides.count
}

/// Sides.
#[derive(Debug, serde::Deserialize, tool_core::ToolType)]
struct Sides {
    /// How many.
    count: u32,
}

#[tool_core::toolset]
impl SearchTool {
    /// Counts: a handler is a type like any other.
    #[tool]
    fn count(&self) -> usize {
        search("ab")
    }
}

fn call(registry: &Registry, name: &str, arguments: &str) -> String {
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

#[test]
fn a_named_handler_leaves_the_name_of_the_function_to_modules_and_crates() {
    let registry = Registry::builder()
        .tools(tools![SearchTool, WeatherTool, Dice])
        .toolset("", SearchTool)
        .build()
        .expect("unique names");
    assert_eq!(call(&registry, "web_search", r#"{"query":"abc"}"#), "3");
    let weather = call(&registry, "weather", r#"{"city":"Porto"}"#);
    assert_eq!(weather, "Porto, not Lisbon");
    let sides = r#"{"sides":{"count":6}}"#;
    assert_eq!(call(&registry, "serde", sides), "6");
    assert_eq!(call(&registry, "count", ""), "2");
}

#[test]
fn a_named_handler_has_the_spec_of_its_function() {
    assert_eq!(SearchTool::SPEC.name, "web_search");
    assert_eq!(WeatherTool::SPEC.name, "weather");
    assert_eq!(Dice::SPEC.annotations.read_only, Some(true));
    assert_eq!(search("abc"), 3);
}

#[test]
fn a_named_handler_is_linked() {
    let linked = Registry::linked().expect("unique names");
    assert!(linked.expect(["web_search", "weather"]).is_ok());
}

#[test]
fn a_named_handler_is_a_copyable_value() {
    let handler = SearchTool;
    let copy = handler;
    assert_eq!(format!("{handler:?} {copy:?}"), "SearchTool SearchTool");
}

#[test]
fn a_function_body_can_contain_a_named_handler() {
    /// Adds.
    #[tool(handler = Sum, unlinked)]
    fn add(a: u8, b: u8) -> u8 {
        a + b
    }
    assert_eq!((Sum::SPEC.name, add(1, 2)), ("add".into(), 3));
}
