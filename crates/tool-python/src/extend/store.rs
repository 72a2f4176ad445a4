//! The folder of the tools, with a subfolder for each name, and below it one for each version.
//!
//! ```text
//! celsius_to_fahrenheit/1/{spec.json,code.py,tests.py,report.json,lock.json,lock.sha256}
//! celsius_to_fahrenheit/disabled
//! .drafts/<hash>.json
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum number of bytes of a stored file.
const FILE: u64 = 4 << 20;

/// Maximum number of drafts. The oldest are deleted.
const DRAFTS: usize = 64;

const LOCK: &str = "lock.json";
const LOCK_HASH: &str = "lock.sha256";
const DISABLED: &str = "disabled";
const DRAFT_FOLDER: &str = ".drafts";

/// Returns the SHA-256 hash in hexadecimal.
pub(super) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns `true` for a valid name: a lowercase letter, then lowercase letters, digits or `_`, at most 64. Such a name
/// is valid for every provider, as a Python function and as a folder.
pub(super) fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    name.len() <= 64
        && name.bytes().all(is_part)
        && name
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
}

/// The contents of `lock.json`: who approved which files, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    pub(super) name: String,
    pub(super) version: u32,
    /// The SHA-256 hash of each other file.
    pub(super) files: BTreeMap<String, String>,
    pub(super) approved_by: String,
    /// The time of the approval, in seconds since 1970, UTC.
    pub(super) approved_at: u64,
}

impl Lock {
    /// Returns the hash of everything that was approved.
    pub(super) fn digest(name: &str, version: u32, files: &BTreeMap<String, String>) -> String {
        let text = serde_json::to_string(&(name, version, files)).expect("strings serialize");
        sha256(text)
    }
}

/// The files of one version, whose hashes were verified.
pub(super) struct Stored {
    pub(super) lock: Lock,
    pub(super) files: BTreeMap<String, String>,
}

/// The latest version of a tool.
pub(super) struct Latest {
    pub(super) version: u32,
    pub(super) is_disabled: bool,
    /// The files, or the reason why they are not used.
    pub(super) stored: Result<Stored, String>,
}

pub(super) struct Store {
    root: PathBuf,
    /// The folder. It is locked, but other processes may share it.
    lock: Option<File>,
}

impl Store {
    pub(super) fn open(root: &Path) -> io::Result<Store> {
        create_folder(root, true)?;
        let root = fs::canonicalize(root)?;
        check_owners(&root)?;
        create_folder(&root.join(DRAFT_FOLDER), false)?;
        let lock = if cfg!(unix) {
            Some(File::open(&root)?)
        } else {
            None
        };
        let store = Store { root, lock };
        if let Some(lock) = &store.lock {
            if crate::imp::lock_alone(lock) {
                store.remove_leftovers()?;
            }
            crate::imp::lock_shared(lock)?;
        }
        Ok(store)
    }

    /// Deletes leftovers of processes that were killed while they wrote. Requires that nobody else has the folder open.
    fn remove_leftovers(&self) -> io::Result<()> {
        let mut folders = vec![self.root.clone(), self.root.join(DRAFT_FOLDER)];
        folders.extend(self.names()?.into_iter().map(|name| self.root.join(name)));
        for folder in folders {
            if !fs::symlink_metadata(&folder)?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let name = entry.file_name();
                let is_left_over = name
                    .to_str()
                    .is_some_and(|name| name.starts_with(".old-") || name.starts_with(".new-"));
                if !is_left_over {
                    continue;
                }
                if entry.file_type()?.is_dir() {
                    fs::remove_dir_all(entry.path())?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Returns the names of all tools, sorted. Ignores folders with other names.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let name = entry?.file_name();
            names.extend(
                name.to_str()
                    .filter(|name| is_name(name))
                    .map(str::to_owned),
            );
        }
        names.sort();
        Ok(names)
    }

    /// Returns the latest version of a tool.
    pub(super) fn latest(&self, name: &str) -> io::Result<Option<Latest>> {
        let folder = self.folder(name)?;
        let metadata = match fs::symlink_metadata(&folder) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !metadata.is_dir() {
            return Ok(Some(Latest {
                version: 0,
                is_disabled: false,
                stored: Err("it is not a folder".to_owned()),
            }));
        }
        let mut version = 0;
        let mut is_disabled = false;
        let mut problem = None;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?.file_name();
            let entry = entry.to_string_lossy();
            let number = entry
                .parse::<u32>()
                .ok()
                .filter(|number| number.to_string() == entry);
            match number {
                Some(number) if number > 0 => version = version.max(number),
                _ if entry == DISABLED => is_disabled = true,
                // A version that is being written, or a leftover of one.
                _ if entry.starts_with(".new-") => {}
                _ => problem = Some(format!("`{entry}` does not belong into its folder")),
            }
        }
        let stored = match problem {
            Some(problem) => Err(problem),
            None if version == 0 => return Ok(None),
            None => read_version(&folder, name, version),
        };
        Ok(Some(Latest {
            version,
            is_disabled,
            stored,
        }))
    }

