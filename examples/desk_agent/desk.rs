//! A folder that confines the file tools.
//!
//! A path is opened part by part, each relative to the folder before it, without following links.
//! Checks use the opened file, so that nobody can swap it between a check and its use.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, ftruncate, mkdirat, open, openat};
use rustix::io::Errno;

/// Maximum size of a file in bytes, for reading and writing.
pub(crate) const LARGEST: u64 = 256 * 1024;

/// The writable paths: files by name, and `folder/*` for all files directly in a folder.
const WRITABLE: [&str; 2] = ["memory.md", "history/*"];

/// An open folder. Clones share it.
#[derive(Clone)]
pub(crate) struct Desk(Arc<OwnedFd>);

/// The lines of a file to read.
pub(crate) struct Lines {
    /// Number of the first line, from 1.
    pub(crate) first: usize,
    /// Maximum number of lines.
    pub(crate) most: usize,
    /// Maximum number of characters of all lines.
    pub(crate) characters: usize,
}

impl Desk {
    pub(crate) fn open(path: &Path) -> Result<Desk, DeskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Desk(Arc::new(open(path, flags, Mode::empty())?)))
    }

    /// Reads lines of a text file. A note says what is left out.
    pub(crate) fn read(&self, path: &str, lines: &Lines) -> Result<String, DeskError> {
        let (file, _) = self.file(path, OFlags::RDONLY)?;
        let mut bytes = Vec::new();
        // One byte more than allowed shows that the file is too large, even if it grows meanwhile.
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(DeskError::TooLarge);
        }
        let text = String::from_utf8(bytes).map_err(|_| DeskError::NotText)?;
        Ok(excerpt(&text, lines))
    }

    /// Replaces the contents of a file.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), DeskError> {
        let (mut file, _) = self.writable(path)?;
        ftruncate(&file, 0)?;
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Appends to a file.
    pub(crate) fn append(&self, path: &str, text: &str) -> Result<(), DeskError> {
        let (mut file, stat) = self.writable(path)?;
        let size = u64::try_from(stat.st_size).unwrap_or(LARGEST);
        if size + text.len() as u64 > LARGEST {
            return Err(DeskError::TooLarge);
        }
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Creates a folder with these files, and its missing parents.
    pub(crate) fn create(&self, folder: &[&str], files: &[(&str, &str)]) -> Result<(), DeskError> {
        let (last, parents) = folder.split_last().ok_or(DeskError::Path)?;
        let parent = self.folder(parents, true)?;
        mkdirat(&parent, *last, Mode::from_raw_mode(0o755))?;
        let created = enter(&parent, last)?;
        for (name, text) in files {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(&created, *name, flags, Mode::from_raw_mode(0o644))?;
            File::from(file).write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Opens a writable file for appending, and creates it if it is missing.
    fn writable(&self, path: &str) -> Result<(File, Stat), DeskError> {
        if !is_writable(path) {
            return Err(DeskError::NotWritable);
        }
        let (file, stat) = self.file(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
        // A file with a second name may be outside of the folder as well.
        if stat.st_nlink != 1 {
            return Err(DeskError::Link);
        }
        Ok((file, stat))
    }

    /// Opens a regular file: not a link, a folder, or a pipe, which could block forever.
    fn file(&self, path: &str, how: OFlags) -> Result<(File, Stat), DeskError> {
        let parts = parts(path)?;
        let (name, folders) = parts.split_last().ok_or(DeskError::Path)?;
        let folder = self.folder(folders, how.contains(OFlags::CREATE))?;
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&folder, *name, flags, Mode::from_raw_mode(0o644))?;
        let stat = fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((file.into(), stat)),
            _ => Err(DeskError::NotAFile),
        }
    }

    fn folder(&self, parts: &[&str], creates: bool) -> Result<OwnedFd, DeskError> {
        let mut folder = self.0.try_clone()?;
        for part in parts {
            if creates {
                match mkdirat(&folder, *part, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = enter(&folder, part)?;
        }
        Ok(folder)
    }
}

fn enter(folder: &OwnedFd, name: &str) -> Result<OwnedFd, DeskError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}

/// Splits a path into names. Rejects `..`, absolute paths and empty names.
fn parts(path: &str) -> Result<Vec<&str>, DeskError> {
    let parts: Vec<_> = path.split('/').collect();
    let is_name = |part: &&str| !matches!(*part, "" | "." | "..") && !part.contains(['\\', '\0']);
    if parts.iter().all(is_name) {
        Ok(parts)
    } else {
        Err(DeskError::Path)
    }
}

fn is_writable(path: &str) -> bool {
    WRITABLE
        .iter()
        .any(|allowed| match allowed.strip_suffix('*') {
            None => path == *allowed,
            Some(folder) => path
                .strip_prefix(folder)
                .is_some_and(|name| !name.is_empty() && !name.contains('/')),
        })
}

fn excerpt(text: &str, lines: &Lines) -> String {
    let all = text.lines().count();
    let wanted = text.lines().skip(lines.first - 1).take(lines.most);
    let mut shown = String::new();
    let mut count = 0;
    for line in wanted {
        let room = lines.characters - shown.chars().count().min(lines.characters);
        if line.chars().count() >= room {
            shown.extend(line.chars().take(room));
            shown.push_str("\n[truncated: the rest of this line and all further lines]");
            return shown;
        }
        shown.push_str(line);
        shown.push('\n');
        count += 1;
    }
    let last = lines.first - 1 + count;
    if last < all {
        shown.push_str(&format!("[lines {} to {last} of {all}]", lines.first));
    }
    shown
}

/// The reasons why a file can't be read or written. The model reads the text.
#[derive(Debug, PartialEq)]
pub(crate) enum DeskError {
    Path,
    Missing,
    Link,
    NotAFile,
    NotWritable,
    NotText,
    TooLarge,
    Exists,
    Other(std::io::ErrorKind),
}

impl fmt::Display for DeskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeskError::Path => f.write_str(
                "the path must be relative to the desk, such as notes/today.md, and without `..`",
            ),
            DeskError::Missing => f.write_str("the file does not exist"),
            DeskError::Link => f.write_str("links are not followed"),
            DeskError::NotAFile => f.write_str("not a file, or a parent folder is a link"),
            DeskError::NotWritable => {
                write!(f, "not writable; you can write: {}", WRITABLE.join(", "))
            }
            DeskError::NotText => f.write_str("not a text file"),
            DeskError::TooLarge => write!(f, "too large: more than {LARGEST} bytes"),
            DeskError::Exists => f.write_str("the name is taken"),
            DeskError::Other(kind) => kind.fmt(f),
        }
    }
}

impl std::error::Error for DeskError {}

impl From<Errno> for DeskError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => DeskError::Missing,
            Errno::LOOP => DeskError::Link,
            Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => DeskError::NotAFile,
            Errno::EXIST => DeskError::Exists,
            Errno::NAMETOOLONG => DeskError::Path,
            _ => DeskError::Other(error.kind()),
        }
    }
}

impl From<std::io::Error> for DeskError {
    fn from(error: std::io::Error) -> Self {
        DeskError::Other(error.kind())
    }
}
