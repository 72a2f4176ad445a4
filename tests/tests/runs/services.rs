//! Conversations of a service: they go on while their users come and go.

use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;
use tool_agent::conversations::{Conversation, ConversationError, Conversations, Status, Update};
use tool_agent::run::{DecideError, Journal, JournalError, MemoryJournal, Page, Run, RunInfo};
use tool_agent::testing::ScriptedModel;
use tool_agent::transcript::{Entry, Shown};
use tool_agent::{Agent, AgentError};
use tool_core::call::Progress;
use tool_core::hooks::{Decision, Gate};
use tool_core::{CallContext, Registry, ToolCall, tool, tools};

use super::{asking, calling, dialect, saying};

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
    let registry = Registry::builder()
        .tools(tools![pay, count])
        .context_per_call::<Rights>()
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("money is gone"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    let agent = Agent::new(registry, dialect(), ScriptedModel::new(responses))
        .journal(journal.clone())
        .contexts(|run: RunInfo, call| async move {
            let owner = run.owner().ok_or("no owner")?.to_owned();
            Ok::<ToolCall, _>(call.with(Rights(owner)))
        })
        .may_decide(async |request| request.user == "lead");
    Conversations::new(agent)
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
        match &*updates.next().await.unwrap() {
            Update::All { entries, status } if !status.is_busy => {
                return (entries.clone(), status.clone());
            }
            Update::All { entries, .. } => seen.clone_from(entries),
            Update::Entry { entry } => match seen.iter_mut().find(|one| one.key == entry.key) {
                Some(one) => one.clone_from(entry),
                None => seen.push(entry.clone()),
            },
            other => panic!("{other:?}"),
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
async fn a_conversation_goes_on_without_its_user_and_with_the_rights_of_its_owner() {
    let journal = MemoryJournal::default();
    let service = service(&journal, [calling(&[PAYING]), saying("Paid.")]);
    let conversation = create(&service).await;
    conversation.reply("Pay.").await.unwrap();
    // The user goes away.
    drop(conversation);
    let conversation = service.open("run-1").await.unwrap().unwrap();
    let (entries, status) = rest(&conversation).await;
    assert_eq!(status, Status::default());
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
    assert!(status.can_retry && status.problem.unwrap().contains("no response"));
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
