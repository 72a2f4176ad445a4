//! What does not fit in the arguments of a call, and what was made to fit.

use std::fmt;

use crate::schema::words::shorten;

/// The most mistakes that one reply spells out; more are counted.
const LISTED: usize = 20;

/// One thing that is wrong with the arguments of a call.
#[derive(Clone, PartialEq, Eq)]
pub struct Violation {
    /// As it is displayed: the path, and what is wrong behind it.
    text: String,
    path: usize,
    message: usize,
}

impl Violation {
    /// A mistake at this place. The text of the path becomes that of it all.
    pub(crate) fn new(path: String, message: impl FnOnce(&mut String)) -> Violation {
        let mut text = path;
        let path = text.len();
        if path > 0 {
            text.push_str(": ");
        }
        let start = text.len();
        message(&mut text);
        Violation {
            text,
            path,
            message: start,
        }
    }

    /// Where: `city`, `stops[2].name`; empty for the arguments as a whole.
    pub fn path(&self) -> &str {
        &self.text[..self.path]
    }

    /// What is wrong and what was expected, in words for a model.
    pub fn message(&self) -> &str {
        &self.text[self.message..]
    }

    /// Both.
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

/// The first mistakes of a call, and how many more there were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Violations {
    listed: Vec<Violation>,
    more: usize,
}

impl Violations {
    pub(crate) fn one(path: String, message: &str) -> Violations {
        Violations {
            listed: vec![Violation::new(path, |words| words.push_str(message))],
            more: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The first of them, and how many more there are.
    pub(crate) fn into_parts(self) -> (Vec<Violation>, usize) {
        (self.listed, self.more)
    }

    /// How far the list has come.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.listed.len(), self.more)
    }

    /// Takes everything behind a mark.
    pub(crate) fn split_off(&mut self, mark: Mark) -> Violations {
        Violations {
            listed: self.listed.split_off(mark.0),
            more: std::mem::replace(&mut self.more, mark.1).saturating_sub(mark.1),
        }
    }

    pub(crate) fn append(&mut self, other: Violations) {
        for violation in other.listed {
            self.push_with(|| violation);
        }
        self.more += other.more;
    }

    /// Adds a violation, which is not even put into words once the list is full.
    pub(crate) fn push_with(&mut self, violation: impl FnOnce() -> Violation) {
        if self.listed.len() < LISTED {
            self.listed.push(violation());
        } else {
            self.more += 1;
        }
    }
}

/// A place in a list of violations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark(usize, usize);

/// A value of a call that a lenient registry took for another.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// Where: `city`, `stops[2].name`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The JSON that the model sent, shortened.
    pub fn got(&self) -> &str {
        &self.got
    }

    /// What was done about it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.path, self.message, self.got)
    }
}
