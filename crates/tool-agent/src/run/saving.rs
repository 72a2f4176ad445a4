//! Saving a run, as a whole or by its increments.

use std::error::Error;
use std::fmt;
use std::ops::{Deref, DerefMut};

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Run;
use super::change::Change;
use super::increment::Increment;
use super::state::{PROGRAM, SavedRun, VERSION, check_version};

impl TryFrom<SavedRun<Value>> for Run {
    type Error = String;

    fn try_from(saved: SavedRun<Value>) -> Result<Run, String> {
        check_version(saved.version, &saved.program)?;
        let state = serde_json::from_value(saved.state).map_err(|error| error.to_string())?;
        let mut run = Run::of(state);
        let rounds = &run.state.rounds;
        for &(round, index) in &run.state.background {
            let call = rounds.get(round).and_then(|round| round.calls.get(index));
            call.ok_or_else(|| format!("there is no call {index}"))?;
        }
        run.count_calls();
        Ok(run)
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = SavedRun {
            version: VERSION,
            program: PROGRAM.into(),
            state: &self.state,
        };
        saved.serialize(serializer)
    }
}

/// Saves runs.
impl Run {
    /// Rebuilds a run from all of its increments, in order.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    ///
    /// let mut run = Run::new("conversation-1");
    /// run.push(json!({"role": "user", "content": "Hello!"}))?;
    /// let increments = run.unsaved().to_vec();
    /// assert_eq!(Run::replay(increments)?.messages(), run.messages());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there are none, one is missing, or a newer version of this crate saved them.
    pub fn replay(increments: impl IntoIterator<Item = Increment>) -> Result<Run, ReplayError> {
        let mut run = Run::empty();
        run.apply(increments)?;
        if run.state.changes == 0 {
            return Err(ReplayError::new("there are no increments"));
        }
        Ok(run)
    }

    /// Applies increments that another process created from a run in this state, in order. They count as saved.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    ///
    /// let mut run = Run::new("conversation-1");
    /// let mut copy = run.clone();
    /// copy.push(json!({"role": "user", "content": "Hello!"}))?;
    /// let new = copy.unsaved().iter().filter(|new| new.number() > 1).cloned();
    /// run.apply(new)?;
    /// assert_eq!(run.messages(), copy.messages());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if an increment is missing or does not fit the run, or a newer version of this crate saved it.
    /// The increments before it stay applied.
    pub fn apply(
        &mut self,
        increments: impl IntoIterator<Item = Increment>,
    ) -> Result<(), ReplayError> {
        increments
            .into_iter()
            .try_for_each(|increment| self.apply_saved(increment))
    }

    /// Returns the increments that are not [marked as saved](Run::mark_saved), by number. Append them to a
    /// [`Journal`](super::Journal). While an [`Agent`](crate::Agent) without a journal drives the run, it keeps none.
    ///
    /// ```
    /// use tool_agent::run::{Increment, Journal, JournalError, Run};
    ///
    /// async fn save(journal: &dyn Journal, run: &mut Run) -> Result<(), JournalError> {
    ///     if let Some(last) = run.unsaved().last().map(Increment::number) {
    ///         journal.append(run.head(), run.unsaved().to_vec()).await?;
    ///         run.mark_saved(last);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn unsaved(&self) -> &[Increment] {
        &self.unsaved
    }

    /// Marks the increments up to this [number](Increment::number) as saved, which drops them. Call it after the
    /// journal has appended them. If you mark them too early and the journal fails, they are lost.
    pub fn mark_saved(&mut self, number: u64) {
        let saved = self
            .unsaved
            .partition_point(|increment| increment.number() <= number);
        self.unsaved.drain(..saved);
    }

    /// Applies a change and keeps it as unsaved, unless the run is driven [`WithoutIncrements`].
    pub(super) fn record(&mut self, change: Change) {
        if !self.drops_increments {
            let increment = Increment {
                number: self.state.changes + 1,
                change: Box::new(change.clone()),
            };
            self.unsaved.push(increment);
        }
        self.change(change)
            .expect("the run makes only changes that fit its state");
    }

    /// Applies a change to calls of a round.
    pub(super) fn record_in(&mut self, round: usize, change: Change) {
        let is_last = round == self.last_round();
        self.record(if is_last {
            change
        } else {
            Change::InRound(round, Box::new(change))
        });
    }

    /// Applies a saved change.
    fn apply_saved(&mut self, increment: Increment) -> Result<(), ReplayError> {
        let number = increment.number;
        if number != self.state.changes + 1 {
            let expected = self.state.changes + 1;
            return Err(ReplayError::new(format!(
                "increment {expected} is missing: the next one has the number {number}"
            )));
        }
        self.change(*increment.change)
            .map_err(|problem| ReplayError::new(format!("increment {number}: {problem}")))
    }
}

/// A run that is driven without a journal. Its changes are not kept, because they would be dropped after each step.
/// Later changes are kept again, even if the driving future is dropped.
pub(crate) struct WithoutIncrements<'r>(&'r mut Run);

impl<'r> WithoutIncrements<'r> {
    /// Stops keeping changes if `drops` is set.
    pub(crate) fn new(run: &'r mut Run, drops: bool) -> WithoutIncrements<'r> {
        run.drops_increments = drops;
        WithoutIncrements(run)
    }
}

impl Deref for WithoutIncrements<'_> {
    type Target = Run;

    fn deref(&self) -> &Run {
        self.0
    }
}

impl DerefMut for WithoutIncrements<'_> {
    fn deref_mut(&mut self) -> &mut Run {
        self.0
    }
}

impl Drop for WithoutIncrements<'_> {
    fn drop(&mut self) {
        self.0.drops_increments = false;
    }
}

/// The error of increments that can't be applied.
///
/// ```
/// use tool_agent::run::Run;
///
/// // Nothing was saved under this id.
/// let error = Run::replay([]).unwrap_err();
/// println!("{error}");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ReplayError {
    message: String,
}

impl ReplayError {
    pub(super) fn new(message: impl Into<String>) -> ReplayError {
        ReplayError {
            message: message.into(),
        }
    }

    /// Adds the id of the run to the message.
    pub(crate) fn of_run(self, id: &str) -> ReplayError {
        ReplayError::new(format!("run {id:?}: {self}"))
    }
}

/// Shows the message, because `main` may return the error.
impl fmt::Debug for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ReplayError {}
