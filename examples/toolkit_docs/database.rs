//! A read-only database.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};
use serde::{Deserialize, Serialize};
use tool_core::ToolType;
use tool_core::call::CancellationToken;

/// Maximum number of characters of a text in a result. Longer texts are truncated.
const LONGEST: usize = 500;

/// A value in a query or in its result.
#[derive(Debug, Deserialize, PartialEq, Serialize, ToolType)]
#[serde(untagged)]
pub(crate) enum Cell {
    Whole(i64),
    Number(f64),
    Text(String),
}

/// The rows that a query found.
#[derive(Debug, PartialEq, Serialize, ToolType)]
pub(crate) struct Found {
    columns: Vec<String>,
    /// One value per column.
    rows: Vec<Vec<Option<Cell>>>,
    /// `true` if the limit omitted rows.
    has_more: bool,
}

pub(crate) struct Database(Mutex<Connection>);

impl Database {
    /// Opens a database file, or creates a small library in memory.
    pub(crate) fn open(file: Option<&Path>) -> Result<Database, SqlError> {
        let connection = match file {
            Some(file) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(file, flags)?
            }
            None => {
                let connection = Connection::open_in_memory()?;
                connection.execute_batch(include_str!("library.sql"))?;
                connection
            }
        };
        // SQLite notices a file that is not a database on the first read.
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        // SQLite can't interrupt a function, so its operands must be short.
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, 100_000),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        ] {
            connection.set_limit(limit, most)?;
        }
        connection.authorizer(Some(authorize))?;
        Ok(Database(Mutex::new(connection)))
    }

    /// Runs one query until it ends or the call is cancelled.
    pub(crate) fn query(
        &self,
        query: &str,
        parameters: &[Option<Cell>],
        limit: usize,
        token: &CancellationToken,
    ) -> Result<Found, SqlError> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let token = token.clone();
        connection.progress_handler(10_000, Some(move || token.is_cancelled()))?;
        let mut statement = connection.prepare(query)?;
        let columns = statement.column_names();
        let columns: Vec<_> = columns.into_iter().map(str::to_owned).collect();
        let mut found = statement.query(params_from_iter(parameters))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            if rows.len() == limit {
                return Ok(Found {
                    columns,
                    rows,
                    has_more: true,
                });
            }
            let cells = (0..columns.len()).map(|at| row.get_ref(at).map(Cell::read));
            rows.push(cells.collect::<Result<_, _>>()?);
        }
        Ok(Found {
            columns,
            rows,
            has_more: false,
        })
    }
}

/// Allows a statement to read tables and compute. SQLite asks while it prepares the statement, so
/// that nothing else even starts.
fn authorize(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

impl Cell {
    fn read(value: ValueRef<'_>) -> Option<Cell> {
        match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(Cell::Whole(number)),
            ValueRef::Real(number) => Some(Cell::Number(number)),
            ValueRef::Text(text) => {
                let text = String::from_utf8_lossy(text);
                Some(Cell::Text(match text.char_indices().nth(LONGEST) {
                    Some((end, _)) => format!("{}…", &text[..end]),
                    None => text.into_owned(),
                }))
            }
            ValueRef::Blob(bytes) => Some(Cell::Text(format!("[{} bytes]", bytes.len()))),
        }
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Cell::Whole(number) => number.to_sql(),
            Cell::Number(number) => number.to_sql(),
            Cell::Text(text) => text.to_sql(),
        }
    }
}

/// An error of a query. The model reads the text; the log also has the source.
#[derive(Debug)]
pub(crate) struct SqlError(rusqlite::Error);

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use rusqlite::Error;
        match &self.0 {
            Error::SqliteFailure(failure, said) => match (failure.code, said) {
                (ErrorCode::AuthorizationForStatementDenied, _) => {
                    f.write_str("the database is read-only; use a SELECT")
                }
                (ErrorCode::OperationInterrupted, _) => f.write_str("the query took too long"),
                (ErrorCode::ApiMisuse, _) => f.write_str("the query has no statement"),
                (_, Some(said)) => f.write_str(said),
                (code, None) => write!(f, "{code:?}"),
            },
            Error::SqlInputError { msg, .. } => f.write_str(msg),
            Error::MultipleStatement => f.write_str("the query has several statements; send one"),
            Error::InvalidParameterCount(given, wanted) => {
                write!(f, "got {given} parameters for {wanted} placeholders")
            }
            _ => f.write_str("can't read the database"),
        }
    }
}

impl std::error::Error for SqlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError(error)
    }
}
