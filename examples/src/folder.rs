//! Temporary folders.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// Of the names of folders. The number of the process and one for each folder follow.
const PREFIX: &str = "tool-core-example-";

/// An empty folder that is removed with its contents on drop.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Locked as long as it is open.
    #[allow(dead_code)]
    lock: Option<File>,
}

impl Temporary {
    /// Creates a folder in the system's folder for temporary files, and removes what programs that were killed left there.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can't be created.
    pub fn new() -> io::Result<Temporary> {
        Temporary::within(&env::temp_dir())
    }

    fn within(parent: &Path) -> io::Result<Temporary> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        #[cfg(unix)]
        remove_leftovers(parent);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {}
                // Left behind by an earlier process with this id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            #[cfg(unix)]
            // Another program may have taken it for left behind until it is locked.
            if let Some(lock) = lock(&path) {
                let lock = Some(lock);
                return Ok(Temporary { path, lock });
            }
            #[cfg(not(unix))]
            return Ok(Temporary { path, lock: None });
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The next program removes what can't be removed now.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of this user that no program has locked.
#[cfg(unix)]
fn remove_leftovers(parent: &Path) {
    use std::os::unix::fs::MetadataExt;

    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry
                .metadata()
                .is_ok_and(|data| data.is_dir() && data.uid() == own);
        if is_ours && let Some(_lock) = lock(&entry.path()) {
            // Left for the next program if it fails.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Locks a folder as long as it is open. Returns `None` if another program has it locked, or removed it.
#[cfg(unix)]
fn lock(path: &Path) -> Option<File> {
    use rustix::fs::{FlockOperation, flock};

    let folder = File::open(path).ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    path.exists().then_some(folder)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_uses_is_removed() {
        let parent = Temporary::new().expect("a folder");
        let used = Temporary::within(parent.path()).expect("a folder");
        let left = parent.path().join(format!("{PREFIX}1-0"));
        fs::create_dir(&left).expect("a folder");
        fs::write(left.join("memory.md"), "left").expect("a file");
        let other = parent.path().join("tool-core-other");
        fs::create_dir(&other).expect("a folder");
        let next = Temporary::within(parent.path()).expect("a folder");
        let exist = [used.path(), &left, &other, next.path()].map(Path::exists);
        assert_eq!(exist, [true, false, true, true]);
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
