//! Responses that are no answers: what the run, its caller and the model get.

use serde_json::{Value, json};
use tool_agent::model::{ModelError, ModelErrorKind};
use tool_agent::run::{MemoryJournal, NoAnswer, Run, RunOutcome, RunSettings, Step};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError, Event, Typed, UnfinishedReason};
use tool_core::dialect::{Dialect, End};
use tool_core::{Registry, tool, tools};
use tool_dialects::{Anthropic, Gemini, OpenAiChat};

use super::saving::{saved, through_json};
use super::{calling, dialect, new_run, question, saying, turn};

/// Creates an agent whose model answers like this.
type Ask = fn(Vec<Value>) -> Agent;

/// Adds two numbers.
#[tool(read_only, unlinked)]
fn add_numbers(a: i64, b: i64) -> i64 {
    a + b
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![add_numbers])
        .build()
        .unwrap()
}

fn agent(dialect: impl Dialect + 'static, responses: impl IntoIterator<Item = Value>) -> Agent {
    Agent::new(registry(), dialect, ScriptedModel::new(responses))
}

fn adding() -> Value {
    calling(&[("add_numbers", r#"{"a":2,"b":3}"#)])
}

fn chat(message: Value, reason: &str) -> Value {
    json!({"choices": [{"message": message, "finish_reason": reason}]})
}

/// An empty delta with the reason of an answer, as a proxy writes it whose server fails in its stream.
fn empty_stream() -> [Value; 1] {
    [json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})]
}

fn drive(agent: &Agent, run: &mut Run) -> RunOutcome {
    agent.run_blocking(run).unwrap()
}

fn no_answer(outcome: RunOutcome) -> NoAnswer {
    match outcome {
        RunOutcome::NoAnswer(none) => *none,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_response_without_an_answer_has_an_outcome_of_its_own() {
    let cases = [
        (
            chat(json!({"content": ""}), "stop"),
            End::Empty,
            "",
            "the response is empty",
        ),
        (
            chat(json!({"content": null, "reasoning_content": "hm"}), "stop"),
            End::Empty,
            "",
            "the response is empty",
        ),
        (
            chat(json!({"content": null}), "tool_calls"),
            End::Malformed,
            "",
            "the model wrote a call that the provider could not read",
        ),
        (
            chat(json!({"content": "Once"}), "length"),
            End::Length,
            "Once",
            "a limit of tokens cut the response off",
        ),
        (
            chat(json!({"content": ""}), "length"),
            End::Length,
            "",
            "a limit of tokens cut the response off",
        ),
        (
            chat(json!({"content": "On"}), "content_filter"),
            End::Filtered,
            "On",
            "a filter of the provider stopped the response",
        ),
        (
            chat(json!({"content": null, "refusal": "I can't."}), "stop"),
            End::Refused,
            "I can't.",
            "the model refused to answer",
        ),
        (
            json!({"choices": [{"message": {"content": "Hal"}, "finish_reason": "error", "error": {"message": "gone"}}]}),
            End::Failed,
            "Hal",
            "the provider failed in the middle of the response: gone",
        ),
        (
            chat(json!({"content": "Hi"}), "tired"),
            End::Unknown("tired".into()),
            "Hi",
            "the response stopped for the unknown reason \"tired\"",
        ),
    ];
    for (response, end, text, sentence) in cases {
        let mut run = new_run();
        let outcome = drive(&agent(dialect(), [response.clone()]), &mut run);
        assert_eq!(outcome.as_str(), "no_answer");
        let none = no_answer(outcome.clone());
        assert_eq!((&none.end, &*none.text), (&end, text), "{response}");
        assert_eq!(run.rounds()[0].end(), &end);
        assert_eq!(through_json(&outcome), outcome);
        // The caller of `ask` gets a sentence, and the text with the run.
        let error = agent(dialect(), [response])
            .ask_blocking("Go.")
            .unwrap_err();
        assert_eq!(error.to_string(), sentence);
        let AgentError::Unfinished(unfinished) = error else {
            panic!("{error}");
        };
        let UnfinishedReason::Ended(ended) = unfinished.reason else {
            panic!("{:?}", unfinished.reason);
        };
        assert_eq!(ended, outcome);
    }
}

#[test]
fn an_empty_end_of_a_stream_is_no_answer_at_the_start_and_after_results() {
    for has_called in [false, true] {
        let model = ScriptedModel::new([]);
        if has_called {
            model.push(adding());
        }
        model.push_stream(empty_stream());
        let agent = Agent::new(registry(), dialect(), model);
        let none = no_answer(drive(&agent, &mut new_run()));
        assert_eq!(none.end, End::Empty);
        assert!(none.text.is_empty());
    }
}

#[test]
fn a_turn_may_end_without_a_word_after_results_where_that_is_known() {
    let gemini_call = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"functionCall": {"name": "add_numbers", "args": {"a": 2, "b": 3}}},
    ]}}]});
    let gemini_end =
        json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model"}}]});
    let anthropic_call = json!({"role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "1", "name": "add_numbers", "input": {"a": 2, "b": 3}},
    ]});
    let anthropic_end = json!({"role": "assistant", "stop_reason": "end_turn", "content": []});
    let cases: [(Ask, _, _); 2] = [
        (
            |script| agent(Gemini::default(), script),
            gemini_call,
            gemini_end,
        ),
        (
            |script| agent(Anthropic::default(), script),
            anthropic_call,
            anthropic_end,
        ),
    ];
    for (agent, call, end) in cases {
        let after_results = agent(vec![call.clone(), end.clone()]);
        assert_eq!(after_results.ask_blocking("Add.").unwrap(), "");
        // Without results, nothing was done.
        let first = agent(vec![end.clone()]).ask_blocking("Add.").unwrap_err();
        assert_eq!(
            first.to_string(),
            "the model ended its turn without an answer"
        );
        // The results of an earlier question don't count.
        let agent = agent(vec![call, end.clone(), end]);
        let mut run = Run::new("run-1");
        run.push(agent.dialect().user_message("Add.")).unwrap();
        assert_eq!(drive(&agent, &mut run), RunOutcome::Answered(String::new()));
        assert_eq!(run.rounds()[1].end(), &End::Answered);
        run.push(agent.dialect().user_message("And?")).unwrap();
        assert_eq!(no_answer(drive(&agent, &mut run)).end, End::Silent);
    }
}

