//! Measures tool-core beside what one would take instead, and writes `RESULTS.md`.
//!
//! ```text
//! cargo run --release                    everything
//! cargo run --release -- instructions    one part: instructions or compile
//! cargo run --release -- compare         today's instructions beside the committed ones
//! cargo run --release -- table           RESULTS.md from the figures that there are
//! ```
//!
//! Every part keeps its figures in `figures/<part>.json`, from which the table is made.

mod cargo;
mod compare;
mod compile;
mod figures;
mod instructions;
mod table;

use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The parts, in the order in which they are run and reported.
const PARTS: &[(&str, fn() -> Result<()>)] = &[
    ("instructions", instructions::measure),
    ("compile", compile::measure),
];

fn main() -> ExitCode {
    if let Some(code) = compile::as_compiler() {
        return code;
    }
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(wanted: &[String]) -> Result<ExitCode> {
    match wanted.first().map(String::as_str) {
        Some("compare") => return compare::run(),
        Some("table") => {
            table::write()?;
            return Ok(ExitCode::SUCCESS);
        }
        _ => {}
    }
    let unknown = wanted
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != name));
    if let Some(name) = unknown {
        return Err(format!("no part {name}").into());
    }
    for (part, measure) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|name| name == part) {
            eprintln!("== {part}");
            measure()?;
        }
    }
    table::write()?;
    Ok(ExitCode::SUCCESS)
}
