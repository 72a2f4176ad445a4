//! A function that never returns, and `impl Trait` as a part of a return type.

use std::fmt::Display;

use serde::Serialize;
use tool_core::{tool, tools};

/// Goes on and on.
#[tool]
fn endless() -> ! {
    loop {}
}

/// Counts.
#[tool]
fn count(city: &str) -> Result<Vec<impl Serialize>, impl Display> {
    match city {
        "" => Err("no city"),
        city => Ok(vec![city.len()]),
    }
}

/// This is fine.
#[tool]
fn length(city: &str) -> impl Serialize {
    city.len()
}

fn main() {
    let _ = tools![endless, count, length];
}
// 3 errors
