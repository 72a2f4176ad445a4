//! The toolkit: its methods are the tools.

use serde::Deserialize;
use tool_core::{CallContext, ToolType, toolset};

use crate::database::{Cell, Database, Found, SqlError};

/// What a calculator does with two numbers.
#[derive(Clone, Copy, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

pub(crate) struct Toolkit {
    pub(crate) database: Database,
}

#[toolset]
impl Toolkit {
    /// Computes with two numbers.
    ///
    /// # When to use
    /// A number has to be right: never compute it yourself.
    ///
    /// # Returns
    /// The result.
    #[tool(read_only, idempotent)]
    fn calculator(
        operation: Operation,
        /// The left operand.
        a: f64,
        /// The right operand.
        b: f64,
    ) -> Result<f64, &'static str> {
        let result = match operation {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::Mul => a * b,
            Operation::Div if b == 0.0 => return Err("nothing can be divided by zero"),
            Operation::Div => a / b,
        };
        match result.is_finite() {
            true => Ok(result),
            false => Err("the result is too large"),
        }
    }

    /// Reads from the database with one SELECT of SQLite. `SELECT sql FROM sqlite_master` tells its
    /// tables.
    ///
    /// # When to use
    /// The answer is in the database: books, who borrowed them, and until when.
    ///
    /// # Returns
    /// The names of the columns, the rows, and whether there are more.
    #[tool(read_only, idempotent, blocking, timeout = "2s")]
    fn sql_query(
        &self,
        /// Values stand as `?1`, `?2` and so on, never in the text itself.
        #[param(length = 1..=4000, example = "SELECT title FROM books WHERE author = ?1")]
        query: &str,
        /// What the placeholders stand for, in order.
        #[param(default, length = ..=20)]
        parameters: Vec<Option<Cell>>,
        /// The most rows.
        #[param(default = 50, range = 1..=200)]
        limit: u8,
        call: &CallContext,
    ) -> Result<Found, SqlError> {
        let (limit, token) = (usize::from(limit), call.cancellation());
        self.database.query(query, &parameters, limit, token)
    }

    /// Says the same again.
    ///
    /// # When to use
    /// To try whether tools work at all.
    ///
    /// # Returns
    /// The text.
    #[tool(read_only, idempotent)]
    fn echo(
        /// What to say.
        text: String,
    ) -> String {
        text
    }
}
