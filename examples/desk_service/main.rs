//! A service in which several people chat with a model, and a person decides on what the calls of others may do.
//!
//! ```text
//! cargo run --example desk_service --features desk_service
//! cargo run --example desk_service --features desk_service -- tools call find_order --order 1042
//! ```
//!
//! It prints a token for each user. A clerk asks, a lead decides on what others ask, and an admin may do more; nobody
//! decides on an own hold. The page and the MCP server (`/mcp`, with the token as the bearer token) have the same tools.
//!
//! Without `--model`, recorded responses answer. With it, the key comes from the variable `OPENAI_API_KEY`.
//!
//! Kill the program at any time and start it again: the conversations go on, also while calls wait for decisions.

mod chart;
mod service;
mod tools;
mod trace;
mod users;

use std::error::Error;
use std::future::{Ready, ready};
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use examples::input;
use examples::terminal::Terminal;
use rusqlite::Connection;
use tool_agent::Agent;
use tool_agent::conversations::Conversations;
use tool_agent::dialects::OpenAiChat;
use tool_agent::run::{RunInfo, SqliteJournal};
use tool_agent::testing::{RecordedModel, Recording};
use tool_cli::Cli;
use tool_core::hooks::DecisionRequest;
use tool_mcp::Server;
use tool_mcp::server::approvals::Approvals;
use tool_mcp::server::store::SqliteStore;

use crate::service::{Desk, Lists};
use crate::users::{User, Users};

/// The tables of a new shop, with some orders.
const TABLES: &str = include_str!("tables.sql");

/// The system prompt of a real model.
const PROMPT: &str = "You help the people of a small shop with orders and sales. Be brief.";

/// Opens the databases, in a folder that others can't read: one has the tokens.
fn open(folder: &str) -> Result<(Connection, SqliteJournal, SqliteStore), Box<dyn Error>> {
    let folder = std::path::Path::new(folder);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    let shop = Connection::open(folder.join("shop.sqlite"))?;
    shop.execute_batch(TABLES)?;
    // No call waits for the bank yet. A real shop asks the bank by the key whether it has paid.
    shop.execute("DELETE FROM reservation", [])?;
    let journal = SqliteJournal::open(folder.join("runs.sqlite"))?;
    Ok((shop, journal, SqliteStore::open(folder.join("mcp.sqlite"))?))
}

/// A lead decides on the calls of others, and owners confirm their own.
fn may_decide(users: &Users) -> impl Fn(DecisionRequest) -> Ready<bool> + use<> {
    let users = users.clone();
    move |request| {
        let decides = users.named(&request.user).is_some_and(|user| user.decides);
        ready(request.is_owner() || decides)
    }
}

async fn serve(flags: &ArgMatches) -> Result<(), Box<dyn Error>> {
    let text = |name: &str| flags.get_one::<String>(name).map(String::as_str);
    let time = |name: &str| Duration::from_millis(flags.get_one(name).copied().unwrap_or(0));
    let address: SocketAddr = *flags.get_one("listen").expect("it has a default");
    if !address.ip().is_loopback() {
        return Err(format!("{address} is for other machines, and tokens need TLS").into());
    }
    let script = input::read(text("script"), include_str!("recorded/chat.json"))?;
    let script: Vec<Recording> = serde_json::from_str(&script)
        .map_err(|error| format!("the script is not valid: {error}"))?;
    let folder = text("folder").unwrap_or_default();
    let opened = open(folder).map_err(|error| format!("can't open {folder}: {error}"));
    let (shop, journal, store) = opened?;
    let users = Users::read(&shop)?;
    let state_key: Vec<u8> = shop.query_row("SELECT bytes FROM state_key", [], |row| row.get(0))?;
    let registry = tools::registry(shop, time("delay")).context_per_call::<User>();
    let registry = registry.build()?;

    let dialect = OpenAiChat::default();
    let agent = if let Some(name) = text("model") {
        let model = tool_agent::model::HttpModel::new(&dialect, name);
        model.check()?;
        Agent::new(registry.clone(), dialect, model.system(PROMPT))
    } else {
        let pace = time("pace");
        let model = RecordedModel::new(script).wait(move || tokio::time::sleep(pace));
        Agent::new(registry.clone(), dialect, model)
    };
    let owners = users.clone();
    let agent = agent.journal(journal.clone());
    let agent = agent.contexts(move |run: RunInfo, call| {
        let owner = run.owner().and_then(|owner| owners.named(owner));
        let owner = owner.cloned().ok_or("the owner is no user");
        async move { Ok(call.with(owner?)) }
    });
    let agent = agent.may_decide(may_decide(&users));
    let approvals = Approvals::new(&registry, store.clone()).may_decide(may_decide(&users));
    let server = Server::new(registry).store(store).state_key(state_key);

    let listener = tokio::net::TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("can't listen on {address}: {error}"))?;
    let address = listener.local_addr()?;
    let mut out = Terminal::stdout();
    let lines = users.lines().join("\n");
    writeln!(
        out,
        "open http://{address} and sign in with a token:\n{lines}"
    )?;
    let conversations = Conversations::new(trace::linked(agent))?;
    tokio::spawn(resume(conversations.clone()));
    let desk = Desk {
        conversations,
        approvals,
        journal,
        users,
        port: address.port(),
        lists: Lists::default(),
    };
    axum::serve(listener, service::router(desk, server)).await?;
    Ok(())
}

/// Continues the conversations that were interrupted when the program ended.
async fn resume(conversations: Conversations) {
    let mut out = Terminal::stderr();
    // If nobody reads the errors, the conversations still go on when somebody opens them.
    let _ = match conversations.resume_all().await {
        Ok(failed) => failed
            .iter()
            .try_for_each(|(id, error)| writeln!(out, "{id} does not continue: {error}")),
        Err(error) => writeln!(out, "interrupted conversations do not continue: {error}"),
    };
}

/// The tools of a new shop in memory, for an admin.
fn command_line() -> Cli {
    Cli::new(|| {
        let shop = Connection::open_in_memory().expect("a database in memory");
        shop.execute_batch(TABLES).expect("the tables are valid");
        tools::registry(shop, Duration::ZERO).context(User::admin("you"))
    })
}

fn main() -> ExitCode {
    let cli = command_line().name("desk_service tools");
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let time = |name: &'static str, default: &'static str, help: &'static str| {
        let arg = flag(name, "MS", help).default_value(default);
        arg.value_parser(value_parser!(u64).range(..=60_000))
    };
    let listen = flag("listen", "ADDRESS", "Address and port of this computer");
    let listen = listen.value_parser(value_parser!(SocketAddr));
    let folder = flag("folder", "FOLDER", "Folder of the databases");
    let script = flag("script", "FILE", "Recorded responses, as JSON");
    let model = flag("model", "NAME", "Model of OpenAI, not the recorded one");
    let flags = Command::new("desk_service")
        .about("A service to chat with a model, and to decide on the calls of others")
        .arg(listen.default_value("127.0.0.1:8420"))
        .arg(folder.default_value("desk_service.data"))
        .arg(script)
        .arg(model.conflicts_with("script"))
        .arg(time("pace", "40", "Time between recorded events"))
        .arg(time("delay", "1500", "Time that a refund takes"))
        .arg(input::log_flag())
        .subcommand(cli.command().name("tools"))
        .get_matches();
    trace::start(&flags);
    if let Some(("tools", command)) = flags.subcommand() {
        return cli.execute(command);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(serve(&flags)),
        Err(error) => Err(error.into()),
    };
    input::end("desk_service", ended)
}
