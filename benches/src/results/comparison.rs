//! The comparison with other crates, judged from what the part `facts` observed: all rows for its own page, and
//! a few for the project's README.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::data::{Data, ORDER, OURS};
use crate::Result;
use crate::facts::OPTIONS;
use crate::figures::{Figures, get, load};
use crate::jobs::JOBS;
use crate::versions;

/// The crates and the rows in the README.
const SHORT: (&[&str], &[&str]) = (
    &["tool-core", "rmcp", "rig", "llm-tool", "schemars"],
    &[
        "violations named in one reply, of four",
        "unknown argument",
        "a tool that panics ends as",
        "two tools of one name",
        "crates in the dependency tree",
    ],
);

/// The start of the page with all rows.
const HEAD: &str = "\
# Comparison

The same function in each crate, `get_weather(city: String, days: Option<u8>, unit: Unit)` with a description
for each parameter and no further attributes. `benches/run facts` builds and runs [a program for each
crate](facts/src/bin), and writes this table from what they print.

";
const TAIL: &str = "
rmcp and tower-mcp are servers of the Model Context Protocol themselves; tool-core needs `tool-mcp` for that, which
builds on rmcp. rig also has agents, embeddings and vector stores. tool-core takes types that implement only
`JsonSchema` through `DynamicTool::typed`, with the feature `schemars1`.
";

/// Replaces the table of a part in a text, which stands between two comments.
pub fn replace(text: &str, part: &str, table: &str) -> Result<String> {
    let begin = format!("<!-- written by `benches/run {part}` -->\n");
    let end = format!("<!-- end of what `benches/run {part}` writes -->\n");
    let (before, rest) = text
        .split_once(&begin)
        .ok_or(format!("README.md: no table of {part}"))?;
    let (_, after) = rest
        .split_once(&end)
        .ok_or(format!("README.md: no end of the table of {part}"))?;
    Ok(format!("{before}{begin}{table}{end}{after}"))
}

/// Returns the table of what each job needs.
pub fn jobs(data: &Data) -> Result<String> {
    let mut out = "| a program with | crates |\n|---|---:|\n".to_owned();
    let ours = JOBS.iter().map(|&(job, _)| (job, &data.jobs, OURS, job));
    let theirs = [
        (
            "tools for MCP clients, by rmcp",
            &data.cold,
            "rmcp",
            "crates",
        ),
        (
            "an agent that asks a model over HTTP, by rig",
            &data.cold,
            "rig",
            "crates",
        ),
    ];
    for (name, figures, who, measure) in ours.chain(theirs) {
        let crates = get(figures, who, measure).ok_or(format!("no figure of {name}"))?;
        writeln!(out, "| {name} | {crates} |")?;
    }
    Ok(out)
}

/// What was observed of a contender.
type Seen = BTreeMap<String, Value>;

/// Returns a cell from what a contender's program printed.
type Judge = fn(&Value) -> String;

/// The rows that are judged from what a program printed.
const ROWS: &[(&str, Judge)] = &[
    ("keeps the three descriptions", descriptions),
    ("shows the bounds 0 to 255", bounds),
    ("closed: `additionalProperties: false`", closed),
    ("adds to the schema", extras),
    ("unknown argument", |run| {
        ignored(run, "an unknown argument")
    }),
    ("`[\"Lisbon\", 3, \"celsius\"]` as arguments", |run| {
        accepted(run, "an array")
    }),
    ("`20.0` for an integer", |run| accepted(run, "days: 20.0")),
    ("`\"Celsius\"` for `celsius`", |run| {
        accepted(run, "unit: Celsius")
    }),
    ("violations named in one reply, of four", violations),
    ("names the parameter that is out of range", names_parameter),
    ("wrong arguments end as", |run| kind(run, "days: 300")),
    ("`Err(\"no such city\")` of a tool ends as", failed),
    ("a tool that panics ends as", |run| {
        kind(run, "the tool panics")
    }),
    ("an unknown tool ends as", unknown_tool),
];

