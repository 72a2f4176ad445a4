//! `check`: runs the checks that a test of the tools would contain.

use std::io::Write;

use tool_core::Registry;
use tool_docs::testing;

use crate::cli::Cli;
use crate::failure::Failure;
use crate::terminal::{GOOD, Terminal};

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
    let failures = check.failures();
    if failures.is_empty() {
        let mut out = Terminal::stdout();
        out.styled(GOOD, "ok")?;
        writeln!(out, ": {} tools", registry.len())?;
        return Ok(());
    }
    Err(Failure::Failed(failures.join("\n\n")))
}
