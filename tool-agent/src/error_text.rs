//! Errors as text.

use std::error::Error;
use std::fmt;

/// Writes the message of an error, and those of its sources that it does not repeat.
pub(crate) fn write(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = error.to_string();
    let mut source = error.source();
    // A chain may be a circle.
    for _ in 0..32 {
        let Some(error) = source else {
            break;
        };
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = error.source();
    }
    f.write_str(&text)
}
