//! The figures of the first table.

use std::fmt::Write;

use super::super::data::{DIALECTS, Data, OURS, PEERS, WITH_MACRO, least};
use crate::compile::COUNTS;
use crate::figures::{Figures, get};

/// A number to hold against a bound, and how it is shown.
pub struct Figure {
    pub value: f64,
    pub text: String,
}

fn figure(value: f64, text: impl Into<String>) -> Figure {
    Figure {
        value,
        text: text.into(),
    }
}

/// Instructions and wall time of these cases beside the floor's.
pub fn to_floor(data: &Data, cases: &[&str]) -> Option<Vec<Figure>> {
    let mut figures = Vec::new();
    for case in cases {
        let ours = get(&data.instructions, OURS, case)?;
        let ratio = ours / get(&data.instructions, "floor", case)?;
        figures.push(figure(ratio, format!("{case}: {ratio:.2} instructions")));
        let ratio = data.paired((OURS, case), ("floor", case))?;
        figures.push(figure(ratio.median, format!("{ratio} wall")));
    }
    Some(figures)
}

/// How many times faster a case is than the fastest peer at another.
pub fn to_fastest(
    data: &Data,
    peers: &[&'static str],
    case: &str,
    theirs: &str,
) -> Option<Vec<Figure>> {
    let ours = get(&data.instructions, OURS, case)?;
    let (name, ratio) = least(peers, |peer| {
        Some(get(&data.instructions, peer, theirs)? / ours)
    })?;
    let instructions = figure(ratio, format!("{ratio:.2} instructions ({name})"));
    let (name, _) = least(peers, |peer| {
        Some(data.paired((peer, theirs), (OURS, case))?.median)
    })?;
    let ratio = data.paired((name, theirs), (OURS, case))?;
    Some(vec![
        instructions,
        figure(ratio.median, format!("{ratio} wall ({name})")),
    ])
}

pub fn refused(data: &Data) -> Option<Vec<Figure>> {
    let ratio = get(&data.instructions, OURS, "refused")? / get(&data.instructions, OURS, "flat")?;
    let wall = data.paired((OURS, "refused"), (OURS, "flat"))?;
    Some(vec![
        figure(ratio, format!("{ratio:.2} instructions")),
        figure(wall.median, format!("{wall} wall")),
    ])
}

pub fn mistakes(data: &Data) -> Option<Vec<Figure>> {
    let named = |who| get(&data.instructions, who, "mistakes named");
    let most = PEERS.iter().filter_map(|&peer| named(peer));
    let most = most.fold(0.0, f64::max);
    let ours = named(OURS)?;
    Some(vec![figure(ours, format!("{ours}, a peer at most {most}"))])
}

pub fn lists(data: &Data) -> Option<Vec<Figure>> {
    let mut figures = Vec::new();
    for dialect in DIALECTS {
        let case = format!("list {dialect}");
        let [instructions, wall] = &to_fastest(data, PEERS, &case, "list definitions")?[..] else {
            return None;
        };
        let text = format!("{dialect}: {}, {}", instructions.text, wall.text);
        figures.push(figure(instructions.value.min(wall.value), text));
    }
    Some(figures)
}

pub fn list_allocations(data: &Data) -> Option<Vec<Figure>> {
    let mut figures = Vec::new();
    for dialect in DIALECTS {
        let of = |shape| get(&data.allocations, OURS, &format!("list {dialect} {shape}"));
        let (few, many) = (of("text")?, of("flat")?);
        figures.push(figure(many - few, format!("{dialect}: {many} − {few}")));
    }
    Some(figures)
}

pub fn per_tool(data: &Data, what: &str) -> Option<Vec<Figure>> {
    let at = |size| {
        let time = data.time(OURS, &format!("{what} {size}"))?;
        Some(figure(time, format!("{time:.0}")))
    };
    [10, 1000, 10_000].into_iter().map(at).collect()
}

pub fn look_up(data: &Data) -> Option<Vec<Figure>> {
    let at = |size| get(&data.instructions, OURS, &format!("look up {size}"));
    let ratio = at(10_000)? / at(10)?;
    let wall = data.paired((OURS, "look up 10000"), (OURS, "look up 10"))?;
    let text = format!("{ratio:.2}; with the misses of the cache {wall} wall");
    Some(vec![figure(ratio, text)])
}

pub fn build_cost(data: &Data, mode: &str) -> Option<Vec<Figure>> {
    let at = |&count: &usize| {
        let ours = data.milliseconds(OURS, mode, count)?;
        let fastest = |peers| least(peers, |peer| data.milliseconds(peer, mode, count));
        let (name, theirs) = fastest(PEERS)?;
        let (with_macro, slower) = fastest(WITH_MACRO)?;
        let ratio = ours / theirs;
        let mut text = format!("{count}: {ours:.2} ms, {ratio:.2} × {name}");
        if with_macro != name {
            write!(text, ", {:.2} × {with_macro}", ours / slower).ok()?;
        }
        Some(figure(ratio, text))
    };
    COUNTS.iter().map(at).collect()
}

pub fn check_time(data: &Data) -> Option<Vec<Figure>> {
    let at = |&count: &usize| {
        let ours = data.milliseconds(OURS, "check", count)?;
        Some(figure(ours, format!("{ours:.2}")))
    };
    COUNTS.iter().map(at).collect()
}

/// Neither side is lessened by the bare functions, which BFCL's crate has not.
pub fn bfcl(data: &Data) -> Option<Vec<Figure>> {
    let of = |measure: &str| get(&data.bfcl, OURS, measure);
    let tools = of("tools")?;
    let mut figures = Vec::new();
    for mode in ["check", "debug"] {
        let ms = of(mode)? * 1000.0 / tools;
        let ratio = ms / (get(&data.compile, OURS, &format!("{mode} 200"))? * 1000.0 / 200.0);
        figures.push(figure(ratio, format!("{mode}: {ms:.2} ms, {ratio:.2}")));
    }
    for case in ["start", "list mcp"] {
        let ns = of(&format!("{case}, nanoseconds"))? / tools;
        let ratio = ns / (data.time(OURS, case)? / 201.0);
        figures.push(figure(ratio, format!("{case}: {ns:.0} ns, {ratio:.2}")));
    }
    Some(figures)
}

pub fn size(data: &Data) -> Option<Vec<Figure>> {
    let ours = get(&data.size, OURS, "bytes a tool")?;
    let bare = get(&data.size, "bare", "bytes a tool")?;
    let text = format!("{ours:.0}, of which {bare:.0} are the function's");
    Some(vec![figure(ours, text)])
}

/// Ours beside the least of these.
pub fn below_peers(
    figures: &Figures,
    measure: &str,
    peers: &[&'static str],
) -> Option<Vec<Figure>> {
    let ours = get(figures, OURS, measure)?;
    let (name, theirs) = least(peers, |peer| get(figures, peer, measure))?;
    let text = format!("{}; {name} {}", Plain(ours), Plain(theirs));
    Some(vec![figure(ours / theirs, text)])
}

/// A number without needless zeroes.
struct Plain(f64);

impl std::fmt::Display for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = if self.0.fract() == 0.0 { 0 } else { 1 };
        write!(f, "{:.decimals$}", self.0)
    }
}

