//! A result that lives as long as the arguments is fine; one that lives longer is not.

use tool_core::{tool, tools};

/// The first word.
#[tool]
fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// The first word for ever.
#[tool]
fn for_ever<'a>(text: &'a str) -> &'a str where 'a: 'static {
    text
}

fn main() {
    let _ = tools![first_word, for_ever];
}
