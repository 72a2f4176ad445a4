//! `RESULTS.md`, from the figures that there are.

use std::fmt::Write;

use crate::Result;
use crate::cargo::home;
use crate::figures::{Figures, load};

/// A section: its heading, the figures it shows, and the cases with what they are called.
struct Section {
    part: &'static str,
    heading: &'static str,
    note: &'static str,
    /// Cases that begin so are shown; empty shows all.
    cases: &'static [&'static str],
    /// Whom the ratios are to.
    base: Option<&'static str>,
    digits: usize,
}

const CALLS: &[&str] = &[
    "flat",
    "nested",
    "text",
    "none",
    "refused",
    "flat in turn",
    "200 in turn",
];
const LISTS: &[&str] = &[
    "list definitions",
    "list openai-chat",
    "list openai-responses",
    "list anthropic",
    "list gemini",
    "list mcp",
    "start",
];

const SECTIONS: &[Section] = &[
    Section {
        part: "instructions",
        heading: "Instructions a call",
        note: "Under callgrind, so the same on every run. JSON text in, the model's text out; in \
               brackets the ratio to the floor. `refused` has three mistakes: tool-core names all, \
               the others the first. Only tool-core and schemars (`deny_unknown_fields`) are closed; the others do not see an unknown \
               argument. rmcp and tools-rs take a JSON value, which is parsed from the same text.",
        cases: CALLS,
        base: Some("floor"),
        digits: 0,
    },
    Section {
        part: "instructions",
        heading: "Instructions for a request's tools, and to start",
        note: "The `tools` of a request as bytes, for 201 tools, and what has to be done before the \
               first call.",
        cases: LISTS,
        base: None,
        digits: 0,
    },
    Section {
        part: "compile",
        heading: "CPU seconds of rustc for a crate of tools",
        note: "Generated crates, 4 to 8 parameters a tool. `bare` is the same functions without \
               tools. `incremental` is a debug build after the docs of one tool have changed.",
        cases: &[],
        base: None,
        digits: 2,
    },
];

const ORDER: &[&str] = &[
    "bare",
    "floor",
    "tool-core",
    "rmcp",
    "rig",
    "tools-rs",
    "llm-tool",
    "schemars",
];

pub fn write() -> Result<()> {
    let mut out = String::from(
        "# Measured\n\nWritten by `benches/run`; the figures are in `figures`. Peers and versions are in \
         `Cargo.toml`.\n",
    );
    for section in SECTIONS {
        let figures = load(section.part)?;
        if !figures.is_empty() {
            write_section(section, &figures, &mut out)?;
        }
    }
    Ok(std::fs::write(home().join("RESULTS.md"), out)?)
}

fn write_section(section: &Section, figures: &Figures, out: &mut String) -> Result<()> {
    let who: Vec<_> = ORDER
        .iter()
        .copied()
        .filter(|name| figures.contains_key(*name))
        .collect();
    let mut cases: Vec<&str> = section.cases.to_vec();
    if cases.is_empty() {
        cases = who
            .iter()
            .flat_map(|name| figures[*name].keys().map(String::as_str))
            .collect();
        cases.sort_unstable();
        cases.dedup();
    }
    write!(out, "\n## {}\n\n{}\n\n| |", section.heading, section.note)?;
    for name in &who {
        write!(out, " {name} |")?;
    }
    write!(out, "\n|---|{}\n", "---:|".repeat(who.len()))?;
    for case in cases {
        write!(out, "| {case} |")?;
        for name in &who {
            let base = section.base.and_then(|base| figures.get(base)?.get(case));
            match (figures[*name].get(case), base) {
                (None, _) => write!(out, " |")?,
                (Some(value), Some(base)) if Some(*name) != section.base => {
                    write!(out, " {value:.*} ({:.2}) |", section.digits, value / base)?;
                }
                (Some(value), _) => write!(out, " {value:.*} |", section.digits)?,
            }
        }
        out.push('\n');
    }
    Ok(())
}
