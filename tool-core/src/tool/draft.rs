//! [`Draft`]: the JSON texts of a tool's two schemas, in a buffer that fits nearly all.

use crate::schema::json::write_both;
use crate::schema::{Property, Schema};

/// The size of a draft, which nearly all schemas fit.
pub(super) const INLINE_CAPACITY: usize = 4096;

/// The concatenated JSON texts of a tool's two schemas. Exists only at compile time.
pub struct Draft {
    pub(super) bytes: [u8; INLINE_CAPACITY],
    /// The end of the first text.
    pub(super) middle: usize,
    /// The length of both texts, even if they do not fit.
    pub(super) length: usize,
}

impl Draft {
    /// Renders the schemas of the arguments and of the result.
    pub(crate) const fn new(
        parameters: &'static [Property],
        output: Option<&'static Schema>,
    ) -> Draft {
        let mut bytes = [0; INLINE_CAPACITY];
        let (middle, length) = write_both(parameters, output, &mut bytes);
        Draft {
            bytes,
            middle,
            length,
        }
    }
}
