//! Servers, agents and workers with injected faults.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::run::{Run, RunOutcome, Step};
use tool_core::ToolErrorKind;
use tool_restate::{Client, ClientError, Message};

use crate::cast::is_of_user;
use crate::engine::{self, Node, Process};

/// The number of processes in a world.
#[derive(Clone, Copy)]
pub struct Layout {
    pub servers: usize,
    pub agents: usize,
    pub workers: usize,
    /// Set if nginx is the balancer, with the guide's configuration.
    pub nginx: bool,
}

/// One process of each kind.
pub const SMALL: Layout = Layout {
    servers: 1,
    agents: 1,
    workers: 1,
    nginx: false,
};

pub struct World {
    pub folder: PathBuf,
    pub servers: Vec<Process>,
    pub agents: Vec<Process>,
    pub workers: Vec<Process>,
    pub nodes: Vec<Node>,
    /// The addresses at which agents serve streams.
    pub streams: Vec<String>,
    /// The work of conversations under load.
    pub work: &'static str,
    _balancers: Vec<Process>,
}

/// Starts a process of the tests, and returns its port.
fn start(
    folder: &Path,
    role: &'static str,
    number: usize,
    env: &[(&'static str, String)],
) -> (Process, u16) {
    let port = engine::free_port();
    let effects = folder.to_owned();
    let log = folder.join(format!("{role}-{number}.log"));
    let env = env.to_vec();
    let process = Process::start_new(log, move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["process", "--exact", "--nocapture", "--test-threads", "1"]);
        command
            .env("ROLE", role)
            .env("PORT", port.to_string())
            .env("EFFECTS", &effects)
            .envs(env.iter().cloned());
        command
    });
    (process, port)
}

/// Starts nginx in front of two ports, with the guide's configuration.
fn nginx(folder: &Path, ports: &[u16]) -> (Process, u16) {
    let guide = include_str!("../../src/guide/operation.md");
    let (_, block) = guide.split_once("```nginx\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let port = engine::free_port();
    let block = block
        .replace("listen 9080", &format!("listen 127.0.0.1:{port}"))
        .replace("10.0.0.5:9080", &format!("127.0.0.1:{}", ports[0]))
        .replace("10.0.0.6:9080", &format!("127.0.0.1:{}", ports[1]));
    let name = format!("nginx-{port}");
    let config = folder.join(format!("{name}.conf"));
    let pid = folder.join(format!("{name}.pid"));
    let text = format!("{NGINX}\ndaemon off;\nmaster_process off;\npid {pid:?};\n{block}");
    fs::write(&config, text).unwrap();
    let process = Process::start_new(folder.join(format!("{name}.log")), move || {
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&config);
        command
    });
    (process, port)
}

/// The start of a configuration. In Debian, the TCP module is a separate file.
const NGINX: &str = "include /etc/nginx/modules-enabled/*.conf;\nerror_log stderr;\nevents {}";

/// Returns `true` if nginx is installed with its TCP module.
pub fn has_nginx() -> bool {
    let config = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nginx.conf");
    fs::write(&config, format!("{NGINX}\nstream {{}}\n")).unwrap();
    let tried = Command::new("nginx")
        .arg("-t")
        .arg("-c")
        .arg(config)
        .output();
    tried.is_ok_and(|tried| tried.status.success())
}

/// Returns the short form of a number, or the long one if the environment asks for it.
pub fn short_or_long(short: usize, long: usize) -> usize {
    let is_long = std::env::var_os("TOOL_CORE_LONG").is_some();
    if is_long { long } else { short }
}

impl World {
    /// Starts all processes. Returns `None` if there is no server.
    pub async fn start(name: &str, layout: Layout) -> Option<World> {
        World::with_env(name, layout, &[]).await
    }

