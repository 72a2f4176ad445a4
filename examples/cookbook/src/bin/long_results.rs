//! Long results: the model gets the start, and reads on or searches, also after the program was restarted.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-agent
//! cargo add serde_json
//! cargo run
//! ```
//!
//! The folder has the runs and the results. Another run, or the run of another owner, can't read them.

use std::path::Path;

use serde_json::json;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::results::FileResults;
use tool_agent::run::{FileJournal, Run};
use tool_agent::testing::ScriptedModel;
use tool_core::runtime::block_on;
use tool_core::{Registry, tool, tools};

/// Runs the tests.
#[tool(read_only)]
fn run_tests() -> String {
    let line = |test| {
        format!(
            "test {test} ... {}\n",
            if test == 1815 { "FAILED" } else { "ok" }
        )
    };
    (1..=2000).map(line).collect()
}

/// The agent of a program, with the answers of a model.
fn agent(folder: &Path, model: ScriptedModel) -> Result<Agent, Box<dyn std::error::Error>> {
    let tools = Registry::builder().tools(tools![run_tests]);
    // Longer texts than 4 kB are kept.
    let tools = tools.spill(FileResults::new(folder), 4000).build()?;
    Ok(Agent::new(tools, OpenAiChat::default(), model).journal(FileJournal::new(folder)))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("long-results-{}", std::process::id()));
    let model = ScriptedModel::default()
        .call("run_tests", json!({}))
        .say("There is more.");
    let mut run = Run::new("run-1");
    block_on(agent(&folder, model)?.reply(&mut run, "Which test fails?"))??;
    let (_, result) = run.rounds()[0].calls().next().ok_or("one call")?;
    let (handle, bytes) = result
        .and_then(|result| result.kept())
        .ok_or("a long result")?;
    println!(
        "the model got {} of {bytes} bytes",
        result.map_or(0, |result| result.content().len())
    );

    // In another process. A model copies the handle from the note.
    let search = json!({"handle": handle, "search": "FAILED"});
    let model = ScriptedModel::default()
        .call("read_result", search)
        .say("Test 1815.");
    let agent = agent(&folder, model)?;
    let mut run = block_on(agent.load("run-1"))??.ok_or("a saved run")?;
    block_on(agent.reply(&mut run, "Look for it."))??;
    let found = run.rounds()[2]
        .calls()
        .next()
        .and_then(|(_, result)| result);
    println!("{}", found.map_or("", |found| found.content()));
    std::fs::remove_dir_all(&folder)?;
    let expected =
        "line 1815, byte 29745: test 1815 ... FAILED\n[places: 1, from byte 0 to the end]";
    assert_eq!(found.map(|found| found.content()), Some(expected));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_model_finds_what_it_was_not_shown() {
        super::main().unwrap();
    }
}
