//! A folder for one run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// A new empty folder, which is removed with all that is in it.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// When the system's folder for such things can't be written to.
    pub fn new() -> io::Result<Temporary> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("tool-core-{}-{number}", process::id());
            let path = env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Temporary(path)),
                // Another process of this id left it behind.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What can't be removed is the system's to clean up.
        let _ = fs::remove_dir_all(&self.0);
    }
}