#[test]
fn a_run_without_an_answer_goes_on_with_the_next_message() {
    let agent = agent(
        dialect(),
        [chat(json!({"content": "Once"}), "length"), saying("Yes.")],
    );
    let mut run = new_run();
    no_answer(drive(&agent, &mut run));
    // Nothing else happens without a message.
    no_answer(drive(&agent, &mut run));
    run.push(question()).unwrap();
    assert_eq!(drive(&agent, &mut run), RunOutcome::Answered("Yes.".into()));
}

#[test]
fn an_end_is_saved_and_an_earlier_run_loads() {
    let mut run = new_run();
    let response = chat(json!({"content": null, "refusal": "I can't."}), "stop");
    run.respond(&dialect(), &registry(), turn(&response))
        .unwrap();
    let mut loaded: Run = through_json(&run);
    assert_eq!(loaded.outcome(), run.outcome());
    assert_eq!(loaded.rounds()[0].end(), &End::Refused);

    // An earlier version saved no ends, and took every response for an answer.
    let mut earlier = saved(&run);
    let round = earlier["rounds"][0].as_object_mut().unwrap();
    assert!(round.remove("end").is_some());
    loaded = serde_json::from_value(earlier).unwrap();
    assert_eq!(loaded.rounds()[0].end(), &End::Answered);
    let answered = RunOutcome::Answered("I can't.".into());
    assert_eq!(loaded.outcome(), Some(answered));

    // An answer and calls are saved as before.
    let mut run = new_run();
    run.respond(&dialect(), &registry(), turn(&adding()))
        .unwrap();
    assert_eq!(run.rounds()[0].end(), &End::Calls);
    assert!(saved(&run)["rounds"][0].get("end").is_none());
}

