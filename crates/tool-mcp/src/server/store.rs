//! [`Store`]: what the processes of a server share.

mod contract;
mod memory;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rmcp::ErrorData;
use rmcp::model::{DetailedTask, InputRequests, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::runtime::BoxFuture;

use super::approval::{Approval, ApprovalLimits, Verdict};
use super::task_settings::TaskLimits;
use crate::lock;

pub use self::contract::assert_store;
pub use self::memory::MemoryStore;
#[cfg(feature = "sqlite")]
pub use self::sqlite::SqliteStore;

/// How often a client is asked to look for the result, in milliseconds.
const POLL_INTERVAL: u64 = 1000;

/// How much longer than it may run a task is believed to run.
const GRACE: Duration = Duration::from_secs(60);

/// Keeps the [tasks](crate::Server::tasks) and the [held calls](super::approvals) of a server, and passes on its notices,
/// for all processes that serve it.
///
/// [`MemoryStore`] is the default: it is shared by the servers of one process. `SqliteStore` (feature `sqlite`) is a file that
/// the processes of one machine share. Implement this trait for a database that several machines share.
///
/// A task runs in the process that started it. Any other process answers for it, from the store: its state, its questions and
/// its result. A held call waits in no process: it is decided on at any, and runs where its client makes it again. So a store
/// has three parts: a table of tasks, a table of held calls, and a way to wake the listeners of all processes.
///
/// A store for a database does four things:
///
/// - **A change of a task is atomic**: [`update`](Store::update) reads the task,
///   [applies](StoredTask::apply) the update and saves the task, in one transaction.
/// - **A task does not outlive its process**: once a process has not been seen for a time, [`TaskUpdate::interrupted`] is applied
///   to the tasks that it added.
/// - **A decision counts once**: of several concurrent [uses](Store::use_up) of an approval, one gets `true`. With an
///   approval as JSON, its columns `id`, `key` (unique), `requester`, `asked_ms`, `bytes` and `verdict` are enough.
/// - **Notices reach every process**: if a process [publishes](Store::publish) a notice, the listeners of
///   all processes are told, including its own. A process that may have missed some is told
///   [`Notice::Missed`].
///
/// ```
/// use tool_core::runtime::BoxFuture;
/// use tool_mcp::server::TaskLimits;
/// use tool_mcp::server::approvals::{Approval, ApprovalLimits, Verdict};
/// use tool_mcp::server::store::{Listener, MemoryStore, Notice, Store, StoreError, StoredTask, TaskUpdate};
///
/// /// Logs each task that is added, and each decision.
/// struct Logged(MemoryStore);
///
/// impl Store for Logged {
///     fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>> {
///         println!("task {} of {:?}", task.id(), task.owner());
///         self.0.add(task, limits)
///     }
///
///     fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
///         self.0.get(id)
///     }
///
///     fn update(
///         &self,
///         id: &str,
///         update: TaskUpdate,
///         limits: &TaskLimits,
///     ) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
///         self.0.update(id, update, limits)
///     }
///
///     fn hold(
///         &self,
///         approval: Approval,
///         limits: &ApprovalLimits,
///     ) -> BoxFuture<Result<Approval, StoreError>> {
///         self.0.hold(approval, limits)
///     }
///
///     fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>> {
///         self.0.held(id)
///     }
///
///     fn waiting(
///         &self,
///         after: Option<&Approval>,
///         limit: usize,
///     ) -> BoxFuture<Result<Vec<Approval>, StoreError>> {
///         self.0.waiting(after, limit)
///     }
///
///     fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>> {
///         println!("{} decides on {id}", verdict.by);
///         self.0.decide(id, verdict)
///     }
///
///     fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>> {
///         self.0.use_up(id)
///     }
///
///     fn publish(&self, notice: Notice) {
///         self.0.publish(notice);
///     }
///
///     fn listen(&self, listener: Listener) {
///         self.0.listen(listener);
///     }
/// }
/// ```
pub trait Store: Send + Sync + 'static {
    /// Adds a task, whose id is new.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Full`] if as many tasks run as may, in all or of its owner, and another error if the store fails.
    fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>>;

    /// Returns the task with an id, or `None` if there is none, or if its result has been kept for as long as it may.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>>;

    /// Applies an update to the task with an id, and returns the updated task. Beyond a limit of results,
    /// the tasks that ended first are removed, of its owner or of all.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn update(
        &self,
        id: &str,
        update: TaskUpdate,
        limits: &TaskLimits,
    ) -> BoxFuture<Result<Option<StoredTask>, StoreError>>;

    /// Adds an approval and returns it. If there is one with its [key](Approval::key), returns that one and adds nothing.
    /// First removes the approvals that are older than this one by more than [`kept_for`](ApprovalLimits::kept_for).
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Full`] if there is no room, in all or for its requester, and another error if the store fails.
    fn hold(
        &self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> BoxFuture<Result<Approval, StoreError>>;

    /// Returns the approval with an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>>;

    /// Returns the approvals without a verdict after this one, by [`asked_ms`](Approval::asked_ms) and id, at most `limit`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn waiting(
        &self,
        after: Option<&Approval>,
        limit: usize,
    ) -> BoxFuture<Result<Vec<Approval>, StoreError>>;

    /// Saves the verdict of an approval that has none. Returns `false`, and changes nothing, if it has one or does not
    /// exist. [`Approvals`](super::approvals::Approvals) call this once they have asked their policy.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>>;

    /// Removes an approval. Returns `true` if it did: of several concurrent calls, one gets `true`. A held call runs only
    /// after it gets `true`, so a decision counts once.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>>;

    /// Tells the listeners of all processes. Returns at once, and may be called on any thread, so slow work
    /// is done later.
    fn publish(&self, notice: Notice);

    /// Calls a closure with each notice from now on, until it returns `false`.
    fn listen(&self, listener: Listener);
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>> {
        (**self).add(task, limits)
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        (**self).get(id)
    }

    fn update(
        &self,
        id: &str,
        update: TaskUpdate,
        limits: &TaskLimits,
    ) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        (**self).update(id, update, limits)
    }

    fn hold(
        &self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> BoxFuture<Result<Approval, StoreError>> {
        (**self).hold(approval, limits)
    }

    fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>> {
        (**self).held(id)
    }

    fn waiting(
        &self,
        after: Option<&Approval>,
        limit: usize,
    ) -> BoxFuture<Result<Vec<Approval>, StoreError>> {
        (**self).waiting(after, limit)
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>> {
        (**self).decide(id, verdict)
    }

    fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>> {
        (**self).use_up(id)
    }

    fn publish(&self, notice: Notice) {
        (**self).publish(notice);
    }

    fn listen(&self, listener: Listener) {
        (**self).listen(listener);
    }
}

/// Is called with notices, until it returns `false`. It returns at once.
///
/// ```
/// use tool_mcp::server::store::{MemoryStore, Notice, Store};
///
/// let store = MemoryStore::default();
/// store.listen(Box::new(|notice| {
///     println!("{notice:?}");
///     true
/// }));
/// store.publish(Notice::Prompts);
/// ```
pub type Listener = Box<dyn Fn(&Notice) -> bool + Send + Sync>;

