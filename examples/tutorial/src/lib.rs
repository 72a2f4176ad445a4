//! The tools of a program that plans trips.

use tool_core::hooks::Gate;
use tool_core::{Registry, RegistryBuilder, tool};

/// The weather of the next days.
///
/// # Arguments
/// * `city` - The city, such as `Lisbon`.
/// * `days` - How many days.
#[tool(read_only)]
pub fn get_forecast(city: &str, #[param(range = 1..=14)] days: u8) -> String {
    format!("{city}: {days} sunny days")
}

/// Returns the tools of this program.
pub fn tools() -> RegistryBuilder {
    Registry::builder()
        .linked()
        .before(async |hook| match hook.tool.annotations.read_only {
            Some(true) => Gate::Allow,
            _ => Gate::confirm("it costs money"),
        })
}

/// Books a room in a hotel, and pays for it.
///
/// # Arguments
/// * `city` - The city, such as `Lisbon`.
/// * `nights` - How many nights.
#[tool]
pub fn book_room(city: &str, #[param(range = 1..=30)] nights: u8) -> String {
    format!("a room in {city} is booked for {nights} nights")
}
