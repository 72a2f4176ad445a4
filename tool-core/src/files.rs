//! Files that a program reads and writes in a folder that others may have filled, such as a cloned project.
//!
//! A repository can hold links: `tools.lock -> ~/.bashrc`. Writing follows none in the name of the file,
//! and none in a relative path, which leads through the folder of the project. In an absolute path, links
//! in folders are followed, because the caller named them. Reading follows links. A file is written under a
//! new name and renamed, so that a reader never sees half of it, and a link that appears meanwhile is
//! replaced instead of followed.
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("tool-core-files-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! use tool_core::files;
//!
//! let path = folder.join("tools.lock");
//! assert_eq!(files::read(&path)?, None);
//! files::replace(&path, b"one")?;
//! assert_eq!(files::read(&path)?.as_deref(), Some("one"));
//! assert!(files::create(&path, b"two").is_err());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads the text of a file, also through a link; `None` if it does not exist.
///
/// ```
/// let missing = std::env::temp_dir().join("tool-core-no-such-file");
/// assert_eq!(tool_core::files::read(&missing)?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if it can't be read or is not UTF-8, or if it is a directory, or a device or a pipe, which reading could
/// block for ever.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::read_to_string(path).map(Some),
        Ok(found) => Err(not_a_file(&found)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if path.file_name().is_none() => Err(invalid("it has no file name")),
        Err(_) if fs::symlink_metadata(path).is_ok() => Err(is_link(path)),
        Err(_) => Ok(None),
    }
}

/// Returns an error if [`replace`] would reject the path: to ask nobody about a file that is not written.
///
/// ```
/// let folder = std::env::temp_dir();
/// assert!(tool_core::files::check(&folder).is_err());
/// ```
///
/// # Errors
///
/// Returns an error if there is a link, a directory, a device or a pipe.
pub fn check(path: &Path) -> io::Result<()> {
    found(path).map(drop)
}

/// Replaces or creates a file. It keeps its permissions.
///
/// ```
/// let path = std::env::temp_dir().join(format!("tool-core-replace-{}", std::process::id()));
/// tool_core::files::replace(&path, b"one")?;
/// tool_core::files::replace(&path, b"two")?;
/// assert_eq!(std::fs::read(&path)?, b"two");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if it can't be written, or if there is a link, a directory, a device or a pipe.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = found(path)?.map(|found| found.permissions());
    write(path, bytes, &mut options(), permissions)
}

/// Replaces or creates a file with a secret. On Unix, only its owner can read it.
///
/// ```
/// let path = std::env::temp_dir().join(format!("tool-core-secret-{}", std::process::id()));
/// tool_core::files::replace_private(&path, b"token")?;
/// assert_eq!(std::fs::read(&path)?, b"token");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error like [`replace`].
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    check(path)?;
    let mut options = options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    write(path, bytes, &mut options, None)
}

/// Creates a file that does not exist.
///
/// ```
/// let path = std::env::temp_dir().join(format!("tool-core-create-{}", std::process::id()));
/// tool_core::files::create(&path, b"one")?;
/// assert!(tool_core::files::create(&path, b"two").is_err());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Returns an error if it can't be written, or if something has its name, also a link to nothing.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    check_folders(path)?;
    let mut file = options().open(path)?;
    file.write_all(bytes)
}

fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem.into())
}

/// Returns what is there, unless the path leads through a link, or to anything but a regular file.
fn found(path: &Path) -> io::Result<Option<Metadata>> {
    check_folders(path)?;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(is_link(path)),
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(found) => Err(not_a_file(&found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns an error if a folder in a relative path is a link.
fn check_folders(path: &Path) -> io::Result<()> {
    if path.is_absolute() {
        return Ok(());
    }
    for folder in path.ancestors().skip(1) {
        if fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
            return Err(is_link(folder));
        }
    }
    Ok(())
}

fn not_a_file(found: &Metadata) -> io::Error {
    invalid(if found.is_dir() {
        "it is a directory"
    } else {
        "it is not a regular file"
    })
}

fn is_link(path: &Path) -> io::Error {
    let target = fs::read_link(path).unwrap_or_default();
    let (path, target) = (path.display(), target.display());
    invalid(format!(
        "{path} is a link to {target}, and no link is followed; remove it, or name the file that it leads to"
    ))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

/// Writes a file under a new name, and renames it.
fn write(
    path: &Path,
    bytes: &[u8],
    options: &mut OpenOptions,
    permissions: Option<Permissions>,
) -> io::Result<()> {
    let (temporary, mut file) = temporary(path, options)?;
    // Before the text is written, which may be less public than a new file.
    let written = permissions
        .map_or(Ok(()), |permissions| file.set_permissions(permissions))
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all());
    drop(file);
    let replaced = written.and_then(|()| fs::rename(&temporary, path));
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
fn temporary(path: &Path, options: &mut OpenOptions) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
        name.push(format!(".{}.{count}.tmp", process_id()));
        let temporary = path.with_file_name(name);
        match options.open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left behind by an earlier process with this id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

// WASI has no folder for temporary files.
#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use std::env;

    use super::*;

    /// Runs a test in an empty folder.
    fn in_folder(name: &str, test: impl FnOnce(&Path)) {
        let folder = format!("tool-core-files-{name}-{}", process_id());
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
                replace(&path, text.as_bytes()).unwrap();
                assert_eq!(read(&path).unwrap().as_deref(), Some(text));
            }
            replace(&folder.join("missing/TOOLS.md"), b"one").unwrap_err();
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
            replace(&path, b"text").unwrap_err();
            assert!(path.join("kept").exists());
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
            assert!(read(Path::new("")).is_err());
        });
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;

        in_folder("mode", |folder| {
            let path = folder.join("TOOLS.md");
            let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            for kept in [0o600, 0o640, 0o755, 0o444] {
                replace(&path, b"one").unwrap();
                fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
                replace(&path, b"two").unwrap();
                assert_eq!(mode(), kept);
                assert_eq!(fs::read_to_string(&path).unwrap(), "two");
            }
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
            replace_private(&path, b"three").unwrap();
            assert_eq!(mode(), 0o600);
            assert!(read(Path::new("/dev/null")).is_err());
        });
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_followed() {
        use std::os::unix::fs::symlink;

        in_folder("links", |folder| {
            let (victim, link) = (folder.join("victim"), folder.join("link"));
            fs::write(&victim, "mine").unwrap();
            for target in [
                &victim,
                Path::new("victim"),
                &folder.join("missing"),
                folder,
            ] {
                symlink(target, &link).unwrap();
                let errors = [
                    check(&link).unwrap_err(),
                    replace(&link, b"theirs").unwrap_err(),
                    replace_private(&link, b"theirs").unwrap_err(),
                ];
                for error in errors {
                    let error = error.to_string();
                    let name = format!("is a link to {}", target.display());
                    assert!(error.contains(&name), "{error}");
                }
                let exists = create(&link, b"theirs").unwrap_err();
                assert_eq!(exists.kind(), io::ErrorKind::AlreadyExists);
                assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
                assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
                fs::remove_file(&link).unwrap();
            }
            assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        });
    }
}
