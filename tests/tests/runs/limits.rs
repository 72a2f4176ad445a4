//! Limits are looked at when nothing waits, too, and have defaults.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::stream;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, ModelFuture, Request, Response};
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_core::{Registry, tool, tools};

use super::{calling, dialect, new_run, saying};

/// Counts the calls.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU32>);

impl Count {
    fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Takes two milliseconds, and waits for nothing.
#[tool(unlinked)]
fn busy(#[param(context)] count: &Count) -> Result<u32, String> {
    std::thread::sleep(Duration::from_millis(2));
    let calls = count.0.fetch_add(1, Ordering::SeqCst) + 1;
    Ok(calls)
}

/// Fails.
#[tool(unlinked)]
fn fail(#[param(context)] count: &Count) -> Result<u32, String> {
    count.0.fetch_add(1, Ordering::SeqCst);
    Err("no".into())
}

fn registry(count: &Count) -> Registry {
    let builder = Registry::builder().tools(tools![busy, fail]);
    builder.context(count.clone()).build().unwrap()
}

fn agent(count: &Count, responses: impl IntoIterator<Item = Value>) -> Agent {
    Agent::new(registry(count), dialect(), ScriptedModel::new(responses))
}

#[tokio::test]
async fn the_time_is_over_while_calls_never_wait() {
    for parallel in [false, true] {
        let count = Count::default();
        let agent = agent(&count, [calling(&[("busy", "{}"); 200])]);
        let agent = agent.max_duration(Duration::from_millis(1));
        let mut settings = RunSettings::default();
        settings.parallel = Some(parallel);
        let mut run = Run::builder("run-1").settings(settings).build();
        run.push(super::question()).unwrap();
        assert_eq!(agent.run(&mut run).await.unwrap(), RunOutcome::OutOfTime);
        // The first call takes longer than the whole run may.
        assert!(count.get() <= 1, "{}", count.get());
    }
}

#[tokio::test]
async fn the_time_is_over_while_a_stream_never_waits() {
    struct Endless;

    impl tool_agent::model::Model for Endless {
        fn ask(&self, _: Request) -> ModelFuture<'_> {
            let chunk = json!({"choices": [{"index": 0, "delta": {"content": "and "}}]});
            let events = stream::repeat_with(move || Ok::<_, ModelError>(chunk.clone()));
            Box::pin(async { Ok(Response::stream(events)) })
        }
    }

    let agent = Agent::new(Registry::new(), dialect(), Endless);
    let agent = agent.max_duration(Duration::from_millis(1));
    let outcome = agent.run(&mut new_run()).await.unwrap();
    assert_eq!(outcome, RunOutcome::OutOfTime);
}

#[tokio::test]
async fn other_tasks_run_while_nothing_waits() {
    let count = Count::default();
    let rounds = (0..12).map(|_| calling(&[("busy", "{}"); 4]));
    let agent = agent(&count, rounds.chain([saying("Done.")]));
    let mut run = new_run();
    let other = async {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        count.get()
    };
    let (outcome, seen) = tokio::join!(agent.run(&mut run), other);
    assert_eq!(outcome.unwrap(), RunOutcome::Answered("Done.".into()));
    assert_eq!(count.get(), 48);
    assert!(seen < 48, "the other task had to wait for all calls");
}

#[tokio::test]
async fn what_follows_too_many_failures_is_not_run() {
    let count = Count::default();
    let calls = [&[("fail", "{}"); 5][..], &[("busy", "{}"); 5]].concat();
    let agent = agent(&count, [calling(&calls)]);
    let mut settings = RunSettings::default();
    settings.max_failures = 3;
    settings.parallel = Some(false);
    let mut run = Run::builder("run-1").settings(settings).build();
    let outcome = agent.reply(&mut run, "Go.").await.unwrap();
    assert_eq!(outcome, RunOutcome::OutOfFailures("fail".into()));
    assert_eq!(count.get(), 3);
    let results = super::contents(&run);
    assert_eq!(results.len(), 10);
    for refused in &results[3..] {
        assert!(
            refused.contains("calls of fail failed too often"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_response_runs_256_calls_at_most() {
    let count = Count::default();
    let calls = 20_000;
    let agent = agent(&count, [calling(&vec![("fail", "{}"); calls])]);
    let mut run = Run::builder("run-1").build();
    let outcome = agent.reply(&mut run, "Go.").await.unwrap();
    assert_eq!(outcome, RunOutcome::OutOfCalls);
    assert_eq!(count.get(), 256);
    assert_eq!(super::contents(&run).len(), calls);
}
