//! [`assert_store`]: checks an implementation of [`Store`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Notice, Store, StoreError, StoredTask, TaskUpdate};
use crate::lock;
use crate::server::task_settings::TaskLimits;

/// Checks that a [`Store`] keeps its promises, in a test. The closure opens the store, again and again as several processes
/// would; the store is empty at first, and has some tasks in the end.
///
/// It does not kill a process: check that its tasks are interrupted yourself.
///
/// ```
/// use tool_mcp::server::store::{MemoryStore, assert_store};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let store = MemoryStore::default();
/// assert_store(|| store.clone()).await;
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// Panics if the store breaks a promise.
pub async fn assert_store<S: Store>(open: impl Fn() -> S) {
    let (here, there) = (open(), open());
    a_task_is_the_same_at_each_process(&here, &there).await;
    questions_are_answered_at_any_process(&here, &there).await;
    a_task_ends_once(&here, &there).await;
    running_tasks_are_limited(&here, &there).await;
    results_are_limited(&here, &there).await;
    results_are_kept_for_a_time(&here, &there).await;
    notices_reach_all_processes(&here, &there).await;
}

async fn add(store: &impl Store, id: &str, owner: Option<&str>, limits: &TaskLimits) -> String {
    let task = StoredTask::new(id.to_owned(), owner.map(ToOwned::to_owned), limits);
    let added = store.add(task, limits).await;
    added.expect("there is room for a task");
    id.to_owned()
}

async fn get(store: &impl Store, id: &str) -> Option<StoredTask> {
    store.get(id).await.expect("the store can be read")
}

async fn update(
    store: &impl Store,
    id: &str,
    update: TaskUpdate,
    limits: &TaskLimits,
) -> Option<StoredTask> {
    let updated = store.update(id, update, limits).await;
    updated.expect("the store can be written")
}

fn answer(key: &str, value: Value) -> TaskUpdate {
    TaskUpdate::answer(BTreeMap::from([(key.to_owned(), value)]))
}

/// A result with this many bytes.
fn completed(bytes: usize) -> TaskUpdate {
    TaskUpdate::completed(&"x".repeat(bytes - 2))
}

/// Returns the task as clients get it.
fn shown(task: &StoredTask) -> Value {
    serde_json::to_value(task.detailed()).expect("a task is JSON")
}

async fn a_task_is_the_same_at_each_process(here: &impl Store, there: &impl Store) {
    let limits = TaskLimits::default();
    // With characters that have a meaning somewhere.
    let (id, owner) = ("a 'task' \"1\"\n\\ é", "an 'owner' \"é\"");
    add(here, id, Some(owner), &limits).await;
    for store in [here.get(id).await, there.get(id).await] {
        let task = store.expect("the store can be read");
        let task = task.expect("what one process adds, another one finds");
        assert_eq!((task.id(), task.owner()), (id, Some(owner)));
        assert!(task.is_running());
        assert_eq!(shown(&task)["status"], "working");
    }
    assert!(get(there, "another").await.is_none(), "an id is unknown");
    let unknown = update(there, "another", TaskUpdate::cancel(), &limits).await;
    assert!(unknown.is_none(), "an update creates no task");

    let message = TaskUpdate::message(Some("half 'done'".into()));
    update(here, id, message, &limits).await;
    let task = get(there, id).await.expect("the task is kept");
    assert_eq!(shown(&task)["statusMessage"], "half 'done'");
    update(there, id, TaskUpdate::cancel(), &limits).await;
    let task = get(here, id).await.expect("the task is kept");
    assert!(
        task.is_over() && task.is_running(),
        "it is cancelled where it runs"
    );
    update(here, id, TaskUpdate::cancelled(), &limits).await;
    let task = get(there, id).await.expect("the task is kept");
    assert_eq!(shown(&task)["status"], "cancelled");
}

