//! A shell in Linux namespaces, by bubblewrap: it has no network, and sees only the system's files and one folder.
//!
//! ```text
//! cargo run -p tool-files --example contained_shell -- FOLDER COMMAND
//! ```
//!
//! In a container the command line would be `docker run --rm --network none --read-only --cap-drop ALL --memory 512m
//! --pids-limit 100 --volume FOLDER:/work --workdir /work IMAGE bash -c COMMAND`.

use std::error::Error;
use std::path::PathBuf;
use std::process::Stdio;
use std::{env, io};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;
use tool_core::{Registry, ToolCall};
use tool_files::shell::{BashTool, Limits, Output, Shell};

/// Runs each command in new namespaces, in a folder.
struct Contained {
    /// The only folder that commands can write.
    folder: PathBuf,
}

impl Contained {
    fn command(&self, command: &str, limits: &Limits) -> Command {
        let mut bwrap = Command::new("bwrap");
        // `--die-with-parent` ends the command with this program, and a process namespace ends all of its processes.
        bwrap.args(["--unshare-all", "--die-with-parent", "--new-session"]);
        bwrap.args(["--cap-drop", "ALL", "--clearenv"]);
        bwrap.args(["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"]);
        bwrap.args([
            "--symlink",
            "usr/lib",
            "/lib",
            "--symlink",
            "usr/lib64",
            "/lib64",
        ]);
        bwrap.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
        bwrap
            .arg("--bind")
            .arg(&self.folder)
            .args(["/work", "--chdir", "/work"]);
        bwrap.args(["--setenv", "PATH", "/usr/bin"]);
        for (name, value) in &limits.variables {
            bwrap.args(["--setenv", name, value]);
        }
        bwrap.args(["/bin/bash", "-c", command]);
        bwrap
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        bwrap.kill_on_drop(true);
        bwrap
    }
}

impl Shell for Contained {
    async fn run(&self, command: &str, limits: &Limits) -> io::Result<Output> {
        let mut child = self.command(command, limits).spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let ended = {
            let all = async {
                tokio::try_join!(
                    read(out, &mut stdout, limits.output_bytes),
                    read(err, &mut stderr, limits.output_bytes),
                )?;
                child.wait().await
            };
            timeout(limits.time, all).await
        };
        match ended {
            // A signal ended bubblewrap itself; a signal to the command is reported as an exit code.
            Ok(status) => Ok(Output::exited(status?.code().unwrap_or(-1), stdout, stderr)),
            Err(_) => {
                child.kill().await?;
                Ok(Output::timed_out(stdout, stderr))
            }
        }
    }
}

/// Reads up to a limit and discards the rest. One byte more is kept, to show that there was more.
async fn read(
    from: Option<impl AsyncRead + Unpin>,
    to: &mut Vec<u8>,
    most: usize,
) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let mut part = vec![0; 8192];
    loop {
        let count = from.read(&mut part).await?;
        if count == 0 {
            return Ok(());
        }
        let room = most.saturating_add(1).saturating_sub(to.len());
        to.extend_from_slice(&part[..count.min(room)]);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(folder), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("usage: contained_shell FOLDER COMMAND".into());
    };
    let shell = Contained {
        folder: std::fs::canonicalize(folder)?,
    };
    let tools = Registry::builder()
        .toolset("", BashTool::new(shell, Limits::default()))
        .build()?;
    // Calls the tool as a model would.
    let arguments = serde_json::json!({ "command": command });
    let result = tools.call(ToolCall::new("1", "bash", arguments)).await;
    println!("{}", result.content());
    Ok(())
}
