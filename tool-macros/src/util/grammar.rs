//! Which names every provider takes.
//!
//! `tool_core::rules::portable` says the same of names that come while a program runs. A test drives
//! both, and takes this file as it stands: it refers to nothing else.

/// Whether every provider takes `name` as the name of a tool: OpenAI, Anthropic and Bedrock allow
/// 64 letters, digits, `_` and `-`; Gemini wants a letter or `_` first.
pub(crate) fn is_tool_name(name: &str) -> bool {
    is_name(name, |byte| byte == b'-')
}

/// Whether every provider takes `name` as a key of the arguments. Gemini is the tightest.
pub(crate) fn is_key(name: &str) -> bool {
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
