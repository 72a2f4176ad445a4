//! [`MemoryStore`]: tasks and held calls in memory.

mod held;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tool_core::runtime::BoxFuture;

use self::held::Held;
use super::{Listener, Listeners, Notice, Store, StoreError, StoredTask, TaskUpdate};
use crate::lock;
use crate::server::approval::{Approval, ApprovalLimits, Verdict};
use crate::server::task_settings::TaskLimits;

/// A [`Store`] in memory, which ends with the process. Clones share the tasks and the held
/// calls. It is the default.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::store::MemoryStore;
///
/// // Two servers of one process that answer for the same tasks.
/// let store = MemoryStore::default();
/// let first = Server::new(Registry::new()).store(store.clone());
/// let second = Server::new(Registry::new()).store(store);
/// # let _ = (first, second);
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    tasks: Arc<Mutex<Tasks>>,
    held: Arc<Mutex<Held>>,
    listeners: Arc<Listeners>,
}

/// It differs from the store of `rmcp`, which looks at every task whenever one starts, and keeps any number of results.
#[derive(Default)]
struct Tasks {
    by_id: HashMap<String, Entry>,
    /// The tasks that have ended, in the order of their ends, with when their results are forgotten.
    finished: BTreeMap<u64, (Option<Instant>, String)>,
    /// How many tasks have ended.
    ends: u64,
    all: Usage,
    owners: HashMap<String, OfOwner>,
}

struct Entry {
    task: StoredTask,
    /// Its number in the order of ends.
    end: Option<u64>,
}

/// How much the tasks of all or of an owner take.
#[derive(Default)]
struct Usage {
    running: usize,
    results: usize,
    bytes: usize,
}

#[derive(Default)]
struct OfOwner {
    usage: Usage,
    /// The ids of the tasks that have ended, in the order of their ends.
    finished: BTreeMap<u64, String>,
}

impl Store for MemoryStore {
    fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>> {
        Box::pin(ready(lock(&self.tasks).add(task, limits)))
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        let mut tasks = lock(&self.tasks);
        let task = tasks.find(id).map(|entry| entry.task.clone());
        Box::pin(ready(Ok(task)))
    }

