//! Calls in the background: killed, stopped, decided, and left by a message that failed.

use std::time::Duration;

use tool_agent::run::{Run, RunOutcome};
use tool_core::ToolErrorKind;
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide};

use crate::faults::{deploy, sending};
use crate::world::{Layout, SMALL, World, check_told, short_or_long};

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_payment_in_the_background_is_made_once_while_all_processes_are_killed() {
    let layout = Layout {
        agents: 2,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("background-kills", layout).await else {
        return;
    };
    world.work = "errand";
    let count = short_or_long(24, 200);
    let mut kills = 0;
    let load = world.under_load(count, Duration::from_millis(60), async |world, number| {
        // From 200 to 500 milliseconds, in an order that looks random.
        pause(200 + (number as u64 * 137) % 300).await;
        if number >= 30 {
            return;
        }
        match number * 7 % 5 {
            0 => world.agents[0].restart(),
            1 => world.workers[0].restart(),
            2 => world.agents[1].restart(),
            3 => world.workers[1].restart(),
            _ => world.servers[0].restart(),
        }
        kills += 1;
    });
    let interrupted = load.await;
    eprintln!("{kills} kills");
    assert!(interrupted > 0, "no call was interrupted");
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_in_the_background_are_made_and_told_when_nothing_breaks() {
    let Some(mut world) = World::start("background", SMALL).await else {
        return;
    };
    world.work = "errand";
    let load = world.under_load(12, Duration::from_millis(20), async |_, _| pause(100).await);
    assert_eq!(load.await, 0);
    assert_eq!(world.lines("payments").len(), 12 * 5);
}

/// Returns the run once it is as expected.
async fn run_until(client: &Client, id: &str, is_expected: impl Fn(&Run) -> bool) -> Run {
    loop {
        pause(20).await;
        if let Some(run) = client.state(id).await.unwrap()
            && is_expected(&run)
        {
            return run;
        }
    }
}

/// The messages of the user and of the program.
fn said(run: &Run) -> Vec<&str> {
    let messages = run.messages().iter();
    let said = messages.filter(|message| message["role"] == "user");
    said.map(|message| message["content"].as_str().unwrap())
        .collect()
}

fn answered(text: &str) -> RunOutcome {
    RunOutcome::Answered(format!("done: {text}"))
}

/// Checks that the only build was interrupted, and that the model was told so by now.
fn check_interrupted(run: &Run) {
    check_told(run);
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    let error = result.unwrap().error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Interrupted);
    let messages = run.messages().iter();
    let told = messages.filter_map(|message| message["content"].as_str());
    let told = told.filter(|text| text.contains("was interrupted"));
    assert_eq!(told.count(), 1);
}

/// Waits until this many responses and results have come to the only message.
async fn came(world: &World, count: usize) {
    let came = "SELECT id FROM sys_journal WHERE entry_type = 'Notification: Call'";
    while world.query(came).await.len() < count {
        pause(20).await;
    }
}

/// Waits until the build has ended in the worker.
async fn left(world: &World) {
    while world.lines("left").is_empty() {
        pause(20).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_conversation_cancels_what_runs_in_the_background() {
    let Some(world) = World::start("background-stop", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "build");
    let run = run_until(&client, "run-0", |run| run.outcome().is_some()).await;
    assert_eq!(run.outcome(), Some(answered("build")));
    assert_eq!(run.in_background().count(), 1);
    assert!(world.lines("left").is_empty());
    client.stop("run-0").await.unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), RunOutcome::Cancelled);
    left(&world).await;

    let next = sending(&client, "run-0", "hello").await.unwrap().unwrap();
    assert_eq!(next, answered("hello"));
    let run = client.state("run-0").await.unwrap().unwrap();
    check_interrupted(&run);
    assert!(!world.folder.join("gate-app").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_suspended_while_a_call_runs_and_the_call_is_not() {
    let Some(world) = World::start("background-long", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "build");
    let statuses = async |handler: &str| {
        let sql =
            format!("SELECT status FROM sys_invocation WHERE target_handler_name = '{handler}'");
        let rows = world.query(&sql).await;
        let statuses = rows.iter().map(|row| row["status"].to_string());
        statuses.collect::<Vec<_>>()
    };
    while statuses("send").await != [r#""suspended""#] {
        pause(20).await;
    }
    // It started before.
    assert_eq!(statuses("call").await, [r#""running""#]);
    std::fs::write(world.folder.join("gate-app"), "").unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), answered("build"));
    let run = client.state("run-0").await.unwrap().unwrap();
    check_told(&run);
    assert!(said(&run)[1].contains("built app"), "{:?}", said(&run));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_came_before_a_conversation_was_stopped_is_kept() {
    let Some(world) = World::start("background-kept", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "pay-and-sleep");
    // The response of the model, and the payment.
    came(&world, 2).await;
    client.stop("run-0").await.unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), RunOutcome::Cancelled);
    let next = sending(&client, "run-0", "hello").await.unwrap().unwrap();
    assert_eq!(next, answered("hello"));
    let run = client.state("run-0").await.unwrap().unwrap();
    assert_eq!(world.check_payments(&[run]), 0);
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_fails_cancels_what_it_left_and_the_next_one_tells() {
    let Some(world) = World::start("background-break", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "break");
    // The response of the model, and the transfer, which is held.
    came(&world, 2).await;
    std::fs::write(world.folder.join("gate-break"), "").unwrap();
    let failed = sent.await.unwrap();
    let Err(ClientError::Refused(_, reason)) = failed else {
        panic!("{failed:?}")
    };
    assert!(reason.contains("has expired"), "{reason}");
    left(&world).await;
    let run = client.state("run-0").await.unwrap().unwrap();
    let open: Vec<_> = run.in_background().map(|call| call.name).collect();
    assert_eq!(open, ["build"]);
    assert_eq!(run.pending().len(), 1);

    let next = sending(&client, "run-0", "hello").await.unwrap().unwrap();
    assert_eq!(next, answered("hello"));
    let run = client.state("run-0").await.unwrap().unwrap();
    check_interrupted(&run);
    // The model hears of it before somebody should have decided on the other.
    let said = said(&run);
    assert_eq!((said.len(), said[1]), (4, "hello"), "{said:?}");
    assert!(said[2].contains("was interrupted"), "{said:?}");
    assert!(said[3].contains("nobody decided in time"), "{said:?}");
    assert_eq!(world.check_payments(&[run]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_message_waits_for_the_calls_of_the_first() {
    let Some(world) = World::start("background-queue", SMALL).await else {
        return;
    };
    let client = world.client();
    let first = sending(&client, "run-0", "build");
    let is_open = |run: &Run| run.in_background().next().is_some();
    run_until(&client, "run-0", is_open).await;
    let second = sending(&client, "run-0", "hello");
    std::fs::write(world.folder.join("gate-app"), "").unwrap();
    assert_eq!(second.await.unwrap().unwrap(), answered("hello"));
    assert_eq!(first.await.unwrap().unwrap(), answered("build"));
    let run = client.state("run-0").await.unwrap().unwrap();
    check_told(&run);
    let said = said(&run);
    assert_eq!((said.len(), said[0], said[2]), (3, "build", "hello"));
    assert!(said[1].contains("built app"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_the_background_waits_for_who_may_decide() {
    let Some(world) = World::start("background-decisions", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "allowed", "transfer_slowly");
    let is_held = |run: &Run| !run.pending().is_empty() && run.outcome().is_some();
    let run = run_until(&client, "allowed", is_held).await;
    let pending = run.pending().remove(0);
    let decide = |user: &str| Decide {
        fingerprint: pending.fingerprint().to_owned(),
        decision: Decision::Allow,
        user: user.to_owned(),
    };
    let refused = client.decide("allowed", decide("ann")).await;
    let is_refused = matches!(refused, Err(ClientError::Refused(403, _)));
    assert!(is_refused, "{refused:?}");
    assert!(world.lines("payments").is_empty());
    client.decide("allowed", decide("lea")).await.unwrap();
    assert_eq!(sent.await.unwrap().unwrap(), answered("transfer_slowly"));
    let allowed = client.state("allowed").await.unwrap().unwrap();
    assert_eq!(world.lines("payments").len(), 1);

    // Nobody decides.
    let expired = sending(&client, "expired", "transfer_slowly").await;
    assert_eq!(expired.unwrap().unwrap(), answered("transfer_slowly"));
    let expired = client.state("expired").await.unwrap().unwrap();
    let told = said(&expired)[1];
    assert!(told.contains("nobody decided in time"), "{told}");
    assert_eq!(world.check_payments(&[allowed, expired]), 0);
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_failed_keeps_what_waits_and_the_next_one_does_not_wait_for_it() {
    let Some(mut world) = World::start("background-provider", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "transfer_slowly");
    let is_held = |run: &Run| !run.pending().is_empty() && run.outcome().is_some();
    run_until(&client, "run-0", is_held).await;
    // Agents of another provider can't take that nobody decided.
    deploy(&mut world, "provider").await;
    let failed = sent.await.unwrap();
    let is_failed = matches!(failed, Err(ClientError::Refused(409, _)));
    assert!(is_failed, "{failed:?}");

    deploy(&mut world, "").await;
    let next = sending(&client, "run-0", "hello").await.unwrap().unwrap();
    assert_eq!(next, answered("hello"));
    let run = client.state("run-0").await.unwrap().unwrap();
    let said = said(&run);
    assert_eq!((said.len(), said[1]), (3, "hello"), "{said:?}");
    assert!(said[2].contains("nobody decided in time"), "{said:?}");
    assert_eq!(world.check_payments(&[run]), 0);
}
