//! [`assert_journal`]: checks an implementation of [`Journal`].

use std::fmt::Debug;
use std::future::Future;

use serde_json::json;
use tool_core::dialect::Dialect;
use tool_core::hooks::Gate;
use tool_core::runtime::block_on;
use tool_core::{Registry, tool, tools};
use tool_dialects::OpenAiChat;

use crate::run::{Increment, Journal, JournalError, Page, Run, RunHead, Step};

/// Checks that a [`Journal`] behaves as documented. Call it in a test. The closure opens the store several times, as
/// different programs would. The store must be empty at first, and contains some runs afterwards.
///
/// ```
/// use tool_agent::run::MemoryJournal;
/// use tool_agent::testing::assert_journal;
///
/// let journal = MemoryJournal::new();
/// assert_journal(|| journal.clone());
/// ```
///
/// # Panics
///
/// Panics if the journal behaves otherwise.
pub fn assert_journal<J: Journal>(open: impl Fn() -> J + Sync) {
    let open = &open;
    ids_are_told_apart(open);
    an_append_is_all_or_nothing(open);
    of_two_programs_one_continues(open);
    of_many_appends_at_once_one_succeeds(open);
    heads_are_listed_in_pages(open);
    removed_runs_are_gone(open);
}

/// Pays, once somebody allows it.
#[tool(unlinked)]
fn pay(euros: u32) -> u32 {
    euros
}

/// Returns a run with an owner and a message.
fn run(id: &str, owner: Option<&str>) -> Run {
    let builder = Run::builder(id);
    let mut run = match owner {
        Some(owner) => builder.owner(owner).build(),
        None => builder.build(),
    };
    ask(&mut run);
    run
}

fn ask(run: &mut Run) {
    // Contains characters with a special meaning in some formats.
    let message = json!({"role": "user", "content": format!("{} 'a' \"b\"\n\\ \u{0} é", run.id())});
    run.push(message).expect("no call is open");
}

/// Adds a held call to a run.
fn hold(run: &mut Run) {
    let registry = Registry::builder().tools(tools![pay]);
    let registry = registry.before(async |_| Gate::hold("it costs money"));
    let registry = registry.build().expect("there is one tool");
    let dialect = OpenAiChat::default();
    let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "pay", "arguments": "{\"euros\":5}"}},
    ]}}]});
    let turn = dialect.read(&response).expect("a response with one call");
    run.respond(&dialect, &registry, turn)
        .expect("the run asks for a response");
    let Step::Call(calls) = run.next() else {
        panic!("the call is ready");
    };
    run.start(&calls).expect("the call is ready");
    for call in calls {
        let held = wait(registry.call(call));
        run.finish(&dialect, held).expect("the call has started");
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    block_on(future).expect("a platform with threads")
}

/// Saves a run with this time.
fn save(journal: &impl Journal, run: &mut Run, saved_ms: u64) -> Result<(), JournalError> {
    let mut head = run.head();
    head.saved_ms = saved_ms;
    wait(journal.append(head, run.unsaved().to_vec()))?;
    run.mark_saved(u64::MAX);
    Ok(())
}

fn load(journal: &impl Journal, run: &str) -> Vec<Increment> {
    checked(wait(journal.load(run)))
}

