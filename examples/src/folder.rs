//! Temporary folders.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// An empty folder that is removed with its contents on drop.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Creates a folder in the system's folder for temporary files.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can't be created.
    pub fn new() -> io::Result<Temporary> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("tool-core-{}-{number}", process::id());
            let path = env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Temporary(path)),
                // Left behind by an earlier process with this id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // The system cleans up what can't be removed.
        let _ = fs::remove_dir_all(&self.0);
    }
}
