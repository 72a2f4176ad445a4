//! A result without `Serialize`, alone and in a `Result`.

use tool_core::{tool, tools};

struct Forecast;

/// Weather.
#[tool]
fn weather() -> Forecast {
    Forecast
}

/// Weather, perhaps.
#[tool]
async fn perhaps() -> Result<Forecast, String> {
    Ok(Forecast)
}

fn main() {
    let _ = tools![weather, perhaps];
}
// 2 errors
