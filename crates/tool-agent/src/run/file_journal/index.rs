//! Marks of runs, so that a list of the runs in a state opens no others.
//!
//! A run that waits or is unfinished has an empty file in the folder of its state. It is created before the line that brings
//! the run into the state, and removed after the line that brings it into another. So a crash may leave a stale
//! mark, but never a run without its mark, and a list reads the state of the marked runs alone.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{create_folder, name_of, names_in, sync_folder};
use crate::run::{JournalError, RunHead, RunState};

/// The states with marks, and their folders. Most runs are idle.
const FOLDERS: [(RunState, &str); 2] = [
    (RunState::Waiting, "waiting"),
    (RunState::Unfinished, "unfinished"),
];

/// The marks of the runs in a folder.
pub(super) struct Index(PathBuf);

impl Index {
    pub(super) fn of(folder: &Path) -> Index {
        Index(folder.join("states"))
    }

    /// Returns the names of the runs with a mark for this state; `None` if other runs may be in it as well.
    pub(super) fn marked(&self, state: RunState) -> Result<Option<Vec<OsString>>, JournalError> {
        match self.folder(state) {
            Some(folder) if self.complete().exists() => names_in(&folder).map(Some),
            _ => Ok(None),
        }
    }

    /// Marks runs for a state. The marks survive a crash of the system.
    pub(super) fn add(&self, state: RunState, names: &[&OsStr]) -> io::Result<()> {
        let Some(folder) = self.folder(state).filter(|_| !names.is_empty()) else {
            return Ok(());
        };
        create_folder(&folder)?;
        for name in names {
            File::create(folder.join(name))?;
        }
        sync_folder(&folder)
    }

    /// Removes the marks of a run for other states. If that fails, they are stale, which is harmless.
    pub(super) fn remove_others(&self, state: RunState, name: &OsStr) {
        for (other, folder) in FOLDERS {
            if other != state {
                let _ = fs::remove_file(self.0.join(folder).join(name));
            }
        }
    }

    /// Marks the runs that have no mark, given all heads. Earlier versions of the journal wrote none.
    pub(super) fn add_missing(&self, heads: &[RunHead]) -> io::Result<()> {
        for (state, folder) in FOLDERS {
            let folder = self.0.join(folder);
            let names = heads.iter().filter(|head| head.state() == state);
            let mut names: Vec<_> = names.map(|head| name_of(&head.id)).collect();
            names.retain(|name| !folder.join(name).exists());
            let names: Vec<_> = names.iter().map(OsStr::new).collect();
            self.add(state, &names)?;
        }
        if !heads.is_empty() && !self.complete().exists() {
            create_folder(&self.0)?;
            File::create(self.complete())?;
        }
        Ok(())
    }

    /// Returns the file that exists once no run lacks its mark.
    fn complete(&self) -> PathBuf {
        self.0.join("complete")
    }

    fn folder(&self, state: RunState) -> Option<PathBuf> {
        let mut folders = FOLDERS.iter();
        let (_, folder) = folders.find(|(marked, _)| *marked == state)?;
        Some(self.0.join(folder))
    }
}
