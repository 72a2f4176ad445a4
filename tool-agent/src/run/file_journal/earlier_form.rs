//! Reads the earlier form: a folder for each run, and in it a file for each append, named by its first number.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::failed;
use crate::run::{Increment, JournalError, Run, RunHead};

/// Returns the number of the last increment; 0 if there is no such run.
pub(super) fn last_number(folder: &Path) -> Result<u64, JournalError> {
    match files(folder)?.last() {
        Some(path) => Ok(read(path)?.last().map_or(0, Increment::number)),
        None => Ok(0),
    }
}

/// Returns all increments of a run.
pub(super) fn load(folder: &Path) -> Result<Vec<Increment>, JournalError> {
    let mut increments = Vec::new();
    for path in files(folder)? {
        increments.extend(read(&path)?);
    }
    Ok(increments)
}

/// Returns the head of a run, for which all of it has to be read.
pub(super) fn head(folder: &Path) -> Result<Option<RunHead>, JournalError> {
    let increments = load(folder)?;
    if increments.is_empty() {
        return Ok(None);
    }
    let run = Run::replay(increments).map_err(|error| failed(folder, error))?;
    let mut head = run.head();
    let last = files(folder)?.pop();
    let modified = last.and_then(|last| fs::metadata(last).ok()?.modified().ok());
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    head.saved_ms = since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    });
    Ok(Some(head))
}

/// Returns the files of a run, in order; none if there is no such run.
fn files(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(folder, error))?;
        if is_name(&entry.file_name()) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns `true` for the name of an append.
fn is_name(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_suffix(".json"));
    number.is_some_and(|number| number.len() == 20 && number.bytes().all(|b| b.is_ascii_digit()))
}

fn read(path: &Path) -> Result<Vec<Increment>, JournalError> {
    let json = fs::read(path).map_err(|error| failed(path, error))?;
    serde_json::from_slice(&json).map_err(|error| {
        failed(
            path,
            format!("it has no list of increments of a run: {error}"),
        )
    })
}
