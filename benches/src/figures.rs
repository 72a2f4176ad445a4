//! Measured figures, kept as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Result;
use crate::cargo::home;

/// Figures by contender and measure.
pub type Figures<T = f64> = BTreeMap<String, BTreeMap<String, T>>;

fn path(part: &str) -> PathBuf {
    home().join("figures").join(format!("{part}.json"))
}

/// Returns the figures of a part; empty if it was never run.
pub fn load<T: DeserializeOwned>(part: &str) -> Result<Figures<T>> {
    match std::fs::read_to_string(path(part)) {
        Ok(text) => Ok(serde_json::from_str(&text)?),
        Err(_) => Ok(Figures::new()),
    }
}

pub fn save<T: Serialize>(part: &str, figures: &Figures<T>) -> Result<()> {
    std::fs::create_dir_all(home().join("figures"))?;
    let text = serde_json::to_string_pretty(figures)? + "\n";
    Ok(std::fs::write(path(part), text)?)
}

pub fn set<T>(figures: &mut Figures<T>, contender: &str, measure: &str, value: T) {
    figures
        .entry(contender.to_owned())
        .or_default()
        .insert(measure.to_owned(), value);
}

/// Returns one figure.
pub fn get(figures: &Figures, who: &str, measure: &str) -> Option<f64> {
    figures.get(who)?.get(measure).copied()
}

/// Rounds to some decimals. More would only make noise in the committed files.
pub fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}
