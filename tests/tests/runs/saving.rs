//! Runs that are saved and loaded, at every point.

use std::fs;
use std::future::{pending, ready};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{
    FileJournal, Increment, Journal, JournalError, MemoryJournal, Page, Run, RunHead, RunOutcome,
    RunSettings, RunState, Step,
};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError};
use tool_core::dialect::RequestOptions;
use tool_core::hooks::Decision;
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolResult, tool, tools};

use super::{asking, calling, dialect, holding, new_run, question, run_calls, saying, turn};

pub(super) fn saved(run: &Run) -> Value {
    serde_json::to_value(run).unwrap()
}

/// Passes a value through its saved form.
pub(super) fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Builds a target.
#[tool(background, idempotent, unlinked)]
pub(super) fn build(id: u32) -> u32 {
    id
}

/// Publishes a target.
#[tool(background, destructive, unlinked)]
pub(super) fn publish(id: u32) -> u32 {
    id
}

fn registry() -> Registry {
    let registry = holding();
    registry.add(tools![build, publish]).unwrap();
    registry
}

/// One thing that a program does with a run.
#[derive(Clone, Debug)]
enum Action {
    Push,
    /// Answers what is unanswered.
    Answer,
    Respond(Vec<usize>),
    Start(usize),
    Finish(usize),
    Decide(usize, usize),
    Cancel,
    Resume,
    Settings(u32),
}

fn action() -> impl Strategy<Value = Action> {
    let index = 0..4_usize;
    prop_oneof![
        Just(Action::Push),
        Just(Action::Answer),
        proptest::collection::vec(0..7_usize, 0..4).prop_map(Action::Respond),
        proptest::collection::vec(0..7_usize, 0..4).prop_map(Action::Respond),
        index.clone().prop_map(Action::Start),
        index.clone().prop_map(Action::Start),
        index.clone().prop_map(Action::Finish),
        index.clone().prop_map(Action::Finish),
        (index.clone(), index).prop_map(|(call, decision)| Action::Decide(call, decision)),
        Just(Action::Cancel),
        Just(Action::Resume),
        (1..5_u32).prop_map(Action::Settings),
    ]
}

