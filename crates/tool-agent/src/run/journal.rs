//! [`Journal`]: a store of runs.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Increment, Page, RunHead, RunState};
use tool_core::runtime::BoxFuture;

/// A store of runs. For each run, it has a list of increments and a [head](RunHead).
///
/// Two tables are enough. One has the columns run, number and increment (JSON), with the first two as its key. The
/// other has the latest head of each run. Test your implementation with
/// [`testing::assert_journal`](crate::testing::assert_journal).
///
/// ```
/// use tool_agent::run::{Journal, JournalError, MemoryJournal, Page, Run};
///
/// async fn titles(journal: &impl Journal) -> Result<Vec<String>, JournalError> {
///     let heads = journal.runs(Some("user-7"), Page::new(20)).await?;
///     Ok(heads.into_iter().map(|head| head.id).collect())
/// }
///
/// let journal = MemoryJournal::new();
/// let run = Run::builder("conversation-1").owner("user-7").build();
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// journal.append(run.head(), run.unsaved().to_vec()).await?;
/// assert_eq!(titles(&journal).await?, ["conversation-1"]);
/// # Ok::<(), JournalError>(())
/// # })?;
/// # Ok::<(), JournalError>(())
/// ```
pub trait Journal: Send + Sync {
    /// Appends all or none of the increments to the run `head.id`, and replaces its head. When the future completes,
    /// both must survive a crash of the program.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Conflict`] if the first [number](Increment::number) does not follow the last saved one
    /// (for a new run it must be 1), because another program continued the run. Use [`JournalError::Failed`] for other
    /// errors. After an error the journal has all of the increments or none, so the caller may append them again. If
    /// they were saved, that is a conflict. The same can happen if the future is dropped early. Loading the run
    /// resolves the conflict, because the loaded run has the increments.
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>>;

    /// Returns all increments of a run, by number. Empty if there is no such run.
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>>;

    /// Returns the heads of runs in a state, earliest first.
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>>;

    /// Returns the heads of runs with calls that wait for decisions, earliest first. This is an inbox. Your program
    /// decides who may see which entry.
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn waiting(&self, page: Page) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.in_state(RunState::Waiting, page)
    }

    /// Returns the heads of runs that a program was driving when they were saved, earliest first. If no process drives
    /// them any more, they were interrupted, such as by a crash or an error. `Conversations::resume_all` (feature
    /// `conversations`) continues them.
    ///
    /// ```
    /// use tool_agent::run::{Journal, JournalError, Page};
    /// use tool_agent::{Agent, AgentError};
    ///
    /// /// Continues the first interrupted runs, when no other process drives any.
    /// async fn go_on(agent: &Agent, journal: &dyn Journal) -> Result<(), AgentError> {
    ///     for head in journal.unfinished(Page::new(100)).await? {
    ///         if let Some(mut run) = agent.load(&head.id).await? {
    ///             agent.run(&mut run).await?;
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn unfinished(&self, page: Page) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.in_state(RunState::Unfinished, page)
    }

    /// Returns the heads of an owner's runs, latest first. `None` means the runs without an owner.
    ///
    /// # Errors
    ///
    /// Returns an error if they can't be read.
    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>>;

    /// Removes a run. Does nothing if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the run may still exist.
    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>>;

    /// Removes the runs that were last [saved](RunHead::saved_ms) before a time, even if they have waiting calls.
    /// Returns their number.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime, UNIX_EPOCH};
    /// use tool_agent::run::{Journal, JournalError};
    ///
    /// async fn forget(journal: &dyn Journal, age: Duration) -> Result<usize, JournalError> {
    ///     let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    ///     let before = now.saturating_sub(age).as_millis();
    ///     journal.remove_before(before.try_into().unwrap_or(0)).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if some of them may still exist.
    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>>;
}

/// Lets several owners share a journal.
impl<J: Journal + ?Sized> Journal for Arc<J> {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        (**self).append(head, increments)
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        (**self).load(run)
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        (**self).in_state(state, page)
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        (**self).runs(owner, page)
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        (**self).remove(run)
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        (**self).remove_before(saved_ms)
    }
}

/// An error of a [`Journal`].
///
/// ```
/// use tool_agent::run::JournalError;
///
/// // Used in your own journal, on top of files.
/// fn read(path: &str) -> Result<Vec<u8>, JournalError> {
///     std::fs::read(path).map_err(JournalError::failed)
/// }
///
/// assert!(matches!(read("no/such/file"), Err(JournalError::Failed(_))));
/// ```
#[non_exhaustive]
pub enum JournalError {
    /// Another program continued the run with this id.
    Conflict(String),
    /// The store failed.
    Failed(Box<dyn Error + Send + Sync>),
}

