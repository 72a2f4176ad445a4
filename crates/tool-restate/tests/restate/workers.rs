//! Workers that don't fit their agents.

use futures_util::FutureExt;
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::run::{RunInfo, RunOutcome};
use tool_agent::testing::ScriptedModel;
use tool_core::{Registry, ToolErrorKind, tool, tools};
use tool_restate::{Agents, Message, ToolService};

use crate::faults::sending;
use crate::world::{SMALL, World, settled};

struct Account(#[allow(dead_code)] String);

/// Pays from an account.
#[tool(destructive, unlinked)]
fn withdraw(
    amount: u32,
    #[param(context)] account: &Account,
    #[param(context)] run: &RunInfo,
) -> String {
    format!("{amount} from {} for {}", account.0, run.id())
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![withdraw])
        .context_per_call::<Account>()
        .context_per_call::<RunInfo>()
        .build()
        .unwrap()
}

fn agent() -> Agent {
    Agent::new(registry(), OpenAiChat::default(), ScriptedModel::new([]))
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn a_service_without_the_contexts_that_its_tools_need_is_refused_at_the_start() {
    let service = ToolService::new("payments", registry()).serve(listener().await);
    let agents = Agents::new(agent()).serve(listener().await);
    let refused = [
        (service.now_or_never(), "payments", "ToolService::contexts"),
        (agents.now_or_never(), "conversations", "Agent::contexts"),
    ];
    for (served, service, remedy) in refused {
        let problem = served.expect("it does not start").unwrap_err().to_string();
        for part in [service, "withdraw", "workers::Account", remedy] {
            assert!(problem.contains(part), "{problem}");
        }
        assert!(!problem.contains("RunInfo"), "{problem}");
    }
}

#[tokio::test]
async fn a_service_starts_if_its_contexts_are_attached_or_its_tools_run_elsewhere() {
    let attached = ToolService::new("payments", registry())
        .contexts(async |_, call| Ok(call.with(Account("A1".to_owned()))));
    assert!(attached.serve(listener().await).now_or_never().is_none());
    let attached = agent().each_call(|call| call.with(Account("A1".to_owned())));
    let served = Agents::new(attached).serve(listener().await);
    assert!(served.now_or_never().is_none());
    let routed = Agents::new(agent()).route(|_| Some("payments".to_owned()));
    assert!(routed.serve(listener().await).now_or_never().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_another_version_of_a_tool_does_not_run_it() {
    let Some(mut world) = World::start("versions", SMALL).await else {
        return;
    };
    world.workers[0].env = vec![("DEPLOYMENT", "schema".to_owned())];
    world.workers[0].restart();
    let client = world.client();
    let message = || Message::new("job").owner("ann");
    let reply = client.send("run-0", message()).await.unwrap();
    assert_eq!(reply.outcome, RunOutcome::Answered("done: job".into()));
    let run = client.state("run-0").await.unwrap().unwrap();
    let mut refused = 0;
    for (call, result) in run.rounds().iter().flat_map(|round| round.calls()) {
        let result = result.unwrap();
        if call.name != "pay" {
            assert!(!result.is_error(), "{}", result.content());
            continue;
        }
        let content = result.content();
        assert!(content.contains("did not run"), "{content}");
        assert_ne!(result.error().unwrap().kind(), ToolErrorKind::Interrupted);
        refused += 1;
    }
    assert_eq!(refused, 2);
    // The payment of the agent's own tool.
    assert_eq!(world.lines("payments").len(), 1);

    world.workers[0].env.clear();
    world.workers[0].restart();
    client.send("run-1", message()).await.unwrap();
    let run = client.state("run-1").await.unwrap().unwrap();
    assert_eq!(world.lines("payments").len(), 4);
    assert!(
        run.rounds()
            .iter()
            .flat_map(|round| round.calls())
            .all(|(_, result)| !result.unwrap().is_error())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_to_a_service_that_is_not_registered_end_with_its_name() {
    let unregistered = [("DEPLOYMENT", "unregistered".to_owned())];
    let Some(world) = World::with_env("unregistered", SMALL, &unregistered).await else {
        return;
    };
    let client = world.client();
    // In the foreground, and in the background.
    for work in ["sign", "build"] {
        let outcome = sending(&client, work, work).await.unwrap().unwrap();
        assert_eq!(outcome, RunOutcome::Answered(format!("done: {work}")));
        let run = settled(std::slice::from_ref(&client), work).await;
        let calls = run.rounds().iter().flat_map(|round| round.calls());
        let failed = calls.filter(|(call, result)| {
            let result = result.unwrap();
            let content = result.content();
            let names = ["\"elsewhere\" is not registered", &call.name];
            let is_named = names.iter().all(|name| content.contains(name));
            assert_eq!(is_named, result.is_error(), "{content}");
            is_named
        });
        assert_eq!(failed.count(), 1);
    }
}
