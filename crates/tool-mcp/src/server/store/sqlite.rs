//! [`SqliteStore`]: tasks and held calls in an SQLite database.

use std::collections::BTreeSet;
use std::fmt;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tool_core::runtime::BoxFuture;

use super::{
    Listener, Listeners, Notice, Store, StoreError, StoredTask, TaskUpdate, millis, now_ms,
};
use crate::server::approval::{Approval, ApprovalLimits, Usage, Verdict};
use crate::server::state::random;
use crate::server::task_settings::TaskLimits;
use crate::{hex, lock};

/// How often a process looks for notices of others.
const POLL: Duration = Duration::from_millis(100);

/// How long a silent process is taken to be alive, unless [`SqliteStore::open_with_lease`] says otherwise.
const LEASE: Duration = Duration::from_secs(15);

/// How many times a process says in a lease that it lives.
const BEATS: u32 = 5;

/// How long notices are kept for the others.
const NOTICES_FOR: Duration = Duration::from_secs(60);

/// The most notices that wait to be written. Beyond it, the other processes are told that they have missed some.
const MOST_WAITING: usize = 10_000;

/// A [`Store`] in an SQLite database, which is built into the program. Use it if several processes of one
/// machine serve the same tools.
///
/// Each process opens the same file. A task that runs in one process can be read, answered and cancelled at
/// any other, and a notice that one process [raises](crate::server::Changes) reaches the clients of all
/// within about a tenth of a second. If a process ends or is killed, its tasks fail after 15 seconds, and
/// say that they were interrupted. Tasks that ended before are kept, and so are [held calls](crate::server::approvals) and the
/// decisions on them, which a process finds if it has the same [`state_key`](crate::Server::state_key).
///
/// The database is in WAL mode, and only its user can read it. Each read and each write blocks the thread for the time of
/// one transaction. Clones share a connection and a thread, which end with the last of them.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::store::SqliteStore;
///
/// # let folder = std::env::temp_dir().join(format!("tool-mcp-store-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let store = SqliteStore::open(folder.join("tasks.sqlite"))?;
/// let server = Server::new(Registry::new()).store(store);
/// # drop(server);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Mutex<Connection>,
    path: PathBuf,
    /// Names this process in the database.
    process: String,
    listeners: Arc<Listeners>,
    outbox: Arc<Outbox>,
    thread: Option<JoinHandle<()>>,
}

/// The notices that the thread writes next.
#[derive(Default)]
struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    notices: BTreeSet<Notice>,
    is_closed: bool,
}

/// The version of the tables, in the database's `user_version`.
const VERSION: i64 = 2;

