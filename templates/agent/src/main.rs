//! An agent with a tool. It keeps its conversation in a file, and goes on with it when it starts again.

use tool_agent::Agent;
use tool_agent::model::{HttpModel, Model};
use tool_agent::run::{FileJournal, Run, RunOutcome};
use tool_agent::dialects::OpenAiResponses;
use tool_core::{Registry, RegistryError, tool};

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> Result<i64, String> {
    a.checked_add(b)
        .ok_or_else(|| "the sum is too large; send smaller numbers".into())
}

fn agent(dialect: OpenAiResponses, model: impl Model + 'static) -> Result<Agent, RegistryError> {
    let agent = Agent::new(Registry::linked()?, dialect, model);
    // With several users, attach here what the owner of a conversation may do.
    Ok(agent.contexts(async |_run, call| Ok(call)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1).ok_or("pass a question")?;
    let dialect = OpenAiResponses::default();
    // The key comes from `OPENAI_API_KEY`.
    let model = HttpModel::new(&dialect, "gpt-5.2").system("Calculate with the tools.");
    let agent = agent(dialect, model)?.journal(FileJournal::new("conversations"));

    let saved = agent.load("conversation-1").await?;
    let new = || Run::builder("conversation-1").owner("you").build();
    let mut run = saved.unwrap_or_else(new);
    match agent.reply(&mut run, &question).await? {
        RunOutcome::Answered(answer) => println!("{answer}"),
        other => eprintln!("no answer: {other:?}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_agent::testing::ScriptedModel;

    use super::*;

    #[test]
    fn the_model_gets_the_sum() {
        let model = ScriptedModel::default()
            .call("add", json!({"a": 2, "b": 3}))
            .say("It is 5.");
        let agent = agent(OpenAiResponses::default(), model.clone()).unwrap();
        assert_eq!(agent.ask_blocking("What is 2 + 3?").unwrap(), "It is 5.");
        let request = &model.requests()[1];
        assert!(format!("{:?}", request.messages).contains("\"5\""));
    }
}
