//! Conversations with random calls get the same messages as with an agent alone, even while processes are killed.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::run::{Run, RunOutcome, Step};
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide};

use crate::cast;
use crate::world::{SMALL, World, check_told, job, settled, short_or_long};

/// The contents of one response.
#[derive(Default)]
pub struct Turn {
    pub calls: Vec<(&'static str, Value)>,
    /// The build that may end after this response.
    pub lets_end: Option<String>,
}

/// The number of random responses. All others are answers.
const ROUNDS: usize = 5;

/// Returns a response of a conversation that starts with `mixed SEED ID`, and an empty one for others.
///
/// Builds end one by one, only while the model waits or has nothing else to do. So every order of events leads to the
/// same messages.
pub fn turn(question: &str, round: usize) -> Turn {
    let mut words = question.split(' ');
    if words.next() != Some("mixed") {
        return Turn::default();
    }
    let mut seed = words.next().unwrap().parse().unwrap();
    let id = words.next().unwrap();
    let (mut made, mut ended) = (0, 0);
    let mut turn = Turn::default();
    for number in 0..=round {
        turn = Turn::default();
        let count = if number < ROUNDS {
            random(&mut seed) % 4
        } else {
            0
        };
        let mut waits = false;
        for _ in 0..count {
            let n = json!({"n": number});
            turn.calls.push(match random(&mut seed) % 8 {
                0 => ("look_up", n),
                1 => ("note", json!({"text": id})),
                2 => ("pay", json!({"amount": number})),
                3 => ("transfer_slowly", json!({"amount": number})),
                // A second one would wait for a second build.
                4 if !waits => {
                    waits = true;
                    ("wait_for_results", json!({}))
                }
                5 => ("build", json!({})),
                _ => {
                    made += 1;
                    ("build", json!({"target": format!("{id}-{made}")}))
                }
            });
        }
        if (turn.calls.is_empty() || waits) && ended < made {
            ended += 1;
            turn.lets_end = Some(format!("{id}-{ended}"));
        }
    }
    turn
}

/// Returns the next number of SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The messages of the user.
fn said(id: &str, seed: usize) -> [String; 2] {
    [format!("mixed {seed} {id}"), "and then".to_owned()]
}

/// The decisions of the test, in order.
fn decision(number: usize) -> Decision {
    match number % 2 {
        0 => Decision::Allow,
        _ => Decision::deny("too much"),
    }
}

/// The outcome for each message of the user, and all messages.
type Transcript = (Vec<RunOutcome>, Vec<String>);

fn transcript(outcomes: Vec<RunOutcome>, run: &Run) -> Transcript {
    check_told(run);
    let messages = run.messages().iter();
    let messages = messages.map(|message| without_references(message.to_string()));
    (outcomes, messages.collect())
}

/// Removes the random references of errors, which differ between two runs.
fn without_references(mut text: String) -> String {
    while let Some((before, after)) = text.split_once(" [ref ") {
        text = format!("{before}{}", after.split_once(']').unwrap().1);
    }
    text
}

async fn by_agent(folder: &Path, id: &str, seed: usize) -> Transcript {
    let agent = cast::agent(folder);
    let mut run = Run::builder(id).owner("ann").build();
    let mut outcomes = Vec::new();
    let mut decided = 0;
    for text in said(id, seed) {
        let mut outcome = agent.reply(&mut run, &text).await.unwrap();
        while let RunOutcome::Waiting(pending) = &outcome {
            let deciding = decision(decided);
            decided += 1;
            let fingerprint = pending[0].fingerprint();
            let deciding = agent.decide(&mut run, fingerprint, deciding, "lea");
            deciding.await.unwrap();
            outcome = agent.run(&mut run).await.unwrap();
        }
        outcomes.push(outcome);
    }
    transcript(outcomes, &run)
}

/// Decides on each call once nothing else is left to do, because the agent alone asks at that point.
async fn decide_all(client: Client, id: String) {
    let (mut asked, mut decided) = (Vec::new(), HashSet::new());
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let Ok(Some(run)) = client.state(&id).await else {
            continue;
        };
        let Step::Wait(pending) = run.next() else {
            continue;
        };
        let mut fingerprints = pending.iter().map(|pending| pending.fingerprint());
        // The run may be older than the last decision.
        if fingerprints.any(|fingerprint| decided.contains(fingerprint))
            || run.in_background().next().is_some()
        {
            continue;
        }
        let fingerprint = pending[0].fingerprint();
        if asked.last().is_none_or(|last| last != fingerprint) {
            asked.push(fingerprint.to_owned());
        }
        let decide = Decide {
            fingerprint: fingerprint.to_owned(),
            decision: decision(asked.len() - 1),
            user: "lea".to_owned(),
        };
        match client.decide(&id, decide).await {
            // If the answer to a decision got lost, the second attempt is refused.
            Ok(()) | Err(ClientError::Refused(403 | 409, _)) => {
                decided.insert(fingerprint.to_owned());
            }
            Err(ClientError::Failed(_) | ClientError::Refused(500.., _)) => {}
            Err(error) => panic!("{id}: {error}"),
        }
    }
}

