//! More that may be left out than one provider takes. It is the whole tool that is too large.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
#[serde(default)]
#[derive(Default)]
struct Filter {
    a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8,
    i: u8, j: u8, k: u8, l: u8, m: u8, n: u8, o: u8, p: u8,
}

/// Searches.
#[tool]
fn search(text: &str, with: Filter, without: Filter) -> usize {
    let sum = |filter: &Filter| filter.a + filter.b + filter.c + filter.d + filter.e + filter.f;
    let more = |filter: &Filter| filter.g + filter.h + filter.i + filter.j + filter.k + filter.l;
    let rest = |filter: &Filter| filter.m + filter.n + filter.o + filter.p;
    let all = |filter: &Filter| usize::from(sum(filter) + more(filter) + rest(filter));
    text.len() + all(&with) + all(&without)
}

fn main() {
    let _ = tools![search];
}
