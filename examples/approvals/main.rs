//! A web page on which a person chats with a model, and decides on what its calls may do.
//!
//! ```text
//! cargo run --example approvals --features approvals
//! cargo run --example approvals --features approvals -- --listen 127.0.0.1:9000 --user Ada
//! ```
//!
//! Without `--model`, recorded responses answer. With it, the key comes from the variable
//! `OPENAI_API_KEY`, and `--url` is the address of a server with OpenAI's API, such as Ollama.
//!
//! Kill the program at any time and start it again: the
//! conversation goes on, also while a call waits for its decision.

mod chart;
mod chat;
mod model;
mod service;
mod store;
mod tools;
mod view;

use std::env;
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use examples::input;
use examples::terminal::Terminal;
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::model::HttpModel;
use tool_core::Registry;
use tool_core::dialect::OpenAiChat;
use tool_core::hooks::Gate;

use crate::chat::Chat;
use crate::model::{RecordedModel, Script};
use crate::service::Guard;
use crate::store::Store;
use crate::tools::Shop;
use crate::view::View;

/// The variable with the key.
const KEY: &str = "OPENAI_API_KEY";

/// The system prompt of a real model.
const PROMPT: &str = "You help the owner of a small shop with orders, refunds and sales. Be brief.";

/// Every destructive call waits for a person.
fn registry(shop: Shop) -> Result<Registry, Box<dyn Error>> {
    let builder = Registry::builder().toolset("", shop);
    let builder = builder.before(async |hook| match hook.tool.annotations.destructive {
        Some(false) => Gate::Allow,
        _ if hook.tool.annotations.read_only == Some(true) => Gate::Allow,
        _ => Gate::hold("it can't be undone"),
    });
    Ok(builder.build()?)
}

async fn serve(flags: &ArgMatches) -> Result<(), Box<dyn Error>> {
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let time = |name: &str| Duration::from_millis(flags.get_one(name).copied().unwrap_or_default());
    let address: SocketAddr = *flags.get_one("listen").expect("it has a default");
    if !address.ip().is_loopback() {
        let problem = "is reachable from other machines, and this program has no logins";
        return Err(format!("{address} {problem}").into());
    }
    let script = input::read(text("script"), include_str!("recorded/chat.json"))?;
    let script: Script = serde_json::from_str(&script)
        .map_err(|error| format!("the script is not valid: {error}"))?;
    let path = text("database").unwrap_or("approvals.sqlite");
    let store =
        Store::open(Path::new(path)).map_err(|error| format!("can't open {path}: {error}"))?;
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();

    let suggestions = if text("model").is_none() {
        script.suggestions.clone()
    } else {
        Vec::new()
    };
    let registry = registry(Shop {
        store: store.clone(),
        delay: time("delay"),
    })?;
    let view = Arc::new(View::new(registry.clone(), token.clone(), suggestions));
    let dialect = OpenAiChat::default();
    let agent = match text("model") {
        None => Agent::new(
            registry,
            dialect,
            RecordedModel {
                script,
                pace: time("pace"),
            },
        ),
        Some(name) => {
            let model = HttpModel::new(&dialect, name).system(PROMPT);
            let model = match text("url") {
                Some(url) if env::var_os(KEY).is_some() => model.base_url(url).key_from_env(KEY),
                // A server on this computer may need none.
                Some(url) => model.base_url(url).without_key(),
                None => model,
            };
            Agent::new(registry, dialect, model)
        }
    };
    let agent = agent.journal(store.clone());
    // Before the run goes on: a second program on the same address ends here.
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("can't listen on {address}: {error}"))?;
    let address = listener.local_addr()?;
    let user = text("user").unwrap_or("the person at this computer");
    let chat = Chat::open(agent, store, view, user.into()).await?;
    writeln!(Terminal::stdout(), "open http://{address}")?;
    let router = service::router(chat, Guard::new(address, token));
    axum::serve(listener, router).await?;
    Ok(())
}

fn run(flags: &ArgMatches) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(flags))
}

fn main() -> ExitCode {
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let time = |name: &'static str, default: &'static str, help: &'static str| {
        let parser = value_parser!(u64).range(..=60_000);
        flag(name, "MS", help)
            .value_parser(parser)
            .default_value(default)
    };
    let flags = Command::new("approvals")
        .about("A web page to chat with a model and to decide on its calls")
        .arg(
            flag("listen", "ADDRESS", "Address and port of this computer")
                .value_parser(value_parser!(SocketAddr))
                .default_value("127.0.0.1:8420"),
        )
        .arg(flag(
            "database",
            "FILE",
            "SQLite file [default: approvals.sqlite]",
        ))
        .arg(flag("user", "NAME", "Who decides, for the records"))
        .arg(flag(
            "script",
            "FILE",
            "JSON file with the responses of the recorded model",
        ))
        .arg(
            flag(
                "model",
                "NAME",
                "Name of a provider's model, instead of the recorded one",
            )
            .conflicts_with("script"),
        )
        .arg(flag("url", "URL", "Base URL of a server with OpenAI's API").requires("model"))
        .arg(time(
            "pace",
            "40",
            "Time between two events of the recorded model",
        ))
        .arg(time("delay", "1500", "Time that a refund takes"))
        .arg(input::log_flag())
        .get_matches();
    input::log(&flags);
    input::end("approvals", run(&flags))
}
