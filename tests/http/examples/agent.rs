//! The program in the README.
use tool_agent::Agent;
use tool_agent::dialects::OpenAiResponses;
use tool_agent::model::HttpModel;
use tool_core::{Registry, tool};

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dialect = OpenAiResponses::default();
    let model = HttpModel::new(&dialect, "gpt-5.2").system("Calculate with the tools.");
    let agent = Agent::new(Registry::linked()?, dialect, model);
    println!("{}", agent.ask_blocking("What is 1234 + 5678?")?);
    Ok(())
}
