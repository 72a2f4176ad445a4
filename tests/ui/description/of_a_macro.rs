//! Docs from a macro, which rustc expands after `#[tool]`.

use tool_core::{tool, tools};

#[doc = include_str!("missing.stderr")]
#[tool]
fn from_a_file() {}

/// Beside a doc comment they are for people.
#[doc = concat!("# Exam", "ples")]
#[tool]
fn described() {}

fn main() {
    let _ = tools![from_a_file, described];
}
