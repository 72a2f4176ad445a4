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
//! `--approve` asks at the terminal whether to add a tool that the model has proposed. Without a
//! terminal, name the proposal: `--approve tool_proposals/celsius_to_fahrenheit/1`.
//!
//! Without `--url`, a local server answers with recorded responses, or with those of `--script`. With
//! `--url`, the key comes from the variable `OPENAI_API_KEY`. Text is shown while it arrives. Each line of a task is a turn of the
//! user.

mod desk;
mod model;
mod tools;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use examples::folder::Temporary;
use examples::input;
use examples::provider::Scripted;
use examples::terminal::{Terminal, confirm, indented};
use futures_util::StreamExt;
use serde_json::Value;
use tool_core::agent::{Agent, Event, Retry};
use tool_core::run::{Run, RunOutcome, RunSettings};
use tool_core::{Registry, Tool, ToolResult, tools};

use crate::desk::Desk;
use crate::model::Api;
use crate::tools::{Proposal, Proposals, SystemPrompt, celsius_to_fahrenheit};

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
    let proposals = Proposals::default();
    let prompt = SystemPrompt::new("You work at a desk. Keep what matters in memory.md.");
    let registry = Registry::builder()
        .linked()
        .context(desk)
        .context(prompt.clone())
        .context(proposals.clone())
        .output_cap(40_000)
        .build()?;

    let name = text("model").unwrap_or_default();
    let scripted;
    let model = match text("url") {
        Some(url) => model::model(api, url, name, prompt).key_from_env("OPENAI_API_KEY"),
        None => {
            scripted = Scripted::serve(script(api, text("script"))?)?;
            model::model(api, &scripted.url(), name, prompt)
        }
    };
    let rounds = flags.get_one("rounds").copied().unwrap_or(8);
    let approval = text("approve").map(|folder| Approval {
        proposals,
        folder: Some(folder).filter(|folder| !folder.is_empty()),
    });
    let mut settings = RunSettings::default();
    settings.max_rounds = rounds;
    let agent = Agent::new(registry, api.dialect(), model).retry(Retry::new(3));
    converse(&agent, settings, &turns, approval.as_ref())
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
fn converse(
    agent: &Agent,
    settings: RunSettings,
    turns: &[&str],
    approval: Option<&Approval<'_>>,
) -> Worked {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut out = Terminal::stdout();
    let mut run = Run::with_settings("desk", settings);
    for (turn, at) in turns.iter().zip(0..) {
        if at > 0 {
            writeln!(out)?;
        }
        writeln!(out, "user: {turn}")?;
        run.push(agent.dialect().user_message(turn))?;
        match runtime.block_on(drive(agent, &mut run))? {
            RunOutcome::Answered(_) => {}
            RunOutcome::OutOfRounds => {
                writeln!(out, "stopped after {} rounds", run.rounds().len())?;
            }
            other => writeln!(out, "stopped: {other:?}")?,
        }
        if let Some(approval) = approval {
            approval.add_approved(agent.registry())?;
        }
    }
    Ok(())
}

/// Runs one turn of the user. Shows text while it arrives, and every result.
async fn drive(agent: &Agent, run: &mut Run) -> Result<RunOutcome, Box<dyn Error>> {
    let mut out = Terminal::stdout();
    let mut events = agent.events(run);
    let mut has_text = false;
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Text(text)) => {
                if !std::mem::replace(&mut has_text, true) {
                    write!(out, "model: ")?;
                }
                write!(out, "{}", indented(&text, 7))?;
                out.flush()?;
            }
            Ok(Event::Response { .. }) if std::mem::take(&mut has_text) => writeln!(out)?,
            Ok(Event::Result(result)) => show(&result)?,
            Ok(Event::Done(outcome)) => return Ok(outcome),
            Ok(_) => {}
            Err(error) => {
                if has_text {
                    writeln!(out)?;
                }
                return Err(error.into());
            }
        }
    }
    Err("the run ended without an outcome".into())
}

fn show(result: &ToolResult) -> io::Result<()> {
    let mut out = Terminal::stdout();
    // An error names the tool itself.
    if !result.is_error() {
        writeln!(out, "  {} done", result.name())?;
    }
    let indent = if result.is_error() { "  " } else { "    " };
    for line in result.content().lines() {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

/// The way in which a person approves proposals.
struct Approval<'f> {
    proposals: Proposals,
    /// The folder of the approved proposal; `None` to ask at the terminal.
    folder: Option<&'f str>,
}

impl Approval<'_> {
    /// Adds the proposed tool if a person approves. Nothing that a model writes can do this.
    fn add_approved(&self, registry: &Registry) -> Worked {
        let mut out = Terminal::stdout();
        for proposal in self.proposals.take() {
            let is_known = proposal.name == celsius_to_fahrenheit::SPEC.name;
            if !is_known || registry.get(&proposal.name).is_some() {
                continue;
            }
            if self.is_approved(&proposal)? {
                registry.add(tools![celsius_to_fahrenheit])?;
                writeln!(out, "operator: added {}", proposal.name)?;
            } else {
                writeln!(out, "operator: did not add {}", proposal.name)?;
            }
        }
        Ok(())
    }

    fn is_approved(&self, proposal: &Proposal) -> io::Result<bool> {
        if let Some(folder) = self.folder {
            return Ok(folder == proposal.folder);
        }
        let question = format!("Add the tool proposed in {}?", proposal.folder);
        let answer = confirm(&question)?;
        if answer.is_none() {
            let mut log = Terminal::stderr();
            writeln!(
                log,
                "desk_agent: standard input is not a terminal, so nobody can approve; use --approve {}",
                proposal.folder
            )?;
        }
        Ok(answer == Some(true))
    }
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
                .value_parser(value_parser!(u32))
                .default_value("8"),
        )
        .arg(
            flag(
                "approve",
                "FOLDER",
                "Ask whether to add a proposed tool, or add the one in this folder",
            )
            .num_args(0..=1)
            .default_missing_value(""),
        )
        .arg(input::log_flag())
        .get_matches();
    input::log(&flags);
    input::end("desk_agent", run(&flags))
}
