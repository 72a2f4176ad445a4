use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, File, Metadata, OpenOptions, Permissions};

use crate::error::{FileError, Reason};
use crate::path::{self, is_hidden, names};

/// Prefix of the name of a file that is being written. Such names are hidden, so no model's path leads to them.
const UNFINISHED: &str = ".tool-files-";

/// An open folder. The tools of this crate reach only the files in it. Clones share it.
///
/// A path is relative, with `/` between names. It is opened one name at a time, each in its parent folder, without
/// following links. Checks look at the open file, so nobody can swap the file between the check and its use. Names
/// follow the rules of Windows on every system; [`guide::confinement`](crate::guide::confinement) lists them.
///
/// A new folder is read-only. Use [`writable`](Folder::writable) to allow changes.
///
/// ```
/// use tool_files::{FileErrorKind, Folder};
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-folder-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let folder = Folder::open(&parent)?.writable("history/*")?;
/// folder.write("history/monday.md", "rain\n")?;
/// folder.append("history/monday.md", "sun\n")?;
/// assert_eq!(folder.read("history/monday.md")?, "rain\nsun\n");
///
/// let kind = |path| folder.write(path, "x").unwrap_err().kind();
/// assert_eq!(kind("plan.md"), FileErrorKind::NotWritable);
/// assert_eq!(kind("../plan.md"), FileErrorKind::Path);
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Folder {
    dir: Arc<Dir>,
    /// Locked during a change, so that two changes don't start from the same old text.
    changes: Arc<Mutex<()>>,
    rules: Rules,
}

#[derive(Clone, Debug)]
struct Rules {
    writable: Vec<String>,
    hidden: bool,
    file_bytes: u64,
    entries: usize,
}

/// The files below a folder, returned by [`Folder::list`].
///
/// ```
/// use tool_files::Folder;
///
/// # let parent = std::env::temp_dir().join(format!("tool-files-listing-{}", std::process::id()));
/// # std::fs::create_dir_all(&parent)?;
/// let folder = Folder::open(&parent)?.writable("**")?;
/// folder.write("notes/today.md", "rain\n")?;
/// let listing = folder.list("", 2)?;
/// let paths: Vec<_> = listing.entries.iter().map(|entry| &*entry.path).collect();
/// assert_eq!(paths, ["notes", "notes/today.md"]);
/// assert!(listing.is_complete);
/// # std::fs::remove_dir_all(&parent)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The files and folders, sorted by name, each folder before its contents.
    pub entries: Vec<Entry>,
    /// The number of links, special files and files with invalid names.
    pub unusable: usize,
    /// `false` if the limit on [entries](Folder::max_entries) ended the listing.
    pub is_complete: bool,
}

/// A file or folder in a [`Listing`].
///
/// ```
/// use tool_files::Listing;
///
/// /// Returns the number of bytes of all files.
/// fn bytes(listing: &Listing) -> u64 {
///     let files = listing.entries.iter().filter(|entry| !entry.is_folder);
///     files.map(|entry| entry.bytes).sum()
/// }
/// # let _ = bytes;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The path, relative to the opened folder.
    pub path: String,
    /// The size of a file. For a folder, the system's size of the folder itself.
    pub bytes: u64,
    /// `true` if it is a folder.
    pub is_folder: bool,
}

