//! The figures of the first table.

use std::fmt::{Display, Write};

use super::super::data::{DIALECTS, Data, OURS, PEERS, WITH_MACRO, least, without};
use crate::compile::COUNTS;
use crate::figures::{Figures, get};

/// A number to compare with a target, and its text.
pub struct Figure {
    /// `None` if it was not measured.
    pub value: Option<f64>,
    pub text: String,
}

fn figure(value: f64, text: impl Into<String>) -> Figure {
    Figure {
        value: Some(value),
        text: text.into(),
    }
}

/// Returns the figure, or a text that says that it is missing.
fn or_missing(what: impl Display, figure: Option<Figure>) -> Figure {
    figure.unwrap_or_else(|| Figure {
        value: None,
        text: format!("{what}: not measured"),
    })
}

/// Returns ratios to the floor: instructions and wall time of these cases.
pub fn to_floor(data: &Data, cases: &[&str]) -> Vec<Figure> {
    let instructions = |case| {
        let of = |who| get(&data.instructions, who, case);
        let ratio = of(OURS)? / of("floor")?;
        Some(figure(ratio, format!("{case}: {ratio:.2} instructions")))
    };
    let wall = |case| {
        let ratio = data.paired((OURS, case), ("floor", case))?;
        Some(figure(ratio.median, format!("{ratio} wall")))
    };
    let both = |&case| {
        [
            or_missing(case, instructions(case)),
            or_missing("wall", wall(case)),
        ]
    };
    cases.iter().flat_map(both).collect()
}

/// Returns the instructions of cases.
pub fn instructions(data: &Data, cases: &[&str]) -> Vec<Figure> {
    let of = |case: &str| {
        let count = get(&data.instructions, OURS, case)?;
        Some(figure(count, format!("{case}: {count:.0}")))
    };
    cases
        .iter()
        .map(|case| or_missing(case, of(case)))
        .collect()
}

/// Returns the ratios to the floor of the events of streams in these formats, by instructions.
pub fn events(data: &Data, what: &str, forms: &[&str]) -> Vec<Figure> {
    let ratio = |form: &str| {
        let of = |who| get(&data.instructions, who, &format!("{what} {form}"));
        let ratio = of(OURS)? / of("floor")?;
        Some(figure(ratio, format!("{form}: {ratio:.2}")))
    };
    forms
        .iter()
        .map(|form| or_missing(form, ratio(form)))
        .collect()
}

/// Returns the instructions that a conversation adds to a call made by hand.
pub fn above_hand(data: &Data, case: &str) -> Vec<Figure> {
    let above = || {
        let of = |case| get(&data.instructions, OURS, case);
        let (call, by_hand) = (of(case)?, of("call by hand")?);
        let above = call - by_hand;
        Some(figure(
            above,
            format!("{above:.0} ({call:.0} and {by_hand:.0})"),
        ))
    };
    vec![or_missing(case, above())]
}

/// Compares a case of tool-core at some sizes with the same case at a smaller one, by instructions.
pub fn grown(data: &Data, case: &str, from: usize, to: &[usize]) -> Vec<Figure> {
    let of = |size: usize| get(&data.instructions, OURS, &format!("{case} {size}"));
    let ratio = |size: usize| {
        let ratio = of(size)? / of(from)?;
        Some(figure(ratio, format!("{size}: {ratio:.2}")))
    };
    let sizes = to.iter();
    sizes
        .map(|size| or_missing(format!("{case} {size}"), ratio(*size)))
        .collect()
}

/// Compares two cases of tool-core, by instructions.
pub fn beside(data: &Data, case: &str, other: &str) -> Vec<Figure> {
    let ratio = || {
        let of = |case| get(&data.instructions, OURS, case);
        let ratio = of(case)? / of(other)?;
        Some(figure(ratio, format!("{ratio:.2} ({})", of(case)?)))
    };
    vec![or_missing(case, ratio())]
}

