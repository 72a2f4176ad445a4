//! Transcripts: what a page shows while a run goes on is what it shows after a reload, without secrets.

use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tool_agent::run::{Journal, MemoryJournal, Run, RunInfo};
use tool_agent::testing::{RecordedModel, Recording, ScriptedModel};
use tool_agent::transcript::{CallStatus, Shown, ShownCall, Transcript, Verdict};
use tool_agent::{Agent, Compaction, Event};
use tool_core::dialect::Dialect;
use tool_core::hooks::{Decision, Gate};
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::{Bedrock, Gemini, GeminiInteractions, OpenAiResponses};

use super::{calling, dialect, saying};

/// Looks something up.
#[tool(read_only, unlinked)]
fn find(word: &str) -> Result<String, String> {
    match word {
        "none" => Err("there is none".into()),
        word => Ok(word.to_uppercase()),
    }
}

/// Pays.
#[tool(destructive, unlinked)]
fn transfer(cents: u32, #[param(secret)] pin: &str) -> String {
    format!("{cents} with a pin of {}", pin.len())
}

fn agent(journal: &MemoryJournal, responses: impl IntoIterator<Item = Value>) -> Agent {
    let registry = Registry::builder()
        .tools(tools![find, transfer])
        .before(async |hook| match hook.tool.annotations.read_only {
            Some(true) => Gate::Allow,
            _ => Gate::hold("money is gone"),
        })
        .build()
        .unwrap();
    Agent::new(registry, dialect(), ScriptedModel::new(responses))
        .journal(journal.clone())
        .contexts(|_: RunInfo, call| async move { Ok::<ToolCall, _>(call) })
        .may_decide(async |request| request.user == "lead")
}

/// Follows a run, and checks that a transcript of the saved run is the same.
async fn follow(agent: &Agent, run: &mut Run, text: Option<&str>) -> Transcript {
    let mut transcript = Transcript::new(agent.registry(), run);
    let mut copy = transcript.entries().to_vec();
    let mut events = match text {
        Some(text) => agent.reply_events(run, text),
        None => agent.events(run),
    };
    while let Some(event) = events.next().await {
        if let Some(change) = transcript.apply(&event.unwrap()) {
            change.apply(&mut copy);
        }
        assert_eq!(transcript.entries(), copy);
    }
    drop(events);
    let loaded = agent.load(run.id()).await.unwrap().unwrap();
    let again = Transcript::new(agent.registry(), &loaded);
    assert_eq!(transcript.entries(), again.entries());
    let whole: Run = serde_json::from_value(json!(run)).unwrap();
    let again = Transcript::new(agent.registry(), &whole);
    assert_eq!(transcript.entries(), again.entries());
    assert!(!format!("{transcript:?}{}", json!(transcript.entries())).contains("4711"));
    transcript
}

fn call<'t>(transcript: &'t Transcript, key: &str) -> &'t ShownCall {
    transcript.call(key).unwrap()
}

