//! Calls that continue after their response.
//!
//! The store is not that of `rmcp`, which looks at every task whenever one starts, and keeps any number of results.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, DetailedTask,
    InputRequest, InputRequests, InputResponses, Task, TaskPayload, TaskStatus,
};
use rmcp::task_manager::current_timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;
use tool_core::call::CancellationToken;
use tool_core::{Registry, ToolCall};

use super::approvals::HeldCall;
use super::ask::Asker;
use super::call::{Purpose, run_call};
use super::request::UserId;
use super::state::{State as SignedState, random};
use crate::{hex, lock};

/// How often a client is asked to look for the result, in milliseconds.
const POLL_INTERVAL: u64 = 1000;

/// Says whether the calls of a tool may be tasks: they then end with a task, and the client asks for the result
/// later.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::server::TaskPolicy;
///
/// // What changes something may take long; its client asks for the result later.
/// let server = tool_mcp::Server::new(Registry::new()).tasks(|tool| {
///     match tool.annotations.read_only {
///         Some(true) => TaskPolicy::Never,
///         _ => TaskPolicy::Optional,
///     }
/// });
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskPolicy {
    /// No call is a task.
    #[default]
    Never,
    /// A call is a task if the client supports tasks.
    Optional,
    /// Each call is a task. It is a protocol error if the client does not support tasks.
    Required,
    /// A call runs within its request until it asks its user. Once that is answered, the call is a task if the client
    /// supports tasks, and asks what else it needs as a task does. Nothing is kept for a question that nobody answers.
    ///
    /// A call that asks nothing ends within its request. So does each call of a client before version 2026-07-28, which is
    /// asked within the call.
    AfterQuestions,
}

/// The limits of the tasks of a server, which keeps them in memory.
///
/// At the limit of running tasks, a call is a protocol error. At a limit of results, the oldest are forgotten: their
/// tasks are unknown then. The limits of a user apply to users that have a [`UserId`].
///
/// ```
/// use std::time::Duration;
///
/// use tool_core::Registry;
/// use tool_mcp::server::TaskLimits;
///
/// let mut limits = TaskLimits::default();
/// limits.kept_for = Duration::from_secs(60);
/// let server = tool_mcp::Server::new(Registry::new()).task_limits(limits);
/// # let _ = server;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskLimits {
    /// The most tasks that run at a time. The default is 10,000.
    pub running: usize,
    /// The most tasks of a user that run at a time. The default is 1,000.
    pub running_per_user: usize,
    /// The most results. The default is 10,000.
    pub results: usize,
    /// The most results of a user. The default is 1,000.
    pub results_per_user: usize,
    /// The most bytes of all results, as JSON. The default is 64 MiB.
    pub result_bytes: usize,
    /// The most bytes of the results of a user, as JSON. The default is 16 MiB. A task with a larger result fails.
    pub result_bytes_per_user: usize,
    /// How long a task may run. The default is an hour. It fails then.
    pub runs_for: Duration,
    /// How long a result is kept. The default is an hour.
    pub kept_for: Duration,
}

impl Default for TaskLimits {
    fn default() -> TaskLimits {
        TaskLimits {
            running: 10_000,
            running_per_user: 1000,
            results: 10_000,
            results_per_user: 1000,
            result_bytes: 64 << 20,
            result_bytes_per_user: 16 << 20,
            runs_for: Duration::from_secs(3600),
            kept_for: Duration::from_secs(3600),
        }
    }
}

/// What a client sends with a call that is made again.
type Answered = (SignedState, Option<InputResponses>);

/// The tasks of a server.
pub(super) struct TaskStore {
    tasks: Arc<Mutex<Tasks>>,
}

struct Tasks {
    limits: TaskLimits,
    by_id: HashMap<String, Entry>,
    /// The times and ids of the tasks that have ended, in the order of their ends.
    finished: BTreeMap<u64, (Instant, String)>,
    /// How many tasks have ended.
    ends: u64,
    all: Usage,
    users: HashMap<UserId, UserTasks>,
}

