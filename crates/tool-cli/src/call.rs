//! `call`: makes a call like a model, and shows its result.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use serde_json::{Value, json};
use tool_core::call::CancellationToken;
use tool_core::hooks::{Decision, Hold};
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult};

use crate::check::counted;
use crate::cli::Cli;
use crate::failure::{Failure, in_words};
use crate::progress::ProgressLine;
use crate::registry::{find, inspected, runtime};
use crate::terminal::{Terminal, confirm, indented};
use crate::{example, flags, output, questions};

/// Maximum number of decisions on a call, because hooks could hold it again after each.
const HOLDS: usize = 16;

/// One thread runs the call, and one waits for Ctrl-C.
const THREADS: usize = 2;

pub(crate) fn command() -> Command {
    Command::new("call")
        .about("Calls a tool; `call NAME --help` shows its flags")
        .override_usage("call [--out FOLDER] NAME [FLAGS]\n       call --jsonl")
        .arg(
            Arg::new("jsonl")
                .long("jsonl")
                .action(ArgAction::SetTrue)
                .help("Make the calls on standard input: lines such as {\"name\": …, \"arguments\": {…}}"),
        )
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FOLDER")
                .value_hint(ValueHint::DirPath)
                .value_parser(value_parser!(PathBuf))
                .default_value(".")
                .help("Where pictures and files of results are saved"),
        )
        .allow_external_subcommands(true)
        .subcommand_value_name("NAME")
        .arg_required_else_help(true)
}

pub(crate) fn run(cli: Cli, builder: RegistryBuilder, matches: &ArgMatches) -> Result<(), Failure> {
    let folder = matches
        .get_one::<PathBuf>("out")
        .cloned()
        .unwrap_or_default();
    let saved = output::Saved::to(folder);
    if matches.get_flag("jsonl") {
        if let Some((name, _)) = matches.subcommand() {
            let message =
                format!("--jsonl reads the names of tools from standard input; remove `{name}`");
            return Err(Failure::Wrong(message));
        }
        let registry = cli.registry(builder)?;
        return lines(&registry, &saved);
    }
    let Some((name, given)) = matches.subcommand() else {
        return Err(Failure::wrong(
            "name a tool to call, such as `call NAME`; `list` shows them",
        ));
    };
    // Finds wrong flags before the context values are created.
    let tool = find(&inspected(builder.clone())?, name)?;
    let flags = flags::of(&tool);
    let given = given
        .get_many::<OsString>("")
        .into_iter()
        .flatten()
        .cloned();
    let name = std::iter::once(OsString::from(&*tool.name));
    let program = cli.program();
    let command = flags::command(&tool, &flags)
        .bin_name(format!("{program} call {}", tool.name))
        .after_help(example::after_help(&tool, &flags, &program));
    let arguments = match command.try_get_matches_from(name.chain(given)) {
        Ok(matches) => flags::arguments(&tool, &flags, &matches)?,
        Err(error) => error.exit(),
    };
    let call = ToolCall::new("call", &*tool.name, arguments);
    let registry = cli.registry(builder)?;
    let runtime = runtime(THREADS)?;
    let result = runtime.block_on(decided(&registry, call));
    drop(runtime);
    if std::io::stdout().is_terminal() {
        output::people(&result, &saved)?;
    } else {
        writeln!(std::io::stdout(), "{}", output::json(&result, &saved)?)?;
    }
    match result.error() {
        None => Ok(()),
        Some(error) => {
            let violations = error.violations().iter();
            let message = match error.kind() {
                ToolErrorKind::InvalidArguments if !error.violations().is_empty() => {
                    let lines = violations
                        .map(|v| format!("\n  {}", indented(&flags::violation(&flags, v), 4)));
                    let head = format!("the arguments of {} are wrong", tool.name);
                    lines.fold(head, |all, line| all + &line)
                }
                _ => in_words(error),
            };
            Err(failure(error.kind(), message))
        }
    }
}

fn failure(kind: ToolErrorKind, message: String) -> Failure {
    match kind {
        ToolErrorKind::InvalidArguments
        | ToolErrorKind::MalformedJson
        | ToolErrorKind::UnknownTool => Failure::Wrong(message),
        ToolErrorKind::Cancelled => Failure::Cancelled(message),
        _ => Failure::Failed(message),
    }
}