#[tokio::test]
async fn a_transcript_that_follows_a_run_is_that_of_the_saved_run() {
    use CallStatus::{Denied, Done, Failed, Waiting};

    let journal = MemoryJournal::default();
    let paying = ("transfer", r#"{"cents":700,"pin":"4711"}"#);
    let looking = [
        ("find", r#"{"word":"a"}"#),
        ("find", r#"{"word":"none"}"#),
        ("fin", r#"{"pin":"4711"}"#),
        paying,
        paying,
        paying,
    ];
    let agent = agent(
        &journal,
        [calling(&looking), saying("Paid."), saying("Welcome.")],
    );
    let mut run = Run::builder("run-1").owner("ada").build();
    let transcript = follow(&agent, &mut run, Some("Pay, please.")).await;
    let status =
        |transcript: &Transcript, index: usize| call(transcript, &format!("call-0-{index}")).status;
    let waiting = [0, 1, 2, 3, 4, 5].map(|index| status(&transcript, index));
    assert_eq!(waiting, [Done, Failed, Failed, Waiting, Waiting, Waiting]);
    assert_eq!(
        call(&transcript, "call-0-2").arguments,
        "[arguments of an unknown tool]"
    );
    let waits = call(&transcript, "call-0-3");
    assert_eq!(waits.arguments, r#"{"cents":700,"pin":"[secret]"}"#);
    let hold = waits.hold.as_ref().unwrap();
    assert_eq!(
        (&*hold.reason, hold.is_confirmation),
        ("money is gone", false)
    );
    assert_eq!(hold.fingerprint, run.pending()[0].fingerprint());

    let fingerprints = run.pending().into_iter();
    let fingerprints: Vec<_> = fingerprints
        .map(|one| one.fingerprint().to_owned())
        .collect();
    let decisions = [
        Decision::Allow,
        Decision::deny("no"),
        Decision::change(r#"{"cents":5,"pin":"[secret]"}"#),
    ];
    for (fingerprint, decision) in fingerprints.iter().zip(decisions) {
        let decided = agent.decide(&mut run, fingerprint, decision, "lead").await;
        decided.unwrap();
    }
    let transcript = follow(&agent, &mut run, None).await;
    let ended = [3, 4, 5].map(|index| status(&transcript, index));
    assert_eq!(ended, [Done, Denied, Done]);
    let verdicts = [3, 4, 5].map(|index| {
        let decision = &call(&transcript, &format!("call-0-{index}")).decisions[0];
        assert_eq!(decision.by, "lead");
        decision.verdict
    });
    assert_eq!(
        verdicts,
        [Verdict::Allowed, Verdict::Denied, Verdict::Changed]
    );
    let changed = call(&transcript, "call-0-5");
    assert_eq!(changed.arguments, r#"{"cents":5,"pin":"[secret]"}"#);
    assert_eq!(changed.result.as_deref(), Some("5 with a pin of 4"));
    assert_eq!(changed.hold, None);

    let transcript = follow(&agent, &mut run, Some("Thanks.")).await;
    let keys = transcript.entries().iter().map(|entry| &*entry.key);
    let keys: Vec<_> = keys.filter(|key| !key.starts_with("call")).collect();
    assert_eq!(keys, ["user-0", "model-1", "user-1", "model-2"]);
}

#[tokio::test]
async fn changed_arguments_of_a_deferred_tool_are_shown() {
    let registry = Registry::builder()
        .tools(tools![find, transfer])
        .defer(|tool| tool.name == "transfer")
        .before(async |_| Gate::hold("money is gone"))
        .build()
        .unwrap();
    let wrapped = r#"{"name":"transfer","arguments":{"cents":700,"pin":"4711"}}"#;
    let responses = [calling(&[("call_tool", wrapped)]), saying("Paid.")];
    let agent = Agent::new(registry, dialect(), ScriptedModel::new(responses))
        .journal(MemoryJournal::default())
        .contexts(|_: RunInfo, call| async move { Ok::<ToolCall, _>(call) })
        .may_decide(async |request| request.user == "lead");
    let mut run = Run::builder("run-1").owner("ada").build();
    follow(&agent, &mut run, Some("Pay, please.")).await;
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let change = Decision::change(r#"{"cents":5,"pin":"[secret]"}"#);
    let decided = agent.decide(&mut run, &fingerprint, change, "lead").await;
    decided.unwrap();
    let transcript = follow(&agent, &mut run, None).await;
    let changed = call(&transcript, "call-0-0");
    assert_eq!(changed.arguments, r#"{"cents":5,"pin":"[secret]"}"#);
    assert_eq!(changed.result.as_deref(), Some("5 with a pin of 4"));
}

#[tokio::test]
async fn a_transcript_keeps_what_a_summary_replaced() {
    let journal = MemoryJournal::default();
    let responses = ["One.", "Two.", "Three."].map(saying);
    let agent = agent(&journal, responses).compact(
        Compaction::at_tokens(1)
            .keep(1)
            .summary_with(async |_| Ok("so far".into())),
    );
    let mut run = Run::new("run-1");
    for (index, text) in ["First?", "Second?", "Third?"].into_iter().enumerate() {
        let transcript = follow(&agent, &mut run, Some(text)).await;
        assert_eq!(transcript.entries().len(), 2 * (index + 1));
    }
}

#[test]
fn a_transcript_reads_the_messages_of_every_provider() {
    let dialects: [Box<dyn Dialect>; 5] = [
        Box::new(dialect()),
        Box::new(OpenAiResponses::default()),
        Box::new(Gemini::default()),
        Box::new(GeminiInteractions::default()),
        Box::new(Bedrock::default()),
    ];
    for dialect in dialects {
        let mut run = Run::new("run-1");
        run.push(json!({"role": "system", "content": "Be brief."}))
            .unwrap();
        run.push(dialect.user_message("Hello?")).unwrap();
        run.push(json!({"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "text", "text": "And this?"},
        ]}))
        .unwrap();
        let transcript = Transcript::new(&Registry::new(), &run);
        let texts = transcript.entries().iter().map(|entry| match &entry.shown {
            Shown::User { text } => &**text,
            other => panic!("{other:?}"),
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["Hello?", "And this?"]);
    }
}

/// A chat handler can answer its client as soon as it sees the event.
#[tokio::test]
async fn the_event_of_a_message_comes_when_it_is_saved() {
    let journal = MemoryJournal::default();
    let (sender, receiver) = std::sync::mpsc::channel();
    let saved = journal.clone();
    let agent = agent(&journal, [saying("Hello!")]).on_event(move |event| {
        if let Event::Message(text) = event {
            let increments = saved.load("run-1").now_or_never().unwrap().unwrap();
            let run = Run::replay(increments).unwrap();
            let transcript = Transcript::new(&Registry::new(), &run);
            sender
                .send((text.clone(), transcript.entries().len()))
                .unwrap();
        }
    });
    agent.reply(&mut Run::new("run-1"), "Hello?").await.unwrap();
    let told: Vec<_> = receiver.try_iter().collect();
    assert_eq!(told, [("Hello?".to_owned(), 1)]);
}

#[tokio::test]
async fn pieces_of_arguments_are_shown_unless_they_may_be_secret() {
    let started = |index: u32, name: &str| json!({"index": index, "id": format!("call_{index}"), "function": {"name": name, "arguments": ""}});
    let piece = |index: u32, text: &str| json!({"index": index, "function": {"arguments": text}});
    let pieces = [
        started(0, "find"),
        piece(0, r#"{"word":"#),
        piece(0, r#""a"}"#),
        started(1, "transfer"),
        piece(1, r#"{"cents":7,"pin":"4711"#),
        piece(1, r#""}"#),
        started(2, "transfr"),
        piece(2, r#"{"pin":"4711"}"#),
    ];
    let chunk = |delta: Value, reason: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let mut events: Vec<_> = pieces
        .map(|piece| chunk(json!({"tool_calls": [piece]}), Value::Null))
        .into();
    events.push(chunk(json!({}), json!("tool_calls")));
    let recordings = json!([{"after": "Go.", "events": events}]);
    let recordings: Vec<Recording> = serde_json::from_value(recordings).unwrap();
    let registry = agent(&MemoryJournal::default(), []).registry().clone();
    let agent = Agent::new(registry, dialect(), RecordedModel::new(recordings));
    let mut run = Run::new("run-1");
    let mut transcript = Transcript::new(agent.registry(), &run);
    let mut shown = Vec::new();
    let mut events = agent.reply_events(&mut run, "Go.");
    while let Some(event) = events.next().await {
        let change = transcript.apply(&event.unwrap());
        shown.extend(change.map(|change| json!(change).to_string()));
    }
    assert!(
        shown
            .iter()
            .any(|change| change.contains(r#""piece":"{\"word\":""#)),
        "{shown:#?}"
    );
    assert!(
        shown.iter().any(|entry| entry.contains("[secret]")),
        "{shown:#?}"
    );
    assert!(!shown.concat().contains("4711"), "{shown:#?}");
}
