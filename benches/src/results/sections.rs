//! The sections below the first table: all figures.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::data::{DIALECTS, Data, ORDER, OURS, PEERS, least};
use super::grid::Grid;
use crate::compile::COUNTS;
use crate::figures::{Figures, get};
use crate::size::{FEW, MANY};

const CALLS: &[&str] = &[
    "flat",
    "nested",
    "text",
    "none",
    "refused",
    "flat in turn",
    "200 in turn",
];

pub fn write(data: &Data, out: &mut String) {
    paths(data, out);
    calls(data, out);
    requests(data, out);
    registry(data, out);
    conversations(data, out);
    journals(data, out);
    base64(data, out);
    dynamic(data, out);
    builds(data, out);
    schemas(data, out);
}

/// Where the time goes: each path beside the best peer, the floor and the limit.
fn paths(data: &Data, out: &mut String) {
    let figures = &data.instructions;
    let ours = |case: &str| get(figures, OURS, case);
    let limit = |case: &str| Some(ours(&format!("limit {case}"))?.to_string());
    let mut grid = Grid::new([OURS, "best peer", "floor", "ours / floor", "physical limit"]);
    let mut row = |name: String, path: Path<'_>| {
        let figure = |figure: Option<f64>| figure.map(|figure| format!("{figure}"));
        let ratio = path.ours.zip(path.floor);
        let ratio = ratio.map(|(ours, floor)| format!("{:.2}", ours / floor));
        let peer = path.peer.map(|(name, figure)| format!("{figure} ({name})"));
        let (ours, floor) = (figure(path.ours), figure(path.floor));
        grid.row(name, [ours, peer, floor, ratio, path.limit]);
    };
    for case in ["flat", "nested", "text", "refused"] {
        row(
            format!("a call, {case}"),
            Path {
                ours: ours(case),
                peer: least(PEERS, |peer| get(figures, peer, case)),
                floor: get(figures, "floor", case),
                limit: limit(case),
            },
        );
    }
    for form in DIALECTS {
        let case = format!("list {form}");
        row(
            format!("listing 201 tools, {form}"),
            Path {
                ours: ours(&case),
                peer: least(PEERS, |peer| get(figures, peer, "list definitions")),
                limit: data
                    .to_copy(&case)
                    .map(|ratio| format!("ours / copy, wall: {ratio:.1}")),
                ..Path::default()
            },
        );
    }
    row(
        "start with 201 tools".into(),
        Path {
            ours: ours("start"),
            peer: least(PEERS, |peer| get(figures, peer, "start")),
            limit: limit("start"),
            ..Path::default()
        },
    );
    for what in ["stream", "arguments"] {
        for form in DIALECTS {
            let case = format!("{what} {form}");
            row(
                format!("an event, {case}"),
                Path {
                    ours: ours(&case),
                    floor: get(figures, "floor", &case),
                    limit: limit(&case),
                    ..Path::default()
                },
            );
        }
    }
    row(
        "an event in an agent, stream openai-chat".into(),
        Path {
            ours: ours("agent stream"),
            floor: get(figures, "floor", "stream openai-chat"),
            limit: limit("stream openai-chat"),
            ..Path::default()
        },
    );
    for case in ["call in a run", "call in an agent"] {
        row(
            format!("a {case}"),
            Path {
                ours: ours(case),
                floor: ours("call by hand"),
                ..Path::default()
            },
        );
    }
    for (case, arguments) in [("call", "flat"), ("call, nested", "nested"), ("build", "")] {
        let of = |case: &str| get(&data.dynamic, OURS, case);
        row(
            format!("a `DynamicTool`, {case}"),
            Path {
                ours: of(case),
                floor: of(&format!("{case}, jsonschema")),
                limit: limit(arguments),
                ..Path::default()
            },
        );
    }
    for way in ["encode", "decode"] {
        let case = format!("base64 {way}");
        row(
            format!("10 MB, {case}"),
            Path {
                ours: ours(&case),
                peer: ours(&format!("{case}, base64")).map(|figure| ("base64", figure)),
                limit: ours(&format!("{case}, copy")).map(|figure| figure.to_string()),
                ..Path::default()
            },
        );
    }
    for journal in ["file", "sqlite"] {
        let of = |case: &str| get(&data.journals, OURS, case);
        row(
            format!("an append to a journal, {journal}"),
            Path {
                ours: of(journal),
                floor: of(&format!("{journal}, plain")),
                ..Path::default()
            },
        );
    }
    grid.section(
        "Where the time goes",
        "Instructions of each path. The floor is what a careful programmer writes by hand: for a call in a conversation, a \
         loop that calls the dialect and the registry; for a `DynamicTool`, `jsonschema` alone; for a journal, a plain \
         write of the same bytes. The limit is what no program can do without, measured in the same run: for a call, one \
         hash of the name and one allocation with a copy of the arguments; for a start, one hash of each name; \
         for an event, a copy of its bytes and one allocation for its piece; for base64, a copy of what is read. callgrind counts a copy of 2 KB to some MB as an instruction a byte, and \
         those of small texts as a few. So a list, which is thousands of small copies, has the ratio of its wall time to that \
         of one allocation with a copy of its bytes: the least of each in 21 rounds. \
         Conversations, building a `DynamicTool` and journals have no limit of this kind: what they do is \
         up to the tool, to the schema and to the disk.",
        out,
    );
}

