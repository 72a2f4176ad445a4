//! The single steps of an agent, driven from outside, beside the agent itself.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_agent::model::Request;
use tool_agent::run::{
    Increment, PortableCall, Run, RunError, RunInfo, RunOutcome, RunSettings, Step,
};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError, Compaction, Event, Steps, Typed};
use tool_core::call::CancellationToken;
use tool_core::dialect::{RequestOptions, ToolChoice};
use tool_core::hooks::{Decision, Gate, Observer, RunRecord};
use tool_core::{CallContext, Registry, ToolCall, ToolError, ToolResult, tool, tools};
use tool_dialects::Anthropic;

use super::saving::{saved, through_json};
use super::{calling, dialect, holding, new_run, question, saying, turn};

/// Who may use a tool.
struct Rights(String);

/// Reads a record.
#[tool(read_only, unlinked)]
async fn read(id: u32, #[param(context)] rights: &Rights) -> String {
    tokio::task::yield_now().await;
    format!("{id} for {}", rights.0)
}

/// Pays an invoice, once somebody allowed it.
#[tool(destructive, unlinked)]
fn pay(id: u32, #[param(context)] rights: &Rights, call: &CallContext) -> String {
    let key = call.idempotency_key().unwrap_or("no key");
    let by: Vec<_> = call.decisions().map(|(_, _, by)| by).collect();
    format!("{id} for {} as {key} by {by:?}", rights.0)
}

/// Ends the conversation.
#[tool(ends_run, unlinked)]
fn hang_up() -> &'static str {
    "bye"
}

/// Counts the calls in the background, which end in the order of their starts.
#[derive(Default)]
struct Started(AtomicU32);

