//! [`Journal`]: where runs are saved.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::Increment;
use tool_core::runtime::BoxFuture;

/// A store of runs: a list of increments for each.
///
/// A table with the columns run, number and increment (JSON), whose key is the first two, is enough.
pub trait Journal: Send + Sync {
    /// Appends increments to a run's, all or none. They must survive a crash of the program
    /// when the future completes.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Conflict`] if the first [number](Increment::number) is not the last saved one plus
    /// one (1 for a new run): another program continued the run. Other errors are
    /// [`JournalError::Failed`]. After an error the journal has all of the increments or none, and the caller
    /// may append them again: if it has them, that is a conflict.
    fn append(&self, run: &str, increments: Vec<Increment>) -> BoxFuture<Result<(), JournalError>>;

    /// Returns all increments of a run, by number; none if there is no such run.
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>>;
}

/// The error of a [`Journal`].
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// Another program continued the run.
    Conflict,
    /// The store failed.
    Failed(Box<dyn Error + Send + Sync>),
}

impl JournalError {
    /// Wraps an error of the store.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> JournalError {
        JournalError::Failed(error.into())
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::Conflict => {
                f.write_str("another program continued the run; load it again")
            }
            JournalError::Failed(error) => {
                write!(f, "the journal can't save or load the run: {error}")
            }
        }
    }
}

impl Error for JournalError {
    /// Returns the source of the wrapped error, because the wrapped error is displayed already.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            JournalError::Conflict => None,
            JournalError::Failed(error) => error.source(),
        }
    }
}

/// Returns [`JournalError::Conflict`] unless the increments follow the last saved number without a gap.
pub(super) fn check_next(last: u64, increments: &[Increment]) -> Result<(), JournalError> {
    let mut numbers = (last.saturating_add(1)..).zip(increments);
    if numbers.all(|(number, increment)| increment.number() == number) {
        Ok(())
    } else {
        Err(JournalError::Conflict)
    }
}

/// A [`Journal`] in memory, for tests and for runs that need not outlive the process.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<HashMap<String, Vec<Increment>>>>);

impl MemoryJournal {
    /// Creates an empty journal.
    pub fn new() -> MemoryJournal {
        MemoryJournal::default()
    }
}

impl Journal for MemoryJournal {
    fn append(&self, run: &str, increments: Vec<Increment>) -> BoxFuture<Result<(), JournalError>> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = match runs.get_mut(run) {
            Some(saved) => saved,
            None => runs.entry(run.into()).or_default(),
        };
        let last = saved.last().map_or(0, Increment::number);
        let appended = check_next(last, &increments);
        if appended.is_ok() {
            saved.extend(increments);
        }
        Box::pin(std::future::ready(appended))
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = runs.get(run).cloned().unwrap_or_default();
        Box::pin(std::future::ready(Ok(saved)))
    }
}
