//! Allocations of a call, and of listing tools for a request.

use std::process::Command;

use crate::Result;
use crate::cargo::{callable, is_wanted, output, program};
use crate::figures::{load, save, set};
use crate::versions;

pub fn measure() -> Result<()> {
    let mut figures = load("allocations")?;
    for contender in callable().filter(|&contender| is_wanted(contender)) {
        let name = contender.name();
        eprintln!("{name}");
        figures.remove(name);
        let said = output(&mut Command::new(program("allocations", contender)?))?;
        for line in said.lines() {
            let [case, allocations, bytes] = line.split('\t').collect::<Vec<_>>()[..] else {
                return Err(format!("not three columns: {line}").into());
            };
            set(&mut figures, name, case, allocations.parse::<f64>()?);
            set(
                &mut figures,
                name,
                &format!("{case}, bytes"),
                bytes.parse()?,
            );
        }
        save("allocations", &figures)?;
        versions::record("allocations", contender)?;
    }
    Ok(())
}
