//! Where tokens are kept.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fmt;
use std::fs::File;
#[cfg(unix)]
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tool_core::files;
use tool_core::runtime::BoxFuture;

use crate::lock;

/// The error of a closure or a store of the application. It must contain no secrets.
///
/// ```
/// use tool_mcp::oauth::OAuthError;
///
/// let error = OAuthError::from("there is no display");
/// # let _ = error;
/// ```
pub type OAuthError = Box<dyn Error + Send + Sync>;

/// Keeps the tokens of servers. [`MemoryStore`], [`FileStore`] and, with the feature `keyring`, `KeyringStore` are
/// there; implement it for another place, such as a database.
///
/// A key is the URL of a server and the id of the program, so that one store serves many imports. A value is a JSON
/// text with secrets: keep it where only the user can read it.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
/// use tool_core::runtime::BoxFuture;
/// use tool_mcp::oauth::{OAuthError, TokenStore};
///
/// #[derive(Clone, Default)]
/// struct Table(Arc<Mutex<HashMap<String, String>>>);
///
/// impl TokenStore for Table {
///     fn load(&self, key: &str) -> BoxFuture<Result<Option<String>, OAuthError>> {
///         let value = self.0.lock().unwrap().get(key).cloned();
///         Box::pin(async move { Ok(value) })
///     }
///
///     fn save(&self, key: &str, value: String) -> BoxFuture<Result<(), OAuthError>> {
///         self.0.lock().unwrap().insert(key.to_owned(), value);
///         Box::pin(async { Ok(()) })
///     }
/// }
/// # let _ = Table::default();
/// ```
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the value of a key, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the store can't be read, or is not safe.
    fn load(&self, key: &str) -> BoxFuture<Result<Option<String>, OAuthError>>;

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// Returns an error if the store can't be written.
    fn save(&self, key: &str, value: String) -> BoxFuture<Result<(), OAuthError>>;
}

/// Keeps tokens as long as the program runs. Clones share them.
///
/// ```
/// use tool_mcp::oauth::{MemoryStore, OAuth};
///
/// let oauth = OAuth::new(MemoryStore::default());
/// # let _ = oauth;
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<HashMap<String, String>>>);

impl TokenStore for MemoryStore {
    fn load(&self, key: &str) -> BoxFuture<Result<Option<String>, OAuthError>> {
        let value = lock(&self.0).get(key).cloned();
        Box::pin(async move { Ok(value) })
    }

    fn save(&self, key: &str, value: String) -> BoxFuture<Result<(), OAuthError>> {
        lock(&self.0).insert(key.to_owned(), value);
        Box::pin(async { Ok(()) })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}

/// Keeps tokens in a JSON file, whose folder must exist. On Unix only its owner can read it: the file is
/// created so, and a file that others can read is not used. Elsewhere the folder decides, so choose a
/// folder that belongs to the user. A reader sees the old file or the new one, and on Unix programs may
/// share it.
///
/// ```
/// use tool_mcp::oauth::{FileStore, OAuth};
///
/// let oauth = OAuth::new(FileStore::new("tokens.json"));
/// # let _ = oauth;
/// ```
#[derive(Clone, Debug)]
pub struct FileStore(Arc<PathBuf>);

/// One program changes files of tokens in one place at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// A larger file is none of tokens.
const MAX_FILE: u64 = 16 << 20;

impl FileStore {
    /// Creates a store in a file, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> FileStore {
        FileStore(Arc::new(path.into()))
    }

    fn read(path: &Path) -> io::Result<BTreeMap<String, String>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = file.metadata()?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(io::Error::other(format!(
                    "others can read it (its mode is {mode:o}): its tokens may be stolen; remove it, and sign in again"
                )));
            }
        }
        let mut text = String::new();
        file.take(MAX_FILE).read_to_string(&mut text)?;
        // Without the error of serde, which may quote the file.
        serde_json::from_str(&text)
            .map_err(|_| io::Error::other("it is no file of tokens; remove it, and sign in again"))
    }

    fn write(path: &Path, key: String, value: String) -> io::Result<()> {
        let _writing = lock(&WRITING);
        // Between reading and writing no other program may write.
        #[cfg(unix)]
        let _locked = {
            use std::os::unix::fs::OpenOptionsExt;
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".lock");
            let lock = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
                .open(path.with_file_name(name))?;
            rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
            lock
        };
        let mut values = FileStore::read(path)?;
        values.insert(key, value);
        files::replace_private(path, &serde_json::to_vec_pretty(&values)?)
    }
}

impl TokenStore for FileStore {
    fn load(&self, key: &str) -> BoxFuture<Result<Option<String>, OAuthError>> {
        let (path, key) = (self.0.clone(), key.to_owned());
        blocking(move || {
            let values = FileStore::read(&path);
            let mut values =
                values.map_err(|error| format!("can't read {}: {error}", path.display()))?;
            Ok(values.remove(&key))
        })
    }

    fn save(&self, key: &str, value: String) -> BoxFuture<Result<(), OAuthError>> {
        let (path, key) = (self.0.clone(), key.to_owned());
        blocking(move || {
            let written = FileStore::write(&path, key, value);
            Ok(written.map_err(|error| format!("can't write {}: {error}", path.display()))?)
        })
    }
}

/// Keeps tokens in the store of the system: the Keychain of macOS, the Credential Manager of Windows, which takes values
/// of up to 2,560 bytes, and elsewhere the Secret Service of the desktop.
///
/// ```no_run
/// use tool_mcp::oauth::{KeyringStore, OAuth};
///
/// let oauth = OAuth::new(KeyringStore::new("com.example.notes"));
/// # let _ = oauth;
/// ```
#[cfg(feature = "keyring")]
#[derive(Clone, Debug)]
pub struct KeyringStore(Arc<str>);

#[cfg(feature = "keyring")]
impl KeyringStore {
    /// Creates a store for a program, by the name under which the user sees its entries.
    pub fn new(service: impl Into<String>) -> KeyringStore {
        KeyringStore(service.into().into())
    }

    fn with<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(keyring::Entry) -> keyring::Result<T> + Send + 'static,
    ) -> BoxFuture<Result<T, OAuthError>> {
        let (service, key) = (self.0.clone(), key.to_owned());
        blocking(move || {
            // Its errors may carry the bytes of an entry, but do not show them.
            let done = keyring::Entry::new(&service, &key).and_then(work);
            Ok(done.map_err(|error| {
                format!("the keyring of the system does not work: {error}; use a `FileStore` if there is none")
            })?)
        })
    }
}

#[cfg(feature = "keyring")]
impl TokenStore for KeyringStore {
    fn load(&self, key: &str) -> BoxFuture<Result<Option<String>, OAuthError>> {
        self.with(key, |entry| match entry.get_password() {
            Ok(value) => Ok(Some(value)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn save(&self, key: &str, value: String) -> BoxFuture<Result<(), OAuthError>> {
        self.with(key, move |entry| entry.set_password(&value))
    }
}

fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, OAuthError> + Send + 'static,
) -> BoxFuture<Result<T, OAuthError>> {
    Box::pin(async move { tokio::task::spawn_blocking(work).await? })
}