async fn questions_are_answered_at_any_process(here: &impl Store, there: &impl Store) {
    let limits = TaskLimits::default();
    let id = &add(here, "asks", None, &limits).await;
    let question = json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": "Go?", "requestedSchema": {"type": "object", "properties": {}},
    }});
    for key in ["go", "stay"] {
        update(here, id, TaskUpdate::ask(key, question.clone()), &limits).await;
    }
    let task = get(there, id).await.expect("the task is kept");
    assert_eq!(shown(&task)["status"], "input_required");
    assert_eq!(
        shown(&task)["inputRequests"]["go"]["params"]["message"],
        "Go?"
    );
    // An answer without a question is ignored.
    update(there, id, answer("other", json!(1)), &limits).await;
    update(
        there,
        id,
        answer("go", json!({"action": "accept"})),
        &limits,
    )
    .await;
    // The first answer counts.
    update(
        here,
        id,
        answer("go", json!({"action": "decline"})),
        &limits,
    )
    .await;
    let task = get(here, id).await.expect("the task is kept");
    assert_eq!(task.answer("go"), Ok(Some(&json!({"action": "accept"}))));
    assert_eq!(task.answer("stay"), Ok(None));
    // A call that runs again asks again.
    let asked = update(here, id, TaskUpdate::ask("go", question), &limits).await;
    let asked = shown(&asked.expect("the task is kept"))["inputRequests"].clone();
    assert!(
        asked["go"].is_null(),
        "what was answered is not asked again"
    );
    assert_eq!(task.answer("other"), Err(()));
    update(here, id, completed(10), &limits).await;
    let task = get(there, id).await.expect("the task is kept");
    assert_eq!(
        task.answer("stay"),
        Err(()),
        "nobody answers a task that has ended"
    );
}

async fn a_task_ends_once(here: &impl Store, there: &impl Store) {
    let limits = TaskLimits::default();
    let id = &add(here, "ends", None, &limits).await;
    update(there, id, TaskUpdate::interrupted(), &limits).await;
    for late in [completed(10), TaskUpdate::cancel(), answer("a", json!(1))] {
        let task = update(here, id, late, &limits).await;
        let task = task.expect("a task that has ended is kept");
        assert!(!task.is_running());
        assert_eq!(shown(&task)["status"], "failed");
    }
    let id = &add(here, "ends at once", None, &limits).await;
    let ends = [
        completed(10),
        TaskUpdate::cancelled(),
        TaskUpdate::interrupted(),
    ];
    let ends = ends.into_iter().enumerate();
    let ends = ends.map(|(index, end)| {
        if index == 0 {
            here.update(id, end, &limits)
        } else {
            there.update(id, end, &limits)
        }
    });
    let mut seen = Vec::new();
    for end in ends.collect::<Vec<_>>() {
        let task = end.await.expect("the store can be written");
        seen.push(shown(&task.expect("the task is kept"))["status"].clone());
    }
    assert!(
        seen.iter().all(|status| *status == seen[0]),
        "of several ends, one counts"
    );
}

async fn running_tasks_are_limited(here: &impl Store, there: &impl Store) {
    let mut limits = TaskLimits::default();
    (limits.running, limits.running_per_user) = (3, 2);
    let is_full = async |store: &dyn Store, owner: Option<&str>| {
        let task = StoredTask::new("one too many".into(), owner.map(ToOwned::to_owned), &limits);
        let added = store.add(task, &limits).await;
        matches!(added, Err(StoreError::Full))
    };
    add(here, "run 1", Some("ada"), &limits).await;
    add(there, "run 2", Some("ada"), &limits).await;
    assert!(
        is_full(here, Some("ada")).await,
        "an owner has as many as may run"
    );
    add(here, "run 3", Some("bob"), &limits).await;
    assert!(is_full(there, None).await, "there are as many as may run");
    assert!(get(here, "one too many").await.is_none());
    update(there, "run 1", TaskUpdate::cancelled(), &limits).await;
    add(here, "run 4", Some("ada"), &limits).await;
    for number in 2..=4 {
        update(here, &format!("run {number}"), completed(10), &limits).await;
    }
}

