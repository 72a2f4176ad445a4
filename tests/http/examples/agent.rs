//! The second program in the README.
use tool_agent::Agent;
use tool_agent::dialects::OpenAiResponses;
use tool_agent::model::HttpModel;
use tool_core::{Registry, tool};

/// The weather of the next days.
///
/// # Arguments
/// * `city` - The city, such as `Lisbon`.
/// * `days` - How many days.
#[tool(read_only)]
fn get_forecast(city: &str, #[param(range = 1..=14)] days: u8) -> String {
    format!("{city}: {days} sunny days")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Or `Anthropic::default()` and a Claude; or `server::OLLAMA` and a model on this machine.
    let (dialect, model) = (OpenAiResponses::default(), "gpt-5.2");
    let model = HttpModel::new(&dialect, model).system("You plan trips.");
    let agent = Agent::new(Registry::linked()?, dialect, model);
    println!("{}", agent.ask_blocking("Will it rain in Lisbon?")?);
    Ok(())
}
