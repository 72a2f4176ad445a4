//! A fleet on one machine, in which conversations pay invoices: a Restate server, two agents, three workers and two
//! balancers. It draws its state, and counts the payments at the end.
//!
//! ```sh
//! cargo run --example fleet              # 40 conversations
//! cargo run --example fleet -- --kill    # kills processes meanwhile
//! ```
//!
//! It needs npm, which installs the server, or a server in `RESTATE_SERVER`. The model is a script, so no key is needed.

mod crew;
#[allow(dead_code)]
#[path = "../../tests/support/engine.rs"]
mod engine;
mod picture;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use engine::{Node, Process};
use picture::{Machine, Picture};
use tokio::sync::mpsc;
use tool_agent::run::{Run, RunOutcome};
use tool_core::ToolErrorKind;
use tool_restate::{Client, ClientError, Message};

const USAGE: &str = "usage: fleet [--kill] [--conversations NUMBER]";
const AGENTS: usize = 2;
const WORKERS: usize = 3;
/// The time between two frames.
const FRAME: Duration = Duration::from_millis(200);

struct Options {
    kills: bool,
    conversations: usize,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        kills: false,
        conversations: 40,
    };
    while let Some(arg) = args.next() {
        match &*arg {
            "--kill" => options.kills = true,
            "--conversations" => {
                let number = args.next().and_then(|number| number.parse().ok());
                let number = number.filter(|number| (1..=1_000).contains(number));
                options.conversations =
                    number.ok_or("--conversations needs a number from 1 to 1000")?;
            }
            _ => return Err(format!("unknown argument {arg:?}; {USAGE}")),
        }
    }
    Ok(options)
}

#[tokio::main]
async fn main() -> ExitCode {
    if crew::act().await {
        return ExitCode::SUCCESS;
    }
    let run = async { fleet(options(std::env::args().skip(1))?).await };
    // Dropping the future kills the processes.
    let ended = tokio::select! {
        ended = run => ended,
        _ = tokio::signal::ctrl_c() => Err("stopped".to_owned()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("fleet: {problem}");
            ExitCode::from(2)
        }
    }
}

/// The processes, in the order of their names in the picture.
struct Fleet {
    folder: PathBuf,
    node: Node,
    processes: Vec<(String, Process)>,
}

