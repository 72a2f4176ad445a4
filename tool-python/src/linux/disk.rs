//! The run folder: created for one run, measured while it runs, and deleted.

use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::{Error, File, Policy};

/// A path of more parts than this exceeds the limit on files.
const DEEPEST: usize = 32;

/// Where libraries keep what they need again. Its files are not results.
pub(super) const CACHE: &str = ".cache";

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The only folder that a run may write to. Dropped, it is deleted.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Open, so that a path that is replaced doesn't matter.
    dir: OwnedFd,
}

/// What a run has on disk.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    pub(super) files: usize,
    pub(super) is_too_deep: bool,
}

impl RunFolder {
    pub(super) fn create(policy: &Policy) -> Result<RunFolder, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = policy.folder.clone().unwrap_or_else(std::env::temp_dir);
        let parent = fs::canonicalize(&parent).map_err(|error| {
            Error::Policy(format!("the folder `{}`: {error}", parent.display()))
        })?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("tool-python-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Error::Policy(format!(
                        "the folder `{}`: {error}",
                        parent.display()
                    )));
                }
                Ok(()) => {
                    let dir =
                        rustix::fs::open(&path, FOLDER, Mode::empty()).map_err(io::Error::from)?;
                    if let Some(user) = policy.user {
                        std::os::unix::fs::fchown(&dir, Some(user.uid), Some(user.gid))?;
                    }
                    return Ok(RunFolder { path, dir });
                }
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file of a run that has ended. Follows no links.
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

    /// Lists the regular files that are not in the cache, sorted by path, at most `most` of them.
    pub(super) fn files(&self, most: usize) -> Vec<File> {
        let mut files = Vec::new();
        let mut usage = Usage::default();
        scan(
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

    /// Measures the folder and the deleted files that the process `pid` still has. Stops early above `most` files.
    /// `file` is the size that a file can have.
    pub(super) fn usage(&self, pid: u32, most: usize, file: u64) -> Usage {
        let mut usage = Usage::default();
        let mut bytes = 0;
        scan(
            &self.dir,
            Path::new(""),
            0,
            most,
            &mut usage,
            &mut |_, stat| bytes += stat_bytes(stat),
        );
        usage.bytes = bytes + deleted(pid, file);
        usage
    }

    /// Deletes everything inside. Folders are moved up before they are emptied, so neither depth nor the length of
    /// paths matters.
    fn clear(&self) {
        let mut next = 0_u64;
        loop {
            let inside = names(&self.dir);
            let mut removed = false;
            for name in inside {
                if rustix::fs::unlinkat(&self.dir, &*name, AtFlags::empty()).is_ok() {
                    removed = true;
                    continue;
                }
                let Ok(folder) = open_folder(&self.dir, &name) else {
                    continue;
                };
                for inner in names(&folder) {
                    if rustix::fs::unlinkat(&folder, &*inner, AtFlags::empty()).is_ok() {
                        continue;
                    }
                    // Moving a folder writes its `..`, which its mode must allow.
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

/// Visits everything below a folder, until `usage` has more than `most` files.
fn scan(
    dir: &OwnedFd,
    path: &Path,
    depth: usize,
    most: usize,
    usage: &mut Usage,
    visit: &mut dyn FnMut(&Path, &rustix::fs::Stat),
) {
    for name in names(dir) {
        if usage.files > most {
            return;
        }
        let Ok(stat) = rustix::fs::statat(dir, &*name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        usage.files += 1;
        let path = path.join(OsStr::from_bytes(name.as_bytes()));
        visit(&path, &stat);
        if FileType::from_raw_mode(stat.st_mode).is_dir() {
            if depth + 1 >= DEEPEST {
                usage.is_too_deep = true;
            } else if let Ok(inner) = open_folder(dir, &name) {
                scan(&inner, &path, depth + 1, most, usage, visit);
            }
        }
    }
}

fn names(dir: &OwnedFd) -> Vec<CString> {
    let Ok(entries) = Dir::read_from(dir) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| name.as_bytes() != b"." && name.as_bytes() != b"..")
        .collect()
}

/// Opens a folder. The code may have created it with a mode that keeps this user out.
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
    // An empty file or folder takes an inode.
    blocks.max(4_096)
}

/// Bytes of deleted files that the process has open or mapped.
fn deleted(pid: u32, file: u64) -> u64 {
    let mut seen = HashSet::new();
    let mut bytes = 0;
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
    {
        if let Ok(data) = fs::metadata(entry.path())
            && data.is_file()
            && data.nlink() == 0
            && seen.insert(data.ino())
        {
            bytes += data.blocks() * 512;
        }
    }
    // A mapping keeps a file whose descriptor is closed. Only root may ask for its length; otherwise it counts as the
    // longest that there can be.
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    for line in maps.lines().filter(|line| line.ends_with("(deleted)")) {
        let mut fields = line.split_whitespace();
        let (Some(range), Some(inode), Some(path)) = (fields.next(), fields.nth(3), fields.next())
        else {
            continue;
        };
        // Shared memory without a file.
        if path != "/dev/zero" && inode.parse().is_ok_and(|inode| seen.insert(inode)) {
            let blocks = fs::metadata(format!("/proc/{pid}/map_files/{range}"))
                .map(|data| data.blocks() * 512);
            bytes = bytes.saturating_add(blocks.unwrap_or(file));
        }
    }
    bytes
}