fn checked<T>(result: Result<T, JournalError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

fn assert_conflict<T: Debug>(result: Result<T, JournalError>) {
    assert!(
        matches!(result, Err(JournalError::Conflict(_))),
        "expected a conflict, got {result:?}"
    );
}

/// Converts increments to JSON, to compare them.
fn saved(increments: &[Increment]) -> String {
    serde_json::to_string(increments).expect("increments are JSON")
}

fn ids_are_told_apart<J: Journal>(open: &impl Fn() -> J) {
    let long = "x".repeat(1000);
    let longer = format!("{long}x");
    let ids = [
        "a", "A", "a/b", "a\\b", "..", "", " ", "%", "'", "é", "a\n", "run-a", &long, &longer,
    ];
    let mut all = Vec::new();
    for id in ids {
        assert!(load(&open(), id).is_empty(), "the run {id:?} is new");
        let mut run = run(id, None);
        let increments = saved(run.unsaved());
        checked(save(&open(), &mut run, 1));
        all.push((id, increments));
    }
    for (id, increments) in all {
        assert_eq!(saved(&load(&open(), id)), increments, "the run {id:?}");
        checked(wait(open().remove(id)));
    }
}

fn an_append_is_all_or_nothing<J: Journal>(open: &impl Fn() -> J) {
    let journal = open();
    let mut run = run("increments", None);
    ask(&mut run);
    let increments = run.unsaved().to_vec();
    let append = |increments: &[Increment]| wait(open().append(run.head(), increments.to_vec()));
    checked(append(&[]));
    assert!(load(&journal, run.id()).is_empty());
    // With a gap, at the start and later.
    assert_conflict(append(&increments[1..]));
    checked(append(&increments[..1]));
    assert_conflict(append(&increments[2..]));
    // A second time, as a whole and in part.
    assert_conflict(append(&increments[..1]));
    assert_conflict(append(&increments));
    // With a gap in the middle.
    let gap = [increments[1].clone(), increments[1].clone()];
    assert_conflict(append(&gap));
    assert_eq!(saved(&load(&journal, run.id())), saved(&increments[..1]));
    checked(append(&increments[1..]));
    assert_eq!(saved(&load(&journal, run.id())), saved(&increments));
}

fn of_two_programs_one_continues<J: Journal>(open: &impl Fn() -> J) {
    let mut first = run("programs", None);
    checked(save(&open(), &mut first, 1));
    let loaded = load(&open(), first.id());
    let mut second = Run::replay(loaded).expect("a run was saved");
    ask(&mut first);
    ask(&mut second);
    checked(save(&open(), &mut second, 2));
    assert_conflict(save(&open(), &mut first, 3));
    // The journal has the state of the second program.
    let loaded = Run::replay(load(&open(), "programs")).expect("a run was saved");
    assert_eq!(json!(loaded), json!(second));
    ask(&mut second);
    checked(save(&open(), &mut second, 4));
}

fn of_many_appends_at_once_one_succeeds<J: Journal>(open: &(impl Fn() -> J + Sync)) {
    const PROGRAMS: usize = 4;
    const ROUNDS: usize = 8;
    let mut run = run("at-once", None);
    checked(save(&open(), &mut run, 1));
    for _ in 0..ROUNDS {
        ask(&mut run);
        let append = || {
            let journal = open();
            match wait(journal.append(run.head(), run.unsaved().to_vec())) {
                Ok(()) => 1,
                Err(JournalError::Conflict(id)) => {
                    assert_eq!(id, run.id());
                    0
                }
                Err(error) => panic!("{error}"),
            }
        };
        let succeeded: usize = std::thread::scope(|scope| {
            let programs: Vec<_> = (0..PROGRAMS).map(|_| scope.spawn(append)).collect();
            let programs = programs.into_iter();
            programs
                .map(|program| program.join().expect("the append returns"))
                .sum()
        });
        assert_eq!(succeeded, 1, "of {PROGRAMS} programs, one continues a run");
        run.mark_saved(u64::MAX);
    }
    let loaded = Run::replay(load(&open(), "at-once")).expect("a run was saved");
    assert_eq!(json!(loaded), json!(run));
}

/// Returns the ids on all pages of a list.
fn pages(
    limit: usize,
    list: impl Fn(Page) -> Result<Vec<RunHead>, JournalError>,
) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut page = Page::new(limit);
    loop {
        let heads = checked(list(page));
        assert!(heads.len() <= limit);
        let Some(end) = heads.last() else {
            return pages;
        };
        page = Page::new(limit).after(end);
        pages.push(heads.into_iter().map(|head| head.id).collect());
    }
}