    /// Writes a version. If that fails or the process ends in between, nothing is stored.
    pub(super) fn add(&self, lock: &Lock, files: &BTreeMap<String, String>) -> io::Result<()> {
        let folder = self.folder(&lock.name)?;
        create_folder(&folder, false)?;
        let temporary = folder.join(format!(".new-{}", unique()));
        create_folder(&temporary, false)?;
        let lock_text = text(lock);
        let hash = format!("{}  {LOCK}\n", sha256(&lock_text));
        let own = [(LOCK, &lock_text), (LOCK_HASH, &hash)];
        let files = files.iter().map(|(name, text)| (name.as_str(), text));
        let written = files
            .chain(own)
            .try_for_each(|(name, text)| write_new(&temporary.join(name), text))
            .and_then(|()| sync(&temporary))
            // Fails if the version exists, because its folder is not empty.
            .and_then(|()| fs::rename(&temporary, folder.join(lock.version.to_string())))
            .and_then(|()| sync(&folder))
            .and_then(|()| sync(&self.root));
        if written.is_err() {
            let _ = fs::remove_dir_all(&temporary);
        }
        written
    }

    /// Deletes a version that was just added.
    pub(super) fn retract(&self, name: &str, version: u32) -> io::Result<()> {
        self.delete(&self.folder(name)?.join(version.to_string()))
    }

