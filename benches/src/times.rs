//! Wall time. No machine is quiet, so contenders run in turn, round after round: a ratio is taken
//! within
//! a round, and the median of the rounds is reported with the extremes.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::cargo::{callable, cases, output, program, target};
use crate::figures::{Figures, rounded, save};
use crate::versions;

/// Odd, so that the median is one of them.
pub const ROUNDS: usize = 7;

/// Nanoseconds in each round.
pub type Times = Figures<Vec<f64>>;

pub fn measure() -> Result<()> {
    let mut contenders = Vec::new();
    let mut order: Vec<String> = Vec::new();
    for contender in callable() {
        eprintln!("building {}", contender.name());
        let cases = cases(&program("counts", contender)?)?;
        let cases: Vec<_> = cases.into_iter().filter(|case| is_timed(case)).collect();
        for case in &cases {
            if !order.contains(case) {
                order.push(case.clone());
            }
        }
        contenders.push((contender, program("times", contender)?, cases));
    }
    let mut times = Times::new();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        for case in &order {
            for (contender, program, cases) in &contenders {
                if cases.contains(case) {
                    let nanoseconds = time(program, contender.name(), case)?;
                    let of_all = times.entry(contender.name().to_owned()).or_default();
                    of_all.entry(case.clone()).or_default().push(nanoseconds);
                }
            }
        }
    }
    save("times", &times)?;
    for (contender, ..) in contenders {
        versions::record("times", contender)?;
    }
    Ok(())
}

/// Lists of one shape are counted by allocations only, and limits by instructions.
fn is_timed(case: &str) -> bool {
    let is_of_shape = case.starts_with("list ") && case.matches(' ').count() > 1;
    !is_of_shape && !case.starts_with("limit ")
}

/// Returns the nanoseconds of one call, tool or look-up.
pub fn time(program: &Path, name: &str, case: &str) -> Result<f64> {
    let folder = target().join("criterion").join(name);
    let said = output(Command::new(program).arg(case).arg(folder))?;
    let last = said.lines().last().unwrap_or_default();
    Ok(rounded(last.parse()?, 1))
}
