//! A folder that tools may work in, and nothing outside of it.
//!
//! Every path is walked from the folder itself, one part after the other, each opened in the one
//! before it and none through a link. What is opened is then asked what it is, so that nobody can
//! put something else in its place between a check and its use.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, ftruncate, mkdirat, open, openat};
use rustix::io::Errno;

/// The most bytes that a file may hold, to be read or written.
pub(crate) const LARGEST: u64 = 256 * 1024;

/// What may be written: files by name, and all files that stand directly in a folder.
const WRITABLE: [&str; 2] = ["memory.md", "history/*"];

/// The folder.
pub(crate) struct Desk(OwnedFd);

/// The lines of a file that are wanted.
pub(crate) struct Lines {
    /// The number of the first, from 1.
    pub(crate) first: usize,
    pub(crate) most: usize,
    /// The most characters of all of them together.
    pub(crate) characters: usize,
}

impl Desk {
    pub(crate) fn open(path: &Path) -> Result<Desk, DeskError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Desk(open(path, flags, Mode::empty())?))
    }

    /// Some lines of a text, and a word on what is left out.
    pub(crate) fn read(&self, path: &str, lines: &Lines) -> Result<String, DeskError> {
        let (file, _) = self.file(path, OFlags::RDONLY)?;
        let mut bytes = Vec::new();
        // One byte too many tells of more, also when the file grows meanwhile.
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            return Err(DeskError::TooLarge);
        }
        let text = String::from_utf8(bytes).map_err(|_| DeskError::NotText)?;
        Ok(excerpt(&text, lines))
    }

    /// Puts a text in the place of what a file holds.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<(), DeskError> {
        let (mut file, _) = self.writable(path)?;
        ftruncate(&file, 0)?;
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Puts a text behind what a file holds.
    pub(crate) fn append(&self, path: &str, text: &str) -> Result<(), DeskError> {
        let (mut file, stat) = self.writable(path)?;
        let size = u64::try_from(stat.st_size).unwrap_or(LARGEST);
        if size + text.len() as u64 > LARGEST {
            return Err(DeskError::TooLarge);
        }
        Ok(file.write_all(text.as_bytes())?)
    }

    /// Makes a new folder, and the folders around it, with these files in it.
    pub(crate) fn make(&self, folder: &[&str], files: &[(&str, &str)]) -> Result<(), DeskError> {
        let (last, around) = folder.split_last().ok_or(DeskError::Path)?;
        let around = self.folder(around, true)?;
        mkdirat(&around, *last, Mode::from_raw_mode(0o755))?;
        let made = enter(&around, last)?;
        for (name, text) in files {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(&made, *name, flags, Mode::from_raw_mode(0o644))?;
            File::from(file).write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// A file that may be written, at its end, made when it is missing.
    fn writable(&self, path: &str) -> Result<(File, Stat), DeskError> {
        if !is_writable(path) {
            return Err(DeskError::NotWritable);
        }
        let (file, stat) = self.file(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
        // What is written to a file of two names changes the other one too, wherever it is.
        match stat.st_nlink {
            1 => Ok((file, stat)),
            _ => Err(DeskError::Link),
        }
    }

    /// Opens a file that is one: no link, no folder, no pipe that would never answer.
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

    fn folder(&self, parts: &[&str], is_made: bool) -> Result<OwnedFd, DeskError> {
        let mut folder = self.0.try_clone()?;
        for part in parts {
            if is_made {
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

/// The names in a path that leads nowhere else.
fn parts(path: &str) -> Result<Vec<&str>, DeskError> {
    let parts: Vec<_> = path.split('/').collect();
    let is_name = |part: &&str| !matches!(*part, "" | "." | "..") && !part.contains(['\\', '\0']);
    match parts.iter().all(is_name) {
        true => Ok(parts),
        false => Err(DeskError::Path),
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
            shown.push_str("\n[cut: the rest of this line and what follows]");
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

/// Why a file can't be read or written, in words for a model.
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
                "the path must lead from the desk to a file on it, such as notes/today.md, without \
                 `..`",
            ),
            DeskError::Missing => f.write_str("there is no such file"),
            DeskError::Link => f.write_str("links are not followed"),
            DeskError::NotAFile => f.write_str("not a file, or a folder on the way is a link"),
            DeskError::NotWritable => {
                write!(f, "only these may be written: {}", WRITABLE.join(", "))
            }
            DeskError::NotText => f.write_str("not a text"),
            DeskError::TooLarge => write!(f, "more than {LARGEST} bytes"),
            DeskError::Exists => f.write_str("there is one of this name already"),
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