impl Started {
    async fn end(&self) {
        let turns = 200 * (1 + self.0.fetch_add(1, Ordering::Relaxed));
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

/// Builds a target.
#[tool(background, unlinked)]
async fn build(
    id: u32,
    #[param(context)] rights: &Rights,
    #[param(context)] started: &Started,
) -> String {
    started.end().await;
    format!("built {id} for {}", rights.0)
}

/// Publishes a target, once somebody allowed it.
#[tool(background, destructive, unlinked)]
async fn publish(
    id: u32,
    #[param(context)] started: &Started,
    call: &CallContext,
) -> Result<String, String> {
    started.end().await;
    let key = call.idempotency_key().unwrap_or("no key");
    Err(format!("{id} can't be published as {key}"))
}

/// Fails.
#[tool(unlinked)]
fn fail() -> Result<(), &'static str> {
    Err("out of order")
}

const CALLS: [(&str, &str); 10] = [
    ("read", r#"{"id":1}"#),
    ("read", r#"{"id":2}"#),
    ("pay", r#"{"id":3}"#),
    ("fail", "{}"),
    ("unknown", "{"),
    ("hang_up", "{}"),
    ("build", r#"{"id":6}"#),
    ("build", "{}"),
    ("publish", r#"{"id":8}"#),
    ("wait_for_results", "{}"),
];

fn registry() -> Registry {
    let builder = Registry::builder().tools(tools![read, pay, hang_up, fail, build, publish]);
    let builder = builder.context_per_call::<Rights>();
    let builder = builder.context(Started::default());
    let builder = builder.before(async |hook| match hook.tool.annotations.destructive {
        Some(true) => Gate::hold("it costs money"),
        _ => Gate::Allow,
    });
    builder.build().unwrap()
}

/// An agent whose model answers from a script: responses with these calls, then an answer. Each is long enough for a summary.
fn agent(script: &[Vec<usize>]) -> Agent {
    agent_of(model(script))
}

fn model(script: &[Vec<usize>]) -> ScriptedModel {
    let responses = script.iter().map(|calls| match &calls[..] {
        [] => saying("Go on."),
        calls => calling(&calls.iter().map(|call| CALLS[*call]).collect::<Vec<_>>()),
    });
    // Each message of the user has as many requests at most.
    let left = 5 * (script.len() + 1);
    ScriptedModel::new(responses.chain((0..left).map(|_| saying("Done."))))
}

fn agent_of(model: ScriptedModel) -> Agent {
    let summary = Compaction::at_tokens(15).keep(2);
    Agent::new(registry(), dialect(), model)
        .contexts(async |run: RunInfo, call: ToolCall| {
            let owner = run.owner().ok_or("the run has no owner")?;
            let rights = Rights(owner.to_owned());
            Ok(call.with(rights))
        })
        .may_decide(async |request| request.user == "lea")
        .compact(summary.summary_with(async |messages| Ok(format!("{} messages", messages.len()))))
}

/// Settings of requests.
fn options() -> impl Strategy<Value = RequestOptions> {
    let choices = [
        ToolChoice::Auto,
        ToolChoice::Required,
        ToolChoice::None,
        ToolChoice::tool("read"),
    ];
    let choice = proptest::option::of(proptest::sample::select(choices.to_vec()));
    let names = proptest::sample::subsequence(vec!["pay", "build", "publish"], 0..3);
    let only = proptest::option::of(names);
    let parallel = proptest::option::of(any::<bool>());
    let settings = (choice, only, parallel, any::<[bool; 3]>());
    settings.prop_map(|(choice, only, parallel, flags)| {
        let [is_cached, has_hosted_results, has_answer] = flags;
        let mut options = RequestOptions::new();
        if let Some(choice) = choice {
            options = options.choice(choice);
        }
        if let Some(mut names) = only {
            names.push("read");
            options = options.only(names);
        }
        if let Some(is_allowed) = parallel {
            options = options.parallel(is_allowed);
        }
        if is_cached {
            options = options.cached();
        }
        if has_hosted_results {
            options = options.hosted_results();
        }
        if has_answer {
            options = options.answer::<Vec<u32>>();
        }
        options
    })
}

fn run() -> Run {
    let mut settings = RunSettings::default();
    settings.max_rounds = 5;
    settings.max_calls = 9;
    settings.max_background = 3;
    let mut run = Run::builder("run-1")
        .owner("ann")
        .settings(settings)
        .build();
    run.push(question()).unwrap();
    run
}

/// The decisions of the test, in order.
fn decision(number: usize) -> Decision {
    match number % 3 {
        0 => Decision::Allow,
        1 => Decision::deny("too much"),
        _ => Decision::change(r#"{"id":9}"#),
    }
}

/// What a conversation comes to: how each part of it ended, what the model was asked, and all that is saved of the run.
type Transcript = (Vec<RunOutcome>, Value, Value);

fn transcript(outcomes: Vec<RunOutcome>, model: &ScriptedModel, run: &Run) -> Transcript {
    // A summary moves messages.
    for at in run.background_messages() {
        let text = run.messages()[*at]["content"].as_str().unwrap();
        assert!(text.starts_with("Results of calls in the background."));
    }
    let mut saved = saved(run);
    saved.as_object_mut().unwrap().remove("changes");
    saved.as_object_mut().unwrap().remove("options");
    let requests = model.requests();
    let requests = requests
        .iter()
        .map(|request| json!({"messages": request.messages, "fields": request.fields()}));
    (
        outcomes,
        without_references(requests.collect()),
        without_references(saved),
    )
}

/// Removes the random references of errors to the log, in which two runs differ.
fn without_references(mut value: Value) -> Value {
    match &mut value {
        Value::String(text) => {
            while let Some((before, after)) = text.split_once(" [ref ") {
                *text = format!("{before}{}", after.split_once(']').unwrap().1);
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = without_references(item.take())),
        Value::Object(members) => {
            if members.contains_key("violations") {
                members.remove("id");
            }
            members
                .values_mut()
                .for_each(|member| *member = without_references(member.take()));
        }
        _ => {}
    }
    value
}

async fn by_agent(script: &[Vec<usize>], options: RequestOptions) -> Transcript {
    let model = model(script);
    let agent = agent_of(model.clone()).request_options(options);
    let mut run = run();
    let mut outcomes = Vec::new();
    let mut decided = 0;
    for _ in 0..=script.len() {
        loop {
            let outcome = agent.run(&mut run).await.unwrap();
            let RunOutcome::Waiting(pending) = outcome else {
                outcomes.push(outcome);
                break;
            };
            let fingerprint = pending[0].fingerprint();
            let made = decision(decided);
            let made = agent.decide(&mut run, fingerprint, made, "lea").await;
            made.unwrap();
            decided += 1;
        }
        run.push(question()).unwrap();
    }
    transcript(outcomes, &model, &run)
}

/// A driver: each step happens in another process, to which it sends the run, and which sends its increments back.
struct Driver<'a> {
    agent: &'a Agent,
    run: Run,
    saved: Vec<Increment>,
}

impl Driver<'_> {
    /// Runs a call in another process, and takes its result.
    async fn finish(&mut self, sent: PortableCall, stop: &CancellationToken) {
        let result = self.step(async |steps, _| {
            let info = sent.run().clone();
            let prepared = steps.prepare(&info, sent.into_call()).await.unwrap();
            steps.call(prepared, stop).await
        });
        let result = through_json(&result.await);
        let finish = async |steps: Steps<'_>, run: &mut Run| steps.finish(run, result);
        self.step(finish).await.unwrap();
    }

    async fn step<T>(&mut self, step: impl AsyncFnOnce(Steps<'_>, &mut Run) -> T) -> T {
        let mut copy = Run::replay(self.saved.iter().map(through_json)).unwrap();
        let steps = self.agent.steps(&copy).unwrap();
        let done = step(steps, &mut copy).await;
        let new: Vec<_> = copy.unsaved().iter().map(through_json).collect();
        self.saved.extend(new.iter().cloned());
        self.run.apply(new).unwrap();
        // What a run counts on the way is what it counts when it is read.
        let read: Run = through_json(&self.run);
        assert_eq!(
            format!("{:?}", self.run.next()),
            format!("{:?}", read.next())
        );
        done
    }
}

async fn by_steps(script: &[Vec<usize>], options: RequestOptions) -> Transcript {
    let model = model(script);
    let mut agent = agent_of(model.clone());
    // All other settings are those of the run.
    if options.has_answer() {
        agent = agent.answer_type::<Vec<u32>>();
    }
    let agent = &agent;
    let mut first = run();
    first.set_request_options(Some(options));
    let saved = first.unsaved().to_vec();
    first.mark_saved(u64::MAX);
    let mut driver = Driver {
        agent,
        run: first,
        saved,
    };
    let mut outcomes = Vec::new();
    let mut decided = 0;
    let mut open = VecDeque::new();
    let stop = CancellationToken::new();
    for _ in 0..=script.len() {
        loop {
            match driver.run.next() {
                Step::Request(_) => {
                    let respond = async |steps: Steps<'_>, run: &mut Run| steps.respond(run).await;
                    driver.step(respond).await.unwrap();
                }
                Step::Call(calls) => {
                    let start = async |steps: Steps<'_>, run: &mut Run| {
                        let started = steps.start(run, calls).await.unwrap();
                        steps.acknowledge(run, started).unwrap()
                    };
                    let started = driver.step(start).await;
                    for call in started {
                        let info = driver.run.info().clone();
                        let sent = through_json(&PortableCall::new(&info, &call));
                        if driver.run.is_in_background(&call) {
                            open.push_back(sent);
                        } else {
                            driver.finish(sent, &stop).await;
                        }
                    }
                }
                // Like the agent, it ends what runs before it asks somebody.
                Step::Running | Step::Wait(_) if !open.is_empty() => {
                    driver.finish(open.pop_front().unwrap(), &stop).await;
                }
                Step::Wait(pending) => {
                    let fingerprint = pending[0].fingerprint().to_owned();
                    let made = decision(decided);
                    decided += 1;
                    let decide = async |steps: Steps<'_>, run: &mut Run| {
                        steps.decide(run, &fingerprint, made, "lea").await
                    };
                    driver.step(decide).await.unwrap();
                }
                Step::Done(outcome) => {
                    outcomes.push(outcome);
                    break;
                }
                Step::Running => unreachable!("each other call is finished"),
            }
        }
        let push = async |_: Steps<'_>, run: &mut Run| run.push(question());
        driver.step(push).await.unwrap();
    }
    transcript(outcomes, &model, &driver.run)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("TOOL_CORE_LONG").is_some() { 5_000 } else { 100 }
    ))]

    #[test]
    fn a_run_is_the_same_by_an_agent_and_step_by_step_in_other_processes(
        script in proptest::collection::vec(proptest::collection::vec(0..CALLS.len(), 0..4), 0..7),
        options in options()
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let expected = runtime.block_on(by_agent(&script, options.clone()));
        let driven = runtime.block_on(by_steps(&script, options));
        prop_assert_eq!(driven, expected);
    }
}

#[tokio::test]
async fn a_call_waits_again_if_its_decision_is_no_longer_allowed() {
    let is_lead = Arc::new(AtomicBool::new(true));
    let may = Arc::clone(&is_lead);
    let agent = agent(&[vec![2]]).may_decide(move |_| {
        let may = may.load(Ordering::Relaxed);
        async move { may }
    });
    let mut run = run();
    let RunOutcome::Waiting(pending) = agent.run(&mut run).await.unwrap() else {
        panic!()
    };
    let steps = agent.steps(&run).unwrap();
    let decided = steps.decide(&mut run, pending[0].fingerprint(), Decision::Allow, "lea");
    decided.await.unwrap();
    let Step::Call(calls) = run.next() else {
        panic!()
    };
    is_lead.store(false, Ordering::Relaxed);
    assert!(steps.start(&mut run, calls).await.unwrap().is_empty());
    assert!(matches!(run.next(), Step::Wait(again) if again == pending));

    let fingerprint = pending[0].fingerprint();
    let decided = steps.decide(&mut run, fingerprint, Decision::Allow, "lea");
    assert!(matches!(decided.await, Err(AgentError::Decide(_))));
}

#[tokio::test]
async fn a_call_on_which_nobody_decides_is_denied() {
    let agent = agent(&[vec![2]]);
    let mut run = run();
    let RunOutcome::Waiting(pending) = agent.run(&mut run).await.unwrap() else {
        panic!()
    };
    let steps = agent.steps(&run).unwrap();
    let fingerprint = pending[0].fingerprint();
    steps
        .expire(&mut run, fingerprint, "nobody decided")
        .unwrap();
    let again = steps.expire(&mut run, fingerprint, "nobody decided");
    assert!(matches!(again, Err(AgentError::Decide(_))));
    let outcome = agent.run(&mut run).await.unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    let error = result.unwrap().error().unwrap().to_string();
    assert!(error.contains("nobody decided"), "{error}");
}

#[tokio::test]
async fn a_run_with_an_owner_needs_the_values_of_the_owner() {
    let agent = Agent::new(registry(), dialect(), ScriptedModel::new([]));
    assert!(matches!(agent.steps(&run()), Err(AgentError::NoContexts(id)) if id == "run-1"));

    let agent = agent.contexts(async |_, _| Err("the database is down".into()));
    let run = run();
    let steps = agent.steps(&run).unwrap();
    let call = ToolCall::new("call_1", "read", r#"{"id":1}"#);
    let error = steps.prepare(run.info(), call).await.unwrap_err();
    assert!(matches!(error, AgentError::Context { .. }), "{error}");
}

/// The type of answers is one of the program: the run has its schema.
#[tokio::test]
async fn a_run_goes_on_with_a_type_of_the_same_schema_alone() {
    let options = RequestOptions::new().answer::<Vec<u32>>();
    let mut run = run();
    run.set_request_options(Some(options));
    let mut run = through_json(&run);
    let without = agent(&[]);
    let other = agent(&[]).answer_type::<Vec<i8>>();
    for (agent, problem) in [
        (without, "give them a type"),
        (other, "whose schema is not that of"),
    ] {
        let error = agent.run(&mut run).await.unwrap_err();
        assert!(matches!(&error, AgentError::AnswerType { run, .. } if run == "run-1"));
        let error = error.to_string();
        for part in [
            "the run \"run-1\" can't go on",
            "alloc::vec::Vec<u32>",
            problem,
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert!(matches!(run.next(), Step::Request(_)));
    }
    let model = ScriptedModel::new([saying(r#"{"answer":[1,2]}"#)]);
    let agent = agent_of(model.clone());
    let answer = agent.answer::<Vec<u32>>(&mut run).await.unwrap();
    assert_eq!(answer, Typed::Answered(vec![1, 2]));
    let body = model.requests()[0].body(json!({}));
    assert!(body.contains("response_format"), "{body}");
}

/// A setting of a later version may change what the model is asked.
#[test]
fn settings_that_are_not_known_are_not_lost() {
    let mut run = run();
    run.set_request_options(Some(RequestOptions::new().parallel(false)));
    let mut later = saved(&run);
    later["options"]["effort"] = json!("high");
    let error = serde_json::from_value::<Run>(later)
        .unwrap_err()
        .to_string();
    assert!(error.contains("unknown field `effort`"), "{error}");
    // One that was saved before runs had settings of their own.
    let mut earlier = saved(&run);
    earlier.as_object_mut().unwrap().remove("options");
    let earlier: Run = serde_json::from_value(earlier).unwrap();
    assert!(earlier.request_options().is_none());
}

#[tokio::test]
async fn steps_refuse_a_run_of_another_dialect() {
    let own = agent(&[]);
    let mut run = run();
    own.steps(&run).unwrap().respond(&mut run).await.unwrap();
    let other = Agent::new(registry(), Anthropic::default(), ScriptedModel::new([]));
    let other = other.contexts(async |_, call| Ok(call));
    let refused = other.steps(&run).unwrap_err();
    assert!(
        matches!(
            refused,
            AgentError::Run(RunError::OtherDialect { ref given, .. }) if given == "Anthropic"
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn a_listener_of_steps_hears_their_events_whatever_that_of_the_agent_does() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let agent = agent(&[]).on_event(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        panic!("the page is gone");
    });
    let mut run = run();
    let texts = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&texts);
    let steps = agent.steps(&run).unwrap().on_event(move |event| {
        if let Event::Text(text) = event {
            heard.lock().unwrap().push(text.clone());
        }
    });
    steps.respond(&mut run).await.unwrap();
    assert_eq!(*texts.lock().unwrap(), ["Done."]);
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_call_of_another_driver_runs_with_what_the_agent_attaches() {
    let agent = agent(&[]);
    let run = run();
    let call = ToolCall::new("call_1", "read", r#"{"id":1}"#);
    let prepared = agent.prepare(run.info(), call).await.unwrap();
    let stop = CancellationToken::new();
    let result = agent.call_prepared(prepared, &stop).await;
    assert_eq!(result.content(), "1 for ann");
    assert!(agent.missing_contexts().is_empty());

    let bare = Agent::new(registry(), dialect(), ScriptedModel::new([]));
    let missing = bare.missing_contexts();
    let tools: Vec<_> = missing.iter().map(|(tool, _)| &**tool).collect();
    assert_eq!(tools, ["build", "pay", "read"]);
    assert!(missing.iter().all(|(_, name)| name.ends_with("Rights")));
}

/// A driver may do for a call of a process that is gone what [`Run::resume`] does.
#[test]
fn an_interrupted_call_ends_as_in_a_run_that_is_resumed() {
    let registry = super::registry();
    let mut run = new_run();
    let response = calling(&[("delete_note", r#"{"id":1}"#)]);
    run.respond(&dialect(), &registry, turn(&response)).unwrap();
    let Step::Call(calls) = run.next() else {
        panic!()
    };
    run.start(&calls).unwrap();
    let mut resumed = run.clone();
    resumed.resume(&dialect(), &registry).unwrap();

    let error = ToolError::interrupted(&calls[0].name);
    run.finish(&dialect(), ToolResult::failed(&calls[0], error))
        .unwrap();
    let of = |run: &Run| without_references(saved(run));
    assert_eq!(of(&run), of(&resumed));
}

#[test]
fn increments_apply_to_the_run_that_they_follow_alone() {
    let mut run = new_run();
    let first = run.unsaved().to_vec();
    run.mark_saved(u64::MAX);
    let mut copy = run.clone();
    copy.respond(&dialect(), &holding(), turn(&saying("Hello!")))
        .unwrap();
    let new = copy.unsaved().to_vec();
    for (wrong, number) in [(&first, 1), (&new[1..].to_vec(), new[1].number())] {
        let error = run.apply(wrong.iter().cloned()).unwrap_err().to_string();
        assert!(error.contains(&number.to_string()), "{error}");
        assert_ne!(run.messages(), copy.messages());
    }
    run.apply(new).unwrap();
    assert_eq!(saved(&run), saved(&copy));
    assert!(run.unsaved().is_empty());
}

/// Keeps the outcomes of runs.
#[derive(Clone, Default)]
struct Outcomes(Arc<Mutex<Vec<Option<String>>>>);

impl Observer for Outcomes {
    fn run(&self, record: &RunRecord<'_>) {
        self.0
            .lock()
            .unwrap()
            .push(record.outcome.map(str::to_owned));
    }
}

#[tokio::test]
async fn a_run_is_recorded_by_the_process_that_ends_it() {
    let outcomes = Outcomes::default();
    let registry = Registry::builder()
        .observe_with(outcomes.clone())
        .build()
        .unwrap();
    let model = async |_: Request| Ok(saying("Hello!"));
    let agent = Agent::new(registry, dialect(), model);
    let mut run = new_run();
    drop(agent.steps(&run).unwrap());
    let steps = agent.steps(&run).unwrap();
    steps.respond(&mut run).await.unwrap();
    let Step::Done(outcome) = run.next() else {
        panic!()
    };
    steps.end(&outcome);
    assert_eq!(*outcomes.0.lock().unwrap(), [Some("answered".to_owned())]);
    assert_eq!(json!(run.messages().len()), json!(2));
}