/// How much the tasks of a server or of a user take.
#[derive(Default)]
struct Usage {
    running: usize,
    results: usize,
    bytes: usize,
}

#[derive(Default)]
struct UserTasks {
    usage: Usage,
    /// The ids of the tasks that have ended, in the order of their ends.
    finished: BTreeMap<u64, String>,
}

struct Entry {
    task: Task,
    user: Option<UserId>,
    state: State,
}

enum State {
    Running {
        /// The questions without an answer.
        questions: HashMap<String, (InputRequest, oneshot::Sender<Value>)>,
        asked: HashSet<String>,
        cancellation: CancellationToken,
    },
    /// With its number in the order of ends.
    Finished(u64, Outcome),
}

/// The end of a task, with JSON text.
enum Outcome {
    Completed(Box<str>),
    Failed(Box<str>),
    Cancelled,
}

impl Outcome {
    fn failed(error: &ErrorData) -> Outcome {
        Outcome::Failed(json(error))
    }

    fn bytes(&self) -> usize {
        match self {
            Outcome::Completed(json) | Outcome::Failed(json) => json.len(),
            Outcome::Cancelled => 0,
        }
    }

    fn payload(&self) -> TaskPayload {
        let object = |json: &str| serde_json::from_str(json).unwrap_or_default();
        match self {
            Outcome::Completed(json) => TaskPayload::Completed {
                result: object(json),
            },
            Outcome::Failed(json) => TaskPayload::Failed {
                error: object(json),
            },
            Outcome::Cancelled => TaskPayload::Cancelled,
        }
    }
}

fn json(value: &impl Serialize) -> Box<str> {
    serde_json::to_string(value).unwrap_or_default().into()
}

impl TaskStore {
    pub(super) fn new(limits: TaskLimits) -> TaskStore {
        TaskStore {
            tasks: Arc::new(Mutex::new(Tasks {
                limits,
                by_id: HashMap::new(),
                finished: BTreeMap::new(),
                ends: 0,
                all: Usage::default(),
                users: HashMap::new(),
            })),
        }
    }

    /// Starts a call as a task, with the answers that its user gave before. Must run before anything of the call, and returns
    /// at once.
    pub(super) fn start(
        &self,
        registry: Registry,
        call: ToolCall,
        user: Option<UserId>,
        capabilities: Option<ClientCapabilities>,
        held: Option<Arc<HeldCall>>,
        answered: Option<Answered>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (task, context) = self.add(user)?;
        tokio::spawn(async move {
            let ending = EndOnDrop(context.clone());
            let asker = Arc::new(Asker::of_task(context.clone(), capabilities));
            if let Some((state, responses)) = answered {
                asker.resume(state, responses);
            }
            let outcome = run_task(&registry, call, &context, &asker, held).await;
            context.finish(outcome);
            drop(ending);
        });
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    fn add(&self, user: Option<UserId>) -> Result<(Task, TaskContext), ErrorData> {
        let id = hex(&random::<16>());
        let now = current_timestamp();
        let mut tasks = lock(&self.tasks);
        tasks.forget_expired(Instant::now());
        let of_user = user.as_ref().and_then(|user| tasks.users.get(user));
        let running = of_user.map_or(0, |tasks| tasks.usage.running);
        if tasks.all.running >= tasks.limits.running || running >= tasks.limits.running_per_user {
            let message = "too many tasks are running";
            return Err(ErrorData::internal_error(message, None));
        }
        let mut task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now);
        let lifetime = tasks.limits.runs_for.saturating_add(tasks.limits.kept_for);
        task.ttl_ms = Some(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX));
        task.poll_interval_ms = Some(POLL_INTERVAL);
        let cancellation = CancellationToken::new();
        let context = TaskContext {
            id: id.clone(),
            tasks: Arc::downgrade(&self.tasks),
            cancellation: cancellation.clone(),
            limit: tasks.limits.runs_for,
        };
        tasks.count(user.as_ref(), |usage| usage.running += 1);
        let entry = Entry {
            task: task.clone(),
            user,
            state: State::Running {
                questions: HashMap::new(),
                asked: HashSet::new(),
                cancellation,
            },
        };
        tasks.by_id.insert(id, entry);
        Ok((task, context))
    }

    /// Does something with a task of a user. That of another is unknown.
    fn with<T>(
        &self,
        id: &str,
        user: Option<&UserId>,
        work: impl FnOnce(&mut Entry) -> T,
    ) -> Result<T, ErrorData> {
        let mut tasks = lock(&self.tasks);
        tasks.forget_expired(Instant::now());
        match tasks.by_id.get_mut(id) {
            Some(entry) if entry.user.as_ref() == user => Ok(work(entry)),
            _ => Err(ErrorData::invalid_params("unknown task", None)),
        }
    }

    pub(super) fn get(&self, id: &str, user: Option<&UserId>) -> Result<DetailedTask, ErrorData> {
        self.with(id, user, |entry| entry.detailed())
    }

    pub(super) fn update(
        &self,
        id: &str,
        user: Option<&UserId>,
        responses: InputResponses,
    ) -> Result<(), ErrorData> {
        self.with(id, user, |entry| {
            if let State::Running { questions, .. } = &mut entry.state {
                for (key, response) in responses {
                    if let Some((_, sender)) = questions.remove(&key) {
                        // The call may not wait any more.
                        let _ = sender.send(response);
                    }
                }
                entry.touch();
            }
        })
    }

    pub(super) fn cancel(&self, id: &str, user: Option<&UserId>) -> Result<(), ErrorData> {
        self.with(id, user, |entry| {
            if let State::Running { cancellation, .. } = &entry.state {
                cancellation.cancel();
                entry.touch();
            }
        })
    }
}

