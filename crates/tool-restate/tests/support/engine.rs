//! Restate servers from npm, processes that can be killed and suspended, and a balancer.

use std::fs::File;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// The package of the server.
const SERVER: &str = "@restatedev/restate-server-linux-x64@1.7.12";

/// Returns the server, which npm installs once into this folder. Returns `None` if there is no npm.
pub fn server(folder: &Path) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("RESTATE_SERVER") {
        return Some(path.into());
    }
    let path = folder.join("node_modules/@restatedev/restate-server-linux-x64/bin/restate-server");
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    if !path.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--prefix"])
            .arg(folder)
            .arg(SERVER);
        let installed = npm.status().is_ok_and(|status| status.success());
        if !installed || !path.exists() {
            return None;
        }
    }
    Some(path)
}

/// Returns a port that is free, and that this machine lets a program connect to. It is below the range of outgoing
/// connections, which could otherwise take the port of a process that is down.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id() * 61;
    loop {
        let number = start + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 11_000 + u16::try_from(number % 16_000).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if let Ok(_listener) = StdListener::bind(address)
            && StdStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
        {
            return port;
        }
    }
}

/// A process that is killed on drop.
pub struct Process {
    child: Option<Child>,
    command: Box<dyn Fn() -> Command + Send>,
    log: PathBuf,
    /// Additional environment variables for the next start.
    pub env: Vec<(&'static str, String)>,
}

impl Process {
    /// Starts a process that appends its output to a file.
    pub fn start_new(log: PathBuf, command: impl Fn() -> Command + Send + 'static) -> Process {
        let mut process = Process {
            child: None,
            command: Box::new(command),
            log,
            env: Vec::new(),
        };
        process.start();
        process
    }

    pub fn start(&mut self) {
        let log = File::options().create(true).append(true).open(&self.log);
        let log = log.unwrap();
        let mut command = (self.command)();
        command
            .envs(self.env.iter().cloned())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .stdin(Stdio::null());
        self.child = Some(command.spawn().unwrap());
    }

    /// Returns the id of the process while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks the process to end, and waits for that.
    pub fn end(&mut self) {
        self.signal("TERM");
        if let Some(mut child) = self.child.take() {
            let _ = child.wait();
        }
    }

    pub fn restart(&mut self) {
        self.kill();
        self.start();
    }

    /// Sends a signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        if let Some(child) = &self.child {
            let sent = Command::new("kill")
                .args([format!("-{name}"), child.id().to_string()])
                .status();
            assert!(sent.unwrap().success());
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The ports of a node.
#[derive(Clone, Copy)]
pub struct Node {
    pub fabric: u16,
    pub ingress: u16,
    pub admin: u16,
}

impl Node {
    pub fn new() -> Node {
        Node {
            fabric: free_port(),
            ingress: free_port(),
            admin: free_port(),
        }
    }

    pub fn ingress_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ingress)
    }

    pub fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.admin)
    }
}

/// Starts the nodes of a cluster, which keep their data in this folder.
pub fn start_nodes(server: &Path, folder: &Path, nodes: &[Node]) -> Vec<Process> {
    let started = nodes.iter().enumerate().map(|(index, _)| {
        let config = folder.join(format!("node-{index}.toml"));
        std::fs::write(&config, configuration(folder, nodes, index)).unwrap();
        let server = server.to_owned();
        Process::start_new(folder.join(format!("node-{index}.log")), move || {
            let mut command = Command::new(&server);
            command.arg("--config-file").arg(&config);
            command
        })
    });
    started.collect()
}

fn configuration(folder: &Path, nodes: &[Node], index: usize) -> String {
    let Node {
        fabric,
        ingress,
        admin,
    } = nodes[index];
    let data = folder.join(format!("data-{index}"));
    let addresses = nodes
        .iter()
        .map(|node| format!("http://127.0.0.1:{}", node.fabric));
    let addresses: Vec<_> = addresses.collect();
    let replication = nodes.len().min(2);
    let provisions = index == 0;
    format!(
        r#"
roles = ["http-ingress", "admin", "worker", "log-server", "metadata-server"]
cluster-name = "tests"
node-name = "n{index}"
auto-provision = {provisions}
default-num-partitions = 4
default-replication = {replication}
disable-telemetry = true
listen-mode = "tcp"
base-dir = {data:?}
bind-ip = "127.0.0.1"
bind-port = {fabric}
advertised-address = "http://127.0.0.1:{fabric}/"
rocksdb-total-memory-size = "256.0 MiB"
log-disable-ansi-codes = true
[metadata-client]
type = "replicated"
addresses = {addresses:?}
[ingress]
bind-address = "127.0.0.1:{ingress}"
[admin]
bind-address = "127.0.0.1:{admin}"
disable-web-ui = true
[worker.invoker]
inactivity-timeout = "1s"
http2-keep-alive-interval = "1s"
http2-keep-alive-timeout = "1s"
[default-retry-policy]
initial-interval = "100ms"
exponentiation-factor = 2.0
max-attempts = 200
on-max-attempts = "pause"
max-interval = "1s"
"#
    )
}

/// Tells a server the address of services.
pub async fn register(admin: &str, port: u16) -> Result<(), String> {
    let http = reqwest::Client::new();
    let uri = json!({"uri": format!("http://127.0.0.1:{port}"), "force": true});
    let mut problem = String::new();
    for _ in 0..150 {
        let url = format!("{admin}/deployments");
        match http.post(url).json(&uri).send().await {
            Ok(response) if response.status().is_success() => return Ok(()),
            Ok(response) => problem = response.text().await.unwrap_or_default(),
            Err(error) => problem = error.to_string(),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Err(format!("port {port} is not registered: {problem}"))
}

/// Starts a balancer for these ports, used in turn, and returns its port. Ports that refuse connections are skipped.
pub async fn balance(ports: Vec<u16>) -> u16 {
    let port = free_port();
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    tokio::spawn(async move {
        for start in 0.. {
            let Ok((mut inbound, _)) = listener.accept().await else {
                continue;
            };
            let ports = ports.clone();
            tokio::spawn(async move {
                for index in 0..ports.len() {
                    let port = ports[(start + index) % ports.len()];
                    if let Ok(mut outbound) = TcpStream::connect(("127.0.0.1", port)).await {
                        let _ = (inbound.set_nodelay(true), outbound.set_nodelay(true));
                        let _ = copy_bidirectional(&mut inbound, &mut outbound).await;
                        return;
                    }
                }
            });
        }
    });
    port
}
