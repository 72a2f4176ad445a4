//! Compares the current instructions of tool-core with the committed ones.

use std::process::ExitCode;

use generate::Contender;

use crate::figures::{Figures, load};
use crate::{Result, instructions};

/// Growth of a case beyond which the comparison fails.
const GROWTH: f64 = 1.05;

pub fn run() -> Result<ExitCode> {
    if !instructions::is_available() {
        println!("skipped: valgrind is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let committed: Figures = load("instructions")?;
    let name = Contender::ToolCore.name();
    let committed = committed.get(name).ok_or("no committed figures")?;
    let mut figures = Figures::new();
    instructions::of(Contender::ToolCore, &mut figures)?;

    let mut grown = Vec::new();
    println!("{:<24}{:>12}{:>12}{:>9}", "case", "committed", "now", "");
    for (case, &now) in &figures[name] {
        let Some(&before) = committed.get(case) else {
            println!("{case:<24}{:>12}{now:>12}", "new");
            continue;
        };
        let change = now / before;
        println!(
            "{case:<24}{before:>12}{now:>12}{:>+8.1}%",
            (change - 1.0) * 100.0
        );
        if change > GROWTH {
            grown.push(case.as_str());
        }
    }
    if grown.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "\nmore than 5 % above the committed instructions: {}\n\
         Make it cheaper, or explain the cost in the commit message and commit the figures of \
         `benches/run instructions`.",
        grown.join(", ")
    );
    Ok(ExitCode::FAILURE)
}
