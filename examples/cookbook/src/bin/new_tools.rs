//! Tools that come while a conversation goes on, and what a provider has cached of it.
//!
//! ```sh
//! cargo add tool-core --features dynamic
//! cargo add tool-agent --features http
//! cargo add tokio --features macros,rt
//! export ANTHROPIC_API_KEY=…
//! cargo run
//! ```
//!
//! The list of tools is the start of a prompt. Another list would make the provider read the whole conversation again, at
//! the full price. With `inline_tools`, the model is told of the new tool in a message at the end. Without it, the list is
//! replaced, and a note in the log says so (feature `tracing`).
//!
//! - Models before Claude Opus 4.8, and Claude Sonnet 5, take no such message: leave `inline_tools` out for them.
//! - The messages are saved with the run. Another process that goes on sends the same bytes.

use std::error::Error;

use tool_agent::Agent;
use tool_agent::dialects::Anthropic;
use tool_agent::model::{HttpModel, Model};
use tool_agent::run::{Run, RunOutcome};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolEntry, tool, tools};

/// Returns the city of the user.
#[tool(read_only)]
fn my_city() -> &'static str {
    "Lisbon"
}

/// A tool that is known only now, such as that of a server to which the user has just connected.
fn weather() -> Result<DynamicTool, Box<dyn Error>> {
    let tool =
        DynamicTool::builder("get_weather").description("Returns the weather of the user's city.");
    Ok(tool.build(|_, _| async { Ok::<_, String>("sunny, 24 degrees") })?)
}

async fn talk(model: impl Model + 'static) -> Result<Run, Box<dyn Error>> {
    let tools = Registry::builder().tools(tools![my_city]).build()?;
    let agent = Agent::new(tools.clone(), Anthropic::default().inline_tools(), model);
    let mut run = Run::new("conversation-1");
    show(&agent.reply(&mut run, "Where am I?").await?);
    tools.add([ToolEntry::from(weather()?)])?;
    show(
        &agent
            .reply(&mut run, "And how is the weather there?")
            .await?,
    );
    Ok(run)
}

fn show(outcome: &RunOutcome) {
    match outcome {
        RunOutcome::Answered(text) => println!("{text}"),
        other => println!("no answer: {}", other.as_str()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    talk(HttpModel::new(&Anthropic::default(), "claude-opus-5-5")).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_agent::testing::ScriptedModel;

    use super::*;

    #[tokio::test]
    async fn the_second_prompt_starts_with_the_first() {
        let model = ScriptedModel::default()
            .call("my_city", json!({}))
            .say("In Lisbon.")
            .call("get_weather", json!({}))
            .say("It is sunny.");
        talk(model.clone()).await.unwrap();
        let requests = model.requests();
        for (before, after) in requests.iter().zip(&requests[1..]) {
            assert_eq!(before.tools().as_str(), after.tools().as_str());
            assert!(after.messages.starts_with(&before.messages));
        }
        let change = &requests[2].messages.last().unwrap()["content"][0];
        assert_eq!(change["tool"]["definition"]["name"], "get_weather");
    }
}
