//! Conditional compilation: a macro sees `#[cfg]` on parameters before rustc evaluates it.

#![allow(clippy::non_minimal_cfg, clippy::unused_async)]

use tool_core::schema::Property;
use tool_core::{Registry, ToolCall, ToolEntry, tool, tools};

fn call(tool: ToolEntry, arguments: &str) -> String {
    let name = tool.name.to_string();
    let registry = Registry::builder().tools([tool]).build().expect("one tool");
    let call = ToolCall::new("id", name, arguments);
    registry.call_blocking(call).content().to_owned()
}

/// Shows what was compiled.
///
/// # Arguments
/// * `place` - Where.
#[tool]
fn parameters(
    #[cfg(all())] here: u8,
    #[cfg(any())] gone: NoSuchType,
    /// Also there.
    #[cfg(not(any()))]
    #[cfg(all())]
    #[param(default = 5)]
    there: u8,
    #[cfg(any())]
    #[param(default = "no number")]
    gone_with_a_default: u8,
    #[cfg(any())] place: u8,
    #[cfg(not(any()))] place: &str,
) -> String {
    format!("{here} {there} {place}")
}

#[test]
fn a_parameter_that_is_not_compiled_is_not_in_the_schema() {
    let [tool] = tools![parameters];
    let properties = tool.parameters().properties().iter();
    let keys: Vec<_> = properties.map(Property::name).collect();
    assert_eq!(keys, ["here", "there", "place"]);
    let place = tool.parameters().property("place").expect("a parameter");
    assert_eq!(place.description(), "Where.");
    assert_eq!(call(tool, r#"{"here":1,"place":"p"}"#), "1 5 p");
}

/// Shows what was compiled, later.
#[tool]
async fn async_parameters(
    #[cfg(any())] gone: &NoSuchType,
    #[cfg(all())] here: &str,
) -> Result<String, String> {
    Ok(here.to_owned())
}

#[test]
fn an_async_tools_parameter_that_is_not_compiled_is_not_in_the_schema() {
    let [tool] = tools![async_parameters];
    assert_eq!(call(tool, r#"{"here":"h"}"#), "h");
}

/// Not compiled.
#[tool]
#[cfg(any())]
fn twin(gone: NoSuchType) {}

/// Compiled.
#[tool]
#[cfg(all())]
fn twin(number: u8) -> u8 {
    number
}

/// Not compiled either.
#[cfg(any())]
#[tool]
fn twin(gone: NoSuchType) {}

#[test]
fn of_two_functions_under_opposite_conditions_one_is_a_tool() {
    let [tool] = tools![twin];
    assert_eq!(tool.description, "Compiled.");
    assert_eq!(call(tool, r#"{"number":3}"#), "3");
}

#[cfg_attr(all(), doc = "Described under a condition.")]
#[cfg_attr(any(), doc = "Not described so.")]
#[tool]
#[cfg_attr(all(), doc = "And below the attribute.")]
#[cfg_attr(all(), must_use, inline)]
fn conditional_attributes(#[cfg_attr(all(), allow(unused_variables))] unused: u8) -> u8 {
    7
}

#[test]
fn conditional_docs_reach_the_model() {
    let [tool] = tools![conditional_attributes];
    assert_eq!(
        tool.description,
        "Described under a condition. And below the attribute."
    );
    assert_eq!(call(tool, r#"{"unused":1}"#), "7");
}

#[cfg_attr(all(), tool(name = "conditional"))]
#[cfg_attr(any(), tool(name = "unconditional"))]
/// A tool under a condition.
fn conditional_tool() {}

#[test]
fn the_attribute_itself_can_be_conditional() {
    let [tool] = tools![conditional_tool];
    assert_eq!(tool.name, "conditional");
}
