//! [`Violation`] and [`Coercion`]: a mistake in the arguments of a call, and a converted value.

use std::fmt;

use crate::schema::messages::{floor_char_boundary, shorten};
use crate::schema::secret::HIDDEN;

/// The most violations that one result lists; the rest are counted.
const LISTED: usize = 20;

/// The most alternatives of a union that are compared to explain why a value matches none.
pub(crate) const COMPARED: usize = 32;

/// One thing that is wrong with the arguments of a call.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":true,"b":2}"#));
/// let violation = &result.error().unwrap().violations()[0];
/// assert_eq!(violation.path(), "a");
/// assert_eq!(violation.to_string(), "a: expected an integer, got true");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(from = "SavedViolation", into = "SavedViolation")
)]
pub struct Violation {
    /// The displayed text: the path, then the message.
    text: String,
    /// Where the path ends.
    path: usize,
    /// Where the message starts.
    message: usize,
}

/// The bytes of a message that a model reads. A schema from elsewhere may have longer patterns and values.
const MAX_MESSAGE: usize = 2000;

impl Violation {
    /// Creates a violation. The buffer of `path` is reused for the message.
    pub(crate) fn new(path: String, message: impl FnOnce(&mut String)) -> Violation {
        let mut text = path;
        let path = text.len();
        if path > 0 {
            text.push_str(": ");
        }
        let start = text.len();
        message(&mut text);
        if text.len() - start > MAX_MESSAGE {
            text.truncate(floor_char_boundary(&text, start + MAX_MESSAGE));
            text.push('…');
        }
        Violation {
            text,
            path,
            message: start,
        }
    }

    /// Parses the displayed text.
    pub(crate) fn parse(text: &str) -> Violation {
        let is_path = |path: &&str| !path.contains(char::is_whitespace);
        let path = text.split_once(": ").map(|(path, _)| path).filter(is_path);
        let path = path.map_or(0, str::len);
        Violation {
            text: text.to_owned(),
            path,
            message: if path > 0 { path + 2 } else { 0 },
        }
    }

    /// Returns the path to the value, such as `city` or `stops[2].name`; empty for the arguments as
    /// a whole.
    pub fn path(&self) -> &str {
        &self.text[..self.path]
    }

    /// Returns the mistake and the expectation, written for the model.
    pub fn message(&self) -> &str {
        &self.text[self.message..]
    }

    /// Returns the path and the message in one text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Violation")
            .field("path", &self.path())
            .field("message", &self.message())
            .finish()
    }
}

/// The parts of a saved [`Violation`].
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedViolation {
    path: String,
    message: String,
}

#[cfg(feature = "serde")]
impl From<SavedViolation> for Violation {
    fn from(saved: SavedViolation) -> Violation {
        Violation::new(saved.path, |out| out.push_str(&saved.message))
    }
}

#[cfg(feature = "serde")]
impl From<Violation> for SavedViolation {
    fn from(violation: Violation) -> SavedViolation {
        SavedViolation {
            path: violation.path().into(),
            message: violation.message().into(),
        }
    }
}

/// The first violations of a call, and the number of further ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Violations {
    listed: Vec<Violation>,
    more: usize,
}

