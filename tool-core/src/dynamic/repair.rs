//! [`Repair`]: something that was changed to let a tool in.

use std::fmt;

use crate::ordered_json::quote;

/// A change that [`DynamicTool::foreign`](crate::dynamic::DynamicTool::foreign) made to a tool.
///
/// ```
/// use serde_json::json;
/// use tool_core::dynamic::DynamicTool;
///
/// let tool = DynamicTool::foreign("files/read")
///     .parameters(json!({"type": "object", "properties": {"file-path": {"type": "string"}}}))
///     .build(async |_, _| Ok::<_, String>(()))?;
/// let repairs: Vec<_> = tool.repairs().iter().map(ToString::to_string).collect();
/// assert_eq!(
///     repairs,
///     [
///         r#"the name "files/read" became "files_read""#,
///         r#"the missing description became "Files read.""#,
///         r#"the key "file-path" became "file_path""#,
///     ],
/// );
/// # Ok::<(), tool_core::dynamic::DynamicToolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// The name was not valid for every provider.
    Name {
        /// The name where the tool comes from.
        original: String,
        /// The name that models are given. A registry adds a suffix if two tools have it.
        valid: String,
    },
    /// A key was not valid for every provider, at any depth.
    Key {
        /// The key that the closure gets.
        original: String,
        /// The key that models are given.
        valid: String,
    },
    /// The description was missing.
    Description(String),
    /// Models are given a rewritten part of the schema. Calls are validated against the original.
    Rewritten {
        /// A JSON pointer into the schema.
        place: String,
        /// The change.
        change: String,
    },
    /// Characters that [nobody sees](crate::visible) were removed.
    Hidden {
        /// `title` or `description` of the tool, or a JSON pointer into a schema.
        place: String,
        /// The number of characters.
        count: usize,
    },
    /// An example was left out.
    Example {
        /// The start of its text.
        example: String,
        /// The problem, in words.
        problem: String,
    },
    /// A part of a schema is invalid, and calls are not validated against it.
    Unchecked {
        /// A JSON pointer into the schema.
        place: String,
        /// The problem, in words.
        problem: String,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Name { original, valid } => {
                write!(f, "the name {} became {}", quote(original), quote(valid))
            }
            Repair::Key { original, valid } => {
                write!(f, "the key {} became {}", quote(original), quote(valid))
            }
            Repair::Description(text) => {
                write!(f, "the missing description became {}", quote(text))
            }
            Repair::Rewritten { place, change } => write!(f, "at {}: {change}", quote(place)),
            Repair::Hidden { place, count } => write!(
                f,
                "{count} invisible characters were removed at {}",
                quote(place)
            ),
            Repair::Example { example, problem } => {
                write!(f, "its example {example}: {problem}")
            }
            Repair::Unchecked { place, problem } => {
                write!(f, "not validated at {}: {problem}", quote(place))
            }
        }
    }
}

/// Collects repairs, each once.
#[derive(Default)]
pub(super) struct Repairs(pub(super) Vec<Repair>);

impl Repairs {
    pub(super) fn push(&mut self, repair: Repair) {
        // A schema of thousands of parts needs no list of thousands of changes.
        if self.0.len() < 200 && !self.0.contains(&repair) {
            self.0.push(repair);
        }
    }

    pub(super) fn rewritten(&mut self, place: &str, change: &str) {
        self.push(Repair::Rewritten {
            place: place.into(),
            change: change.into(),
        });
    }

    pub(super) fn unchecked(&mut self, place: &str, problem: &str) {
        self.push(Repair::Unchecked {
            place: place.into(),
            problem: problem.into(),
        });
    }
}
