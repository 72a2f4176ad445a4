//! The whole way once: functions become the tools of a request, a provider's response becomes
//! calls, and the results of the calls become the next messages.
//!
//! ```text
//! cargo run --package examples --example quickstart
//! cargo run --package examples --example quickstart -- --provider anthropic
//! cargo run --package examples --example quickstart -- --json | jq .
//! cargo run --package examples --example quickstart -- --provider gemini --response answer.json
//! cat answer.json | cargo run --package examples --example quickstart -- --response -
//! ```
//!
//! Without `--response`, the program uses a recorded response. `--log` writes the operator's log to
//! standard error; it has the references that the model's error messages carry.

mod screen;
mod tools;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};
use examples::input;
use examples::terminal::Terminal;
use serde::Serialize;
use serde_json::{Value, json};
use tool_core::Registry;
use tool_core::dialect::{Dialect, Rendered};
use tool_dialects::{Anthropic, Gemini, GeminiInteractions, Mcp, OpenAiChat, OpenAiResponses};

/// A provider that the program can be run for.
struct Provider {
    name: &'static str,
    dialect: fn() -> Box<dyn Dialect>,
    /// Name of the list that the follow-up belongs to.
    list: &'static str,
    /// An explanation of how to send the follow-up.
    next: &'static str,
    recorded: &'static str,
}

const PROVIDERS: [Provider; 6] = [
    Provider {
        name: "openai-chat",
        dialect: || Box::new(OpenAiChat::default()),
        list: "messages",
        next: "Append to `messages`",
        recorded: include_str!("recorded/openai-chat.json"),
    },
    Provider {
        name: "openai-responses",
        dialect: || Box::new(OpenAiResponses::default()),
        list: "input",
        next: "Append to `input`",
        recorded: include_str!("recorded/openai-responses.json"),
    },
    Provider {
        name: "anthropic",
        dialect: || Box::new(Anthropic::default()),
        list: "messages",
        next: "Append to `messages`",
        recorded: include_str!("recorded/anthropic.json"),
    },
    Provider {
        name: "gemini",
        dialect: || Box::new(Gemini::default()),
        list: "contents",
        next: "Append to `contents`",
        recorded: include_str!("recorded/gemini.json"),
    },
    Provider {
        name: "gemini-interactions",
        dialect: || Box::new(GeminiInteractions::default()),
        list: "input",
        next: "Append to `input`",
        recorded: include_str!("recorded/gemini-interactions.json"),
    },
    Provider {
        name: "mcp",
        dialect: || Box::new(Mcp::default()),
        list: "responses",
        next: "Send back",
        recorded: include_str!("recorded/mcp.json"),
    },
];

/// The part of a request that this library writes. A struct keeps the schemas in their order, where
/// a `serde_json::Value` would sort their keys.
#[derive(Serialize)]
struct Request<'a> {
    tools: &'a Rendered,
}

#[derive(Serialize)]
struct Whole<'a> {
    request: Request<'a>,
    follow_up: Value,
}

fn run(provider: &Provider, source: Option<&str>, is_json: bool) -> Result<(), Box<dyn Error>> {
    let text = input::read(source, provider.recorded)?;
    let response: Value = serde_json::from_str(&text)
        .map_err(|error| format!("the response is not JSON: {error}"))?;
    let dialect = (provider.dialect)();

    // 1. The tools of the request.
    let registry = Registry::linked()?.expect([
        "find_trains",
        "list_stations",
        "reserve_seats",
        "train_status",
    ])?;
    let tools = registry.render(&dialect);

    // 2. The calls in the response, and one result for each.
    let turn = dialect.read(&response)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let results = runtime.block_on(registry.call_all(turn.calls.clone()));

    // 3. What goes back: the model's turn, unchanged, and the results.
    let follow_up = dialect.follow_up(&turn, &results);

    let mut out = Terminal::stdout();
    if is_json {
        let whole = Whole {
            request: Request { tools: &tools },
            follow_up: json!({ provider.list: follow_up }),
        };
        writeln!(out, "{}", serde_json::to_string(&whole)?)?;
        return Ok(());
    }
    screen::tools(&mut out, provider.name, &registry, &dialect)?;
    screen::calls(&mut out, &turn.text, &turn.calls, &results)?;
    let turn = turn.messages.len();
    screen::next(&mut out, provider.next, turn, follow_up.len() - turn)?;
    Ok(())
}

fn main() -> ExitCode {
    let names = PROVIDERS.each_ref().map(|provider| provider.name);
    let flags = Command::new("quickstart")
        .about("Runs the tool calls of a recorded response and shows what goes back to the model")
        .arg(
            Arg::new("provider")
                .long("provider")
                .value_name("NAME")
                .value_parser(PossibleValuesParser::new(names))
                .default_value("openai-responses")
                .hide_possible_values(true)
                .hide_default_value(true)
                .help(
                    "Formats to use: openai-chat, openai-responses (default),\n\
                     anthropic, gemini, gemini-interactions or mcp",
                ),
        )
        .arg(
            Arg::new("response")
                .long("response")
                .value_name("FILE")
                .help("Response of the provider, - for standard input\n[default: a recorded response]"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Print the whole request and follow-up as JSON"),
        )
        .arg(input::log_flag())
        .get_matches();
    input::log(&flags);
    let chosen = flags.get_one::<String>("provider");
    let provider = PROVIDERS
        .iter()
        .find(|provider| Some(provider.name) == chosen.map(|name| &**name))
        .expect("clap only accepts the names of providers");
    let source = flags.get_one::<String>("response").map(String::as_str);
    input::end("quickstart", run(provider, source, flags.get_flag("json")))
}
