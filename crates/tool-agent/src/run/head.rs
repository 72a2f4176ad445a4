//! [`RunHead`]: the entry of a run in the lists of a journal.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{Pending, Run, Step};

/// The entry of a run in the lists of a [`Journal`](super::Journal). It contains the owner, the time of the last save,
/// and the calls that wait for a decision.
///
/// ```
/// use tool_agent::run::Run;
///
/// let run = Run::builder("conversation-1").owner("user-7").build();
/// let head = run.head();
/// assert_eq!((&*head.id, head.owner.as_deref()), ("conversation-1", Some("user-7")));
/// assert!(head.waiting.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunHead {
    /// The id of the run.
    pub id: String,
    /// The [owner](super::RunBuilder::owner) of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The time of the save, in milliseconds since the start of 1970 (UTC). 0 on platforms without a clock.
    pub saved_ms: u64,
    /// `true` if a request or a call comes next, which a program makes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unfinished: bool,
    /// The calls that wait for decisions. Empty while the run has other steps to do, because then somebody else
    /// continues it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Pending>,
}

/// Who continues a run.
///
/// ```
/// use tool_agent::run::{Run, RunState};
///
/// assert_eq!(Run::new("conversation-1").head().state(), RunState::Idle);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunState {
    /// The user, by the next message.
    Idle,
    /// A person, by a decision on a call.
    Waiting,
    /// The program: a request or a call comes next. If no process drives the run, it was interrupted.
    Unfinished,
}

impl RunHead {
    /// Returns who continues the run.
    pub fn state(&self) -> RunState {
        match self.waiting.is_empty() {
            false => RunState::Waiting,
            true if self.is_unfinished => RunState::Unfinished,
            true => RunState::Idle,
        }
    }
}

impl Run {
    /// Returns the current entry of the run for the lists of a [`Journal`](super::Journal).
    pub fn head(&self) -> RunHead {
        let (is_unfinished, waiting) = match self.next() {
            Step::Wait(waiting) if !self.runs_in_background() => (false, waiting),
            Step::Request(messages) => (!messages.is_empty(), Vec::new()),
            step => (!matches!(step, Step::Done(_)), Vec::new()),
        };
        RunHead {
            id: self.id().to_owned(),
            owner: self.info().owner().map(str::to_owned),
            saved_ms: now_ms(),
            is_unfinished,
            waiting,
        }
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn now_ms() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// This platform has no clock.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn now_ms() -> u64 {
    0
}

/// One page of a list of [heads](RunHead). The next page starts after the last head of this one, so runs that are saved
/// meanwhile don't shift it.
///
/// ```
/// use tool_agent::run::{Journal, JournalError, Page, RunHead};
///
/// async fn inbox(journal: &dyn Journal) -> Result<Vec<RunHead>, JournalError> {
///     let mut all = Vec::new();
///     let mut page = Page::new(100);
///     loop {
///         let heads = journal.waiting(page).await?;
///         let Some(last) = heads.last() else {
///             return Ok(all);
///         };
///         page = Page::new(100).after(last);
///         all.extend(heads);
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// Maximum number of heads.
    pub limit: usize,
    /// The time and id of the last head of the previous page.
    pub after: Option<(u64, String)>,
}

impl Page {
    /// Creates the first page, of at most this many heads.
    pub fn new(limit: usize) -> Page {
        Page { limit, after: None }
    }

    /// Starts the page after a head.
    pub fn after(mut self, head: &RunHead) -> Page {
        self.after = Some((head.saved_ms, head.id.clone()));
        self
    }

    /// Returns this page of the heads in a state, earliest first. Use it to implement
    /// [`Journal::in_state`](super::Journal::in_state) for a store without queries.
    pub fn in_state<'h>(
        &self,
        state: RunState,
        heads: impl IntoIterator<Item = &'h RunHead>,
    ) -> Vec<RunHead> {
        let is_before = |head: &RunHead| match &self.after {
            Some((time, id)) => (*time, &**id) < key(head),
            None => true,
        };
        let heads = heads.into_iter();
        let mut heads: Vec<_> = heads
            .filter(|head| head.state() == state && is_before(head))
            .collect();
        heads.sort_by(|a, b| key(a).cmp(&key(b)));
        heads.into_iter().take(self.limit).cloned().collect()
    }

    /// Returns this page of the heads of an owner, latest first. Use it to implement
    /// [`Journal::runs`](super::Journal::runs) for a store without queries.
    pub fn of_owner<'h>(
        &self,
        owner: Option<&str>,
        heads: impl IntoIterator<Item = &'h RunHead>,
    ) -> Vec<RunHead> {
        let after = |head: &RunHead| match &self.after {
            Some((time, id)) => key(head) < (*time, id),
            None => true,
        };
        let heads = heads.into_iter();
        let mut heads: Vec<_> = heads
            .filter(|head| head.owner.as_deref() == owner && after(head))
            .collect();
        heads.sort_by(|a, b| Reverse(key(a)).cmp(&Reverse(key(b))));
        heads.into_iter().take(self.limit).cloned().collect()
    }
}

/// Returns the sort key.
fn key(head: &RunHead) -> (u64, &str) {
    (head.saved_ms, &head.id)
}
