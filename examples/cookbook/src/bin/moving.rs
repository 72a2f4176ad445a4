//! A conversation goes on at another provider: by itself while a model is down, and by hand.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-agent --features http
//! cargo add tokio --features macros,rt
//! export OPENAI_API_KEY=… ANTHROPIC_API_KEY=…
//! cargo run -- ask "How warm is it in Lisbon?"    # Claude answers if OpenAI is down
//! cargo run -- move "And in Porto?"               # Claude goes on in any case
//! ```
//!
//! Lost on the way: what only the old provider understands, such as its reasoning. Each loss is printed. Calls that ran do
//! not run again.

use std::env;
use std::error::Error;

use tool_agent::dialects::{Anthropic, OpenAiChat};
use tool_agent::model::HttpModel;
use tool_agent::run::{FileJournal, Journal, Run, RunOutcome};
use tool_agent::{Agent, Event, Fallback};
use tool_core::{Registry, tool};

/// The current temperature of a city in degrees Celsius.
#[tool(read_only)]
fn get_temperature(city: &str) -> Result<f64, String> {
    match city {
        "Lisbon" => Ok(21.5),
        "Porto" => Ok(19.0),
        _ => Err(format!("there is no station in {city}")),
    }
}

/// Asks OpenAI's model, and Anthropic's while it is down.
fn asking(openai: HttpModel, anthropic: HttpModel) -> Result<Agent, Box<dyn Error>> {
    let agent = Agent::new(Registry::linked()?, OpenAiChat::default(), openai)
        .fallback(Fallback::to(Anthropic::default(), anthropic))
        .on_event(|event| match event {
            Event::FellBack { from, to, error } => eprintln!("{to} goes on for {from}: {error}"),
            Event::Translated(losses) => losses.iter().for_each(|loss| eprintln!("{loss}")),
            _ => {}
        });
    Ok(agent)
}

/// Starts the conversation, or goes on with it.
async fn ask(agent: &Agent, text: &str) -> Result<RunOutcome, Box<dyn Error>> {
    let saved = agent.load("conversation-1").await?;
    let mut run = saved.unwrap_or_else(|| Run::new("conversation-1"));
    Ok(agent.reply(&mut run, text).await?)
}

/// Goes on at the provider of this agent, wherever the conversation was.
async fn go_on(agent: &Agent, text: &str) -> Result<RunOutcome, Box<dyn Error>> {
    let saved = agent.load("conversation-1").await?;
    let mut run = saved.ok_or("there is no conversation yet")?;
    for loss in run.translate(&OpenAiChat::default(), agent.dialect())? {
        eprintln!("{loss}");
    }
    agent.save(&mut run).await?;
    Ok(agent.reply(&mut run, text).await?)
}

/// Handles a command. The journal keeps the conversation between two of them.
async fn process(
    arguments: &[&str],
    openai: HttpModel,
    anthropic: HttpModel,
    journal: impl Journal + 'static,
) -> Result<RunOutcome, Box<dyn Error>> {
    match arguments {
        ["ask", text] => ask(&asking(openai, anthropic)?.journal(journal), text).await,
        ["move", text] => {
            let agent = Agent::new(Registry::linked()?, Anthropic::default(), anthropic);
            go_on(&agent.journal(journal), text).await
        }
        _ => Err("usage: moving ask TEXT | move TEXT".into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let openai = HttpModel::new(&OpenAiChat::default(), "gpt-5.2");
    let anthropic = HttpModel::new(&Anthropic::default(), "claude-sonnet-4-5");
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match process(&arguments, openai, anthropic, FileJournal::new("runs")).await? {
        RunOutcome::Answered(text) => println!("{text}"),
        other => println!("stopped: {other:?}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cookbook::{Asked, Scripted, chat_call, chat_text};
    use serde_json::{Value, json};
    use tool_agent::run::MemoryJournal;

    use super::*;

    fn outage() -> Value {
        json!({"error": {"status": 503, "type": "server_error", "message": "The engine is overloaded."}})
    }

    fn claude(block: &Value) -> Value {
        json!({"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1}})
    }

    /// Handles commands with servers that answer from these scripts. Returns the answers, and what each server was asked.
    async fn run(
        commands: &[[&str; 2]],
        openai: Vec<Value>,
        anthropic: Vec<Value>,
    ) -> (Vec<String>, Vec<Asked>, Vec<Asked>) {
        let [openai, anthropic] =
            [openai, anthropic].map(|script| Scripted::serve(script).unwrap());
        let journal = MemoryJournal::new();
        let mut answers = Vec::new();
        for command in commands {
            let first = HttpModel::new(&OpenAiChat::default(), "gpt").base_url(openai.url());
            let second = HttpModel::new(&Anthropic::default(), "claude").base_url(anthropic.url());
            let [first, second] = [first, second].map(|model| model.key("none").streaming(false));
            let outcome = process(command, first, second, journal.clone()).await;
            match outcome.unwrap() {
                RunOutcome::Answered(text) => answers.push(text),
                other => panic!("{other:?}"),
            }
        }
        (answers, openai.asked(), anthropic.asked())
    }

    #[tokio::test]
    async fn claude_goes_on_with_the_result_while_openai_is_down() {
        let lisbon = chat_call("get_temperature", &json!({"city": "Lisbon"}));
        let text = json!({"type": "text", "text": "It is 21.5 °C."});
        let (answers, openai, anthropic) = run(
            &[["ask", "How warm is it in Lisbon?"]],
            vec![lisbon, outage()],
            vec![claude(&text)],
        )
        .await;
        assert_eq!(answers, ["It is 21.5 °C."]);
        assert_eq!((openai.len(), anthropic.len()), (2, 1));
        let messages = &anthropic[0].body["messages"];
        assert_eq!(messages[1]["content"][0]["name"], "get_temperature");
        assert_eq!(messages[2]["content"][0]["content"], "21.5");
    }

    #[tokio::test]
    async fn a_saved_conversation_moves_with_its_calls() {
        let lisbon = chat_call("get_temperature", &json!({"city": "Lisbon"}));
        let porto = json!({"type": "tool_use", "id": "toolu_1", "name": "get_temperature",
            "input": {"city": "Porto"}});
        let text = json!({"type": "text", "text": "It is 19 °C."});
        let (answers, openai, anthropic) = run(
            &[
                ["ask", "How warm is it in Lisbon?"],
                ["move", "And in Porto?"],
            ],
            vec![lisbon, chat_text("It is 21.5 °C.")],
            vec![claude(&porto), claude(&text)],
        )
        .await;
        assert_eq!(answers, ["It is 21.5 °C.", "It is 19 °C."]);
        assert_eq!((openai.len(), anthropic.len()), (2, 2));
        let said = anthropic[1].body["messages"].to_string();
        let parts = [
            "in Lisbon?",
            "call_1",
            "21.5",
            "21.5 °C.",
            "Porto",
            "toolu_1",
            "19",
        ];
        let mut rest = &*said;
        for part in parts {
            rest = rest
                .split_once(part)
                .unwrap_or_else(|| panic!("{part}: {said}"))
                .1;
        }
    }
}
