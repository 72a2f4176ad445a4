//! Tools with several parameters, and with none.

// A generated body only counts the call and ignores its parameters.
#![allow(clippy::needless_pass_by_value, clippy::too_many_arguments)]

use serde_json::Value;
use tool_core::{ToolEntry, tool, tools};

use super::enums::Colour;
use super::structs::Named;
use crate::subject::{Row, ran};

/// Takes nothing.
#[tool(unlinked)]
fn none() {
    ran(());
}

/// Takes what may all be left out.
#[tool(unlinked)]
fn all_optional(
    a: Option<u8>,
    b: Option<&str>,
    #[param(default)] c: Vec<u8>,
    #[param(default = -2)] d: i8,
) {
    ran((a, b, c, d));
}

/// Takes a bit of everything.
#[tool(unlinked)]
fn mixed(
    city: &str,
    #[param(range = 1..=14)] days: Option<u8>,
    #[param(rename = "type", default = "blue")] colour: Colour,
    #[param(default = true)] flag: bool,
    place: &Named,
    #[param(length = ..=2)] numbers: &[f64],
    extra: Value,
) {
    ran((city, days, colour, flag, place, numbers, extra));
}

/// Takes its arguments in an async function.
#[tool(unlinked)]
async fn later(first: u8, second: Option<String>) {
    std::future::ready(()).await;
    ran((first, second));
}

/// Takes structs by value.
#[tool(unlinked)]
fn two_structs(left: Named, right: Option<Named>) {
    ran((left, right));
}

pub(super) fn rows() -> Vec<Row> {
    let tools: [ToolEntry; 5] = tools![none, all_optional, mixed, later, two_structs];
    ["none", "all_optional", "mixed", "later", "two_structs"]
        .into_iter()
        .zip(tools)
        .map(|(name, tool)| Row {
            name,
            tool,
            round_trip: None,
            by_serde: None,
            typed: None,
        })
        .collect()
}