/// Returns the page with all rows.
pub fn page() -> Result<String> {
    Ok(format!("{HEAD}{}{TAIL}", table(ORDER, |_| true)?))
}

/// Returns the table in the README.
pub fn short() -> Result<String> {
    let (crates, rows) = SHORT;
    table(crates, |row| rows.contains(&row))
}

/// Returns the date, and a table.
fn table(crates: &[&'static str], is_shown: impl Fn(&str) -> bool) -> Result<String> {
    let figures: Figures<Value> = load("facts")?;
    let mut columns: Vec<(&str, &Seen)> = Vec::new();
    for who in crates {
        if let Some(seen) = figures.get(*who) {
            columns.push((who, seen));
        }
    }
    let mut months: Vec<_> = columns
        .iter()
        .map(|(_, seen)| text(&seen["month"]))
        .collect();
    months.sort_unstable();
    months.dedup();
    let mut out = format!("Measured in {}.\n\n| |", months.join(" and "));
    let recorded: Figures<String> = load("versions")?;
    for (who, _) in &columns {
        match recorded.get(*who).and_then(|parts| parts.get("facts")) {
            Some(version) => {
                if *version != versions::locked(who)? {
                    eprintln!("facts: {who} was measured with {version}; run `benches/run facts`");
                }
                write!(out, " {who} {version} |")?;
            }
            None => write!(out, " {who} |")?,
        }
    }
    write!(out, "\n|---|{}\n", "---|".repeat(columns.len()))?;
    let mut row = |name: &str, judge: &dyn Fn(&Seen) -> String| {
        if !is_shown(name) {
            return Ok(());
        }
        let cells: Vec<_> = columns.iter().map(|(_, seen)| judge(seen)).collect();
        writeln!(out, "| {name} | {} |", cells.join(" | "))
    };
    row("lines of code of the tool", &|seen| {
        seen["lines"].to_string()
    })?;
    row("schema, bytes", &|seen| {
        schema(&seen["plain"]).to_string().len().to_string()
    })?;
    for (name, judge) in ROWS {
        row(name, &|seen| with_options(seen, *judge))?;
    }
    row("two tools of one name", &twice)?;
    row("a tool without a description", &silent)?;
    row("a parameter that implements only `JsonSchema`", &|seen| {
        match seen.get("foreign") {
            Some(trial) if trial.get("build").is_some() => "build error",
            _ => "accepted",
        }
        .into()
    })?;
    row("crates in the dependency tree", &|seen| {
        seen["crates"].to_string()
    })?;
    Ok(out)
}

/// Returns the cell without options, and those of options that change it. An option with the cell of
/// another before it is left out.
fn with_options(seen: &Seen, judge: Judge) -> String {
    let plain = judge(&seen["plain"]);
    let mut cell = plain.clone();
    let mut known = vec![plain];
    for (option, _, name) in OPTIONS {
        let Some(run) = seen.get(*option) else {
            continue;
        };
        let other = judge(run);
        if !known.contains(&other) {
            cell += &format!("; {other} with {name}");
            known.push(other);
        }
    }
    cell
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the schema of the arguments in a program's definition of `get_weather`.
fn schema(run: &Value) -> &Value {
    let definition = &run["get_weather"];
    let keys = ["inputSchema", "parameters", "parameter_schema"];
    let mut found = keys.iter().filter_map(|key| definition.get(*key));
    found.next().unwrap_or(&Value::Null)
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.into()
}

fn descriptions(run: &Value) -> String {
    let schema = schema(run).to_string();
    let all = [
        "City and country, such as `Lisbon, Portugal`.",
        "How many days ahead.",
        "Temperature unit.",
    ];
    yes(all.iter().all(|description| schema.contains(description)))
}

fn bounds(run: &Value) -> String {
    let days = &schema(run)["properties"]["days"];
    yes(days["minimum"] == 0 && days["maximum"] == 255)
}

fn closed(run: &Value) -> String {
    yes(schema(run)["additionalProperties"] == false)
}

/// Lists what a schema has that its meaning does not need.
fn extras(run: &Value) -> String {
    let schema = schema(run).to_string();
    let keys = ["$schema", "$ref", "title", "format", "default"].into_iter();
    let found = keys.filter(|key| schema.contains(&format!("\"{key}\":")));
    let mut found: Vec<_> = found.map(|key| format!("`{key}`")).collect();
    if schema.contains("\"null\"") {
        found.push("a union with null".into());
    }
    if found.is_empty() {
        return "nothing".into();
    }
    found.join(", ")
}

/// Returns the kind and the text of a reply.
fn reply<'r>(run: &'r Value, call: &str) -> (&'r str, &'r str) {
    let reply = run["replies"][call].as_object();
    let entry = reply.and_then(|reply| reply.iter().next());
    entry.map_or(("", ""), |(kind, said)| (kind, text(said)))
}

fn accepted(run: &Value, call: &str) -> String {
    let is = reply(run, call).0 == "result";
    if is { "accepted" } else { "rejected" }.into()
}

fn ignored(run: &Value, call: &str) -> String {
    let is = reply(run, call).0 == "result";
    if is { "ignored" } else { "rejected" }.into()
}

/// Counts the violations that a reply mentions: by the parameter, the value, or what was expected.
fn violations(run: &Value) -> String {
    let (_, said) = reply(run, "four violations");
    let signs: [&[&str]; 4] = [
        &["city", "string"],
        &["days", "300", "u8"],
        &["unit:", "/unit", "`unit`", "kelvin"],
        &["wind"],
    ];
    let named = |signs: &&[&str]| signs.iter().any(|sign| said.contains(sign));
    signs
        .iter()
        .filter(|signs| named(signs))
        .count()
        .to_string()
}

fn names_parameter(run: &Value) -> String {
    yes(reply(run, "days: 300").1.contains("days"))
}

/// Returns how a call ends.
fn kind(run: &Value, call: &str) -> String {
    let (kind, said) = reply(run, call);
    match kind {
        "result" => "result".into(),
        "error" if said.contains("a secret") => "error result with the panic's text".into(),
        "error" => "error result".into(),
        "failure" => "`Err` for the program".into(),
        "protocol" => "protocol error".into(),
        "nothing" => "no answer".into(),
        _ => "panic of the caller".into(),
    }
}

fn failed(run: &Value) -> String {
    let (_, said) = reply(run, "the tool fails");
    format!("{}, `{said}`", kind(run, "the tool fails"))
}

fn unknown_tool(run: &Value) -> String {
    let names_nearest = reply(run, "an unknown tool").1.contains("get_weather");
    let nearest = if names_nearest {
        ", names the nearest"
    } else {
        ""
    };
    kind(run, "an unknown tool") + nearest
}

fn twice(seen: &Seen) -> String {
    let Some(trial) = seen.get("twice") else {
        return "by hand".into();
    };
    let mut cell = if trial.get("build").is_some() {
        "build error".to_owned()
    } else if trial.get("start").is_some() {
        "start-up error".into()
    } else if trial["tools"].as_array().map(Vec::len)
        == seen["plain"]["tools"].as_array().map(Vec::len)
    {
        // Which one depends on the order of registration or of linking.
        "one replaces the other".into()
    } else {
        "both are listed".to_owned()
    };
    if seen
        .get("across")
        .is_some_and(|trial| trial.get("start").is_some())
    {
        cell += "; across crates start-up error";
    }
    cell
}

fn silent(seen: &Seen) -> String {
    let Some(trial) = seen.get("silent") else {
        return "by hand".into();
    };
    if trial.get("build").is_some() {
        return "build error".into();
    }
    match &trial["quiet"]["description"] {
        Value::Null => "accepted".into(),
        Value::String(text) if text.is_empty() => "accepted, empty".into(),
        text => format!("accepted, as `{}`", self::text(text)),
    }
}
