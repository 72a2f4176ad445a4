//! Why a lock file is not what the tools are.

use std::path::PathBuf;
use std::{error, fmt, io};

use super::{Changes, VERSION};
use crate::generated_file::UPDATE;

/// Why a [check](super::Lock::check) failed. Its text says what to do.
#[derive(Debug)]
pub struct LockError {
    pub(super) path: Option<PathBuf>,
    pub(super) kind: LockErrorKind,
}

/// The kinds of [`LockError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum LockErrorKind {
    /// The tools are not as the file says.
    Changed(Changes),
    /// There is no file.
    Missing,
    /// The file is no lock file: why not.
    Corrupt(String),
    /// The file is of a later form than this version of the crate knows.
    Newer(String),
    /// The file can't be read or written.
    Io(io::Error),
}

impl LockError {
    /// What is wrong.
    pub fn kind(&self) -> &LockErrorKind {
        &self.kind
    }

    /// What is different, if that is what is wrong.
    pub fn changes(&self) -> Option<&Changes> {
        match &self.kind {
            LockErrorKind::Changed(changes) => Some(changes),
            _ => None,
        }
    }

    pub(super) fn at(mut self, path: &std::path::Path) -> LockError {
        self.path = Some(path.to_owned());
        self
    }
}

impl From<LockErrorKind> for LockError {
    fn from(kind: LockErrorKind) -> LockError {
        LockError { path: None, kind }
    }
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> LockError {
        LockErrorKind::Io(error).into()
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.as_deref();
        let path = path.map_or_else(|| "the lock".into(), |path| path.display().to_string());
        match &self.kind {
            LockErrorKind::Changed(changes) => write!(
                f,
                "the tools are not as {path} says: {changes}\nIf that is meant, run this test \
                 again with {UPDATE}=1 and commit the file."
            ),
            LockErrorKind::Missing => write!(
                f,
                "{path} does not exist; run this test with {UPDATE}=1 to write it, and commit it"
            ),
            LockErrorKind::Corrupt(why) => write!(
                f,
                "{path} is no lock file: {why}; it is left as it is: restore it from version \
                 control, or delete it and run this test with {UPDATE}=1"
            ),
            LockErrorKind::Newer(version) => write!(
                f,
                "{path} has version {version}, and this version of tool-core knows none above \
                 {VERSION}; it is left as it is: update tool-core"
            ),
            LockErrorKind::Io(error) => write!(f, "{path} can't be read or written: {error}"),
        }
    }
}

impl error::Error for LockError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            LockErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
