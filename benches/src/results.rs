//! `RESULTS.md`, from the figures that there are.

mod bounds;
mod data;
mod grid;
mod sections;

use crate::Result;
use crate::cargo::home;
use data::Data;

const HEAD: &str = "# Measured

Written by `benches/run`; the figures are in `figures`, the peers and their versions in `Cargo.toml`.
Instructions are counted by callgrind and are the same on every run. Wall time is criterion's: what is
compared is run in turn, round after round, a ratio is taken within a round, and the median of the
rounds is given with the extremes in brackets. Peers are rmcp, rig, tools-rs, llm-tool, and schemars
with hand-written glue; the floor is a hand-written argument struct, `from_str` and a direct call.
";

pub fn write() -> Result<()> {
    let data = Data::load()?;
    let mut page = String::from(HEAD);
    bounds::write(&data, &mut page)?;
    sections::write(&data, &mut page);
    Ok(std::fs::write(home().join("RESULTS.md"), page)?)
}
