//! Measures tool-core and its alternatives, and writes `RESULTS.md`.
//!
//! ```text
//! benches/run                  runs every part, then writes RESULTS.md
//! benches/run size schema      runs these parts alone
//! benches/run results          writes RESULTS.md, COMPARISON.md and the table in README.md from the committed figures
//! benches/run check            fails if the committed figures give other pages
//! benches/compare              compares tool-core's instructions with the committed ones
//! ```
//!
//! The parts are `instructions`, `times`, `limits`, `allocations`, `dynamic`, `journals`, `cli`, `schema`, `compile`, `edit`, `size`,
//! `cold`, `jobs`, `facts` and `bfcl`. Each keeps its figures in `figures/<part>.json`, from which the pages are generated. A
//! part whose tool is not installed says so and keeps its figures.
//!
//! Environment variables:
//!
//! - `BFCL`: a folder with `tools/bfcl.py` and `data/bfcl/BFCL_v4_*.json`, for the part `bfcl`.
//! - `CONTENDERS=bare,tool-core` measures only these, in parts that allow it.
//! - `COUNTS=200` builds only this number of tools in the part `compile`.
//! - `MODES=check,debug` builds only in these ways there; the others are `release` and
//!   `incremental`.
//! - `AGAIN=1` builds the peers' 1,000 tools there, too, which takes half an hour. Otherwise their
//!   figures are kept, because their versions are pinned.

mod allocations;
mod bfcl;
mod cargo;
mod cli;
mod cold;
mod compare;
mod compile;
mod dynamic;
mod edit;
mod facts;
mod figures;
mod instructions;
mod jobs;
mod journals;
mod leaf;
mod limits;
mod results;
mod schema;
mod size;
mod times;
mod versions;

use std::process::ExitCode;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Measures a part and saves its figures.
type Part = fn() -> Result<()>;

/// The parts, in order.
const PARTS: &[(&str, Part)] = &[
    ("instructions", instructions::measure),
    ("times", times::measure),
    ("limits", limits::measure),
    ("allocations", allocations::measure),
    ("dynamic", dynamic::measure),
    ("journals", journals::measure),
    ("cli", cli::measure),
    ("schema", schema::measure),
    ("compile", compile::measure),
    ("edit", edit::measure),
    ("size", size::measure),
    ("cold", cold::measure),
    ("jobs", jobs::measure),
    ("facts", facts::measure),
    ("bfcl", bfcl::measure),
];

fn main() -> ExitCode {
    if let Some(code) = leaf::as_compiler() {
        return code;
    }
    let wanted: Vec<_> = std::env::args().skip(1).collect();
    if let Some(unknown) = unknown(&wanted) {
        let parts: Vec<_> = PARTS.iter().map(|(part, _)| *part).collect();
        eprintln!(
            "error: unknown argument `{unknown}`\n\
             usage: benches/run [PART]...    measures these parts, or all: {}\n       \
             benches/run results      writes the pages from the committed figures\n       \
             benches/run check        compares the pages with the committed figures\n       \
             benches/compare          compares instructions with the committed ones",
            parts.join(", ")
        );
        return ExitCode::from(2);
    }
    match run(&wanted) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the first unknown argument.
fn unknown(wanted: &[String]) -> Option<&str> {
    if let [command] = wanted
        && ["check", "compare", "results"].contains(&&**command)
    {
        return None;
    }
    let is_part = |name: &str| PARTS.iter().any(|(part, _)| *part == name);
    wanted
        .iter()
        .map(|name| &**name)
        .find(|name| !is_part(name))
}

fn run(wanted: &[String]) -> Result<ExitCode> {
    match wanted.first().map(String::as_str) {
        Some("compare") => return compare::run(),
        Some("check") => return results::check(),
        Some("results") => {}
        _ => {
            for (part, measure) in PARTS {
                if wanted.is_empty() || wanted.iter().any(|name| name == part) {
                    eprintln!("== {part}");
                    let start = Instant::now();
                    measure()?;
                    eprintln!("== {part} took {:.0} s", start.elapsed().as_secs_f64());
                }
            }
        }
    }
    results::write()?;
    Ok(ExitCode::SUCCESS)
}
