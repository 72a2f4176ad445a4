//! The tests of a crate of tools: what a model reads, what it costs, and that nothing of it changes unnoticed.
//!
//! ```sh
//! cargo add --dev tool-docs
//! cargo test                        # fails if a file differs
//! TOOL_CORE_UPDATE=1 cargo test     # writes the files; review their diff
//! ```
//!
//! Not tested here: whether models call the tools well. `tool_eval` asks them, as the example voice_home does.

// References the crate: without it, its tools are not linked, and `Registry::linked` is empty.
use tool_core::{Registry, ToolCall, assert_schema};
use tool_docs::testing;
use weather_tools::get_temperature;

// Checked by `cargo check` already. With `""`, the error shows the schema, to be copied.
assert_schema!(
    get_temperature,
    r#"{
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "Name of the city, in English." },
            "unit": {
                "type": "string",
                "enum": ["celsius", "fahrenheit"],
                "description": "Celsius by default."
            }
        },
        "required": ["city"],
        "additionalProperties": false
    }"#
);

#[test]
fn tools_are_as_reviewed() {
    testing::check(&Registry::linked().unwrap())
        .expect_tools(["get_temperature"])
        .lock(concat!(env!("CARGO_MANIFEST_DIR"), "/tools.lock.json"))
        .docs(concat!(env!("CARGO_MANIFEST_DIR"), "/TOOLS.md"))
        .run_examples(["get_temperature"])
        .budget_bytes(400)
        .run();
}

#[test]
fn a_model_reads_what_is_wrong() {
    let call = ToolCall::new(
        "call_1",
        "get_temperature",
        r#"{"town":"Lisbon","unit":"kelvin"}"#,
    );
    let result = Registry::linked().unwrap().call_blocking(call);
    let violations = result.error().unwrap().violations().iter();
    assert_eq!(
        violations.map(ToString::to_string).collect::<Vec<_>>(),
        [
            r#"town: unknown; expected "city" or "unit""#,
            r#"unit: expected "celsius" or "fahrenheit", got "kelvin""#,
            "city: missing; expected a string",
        ],
    );
}

#[test]
fn a_tool_stays_a_function() {
    assert_eq!(get_temperature("Oslo", None), Ok(4.0));
}
