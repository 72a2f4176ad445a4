//! Conversations on a real server, whose processes are killed.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;

use support::World;
use tool_agent::run::{Run, RunOutcome};
use tool_core::ToolErrorKind;
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide, Message};

/// A process of the other tests.
#[test]
fn process() {
    support::act();
}

async fn job(client: &Client, id: &str) -> RunOutcome {
    let message = || Message::new(format!("job {id}")).owner("ann").key(id);
    for _ in 0..600 {
        match client.send(id, message()).await {
            Ok(outcome) => return outcome,
            // The server is down.
            Err(ClientError::Failed(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
            Err(error) => panic!("{id}: {error}"),
        }
    }
    panic!("{id} has no outcome");
}

/// Checks what a run says of its payments against what was paid. Returns the number of interrupted calls.
fn check_payments(run: &Run, payments: &BTreeMap<String, usize>) -> usize {
    let mut interrupted = 0;
    for (number, round) in run.rounds().iter().enumerate() {
        for (index, (call, result)) in round.calls().enumerate() {
            if !call.name.starts_with("pay") {
                continue;
            }
            let key = format!("{}/{}/{index}", run.id(), number + 1);
            let count = payments.get(&key).copied().unwrap_or(0);
            assert!(count <= 1, "{key} is paid {count} times");
            let result = result.expect("each call has a result");
            match result.error().map(|error| error.kind()) {
                None => assert_eq!(count, 1, "{key} is claimed and not paid"),
                Some(ToolErrorKind::Interrupted) => interrupted += 1,
                Some(other) => panic!("{key}: {other:?}: {}", result.content()),
            }
        }
    }
    interrupted
}

fn payments(world: &World) -> BTreeMap<String, usize> {
    let mut payments = BTreeMap::new();
    for line in world.lines("payments") {
        let (key, rest) = line.split_once(' ').unwrap();
        assert!(rest.ends_with(" ann"), "{line}");
        *payments.entry(key.to_owned()).or_default() += 1;
    }
    payments
}

#[tokio::test(flavor = "multi_thread")]
async fn each_payment_is_made_once_while_all_processes_are_killed() {
    let Some(mut world) = World::start("kills").await else {
        return;
    };
    let count = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        200
    } else {
        24
    };
    let client = world.client();
    let jobs: Vec<_> = (0..count)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let id = format!("run-{number}");
                tokio::time::sleep(Duration::from_millis(number * 20)).await;
                (job(&client, &id).await, id)
            })
        })
        .collect();
    let mut kills = 0;
    while jobs.iter().any(|job| !job.is_finished()) && kills < 20 {
        tokio::time::sleep(Duration::from_millis(350)).await;
        let process = match kills % 5 {
            0 | 2 => &mut world.agent,
            1 | 3 => &mut world.tools,
            _ => &mut world.server,
        };
        process.kill();
        process.start();
        kills += 1;
    }
    let mut interrupted = 0;
    let mut runs = Vec::new();
    for job in jobs {
        let (outcome, id) = job.await.unwrap();
        assert_eq!(outcome, RunOutcome::Answered(format!("done: job {id}")));
        runs.push(client.state(&id).await.unwrap().expect("it is saved"));
    }
    let payments = payments(&world);
    for run in &runs {
        interrupted += check_payments(run, &payments);
    }
    eprintln!("{count} conversations, {kills} kills, {interrupted} interrupted calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_who_may_decide_and_is_denied_when_nobody_does() {
    let Some(world) = World::start("decisions").await else {
        return;
    };
    let client = world.client();
    let sending = |id: &'static str| {
        let client = client.clone();
        tokio::spawn(async move { client.send(id, Message::new("transfer").owner("ann")).await })
    };
    let sent = sending("allowed");
    let pending = loop {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if let Some(run) = client.state("allowed").await.unwrap()
            && let Some(pending) = run.pending().into_iter().next()
        {
            break pending;
        }
    };
    let decide = |user: &str, fingerprint: &str| Decide {
        fingerprint: fingerprint.to_owned(),
        decision: Decision::Allow,
        user: user.to_owned(),
    };
    let fingerprint = pending.fingerprint();
    for (user, fingerprint) in [
        ("ann", fingerprint),
        ("bob", fingerprint),
        ("lea", "forged"),
    ] {
        let refused = client.decide("allowed", decide(user, fingerprint)).await;
        assert!(
            matches!(refused, Err(ClientError::Refused(403, _))),
            "{user}: {refused:?}"
        );
    }
    assert!(world.lines("payments").is_empty());
    client
        .decide("allowed", decide("lea", fingerprint))
        .await
        .unwrap();
    let outcome = sent.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    assert_eq!(world.lines("payments").len(), 1);
    let late = client.decide("allowed", decide("lea", fingerprint)).await;
    assert!(
        matches!(late, Err(ClientError::Refused(409, _))),
        "{late:?}"
    );

    let outcome = sending("expired").await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_stopped_at_once_and_goes_on_with_the_next_message() {
    let Some(world) = World::start("stops").await else {
        return;
    };
    let client = world.client();
    for question in ["silence", "sleep"] {
        let sent = {
            let client = client.clone();
            tokio::spawn(async move { client.send(question, Message::new(question)).await })
        };
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.stop(question).await.unwrap();
        let outcome = tokio::time::timeout(Duration::from_secs(20), sent).await;
        let outcome = outcome.expect("it ends").unwrap();
        // A run without an owner has no user for the tools.
        assert!(
            matches!(outcome, Ok(RunOutcome::Cancelled) | Err(_)),
            "{outcome:?}"
        );
        let next = client.send(question, Message::new("hello")).await.unwrap();
        assert_eq!(next, RunOutcome::Answered("done: hello".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_agents_may_call_is_closed_to_the_ingress() {
    let Some(world) = World::start("private").await else {
        return;
    };
    let http = reqwest::Client::new();
    for path in [
        "payments/call",
        "conversations-tools/call",
        "conversations/run-1/respond",
    ] {
        let url = format!("{}/{path}", world.ingress);
        let response = http
            .post(url)
            .json(&serde_json::json!({}))
            .send()
            .await
            .unwrap();
        assert!(
            response.status().is_client_error(),
            "{path}: {}",
            response.status()
        );
    }
    let client = world.client();
    client
        .send("run-1", Message::new("hello").owner("ann"))
        .await
        .unwrap();
    let other = client
        .send("run-1", Message::new("hello").owner("bob"))
        .await;
    assert!(
        matches!(other, Err(ClientError::Refused(403, _))),
        "{other:?}"
    );

    let outcome = client
        .send("run-2", Message::new("flood").owner("ann"))
        .await
        .unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: flood".into()));
    let run = client.state("run-2").await.unwrap().unwrap();
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    assert!(result.unwrap().content().contains("41943040") || result.unwrap().is_error());
}