/// A notice from one process to the others.
///
/// ```
/// use tool_mcp::server::store::Notice;
///
/// // As a store for a database sends it to other processes.
/// let sent = serde_json::to_string(&Notice::Resource("notes://7".into()))?;
/// assert_eq!(serde_json::from_str::<Notice>(&sent)?, Notice::Resource("notes://7".into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Notice {
    /// The list of resources or of their templates has changed.
    Resources,
    /// The list of prompts has changed.
    Prompts,
    /// The content of the resource with this URI has changed.
    Resource(String),
    /// The task with this id was answered, cancelled or interrupted.
    Task(String),
    /// The held call with this id was added, decided on or used up.
    Held(String),
    /// Anything may have changed: notices were lost.
    Missed,
}

/// Why a store did not do something.
///
/// ```
/// use tool_mcp::server::store::StoreError;
///
/// let error = StoreError::failed("the disk is full");
/// assert_eq!(error.to_string(), "the store failed: the disk is full");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no room for another task or held call, in all or of its user.
    Full,
    /// The store failed. The client does not see the reason.
    Failed(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Creates the error of a store that failed.
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError::Failed(reason.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Full => f.write_str("the store has no room for another one"),
            StoreError::Failed(error) => write!(f, "the store failed: {error}"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StoreError::Full => None,
            StoreError::Failed(error) => Some(&**error),
        }
    }
}

/// A task as a [`Store`] keeps it. `serde` writes and reads it.
///
/// ```
/// use tool_mcp::server::store::{StoredTask, TaskUpdate};
///
/// /// Ends a task whose process is gone, in a transaction. Returns `None` if it had ended.
/// fn interrupt(saved: &str) -> Option<String> {
///     let mut task: StoredTask = serde_json::from_str(saved).ok()?;
///     if !task.apply(&TaskUpdate::interrupted()) {
///         return None;
///     }
///     serde_json::to_string(&task).ok()
/// }
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredTask {
    id: String,
    owner: Option<String>,
    created_at: String,
    updated_at: String,
    /// When nobody believes any more that it runs, in milliseconds since 1970.
    deadline_ms: u64,
    lifetime_ms: u64,
    message: Option<String>,
    state: State,
}

#[derive(Clone, Serialize, Deserialize)]
enum State {
    Running {
        /// The questions without an answer, as the client gets them.
        questions: BTreeMap<String, Value>,
        answers: BTreeMap<String, Value>,
        is_cancelled: bool,
    },
    /// With the result as JSON text.
    Completed(String),
    /// With the error as JSON text.
    Failed(String),
    Cancelled,
}