    /// Deletes a tool with all its versions. Returns `false` if there is none.
    pub(super) fn remove(&self, name: &str) -> io::Result<bool> {
        let folder = self.folder(name)?;
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => self.delete(&folder).map(|()| true),
            // A file or a link does not belong here.
            Ok(_) => fs::remove_file(&folder).map(|()| true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Marks a tool as disabled, or removes the mark.
    pub(super) fn set_disabled(&self, name: &str, is_disabled: bool) -> io::Result<()> {
        let folder = self.folder(name)?;
        let mark = folder.join(DISABLED);
        let changed = if is_disabled {
            write_new(&mark, "")
        } else {
            fs::remove_file(&mark)
        };
        match changed {
            Err(error)
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {}
            changed => changed?,
        }
        sync(&folder)
    }

    /// Saves the results of the checks until somebody decides. `key` is a hash.
    pub(super) fn save_draft(&self, key: &str, draft: &impl Serialize) -> io::Result<()> {
        let folder = self.root.join(DRAFT_FOLDER);
        let draft = text(draft);
        let temporary = folder.join(format!(".new-{}", unique()));
        write_new(&temporary, &format!("{}\n{draft}", sha256(&draft)))?;
        fs::rename(&temporary, self.draft(key))?;
        let mut drafts = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            drafts.push((entry.metadata()?.modified()?, entry.path()));
        }
        drafts.sort();
        for (_, path) in drafts.iter().take(drafts.len().saturating_sub(DRAFTS)) {
            // Another process may have deleted the draft.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    /// Returns a draft, or `None` if it is missing or was changed.
    pub(super) fn load_draft<T: for<'de> Deserialize<'de>>(&self, key: &str) -> Option<T> {
        let text = read_file(&self.draft(key)).ok()?;
        let (hash, draft) = text.split_once('\n')?;
        (sha256(draft) == hash).then(|| serde_json::from_str(draft).ok())?
    }

    pub(super) fn delete_draft(&self, key: &str) {
        // A draft that stays does no harm.
        let _ = fs::remove_file(self.draft(key));
    }

    fn draft(&self, key: &str) -> PathBuf {
        self.root.join(DRAFT_FOLDER).join(format!("{key}.json"))
    }

    /// Returns the folder of a tool. No other function converts names to paths.
    fn folder(&self, name: &str) -> io::Result<PathBuf> {
        if !is_name(name) {
            let problem = "not a name of a tool";
            return Err(io::Error::new(ErrorKind::InvalidInput, problem));
        }
        Ok(self.root.join(name))
    }

    /// Deletes a folder. Renames it first, so that its name is free in one step.
    fn delete(&self, folder: &Path) -> io::Result<()> {
        let old = self.root.join(format!(".old-{}", unique()));
        fs::rename(folder, &old)?;
        sync(&self.root)?;
        fs::remove_dir_all(old)
    }
}

/// Reads a version, and verifies every byte of it.
fn read_version(folder: &Path, name: &str, version: u32) -> Result<Stored, String> {
    let folder = folder.join(version.to_string());
    let problem = |error: io::Error| error.to_string();
    if !fs::symlink_metadata(&folder).map_err(problem)?.is_dir() {
        return Err(format!("version {version} is not a folder"));
    }
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).map_err(problem)? {
        let entry = entry.map_err(problem)?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let text = read_file(&entry.path()).map_err(|error| format!("{file}: {error}"))?;
        files.insert(file, text);
    }
    let lock = files.remove(LOCK).ok_or("it has no lock.json")?;
    let hash = files.remove(LOCK_HASH).ok_or("it has no lock.sha256")?;
    if hash != format!("{}  {LOCK}\n", sha256(&lock)) {
        return Err("lock.json was changed".to_owned());
    }
    let lock: Lock = serde_json::from_str(&lock).map_err(|error| format!("lock.json: {error}"))?;
    if lock.name != name || lock.version != version {
        return Err("lock.json is that of another tool or version".to_owned());
    }
    for (file, hash) in &lock.files {
        match files.get(file) {
            None => return Err(format!("{file} is missing")),
            Some(text) if sha256(text) != *hash => return Err(format!("{file} was changed")),
            Some(_) => {}
        }
    }
    if let Some(file) = files.keys().find(|file| !lock.files.contains_key(*file)) {
        return Err(format!("{file} is not in lock.json"));
    }
    Ok(Stored { lock, files })
}

/// Reads a regular file.
fn read_file(path: &Path) -> io::Result<String> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE {
        return Err(io::Error::other("too long"));
    }
    Ok(text)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes changes to a folder survive a power loss, on systems that can open folders.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Creates a folder that only this user can use, if it does not exist.
fn create_folder(path: &Path, with_parents: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created,
    }
    if fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    let problem = format!("{} is not a folder", path.display());
    Err(io::Error::new(ErrorKind::NotADirectory, problem))
}

/// Checks the owners, because anybody who can write to the folder, its contents or its parents can approve tools.
#[cfg(unix)]
fn check_owners(root: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    // A folder created by this process shows the user as which the process writes.
    let probe = root.join(format!(".new-{}", unique()));
    create_folder(&probe, false)?;
    let own = fs::symlink_metadata(&probe).map(|data| data.uid());
    fs::remove_dir(&probe)?;
    let own = own?;
    let check = |path: &Path, is_outside: bool| {
        let data = fs::symlink_metadata(path)?;
        // In a folder with the sticky bit, such as `/tmp`, other users can't replace our files.
        let is_sticky = is_outside && data.mode() & 0o1000 != 0;
        let problem = if data.uid() != own && !(is_outside && data.uid() == 0) {
            "belongs to another user; give it to the user of this program (`chown`)"
        } else if data.mode() & 0o022 != 0 && !is_sticky && !data.is_symlink() {
            "is one that other users may write to; remove that right (`chmod go-w`)"
        } else {
            return Ok(());
        };
        let problem = format!("{} {problem}", path.display());
        Err(io::Error::new(ErrorKind::PermissionDenied, problem))
    };
    for parent in root.ancestors().skip(1) {
        check(parent, true)?;
    }
    let mut todo = vec![(root.to_owned(), 0)];
    while let Some((path, depth)) = todo.pop() {
        check(&path, false)?;
        // Checks `NAME/VERSION`, and nothing deeper.
        if depth < 3 && fs::symlink_metadata(&path)?.is_dir() {
            for entry in fs::read_dir(&path)? {
                todo.push((entry?.path(), depth + 1));
            }
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owners(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns indented JSON that ends with a line break.
pub(super) fn text(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data serializes");
    text.push('\n');
    text
}

/// Returns a name that no other process will choose.
fn unique() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let time = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .unwrap_or_default();
    format!("{}-{number}-{}", std::process::id(), time.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_never_written_twice() {
        let root = std::env::temp_dir().join(format!("tool-python-store-{}", unique()));
        let store = Store::open(&root).unwrap();
        let files = |code: &str| BTreeMap::from([("code.py".to_owned(), code.to_owned())]);
        let lock = |code: &str| Lock {
            name: "a".to_owned(),
            version: 1,
            files: BTreeMap::from([("code.py".to_owned(), sha256(code))]),
            approved_by: "Ada".to_owned(),
            approved_at: 0,
        };
        store.add(&lock("1"), &files("1")).unwrap();
        let error = store.add(&lock("2"), &files("2")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty);
        let stored = store.latest("a").unwrap().unwrap().stored.ok().unwrap();
        assert_eq!((stored.lock, stored.files), (lock("1"), files("1")));
        // The failed second version left nothing behind.
        assert_eq!(fs::read_dir(root.join("a")).unwrap().count(), 1);
        store.retract("a", 1).unwrap();
        assert!(store.latest("a").unwrap().is_none());
        fs::remove_dir_all(root).unwrap();
    }

    /// The lock holds between processes, and ends when one is killed.
    #[cfg(target_os = "linux")]
    #[test]
    fn leftovers_are_removed_when_nobody_else_uses_the_folder() {
        let root = std::env::temp_dir().join(format!("tool-python-store-{}", unique()));
        let store = Store::open(&root).unwrap();
        fs::create_dir_all(root.join("a/.new-1-2-3")).unwrap();
        fs::write(root.join("a/.new-1-2-3/code.py"), "1").unwrap();
        fs::create_dir(root.join(".old-1-2-3")).unwrap();
        fs::write(root.join(".drafts/.new-1-2-3"), "1").unwrap();
        let left = || {
            let all = ["a/.new-1-2-3", ".old-1-2-3", ".drafts/.new-1-2-3"];
            all.iter().filter(|path| root.join(path).exists()).count()
        };
        let other = Store::open(&root).unwrap();
        assert_eq!(left(), 3, "they may be in use");
        drop(store);
        let third = Store::open(&root).unwrap();
        assert_eq!(left(), 3, "they may be in use");
        drop((other, third));
        drop(Store::open(&root).unwrap());
        assert_eq!(left(), 0);
        fs::remove_dir_all(root).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_change_is_rejected() {
        use std::os::unix::fs::{PermissionsExt, chown};
        let top = std::env::temp_dir().join(format!("tool-python-store-{}", unique()));
        let root = top.join("tools");
        drop(Store::open(&root).unwrap());
        fs::create_dir_all(root.join("a/1")).unwrap();
        fs::write(root.join("a/1/code.py"), "1").unwrap();
        for path in [
            "",
            "tools",
            "tools/.drafts",
            "tools/a",
            "tools/a/1",
            "tools/a/1/code.py",
        ] {
            let path: PathBuf = top.join(path).components().collect();
            let mode = fs::metadata(&path).unwrap().permissions();
            for writable in [0o770, 0o707] {
                fs::set_permissions(&path, PermissionsExt::from_mode(writable)).unwrap();
                let error = Store::open(&root)
                    .err()
                    .expect("it is rejected")
                    .to_string();
                assert!(
                    error.contains(&format!("{} is one that", path.display())),
                    "{error}"
                );
            }
            fs::set_permissions(&path, mode).unwrap();
            // Only root can change the owner of a file.
            if chown(&path, Some(65534), None).is_ok() {
                let error = Store::open(&root)
                    .err()
                    .expect("it is rejected")
                    .to_string();
                assert!(error.contains("belongs to another user"), "{error}");
                chown(&path, Some(0), None).unwrap();
            }
        }
        drop(Store::open(&root).unwrap());
        fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn drafts_are_bounded() {
        let root = std::env::temp_dir().join(format!("tool-python-store-{}", unique()));
        let store = Store::open(&root).unwrap();
        for number in 0..DRAFTS + 10 {
            store.save_draft(&number.to_string(), &number).unwrap();
        }
        let drafts = fs::read_dir(root.join(DRAFT_FOLDER)).unwrap().count();
        assert_eq!(drafts, DRAFTS);
        let last = DRAFTS + 9;
        assert_eq!(store.load_draft(&last.to_string()), Some(last));
        fs::remove_dir_all(root).unwrap();
    }
}