/// The instructions of a path.
#[derive(Default)]
struct Path<'n> {
    ours: Option<f64>,
    peer: Option<(&'n str, f64)>,
    /// The case written by hand.
    floor: Option<f64>,
    /// The physical limit: the work that any program needs.
    limit: Option<String>,
}

fn calls(data: &Data, out: &mut String) {
    let instructions = &data.instructions;
    let mut grid = Grid::new(ORDER.iter().copied());
    for case in CALLS {
        let floor = get(instructions, "floor", case);
        grid.row(
            *case,
            ORDER.iter().map(|&who| {
                let figure = get(instructions, who, case)?;
                Some(match floor {
                    Some(floor) if who != "floor" => format!("{figure} ({:.2})", figure / floor),
                    _ => format!("{figure}"),
                })
            }),
        );
    }
    let borrowed = get(instructions, OURS, "text as &str").map(|figure| format!("{figure}"));
    grid.row(
        "text as `&str`",
        ORDER
            .iter()
            .map(|&who| borrowed.clone().filter(|_| who == OURS)),
    );
    grid.section(
        "Instructions per call",
        "From JSON text to the text for the model; in brackets the ratio to the floor. A `refused` call has \
         three violations: tool-core reports all of them, the others the first. Only tool-core and \
         schemars (with `deny_unknown_fields`) reject unknown arguments; the others ignore them. rmcp \
         and tools-rs take a JSON value, so parsing the text is included. The function of `text as \
         &str` borrows its argument; all others take a `String`.",
        out,
    );

    let mut grid = Grid::new(ORDER.iter().copied());
    for case in CALLS {
        grid.row(
            *case,
            ORDER.iter().map(|&who| {
                let time = data.time(who, case)?;
                if who == "floor" {
                    return Some(format!("{time:.0}"));
                }
                let ratio = data.paired((who, case), ("floor", case))?;
                Some(format!("{time:.0}, {ratio}"))
            }),
        );
    }
    grid.section(
        "Wall time per call",
        "Nanoseconds, the ratio to the floor, and its extremes in brackets.",
        out,
    );
    let mut grid = Grid::new(ORDER.iter().copied());
    for case in CALLS {
        grid.row(*case, plain(&data.allocations, case, 0));
    }
    grid.section("Allocations per call", "Including reallocations.", out);
}

/// Returns the figure of each contender.
fn plain(figures: &Figures, case: &str, digits: usize) -> impl Iterator<Item = Option<String>> {
    ORDER
        .iter()
        .map(move |&who| Some(format!("{:.digits$}", get(figures, who, case)?)))
}

