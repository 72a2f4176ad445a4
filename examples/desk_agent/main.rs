//! An agent at a desk: it reads and writes files in one folder, changes its system prompt, writes tools in Python that
//! a person approves, and asks helpers, in a loop around a model that it asks over HTTP.
//!
//! ```text
//! cargo run --example desk_agent --features desk_agent
//! cargo run --example desk_agent --features desk_agent -- --api chat --unattended
//! echo "What is on my desk?" | cargo run --example desk_agent --features desk_agent -- \
//!     --task - --desk ~/desk --tools ~/desk-tools --url https://api.openai.com/v1 --model gpt-5.2
//! cargo run --example desk_agent --features desk_agent -- --desk ~/desk tools call read_file --path plan.md
//! ```
//!
//! A tool that the model has written waits until the person at the terminal has seen its code, its tests and their
//! report. Without a terminal nobody is asked: then `--approve` names the hash that an earlier run has printed.
//!
//! Without `--url`, a local server answers with recorded responses, or with the responses in `--script`. With
//! `--url`, the key comes from the variable `OPENAI_API_KEY`. Each line of a task is a turn of the user.

mod desk;
mod helpers;
mod model;
mod operator;
mod python;
mod screen;
mod session;
mod stub;
mod tools;

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use examples::folder::Temporary;
use examples::input;
use examples::provider::Scripted;
use serde_json::Value;
use tool_agent::Agent;
use tool_agent::model::{HttpModel, Retry};
use tool_agent::run::RunSettings;
use tool_cli::Cli;
use tool_core::Registry;
use tool_mcp::submodel;
use tool_python::Sandbox;

use crate::desk::Desk;
use crate::helpers::Helpers;
use crate::model::Api;
use crate::operator::{Approval, Operator};
use crate::tools::SystemPrompt;

const TASK: &str = include_str!("task.txt");

/// The variable with the provider's key.
const KEY: &str = "OPENAI_API_KEY";

const PROMPT: &str = "You work at a desk. Keep what matters in memory.md.";

/// The files of the default desk.
const FILES: [(&str, &str); 3] = [
    ("plan.md", include_str!("desk/plan.md")),
    ("memory.md", include_str!("desk/memory.md")),
    ("sales.csv", include_str!("desk/sales.csv")),
];

async fn run(flags: &ArgMatches) -> Result<(), Box<dyn Error>> {
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let api = match text("api") {
        Some("chat") => Api::Chat,
        _ => Api::Responses,
    };
    let (url, model) = (text("url"), text("model").unwrap_or_default());
    let helpers = |desk| Helpers {
        api,
        url,
        model,
        desk,
    };
    if submodel::is_helper() {
        let desk = Path::new(text("desk").unwrap_or("."));
        return helpers(desk).serve().await;
    }

    let task = input::read(text("task"), TASK)?;
    let turns: Vec<_> = task
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if turns.is_empty() {
        return Err("the task is empty".into());
    }
    let script = script(api, text("script"))?;
    let prompt = SystemPrompt::new(PROMPT);
    let model = connect(api, url, script, model, prompt.clone())?;
    let temporary = Temporary::new()?;
    let folder = desk_of(flags, &temporary)?;
    let desk = Desk::open(&folder)?;
    let operator = Operator {
        approval: match text("approve") {
            _ if flags.get_flag("unattended") => Approval::Unattended,
            Some(hash) => Approval::Hash(hash.to_owned()),
            None if io::stdin().is_terminal() => Approval::Ask,
            None => Approval::Nobody,
        },
        name: text("user").unwrap_or_default().to_owned(),
    };

    let mut registry = Registry::builder()
        .linked()
        .toolset("", helpers(&folder).tools()?)
        .context(desk.clone())
        .context(prompt.clone())
        .output_cap(40_000);
    let mut workshop = None;
    match python::sandbox(text("python"), Sandbox::probe()) {
        Ok(sandbox) => {
            say_what_runs(&sandbox, &operator)?;
            let store = text("tools").map_or(temporary.path().join("tools"), PathBuf::from);
            let opened = operator.workshop(&sandbox, &store)?;
            registry = registry
                .tools(opened.tools())
                .before(opened.gate())
                .tool(python::run_code(&sandbox, desk)?);
            workshop = Some(opened);
        }
        Err(error) => {
            screen::lines(
                0,
                &format!("No Python here, so no new tools and no analyses: {error}"),
            )?;
        }
    }
    let registry = registry.build()?;
    if let Some(workshop) = &workshop {
        operator::load(workshop, &registry)?;
    }

    let mut settings = RunSettings::default();
    settings.max_rounds = flags.get_one("rounds").copied().unwrap_or(8);
    let agent = Agent::new(registry, api.dialect(), model).retry(Retry::new(3));
    session::converse(&agent, settings, &turns, &operator).await
}

