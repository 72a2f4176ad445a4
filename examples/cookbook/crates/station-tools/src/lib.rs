//! Another crate with a tool `get_temperature`.

use tool_core::tool;

/// The temperature at a station.
#[tool(read_only)]
pub fn get_temperature(
    /// Number of the station.
    #[param(range = 1..=2)]
    station: u32,
) -> f64 {
    if station == 1 { 20.9 } else { 3.5 }
}
