//! Lists of conversations, and how they are removed.

use std::time::Duration;

use futures_util::StreamExt;
use tool_agent::run::{Journal, Page, Run, RunHead, RunOutcome, SqliteJournal};
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide, Message, Update};

use crate::cast::{self, TOKEN};
use crate::faults::{held, patient, sending};
use crate::world::{SMALL, World, settled};

/// An owner whose name means something in SQL and in JSON.
const ODD: &str = r#"o'hara "\ -- é' OR 1=1"#;

async fn say(client: &Client, id: &str, owner: Option<&str>) {
    let mut message = Message::new("hello");
    if let Some(owner) = owner {
        message = message.owner(owner);
    }
    client.send(id, message).await.unwrap();
}

fn ids(heads: &[RunHead]) -> Vec<&str> {
    heads.iter().map(|head| &*head.id).collect()
}

/// Reads all pages of one head.
async fn all_runs(client: &Client, owner: Option<&str>) -> Vec<RunHead> {
    let mut all: Vec<RunHead> = Vec::new();
    loop {
        let mut page = Page::new(1);
        if let Some(last) = all.last() {
            page = page.after(last);
        }
        let heads = client.runs(owner, page).await.unwrap();
        assert!(heads.len() <= 1);
        if heads.is_empty() {
            return all;
        }
        all.extend(heads);
    }
}

/// Waits until this many conversations wait.
async fn waiting(client: &Client, count: usize) -> Vec<RunHead> {
    loop {
        let heads = client.waiting(Page::new(10)).await.unwrap();
        if heads.len() == count {
            return heads;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>, status: u16) {
    assert!(
        matches!(&answer, Err(ClientError::Refused(code, _)) if *code == status),
        "{answer:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_are_listed_by_owner_and_removed() {
    let Some(world) = World::start("lists", SMALL).await else {
        return;
    };
    let without = world.client().runs(None, Page::new(1)).await;
    assert!(matches!(without, Err(ClientError::Address(_))));
    let client = world.administering();
    for (id, owner) in [
        ("first", Some("ann")),
        ("it's", Some(ODD)),
        ("nobody's", None),
        ("a\\'s", Some(ODD)),
    ] {
        say(&client, id, owner).await;
    }
    assert_eq!(ids(&all_runs(&client, Some(ODD)).await), ["a\\'s", "it's"]);
    assert_eq!(ids(&all_runs(&client, None).await), ["nobody's"]);
    assert!(all_runs(&client, Some("bob")).await.is_empty());
    // The latest comes first.
    say(&client, "it's", Some(ODD)).await;
    let heads = all_runs(&client, Some(ODD)).await;
    assert_eq!(ids(&heads), ["it's", "a\\'s"]);
    assert!(heads[0].saved_ms > heads[1].saved_ms);

    refused(client.remove("it's", Some("ann")).await, 403);
    refused(client.remove("it's", None).await, 403);
    assert_eq!(all_runs(&client, Some(ODD)).await.len(), 2);
    let mut updates = world.streaming(TOKEN).stream("it's").unwrap();
    let first = updates.next().await.unwrap().unwrap();
    assert!(matches!(first, Update::Saved(_)));
    client.remove("it's", Some(ODD)).await.unwrap();
    client.remove("it's", Some(ODD)).await.unwrap();
    assert!(client.state("it's").await.unwrap().is_none());
    assert_eq!(ids(&all_runs(&client, Some(ODD)).await), ["a\\'s"]);
    let ended = updates.next().await.unwrap();
    refused(ended, 404);
    // Another user may have the id now.
    say(&client, "it's", Some("bob")).await;
    let run = client.state("it's").await.unwrap().unwrap();
    assert_eq!((run.info().owner(), run.messages().len()), (Some("bob"), 2));

    let [first] = &*all_runs(&client, Some("ann")).await else {
        panic!();
    };
    assert_eq!(client.remove_before(first.saved_ms).await.unwrap(), 0);
    assert_eq!(client.remove_before(first.saved_ms + 1).await.unwrap(), 1);
    assert_eq!(client.remove_before(u64::MAX).await.unwrap(), 3);
    let left = "SELECT key FROM state WHERE service_name = 'conversations'";
    assert!(world.query(left).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_wait_are_in_the_inbox_until_somebody_decides_or_removes() {
    let Some(world) = World::with_env("inbox", SMALL, &patient()).await else {
        return;
    };
    let client = world.administering();
    say(&client, "calm", Some("ann")).await;
    let one = sending(&client, "one", "transfer");
    waiting(&client, 1).await;
    let other = sending(&client, "other", "transfer");
    let heads = waiting(&client, 2).await;
    assert_eq!(ids(&heads), ["one", "other"], "the earliest comes first");
    let next = client.waiting(Page::new(10).after(&heads[0])).await;
    assert_eq!(ids(&next.unwrap()), ["other"]);

    let [pending] = &*heads[0].waiting else {
        panic!("{heads:?}");
    };
    let decide = Decide {
        fingerprint: pending.fingerprint().to_owned(),
        decision: Decision::Allow,
        user: "lea".to_owned(),
    };
    client.decide("one", decide).await.unwrap();
    let outcome = one.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    assert_eq!(ids(&waiting(&client, 1).await), ["other"]);

    client.remove("other", Some("ann")).await.unwrap();
    assert_eq!(other.await.unwrap().unwrap(), RunOutcome::Cancelled);
    waiting(&client, 0).await;
    assert!(client.state("other").await.unwrap().is_none());
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_a_journal_go_on_here() {
    let Some(world) = World::with_env("moved", SMALL, &patient()).await else {
        return;
    };
    let client = world.administering();
    let journal = SqliteJournal::open(world.folder.join("runs.sqlite")).unwrap();
    let agent = cast::agent(&world.folder).journal(journal.clone());
    for (id, question) in [("ended", "hello"), ("held", "transfer")] {
        let mut run = Run::builder(id).owner("ann").build();
        agent.reply(&mut run, question).await.unwrap();
    }
    let mut run = Run::builder("asking").owner("ann").build();
    run.push(agent.dialect().user_message("hello")).unwrap();
    agent.save(&mut run).await.unwrap();

    let import = async |run: &str, id: &str| {
        let increments = journal.load(run).await.unwrap();
        client.import(id, increments).await
    };
    for id in ["ended", "held"] {
        refused(import(id, "other").await, 409);
        assert!(import(id, id).await.unwrap());
        assert!(!import(id, id).await.unwrap(), "it is there");
    }
    refused(import("asking", "asking").await, 409);
    refused(client.import("nothing", Vec::new()).await, 409);
    let heads = client.runs(Some("ann"), Page::new(10)).await.unwrap();
    assert_eq!(ids(&heads), ["held", "ended"]);
    assert_eq!(ids(&waiting(&client, 1).await), ["held"]);
    assert!(world.lines("payments").is_empty());
    client
        .decide("held", held(&client, "held").await)
        .await
        .unwrap();
    let run = settled(std::slice::from_ref(&client), "held").await;
    let outcome = RunOutcome::Answered("done: transfer".into());
    assert_eq!(run.outcome(), Some(outcome));
    assert_eq!(world.lines("payments").len(), 1);
    say(&client, "ended", Some("ann")).await;
    let run = client.state("ended").await.unwrap().unwrap();
    assert_eq!(run.messages().len(), 4);
}