/// Returns how many times faster a case is than the fastest peer at another: instructions and wall
/// time.
pub fn to_fastest(data: &Data, peers: &[&'static str], case: &str, theirs: &str) -> Vec<Figure> {
    let instructions = || {
        let of = |who, case| get(&data.instructions, who, case);
        let (name, least) = least(peers, |peer| of(peer, theirs))?;
        let ratio = least / of(OURS, case)?;
        let without = without(peers, |peer| of(peer, theirs));
        let text = format!("{ratio:.2} instructions ({name}{without})");
        Some(figure(ratio, text))
    };
    let wall = || {
        let paired = |peer| data.paired((peer, theirs), (OURS, case));
        let (name, median) = least(peers, |peer| Some(paired(peer)?.median))?;
        let without = without(peers, |peer| Some(paired(peer)?.median));
        let text = format!("{} wall ({name}{without})", paired(name)?);
        Some(figure(median, text))
    };
    vec![
        or_missing("instructions", instructions()),
        or_missing("wall", wall()),
    ]
}

/// Returns the ratio of a rejected call to an accepted call of the same tool.
pub fn refused(data: &Data) -> Vec<Figure> {
    let instructions = || {
        let of = |case| get(&data.instructions, OURS, case);
        let ratio = of("refused")? / of("flat")?;
        Some(figure(ratio, format!("{ratio:.2} instructions")))
    };
    let wall = || {
        let ratio = data.paired((OURS, "refused"), (OURS, "flat"))?;
        Some(figure(ratio.median, format!("{ratio} wall")))
    };
    vec![
        or_missing("instructions", instructions()),
        or_missing("wall", wall()),
    ]
}

pub fn mistakes(data: &Data) -> Vec<Figure> {
    let named = |who| get(&data.instructions, who, "mistakes named");
    let most = PEERS.iter().filter_map(|&peer| named(peer));
    let most = most.fold(0.0, f64::max);
    let ours = named(OURS).map(|ours| figure(ours, format!("{ours}; peers at most {most}")));
    vec![or_missing("mistakes", ours)]
}

pub fn lists(data: &Data) -> Vec<Figure> {
    let mut figures = Vec::new();
    for dialect in DIALECTS {
        let case = format!("list {dialect}");
        let mut both = to_fastest(data, PEERS, &case, "list definitions");
        both[0].text.insert_str(0, &format!("{dialect}: "));
        figures.append(&mut both);
    }
    figures
}

pub fn strict(data: &Data) -> Vec<Figure> {
    let per_tool = |dialect| {
        let all = get(&data.instructions, OURS, &format!("strict {dialect}"))?;
        let each = all / 201.0;
        Some(figure(each, format!("{dialect}: {each:.0}")))
    };
    let dialects = ["openai-chat", "anthropic"].into_iter();
    dialects
        .map(|dialect| or_missing(dialect, per_tool(dialect)))
        .collect()
}

pub fn list_allocations(data: &Data) -> Vec<Figure> {
    let growth = |dialect| {
        let of = |shape| get(&data.allocations, OURS, &format!("list {dialect} {shape}"));
        let (few, many) = (of("text")?, of("flat")?);
        Some(figure(many - few, format!("{dialect}: {many} − {few}")))
    };
    let all = DIALECTS.iter();
    all.map(|dialect| or_missing(dialect, growth(dialect)))
        .collect()
}

pub fn per_tool(data: &Data, what: &str) -> Vec<Figure> {
    let time = |size| data.time(OURS, &format!("{what} {size}"));
    let sizes = [10, 1000, 10_000].into_iter();
    sizes
        .map(|size| {
            let time = time(size).map(|time| figure(time, format!("{time:.0}")));
            or_missing(size, time)
        })
        .collect()
}

pub fn look_up(data: &Data) -> Vec<Figure> {
    let instructions = || {
        let at = |size| get(&data.instructions, OURS, &format!("look up {size}"));
        let ratio = at(10_000)? / at(10)?;
        let wall = data.paired((OURS, "look up 10000"), (OURS, "look up 10"))?;
        let text = format!("{ratio:.2}; {wall} wall, with cache misses");
        Some(figure(ratio, text))
    };
    vec![or_missing("look-up", instructions())]
}

/// A call that is validated without running, beside one that runs.
pub fn validate(data: &Data) -> Vec<Figure> {
    of_shapes(data, "validate ", "")
}

/// A call that leaves out parameters, validated without running, beside one that runs.
pub fn left_out(data: &Data) -> Vec<Figure> {
    of_uses(data, &["left out"], "validate ", "")
}

/// A call with one hook, beside one without.
pub fn hooked(data: &Data) -> Vec<Figure> {
    of_shapes(data, "hooked ", "")
}

/// Arguments that are validated in pieces, beside a call that is validated.
pub fn pieces(data: &Data) -> Vec<Figure> {
    of_shapes(data, "pieces ", "validate ")
}

/// Compares two uses of the same arguments.
fn of_shapes(data: &Data, what: &str, to: &str) -> Vec<Figure> {
    of_uses(data, &["flat", "nested"], what, to)
}

/// Compares two uses of the same arguments, by instructions.
fn of_uses(data: &Data, shapes: &[&str], what: &str, to: &str) -> Vec<Figure> {
    let of = |shape| {
        let at = |case: &str| get(&data.instructions, OURS, &format!("{case}{shape}"));
        let count = at(what)?;
        let ratio = count / at(to)?;
        Some(figure(ratio, format!("{shape}: {ratio:.2} ({count})")))
    };
    let shapes = shapes.iter();
    shapes.map(|shape| or_missing(shape, of(shape))).collect()
}

/// A case with 10,000 tools, and with fewer.
pub fn among(data: &Data, what: &str) -> Vec<Figure> {
    let at = |size| get(&data.instructions, OURS, &format!("{what} {size}"));
    let figures = || {
        let (few, many) = (at(10)?, at(10_000)?);
        let between = at(1000).map_or_else(String::new, |count| format!(", {count:.0} in 1,000"));
        let text = format!("{many:.0}; {few:.0} in 10 tools{between}");
        Some(figure(many, text))
    };
    vec![or_missing(what, figures())]
}

/// Tools that are added one by one, beside a registry that is built from all.
pub fn add(data: &Data) -> Vec<Figure> {
    let at = |what| get(&data.instructions, OURS, &format!("{what} 10000"));
    let figures = || {
        let (added, built) = (at("add")?, at("start")?);
        let ratio = added / built;
        let text = format!("{ratio:.1}: {added:.0} instructions a tool");
        Some(figure(ratio, text))
    };
    vec![or_missing("add", figures())]
}

/// Compares builds of 200 tools, because release builds of 1,000 take an hour for the peers.
pub fn build_cost(data: &Data, mode: &str) -> Vec<Figure> {
    let at = |count| {
        let ours = data.milliseconds(OURS, mode, count)?;
        let fastest = |peers| least(peers, |peer| data.milliseconds(peer, mode, count));
        let (name, theirs) = fastest(PEERS)?;
        let (with_macro, slower) = fastest(WITH_MACRO)?;
        let ratio = ours / theirs;
        let mut text = format!("{count}: {ours:.2} ms, {ratio:.2} × {name}");
        if with_macro != name {
            write!(text, ", {:.2} × {with_macro}", ours / slower).ok()?;
        }
        text += &without(PEERS, |peer| data.milliseconds(peer, mode, count));
        Some(figure(ratio, text))
    };
    let counts = match mode {
        "check" | "debug" => COUNTS,
        _ => &COUNTS[..1],
    };
    let counts = counts.iter();
    counts.map(|&count| or_missing(count, at(count))).collect()
}

/// Returns milliseconds per tool.
pub fn build_time(data: &Data, mode: &str) -> Vec<Figure> {
    let at = |count| {
        let ours = data.milliseconds(OURS, mode, count)?;
        Some(figure(ours, format!("{ours:.2}")))
    };
    let counts = COUNTS.iter();
    counts.map(|&count| or_missing(count, at(count))).collect()
}

pub fn bfcl_check(data: &Data) -> Vec<Figure> {
    let milliseconds = || {
        let of = |measure| get(&data.bfcl, OURS, measure);
        let ms = of("check")? * 1000.0 / of("tools")?;
        Some(figure(ms, format!("{ms:.2}")))
    };
    vec![or_missing("check", milliseconds())]
}

/// Compares a check with the same check of serde's and schemars' derives. The functions themselves are subtracted if the tools
/// have types of their own.
pub fn edit(data: &Data, case: &str, is_typed: bool) -> Vec<Figure> {
    let ratio = || {
        let of = |who| get(&data.edit, who, case);
        let bare = if is_typed { of("bare")? } else { 0.0 };
        let (ours, theirs) = (of(OURS)? - bare, of("schemars")? - bare);
        let ratio = ours / theirs;
        let millions = [ours, theirs].map(|count| (count / 1e6).round());
        let text = format!("{ratio:.3} ({} and {} million)", millions[0], millions[1]);
        Some(figure(ratio, text))
    };
    vec![or_missing(case, ratio())]
}

/// Base64 of 10 MB, beside the crate `base64`: instructions and wall time.
pub fn base64(data: &Data, way: &str) -> Vec<Figure> {
    let (ours, theirs) = (format!("base64 {way}"), format!("base64 {way}, base64"));
    let instructions = || {
        let of = |case: &str| get(&data.instructions, OURS, case);
        let ratio = of(&ours)? / of(&theirs)?;
        Some(figure(ratio, format!("{way}: {ratio:.2} instructions")))
    };
    let wall = || {
        let ratio = data.paired((OURS, &ours), (OURS, &theirs))?;
        let milliseconds = data.time(OURS, &ours)? / 1e6;
        let text = format!("{ratio} wall ({milliseconds:.1} ms)");
        Some(figure(ratio.median, text))
    };
    vec![or_missing(way, instructions()), or_missing("wall", wall())]
}

/// The append of an increment, beside a plain write of the same bytes: wall time.
pub fn journals(data: &Data) -> Vec<Figure> {
    let ratio = |journal: &str| {
        let ratio = data.journal(journal)?;
        Some(figure(ratio.median, format!("{journal}: {ratio}")))
    };
    let journals = ["file", "sqlite"].into_iter();
    journals
        .map(|journal| or_missing(journal, ratio(journal)))
        .collect()
}

/// Compares the instructions that the program itself runs, outside of the kernel.
pub fn journal(data: &Data, journal: &str) -> Vec<Figure> {
    let more = || {
        let of = |case: &str| get(&data.journals, OURS, case);
        let (ours, plain) = (of(journal)?, of(&format!("{journal}, plain"))?);
        let text = format!("{:.0} ({ours:.0} and {plain:.0})", ours - plain);
        Some(figure(ours - plain, text))
    };
    vec![or_missing(journal, more())]
}

/// An event of a stream in an agent, beside one in a reader alone.
pub fn agent_stream(data: &Data) -> Vec<Figure> {
    let ratio = || {
        let of = |case| get(&data.instructions, OURS, case);
        let (agent, alone) = (of("agent stream")?, of("stream openai-chat")?);
        let ratio = agent / alone;
        Some(figure(ratio, format!("{ratio:.2} ({agent:.0})")))
    };
    vec![or_missing("agent stream", ratio())]
}

/// The plain functions are subtracted on neither side, because BFCL's crate lacks them.
pub fn bfcl(data: &Data) -> Vec<Figure> {
    let of = |measure: &str| get(&data.bfcl, OURS, measure);
    let build = |mode| {
        let ms = of(mode)? * 1000.0 / of("tools")?;
        let ratio = ms / (get(&data.compile, OURS, &format!("{mode} 200"))? * 1000.0 / 200.0);
        Some(figure(ratio, format!("{mode}: {ms:.2} ms, {ratio:.2}")))
    };
    // The two runs were not timed in turn, so compare instructions.
    let run = |case| {
        let ours = of(&format!("{case}, instructions"))? / of("tools")?;
        let ratio = ours / (get(&data.instructions, OURS, case)? / 201.0);
        let text = format!("{case}: {ours:.0} instructions, {ratio:.2}");
        Some(figure(ratio, text))
    };
    let builds = ["check", "debug"].map(|mode| or_missing(mode, build(mode)));
    let runs = ["start", "list mcp"].map(|case| or_missing(case, run(case)));
    builds.into_iter().chain(runs).collect()
}

pub fn size(data: &Data) -> Vec<Figure> {
    let bytes = || {
        let of = |who| get(&data.size, who, "bytes a tool");
        let (ours, bare) = (of(OURS)?, of("bare")?);
        let text = format!("{ours:.0}, {bare:.0} of them for the function");
        Some(figure(ours, text))
    };
    vec![or_missing("size", bytes())]
}

pub fn base(data: &Data) -> Vec<Figure> {
    let bytes = || {
        let ours = data.base(OURS)?;
        let (name, theirs) = least(PEERS, |peer| data.base(peer))?;
        Some(figure(ours, format!("{ours:.0}; {name} {theirs:.0}")))
    };
    vec![or_missing("size", bytes())]
}

/// Returns tool-core's figure relative to the smallest of these peers.
pub fn below_peers(figures: &Figures, measure: &str, peers: &[&'static str]) -> Vec<Figure> {
    let ratio = || {
        let ours = get(figures, OURS, measure)?;
        let (name, theirs) = least(peers, |peer| get(figures, peer, measure))?;
        let without = without(peers, |peer| get(figures, peer, measure));
        let text = format!("{ours}; {name} {theirs}{without}");
        Some(figure(ours / theirs, text))
    };
    vec![or_missing(measure, ratio())]
}

/// MCP's format sends schemas as they are; other dialects add and remove what their providers
/// require.
const FORM: &str = "mcp";
const FAULTS: [&str; 3] = ["allows", "refuses", "loses"];

/// Returns sizes relative to the smallest peer whose schemas are correct.
pub fn schema_size(data: &Data) -> Vec<Figure> {
    let beside = |measure: &str| {
        let ours = data.schema.get(OURS)?.get(FORM)?[measure].as_f64()?;
        let of = |peer| data.schema.get(peer)?.get("definitions");
        let right = least(PEERS, |peer| {
            let checked = of(peer)?;
            let is_right = FAULTS
                .iter()
                .all(|fault| checked[*fault] == serde_json::json!([]));
            let size = checked[measure].as_f64()?;
            Some(if is_right { size } else { f64::INFINITY })
        })?;
        let (name, any) = least(PEERS, |peer| of(peer)?[measure].as_f64())?;
        let theirs = if right.1.is_finite() {
            format!("{} {}", right.0, right.1)
        } else {
            format!("no peer is correct; {name} {any}")
        };
        Some(figure(
            ours / right.1,
            format!("{measure}: {ours}; {theirs}"),
        ))
    };
    let measures = ["get_forecast schema", "schemas"].into_iter();
    measures
        .flat_map(|what| ["bytes", "tokens"].map(|unit| format!("{what} {unit}")))
        .map(|measure| or_missing(&measure, beside(&measure)))
        .collect()
}

pub fn schema_right(data: &Data) -> Vec<Figure> {
    let faults = || {
        let checked = data.schema.get(OURS)?.get(FORM)?;
        let of = |fault: &str| checked[fault].as_array().map(Vec::len);
        let faults = FAULTS.iter().map(|fault| of(fault));
        let faults = faults.collect::<Option<Vec<_>>>()?;
        let sum = faults.iter().sum::<usize>();
        Some(figure(sum as f64, sum.to_string()))
    };
    vec![or_missing("faults", faults())]
}

/// Compares cases of tools that are defined at run time with what a program without tool-core does.
pub fn to_jsonschema(data: &Data, cases: &[&str]) -> Vec<Figure> {
    let ratio = |case: &str| {
        let of = |case: &str| get(&data.dynamic, OURS, case);
        let (ours, theirs) = (of(case)?, of(&format!("{case}, jsonschema"))?);
        let ratio = ours / theirs;
        Some(figure(ratio, format!("{case}: {ratio:.2} ({ours})")))
    };
    let cases = cases.iter();
    cases.map(|case| or_missing(case, ratio(case))).collect()
}

/// Returns one figure of such tools.
pub fn dynamic(data: &Data, case: &str) -> Vec<Figure> {
    let found = get(&data.dynamic, OURS, case);
    vec![or_missing(
        case,
        found.map(|found| figure(found, found.to_string())),
    )]
}

/// Compares a command of a command line with a program of clap that does nothing.
pub fn cli(data: &Data, case: &str) -> Vec<Figure> {
    let of = |case: &str| get(&data.cli, OURS, case);
    let found = of(case).zip(of("plain"));
    let found = found.map(|(ours, plain)| {
        let text = format!("{:.2} ({ours:.0} of {plain:.0})", ours / plain);
        figure(ours / plain, text)
    });
    vec![or_missing(case, found)]
}

pub fn at_once(data: &Data) -> Vec<Figure> {
    let over = || {
        let (all, bare) = ("1000 at once", "1000 at once, bare");
        let more = data.more((OURS, all), (OURS, bare))?;
        let of = |case| get(&data.instructions, OURS, case);
        let instructions = of(all)? - of(bare)?;
        let text = format!("{more:.0} wall; {instructions:.0} instructions");
        Some(figure(more.median, text))
    };
    vec![or_missing("over", over())]
}
