//! A trait object as the type of a parameter.

use tool_core::{tool, tools};

/// Says something.
#[tool]
fn say(what: Box<dyn ToString>) -> String {
    what.to_string()
}

fn main() {
    let _ = tools![say];
}