fn requests(data: &Data, out: &mut String) {
    let mut grid = Grid::new(ORDER.iter().copied());
    let forms: Vec<_> = std::iter::once("definitions")
        .chain(DIALECTS.iter().copied())
        .map(|form| format!("list {form}"))
        .collect();
    for case in forms.iter().map(String::as_str).chain(["start"]) {
        grid.row(
            format!("{case}, instructions"),
            plain(&data.instructions, case, 0),
        );
        let microseconds = |&who: &&str| Some(format!("{:.1}", data.time(who, case)? / 1000.0));
        grid.row(format!("{case}, µs"), ORDER.iter().map(microseconds));
        grid.row(
            format!("{case}, allocations"),
            plain(&data.allocations, case, 0),
        );
    }
    grid.section(
        "Listing tools and start-up",
        "Rendering the `tools` of a request as bytes, for 201 tools, and creating the registry (`start`). \
         llm-tool and schemars store their definitions as values; rig builds them for each request.",
        out,
    );

    let mut grid = Grid::new(ORDER.iter().copied());
    for form in &forms {
        for (shape, parameters) in [("none", 0), ("text", 1), ("flat", 6)] {
            let case = format!("{form} {shape}");
            grid.row(
                format!("{form}, {parameters} parameters"),
                plain(&data.allocations, &case, 0),
            );
        }
    }
    grid.section(
        "Allocations of listing 50 tools",
        "By the number of parameters of each tool.",
        out,
    );
}

fn registry(data: &Data, out: &mut String) {
    let mut grid = Grid::new(["instructions", "ns", "allocations"]);
    for what in ["start", "look up", "add", "replace", "render"] {
        for size in [10, 1000, 10_000] {
            let case = format!("{what} {size}");
            if get(&data.instructions, OURS, &case).is_none() {
                continue;
            }
            grid.row(
                format!("{what}, {size} tools"),
                [
                    get(&data.instructions, OURS, &case).map(|figure| format!("{figure}")),
                    data.time(OURS, &case).map(|figure| format!("{figure:.0}")),
                    get(&data.allocations, OURS, &case).map(|figure| format!("{figure:.2}")),
                ],
            );
        }
    }
    grid.section(
        "A registry of many tools",
        "tool-core alone; per tool, or per look-up. `add` and `replace` change one tool at a time; `render` writes MCP's format.",
        out,
    );

    let mut grid = Grid::new(["instructions", "ns", "allocations"]);
    for case in ["1000 at once", "1000 at once, bare"] {
        grid.row(
            case,
            [
                get(&data.instructions, OURS, case).map(|figure| format!("{figure}")),
                data.time(OURS, case).map(|figure| format!("{figure:.0}")),
                get(&data.allocations, OURS, case).map(|figure| format!("{figure:.2}")),
            ],
        );
    }
    grid.section(
        "Concurrent calls",
        "Per call, for 1,000 concurrent calls of an async function that waits once. `bare` joins the plain \
         functions with decoded arguments; the other row uses `call_all`, from the text of the \
         arguments to the text of the results.",
        out,
    );
}

fn conversations(data: &Data, out: &mut String) {
    let mut grid = Grid::new(["instructions", "floor", "ratio", "allocations"]);
    for what in ["stream", "arguments"] {
        for form in ["openai-chat", "openai-responses", "anthropic", "gemini"] {
            let case = format!("{what} {form}");
            let of = |who| get(&data.instructions, who, &case);
            let (Some(ours), Some(floor)) = (of(OURS), of("floor")) else {
                continue;
            };
            grid.row(
                case.clone(),
                [
                    Some(format!("{ours}")),
                    Some(format!("{floor}")),
                    Some(format!("{:.2}", ours / floor)),
                    get(&data.allocations, OURS, &case).map(|figure| format!("{figure:.1}")),
                ],
            );
        }
    }
    grid.section(
        "Events of streams",
        "Per event, from the bytes of a server-sent event to the pieces that a program shows and the whole response. \
         `stream` are 200 pieces of a text, `arguments` 50 pieces of the arguments of each of two calls. The floor \
         reads structs that borrow from the bytes, and keeps only what they name.",
        out,
    );

    let mut grid = Grid::new(["instructions", "allocations"]);
    for case in [
        "call by hand",
        "call in a run",
        "call in an agent",
        "call in an agent 14",
        "call in an agent 201",
        "call in an agent 1000",
        "agent stream",
        "agent stream, values",
    ] {
        grid.row(
            case,
            [
                get(&data.instructions, OURS, case).map(|figure| format!("{figure}")),
                get(&data.allocations, OURS, case).map(|figure| format!("{figure:.1}")),
            ],
        );
    }
    grid.section(
        "Calls in a conversation",
        "Per call, in a conversation of ten rounds with one call each: from the response as a value, which is copied, to \
         the messages of the next request. `by hand` is a loop that calls the dialect and the registry. `14`, \
         `201` and `1000` are the tools of the agent, of which the model calls one. \
         `agent stream` is per event of `stream openai-chat`, from its text to the events that an application reads; for `values`, \
         the model makes a value of each text.",
        out,
    );
}