impl Folder {
    /// Opens an existing folder, read-only. This is a path of your system, which may lead through links.
    ///
    /// # Errors
    ///
    /// If the folder does not exist, or can't be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Folder> {
        let path = path.as_ref();
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("can't open the folder {}: {error}", path.display()),
            )
        })?;
        Ok(Folder {
            dir: Arc::new(dir),
            changes: Arc::default(),
            rules: Rules {
                writable: Vec::new(),
                hidden: false,
                file_bytes: 256 * 1024,
                entries: 1000,
            },
        })
    }

    /// Allows changes to files. Call it once for each pattern.
    ///
    /// | pattern | files that may be created, changed, renamed and deleted |
    /// |---|---|
    /// | `memory.md` | this file |
    /// | `history/*` | the files directly in a folder, which is created if it is missing |
    /// | `history/**` | everything below a folder, including folders |
    /// | `**` | everything below this folder |
    ///
    /// ```
    /// use tool_files::Folder;
    ///
    /// # let parent = std::env::temp_dir();
    /// let folder = Folder::open(parent)?.writable("memory.md")?.writable("history/*")?;
    /// assert!(folder.writable("/etc/*").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the pattern has another form, or contains an invalid name.
    pub fn writable(mut self, pattern: &str) -> Result<Folder, FileError> {
        let folder = match pattern.rsplit_once('/') {
            Some((folder, "*" | "**")) => folder,
            None if matches!(pattern, "*" | "**") => "",
            _ => pattern,
        };
        let is_empty = folder.is_empty() && !matches!(pattern, "*" | "**");
        match names(folder, true) {
            Ok(_) if is_empty => Err(Reason::Path("the pattern is empty")),
            Ok(_) if folder == "." => Err(Reason::Path("write `**` for everything")),
            Ok(_) => Ok(()),
            Err(reason) => Err(reason),
        }
        .map_err(|reason| FileError::new(pattern, reason))?;
        self.rules.writable.push(pattern.to_owned());
        Ok(self)
    }

    /// Sets whether models reach hidden files, which have a `.` at the start of a name in their path. Off by default,
    /// because such files hold keys (`.env`) or are run by programs (`.git/hooks`).
    pub fn hidden(mut self, allowed: bool) -> Folder {
        self.rules.hidden = allowed;
        self
    }

    /// Sets the maximum size of a file in bytes, for reading and writing. The default is 256 KiB.
    pub fn max_file_bytes(mut self, most: u64) -> Folder {
        self.rules.file_bytes = most;
        self
    }

    /// Sets the maximum number of entries in a listing, and in a folder that is deleted or moved as a whole. The
    /// default is 1000.
    pub fn max_entries(mut self, most: usize) -> Folder {
        self.rules.entries = most;
        self
    }

    /// Reads a text file.
    ///
    /// # Errors
    ///
    /// If the path is missing, a link or not a file, or the file is hard-linked, too large or not text.
    pub fn read(&self, path: &str) -> Result<String, FileError> {
        let read = || {
            let (parent, name) = self.parent(path, false)?;
            let (mut file, _) = open_file(&parent, name)?;
            self.text(&mut file)
        };
        read().map_err(|reason| FileError::new(path, reason))
    }

    /// Writes a text file, replacing an existing one. Missing folders are created.
    ///
    /// Like every write of this crate it is atomic: readers see the old text or the new one.
    ///
    /// # Errors
    ///
    /// If the path is not [writable](Folder::writable), the new text is too large or contains NUL, or the existing file
    /// is a link, hard-linked or a special file.
    pub fn write(&self, path: &str, text: &str) -> Result<(), FileError> {
        let write = || {
            let _changes = self.changes();
            let (parent, name) = self.writable_file(path)?;
            let replaced = match open_file(&parent, name) {
                Ok((_, metadata)) => Some(metadata.permissions()),
                Err(Reason::Missing) => None,
                Err(reason) => return Err(reason),
            };
            self.put(
                &parent,
                name,
                text,
                replaced.map_or(Put::ReplaceNew, Put::Replace),
            )
        };
        write().map_err(|reason| FileError::new(path, reason))
    }

    /// Writes a text file that does not exist yet. Missing folders are created.
    ///
    /// ```
    /// use tool_files::{FileErrorKind, Folder};
    ///
    /// # let parent = std::env::temp_dir().join(format!("tool-files-create-{}", std::process::id()));
    /// # std::fs::create_dir_all(&parent)?;
    /// let folder = Folder::open(&parent)?.writable("*")?;
    /// folder.create("plan.md", "rest\n")?;
    /// let error = folder.create("plan.md", "work\n").unwrap_err();
    /// assert_eq!(error.kind(), FileErrorKind::Exists);
    /// # std::fs::remove_dir_all(&parent)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file exists, or [`write`](Folder::write) would fail.
    pub fn create(&self, path: &str, text: &str) -> Result<(), FileError> {
        let create = || {
            let _changes = self.changes();
            let (parent, name) = self.writable_file(path)?;
            if parent.symlink_metadata(name).is_ok() {
                return Err(Reason::Exists);
            }
            self.put(&parent, name, text, Put::New)
        };
        create().map_err(|reason| FileError::new(path, reason))
    }

    /// Appends to a text file, or creates it.
    ///
    /// # Errors
    ///
    /// If [`read`](Folder::read) or [`write`](Folder::write) would fail.
    pub fn append(&self, path: &str, text: &str) -> Result<(), FileError> {
        let append = || {
            let _changes = self.changes();
            let (parent, name) = self.writable_file(path)?;
            let (old, put) = match open_file(&parent, name) {
                Ok((mut file, metadata)) => {
                    (self.text(&mut file)?, Put::Replace(metadata.permissions()))
                }
                Err(Reason::Missing) => (String::new(), Put::New),
                Err(reason) => return Err(reason),
            };
            self.put(&parent, name, &(old + text), put)
        };
        append().map_err(|reason| FileError::new(path, reason))
    }

    /// Replaces the text of a file with the result of a function.
    pub(crate) fn edit<T>(
        &self,
        path: &str,
        change: impl FnOnce(&str) -> Result<(String, T), Reason>,
    ) -> Result<T, Reason> {
        let _changes = self.changes();
        // A missing file has to be reported as missing, so no folder is created.
        self.check_writable(path)?;
        let (parent, name) = self.parent(path, false)?;
        let (mut file, metadata) = open_file(&parent, name)?;
        let (text, result) = change(&self.text(&mut file)?)?;
        self.put(&parent, name, &text, Put::Replace(metadata.permissions()))?;
        Ok(result)
    }

    /// Creates a folder and its missing parents. Requires that everything below it is writable.
    ///
    /// # Errors
    ///
    /// If the path exists, or the folder is not [writable](Folder::writable) as a whole.
    pub fn create_folder(&self, path: &str) -> Result<(), FileError> {
        let create = || {
            let _changes = self.changes();
            self.check_whole(path)?;
            let (parent, name) = self.parent(path, true)?;
            parent
                .create_dir_with(name, &builder())
                .map_err(|error| reason(&parent, name, &error))
        };
        create().map_err(|reason| FileError::new(path, reason))
    }

    /// Lists a folder and its subfolders down to a depth; 1 lists the folder alone. Hidden files are left out.
    ///
    /// # Errors
    ///
    /// If the folder does not exist.
    pub fn list(&self, path: &str, depth: usize) -> Result<Listing, FileError> {
        let list = || {
            let names = self.names(path)?;
            let folder = self.folder(&names, false)?;
            let mut listing = Listing {
                entries: Vec::new(),
                unusable: 0,
                is_complete: true,
            };
            let mut left = self.rules.entries;
            let prefix: String = names.iter().flat_map(|name| [*name, "/"]).collect();
            self.collect(&folder, &prefix, depth, &mut left, &mut listing)?;
            Ok(listing)
        };
        list().map_err(|reason| FileError::new(path, reason))
    }

    /// Deletes a file, or a folder with everything in it.
    ///
    /// # Errors
    ///
    /// If the path is missing, a link, or not [writable](Folder::writable) as a whole. A folder can't be deleted either
    /// if it contains hidden files, links, special files, or more entries than [allowed](Folder::max_entries).
    pub fn remove(&self, path: &str) -> Result<(), FileError> {
        let remove = || {
            let _changes = self.changes();
            let (parent, name) = self.parent(path, false)?;
            match kind(&parent, name)? {
                Kind::File => self.unlink(path, &parent, name),
                Kind::Folder => {
                    self.check_whole(path)?;
                    let folder = enter(&parent, name)?;
                    self.check_contents(&folder)?;
                    self.remove_contents(&folder)?;
                    drop(folder);
                    parent
                        .remove_dir(name)
                        .map_err(|error| reason(&parent, name, &error))
                }
            }
        };
        remove().map_err(|reason| FileError::new(path, reason))
    }

    /// Deletes a file. Fails for a folder.
    pub(crate) fn remove_file(&self, path: &str) -> Result<(), FileError> {
        let remove = || {
            let _changes = self.changes();
            let (parent, name) = self.parent(path, false)?;
            match kind(&parent, name)? {
                Kind::File => self.unlink(path, &parent, name),
                Kind::Folder => Err(Reason::NotAFile),
            }
        };
        remove().map_err(|reason| FileError::new(path, reason))
    }

    fn unlink(&self, path: &str, parent: &Dir, name: &str) -> Result<(), Reason> {
        self.check_writable(path)?;
        parent
            .remove_file(name)
            .map_err(|error| reason(parent, name, &error))
    }

    /// Renames or moves a file or a folder. Creates missing parents of the new path. Replaces nothing.
    ///
    /// # Errors
    ///
    /// If the new path exists, the old one may not be [deleted](Folder::remove), or the new one may not be
    /// [created](Folder::create). The error names the path at fault.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let at = |path| move |reason| FileError::new(path, reason);
        let _changes = self.changes();
        let (old_parent, old) = self.parent(from, false).map_err(at(from))?;
        let kind = kind(&old_parent, old).map_err(at(from))?;
        let check = |path| match kind {
            Kind::File => self.check_writable(path),
            Kind::Folder => self.check_whole(path),
        };
        check(from).map_err(at(from))?;
        check(to).map_err(at(to))?;
        if kind == Kind::Folder {
            let folder = enter(&old_parent, old).map_err(at(from))?;
            self.check_contents(&folder).map_err(at(from))?;
            if to
                .strip_prefix(from)
                .is_some_and(|rest| rest.starts_with('/'))
            {
                return Err(at(to)(Reason::Path(
                    "a directory can't be moved into itself",
                )));
            }
        }
        let (new_parent, new) = self.parent(to, true).map_err(at(to))?;
        let is_taken = || new_parent.symlink_metadata(new).is_ok();
        if is_taken() {
            return Err(at(to)(Reason::DestinationExists));
        }
        rename_new(&old_parent, old, &new_parent, new).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                at(to)(Reason::DestinationExists)
            } else {
                at(from)(reason(&old_parent, old, &error))
            }
        })
    }

    fn changes(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, Reason> {
        names(path, self.rules.hidden)
    }

    fn check_writable(&self, path: &str) -> Result<(), Reason> {
        let names = self.names(path)?;
        self.check(&names, |(folder, kind)| match kind {
            "**" => names.len() > folder.len() && names.starts_with(folder),
            "*" => names.len() == folder.len() + 1 && names.starts_with(folder),
            _ => names == folder,
        })
    }

    /// Checks that a folder and everything below it are writable.
    fn check_whole(&self, path: &str) -> Result<(), Reason> {
        let names = self.names(path)?;
        self.check(&names, |(folder, kind)| {
            kind == "**" && names.len() > folder.len() && names.starts_with(folder)
        })
    }

    fn check(
        &self,
        names: &[&str],
        covers: impl Fn((&[&str], &str)) -> bool,
    ) -> Result<(), Reason> {
        if names.is_empty() {
            return Err(Reason::Root("change"));
        }
        let is_covered = self.rules.writable.iter().any(|pattern| {
            let mut parts: Vec<_> = pattern.split('/').collect();
            let kind = match parts.last() {
                Some(&("*" | "**")) => parts.pop().unwrap_or_default(),
                _ => "",
            };
            covers((&parts, kind))
        });
        if is_covered {
            Ok(())
        } else {
            Err(Reason::NotWritable(self.rules.writable.clone()))
        }
    }

    /// Opens the parent folder of a writable file.
    fn writable_file<'p>(&self, path: &'p str) -> Result<(Dir, &'p str), Reason> {
        self.check_writable(path)?;
        self.parent(path, true)
    }

    /// Opens the parent folder of a path. Also returns the last name.
    fn parent<'p>(&self, path: &'p str, creates: bool) -> Result<(Dir, &'p str), Reason> {
        let names = self.names(path)?;
        let (name, folders) = names.split_last().ok_or(Reason::NotAFile)?;
        Ok((self.folder(folders, creates)?, name))
    }

    fn folder(&self, names: &[&str], creates: bool) -> Result<Dir, Reason> {
        let mut folder = self
            .dir
            .try_clone()
            .map_err(|error| Reason::Io(error.kind()))?;
        for name in names {
            if creates {
                match folder.create_dir_with(name, &builder()) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(reason(&folder, name, &error));
                    }
                    _ => {}
                }
            }
            folder = enter(&folder, name)?;
        }
        Ok(folder)
    }

    fn text(&self, file: &mut File) -> Result<String, Reason> {
        let most = self.rules.file_bytes;
        let mut bytes = Vec::new();
        // Reading one byte more than allowed detects a file that is too large, even if it grows meanwhile.
        let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Reason::Io(error.kind()))?;
        if bytes.len() as u64 > most {
            return Err(Reason::TooLarge(most));
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(Reason::NotText),
        }
    }

    /// Writes a file under a temporary name, and renames it when it is complete.
    fn put(&self, parent: &Dir, name: &str, text: &str, put: Put) -> Result<(), Reason> {
        if text.len() as u64 > self.rules.file_bytes {
            return Err(Reason::TooLarge(self.rules.file_bytes));
        }
        if text.contains('\0') {
            return Err(Reason::NotText);
        }
        let io = |error: io::Error| Reason::Io(error.kind());
        let random = getrandom::u64().map_err(|error| Reason::Io(io::Error::from(error).kind()))?;
        let unfinished = format!("{UNFINISHED}{random:016x}");
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        // The new file is never readable by more users than the old one.
        set_mode(
            &mut options,
            if matches!(put, Put::Replace(_)) {
                0o600
            } else {
                0o644
            },
        );
        let mut file = parent.open_with(&unfinished, &options).map_err(io)?;
        let write = || {
            file.write_all(text.as_bytes()).map_err(io)?;
            if let Put::Replace(permissions) = &put {
                file.set_permissions(permissions.clone()).map_err(io)?;
            }
            file.sync_all().map_err(io)?;
            // Windows can't rename an open file.
            drop(file);
            let renamed = match put {
                Put::New => rename_new(parent, &unfinished, parent, name),
                Put::Replace(_) | Put::ReplaceNew => parent.rename(&unfinished, parent, name),
            };
            renamed.map_err(|error| reason(parent, name, &error))
        };
        write().inspect_err(|_| {
            // The first error says more than a failure to clean up.
            let _ = parent.remove_file(&unfinished);
        })
    }

    /// Reads the entries of a folder, without following links. Also returns `false` if some were left out.
    fn entries(&self, folder: &Dir, left: &mut usize) -> Result<(Vec<Found>, bool), Reason> {
        let io = |error: io::Error| Reason::Io(error.kind());
        let mut found = Vec::new();
        for entry in folder.entries().map_err(io)? {
            if *left == 0 {
                return Ok((found, false));
            }
            *left -= 1;
            let name = entry.map_err(io)?.file_name().into_string().ok();
            let name = name.filter(|name| path::check(name).is_ok());
            found.push(match name {
                None => Found::Unusable,
                Some(name) if is_hidden(&name) && !self.rules.hidden => Found::Hidden,
                Some(name) => match folder.symlink_metadata(&name) {
                    Ok(found) if found.is_file() || found.is_dir() => Found::Usable(Entry {
                        path: name,
                        bytes: found.len(),
                        is_folder: found.is_dir(),
                    }),
                    Ok(_) => Found::Unusable,
                    // The file was deleted meanwhile.
                    Err(_) => continue,
                },
            });
        }
        Ok((found, true))
    }

    fn collect(
        &self,
        folder: &Dir,
        prefix: &str,
        depth: usize,
        left: &mut usize,
        listing: &mut Listing,
    ) -> Result<(), Reason> {
        let (found, is_complete) = self.entries(folder, left)?;
        listing.is_complete &= is_complete;
        let mut usable = Vec::new();
        for found in found {
            match found {
                Found::Usable(entry) => usable.push(entry),
                Found::Unusable => listing.unusable += 1,
                Found::Hidden => {}
            }
        }
        usable.sort_by(|a, b| a.path.cmp(&b.path));
        for entry in usable {
            let name = entry.path;
            let path = format!("{prefix}{name}");
            let below = format!("{path}/");
            listing.entries.push(Entry { path, ..entry });
            if entry.is_folder && depth > 1 {
                match enter(folder, &name) {
                    Ok(folder) => self.collect(&folder, &below, depth - 1, left, listing)?,
                    // The folder was replaced by something else, or may not be read.
                    Err(_) => listing.unusable += 1,
                }
            }
        }
        Ok(())
    }

    /// Checks that paths can lead to everything in a folder.
    fn check_contents(&self, folder: &Dir) -> Result<(), Reason> {
        let mut left = self.rules.entries;
        self.check_below(folder, &mut left)
    }

    fn check_below(&self, folder: &Dir, left: &mut usize) -> Result<(), Reason> {
        let (found, is_complete) = self.entries(folder, left)?;
        if !is_complete {
            return Err(Reason::TooManyEntries(self.rules.entries));
        }
        for found in found {
            match found {
                Found::Usable(entry) if entry.is_folder => {
                    self.check_below(&enter(folder, &entry.path)?, left)?;
                }
                Found::Usable(..) => {}
                Found::Unusable => {
                    return Err(Reason::Contains("links, special files or unusual names"));
                }
                Found::Hidden => return Err(Reason::Contains("hidden files")),
            }
        }
        Ok(())
    }

    /// Deletes the contents of a folder. Stops at anything unusable that appeared since the check.
    fn remove_contents(&self, folder: &Dir) -> Result<(), Reason> {
        let mut left = self.rules.entries;
        let (found, _) = self.entries(folder, &mut left)?;
        for found in found {
            let Found::Usable(Entry {
                path: name,
                is_folder,
                ..
            }) = found
            else {
                return Err(Reason::Contains("what was created meanwhile"));
            };
            let removed = if is_folder {
                self.remove_contents(&enter(folder, &name)?)?;
                folder.remove_dir(&name)
            } else {
                folder.remove_file(&name)
            };
            removed.map_err(|error| reason(folder, &name, &error))?;
        }
        Ok(())
    }
}

