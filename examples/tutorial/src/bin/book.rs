//! A model whose calls a person approves.

use std::io::Write;

use serde_json::json;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiResponses;
use tool_agent::run::{MemoryJournal, Run, RunOutcome};
use tool_agent::testing::ScriptedModel;
use tool_core::hooks::Decision;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel::default()
        .call("book_room", json!({"city": "Lisbon", "nights": 2}))
        .say("Your room in Lisbon is booked.");
    let agent = Agent::new(trips::tools().build()?, OpenAiResponses::default(), model)
        .journal(MemoryJournal::default())
        // With several users, attach here what the owner of the conversation may do.
        .contexts(async |_run, call| Ok(call));

    let mut run = Run::builder("trip-1").owner("ada").build();
    let question = "Book me a room in Lisbon for two nights.";
    let mut outcome = agent.reply(&mut run, question).await?;
    while let RunOutcome::Waiting(held) = outcome {
        for call in held {
            println!("{} {}", call.call().name, call.arguments());
            println!("  because: {}", call.reason());
            let decision = decide()?;
            agent
                .decide(&mut run, call.fingerprint(), decision, "ada")
                .await?;
        }
        outcome = agent.run(&mut run).await?;
    }
    if let RunOutcome::Answered(answer) = outcome {
        println!("{answer}");
    }
    Ok(())
}

fn decide() -> std::io::Result<Decision> {
    print!("Allow it? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(match answer.trim() {
        "y" => Decision::Allow,
        _ => Decision::deny("the user does not want it"),
    })
}
