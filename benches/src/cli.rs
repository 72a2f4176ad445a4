//! The start of a command line of 201 tools: instructions of `list`, of the help of a tool and of a call that is rejected, beside a
//! program of clap that does nothing.

use std::process::{Command, Stdio};

use crate::Result;
use crate::cargo::built;
use crate::figures::{Figures, save, set};
use crate::instructions::{collected, is_available};

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed; keeping the committed figures");
        return Ok(());
    }
    let mut figures = Figures::new();
    for (case, program, flags) in [
        ("plain", "plain", &["list"][..]),
        ("list", "tools", &["list"]),
        ("help of a tool", "tools", &["call", "flat_7", "--help"]),
        ("rejected call", "tools", &["call", "flat_7"]),
    ] {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(built(program, "cli", &[])?)
            .args(flags)
            .stdout(Stdio::null());
        let said = command.output()?.stderr;
        let said = String::from_utf8_lossy(&said);
        let count = collected(&said).ok_or_else(|| format!("{command:?}: {said}"))?;
        eprintln!("{case}: {count:.0}");
        // A few thousand differ between runs, by the seeds of hashes and by the environment.
        set(&mut figures, "tool-core", case, (count / 1e4).round() * 1e4);
    }
    save("cli", &figures)
}