/// Opens a regular file with a single name. Links, folders and pipes are errors; opening a pipe could block forever.
fn open_file(parent: &Dir, name: &str) -> Result<(File, Metadata), Reason> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = parent
        .open_with(name, &options)
        .map_err(|error| reason(parent, name, &error))?;
    let metadata = file.metadata().map_err(|error| Reason::Io(error.kind()))?;
    if !metadata.is_file() {
        return Err(Reason::NotAFile);
    }
    // The other name of a hard link may be outside of the folder.
    if metadata.nlink() != 1 {
        return Err(Reason::HardLink);
    }
    Ok((file, metadata))
}

fn kind(parent: &Dir, name: &str) -> Result<Kind, Reason> {
    let metadata = parent
        .symlink_metadata(name)
        .map_err(|error| reason(parent, name, &error))?;
    if metadata.is_symlink() {
        Err(Reason::Link)
    } else if metadata.is_dir() {
        Ok(Kind::Folder)
    } else if metadata.is_file() {
        Ok(Kind::File)
    } else {
        Err(Reason::NotAFile)
    }
}

/// What happens to an existing file on a write.
enum Put {
    /// The write fails.
    New,
    /// The file was missing, so one that appears meanwhile is replaced.
    ReplaceNew,
    /// The file is replaced, keeping these permissions.
    Replace(Permissions),
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    File,
    Folder,
}