impl StoredTask {
    /// Creates a task that runs.
    pub(super) fn new(id: String, owner: Option<String>, limits: &TaskLimits) -> StoredTask {
        let now = current_timestamp();
        let deadline = limits.runs_for.saturating_add(GRACE);
        StoredTask {
            id,
            owner,
            created_at: now.clone(),
            updated_at: now,
            deadline_ms: now_ms().saturating_add(millis(deadline)),
            lifetime_ms: millis(limits.runs_for.saturating_add(limits.kept_for)),
            message: None,
            state: State::Running {
                questions: BTreeMap::new(),
                answers: BTreeMap::new(),
                is_cancelled: false,
            },
        }
    }

    /// Returns the id. Anyone who knows the id of a task without an owner may read the task.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns a digest of the user that the task belongs to.
    pub fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Returns `true` until the task has ended.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    /// Returns how many bytes the result has.
    pub fn bytes(&self) -> usize {
        match &self.state {
            State::Completed(json) | State::Failed(json) => json.len(),
            State::Running { .. } | State::Cancelled => 0,
        }
    }

    /// Applies an update. Returns `false` if it changes nothing: a task that has ended stays as it is.
    pub fn apply(&mut self, update: &TaskUpdate) -> bool {
        let State::Running {
            questions,
            answers,
            is_cancelled,
        } = &mut self.state
        else {
            return false;
        };
        match &update.0 {
            Update::Message(message) => self.message.clone_from(message),
            Update::Ask(key, question) => {
                // An answered question is not asked again.
                if answers.contains_key(key) {
                    return false;
                }
                questions.insert(key.clone(), question.clone());
            }
            Update::Answer(all) => {
                let asked: Vec<_> = all
                    .iter()
                    .filter(|(key, _)| questions.remove(*key).is_some())
                    .collect();
                if asked.is_empty() {
                    return false;
                }
                for (key, answer) in asked {
                    answers.insert(key.clone(), answer.clone());
                }
            }
            Update::Cancel => *is_cancelled = true,
            Update::End(end) => {
                self.state = end.clone();
                // The last progress message no longer applies.
                self.message = None;
            }
        }
        self.updated_at = current_timestamp();
        true
    }

    /// Returns the answer to a question, or `Err` if there is nothing to wait for.
    pub(super) fn answer(&self, key: &str) -> Result<Option<&Value>, ()> {
        match &self.state {
            State::Running {
                questions, answers, ..
            } => match answers.get(key) {
                None if !questions.contains_key(key) => Err(()),
                answer => Ok(answer),
            },
            _ => Err(()),
        }
    }

    /// Returns `true` if the call need not go on.
    pub(super) fn is_over(&self) -> bool {
        match &self.state {
            State::Running { is_cancelled, .. } => *is_cancelled,
            _ => true,
        }
    }

    /// Returns the task as clients get it.
    pub(super) fn task(&self) -> Task {
        let (created, updated) = (self.created_at.clone(), self.updated_at.clone());
        let mut task = Task::new(self.id.clone(), TaskStatus::Working, created, updated);
        task.ttl_ms = Some(self.lifetime_ms);
        task.poll_interval_ms = Some(POLL_INTERVAL);
        task.status_message.clone_from(&self.message);
        task
    }

    /// Returns the task as clients get it, with its questions or its result.
    pub(super) fn detailed(&self) -> DetailedTask {
        let object = |json: &str| serde_json::from_str(json).unwrap_or_default();
        let payload = match &self.state {
            // The process that ran it could not say how it ended.
            State::Running { .. } if now_ms() > self.deadline_ms => TaskPayload::Failed {
                error: object(&interruption()),
            },
            State::Running { questions, .. } => {
                let requests = questions.iter().filter_map(|(key, request)| {
                    Some((key.clone(), serde_json::from_value(request.clone()).ok()?))
                });
                let requests: InputRequests = requests.collect();
                if requests.is_empty() {
                    TaskPayload::Working
                } else {
                    TaskPayload::InputRequired {
                        input_requests: requests,
                    }
                }
            }
            State::Completed(json) => TaskPayload::Completed {
                result: object(json),
            },
            State::Failed(json) => TaskPayload::Failed {
                error: object(json),
            },
            State::Cancelled => TaskPayload::Cancelled,
        };
        DetailedTask::new(self.task(), payload)
    }
}

impl fmt::Debug for StoredTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its id, its questions and its result are the user's.
        f.debug_struct("StoredTask")
            .field("is_running", &self.is_running())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