    /// Starts all processes, with these variables in the agents' environment.
    pub async fn with_env(
        name: &str,
        layout: Layout,
        env: &[(&'static str, String)],
    ) -> Option<World> {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let Some(server) = engine::server(&temporary.join("restate")) else {
            eprintln!("skipped: {name} needs npm, or a Restate server in RESTATE_SERVER");
            return None;
        };
        let folder = temporary.join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let nodes: Vec<_> = (0..layout.servers).map(|_| Node::new()).collect();
        let servers = engine::start_nodes(&server, &folder, &nodes);
        let start = |role, number, env: &[_]| start(&folder, role, number, env);
        let stream_ports = (0..layout.agents).map(|_| engine::free_port());
        let stream_ports: Vec<_> = stream_ports.collect();
        let agents = stream_ports.iter().enumerate().map(|(number, port)| {
            let mut env = env.to_vec();
            env.push(("STREAM_PORT", port.to_string()));
            start("agent", number, &env)
        });
        let (agents, agent_ports): (Vec<_>, Vec<_>) = agents.unzip();
        let workers = (0..layout.workers).map(|number| start("worker", number, &[]));
        let (workers, worker_ports): (Vec<_>, Vec<_>) = workers.unzip();
        let mut balancers = Vec::new();
        for ports in [agent_ports, worker_ports] {
            let port = if layout.nginx {
                let (process, port) = nginx(&folder, &ports);
                balancers.push(process);
                port
            } else {
                engine::balance(ports).await
            };
            if let Err(problem) = engine::register(&nodes[0].admin_url(), port).await {
                let log = fs::read_to_string(folder.join("node-0.log")).unwrap_or_default();
                let start = log.len().saturating_sub(2000);
                panic!(
                    "{problem}; the server's log ends with: {}",
                    log.get(start..).unwrap_or(&log)
                );
            }
        }
        Some(World {
            folder,
            servers,
            agents,
            workers,
            nodes,
            streams: stream_ports
                .iter()
                .map(|port| format!("http://127.0.0.1:{port}"))
                .collect(),
            work: "job",
            _balancers: balancers,
        })
    }

    /// Starts bare SDK handlers, behind a balancer like the others.
    pub async fn start_bare(&self) -> Process {
        let (process, port) = start(&self.folder, "bare", 0, &[]);
        let port = engine::balance(vec![port]).await;
        let admin = self.nodes[0].admin_url();
        engine::register(&admin, port).await.unwrap();
        process
    }

    pub fn client(&self) -> Client {
        self.clients().swap_remove(0)
    }

    /// Returns a client that can follow conversations.
    pub fn streaming(&self, token: &str) -> Client {
        self.client().streams(&self.streams, token).unwrap()
    }

    /// Returns a client that lists conversations.
    pub fn administering(&self) -> Client {
        self.client().admin(&self.nodes[0].admin_url()).unwrap()
    }

    /// Returns a client of each server.
    pub fn clients(&self) -> Vec<Client> {
        let nodes = self.nodes.iter();
        nodes
            .map(|node| Client::new(&node.ingress_url()).unwrap())
            .collect()
    }

    /// Returns the lines that tools wrote to a file.
    pub fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Releases the calls that wait for a sign.
    pub fn give_sign(&self) {
        fs::write(self.folder.join("sign"), "").unwrap();
    }

    /// Opens a gate that calls wait for.
    pub fn open_gate(&self, name: &str) {
        fs::write(self.folder.join(format!("gate-{name}")), "").unwrap();
    }

    /// Kills what drives a conversation, as an operator does.
    pub async fn kill_drive(&self, id: &str) {
        let sql = format!(
            "SELECT id FROM sys_invocation WHERE target_handler_name = 'drive'
                AND target_service_key = '{id}' AND status != 'completed'"
        );
        let rows = self.query(&sql).await;
        let [row] = &*rows else { panic!("{rows:?}") };
        let (admin, drive) = (self.nodes[0].admin_url(), row["id"].as_str().unwrap());
        let url = format!("{admin}/invocations/{drive}/kill");
        let killed = reqwest::Client::new().patch(url).send().await.unwrap();
        assert!(killed.status().is_success(), "{}", killed.status());
    }

    /// Asks the server by SQL, once it is ready.
    pub async fn query(&self, sql: &str) -> Vec<Value> {
        let url = format!("{}/query", self.nodes[0].admin_url());
        let mut answer = Value::Null;
        for _ in 0..100 {
            let request = reqwest::Client::new()
                .post(&url)
                .json(&json!({"query": sql}));
            let response = request
                .header("accept", "application/json")
                .send()
                .await
                .unwrap();
            answer = response.json().await.unwrap();
            if let Some(rows) = answer["rows"].as_array() {
                return rows.clone();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{answer}")
    }

    /// Starts this many conversations at an interval, and checks them once all have ended. Meanwhile injects the
    /// faults, numbered from 0. Returns the number of interrupted calls.
    pub async fn under_load(
        &mut self,
        count: usize,
        interval: Duration,
        mut fault: impl AsyncFnMut(&mut World, usize),
    ) -> usize {
        let clients = self.clients();
        let work = self.work;
        let jobs = (0..count).map(|number| {
            let clients = clients.clone();
            tokio::spawn(async move {
                let id = format!("run-{number}");
                tokio::time::sleep(interval * u32::try_from(number).unwrap()).await;
                (job(&clients, &id, &format!("{work} {id}")).await, id)
            })
        });
        let jobs: Vec<_> = jobs.collect();
        for number in 0.. {
            if jobs.iter().all(|job| job.is_finished()) {
                break;
            }
            fault(self, number).await;
        }
        let mut runs = Vec::new();
        for job in jobs {
            let (outcome, id) = job.await.unwrap();
            assert_eq!(outcome, RunOutcome::Answered(format!("done: {work} {id}")));
            runs.push(settled(&clients, &id).await);
        }
        let interrupted = self.check_payments(&runs);
        eprintln!("{count} conversations, {interrupted} interrupted calls");
        interrupted
    }

    /// Compares the payments that runs report with the real ones. Returns the number of interrupted calls.
    pub fn check_payments(&self, runs: &[Run]) -> usize {
        let mut payments = BTreeMap::<String, usize>::new();
        for line in self.lines("payments") {
            let (key, rest) = line.split_once(' ').unwrap();
            assert!(rest.ends_with(" ann"), "{line}");
            *payments.entry(key.to_owned()).or_default() += 1;
        }
        let mut interrupted = 0;
        for run in runs {
            check_told(run);
            for (number, round) in run.rounds().iter().enumerate() {
                for (index, (call, result)) in round.calls().enumerate() {
                    if !call.name.starts_with("pay") && !call.name.starts_with("transfer") {
                        continue;
                    }
                    let key = format!("{}/{}/{index}", run.id(), number + 1);
                    let count = payments.remove(&key).unwrap_or(0);
                    assert!(count <= 1, "{key} is paid {count} times");
                    let result = result.expect("each call has a result");
                    match result.error().map(|error| error.kind()) {
                        None => assert_eq!(count, 1, "{key} is claimed and not paid"),
                        Some(ToolErrorKind::Interrupted) => {
                            interrupted += 1;
                            let content = result.content();
                            assert!(content.contains("interrupted"), "{key}: {content}");
                        }
                        Some(ToolErrorKind::Denied) => assert_eq!(count, 0, "{key} is denied"),
                        Some(other) => panic!("{key}: {other:?}: {}", result.content()),
                    }
                }
            }
        }
        assert!(payments.is_empty(), "no run knows of {payments:?}");
        interrupted
    }
}

/// Checks that the model got each background result exactly once.
pub fn check_told(run: &Run) {
    let mut told = BTreeMap::<String, Value>::new();
    for message in run.messages() {
        let text = message["content"].as_str().unwrap_or_default();
        let text = text.split_once('\n').map_or(text, |(_, results)| results);
        if !is_of_user(message)
            && let Ok(Value::Array(results)) = serde_json::from_str(text)
        {
            for result in results {
                let id = result["id"].as_str().expect("it has an id").to_owned();
                assert!(told.insert(id, result).is_none(), "{}: {message}", run.id());
            }
        }
    }
    let messages = run.messages().iter();
    let acknowledged = messages.filter(|message| {
        let text = message["content"].as_str().unwrap_or_default();
        message["role"] == "tool" && text.starts_with("Started in the background")
    });
    assert_eq!(told.len(), acknowledged.count(), "{}: {told:?}", run.id());
    for (number, round) in run.rounds().iter().enumerate() {
        for (index, (call, result)) in round.calls().enumerate() {
            let Some(told) = told.get(&format!("{}-{}", number + 1, index + 1)) else {
                continue;
            };
            assert_eq!(told["tool"], call.name);
            let result = result.expect("it is told");
            let key = if result.is_error() { "error" } else { "result" };
            assert_eq!(told[key], result.content(), "{}: {told}", run.id());
        }
    }
}

/// Sends a message until it has an outcome, trying one server after the other.
pub async fn job(clients: &[Client], id: &str, text: &str) -> RunOutcome {
    let message = || Message::new(text).owner("ann").key(format!("{id} {text}"));
    for attempt in 0..600 {
        match clients[attempt % clients.len()].send(id, message()).await {
            Ok(reply) => return reply.outcome,
            // The server is down or has no leader.
            Err(ClientError::Failed(_) | ClientError::Refused(500.., _)) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Err(error) => panic!("{id}: {error}"),
        }
    }
    panic!("{id} has no outcome");
}

/// Returns the saved run once it is idle, from any server that answers.
pub async fn settled(clients: &[Client], id: &str) -> Run {
    for attempt in 0..600 {
        match clients[attempt % clients.len()].state(id).await {
            Ok(run) => {
                let run = run.expect("it is saved");
                if matches!(run.next(), Step::Done(_)) {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Err(ClientError::Failed(_) | ClientError::Refused(500.., _)) => {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Err(error) => panic!("{id}: {error}"),
        }
    }
    panic!("{id} does not end");
}
