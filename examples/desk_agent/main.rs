//! An agent at a desk: it reads and writes files in one folder, changes its system prompt and
//! proposes missing tools, in a loop around a model that it asks over HTTP.
//!
//! ```text
//! cargo run --example desk_agent --features desk_agent
//! cargo run --example desk_agent --features desk_agent -- --api chat --approve
//! echo "What is on my desk?" | cargo run --example desk_agent --features desk_agent -- \
//!     --task - --desk ~/desk --url https://api.openai.com/v1 --model gpt-5.2
//! ```
//!
//! Without `--url`, a local server answers with recorded responses, or with those of `--script`. With
//! `--url`, the key comes from the variable `OPENAI_API_KEY`. Each line of a task is a turn of the
//! user.

mod desk;
mod model;
mod tools;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use examples::folder::Temporary;
use examples::input;
use examples::provider::Scripted;
use serde_json::{Value, json};
use tool_core::agent::{Agent, Round, RunOutcome, Transcript};
use tool_core::dialect::{Dialect, OpenAiChat, OpenAiResponses};
use tool_core::{Registry, tools};

use crate::desk::Desk;
use crate::model::{Api, OpenAi};
use crate::tools::{SystemPrompt, celsius_to_fahrenheit};

const TASK: &str = include_str!("task.txt");

/// The files of the default desk.
const FILES: [(&str, &str); 2] = [
    ("plan.md", include_str!("desk/plan.md")),
    ("memory.md", include_str!("desk/memory.md")),
];

type Worked = Result<(), Box<dyn Error>>;

fn run(flags: &ArgMatches) -> Worked {
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let api = match text("api") {
        Some("chat") => Api::Chat,
        _ => Api::Responses,
    };
    let task = input::read(text("task"), TASK)?;
    let turns: Vec<_> = task
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if turns.is_empty() {
        return Err("the task is empty".into());
    }

    let temporary;
    let folder = match text("desk") {
        Some(folder) => Path::new(folder),
        None => {
            temporary = Temporary::new()?;
            for (name, text) in FILES {
                fs::write(temporary.path().join(name), text)?;
            }
            temporary.path()
        }
    };
    let desk = Desk::open(folder)
        .map_err(|error| format!("can't work in {}: {error}", folder.display()))?;
    let prompt = SystemPrompt::new("You work at a desk. Keep what matters in memory.md.");
    let registry = Registry::builder()
        .linked()
        .context(desk)
        .context(prompt.clone())
        .output_cap(40_000)
        .build()?;

    let scripted;
    let (url, key) = match text("url") {
        Some(url) => {
            let key = env::var("OPENAI_API_KEY").map_err(|_| "OPENAI_API_KEY is not set")?;
            (url.to_owned(), key)
        }
        None => {
            scripted = Scripted::serve(script(api, text("script"))?)?;
            (scripted.url(), String::new())
        }
    };
    let name = text("model").unwrap_or_default();
    let model = OpenAi::new(&url, &key, api, name, prompt);
    let rounds = flags.get_one("rounds").copied().unwrap_or(8);
    let is_approved = flags.get_flag("approve");
    match api {
        Api::Responses => {
            let agent = Agent::new(registry, OpenAiResponses::default()).rounds(rounds);
            converse(&agent, &model, &turns, is_approved)
        }
        Api::Chat => {
            let agent = Agent::new(registry, OpenAiChat::default()).rounds(rounds);
            converse(&agent, &model, &turns, is_approved)
        }
    }
}

/// Returns the responses of the scripted provider.
fn script(api: Api, source: Option<&str>) -> Result<Vec<Value>, String> {
    let recorded = match api {
        Api::Responses => include_str!("recorded/responses.json"),
        Api::Chat => include_str!("recorded/chat.json"),
    };
    let text = input::read(source, recorded)?;
    serde_json::from_str(&text).map_err(|error| format!("the script is not a JSON array: {error}"))
}

/// Runs the turns of the user, and prints what happens.
fn converse<D: Dialect>(
    agent: &Agent<D>,
    model: &OpenAi,
    turns: &[&str],
    is_approved: bool,
) -> Worked {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut out = io::stdout();
    let mut transcript = Transcript::new();
    for (turn, at) in turns.iter().zip(0..) {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "user: {turn}")?;
        transcript.push(json!({ "role": "user", "content": turn }));
        let shown = transcript.rounds().len();
        let ended = runtime.block_on(agent.run(model, &mut transcript));
        for round in &transcript.rounds()[shown..] {
            show(round)?;
        }
        match ended? {
            RunOutcome::Answered(text) => writeln!(out, "model: {text}")?,
            RunOutcome::OutOfRounds => {
                writeln!(out, "stopped after {} rounds", transcript.rounds().len())?;
            }
        }
        if is_approved {
            approve(agent.registry(), &transcript)?;
        }
    }
    Ok(())
}

fn show(round: &Round) -> io::Result<()> {
    let mut out = io::stdout();
    for (call, result) in round.calls.iter().zip(&round.results) {
        // An error names the tool itself.
        if !result.is_error() {
            writeln!(out, "  {} done", call.name)?;
        }
        let indent = if result.is_error() { "  " } else { "    " };
        for line in result.content().lines() {
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(())
}

/// Adds the proposed tool. Only the operator can do this, not the model.
fn approve(registry: &Registry, transcript: &Transcript) -> Worked {
    let mut results = transcript.rounds().iter().flat_map(|round| &round.results);
    let folder = "tool_proposals/celsius_to_fahrenheit/";
    let is_proposed = results.any(|result| result.content().starts_with(folder));
    if is_proposed && registry.get("celsius_to_fahrenheit").is_none() {
        registry.add(tools![celsius_to_fahrenheit])?;
        writeln!(io::stdout(), "operator: added celsius_to_fahrenheit")?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flags = Command::new("desk_agent")
        .about("An agent that works on files in one folder")
        .arg(flag(
            "task",
            "FILE",
            "What the user says, one turn per line; - for standard input",
        ))
        .arg(flag(
            "desk",
            "FOLDER",
            "Folder to work in [default: a temporary folder]",
        ))
        .arg(
            flag("api", "API", "API of the provider")
                .value_parser(PossibleValuesParser::new(["responses", "chat"]))
                .default_value("responses"),
        )
        .arg(flag(
            "script",
            "FILE",
            "JSON array with the responses of the scripted provider",
        ))
        .arg(
            flag(
                "url",
                "URL",
                "Base URL of a provider, instead of the script",
            )
            .conflicts_with("script"),
        )
        .arg(flag("model", "NAME", "Name of the model").default_value("scripted"))
        .arg(
            flag("rounds", "NUMBER", "Maximum number of requests in one turn")
                .value_parser(value_parser!(usize))
                .default_value("8"),
        )
        .arg(
            flag(
                "approve",
                "",
                "Add celsius_to_fahrenheit once the model has proposed it",
            )
            .action(ArgAction::SetTrue),
        )
        .arg(input::log_flag())
        .get_matches();
    input::log(&flags);
    input::end("desk_agent", run(&flags))
}
