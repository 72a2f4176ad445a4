//! Why a catalogue in a file is not that of the tools.

use std::path::PathBuf;
use std::{error, fmt, io};

use crate::generated_file::UPDATE;

/// Why a [check](super::Docs::check) failed. Its text says what to do.
#[derive(Debug)]
pub struct DocsError {
    pub(super) path: PathBuf,
    pub(super) kind: DocsErrorKind,
}

/// The kinds of [`DocsError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum DocsErrorKind {
    /// The file says something else.
    #[non_exhaustive]
    Stale {
        /// The first line that differs, from 1.
        line: usize,
        /// What stands there; nothing where the file ends before.
        found: String,
        /// What should stand there.
        expected: String,
    },
    /// There is no file.
    Missing,
    /// The file can't be read or written.
    Io(io::Error),
}

impl DocsErrorKind {
    /// Where two texts part, the ends of their lines aside.
    pub(super) fn stale(found: &str, expected: &str) -> Option<DocsErrorKind> {
        let (mut found, mut expected) = (found.lines(), expected.lines());
        let mut line = 0;
        loop {
            line += 1;
            match (found.next(), expected.next()) {
                (None, None) => return None,
                (left, right) if left == right => {}
                (left, right) => {
                    return Some(DocsErrorKind::Stale {
                        line,
                        found: left.unwrap_or_default().to_owned(),
                        expected: right.unwrap_or_default().to_owned(),
                    });
                }
            }
        }
    }
}

impl DocsError {
    /// What is wrong.
    pub fn kind(&self) -> &DocsErrorKind {
        &self.kind
    }
}

impl fmt::Display for DocsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            DocsErrorKind::Stale {
                line,
                found,
                expected,
            } => write!(
                f,
                "{path} is not up to date; run this test with {UPDATE}=1 and commit the file. \
                 Line {line}:\n  is         {found}\n  should be  {expected}"
            ),
            DocsErrorKind::Missing => write!(
                f,
                "{path} does not exist; run this test with {UPDATE}=1 to write it, and commit it"
            ),
            DocsErrorKind::Io(error) => write!(f, "{path} can't be read or written: {error}"),
        }
    }
}

impl error::Error for DocsError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.kind {
            DocsErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
