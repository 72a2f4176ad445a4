//! Calls that continue after their response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, InputRequest, InputResponses,
};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::request::UserId;
use super::state::{digest, random};
use super::store::{Notice, Store, StoreError, StoredTask, TaskUpdate};
use super::task_settings::TaskLimits;
use crate::{hex, lock};

/// How long a message of a task is shown before the next one.
const PAUSE: Duration = Duration::from_millis(100);

/// How often a waiting task looks at the store without a notice, because a process may end between a change
/// and its notice.
const LOOK: Duration = Duration::from_secs(30);

/// How often the end of a task is written before it is given up.
const ATTEMPTS: u32 = 5;

/// The result of a call, or an error of the protocol.
pub(super) type Finished = Result<Box<CallToolResult>, ErrorData>;

/// The tasks of a server.
#[derive(Clone)]
pub(super) struct Tasks {
    store: Arc<dyn Store>,
    limits: TaskLimits,
    running: Arc<Running>,
}

/// The tasks that run in this process, with the channels that wake them.
type Running = Mutex<HashMap<String, watch::Sender<()>>>;

impl Tasks {
    pub(super) fn new(store: Arc<dyn Store>, limits: TaskLimits) -> Tasks {
        Tasks {
            store,
            limits,
            running: Arc::default(),
        }
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Starts a task, which makes a call. Must run before any other step of the call.
    pub(super) async fn start<F>(
        &self,
        user: Option<&UserId>,
        call: impl FnOnce(TaskContext) -> F + Send + 'static,
    ) -> Result<CallToolResponse, ErrorData>
    where
        F: Future<Output = Finished> + Send,
    {
        let (context, task) = self.create(user);
        let created = task.task();
        let (added, is_added) = oneshot::channel();
        // A client that leaves meanwhile does not leave a task that never ends.
        tokio::spawn(async move {
            let Tasks { store, limits, .. } = &context.0.tasks;
            let adding = store.add(task, limits).await;
            let is_added = adding.is_ok();
            let _ = added.send(adding);
            if !is_added {
                return;
            }
            let ending = EndOnDrop(context.clone());
            let end = context.run(call(context.clone())).await;
            context.end(end).await;
            drop(ending);
        });
        match is_added.await {
            Ok(Ok(())) => Ok(CallToolResponse::Task(CreateTaskResult::new(created))),
            Ok(Err(error)) => Err(hidden(&error)),
            Err(_) => Err(ErrorData::internal_error(
                "the server is shutting down",
                None,
            )),
        }
    }

    fn create(&self, user: Option<&UserId>) -> (TaskContext, StoredTask) {
        let id = hex(&random::<16>());
        let task = StoredTask::new(id.clone(), owner(user), &self.limits);
        let (sender, woken) = watch::channel(());
        lock(&self.running).insert(id.clone(), sender);
        let (message, messages) = watch::channel(None);
        let all = self.limits.result_bytes;
        let most = user.map_or(all, |_| all.min(self.limits.result_bytes_per_user));
        let tasks = self.clone();
        let run = Run {
            id,
            most,
            tasks,
            woken,
            message,
            messages,
        };
        (TaskContext(Arc::new(run)), task)
    }

    /// Returns a task of a user. A task of another user is unknown.
    async fn find(&self, id: &str, user: Option<&UserId>) -> Result<StoredTask, ErrorData> {
        match self.store.get(id).await {
            Ok(Some(task)) if task.owner() == owner(user).as_deref() => Ok(task),
            Ok(_) => Err(ErrorData::invalid_params("unknown task", None)),
            Err(error) => Err(hidden(&error)),
        }
    }

    pub(super) async fn get(
        &self,
        id: &str,
        user: Option<&UserId>,
    ) -> Result<DetailedTask, ErrorData> {
        Ok(self.find(id, user).await?.detailed())
    }

    pub(super) async fn update(
        &self,
        id: &str,
        user: Option<&UserId>,
        responses: InputResponses,
    ) -> Result<(), ErrorData> {
        let answers = responses.into_iter().collect();
        self.change(id, user, TaskUpdate::answer(answers)).await
    }

    pub(super) async fn cancel(&self, id: &str, user: Option<&UserId>) -> Result<(), ErrorData> {
        self.change(id, user, TaskUpdate::cancel()).await
    }

    /// Changes a task of a user, and wakes it wherever it runs.
    async fn change(
        &self,
        id: &str,
        user: Option<&UserId>,
        update: TaskUpdate,
    ) -> Result<(), ErrorData> {
        self.find(id, user).await?;
        let changed = self.store.update(id, update, &self.limits).await;
        changed.map_err(|error| hidden(&error))?;
        self.store.publish(Notice::Task(id.to_owned()));
        Ok(())
    }

    /// Lets a task look at the store, if it runs here. Without an id, all do.
    pub(super) fn wake(&self, id: Option<&str>) {
        let running = lock(&self.running);
        match id {
            Some(id) => running
                .get(id)
                .into_iter()
                .for_each(|task| task.send_replace(())),
            None => running.values().for_each(|task| task.send_replace(())),
        }
    }
}

/// Returns what the store knows a user by. A name may be a token.
fn owner(user: Option<&UserId>) -> Option<String> {
    user.map(|user| digest(&["tool-mcp task", user.as_str()]))
}

/// Returns the error for a client, which does not see the store's problem.
fn hidden(error: &StoreError) -> ErrorData {
    if matches!(error, StoreError::Full) {
        return ErrorData::internal_error("too many tasks are running", None);
    }
    tracing::warn!(%error, "a task can't be read or written");
    let message = "tasks can't be read or written at the moment; try again later";
    ErrorData::internal_error(message, None)
}

/// The state of its task that a running call sees.
#[derive(Clone)]
pub(super) struct TaskContext(Arc<Run>);

/// A task that runs in this process.
struct Run {
    id: String,
    /// The most bytes of its result.
    most: usize,
    tasks: Tasks,
    woken: watch::Receiver<()>,
    message: watch::Sender<Option<String>>,
    /// Has seen no message.
    messages: watch::Receiver<Option<String>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        lock(&self.tasks.running).remove(&self.id);
    }
}

