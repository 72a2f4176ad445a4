//! Measures tool-core beside what one would take instead, and writes `RESULTS.md`.
//!
//! ```text
//! benches/run                  every part, then RESULTS.md
//! benches/run size schema      these parts alone
//! benches/run results          RESULTS.md from the figures that there are
//! benches/compare              today's instructions of tool-core beside the committed ones
//! ```
//!
//! The parts are `instructions`, `times`, `allocations`, `schema`, `compile`, `size`, `cold` and
//! `bfcl`. Every part keeps its figures in `figures/<part>.json`, from which the page is made. A
//! part that lacks its tool says so and leaves its figures as they are.
//!
//! Some variables of the environment matter:
//!
//! - `BFCL`: a folder with `tools/bfcl.py` and `data/bfcl/BFCL_v4_*.json`, for the part `bfcl`.
//! - `CONTENDERS=bare,tool-core` measures these alone, in the parts that allow it.
//! - `COUNTS=200` builds only so many tools in the part `compile`.
//! - `MODES=check,debug` builds in these ways alone there; others are `release` and `incremental`.
//! - `AGAIN=1` builds the peers' 1,000 tools in that part too, which takes half an hour; else the
//!   figures that there are stay, since the versions of the peers are pinned.

mod allocations;
mod bfcl;
mod cargo;
mod cold;
mod compare;
mod compile;
mod figures;
mod instructions;
mod leaf;
mod results;
mod schema;
mod size;
mod times;

use std::process::ExitCode;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Measures, and saves its figures.
type Part = fn() -> Result<()>;

/// The parts, in the order in which they are run.
const PARTS: &[(&str, Part)] = &[
    ("instructions", instructions::measure),
    ("times", times::measure),
    ("allocations", allocations::measure),
    ("schema", schema::measure),
    ("compile", compile::measure),
    ("size", size::measure),
    ("cold", cold::measure),
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
             usage: benches/run [PART]...    with the parts {}\n       \
             benches/run results      the page from the figures that there are\n       \
             benches/compare          instructions beside the committed ones",
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

/// The first argument that means nothing.
fn unknown(wanted: &[String]) -> Option<&str> {
    if let [command] = wanted
        && ["compare", "results"].contains(&&**command)
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
