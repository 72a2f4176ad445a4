//! A call that waits for a person, for as long as it takes: the process ends, and another one goes on.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-agent
//! cargo add serde_json tokio --features tokio/macros,tokio/rt
//! cargo run -- ask                    # prints a fingerprint, and ends
//! cargo run -- allow FINGERPRINT      # runs the call, and answers
//! ```
//!
//! Lost between the processes: what only the operator sees of an error, and values that a tool returned for the
//! application (`Returned::for_app`). A call that ran during a crash is repeated if its tool is `read_only` or
//! `idempotent`; else the model reads that it was interrupted.

use std::env;
use std::error::Error;

use serde_json::json;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::run::{FileJournal, Run, RunOutcome};
use tool_agent::testing::ScriptedModel;
use tool_core::hooks::{Decision, Gate};
use tool_core::{Registry, tool};

/// Orders an article.
#[tool(destructive)]
fn order(article: &str, pieces: u32) -> String {
    format!("ordered {pieces} x {article}")
}

/// Returns the agent of one process. The script stands in for `HttpModel::new(&dialect, "gpt-5.2")` (feature `http`).
fn agent(rounds: usize) -> Result<Agent, Box<dyn Error>> {
    let mut model = ScriptedModel::default();
    if rounds == 0 {
        model = model.call("order", json!({"article": "lamp", "pieces": 2}));
    }
    let model = model.say("Done.");
    let tools = Registry::builder()
        .linked()
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("an order costs money"),
            _ => Gate::Allow,
        })
        .build()?;
    let folder = env::var_os("RUNS").unwrap_or_else(|| "runs".into());
    let agent = Agent::new(tools, OpenAiChat::default(), model)
        .journal(FileJournal::new(folder))
        // The rights of the owner, whoever goes on with the run.
        .contexts(async |_run, call| Ok(call))
        .may_decide(async |request| request.user == "Ada");
    Ok(agent)
}

async fn process(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut agent = agent(0)?;
    let mut run = Run::builder("order-7").owner("Grace").build();
    match arguments {
        ["ask"] => run.push(json!({"role": "user", "content": "Order two lamps."}))?,
        ["allow", fingerprint] => {
            run = agent.load("order-7").await?.ok_or("there is no such run")?;
            agent = self::agent(run.rounds().len())?;
            // Rejected, unless a call with exactly this fingerprint waits: the one that the person has seen.
            agent
                .decide(&mut run, fingerprint, Decision::Allow, "Ada")
                .await?;
        }
        _ => return Err("usage: approvals ask | allow FINGERPRINT".into()),
    }
    match agent.run(&mut run).await? {
        RunOutcome::Waiting(pending) => {
            for call in pending {
                println!(
                    "{} {}: {}",
                    call.call().name,
                    call.arguments(),
                    call.reason()
                );
                println!("allow {}", call.fingerprint());
            }
        }
        RunOutcome::Answered(text) => {
            let results = run.rounds()[0].calls().filter_map(|(_, result)| result);
            results.for_each(|result| println!("{}", result.content()));
            println!("{text}");
        }
        other => println!("stopped: {other:?}"),
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    process(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// The other process of the next test.
    #[tokio::test]
    #[ignore = "the next test starts it"]
    async fn another_process() {
        let arguments = std::env::var("ARGUMENTS").unwrap();
        let arguments: Vec<_> = arguments.split(' ').collect();
        super::process(&arguments).await.unwrap();
    }

    /// Runs a process. Returns what it prints, unless it fails.
    fn start(arguments: &str, folder: &Path) -> Option<String> {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "tests::another_process",
                "--ignored",
                "--nocapture",
            ])
            .env("ARGUMENTS", arguments)
            .env("RUNS", folder)
            .output()
            .unwrap();
        output
            .status
            .success()
            .then(|| String::from_utf8(output.stdout).unwrap())
    }

    #[test]
    fn a_call_waits_across_processes_and_runs_once() {
        let folder = std::env::temp_dir().join(format!("cookbook-{}", std::process::id()));
        let asked = start("ask", &folder).unwrap();
        assert!(
            asked.contains(r#"order {"article":"lamp","pieces":2}: an order costs money"#),
            "{asked}"
        );
        assert!(!asked.contains("ordered"), "{asked}");
        let allow = asked
            .lines()
            .find(|line| line.starts_with("allow "))
            .unwrap();

        assert_eq!(start("allow 0000", &folder), None);
        let allowed = start(allow, &folder).unwrap();
        assert!(allowed.contains("ordered 2 x lamp\nDone."), "{allowed}");
        assert_eq!(start(allow, &folder), None);
        // Another program has the run already.
        assert_eq!(start("ask", &folder), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
