//! Decode checks: a type that rejects more than its schema says reports it among the other
//! violations.

// Only the types of the fields matter.
#![allow(dead_code)]

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType, tool, tools};

#[derive(Debug, Deserialize, ToolType)]
#[serde(try_from = "u8")]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Even, String> {
        match number % 2 {
            0 => Ok(Even(number)),
            _ => Err(format!("{number} is odd")),
        }
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Host {
    address: IpAddr,
    slot: Option<Even>,
}

/// An untagged enum.
#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Slot {
    Even(Even),
    Named { name: String, number: Even },
}

/// Sets up a network.
#[tool]
fn set_up(hosts: Vec<Host>, spare: Even, slot: Option<Slot>) -> String {
    format!("{} {spare:?} {slot:?}", hosts.len())
}

/// A type that is only serialized needs no `Deserialize`.
#[derive(Serialize, ToolType)]
#[serde(try_from = "u8", into = "u8")]
#[derive(Clone)]
struct Written(u8);

impl From<Written> for u8 {
    fn from(written: Written) -> u8 {
        written.0
    }
}

/// A type that only the parameter deserializes, which a constant cannot test for.
#[derive(Debug, Deserialize, ToolType)]
#[serde(try_from = "Vec<T>")]
#[serde(bound = "T: Deserialize<'de>")]
struct Few<T>(Vec<T>);

impl<T> TryFrom<Vec<T>> for Few<T> {
    type Error = &'static str;

    fn try_from(items: Vec<T>) -> Result<Few<T>, &'static str> {
        match items.len() {
            0..3 => Ok(Few(items)),
            _ => Err("too many"),
        }
    }
}

/// Takes a few.
#[tool]
fn take(few: Few<Even>) -> usize {
    few.0.len()
}

/// A die, by its number of sides.
#[derive(ToolType)]
#[serde(try_from = "String")]
struct Die(u8);

impl TryFrom<String> for Die {
    type Error = String;

    fn try_from(sides: String) -> Result<Die, String> {
        let known = sides
            .parse()
            .ok()
            .filter(|sides| [4, 6, 20].contains(sides));
        known
            .map(Die)
            .ok_or_else(|| format!("{sides} sides are not allowed; use 4, 6 or 20"))
    }
}

/// Rolls a die.
#[tool]
fn roll(die: Die) -> u8 {
    die.0
}

fn call(name: &str, arguments: Value) -> ToolResult {
    let registry = Registry::builder()
        .tools(tools![set_up, take, roll])
        .build();
    registry
        .unwrap()
        .call_blocking(ToolCall::new("1", name, arguments))
}

fn mistakes(result: &ToolResult) -> Vec<String> {
    let violations = result.error().expect("mistakes").violations();
    violations.iter().map(ToString::to_string).collect()
}

#[test]
fn one_reply_names_violations_of_the_schema_and_of_the_types() {
    let result = call(
        "set_up",
        json!({
            "hosts": [
                {"address": "10.0.0.256", "slot": 3},
                {"address": "::1", "slot": "x"},
                {"address": "10.0.0.1", "port": 7, "slot": 5},
            ],
            "slot": null,
        }),
    );
    let found = mistakes(&result);
    for (at, start) in [
        "hosts[0].address: ",
        "hosts[0].slot: 3 is odd; expected an integer from 0 to 255",
        "hosts[1].slot: expected an integer",
        "hosts[2].port: unknown",
        "hosts[2].slot: 5 is odd",
        "spare: missing",
    ]
    .iter()
    .enumerate()
    {
        assert!(found[at].starts_with(start), "{found:#?}");
    }
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn corrected_values_are_decoded_as_corrected() {
    let hosts = json!([{"address": "::1", "slot": null}, {"address": "::1"}]);
    let result = call("set_up", json!({"hosts": hosts, "spare": 4.0}));
    assert_eq!(result.content(), "2 Even(4) None");
    let result = call("set_up", json!({"hosts": hosts, "spare": 5.0}));
    assert!(mistakes(&result)[0].starts_with("spare: 5 is odd"));
}

#[test]
fn a_union_accepts_what_one_of_its_types_accepts() {
    let with = |slot: Value| call("set_up", json!({"hosts": [], "spare": 2, "slot": slot}));
    assert_eq!(with(json!(6)).content(), "0 Even(2) Some(Even(Even(6)))");
    let named = with(json!({"name": "a", "number": 3}));
    assert!(mistakes(&named)[0].contains("3 is odd"), "{named:?}");
    assert!(with(json!(7)).is_error());
}

#[test]
fn a_generic_type_is_decoded_without_the_check() {
    assert_eq!(call("take", json!({"few": [2, 4]})).content(), "2");
    let result = call("take", json!({"few": [2, 4, 6]}));
    assert!(mistakes(&result)[0].contains("too many"), "{result:?}");
    let result = call("take", json!({"few": [1, 3]}));
    assert_eq!(mistakes(&result).len(), 2, "{result:?}");
}

#[test]
fn a_string_that_its_type_rejects_is_not_asked_to_be_a_string() {
    assert_eq!(call("roll", json!({"die": "6"})).content(), "6");
    let result = call("roll", json!({"die": "7"}));
    assert_eq!(
        mistakes(&result),
        ["die: 7 sides are not allowed; use 4, 6 or 20"]
    );
    let result = call("roll", json!({"die": 7}));
    assert_eq!(mistakes(&result), ["die: expected a string, got 7"]);
}
