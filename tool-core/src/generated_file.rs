//! Generated files kept in version control: a test compares them, and rewrites them on request.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

/// The environment variable that requests a rewrite.
pub(crate) const UPDATE: &str = "TOOL_CORE_UPDATE";

/// Returns `true` if files are to be rewritten.
pub(crate) fn is_updating() -> bool {
    env::var_os(UPDATE).is_some_and(|value| value != "0" && !value.is_empty())
}

/// Reads a file; `None` if it does not exist.
///
/// Returns an error for a directory, a device and a pipe, which reading could block for ever and
/// replacing would destroy.
pub(crate) fn read(path: &Path) -> io::Result<Option<String>> {
    let unsupported = |problem| Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::read_to_string(path).map(Some),
        Ok(found) if found.is_dir() => unsupported("it is a directory"),
        Ok(_) => unsupported("it is not a regular file"),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if path.file_name().is_none() => unsupported("it has no file name"),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            unsupported("it is a symbolic link to a missing file")
        }
        Err(_) => Ok(None),
    }
}

/// Replaces a file atomically: a reader never sees a half-written one. Keeps its permissions, and a
/// symbolic link to it.
///
/// The caller has checked with [`read`] that nothing is lost.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let (path, permissions) = match fs::metadata(path) {
        Ok(found) => (fs::canonicalize(path)?, Some(found.permissions())),
        Err(_) => (path.to_owned(), None),
    };
    let (temporary, mut file) = temporary(&path)?;
    // Before the text is written, which may be less public than a new file.
    let written = permissions
        .map_or(Ok(()), |permissions| file.set_permissions(permissions))
        .and_then(|()| file.write_all(text.as_bytes()));
    drop(file);
    let replaced = written.and_then(|()| fs::rename(&temporary, &path));
    replaced.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A number that other running processes don't have. WebAssembly has none, and asking panics.
fn process_id() -> u32 {
    if cfg!(target_family = "wasm") {
        return 0;
    }
    std::process::id()
}

/// Creates a new file next to another.
fn temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
        name.push(format!(".{}.{count}.tmp", process_id()));
        let temporary = path.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match file {
            Ok(file) => return Ok((temporary, file)),
            // Left behind by an earlier process with this id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test in an empty folder.
    fn in_folder(name: &str, test: impl FnOnce(&Path)) {
        let folder = format!("tool-core-generated-{name}-{}", process_id());
        let folder = env::temp_dir().join(folder);
        fs::create_dir_all(&folder).unwrap();
        test(&folder);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_is_created_and_replaced_and_nothing_else_is_left() {
        in_folder("new", |folder| {
            let path = folder.join("TOOLS.md");
            assert_eq!(read(&path).unwrap(), None);
            for text in ["one", "two"] {
                replace(&path, text).unwrap();
                assert_eq!(read(&path).unwrap().as_deref(), Some(text));
            }
            replace(&folder.join("missing/TOOLS.md"), "one").unwrap_err();
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        });
    }

    #[test]
    fn a_directory_is_an_error_and_stays() {
        in_folder("directory", |folder| {
            let path = folder.join("TOOLS.md");
            fs::create_dir(&path).unwrap();
            fs::write(path.join("kept"), "").unwrap();
            let error = read(&path).unwrap_err();
            assert_eq!(error.to_string(), "it is a directory");
            replace(&path, "text").unwrap_err();
            assert!(path.join("kept").exists());
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
            assert!(read(Path::new("")).is_err());
        });
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        in_folder("mode", |folder| {
            let (path, link) = (folder.join("TOOLS.md"), folder.join("link.md"));
            symlink(&path, &link).unwrap();
            let error = read(&link).unwrap_err().to_string();
            assert_eq!(error, "it is a symbolic link to a missing file");
            for mode in [0o600, 0o640, 0o755, 0o444] {
                replace(&path, "one").unwrap();
                fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
                replace(&link, "two").unwrap();
                let kept = fs::metadata(&path).unwrap().permissions().mode();
                assert_eq!(kept & 0o7777, mode);
                assert_eq!(fs::read_to_string(&path).unwrap(), "two");
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            }
            assert!(read(Path::new("/dev/null")).is_err());
        });
    }
}
