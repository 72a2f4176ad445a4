//! What providers demand of tools: every rule with its source, and how it is met.
//!
//! One provider's refusal often takes all tools of a request with it, because of one key. So the
//! rules are a table that the code is written from: its limits are the ones that are checked
//! while compiling, its lists are the ones that the [dialects](crate::dialect) write by.
//!
//! ```
//! use tool_core::rules::{self, Value};
//!
//! let rule = rules::find("openai.strict.max_nesting").unwrap();
//! assert_eq!(rule.value, Value::Number(10));
//! assert_eq!(rule.provider(), "openai.strict");
//! ```
#![doc = include_str!("rules/targets.md")]
#![allow(clippy::doc_markdown)] // Sources are named as they name themselves.

pub(crate) mod others;
pub(crate) mod portable;
mod set;
mod target;

use crate::provider::{
    anthropic::rules as anthropic, gemini::rules as gemini, mcp::rules as mcp,
    openai::rules as openai,
};
pub use set::{BrokenRule, broken};
pub use target::Target;
pub(crate) use target::Targets;

/// One rule of one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The provider, its mode if the rule is of that mode alone, and a name: `openai.strict.ref`.
    pub id: &'static str,
    /// When it can be judged.
    pub kind: Kind,
    /// What it says, in a few words.
    pub what: &'static str,
    /// Its number or its list.
    pub value: Value,
    /// Where it is written.
    pub source: Source,
    /// How it is met.
    pub met: Met,
}

impl Rule {
    /// The provider and its mode: the id up to its last dot.
    pub fn provider(&self) -> &'static str {
        self.id.rsplit_once('.').map_or(self.id, |(head, _)| head)
    }
}

/// When a rule can be judged, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// From one tool alone, while compiling.
    Compile,
    /// From the whole set of tools.
    Registry,
    /// By a dialect, which writes it so.
    Emit,
    /// When calls are made.
    Runtime,
    /// By people: advice, or a limit that is reported and not documented.
    Advice,
}

/// The number or the list of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// It says all in words.
    None,
    /// A limit.
    Number(usize),
    /// A regular expression.
    Pattern(&'static str),
    /// A list of keywords, formats or keys.
    Names(&'static [&'static str]),
}

impl Value {
    /// The limit that a rule sets.
    pub(crate) const fn number(self) -> usize {
        match self {
            Value::Number(number) => number,
            _ => panic!("this rule sets no limit"),
        }
    }

    /// Whether the list of a rule has this name.
    pub(crate) fn lists(self, name: &str) -> bool {
        matches!(self, Value::Names(names) if names.contains(&name))
    }
}

/// Where a rule is written, and when that was read or published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// A document, a package with its version, or a public report.
    pub name: &'static str,
    /// A day, a month or a year.
    pub date: &'static str,
}

/// How a rule is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Met {
    /// By this part of the crate.
    By(&'static str),
    /// Not, for this reason.
    Waived(&'static str),
}

/// Every rule, the portable ones first.
///
/// ```
/// use tool_core::rules::{self, Kind};
///
/// let limits = rules::all().filter(|rule| rule.kind == Kind::Registry);
/// assert!(limits.count() > 5);
/// ```
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let tables: [&[Rule]; 6] = [
        portable::RULES,
        openai::RULES,
        anthropic::RULES,
        gemini::RULES,
        others::RULES,
        mcp::RULES,
    ];
    tables.into_iter().flatten()
}

/// The rule of this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// A row of the table.
pub(crate) const fn rule(
    id: &'static str,
    kind: Kind,
    what: &'static str,
    value: Value,
    source: Source,
    met: Met,
) -> Rule {
    Rule {
        id,
        kind,
        what,
        value,
        source,
        met,
    }
}

pub(crate) const fn source(name: &'static str, date: &'static str) -> Source {
    Source { name, date }
}

#[cfg(test)]
mod tests;
