//! A thermostat that a model uses through `genai`, with a failing sensor: the text for the model, the
//! log (`--log`), and the reference that both share.
//!
//! ```text
//! cargo run --example thermostat --features thermostat
//! cargo run --example thermostat --features thermostat -- --failures 0
//! echo "Make it 19 degrees." | cargo run --example thermostat --features thermostat -- \
//!     --turns - --model claude-sonnet-4-5
//! ```
//!
//! Without `--model`, a local server answers with recorded responses, or with the responses in `--script`.
//! With `--model`, `genai` chooses the provider and takes its key from the environment.

mod chat;
mod tools;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::{Arg, Command, value_parser};
use examples::input;
use examples::provider::Scripted;
use examples::terminal::{NAME, Terminal, indented};
use genai::chat::ChatMessage;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_cli::Cli;
use tool_core::Registry;

use crate::chat::{Genai, Provider};
use crate::tools::Thermostat;

fn run(
    turns: Option<&str>,
    script: Option<&str>,
    model: Option<&str>,
    failures: u32,
) -> Result<(), Box<dyn Error>> {
    let turns = input::read(turns, include_str!("turns.txt"))?;
    let turns: Vec<_> = turns
        .lines()
        .filter(|turn| !turn.trim().is_empty())
        .collect();
    if turns.is_empty() {
        return Err("there are no turns".into());
    }
    let scripted;
    let provider = match model {
        Some(model) => Provider::new(model, None)?,
        None => {
            let script = input::read(script, include_str!("recorded/chat.json"))?;
            let script: Vec<Value> = serde_json::from_str(&script)
                .map_err(|error| format!("the script is not a JSON array: {error}"))?;
            scripted = Scripted::serve(script)?;
            Provider::new("scripted", Some(&scripted.url()))?
        }
    };
    let registry = Registry::builder()
        .toolset("", Thermostat::new(19.5, failures))
        .build()?;
    let agent = Agent::new(registry, Genai, provider);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;

    let mut out = Terminal::stdout();
    let mut settings = RunSettings::default();
    settings.max_rounds = 8;
    let mut run = Run::builder("thermostat").settings(settings).build();
    for (turn, at) in turns.into_iter().zip(0..) {
        if at > 0 {
            writeln!(out)?;
        }
        out.styled(NAME, "user")?;
        writeln!(out, ": {turn}")?;
        run.push(json!(ChatMessage::user(turn)))?;
        let shown = run.rounds().len();
        let ended = runtime.block_on(agent.run(&mut run));
        for round in &run.rounds()[shown..] {
            for result in round.calls().filter_map(|(_, result)| result) {
                writeln!(out, "  {} {}", result.call_id(), result.name())?;
                writeln!(out, "    {}", indented(result.content(), 4))?;
            }
        }
        match ended? {
            RunOutcome::Answered(text) => {
                out.styled(NAME, "model")?;
                writeln!(out, ": {}", indented(&text, 7))?;
            }
            RunOutcome::OutOfRounds => writeln!(out, "stopped: too many rounds")?,
            other => writeln!(out, "stopped: {other:?}")?,
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let cli = Cli::new(|| Registry::builder().toolset("", Thermostat::new(19.5, 0)));
    let cli = cli.name("thermostat tools");
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flags = Command::new("thermostat")
        .about("A thermostat that a model uses, with a failing sensor")
        .arg(flag(
            "turns",
            "FILE",
            "What the user says, one turn per line; - for standard input",
        ))
        .arg(flag(
            "script",
            "FILE",
            "JSON array with the responses of the scripted provider",
        ))
        .arg(
            flag("model", "NAME", "Name of a model, instead of the script")
                .conflicts_with("script"),
        )
        .arg(
            flag(
                "failures",
                "NUMBER",
                "Number of failures of the sensor at the start",
            )
            .value_parser(value_parser!(u32))
            .default_value("1"),
        )
        .arg(input::log_flag())
        .subcommand(cli.command().name("tools"))
        .get_matches();
    input::log(&flags);
    if let Some(("tools", flags)) = flags.subcommand() {
        return cli.execute(flags);
    }
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let failures = flags.get_one("failures").copied().unwrap_or_default();
    let ended = run(text("turns"), text("script"), text("model"), failures);
    input::end("thermostat", ended)
}
