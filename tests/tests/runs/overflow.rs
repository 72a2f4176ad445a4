//! Conversations that do not fit in the context of the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tool_agent::model::{ModelError, ModelErrorKind, Request};
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, AgentError, Compaction};
use tool_core::Registry;

use super::{dialect, saying};

/// A model whose context has this many characters. Counts the requests.
fn small(
    context: usize,
    asked: &Arc<AtomicUsize>,
) -> impl Fn(Request) -> std::future::Ready<Result<Value, ModelError>> + Send + Sync + use<> {
    let asked = Arc::clone(asked);
    move |request: Request| {
        asked.fetch_add(1, Ordering::Relaxed);
        let size = json!(*request.messages).to_string().len();
        let error = || ModelError::new(ModelErrorKind::TooLong, "400: prompt is too long");
        std::future::ready(if size > context {
            Err(error())
        } else {
            Ok(saying("I see."))
        })
    }
}

fn policy() -> Compaction {
    // No response says how many tokens it used.
    let policy = Compaction::at_tokens(u64::MAX).keep(1);
    policy.summary_with(async |messages| Ok(format!("{} messages", messages.len())))
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_summarised_and_asked_once_more() {
    let asked = Arc::new(AtomicUsize::new(0));
    let agent = Agent::new(Registry::new(), dialect(), small(400, &asked));
    let long = "word ".repeat(20);
    // Without leave, the error says what to do.
    let mut run = Run::new("run-1");
    let mut failed = None;
    for _ in 0..5 {
        match agent.reply(&mut run, &long).await {
            Ok(_) => {}
            Err(AgentError::Model(error)) => failed = Some(error),
            Err(error) => panic!("{error}"),
        }
    }
    let failed = failed.unwrap();
    assert_eq!(failed.kind(), ModelErrorKind::TooLong);
    assert!(failed.to_string().contains("`Agent::compact`"), "{failed}");

    let agent = agent.compact(policy());
    let before = asked.load(Ordering::Relaxed);
    // The run that failed goes on as well.
    let outcome = agent.run(&mut run).await.unwrap();
    assert_eq!(outcome, RunOutcome::Answered("I see.".into()));
    assert_eq!(asked.load(Ordering::Relaxed) - before, 2);
    let summary = run.messages()[0]["content"].as_str().unwrap();
    assert!(summary.ends_with(" messages"), "{summary}");
    for _ in 0..5 {
        agent.reply(&mut run, &long).await.unwrap();
    }
    assert!(json!(run.messages()).to_string().len() < 500);
}

#[tokio::test]
async fn what_no_summary_can_shorten_is_asked_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let agent = Agent::new(Registry::new(), dialect(), small(400, &asked)).compact(policy());
    let mut run = Run::new("run-1");
    for _ in 0..2 {
        agent.reply(&mut run, "Hello?").await.unwrap();
    }
    let before = asked.load(Ordering::Relaxed);
    let Err(AgentError::Model(error)) = agent.reply(&mut run, &"x".repeat(999)).await else {
        panic!()
    };
    assert!(error.to_string().contains("`Compaction::keep`"), "{error}");
    // Before and after the summary.
    assert_eq!(asked.load(Ordering::Relaxed) - before, 2);
}
