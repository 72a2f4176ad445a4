//! Generated files kept in version control: a test compares them, and rewrites them on request.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io};

/// The environment variable that requests a rewrite.
pub(crate) const UPDATE: &str = "TOOL_CORE_UPDATE";

/// Returns `true` if files are to be rewritten.
pub(crate) fn is_updating() -> bool {
    env::var_os(UPDATE).is_some_and(|value| value != "0" && !value.is_empty())
}

/// Reads a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file atomically: a reader never sees a half-written one.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    name.push(format!(".{}.{count}.tmp", std::process::id()));
    let new = path.with_file_name(name);
    fs::write(&new, text)?;
    fs::rename(&new, path).inspect_err(|_| drop(fs::remove_file(&new)))
}
