//! The whole way once: functions become a request's tools, a provider's response becomes calls,
//! and their results become the next messages.
//!
//! ```text
//! cargo run --example quickstart
//! cargo run --example quickstart -- --provider anthropic
//! cargo run --example quickstart -- --provider gemini --response answer.json
//! cat answer.json | cargo run --example quickstart -- --response -
//! ```
//!
//! Without `--response` it takes a recorded one. What an operator would log goes to standard
//! error, with the references that the model's error messages carry.

mod tools;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use examples::input;
use serde_json::{Value, json};
use tool_core::dialect::{Anthropic, Dialect, Gemini, Mcp, OpenAiChat, OpenAiResponses};
use tool_core::{Registry, ToolCall};

type Ended = Result<(), Box<dyn Error>>;

/// What this program knows of a provider.
struct Provider {
    name: &'static str,
    /// What the follow-up belongs to: a field of the next request, or what a server sends.
    conversation: &'static str,
    recorded: &'static str,
    run: fn(&Provider, &Value) -> Ended,
}

const PROVIDERS: [Provider; 5] = [
    Provider {
        name: "openai-chat",
        conversation: "messages",
        recorded: include_str!("recorded/openai-chat.json"),
        run: |provider, response| provider.run(&OpenAiChat::default(), response),
    },
    Provider {
        name: "openai-responses",
        conversation: "input",
        recorded: include_str!("recorded/openai-responses.json"),
        run: |provider, response| provider.run(&OpenAiResponses::default(), response),
    },
    Provider {
        name: "anthropic",
        conversation: "messages",
        recorded: include_str!("recorded/anthropic.json"),
        run: |provider, response| provider.run(&Anthropic::default(), response),
    },
    Provider {
        name: "gemini",
        conversation: "contents",
        recorded: include_str!("recorded/gemini.json"),
        run: |provider, response| provider.run(&Gemini::default(), response),
    },
    Provider {
        name: "mcp",
        conversation: "responses",
        recorded: include_str!("recorded/mcp.json"),
        run: |provider, response| provider.run(&Mcp::default(), response),
    },
];

impl Provider {
    fn run(&self, dialect: &impl Dialect, response: &Value) -> Ended {
        let registry = Registry::linked()?.expect([
            "find_trains",
            "list_stations",
            "reserve_seats",
            "train_status",
        ])?;
        let mut out = io::stdout();
        // The text goes onto the wire as it is: a `Value` would sort the keys of the schemas.
        writeln!(out, "# request\n{{\"tools\":{}}}", registry.render(dialect))?;

        let calls = dialect.calls(response)?;
        for ToolCall { id, name, .. } in &calls {
            writeln!(out, "call {id}: {name}")?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()?;
        let results = runtime.block_on(registry.call_all(calls));
        for result in &results {
            let verdict = if result.is_error() { "failed" } else { "done" };
            writeln!(out, "result {}: {verdict}", result.call_id())?;
        }

        let messages = json!({ self.conversation: dialect.follow_up(response, &results) });
        writeln!(
            out,
            "# follow-up\n{}",
            serde_json::to_string_pretty(&messages)?
        )?;
        Ok(())
    }
}

/// The response to work on: a file, standard input (`-`), or the recorded one.
fn response(source: Option<&str>, recorded: &str) -> Result<Value, Box<dyn Error>> {
    let text = input::read(source, recorded)?;
    serde_json::from_str(&text).map_err(|error| format!("the response is not JSON: {error}").into())
}

fn main() -> ExitCode {
    let names = PROVIDERS.each_ref().map(|provider| provider.name);
    let flags = Command::new("quickstart")
        .about("Runs a model's recorded tool calls and prints what goes back to it")
        .arg(
            Arg::new("provider")
                .long("provider")
                .value_parser(PossibleValuesParser::new(names))
                .default_value("openai-responses")
                .help("Whose request and response to speak"),
        )
        .arg(
            Arg::new("response")
                .long("response")
                .value_name("FILE")
                .help("The provider's response; - reads standard input [default: a recorded one]"),
        )
        .get_matches();
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();

    let chosen = flags.get_one::<String>("provider");
    let provider = PROVIDERS
        .iter()
        .find(|provider| Some(provider.name) == chosen.map(|c| &**c));
    let provider = provider.expect("clap takes only the names of providers");
    let source = flags.get_one::<String>("response").map(String::as_str);
    let ended = response(source, provider.recorded)
        .and_then(|response| (provider.run)(provider, &response));
    input::end("quickstart", ended)
}