impl TaskContext {
    /// Asks the client, and waits for its answer. `None` if there will be none.
    pub(super) async fn ask(&self, key: &str, request: InputRequest) -> Option<Value> {
        let mut woken = self.0.woken.clone();
        let question = serde_json::to_value(request).ok()?;
        let asked = self.update(TaskUpdate::ask(key, question)).await;
        let mut task = asked.map_err(|error| hidden(&error)).ok()??;
        loop {
            if let Some(answer) = task.answer(key).ok()? {
                return Some(answer.clone());
            }
            look(&mut woken).await;
            match self.find().await {
                Ok(found) => task = found?,
                Err(error) => drop(hidden(&error)),
            }
        }
    }

    /// Sets what the client is told while it waits.
    pub(super) fn set_message(&self, message: Option<&str>) {
        let message = message.map(ToOwned::to_owned);
        self.0.message.send_replace(message);
    }

    /// Runs the call, and returns how the task ends.
    async fn run(&self, call: impl Future<Output = Finished>) -> TaskUpdate {
        let running = tokio::time::timeout(self.0.tasks.limits.runs_for, call);
        let finished = tokio::select! {
            finished = running => finished.unwrap_or_else(|_| {
                Err(ErrorData::internal_error("the task took too long", None))
            }),
            () = self.over() => return TaskUpdate::cancelled(),
            () = self.write_messages() => return TaskUpdate::cancelled(),
        };
        match finished {
            Ok(result) => TaskUpdate::completed(&result),
            Err(error) => TaskUpdate::failed(&error),
        }
    }

