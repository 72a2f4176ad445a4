//! [`SqliteJournal`]: runs in an SQLite database.

use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::journal::check_next;
use super::{Increment, Journal, JournalError, Page, RunHead, RunState};
use tool_core::runtime::BoxFuture;

/// A [`Journal`] in its own SQLite database. SQLite is built into your program. Use this journal on one machine.
///
/// Several programs may share a database. It is in WAL mode, and an append is complete or absent after a crash of the
/// program or of the system. Reads and writes block the thread for the time of one transaction. Clones share one
/// connection.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, SqliteJournal};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// # let folder = std::env::temp_dir().join(format!("tool-core-sqlite-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let journal = SqliteJournal::open(folder.join("runs.sqlite"))?;
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
///     .journal(journal);
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut run = Run::new("conversation-1");
/// agent.save(&mut run).await?;
/// assert!(agent.load("conversation-1").await?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteJournal {
    connection: Arc<Mutex<Connection>>,
    path: PathBuf,
}

/// The tables of a database.
pub(crate) struct Tables {
    /// Stored in `user_version`.
    pub(crate) version: i64,
    pub(crate) create: &'static str,
    /// Changes the tables of version 1.
    pub(crate) upgrade: Option<&'static str>,
}

/// An increment is a row, as JSON. `state` is a number; see [`number_of`].
const TABLES: Tables = Tables {
    version: 2,
    create: CREATE,
    upgrade: Some(FROM_1),
};

