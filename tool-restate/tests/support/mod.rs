//! A Restate server, and processes with agents and tools.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::TcpListener as StdListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::model::{ModelError, Request};
use tool_agent::run::RunInfo;
use tool_core::dialect::OpenAiChat;
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_restate::{Agents, Client, ToolService};

/// The version of the server.
const SERVER: &str = "@restatedev/restate-server-linux-x64@1.7.12";

/// In whose name a call runs.
pub struct User(String);

/// The folder in which tools leave what they did.
struct Effects(PathBuf);

impl Effects {
    fn add(&self, file: &str, line: &str) {
        let path = self.0.join(file);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

async fn work() {
    tokio::time::sleep(Duration::from_millis(15)).await;
}

async fn paid(effects: &Effects, user: &User, call: &CallContext, amount: u32) -> String {
    let key = call.idempotency_key().unwrap_or("no key");
    work().await;
    effects.add("payments", &format!("{key} {amount} {}", user.0));
    work().await;
    format!("paid {amount} for {}", user.0)
}

/// Looks something up.
#[tool(read_only, unlinked)]
async fn look_up(n: u32) -> String {
    work().await;
    format!("value {n}")
}

/// Pays in the process of the agent.
#[tool(destructive, unlinked)]
async fn pay_here(
    amount: u32,
    #[param(context)] effects: &Effects,
    #[param(context)] user: &User,
    call: &CallContext,
) -> String {
    paid(effects, user, call, amount).await
}

/// Pays in a process of the tools.
#[tool(destructive, unlinked)]
async fn pay(
    amount: u32,
    #[param(context)] effects: &Effects,
    #[param(context)] user: &User,
    call: &CallContext,
) -> String {
    paid(effects, user, call, amount).await
}

/// Transfers money, once somebody allowed it.
#[tool(destructive, unlinked)]
async fn transfer(
    amount: u32,
    #[param(context)] effects: &Effects,
    #[param(context)] user: &User,
    call: &CallContext,
) -> String {
    paid(effects, user, call, amount).await
}

/// Takes a note.
#[tool(idempotent, unlinked)]
async fn note(text: String, #[param(context)] effects: &Effects) -> String {
    work().await;
    effects.add("notes", &text);
    format!("noted {text}")
}

/// Returns more than the engine keeps.
#[tool(read_only, unlinked)]
fn flood() -> String {
    "x".repeat(40 << 20)
}

/// Takes long.
#[tool(read_only, unlinked)]
async fn sleep() -> &'static str {
    tokio::time::sleep(Duration::from_secs(60)).await;
    "slept"
}

fn registry(effects: &Path) -> Registry {
    Registry::builder()
        .tools(tools![look_up, pay_here, pay, transfer, note, flood, sleep])
        .context(Effects(effects.to_owned()))
        .context_per_call::<User>()
        .output_cap(100 << 20)
        .before(async |hook| match &*hook.tool.name {
            "transfer" => Gate::hold("money leaves"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap()
}

async fn contexts(
    run: RunInfo,
    call: ToolCall,
) -> Result<ToolCall, Box<dyn std::error::Error + Send + Sync>> {
    let owner = run.owner().ok_or("the run has no owner")?;
    Ok(call.with(User(owner.to_owned())))
}

/// Answers by the number of responses since the last message of the user.
async fn model(request: Request) -> Result<Value, ModelError> {
    tokio::time::sleep(Duration::from_millis(10)).await;
    let messages = &request.messages;
    let last = messages
        .iter()
        .rposition(|message| message["role"] == "user");
    let last = last.unwrap_or(0);
    let question = messages[last]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let after = messages[last..].iter();
    let round = after
        .filter(|message| message["role"] == "assistant")
        .count();
    let calls: &[(&str, Value)] = match (question.split(' ').next().unwrap_or_default(), round) {
        ("job", 0) => &[
            ("look_up", json!({"n": 1})),
            ("look_up", json!({"n": 2})),
            ("look_up", json!({"n": 3})),
        ],
        ("job", 1) => &[("pay_here", json!({"amount": 10}))],
        ("job", 2) => &[
            ("look_up", json!({"n": 4})),
            ("note", json!({"text": question})),
        ],
        ("job", 3) => &[("pay", json!({"amount": 20}))],
        ("job", 4) => &[
            ("note", json!({"text": question})),
            ("look_up", json!({"n": 5})),
        ],
        ("job", 5) => &[("pay", json!({"amount": 30}))],
        ("transfer", 0) => &[
            ("transfer", json!({"amount": 7})),
            ("look_up", json!({"n": 1})),
        ],
        ("flood", 0) => &[("flood", json!({}))],
        ("sleep", 0) => &[("sleep", json!({}))],
        _ => &[],
    };
    if question == "silence" {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        json!({"id": format!("call_{last}_{round}_{index}"), "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}})
    });
    let calls: Vec<_> = calls.collect();
    let message = if calls.is_empty() {
        json!({"role": "assistant", "content": format!("done: {question}")})
    } else {
        json!({"role": "assistant", "tool_calls": calls})
    };
    Ok(json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

/// Runs a process of the test, if the environment says that this is one.
pub fn act() {
    let (Ok(role), Ok(port), Ok(effects)) = (
        std::env::var("ROLE"),
        std::env::var("PORT"),
        std::env::var("EFFECTS"),
    ) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async move {
        let listener = TcpListener::bind(format!("127.0.0.1:{port}"))
            .await
            .unwrap();
        let registry = registry(Path::new(&effects));
        let served = if role == "agent" {
            let agent = Agent::new(registry, OpenAiChat::default(), model)
                .contexts(contexts)
                .may_decide(async |request| request.user == "lea");
            let route = |tool: &str| matches!(tool, "pay" | "note").then(|| "payments".to_owned());
            let agents = Agents::new(agent).route(route);
            agents
                .approval_timeout(Duration::from_secs(3))
                .serve(listener)
                .await
        } else {
            ToolService::new("payments", registry)
                .contexts(contexts)
                .serve(listener)
                .await
        };
        served.unwrap();
    });
    std::process::exit(0);
}

fn free_port() -> u16 {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A process that is killed when it is dropped.
pub struct Process {
    child: Option<Child>,
    start: Box<dyn Fn() -> Command + Send>,
}

impl Process {
    fn new(start: impl Fn() -> Command + Send + 'static) -> Process {
        let mut process = Process {
            child: None,
            start: Box::new(start),
        };
        process.start();
        process
    }

    pub fn start(&mut self) {
        self.child = Some((self.start)().spawn().unwrap());
    }

    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server with an agent and a process of tools.
pub struct World {
    pub folder: PathBuf,
    pub server: Process,
    pub agent: Process,
    pub tools: Process,
    pub ingress: String,
    admin: String,
    ports: [u16; 2],
}

/// Returns the server, which npm installs once. `None` if there is no npm.
fn server() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("RESTATE_SERVER") {
        return Some(path.into());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restate");
    let path = folder.join("node_modules/@restatedev/restate-server-linux-x64/bin/restate-server");
    if !path.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--prefix"])
            .arg(&folder)
            .arg(SERVER);
        let installed = npm.status().is_ok_and(|status| status.success());
        if !installed || !path.exists() {
            return None;
        }
    }
    Some(path)
}

impl World {
    /// Starts all processes. `None` if there is no server.
    pub async fn start(name: &str) -> Option<World> {
        let Some(server) = server() else {
            eprintln!("skipped: {name} needs npm, or a Restate server in RESTATE_SERVER");
            return None;
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let [node, ingress, admin, agent_port, tools_port] = std::array::from_fn(|_| free_port());
        let config = folder.join("restate.toml");
        fs::write(&config, configuration(&folder, node, ingress, admin)).unwrap();
        let log = folder.join("server.log");
        let server = Process::new(move || {
            let log = File::options()
                .create(true)
                .append(true)
                .open(&log)
                .unwrap();
            let mut command = Command::new(&server);
            command.arg("--config-file").arg(&config);
            command
                .stdout(log.try_clone().unwrap())
                .stderr(log)
                .stdin(Stdio::null());
            command
        });
        let role = |role: &'static str, port: u16| {
            let folder = folder.clone();
            Process::new(move || {
                let log = folder.join(format!("{role}.log"));
                let log = File::options().create(true).append(true).open(log).unwrap();
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["process", "--exact", "--nocapture", "--test-threads", "1"]);
                command
                    .env("ROLE", role)
                    .env("PORT", port.to_string())
                    .env("EFFECTS", &folder);
                command
                    .stdout(log.try_clone().unwrap())
                    .stderr(log)
                    .stdin(Stdio::null());
                command
            })
        };
        let world = World {
            agent: role("agent", agent_port),
            tools: role("tools", tools_port),
            server,
            ingress: format!("http://127.0.0.1:{ingress}"),
            admin: format!("http://127.0.0.1:{admin}"),
            ports: [agent_port, tools_port],
            folder,
        };
        world.register().await;
        Some(world)
    }

    /// Tells the server where the processes are.
    async fn register(&self) {
        let http = reqwest::Client::new();
        for port in self.ports {
            let uri = json!({"uri": format!("http://127.0.0.1:{port}"), "force": true});
            let mut problem = String::new();
            for _ in 0..150 {
                let sent = http
                    .post(format!("{}/deployments", self.admin))
                    .json(&uri)
                    .send();
                match sent.await {
                    Ok(response) if response.status().is_success() => {
                        problem.clear();
                        break;
                    }
                    Ok(response) => problem = response.text().await.unwrap_or_default(),
                    Err(error) => problem = error.to_string(),
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            assert!(
                problem.is_empty(),
                "port {port} is not registered: {problem}"
            );
        }
    }

    pub fn client(&self) -> Client {
        Client::new(&self.ingress).unwrap()
    }

    /// Returns the lines that tools left in a file.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn configuration(folder: &Path, node: u16, ingress: u16, admin: u16) -> String {
    let folder = folder.join("data");
    format!(
        r#"
roles = ["http-ingress", "admin", "worker", "log-server", "metadata-server"]
cluster-name = "tests"
node-name = "n1"
default-num-partitions = 4
disable-telemetry = true
listen-mode = "tcp"
base-dir = {folder:?}
bind-ip = "127.0.0.1"
bind-port = {node}
advertised-address = "http://127.0.0.1:{node}/"
rocksdb-total-memory-size = "256.0 MiB"
log-disable-ansi-codes = true
[ingress]
bind-address = "127.0.0.1:{ingress}"
[admin]
bind-address = "127.0.0.1:{admin}"
disable-web-ui = true
[worker.invoker]
http2-keep-alive-interval = "1s"
http2-keep-alive-timeout = "1s"
[default-retry-policy]
initial-interval = "100ms"
exponentiation-factor = 2.0
max-attempts = 70
on-max-attempts = "pause"
max-interval = "1s"
"#
    )
}
