//! What each crate does with the same function, as the programs of the package `facts` observe it.

use std::collections::BTreeMap;
use std::process::Command;

use generate::Contender;
use serde_json::{Value, json};

use crate::Result;
use crate::cargo::{cargo, home, is_wanted, output, target};
use crate::cold::crates;
use crate::compile::compiled;
use crate::figures::{Figures, load, save};
use crate::{cold, versions};

/// The features that change what a crate does: the contenders that have each, and its name in the
/// table.
pub const OPTIONS: &[(&str, &[Contender], &str)] = &[
    (
        "closed",
        &[Contender::Rmcp, Contender::TowerMcp, Contender::Schemars],
        "`deny_unknown_fields`",
    ),
    ("caught", &[Contender::TowerMcp], "`catch_panics`"),
    (
        "validated",
        &[Contender::TowerMcp],
        "its feature `schema-validation`",
    ),
    ("closed,validated", &[Contender::TowerMcp], "both"),
];

/// The features that add a function that a crate may reject.
const TRIALS: &[&str] = &["silent", "twice", "across", "foreign"];

pub fn measure() -> Result<()> {
    let mut figures: Figures<Value> = load("facts")?;
    let mut date = Command::new("date");
    let month = output(date.args(["-u", "+%B %Y"]).env("LC_ALL", "C"))?;
    for contender in compiled().filter(|&c| c != Contender::Bare && is_wanted(c)) {
        let name = contender.name();
        eprintln!("{name}");
        let mut seen: BTreeMap<String, Value> = BTreeMap::new();
        seen.insert("plain".into(), run(contender, "")?);
        for (option, contenders, _) in OPTIONS {
            if contenders.contains(&contender) {
                seen.insert((*option).into(), run(contender, option)?);
            }
        }
        for trial in TRIALS.iter().filter(|_| contender.has_macro()) {
            if *trial != "across" || contender == Contender::ToolCore {
                seen.insert((*trial).into(), attempt(contender, trial)?);
            }
        }
        seen.insert("lines".into(), lines(contender)?.into());
        seen.insert("crates".into(), crates(&cold::leaf(contender)?)?.into());
        seen.insert("month".into(), month.trim().into());
        figures.insert(name.to_owned(), seen);
        save("facts", &figures)?;
        versions::record("facts", contender)?;
    }
    Ok(())
}

fn build(contender: Contender, feature: &str) -> Result<()> {
    let name = contender.name();
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", "facts"]);
    cargo.args(["--bin", &format!("facts-{name}")]);
    cargo.args(["--features", &format!("{name},{feature}")]);
    output(&mut cargo).map(drop)
}

/// Builds and runs the program of a contender with a feature, and returns what it observes.
fn run(contender: Contender, feature: &str) -> Result<Value> {
    build(contender, feature)?;
    let program = target().join(format!("debug/facts-{}", contender.name()));
    let said = output(&mut Command::new(program))?;
    Ok(serde_json::from_str(&without_references(&said))?)
}

/// Returns what happens to the function that a feature adds.
fn attempt(contender: Contender, feature: &str) -> Result<Value> {
    if let Err(error) = build(contender, feature) {
        // Without the feature it was built.
        let error = error.to_string();
        let mut lines = error.lines().filter(|line| line.starts_with("error"));
        return Ok(json!({ "build": lines.next().unwrap_or_default() }));
    }
    let mut seen = run(contender, feature)?;
    let reply = seen["replies"]["correct"].take();
    let mut kept = serde_json::Map::new();
    for key in ["start", "tools", "quiet"] {
        if let Some(value) = seen.get_mut(key) {
            kept.insert(key.into(), value.take());
        }
    }
    kept.insert("correct".into(), reply);
    Ok(kept.into())
}

/// Replaces the references to the log in errors of tool-core, which are random.
fn without_references(text: &str) -> String {
    let mut parts = text.split(" [ref ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += " [ref …";
        out += part.find(']').map_or(part, |end| &part[end..]);
    }
    out
}

/// Returns the lines of code of the tool: neither blank lines nor what only some features have.
fn lines(contender: Contender) -> Result<usize> {
    let file = format!("facts/src/bin/facts-{}.rs", contender.name());
    let text = std::fs::read_to_string(home().join(&file))?;
    let tool = text
        .split_once("// The tool.\n")
        .and_then(|(_, rest)| rest.split_once("// The end of the tool.\n"))
        .ok_or_else(|| format!("{file}: no tool"))?;
    let is_code = |line: &&str| {
        let line = line.trim();
        !(line.is_empty() || line.starts_with("#[cfg") || line.starts_with("// "))
    };
    Ok(tool.0.lines().filter(is_code).count())
}