const CREATE: &str = "
    CREATE TABLE run (
        id TEXT PRIMARY KEY,
        owner TEXT,
        saved_ms INTEGER NOT NULL,
        state INTEGER NOT NULL,
        head TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX run_of_owner ON run (owner, saved_ms, id);
    CREATE INDEX run_by_age ON run (saved_ms);
    CREATE INDEX run_in_state ON run (state, saved_ms, id);
    CREATE TABLE increment (
        run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        increment TEXT NOT NULL,
        hash TEXT NOT NULL,
        PRIMARY KEY (run, number)
    ) STRICT, WITHOUT ROWID;
";

/// Changes the tables of version 1, whose state only told whether a run waits.
const FROM_1: &str = "
    ALTER TABLE run RENAME COLUMN is_waiting TO state;
    DROP INDEX waiting;
    CREATE INDEX run_in_state ON run (state, saved_ms, id);
";

impl SqliteJournal {
    /// Opens a database, or creates it.
    ///
    /// # Errors
    ///
    /// Returns an error if it can't be opened, belongs to another program, or was written by a newer version of this
    /// crate.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteJournal, JournalError> {
        let path = path.as_ref();
        let connection = open(path, &TABLES).map_err(JournalError::failed)?;
        Ok(SqliteJournal {
            connection: Arc::new(Mutex::new(connection)),
            path: path.to_owned(),
        })
    }

    /// Runs a transaction and returns its result.
    fn with<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> BoxFuture<Result<T, JournalError>> {
        let mut connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let transaction = Tables::transaction(&mut connection);
        let done = transaction.map_err(Failure::from).and_then(|transaction| {
            let value = run(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        Box::pin(ready(done.map_err(|failure| match failure {
            Failure::Journal(JournalError::Failed(error)) => failed(&self.path, error),
            Failure::Journal(error) => error,
            Failure::Sqlite(error) => failed(&self.path, error),
        })))
    }

    /// Returns the heads of a query. Its parameters are the time and id of the previous head, a limit, and the state or the
    /// owner of the runs.
    fn heads(
        &self,
        sql: &str,
        of: &dyn ToSql,
        page: &Page,
        first: (i64, &str),
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let (time, id) = match &page.after {
            Some((time, id)) => (clamped(*time), &**id),
            None => first,
        };
        self.with(|runs| {
            let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
            let mut statement = runs.prepare_cached(sql)?;
            let rows =
                statement.query_map(params![time, id, limit, of], |row| row.get::<_, String>(0))?;
            let mut heads = Vec::new();
            for json in rows {
                heads.push(serde_json::from_str(&json?).map_err(JournalError::failed)?);
            }
            Ok(heads)
        })
    }
}

impl Tables {
    /// Starts a transaction. Takes the write lock first, because a transaction that starts by reading can't wait for another
    /// writer.
    pub(crate) fn transaction(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
        connection.transaction_with_behavior(TransactionBehavior::Immediate)
    }
}

/// Opens a database, or creates it with these tables. The error names the database.
pub(crate) fn open(path: &Path, tables: &Tables) -> Result<Connection, String> {
    let opened = connect(path, tables).map_err(|error| failed_at(path, error))?;
    opened.map_err(|version| {
        let problem = match version {
            0 => "it is the database of another program; give the store a file of its own".into(),
            _ => format!(
                "the tables have version {version}, and this program reads version {}",
                tables.version
            ),
        };
        failed_at(path, problem)
    })
}

/// Opens a database. If its tables don't have this version, returns theirs.
fn connect(path: &Path, own: &Tables) -> rusqlite::Result<Result<Connection, i64>> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // In WAL mode, `normal` may lose the last appends at a power failure.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Detects more damage by a disk.
    connection.pragma_update(None, "cell_size_check", true)?;
    let transaction = Tables::transaction(&mut connection)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    let is_empty = transaction.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0;
    let change = match version {
        0 if is_empty => Some(own.create),
        1 if !is_empty => own.upgrade,
        _ => None,
    };
    match change {
        Some(change) => {
            transaction.execute_batch(change)?;
            transaction.pragma_update(None, "user_version", own.version)?;
        }
        None if version == own.version => {}
        None => return Ok(Err(version)),
    }
    transaction.commit()?;
    Ok(Ok(connection))
}

impl Journal for SqliteJournal {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        self.with(|runs| {
            let last = "SELECT max(number) FROM increment WHERE run = ?1";
            let mut last = runs.prepare_cached(last)?;
            let last: Option<i64> = last.query_row([&head.id], |row| row.get(0))?;
            let last = last.and_then(|last| u64::try_from(last).ok());
            check_next(&head.id, last.unwrap_or(0), &increments)?;
            if increments.is_empty() {
                return Ok(());
            }
            let json = serde_json::to_string(&head).map_err(JournalError::failed)?;
            let sql = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE SET \
                owner = excluded.owner, saved_ms = excluded.saved_ms, \
                state = excluded.state, head = excluded.head";
            runs.prepare_cached(sql)?.execute(params![
                head.id,
                head.owner,
                clamped(head.saved_ms),
                number_of(head.state()),
                json
            ])?;
            let mut insert =
                runs.prepare_cached("INSERT INTO increment VALUES (?1, ?2, ?3, ?4)")?;
            for increment in &increments {
                let json = serde_json::to_string(increment).map_err(JournalError::failed)?;
                let number = clamped(increment.number());
                let hash = hash(&head.id, number, &json);
                insert.execute(params![head.id, number, json, hash])?;
            }
            Ok(())
        })
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        self.with(|runs| {
            let sql =
                "SELECT number, increment, hash FROM increment WHERE run = ?1 ORDER BY number";
            let mut statement = runs.prepare_cached(sql)?;
            let rows = statement.query_map([run], |row| {
                Ok((
                    row.get(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                ))
            })?;
            let mut increments = Vec::new();
            for row in rows {
                let (number, json, saved) = row?;
                if saved != hash(run, number, &json) {
                    let problem = format!("the increment {number} of the run {run:?} is damaged");
                    return Err(JournalError::failed(problem).into());
                }
                increments.push(json);
            }
            let parsed = Increment::parse_all(&increments);
            let parsed = parsed.map_err(|problem| {
                JournalError::failed(format!("an increment of the run {run:?}: {problem}"))
            });
            Ok(parsed?)
        })
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let sql = "SELECT head FROM run WHERE state = ?4 AND (saved_ms, id) > (?1, ?2) \
            ORDER BY saved_ms, id LIMIT ?3";
        self.heads(sql, &number_of(state), &page, (-1, ""))
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let sql = "SELECT head FROM run WHERE owner IS ?4 AND (saved_ms < ?1 OR (saved_ms = ?1 AND \
            id < ?2)) ORDER BY saved_ms DESC, id DESC LIMIT ?3";
        // Later than every saved time; see `clamped`.
        self.heads(sql, &owner, &page, (i64::MAX, ""))
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        self.with(|runs| {
            runs.execute("DELETE FROM run WHERE id = ?1", [run])?;
            Ok(())
        })
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        self.with(|runs| {
            let sql = "DELETE FROM run WHERE saved_ms < ?1";
            Ok(runs.execute(sql, [clamped(saved_ms)])?)
        })
    }
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteJournal")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Returns the number of a state. A database keeps it, so it never changes.
fn number_of(state: RunState) -> i64 {
    match state {
        RunState::Idle => 0,
        RunState::Waiting => 1,
        RunState::Unfinished => 2,
    }
}

/// Converts a number for SQLite, which has only signed integers.
pub(crate) fn clamped(number: u64) -> i64 {
    // Saved times stay below the maximum, so that the first page can start there.
    i64::try_from(number).map_or(i64::MAX - 1, |number| number.min(i64::MAX - 1))
}

/// Returns the hash of an increment with its run and number, because SQLite does not detect bits that a disk has
/// changed.
fn hash(run: &str, number: i64, json: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(number.to_le_bytes());
    hash.update(run);
    hash.update([0]);
    hash.update(json);
    let hash = hash.finalize();
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The reason why a transaction is rolled back.
enum Failure {
    Journal(JournalError),
    Sqlite(rusqlite::Error),
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        Failure::Journal(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sqlite(error)
    }
}

fn failed(path: &Path, error: impl fmt::Display) -> JournalError {
    JournalError::failed(failed_at(path, error))
}

/// Returns the text of an error with the name of the database.
pub(crate) fn failed_at(path: &Path, error: impl fmt::Display) -> String {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return format!(
            "{}: there is no folder {}",
            path.display(),
            folder.display()
        );
    }
    format!("{}: {error}", path.display())
}
