//! [`SqliteResults`]: results in an SQLite database.

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use tool_core::registry::{ResultLimits, ResultScope, ResultStore, ResultStoreError};
use tool_core::runtime::BoxFuture;

use super::{hash, now};
use crate::run::sqlite_journal::{Tables, clamped, failed_at, open};

/// A [`ResultStore`] in its own SQLite database, which several programs of one machine may share, like a
/// [`SqliteJournal`](crate::run::SqliteJournal).
///
/// ```
/// use tool_agent::results::SqliteResults;
/// use tool_core::Registry;
///
/// # let folder = std::env::temp_dir().join(format!("tool-core-kept-sqlite-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let store = SqliteResults::open(folder.join("results.sqlite"))?;
/// let registry = Registry::builder().spill(store, 10_000).build()?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct SqliteResults {
    connection: Arc<Mutex<Connection>>,
    path: PathBuf,
    limits: ResultLimits,
}

/// The version differs from all of a journal, so that none is taken for the other.
const TABLES: Tables = Tables {
    version: 1002,
    create: "
        CREATE TABLE result (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            scope TEXT NOT NULL,
            saved_ms INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            text TEXT NOT NULL,
            hash TEXT NOT NULL
        ) STRICT;
    ",
    upgrade: None,
};

impl SqliteResults {
    /// Opens a database, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if it can't be opened, belongs to another program, or was written by a newer version of this
    /// crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteResults, ResultStoreError> {
        let path = path.as_ref();
        Ok(SqliteResults {
            connection: Arc::new(Mutex::new(open(path, &TABLES)?)),
            path: path.to_owned(),
            limits: ResultLimits::new(),
        })
    }

    /// Sets how long results are kept, and how many.
    pub fn limits(mut self, limits: ResultLimits) -> SqliteResults {
        self.limits = limits;
        self
    }

    /// Runs a transaction.
    fn with<T>(
        &self,
        run: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ResultStoreError> {
        let lock = self.connection.lock();
        let mut connection = lock.unwrap_or_else(PoisonError::into_inner);
        let done = Tables::transaction(&mut connection).and_then(|results| {
            let value = run(&results)?;
            results.commit()?;
            Ok(value)
        });
        done.map_err(|error| failed_at(&self.path, error).into())
    }

    /// Removes the results that are beyond the limits. Returns which were kept, the newest first.
    fn remove_old(&self, results: &Transaction<'_>) -> rusqlite::Result<Vec<bool>> {
        let now = now();
        let sizes = "SELECT number, scope, saved_ms, bytes FROM result ORDER BY number DESC";
        let mut sizes = results.prepare_cached(sizes)?;
        let rows = sizes.query_map([], |row| {
            let number = |number: i64| u64::try_from(number).unwrap_or_default();
            let age = now.saturating_sub(Duration::from_millis(number(row.get(2)?)));
            let size: (String, _, _) = (row.get(1)?, age, number(row.get(3)?));
            Ok((row.get::<_, i64>(0)?, size))
        })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let (numbers, sizes): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        let kept = self.limits.kept(&sizes);
        let mut delete = results.prepare_cached("DELETE FROM result WHERE number = ?1")?;
        for (number, stays) in numbers.iter().zip(&kept) {
            if !stays {
                delete.execute([number])?;
            }
        }
        Ok(kept)
    }
}

impl ResultStore for SqliteResults {
    fn put(
        &self,
        scope: &ResultScope,
        handle: &str,
        text: String,
    ) -> BoxFuture<Result<(), ResultStoreError>> {
        let id = hash(&[scope.as_str(), handle]);
        let put = self.limits.check(text.len()).and_then(|()| {
            self.with(|results| {
                let sql = "INSERT INTO result (id, scope, saved_ms, bytes, text, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let since = u64::try_from(now().as_millis()).unwrap_or(u64::MAX);
                let hash = self::hash(&[&id, &text]);
                let scope = self::hash(&[scope.as_str()]);
                let row = params![id, scope, clamped(since), clamped(text.len() as u64), text, hash];
                results.prepare_cached(sql)?.execute(row)?;
                // With the new one.
                self.remove_old(results)
            })
        });
        let put = put.and_then(|kept| self.limits.check_newest(&kept));
        Box::pin(ready(put))
    }

    fn read(
        &self,
        scope: &ResultScope,
        handle: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        let id = hash(&[scope.as_str(), handle]);
        let found = self.with(|results| {
            self.remove_old(results)?;
            let sql = "SELECT text, hash FROM result WHERE id = ?1";
            let mut select = results.prepare_cached(sql)?;
            let row = select.query_row([&id], |row| Ok((row.get(0)?, row.get(1)?)));
            row.optional()
        });
        let found = found.and_then(|found: Option<(String, String)>| match found {
            Some((text, saved)) if saved != hash(&[&id, &text]) => {
                Err(failed_at(&self.path, format!("the result {handle:?} is damaged")).into())
            }
            found => Ok(found.map(|(text, _)| text.into())),
        });
        Box::pin(ready(found))
    }

    fn remove(&self, scope: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        let scope = hash(&[scope.as_str()]);
        let removed = self.with(|results| {
            results.execute("DELETE FROM result WHERE scope = ?1", [scope])?;
            Ok(())
        });
        Box::pin(ready(removed))
    }
}

impl fmt::Debug for SqliteResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteResults")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
