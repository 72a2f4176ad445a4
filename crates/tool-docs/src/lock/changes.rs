//! The changes that a comparison finds.

use std::fmt;

/// The effect of a change on the callers of a tool and the readers of its results, least severe
/// first.
///
/// ```
/// use tool_docs::lock::Class;
///
/// assert!(Class::Breaking > Class::Compatible && Class::Compatible > Class::Wording);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Every call and every result means the same as before.
    Wording,
    /// All calls that were accepted still are, and all results can be read as before.
    Compatible,
    /// Some calls that were accepted are now rejected, or some results don't match the old schema.
    Breaking,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Class::Wording => "wording",
            Class::Compatible => "compatible",
            Class::Breaking => "breaking",
        })
    }
}

/// One difference between two locks.
///
/// ```
/// use tool_docs::lock::{Class, Lock, compare};
///
/// let empty: Lock = r#"{"version": 1, "tools": {}}"#.parse()?;
/// let greet: Lock = r#"{"version": 1, "tools": {"greet": {
///     "description": "Says hello.", "parameters": {"type": "object"}}}}"#.parse()?;
/// let changes = compare(&greet, &empty);
/// let change = changes.iter().next().unwrap();
/// assert_eq!((change.tool(), change.message()), ("greet", "removed"));
/// assert_eq!(change.class(), Class::Breaking);
/// # Ok::<(), tool_docs::lock::LockError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) tool: String,
    pub(super) path: String,
    pub(super) class: Class,
    pub(super) message: String,
}

impl Change {
    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the path of the change, such as `description`, `parameters.stops[].name` or `output.highs`;
    /// empty for the tool as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the class of the change.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns a short description of the change.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<10}  {}", self.class, self.tool)?;
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The result of [`compare`](super::compare), sorted by tool name, most severe changes first.
///
/// ```
/// use tool_docs::lock::{Class, Lock, compare};
///
/// let empty: Lock = r#"{"version": 1, "tools": {}}"#.parse()?;
/// let greet: Lock = r#"{"version": 1, "tools": {"greet": {
///     "description": "Says hello.", "parameters": {"type": "object"}}}}"#.parse()?;
/// let changes = compare(&empty, &greet);
/// assert_eq!((changes.len(), changes.class()), (1, Some(Class::Compatible)));
/// for change in changes.iter() {
///     println!("{change}");
/// }
/// # Ok::<(), tool_docs::lock::LockError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(pub(super) Vec<Change>);

impl Changes {
    /// Returns `true` if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the most severe class; `None` if there are no changes.
    pub fn class(&self) -> Option<Class> {
        self.iter().map(Change::class).max()
    }

    /// Returns an iterator over the changes.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// Counts by class, such as "1 breaking, 2 wording".
    fn counts(&self) -> String {
        let classes = [Class::Breaking, Class::Compatible, Class::Wording];
        let counts = classes.into_iter().filter_map(|class| {
            let count = self.iter().filter(|change| change.class == class).count();
            (count > 0).then(|| format!("{count} {class}"))
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

impl<'c> IntoIterator for &'c Changes {
    type Item = &'c Change;
    type IntoIter = std::slice::Iter<'c, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no changes");
        }
        f.write_str(&self.counts())?;
        for change in self {
            write!(f, "\n  {change}")?;
        }
        Ok(())
    }
}
