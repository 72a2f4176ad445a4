//! What observers see of requests and runs.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response, Retry};
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Compaction};
use tool_core::Registry;
use tool_core::dialect::Dialect;
use tool_core::hooks::{CallRecord, Decision, Gate, Observer, RequestRecord, RunRecord};
use tool_core::tools;
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

use super::{calling, delete_note, dialect, look_up, new_run, question, saying};

/// Keeps a line for each record, without its times.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Lines {
    fn call(&self, record: &CallRecord<'_>) {
        self.push(format!("call {} {:?}", record.tool, record.error));
    }

    fn request(&self, record: &RequestRecord<'_>) {
        let tokens = record
            .usage
            .map(|usage| (usage.input, usage.cached_input, usage.output));
        assert!(record.first_chunk.unwrap_or_default() <= record.duration);
        self.push(format!(
            "request {} {:?} {:?} tokens={tokens:?} streamed={} retries={} error={:?}",
            record.provider,
            record.model,
            record.response_model,
            record.first_chunk.is_some(),
            record.retries,
            record.error,
        ));
    }

    fn run(&self, record: &RunRecord<'_>) {
        self.push(format!(
            "run {} {:?} {:?} requests={} calls={} error={:?}",
            record.provider,
            record.model,
            record.outcome,
            record.requests,
            record.calls,
            record.error,
        ));
    }
}

/// A panic of the first observer keeps nothing from the second one.
struct Broken;

impl Observer for Broken {
    fn request(&self, _: &RequestRecord<'_>) {
        panic!("planned");
    }

    fn run(&self, _: &RunRecord<'_>) {
        panic!("planned");
    }
}

fn registry(lines: &Lines) -> Registry {
    Registry::builder()
        .tools(tools![look_up, delete_note])
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::confirm("it deletes something"),
            _ => Gate::Allow,
        })
        .observe_with(Broken)
        .observe_with(lines.clone())
        .build()
        .unwrap()
}

/// A model with a name, which answers from a script.
struct Named(ScriptedModel);

impl Model for Named {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        self.0.ask(request)
    }

    fn name(&self) -> Option<&str> {
        Some("m-1")
    }
}

fn with(mut response: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        response[key] = value.clone();
    }
    response
}

