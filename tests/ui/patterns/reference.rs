//! A reference pattern and a path pattern with `::`.

use tool_core::{tool, tools};

mod shape {
    pub struct Point(pub f64);
}

/// A coordinate.
#[tool]
fn borrowed(&x: &f64) -> f64 {
    x
}

/// Another coordinate.
#[tool]
fn wrapped(shape::Point(x): shape::Point) -> f64 {
    x
}

fn main() {
    let _ = tools![borrowed, wrapped];
}
// 2 errors
