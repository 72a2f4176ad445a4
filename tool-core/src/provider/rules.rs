//! The rules that providers set for tools.
//!
//! A provider often rejects all tools of a request because of one key. This module has the rules that the
//! code reads: its compile-time checks enforce the limits, and the [dialects](crate::dialect) write the
//! listed keywords. The page below has those, too, and every rule that is met in another way or not at all.
//!
//! ```
//! use tool_core::rules::{self, Value};
//!
//! let rule = rules::find("openai.strict.max_nesting").unwrap();
//! assert_eq!(rule.value, Value::Number(10));
//! assert_eq!(rule.provider(), "openai.strict");
//! ```
#![doc = include_str!("rules.md")]
#![allow(clippy::doc_markdown)] // Sources are named as they name themselves.

use std::fmt;

use crate::provider::portable;
use crate::provider::profile::Count;
pub use crate::provider::rule::{Rule, Source, Value};
use crate::provider::rule_check::check;
pub use crate::provider::target::Target;
use crate::schema::stats::SchemaStats;
use crate::tool::ToolEntry;

/// Returns every rule that code reads, the portable ones first.
///
/// ```
/// use tool_core::rules::{self, Value};
///
/// let limits = rules::all().filter(|rule| matches!(rule.value, Value::Number(_)));
/// assert!(limits.count() > 5);
/// ```
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let targets = Target::ALL.into_iter();
    let rules = targets.flat_map(|target| target.profile().rules);
    portable::PROFILE.rules.iter().chain(rules).copied()
}

/// Returns the rule with this id.
///
/// ```
/// use tool_core::rules;
///
/// assert!(rules::find("bedrock.tools_min").is_some());
/// assert!(rules::find("bedrock.no_such_rule").is_none());
/// ```
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// A rule that the tools of a request break together.
///
/// ```
/// use tool_dialects::Bedrock;
/// use tool_core::Registry;
///
/// // Bedrock rejects an empty list of tools.
/// let rendered = Registry::new().render(&Bedrock::default());
/// let broken = &rendered.broken_rules()[0];
/// assert_eq!(broken.rule.id, "bedrock.tools_min");
/// println!("{}", broken.message);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The rule.
    pub rule: &'static Rule,
    /// The mistake and the advice, in words.
    pub message: String,
}

