//! Journals: instructions and time of the append of an increment, beside a plain append and a plain `INSERT`.

use std::process::Command;

use crate::Result;
use crate::cargo::{built, cases, output};
use crate::figures::{Figures, rounded, save, set};
use crate::instructions::{counted, is_available};

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed; keeping the committed figures");
        return Ok(());
    }
    let mut figures = Figures::new();
    let counts = built("counts", "journals", &[])?;
    for case in cases(&counts)? {
        let count = counted(&counts, &case, 100)?;
        eprintln!("{case}: {count:.0}");
        set(&mut figures, "tool-core", &case, count.round());
    }
    let said = output(&mut Command::new(built("times", "journals", &[])?))?;
    for line in said.lines() {
        let (case, times) = line.split_once('\t').ok_or("not two columns")?;
        for (round, time) in times.split('\t').enumerate() {
            let round = format!("{case}, µs {round}");
            set(&mut figures, "tool-core", &round, rounded(time.parse()?, 1));
        }
    }
    save("journals", &figures)
}
