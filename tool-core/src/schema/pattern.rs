//! Patterns, run by the `regex` crate in linear time.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use regex::Regex;

/// Every pattern that was used, compiled once in the life of the program. There are as many as
/// there are `pattern`s in its source.
static COMPILED: RwLock<Option<HashMap<&'static str, Regex>>> = RwLock::new(None);

/// Whether `pattern` is found in `text`.
///
/// The macro has tried every pattern; nothing matches one that does not compile all the same.
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
