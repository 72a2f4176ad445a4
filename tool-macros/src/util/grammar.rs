//! The names that every provider accepts.
//!
//! `tool_core::rules` checks the names that first appear at run time. A test compares the two, and
//! includes this file by its path, so it depends on nothing else.

/// Returns the error for a name that is not a valid tool name for every provider: OpenAI, Anthropic and
/// Bedrock allow 64 letters, digits, `_` and `-`; Gemini requires a letter or `_` first.
pub(crate) fn tool_name_error(name: &str) -> Option<String> {
    (!is_name(name, |byte| byte == b'-')).then(|| {
        format!(
            "`{name}` is not a valid tool name for every provider; \
             use an ASCII letter or `_`, then at most 63 ASCII letters, digits, `_` or `-`"
        )
    })
}

/// Returns the error for a name that is not a valid key of the arguments for every provider. Gemini
/// has the tightest rule.
pub(crate) fn key_error(name: &str) -> Option<String> {
    (!is_name(name, |_| false)).then(|| {
        format!(
            "`{name}` is not a valid key for every provider; \
             use an ASCII letter or `_`, then at most 63 ASCII letters, digits or `_`"
        )
    })
}

/// Returns the error for a value of an enum that differs from another one only in case. Anthropic's
/// strict mode may return a value in another case.
pub(crate) fn case_error<'n>(
    name: &str,
    mut others: impl Iterator<Item = &'n str>,
) -> Option<String> {
    let other =
        others.find(|other| *other != name && other.to_lowercase() == name.to_lowercase())?;
    Some(format!(
        "`{other}` and `{name}` differ only in case, which not every provider preserves; rename one"
    ))
}

/// Returns the error for an invalid tag. A `DynamicTool` has the same rule.
pub(crate) fn tag_error(tag: &str) -> Option<&'static str> {
    let may_have = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    if tag.is_empty() {
        Some("empty tag; write a name, or remove it")
    } else if tag.len() > 64 || !tag.bytes().all(may_have) {
        Some("invalid tag; use at most 64 ASCII letters, digits, `_`, `-`, `.` or `:`")
    } else {
        None
    }
}

fn is_name(name: &str, is_extra: impl Fn(u8) -> bool) -> bool {
    let may_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let may_follow = |byte: u8| may_start(byte) || byte.is_ascii_digit() || is_extra(byte);
    name.len() <= 64 && name.bytes().next().is_some_and(may_start) && name.bytes().all(may_follow)
}
