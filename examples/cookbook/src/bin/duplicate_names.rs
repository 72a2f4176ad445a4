//! Two crates with tools of one name, and the ways out.
//!
//! ```sh
//! cargo add tool-core
//! cargo add --path ../weather-tools      # two crates with a tool of one name
//! cargo add --path ../station-tools
//! cargo run
//! ```
//!
//! Within one crate, a second tool of a name does not build. Across crates, `Registry::linked` returns an error.
//! Listing tools with `tools!` is another trade: nothing is linked by accident, and nothing is found by itself.

use tool_core::{Registry, tool, tools};

/// The temperature at a weather station, by its number.
#[tool(read_only, unlinked)]
fn get_station_temperature(
    /// Number of the station.
    station: u32,
) -> f64 {
    station_tools::get_temperature(station)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let error = Registry::linked().expect_err("two tools of one name");
    println!("{error}");

    // Choose one of them.
    let chosen = Registry::builder()
        .tools(tools![weather_tools::get_temperature])
        .build()?;
    assert_eq!(chosen.len(), 1);

    // Or give one another name: a tool stays a function, so another tool can call it.
    let both = tools![weather_tools::get_temperature, get_station_temperature];
    let both = Registry::builder().tools(both).build()?;
    assert_eq!(both.len(), 2);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_has_both_places() {
        main().unwrap();
        let error = Registry::linked().unwrap_err().to_string();
        for place in ["weather-tools/src/lib.rs", "station-tools/src/lib.rs"] {
            assert!(
                error.replace('\\', "/").contains(place),
                "{place} is not in: {error}"
            );
        }
    }
}