impl JournalError {
    /// Wraps an error of the store.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> JournalError {
        JournalError::Failed(error.into())
    }

    /// Adds the run that can't be saved or loaded.
    pub(crate) fn of_run(self, action: &'static str, run: &str) -> JournalError {
        match self {
            conflict @ JournalError::Conflict(_) => conflict,
            JournalError::Failed(error) => JournalError::failed(OfRun {
                action,
                run: run.to_owned(),
                error,
            }),
        }
    }
}

/// An error of the store, with the run.
#[derive(Debug)]
struct OfRun {
    action: &'static str,
    run: String,
    error: Box<dyn Error + Send + Sync>,
}

impl fmt::Display for OfRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OfRun { action, run, error } = self;
        write!(f, "can't {action} the run {run:?}: {error}")
    }
}

impl Error for OfRun {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.error)
    }
}

/// Shows the message and its sources, because `main` may return the error.
impl fmt::Debug for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error_text::write(self, f)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JournalError::Conflict(run) => {
                write!(
                    f,
                    "the journal has more of the run {run:?}: another program continued it, or an earlier run had the same \
                     id; load it, or choose another id"
                )
            }
            JournalError::Failed(error) => {
                let verb = if error.is::<OfRun>() { "" } else { "failed: " };
                write!(f, "the journal {verb}{error}")
            }
        }
    }
}

impl Error for JournalError {
    /// Skips the wrapped error, because its message is already displayed.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            JournalError::Conflict(_) => None,
            JournalError::Failed(error) => error.source(),
        }
    }
}

/// Returns [`JournalError::Conflict`] unless the increments follow the last saved number without a gap.
pub(super) fn check_next(
    run: &str,
    last: u64,
    increments: &[Increment],
) -> Result<(), JournalError> {
    let mut numbers = (last.saturating_add(1)..).zip(increments);
    if numbers.all(|(number, increment)| increment.number() == number) {
        Ok(())
    } else {
        Err(JournalError::Conflict(run.to_owned()))
    }
}

/// A [`Journal`] in memory, for tests and for runs that may end with the process.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::run::{MemoryJournal, Run};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// let model = ScriptedModel::default().say("Hello!");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model)
///     .journal(MemoryJournal::new());
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// agent.reply(&mut Run::new("conversation-1"), "Hello?").await?;
/// let run = agent.load("conversation-1").await?.expect("it is saved");
/// assert_eq!(run.rounds()[0].text(), "Hello!");
/// # Ok::<(), tool_agent::AgentError>(())
/// # })?;
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal(Arc<Mutex<HashMap<String, Saved>>>);

#[derive(Debug)]
struct Saved {
    head: RunHead,
    increments: Vec<Increment>,
}

impl MemoryJournal {
    /// Creates an empty journal.
    pub fn new() -> MemoryJournal {
        MemoryJournal::default()
    }

    /// Calls a function with the locked runs. It must not drop increments, because their results may contain values of
    /// the application.
    fn with<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut HashMap<String, Saved>) -> Result<T, JournalError>,
    ) -> BoxFuture<Result<T, JournalError>> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Box::pin(ready(run(&mut runs)))
    }

    fn heads(runs: &HashMap<String, Saved>) -> impl Iterator<Item = &RunHead> {
        runs.values().map(|saved| &saved.head)
    }
}

impl Journal for MemoryJournal {
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        let mut unsaved = Some((head, increments));
        let appended = self.with(|runs| {
            let Some((head, increments)) = &unsaved else {
                return Ok(());
            };
            let saved = runs.get(&head.id).map(|saved| &saved.increments);
            let last = saved.and_then(|saved| saved.last());
            check_next(&head.id, last.map_or(0, Increment::number), increments)?;
            if let Some((head, increments)) = unsaved.take_if(|(_, new)| !new.is_empty()) {
                let saved = runs.entry(head.id.clone()).or_insert_with(|| Saved {
                    head: head.clone(),
                    increments: Vec::new(),
                });
                saved.head = head;
                saved.increments.extend(increments);
            }
            Ok(())
        });
        drop(unsaved);
        appended
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        self.with(|runs| {
            let saved = runs.get(run).map(|saved| saved.increments.clone());
            Ok(saved.unwrap_or_default())
        })
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.with(|runs| Ok(page.in_state(state, MemoryJournal::heads(runs))))
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.with(|runs| Ok(page.of_owner(owner, MemoryJournal::heads(runs))))
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        let mut removed = None;
        let done = self.with(|runs| {
            removed = runs.remove(run);
            Ok(())
        });
        drop(removed);
        done
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        let mut removed = Vec::new();
        let done = self.with(|runs| {
            let old = runs.extract_if(|_, saved| saved.head.saved_ms < saved_ms);
            removed.extend(old);
            Ok(removed.len())
        });
        drop(removed);
        done
    }
}
