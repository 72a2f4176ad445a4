//! [`ValueLimit`]: bounds the memory that the JSON of a response takes.

use std::error::Error;
use std::fmt;

use serde_json::Value;

use crate::provider::repair::repaired;

/// Parses the JSON of a response or of the events of its stream, each of which may have a million values. Bytes alone are no
/// limit, because a value takes up to seventy times the memory of its JSON.
///
/// JSON that is none is [repaired](crate::dialect::write::repair_json), and `NaN` and `Infinity` are `null`. A character of which two
/// events have one half each is put together.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::write::{ParseError, ValueLimit};
///
/// let mut limit = ValueLimit::default();
/// assert_eq!(limit.parse(br#"{"id":7}"#).unwrap(), json!({"id": 7}));
/// let zeros = format!("[{}0]", "0,".repeat(1_000_000));
/// assert!(matches!(limit.parse(zeros.as_bytes()), Err(ParseError::TooManyValues)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ValueLimit {
    /// The half of a character at the end of a string in the last event.
    half: Option<u16>,
}

/// The values of a response or of an event.
const MOST: usize = 1_000_000;

impl ValueLimit {
    /// Parses a whole response.
    ///
    /// # Errors
    ///
    /// Returns an error if it has more than a million values, or if it is not JSON.
    pub fn parse(&mut self, json: &[u8]) -> Result<Value, ParseError> {
        self.parse_with(json, false)
    }

    /// Parses an event. Keeps the half of a character for the next one.
    pub fn parse_event(&mut self, json: &[u8]) -> Result<Value, ParseError> {
        self.parse_with(json, true)
    }

    fn parse_with(&mut self, json: &[u8], keeps_half: bool) -> Result<Value, ParseError> {
        let before = self.half;
        self.check(values(json))?;
        let error = match serde_json::from_slice(json) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let keeps = |half| {
            if keeps_half {
                self.half = Some(half);
            }
            keeps_half
        };
        let is_text = str::from_utf8(json).is_ok();
        let repaired = is_text.then(|| repaired(json, true, before, keeps));
        match repaired.flatten() {
            Some(json) => serde_json::from_str(&json).map_err(ParseError::Json),
            None => Err(ParseError::Json(error)),
        }
    }

    /// Returns an error if an event has too many values.
    pub fn check(&mut self, values: usize) -> Result<(), ParseError> {
        self.half = None;
        if values > MOST {
            return Err(ParseError::TooManyValues);
        }
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
/// use tool_core::dialect::write::{ParseError, ValueLimit};
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
