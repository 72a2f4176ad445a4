//! [`FileJournal`]: runs in a folder.

mod error;
mod lock;
mod record;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use self::error::failed;
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
/// thread for the time of one small file. But [`in_state`](Journal::in_state), [`runs`](Journal::runs) and
/// [`remove_before`](Journal::remove_before) read the end of every file. So with many runs, `SqliteJournal` (feature
/// `sqlite`) is faster. Only the program's user can read the files, on systems with such permissions.
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

/// The extension of the files.
const EXTENSION: &str = ".jsonl";

/// Maximum length of a name that is only an id. File systems limit names to 255 bytes.
const LONGEST_NAME: usize = 160;

impl FileJournal {
    /// Creates a journal in a folder. The first append creates the folder.
    pub fn new(folder: impl Into<PathBuf>) -> FileJournal {
        FileJournal {
            folder: folder.into(),
        }
    }

    fn file(&self, run: &str) -> RunFile {
        self.named(&name_of(run))
    }

    fn named(&self, name: &str) -> RunFile {
        RunFile(self.folder.join(format!("{name}{EXTENSION}")))
    }

    fn heads(&self) -> Result<Vec<RunHead>, JournalError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&self.folder, error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| failed(&self.folder, error))?;
            names.extend(run_name(&entry.file_name()).map(str::to_owned));
        }
        names.sort();
        let mut heads = Vec::new();
        for name in names {
            heads.extend(self.named(&name).head()?);
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
        let heads = self.heads();
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
        let folder = self.0.parent().unwrap_or(Path::new("."));
        let failed = |error: io::Error| failed(&self.0, error);
        // Checked before a file is created, and again under the lock.
        if increments[0].number() != 1 && !self.0.exists() {
            check_next(&head.id, 0, &increments)?;
        }
        create_folder(folder).map_err(failed)?;
        let mut file = lock::open_exclusive(&self.0).map_err(failed)?;
        let tail = Tail::read(&mut file, &self.0)?;
        check_next(&head.id, tail.last, &increments)?;
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
        })
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
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(failed(&self.0, error));
            }
            _ => {}
        }
        if let (Some(folder), Some(_)) = (self.0.parent(), &head) {
            sync_folder(folder).map_err(|error| failed(folder, error))?;
        }
        Ok(head.is_some())
    }
}

/// Creates a missing folder and its missing parents. Their names survive a crash of the system.
fn create_folder(folder: &Path) -> io::Result<()> {
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

/// Writes a line after the last complete one.
fn append_line(file: &mut File, tail: &Tail, line: &[u8]) -> io::Result<()> {
    if tail.is_torn {
        file.set_len(tail.end)?;
    }
    file.seek(SeekFrom::Start(tail.end))?;
    file.write_all(line)?;
    file.sync_data()
}

/// Makes the names of new files survive a crash of the system.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Returns the file name for a run: the id, with some characters in hexadecimal, because some file systems reject or
/// don't distinguish them.
fn name_of(run: &str) -> String {
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
    name
}

/// Returns the name of the run that belongs to a file.
fn run_name(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let name = name.strip_suffix(EXTENSION)?;
    let is_ours =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (name.starts_with("run-") && name.bytes().all(is_ours)).then_some(name)
}
