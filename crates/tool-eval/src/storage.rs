//! Reads and writes the files of evaluations.

use std::io::Read;
use std::path::Path;

use serde::Serialize;
use tool_core::files;

use crate::error::EvalError;

/// Maximum size of a file in bytes.
const LONGEST: u64 = 256 << 20;

/// Reads a file.
pub(crate) fn read_text(path: &Path) -> Result<String, EvalError> {
    let fail = |error: std::io::Error| EvalError::of_file(path, format!("can't be read: {error}"));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(fail)?;
    // Opened before the check, so that the checked file is the one that is read. Reading a pipe could block forever.
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(EvalError::of_file(
            path,
            "can't be read: it is not a regular file",
        ));
    }
    file.take(LONGEST + 1)
        .read_to_string(&mut text)
        .map_err(fail)?;
    if text.len() as u64 > LONGEST {
        return Err(EvalError::of_file(
            path,
            format!("has more than {LONGEST} bytes"),
        ));
    }
    Ok(text)
}

/// Replaces a file with a value as JSON. Atomic, so a reader never sees half of it.
pub(crate) fn replace(path: &Path, value: &impl Serialize) -> Result<(), EvalError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| EvalError::of_file(path, format!("can't be written: {error}")))?;
    text.push('\n');
    files::replace(path, text.as_bytes())
        .map_err(|error| EvalError::of_file(path, format!("can't be written: {error}")))
}
