//! Matching of patterns with the `regex` crate, which runs in linear time.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use regex::Regex;

/// Every pattern that was used, compiled once. Their number is limited by the `pattern`s in the
/// source.
static COMPILED: RwLock<Option<HashMap<&'static str, Regex>>> = RwLock::new(None);

/// Returns `true` if `pattern` is found in `text`.
///
/// The macro has compiled every pattern, so failing to compile should not happen; such a pattern
/// matches nothing.
pub(super) fn is_match(pattern: &'static str, text: &str) -> bool {
    let compiled = COMPILED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = compiled.as_ref().and_then(|all| all.get(pattern)) {
        return regex.is_match(text);
    }
    drop(compiled);
    let Ok(regex) = Regex::new(pattern) else {
        return false;
    };
    let found = regex.is_match(text);
    let mut compiled = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    compiled.get_or_insert_default().insert(pattern, regex);
    found
}
