//! A database that is only read.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};
use serde::{Deserialize, Serialize};
use tool_core::{CancellationToken, ToolType};

/// The most characters of a text in a result; longer ones are cut.
const LONGEST: usize = 500;

/// A value in a query or in its result.
#[derive(Debug, Deserialize, PartialEq, Serialize, ToolType)]
#[serde(untagged)]
pub(crate) enum Cell {
    Whole(i64),
    Number(f64),
    Text(String),
}

/// What a query found.
#[derive(Debug, PartialEq, Serialize, ToolType)]
pub(crate) struct Found {
    columns: Vec<String>,
    /// A value a column; `null` is SQL's.
    rows: Vec<Vec<Option<Cell>>>,
    /// Whether the limit left rows out.
    has_more: bool,
}

pub(crate) struct Database(Mutex<Connection>);

impl Database {
    /// A file, or a library of a few books.
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
        // What is no database is only noticed when it is read.
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
        // A function can't be stopped before its end, so that its operands are short.
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

    /// Runs one query until it ends or is cancelled.
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

/// What a statement may do: read tables and compute. It is asked while a statement is prepared, so
/// that nothing else even begins.
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

/// Why a query has no result. A model reads the words, the log has the source.
#[derive(Debug)]
pub(crate) struct SqlError(rusqlite::Error);

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use rusqlite::Error;
        match &self.0 {
            Error::SqliteFailure(failure, said) => match (failure.code, said) {
                (ErrorCode::AuthorizationForStatementDenied, _) => {
                    f.write_str("only a SELECT is allowed: nothing can be changed")
                }
                (ErrorCode::OperationInterrupted, _) => f.write_str("it takes too long"),
                (ErrorCode::ApiMisuse, _) => f.write_str("there is no statement in it"),
                (_, Some(said)) => f.write_str(said),
                (code, None) => write!(f, "{code:?}"),
            },
            Error::SqlInputError { msg, .. } => f.write_str(msg),
            Error::MultipleStatement => f.write_str("one statement at a time"),
            Error::InvalidParameterCount(given, wanted) => {
                write!(f, "{given} parameters for {wanted} placeholders")
            }
            _ => f.write_str("the database can't be read"),
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
