//! [`FileJournal`]: runs in a folder.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::journal::check_next;
use super::{Increment, Journal, JournalError};
use tool_core::runtime::BoxFuture;

/// A [`Journal`] in a folder, for programs without a database. Each run is a folder in it, and each
/// append a file, which is complete or absent after a crash.
///
/// Files whose names it does not write are ignored.
///
/// Several programs may use one folder: if two continue a run, one of them gets
/// [`JournalError::Conflict`]. The file system needs hard links. Reads and writes block the thread, each for
/// the time of one small file.
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

impl FileJournal {
    /// Creates a journal in a folder. The first append creates the folder.
    pub fn new(folder: impl Into<PathBuf>) -> FileJournal {
        FileJournal {
            folder: folder.into(),
        }
    }

    /// Returns the folder of a run. Its name is the id, with characters that some file system rejects or
    /// does not distinguish in hexadecimal.
    fn folder_of(&self, run: &str) -> PathBuf {
        let mut name = String::from("run-");
        for byte in run.bytes() {
            if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
                name.push(char::from(byte));
            } else {
                name.push_str(&format!("_{byte:02x}"));
            }
        }
        self.folder.join(name)
    }
}

impl Journal for FileJournal {
    fn append(&self, run: &str, increments: Vec<Increment>) -> BoxFuture<Result<(), JournalError>> {
        Box::pin(ready(append(&self.folder_of(run), &increments)))
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        Box::pin(ready(load(&self.folder_of(run))))
    }
}

/// Writes increments to a file that is named by the first number. Of two programs that append at the same time,
/// the second finds that its file exists.
fn append(folder: &Path, increments: &[Increment]) -> Result<(), JournalError> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let Some(first) = increments.first() else {
        return Ok(());
    };
    let last = match files(folder)?.last() {
        Some(path) => read(path)?.last().map_or(0, Increment::number),
        None => 0,
    };
    check_next(last, increments)?;
    let json = serde_json::to_vec(increments).map_err(JournalError::failed)?;
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{}-{number}.unfinished", process::id()));
    let finished = folder.join(format!("{:020}.json", first.number()));
    let written = write(&unfinished, &json)
        // Unlike a rename, a link does not replace a file.
        .and_then(|()| fs::hard_link(&unfinished, &finished))
        .and_then(|()| {
            // A file that may be lost must not stay, or the next attempt would be a conflict.
            sync_folder(folder).inspect_err(|_| drop(fs::remove_file(&finished)))
        });
    let _ = fs::remove_file(&unfinished);
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => JournalError::Conflict,
        _ => failed(folder, error),
    })
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names of new files survive a crash of the system.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn load(folder: &Path) -> Result<Vec<Increment>, JournalError> {
    let mut increments = Vec::new();
    for path in files(folder)? {
        increments.extend(read(&path)?);
    }
    Ok(increments)
}

/// Returns the files of a run, in order; none if there is no such run.
fn files(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(folder, error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| failed(folder, error))?;
        if is_name(&entry.file_name()) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns `true` for a name that [`append`] writes.
fn is_name(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_suffix(".json"));
    number.is_some_and(|number| number.len() == 20 && number.bytes().all(|b| b.is_ascii_digit()))
}

fn read(path: &Path) -> Result<Vec<Increment>, JournalError> {
    let json = fs::read(path).map_err(|error| failed(path, error))?;
    serde_json::from_slice(&json).map_err(|error| failed(path, error))
}

/// Returns an error that names a file or folder.
fn failed(path: &Path, error: impl Display) -> JournalError {
    JournalError::failed(format!("{}: {error}", path.display()))
}
