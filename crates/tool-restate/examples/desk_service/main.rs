//! The desk of the repository's example `desk_service` on Restate, with a service of its tools, agents, and a chat at
//! the terminal.
//!
//! ```sh
//! cargo run --example desk_service    # everything on this computer, with a server from npm
//! ```
//!
//! On several machines, with your own server and a secret of at least 16 random bytes in `DESK_TOKEN`:
//!
//! ```sh
//! desk_service tools 10.0.0.7:9081 desk.data
//! desk_service agent 10.0.0.5:9080 10.0.0.5:9090
//! curl localhost:9070/deployments --json '{"uri": "http://10.0.0.7:9081"}'
//! curl localhost:9070/deployments --json '{"uri": "http://10.0.0.5:9080"}'
//! desk_service chat http://localhost:8080 http://10.0.0.5:9090 conversation-1
//! ```
//!
//! By default, recorded responses answer. Set `DESK_MODEL` to the name of a model instead. It may be OpenAI's, with the
//! key in `OPENAI_API_KEY`, or on any server with the same API at `DESK_URL`, with the key in `DESK_KEY` if it needs
//! one.

mod chat;

// Shared with the program without Restate.
#[path = "../../../../examples/desk_service/chart.rs"]
mod chart;
#[path = "../../../../examples/desk_service/tools.rs"]
mod tools;
#[allow(dead_code)]
#[path = "../../../../examples/desk_service/users.rs"]
mod users;

#[allow(dead_code)]
#[path = "../../tests/support/engine.rs"]
mod engine;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use rusqlite::Connection;
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::HttpModel;
use tool_agent::run::RunInfo;
use tool_agent::testing::{RecordedModel, Recording};
use tool_cli::terminal::Terminal;
use tool_core::ToolCall;
use tool_restate::{Agents, Client, ToolService};

use crate::users::{User, Users};

type Failure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: desk_service
       desk_service tools ADDRESS FOLDER
       desk_service agent ADDRESS ADDRESS_FOR_CLIENTS
       desk_service chat INGRESS AGENT CONVERSATION";
const TABLES: &str = include_str!("../../../../examples/desk_service/tables.sql");
const RESPONSES: &str = include_str!("../../../../examples/desk_service/recorded/chat.json");
const PROMPT: &str = "You help the people of a small shop with orders and sales. Be brief.";

/// Attaches the user who owns the conversation. Used by the agent, whose hooks check the rights, and by the tools.
async fn with_user(users: Users, run: RunInfo, call: ToolCall) -> Result<ToolCall, Failure> {
    let owner = run.owner().and_then(|owner| users.named(owner));
    Ok(call.with(owner.cloned().ok_or("the owner is no user")?))
}

/// Serves the tools, next to the shop's database.
async fn serve_tools(listener: TcpListener, folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let shop = Connection::open(folder.join("shop.sqlite"))?;
    shop.execute_batch(TABLES)?;
    let users = Users::read(&shop)?;
    let registry = tools::registry(shop, Duration::from_millis(500)).context_per_call::<User>();
    ToolService::new("desk", registry.build()?)
        .contexts(move |run, call| with_user(users.clone(), run, call))
        .serve(listener)
        .await
}

/// Serves the conversations. All their tools run elsewhere.
async fn serve_agent(
    listener: TcpListener,
    clients: TcpListener,
    token: &str,
) -> Result<(), Failure> {
    // This registry provides the tools' schemas and the users' rights. A real agent would read the users from the same
    // place as the service of the tools.
    let shop = Connection::open_in_memory()?;
    shop.execute_batch(TABLES)?;
    let (owners, leads) = (Users::read(&shop)?, Users::read(&shop)?);
    let registry = tools::registry(shop, Duration::ZERO).context_per_call::<User>();
    let registry = registry.build()?;
    let dialect = OpenAiChat::default();
    let agent = if let Ok(name) = env::var("DESK_MODEL") {
        let mut model = HttpModel::new(&dialect, name);
        if let Ok(url) = env::var("DESK_URL") {
            model = model.base_url(url);
            model = match env::var("DESK_KEY") {
                Ok(key) => model.key(key),
                Err(_) => model.without_key(),
            };
        }
        model.check()?;
        Agent::new(registry, dialect, model.system(PROMPT))
    } else {
        let responses: Vec<Recording> = serde_json::from_str(RESPONSES)?;
        let pace = || tokio::time::sleep(Duration::from_millis(20));
        Agent::new(registry, dialect, RecordedModel::new(responses).wait(pace))
    };
    let agent = agent
        .contexts(move |run, call| with_user(owners.clone(), run, call))
        .may_decide(move |request| {
            let decides = leads.named(&request.user).is_some_and(|user| user.decides);
            async move { request.is_owner() || decides }
        });
    Agents::new(agent)
        .route(|_| Some("desk".to_owned()))
        .streams(clients, token)
        .serve(listener)
        .await
}