#[test]
fn an_increment_with_an_end_replays() {
    let agent = agent(
        dialect(),
        [chat(json!({"content": "Once"}), "length"), saying(" upon.")],
    );
    let agent = agent.journal(MemoryJournal::new()).ask_again(1);
    let mut run = new_run();
    assert_eq!(
        drive(&agent, &mut run),
        RunOutcome::Answered("Once upon.".into())
    );
    let loaded = tool_core::runtime::block_on(agent.load("run-1"))
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(saved(&loaded), saved(&run));
}

/// Returns the texts of the user in the last request.
fn told(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let messages = requests.last().unwrap().messages.iter();
    let texts = messages.filter(|message| message["role"] == "user");
    texts
        .map(|message| {
            let text = message["content"].as_str();
            text.or(message["parts"][0]["text"].as_str())
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn the_model_is_asked_again_with_the_words_of_the_provider() {
    let malformed = json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(1)"}]});
    let answer = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "5"}]}}]});
    let model = ScriptedModel::new([malformed.clone(), answer.clone()]);
    let asked = Agent::new(registry(), Gemini::default(), model.clone()).ask_again(1);
    assert_eq!(asked.ask_blocking("Add.").unwrap(), "5");
    let told = told(&model);
    assert_eq!(told.len(), 2);
    assert!(
        told[1].contains(
            "could not be read, and nothing of it ran: Malformed function call: print(1)"
        ),
        "{}",
        told[1]
    );
    // Only if the application asks for it.
    let error = agent(Gemini::default(), [malformed, answer])
        .ask_blocking("Add.")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the model wrote a call that the provider could not read: Malformed function call: print(1)"
    );
}

#[test]
fn a_request_that_failed_by_what_the_model_wrote_is_a_malformed_response() {
    let error = || ModelError::new(ModelErrorKind::Malformed, "Failed to call a function.");
    let model = ScriptedModel::new([adding()]);
    model.push_error(error());
    model.push_broken_stream(
        [json!({"choices": [{"index": 0, "delta": {"content": "I "}}]})],
        error(),
    );
    model.push(saying("5"));
    let agent = Agent::new(registry(), dialect(), model.clone());
    let mut run = new_run();
    let none = no_answer(drive(&agent, &mut run));
    assert_eq!(none.end, End::Malformed);
    assert_eq!(
        none.explanation.as_deref(),
        Some("Failed to call a function.")
    );

    let model = ScriptedModel::new([adding()]);
    model.push_error(error());
    model.push_broken_stream(
        [json!({"choices": [{"index": 0, "delta": {"content": "I "}}]})],
        error(),
    );
    model.push(saying("5"));
    let agent = Agent::new(registry(), dialect(), model.clone()).ask_again(2);
    assert_eq!(agent.ask_blocking("Add.").unwrap(), "5");
    assert_eq!(told(&model).len(), 3);
}

#[test]
fn a_cut_answer_is_continued_and_joined() {
    let model = ScriptedModel::new([
        adding(),
        chat(json!({"role": "assistant", "content": "Once "}), "length"),
        chat(json!({"role": "assistant", "content": "upon "}), "length"),
        saying("a time."),
        saying("The end."),
    ]);
    let agent = Agent::new(registry(), dialect(), model.clone()).ask_again(2);
    let mut run = new_run();
    assert_eq!(
        drive(&agent, &mut run),
        RunOutcome::Answered("Once upon a time.".into())
    );
    assert_eq!(
        through_json(&run).outcome(),
        Some(RunOutcome::Answered("Once upon a time.".into()))
    );
    // The model sees its parts, each followed by the request to go on.
    let requests = model.requests();
    let roles: Vec<_> = requests[3]
        .messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
            "user"
        ]
    );
    // The next answer stands alone.
    run.push(question()).unwrap();
    assert_eq!(
        drive(&agent, &mut run),
        RunOutcome::Answered("The end.".into())
    );
}

