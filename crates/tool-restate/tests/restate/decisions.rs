//! Permissions to decide, stop and send.

use std::time::Duration;

use futures_util::StreamExt;
use tool_agent::run::{PortableCall, Run, RunOutcome};
use tool_core::hooks::Decision;
use tool_core::{ToolCall, ToolErrorKind};
use tool_restate::{ClientError, Decide, Message};

use crate::cast::TOKEN;
use crate::faults::{held, patient, sending};
use crate::world::{SMALL, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_who_may_decide_and_is_denied_when_nobody_does() {
    let Some(world) = World::start("decisions", SMALL).await else {
        return;
    };
    let client = world.client();
    let sending = |id| sending(&client, id, "transfer");
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
    let Some(world) = World::start("stops", SMALL).await else {
        return;
    };
    let client = world.client();
    // Stops the model, a tool that may be repeated, and one that may not.
    for (question, name) in [
        ("silence", "silence"),
        ("sleep", "sleep"),
        ("sign", "pay_on_sign"),
    ] {
        let sent = sending(&client, question, question);
        let wait_for = async |file: &str| {
            while world.lines(file).iter().all(|line| line != name) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        wait_for("waiting").await;
        client.stop(question).await.unwrap();
        assert_eq!(sent.await.unwrap().unwrap(), RunOutcome::Cancelled);
        // The call also ends in its process.
        wait_for("left").await;
        let next = sending(&client, question, "hello").await.unwrap().unwrap();
        assert_eq!(next, RunOutcome::Answered("done: hello".into()));
    }
    assert!(world.lines("payments").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_whose_drive_is_killed_ends_with_a_sentence_and_the_next_one_goes_on() {
    let Some(world) = World::with_env("killed", SMALL, &patient()).await else {
        return;
    };
    let client = world.client();
    // While the model is asked, while a call runs that may not be repeated, and while such a call goes on after a decision.
    for (question, name) in [
        ("silence", "silence"),
        ("sign", "pay_on_sign"),
        ("hold", "pay_on_sign"),
    ] {
        let sent = sending(&client, question, question);
        if question == "hold" {
            client
                .decide(question, held(&client, question).await)
                .await
                .unwrap();
        }
        let count = || {
            world
                .lines("waiting")
                .iter()
                .filter(|line| *line == name)
                .count()
        };
        let wanted = 1 + usize::from(question == "hold");
        while count() < wanted {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        world.kill_drive(question).await;
        let Err(ClientError::Refused(500, reason)) = sent.await.unwrap() else {
            panic!("{question}");
        };
        for part in [question, "operator", "send the next message"] {
            assert!(reason.contains(part), "{reason}");
        }
        let next = sending(&client, question, "hello").await.unwrap().unwrap();
        assert_eq!(next, RunOutcome::Answered("done: hello".into()));
        let run = client.state(question).await.unwrap().unwrap();
        for (call, result) in run.rounds().iter().flat_map(|round| round.calls()) {
            let error = result.expect("it has ended").error().unwrap();
            assert_eq!(error.kind(), ToolErrorKind::Interrupted, "{}", call.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_agents_is_named() {
    let Some(world) = World::start("names", SMALL).await else {
        return;
    };
    // A service that is not registered, and one with tools.
    for name in ["conversation", "payments"] {
        let client = world.streaming(TOKEN).service(name);
        let mut updates = client.stream("run-1").unwrap();
        let refused = [
            client.send("run-1", Message::new("hello")).await.err(),
            client.state("run-1").await.err(),
            updates.next().await.unwrap().err(),
        ];
        for refused in refused {
            let Some(ClientError::Refused(400 | 404, reason)) = refused else {
                panic!("{name}: {refused:?}");
            };
            for part in [name, "Client::service", "Agents::name"] {
                assert!(reason.contains(part), "{reason}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_agents_may_call_is_closed_to_the_ingress() {
    let Some(world) = World::start("private", SMALL).await else {
        return;
    };
    let http = reqwest::Client::new();
    // This is a real agent's request, so only the missing key keeps it out.
    let call = ToolCall::new("call_1", "pay", r#"{"amount":1}"#);
    let call = PortableCall::new(Run::builder("run-1").owner("ann").build().info(), &call);
    let call = serde_json::json!({"call": call});
    for (path, sent) in [
        ("payments/call", call.clone()),
        ("conversations-tools/call", call.clone()),
        ("conversations/run-1/respond", 0.into()),
        ("conversations/run-1/drive", "Next".into()),
        (
            "conversations/run-1/background",
            serde_json::json!({"service": "payments", "sent": call}),
        ),
    ] {
        let url = format!("{}/{path}", world.nodes[0].ingress_url());
        let response = http.post(url).json(&sent).send().await.unwrap();
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

    let outcome = sending(&client, "run-2", "flood").await.unwrap().unwrap();
    assert_eq!(outcome, RunOutcome::Answered("done: flood".into()));
    let run = client.state("run-2").await.unwrap().unwrap();
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    assert!(result.unwrap().content().contains("41943040") || result.unwrap().is_error());
}
