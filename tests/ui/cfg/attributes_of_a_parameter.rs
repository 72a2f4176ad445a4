//! `#[cfg_attr]` on a parameter.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool]
fn weather(
    #[cfg_attr(unix, doc = "Where.")] city: &str,
    #[cfg_attr(unix, param(default = 3))] days: u8,
    #[cfg_attr(unix, cfg(not(unix)))] hours: u8,
    #[cfg_attr(doc, allow(unused_variables))]
    #[cfg_attr(unix, allow(unused_variables))]
    minutes: u8,
) -> usize {
    city.len() + usize::from(days + hours)
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
