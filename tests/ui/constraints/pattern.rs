//! Invalid patterns and formats, and values that do not match their pattern.

#![allow(unused_variables)]

use tool_core::tool;

/// Looks up.
#[tool]
fn look_up(
    #[param(pattern = "(")] open: String,
    #[param(pattern = "(?i)a")] flags: String,
    #[param(pattern = "(?=a)b")] ahead: String,
    #[param(pattern = "^[a-z]+$", default = "A1")] code: String,
    #[param(pattern = "^[a-z]+$", example = "7")] other: String,
    #[param(format = "e-mail")] mail: String,
) {
}

fn main() {}
// 6 errors
