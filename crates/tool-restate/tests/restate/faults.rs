//! Each payment is made once, whatever breaks.

use std::time::Duration;

use tool_agent::run::{RunOutcome, Step};
use tool_core::ToolErrorKind;
use tool_core::hooks::Decision;
use tool_restate::{Client, ClientError, Decide, Message};

use crate::world::{Layout, SMALL, World, has_nginx, settled, short_or_long};

async fn pause(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_payment_is_made_once_while_all_processes_are_killed() {
    let Some(mut world) = World::start("kills", SMALL).await else {
        return;
    };
    let mut kills = 0;
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(20), async |world, number| {
        pause(350).await;
        if number >= 20 {
            return;
        }
        match number % 5 {
            0 | 2 => world.agents[0].restart(),
            1 | 3 => world.workers[0].restart(),
            _ => world.servers[0].restart(),
        }
        kills += 1;
    });
    load.await;
    eprintln!("{kills} kills");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_balancer_leads_to_the_agents_and_workers_that_live() {
    let layout = Layout {
        agents: 2,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("balanced", layout).await else {
        return;
    };
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(50), kill_in_turn);
    load.await;
}

/// Kills an agent and a worker in turn, each for some time.
async fn kill_in_turn(world: &mut World, number: usize) {
    pause(300).await;
    let down = number % 2;
    world.agents[down].kill();
    world.workers[1 - down].kill();
    pause(500).await;
    world.agents[down].start();
    world.workers[1 - down].start();
}

#[tokio::test(flavor = "multi_thread")]
async fn nginx_balances_with_the_configuration_of_the_guide() {
    if !has_nginx() {
        eprintln!("skipped: nginx is not installed, or has no streams");
        return;
    }
    let layout = Layout {
        agents: 2,
        workers: 2,
        nginx: true,
        ..SMALL
    };
    let Some(mut world) = World::start("nginx", layout).await else {
        return;
    };
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(50), kill_in_turn);
    load.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_are_ended_by_a_signal_interrupt_no_call() {
    let layout = Layout {
        agents: 2,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("drained", layout).await else {
        return;
    };
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(100), async |world, number| {
        pause(300).await;
        let processes = if number % 3 == 2 {
            &mut world.agents
        } else {
            &mut world.workers
        };
        let process = &mut processes[number % 2];
        // The balancer has tasks on this thread.
        tokio::task::block_in_place(|| process.end());
        process.start();
        pause(300).await;
    });
    assert_eq!(load.await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_at_the_signal_gets_its_result_while_others_are_refused() {
    let Some(mut world) = World::start("refused", SMALL).await else {
        return;
    };
    let client = world.client();
    let waiting = sending(&client, "run-0", "sign");
    while world.lines("waiting").is_empty() {
        pause(20).await;
    }
    world.workers[0].signal("TERM");
    let refused = sending(&client, "run-1", "job");
    let sql = "SELECT id FROM sys_invocation
        WHERE target_service_name = 'payments' AND last_failure IS NOT NULL";
    while world.query(sql).await.is_empty() {
        pause(20).await;
    }
    world.give_sign();
    tokio::task::block_in_place(|| world.workers[0].end());
    world.workers[0].start();
    let outcome = waiting.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: sign".into()));
    let outcome = refused.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: job".into()));
    let mut runs = Vec::new();
    for id in ["run-0", "run-1"] {
        runs.push(client.state(id).await.unwrap().unwrap());
    }
    assert_eq!(world.check_payments(&runs), 0);
    assert_eq!(world.lines("payments").len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_ends_although_a_conversation_waits_for_a_decision() {
    let Some(mut world) = World::with_env("waiting", SMALL, &patient()).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "transfer");
    let decide = held(&client, "run-0").await;
    let mut agent = world.agents.remove(0);
    let ending = tokio::task::spawn_blocking(move || {
        agent.end();
        agent
    });
    // The server suspends a waiting conversation after a minute.
    let ended = tokio::time::timeout(Duration::from_secs(30), ending).await;
    let mut agent = ended.expect("it waits for the conversation").unwrap();
    agent.start();
    world.agents.push(agent);
    client.decide("run-0", decide).await.unwrap();
    let outcome = sent.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_stops_and_goes_on_pays_nothing_twice() {
    let layout = Layout {
        agents: 2,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("stopped", layout).await else {
        return;
    };
    let count = short_or_long(24, 120);
    let load = world.under_load(count, Duration::from_millis(250), async |world, number| {
        pause(400).await;
        let processes = [
            &world.workers[0],
            &world.agents[0],
            &world.workers[1],
            &world.agents[1],
            &world.servers[0],
        ];
        let process = processes[number % processes.len()];
        process.signal("STOP");
        // Longer than the engine waits for a sign of life.
        pause(2_500).await;
        process.signal("CONT");
    });
    load.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_wait_while_there_are_no_workers() {
    let layout = Layout {
        agents: 1,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("outage", layout).await else {
        return;
    };
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(20), async |world, number| {
        pause(300).await;
        if number > 0 {
            return;
        }
        for worker in &mut world.workers {
            worker.kill();
        }
        pause(u64::try_from(short_or_long(4, 30)).unwrap() * 1000).await;
        for worker in &mut world.workers {
            worker.start();
        }
    });
    load.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_payment_is_made_once_while_nodes_of_a_cluster_are_killed() {
    let layout = Layout {
        servers: 3,
        agents: 2,
        workers: 2,
        ..SMALL
    };
    let Some(mut world) = World::start("cluster", layout).await else {
        return;
    };
    let count = short_or_long(24, 200);
    let load = world.under_load(count, Duration::from_millis(300), async |world, number| {
        pause(1_000).await;
        let node = number % 3;
        world.servers[node].kill();
        world.agents[number % 2].restart();
        // Gives the other two time to elect a leader.
        pause(4_000).await;
        world.servers[node].start();
        world.workers[number % 2].restart();
        pause(4_000).await;
    });
    load.await;
}

/// Sends a message in a task that returns the outcome.
pub fn sending(
    client: &Client,
    id: &'static str,
    text: &'static str,
) -> tokio::task::JoinHandle<Result<RunOutcome, ClientError>> {
    let client = client.clone();
    tokio::spawn(async move {
        let reply = client.send(id, Message::new(text).owner("ann")).await?;
        Ok(reply.outcome)
    })
}

/// Waits until the conversation waits for a decision alone, and returns the decision that allows the call.
pub async fn held(client: &Client, id: &str) -> Decide {
    loop {
        pause(50).await;
        if let Some(run) = client.state(id).await.unwrap()
            && let Some(pending) = run.pending().into_iter().next()
            && matches!(run.next(), Step::Wait(_))
        {
            return Decide {
                fingerprint: pending.fingerprint().to_owned(),
                decision: Decision::Allow,
                user: "lea".to_owned(),
            };
        }
    }
}

/// Restarts the agent with another deployment, and waits until it answers.
pub async fn deploy(world: &mut World, deployment: &str) {
    world.agents[0].kill();
    world.agents[0].env = vec![("DEPLOYMENT", deployment.to_owned())];
    world.agents[0].start();
    let client = world.client();
    let answering = client.state("nobody");
    answering.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_outlives_a_deployment_with_other_options() {
    let Some(mut world) = World::with_env("redeploy", SMALL, &patient()).await else {
        return;
    };
    let client = world.client();
    let sent = sending(&client, "run-0", "transfer");
    let decide = held(&client, "run-0").await;
    // The order of the tools, the settings, the routes and the time limit of approvals differ.
    deploy(&mut world, "later").await;
    client.decide("run-0", decide).await.unwrap();
    let outcome = sent.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    let run = client.state("run-0").await.unwrap().unwrap();
    assert_eq!(run.settings().max_rounds, 16);
    assert_eq!(world.check_payments(&[run]), 0);
    assert_eq!(world.lines("payments").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_does_not_run_if_its_tool_is_gone_or_takes_other_arguments() {
    let Some(mut world) = World::with_env("upgrade", SMALL, &patient()).await else {
        return;
    };
    let client = world.client();
    for (id, question, deployment) in [
        ("run-0", "transfer", "gone"),
        ("run-1", "transfer_slowly", "gone"),
        ("run-2", "transfer", "renamed"),
    ] {
        deploy(&mut world, "").await;
        let sent = sending(&client, id, question);
        let decide = held(&client, id).await;
        deploy(&mut world, deployment).await;
        let mut decided = client.decide(id, decide.clone()).await;
        if deployment == "renamed" {
            // Who decides is told, and can still deny the call.
            let Err(ClientError::Refused(409, reason)) = decided else {
                panic!("{decided:?}");
            };
            assert!(reason.contains("the tool has changed"), "{reason}");
            let decision = Decision::Deny("use the new tool".to_owned());
            decided = client.decide(id, Decide { decision, ..decide }).await;
        }
        decided.unwrap();
        let answered = RunOutcome::Answered(format!("done: {question}"));
        assert_eq!(sent.await.unwrap().unwrap(), answered);
        let run = settled(std::slice::from_ref(&client), id).await;
        let (_, result) = run.rounds()[0].calls().next().unwrap();
        let result = result.unwrap();
        assert!(result.is_error(), "{id}: {}", result.content());
        assert_ne!(result.error().unwrap().kind(), ToolErrorKind::Interrupted);
        // The call is in the messages of the conversation, which goes on.
        let next = sending(&client, id, "hello").await.unwrap().unwrap();
        assert_eq!(next, RunOutcome::Answered("done: hello".into()));
    }
    assert!(world.lines("payments").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn another_provider_is_refused_and_the_conversation_kept() {
    let Some(mut world) = World::with_env("provider", SMALL, &patient()).await else {
        return;
    };
    let client = world.client();
    let answered = sending(&client, "calm", "hello").await.unwrap().unwrap();
    assert_eq!(answered, RunOutcome::Answered("done: hello".into()));
    let sent = sending(&client, "run-0", "transfer");
    let decide = held(&client, "run-0").await;

    deploy(&mut world, "provider").await;
    let refused = [
        client.decide("run-0", decide.clone()).await.map(|()| None),
        sending(&client, "calm", "again").await.unwrap().map(Some),
    ];
    for refused in refused {
        let Err(ClientError::Refused(409, reason)) = refused else {
            panic!("{refused:?}");
        };
        assert!(reason.contains("chat completions"), "{reason}");
    }
    assert!(world.lines("payments").is_empty());
    let run = client.state("calm").await.unwrap().unwrap();
    assert_eq!(run.messages().len(), 2, "the refused message is not in it");

    deploy(&mut world, "").await;
    client.decide("run-0", decide).await.unwrap();
    let outcome = sent.await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: transfer".into()));
    let run = client.state("run-0").await.unwrap().unwrap();
    assert_eq!(world.check_payments(&[run]), 0);
    assert_eq!(world.lines("payments").len(), 1);
    let answered = sending(&client, "calm", "again").await.unwrap().unwrap();
    assert_eq!(answered, RunOutcome::Answered("done: again".into()));
}

/// The environment of agents in which calls wait longer than a test.
pub fn patient() -> [(&'static str, String); 1] {
    [("APPROVAL_SECONDS", "600".to_owned())]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_message_waits_for_the_first() {
    let Some(world) = World::start("queue", SMALL).await else {
        return;
    };
    let client = world.client();
    let first = sending(&client, "run-0", "job");
    while client.state("run-0").await.unwrap().is_none() {
        pause(20).await;
    }
    let second = sending(&client, "run-0", "hello");
    let second = second.await.unwrap().unwrap();
    assert_eq!(second, RunOutcome::Answered("done: hello".into()));
    assert!(first.is_finished());
    let first = first.await.unwrap().unwrap();
    assert_eq!(first, RunOutcome::Answered("done: job".into()));
    let run = client.state("run-0").await.unwrap().unwrap();
    assert!(matches!(run.next(), Step::Done(_)));
    let said = run.messages().iter();
    let said: Vec<_> = said.filter(|message| message["role"] == "user").collect();
    assert_eq!(said.len(), 2);
    assert_eq!(said[1]["content"], "hello");
    assert_eq!(world.check_payments(&[run]), 0);
}
