//! Calls in the background that are killed, stopped, decided, or left by a failed message.

use std::time::Duration;

use futures_util::StreamExt;
use tool_agent::run::{Run, RunOutcome, Step};
use tool_core::ToolErrorKind;
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide, Message, Update};

use crate::cast::TOKEN;
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

/// Waits until the run is as expected, and returns it.
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

/// Sends a message, and returns the number of calls still in the background after its answer.
async fn left_open(client: &Client, id: &str, text: &str) -> usize {
    let reply = client.send(id, Message::new(text).owner("ann")).await;
    let reply = reply.unwrap();
    assert_eq!(reply.outcome, answered(text));
    reply.in_background
}

async fn at_rest(client: &Client, id: &str) -> Run {
    run_until(client, id, |run| matches!(run.next(), Step::Done(_))).await
}

fn answered(text: &str) -> RunOutcome {
    RunOutcome::Answered(format!("done: {text}"))
}

/// Checks that the only build was interrupted, and that the model has been told.
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

/// Returns the number of events that a conversation has not handled yet.
async fn queued(world: &World) -> usize {
    let queued = "SELECT id FROM sys_invocation
        WHERE target_handler_name = 'drive' AND status = 'pending'";
    world.query(queued).await.len()
}

/// Waits until the build has ended in its worker.
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
    assert_eq!(left_open(&client, "run-0", "build").await, 1);
    assert!(world.lines("left").is_empty());
    client.stop("run-0").await.unwrap();
    let run = client.state("run-0").await.unwrap().unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Cancelled)));
    left(&world).await;
    // There is nothing more to stop.
    client.stop("run-0").await.unwrap();

    assert_eq!(left_open(&client, "run-0", "hello").await, 0);
    let run = client.state("run-0").await.unwrap().unwrap();
    check_interrupted(&run);
    assert!(!world.folder.join("gate-app").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_message_leaves_the_next_one() {
    let Some(world) = World::start("background-next", SMALL).await else {
        return;
    };
    let client = world.client();
    let stopped = sending(&client, "run-0", "sleep");
    while world.lines("waiting").is_empty() {
        pause(20).await;
    }
    let next = sending(&client, "run-0", "build");
    while queued(&world).await == 0 {
        pause(20).await;
    }
    client.stop("run-0").await.unwrap();
    assert_eq!(stopped.await.unwrap().unwrap(), RunOutcome::Cancelled);
    assert_eq!(next.await.unwrap().unwrap(), answered("build"));
    world.open_gate("app");
    let run = at_rest(&client, "run-0").await;
    assert!(said(&run)[2].contains("built app"), "{:?}", said(&run));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_suspended_while_a_call_runs_and_the_call_is_not() {
    let Some(world) = World::start("background-long", SMALL).await else {
        return;
    };
    let client = world.client();
    assert_eq!(left_open(&client, "run-0", "build").await, 1);
    let statuses = async |handler: &str| {
        let sql = format!(
            "SELECT status FROM sys_invocation
                WHERE target_handler_name = '{handler}' AND status <> 'completed'"
        );
        let rows = world.query(&sql).await;
        let statuses = rows.iter().map(|row| row["status"].to_string());
        statuses.collect::<Vec<_>>()
    };
    while statuses("background").await != [r#""suspended""#] {
        pause(20).await;
    }
    // The call started earlier.
    assert_eq!(statuses("call").await, [r#""running""#]);
    assert!(statuses("drive").await.is_empty());
    world.open_gate("app");
    let run = at_rest(&client, "run-0").await;
    check_told(&run);
    assert!(said(&run)[1].contains("built app"), "{:?}", said(&run));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_came_before_a_conversation_was_stopped_is_kept() {
    let Some(world) = World::start("background-kept", SMALL).await else {
        return;
    };
    let client = world.client();
    let mut runs = Vec::new();
    // One conversation waits for a tool, the other for the model.
    for (id, question) in [("run-0", "pay-and-sleep"), ("run-1", "pay-and-silence")] {
        let sent = sending(&client, id, question);
        // The result waits until the conversation handles it.
        while queued(&world).await == 0 {
            pause(20).await;
        }
        client.stop(id).await.unwrap();
        assert_eq!(sent.await.unwrap().unwrap(), RunOutcome::Cancelled);
        assert_eq!(left_open(&client, id, "hello").await, 0);
        runs.push(client.state(id).await.unwrap().unwrap());
    }
    assert_eq!(world.check_payments(&runs), 0);
    assert_eq!(world.lines("payments").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_may_cancel_what_drives_a_conversation() {
    let Some(world) = World::start("background-operator", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "silence");
    while world.lines("waiting").is_empty() {
        pause(20).await;
    }
    let drives = "SELECT id FROM sys_invocation WHERE target_handler_name = 'drive'";
    let drive = world.query(drives).await.remove(0);
    let (admin, id) = (world.nodes[0].admin_url(), drive["id"].as_str().unwrap());
    let cancelled = reqwest::Client::new().patch(format!("{admin}/invocations/{id}/cancel"));
    let cancelled = cancelled.send().await.unwrap();
    assert!(cancelled.status().is_success(), "{cancelled:?}");
    assert_eq!(sent.await.unwrap().unwrap(), RunOutcome::Cancelled);
    assert_eq!(left_open(&client, "run-0", "hello").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_although_their_message_fails_and_the_next_one_tells() {
    let Some(world) = World::start("background-break", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "break");
    let is_open = |run: &Run| run.in_background().next().is_some();
    run_until(&client, "run-0", is_open).await;
    world.open_gate("break");
    let failed = sent.await.unwrap();
    let Err(ClientError::Refused(_, reason)) = failed else {
        panic!("{failed:?}")
    };
    assert!(reason.contains("has expired"), "{reason}");
    world.open_gate("app");
    left(&world).await;
    // Meanwhile nobody asks the model, which would fail again.
    let drives = "SELECT id FROM sys_invocation
        WHERE target_handler_name = 'drive' AND status <> 'completed'";
    // The message and two results, one of them a hold.
    let all = "SELECT id FROM sys_invocation WHERE target_handler_name = 'drive'";
    while world.query(all).await.len() < 3 || !world.query(drives).await.is_empty() {
        pause(20).await;
    }
    let run = client.state("run-0").await.unwrap().unwrap();
    assert_eq!(run.rounds().len(), 1);

    assert_eq!(left_open(&client, "run-0", "hello").await, 1);
    let run = at_rest(&client, "run-0").await;
    check_told(&run);
    let said = said(&run);
    assert_eq!((said.len(), said[1]), (4, "hello"), "{said:?}");
    assert!(said[2].contains("built app"), "{said:?}");
    assert!(said[3].contains("nobody decided in time"), "{said:?}");
    assert_eq!(world.check_payments(&[run]), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_while_a_call_of_an_earlier_one_runs() {
    let Some(world) = World::start("background-between", SMALL).await else {
        return;
    };
    let client = world.streaming(TOKEN);
    let mut updates = client.stream("run-0").unwrap();
    assert_eq!(left_open(&client, "run-0", "build").await, 1);
    assert_eq!(left_open(&client, "run-0", "hello").await, 1);
    assert!(world.lines("left").is_empty());
    world.open_gate("app");
    // Nobody sends anything, and a follower still sees the answer to the result.
    let run = loop {
        let update = updates.next().await.unwrap().unwrap();
        if let Update::Saved(run) = update
            && run.rounds().len() == 4
        {
            break run;
        }
    };
    check_told(&run);
    let said = said(&run);
    assert_eq!((said.len(), said[1]), (3, "hello"), "{said:?}");
    assert!(said[2].contains("built app"), "{said:?}");
    let messages = run.messages().last().unwrap();
    assert_eq!(messages["content"], "done: hello");
    let run = client.state("run-0").await.unwrap().unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Answered(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_answer_needs_a_result_keeps_the_next_one_waiting() {
    let Some(world) = World::start("background-queue", SMALL).await else {
        return;
    };
    let client = world.client();
    assert_eq!(left_open(&client, "run-0", "build").await, 1);
    let waiting = sending(&client, "run-0", "wait");
    run_until(&client, "run-0", |run| {
        run.rounds().len() == 3 && matches!(run.next(), Step::Running)
    })
    .await;
    let next = sending(&client, "run-0", "hello");
    let drives = "SELECT id FROM sys_invocation WHERE target_handler_name = 'drive'";
    while world.query(drives).await.len() < 3 {
        pause(20).await;
    }
    assert!(!waiting.is_finished() && !next.is_finished());
    world.open_gate("app");
    assert_eq!(next.await.unwrap().unwrap(), answered("hello"));
    assert_eq!(waiting.await.unwrap().unwrap(), answered("wait"));
    let run = client.state("run-0").await.unwrap().unwrap();
    check_told(&run);
    assert_eq!(said(&run), ["build", "wait", "hello"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_the_background_waits_for_who_may_decide() {
    let Some(world) = World::start("background-decisions", SMALL).await else {
        return;
    };
    let client = world.client();
    assert_eq!(left_open(&client, "allowed", "transfer_slowly").await, 1);
    let run = run_until(&client, "allowed", |run| !run.pending().is_empty()).await;
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
    let allowed = at_rest(&client, "allowed").await;
    assert_eq!(world.lines("payments").len(), 1);

    // Nobody decides.
    assert_eq!(left_open(&client, "expired", "transfer_slowly").await, 1);
    let expired = at_rest(&client, "expired").await;
    let told = said(&expired)[1];
    assert!(told.contains("nobody decided in time"), "{told}");
    assert_eq!(world.check_payments(&[allowed, expired]), 0);
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_allowed_starts_while_the_turn_goes_on() {
    let Some(world) = World::start("background-allowed", SMALL).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "approve");
    let is_held = |run: &Run| !run.pending().is_empty();
    let run = run_until(&client, "run-0", is_held).await;
    assert_eq!(run.outcome(), None);
    let decide = Decide {
        fingerprint: run.pending()[0].fingerprint().to_owned(),
        decision: Decision::Allow,
        user: "lea".to_owned(),
    };
    client.decide("run-0", decide).await.unwrap();
    // Handled between two requests to the model, which makes other calls meanwhile.
    run_until(&client, "run-0", |run| run.pending().is_empty()).await;
    world.open_gate("approved");
    // The model answers once the call has had its effect.
    assert_eq!(sent.await.unwrap().unwrap(), answered("approve"));
    let run = at_rest(&client, "run-0").await;
    assert_eq!(world.check_payments(&[run]), 0);
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_while_the_agents_have_another_provider_waits_for_the_next_message() {
    let Some(mut world) = World::start("background-provider", SMALL).await else {
        return;
    };
    let client = world.client();
    assert_eq!(left_open(&client, "run-0", "transfer_slowly").await, 1);
    run_until(&client, "run-0", |run| !run.pending().is_empty()).await;
    // This agent can't handle the missing decision.
    deploy(&mut world, "provider").await;
    let failed = "SELECT id FROM sys_invocation
        WHERE target_handler_name = 'drive' AND status = 'completed'";
    // The message, the hold, and the time limit of the decision.
    while world.query(failed).await.len() < 3 {
        pause(20).await;
    }
    let run = client.state("run-0").await.unwrap().unwrap();
    assert_eq!(run.pending().len(), 1);

    deploy(&mut world, "").await;
    assert_eq!(left_open(&client, "run-0", "hello").await, 1);
    let run = at_rest(&client, "run-0").await;
    let told = said(&run);
    assert!(
        told.iter()
            .any(|text| text.contains("nobody decided in time")),
        "{told:?}"
    );
    assert_eq!(world.check_payments(&[run]), 0);
}
