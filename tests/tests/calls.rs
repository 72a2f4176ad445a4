//! A call's way from JSON text to the function and back.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tool_core::{Registry, Tool, ToolCall, ToolErrorKind, ToolResult, ToolType, tool, tools};

/// Temperature unit.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToolType, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Weather of a city.
#[tool]
fn get_weather(
    /// City name.
    city: String,
    /// Number of days to forecast.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
) -> String {
    format!("{city} {days:?} {unit:?}")
}

fn call(name: &str, arguments: &str) -> ToolResult {
    Registry::linked()
        .expect("unlike names")
        .call_blocking(ToolCall::new("id", name, arguments))
}

fn refused(name: &str, arguments: &str) -> String {
    let result = call(name, arguments);
    let error = result.error().unwrap_or_else(|| panic!("{arguments} was accepted: {}", result.content()));
    error.message().replace(error.id(), "…")
}

#[test]
fn the_shared_example_is_minimal_and_closed() {
    let json = get_weather::SPEC.parameters_json().to_owned();
    assert_eq!(
        json,
        r#"{"type":"object","properties":{"city":{"type":"string","description":"City name."},"days":{"type":"integer","minimum":0,"maximum":255,"description":"Number of days to forecast."},"unit":{"type":"string","enum":["celsius","fahrenheit"],"description":"Temperature unit."}},"required":["city","unit"],"additionalProperties":false}"#
    );
    assert!(json.len() <= 327, "{} bytes", json.len());
}

#[test]
fn arguments_in_any_order_and_spacing_reach_the_function() {
    for arguments in [
        r#"{"city":"Lisbon","days":3,"unit":"celsius"}"#,
        r#" { "unit" : "celsius" , "days" : 3.0 , "city" : "Lisbon" } "#,
        r#"{"unit":"celsius","da\u0079s":3e0,"city":"Lisb\u006fn"}"#,
    ] {
        assert_eq!(call("get_weather", arguments).content(), "Lisbon Some(3) Celsius");
    }
    let without = r#"{"city":"Lisbon","days":null,"unit":"fahrenheit"}"#;
    assert_eq!(call("get_weather", without).content(), "Lisbon None Fahrenheit");
}

#[test]
fn one_reply_names_every_mistake() {
    assert_eq!(
        refused("get_weather", r#"{"contry":"PT","cities":7,"days":300,"days":1,"unit":"kelvin"}"#),
        "invalid arguments for get_weather [ref …]:\n\
         - contry: unknown; expected \"city\", \"days\" or \"unit\"\n\
         - cities: unknown; did you mean \"city\"?\n\
         - days: 300 is above the maximum 255\n\
         - days: given twice; give it once\n\
         - unit: expected \"celsius\" or \"fahrenheit\", got \"kelvin\"\n\
         - city: missing; expected a string"
    );
}
