//! Tools that are defined at run time: instructions of a call and of building one, and the memory that it holds.

use std::process::Command;

use crate::Result;
use crate::cargo::{built, cases, output};
use crate::figures::{Figures, save, set};
use crate::instructions::{counted, is_available};

pub fn measure() -> Result<()> {
    if !is_available() {
        eprintln!("valgrind is not installed; keeping the committed figures");
        return Ok(());
    }
    let mut figures = Figures::new();
    of(&mut figures)?;
    save("dynamic", &figures)
}

/// Measures all cases.
pub fn of(figures: &mut Figures) -> Result<()> {
    let mut note = |case: &str, figure: f64| {
        eprintln!("{case}: {figure:.0}");
        set(figures, "tool-core", case, figure.round());
    };
    let counts = built("counts", "dynamic", &[])?;
    for case in cases(&counts)? {
        note(&case, counted(&counts, &case, 20)?);
    }
    let said = output(&mut Command::new(built("memory", "dynamic", &[])?))?;
    for line in said.lines() {
        let (case, bytes) = line.split_once('\t').ok_or("not two columns")?;
        note(case, bytes.parse()?);
    }
    Ok(())
}