impl Entry {
    fn touch(&mut self) {
        self.task.last_updated_at = current_timestamp();
    }

    fn detailed(&self) -> DetailedTask {
        let payload = match &self.state {
            State::Running { questions, .. } if questions.is_empty() => TaskPayload::Working,
            State::Running { questions, .. } => {
                let questions = questions.iter();
                let requests = questions.map(|(key, (request, _))| (key.clone(), request.clone()));
                TaskPayload::InputRequired {
                    input_requests: requests.collect::<InputRequests>(),
                }
            }
            State::Finished(_, outcome) => outcome.payload(),
        };
        DetailedTask::new(self.task.clone(), payload)
    }
}

impl Tasks {
    fn count(&mut self, user: Option<&UserId>, change: impl Fn(&mut Usage)) {
        change(&mut self.all);
        if let Some(user) = user {
            let tasks = self.users.entry(user.clone()).or_default();
            change(&mut tasks.usage);
            if tasks.usage.running == 0 && tasks.usage.results == 0 {
                self.users.remove(user);
            }
        }
    }

    /// Keeps the result of a task, and forgets the oldest ones beyond the limits.
    fn finish(&mut self, id: &str, mut outcome: Outcome) {
        let now = Instant::now();
        self.forget_expired(now);
        let Some(entry) = self.by_id.get_mut(id) else {
            return;
        };
        if !matches!(entry.state, State::Running { .. }) {
            return;
        }
        let user = entry.user.clone();
        let most = match &user {
            Some(_) => self
                .limits
                .result_bytes
                .min(self.limits.result_bytes_per_user),
            None => self.limits.result_bytes,
        };
        if outcome.bytes() > most {
            let message = "the result is too large to be kept";
            outcome = Outcome::failed(&ErrorData::internal_error(message, None));
        }
        let bytes = outcome.bytes();
        self.ends += 1;
        let number = self.ends;
        entry.state = State::Finished(number, outcome);
        entry.touch();
        self.count(user.as_ref(), |usage| {
            usage.running -= 1;
            usage.results += 1;
            usage.bytes += bytes;
        });
        self.finished.insert(number, (now, id.to_owned()));
        if let Some(user) = &user {
            if let Some(tasks) = self.users.get_mut(user) {
                tasks.finished.insert(number, id.to_owned());
            }
            while let Some(tasks) = self.users.get(user)
                && (tasks.usage.results > self.limits.results_per_user
                    || tasks.usage.bytes > self.limits.result_bytes_per_user)
                && let Some(oldest) = tasks.finished.values().next().cloned()
            {
                self.forget(&oldest);
            }
        }
        while (self.all.results > self.limits.results || self.all.bytes > self.limits.result_bytes)
            && let Some((_, oldest)) = self.finished.values().next().cloned()
        {
            self.forget(&oldest);
        }
    }

