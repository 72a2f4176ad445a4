//! A parameter that is destructured in the signature.

use tool_core::{tool, tools};

/// Distance from the origin.
#[tool]
fn distance(
    /// Coordinates.
    (x, y): (f64, f64),
) -> f64 {
    x.hypot(y)
}

fn main() {
    let _ = tools![distance];
    let _ = distance((3.0, 4.0));
}
