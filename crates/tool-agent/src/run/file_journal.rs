//! [`FileJournal`]: runs in a folder.

mod error;
mod folder;
mod index;
mod lock;
mod record;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use self::error::failed;
use self::folder::{create_folder, name_of, names_in, sync_folder};
use self::index::Index;
use self::record::{Record, Tail};
use super::journal::check_next;
use super::{Increment, Journal, JournalError, Page, RunHead, RunState};
use tool_core::runtime::BoxFuture;

/// A [`Journal`] in a folder, for programs without a database. Each run is a file. Each append is a line at its end,
/// which is complete or absent after a crash.
///
/// Ignores files with other names. Each line has a hash of itself, its position and the previous line. If a line was
/// damaged, copied or moved, loading the run is an error, and if it is the last one, appending is too.
///
/// Several programs may share a folder. Appends are made under an advisory lock, and if two programs continue a run,
/// one of them gets [`JournalError::Conflict`]. A network drive may not support such locks. Reads and writes block the
/// thread for the time of one small file. Lists of the runs that wait or are unfinished read only those: the folder `states`
/// marks them. But [`runs`](Journal::runs), [`remove_before`](Journal::remove_before) and the list of idle runs read the end of
/// every file. So with many runs, `SqliteJournal` (feature `sqlite`) is faster. Only the program's user can read the files, on
/// systems with such permissions.
///
/// ```
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_agent::run::{FileJournal, Run};
/// use tool_agent::testing::ScriptedModel;
///
/// # let folder = std::env::temp_dir().join(format!("tool-core-{}", std::process::id()));
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
///     .journal(FileJournal::new(&folder));
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut run = Run::new("conversation-1");
/// run.push(agent.dialect().user_message("Hello?"))?;
/// agent.save(&mut run).await?;
///
/// // In another process:
/// let run = agent.load("conversation-1").await?.expect("a saved run");
/// assert_eq!(run.messages()[0]["content"], "Hello?");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileJournal {
    folder: PathBuf,
}

impl FileJournal {
    /// Creates a journal in a folder. The first append creates the folder.
    pub fn new(folder: impl Into<PathBuf>) -> FileJournal {
        FileJournal {
            folder: folder.into(),
        }
    }

    fn file(&self, run: &str) -> RunFile {
        RunFile(self.folder.join(name_of(run)))
    }

    /// Returns the heads of all runs.
    fn heads(&self) -> Result<Vec<RunHead>, JournalError> {
        let heads = self.heads_of(names_in(&self.folder)?)?;
        // If the folder can't be written, the next list reads all runs again.
        let _ = Index::of(&self.folder).add_missing(&heads);
        Ok(heads)
    }

    /// Returns the heads of all runs that are in a state, and of others.
    fn heads_for(&self, state: RunState) -> Result<Vec<RunHead>, JournalError> {
        match Index::of(&self.folder).marked(state)? {
            Some(names) => self.heads_of(names),
            None => self.heads(),
        }
    }

    /// Returns the heads of the runs with these names, if they exist.
    fn heads_of(&self, names: Vec<OsString>) -> Result<Vec<RunHead>, JournalError> {
        let mut heads = Vec::new();
        for name in names {
            heads.extend(RunFile(self.folder.join(name)).head()?);
        }
        Ok(heads)
    }

    fn remove_older(&self, saved_ms: u64) -> Result<usize, JournalError> {
        let mut removed = 0;
        for head in self.heads()? {
            let is_older = |head: &RunHead| head.saved_ms < saved_ms;
            if is_older(&head) && self.file(&head.id).remove_if(is_older)? {
                removed += 1;
            }
        }
        Ok(removed)
    }
}

impl Journal for FileJournal {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        Box::pin(ready(self.file(&head.id).append(head, increments)))
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        Box::pin(ready(self.file(run).load()))
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let heads = self.heads_for(state);
        Box::pin(ready(heads.map(|heads| page.in_state(state, &heads))))
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let heads = self.heads();
        Box::pin(ready(heads.map(|heads| page.of_owner(owner, &heads))))
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        let removed = self.file(run).remove_if(|_| true);
        Box::pin(ready(removed.map(|_| ())))
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        Box::pin(ready(self.remove_older(saved_ms)))
    }
}