    fn forget_expired(&mut self, now: Instant) {
        while let Some((end, id)) = self.finished.values().next()
            && now.duration_since(*end) >= self.limits.kept_for
        {
            let id = id.clone();
            self.forget(&id);
        }
    }

    /// Forgets a task that has ended.
    fn forget(&mut self, id: &str) {
        if let Some(entry) = self.by_id.remove(id)
            && let State::Finished(number, outcome) = entry.state
        {
            self.finished.remove(&number);
            let user = entry.user.as_ref();
            if let Some(tasks) = user.and_then(|user| self.users.get_mut(user)) {
                tasks.finished.remove(&number);
            }
            let bytes = outcome.bytes();
            self.count(user, |usage| {
                usage.results -= 1;
                usage.bytes -= bytes;
            });
        }
    }
}

/// What a running call knows of its task.
#[derive(Clone)]
pub(super) struct TaskContext {
    id: String,
    tasks: Weak<Mutex<Tasks>>,
    cancellation: CancellationToken,
    limit: Duration,
}

impl TaskContext {
    /// Asks the client, and waits for its answer. `None` if the key was used before.
    pub(super) async fn ask(&self, key: &str, request: InputRequest) -> Option<Value> {
        let (sender, receiver) = oneshot::channel();
        self.with(|entry| {
            let State::Running {
                questions, asked, ..
            } = &mut entry.state
            else {
                return;
            };
            if asked.insert(key.to_owned()) {
                questions.insert(key.to_owned(), (request, sender));
                entry.touch();
            }
        });
        receiver.await.ok()
    }

    pub(super) fn set_message(&self, message: Option<&str>) {
        self.with(|entry| {
            entry.task.status_message = message.map(ToOwned::to_owned);
            entry.touch();
        });
    }

    fn with(&self, work: impl FnOnce(&mut Entry)) {
        if let Some(tasks) = self.tasks.upgrade()
            && let Some(entry) = lock(&tasks).by_id.get_mut(&self.id)
        {
            work(entry);
        }
    }

    fn finish(&self, outcome: Outcome) {
        if let Some(tasks) = self.tasks.upgrade() {
            lock(&tasks).finish(&self.id, outcome);
        }
    }
}

/// Ends a task whose call was dropped or panicked.
struct EndOnDrop(TaskContext);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // It has no effect on a task that has ended.
        self.0.finish(Outcome::Cancelled);
    }
}