fn journals(data: &Data, out: &mut String) {
    let mut grid = Grid::new(["instructions", "beside a plain write, wall"]);
    for journal in ["file", "sqlite"] {
        for (case, ratio) in [
            (journal.to_owned(), data.journal(journal)),
            (format!("{journal}, plain"), None),
        ] {
            let count = get(&data.journals, OURS, &case);
            grid.row(
                case,
                [
                    count.map(|count| format!("{count}")),
                    ratio.map(|ratio| format!("{ratio}")),
                ],
            );
        }
    }
    grid.section(
        "Journals",
        "Per append of one increment, a message of 200 bytes, which survives a crash of the system. `plain` opens a file, \
         appends the same bytes and syncs them, or inserts the same JSON into a table, in a database with the same \
         settings. Wall time is mostly that of the disk, and the ratio is taken within each of seven rounds of 100 appends.",
        out,
    );
}

fn base64(data: &Data, out: &mut String) {
    let mut grid = Grid::new(["instructions", "ms", "× a copy, wall"]);
    for way in ["encode", "decode"] {
        let copy = format!("base64 {way}, copy");
        for (name, case) in [
            (OURS, format!("base64 {way}")),
            ("the crate `base64`", format!("base64 {way}, base64")),
            ("a copy", copy.clone()),
        ] {
            grid.row(
                format!("{way}, {name}"),
                [
                    get(&data.instructions, OURS, &case).map(|figure| format!("{figure}")),
                    data.time(OURS, &case)
                        .map(|time| format!("{:.1}", time / 1e6)),
                    data.paired((OURS, &case), (OURS, &copy))
                        .map(|ratio| format!("{ratio:.1}")),
                ],
            );
        }
    }
    grid.section(
        "Base64",
        "10 MB, as an image is written to a `data:` URL and read from one. A copy of what is read is the limit of the memory.",
        out,
    );
}

fn dynamic(data: &Data, out: &mut String) {
    let mut grid = Grid::new([OURS, "without"]);
    let of = |case: &str| get(&data.dynamic, OURS, case).map(|figure| format!("{figure}"));
    let cases = data.dynamic.get(OURS).into_iter().flatten();
    for (case, figure) in cases.filter(|(case, _)| !case.ends_with("jsonschema")) {
        let without = of(&format!("{case}, jsonschema"));
        grid.row(case, [Some(format!("{figure}")), without]);
    }
    grid.section(
        "Tools that are defined at run time",
        "Instructions of a call of a `DynamicTool` and of building one, with the parameters of `flat` or `nested`, and \
         the bytes that each of 1,000 tools holds, no two with the same schema. The second column is what a program \
         does without tool-core: `serde_json` and `jsonschema` parse and check the arguments, `jsonschema` compiles \
         the schema, which for `typed` comes from `schemars`, and only its validator is kept.",
        out,
    );
}

