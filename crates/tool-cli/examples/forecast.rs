//! The first program in the README.
use tool_core::tool;

/// The weather of the next days.
///
/// # Arguments
/// * `city` - The city, such as `Lisbon`.
/// * `days` - How many days.
#[tool(read_only)]
fn get_forecast(city: &str, #[param(range = 1..=14)] days: u8) -> String {
    format!("{city}: {days} sunny days")
}

fn main() -> std::process::ExitCode {
    tool_cli::Cli::linked().run()
}