fn heads_are_listed_in_pages<J: Journal>(open: &impl Fn() -> J) {
    let journal = open();
    // Heads with the same time are ordered by id.
    for (id, owner, saved_ms, waits) in [
        ("list-a", "ann", 30, true),
        ("list-b", "ann", 10, false),
        ("list-c", "bob", 10, true),
        ("list-d", "ann", 20, true),
        ("list-e", "ann", 20, true),
        ("list-f", "Ann", 20, true),
        ("list-g", "ann", u64::MAX, true),
    ] {
        let mut run = run(id, Some(owner));
        checked(save(&journal, &mut run, 5));
        if waits {
            hold(&mut run);
        } else {
            ask(&mut run);
        }
        checked(save(&journal, &mut run, saved_ms));
    }
    let waiting = |page| wait(open().waiting(page));
    assert_eq!(
        pages(2, waiting),
        [
            vec!["list-c", "list-d"],
            vec!["list-e", "list-f"],
            vec!["list-a", "list-g"],
        ]
    );
    let of_ann = |page| wait(open().runs(Some("ann"), page));
    assert_eq!(
        pages(2, of_ann),
        [
            vec!["list-g", "list-a"],
            vec!["list-e", "list-d"],
            vec!["list-b"],
        ]
    );
    assert_eq!(
        pages(9, |page| wait(open().runs(Some("nobody"), page))),
        Vec::<Vec<String>>::new()
    );
    let unowned = pages(9, |page| wait(open().runs(None, page))).concat();
    assert!(!unowned.is_empty() && !unowned.iter().any(|id| id.starts_with("list-")));

    // A head lists the waiting call, and the decision empties the inbox.
    let mut run = Run::replay(load(&journal, "list-a")).expect("a run was saved");
    let heads = checked(waiting(Page::new(9)));
    let head = heads.iter().find(|head| head.id == "list-a");
    let head = head.expect("the run waits");
    assert_eq!(head.waiting, run.pending());
    assert_eq!((head.owner.as_deref(), head.saved_ms), (Some("ann"), 30));
    run.cancel(&OpenAiChat::default()).expect("its own dialect");
    checked(save(&journal, &mut run, 40));
    let waiting = pages(9, waiting).concat();
    assert!(!waiting.contains(&"list-a".to_owned()), "{waiting:?}");

    // The model has to answer, and the answer ends that.
    let unfinished = |page| wait(open().unfinished(page));
    let has = |id: &str| pages(1, unfinished).contains(&vec![id.to_owned()]);
    assert!(has("list-b") && !has("list-a") && !has("list-g"));
    let mut run = Run::replay(load(&journal, "list-b")).expect("a run was saved");
    run.cancel(&OpenAiChat::default()).expect("its own dialect");
    checked(save(&journal, &mut run, 50));
    assert!(!has("list-b"));
}

fn removed_runs_are_gone<J: Journal>(open: &impl Fn() -> J) {
    let journal = open();
    let mut run = run("removed", Some("zoe"));
    checked(save(&journal, &mut run, 1000));
    checked(wait(open().remove("removed")));
    checked(wait(open().remove("removed")));
    assert!(load(&journal, "removed").is_empty());
    assert_eq!(checked(wait(open().runs(Some("zoe"), Page::new(9)))), []);
    // Nobody can continue the removed run, but a new run may have its id.
    ask(&mut run);
    assert_conflict(save(&journal, &mut run, 1000));
    let mut again = self::run("removed", Some("zoe"));
    checked(save(&journal, &mut again, 1000));
    let mut later = self::run("later", Some("zoe"));
    checked(save(&journal, &mut later, 2000));
    checked(wait(open().remove_before(2000)));
    assert!(load(&journal, "removed").is_empty());
    assert!(load(&journal, "programs").is_empty());
    assert_eq!(load(&journal, "later").len(), 2);
    // One of the two runs with this time was saved again later.
    assert_eq!(checked(wait(open().remove_before(2001))), 1);
    assert!(load(&journal, "later").is_empty());
    assert_eq!(load(&journal, "list-g").len(), 6);
}
