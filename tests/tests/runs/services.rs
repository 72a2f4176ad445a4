//! Conversations of a service: they go on while their users come and go.

use futures_util::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Semaphore;
use tool_agent::conversations::{Conversation, ConversationError, Conversations, Status, Update};
use tool_agent::model::{Model, ModelError, ModelFuture, Request, Response};
use tool_agent::run::{
    DecideError, Increment, Journal, JournalError, MemoryJournal, Page, Run, RunError, RunHead,
    RunInfo, RunState, Step,
};
use tool_agent::testing::ScriptedModel;
use tool_agent::transcript::{Entry, Shown};
use tool_agent::{Agent, AgentError};
use tool_core::call::Progress;
use tool_core::hooks::{Decision, DecisionDenied, Gate, Inbox, InboxError};
use tool_core::runtime::BoxFuture;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};

use super::{asking, calling, dialect, question, saying, turn};

struct Rights(String);

/// Pays.
#[tool(destructive, unlinked)]
fn pay(cents: u32, #[param(context)] rights: &Rights) -> String {
    format!("{cents} by {}", rights.0)
}

/// Reports often.
#[tool(read_only, unlinked)]
fn count(to: u32, call: &CallContext) {
    for done in 0..to {
        let message = done.to_string();
        call.report(&Progress::of(f64::from(done), f64::from(to)).message(message));
    }
}

fn service(journal: &MemoryJournal, responses: impl IntoIterator<Item = Value>) -> Conversations {
    Conversations::new(agent(journal, ScriptedModel::new(responses))).unwrap()
}

