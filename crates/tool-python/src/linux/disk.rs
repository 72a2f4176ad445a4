//! The run folder: created for one run, measured while it runs, and deleted.

use std::ffi::{CString, OsStr};
use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock};
use rustix::io::Errno;

use crate::{Error, File, Policy};

/// Maximum number of parts in a path; a deeper one counts as too many files.
const DEEPEST: usize = 32;

/// The folder in which libraries cache data. Its files are not results.
pub(super) const CACHE: &str = ".cache";

/// The prefix of a run folder's name. The process id and a number for the run follow.
const PREFIX: &str = "tool-python-run-";

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The only folder that a run may write to. It is deleted on drop.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Kept open, so replacing the path has no effect.
    dir: OwnedFd,
}

/// The disk usage of a run.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) files: usize,
    pub(super) is_too_deep: bool,
}

impl RunFolder {
    pub(super) fn create(policy: &Policy) -> Result<RunFolder, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = parent(policy)?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Error::Policy(format!(
                        "the folder `{}`: {error}",
                        parent.display()
                    )));
                }
                Ok(()) => {
                    // Until it is locked, another program may have deleted it as a leftover.
                    let Some(dir) = lock_folder(&path) else {
                        continue;
                    };
                    if let Some(user) = policy.user {
                        let uid = user.uid;
                        std::os::unix::fs::fchown(&dir, Some(uid), Some(user.gid)).map_err(
                            Error::named(format_args!(
                                "the folder `{}` can't be given to the user {uid}",
                                path.display()
                            )),
                        )?;
                    }
                    return Ok(RunFolder { path, dir });
                }
            }
        }
    }

    /// Deletes run folders of programs that were killed. Nobody has locked those.
    pub(super) fn remove_leftovers(policy: &Policy) {
        let Ok(Ok(entries)) = parent(policy).map(fs::read_dir) else {
            return;
        };
        let own = rustix::process::geteuid().as_raw();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let is_run_folder = numbers
                .and_then(|numbers| numbers.split_once('-'))
                .is_some_and(|(pid, number)| {
                    pid.parse::<u32>().is_ok() && number.parse::<u64>().is_ok()
                });
            if !is_run_folder {
                continue;
            }
            let Some(dir) = lock_folder(&entry.path()) else {
                continue;
            };
            let is_ours = rustix::fs::fstat(&dir).is_ok_and(|stat| {
                stat.st_uid == own || policy.user.is_some_and(|user| user.uid == stat.st_uid)
            });
            if is_ours {
                // Dropping the run folder deletes it.
                let path = entry.path();
                drop(RunFolder { path, dir });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file of a finished run. Follows no links.
    pub(crate) fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let mut folder = self.dir.try_clone()?;
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let last = parts.peek().is_none();
            let flags = if last {
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC
            } else {
                FOLDER
            };
            folder = rustix::fs::openat(
                &folder,
                part.as_os_str(),
                flags | OFlags::NONBLOCK,
                Mode::empty(),
            )?;
        }
        let mut bytes = Vec::new();
        fs::File::from(folder).take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Lists at most `most` regular files outside of the cache, sorted by path.
    pub(super) fn files(&self, most: usize) -> Vec<File> {
        let mut files = Vec::new();
        let mut usage = Usage::default();
        // The run has ended, so an unreadable file is just not a result.
        let _ = scan(
            &self.dir,
            Path::new(""),
            0,
            most,
            &mut usage,
            &mut |path, stat| {
                if FileType::from_raw_mode(stat.st_mode).is_file() && !path.starts_with(CACHE) {
                    files.push(File {
                        path: path.to_owned(),
                        bytes: u64::try_from(stat.st_size).unwrap_or(0),
                    });
                }
            },
        );
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// Measures the folder. Stops early if there are more than `most` files.
    pub(super) fn usage(&self, most: usize) -> io::Result<Usage> {
        let mut usage = Usage::default();
        let mut bytes = 0;
        scan(
            &self.dir,
            Path::new(""),
            0,
            most,
            &mut usage,
            &mut |_, stat| bytes += stat_bytes(stat),
        )?;
        usage.bytes = bytes;
        Ok(usage)
    }

    /// Deletes everything inside. Moves folders up before emptying them, so depth and path lengths don't matter.
    fn clear(&self) {
        let mut next = 0_u64;
        loop {
            let inside = names(&self.dir).unwrap_or_default();
            let mut removed = false;
            for name in inside {
                if rustix::fs::unlinkat(&self.dir, &*name, AtFlags::empty()).is_ok() {
                    removed = true;
                    continue;
                }
                let Ok(folder) = open_folder(&self.dir, &name) else {
                    continue;
                };
                for inner in names(&folder).unwrap_or_default() {
                    if rustix::fs::unlinkat(&folder, &*inner, AtFlags::empty()).is_ok() {
                        continue;
                    }
                    // Moving a folder writes its `..`, so its mode must allow that.
                    let _ = open_folder(&folder, &inner);
                    loop {
                        let free = format!("{next}");
                        next += 1;
                        let moved = rustix::fs::renameat_with(
                            &folder,
                            &*inner,
                            &self.dir,
                            &*free,
                            RenameFlags::NOREPLACE,
                        );
                        if moved != Err(Errno::EXIST) {
                            break;
                        }
                    }
                }
                removed |= rustix::fs::unlinkat(&self.dir, &*name, AtFlags::REMOVEDIR).is_ok();
            }
            if !removed {
                return;
            }
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.clear();
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns the parent folder of run folders.
fn parent(policy: &Policy) -> Result<PathBuf, Error> {
    let parent = policy.folder.clone().unwrap_or_else(std::env::temp_dir);
    fs::canonicalize(&parent)
        .map_err(|error| Error::Policy(format!("the folder `{}`: {error}", parent.display())))
}

/// Opens a folder and locks it while it is open. Returns `None` if somebody else has locked or deleted it.
fn lock_folder(path: &Path) -> Option<OwnedFd> {
    let dir = rustix::fs::open(path, FOLDER, Mode::empty()).ok()?;
    flock(&dir, FlockOperation::NonBlockingLockExclusive).ok()?;
    let (opened, named) = (rustix::fs::fstat(&dir).ok()?, rustix::fs::lstat(path).ok()?);
    (opened.st_ino == named.st_ino && opened.st_dev == named.st_dev).then_some(dir)
}

/// Visits everything below a folder, until `usage` has more than `most` files.
fn scan(
    dir: &OwnedFd,
    path: &Path,
    depth: usize,
    most: usize,
    usage: &mut Usage,
    visit: &mut dyn FnMut(&Path, &rustix::fs::Stat),
) -> Result<(), Errno> {
    for name in names(dir)? {
        if usage.files > most {
            return Ok(());
        }
        let stat = match rustix::fs::statat(dir, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            // The file was removed or renamed meanwhile.
            Err(Errno::NOENT) => continue,
            stat => stat?,
        };
        usage.files += 1;
        let path = path.join(OsStr::from_bytes(name.as_bytes()));
        visit(&path, &stat);
        if FileType::from_raw_mode(stat.st_mode).is_dir() {
            if depth + 1 >= DEEPEST {
                usage.is_too_deep = true;
                continue;
            }
            match open_folder(dir, &name) {
                // The folder was removed or replaced meanwhile.
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                inner => scan(&inner?, &path, depth + 1, most, usage, visit)?,
            }
        }
    }
    Ok(())
}

fn names(dir: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes() != b"." && name.to_bytes() != b".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Opens a folder, even if the code chose a mode that locks this user out.
fn open_folder(dir: &OwnedFd, name: &CString) -> Result<OwnedFd, Errno> {
    let open = || {
        let folder = rustix::fs::openat(dir, &**name, FOLDER, Mode::empty())?;
        let mode = rustix::fs::fstat(&folder)?.st_mode & 0o700;
        if mode != 0o700 {
            rustix::fs::fchmod(folder.as_fd(), Mode::RWXU)?;
        }
        Ok(folder)
    };
    open().or_else(|error| {
        if error == Errno::ACCESS {
            rustix::fs::chmodat(dir, &**name, Mode::RWXU, AtFlags::empty())?;
            open()
        } else {
            Err(error)
        }
    })
}

fn stat_bytes(stat: &rustix::fs::Stat) -> u64 {
    let blocks = u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
    // Even an empty file or folder takes an inode.
    blocks.max(4_096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_listed_is_an_error() {
        let file: OwnedFd = fs::File::open("/dev/null").unwrap().into();
        let folder = RunFolder {
            path: PathBuf::from("/nonexistent/tool-python"),
            dir: file,
        };
        assert!(folder.usage(10).is_err());
    }
}
