//! Values that are not descriptions, and a macro that cannot list parameters.

use tool_core::{tool, tools};

#[tool(description = 5)]
fn number() {}

#[tool(description)]
fn no_value() {}

#[tool(description = a b)]
fn two_values(#[param(description = 'c')] character: char) {
    drop(character);
}

/// Adds one.
///
/// # Arguments
#[doc = include_str!("not_a_text.rs")]
#[tool]
fn add(number: u8) -> u8 {
    number + 1
}

/// Twice.
#[tool(description = concat!("Twi", "ce."))]
fn twice() {}

fn main() {
    let _ = tools![number, no_value, two_values, add, twice];
}
// 6 errors
