//! A folder with a secret next to it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use tool_files::Folder;

/// A folder `inside` and a file `secret.md` next to it, which must stay as it is. Removed on drop.
pub(crate) struct Place(PathBuf);

pub(crate) const SECRET: &str = "SECRET";

impl Place {
    pub(crate) fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("tool-files-{}-{number}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("inside")).unwrap();
        fs::write(path.join("secret.md"), SECRET).unwrap();
        Place(path)
    }

    /// Returns a path next to the folder.
    #[allow(dead_code)]
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Returns a path in the folder.
    #[allow(dead_code)]
    pub(crate) fn inside(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join("inside").join(name)
    }

    /// Returns the folder, in which everything is writable.
    pub(crate) fn folder(&self) -> Folder {
        let folder = Folder::open(self.0.join("inside")).unwrap();
        folder.writable("**").unwrap()
    }

    #[allow(dead_code)]
    pub(crate) fn assert_secret(&self) {
        assert_eq!(
            fs::read_to_string(self.0.join("secret.md")).unwrap(),
            SECRET
        );
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
