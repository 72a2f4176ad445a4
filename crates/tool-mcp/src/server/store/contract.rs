//! [`assert_store`]: checks an implementation of [`Store`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::hooks::Decision;

use super::{Notice, Store, StoreError, StoredTask, TaskUpdate};
use crate::lock;
use crate::server::approval::{Approval, ApprovalLimits, Verdict};
use crate::server::task_settings::TaskLimits;

/// Checks that a [`Store`] keeps its promises, in a test. The closure opens the store, again and again as several processes
/// would; the store is empty at first, and has some tasks and held calls in the end.
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
    a_held_call_is_decided_on_once_and_used_up_once(&here, &there).await;
    held_calls_are_listed_in_order(&here, &there).await;
    held_calls_are_limited_and_end_by_their_age(&here, &there).await;
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

/// A held call of a requester, whose key is its id.
fn held(id: &str, requester: &str, asked_ms: u64) -> Approval {
    let hold = json!({"tool": "refund", "arguments": "{\"order\":7}", "reason": "it costs 'money'", "number": 1});
    let approval = json!({"id": id, "key": format!("key {id}"), "requester": requester, "tool": "refund", "hold": hold,
        "asked_ms": asked_ms, "verdict": null});
    serde_json::from_value(approval).expect("an approval is JSON")
}

async fn hold(store: &impl Store, approval: Approval, limits: &ApprovalLimits) -> Approval {
    let held = store.hold(approval, limits).await;
    held.expect("there is room for a held call")
}

async fn waiting(store: &impl Store) -> Vec<String> {
    let waiting = store.waiting(None, 100).await;
    let waiting = waiting.expect("the store can be read");
    waiting.into_iter().map(|approval| approval.id).collect()
}

async fn use_up(store: &impl Store, ids: &[&str]) {
    for id in ids {
        let is_used = store.use_up(id).await;
        assert!(is_used.expect("the store can be written"), "{id} was there");
    }
}

async fn a_held_call_is_decided_on_once_and_used_up_once(here: &impl Store, there: &impl Store) {
    let limits = ApprovalLimits::default();
    // With characters that have a meaning somewhere.
    let asked = held("an 'id' \"1\"\n\\ é", "an 'owner' \"é\"", 7);
    let id = &asked.id;
    assert_eq!(hold(here, asked.clone(), &limits).await, asked);
    let mut again = held("2", "an 'owner' \"é\"", 8);
    again.key.clone_from(&asked.key);
    assert_eq!(
        hold(there, again, &limits).await,
        asked,
        "a call that is made again waits on"
    );
    let found = |store: &dyn Store| store.held(id);
    let kept = found(there).await.expect("the store can be read");
    assert_eq!(kept.as_ref(), Some(&asked));
    let none = there.held("2").await.expect("the store can be read");
    assert_eq!(none, None);

    let verdict = |by: &str| Verdict::new(Decision::deny("it's paid \"already\""), by);
    let first = there.decide(id, verdict("lea"));
    let second = here.decide(id, verdict("max"));
    assert!(first.await.expect("the store can be written"));
    assert!(
        !second.await.expect("the store can be written"),
        "the first verdict counts"
    );
    let unknown = here.decide("2", verdict("lea")).await;
    assert!(!unknown.expect("the store can be written"));
    let decided = Approval {
        verdict: Some(verdict("lea")),
        ..asked.clone()
    };
    let kept = found(here).await.expect("the store can be read");
    assert_eq!(kept.as_ref(), Some(&decided));
    assert_eq!(hold(here, asked.clone(), &limits).await, decided);
    assert!(waiting(here).await.is_empty(), "it has a verdict");

    let mut times = 0;
    for one in [here.use_up(id), there.use_up(id), here.use_up(id)] {
        times += usize::from(one.await.expect("the store can be written"));
    }
    assert_eq!(times, 1, "a decision is used up once");
    let gone = found(there).await.expect("the store can be read");
    assert_eq!(gone, None);
    // The tool has asked its user, and will run again.
    assert_eq!(hold(here, decided.clone(), &limits).await, decided);
    let kept = found(there).await.expect("the store can be read");
    assert_eq!(kept, Some(decided));
    use_up(there, &[id]).await;
}

async fn held_calls_are_listed_in_order(here: &impl Store, there: &impl Store) {
    let limits = ApprovalLimits::default();
    for (id, asked_ms) in [("c", 5), ("a", 6), ("b", 5), ("d", 4)] {
        hold(here, held(id, "ada", asked_ms), &limits).await;
    }
    assert_eq!(waiting(there).await, ["d", "b", "c", "a"]);
    let verdict = Verdict::new(Decision::Allow, "lea");
    let decided = here.decide("d", verdict).await;
    assert!(decided.expect("the store can be written"));
    let mut pages = Vec::new();
    let mut last = None;
    loop {
        let page = there.waiting(last.as_ref(), 2).await;
        let page = page.expect("the store can be read");
        pages.push(page.iter().map(|one| one.id.clone()).collect::<Vec<_>>());
        last = page.last().cloned();
        if last.is_none() {
            break;
        }
    }
    assert_eq!(pages, [vec!["b", "c"], vec!["a"], vec![]]);
    use_up(here, &["a", "b", "c", "d"]).await;
}

async fn held_calls_are_limited_and_end_by_their_age(here: &impl Store, there: &impl Store) {
    let mut limits = ApprovalLimits::default();
    (limits.approvals, limits.approvals_per_user) = (3, 2);
    limits.kept_for = Duration::from_millis(10);
    let is_full = async |store: &dyn Store, one: Approval, limits: &ApprovalLimits| {
        matches!(store.hold(one, limits).await, Err(StoreError::Full))
    };
    hold(here, held("a1", "ada", 100), &limits).await;
    hold(there, held("a2", "ada", 105), &limits).await;
    assert!(
        is_full(there, held("a3", "ada", 105), &limits).await,
        "a requester has as many as may wait"
    );
    hold(here, held("b1", "bob", 106), &limits).await;
    assert!(
        is_full(there, held("c1", "eve", 107), &limits).await,
        "there are as many as may wait"
    );
    assert_eq!(waiting(here).await, ["a1", "a2", "b1"]);
    hold(there, held("c1", "eve", 111), &limits).await;
    assert_eq!(
        waiting(here).await,
        ["a2", "b1", "c1"],
        "one that is too old makes room"
    );
    let decided = here.decide("a2", Verdict::new(Decision::Allow, "lea"));
    assert!(decided.await.expect("the store can be written"));
    hold(there, held("c2", "eve", 116), &limits).await;
    let old = here.held("a2").await.expect("the store can be read");
    assert_eq!(old, None, "a decision ends too");
    use_up(here, &["b1", "c1", "c2"]).await;

    let bytes = held("d1", "ada", 200).bytes();
    limits.bytes_per_user = bytes;
    hold(here, held("d1", "ada", 200), &limits).await;
    assert!(is_full(there, held("d2", "ada", 200), &limits).await);
    limits.bytes = 2 * bytes - 1;
    assert!(is_full(there, held("d3", "bob", 200), &limits).await);
    limits.bytes += 1;
    hold(there, held("d3", "bob", 200), &limits).await;
    use_up(here, &["d1", "d3"]).await;
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
        Notice::Held("a 'call'".into()),
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