    /// Writes the messages.
    async fn write_messages(&self) {
        let mut messages = self.0.messages.clone();
        while messages.changed().await.is_ok() {
            let message = messages.borrow_and_update().clone();
            if let Err(error) = self.update(TaskUpdate::message(message)).await {
                hidden(&error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Completes once the client has cancelled the task, or another process has ended it.
    async fn over(&self) {
        let mut woken = self.0.woken.clone();
        loop {
            look(&mut woken).await;
            match self.find().await {
                Ok(task) if task.as_ref().is_none_or(StoredTask::is_over) => return,
                Ok(_) => {}
                Err(error) => drop(hidden(&error)),
            }
        }
    }

    async fn find(&self) -> Result<Option<StoredTask>, StoreError> {
        self.0.tasks.store.get(&self.0.id).await
    }

    async fn update(&self, update: TaskUpdate) -> Result<Option<StoredTask>, StoreError> {
        let Tasks { store, limits, .. } = &self.0.tasks;
        store.update(&self.0.id, update, limits).await
    }

    async fn end(&self, end: TaskUpdate) {
        let end = end.at_most(self.0.most);
        for attempt in 1..=ATTEMPTS {
            match self.update(end.clone()).await {
                Ok(_) => return,
                Err(error) => drop(hidden(&error)),
            }
            tokio::time::sleep(PAUSE * attempt).await;
        }
    }
}

/// Waits until it is time to look at the store.
async fn look(woken: &mut watch::Receiver<()>) {
    // The sender is only dropped with the task.
    let _ = tokio::time::timeout(LOOK, woken.changed()).await;
}

/// Ends a task whose call was dropped or panicked.
struct EndOnDrop(TaskContext);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // It has no effect on a task that has ended. A store that waits here ends the task with its process.
        let _ = self.0.update(TaskUpdate::cancelled()).now_or_never();
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::MemoryStore;
    use super::*;

    fn tasks(change: impl FnOnce(&mut TaskLimits)) -> Tasks {
        let mut limits = TaskLimits::default();
        change(&mut limits);
        Tasks::new(Arc::new(MemoryStore::default()), limits)
    }

    async fn add(tasks: &Tasks, user: Option<&UserId>) -> TaskContext {
        let (context, task) = tasks.create(user);
        tasks.store.add(task, &tasks.limits).await.unwrap();
        context
    }

    fn completed(bytes: usize) -> TaskUpdate {
        TaskUpdate::completed(&"x".repeat(bytes - 2))
    }

    #[tokio::test]
    async fn a_result_that_is_too_large_fails_its_task_only() {
        let tasks = tasks(|limits| limits.result_bytes_per_user = 1000);
        let ada = UserId::new("ada");
        for (user, bytes, expected) in [
            (Some(&ada), 900, "completed"),
            (Some(&ada), 1001, "failed"),
            (None, 1001, "completed"),
        ] {
            let context = add(&tasks, user).await;
            context.end(completed(bytes)).await;
            let task = tasks.get(&context.0.id, user).await.unwrap();
            let task = serde_json::to_value(task).unwrap();
            assert_eq!(task["status"], expected);
        }
    }

    #[tokio::test]
    async fn a_call_that_is_dropped_ends_its_task() {
        let tasks = tasks(|_| {});
        let context = add(&tasks, None).await;
        let id = context.0.id.clone();
        drop(EndOnDrop(context));
        let task = tasks.store.get(&id).await.unwrap().unwrap();
        assert!(!task.is_running());
        assert!(lock(&tasks.running).is_empty());
    }

    #[test]
    fn the_store_does_not_see_the_name_of_a_user() {
        // It may be a token.
        let tasks = tasks(|_| {});
        let (_, task) = tasks.create(Some(&UserId::new("token-of-ada")));
        let json = serde_json::to_string(&task).unwrap();
        assert!(!json.contains("token-of"), "{json}");
        assert_ne!(
            task.owner(),
            owner(Some(&UserId::new("token-of-bob"))).as_deref()
        );
    }
}
