//! A model that calls the tools.

use serde_json::json;
use tool_agent::dialects::OpenAiResponses;
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Event};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // This stands in for a provider, so that the program runs without a key.
    let model = ScriptedModel::default()
        .call("get_forecast", json!({"days": 300}))
        .call("get_forecast", json!({"city": "Lisbon", "days": 3}))
        .say("Lisbon will be sunny for the next three days.");
    let agent = Agent::new(trips::tools().build()?, OpenAiResponses::default(), model);
    let agent = agent.on_event(|event| match event {
        Event::Call { call, shown } => println!("call:   {} {shown}", call.name),
        Event::Result(result) => println!("result: {}", result.content()),
        _ => {}
    });
    println!("{}", agent.ask_blocking("Will it rain in Lisbon?")?);
    Ok(())
}
