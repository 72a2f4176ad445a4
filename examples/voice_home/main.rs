//! A voice assistant for a home: scores how well models turn spoken commands into calls.
//!
//! ```text
//! cargo run --example voice_home --features voice_home
//! cargo run --example voice_home --features voice_home -- eval --url http://localhost:11434/v1 --model qwen3
//! cargo run --example voice_home --features voice_home -- ways ollama http://localhost:11434/v1 qwen3
//! cargo run --example voice_home --features voice_home -- corrections ollama http://localhost:11434/v1 qwen3
//! cargo run --example voice_home --features voice_home -- call HassTurnOn --area kitchen
//! ```
//!
//! The commands are the cases of `tools.eval.toml`, and two models are recorded.
//! `ways` asks a model of a server with the server's tools, with the tools in the prompt, and with the schema of a call.
//! `corrections` counts how often it corrects a rejected call.

mod corrections;
mod tools;
mod ways;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use tool_agent::dialects::server;
use tool_cli::Cli;
use tool_cli::terminal::Terminal;

fn main() -> ExitCode {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/voice_home/tools.eval.toml");
    let mut cli = Cli::linked().name("voice_home").eval_file(cases);
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.len() < 2 {
        words.push("eval".into());
    }
    if words[1] == "ways" || words[1] == "corrections" {
        let given: Vec<_> = words
            .drain(1..)
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let [command, name, url, model, flags @ ..] = &given[..] else {
            return wrong(format_args!(
                "`{}` needs the name of a server, its URL and a model",
                given[0]
            ));
        };
        let server = match server::find(name) {
            Ok(server) => server,
            Err(error) => return wrong(error),
        };
        if command == "corrections" {
            if let Some(flag) = flags.first() {
                return wrong(format_args!("`corrections` has no `{flag}`"));
            }
            return match corrections::table(&server, url, model) {
                Ok(table) => print(&table),
                Err(error) => failed(error),
            };
        }
        let (with_ways, names) = ways::add(cli, &server, url, model);
        cli = with_ways;
        words.push("eval".into());
        let names = names
            .into_iter()
            .map(|name| format!("--model={name}").into());
        words.extend(names);
        words.extend(flags.iter().map(Into::into));
    }
    let matches = cli.command().get_matches_from(words);
    cli.execute(&matches)
}

/// Reports a wrong command line.
fn wrong(error: impl Display) -> ExitCode {
    report(error);
    ExitCode::from(2)
}

fn failed(error: impl Display) -> ExitCode {
    report(error);
    ExitCode::FAILURE
}

fn report(error: impl Display) {
    // If nobody can read the error, there is still the exit code.
    let _ = writeln!(Terminal::stderr(), "error: {error}");
}

fn print(text: &str) -> ExitCode {
    match write!(Terminal::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
