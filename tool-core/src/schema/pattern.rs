//! Patterns: regular expressions as JSON Schema means them (ECMA 262), run by the `regex` crate.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use regex::Regex;

/// Every pattern that was used, compiled once in the life of the program. There are as many as
/// there are `pattern`s in its source.
static COMPILED: RwLock<Option<HashMap<&'static str, Regex>>> = RwLock::new(None);

/// Whether `pattern` is found in `text`.
///
/// The macro has compiled the pattern, so one that does not compile here can only come from a
/// schema written by hand; nothing matches it.
pub(super) fn is_match(pattern: &'static str, text: &str) -> bool {
    let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = compiled.as_ref().and_then(|all| all.get(pattern)) {
        return regex.is_match(text);
    }
    drop(compiled);
    let Some(regex) = compile(pattern) else {
        return false;
    };
    let found = regex.is_match(text);
    let mut compiled = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    compiled.get_or_insert_default().insert(pattern, regex);
    found
}

fn compile(pattern: &str) -> Option<Regex> {
    let pattern = jsonschema_regex::to_rust_regex(pattern).ok()?;
    Regex::new(&pattern).ok()
}