    fn update(
        &self,
        id: &str,
        update: TaskUpdate,
        limits: &TaskLimits,
    ) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        Box::pin(ready(Ok(lock(&self.tasks).update(id, &update, limits))))
    }

    fn hold(
        &self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> BoxFuture<Result<Approval, StoreError>> {
        Box::pin(ready(lock(&self.held).hold(approval, limits)))
    }

    fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>> {
        Box::pin(ready(Ok(lock(&self.held).get(id))))
    }

    fn waiting(
        &self,
        after: Option<&Approval>,
        limit: usize,
    ) -> BoxFuture<Result<Vec<Approval>, StoreError>> {
        Box::pin(ready(Ok(lock(&self.held).waiting(after, limit))))
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>> {
        Box::pin(ready(Ok(lock(&self.held).decide(id, verdict))))
    }

    fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>> {
        Box::pin(ready(Ok(lock(&self.held).use_up(id))))
    }

    fn publish(&self, notice: Notice) {
        self.listeners.tell(&notice);
    }

    fn listen(&self, listener: Listener) {
        self.listeners.add(listener);
    }
}

impl Tasks {
    fn add(&mut self, task: StoredTask, limits: &TaskLimits) -> Result<(), StoreError> {
        self.forget_expired();
        let of_owner = task.owner().and_then(|owner| self.owners.get(owner));
        let running = of_owner.map_or(0, |tasks| tasks.usage.running);
        if self.all.running >= limits.running || running >= limits.running_per_user {
            return Err(StoreError::Full);
        }
        self.count(task.owner(), |usage| usage.running += 1);
        let id = task.id().to_owned();
        self.by_id.insert(id, Entry { task, end: None });
        Ok(())
    }

    fn update(&mut self, id: &str, update: &TaskUpdate, limits: &TaskLimits) -> Option<StoredTask> {
        let end = self.ends + 1;
        let entry = self.find(id)?;
        entry.task.apply(update);
        let task = entry.task.clone();
        if entry.end.is_none() && !task.is_running() {
            entry.end = Some(end);
            self.ends = end;
            self.finish(&task, limits);
        }
        Some(task)
    }

    fn find(&mut self, id: &str) -> Option<&mut Entry> {
        self.forget_expired();
        let expired = self.by_id.get(id)?.end.is_some_and(|number| {
            let ended = self.finished.get(&number);
            ended.is_some_and(|(expiry, _)| is_over(*expiry))
        });
        if expired {
            self.forget(id);
        }
        self.by_id.get_mut(id)
    }

    /// Counts a task that has ended, and forgets the oldest ones beyond the limits.
    fn finish(&mut self, task: &StoredTask, limits: &TaskLimits) {
        let (number, id, owner) = (self.ends, task.id().to_owned(), task.owner());
        let bytes = task.bytes();
        self.count(owner, |usage| {
            usage.running -= 1;
            usage.results += 1;
            usage.bytes += bytes;
        });
        let expiry = Instant::now().checked_add(limits.kept_for);
        self.finished.insert(number, (expiry, id.clone()));
        if let Some(owner) = owner {
            if let Some(tasks) = self.owners.get_mut(owner) {
                tasks.finished.insert(number, id);
            }
            while let Some(tasks) = self.owners.get(owner)
                && (tasks.usage.results > limits.results_per_user
                    || tasks.usage.bytes > limits.result_bytes_per_user)
                && let Some(oldest) = tasks.finished.values().next().cloned()
            {
                self.forget(&oldest);
            }
        }
        while (self.all.results > limits.results || self.all.bytes > limits.result_bytes)
            && let Some((_, oldest)) = self.finished.values().next().cloned()
        {
            self.forget(&oldest);
        }
    }

    /// Forgets the tasks that ended first, up to one that is kept. Servers with other limits may keep theirs for longer.
    fn forget_expired(&mut self) {
        while let Some((expiry, id)) = self.finished.values().next()
            && is_over(*expiry)
        {
            let id = id.clone();
            self.forget(&id);
        }
    }

    /// Forgets a task that has ended.
    fn forget(&mut self, id: &str) {
        if let Some(Entry {
            task,
            end: Some(number),
        }) = self.by_id.remove(id)
        {
            self.finished.remove(&number);
            if let Some(tasks) = task.owner().and_then(|owner| self.owners.get_mut(owner)) {
                tasks.finished.remove(&number);
            }
            self.count(task.owner(), |usage| {
                usage.results -= 1;
                usage.bytes -= task.bytes();
            });
        }
    }

    fn count(&mut self, owner: Option<&str>, change: impl Fn(&mut Usage)) {
        change(&mut self.all);
        if let Some(owner) = owner {
            let tasks = self.owners.entry(owner.to_owned()).or_default();
            change(&mut tasks.usage);
            if tasks.usage.running == 0 && tasks.usage.results == 0 {
                self.owners.remove(owner);
            }
        }
    }
}

fn is_over(expiry: Option<Instant>) -> bool {
    expiry.is_some_and(|expiry| expiry <= Instant::now())
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("tasks", &lock(&self.tasks).by_id.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(bytes: usize) -> TaskUpdate {
        TaskUpdate::completed(&"x".repeat(bytes - 2))
    }

    /// Compares the counters with the stored tasks.
    fn check(tasks: &Tasks) {
        let mut bytes = HashMap::<_, usize>::new();
        let (mut results, mut running) = (0, 0);
        for entry in tasks.by_id.values() {
            assert_eq!(entry.end.is_none(), entry.task.is_running());
            if entry.task.is_running() {
                running += 1;
            } else {
                results += 1;
                let owner = entry.task.owner().map(ToOwned::to_owned);
                *bytes.entry(owner).or_default() += entry.task.bytes();
            }
        }
        let all = &tasks.all;
        assert_eq!((all.running, all.results), (running, results));
        assert_eq!(tasks.finished.len(), results);
        assert_eq!(all.bytes, bytes.values().sum::<usize>());
        for (owner, of_owner) in &tasks.owners {
            let expected = bytes.get(&Some(owner.clone())).copied().unwrap_or_default();
            assert_eq!(of_owner.usage.bytes, expected);
            assert_eq!(of_owner.finished.len(), of_owner.usage.results);
        }
    }

    #[tokio::test]
    async fn it_keeps_the_promises_of_a_store() {
        let store = MemoryStore::default();
        crate::server::store::assert_store(|| store.clone()).await;
        check(&lock(&store.tasks));
    }

    #[test]
    fn what_is_counted_is_what_is_there() {
        let limits = TaskLimits {
            results: 50,
            results_per_user: 10,
            result_bytes: 10_000,
            result_bytes_per_user: 1000,
            ..TaskLimits::default()
        };
        let mut tasks = Tasks::default();
        let mut finish = |number: usize, owner: &str, bytes: usize| {
            let task = StoredTask::new(number.to_string(), Some(owner.into()), &limits);
            tasks.add(task, &limits).unwrap();
            check(&tasks);
            tasks.update(&number.to_string(), &completed(bytes), &limits);
            check(&tasks);
        };
        for number in 0..1000 {
            finish(number, "ada", 10 + number % 300);
        }
        for number in 1000..2000 {
            finish(number, &number.to_string(), 400);
        }
        assert_eq!(
            (tasks.all.results, tasks.by_id.len(), tasks.owners.len()),
            (25, 25, 25)
        );
    }

    #[test]
    fn expired_results_are_forgotten_when_another_task_comes() {
        let limits = TaskLimits {
            kept_for: std::time::Duration::ZERO,
            ..TaskLimits::default()
        };
        let mut tasks = Tasks::default();
        for id in ["first", "second", "third"] {
            tasks
                .add(StoredTask::new(id.to_owned(), None, &limits), &limits)
                .unwrap();
            tasks.update(id, &completed(10), &limits);
            assert_eq!(tasks.by_id.len(), 1, "{id}");
        }
    }
}
