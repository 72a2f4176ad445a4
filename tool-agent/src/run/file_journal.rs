//! [`FileJournal`]: runs in a folder.

mod earlier_form;
mod lock;
mod record;

use std::ffi::OsStr;
use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use self::record::{Record, Tail};
use super::journal::check_next;
use super::{Increment, Journal, JournalError, Page, RunHead};
use tool_core::runtime::BoxFuture;

/// A [`Journal`] in a folder, for programs without a database. Each run is a file in it, and each append a line at its
/// end, which is complete or absent after a crash.
///
/// Files whose names it does not write are ignored. Folders of an earlier form, with a file for each append, are read.
///
/// Several programs may use one folder: appends to a file are made under an advisory lock, and if two programs continue
/// a run, one of them gets [`JournalError::Conflict`]. A folder on a network may not have such locks. Reads and
/// writes block the thread, each for the time of one small file; [`waiting`](Journal::waiting), [`runs`](Journal::runs) and
/// [`remove_before`](Journal::remove_before) read the end of every file. With many runs, `SqliteJournal` (feature
/// `sqlite`) is faster. Files can be read by the user of the program alone, where the system has such rights.
///
/// ```
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_core::dialect::OpenAiChat;
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

/// How the names of files end.
const EXTENSION: &str = ".jsonl";

/// The longest name that is an id alone. File systems have a limit of 255 bytes.
const LONGEST_NAME: usize = 160;

impl FileJournal {
    /// Creates a journal in a folder. The first append creates the folder.
    pub fn new(folder: impl Into<PathBuf>) -> FileJournal {
        FileJournal {
            folder: folder.into(),
        }
    }

    /// Returns the file of a run, and the folder of its earlier form.
    fn paths(&self, run: &str) -> Paths {
        let name = name_of(run);
        Paths {
            file: self.folder.join(format!("{name}{EXTENSION}")),
            earlier: self.folder.join(name),
        }
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
        // A run may have both.
        names.dedup();
        let mut heads = Vec::new();
        for name in names {
            let paths = Paths {
                file: self.folder.join(format!("{name}{EXTENSION}")),
                earlier: self.folder.join(name),
            };
            heads.extend(paths.head()?);
        }
        Ok(heads)
    }

    fn remove_older(&self, saved_ms: u64) -> Result<usize, JournalError> {
        let mut removed = 0;
        for head in self.heads()? {
            let is_older = |head: &RunHead| head.saved_ms < saved_ms;
            if is_older(&head) && self.paths(&head.id).remove_if(is_older)? {
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
        Box::pin(ready(self.paths(&head.id).append(head, increments)))
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        Box::pin(ready(self.paths(run).load()))
    }

    fn waiting(&self, page: Page) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        Box::pin(ready(self.heads().map(|heads| page.of_waiting(heads))))
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        Box::pin(ready(self.heads().map(|heads| page.of_owner(owner, heads))))
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        let removed = self.paths(run).remove_if(|_| true);
        Box::pin(ready(removed.map(|_| ())))
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        Box::pin(ready(self.remove_older(saved_ms)))
    }
}

/// Where a run is.
struct Paths {
    file: PathBuf,
    /// The folder of the earlier form.
    earlier: PathBuf,
}

impl Paths {
    fn append(&self, head: RunHead, increments: Vec<Increment>) -> Result<(), JournalError> {
        let Some(last) = increments.last().map(Increment::number) else {
            return Ok(());
        };
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let failed = |error: io::Error| failed(&self.file, error);
        // Checked before a file is created, and again under the lock.
        if increments[0].number() != 1 && !self.file.exists() {
            check_next(
                &head.id,
                earlier_form::last_number(&self.earlier)?,
                &increments,
            )?;
        }
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = lock::open_exclusive(&self.file).map_err(failed)?;
        let tail = Tail::read(&mut file, &self.file)?;
        let saved = match tail.last {
            0 => earlier_form::last_number(&self.earlier)?,
            last => last,
        };
        check_next(&head.id, saved, &increments)?;
        let line = Record::line(last, head, increments)?;
        let appended = append_line(&mut file, &tail, &line).and_then(|()| match tail.end {
            // The name of a new file must survive, too.
            0 => sync_folder(folder),
            _ => Ok(()),
        });
        // What may be lost must not stay, or the next attempt would be a conflict.
        appended.map_err(|error| {
            let _ = file.set_len(tail.end);
            failed(error)
        })
    }

    fn load(&self) -> Result<Vec<Increment>, JournalError> {
        let mut increments = earlier_form::load(&self.earlier)?;
        if let Some(mut file) = self.open()? {
            for record in record::read_all(&mut file, &self.file)? {
                increments.extend(record.increments);
            }
        }
        Ok(increments)
    }

    /// Opens the file to read, if there is one.
    fn open(&self) -> Result<Option<File>, JournalError> {
        match lock::open_shared(&self.file) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&self.file, error)),
        }
    }

    fn head(&self) -> Result<Option<RunHead>, JournalError> {
        let head = match self.open()? {
            Some(mut file) => Tail::read(&mut file, &self.file)?.head,
            None => None,
        };
        match head {
            Some(head) => Ok(Some(head)),
            None => earlier_form::head(&self.earlier),
        }
    }

    /// Removes the run if its head is as expected. A run without a head is removed.
    fn remove_if(&self, is_expected: impl Fn(&RunHead) -> bool) -> Result<bool, JournalError> {
        let failed_at = |path: &Path, error: io::Error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(failed(path, error)),
        };
        // Locked, so that no append is lost unseen.
        let mut locked = match lock::open_existing(&self.file) {
            Ok(file) => Some(file),
            Err(error) => {
                failed_at(&self.file, error)?;
                None
            }
        };
        let head = match &mut locked {
            Some(file) => Tail::read(file, &self.file)?.head,
            None => None,
        };
        let head = match head {
            Some(head) => Some(head),
            None => earlier_form::head(&self.earlier)?,
        };
        if head.as_ref().is_some_and(|head| !is_expected(head)) {
            return Ok(false);
        }
        fs::remove_dir_all(&self.earlier).or_else(|error| failed_at(&self.earlier, error))?;
        fs::remove_file(&self.file).or_else(|error| failed_at(&self.file, error))?;
        if let (Some(folder), Some(_)) = (self.file.parent(), &head) {
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

/// Makes the names of new files survive a crash of the system.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Returns the name of a run: its id, with characters that some file system rejects or does not distinguish in
/// hexadecimal.
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
        // No other name has this.
        name.push_str("_x");
        for byte in Sha256::digest(run) {
            let _ = write!(name, "{byte:02x}");
        }
    }
    name
}

/// Returns the name of the run whose file or folder this is.
fn run_name(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let name = name.strip_suffix(EXTENSION).unwrap_or(name);
    let is_ours =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    (name.starts_with("run-") && name.bytes().all(is_ours)).then_some(name)
}

/// Returns an error that names a file or folder.
fn failed(path: &Path, error: impl Display) -> JournalError {
    // The system says "not a directory", and not which.
    let mut folders = path.ancestors().skip(1);
    if let Some(file) = folders
        .find(|folder| folder.exists())
        .filter(|path| !path.is_dir())
    {
        return JournalError::failed(format!("{} is not a folder: {error}", file.display()));
    }
    JournalError::failed(format!("{}: {error}", path.display()))
}
