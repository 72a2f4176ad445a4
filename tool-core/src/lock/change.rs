//! What a comparison finds, and how grave it is.

use std::fmt;

/// How grave a change is for those who call the tools, or read their results.
///
/// ```
/// use tool_core::lock::Class;
///
/// assert!(Class::Breaking > Class::Compatible && Class::Compatible > Class::Wording);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Other words for the same: every call means what it meant.
    Wording,
    /// Every call that was taken is still taken, and every result can be read as before.
    Compatible,
    /// Some call that was taken is refused now, or some result is not what readers were told.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub(super) tool: String,
    pub(super) path: String,
    pub(super) class: Class,
    pub(super) message: String,
}

impl Change {
    /// The name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Where: `description`, `parameters.stops[].name`, `output.highs`; empty for the tool as a
    /// whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How grave it is.
    pub fn class(&self) -> Class {
        self.class
    }

    /// What is different, in a few words.
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

/// Everything that [`compare`](super::compare) found, in the order of the tools' names, the
/// gravest of a tool first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(pub(super) Vec<Change>);

impl Changes {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The gravest class; `None` when nothing is different.
    pub fn class(&self) -> Option<Class> {
        self.iter().map(Change::class).max()
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// "1 breaking, 2 wording"
    fn counts(&self) -> String {
        let classes = [Class::Breaking, Class::Compatible, Class::Wording];
        let counts = classes.map(|class| {
            let count = self.iter().filter(|change| change.class == class).count();
            (count > 0).then(|| format!("{count} {class}"))
        });
        let counts: Vec<_> = counts.into_iter().flatten().collect();
        counts.join(", ")
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
            return f.write_str("nothing is different");
        }
        f.write_str(&self.counts())?;
        for change in self {
            write!(f, "\n  {change}")?;
        }
        Ok(())
    }
}
