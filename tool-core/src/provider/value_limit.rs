//! [`ValueLimit`]: bounds the memory that the JSON of a response takes.

use std::error::Error;
use std::fmt;

use serde_json::Value;

/// The JSON values that a response may still have, a million at first. Bytes alone are no limit, because a value takes
/// up to seventy times the memory of its JSON.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{ParseError, ValueLimit};
///
/// let mut limit = ValueLimit::default();
/// assert_eq!(limit.parse(br#"{"id":7}"#).unwrap(), json!({"id": 7}));
/// let zeros = format!("[{}0]", "0,".repeat(1_000_000));
/// assert!(matches!(limit.parse(zeros.as_bytes()), Err(ParseError::TooManyValues)));
/// ```
#[derive(Clone, Debug)]
pub struct ValueLimit(usize);

/// The values of a response.
const MOST: usize = 1_000_000;

impl Default for ValueLimit {
    fn default() -> ValueLimit {
        ValueLimit(MOST)
    }
}

impl ValueLimit {
    /// Parses a response or an event of one, and subtracts its values.
    ///
    /// # Errors
    ///
    /// Returns an error if it has more values than are left, or if it is not JSON.
    pub fn parse(&mut self, json: &[u8]) -> Result<Value, ParseError> {
        self.take(values(json))?;
        serde_json::from_slice(json).map_err(ParseError::Json)
    }

    /// Subtracts values, or returns an error if fewer are left.
    pub(crate) fn take(&mut self, values: usize) -> Result<(), ParseError> {
        self.0 = self
            .0
            .checked_sub(values)
            .ok_or(ParseError::TooManyValues)?;
        Ok(())
    }
}

/// Counts the places in JSON where a value may start.
fn values(json: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The error of [`ValueLimit::parse`].
///
/// ```
/// use tool_core::dialect::{ParseError, ValueLimit};
///
/// match ValueLimit::default().parse(b"{\"content\":[") {
///     Err(ParseError::TooManyValues) => println!("ask for less"),
///     Err(ParseError::Json(error)) => assert!(error.is_eof(), "the response is cut off"),
///     other => unreachable!("{other:?}"),
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseError {
    /// The response has too many values.
    TooManyValues,
    /// It is not JSON, or is cut off.
    Json(serde_json::Error),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::TooManyValues => {
                write!(f, "the response has more than {MOST} JSON values")
            }
            ParseError::Json(error) => error.fmt(f),
        }
    }
}

impl Error for ParseError {}
