//! Which calls may be tasks, and how many.

use std::time::Duration;

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
    /// A call runs within its request until it asks its user. Once that is answered, the call is a task if
    /// the client supports tasks, and asks its further questions as a task does. So nothing is kept for a
    /// question that nobody answers.
    ///
    /// A call that asks nothing ends within its request. So does each call of a client before version 2026-07-28, which is
    /// asked within the call.
    AfterQuestions,
}

/// The limits of the tasks of a server, in its [store](crate::Server::store).
///
/// At the limit of running tasks, a call is a protocol error. At a limit of results, the oldest are forgotten: their
/// tasks are unknown then. The limits of a user apply to users that have a [`UserId`](super::UserId).
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