/// Makes a call. If hooks hold it, asks the person at the terminal.
async fn decided(registry: &Registry, call: ToolCall) -> ToolResult {
    let mut call = call;
    let mut result = cancellable(registry, call.clone()).await;
    for _ in 0..HOLDS {
        let Some(hold) = result.error().and_then(|error| error.hold()).cloned() else {
            break;
        };
        let Some(decision) = decide(&hold) else {
            break;
        };
        call = call.decided(hold, decision);
        result = cancellable(registry, call.clone()).await;
    }
    result
}

/// Asks for a decision. Returns `None` if there is nobody to ask.
fn decide(hold: &Hold) -> Option<Decision> {
    let mut out = Terminal::stderr();
    let _ = writeln!(out, "{} wants to run:", hold.tool());
    let _ = writeln!(out, "  {}", indented(hold.arguments(), 4));
    let _ = writeln!(out, "  because: {}", indented(hold.reason(), 4));
    drop(out);
    match confirm("Run it?") {
        Ok(Some(true)) => Some(Decision::Allow),
        Ok(Some(false)) => Some(Decision::deny("the person at the terminal said no")),
        Ok(None) | Err(_) => None,
    }
}

/// Makes a call. The first Ctrl-C cancels it, the second ends the program.
async fn cancellable(registry: &Registry, call: ToolCall) -> ToolResult {
    let token = CancellationToken::new();
    let progress = ProgressLine::default();
    let call = questions::of(progress.of(call.cancel_with(&token)), &progress);
    let running = tokio::spawn(registry.call(call.clone()));
    let interrupts = tokio::spawn(cancel_when_interrupted(token));
    let ended = running.await;
    interrupts.abort();
    progress.clear();
    ended.unwrap_or_else(|_| {
        let error = tool_core::ToolError::interrupted(&call.name);
        registry.fail(call, error)
    })
}

#[cfg(not(target_family = "wasm"))]
async fn cancel_when_interrupted(token: CancellationToken) {
    while tokio::signal::ctrl_c().await.is_ok() {
        if token.is_cancelled() {
            std::process::exit(130);
        }
        token.cancel();
    }
}

/// WebAssembly has no signals.
#[cfg(target_family = "wasm")]
async fn cancel_when_interrupted(_: CancellationToken) {}

/// Makes the calls that are lines on standard input, one after the other, and writes one line for each.
fn lines(registry: &Registry, saved: &output::Saved) -> Result<(), Failure> {
    let runtime = runtime(THREADS)?;
    let (mut wrong, mut failed) = (0_usize, 0_usize);
    for (line, number) in std::io::stdin().lock().lines().zip(1..) {
        let line = line
            .map_err(|error| Failure::wrong(format!("standard input, line {number}: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let written = match parse(&line) {
            Err(error) => {
                wrong += 1;
                json!({"error": {"kind": "malformed_line", "message": format!("line {number}: {error}")}})
            }
            Ok(call) => {
                let result = runtime.block_on(cancellable(registry, call));
                match result
                    .error()
                    .map(|error| failure(error.kind(), String::new()))
                {
                    None => {}
                    Some(Failure::Wrong(_)) => wrong += 1,
                    Some(Failure::Cancelled(_)) => return Err(Failure::Cancelled(String::new())),
                    Some(_) => failed += 1,
                }
                let value = output::json(&result, saved)?;
                if result.is_error() {
                    value
                } else {
                    json!({"result": value})
                }
            }
        };
        writeln!(std::io::stdout(), "{written}")?;
    }
    match (wrong, failed) {
        (0, 0) => Ok(()),
        (0, failed) => Err(Failure::failed(format!(
            "{} failed",
            counted(failed, "call")
        ))),
        (wrong, failed) => Err(Failure::wrong(format!(
            "wrong: {}; failed: {}",
            counted(wrong, "call"),
            counted(failed, "call")
        ))),
    }
}

fn parse(line: &str) -> Result<ToolCall, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?;
    let Some(name) = value["name"].as_str() else {
        return Err("expected an object with the key `name`, a string".into());
    };
    let id = value["id"].as_str().unwrap_or("call");
    let arguments = match &value["arguments"] {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(ToolCall::new(id, name, arguments))
}
