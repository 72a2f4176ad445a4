//! Examples that are not the arguments of a call.

use tool_core::{tool, tools};

/// Is not JSON.
#[tool(example = "{'city': 'Lisbon'}")]
fn not_json(city: &str) -> usize {
    city.len()
}

/// Is not an object.
#[tool(example = r#"["Lisbon"]"#)]
fn not_an_object(city: &str) -> usize {
    city.len()
}

/// Has a key twice.
#[tool(example = r#"{"city": "Lisbon", "city": "Porto"}"#)]
fn duplicate_key(city: &str) -> usize {
    city.len()
}

/// Has two wrong examples.
#[tool(
    example = r#"{"city": "Lisbon""#,
    example = r#"{"city": "Lisbon"}"#,
    example = r#"{"city": 01}"#
)]
fn two(city: &str) -> usize {
    city.len()
}

/// Has the same example twice.
#[tool(example = r#"{"city": "Lisbon"}"#, example = r#"{ "city": "Lisbon" }"#)]
fn same(city: &str) -> usize {
    city.len()
}

/// Has no text.
#[tool(example)]
fn no_value(city: &str) -> usize {
    city.len()
}

/// Has another literal.
#[tool(example = 3)]
fn no_text(city: &str) -> usize {
    city.len()
}

/// Does not match a pattern.
#[tool(example = r#"{"code": "lis"}"#)]
fn pattern(#[param(pattern = "^[A-Z]{3}$")] code: &str) -> usize {
    code.len()
}

fn main() {
    let _ = tools![not_json, not_an_object, duplicate_key, two, same, no_value, no_text, pattern];
}
// 9 errors
