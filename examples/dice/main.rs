//! Dice: a nested list of named throws, its schema beside the one that Pydantic makes of the same
//! model, and a grammar that holds.
//!
//! ```text
//! cargo run --example dice
//! cargo run --example dice -- --seed 7 --calls calls.json
//! echo '[{"specs":[{"name":"luck","dice":"1d20"}]}]' | cargo run --example dice -- --calls -
//! cargo run --example dice --features tokens
//! ```
//!
//! The calls are a JSON array of arguments. The feature `tokens` counts the tokens of the schemas,
//! too. With one seed the same calls throw the same dice.

mod dice;
mod tools;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{Arg, Command, value_parser};
use examples::input;
use serde_json::Value;
use tool_core::{Registry, Tool, ToolCall};

use crate::dice::Chance;

/// What Pydantic makes of the same model.
const PYDANTIC: &str = include_str!("pydantic.json");

fn run(seed: u64, source: Option<&str>) -> Result<(), Box<dyn Error>> {
    let text = input::read(source, include_str!("calls.json"))?;
    let calls: Vec<Value> = serde_json::from_str(&text)
        .map_err(|error| format!("these are no arguments of calls: {error}"))?;

    let mut out = io::stdout();
    writeln!(out, "# schema")?;
    let pydantic = serde_json::from_str::<Value>(PYDANTIC)?.to_string();
    let own = tools::roll::SPEC;
    writeln!(out, "pydantic   {}", size(&pydantic))?;
    writeln!(out, "tool-core  {}", size(own.parameters_json()))?;
    writeln!(out, "{}", own.parameters_json())?;

    writeln!(out, "# calls")?;
    let chance = Mutex::new(Chance::seeded(seed));
    let registry = Registry::builder().linked().context(chance).build()?;
    for (arguments, at) in calls.into_iter().zip(1..) {
        writeln!(out, "{arguments}")?;
        let result = registry.call_blocking(ToolCall::new(format!("call_{at}"), "roll", arguments));
        writeln!(out, "  {}", result.content().replace('\n', "\n  "))?;
    }
    Ok(())
}

#[cfg(not(feature = "tokens"))]
fn size(schema: &str) -> String {
    format!("{} bytes", schema.len())
}

/// Tokens as OpenAI's models count them.
#[cfg(feature = "tokens")]
fn size(schema: &str) -> String {
    let tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(schema);
    format!("{} bytes  {} tokens", schema.len(), tokens.len())
}

fn main() -> ExitCode {
    let flags = Command::new("dice")
        .about("Throws dice that a model asks for")
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_name("NUMBER")
                .value_parser(value_parser!(u64))
                .default_value("20")
                .help("Where the throws begin"),
        )
        .arg(
            Arg::new("calls")
                .long("calls")
                .value_name("FILE")
                .help("The arguments of calls; - reads standard input [default: recorded ones]"),
        )
        .get_matches();
    let seed = flags.get_one("seed").copied().unwrap_or_default();
    let source = flags.get_one::<String>("calls").map(String::as_str);
    input::end("dice", run(seed, source))
}
