//! An agent at a desk: it reads and keeps files in one folder, changes its own system prompt and
//! proposes tools that it lacks, in a loop around a model that is asked over HTTP.
//!
//! ```text
//! cargo run --example desk_agent --features desk_agent
//! cargo run --example desk_agent --features desk_agent -- --api chat --approve
//! echo "What is on my desk?" | cargo run --example desk_agent --features desk_agent -- \
//!     --task - --desk ~/desk --url https://api.openai.com/v1 --model gpt-5.2
//! ```
//!
//! Without `--url` a scripted provider answers on this machine, with recorded responses or those of
//! `--script`. With it, the key comes from the variable `OPENAI_API_KEY`. A task has one turn of the
//! user a line.

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
use tool_core::agent::{Agent, Ended, Round, Transcript};
use tool_core::dialect::{Dialect, OpenAiChat, OpenAiResponses};
use tool_core::{Registry, tools};
use tracing_subscriber::filter::LevelFilter;

use crate::desk::Desk;
use crate::model::{Api, OpenAi};
use crate::tools::{SystemPrompt, celsius_to_fahrenheit};

const TASK: &str = include_str!("task.txt");

/// What lies on a desk that nobody named.
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

/// The responses of the scripted provider.
fn script(api: Api, source: Option<&str>) -> Result<Vec<Value>, String> {
    let recorded = match api {
        Api::Responses => include_str!("recorded/responses.json"),
        Api::Chat => include_str!("recorded/chat.json"),
    };
    let text = input::read(source, recorded)?;
    serde_json::from_str(&text).map_err(|error| format!("the script is no JSON array: {error}"))
}

/// Goes through the turns of the user and tells what happened.
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
    for turn in turns {
        writeln!(out, "user: {turn}")?;
        transcript.push(json!({ "role": "user", "content": turn }));
        let told = transcript.rounds().len();
        let ended = runtime.block_on(agent.run(model, &mut transcript));
        for round in &transcript.rounds()[told..] {
            tell(round)?;
        }
        match ended? {
            Ended::Answered(text) => writeln!(out, "model: {text}")?,
            Ended::OutOfRounds => {
                writeln!(out, "stopped after {} rounds", transcript.rounds().len())?;
            }
        }
        if is_approved {
            approve(agent.registry(), &transcript)?;
        }
    }
    Ok(())
}

fn tell(round: &Round) -> io::Result<()> {
    let mut out = io::stdout();
    for (call, result) in round.calls.iter().zip(&round.results) {
        let verdict = if result.is_error() { "failed" } else { "done" };
        writeln!(out, "  {} {verdict}", call.name)?;
        for line in result.content().lines() {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(())
}

/// Adds the tool that was proposed, if it is on the shelf. The operator does this, no model.
fn approve(registry: &Registry, transcript: &Transcript) -> Worked {
    let mut results = transcript.rounds().iter().flat_map(|round| &round.results);
    let folder = "tool_proposals/celsius_to_fahrenheit/";
    let is_proposed = results.any(|result| result.content().starts_with(folder));
    if is_proposed && registry.get("celsius_to_fahrenheit").is_none() {
        registry.add(tools![celsius_to_fahrenheit])?;
        writeln!(io::stdout(), "operator: celsius_to_fahrenheit is there now")?;
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
            "What the user says, a turn a line; - reads standard input",
        ))
        .arg(flag(
            "desk",
            "FOLDER",
            "Where it works [default: a new folder, removed at the end]",
        ))
        .arg(
            flag("api", "API", "Which API is spoken")
                .value_parser(PossibleValuesParser::new(["responses", "chat"]))
                .default_value("responses"),
        )
        .arg(flag(
            "script",
            "FILE",
            "What the scripted provider answers: a JSON array",
        ))
        .arg(flag("url", "URL", "A provider instead of the script").conflicts_with("script"))
        .arg(flag("model", "NAME", "The model's name").default_value("scripted"))
        .arg(
            flag(
                "rounds",
                "NUMBER",
                "How often the model is asked in one turn",
            )
            .value_parser(value_parser!(usize))
            .default_value("8"),
        )
        .arg(
            flag("approve", "", "Adds a proposed tool that is on the shelf")
                .action(ArgAction::SetTrue),
        )
        .get_matches();
    input::log(LevelFilter::WARN);
    input::end("desk_agent", run(&flags))
}
