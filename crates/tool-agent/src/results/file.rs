//! [`FileResults`]: results in a folder.

use std::fmt::Display;
use std::fs;
use std::future::ready;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tool_core::files;
use tool_core::registry::{ResultLimits, ResultScope, ResultStore, ResultStoreError};
use tool_core::runtime::BoxFuture;

use super::{HASH, hash, now};

/// A [`ResultStore`] in a folder. Each result is a file that only the program's user can read, on systems with such
/// permissions. It is complete or absent after a crash, and has a hash, so that damage is an error.
///
/// Several programs may share a folder, also with a [`FileJournal`](crate::run::FileJournal). Each put and each read list the
/// folder.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_agent::results::FileResults;
/// use tool_agent::run::FileJournal;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
///
/// # let folder = std::env::temp_dir().join(format!("tool-core-kept-{}", std::process::id()));
/// let registry = Registry::builder().spill(FileResults::new(&folder), 10_000).build()?;
/// let agent = Agent::new(registry, OpenAiChat::default(), ScriptedModel::new([]))
///     .journal(FileJournal::new(&folder));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileResults {
    folder: PathBuf,
    limits: ResultLimits,
}

/// A file of the store. Its name has the time, so that names have an order, and hashes of its scope and of both.
struct Entry {
    name: String,
    scope: String,
    age: Duration,
    /// The size of the text.
    bytes: u64,
}

const PREFIX: &str = "result-";

/// Number of digits of a time in a name.
const DIGITS: usize = 20;

impl FileResults {
    /// Creates a store in a folder. The first result creates the folder.
    pub fn new(folder: impl Into<PathBuf>) -> FileResults {
        FileResults {
            folder: folder.into(),
            limits: ResultLimits::new(),
        }
    }

    /// Sets how long results are kept, and how many.
    pub fn limits(mut self, limits: ResultLimits) -> FileResults {
        self.limits = limits;
        self
    }

    fn write(&self, scope: &ResultScope, handle: &str, text: &str) -> Result<(), ResultStoreError> {
        self.limits.check(text.len())?;
        let (of, id) = (hash(&[scope.as_str()]), hash(&[scope.as_str(), handle]));
        let name = format!("{PREFIX}{:0DIGITS$}-{of}-{id}", now().as_nanos());
        let path = self.folder.join(&name);
        let bytes = [&hash(&[&id, text]), "\n", text].concat();
        fs::create_dir_all(&self.folder)
            .and_then(|()| files::replace_private(&path, bytes.as_bytes()))
            .map_err(|error| failed(&path, error))?;
        // With the new one, which may not be the newest of several programs.
        let left = self.remove_old()?;
        let is_left = left.iter().any(|entry| entry.name == name);
        self.limits.check_newest(&[is_left])
    }

    /// Removes the files that are beyond the limits, and returns the others, the newest first.
    fn remove_old(&self) -> Result<Vec<Entry>, ResultStoreError> {
        let entries = self.entries()?;
        let sizes = entries
            .iter()
            .map(|entry| (&entry.scope, entry.age, entry.bytes));
        let kept = self.limits.kept(&sizes.collect::<Vec<_>>());
        let mut left = Vec::new();
        for (entry, stays) in entries.into_iter().zip(kept) {
            if stays {
                left.push(entry);
            } else {
                self.remove_file(&entry)?;
            }
        }
        Ok(left)
    }

    fn remove_file(&self, entry: &Entry) -> Result<(), ResultStoreError> {
        let path = self.folder.join(&entry.name);
        match fs::remove_file(&path) {
            // Another program may have removed it.
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(&path, error)),
            _ => Ok(()),
        }
    }

    fn remove_scope(&self, scope: &ResultScope) -> Result<(), ResultStoreError> {
        let scope = hash(&[scope.as_str()]);
        let entries = self.entries()?.into_iter();
        let mut own = entries.filter(|entry| entry.scope == scope);
        own.try_for_each(|entry| self.remove_file(&entry))
    }

    /// Returns the files, the newest first. Files that a crash has left unfinished are among them, so that they go, too.
    fn entries(&self) -> Result<Vec<Entry>, ResultStoreError> {
        let entries = self.list();
        entries.map_err(|error| failed(&self.folder, error))
    }

    fn list(&self) -> io::Result<Vec<Entry>> {
        let listed = match fs::read_dir(&self.folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let now = now();
        let mut entries = Vec::new();
        for listed in listed {
            let listed = listed?;
            let name = listed.file_name().to_string_lossy().into_owned();
            let Some((since, scope)) = parts_of(&name) else {
                continue;
            };
            match listed.metadata() {
                Ok(metadata) => entries.push(Entry {
                    scope: scope.to_owned(),
                    name,
                    age: now.saturating_sub(since),
                    bytes: metadata.len().saturating_sub(HASH as u64 + 1),
                }),
                // Another program has removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        entries.sort_by(|one, other| other.name.cmp(&one.name));
        Ok(entries)
    }

    fn find(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> Result<Option<Arc<str>>, ResultStoreError> {
        let id = hash(&[scope.as_str(), handle]);
        let entries = self.remove_old()?;
        let Some(entry) = entries.iter().find(|entry| entry.name.ends_with(&id)) else {
            return Ok(None);
        };
        let path = self.folder.join(&entry.name);
        let read = files::read(&path).map_err(|error| failed(&path, error))?;
        let Some(read) = read else {
            return Ok(None);
        };
        match read.split_once('\n') {
            Some((found, text)) if found == hash(&[&id, text]) => Ok(Some(text.into())),
            _ => Err(failed(&path, "it is damaged")),
        }
    }
}

impl ResultStore for FileResults {
    fn put(
        &self,
        scope: &ResultScope,
        handle: &str,
        text: String,
    ) -> BoxFuture<Result<(), ResultStoreError>> {
        Box::pin(ready(self.write(scope, handle, &text)))
    }

    fn read(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        Box::pin(ready(self.find(scope, handle)))
    }

    fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        Box::pin(ready(self.remove_scope(scope)))
    }
}

/// Returns the time and the scope in the name of a file of the store.
fn parts_of(name: &str) -> Option<(Duration, &str)> {
    let (digits, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let time = digits.parse().ok().filter(|_| digits.len() == DIGITS)?;
    Some((Duration::from_nanos(time), rest.get(..HASH)?))
}

/// Returns an error that names a file or a folder.
fn failed(path: &Path, error: impl Display) -> ResultStoreError {
    format!("{}: {error}", path.display()).into()
}
