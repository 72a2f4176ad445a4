use std::error::Error;
use std::fmt;
use std::io;

use tool_core::visible;

/// An error of reading or changing a file.
///
/// The message is for the model: it names the path as the model wrote it, and says what would work. Familiar sentences
/// use Anthropic's wording, so they start with a capital letter. No message contains the system's path of the folder.
///
/// ```
/// use tool_files::{FileErrorKind, Folder};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-error-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let folder = Folder::open(&parent)?;
/// let error = folder.read("plan.md").unwrap_err();
/// assert_eq!(error.kind(), FileErrorKind::Missing);
/// assert_eq!(
///     error.to_string(),
///     "The path plan.md does not exist. Please provide a valid path."
/// );
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    path: String,
    reason: Reason,
}

/// The kind of a [`FileError`], returned by [`FileError::kind`].
///
/// ```
/// use tool_files::{FileError, FileErrorKind};
///
/// /// Returns `true` if the model can recover by using another path.
/// fn is_about_the_path(error: &FileError) -> bool {
///     matches!(
///         error.kind(),
///         FileErrorKind::Path | FileErrorKind::Hidden | FileErrorKind::Missing
///     )
/// }
/// # let _ = is_about_the_path;
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileErrorKind {
    /// The path, or a pattern of [`Folder::writable`](crate::Folder::writable), is not valid.
    Path,
    /// A name in the path starts with `.`, and hidden files are not [allowed](crate::Folder::hidden).
    Hidden,
    /// There is no such file or folder.
    Missing,
    /// The name is taken.
    Exists,
    /// The path leads through a link, or the file is hard-linked.
    Link,
    /// The path leads to something other than a file or a folder, or to a folder where a file is needed.
    NotAFile,
    /// The path is not [writable](crate::Folder::writable).
    NotWritable,
    /// The file is not text: it is not UTF-8, or contains NUL.
    NotText,
    /// A file or a folder exceeds a limit.
    TooLarge,
    /// The string to replace is missing or occurs several times.
    Match,
    /// A line number is out of range.
    Range,
    /// The diff does not apply.
    Diff,
    /// The system reports an error.
    Io,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    Path(&'static str),
    /// The path lacks the prefix at which the folder is mounted.
    Outside(String),
    Hidden,
    Missing,
    Exists,
    DestinationExists,
    Link,
    HardLink,
    NotAFile,
    /// The contents that keep a folder from being moved or deleted.
    Contains(&'static str),
    /// The opened folder itself, with the verb that does not apply to it.
    Root(&'static str),
    NotWritable(Vec<String>),
    NotText,
    TooLarge(u64),
    TooManyEntries(usize),
    EmptyMatch,
    NoMatch(String),
    SeveralMatches {
        old: String,
        lines: Vec<usize>,
        more: bool,
    },
    InsertLine {
        line: i64,
        last: usize,
    },
    ViewRange {
        first: i64,
        last: i64,
        lines: usize,
    },
    Diff(String),
    Io(io::ErrorKind),
}

impl FileError {
    pub(crate) fn new(path: &str, reason: Reason) -> FileError {
        FileError {
            path: shown(path, 300),
            reason,
        }
    }

    /// Adds the path as the model wrote it.
    pub(crate) fn at(self, path: &str) -> FileError {
        FileError::new(path, self.reason)
    }

    /// Returns `true` if the path may be a folder instead.
    pub(crate) fn is_about_no_file(&self) -> bool {
        self.reason == Reason::NotAFile
    }

    /// Returns the kind of error.
    pub fn kind(&self) -> FileErrorKind {
        match &self.reason {
            Reason::Path(_) | Reason::Outside(_) => FileErrorKind::Path,
            Reason::Hidden => FileErrorKind::Hidden,
            Reason::Missing => FileErrorKind::Missing,
            Reason::Exists | Reason::DestinationExists => FileErrorKind::Exists,
            Reason::Link | Reason::HardLink => FileErrorKind::Link,
            Reason::NotAFile => FileErrorKind::NotAFile,
            Reason::Root(_) | Reason::Contains(_) | Reason::NotWritable(_) => {
                FileErrorKind::NotWritable
            }
            Reason::NotText => FileErrorKind::NotText,
            Reason::TooLarge(_) | Reason::TooManyEntries(_) => FileErrorKind::TooLarge,
            Reason::EmptyMatch | Reason::NoMatch(_) | Reason::SeveralMatches { .. } => {
                FileErrorKind::Match
            }
            Reason::InsertLine { .. } | Reason::ViewRange { .. } => FileErrorKind::Range,
            Reason::Diff(_) => FileErrorKind::Diff,
            Reason::Io(_) => FileErrorKind::Io,
        }
    }

    /// Returns the path as the caller wrote it, shortened if it is very long.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// Returns the start of a text in one line, for an error message.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    let start = visible::escape(&text[..end.unwrap_or(text.len())]);
    let line = start.replace('\n', "\\n").replace('\t', "\\t");
    if end.is_some() { line + "…" } else { line }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.reason {
            Reason::Path(why) => write!(f, "The path {path} is not valid: {why}."),
            Reason::Outside(root) => write!(
                f,
                "The path {path} is not valid: it must start with {root}."
            ),
            Reason::Hidden => write!(
                f,
                "The path {path} is not available: names that start with `.` are hidden."
            ),
            Reason::Missing => write!(
                f,
                "The path {path} does not exist. Please provide a valid path."
            ),
            Reason::Exists => write!(f, "File {path} already exists"),
            Reason::DestinationExists => write!(f, "The destination {path} already exists"),
            Reason::Link => write!(
                f,
                "The path {path} leads through a link. Links are not followed."
            ),
            Reason::HardLink => write!(
                f,
                "The file {path} has a second name, which may be elsewhere. Such files are not used."
            ),
            Reason::NotAFile => write!(f, "The path {path} is not a file."),
            Reason::Contains(what) => write!(
                f,
                "The directory {path} can't be moved or deleted: it contains {what}."
            ),
            Reason::Root(verb) => write!(f, "Cannot {verb} the {path} directory itself"),
            Reason::NotWritable(writable) if writable.is_empty() => {
                write!(f, "The path {path} is not writable. Nothing is.")
            }
            Reason::NotWritable(writable) => {
                write!(
                    f,
                    "The path {path} is not writable. You can write: {}",
                    writable.join(", ")
                )
            }
            Reason::NotText => write!(f, "The file {path} is not a text file."),
            Reason::TooLarge(limit) => write!(
                f,
                "The file {path} is too large: the limit is {limit} bytes."
            ),
            Reason::TooManyEntries(limit) => {
                write!(f, "The directory {path} has more than {limit} entries.")
            }
            Reason::EmptyMatch => f.write_str("No replacement was performed, old_str is empty."),
            Reason::NoMatch(old) => write!(
                f,
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ),
            Reason::SeveralMatches { old, lines, more } => {
                let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
                let more = if *more { " and more" } else { "" };
                write!(
                    f,
                    "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}{more}. \
                     Please ensure it is unique",
                    lines.join(", ")
                )
            }
            Reason::InsertLine { line, last } => write!(
                f,
                "Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {last}]"
            ),
            Reason::ViewRange { first, last, lines } => write!(
                f,
                "Invalid `view_range`: [{first}, {last}]. The file has {lines} lines: the first number should be within \
                 [1, {lines}], and the second not below it, or -1 for the end of the file."
            ),
            Reason::Diff(what) => write!(f, "The diff does not apply to {path}: {what}"),
            Reason::Io(kind) => write!(f, "The path {path} can't be used: {kind}."),
        }
    }
}

impl Error for FileError {}