#[tokio::test]
async fn an_observer_sees_requests_calls_and_runs() {
    let lines = Lines::default();
    let usage = json!({"model": "m-1-2026", "usage": {"prompt_tokens": 20, "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 8}}});
    let model = Named(ScriptedModel::new([
        calling(&[("look_up", r#"{"key":"a"}"#), ("no_such_tool", "{}")]),
        with(saying("Done."), &usage),
    ]));
    // Layers around the model keep its name.
    let agent = Agent::new(registry(&lines), dialect(), model).retry(Retry::new(1));
    agent.run(&mut new_run()).await.unwrap();
    let expected = [
        r#"request openai Some("m-1") None tokens=Some((10, 0, 5)) streamed=false retries=0 error=None"#,
        "call look_up None",
        r#"request openai Some("m-1") Some("m-1-2026") tokens=Some((20, 8, 3)) streamed=false retries=0 error=None"#,
        r#"run openai Some("m-1") Some("answered") requests=2 calls=2 error=None"#,
    ];
    assert_eq!(lines.take(), expected);
}

#[tokio::test]
async fn each_time_that_a_run_is_driven_is_a_record() {
    let lines = Lines::default();
    let model = ScriptedModel::new([calling(&[("delete_note", r#"{"id":7}"#)]), saying("Done.")]);
    let agent = Agent::new(registry(&lines), dialect(), model).may_decide(async |_| true);
    let mut run = new_run();
    agent.run(&mut run).await.unwrap();
    let waiting = lines.take();
    assert_eq!(waiting[1], "call delete_note Some(Held)");
    assert_eq!(
        waiting[2],
        r#"run openai None Some("waiting") requests=1 calls=1 error=None"#
    );
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let decided = agent.decide(&mut run, &fingerprint, Decision::Allow, "ann");
    decided.await.unwrap();
    agent.run(&mut run).await.unwrap();
    let lines = lines.take();
    assert_eq!(lines[0], "call delete_note None");
    assert_eq!(
        lines[2..],
        [r#"run openai None Some("answered") requests=1 calls=1 error=None"#]
    );
}

#[tokio::test]
async fn a_record_counts_the_repetitions_of_a_request() {
    let lines = Lines::default();
    let failures = AtomicU32::new(2);
    let model = move |_: Request| {
        let is_left = |left: u32| left.checked_sub(1);
        let fails = failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_left)
            .is_ok();
        std::future::ready(if fails {
            Err(ModelError::new(ModelErrorKind::Overloaded, "busy"))
        } else {
            Ok(saying("Done."))
        })
    };
    let retry = Retry::new(3).first_wait(Duration::ZERO);
    let agent = Agent::new(registry(&lines), dialect(), model).retry(retry);
    agent.run(&mut new_run()).await.unwrap();
    // Of the next request there is none.
    let mut run = new_run();
    agent.run(&mut run).await.unwrap();
    let lines = lines.take();
    assert!(
        lines[0].ends_with("retries=2 error=None"),
        "{}",
        lines.join("\n")
    );
    assert!(
        lines[2].ends_with("retries=0 error=None"),
        "{}",
        lines.join("\n")
    );
}

#[tokio::test]
async fn a_failed_request_has_the_kind_of_its_error() {
    let lines = Lines::default();
    let retry = Retry::new(1).first_wait(Duration::ZERO);
    for (error, kind) in [
        (Some(ModelErrorKind::RateLimited), "rate_limited"),
        (Some(ModelErrorKind::Unauthorized), "unauthorized"),
        (None, "unreadable_response"),
    ] {
        let model = move |_: Request| {
            std::future::ready(match error {
                Some(kind) => Err(ModelError::new(kind, "no")),
                None => Ok(json!("Hello.")),
            })
        };
        let agent = Agent::new(registry(&lines), dialect(), model).retry(retry.clone());
        agent.run(&mut new_run()).await.unwrap_err();
        let retries = u32::from(kind == "rate_limited");
        let expected = [
            format!(
                "request openai None None tokens=None streamed=false retries={retries} error=Some({kind:?})"
            ),
            format!("run openai None None requests=1 calls=0 error=Some({kind:?})"),
        ];
        assert_eq!(lines.take(), expected);
    }
}

#[tokio::test]
async fn what_is_dropped_is_cancelled() {
    let lines = Lines::default();
    let agent = Agent::new(registry(&lines), dialect(), |_: Request| pending());
    assert!(agent.run(&mut new_run()).now_or_never().is_none());
    let expected = [
        r#"request openai None None tokens=None streamed=false retries=0 error=Some("cancelled")"#,
        r#"run openai None None requests=1 calls=0 error=Some("cancelled")"#,
    ];
    assert_eq!(lines.take(), expected);

    let limited = agent.max_duration(Duration::ZERO);
    let outcome = limited.run(&mut new_run()).await.unwrap();
    assert_eq!(outcome, RunOutcome::OutOfTime);
    let last = lines.take().pop().unwrap();
    assert!(
        last.starts_with(r#"run openai None Some("out_of_time")"#),
        "{last}"
    );
}

/// Streams an answer.
struct Streaming;

impl Model for Streaming {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        let chunk = json!({"model": "m-2", "choices": [{"index": 0,
            "delta": {"content": "Hello!"}, "finish_reason": "stop"}]});
        Box::pin(std::future::ready(Ok(Response::stream(stream::iter([
            Ok(chunk),
        ])))))
    }
}

#[tokio::test]
async fn a_streamed_response_has_the_time_of_its_first_event() {
    let lines = Lines::default();
    let agent = Agent::new(registry(&lines), dialect(), Streaming);
    let mut run = new_run();
    let events: Vec<_> = agent.events(&mut run).collect().await;
    assert!(events.iter().all(Result::is_ok));
    let first = &lines.take()[0];
    assert!(
        first.contains(r#"Some("m-2") tokens=None streamed=true"#),
        "{first}"
    );
}

#[tokio::test]
async fn the_request_for_a_summary_counts() {
    let lines = Lines::default();
    let call = || calling(&[("look_up", r#"{"key":"a"}"#)]);
    let model = ScriptedModel::new([call(), call(), saying("Short."), saying("Done.")]);
    let agent =
        Agent::new(registry(&lines), dialect(), model).compact(Compaction::at_tokens(1).keep(1));
    let mut run = Run::builder("run-1")
        .settings(RunSettings::default())
        .build();
    run.push(question()).unwrap();
    agent.run(&mut run).await.unwrap();
    let last = lines.take().pop().unwrap();
    assert!(last.contains("requests=4 calls=2"), "{last}");
}

#[test]
fn providers_have_the_names_of_the_conventions() {
    let dialects: [(Box<dyn Dialect>, &str); 9] = [
        (Box::new(Anthropic::default()), "anthropic"),
        (Box::new(Bedrock::default()), "aws.bedrock"),
        (Box::new(Cohere::default()), "cohere"),
        (Box::new(Gemini::default()), "gcp.gemini"),
        (Box::new(GeminiInteractions::default()), "gcp.gemini"),
        (Box::new(Mistral::default()), "mistral_ai"),
        (Box::new(OpenAiChat::default()), "openai"),
        (Box::new(OpenAiResponses::default()), "openai"),
        (Box::new(XAi::default()), "x_ai"),
    ];
    for (dialect, name) in dialects {
        assert_eq!(dialect.telemetry_name(), name);
    }
}