async fn results_are_limited(here: &impl Store, there: &impl Store) {
    let mut limits = TaskLimits::default();
    (limits.results_per_user, limits.result_bytes_per_user) = (3, 1000);
    let end = async |store: &dyn Store,
                     id: &str,
                     owner: Option<&str>,
                     bytes: usize,
                     limits: &TaskLimits| {
        let task = StoredTask::new(id.to_owned(), owner.map(ToOwned::to_owned), limits);
        store.add(task, limits).await.expect("there is room");
        let ended = store.update(id, completed(bytes), limits).await;
        ended.expect("the store can be written");
    };
    let kept = async |ids: &[&str]| {
        let mut kept = Vec::new();
        for id in ids {
            if get(there, id).await.is_some() {
                kept.push((*id).to_owned());
            }
        }
        kept
    };
    end(here, "of another", Some("eve"), 900, &limits).await;
    for id in ["c1", "c2", "c3", "c4"] {
        end(here, id, Some("carl"), 10, &limits).await;
    }
    let ids = ["of another", "c1", "c2", "c3", "c4"];
    assert_eq!(
        kept(&ids).await,
        ["of another", "c2", "c3", "c4"],
        "an owner has three results"
    );
    end(there, "c5", Some("carl"), 985, &limits).await;
    let ids = ["of another", "c3", "c4", "c5"];
    assert_eq!(
        kept(&ids).await,
        ["of another", "c4", "c5"],
        "an owner has 1,000 bytes"
    );
    limits.results = 2;
    end(here, "of nobody", None, 10, &limits).await;
    let ids = ["of another", "c4", "c5", "of nobody"];
    assert_eq!(
        kept(&ids).await,
        ["c5", "of nobody"],
        "all have two results"
    );
    (limits.results, limits.result_bytes) = (100, 500);
    end(here, "of nobody 2", None, 500, &limits).await;
    let ids = ["c5", "of nobody", "of nobody 2"];
    assert_eq!(kept(&ids).await, ["of nobody 2"], "all have 500 bytes");
}

async fn results_are_kept_for_a_time(here: &impl Store, there: &impl Store) {
    let mut limits = TaskLimits {
        kept_for: Duration::ZERO,
        ..TaskLimits::default()
    };
    let id = &add(here, "short", Some("ada"), &limits).await;
    assert!(get(there, id).await.is_some(), "a task that runs is kept");
    update(here, id, completed(10), &limits).await;
    assert!(get(there, id).await.is_none(), "its result is not");
    limits.kept_for = Duration::MAX;
    let id = &add(here, "long", Some("ada"), &limits).await;
    update(here, id, completed(10), &limits).await;
    assert!(get(there, id).await.is_some());
}

async fn notices_reach_all_processes(here: &impl Store, there: &impl Store) {
    let heard: [Arc<Mutex<Vec<Notice>>>; 2] = Default::default();
    let once = Arc::new(Mutex::new(0));
    for (store, heard) in [(here as &dyn Store, &heard[0]), (there, &heard[1])] {
        let heard = heard.clone();
        store.listen(Box::new(move |notice| {
            lock(&heard).push(notice.clone());
            true
        }));
    }
    let count = once.clone();
    here.listen(Box::new(move |_| {
        *lock(&count) += 1;
        false
    }));
    let notices = [
        Notice::Resource("notes://'7'".into()),
        Notice::Task("a \"task\"".into()),
        Notice::Prompts,
        Notice::Resources,
    ];
    for notice in &notices {
        here.publish(notice.clone());
    }
    let sorted = |heard: &Mutex<Vec<Notice>>| {
        let mut heard = lock(heard).clone();
        heard.sort();
        heard
    };
    let mut expected = notices.to_vec();
    expected.sort();
    for _ in 0..2000 {
        if heard.iter().all(|heard| sorted(heard) == expected) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        sorted(&heard[0]),
        expected,
        "the process that publishes hears it once"
    );
    assert_eq!(
        sorted(&heard[1]),
        expected,
        "the other process hears it once"
    );
    assert_eq!(
        *lock(&once),
        1,
        "a listener that returns `false` is not called again"
    );
}