/// `task.task`, `approval.approval` and `approval.verdict` are JSON, and `ended` is a number in the order of ends.
const TABLES: &str = "
    CREATE TABLE process (
        id TEXT PRIMARY KEY,
        alive_until_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE task (
        id TEXT PRIMARY KEY,
        owner TEXT,
        process TEXT NOT NULL,
        ended INTEGER,
        kept_for_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        bytes INTEGER NOT NULL,
        task TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX running ON task (owner, process) WHERE ended IS NULL;
    CREATE INDEX ended ON task (ended, bytes) WHERE ended IS NOT NULL;
    CREATE INDEX ended_of_owner ON task (owner, ended, bytes) WHERE ended IS NOT NULL;
    CREATE INDEX expiry ON task (expires_ms) WHERE expires_ms IS NOT NULL;
    CREATE TABLE approval (
        id TEXT PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        requester TEXT NOT NULL,
        asked_ms INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        approval TEXT NOT NULL,
        verdict TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX approvals_of_requester ON approval (requester, bytes);
    CREATE INDEX asked ON approval (asked_ms);
    CREATE INDEX waiting ON approval (asked_ms, id) WHERE verdict IS NULL;
    CREATE TABLE notice (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        made_ms INTEGER NOT NULL,
        process TEXT NOT NULL,
        notice TEXT NOT NULL
    ) STRICT;
";

impl SqliteStore {
    /// Opens a database, and creates it if it is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if it can't be opened, if it is the database of another program, or if a newer version of this
    /// crate has written it.
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with_lease(path, LEASE)
    }

    /// Opens a database as [`open`](SqliteStore::open) does. The tasks of this process fail once it has
    /// said nothing for the time of the lease, which [`open`](SqliteStore::open) sets to 15 seconds. A
    /// process reports five times in that time. So with a short lease, a busy or paused process may be
    /// taken for one that has ended.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](SqliteStore::open).
    pub fn open_with_lease(
        path: impl AsRef<Path>,
        lease: Duration,
    ) -> Result<SqliteStore, StoreError> {
        let path = path.as_ref();
        let open = || connect(path).map_err(|problem| failed(path, problem));
        let process = hex(&random::<16>());
        let listeners = Arc::new(Listeners::default());
        let outbox = Arc::new(Outbox::default());
        let mut worker = Worker {
            connection: open()?,
            path: path.to_owned(),
            process: process.clone(),
            lease,
            listeners: listeners.clone(),
            outbox: outbox.clone(),
            seen: 0,
            next_beat: Instant::now(),
        };
        // Before the thread starts, so that nothing that happens from now on is missed.
        worker.join().map_err(|problem| failed(path, problem))?;
        let thread = std::thread::Builder::new()
            .name("tool-mcp-store".to_owned())
            .spawn(move || worker.run())
            .map_err(StoreError::failed)?;
        Ok(SqliteStore {
            inner: Arc::new(Inner {
                connection: Mutex::new(open()?),
                path: path.to_owned(),
                process,
                listeners,
                outbox,
                thread: Some(thread),
            }),
        })
    }

    /// Answers with the result of a transaction.
    fn with<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> BoxFuture<Result<T, StoreError>> {
        self.answer(transaction(&mut lock(&self.inner.connection), run))
    }

    fn answer<T: Send + 'static>(
        &self,
        done: Result<T, Failure>,
    ) -> BoxFuture<Result<T, StoreError>> {
        Box::pin(ready(done.map_err(|failure| match failure {
            Failure::Full => StoreError::Full,
            Failure::Problem(problem) => failed(&self.inner.path, problem),
        })))
    }
}

impl Store for SqliteStore {
    fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>> {
        self.with(|tasks| {
            let count = |sql: &str, owner: Option<&str>| {
                let mut statement = tasks.prepare_cached(sql)?;
                let count = match owner {
                    Some(owner) => statement.query_row([owner], |row| row.get::<_, i64>(0)),
                    None => statement.query_row([], |row| row.get(0)),
                };
                count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
            };
            let all = "SELECT count(*) FROM task WHERE ended IS NULL";
            let of_owner = "SELECT count(*) FROM task WHERE ended IS NULL AND owner = ?1";
            if count(all, None)? >= limits.running
                || task.owner().is_some()
                    && count(of_owner, task.owner())? >= limits.running_per_user
            {
                return Err(Failure::Full);
            }
            let sql = "INSERT INTO task VALUES (?1, ?2, ?3, NULL, ?4, NULL, 0, ?5)";
            tasks.prepare_cached(sql)?.execute(params![
                task.id(),
                task.owner(),
                self.inner.process,
                clamped(millis(limits.kept_for)),
                serde_json::to_string(&task)?
            ])?;
            Ok(())
        })
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        // One statement, which waits for no writer.
        self.answer(find(&lock(&self.inner.connection), id))
    }

    fn update(
        &self,
        id: &str,
        update: TaskUpdate,
        limits: &TaskLimits,
    ) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        self.with(|tasks| {
            let Some(task) = change(tasks, id, &update)? else {
                return Ok(None);
            };
            if !task.is_running() {
                forget_oldest(tasks, &task, limits)?;
            }
            Ok(Some(task))
        })
    }

    fn hold(
        &self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> BoxFuture<Result<Approval, StoreError>> {
        self.with(|rows| {
            let first = clamped(limits.first_ms(approval.asked_ms));
            let sql = "DELETE FROM approval WHERE asked_ms < ?1";
            rows.prepare_cached(sql)?.execute([first])?;
            let sql = "SELECT approval, verdict FROM approval WHERE key = ?1";
            if let Some(found) = approvals(rows, sql, [&approval.key])?.pop() {
                return Ok(found);
            }
            let usage = |of: Option<&str>| -> Result<Usage, Failure> {
                let sql = "SELECT count(*), coalesce(sum(bytes), 0) FROM approval \
                    WHERE ?1 IS NULL OR requester = ?1";
                let mut statement = rows.prepare_cached(sql)?;
                let (approvals, bytes) = statement.query_row([of], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
                })?;
                Ok(Usage {
                    approvals: usize::try_from(approvals)?,
                    bytes: usize::try_from(bytes)?,
                })
            };
            if !limits.have_room(&approval, usage(None)?, usage(Some(&approval.requester))?) {
                return Err(Failure::Full);
            }
            let verdict = approval.verdict.as_ref().map(serde_json::to_string);
            let sql = "INSERT INTO approval VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            rows.prepare_cached(sql)?.execute(params![
                approval.id,
                approval.key,
                approval.requester,
                clamped(approval.asked_ms),
                i64::try_from(approval.bytes()).unwrap_or(i64::MAX),
                serde_json::to_string(&approval)?,
                verdict.transpose()?
            ])?;
            Ok(approval)
        })
    }

    fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>> {
        let sql = "SELECT approval, verdict FROM approval WHERE id = ?1";
        let found = approvals(&lock(&self.inner.connection), sql, [id]);
        self.answer(found.map(|mut found| found.pop()))
    }

    fn waiting(
        &self,
        after: Option<&Approval>,
        limit: usize,
    ) -> BoxFuture<Result<Vec<Approval>, StoreError>> {
        let (asked, id) = after.map_or((-1, ""), |after| (clamped(after.asked_ms), &*after.id));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = "SELECT approval, verdict FROM approval \
            WHERE verdict IS NULL AND (asked_ms, id) > (?1, ?2) ORDER BY asked_ms, id LIMIT ?3";
        let connection = lock(&self.inner.connection);
        self.answer(approvals(&connection, sql, params![asked, id, limit]))
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>> {
        self.with(|rows| {
            let sql = "UPDATE approval SET verdict = ?2 WHERE id = ?1 AND verdict IS NULL";
            let verdict = serde_json::to_string(&verdict)?;
            Ok(rows.prepare_cached(sql)?.execute(params![id, verdict])? == 1)
        })
    }

    fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>> {
        self.with(|rows| {
            let sql = "DELETE FROM approval WHERE id = ?1";
            Ok(rows.prepare_cached(sql)?.execute([id])? == 1)
        })
    }

    fn publish(&self, notice: Notice) {
        let outbox = &self.inner.outbox;
        {
            let mut waiting = lock(&outbox.waiting);
            if waiting.notices.len() < MOST_WAITING {
                waiting.notices.insert(notice.clone());
            } else {
                waiting.notices = BTreeSet::from([Notice::Missed]);
            }
        }
        outbox.changed.notify_one();
        self.inner.listeners.tell(&notice);
    }

    fn listen(&self, listener: Listener) {
        self.inner.listeners.add(listener);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        lock(&self.outbox.waiting).is_closed = true;
        self.outbox.changed.notify_one();
        if let Some(thread) = self.thread.take()
            // A listener may have had the last reference.
            && thread.thread().id() != std::thread::current().id()
        {
            // So that the other processes know of the last notices, and that this one has ended.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}

/// Writes and reads notices, says that this process lives, and ends the tasks of processes that don't.
struct Worker {
    connection: Connection,
    path: PathBuf,
    process: String,
    lease: Duration,
    listeners: Arc<Listeners>,
    outbox: Arc<Outbox>,
    /// The last notice that was read.
    seen: i64,
    next_beat: Instant,
}

impl Worker {
    /// Makes this process known.
    fn join(&mut self) -> Result<(), Problem> {
        self.seen = done(transaction(&mut self.connection, |rows| {
            // The numbers of removed notices count too.
            let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'notice'";
            let last = rows.query_row(sql, [], |row| row.get(0)).optional()?;
            Ok(last.unwrap_or(0))
        }))?;
        self.beat().map(drop)
    }

    fn run(mut self) {
        let mut is_failing = false;
        loop {
            let (notices, is_closed) = self.wait();
            let worked = self.work(&notices, is_closed);
            if let Err(problem) = &worked {
                if !is_failing {
                    let path = self.path.display();
                    tracing::warn!(%problem, %path, "the store failed; other processes hear nothing");
                }
                let mut waiting = lock(&self.outbox.waiting);
                waiting.notices.extend(notices);
            }
            is_failing = worked.is_err();
            if is_closed {
                return;
            }
            if is_failing {
                std::thread::sleep(POLL);
            }
        }
    }

    /// Waits for notices to write, or until it is time to read.
    fn wait(&self) -> (BTreeSet<Notice>, bool) {
        let waiting: MutexGuard<'_, Waiting> = lock(&self.outbox.waiting);
        let is_idle = |waiting: &mut Waiting| waiting.notices.is_empty() && !waiting.is_closed;
        let waited = self
            .outbox
            .changed
            .wait_timeout_while(waiting, POLL, is_idle);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut waiting.notices), waiting.is_closed)
    }

    fn work(&mut self, notices: &BTreeSet<Notice>, is_closed: bool) -> Result<(), Problem> {
        if !notices.is_empty() {
            self.write(notices)?;
        }
        if is_closed {
            let process = self.process.clone();
            return done(transaction(&mut self.connection, |rows| {
                interrupt(rows, &process, &process)
            }));
        }
        self.read()?;
        if Instant::now() >= self.next_beat && !self.beat()? {
            // Others have taken this process for one that has ended.
            self.listeners.tell(&Notice::Missed);
        }
        Ok(())
    }

    fn write(&mut self, notices: &BTreeSet<Notice>) -> Result<(), Problem> {
        let process = &self.process;
        done(transaction(&mut self.connection, |rows| {
            for notice in notices {
                tell(rows, process, notice)?;
            }
            Ok(())
        }))
    }

    /// Tells the listeners what other processes have written.
    fn read(&mut self) -> Result<(), Problem> {
        let (heard, last) = {
            let sql =
                "SELECT number, process, notice FROM notice WHERE number > ?1 ORDER BY number";
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([self.seen])?;
            let (mut heard, mut last) = (Vec::new(), self.seen);
            while let Some(row) = rows.next()? {
                let number: i64 = row.get(0)?;
                // Those in between are gone already.
                if number > last + 1 {
                    heard.push(Notice::Missed);
                }
                last = number;
                if row.get_ref(1)?.as_str()? != self.process {
                    // This version may not know a notice that a newer version of this crate writes.
                    let notice = serde_json::from_str(row.get_ref(2)?.as_str()?);
                    heard.push(notice.unwrap_or(Notice::Missed));
                }
            }
            (heard, last)
        };
        self.seen = last;
        for notice in &heard {
            self.listeners.tell(notice);
        }
        Ok(())
    }

    /// Says that this process lives, ends the tasks of processes that don't, and removes old entries.
    /// Returns `false` if this process was unknown.
    fn beat(&mut self) -> Result<bool, Problem> {
        let (process, lease) = (&self.process, self.lease);
        let was_known = done(transaction(&mut self.connection, |rows| {
            let now = now_ms();
            let until = clamped(now.saturating_add(millis(lease)));
            let sql = "UPDATE process SET alive_until_ms = ?2 WHERE id = ?1";
            let was_known = rows.execute(sql, params![process, until])? == 1;
            if !was_known {
                rows.execute(
                    "INSERT INTO process VALUES (?1, ?2)",
                    params![process, until],
                )?;
            }
            let dead: Vec<String> = rows
                .prepare_cached("SELECT id FROM process WHERE alive_until_ms < ?1")?
                .query_map([clamped(now)], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for other in dead {
                interrupt(rows, &other, process)?;
            }
            let sql = "DELETE FROM task WHERE expires_ms <= ?1";
            rows.execute(sql, [clamped(now)])?;
            let old = now.saturating_sub(millis(NOTICES_FOR));
            rows.execute("DELETE FROM notice WHERE made_ms < ?1", [clamped(old)])?;
            Ok(was_known)
        }))?;
        self.next_beat = Instant::now() + self.lease / BEATS;
        Ok(was_known)
    }
}

/// Ends the tasks of a process that has ended, and removes it.
fn interrupt(rows: &Transaction<'_>, process: &str, by: &str) -> Result<(), Failure> {
    let ids: Vec<String> = rows
        .prepare_cached("SELECT id FROM task WHERE ended IS NULL AND process = ?1")?
        .query_map([process], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in ids {
        change(rows, &id, &TaskUpdate::interrupted())?;
        // The process may only have been paused.
        tell(rows, by, &Notice::Task(id))?;
    }
    rows.execute("DELETE FROM process WHERE id = ?1", [process])?;
    Ok(())
}

fn tell(rows: &Transaction<'_>, process: &str, notice: &Notice) -> Result<(), Failure> {
    let sql = "INSERT INTO notice (made_ms, process, notice) VALUES (?1, ?2, ?3)";
    let json = serde_json::to_string(notice)?;
    rows.prepare_cached(sql)?
        .execute(params![clamped(now_ms()), process, json])?;
    Ok(())
}

fn find(tasks: &Connection, id: &str) -> Result<Option<StoredTask>, Failure> {
    let sql = "SELECT task FROM task WHERE id = ?1 AND (expires_ms IS NULL OR expires_ms > ?2)";
    let mut statement = tasks.prepare_cached(sql)?;
    let json = statement.query_row(params![id, clamped(now_ms())], |row| {
        row.get::<_, String>(0)
    });
    Ok(match json.optional()? {
        Some(json) => Some(serde_json::from_str(&json)?),
        None => None,
    })
}

/// Returns the approvals of a query for their columns `approval` and `verdict`.
fn approvals(
    rows: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Approval>, Failure> {
    let mut statement = rows.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut approval: Approval = serde_json::from_str(row.get_ref(0)?.as_str()?)?;
        let verdict = row.get_ref(1)?.as_str_or_null()?;
        approval.verdict = verdict.map(serde_json::from_str).transpose()?;
        found.push(approval);
    }
    Ok(found)
}

/// Applies an update to a task.
fn change(
    tasks: &Transaction<'_>,
    id: &str,
    update: &TaskUpdate,
) -> Result<Option<StoredTask>, Failure> {
    let Some(mut task) = find(tasks, id)? else {
        return Ok(None);
    };
    if task.apply(update) {
        let json = serde_json::to_string(&task)?;
        let sql = "UPDATE task SET task = ?2 WHERE id = ?1";
        tasks.prepare_cached(sql)?.execute(params![id, json])?;
        if !task.is_running() {
            let sql = "UPDATE task SET bytes = ?2, \
                ended = (SELECT coalesce(max(ended), 0) + 1 FROM task WHERE ended IS NOT NULL), \
                expires_ms = min(?3, 9223372036854775806 - kept_for_ms) + kept_for_ms WHERE id = ?1";
            let bytes = i64::try_from(task.bytes()).unwrap_or(i64::MAX);
            let mut statement = tasks.prepare_cached(sql)?;
            statement.execute(params![id, bytes, clamped(now_ms())])?;
        }
    }
    Ok(Some(task))
}

/// Forgets the results beyond the limits that ended first, of the owner of a task that has ended, and of all.
fn forget_oldest(
    tasks: &Transaction<'_>,
    task: &StoredTask,
    limits: &TaskLimits,
) -> Result<(), Failure> {
    if let Some(owner) = task.owner() {
        let (results, bytes) = (limits.results_per_user, limits.result_bytes_per_user);
        forget_beyond(tasks, Some(owner), results, bytes)?;
    }
    forget_beyond(tasks, None, limits.results, limits.result_bytes)
}

fn forget_beyond(
    tasks: &Transaction<'_>,
    owner: Option<&str>,
    results: usize,
    bytes: usize,
) -> Result<(), Failure> {
    let as_number = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    let (results, bytes) = (as_number(results), as_number(bytes));
    let of = "ended IS NOT NULL AND (?1 IS NULL OR owner = ?1)";
    // The scan that numbers them is the slow one.
    let sql = format!("SELECT count(*), coalesce(sum(bytes), 0) FROM task WHERE {of}");
    let mut statement = tasks.prepare_cached(&sql)?;
    let all: (i64, i64) = statement.query_row([owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if all.0 <= results && all.1 <= bytes {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM task WHERE id IN (SELECT id FROM (SELECT id, \
         row_number() OVER newest AS results, sum(bytes) OVER newest AS all_bytes \
         FROM task WHERE {of} \
         WINDOW newest AS (ORDER BY ended DESC ROWS UNBOUNDED PRECEDING)) \
         WHERE results > ?2 OR all_bytes > ?3)"
    );
    let mut statement = tasks.prepare_cached(&sql)?;
    statement.execute(params![owner, results, bytes])?;
    Ok(())
}

/// A problem with a database, for people.
type Problem = Box<dyn std::error::Error + Send + Sync>;

/// Why a transaction is rolled back.
enum Failure {
    Full,
    Problem(Problem),
}

impl<E: Into<Problem>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Problem(error.into())
    }
}

fn transaction<T>(
    connection: &mut Connection,
    run: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // A transaction that reads first and then writes can't wait for another writer.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = run(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

fn done<T>(result: Result<T, Failure>) -> Result<T, Problem> {
    result.map_err(|failure| match failure {
        Failure::Full => "it is full".into(),
        Failure::Problem(problem) => problem,
    })
}

/// Opens a database, and creates its tables.
fn connect(path: &Path) -> Result<Connection, Problem> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Results are their users' alone.
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        options.open(path)?;
    }
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // In WAL mode, `normal` may lose the last results when the power fails.
    connection.pragma_update(None, "synchronous", "full")?;
    done(transaction(&mut connection, |rows| {
        let version: i64 = rows.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let tables = "SELECT count(*) FROM sqlite_schema";
        let is_empty = rows.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0;
        match version {
            VERSION => Ok(()),
            0 if is_empty => {
                rows.execute_batch(TABLES)?;
                rows.pragma_update(None, "user_version", VERSION)?;
                Ok(())
            }
            0 => Err(
                "it is the database of another program; give the store a file of its own".into(),
            ),
            version => Err(format!(
                "the tables have version {version}, and this program reads version {VERSION}"
            )
            .into()),
        }
    }))?;
    Ok(connection)
}

/// Returns a number as SQLite stores it, which has no unsigned ones.
fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX - 1)
}

