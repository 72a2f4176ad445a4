//! [`EvalError`]: an error in cases or files.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// An error in cases or in a file. It says what is wrong and where.
///
/// ```
/// use tool_core::Registry;
/// use tool_eval::{Case, Eval};
///
/// let eval = Eval::new([Case::new("lights", "Turn on the light.").forbid("turn_off")]);
/// let error = eval.check(&Registry::new()).unwrap_err();
/// assert!(error.to_string().starts_with("case `lights`: "), "{error}");
/// ```
#[derive(Clone)]
pub struct EvalError {
    pub(crate) file: Option<PathBuf>,
    pub(crate) line: Option<usize>,
    pub(crate) case: Option<String>,
    pub(crate) message: String,
}

impl EvalError {
    pub(crate) fn new(message: impl Into<String>) -> EvalError {
        EvalError {
            file: None,
            line: None,
            case: None,
            message: message.into(),
        }
    }

    pub(crate) fn of_file(path: &Path, message: impl Into<String>) -> EvalError {
        EvalError::new(message).in_file(path)
    }

    /// Adds the file of the case, unless the error has one.
    pub fn in_file(mut self, path: impl AsRef<Path>) -> EvalError {
        self.file.get_or_insert_with(|| path.as_ref().to_owned());
        self
    }

    /// Returns the line of the file, counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the name of the case.
    pub fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if let Some(case) = &self.case {
            write!(f, "case `{case}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Shows the message, because `main` may return the error.
impl fmt::Debug for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for EvalError {}
