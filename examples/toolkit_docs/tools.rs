//! The toolkit: its methods are the tools.

use tool_core::{CallContext, ToolType, toolset};

use crate::database::{Cell, Database, Found, SqlError};

/// Arithmetic operation.
#[derive(Clone, Copy, ToolType)]
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
    /// Calculates with two numbers.
    ///
    /// # When to use
    /// For each calculation: do not calculate yourself.
    ///
    /// # Returns
    /// The result.
    #[tool(read_only, idempotent)]
    fn calculator(
        operation: Operation,
        /// Left operand.
        a: f64,
        /// Right operand.
        b: f64,
    ) -> Result<f64, &'static str> {
        let result = match operation {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::Mul => a * b,
            Operation::Div if b == 0.0 => return Err("division by zero"),
            Operation::Div => a / b,
        };
        if result.is_finite() {
            Ok(result)
        } else {
            Err("the result is too large")
        }
    }

    /// Queries the SQLite database with one SELECT. `SELECT sql FROM sqlite_master` lists its tables.
    ///
    /// # When to use
    /// The user asks about books, their loans or due dates.
    ///
    /// # Returns
    /// Column names, rows, and `has_more` if the limit omitted rows.
    #[tool(read_only, idempotent, blocking, timeout = "2s")]
    fn sql_query(
        &self,
        /// One SELECT. Write `?1`, `?2` and so on for values.
        #[param(length = 1..=4000, example = "SELECT title FROM books WHERE author = ?1")]
        query: &str,
        /// Values of the placeholders, in order.
        #[param(default, length = ..=20)]
        parameters: Vec<Option<Cell>>,
        /// Maximum number of rows.
        #[param(default = 50, range = 1..=200)]
        limit: u8,
        call: &CallContext,
    ) -> Result<Found, SqlError> {
        let (limit, token) = (usize::from(limit), call.cancellation());
        self.database.query(query, &parameters, limit, token)
    }

    /// Returns the text.
    ///
    /// # When to use
    /// To test that tools work.
    ///
    /// # Returns
    /// The text.
    #[tool(read_only, idempotent)]
    fn echo(
        /// Text to return.
        text: String,
    ) -> String {
        text
    }
}