/// Compares conversations with the agent alone, while faults are injected.
async fn compare(world: &mut World, mut fault: impl AsyncFnMut(&mut World, usize)) {
    let count = short_or_long(30, 300);
    let alone = world.folder.join("alone");
    std::fs::create_dir(&alone).unwrap();
    let jobs = (0..count).map(|seed| {
        let client = world.client();
        let alone = alone.clone();
        tokio::spawn(async move {
            let id = format!("run-{seed}");
            let clients = [client.clone()];
            tokio::time::sleep(Duration::from_millis(40) * u32::try_from(seed).unwrap()).await;
            let deciding = tokio::spawn(decide_all(client, id.clone()));
            let mut outcomes = Vec::new();
            for text in said(&id, seed) {
                job(&clients, &id, &text).await;
                // The agent alone reads the next message only after all calls have ended.
                let run = settled(&clients, &id).await;
                outcomes.push(run.outcome().unwrap());
            }
            deciding.abort();
            let driven = transcript(outcomes, &settled(&clients, &id).await);
            (driven, by_agent(&alone, &id, seed).await)
        })
    });
    let jobs: Vec<_> = jobs.collect();
    for number in 0.. {
        if jobs.iter().all(|job| job.is_finished()) {
            break;
        }
        fault(world, number).await;
    }
    let (mut calls, mut acknowledged) = (0, 0);
    for (seed, job) in jobs.into_iter().enumerate() {
        let (driven, expected) = job.await.unwrap();
        for (driven, expected) in driven.1.iter().zip(&expected.1) {
            assert_eq!(driven, expected, "seed {seed}");
        }
        assert_eq!(driven, expected, "seed {seed}");
        let messages = driven.1.iter();
        let results = messages.filter(|message| message.contains(r#""role":"tool""#));
        for result in results {
            calls += 1;
            acknowledged += usize::from(result.contains("Started in the background"));
        }
    }
    eprintln!("{count} conversations, {calls} calls, {acknowledged} of them in the background");
    assert!(acknowledged > count, "too few calls in the background");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_the_messages_of_the_agent_alone() {
    let patient = [("APPROVAL_SECONDS", "600".to_owned())];
    let Some(mut world) = World::with_env("mixed", SMALL, &patient).await else {
        return;
    };
    let comparing = compare(&mut world, async |_, _| {
        tokio::time::sleep(Duration::from_millis(100)).await;
    });
    comparing.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_messages_are_the_same_while_agents_and_the_server_are_killed() {
    let patient = [("APPROVAL_SECONDS", "600".to_owned())];
    let Some(mut world) = World::with_env("mixed-kills", SMALL, &patient).await else {
        return;
    };
    // All tools that may not be repeated run in the worker, which is not killed.
    let comparing = compare(&mut world, async |world, number| {
        tokio::time::sleep(Duration::from_millis(400)).await;
        match number {
            0..20 if number % 4 == 3 => world.servers[0].restart(),
            0..20 => world.agents[0].restart(),
            _ => {}
        }
    });
    comparing.await;
}