impl Violations {
    pub(crate) fn one(path: String, message: &str) -> Violations {
        Violations {
            listed: vec![Violation::new(path, |out| out.push_str(message))],
            more: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Returns the number of violations, listed or not.
    pub(crate) fn len(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Returns the listed violations.
    pub(crate) fn listed(&self) -> &[Violation] {
        &self.listed
    }

    /// Returns the listed violations and the number of further ones.
    pub(crate) fn into_parts(self) -> (Vec<Violation>, usize) {
        (self.listed, self.more)
    }

    /// Returns the violations with paths that start below this property, as far as they do.
    #[cold]
    pub(crate) fn below(mut self, key: &str) -> Violations {
        for violation in &mut self.listed {
            let head = key.len() + 1;
            let path = &violation.text[..violation.path];
            if path
                .strip_prefix(key)
                .is_some_and(|rest| rest.starts_with('.'))
            {
                violation.text.drain(..head);
                violation.path -= head;
                violation.message -= head;
            }
        }
        self
    }

    /// Returns the current length, to compare with or to split at later.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.listed.len(), self.more)
    }

    /// Removes and returns everything added since `mark`.
    pub(crate) fn split_off(&mut self, mark: Mark) -> Violations {
        Violations {
            listed: self.listed.split_off(mark.0),
            more: std::mem::replace(&mut self.more, mark.1).saturating_sub(mark.1),
        }
    }

    /// Returns `true` if further violations are only counted, so that they need no wording.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_full(&self) -> bool {
        self.listed.len() >= LISTED
    }

    /// Counts further violations.
    #[cfg(feature = "dynamic")]
    pub(crate) fn count(&mut self, more: usize) {
        self.more += more;
    }

    /// Returns how little a value fits: the number of unknown keys, then the number of all wrong
    /// values. A missing property is no sign that another alternative was meant.
    fn misfits(&self) -> (usize, usize) {
        let starts = |with| {
            let is_one = move |one: &&Violation| one.message().starts_with(with);
            self.listed.iter().filter(is_one).count()
        };
        (starts("unknown"), self.len() - starts("missing"))
    }

    pub(crate) fn append(&mut self, other: Violations) {
        for violation in other.listed {
            self.push_with(|| violation);
        }
        self.more += other.more;
    }

    /// Adds a violation, or only counts it once the list is full.
    pub(crate) fn push_with(&mut self, violation: impl FnOnce() -> Violation) {
        if self.listed.len() < LISTED {
            self.listed.push(violation());
        } else {
            self.more += 1;
        }
    }
}

/// The report about a value that matches none of the alternatives of a union.
pub(crate) struct Explanation {
    pub(crate) violations: Violations,
    /// `true` if a value without these violations matches one of the alternatives.
    pub(crate) is_complete: bool,
}

impl Explanation {
    /// Compares the mistakes that each alternative finds. A mistake that all of them find is certain,
    /// whichever alternative was meant. If the value resembles each of them, the one that fits best was meant.
    pub(crate) fn new(alternatives: &[Violations], are_likely: bool) -> Explanation {
        let others = alternatives.get(1..).unwrap_or_default();
        let first = alternatives.first().map_or(&[][..], Violations::listed);
        let is_shared =
            |violation: &&Violation| others.iter().all(|found| found.listed.contains(violation));
        let shared = Violations {
            listed: first.iter().filter(is_shared).cloned().collect(),
            more: 0,
        };
        let only_shared = alternatives
            .iter()
            .find(|found| found.len() == shared.len());
        let found = only_shared.or_else(|| {
            let misfits = alternatives.iter().map(Violations::misfits);
            let least = misfits.clone().min().filter(|_| are_likely)?;
            let mut best = misfits.enumerate().filter(|(_, misfits)| *misfits == least);
            let (at, _) = best.next()?;
            alternatives.get(at).filter(|_| best.next().is_none())
        });
        Explanation {
            is_complete: found.is_some(),
            violations: found.cloned().unwrap_or(shared),
        }
    }
}

/// A place in a list of violations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(usize, usize);

/// A value in the arguments that a lenient registry converted.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).lenient().build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":"1","b":2}"#));
/// assert_eq!(result.content(), "3");
/// let coercion = &result.coercions()[0];
/// assert_eq!((coercion.path(), coercion.got()), ("a", "\"1\""));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coercion {
    path: String,
    got: String,
    message: String,
}

impl Coercion {
    pub(crate) fn new(path: String, got: &str, message: &str) -> Coercion {
        Coercion {
            path,
            got: shorten(got).into_owned(),
            message: message.into(),
        }
    }

    /// Hides what was converted in a secret value at this path.
    pub(crate) fn hide(&mut self, path: String) {
        self.path = path;
        self.got = HIDDEN.into();
    }

    /// Returns the path to the value, such as `city` or `stops[2].name`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the JSON that the model sent, truncated. Of a secret value, returns `[secret]`.
    pub fn got(&self) -> &str {
        &self.got
    }

    /// Returns how the value was converted.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.got)
    }
}
