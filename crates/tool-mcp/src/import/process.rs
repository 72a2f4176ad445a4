//! A server that runs as a child process.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::secrets::Secrets;
use crate::lock;

/// A running server. Dropping it kills the process and the processes that it started.
pub(super) struct Process {
    child: Child,
    /// The process group, whose number is the process's. `None` where there are none.
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    errors: Arc<Mutex<LastLines>>,
    reader: Option<JoinHandle<()>>,
    has_ended: bool,
}

/// The variable with the number of programs above a server, each of which is the server of the one before.
const DEPTH: &str = "TOOL_MCP_DEPTH";

/// The maximum number of programs above a server. Few are nested in practice, so a deeper chain is likely
/// endless.
const MAX_DEPTH: u32 = 8;

/// Returns the number of programs above this one.
fn depth() -> u32 {
    let depth = std::env::var(DEPTH).ok();
    depth.and_then(|depth| depth.parse().ok()).unwrap_or(0)
}

/// Tells a server how many programs there are above it.
pub(super) fn count(command: &mut Command) {
    command.env(DEPTH, depth().saturating_add(1).to_string());
}

/// Checks that this program may start a server. The error says that too many are nested.
pub(super) fn check_depth() -> Result<(), String> {
    check(depth())
}

fn check(depth: u32) -> Result<(), String> {
    if depth < MAX_DEPTH {
        return Ok(());
    }
    Err(format!(
        "it was not started: {depth} servers have started each other, so they are in a loop; remove the import that \
         leads back to a program above ({DEPTH})"
    ))
}

/// Starts a server.
pub(super) fn start(
    command: &mut Command,
    inherits_stderr: bool,
) -> io::Result<(Process, ChildStdout, ChildStdin)> {
    let stderr = if inherits_stderr {
        Stdio::inherit()
    } else {
        Stdio::piped()
    };
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .kill_on_drop(true);
    // A launcher such as `npx` starts the server as a separate process, which must end with it.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let missing = || io::Error::other("the process has no standard streams");
    let stdout = child.stdout.take().ok_or_else(missing)?;
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let errors = Arc::new(Mutex::new(LastLines::default()));
    let reader = child.stderr.take().map(|stderr| {
        let errors = errors.clone();
        tokio::spawn(async move { read_lines(stderr, &errors).await })
    });
    #[cfg(unix)]
    let group = child
        .id()
        .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
    let process = Process {
        child,
        #[cfg(unix)]
        group,
        errors,
        reader,
        has_ended: false,
    };
    Ok((process, stdout, stdin))
}

impl Process {
    /// Waits until the process exits. May be dropped and called again.
    pub(super) async fn exited(&mut self) -> Option<ExitStatus> {
        self.child.wait().await.ok()
    }

    /// Ends the process, whose standard input is closed already: waits, asks it to end, waits, and kills it
    /// together with the processes that it started.
    pub(super) async fn end(mut self, grace: Duration) -> Option<ExitStatus> {
        let mut status = timeout(grace, self.child.wait()).await;
        if status.is_err() {
            #[cfg(unix)]
            self.signal(rustix::process::Signal::TERM);
            status = timeout(grace, self.child.wait()).await;
        }
        self.kill();
        let status = match status {
            Ok(status) => status,
            Err(_) => self.child.wait().await,
        };
        self.has_ended = true;
        status.ok()
    }

    /// Returns how the process ended and the last lines that it wrote to its standard error, after waiting for them
    /// shortly.
    pub(super) async fn last_words(&mut self, secrets: &Secrets) -> (Option<ExitStatus>, String) {
        let status = timeout(Duration::from_millis(300), self.child.wait()).await;
        if let Some(reader) = &mut self.reader {
            let _ = timeout(Duration::from_millis(300), reader).await;
        }
        let words = secrets.redact(lock(&self.errors).text());
        (status.ok().and_then(Result::ok), words)
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.group {
            // It fails if nothing is left of the group.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        let _ = self.child.start_kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
        }
        if let Some(reader) = &self.reader {
            reader.abort();
        }
    }
}

const LINES: usize = 20;
const LINE_LENGTH: usize = 1024;

/// The last lines that a process wrote.
#[derive(Default)]
struct LastLines {
    lines: VecDeque<Vec<u8>>,
    current: Vec<u8>,
}

impl LastLines {
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.current);
                if !line.is_empty() {
                    self.lines.push_back(line);
                }
                if self.lines.len() > LINES {
                    self.lines.pop_front();
                }
            } else if self.current.len() <= LINE_LENGTH {
                self.current.push(byte);
            }
        }
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().chain(Some(&self.current));
        let lines = lines.filter(|line| !line.is_empty()).map(|line| {
            if line.len() > LINE_LENGTH {
                // Not truncated: the start of a secret would not be recognized as one.
                "[long line]".into()
            } else {
                String::from_utf8_lossy(line)
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Reads until the end, so that the process never waits for its standard error.
async fn read_lines(stderr: ChildStderr, errors: &Mutex<LastLines>) {
    let mut reader = BufReader::new(stderr);
    let mut buffer = vec![0; 4096];
    while let Ok(length @ 1..) = reader.read(&mut buffer).await {
        lock(errors).push(&buffer[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_start_each_other_come_to_an_end() {
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(MAX_DEPTH - 1), Ok(()));
        let problem = check(MAX_DEPTH).unwrap_err();
        assert!(
            problem.contains("8 servers have started each other"),
            "{problem}"
        );
    }

    #[test]
    fn the_last_lines_are_bounded() {
        let mut lines = LastLines::default();
        for number in 0..100 {
            lines.push(format!("line {number}\n").as_bytes());
        }
        lines.push(&vec![b'x'; 1_000_000]);
        lines.push(b"\nlast");
        let text = lines.text();
        assert!(text.starts_with("line 81\nline 82\n"), "{text}");
        assert!(text.ends_with("\nline 99\n[long line]\nlast"), "{text}");
    }
}