fn agent(journal: &MemoryJournal, model: impl Model + 'static) -> Agent {
    let registry = Registry::builder()
        .tools(tools![pay, count])
        .context_per_call::<Rights>()
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("money is gone"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    Agent::new(registry, dialect(), model)
        .journal(journal.clone())
        .contexts(|run: RunInfo, call| async move {
            let owner = run.owner().ok_or("no owner")?.to_owned();
            Ok::<ToolCall, _>(call.with(Rights(owner)))
        })
        .may_decide(async |request| request.user == "lead")
}

async fn create(service: &Conversations) -> Conversation {
    let run = Run::builder("run-1").owner("ada").build();
    service.create(run).await.unwrap()
}

/// Returns everything that a follower sees once the conversation rests.
async fn rest(conversation: &Conversation) -> (Vec<Entry>, Status) {
    rested(conversation.follow()).await
}

async fn rested(updates: impl Stream<Item = Arc<Update>>) -> (Vec<Entry>, Status) {
    let mut updates = pin!(updates);
    let mut seen: Vec<Entry> = Vec::new();
    loop {
        let update = updates.next().await.unwrap();
        update.apply(&mut seen);
        if let Some(status) = update.status().filter(|status| !status.is_busy) {
            return (seen, status.clone());
        }
    }
}

fn results(entries: &[Entry]) -> Vec<&str> {
    let calls = entries.iter().filter_map(|entry| match &entry.shown {
        Shown::Call(call) => call.result.as_deref(),
        _ => None,
    });
    calls.collect()
}

fn fingerprint(entries: &[Entry]) -> &str {
    let mut holds = entries.iter().filter_map(|entry| match &entry.shown {
        Shown::Call(call) => call.hold.as_ref(),
        _ => None,
    });
    &holds.next().unwrap().fingerprint
}

const PAYING: (&str, &str) = ("pay", r#"{"cents":700}"#);

#[tokio::test]
async fn a_conversation_that_asks_for_more_than_calls_says_so_and_can_be_stopped() {
    let mut response = saying("Let me look.");
    asking::add(&mut response, "ask-0");
    let journal = MemoryJournal::default();
    let service = service(&journal, [response, saying("Hello.")]);
    let conversation = create(&service).await;
    conversation.reply("Go.").await.unwrap();
    let (_, status) = rest(&conversation).await;
    let problem = status.problem.unwrap();
    assert!(problem.contains(r#""future" ("ask-0")"#), "{problem}");
    let refused = conversation.reply("And?").await;
    let is_refused = matches!(refused, Err(ConversationError::Unanswered));
    assert!(is_refused, "{refused:?}");
    conversation.stop().await.unwrap();
    conversation.reply("And?").await.unwrap();
    let (entries, status) = rest(&conversation).await;
    assert_eq!(status, Status::default());
    assert!(json!(entries).to_string().contains("Hello."));
}

#[tokio::test]
async fn a_conversation_takes_answers_to_what_is_unanswered() {
    let mut response = saying("Let me look.");
    asking::add(&mut response, "ask-0");
    let journal = MemoryJournal::default();
    let service = service(&journal, [response, saying("It is up.")]);
    let conversation = create(&service).await;
    assert_eq!(conversation.unanswered().unwrap(), []);
    let nothing = conversation.answer([json!({})]).await;
    assert!(
        matches!(
            nothing,
            Err(ConversationError::Agent(AgentError::Run(
                RunError::NothingAsked
            )))
        ),
        "{nothing:?}"
    );
    conversation.reply("Is it up?").await.unwrap();
    rest(&conversation).await;
    // The user comes back, to another process.
    drop(conversation);
    let conversation = service.open("run-1").await.unwrap().unwrap();
    let asked = conversation.unanswered().unwrap();
    assert_eq!(asked[0].id.as_deref(), Some("ask-0"));
    let wrong = conversation
        .answer([json!({"tool_call_id": "ask-1"})])
        .await;
    assert!(
        matches!(&wrong, Err(ConversationError::Agent(AgentError::Run(RunError::Unanswered(left)))) if *left == asked),
        "{wrong:?}"
    );
    conversation
        .answer([asking::answer(&asked[0])])
        .await
        .unwrap();
    let (entries, status) = rest(&conversation).await;
    assert_eq!(status, Status::default());
    assert!(json!(entries).to_string().contains("It is up."));
    assert_eq!(conversation.unanswered().unwrap(), []);
    // Saved, with its answer.
    let loaded = Run::replay(journal.load("run-1").await.unwrap()).unwrap();
    assert_eq!(
        asking::without_answer(loaded.messages()),
        Vec::<String>::new()
    );
    assert_eq!(loaded.rounds().len(), 2);
}

/// A journal that loads a run only when it is let, and counts.
#[derive(Clone)]
struct Slow {
    journal: MemoryJournal,
    gate: Arc<tokio::sync::Semaphore>,
    loads: Arc<std::sync::atomic::AtomicUsize>,
}

impl Journal for Slow {
    fn append(&self, head: RunHead, new: Vec<Increment>) -> BoxFuture<Result<(), JournalError>> {
        self.journal.append(head, new)
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        let own = self.clone();
        let run = run.to_owned();
        Box::pin(async move {
            if run == "slow" {
                own.loads.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                own.gate.acquire().await.unwrap().forget();
            }
            own.journal.load(&run).await
        })
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

/// A conversation that loads slowly keeps no other waiting. It is loaded once, however many open it.
#[tokio::test]
async fn conversations_load_at_the_same_time_and_each_once() {
    let slow = Slow {
        journal: MemoryJournal::default(),
        gate: Arc::new(tokio::sync::Semaphore::new(0)),
        loads: Arc::default(),
    };
    for id in ["slow", "fast"] {
        let run = Run::new(id);
        slow.append(run.head(), run.unsaved().to_vec())
            .await
            .unwrap();
    }
    let agent = Agent::new(Registry::new(), dialect(), ScriptedModel::new([]));
    let service = Conversations::new(agent.journal(slow.clone())).unwrap();
    let open = || {
        let service = service.clone();
        tokio::spawn(async move { service.open("slow").await.unwrap().unwrap() })
    };
    let opening = [open(), open(), open()];
    let loads = || slow.loads.load(std::sync::atomic::Ordering::SeqCst);
    while loads() == 0 {
        tokio::task::yield_now().await;
    }
    // All three are on their way, and others pass.
    let fast = service.open("fast").await.unwrap().unwrap();
    assert_eq!(fast.info().id(), "fast");
    assert!(service.open("none").await.unwrap().is_none());
    let created = service.create(Run::new("new")).await.unwrap();
    assert_eq!(created.info().id(), "new");
    slow.gate.add_permits(3);
    let mut opened = Vec::new();
    for opening in opening {
        opened.push(opening.await.unwrap());
    }
    assert_eq!(loads(), 1);
    // They are the same conversation: one that is stopped is stopped for all.
    let mut followers = opened.iter().map(Conversation::follow).collect::<Vec<_>>();
    for follower in &mut followers {
        follower.next().await.unwrap();
    }
    opened[0].stop().await.unwrap();
    for follower in &mut followers {
        let update = follower.next().await.unwrap();
        assert!(update.status().is_some());
    }
    // Once nobody has it, it is loaded again.
    drop((opened, followers));
    service.open("slow").await.unwrap().unwrap();
    assert_eq!(loads(), 2);
}

#[tokio::test]
async fn a_conversation_goes_on_without_its_user_and_with_the_rights_of_its_owner() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [calling(&[PAYING]), saying("Paid.")]);
    let conversation = create(&service).await;
    conversation.reply("Pay.").await.unwrap();
    // The user goes away.
    drop(conversation);
    let conversation = service.open("run-1").await.unwrap().unwrap();
    let (entries, status) = rest(&conversation).await;
    assert!(!status.is_busy && !status.can_retry && status.problem.is_none());
    // Of the one response.
    assert_eq!(
        status.usage.map(|usage| (usage.input, usage.output)),
        Some((10, 5))
    );
    let waiting = conversation.reply("And?").await;
    assert!(
        matches!(waiting, Err(ConversationError::Waiting)),
        "{waiting:?}"
    );

    for user in ["ada", "eve", ""] {
        let decided = conversation
            .decide(fingerprint(&entries), Decision::Allow, user)
            .await;
        let is_denied = matches!(
            decided,
            Err(ConversationError::Agent(AgentError::Decide(
                DecideError::Denied(_)
            )))
        );
        assert!(is_denied, "{decided:?}");
    }
    let decided = conversation
        .decide(fingerprint(&entries), Decision::Allow, "lead")
        .await;
    decided.unwrap();
    let (entries, _) = rest(&conversation).await;
    assert_eq!(results(&entries), ["700 by ada"]);
    assert_eq!(json!(entries.last())["text"], "Paid.");
    assert!(service.open("run-2").await.unwrap().is_none());
}

#[tokio::test]
async fn conversations_list_what_a_user_may_decide_on() {
    let journal = MemoryJournal::default();
    let responses = [calling(&[PAYING]), calling(&[PAYING]), saying("Paid.")];
    let service = service(&journal, responses);
    for id in ["run-1", "run 2"] {
        let run = Run::builder(id).owner("ada").build();
        let conversation = service.create(run).await.unwrap();
        conversation.reply("Pay.").await.unwrap();
        rest(&conversation).await;
    }
    for user in ["ada", "eve", ""] {
        assert_eq!(service.waiting(user, 10).await.unwrap(), []);
    }
    let waiting = service.waiting("lead", 10).await.unwrap();
    assert_eq!(service.waiting("lead", 1).await.unwrap(), waiting[..1]);
    let [first, second] = &waiting[..] else {
        panic!("{waiting:?}")
    };
    assert!(first.since_ms <= second.since_ms);
    let shown = json!(second);
    assert_eq!(
        (&shown["owner"], &shown["name"], &shown["arguments"]),
        (&json!("ada"), &json!("pay"), &json!(r#"{"cents":700}"#))
    );

    let decide = |id: &str, user: &str| service.decide(id, Decision::Allow, user);
    let own = decide(&second.id, "ada").await;
    assert!(
        matches!(own, Err(InboxError::Denied(DecisionDenied::Owner))),
        "{own:?}"
    );
    let change = Decision::change(json!({"cents": "many"}));
    let invalid = service.decide(&second.id, change, "lead").await;
    assert_eq!(invalid.unwrap_err().status(), 422);
    for unknown in ["", "run-1", "0 run-3"] {
        let error = decide(unknown, "lead").await.unwrap_err();
        assert_eq!(error.status(), 404, "{unknown}");
    }
    decide(&second.id, "lead").await.unwrap();
    let again = decide(&second.id, "lead").await.unwrap_err();
    assert_eq!(again.status(), 409);
    let (_, run) = second.id.split_once(' ').unwrap();
    let conversation = service.open(run).await.unwrap().unwrap();
    let (entries, _) = rest(&conversation).await;
    assert_eq!(results(&entries), ["700 by ada"]);
    let left = service.waiting("lead", 10).await.unwrap();
    assert_eq!(left, waiting[..1]);
}

#[tokio::test]
async fn nothing_of_somebody_else_goes_on() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [saying("Hello!")]);
    for (id, owner) in [("run-1", Some("ada")), ("run-2", None)] {
        let builder = Run::builder(id);
        let mut run = owner
            .map_or(builder.clone(), |owner| builder.owner(owner))
            .build();
        run.push(json!({"role": "user", "content": "Hello?"}))
            .unwrap();
        let head = run.head();
        journal.append(head, run.unsaved().to_vec()).await.unwrap();
    }
    for (user, id) in [
        ("eve", "run-1"),
        ("", "run-1"),
        ("", "run-2"),
        ("ada", "run-2"),
    ] {
        assert!(
            service.open_as(user, id).await.unwrap().is_none(),
            "{user:?} {id}"
        );
        // The run is as it was saved.
        let saved = Run::replay(journal.load(id).await.unwrap()).unwrap();
        assert!(saved.rounds().is_empty());
    }
    // Nor does it by a decision on a call that does not wait.
    let decided = service.decide("0 run-1", Decision::Allow, "lead").await;
    assert!(matches!(decided, Err(InboxError::Decided)), "{decided:?}");
    let conversation = service.open_as("ada ", "run-1").await.unwrap().unwrap();
    let (entries, _) = rest(&conversation).await;
    assert_eq!(json!(entries.last())["text"], "Hello!");
    assert!(service.open_as("eve", "run-1").await.unwrap().is_none());
}

#[tokio::test]
async fn a_decision_that_is_denied_continues_nothing() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [saying("Done.")]);
    // The process died while one call waited and the other one was about to start.
    let mut run = Run::builder("run-1").owner("ada").build();
    run.push(question()).unwrap();
    let asked = calling(&[PAYING, ("count", r#"{"to":1}"#)]);
    let registry = agent(&journal, ScriptedModel::new([])).registry().clone();
    run.respond(&dialect(), &registry, turn(&asked)).unwrap();
    let Step::Call(calls) = run.next() else {
        panic!("{run:?}")
    };
    let call = calls[0].clone().with(Rights("ada".into()));
    run.start(&calls[..1]).unwrap();
    run.finish(&dialect(), registry.call(call).await).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    assert_eq!(run.head().state(), RunState::Unfinished);
    journal
        .append(run.head(), run.unsaved().to_vec())
        .await
        .unwrap();

    let id = format!("{fingerprint} run-1");
    for user in ["ada", "eve", ""] {
        let denied = service.decide(&id, Decision::Allow, user).await;
        assert!(matches!(denied, Err(InboxError::Denied(_))), "{denied:?}");
    }
    // Nothing that was started has ended yet, and nothing was.
    tokio::task::yield_now().await;
    assert_eq!(
        journal.load("run-1").await.unwrap().len(),
        run.unsaved().len()
    );

    service.decide(&id, Decision::Allow, "lead").await.unwrap();
    let conversation = service.open("run-1").await.unwrap().unwrap();
    let (entries, _) = rest(&conversation).await;
    assert_eq!(json!(entries.last())["text"], "Done.");
}

#[tokio::test]
async fn a_panic_of_the_application_ends_the_turn() {
    let journal = MemoryJournal::default();
    let model = |_: Request| -> std::future::Ready<Result<Value, ModelError>> {
        panic!("no model");
    };
    let agent = Agent::new(Registry::new(), dialect(), model).journal(journal.clone());
    let service = Conversations::new(agent).unwrap();
    let conversation = service.create(Run::new("run-1")).await.unwrap();
    conversation.reply("Hello?").await.unwrap();
    let (_, status) = rest(&conversation).await;
    assert!(status.can_retry, "{status:?}");
    let problem = status.problem.unwrap();
    let sentence = "the conversation can't go on, because of an error in this program [ref ";
    assert!(problem.starts_with(sentence), "{problem}");
    assert!(!problem.contains("no model"), "{problem}");
}

#[tokio::test]
async fn an_interrupted_conversation_goes_on_when_it_is_opened() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [saying("Hello!")]);
    let mut run = Run::builder("run-1").owner("ada").build();
    run.push(json!({"role": "user", "content": "Hello?"}))
        .unwrap();
    let head = run.head();
    journal.append(head, run.unsaved().to_vec()).await.unwrap();
    let conversation = service.open("run-1").await.unwrap().unwrap();
    assert!(matches!(conversation.retry(), Err(ConversationError::Busy)));
    let busy = conversation.reply("And?").await;
    assert!(matches!(busy, Err(ConversationError::Busy)), "{busy:?}");
    let (entries, _) = rest(&conversation).await;
    assert_eq!(json!(entries.last())["text"], "Hello!");
}

#[tokio::test]
async fn a_failed_request_is_repeated_on_request() {
    let journal = MemoryJournal::default();
    let service = service(&journal, []);
    let conversation = create(&service).await;
    conversation.reply("Hello?").await.unwrap();
    let (entries, status) = rest(&conversation).await;
    assert_eq!(entries.len(), 1);
    assert!(status.can_retry);
    let problem = status.problem.unwrap();
    assert!(
        problem.starts_with("the request to the model failed [ref "),
        "{problem}"
    );
    assert!(!problem.contains("no response"), "{problem}");
    conversation.retry().unwrap();
    let (_, status) = rest(&conversation).await;
    assert!(status.can_retry);
}

#[tokio::test]
async fn what_another_process_did_is_loaded_after_a_conflict() {
    let journal = MemoryJournal::default();
    let (one, two) = (
        service(&journal, [saying("One."), saying("Three.")]),
        service(&journal, [saying("Two.")]),
    );
    let first = create(&one).await;
    first.reply("1?").await.unwrap();
    rest(&first).await;
    let second = two.open("run-1").await.unwrap().unwrap();
    second.reply("2?").await.unwrap();
    rest(&second).await;
    let conflict = first.reply("3?").await;
    let is_conflict = matches!(
        conflict,
        Err(ConversationError::Agent(AgentError::Journal(
            JournalError::Conflict(ref run)
        ))) if run == "run-1"
    );
    assert!(is_conflict, "{conflict:?}");
    assert_eq!(rest(&first).await.0.len(), 4);
    first.reply("3?").await.unwrap();
    assert_eq!(rest(&first).await.0.len(), 6);

    // Nobody follows it in the second process, so it is loaded again.
    drop(second);
    let second = two.open("run-1").await.unwrap().unwrap();
    assert_eq!(rest(&second).await.0.len(), 6);
    let exists = one.create(Run::new("run-1")).await;
    assert!(
        matches!(exists, Err(ConversationError::Agent(_))),
        "{exists:?}"
    );
}

static SHIPPED: AtomicUsize = AtomicUsize::new(0);
static MAY_SHIP: Semaphore = Semaphore::const_new(0);

/// Ships.
#[tool(unlinked)]
async fn ship(order: u32) -> String {
    SHIPPED.fetch_add(1, Ordering::SeqCst);
    drop(MAY_SHIP.acquire().await);
    format!("shipped {order}")
}

/// A rolling deployment: the new process opens a conversation that the old one still drives.
#[tokio::test]
async fn a_process_that_opens_a_conversation_takes_over_and_repeats_no_call() {
    let journal = MemoryJournal::new();
    let process = |responses: Vec<Value>| {
        let registry = Registry::builder().tools(tools![ship]).build().unwrap();
        let agent = Agent::new(registry, dialect(), ScriptedModel::new(responses));
        let agent = agent.journal(journal.clone());
        Conversations::new(agent.contexts(async |_, call| Ok(call))).unwrap()
    };
    let old = process(vec![
        calling(&[("ship", r#"{"order":1}"#)]),
        saying("It is shipped."),
    ]);
    let new = process(vec![saying("Please check.")]);
    let conversation = create(&old).await;
    conversation.reply("Ship it.").await.unwrap();
    while SHIPPED.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let opened = new.open("run-1").await.unwrap().unwrap();
    let (taken, status) = rest(&opened).await;
    assert!(
        results(&taken)[0].contains("may have had an effect"),
        "{taken:?}"
    );
    assert_eq!(status.problem, None);

    // The call of the old process ends, and its result fits no more.
    MAY_SHIP.add_permits(1);
    let (entries, status) = rest(&conversation).await;
    let problem = status.problem.unwrap_or_default();
    assert!(
        problem.starts_with("the conversation went on elsewhere"),
        "{problem}"
    );
    assert_eq!(entries, taken);
    assert_eq!(SHIPPED.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn stopping_cancels_what_waits_and_lists_change() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [calling(&[PAYING]), saying("Well.")]);
    let mut changes = pin!(service.changes());
    changes.next().await.unwrap();
    let conversation = create(&service).await;
    changes.next().await.unwrap();
    conversation.reply("Pay.").await.unwrap();
    rest(&conversation).await;
    changes.next().await.unwrap();
    assert_eq!(journal.waiting(Page::new(9)).await.unwrap().len(), 1);
    conversation.stop().await.unwrap();
    changes.next().await.unwrap();
    assert!(journal.waiting(Page::new(9)).await.unwrap().is_empty());
    let (entries, status) = rest(&conversation).await;
    assert!(status.problem.unwrap().contains("cancelled"));
    assert_eq!(results(&entries).len(), 1);
    conversation.reply("Go on.").await.unwrap();
    assert_eq!(rest(&conversation).await.1, Status::default());
}

/// A model that calls a tool and then writes, in pieces. Each one takes a permit.
struct Writer {
    pieces: usize,
    permits: Arc<Semaphore>,
    has_called: AtomicBool,
}

impl Model for Writer {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        let (mut deltas, reason) = if self.has_called.swap(true, Ordering::Relaxed) {
            let piece = json!({"content": "0123456789abcdef"});
            (vec![piece; self.pieces], "stop")
        } else {
            let argument =
                |text: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]});
            let mut deltas = vec![argument("                "); self.pieces];
            let function = json!({"name": "count", "arguments": "{"});
            deltas.insert(
                0,
                json!({"tool_calls": [{"index": 0, "id": "call_1", "function": function}]}),
            );
            deltas.push(argument("\"to\":9}"));
            (deltas, "tool_calls")
        };
        deltas.push(json!({}));
        let last = deltas.len() - 1;
        let chunks = deltas.into_iter().enumerate().map(move |(index, delta)| {
            let reason = (index == last).then_some(reason);
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        });
        let permits = Arc::clone(&self.permits);
        let chunks = stream::iter(chunks).then(move |chunk| {
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await.unwrap().forget();
                Ok(chunk)
            }
        });
        Box::pin(async move { Ok(Response::stream(chunks)) })
    }
}

#[tokio::test]
async fn a_follower_gets_each_piece_once() {
    let journal = MemoryJournal::default();
    for pieces in [500, 2000] {
        // The model is a few pieces ahead of the follower.
        let permits = Arc::new(Semaphore::new(9));
        let model = Writer {
            pieces,
            permits: Arc::clone(&permits),
            has_called: AtomicBool::new(false),
        };
        let agent = agent(&journal, model);
        let run = Run::builder(format!("run-{pieces}")).owner("ada").build();
        let service = Conversations::new(agent).unwrap();
        let conversation = service.create(run).await.unwrap();
        let mut updates = conversation.follow();
        conversation.reply("Count, and write.").await.unwrap();
        let (mut entries, mut sent) = (Vec::new(), 0);
        loop {
            let update = updates.next().await.unwrap();
            permits.add_permits(1);
            sent += json!(*update).to_string().len();
            update.apply(&mut entries);
            if !entries.is_empty() && update.status().is_some_and(|status| !status.is_busy) {
                break;
            }
        }
        assert_eq!(entries.len(), 3);
        assert_eq!(entries, conversation.transcript().entries());
        let delta = json!({"type": "text", "key": "model-0", "piece": "0123456789abcdef"});
        let deltas = 2 * pieces * delta.to_string().len();
        assert!(2 * sent <= 3 * deltas, "{sent} bytes for {deltas}");
        println!("{sent} bytes of updates, {deltas} of pieces alone");
    }
}

#[test]
fn conversations_need_a_journal() {
    let model = ScriptedModel::new([]);
    let agent = Agent::new(Registry::new(), dialect(), model);
    let error = Conversations::new(agent).unwrap_err();
    assert!(matches!(error, ConversationError::NoJournal), "{error:?}");
    assert!(error.to_string().contains("`Agent::journal`"), "{error}");
}

#[tokio::test]
async fn a_late_follower_gets_everything_again() {
    let journal = MemoryJournal::default();
    let counting = calling(&[("count", r#"{"to":2000}"#)]);
    let service = service(&journal, [counting, saying("Counted.")]);
    let conversation = create(&service).await;
    let late = conversation.follow();
    conversation.reply("Count.").await.unwrap();
    let (entries, _) = rest(&conversation).await;
    assert_eq!(entries.len(), 3);
    let updates: Vec<_> = late.take(2).collect().await;
    assert!(matches!(&*updates[0], Update::All { entries, .. } if entries.is_empty()));
    assert!(matches!(&*updates[1], Update::All { entries, .. } if entries.len() == 3));
}

/// A process ends in the middle of three conversations. Of the others, one rests and one waits.
#[tokio::test]
async fn interrupted_conversations_continue_at_the_start() {
    let journal = MemoryJournal::new();
    let asked = |id: &str| {
        let mut run = Run::builder(id).owner("ann").build();
        run.push(question()).unwrap();
        run
    };
    let before = agent(&journal, ScriptedModel::new([saying("Hello!")]));
    for id in ["asked-1", "asked-2", "asked-3"] {
        before.save(&mut asked(id)).await.unwrap();
    }
    before.run(&mut asked("answered")).await.unwrap();
    let waits = agent(
        &journal,
        ScriptedModel::new([calling(&[("pay", r#"{"cents":9}"#)])]),
    );
    waits.run(&mut asked("waiting")).await.unwrap();
    before
        .save(&mut Run::builder("new").owner("ann").build())
        .await
        .unwrap();

    let model = ScriptedModel::new(["1", "2", "3"].map(saying));
    let conversations = Conversations::new(agent(&journal, model.clone())).unwrap();
    let failed = conversations.resume_all().await.unwrap();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(model.requests().len(), 3);
    for id in ["asked-1", "asked-2", "asked-3"] {
        let run = before.load(id).await.unwrap().unwrap();
        assert_eq!(run.rounds().len(), 1, "{id}");
    }
    assert_eq!(journal.unfinished(Page::new(9)).await.unwrap(), []);
    assert_eq!(journal.waiting(Page::new(9)).await.unwrap().len(), 1);
    // Nothing is left to do.
    assert!(conversations.resume_all().await.unwrap().is_empty());
    assert_eq!(model.requests().len(), 3);
}

/// One that can't be loaded, or that fails again, does not keep the others from going on, and the call ends.
#[tokio::test]
async fn a_failing_conversation_does_not_hold_up_the_others() {
    let journal = MemoryJournal::new();
    let before = agent(&journal, ScriptedModel::new([]));
    for at in 0..20 {
        let mut run = Run::builder(format!("asked-{at}")).owner("ann").build();
        run.push(question()).unwrap();
        before.save(&mut run).await.unwrap();
    }
    // Of one conversation only the head is left.
    let mut increments = journal.load("asked-3").await.unwrap();
    journal.remove("asked-3").await.unwrap();
    increments.truncate(1);
    let mut head = journal
        .runs(Some("ann"), Page::new(1))
        .await
        .unwrap()
        .remove(0);
    head.id = "asked-3".into();
    let other = journal.load("asked-4").await.unwrap();
    journal.append(head, other).await.unwrap();

    let model = ScriptedModel::new(std::iter::repeat_n(saying("Hello!"), 9));
    let conversations = Conversations::new(agent(&journal, model)).unwrap();
    let failed = conversations.resume_all().await.unwrap();
    let ids: Vec<_> = failed.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, ["asked-3"]);
    // The script had no more responses.
    assert_eq!(
        journal.unfinished(Page::new(99)).await.unwrap().len(),
        20 - 9
    );
}
