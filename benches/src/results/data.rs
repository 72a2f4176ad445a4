//! All figures, and values derived from them.

use std::fmt;

use serde_json::Value;

use crate::Result;
use crate::figures::{Figures, get, load};
use crate::size::FEW;
use crate::times::Times;

pub const PEERS: &[&str] = &[
    "rmcp",
    "tower-mcp",
    "rig",
    "tools-rs",
    "llm-tool",
    "schemars",
];
/// The peers whose macro turns a function into a tool.
pub const WITH_MACRO: &[&str] = &["rmcp", "tower-mcp", "rig", "tools-rs", "llm-tool"];
pub const ORDER: &[&str] = &[
    "bare",
    "floor",
    "tool-core",
    "rmcp",
    "tower-mcp",
    "rig",
    "tools-rs",
    "llm-tool",
    "schemars",
];
pub const DIALECTS: &[&str] = &[
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "mcp",
];
pub const OURS: &str = "tool-core";

pub struct Data {
    pub instructions: Figures,
    pub times: Times,
    pub limits: Figures,
    pub allocations: Figures,
    pub dynamic: Figures,
    pub journals: Figures,
    pub cli: Figures,
    pub schema: Figures<Value>,
    pub compile: Figures,
    pub edit: Figures,
    pub size: Figures,
    pub cold: Figures,
    pub jobs: Figures,
    pub bfcl: Figures,
}

impl Data {
    pub fn load() -> Result<Data> {
        Ok(Data {
            instructions: load("instructions")?,
            times: load("times")?,
            limits: load("limits")?,
            allocations: load("allocations")?,
            dynamic: load("dynamic")?,
            journals: load("journals")?,
            cli: load("cli")?,
            schema: load("schema")?,
            compile: load("compile")?,
            edit: load("edit")?,
            size: load("size")?,
            cold: load("cold")?,
            jobs: load("jobs")?,
            bfcl: load("bfcl")?,
        })
    }

    /// Returns the ratio of one contender's case to another's, round by round.
    pub fn paired(&self, of: (&str, &str), to: (&str, &str)) -> Option<Spread> {
        self.of_rounds(of, to, |of, to| of / to)
    }

    /// Returns the difference in nanoseconds, round by round.
    pub fn more(&self, of: (&str, &str), than: (&str, &str)) -> Option<Spread> {
        self.of_rounds(of, than, |of, than| of - than)
    }

    fn of_rounds(
        &self,
        a: (&str, &str),
        b: (&str, &str),
        compute: fn(f64, f64) -> f64,
    ) -> Option<Spread> {
        let a = self.times.get(a.0)?.get(a.1)?;
        let b = self.times.get(b.0)?.get(b.1)?;
        Spread::of(a.iter().zip(b).map(|(&a, &b)| compute(a, b)))
    }

    /// Returns how many times longer tool-core takes for a list than a copy of its bytes.
    pub fn to_copy(&self, list: &str) -> Option<f64> {
        let copy = get(&self.limits, OURS, &format!("limit {list}"))?;
        Some(get(&self.limits, OURS, list)? / copy)
    }

    /// Returns the median of the rounds.
    pub fn time(&self, who: &str, case: &str) -> Option<f64> {
        let rounds = self.times.get(who)?.get(case)?;
        Spread::of(rounds.iter().copied()).map(|spread| spread.median)
    }

    /// Returns how many times longer a journal takes than a plain write of the same bytes, round by round.
    pub fn journal(&self, journal: &str) -> Option<Spread> {
        let of = |case: &str, round| {
            let case = format!("{case}, µs {round}");
            get(&self.journals, OURS, &case)
        };
        let plain = format!("{journal}, plain");
        Spread::of((0..).map_while(|round| Some(of(journal, round)? / of(&plain, round)?)))
    }

    /// Returns the bytes of a program without its tools.
    pub fn base(&self, who: &str) -> Option<f64> {
        let program = get(&self.size, who, &format!("{FEW} tools"))?;
        Some(program - FEW as f64 * get(&self.size, who, "bytes a tool")?)
    }

    /// Returns from how many tools on a program of tool-core is smaller than another. `None` if it always is, or never.
    pub fn crossing(&self, who: &str) -> Option<f64> {
        let a_tool = |who| get(&self.size, who, "bytes a tool");
        let tools = (self.base(OURS)? - self.base(who)?) / (a_tool(who)? - a_tool(OURS)?);
        (tools > 0.0 && tools.is_finite()).then(|| tools.ceil())
    }

    /// Returns CPU milliseconds per tool, minus the time of the plain functions.
    pub fn milliseconds(&self, who: &str, mode: &str, count: usize) -> Option<f64> {
        let measure = format!("{mode} {count}");
        let all = get(&self.compile, who, &measure)?;
        let bare = get(&self.compile, "bare", &measure)?;
        Some((all - bare) * 1000.0 / count as f64)
    }
}

/// Returns the name with the smallest figure, and the figure. A name without a figure is left out;
/// [`without`] says so.
pub fn least<'n>(
    names: &[&'n str],
    figure: impl Fn(&'n str) -> Option<f64>,
) -> Option<(&'n str, f64)> {
    let figures = names.iter().filter_map(|&name| Some((name, figure(name)?)));
    figures.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Returns a remark that lists the names without a figure; empty if all have one.
pub fn without<'n>(names: &[&'n str], figure: impl Fn(&'n str) -> Option<f64>) -> String {
    let missing = names.iter().copied().filter(|&name| figure(name).is_none());
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() {
        return String::new();
    }
    format!(", without {}", missing.join(" and "))
}

/// The median of some rounds, with the extremes.
#[derive(Clone, Copy)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    fn of(rounds: impl Iterator<Item = f64>) -> Option<Spread> {
        let mut rounds: Vec<_> = rounds.collect();
        rounds.sort_by(f64::total_cmp);
        Some(Spread {
            median: *rounds.get(rounds.len() / 2)?,
            low: *rounds.first()?,
            high: *rounds.last()?,
        })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let Spread { median, low, high } = self;
        write!(f, "{median:.digits$} ({low:.digits$}–{high:.digits$})")
    }
}