/// Returns an error that names the database.
fn failed(path: &Path, problem: impl fmt::Display) -> StoreError {
    StoreError::failed(format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::server::store::assert_store;

    /// A folder that is removed in the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Folder {
            let name = format!("tool-mcp-store-{}", hex(&random::<8>()));
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).unwrap();
            Folder(path)
        }

        fn file(&self) -> PathBuf {
            self.0.join("tasks.sqlite")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// No lease ends while a test runs, unless the test ends it.
    const LONG: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_millis(100);

    fn open(folder: &Folder, lease: Duration) -> SqliteStore {
        SqliteStore::open_with_lease(folder.file(), lease).unwrap()
    }

    async fn add(store: &SqliteStore, id: &str) {
        let limits = TaskLimits::default();
        let task = StoredTask::new(id.to_owned(), None, &limits);
        store.add(task, &limits).await.unwrap();
    }

    async fn shown(store: &SqliteStore, id: &str) -> Value {
        let task = store.get(id).await.unwrap().unwrap();
        serde_json::to_value(task.detailed()).unwrap()
    }

    /// Hears all notices of a store.
    fn hear(store: &SqliteStore) -> Arc<Mutex<Vec<Notice>>> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = heard.clone();
        store.listen(Box::new(move |notice| {
            lock(&all).push(notice.clone());
            true
        }));
        heard
    }

    fn wait(is_done: impl Fn() -> bool) {
        for _ in 0..2000 {
            if is_done() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nothing happened for 20 seconds");
    }

    #[tokio::test]
    async fn it_keeps_the_promises_of_a_store() {
        let folder = Folder::new();
        assert_store(|| open(&folder, LONG)).await;
    }

    #[tokio::test]
    async fn what_has_ended_is_kept_and_what_runs_is_interrupted_when_a_process_closes() {
        let folder = Folder::new();
        let (here, there) = (open(&folder, LONG), open(&folder, LONG));
        add(&here, "ended").await;
        add(&here, "runs").await;
        add(&there, "runs there").await;
        let end = TaskUpdate::completed(&serde_json::json!({"content": []}));
        here.update("ended", end, &TaskLimits::default())
            .await
            .unwrap();
        here.publish(Notice::Prompts);
        let heard = hear(&there);
        drop(here);
        assert_eq!(shown(&there, "ended").await["status"], "completed");
        let interrupted = shown(&there, "runs").await;
        assert_eq!(interrupted["status"], "failed");
        let message = interrupted["error"]["message"].as_str().unwrap();
        assert!(message.contains("has ended"), "{message}");
        assert_eq!(shown(&there, "runs there").await["status"], "working");
        // Its last notice is not lost.
        wait(|| lock(&heard).contains(&Notice::Prompts));
    }

    #[tokio::test]
    async fn the_tasks_of_a_process_that_says_nothing_are_interrupted() {
        let folder = Folder::new();
        let (silent, lives) = (open(&folder, LONG), open(&folder, LONG));
        add(&silent, "a").await;
        add(&lives, "b").await;
        let heard = hear(&silent);
        let sql = "UPDATE process SET alive_until_ms = 1 WHERE id = ?1";
        lock(&lives.inner.connection)
            .execute(sql, [&silent.inner.process])
            .unwrap();
        // It looks for the others when it starts, and then again and again.
        let third = open(&folder, SHORT);
        assert_eq!(shown(&third, "a").await["status"], "failed");
        assert_eq!(shown(&third, "b").await["status"], "working");
        // It may have been paused: its call must not go on.
        wait(|| lock(&heard).contains(&Notice::Task("a".to_owned())));
        lock(&lives.inner.connection)
            .execute(sql, [&lives.inner.process])
            .unwrap();
        wait(|| {
            let tasks = lock(&third.inner.connection);
            let sql = "SELECT ended IS NOT NULL FROM task WHERE id = 'b'";
            tasks.query_row(sql, [], |row| row.get(0)).unwrap()
        });
    }

    #[test]
    fn a_process_that_was_taken_for_dead_is_told_that_it_missed_notices() {
        let folder = Folder::new();
        let store = open(&folder, SHORT);
        let heard = hear(&store);
        lock(&store.inner.connection)
            .execute("DELETE FROM process", [])
            .unwrap();
        wait(|| lock(&heard).contains(&Notice::Missed));
    }

    #[tokio::test]
    async fn what_is_old_is_removed() {
        let folder = Folder::new();
        let store = open(&folder, SHORT);
        let limits = TaskLimits {
            kept_for: Duration::ZERO,
            ..TaskLimits::default()
        };
        let task = StoredTask::new("a".to_owned(), None, &limits);
        store.add(task, &limits).await.unwrap();
        let end = TaskUpdate::completed(&Value::Null);
        store.update("a", end, &limits).await.unwrap();
        let sql =
            "INSERT INTO notice (made_ms, process, notice) VALUES (1, 'another', '\"Prompts\"')";
        lock(&store.inner.connection).execute(sql, []).unwrap();
        wait(|| {
            let rows = lock(&store.inner.connection);
            let sql = "SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM notice)";
            rows.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == 0
        });
    }

    #[test]
    fn a_process_is_told_of_notices_that_are_gone() {
        let folder = Folder::new();
        let (here, there) = (open(&folder, LONG), open(&folder, LONG));
        here.publish(Notice::Prompts);
        let heard = hear(&there);
        wait(|| lock(&heard).contains(&Notice::Prompts));
        assert!(!lock(&heard).contains(&Notice::Missed));
        let sql = "INSERT INTO notice VALUES (1000, 1, 'another', '\"Resources\"')";
        lock(&here.inner.connection).execute(sql, []).unwrap();
        wait(|| lock(&heard).contains(&Notice::Resources));
        assert!(lock(&heard).contains(&Notice::Missed));
    }

    #[test]
    fn a_flood_of_notices_is_bounded() {
        let folder = Folder::new();
        let (here, there) = (open(&folder, LONG), open(&folder, LONG));
        let heard = hear(&there);
        // Nothing can be written meanwhile.
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        for number in 0..3 * MOST_WAITING {
            here.publish(Notice::Resource(number.to_string()));
            assert!(lock(&here.inner.outbox.waiting).notices.len() <= MOST_WAITING);
        }
        other.execute_batch("COMMIT").unwrap();
        wait(|| lock(&heard).contains(&Notice::Missed));
    }

    #[test]
    fn notices_that_can_not_be_written_are_written_later() {
        let folder = Folder::new();
        let (here, there) = (open(&folder, LONG), open(&folder, LONG));
        let heard = hear(&there);
        let other = Connection::open(folder.file()).unwrap();
        other
            .execute_batch("ALTER TABLE notice RENAME TO away")
            .unwrap();
        here.publish(Notice::Prompts);
        // It fails a few times.
        std::thread::sleep(3 * POLL);
        assert!(lock(&heard).is_empty());
        other
            .execute_batch("ALTER TABLE away RENAME TO notice")
            .unwrap();
        wait(|| lock(&heard).contains(&Notice::Prompts));
    }

    #[test]
    fn only_its_own_database_is_opened() {
        let folder = Folder::new();
        let error = SqliteStore::open(folder.0.join("none/tasks.sqlite")).unwrap_err();
        assert!(error.to_string().contains("tasks.sqlite"), "{error}");
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch("CREATE TABLE note (id)").unwrap();
        let error = SqliteStore::open(folder.file()).unwrap_err();
        assert!(error.to_string().contains("of another program"), "{error}");
        other.execute_batch("PRAGMA user_version = 3").unwrap();
        let error = SqliteStore::open(folder.file()).unwrap_err();
        assert!(error.to_string().contains("have version 3"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_user_reads_the_database() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = Folder::new();
        let store = open(&folder, LONG);
        store.publish(Notice::Prompts);
        for file in std::fs::read_dir(&folder.0).unwrap() {
            let file = file.unwrap();
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?}", file.path());
        }
    }
}
