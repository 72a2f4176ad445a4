//! The first table: targets, figures, and whether they meet the targets.

mod measured;

use std::collections::BTreeMap;
use std::fmt::Write;

use super::data::{Data, PEERS, WITH_MACRO};
use crate::Result;
use crate::cargo::home;
use measured::Figure;

/// A measure with its target.
struct Row {
    /// Its key in `reasons.json`.
    id: &'static str,
    measure: &'static str,
    bound: &'static str,
    limit: Limit,
    figures: Vec<Figure>,
}

/// The condition that every figure of a row must meet.
#[derive(Clone, Copy)]
enum Limit {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
    Reported,
}

impl Row {
    /// Returns the verdict. A missing figure cannot meet the target; one that misses it decides.
    fn verdict(&self) -> Verdict {
        let keeps = |value: f64| match self.limit {
            Limit::AtMost(most) => value <= most,
            Limit::Below(bound) => value < bound,
            Limit::AtLeast(least) => value >= least,
            Limit::Reported => true,
        };
        let mut values = self.figures.iter().map(|figure| figure.value);
        if values.clone().flatten().any(|value| !keeps(value)) {
            Verdict::Missed
        } else if values.any(|value| value.is_none()) {
            Verdict::Unknown
        } else if let Limit::Reported = self.limit {
            Verdict::Reported
        } else {
            Verdict::Met
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Met,
    Missed,
    Reported,
    Unknown,
}

pub fn write(data: &Data, out: &mut String) -> Result<()> {
    let reasons = std::fs::read_to_string(home().join("reasons.json"))?;
    let mut reasons: BTreeMap<String, String> = serde_json::from_str(&reasons)?;
    out.push_str(
        "\n## Targets\n\n| measure | target | figure | | reason |\n|---|---|---|---|---|\n",
    );
    for row in rows(data) {
        let verdict = row.verdict();
        let reason = reasons.remove(row.id);
        if (verdict == Verdict::Missed) != reason.is_some() {
            eprintln!(
                "reasons.json: {} is {}",
                row.id,
                match reason {
                    Some(_) => "not missed; remove its reason",
                    None => "missed; add a reason",
                }
            );
        }
        let reason = match verdict {
            Verdict::Missed => reason.unwrap_or_else(|| "no reason given".into()),
            _ => String::new(),
        };
        let verdict = match verdict {
            Verdict::Met => "met",
            Verdict::Missed => "**missed**",
            Verdict::Reported => "reported",
            Verdict::Unknown => "not measured",
        };
        let figures: Vec<_> = row.figures.iter().map(|figure| &*figure.text).collect();
        writeln!(
            out,
            "| {} | {} | {} | {verdict} | {reason} |",
            row.measure,
            row.bound,
            figures.join("; "),
        )?;
    }
    match reasons.keys().next() {
        Some(unknown) => Err(format!("reasons.json: unknown measure {unknown}").into()),
        None => Ok(()),
    }
}

fn rows(data: &Data) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |id, measure, bound, limit, figures| {
        rows.push(Row {
            id,
            measure,
            bound,
            limit,
            figures,
        });
    };
    use Limit::{AtLeast, AtMost, Below, Reported};

    add(
        "flat",
        "call, flat scalars",
        "≤ 1.0 × the floor",
        AtMost(1.0),
        measured::to_floor(data, &["flat", "flat in turn"]),
    );
    add(
        "text",
        "call, an 8 KB string",
        "≤ 1.0 × the floor",
        AtMost(1.0),
        measured::to_floor(data, &["text"]),
    );
    add(
        "nested",
        "call, a nested struct with 20 items",
        "≤ 1.5 × the floor",
        AtMost(1.5),
        measured::to_floor(data, &["nested"]),
    );
    add(
        "spaced",
        "instructions of the same with a space after each comma and colon",
        "≤ 1.4 × without spaces",
        AtMost(1.4),
        measured::beside(data, "spaced", "nested"),
    );
    add(
        "constrained",
        "instructions of 13 values of a recursive type with constraints",
        "≤ 1.6 × nested",
        AtMost(1.6),
        measured::beside(data, "constrained", "nested"),
    );
    add(
        "none",
        "call, no arguments",
        "× the floor",
        Reported,
        measured::to_floor(data, &["none"]),
    );
    add(
        "turn",
        "call, 200 tools in turn",
        "× the floor",
        Reported,
        measured::to_floor(data, &["200 in turn"]),
    );
    add(
        "flat-peers",
        "call, flat scalars",
        "≥ 2 × faster than the fastest peer",
        AtLeast(2.0),
        measured::to_fastest(data, PEERS, "flat", "flat"),
    );
    add(
        "flat-macros",
        "call, flat scalars",
        "≥ 2 × faster than the fastest peer with a macro",
        AtLeast(2.0),
        measured::to_fastest(data, WITH_MACRO, "flat", "flat"),
    );
    add(
        "nested-peers",
        "call, nested",
        "faster than every peer",
        AtLeast(1.0),
        measured::to_fastest(data, PEERS, "nested", "nested"),
    );
    add(
        "refused",
        "rejected call with three violations",
        "≤ 3 × an accepted one",
        AtMost(3.0),
        measured::refused(data),
    );
    add(
        "mistakes",
        "violations that its message names",
        "3 of 3",
        AtLeast(3.0),
        measured::mistakes(data),
    );
    add(
        "validate",
        "instructions of validating a call without running it",
        "≤ 0.9 × the call",
        AtMost(0.9),
        measured::validate(data),
    );
    add(
        "left-out",
        "instructions of validating a call that leaves out three of five parameters",
        "≤ 1.2 × the call",
        AtMost(1.2),
        measured::left_out(data),
    );
    add(
        "hooked",
        "instructions of a call with a hook that allows it",
        "≤ 2.0 × without",
        AtMost(2.0),
        measured::hooked(data),
    );
    add(
        "pieces",
        "instructions of validating the arguments of a call in pieces of 8 bytes",
        "≤ 3 × validating the call",
        AtMost(3.0),
        measured::pieces(data),
    );
    for (id, measure, bound, most, case) in [
        (
            "kept",
            "instructions of a call with a result of 100 KB that is kept",
            "≤ 4 × truncated",
            4.0,
            "long kept",
        ),
        (
            "kept-read",
            "instructions of reading a part of it from a line on by `read_result`",
            "≤ 4 × the call, truncated",
            4.0,
            "long read",
        ),
        (
            "kept-search",
            "instructions of a search in it by `read_result`",
            "≤ 6 × the call, truncated",
            6.0,
            "long search",
        ),
    ] {
        let figures = measured::beside(data, case, "long cut");
        add(id, measure, bound, AtMost(most), figures);
    }
    add(
        "list",
        "listing 201 tools for a request, each dialect",
        "≥ 10 × faster than the fastest peer",
        AtLeast(10.0),
        measured::lists(data),
    );
    add(
        "strict",
        "instructions of listing a tool in a strict mode",
        "≤ 20,000",
        AtMost(20_000.0),
        measured::strict(data),
    );
    add(
        "list-allocations",
        "allocations of listing: 50 tools with 6 parameters minus 50 with 1",
        "0",
        AtMost(0.0),
        measured::list_allocations(data),
    );
    add(
        "start",
        "registry: start-up at 10, 1,000, 10,000 tools",
        "< 1,000 ns per tool",
        Below(1000.0),
        measured::per_tool(data, "start"),
    );
    add(
        "look-up",
        "registry: instructions of a look-up in 10,000 tools",
        "≤ 1.1 × in 10 tools",
        AtMost(1.1),
        measured::look_up(data),
    );
    add(
        "replace",
        "registry: instructions of replacing one of 10,000 tools",
        "≤ 60,000",
        AtMost(60_000.0),
        measured::among(data, "replace"),
    );
    add(
        "add",
        "registry: 10,000 tools added one by one",
        "≤ 3 × a registry built of them",
        AtMost(3.0),
        measured::add(data),
    );
    add(
        "search",
        "registry: instructions of a search in 10,000 tools",
        "≤ 1,200,000",
        AtMost(1_200_000.0),
        measured::among(data, "search"),
    );
    add(
        "changed-search",
        "registry: instructions of changing one of 10,000 tools and a search",
        "≤ 14,000,000",
        AtMost(14_000_000.0),
        measured::among(data, "changed search"),
    );
    add(
        "unknown",
        "registry: instructions of a call of an unknown tool among 10,000",
        "≤ 8,000,000",
        AtMost(8_000_000.0),
        measured::among(data, "unknown"),
    );
    add(
        "unknown-many",
        "registry: the same among 100,000",
        "≤ 5 × among 10,000",
        AtMost(5.0),
        measured::grown(data, "unknown", 10_000, &[100_000]),
    );
    add(
        "render",
        "registry: list at 10, 1,000, 10,000 tools",
        "ns per tool",
        Reported,
        measured::per_tool(data, "render"),
    );
    add(
        "stream-chat",
        "instructions of an event of a stream, chat completions: a piece of text",
        "≤ 10,000",
        AtMost(10_000.0),
        measured::instructions(data, &["stream openai-chat"]),
    );
    add(
        "stream",
        "instructions of an event of a stream, other formats: a piece of text",
        "≤ 2.0 × structs that borrow",
        AtMost(2.0),
        measured::events(data, "stream", &["openai-responses", "anthropic", "gemini"]),
    );
    add(
        "stream-arguments",
        "instructions of an event of a stream: a piece of arguments",
        "≤ 2.0 × structs that borrow",
        AtMost(2.0),
        measured::events(
            data,
            "arguments",
            &["openai-chat", "openai-responses", "anthropic"],
        ),
    );
    add(
        "stream-agent",
        "instructions of an event of a stream in an agent, from its text: a piece of text",
        "≤ 1.2 × the reader alone",
        AtMost(1.2),
        measured::agent_stream(data),
    );
    add(
        "run",
        "instructions of a call in a run, above one by hand",
        "≤ 8,000",
        AtMost(8000.0),
        measured::above_hand(data, "call in a run"),
    );
    add(
        "agent",
        "instructions of a call in an agent, above one by hand",
        "≤ 15,000",
        AtMost(15_000.0),
        measured::above_hand(data, "call in an agent"),
    );
    add(
        "agent-tools",
        "instructions of a call in an agent with 201 and 1,000 tools",
        "≤ 1.05 × with 14 tools",
        AtMost(1.05),
        measured::grown(data, "call in an agent", 14, &[201, 1000]),
    );
    for (id, way) in [("base64-encode", "encode"), ("base64-decode", "decode")] {
        add(
            id,
            "base64 of 10 MB",
            "≤ 1.5 × the crate `base64`",
            AtMost(1.5),
            measured::base64(data, way),
        );
    }
    add(
        "cli",
        "instructions of `app list` with 201 tools",
        "≤ 3 × a program of clap that does nothing",
        AtMost(3.0),
        measured::cli(data, "list"),
    );
    add(
        "journals",
        "append of an increment to a journal, wall time",
        "≤ 1.5 × a plain write of the same bytes",
        AtMost(1.5),
        measured::journals(data),
    );
    add(
        "journal-file",
        "instructions of an append to a `FileJournal`, above those of a plain append",
        "≤ 80,000",
        AtMost(80_000.0),
        measured::journal(data, "file"),
    );
    add(
        "journal-sqlite",
        "instructions of an append to an `SqliteJournal`, above those of a plain `INSERT`",
        "≤ 40,000",
        AtMost(40_000.0),
        measured::journal(data, "sqlite"),
    );
    for (id, measure, mode, bound, most) in [
        (
            "check",
            "build time per tool, without the plain functions: check, 200 and 1,000 tools",
            "check",
            "≤ 1/6 of the fastest peer",
            1.0 / 6.0,
        ),
        (
            "debug",
            "debug build, 200 and 1,000 tools",
            "debug",
            "≤ 1/3 of the fastest peer",
            1.0 / 3.0,
        ),
        (
            "release",
            "release build, 200 tools",
            "release",
            "≤ 1/3 of the fastest peer",
            1.0 / 3.0,
        ),
        (
            "incremental",
            "debug build after an edit to one of 200 tools",
            "incremental",
            "≤ 1/8 of the fastest peer",
            1.0 / 8.0,
        ),
    ] {
        let figures = measured::build_cost(data, mode);
        add(id, measure, bound, AtMost(most), figures);
    }
    add(
        "check-time",
        "check, 200 and 1,000 tools",
        "≤ 4 ms per tool",
        AtMost(4.0),
        measured::build_time(data, "check"),
    );
    add(
        "incremental-time",
        "debug build after an edit to one of 200 and 1,000 tools",
        "≤ 3 ms per tool",
        AtMost(3.0),
        measured::build_time(data, "incremental"),
    );
    add(
        "edit",
        "instructions of `cargo check` after an edit to the docs of one of 400 tools with four scalars",
        "≤ 1/7 of the derives of serde and schemars",
        AtMost(1.0 / 7.0),
        measured::edit(data, "check 400", false),
    );
    add(
        "typed",
        "instructions of `cargo check` of 100 tools with a struct and an enum each, without the plain functions",
        "≤ 0.25 of the derives of serde and schemars",
        AtMost(0.25),
        measured::edit(data, "check 100 with types", true),
    );
    add(
        "bfcl-check",
        "1,123 functions of BFCL in one crate: check",
        "≤ 7 ms per tool",
        AtMost(7.0),
        measured::bfcl_check(data),
    );
    add(
        "bfcl",
        "1,123 functions of BFCL in one crate, per tool",
        "≤ 1.0 × the 200 generated tools",
        AtMost(1.0),
        measured::bfcl(data),
    );
    add(
        "base",
        "binary size of a program without its tools",
        "≤ 1,000,000 bytes",
        AtMost(1_000_000.0),
        measured::base(data),
    );
    add(
        "size",
        "binary size per tool with 4 parameters",
        "≤ 1,500 bytes",
        AtMost(1500.0),
        measured::size(data),
    );
    add(
        "size-peers",
        "binary size per tool with 4 parameters",
        "≤ 1/4 of every peer",
        AtMost(0.25),
        measured::below_peers(&data.size, "bytes a tool", PEERS),
    );
    add(
        "crates",
        "crates of a cold build, default features",
        "fewer than every peer with a macro",
        Below(1.0),
        measured::below_peers(&data.cold, "crates", WITH_MACRO),
    );
    add(
        "cold",
        "CPU seconds of a cold build, default features",
        "≤ 0.75 × the leanest peer with a macro",
        AtMost(0.75),
        measured::below_peers(&data.cold, "CPU seconds", WITH_MACRO),
    );
    add(
        "schema",
        "size of the schema of `get_forecast`, and of all 201",
        "smallest of the correct ones",
        AtMost(1.0),
        measured::schema_size(data),
    );
    add(
        "schema-right",
        "values wrongly allowed or rejected by a schema, and docs lost",
        "none",
        AtMost(0.0),
        measured::schema_right(data),
    );
    for (id, measure, bound, most, pairs) in [
        (
            "dynamic-call",
            "instructions of a call of a `DynamicTool`",
            "≤ 1.5 × `jsonschema`'s parse and check",
            1.5,
            &["call", "call, nested"][..],
        ),
        (
            "dynamic-build",
            "instructions of building a `DynamicTool`",
            "≤ 2 × `jsonschema`'s build of its schema",
            2.0,
            &["build"],
        ),
        (
            "dynamic-typed",
            "instructions of building one from a type",
            "≤ 2 × `schemars`' schema and `jsonschema`'s build",
            2.0,
            &["build, typed"],
        ),
    ] {
        let figures = measured::to_jsonschema(data, pairs);
        add(id, measure, bound, AtMost(most), figures);
    }
    for (id, measure, case) in [
        (
            "dynamic-memory",
            "bytes of a `DynamicTool` before its first call",
            "memory",
        ),
        (
            "dynamic-memory-called",
            "bytes of a `DynamicTool` after a call",
            "memory, called",
        ),
    ] {
        let figures = measured::dynamic(data, case);
        add(id, measure, "≤ 5,000", AtMost(5000.0), figures);
    }
    add(
        "at-once",
        "overhead of `call_all` over a plain join, 1,000 async calls",
        "< 1,000 ns per call",
        Below(1000.0),
        measured::at_once(data),
    );
    rows
}