/// The file of a run.
struct RunFile(PathBuf);

impl RunFile {
    fn append(&self, head: RunHead, increments: Vec<Increment>) -> Result<(), JournalError> {
        let Some(last) = increments.last().map(Increment::number) else {
            return Ok(());
        };
        let (folder, name) = self.parts();
        let failed = |error: io::Error| failed(&self.0, error);
        // Checked before a file is created, and again under the lock.
        if increments[0].number() != 1 && !self.0.exists() {
            check_next(&head.id, 0, &increments)?;
        }
        create_folder(folder).map_err(failed)?;
        let mut file = lock::open_exclusive(&self.0).map_err(failed)?;
        let tail = Tail::read(&mut file, &self.0)?;
        check_next(&head.id, tail.last, &increments)?;
        let state = head.state();
        let is_new_state = tail.head.as_ref().map(RunHead::state) != Some(state);
        if is_new_state {
            Index::of(folder).add(state, &[name]).map_err(failed)?;
        }
        let line = Record::line(&tail, last, head, increments)?;
        let appended = append_line(&mut file, &tail, &line).and_then(|()| match tail.end {
            // The name of a new file must survive a crash as well.
            0 => sync_folder(folder),
            _ => Ok(()),
        });
        // A line that may get lost must not stay, because then the next attempt would be a conflict.
        appended.map_err(|error| {
            let _ = file.set_len(tail.end);
            failed(error)
        })?;
        if is_new_state {
            Index::of(folder).remove_others(state, name);
        }
        Ok(())
    }

    /// Returns the folder, and the name of the file in it.
    fn parts(&self) -> (&Path, &OsStr) {
        let folder = self.0.parent().unwrap_or(Path::new("."));
        (folder, self.0.file_name().unwrap_or_default())
    }

    fn load(&self) -> Result<Vec<Increment>, JournalError> {
        let mut increments = Vec::new();
        if let Some(mut file) = self.open()? {
            for record in record::read_all(&mut file, &self.0)? {
                increments.extend(record.increments);
            }
        }
        Ok(increments)
    }

    /// Opens the file for reading, if it exists.
    fn open(&self) -> Result<Option<File>, JournalError> {
        match lock::open_shared(&self.0) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&self.0, error)),
        }
    }

    fn head(&self) -> Result<Option<RunHead>, JournalError> {
        match self.open()? {
            Some(mut file) => Ok(Tail::read(&mut file, &self.0)?.head),
            None => Ok(None),
        }
    }

    /// Removes the run if its head is as expected, or missing.
    fn remove_if(&self, is_expected: impl Fn(&RunHead) -> bool) -> Result<bool, JournalError> {
        // Locked, so that no concurrent append gets lost.
        let mut file = match lock::open_existing(&self.0) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(&self.0, error)),
        };
        let head = Tail::read(&mut file, &self.0)?.head;
        if head.as_ref().is_some_and(|head| !is_expected(head)) {
            return Ok(false);
        }
        let (folder, name) = self.parts();
        // An empty file counts as no run. The marks are removed before the file: once it is gone, a new run with this id may
        // write its own.
        let emptied = file.set_len(0).and_then(|()| file.sync_data());
        emptied.map_err(|error| failed(&self.0, error))?;
        Index::of(folder).remove_others(RunState::Idle, name);
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed(&self.0, error));
            }
            _ => {}
        }
        if head.is_some() {
            sync_folder(folder).map_err(|error| failed(folder, error))?;
        }
        Ok(head.is_some())
    }
}

/// Writes a line after the last complete one.
fn append_line(file: &mut File, tail: &Tail, line: &[u8]) -> io::Result<()> {
    if tail.is_torn {
        file.set_len(tail.end)?;
    }
    file.seek(SeekFrom::Start(tail.end))?;
    file.write_all(line)?;
    file.sync_data()
}
