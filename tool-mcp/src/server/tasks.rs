//! Calls that continue after their response.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, CreateTaskResult, DetailedTask,
    InputResponses,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use tool_core::ToolCall;

use super::Core;
use super::ask::Asker;
use super::call::run_call;
use super::request::UserId;
use crate::lock;

/// The most tasks that run at a time.
const RUNNING: usize = 10_000;

/// How long a task is kept, and how long it may run.
const LIFETIME: Duration = Duration::from_secs(3600);

/// Says whether the calls of a tool may be tasks: they then end with a task, and the client asks for the result
/// later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskPolicy {
    /// No call is a task.
    #[default]
    Never,
    /// A call is a task if the client supports tasks.
    Optional,
    /// Each call is a task. It is a protocol error if the client does not support tasks.
    Required,
}

/// The tasks of a server, in memory.
#[derive(Default)]
pub(super) struct TaskStore {
    manager: TaskManager,
    owners: Mutex<HashMap<String, Owner>>,
}

struct Owner {
    user: Option<UserId>,
    /// When the manager has forgotten the task.
    expiry: Instant,
}

impl TaskStore {
    /// Starts a call as a task. Must run before anything of the call, and returns at once.
    pub(super) fn start(
        &self,
        core: Arc<Core>,
        call: ToolCall,
        user: Option<UserId>,
        capabilities: Option<ClientCapabilities>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.manager.running_task_count() >= RUNNING {
            return Err(ErrorData::internal_error(
                "too many tasks are running",
                None,
            ));
        }
        let lifetime = u64::try_from(LIFETIME.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(lifetime);
        // The owner is known before the client has the id, and the task can't be seen without one.
        let task = self.manager.spawn(options, |task| {
            Box::pin(run_task(core, call, task, capabilities))
        });
        let now = Instant::now();
        let mut owners = lock(&self.owners);
        if owners.len() == owners.capacity() {
            owners.retain(|_, owner| owner.expiry > now);
        }
        // The manager keeps a task for its lifetime after its end.
        let expiry = now + 2 * LIFETIME;
        owners.insert(task.task_id.clone(), Owner { user, expiry });
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    /// Checks that a task belongs to a user. Otherwise it is unknown.
    fn check(&self, id: &str, user: Option<&UserId>) -> Result<(), ErrorData> {
        let owners = lock(&self.owners);
        match owners.get(id) {
            Some(owner) if owner.user.as_ref() == user => Ok(()),
            _ => Err(ErrorData::invalid_params("unknown task", None)),
        }
    }

    pub(super) fn get(&self, id: &str, user: Option<&UserId>) -> Result<DetailedTask, ErrorData> {
        self.check(id, user)?;
        self.manager.get_task(id)
    }

    pub(super) fn update(
        &self,
        id: &str,
        user: Option<&UserId>,
        responses: InputResponses,
    ) -> Result<(), ErrorData> {
        self.check(id, user)?;
        self.manager.update_task(id, responses)
    }

    pub(super) fn cancel(&self, id: &str, user: Option<&UserId>) -> Result<(), ErrorData> {
        self.check(id, user)?;
        self.manager.cancel_task(id)
    }
}

async fn run_task(
    core: Arc<Core>,
    call: ToolCall,
    task: TaskContext,
    capabilities: Option<ClientCapabilities>,
) -> Result<CallToolResult, TaskExit> {
    let asker = Arc::new(Asker::of_task(task.clone(), capabilities));
    let status = task.clone();
    let call = call.on_progress(move |progress| {
        if let Some(message) = &progress.message {
            status.set_status_message(message);
        }
    });
    let finished = tokio::select! {
        finished = run_call(&core, call, &asker) => finished,
        () = task.cancelled() => return Err(TaskExit::Cancelled),
    };
    finished.map(|result| *result).map_err(TaskExit::Error)
}