pub fn schema_size(data: &Data) -> Option<Vec<Figure>> {
    let ours = data.schema.get(OURS)?.get("mcp")?;
    let mut figures = Vec::new();
    for measure in ["get_forecast schema", "schemas"] {
        for unit in ["bytes", "tokens"] {
            let measure = format!("{measure} {unit}");
            let of = |peer: &str| {
                let judged = data.schema.get(peer)?.values().next()?;
                let is_right = ["allows", "refuses", "loses"]
                    .iter()
                    .all(|key| judged[*key].as_array().is_some_and(Vec::is_empty));
                Some((judged[&*measure].as_f64()?, is_right))
            };
            let ours = ours[&*measure].as_f64()?;
            let right = least(PEERS, |peer| of(peer).filter(|f| f.1).map(|f| f.0));
            let (name, any) = least(PEERS, |peer| of(peer).map(|f| f.0))?;
            let (value, text) = match right {
                Some((name, theirs)) => (ours / theirs, format!("{name} {theirs}")),
                None => (0.0, format!("no peer is correct, {name} has {any}")),
            };
            figures.push(figure(value, format!("{measure}: {ours}; {text}")));
        }
    }
    Some(figures)
}

pub fn schema_right(data: &Data) -> Option<Vec<Figure>> {
    let mut figures = Vec::new();
    for (form, judged) in data.schema.get(OURS)? {
        let of = |key: &str| judged[key].as_array().map(Vec::len);
        let (allows, refuses, loses) = (of("allows")?, of("refuses")?, of("loses")?);
        figures.push(figure(
            (allows + refuses + loses) as f64,
            format!("{form}: {allows}, {refuses}, {loses}"),
        ));
    }
    Some(figures)
}

pub fn at_once(data: &Data) -> Option<Vec<Figure>> {
    let (all, bare) = ("1000 at once", "1000 at once, bare");
    let more = data.more((OURS, all), (OURS, bare))?;
    let of = |case| get(&data.instructions, OURS, case);
    let instructions = of(all)? - of(bare)?;
    Some(vec![figure(
        more.median,
        format!("{more:.0} wall; {instructions:.0} instructions"),
    )])
}
