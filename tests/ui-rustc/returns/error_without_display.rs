//! An error without `Display`.

use tool_core::{tool, tools};

struct WeatherError;

/// Weather.
#[tool]
fn weather() -> Result<u8, WeatherError> {
    Err(WeatherError)
}

fn main() {
    let _ = tools![weather];
}
