//! `check`: runs the checks that a test of the tools would contain.

use std::io::Write;
use std::path::{Path, PathBuf};

use tool_core::Registry;
use tool_docs::testing;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::terminal::{GOOD, Terminal};

/// The usual name of a lock file.
const LOCK: &str = "tools.lock.json";

pub(crate) fn run(cli: &Cli, registry: &Registry) -> Result<(), Failure> {
    let mut check = testing::check(registry).examples();
    for lock in &cli.locks {
        check = check.lock(lock);
    }
    for page in &cli.catalogues {
        check = check.docs(page);
    }
    if let Some(bytes) = cli.budget {
        check = check.budget_bytes(bytes);
    }
    let mut failures = check.failures();
    if registry.is_empty() {
        failures.push(
            "there are no tools; does the program use the crates that have them, as in `use my_tools as _;`?"
                .into(),
        );
    }
    // A file that nothing is compared with looks as if it were checked.
    let unused = cli.locks.is_empty() && Path::new(LOCK).exists();
    if unused {
        failures.push(format!(
            "{LOCK} is not compared with the tools; add `.lock(\"{LOCK}\")` to the `Cli`, or remove the file"
        ));
    }
    if !failures.is_empty() {
        return Err(Failure::Failed(failures.join("\n\n")));
    }
    let mut out = Terminal::stdout();
    out.styled(GOOD, "ok")?;
    writeln!(out, ": {}", counted(registry.len(), "tool"))?;
    writeln!(out, "  examples accepted")?;
    for (done, add) in compared(cli) {
        match done {
            Some(done) => writeln!(out, "  {done}")?,
            None => writeln!(out, "  not compared: {add}")?,
        }
    }
    Ok(())
}

/// Returns what the tools were compared with, or else what would compare them.
fn compared(cli: &Cli) -> [(Option<String>, &'static str); 3] {
    let files = |files: &[PathBuf]| {
        let names: Vec<_> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        (!names.is_empty()).then(|| format!("the same as in {}", names.join(", ")))
    };
    let budget = cli.budget.map(|bytes| format!("at most {bytes} bytes"));
    [
        (files(&cli.locks), "a lock file (`Cli::lock`)"),
        (files(&cli.catalogues), "a catalogue (`Cli::catalogue`)"),
        (budget, "a budget (`Cli::budget_bytes`)"),
    ]
}

/// Returns a number with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