fn client(ingress: &str, agent: &str, token: &str) -> Result<Client, Failure> {
    Ok(Client::new(ingress)?.streams([agent], token)?)
}

/// All services on this computer. They end on drop.
struct Everything {
    client: Client,
    folder: PathBuf,
    server: Vec<engine::Process>,
    /// Ends the services.
    tasks: tokio::task::JoinSet<()>,
}

impl Everything {
    async fn start(name: &str) -> Result<Everything, Failure> {
        let temporary = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tmp");
        let server = engine::server(&temporary.join("restate"));
        let server = server
            .ok_or("there is no Restate server: install npm, or name one in RESTATE_SERVER")?;
        let folder = temporary.join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let node = engine::Node::new();
        let server = engine::start_nodes(&server, &folder, &[node]);
        let listener = || TcpListener::bind("127.0.0.1:0");
        let (tools, agent, clients) = (listener().await?, listener().await?, listener().await?);
        let ports = [tools.local_addr()?.port(), agent.local_addr()?.port()];
        let token = format!("{:016x}", getrandom::u64()?);
        let client = client(
            &node.ingress_url(),
            &format!("http://{}", clients.local_addr()?),
            &token,
        )?;
        let mut tasks = tokio::task::JoinSet::new();
        let data = folder.clone();
        tasks.spawn(async move { report("tools", serve_tools(tools, &data).await) });
        tasks.spawn(async move { report("agent", serve_agent(agent, clients, &token).await) });
        for port in ports {
            engine::register(&node.admin_url(), port).await?;
        }
        Ok(Everything {
            client,
            folder,
            server,
            tasks,
        })
    }
}

impl Drop for Everything {
    fn drop(&mut self) {
        self.tasks.abort_all();
        self.server.clear();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn report(role: &str, served: Result<(), Failure>) {
    if let Err(error) = served {
        eprintln!("desk_service: the {role}: {error}");
    }
}

async fn run(args: &[&str]) -> Result<(), Failure> {
    let token = || env::var("DESK_TOKEN").map_err(|_| "the variable DESK_TOKEN is not set");
    let listen = async |address: &str| {
        let listener = TcpListener::bind(address).await;
        listener.map_err(|error| format!("can't listen on {address}: {error}"))
    };
    match *args {
        [] => {
            println!("starting a server, an agent and the tools …");
            let everything = Everything::start("desk").await?;
            println!("Say for instance: {}", chat::SUGGESTION);
            chat::chat(
                &everything.client,
                "conversation-1",
                chat::lines(),
                &mut Terminal::stdout(),
            )
            .await
        }
        ["tools", address, folder] => serve_tools(listen(address).await?, folder.as_ref()).await,
        ["agent", address, clients] => {
            let (listener, clients) = (listen(address).await?, listen(clients).await?);
            serve_agent(listener, clients, &token()?).await
        }
        ["chat", ingress, agent, id] => {
            let client = client(ingress, agent, &token()?)?;
            chat::chat(&client, id, chat::lines(), &mut Terminal::stdout()).await
        }
        _ => Err(USAGE.into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let args: Vec<_> = env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    // The services return when they have ended.
    let ended = if matches!(args[..], ["tools" | "agent", ..]) {
        run(&args).await
    } else {
        tokio::select! {
            ended = run(&args) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    };
    if let Err(error) = ended {
        eprintln!("desk_service: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    /// The recorded responses need this order.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_refund_waits_for_the_lead_and_is_made_once() {
        let everything = match Everything::start("desk-test").await {
            Ok(everything) => everything,
            Err(problem) if problem.to_string().contains("npm") => {
                eprintln!("skipped: {problem}");
                return;
            }
            Err(problem) => panic!("{problem}"),
        };
        let (say, lines) = mpsc::unbounded_channel();
        for line in [chat::SUGGESTION, "y"] {
            say.send(line.to_owned()).unwrap();
        }
        drop(say);
        let mut shown = Vec::new();
        let chatting = chat::chat(&everything.client, "run-1", lines, &mut shown);
        chatting.await.unwrap();
        let shown = String::from_utf8(shown).unwrap();
        for part in [
            "find_order",
            "draw_sales",
            "lead-1",
            "refund_order",
            "arrived broken.",
        ] {
            assert!(shown.contains(part), "{part} is missing: {shown}");
        }
        let run = everything.client.state("run-1").await.unwrap().unwrap();
        let last = run.rounds().last().unwrap().text().to_owned();
        assert_eq!(shown.matches(&last).count(), 1, "{shown}");
        let shop = Connection::open(everything.folder.join("shop.sqlite")).unwrap();
        let sql = "SELECT owner, cents FROM refund";
        let mut refunds = shop.prepare(sql).unwrap();
        let refunds = refunds.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let refunds: Result<Vec<(String, u32)>, _> = refunds.unwrap().collect();
        assert_eq!(refunds.unwrap(), [("clerk-1".to_owned(), 4800)]);
    }
}