#[test]
fn the_model_is_asked_again_a_limited_number_of_times() {
    let empty = || chat(json!({"content": ""}), "stop");
    let model = ScriptedModel::new([empty(), empty(), empty(), empty(), saying("Yes.")]);
    let agent = Agent::new(registry(), dialect(), model.clone()).ask_again(2);
    let mut run = new_run();
    assert_eq!(no_answer(drive(&agent, &mut run)).end, End::Empty);
    assert_eq!(model.requests().len(), 3);
    // Anew for each message of the user.
    run.push(question()).unwrap();
    assert_eq!(drive(&agent, &mut run), RunOutcome::Answered("Yes.".into()));

    // The other limits go on.
    let agent = Agent::new(
        registry(),
        dialect(),
        ScriptedModel::new([empty(), empty()]),
    );
    let mut settings = RunSettings::default();
    settings.max_rounds = 2;
    let mut run = Run::builder("run-1").settings(settings).build();
    run.push(question()).unwrap();
    assert_eq!(
        drive(&agent.ask_again(9), &mut run),
        RunOutcome::OutOfRounds
    );
}

#[test]
fn a_final_end_is_not_asked_about() {
    for (message, reason) in [
        (json!({"content": ""}), "content_filter"),
        (json!({"content": null, "refusal": "No."}), "stop"),
        (json!({"content": "H"}), "error"),
        (json!({"content": "Hi"}), "tired"),
    ] {
        let agent = agent(dialect(), [chat(message, reason), saying("Yes.")]).ask_again(5);
        no_answer(drive(&agent, &mut new_run()));
    }
}

#[test]
fn a_paused_turn_goes_on_without_being_asked() {
    for reason in ["pause_turn", "compaction"] {
        let paused = json!({"role": "assistant", "stop_reason": reason, "content": [
            {"type": "compaction", "content": "So far: nothing."},
        ]});
        let answer = json!({"role": "assistant", "stop_reason": "end_turn", "content": [
            {"type": "text", "text": "Done."},
        ]});
        let model = ScriptedModel::new([paused, answer]);
        let agent = Agent::new(registry(), Anthropic::default(), model.clone());
        assert_eq!(agent.ask_blocking("Go.").unwrap(), "Done.", "{reason}");
        // The turn is repeated, and nothing is added.
        assert_eq!(model.requests()[1].messages.len(), 2);
    }
}

#[test]
fn a_typed_answer_is_not_read_from_what_is_none() {
    let filtered = || chat(json!({"content": "{\"answer\":5}"}), "content_filter");
    let agent = agent(dialect(), [filtered(), filtered()]);
    let mut run = new_run();
    let typed = tool_core::runtime::block_on(agent.answer::<i64>(&mut run)).unwrap();
    assert!(matches!(
        typed.unwrap(),
        Typed::Ended(RunOutcome::NoAnswer(_))
    ));
    let asked = tool_core::runtime::block_on(agent.ask_for::<i64>("Go.")).unwrap();
    assert!(matches!(asked, Err(AgentError::Unfinished(_))));
}

#[test]
fn events_tell_how_a_response_ended() {
    let agent = agent(
        dialect(),
        [adding(), chat(json!({"content": "5"}), "length")],
    );
    let ends = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = ends.clone();
    let agent = agent.on_event(move |event| {
        if let Event::Response {
            end, stop_reason, ..
        } = event
        {
            seen.lock()
                .unwrap()
                .push((end.clone(), stop_reason.clone()));
        }
    });
    no_answer(drive(&agent, &mut new_run()));
    assert_eq!(
        *ends.lock().unwrap(),
        [(End::Calls, None), (End::Length, Some("length".to_owned()))]
    );
}

#[test]
fn a_run_that_is_driven_by_hand_says_that_there_is_no_answer() {
    let mut run = new_run();
    run.respond(&dialect(), &registry(), turn(&saying("")))
        .unwrap();
    let Step::Done(outcome) = run.next() else {
        panic!()
    };
    assert_eq!(no_answer(outcome).end, End::Empty);
    // There is nothing to cancel.
    run.cancel(&OpenAiChat::default()).unwrap();
    assert!(matches!(run.outcome(), Some(RunOutcome::NoAnswer(_))));
}