fn builds(data: &Data, out: &mut String) {
    let modes: Vec<_> = COUNTS
        .iter()
        .flat_map(|count| ["check", "debug", "release", "incremental"].map(|mode| (mode, *count)))
        .collect();
    let mut grid = Grid::new(ORDER.iter().copied());
    for (mode, count) in &modes {
        grid.row(
            format!("{mode} {count}"),
            plain(&data.compile, &format!("{mode} {count}"), 2),
        );
    }
    grid.section(
        "CPU seconds of rustc for a crate of tools",
        "Generated crates with 4 to 8 parameters per tool; dependencies are already built. `bare` is the \
         same functions without tools. `incremental` is a debug build after an edit to the docs of \
         one tool. All types derive `Debug` as well, as do the argument structs of rmcp, tower-mcp and schemars, and those of \
         tool-core serde's `Deserialize`, which its tools don't need.",
        out,
    );
    let mut grid = Grid::new(ORDER.iter().copied());
    for (mode, count) in modes {
        let fastest = least(PEERS, |peer| data.milliseconds(peer, mode, count));
        grid.row(
            format!("{mode} {count}"),
            ORDER.iter().map(|&who| {
                let figure = data.milliseconds(who, mode, count)?;
                (who != "bare").then(|| match fastest {
                    Some((_, fastest)) => format!("{figure:.2} ({:.2})", figure / fastest),
                    None => format!("{figure:.2}"),
                })
            }),
        );
    }
    grid.section(
        "CPU milliseconds of rustc per tool",
        "Without those of the plain functions; in brackets the ratio to the fastest peer.",
        out,
    );

    let mut grid = Grid::new([OURS]);
    for (measure, figure) in data.bfcl.get(OURS).into_iter().flatten() {
        let unit = if ["check", "debug", "release"].contains(&&**measure) {
            ", CPU seconds"
        } else {
            ""
        };
        grid.row(format!("{measure}{unit}"), [Some(format!("{figure}"))]);
    }
    grid.section(
        "Third-party functions",
        "The functions of the Berkeley Function Calling Leaderboard in one crate. Measuring them needs the \
         script that writes the crate, and its data.",
        out,
    );

    let mut grid = Grid::new(ORDER.iter().copied());
    let programs = [FEW, MANY].map(|count| format!("{count} tools"));
    for measure in std::iter::once("bytes a tool").chain(programs.iter().map(String::as_str)) {
        grid.row(measure, plain(&data.size, measure, 0));
    }
    grid.row(
        "base",
        ORDER
            .iter()
            .map(|who| Some(format!("{:.0}", data.base(who)?))),
    );
    let crossings = ORDER
        .iter()
        .map(|who| Some(format!("{:.0}", data.crossing(who)?)));
    grid.row("tools from which tool-core is smaller", crossings);
    grid.section(
        "Binary size",
        "Stripped release builds with 4 parameters per tool, and the difference per tool. `base` is what a program takes \
         without its tools: that with 40 of them, less 40 times the difference. The last row says from how many tools on \
         the program of tool-core is the smaller one.",
        out,
    );

    let mut grid = Grid::new(ORDER.iter().copied());
    for measure in ["crates", "CPU seconds"] {
        grid.row(measure, plain(&data.cold, measure, 0));
    }
    grid.section(
        "Cold build",
        "A debug build of all dependencies of a crate of tools, with default features: the least of three, which run in \
         turn. It includes serde and serde_json for every contender.",
        out,
    );
}

fn schemas(data: &Data, out: &mut String) {
    let columns = [
        "get_forecast schema bytes",
        "get_forecast schema tokens",
        "get_forecast definition tokens",
        "schemas bytes",
        "schemas tokens",
        "list bytes",
        "list tokens",
    ];
    let faults = ["allows", "refuses", "loses"];
    let mut grid = Grid::new(columns.iter().chain(&faults).copied());
    let mut remarks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let contenders = ORDER
        .iter()
        .filter_map(|&who| Some((who, data.schema.get(who)?)));
    for (who, forms) in contenders {
        for (form, checked) in forms {
            let name = match forms.len() {
                1 => who.to_owned(),
                _ => format!("{who} {form}"),
            };
            let sizes = columns
                .iter()
                .map(|column| Some(checked[*column].to_string()));
            let counts = faults
                .iter()
                .map(|fault| Some(list(&checked[*fault]).len().to_string()));
            grid.row(name.clone(), sizes.chain(counts));
            for fault in faults {
                let items = list(&checked[fault]);
                if !items.is_empty() {
                    let text = format!("{fault} {}", items.join("; "));
                    remarks.entry(text).or_default().push(name.clone());
                }
            }
        }
    }
    grid.section(
        "Schemas",
        "Bytes and o200k tokens of the argument schemas, of a definition with its schema, and of the list of \
         201 tools as sent. A validator checks valid and invalid arguments against each schema: `allows` \
         counts invalid arguments that a schema allows, `refuses` valid ones that it rejects, and `loses` \
         doc texts that are missing from the definition.",
        out,
    );
    for (text, names) in remarks {
        write!(out, "\n- {}: {text}", names.join(", ")).unwrap();
    }
    out.push('\n');
}

fn list(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}
