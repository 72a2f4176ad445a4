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
    dynamic(data, out);
    builds(data, out);
    schemas(data, out);
}

/// Where the time goes: each path beside the best peer and the floor.
fn paths(data: &Data, out: &mut String) {
    let figures = &data.instructions;
    let mut grid = Grid::new([OURS, "best peer", "floor", "ours / floor"]);
    let mut row =
        |name: String, ours: Option<f64>, peer: Option<(&str, f64)>, floor: Option<f64>| {
            let figure = |figure: Option<f64>| figure.map(|figure| format!("{figure}"));
            let ratio = ours
                .zip(floor)
                .map(|(ours, floor)| format!("{:.2}", ours / floor));
            let peer = peer.map(|(name, figure)| format!("{figure} ({name})"));
            grid.row(name, [figure(ours), peer, figure(floor), ratio]);
        };
    for case in ["flat", "nested", "text", "refused"] {
        let peer = least(PEERS, |peer| get(figures, peer, case));
        let floor = get(figures, "floor", case);
        row(
            format!("a call, {case}"),
            get(figures, OURS, case),
            peer,
            floor,
        );
    }
    let peer = least(PEERS, |peer| get(figures, peer, "list definitions"));
    for form in DIALECTS {
        let ours = get(figures, OURS, &format!("list {form}"));
        row(format!("listing 201 tools, {form}"), ours, peer, None);
    }
    let peer = least(PEERS, |peer| get(figures, peer, "start"));
    row(
        "start with 201 tools".into(),
        get(figures, OURS, "start"),
        peer,
        None,
    );
    for what in ["stream", "arguments"] {
        for form in DIALECTS {
            let case = format!("{what} {form}");
            let ours = get(figures, OURS, &case);
            row(
                format!("an event, {case}"),
                ours,
                None,
                get(figures, "floor", &case),
            );
        }
    }
    let by_hand = get(figures, OURS, "call by hand");
    for case in ["call in a run", "call in an agent"] {
        row(format!("a {case}"), get(figures, OURS, case), None, by_hand);
    }
    for case in ["call", "call, nested", "build"] {
        let of = |case: &str| get(&data.dynamic, OURS, case);
        row(
            format!("a `DynamicTool`, {case}"),
            of(case),
            None,
            of(&format!("{case}, jsonschema")),
        );
    }
    grid.section(
        "Where the time goes",
        "Instructions of each path. The floor is what a careful programmer writes by hand: for a call in a conversation, a \
         loop that calls the dialect and the registry; for a `DynamicTool`, `jsonschema` alone.",
        out,
    );
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
    for case in ["call by hand", "call in a run", "call in an agent"] {
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
         the messages of the next request. `by hand` is a loop that calls the dialect and the registry.",
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
         one tool.",
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
    grid.section(
        "Binary size",
        "Stripped release builds with 4 parameters per tool, and the difference per tool.",
        out,
    );

    let mut grid = Grid::new(ORDER.iter().copied());
    for measure in ["crates", "CPU seconds"] {
        grid.row(measure, plain(&data.cold, measure, 0));
    }
    grid.section(
        "Cold build",
        "A debug build of all dependencies of a crate of tools, with default features. It includes serde \
         and serde_json for every contender.",
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