/// Returns the model of the provider with this URL, or one that answers from a script. Refuses settings with which
/// every request would fail.
fn connect(
    api: Api,
    url: Option<&str>,
    script: Vec<Value>,
    name: &str,
    prompt: SystemPrompt,
) -> Result<HttpModel, Box<dyn Error>> {
    let model = match url {
        Some(url) => model::model(api, url, name, prompt).key_from_env(KEY),
        None => model::model(api, &Scripted::serve(script)?.url(), name, prompt),
    };
    model.check()?;
    Ok(model)
}

/// Returns the folder of `--desk`, or a desk with some files.
fn desk_of(flags: &ArgMatches, temporary: &Temporary) -> io::Result<PathBuf> {
    match flags.get_one::<String>("desk") {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => default_desk(temporary.path()),
    }
}

/// Runs a subcommand of `tools`, such as `list`, with the tools of the desk.
fn try_tools(
    cli: Cli,
    flags: &ArgMatches,
    command: &ArgMatches,
) -> Result<ExitCode, Box<dyn Error>> {
    let temporary = Temporary::new()?;
    let folder = desk_of(flags, &temporary)?;
    let cli = cli.context(|| SystemPrompt::new(PROMPT));
    let open = move || Desk::open(&folder).map_err(|error| error.to_string());
    Ok(cli.try_context(open).execute(command))
}

/// Creates a desk with some files.
fn default_desk(parent: &Path) -> io::Result<PathBuf> {
    let folder = parent.join("desk");
    fs::create_dir(&folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}

/// Says what Python there is, and who approves.
fn say_what_runs(sandbox: &Sandbox, operator: &Operator) -> io::Result<()> {
    let numpy = match python::numpy(sandbox) {
        Some(version) => format!("with numpy {version}"),
        None => "without numpy".to_owned(),
    };
    let version = sandbox.version();
    screen::lines(0, &format!("Python {version} in a sandbox, {numpy}."))?;
    screen::lines(0, &operator.approval.to_string())
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

fn main() -> ExitCode {
    let cli = Cli::linked().name("desk_agent tools");
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flags = Command::new("desk_agent")
        .about("An agent that works in a folder, writes tools in Python and asks helpers")
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
        .arg(flag(
            "tools",
            "FOLDER",
            "Folder that keeps approved tools [default: a temporary folder]",
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
        .arg(flag(
            "python",
            "FILE",
            "Python interpreter [default: python3 of the PATH or of the system]",
        ))
        .arg(
            flag(
                "approve",
                "HASH",
                "Approve the tool with this hash, and ask nobody",
            )
            .value_parser(operator::hash),
        )
        .arg(
            Arg::new("unattended")
                .long("unattended")
                .action(ArgAction::SetTrue)
                .conflicts_with("approve")
                .help("Approve nothing, and ask nobody"),
        )
        .arg(flag("user", "NAME", "Who approves, for the records").default_value("operator"))
        .arg(input::log_flag())
        .subcommand(cli.command().name("tools"))
        .get_matches();
    input::log(&flags);
    if let Some(("tools", command)) = flags.subcommand() {
        return try_tools(cli, &flags, command)
            .unwrap_or_else(|error| input::end("desk_agent", Err(error)));
    }
    // Several threads, so that connections to helpers live on while a person thinks.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(run(&flags)),
        Err(error) => Err(error.into()),
    };
    input::end("desk_agent", ended)
}
