//! A voice assistant for a home: scores how well a model turns spoken commands into calls.
//!
//! ```text
//! cargo run --example voice_home
//! cargo run --example voice_home -- --turns turns.json
//! cargo run --example voice_home -- tools list
//! cat turns.json | cargo run --example voice_home -- --provider anthropic --turns -
//! ```
//!
//! The turns are a JSON array of objects with `said`, the `expected` calls, and the provider's
//! `response`. Without `--turns`, the program uses recorded chat completions of OpenAI.

mod score;
mod tools;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use examples::input;
use examples::terminal::{BAD, GOOD, NAME, Terminal, indented};
use tool_cli::Cli;
use tool_core::Registry;
use tool_core::dialect::{Anthropic, Dialect, Gemini, OpenAiChat, OpenAiResponses};
use tool_core::schema::Property;

use crate::score::{Turn, Verdict, score};

const PROVIDERS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

fn dialect(provider: &str) -> Box<dyn Dialect> {
    match provider {
        "openai-responses" => Box::new(OpenAiResponses::default()),
        "anthropic" => Box::new(Anthropic::default()),
        "gemini" => Box::new(Gemini::default()),
        _ => Box::new(OpenAiChat::default()),
    }
}

fn run(provider: &str, source: Option<&str>) -> Result<(), Box<dyn Error>> {
    let text = input::read(source, include_str!("recorded/turns.json"))?;
    let turns: Vec<Turn> =
        serde_json::from_str(&text).map_err(|error| format!("the turns are not valid: {error}"))?;
    let registry = Registry::linked()?;
    let dialect = dialect(provider);

    let mut out = Terminal::stdout();
    writeln!(out, "{} tools:", registry.len())?;
    for tool in registry.specs() {
        let parameters = tool.parameters().properties().iter();
        let names: Vec<_> = parameters.map(Property::name).collect();
        writeln!(out, "  {}({})", tool.name, names.join(", "))?;
    }

    writeln!(out, "\n{} turns:", turns.len())?;
    let (mut correct, mut wrong, mut no_call) = (0, 0, 0);
    for (turn, at) in turns.iter().zip(1..) {
        let verdict = score(turn, &registry, &*dialect).map_err(|e| format!("turn {at}: {e}"))?;
        let style = match verdict {
            Verdict::Correct => GOOD,
            Verdict::Wrong(_) => BAD,
            Verdict::NoCall => NAME,
        };
        write!(out, "  ")?;
        out.styled(style, &format!("{verdict:<7}"))?;
        writeln!(out, "  {}", turn.said)?;
        match verdict {
            Verdict::Correct => correct += 1,
            Verdict::Wrong(reason) => {
                writeln!(out, "           {}", indented(&reason, 11))?;
                wrong += 1;
            }
            Verdict::NoCall => no_call += 1,
        }
    }
    writeln!(
        out,
        "\nScore: {correct} correct, {wrong} wrong, {no_call} without a call"
    )?;
    Ok(())
}

fn main() -> ExitCode {
    let cli = Cli::linked().name("voice_home tools");
    let flags = Command::new("voice_home")
        .about("Scores how well a model turns spoken commands into calls")
        .arg(
            Arg::new("provider")
                .long("provider")
                .value_name("NAME")
                .value_parser(PossibleValuesParser::new(PROVIDERS))
                .default_value("openai-chat")
                .hide_possible_values(true)
                .hide_default_value(true)
                .help(
                    "Format of the responses: openai-chat (default),\n\
                     openai-responses, anthropic or gemini",
                ),
        )
        .arg(
            Arg::new("turns")
                .long("turns")
                .value_name("FILE")
                .help("The turns, - for standard input [default: recorded turns]"),
        )
        .subcommand(cli.command().name("tools"))
        .get_matches();
    if let Some(("tools", flags)) = flags.subcommand() {
        return cli.execute(flags);
    }
    let provider = flags.get_one::<String>("provider").map_or("", |name| name);
    let source = flags.get_one::<String>("turns").map(String::as_str);
    input::end("voice_home", run(provider, source))
}
