//! Dice: a nested list of named rolls, with a comparison to the schema that Pydantic generates, and a
//! notation that is checked.
//!
//! ```text
//! cargo run --example dice
//! cargo run --example dice -- --seed 7 --calls calls.json
//! echo '[{"specs":[{"name":"luck","dice":"1d20"}]}]' | cargo run --example dice -- --calls -
//! cargo run --example dice --features tokens
//! cargo run --example dice -- tools call roll --help
//! ```
//!
//! The calls are a JSON array of arguments. With the feature `tokens`, the program also counts the
//! tokens of the schemas. The same seed and calls give the same rolls.

mod dice;
mod tools;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{Arg, ArgAction, Command, value_parser};
use examples::input;
use examples::terminal::{NAME, Terminal, indented};
use serde_json::Value;
use tool_cli::Cli;
use tool_core::{Registry, Tool, ToolCall};

use crate::dice::Rng;

/// The schema that Pydantic generates for the same model.
const PYDANTIC: &str = include_str!("pydantic.json");

fn run(seed: u64, source: Option<&str>, is_schema: bool) -> Result<(), Box<dyn Error>> {
    let text = input::read(source, include_str!("calls.json"))?;
    let calls: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| format!("the calls are not a JSON array: {error}"))?;

    let mut out = Terminal::stdout();
    let spec = tools::roll::SPEC;
    let own = spec.parameters_json();
    if is_schema {
        writeln!(out, "{own}")?;
        return Ok(());
    }
    let pydantic = serde_json::from_str::<Value>(PYDANTIC)?.to_string();
    writeln!(out, "Schema of the tool `roll`:")?;
    writeln!(out, "  tool-core  {}", size(own))?;
    writeln!(out, "  Pydantic   {}", size(&pydantic))?;

    let rng = Mutex::new(Rng::seeded(seed));
    let registry = Registry::builder().linked().context(rng).build()?;
    for (arguments, at) in calls.into_iter().zip(1..) {
        writeln!(out)?;
        out.styled(NAME, "roll")?;
        writeln!(out, " {arguments}")?;
        let result = registry.call_blocking(ToolCall::new(format!("call_{at}"), "roll", arguments));
        writeln!(out, "  {}", indented(result.content(), 2))?;
    }
    Ok(())
}

#[cfg(not(feature = "tokens"))]
fn size(schema: &str) -> String {
    format!("{} bytes", schema.len())
}

/// Also counts the tokens, with OpenAI's encoding.
#[cfg(feature = "tokens")]
fn size(schema: &str) -> String {
    let tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(schema);
    format!("{} bytes  {} tokens", schema.len(), tokens.len())
}

fn main() -> ExitCode {
    let cli = Cli::linked()
        .name("dice tools")
        .context(|| Mutex::new(Rng::seeded(20)));
    let flags = Command::new("dice")
        .about("Runs the dice rolls that a model asks for")
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("NUMBER")
                .value_parser(value_parser!(u64))
                .default_value("20")
                .help("Seed of the random numbers"),
        )
        .arg(
            Arg::new("calls")
                .long("calls")
                .value_name("FILE")
                .help("Arguments of the calls, - for standard input [default: recorded calls]"),
        )
        .arg(
            Arg::new("schema")
                .long("schema")
                .action(ArgAction::SetTrue)
                .help("Print the schema of the tool and exit"),
        )
        .subcommand(cli.command().name("tools"))
        .get_matches();
    if let Some(("tools", flags)) = flags.subcommand() {
        return cli.execute(flags);
    }
    let seed = flags.get_one("seed").copied().unwrap_or_default();
    let source = flags.get_one::<String>("calls").map(String::as_str);
    input::end("dice", run(seed, source, flags.get_flag("schema")))
}