/// A change of a [`StoredTask`].
///
/// ```
/// use tool_mcp::server::TaskLimits;
/// use tool_mcp::server::store::{MemoryStore, Store, TaskUpdate};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = MemoryStore::default();
/// let changed = store.update("no-task", TaskUpdate::interrupted(), &TaskLimits::default()).await;
/// assert!(changed.is_ok_and(|task| task.is_none()));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct TaskUpdate(Update);

#[derive(Clone)]
enum Update {
    Message(Option<String>),
    Ask(String, Value),
    Answer(BTreeMap<String, Value>),
    Cancel,
    End(State),
}

impl TaskUpdate {
    /// Ends a task whose process is gone: it has failed, and its client is told that nobody knows what the call did.
    pub fn interrupted() -> TaskUpdate {
        TaskUpdate(Update::End(State::Failed(interruption())))
    }

    pub(super) fn message(message: Option<String>) -> TaskUpdate {
        TaskUpdate(Update::Message(message))
    }

    pub(super) fn ask(key: &str, question: Value) -> TaskUpdate {
        TaskUpdate(Update::Ask(key.to_owned(), question))
    }

    pub(super) fn answer(answers: BTreeMap<String, Value>) -> TaskUpdate {
        TaskUpdate(Update::Answer(answers))
    }

    pub(super) fn cancel() -> TaskUpdate {
        TaskUpdate(Update::Cancel)
    }

    pub(super) fn completed(result: &impl Serialize) -> TaskUpdate {
        TaskUpdate(Update::End(State::Completed(json(result))))
    }

    pub(super) fn failed(error: &ErrorData) -> TaskUpdate {
        TaskUpdate(Update::End(State::Failed(json(error))))
    }

    pub(super) fn cancelled() -> TaskUpdate {
        TaskUpdate(Update::End(State::Cancelled))
    }

    /// Fails a task whose result has more bytes than this.
    pub(super) fn at_most(self, bytes: usize) -> TaskUpdate {
        match &self.0 {
            Update::End(State::Completed(json) | State::Failed(json)) if json.len() > bytes => {
                let message = "the result is too large to be kept";
                TaskUpdate::failed(&ErrorData::internal_error(message, None))
            }
            _ => self,
        }
    }
}

impl fmt::Debug for TaskUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Update::Message(_) => "Message",
            Update::Ask(..) => "Ask",
            Update::Answer(_) => "Answer",
            Update::Cancel => "Cancel",
            Update::End(_) => "End",
        })
    }
}

/// The error of a task whose process is gone, as JSON text.
fn interruption() -> String {
    let message = "the server that ran the task has ended, and nobody knows whether the call had an effect; check before \
        you call again";
    json(&ErrorData::internal_error(message, None))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time in milliseconds since 1970.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, millis)
}

/// The listeners of one process.
#[derive(Default)]
struct Listeners(Mutex<Vec<Arc<Listener>>>);

impl Listeners {
    fn add(&self, listener: Listener) {
        lock(&self.0).push(Arc::new(listener));
    }

    fn tell(&self, notice: &Notice) {
        // Not under the lock, because a listener may publish.
        let listeners = lock(&self.0).clone();
        for listener in listeners {
            if !listener(notice) {
                lock(&self.0).retain(|other| !Arc::ptr_eq(other, &listener));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_whose_end_was_never_written_fails_after_its_time() {
        let limits = TaskLimits::default();
        let mut task = StoredTask::new("a".to_owned(), None, &limits);
        assert_eq!(task.detailed().status(), TaskStatus::Working);
        task.deadline_ms = now_ms() - 1;
        assert_eq!(task.detailed().status(), TaskStatus::Failed);
        task.apply(&TaskUpdate::completed(&Value::Null));
        assert_eq!(task.detailed().status(), TaskStatus::Completed);
    }

    #[test]
    fn what_is_logged_of_a_task_tells_nothing_of_its_user() {
        let limits = TaskLimits::default();
        let mut task = StoredTask::new("the-id".to_owned(), Some("the-owner".to_owned()), &limits);
        let update = TaskUpdate::completed(&"the-result");
        task.apply(&update);
        let text = format!("{task:?} {update:?}");
        assert!(!text.contains("the-"), "{text}");
    }

    #[test]
    fn a_result_that_is_too_large_is_an_error() {
        let limits = TaskLimits::default();
        for (end, is_kept) in [
            (TaskUpdate::completed(&"x".repeat(98)), true),
            (TaskUpdate::completed(&"x".repeat(99)), false),
            (
                TaskUpdate::failed(&ErrorData::internal_error("x".repeat(99), None)),
                false,
            ),
        ] {
            let mut task = StoredTask::new("a".to_owned(), None, &limits);
            task.apply(&end.at_most(100));
            let shown = serde_json::to_string(&task.detailed()).unwrap();
            assert_eq!(!shown.contains("too large to be kept"), is_kept, "{shown}");
        }
    }
}