/// Does something with a run if its state permits. Returns the calls that run.
fn act(run: &mut Run, running: &mut Vec<ToolCall>, action: Action) {
    let registry = registry();
    match action {
        Action::Push => {
            let _ = run.push(question());
        }
        Action::Answer => {
            if let Step::Done(RunOutcome::Unanswered(asked)) = run.next() {
                let answers = asked.iter().map(asking::answer);
                run.answer(answers).unwrap();
                let next = run.next();
                let is_over = matches!(next, Step::Done(RunOutcome::Answered(_)));
                assert!(!is_over, "{next:?}");
            }
        }
        Action::Respond(calls) => {
            let asks = calls.contains(&3);
            let calls = calls.into_iter().filter(|tool| *tool != 3);
            let tools = [
                ("look_up", r#"{"key":"a"}"#),
                ("delete_note", r#"{"id":7}"#),
                ("unknown", "{"),
                ("", ""),
                ("build", r#"{"id":7}"#),
                ("publish", r#"{"id":7}"#),
                ("wait_for_results", "{}"),
            ];
            let calls: Vec<_> = calls.into_iter().map(|tool| tools[tool]).collect();
            let mut response = if calls.is_empty() {
                saying("Done.")
            } else {
                calling(&calls)
            };
            if asks {
                asking::add(&mut response, &format!("ask-{}", run.rounds().len()));
            }
            let _ = run.respond(&dialect(), &registry, turn(&response));
        }
        Action::Start(count) => {
            if let Step::Call(mut calls) = run.next() {
                calls.truncate(count);
                run.start(&calls).unwrap();
                let ended = match count {
                    2 => run.acknowledge(&dialect(), &registry, &calls).unwrap(),
                    _ => Vec::new(),
                };
                let has_ended = |call: &ToolCall| {
                    let mut ended = ended.iter();
                    ended.any(|result| result.position() == call.position())
                };
                running.extend(calls.into_iter().filter(|call| !has_ended(call)));
            }
        }
        Action::Finish(index) => {
            if index < running.len() {
                let result = registry.call_blocking(running.remove(index));
                run.finish(&dialect(), result).unwrap();
            }
        }
        Action::Decide(index, decision) => {
            let decisions = [
                Decision::Allow,
                Decision::deny("no"),
                Decision::change(r#"{"id":9}"#),
                Decision::answer(json!({"archived": true})),
            ];
            if let Some(pending) = run.pending().get(index) {
                let decision = decisions[decision].clone();
                run.decide(&registry, pending.fingerprint(), decision, "Ada")
                    .unwrap();
            }
        }
        Action::Cancel => run.cancel(&dialect()).unwrap(),
        Action::Resume => {
            // The process stopped.
            running.clear();
            run.resume(&dialect(), &registry).unwrap();
        }
        Action::Settings(rounds) => {
            let mut settings = RunSettings::default();
            settings.max_rounds = rounds;
            settings.max_background = rounds;
            run.set_settings(settings);
            let options = RequestOptions::new().parallel(rounds > 1);
            run.set_request_options((rounds > 0).then_some(options));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("TOOL_CORE_LONG").is_some() { 20_000 } else { 300 }
    ))]

    /// After every action, the run, its saved form and its increments are the same run.
    #[test]
    fn a_run_is_the_sum_of_its_increments(actions in proptest::collection::vec(action(), 0..40)) {
        let mut run = new_run();
        let mut running = Vec::new();
        let mut increments: Vec<Increment> = Vec::new();
        for action in actions {
            act(&mut run, &mut running, action);
            increments.extend(run.unsaved().iter().map(through_json));
            let replayed = Run::replay(increments.iter().cloned()).unwrap();
            prop_assert_eq!(saved(&replayed), saved(&run));
            if matches!(run.next(), Step::Request(_)) {
                prop_assert_eq!(asking::without_answer(run.messages()), Vec::<String>::new());
            }
            let loaded = through_json(&run);
            prop_assert_eq!(saved(&loaded), saved(&run));
            prop_assert_eq!(format!("{:?}", replayed.next()), format!("{:?}", run.next()));
            prop_assert_eq!(format!("{:?}", loaded.next()), format!("{:?}", run.next()));
            // It goes on from there.
            run = if increments.len().is_multiple_of(2) { replayed } else { loaded };
            run.mark_saved(u64::MAX);
        }
        // Every call has one result, once the run ends.
        run.cancel(&dialect()).unwrap();
        for call in running.drain(..) {
            run.finish(&dialect(), registry().call_blocking(call)).unwrap();
        }
        for round in run.rounds() {
            prop_assert!(round.calls().all(|(_, result)| result.is_some()));
        }
    }
}

#[test]
fn a_run_of_another_version_or_a_damaged_one_is_an_error() {
    let mut value = saved(&new_run());
    value["version"] = json!(2);
    value["program"] = json!("tool-agent 0.3.0");
    let error = serde_json::from_value::<Run>(value)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("by tool-agent 0.3.0 in version 2 of its form")
            && error.contains("reads versions 1 to 1"),
        "{error}"
    );
    let mut value = saved(&new_run());
    value["rounds"] = json!(7);
    serde_json::from_value::<Run>(value).unwrap_err();
    let mut value = saved(&new_run());
    value["background"] = json!([[0, 1]]);
    let error = serde_json::from_value::<Run>(value).unwrap_err();
    assert!(error.to_string().contains("there is no call 1"), "{error}");

    let mut run = new_run();
    run.respond(&dialect(), &holding(), turn(&calling(&[("look_up", "{}")])))
        .unwrap();
    let increments = run.unsaved().to_vec();
    let error = Run::replay(increments[1..].iter().cloned())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("increment 1 is missing"), "{error}");
    Run::replay([]).unwrap_err();
    // What a later version may write.
    let mut later = serde_json::to_value(&increments[0]).unwrap();
    later["change"]["Created"]["version"] = json!(9);
    let later: Increment = serde_json::from_value(later).unwrap();
    assert!(
        Run::replay([later])
            .unwrap_err()
            .to_string()
            .contains("version 9")
    );
    // Positions that do not exist.
    let mut damaged = serde_json::to_value(&increments[2]).unwrap();
    damaged["change"] = json!({"Started": [3]});
    damaged["number"] = json!(4);
    let damaged: Increment = serde_json::from_value(damaged).unwrap();
    let error = Run::replay(increments.into_iter().chain([damaged])).unwrap_err();
    assert_eq!(error.to_string(), "increment 4: there is no call 3");
}

/// Returns the first line of a file of `FileJournal`, which has increments that no run made.
pub(super) fn first_line(last: u64, increments: &Value) -> String {
    let head = r#"{"id":"run-1","saved_ms":1}"#;
    let record = format!(r#"{{"last":{last},"head":{head},"increments":{increments}}}"#);
    let hash = Sha256::digest([&[0; 8], record.as_bytes()].concat());
    let hash: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{hash} {record}\n")
}

/// A folder for the runs of one test, empty at first.
pub(super) struct TempFolder(pub(super) PathBuf);

impl TempFolder {
    pub(super) fn new(name: &str) -> TempFolder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        TempFolder(folder)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Appends what changed in a run.
pub(super) fn append(journal: &dyn Journal, run: &mut Run) -> Result<(), JournalError> {
    let increments = run.unsaved().to_vec();
    journal
        .append(run.head(), increments)
        .now_or_never()
        .unwrap()?;
    run.mark_saved(u64::MAX);
    Ok(())
}

pub(super) fn load(journal: &dyn Journal, run: &str) -> Vec<Increment> {
    journal.load(run).now_or_never().unwrap().unwrap()
}

#[test]
fn results_keep_what_the_model_and_the_application_see() {
    let registry = holding();
    for (name, arguments) in [
        ("look_up", r#"{"key":"a"}"#),
        ("look_up", r#"{"kez":1}"#),
        ("delete_note", r#"{"id":7}"#),
        ("unknown", "{}"),
        ("look_up", "{"),
    ] {
        let result = registry.call_blocking(ToolCall::new("call_1", name, arguments));
        let loaded: ToolResult = through_json(&result);
        assert_eq!(loaded.content(), result.content());
        assert_eq!(loaded.structured(), result.structured());
        assert_eq!(loaded.call_id(), result.call_id());
        let parts = |result: &ToolResult| {
            result.error().map(|error| {
                let violations = error.violations().to_vec();
                (
                    error.kind(),
                    error.id().to_owned(),
                    violations,
                    error.hold().cloned(),
                )
            })
        };
        assert_eq!(parts(&loaded), parts(&result));
    }
}

#[test]
fn a_run_of_many_rounds_is_saved_in_small_steps() {
    let registry = holding();
    let mut run = new_run();
    let mut settings = RunSettings::default();
    settings.max_rounds = u32::MAX;
    run.set_settings(settings);
    let mut sizes = Vec::new();
    for _ in 0..200 {
        run.mark_saved(u64::MAX);
        run.respond(
            &dialect(),
            &registry,
            turn(&calling(&[("look_up", r#"{"key":"a"}"#)])),
        )
        .unwrap();
        run_calls(&mut run, &registry);
        sizes.push(serde_json::to_string(run.unsaved()).unwrap().len());
    }
    let (first, last) = (sizes[0], sizes[199]);
    assert!(last < first + 20, "{first} grew to {last} bytes");
}

/// Where an append fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Nothing is appended.
    Before,
    /// Everything is appended, and the caller does not learn it.
    After,
    /// It takes so long that the caller gives up.
    Dropped,
}

/// A journal whose appends pass through a closure.
pub(super) struct Through<F> {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) append: F,
}

impl<F> Journal for Through<F>
where
    F: Fn(&dyn Journal, RunHead, Vec<Increment>) -> BoxFuture<Result<(), JournalError>>
        + Send
        + Sync,
{
    fn append(
        &self,
        head: RunHead,
        increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        (self.append)(&*self.journal, head, increments)
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        self.journal.load(run)
    }

    fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.journal.in_state(state, page)
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        self.journal.runs(owner, page)
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        self.journal.remove(run)
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        self.journal.remove_before(saved_ms)
    }
}

/// Returns a journal whose append with this index fails, once. Counts the appends.
fn failing(
    journal: Arc<dyn Journal>,
    appends: Arc<AtomicUsize>,
    index: usize,
    fault: Fault,
) -> impl Journal + 'static {
    let append = move |journal: &dyn Journal, head: RunHead, increments: Vec<Increment>| {
        let is_failing = appends.fetch_add(1, Ordering::Relaxed) == index;
        if is_failing && fault == Fault::Dropped {
            return Box::pin(pending()) as BoxFuture<_>;
        }
        let failed = Box::pin(ready(Err(JournalError::failed("the disk is full"))));
        if is_failing && fault == Fault::Before {
            return failed;
        }
        let appended = journal.append(head, increments);
        if is_failing { failed } else { appended }
    };
    Through { journal, append }
}

struct Paid(Arc<AtomicUsize>);

/// Pays, which may not be repeated.
#[tool(unlinked)]
fn pay(#[param(context)] paid: &Paid) {
    paid.0.fetch_add(1, Ordering::Relaxed);
}

/// Runs a conversation with two payments, in which one append fails. Returns `true` if one did.
fn pays_at_most_once(journal: Arc<dyn Journal>, index: usize, fault: Fault) -> bool {
    let paid = Arc::new(AtomicUsize::new(0));
    let registry = Registry::builder()
        .tools(tools![pay])
        .context(Paid(Arc::clone(&paid)))
        .build()
        .unwrap();
    let model = ScriptedModel::new([calling(&[("pay", "{}"), ("pay", "{}")]), saying("Paid.")]);
    let appends = Arc::new(AtomicUsize::new(0));
    let failing = failing(Arc::clone(&journal), Arc::clone(&appends), index, fault);
    let agent = Agent::new(registry, dialect(), model).journal(failing);
    let mut run = new_run();
    let mut conflicts = 0;
    let outcome = loop {
        match agent.run(&mut run).now_or_never() {
            Some(Ok(outcome)) => break outcome,
            Some(Err(AgentError::Journal(JournalError::Conflict(_)))) => {
                conflicts += 1;
                run = Run::replay(load(&*journal, "run-1")).unwrap();
            }
            Some(Err(AgentError::Journal(JournalError::Failed(_)))) | None => {}
            Some(Err(error)) => panic!("{error}"),
        }
    };
    let name = format!("append {index}, {fault:?}");
    assert_eq!(outcome, RunOutcome::Answered("Paid.".into()), "{name}");
    let loaded = Run::replay(load(&*journal, "run-1")).unwrap();
    assert_eq!(saved(&loaded), saved(&run), "{name}");
    let results: Vec<_> = run.rounds()[0]
        .calls()
        .map(|(_, result)| result.unwrap())
        .collect();
    let interrupted = results.iter().filter(|result| result.is_error()).count();
    assert_eq!(results.len(), 2, "{name}");
    if fault == Fault::After {
        // The run that was saved can't know whether the payment ran.
        assert!(paid.load(Ordering::Relaxed) + interrupted >= 2, "{name}");
        assert!(paid.load(Ordering::Relaxed) <= 2, "{name}");
    } else {
        assert_eq!(
            (paid.load(Ordering::Relaxed), interrupted, conflicts),
            (2, 0, 0),
            "{name}"
        );
    }
    appends.load(Ordering::Relaxed) > index
}

#[test]
fn a_failed_append_loses_nothing() {
    for fault in [Fault::Before, Fault::After, Fault::Dropped] {
        for is_file in [false, true] {
            let mut index = 0;
            loop {
                let folder = TempFolder::new("failed-append");
                let journal: Arc<dyn Journal> = if is_file {
                    Arc::new(FileJournal::new(&folder.0))
                } else {
                    Arc::new(MemoryJournal::new())
                };
                if !pays_at_most_once(journal, index, fault) {
                    break;
                }
                index += 1;
            }
            assert!(index > 5, "{index} appends");
        }
    }
}

/// Returns the numbers of the increments that are not saved.
fn numbers(run: &Run) -> Vec<u64> {
    run.unsaved().iter().map(Increment::number).collect()
}

/// An agent without a journal keeps no increments, also if its future is dropped. Later changes are kept.
#[test]
fn an_agent_without_a_journal_leaves_later_changes_to_be_saved() {
    let agent = Agent::new(
        Registry::new(),
        dialect(),
        ScriptedModel::new([saying("Hi.")]),
    );
    let mut run = new_run();
    run.push(question()).unwrap();
    agent.run_blocking(&mut run).unwrap();
    assert_eq!(numbers(&run), [0; 0]);
    run.push(question()).unwrap();
    let [next] = numbers(&run)[..] else { panic!() };
    assert!(next > 3, "{next}");

    let silent = |_: Request| pending::<Result<Value, ModelError>>();
    let agent = Agent::new(Registry::new(), dialect(), silent);
    assert!(agent.run(&mut run).now_or_never().is_none());
    assert_eq!(numbers(&run), [0; 0]);
    run.set_settings(RunSettings::default());
    assert_eq!(numbers(&run), [next + 1]);
}
