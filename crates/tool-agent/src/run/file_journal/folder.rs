//! A folder of runs, and the names of files in it.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::error::failed;
use crate::run::JournalError;

/// The extension of the files.
const EXTENSION: &str = ".jsonl";

/// Maximum length of a name that is only an id, without the extension. File systems limit names to 255 bytes.
const LONGEST_NAME: usize = 160;

/// Creates a missing folder and its missing parents. Their names survive a crash of the system.
pub(super) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let missing: Vec<_> = missing.map(Path::to_owned).collect();
    fs::create_dir_all(folder)?;
    for created in missing {
        let parent = created
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        sync_folder(parent.unwrap_or(Path::new(".")))?;
    }
    Ok(())
}

/// Makes the names of new files survive a crash of the system.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Returns the names of the files of runs in a folder, which may be missing.
pub(super) fn names_in(folder: &Path) -> Result<Vec<OsString>, JournalError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| failed(folder, error))?.file_name();
        if is_run(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the file name for a run: the id, with some characters in hexadecimal, because some file systems reject or
/// don't distinguish them.
pub(super) fn name_of(run: &str) -> String {
    let mut name = String::from("run-");
    for byte in run.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "_{byte:02x}");
        }
    }
    if name.len() > LONGEST_NAME {
        name.truncate(LONGEST_NAME / 2);
        // No short name contains this.
        name.push_str("_x");
        for byte in Sha256::digest(run) {
            let _ = write!(name, "{byte:02x}");
        }
    }
    name.push_str(EXTENSION);
    name
}

/// Returns `true` if a file has the name of a run.
fn is_run(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(EXTENSION));
    let is_ours =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    name.is_some_and(|name| name.starts_with("run-") && name.bytes().all(is_ours))
}
