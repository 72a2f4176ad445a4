//! All errors of a function are reported at once, and cause no others.

use tool_core::{Registry, Tool, tool, tools};

#[tool(readonly, title = "A", title = "B", name = "no spaces, please")]
unsafe fn everything<T>(
    /// Where.
    city: &'static str,
    (x, y): (f64, f64),
    #[param(default = T)] value: impl Sized,
    #[param(rename = "city")] town: Vec<&str>,
    _: T,
) {
    let _ = (city, x, y, value, town);
}

/// Fine.
#[tool]
fn fine(city: &str) -> usize {
    city.len()
}

fn main() {
    let _ = Registry::builder().tools(tools![everything, fine]).build();
    let _ = everything::SPEC.name;
    unsafe { everything("", (0.0, 0.0), 1, vec![], 2) }
}
// 13 errors
