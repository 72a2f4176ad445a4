//! Files that are made from the tools and kept in version control: a test compares them, and
//! writes them anew when it is asked to.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io};

/// The variable that asks for it.
pub(crate) const UPDATE: &str = "TOOL_CORE_UPDATE";

/// Whether files are to be written anew.
pub(crate) fn is_updating() -> bool {
    env::var_os(UPDATE).is_some_and(|value| value != "0" && !value.is_empty())
}

/// The text of a file, if there is one.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts a text in the place of a file at once, so that no reader ever sees half of it.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
    name.push(format!(".{}.{count}.tmp", std::process::id()));
    let new = path.with_file_name(name);
    fs::write(&new, text)?;
    fs::rename(&new, path).inspect_err(|_| drop(fs::remove_file(&new)))
}
