//! Errors of the file system, which name the file or folder.

use std::fmt::Display;
use std::path::Path;

use crate::run::JournalError;

/// Returns an error that names a file or folder.
pub(super) fn failed(path: &Path, error: impl Display) -> JournalError {
    // The system only says "not a directory", without saying which.
    let mut folders = path.ancestors().skip(1);
    if let Some(file) = folders
        .find(|folder| folder.exists())
        .filter(|path| !path.is_dir())
    {
        return JournalError::failed(format!("{} is not a folder: {error}", file.display()));
    }
    JournalError::failed(format!("{}: {error}", path.display()))
}
