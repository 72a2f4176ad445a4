//! `import`: writes the file of a server's tools, of which `tool_mcp::client!` makes functions.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use tool_core::{Registry, files};
use tool_docs::lock::{Lock, compare};
use tool_mcp::{Import, ImportBuilder, ImportErrorKind};

use crate::check::counted;
use crate::failure::Failure;
use crate::output;
use crate::registry::runtime;
use crate::terminal::{GOOD, Terminal};

pub(crate) fn command() -> Command {
    Command::new("import")
        .about("Writes the tools of an MCP server to a file, and shows what has changed")
        .after_help(
            "The file is for `tool_mcp::client!` and `ImportBuilder::pin`. With --check, the exit code is 1 if the file is \
             missing or differs.",
        )
        .arg(
            Arg::new("pin")
                .long("pin")
                .value_name("FILE")
                .required(true)
                .value_hint(ValueHint::FilePath)
                .value_parser(value_parser!(PathBuf))
                .help("The file, such as github.tools.json"),
        )
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Compare, and write nothing"),
        )
        .arg(
            Arg::new("url")
                .long("url")
                .value_name("URL")
                .help("The server at this URL"),
        )
        .arg(
            Arg::new("bearer")
                .long("bearer")
                .value_name("VARIABLE")
                .requires("url")
                .help("Send the token in this environment variable"),
        )
        .arg(
            Arg::new("env")
                .long("env")
                .value_name("VARIABLE")
                .action(ArgAction::Append)
                .conflicts_with("url")
                .help("Pass this environment variable on to the command"),
        )
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(1..)
                .last(true)
                .required_unless_present("url")
                .conflicts_with("url")
                .help("The command that starts the server, and its arguments"),
        )
}

pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some(path) = matches.get_one::<PathBuf>("pin") else {
        return Err(Failure::wrong("--pin is missing"));
    };
    let is_check = matches.get_flag("check");
    // Before the server is started.
    let old = read(path)?;
    let new = runtime(1)?.block_on(list(server(matches)?, matches.contains_id("url")))?;
    let new_lock = lock(path, &new)?;
    let tools = new.matches("\n      \"name\": ").count();
    let mut out = Terminal::stdout();
    let shown = path.display();
    let changes = match &old {
        None if is_check => {
            return Err(Failure::failed(format!(
                "{shown} does not exist; `import --pin {shown}` without --check writes it"
            )));
        }
        None => String::new(),
        Some((text, _)) if *text == new => {
            out.styled(GOOD, "ok")?;
            writeln!(
                out,
                ": {shown} has the {} of the server",
                counted(tools, "tool")
            )?;
            return Ok(());
        }
        Some((_, old)) => format!(": {}", compare(old, &new_lock)),
    };
    if is_check {
        return Err(Failure::failed(format!(
            "the server differs from {shown}{changes}\nWithout --check, this command writes the file."
        )));
    }
    output::save(path, &new)?;
    writeln!(out, "{shown} has {} now{changes}", counted(tools, "tool"))?;
    Ok(())
}

/// Reads the file, which is not overwritten if it is another.
fn read(path: &Path) -> Result<Option<(String, Lock)>, Failure> {
    let text = files::read(path)
        .map_err(|error| Failure::failed(format!("can't read {}: {error}", path.display())))?;
    let Some(text) = text else {
        return Ok(None);
    };
    let lock = lock(path, &text)?;
    Ok(Some((text, lock)))
}

fn lock(path: &Path, list: &str) -> Result<Lock, Failure> {
    Lock::of_mcp(list).map_err(|_| {
        Failure::failed(format!(
            "{} is not a list of tools, and stays as it is; choose another file",
            path.display()
        ))
    })
}

fn server(matches: &ArgMatches) -> Result<ImportBuilder, Failure> {
    let variable = |name: &String| {
        std::env::var(name).map_err(|error| Failure::wrong(format!("the variable {name}: {error}")))
    };
    if let Some(url) = matches.get_one::<String>("url") {
        let import = Import::http(url);
        return Ok(match matches.get_one("bearer") {
            Some(name) => import.bearer(variable(name)?),
            None => import,
        });
    }
    let mut words = matches.get_many::<String>("command").into_iter().flatten();
    let mut command = process::Command::new(words.next().map_or("", |program| program));
    command.args(words);
    let mut import = Import::command(command);
    for name in matches.get_many::<String>("env").into_iter().flatten() {
        import = import.env(name, variable(name)?);
    }
    Ok(import)
}

async fn list(server: ImportBuilder, has_url: bool) -> Result<String, Failure> {
    let import = server.connect(&Registry::new()).await.map_err(|error| {
        // A URL that can't be used is a wrong flag.
        if has_url && error.kind() == ImportErrorKind::Start {
            Failure::wrong(error)
        } else {
            Failure::failed(error)
        }
    })?;
    let list = import.pins().await.map_err(Failure::failed);
    import.close().await;
    list
}
