//! What every provider takes: the tightest of the rules below, always on.

use crate::provider::rules::Kind::{Compile, Emit};
use crate::provider::rules::{Met, Rule, Source, Value, rule, source};

const TIGHTEST: Source = source("the tightest of the rules of all providers", "2026-11");
const REPORTS: Source = source(
    "modelcontextprotocol/python-sdk#2384, vllm-project/vllm#46924, pydantic_ai 2.68.0 profiles",
    "2026-11",
);

/// The grammar of keys. The macro holds the keys of parameters and fields to it, the walk over the
/// tree all others.
pub(crate) const PARAM_NAME: Rule = rule(
    "portable.param_name",
    Compile,
    "a key is a letter or `_`, then letters, digits or `_`",
    Value::Pattern("^[a-zA-Z_][a-zA-Z0-9_]{0,63}$"),
    TIGHTEST,
    Met::By("`#[tool]` and `#[derive(ToolType)]`; the compile-time check of each parameter"),
);

pub(crate) const RULES: &[Rule] = &[
    rule(
        "portable.tool_name",
        Compile,
        "a tool's name is a letter or `_`, then letters, digits, `_` or `-`",
        Value::Pattern("^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$"),
        TIGHTEST,
        Met::By("`#[tool]`"),
    ),
    PARAM_NAME,
    rule(
        "portable.no_arg_schema",
        Emit,
        "a tool without parameters has an empty, closed object",
        Value::None,
        TIGHTEST,
        Met::By("the schema's text; `Gemini` leaves it out"),
    ),
    rule(
        "portable.refs",
        Emit,
        "no references but those of recursive types: some servers turn what stands behind one \
         into text",
        Value::None,
        REPORTS,
        Met::By("the schema tree, which is inlined"),
    ),
    rule(
        "portable.nonstandard_format",
        Emit,
        "no formats such as `uint8`, `int32` or `double`",
        Value::None,
        TIGHTEST,
        Met::By("the schemas of the number types, which have none"),
    ),
];

/// Whether every provider takes this as the name of a tool. The macro judges the names that it
/// sees; this is for those that come while the program runs.
pub(crate) fn is_tool_name(name: &str) -> bool {
    is_name(name, |byte| byte == b'-')
}

/// The same for a key of an object.
#[cfg(feature = "dynamic")]
pub(crate) fn is_param_name(name: &str) -> bool {
    is_name(name, |_| false)
}

fn is_name(name: &str, extra: impl Fn(u8) -> bool) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    (1..=64).contains(&name.len())
        && name.bytes().next().is_some_and(starts)
        && name
            .bytes()
            .all(|byte| starts(byte) || byte.is_ascii_digit() || extra(byte))
}
