//! A toolkit and its catalogue: a calculator, database queries and an echo, with instructions, checks
//! and documentation from one source.
//!
//! ```text
//! cargo run --example toolkit_docs --features toolkit_docs
//! cargo run --example toolkit_docs --features toolkit_docs -- --catalogue target/docs
//! echo '[{"tool":"echo","arguments":{"text":"hello"}}]' | \
//!     cargo run --example toolkit_docs --features toolkit_docs -- --calls - --database my.sqlite
//! ```
//!
//! `--catalogue` writes `TOOLS.md` and `tools.html`. A test checks that those next to this file are
//! up to date.

mod database;
mod tools;

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, Command};
use examples::input;
use examples::terminal::{NAME, Terminal, indented};
use serde::Deserialize;
use serde_json::Value;
use tool_cli::Cli;
use tool_core::{Registry, ToolCall};
use tool_docs::Docs;

use crate::database::Database;
use crate::tools::Toolkit;

/// A call in the input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Value,
}

fn run(
    calls: Option<&str>,
    database: Option<&str>,
    catalogue: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let text = input::read(calls, include_str!("calls.json"))?;
    let calls: Vec<Call> =
        serde_json::from_str(&text).map_err(|error| format!("the calls are not valid: {error}"))?;
    let opened = Database::open(database.map(Path::new));
    let database = opened
        .map_err(|error| format!("can't open {}: {error}", database.unwrap_or("the library")))?;
    let registry = Registry::builder()
        .toolset("", Toolkit { database })
        .output_cap(20_000)
        .build()?;

    let mut out = Terminal::stdout();
    if let Some(folder) = catalogue {
        let docs = Docs::new(&registry).title("Toolkit");
        for name in ["TOOLS.md", "tools.html"] {
            let path = Path::new(folder).join(name);
            docs.write(&path)
                .map_err(|error| format!("can't write {}: {error}", path.display()))?;
            writeln!(out, "wrote {}", path.display())?;
        }
        return Ok(());
    }

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    for (Call { tool, arguments }, at) in calls.into_iter().zip(1..) {
        if at > 1 {
            writeln!(out)?;
        }
        out.styled(NAME, &tool)?;
        writeln!(out, " {arguments}")?;
        let call = ToolCall::new(format!("call_{at}"), tool, arguments);
        let result = runtime.block_on(registry.call(call));
        writeln!(out, "  {}", indented(result.content(), 2))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let cli = Cli::new(|| {
        let database = Database::open(None).expect("the library is in memory");
        Registry::builder().toolset("", Toolkit { database })
    });
    let cli = cli.name("toolkit_docs tools");
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let flags = Command::new("toolkit_docs")
        .about("Runs calls of a toolkit, or writes its catalogue")
        .arg(flag(
            "calls",
            "FILE",
            "The calls, - for standard input [default: recorded calls]",
        ))
        .arg(flag(
            "database",
            "FILE",
            "SQLite file [default: a small library]",
        ))
        .arg(
            flag(
                "catalogue",
                "FOLDER",
                "Write TOOLS.md and tools.html to this folder and exit",
            )
            .conflicts_with("calls"),
        )
        .arg(input::log_flag())
        .subcommand(cli.command().name("tools"))
        .get_matches();
    input::log(&flags);
    if let Some(("tools", flags)) = flags.subcommand() {
        return cli.execute(flags);
    }
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let ended = run(text("calls"), text("database"), text("catalogue"));
    input::end("toolkit_docs", ended)
}