impl Fleet {
    async fn start() -> Result<Fleet, String> {
        let temporary = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tmp");
        let server = engine::server(&temporary.join("restate"));
        let server = server
            .ok_or("there is no Restate server: install npm, or name one in RESTATE_SERVER")?;
        let folder = temporary.join(format!("fleet-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let node = Node::new();
        let servers = engine::start_nodes(&server, &folder, &[node]);
        let mut processes: Vec<_> = ["server".to_owned()].into_iter().zip(servers).collect();
        let mut ports = Vec::new();
        for (role, count) in [("agent", AGENTS), ("worker", WORKERS)] {
            let mut own = Vec::new();
            for number in 1..=count {
                let (port, effects) = (engine::free_port(), folder.clone());
                let log = folder.join(format!("{role}-{number}.log"));
                let process = Process::start_new(log, move || {
                    let program = std::env::current_exe().expect("the program has a path");
                    let mut command = Command::new(program);
                    command
                        .env("FLEET_ROLE", role)
                        .env("FLEET_PORT", port.to_string())
                        .env("FLEET_FOLDER", &effects);
                    command
                });
                processes.push((format!("{role} {number}"), process));
                own.push(port);
            }
            ports.push(own);
        }
        for ports in ports {
            let port = engine::balance(ports).await;
            engine::register(&node.admin_url(), port).await?;
        }
        Ok(Fleet {
            folder,
            node,
            processes,
        })
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.processes.clear();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Runs the conversations. Returns `true` if the payments are correct.
async fn fleet(options: Options) -> Result<bool, String> {
    println!("starting 1 server, {AGENTS} agents, {WORKERS} workers …");
    let mut fleet = Fleet::start().await?;
    let client = Client::new(&fleet.node.ingress_url()).map_err(|error| error.to_string())?;
    let (done, mut ended) = mpsc::unbounded_channel();
    for number in 0..options.conversations {
        let (client, done) = (client.clone(), done.clone());
        tokio::spawn(async move {
            tokio::time::sleep(FRAME * u32::try_from(number).unwrap_or(0)).await;
            let _ = done.send(converse(&client, &format!("run-{number:03}")).await);
        });
    }
    drop(done);
    let names = fleet.processes.iter().map(|(name, _)| Machine::new(name));
    let mut picture = Picture::new(names.collect(), options.conversations);
    let start = Instant::now();
    let mut runs = Vec::new();
    let mut frame = 0;
    while runs.len() < options.conversations {
        tokio::time::sleep(FRAME).await;
        frame += 1;
        if options.kills {
            kill(&mut fleet, &mut picture, frame);
        }
        while let Ok(run) = ended.try_recv() {
            let run = run?;
            picture.note(format!("{} is answered", run.id()));
            runs.push(run);
        }
        picture.conversations = runs.len();
        picture.payments = fleet.lines("payments").len();
        picture.calls = fleet.lines("calls").len() + picture.payments;
        picture.time = start.elapsed();
        show(&picture, runs.len() == options.conversations);
    }
    let count = Count::of(&runs, &fleet.lines("payments"));
    println!("{count}");
    Ok(count.is_right())
}

/// Kills the next process, and restarts the last one.
fn kill(fleet: &mut Fleet, picture: &mut Picture, frame: usize) {
    // The server comes last and least often.
    const ORDER: [usize; 9] = [1, 3, 2, 4, 1, 5, 2, 3, 0];
    let index = ORDER[frame / 5 % ORDER.len()];
    let (name, process) = &mut fleet.processes[index];
    match frame % 5 {
        1 => {
            process.kill();
            picture.machines[index].is_up = false;
            picture.machines[index].kills += 1;
            picture.note(format!("{name} is killed"));
        }
        3 => {
            process.start();
            picture.machines[index].is_up = true;
            picture.note(format!("{name} is started"));
        }
        _ => {}
    }
}

/// On a terminal, draws over the last picture. Elsewhere, writes only the final one.
fn show(picture: &Picture, is_last: bool) {
    let mut out = io::stdout().lock();
    let text = if out.is_terminal() {
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| width.0);
        format!("\x1b[H\x1b[2J{}", picture.draw(width.into()))
    } else if is_last {
        picture.draw(80)
    } else {
        return;
    };
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Sends a message until it has an outcome, and returns the run.
async fn converse(client: &Client, id: &str) -> Result<Run, String> {
    for _ in 0..300 {
        let message = Message::new("Pay the invoices.").owner("ann").key(id);
        let sent = async {
            let reply = client.send(id, message).await?;
            Ok::<_, ClientError>((reply.outcome, client.state(id).await?))
        };
        match sent.await {
            Ok((RunOutcome::Answered(_), Some(run))) => return Ok(run),
            Ok((outcome, _)) => return Err(format!("{id} ended with {outcome:?}")),
            // The server is down or starting.
            Err(ClientError::Failed(_) | ClientError::Refused(500.., _)) => {
                tokio::time::sleep(FRAME).await;
            }
            Err(error) => return Err(format!("{id}: {error}")),
        }
    }
    Err(format!("{id} has no outcome"))
}

/// Compares the payments reported in the runs with the real ones.
#[derive(Default)]
struct Count {
    conversations: usize,
    payments: usize,
    doubled: usize,
    /// Payments without a call in a run.
    unknown: usize,
    /// Calls with a result that reports a payment, but without one.
    claimed: usize,
    interrupted: usize,
    failed: usize,
}

impl Count {
    fn of(runs: &[Run], lines: &[String]) -> Count {
        let mut paid = BTreeMap::<&str, usize>::new();
        for line in lines {
            *paid.entry(line.as_str()).or_default() += 1;
        }
        let mut count = Count {
            conversations: runs.len(),
            payments: lines.len(),
            doubled: paid.values().filter(|times| **times > 1).count(),
            ..Count::default()
        };
        for run in runs {
            for (number, round) in run.rounds().iter().enumerate() {
                for (index, (call, result)) in round.calls().enumerate() {
                    if call.name != "pay" {
                        continue;
                    }
                    let key = format!("{}/{}/{index}", run.id(), number + 1);
                    let is_paid = paid.remove(&*key).is_some();
                    let error = result.map(|result| result.error().map(|error| error.kind()));
                    match error {
                        Some(None) => count.claimed += usize::from(!is_paid),
                        Some(Some(ToolErrorKind::Interrupted)) => count.interrupted += 1,
                        _ => count.failed += 1,
                    }
                }
            }
        }
        count.unknown = paid.len();
        count
    }

    fn is_right(&self) -> bool {
        self.doubled + self.unknown + self.claimed + self.failed == 0
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} conversations are answered.", self.conversations)?;
        writeln!(f, "{} payments are made:", self.payments)?;
        writeln!(f, "{:>5} made twice", self.doubled)?;
        writeln!(f, "{:>5} unknown to their conversation", self.unknown)?;
        writeln!(f, "{:>5} claimed and not made", self.claimed)?;
        writeln!(f, "{:>5} failed", self.failed)?;
        write!(f, "{:>5} interrupted, and may be made", self.interrupted)
    }
}