async fn run_task(
    registry: &Registry,
    call: ToolCall,
    task: &TaskContext,
    asker: &Arc<Asker>,
    held: Option<Arc<HeldCall>>,
) -> Outcome {
    let status = task.clone();
    let call = call.on_progress(move |progress| {
        if let Some(message) = &progress.message {
            status.set_message(Some(message));
        }
    });
    let running = tokio::time::timeout(
        task.limit,
        run_call(Purpose::Tool, registry, call, asker, held.as_ref()),
    );
    let finished: Result<Box<CallToolResult>, ErrorData> = tokio::select! {
        finished = running => finished.unwrap_or_else(|_| {
            Err(ErrorData::internal_error("the task took too long", None))
        }),
        () = task.cancellation.cancelled() => return Outcome::Cancelled,
    };
    match finished {
        Ok(result) => Outcome::Completed(json(&result)),
        Err(error) => Outcome::failed(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(bytes: usize) -> Outcome {
        Outcome::Completed(format!("\"{}\"", "x".repeat(bytes - 2)).into())
    }

    fn store(change: impl FnOnce(&mut TaskLimits)) -> TaskStore {
        let mut limits = TaskLimits::default();
        change(&mut limits);
        TaskStore::new(limits)
    }

    fn user(name: &str) -> Option<UserId> {
        Some(UserId::new(name))
    }

    /// Starts and ends a task. Returns its id.
    fn finish(store: &TaskStore, user: Option<UserId>, outcome: Outcome) -> String {
        let (task, context) = store.add(user).unwrap();
        context.finish(outcome);
        task.task_id
    }

    /// Compares what is counted with what is there.
    fn check(store: &TaskStore) {
        let tasks = lock(&store.tasks);
        let mut bytes = HashMap::<_, usize>::new();
        let (mut results, mut running) = (0, 0);
        for entry in tasks.by_id.values() {
            match &entry.state {
                State::Running { .. } => running += 1,
                State::Finished(_, outcome) => {
                    results += 1;
                    *bytes.entry(entry.user.clone()).or_default() += outcome.bytes();
                }
            }
        }
        let all = &tasks.all;
        assert_eq!((all.running, all.results), (running, results));
        assert_eq!(tasks.finished.len(), results);
        assert_eq!(all.bytes, bytes.values().sum::<usize>());
        for (user, of_user) in &tasks.users {
            let expected = bytes.get(&Some(user.clone())).copied().unwrap_or_default();
            assert_eq!(of_user.usage.bytes, expected);
            assert_eq!(of_user.finished.len(), of_user.usage.results);
        }
    }

    #[test]
    fn results_are_limited_in_all_and_for_each_user() {
        let store = store(|limits| {
            limits.results = 50;
            limits.results_per_user = 10;
            limits.result_bytes = 10_000;
            limits.result_bytes_per_user = 1000;
        });
        let first = finish(&store, user("bob"), completed(10));
        let mut last = String::new();
        for round in 0..1000 {
            last = finish(&store, user("ada"), completed(10 + round % 300));
            check(&store);
        }
        let ada = user("ada");
        assert!(store.get(&last, ada.as_ref()).is_ok());
        // A flood of one user leaves the results of others.
        assert!(store.get(&first, user("bob").as_ref()).is_ok());
        assert!(store.get(&first, ada.as_ref()).is_err());
        for round in 0..1000 {
            finish(&store, user(&round.to_string()), completed(400));
            check(&store);
        }
        let tasks = lock(&store.tasks);
        assert_eq!(
            (tasks.all.results, tasks.by_id.len(), tasks.users.len()),
            (25, 25, 25)
        );
    }

    #[test]
    fn a_result_that_is_too_large_fails_its_task_only() {
        let store = store(|limits| limits.result_bytes_per_user = 1000);
        let kept = finish(&store, user("ada"), completed(900));
        let large = finish(&store, user("ada"), completed(1001));
        let status = |id: &str| store.get(id, user("ada").as_ref()).unwrap().status();
        assert_eq!(status(&large), TaskStatus::Failed);
        assert_eq!(status(&kept), TaskStatus::Completed);
        let of_nobody = finish(&store, None, completed(1001));
        assert_eq!(
            store.get(&of_nobody, None).unwrap().status(),
            TaskStatus::Completed
        );
    }

    #[test]
    fn running_tasks_are_limited_in_all_and_for_each_user() {
        let store = store(|limits| {
            limits.running = 3;
            limits.running_per_user = 2;
        });
        let (_, first) = store.add(user("ada")).unwrap();
        store.add(user("ada")).unwrap();
        assert!(store.add(user("ada")).is_err());
        store.add(user("bob")).unwrap();
        assert!(store.add(None).is_err());
        drop(EndOnDrop(first));
        store.add(user("ada")).unwrap();
        check(&store);
    }

    #[test]
    fn results_are_forgotten_when_their_time_is_over() {
        let store = store(|limits| limits.kept_for = Duration::ZERO);
        let id = finish(&store, None, completed(10));
        assert!(store.get(&id, None).is_err());
        check(&store);
        let tasks = lock(&store.tasks);
        assert!(tasks.by_id.is_empty() && tasks.finished.is_empty());
    }
}
