//! One SQLite file: the journal of the conversations, what the user wrote, and the shop.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, ErrorCode, Transaction, params};
use tool_agent::run::{Increment, Journal, JournalError, Page, RunHead};
use tool_core::runtime::BoxFuture;

/// The store. Clones share one connection.
#[derive(Clone)]
pub(crate) struct Store(Arc<Mutex<Connection>>);

/// A text of the user, and the number of responses before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) round: u32,
    pub(crate) text: String,
}

impl Store {
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Store> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        // Saved data survives a power failure.
        connection.pragma_update(None, "synchronous", "full")?;
        connection.execute_batch(include_str!("tables.sql"))?;
        Ok(Store(Arc::new(Mutex::new(connection))))
    }

    /// Runs a transaction.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction()?;
        let written = write(&transaction)?;
        transaction.commit()?;
        Ok(written)
    }

    /// Runs a transaction on a thread that may block.
    async fn spawn<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, JournalError> {
        let store = self.clone();
        let written = tokio::task::spawn_blocking(move || store.write(write)).await;
        written.map_err(JournalError::failed)?.map_err(failed)
    }

    /// Saves a message of the user together with the increments that add it to the run.
    pub(crate) async fn ask(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
        question: Question,
    ) -> Result<(), JournalError> {
        self.spawn(move |store| {
            let sql = "INSERT INTO question (run, number, round, text) VALUES (?1, ?2, ?3, ?4)";
            let number = increments.last().map_or(0, Increment::number);
            store.execute(
                sql,
                params![head.id, number.cast_signed(), question.round, question.text],
            )?;
            append(store, &head, &increments)
        })
        .await
    }

    pub(crate) async fn questions(&self, run: &str) -> Result<Vec<Question>, JournalError> {
        let run = run.to_owned();
        self.spawn(move |store| {
            let sql = "SELECT round, text FROM question WHERE run = ?1 ORDER BY number";
            let mut statement = store.prepare(sql)?;
            let questions = statement.query_map([run], |row| {
                Ok(Question {
                    round: row.get(0)?,
                    text: row.get(1)?,
                })
            })?;
            questions.collect()
        })
        .await
    }

    async fn heads(&self) -> Result<Vec<RunHead>, JournalError> {
        let texts: Vec<String> = self
            .spawn(|store| {
                let mut statement = store.prepare("SELECT head FROM head")?;
                statement.query_map([], |row| row.get(0))?.collect()
            })
            .await?;
        let heads = texts.iter().map(|text| serde_json::from_str(text));
        heads
            .collect::<Result<_, _>>()
            .map_err(JournalError::failed)
    }

    /// Returns the number of conversations, of which the last one is shown.
    pub(crate) async fn conversations(&self) -> Result<u32, JournalError> {
        let sql = "SELECT count(DISTINCT run) FROM increment";
        self.spawn(|store| store.query_row(sql, [], |row| row.get(0)))
            .await
    }
}

impl Journal for Store {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        let store = self.clone();
        Box::pin(async move {
            store
                .spawn(move |store| append(store, &head, &increments))
                .await
        })
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        let (store, run) = (self.clone(), run.to_owned());
        Box::pin(async move {
            let texts: Vec<String> = store
                .spawn(move |store| {
                    let sql = "SELECT increment FROM increment WHERE run = ?1 ORDER BY number";
                    store
                        .prepare(sql)?
                        .query_map([run], |row| row.get(0))?
                        .collect()
                })
                .await?;
            let increments = texts.iter().map(|text| serde_json::from_str(text));
            increments
                .collect::<Result<_, _>>()
                .map_err(JournalError::failed)
        })
    }

    fn waiting(&self, page: Page) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let store = self.clone();
        Box::pin(async move { Ok(page.of_waiting(store.heads().await?)) })
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        let (store, owner) = (self.clone(), owner.map(str::to_owned));
        Box::pin(async move { Ok(page.of_owner(owner.as_deref(), store.heads().await?)) })
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        let (store, run) = (self.clone(), run.to_owned());
        Box::pin(async move { store.spawn(move |store| remove(store, &run)).await })
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        let store = self.clone();
        Box::pin(async move {
            let mut heads = store.heads().await?;
            heads.retain(|head| head.saved_ms < saved_ms);
            let count = heads.len();
            let remove_all = move |store: &Transaction<'_>| {
                heads.iter().try_for_each(|head| remove(store, &head.id))
            };
            store.spawn(remove_all).await?;
            Ok(count)
        })
    }
}

fn remove(store: &Transaction<'_>, run: &str) -> rusqlite::Result<()> {
    for table in ["increment", "head", "question"] {
        store.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
    }
    Ok(())
}

/// Rejects a first number that is not the last one plus one; the primary key rejects what is there.
fn append(
    store: &Transaction<'_>,
    head: &RunHead,
    increments: &[Increment],
) -> rusqlite::Result<()> {
    let run = &*head.id;
    let sql = "INSERT INTO increment (run, number, increment) VALUES (?1, ?2, ?3)";
    let last = "SELECT coalesce(max(number), 0) FROM increment WHERE run = ?1";
    let last: i64 = store.query_row(last, [run], |row| row.get(0))?;
    let first = increments.first().map(Increment::number);
    if first.is_some_and(|first| first.cast_signed() != last + 1) {
        let conflict = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CONSTRAINT);
        return Err(rusqlite::Error::SqliteFailure(conflict, None));
    }
    let mut statement = store.prepare(sql)?;
    let to_json = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
    store.execute(
        "INSERT OR REPLACE INTO head (run, head) VALUES (?1, ?2)",
        params![run, serde_json::to_string(head).map_err(to_json)?],
    )?;
    for increment in increments {
        let json = serde_json::to_string(increment).map_err(to_json)?;
        statement.execute(params![run, increment.number().cast_signed(), json])?;
    }
    Ok(())
}

fn failed(error: rusqlite::Error) -> JournalError {
    if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) {
        JournalError::Conflict
    } else {
        JournalError::failed(error)
    }
}