impl BrokenRule {
    /// Creates one, for your own [`Dialect`](crate::dialect::Dialect).
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> BrokenRule {
        BrokenRule {
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (rule {})", self.message, self.rule.id)
    }
}

/// Returns the rules that tools break together in one request, although each of them is fine alone.
///
/// ```
/// use tool_core::rules::{Target, broken};
///
/// let broken = broken(Target::Bedrock, &[]);
/// assert_eq!(broken[0].rule.id, "bedrock.tools_min");
/// assert!(broken[0].to_string().starts_with("Amazon Bedrock requires at least 1 tool"));
/// ```
pub fn broken(target: Target, tools: &[ToolEntry]) -> Vec<BrokenRule> {
    let profile = target.profile();
    let limits = profile.request_limits;
    let is_plain = |count: Count| matches!(count, Count::Tools | Count::MinTools);
    // Only counted where a limit needs it: this takes a pass over every schema.
    let fitting: Vec<SchemaStats> = if limits.iter().all(|(count, _)| is_plain(*count)) {
        Vec::new()
    } else {
        tools
            .iter()
            .filter_map(|tool| check(&tool.parameters(), target).ok())
            .collect()
    };
    let total = fitting
        .iter()
        .fold(SchemaStats::NONE, |sum, tool| sum.and(*tool));
    let exceeded = limits.iter().filter_map(|&(count, rule)| {
        let found = match count {
            Count::Tools | Count::MinTools => tools.len(),
            Count::StrictTools => fitting.len(),
            _ => count.of(&total),
        };
        let limit = rule.value.number();
        if !count.is_exceeded(found, limit) {
            return None;
        }
        let name = profile.name;
        let mode = if rule.is_strict() {
            "'s strict mode"
        } else {
            ""
        };
        let (unit, remedy) = count.texts();
        let message = match count {
            Count::MinTools => format!(
                "{name}{mode} requires at least {limit} tool in a request, but there are {found}; \
                 send one, or leave the list of tools out of the request"
            ),
            Count::Optional => format!(
                "{name}{mode} allows at most {limit} {unit} in a request, but there are {found}; \
                 {remedy}, or send fewer tools"
            ),
            _ => format!(
                "{name}{mode} allows at most {limit} {unit} in a request, but there are {found}; \
                 send fewer tools"
            ),
        };
        Some(BrokenRule { rule, message })
    });
    exceeded.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::provider::portable::{CASE_COLLISION, EMPTY, KEY};

    /// The rows of the page: id, when, rule, met by, source.
    fn rows() -> Vec<[&'static str; 5]> {
        let lines = include_str!("rules.md").lines();
        let rows = lines.filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.map(|row| {
            let row = row.strip_suffix(" |").expect(row).replacen('`', "", 1);
            let cells: Vec<_> = row.leak().split(" | ").collect();
            cells.try_into().expect("a row has five cells")
        });
        cells.collect()
    }

    /// An incomplete row documents nothing.
    #[test]
    fn every_row_of_the_page_is_complete() {
        let mut seen = BTreeSet::new();
        for [id, when, rule, met_by, source] in rows() {
            assert!(seen.insert(id), "{id} twice");
            assert!(id.contains('.'), "{id} names no provider");
            let moments = ["compile time", "request", "rendering", "call", "advice"];
            assert!(moments.contains(&when), "{id}: {when}");
            for text in [rule, met_by] {
                assert!(text.len() >= 4, "{id}: {text:?}");
            }
            let (name, date) = source.rsplit_once(" (").expect(id);
            assert!(name.len() >= 4 && date.starts_with("20"), "{id}: {source}");
        }
        assert!(seen.len() > 90);
    }

    #[test]
    fn the_page_has_every_rule_with_its_value_and_source() {
        let rows = rows();
        let mut seen = BTreeSet::new();
        for rule in all() {
            assert!(seen.insert(rule.id), "{} twice", rule.id);
            assert_eq!(find(rule.id), Some(rule));
            let row = rows.iter().find(|[id, ..]| *id == rule.id);
            let [_, _, text, _, source] = row.unwrap_or_else(|| panic!("{} is absent", rule.id));
            let value = match rule.value {
                Value::None => String::new(),
                Value::Number(number) => format!(": {number}"),
                Value::Pattern(pattern) => format!(": `{pattern}`"),
                Value::Names(names) => format!(": `{}`", names.join("`, `")),
            };
            assert!(text.ends_with(&value), "{}: {text}", rule.id);
            let Source { name, date } = rule.source;
            assert_eq!(*source, format!("{name} ({date})"), "{}", rule.id);
        }
    }

    /// The page and the code agree on which checks happen at compile time.
    #[test]
    fn compile_time_checks_are_the_rules_that_the_page_says() {
        let rejected = Target::ALL.into_iter().flat_map(|target| {
            let profile = target.profile();
            let rejected = profile.rejected.iter().map(|(_, rule)| *rule);
            rejected.chain(profile.tool_limits.iter().map(|(_, rule)| *rule))
        });
        let portable = [KEY, EMPTY, CASE_COLLISION].map(|problem| problem.rule);
        let checked: BTreeSet<_> = rejected.chain(portable).map(|rule| rule.id).collect();
        let documented = rows().into_iter();
        let documented =
            documented.filter(|[_, _, _, met_by, _]| met_by.contains("compile-time check"));
        let documented: BTreeSet<_> = documented.map(|[id, ..]| id).collect();
        assert_eq!(documented, checked);
    }

    /// A rule that a check reads can be found by its id.
    #[test]
    fn profiles_list_the_rules_that_they_use() {
        for target in Target::ALL {
            let profile = target.profile();
            let limits = profile.tool_limits.iter().chain(profile.request_limits);
            let used = limits.map(|(_, rule)| *rule);
            for rule in used.chain(profile.rejected.iter().map(|(_, rule)| *rule)) {
                assert!(profile.rules.contains(&rule), "{}", rule.id);
            }
        }
    }

    /// The collection of facts that the page was made from, where there is a copy of it.
    #[test]
    fn the_page_has_every_known_rule() {
        let Some(path) = std::env::var_os("TOOL_CORE_PROVIDERS") else {
            return;
        };
        let text = std::fs::read_to_string(path).expect("TOOL_CORE_PROVIDERS names a file");
        let known: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let known = known["rules"].as_array().expect("it lists rules");
        assert!(known.len() > 90);
        let rows = rows();
        for known in known {
            let text = |key: &str| known[key].as_str().expect("a row has it").to_owned();
            let id = format!("{}.{}", text("provider"), text("rule"));
            let row = rows.iter().find(|[known, ..]| *known == id);
            let [_, when, rule, ..] = row.unwrap_or_else(|| panic!("{id} is absent"));
            let expected = match *when {
                "compile time" => "compile",
                "request" => "registry",
                "rendering" => "emit",
                "call" => "runtime",
                _ => "lint",
            };
            assert_eq!(expected, text("check"), "{id}");
            let number = rule
                .rsplit_once(": ")
                .map(|(_, value)| value.parse::<u64>());
            if let (Some(Ok(number)), Some(limit)) = (number, known["value"].as_u64()) {
                assert_eq!(number, limit, "{id}");
            }
        }
    }
}