/// An entry of a folder; its path is its name.
enum Found {
    Usable(Entry),
    Unusable,
    Hidden,
}

/// Opens a subfolder. Fails for a link.
fn enter(folder: &Dir, name: &str) -> Result<Dir, Reason> {
    folder
        .open_dir_nofollow(name)
        .map_err(|error| match reason(folder, name, &error) {
            Reason::NotAFile => Reason::Missing,
            reason => reason,
        })
}

fn builder() -> DirBuilder {
    #[allow(unused_mut)]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder
}

/// Limits access to a new file, on systems with permissions.
fn set_mode(options: &mut OpenOptions, mode: u32) {
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(options, mode);
    let _ = (options, mode);
}

/// Renames without replacing an existing file.
fn rename_new(from_folder: &Dir, from: &str, to_folder: &Dir, to: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;

        match renameat_with(from_folder, from, to_folder, to, RenameFlags::NOREPLACE) {
            // Not every file system supports it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            ended => return Ok(ended?),
        }
    }
    if to_folder.symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from_folder.rename(from, to_folder, to)
}

/// Returns the reason why a name could not be used. The file that is there now affects only the wording.
fn reason(folder: &Dir, name: &str, error: &io::Error) -> Reason {
    match (error.kind(), folder.symlink_metadata(name)) {
        (io::ErrorKind::AlreadyExists, _) => Reason::Exists,
        (io::ErrorKind::InvalidFilename, _) => Reason::Path("the system rejects a name"),
        (_, Ok(found)) if found.is_symlink() => Reason::Link,
        (io::ErrorKind::NotFound, _) => Reason::Missing,
        (io::ErrorKind::NotADirectory, _) => Reason::NotAFile,
        (_, Ok(found)) if !found.is_file() => Reason::NotAFile,
        (kind, _) => Reason::Io(kind),
    }
}

/// Shows the rules without the path.
impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
