//! Instructions per call, counted by callgrind: the same on every run, whatever else the machine does. Only hashes, which
//! are random, let the counts of look-ups differ by less than 1 %.

use std::path::Path;
use std::process::Command;

use generate::Contender;

use crate::Result;
use crate::cargo::{callable, cases, is_wanted, output, program};
use crate::figures::{Figures, load, save, set};
use crate::versions;

/// Returns `true` if callgrind is installed.
pub fn is_available() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok()
}

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed; keeping the committed figures");
        return Ok(());
    }
    let mut figures = load("instructions")?;
    for contender in callable().filter(|&contender| is_wanted(contender)) {
        figures.remove(contender.name());
        of(contender, &mut figures)?;
        save("instructions", &figures)?;
        versions::record("instructions", contender)?;
    }
    Ok(())
}

/// Counts one contender.
pub fn of(contender: Contender, figures: &mut Figures) -> Result<()> {
    let program = program("counts", contender)?;
    output(Command::new(&program).arg("check"))?;
    let name = contender.name();
    let named = output(Command::new(&program).arg("mistakes"))?;
    set(figures, name, "mistakes named", named.trim().parse()?);
    for case in cases(&program)? {
        // Lists of one shape are counted by allocations only.
        if case.starts_with("list ") && case.matches(' ').count() > 1 {
            continue;
        }
        // The loop and callgrind's switch take some instructions, which many repeats of a small case outweigh.
        let small = [
            "flat", "nested", "text", "none", "refused", "validate", "pieces", "long",
        ];
        let mut small = small.iter();
        let is_small = case.ends_with(" 10")
            || small.any(|small| case.starts_with(small) && !case.ends_with("in turn"));
        let count = counted(&program, &case, if is_small { 200 } else { 4 })?;
        eprintln!("{name} {case}: {count:.0}");
        set(figures, name, &case, count.round());
    }
    Ok(())
}

/// Returns the instructions of one call, tool, look-up or event: callgrind collects the repeats of a case alone, not what
/// comes before them.
pub fn counted(program: &Path, case: &str, repeats: u32) -> Result<f64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*repeat_counted*")
        .arg(program)
        .args([case, &repeats.to_string()]);
    let run = command.output()?;
    let said = String::from_utf8_lossy(&run.stderr);
    let collected = collected(&said);
    let of: std::result::Result<f64, _> = String::from_utf8_lossy(&run.stdout).trim().parse();
    match (collected, of) {
        (Some(collected), Ok(of)) if run.status.success() && collected > 0.0 => {
            Ok(collected / f64::from(repeats) / of)
        }
        _ => Err(format!("{command:?}: {}\n{said}", run.status).into()),
    }
}

/// Returns the instructions in the summary of callgrind.
pub fn collected(said: &str) -> Option<f64> {
    let mut lines = said.lines();
    let (_, count) = lines.find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok()
}
