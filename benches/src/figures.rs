//! Measured figures: a tree of names with numbers, kept as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Result;
use crate::cargo::home;

/// What was measured of whom: contender, then measure.
pub type Figures = BTreeMap<String, BTreeMap<String, f64>>;

fn path(part: &str) -> PathBuf {
    home().join("figures").join(format!("{part}.json"))
}

/// The figures of a part; none when it was never run.
pub fn load(part: &str) -> Result<Figures> {
    match std::fs::read_to_string(path(part)) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(_) => Ok(Figures::new()),
    }
}

pub fn save(part: &str, figures: &Figures) -> Result<()> {
    std::fs::create_dir_all(home().join("figures"))?;
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(std::fs::write(path(part), text)?)
}

pub fn set(figures: &mut Figures, contender: &str, measure: &str, value: f64) {
    figures
        .entry(contender.to_owned())
        .or_default()
        .insert(measure.to_owned(), value);
}
