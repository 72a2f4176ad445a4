//! Runs that go on at another provider. `strict` has random conversations between all formats.

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::run::{Increment, Loss, LossKind, Run, RunError, RunOutcome, Step};
use tool_agent::testing::ScriptedModel;
use tool_core::content::{Audio, Content, File, Image};
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, HostedTool, Message, ResponseError, Turn};
use tool_core::hooks::Decision;
use tool_core::{ToolCall, ToolEntry, ToolResult};
use tool_dialects::{Anthropic, Bedrock, Gemini, GeminiInteractions, OpenAiChat, OpenAiResponses};

use super::{calling, dialect, holding, new_run, question, registry, saying, turn};

fn lost(losses: &[Loss]) -> Vec<(usize, &str, LossKind)> {
    let losses = losses.iter();
    losses
        .map(|loss| (loss.message, &*loss.part, loss.kind))
        .collect()
}

/// What a user shows arrives in each format that has a form for it, and else a note that is listed.
#[test]
fn media_of_the_user_move_between_all_formats() {
    let shown: [Content; 4] = [
        Image::png(*b"\x89PNG and more").into(),
        Audio::wav(*b"RIFF and more").into(),
        File::pdf("report.pdf", *b"%PDF-1.7 or so").into(),
        File::text("notes.txt", "Buy milk.").into(),
    ];
    let all = || tool_dialects::all().filter(|known| !known.is_strict && known.name != "mcp");
    let mut moved = 0;
    for part in &shown {
        let message = Message::User(vec![Content::text("What is it?"), part.clone()]);
        let result = [ToolResult::new(
            &ToolCall::new("", "", ""),
            vec![part.clone()],
        )];
        let (data, text) = (part.media().unwrap().base64(), "Buy milk.");
        let has_it = |message: &Value| {
            let message = message.to_string();
            message.contains(&data) || message.contains(text)
        };
        for from in all().filter(|from| from.dialect.omitted(&result).is_empty()) {
            let pushed = from.dialect.write_message(&message).unwrap().remove(0);
            assert!(has_it(&pushed), "{from:?}: {pushed}");
            for to in all() {
                let mut run = Run::new("run-1");
                run.push(pushed.clone()).unwrap();
                let losses = run.translate(from.dialect, to.dialect).unwrap();
                let sent = &run.messages()[0];
                assert!(sent.to_string().contains("What is it?"), "{sent}");
                moved += usize::from(has_it(sent));
                let is_lost = match &losses[..] {
                    [] => false,
                    [loss] => {
                        loss.kind == LossKind::Media
                            && sent.to_string().contains(&json!(loss.part).to_string())
                    }
                    other => panic!("{from:?} {to:?} {other:?}"),
                };
                assert_eq!(has_it(sent), !is_lost, "{from:?} {to:?}: {losses:?} {sent}");
                let is_kept = to.dialect.omitted(&result).is_empty();
                assert!(has_it(sent) || !is_kept, "{from:?} {to:?}: {sent}");
            }
        }
    }
    assert!(moved > 100, "{moved}");
}

#[test]
fn each_loss_is_listed_by_its_rule() {
    let mut run = Run::new("run-1");
    run.push(json!({"role": "system", "content": "Be brief."}))
        .unwrap();
    run.push(json!({"role": "user", "content": [
        {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
    ]}))
    .unwrap();
    let mut response = calling(&[("look_up", r#"{"key":"a"}"#)]);
    let message = &mut response["choices"][0]["message"];
    message["content"] = "I look.".into();
    message["reasoning_content"] = "Hm.".into();
    message["annotations"] = json!([{"type": "url_citation"}]);
    message["tool_calls"][0]["extra_content"] = json!({"google": {"thought_signature": "x"}});
    run.respond(&dialect(), &registry(), turn(&response))
        .unwrap();
    super::run_calls(&mut run, &registry());
    let losses = run.translate(&dialect(), &Anthropic::default()).unwrap();
    let note = "[audio/wav audio, 4 bytes, omitted: Anthropic has no form for it]";
    let mut found = lost(&losses);
    found.sort_unstable_by_key(|(message, part, _)| (*message, part.to_owned()));
    assert_eq!(
        found,
        [
            (0, "system", LossKind::Prompt),
            (1, note, LossKind::Media),
            (1, "cache_control", LossKind::Private),
            (1, "file", LossKind::Private),
            (2, "annotations", LossKind::Private),
            (2, "extra_content", LossKind::Private),
            (2, "reasoning_content", LossKind::Private),
        ]
    );
    let messages: Vec<_> = run.messages().iter().map(|message| &**message).collect();
    assert_eq!(
        json!(messages),
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "text", "text": note}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "call_0", "name": "look_up", "input": {"key": "a"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_0", "content": "value of a"},
            ]},
        ])
    );
    // Written by the run, so that nothing private is left.
    assert_eq!(
        lost(&run.translate(&Anthropic::default(), &dialect()).unwrap()),
        []
    );
}

/// A person decides after the move, and what ran before it does not run again.
#[tokio::test]
async fn a_call_that_waits_is_decided_at_the_other_provider() {
    let calls = [
        ("look_up", r#"{"key":"a"}"#),
        ("delete_note", r#"{"id":7}"#),
    ];
    let agent = Agent::new(holding(), dialect(), ScriptedModel::new([calling(&calls)]));
    let mut run = new_run();
    let waiting = agent.run(&mut run).await.unwrap();
    let mut all: Vec<Increment> = run.unsaved().to_vec();
    assert!(matches!(waiting, RunOutcome::Waiting(_)));
    let mut run = if all.is_empty() {
        run
    } else {
        Run::replay(all.clone()).unwrap()
    };
    run.mark_saved(u64::MAX);
    let before = serde_json::to_string(&run).unwrap();

    run.translate(&dialect(), &Anthropic::default()).unwrap();
    assert_eq!(run.info().dialect(), Some("Anthropic"));
    assert_eq!(run.pending().len(), 1);
    // The increments have the whole move.
    let mut copy: Run = serde_json::from_str(&before).unwrap();
    all.clear();
    all.extend(
        run.unsaved()
            .iter()
            .map(|new| serde_json::from_value(serde_json::to_value(new).unwrap()).unwrap()),
    );
    copy.apply(all).unwrap();
    assert_eq!(
        serde_json::to_value(&copy).unwrap(),
        serde_json::to_value(&run).unwrap()
    );

    let done = json!({"role": "assistant", "content": [{"type": "text", "text": "Gone."}]});
    let model = ScriptedModel::new([done]);
    let agent = Agent::new(holding(), Anthropic::default(), model.clone());
    let pending = copy.pending().remove(0);
    copy.decide(
        agent.registry(),
        pending.fingerprint(),
        Decision::Allow,
        "ann",
    )
    .unwrap();
    let outcome = agent.run(&mut copy).await.unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Gone.".into()));
    let sent = model.requests()[0].messages.clone();
    assert_eq!(sent[2]["content"][0]["content"], "value of a");
    assert_eq!(sent[2]["content"][1]["content"], "note 7 is deleted");
}

/// Gemini's calls have no ids, and others need one for each call of a conversation.
#[test]
fn calls_without_ids_get_some() {
    let gemini = Gemini::default();
    let part =
        json!({"functionCall": {"name": "look_up", "args": {"key": "a"}}, "thoughtSignature": "x"});
    let response = json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let mut run = Run::new("run-1");
    run.push(gemini.user_message("Go.")).unwrap();
    for _ in 0..2 {
        run.respond(&gemini, &registry(), gemini.read(&response).unwrap())
            .unwrap();
        while let Step::Call(calls) = run.next() {
            run.start(&calls).unwrap();
            for call in calls {
                run.finish(&gemini, registry().call_blocking(call)).unwrap();
            }
        }
    }
    let losses = run.translate(&gemini, &Bedrock::default()).unwrap();
    let signature = |message| (message, "thoughtSignature", LossKind::Private);
    assert_eq!(lost(&losses), [signature(1), signature(3)]);
    let ids = run.rounds().iter().flat_map(tool_agent::run::Round::calls);
    let ids: Vec<_> = ids
        .map(|(call, result)| (&*call.id, result.unwrap().call_id()))
        .collect();
    assert_eq!(ids, [("call_0", "call_0"), ("call00000", "call00000")]);
    assert_eq!(
        run.messages()[3]["content"][0]["toolUse"]["toolUseId"],
        "call00000"
    );
    // Gemini 3 rejects a call without a signature.
    run.translate(&Bedrock::default(), &gemini).unwrap();
    let part = &run.messages()[3]["parts"][0];
    assert_eq!(part["thoughtSignature"], "skip_thought_signature_validator");
}

#[test]
fn what_only_the_old_provider_answers_stays_there() {
    let responses = OpenAiResponses::default();
    let shell = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed",
        "action": {"commands": ["uptime"]}});
    let mut run = Run::new("run-1");
    run.push(responses.user_message("Is it up?")).unwrap();
    let asked = responses.read(&json!({"output": [shell]})).unwrap();
    run.respond(&responses, &registry(), asked).unwrap();
    let before = serde_json::to_value(&run).unwrap();
    let refused = run.translate(&responses, &dialect()).unwrap_err();
    assert!(matches!(refused, RunError::Unanswered(_)), "{refused}");
    assert_eq!(serde_json::to_value(&run).unwrap(), before);
    // What nobody answers is given up.
    run.cancel(&responses).unwrap();
    assert_eq!(run.translate(&responses, &dialect()).unwrap(), []);
    assert_eq!(run.messages().len(), 1);

    // An approval that nobody gave is denied, because nothing here runs the tool.
    let approval = json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "tickets",
        "name": "close", "arguments": "{\"id\":7}"});
    let mut run = Run::new("run-1");
    run.push(responses.user_message("Close 7.")).unwrap();
    let asked = responses.read(&json!({"output": [approval]})).unwrap();
    run.respond(&responses, &registry(), asked).unwrap();
    run.translate(&responses, &dialect()).unwrap();
    let (call, result) = run.rounds()[0].calls().next().unwrap();
    assert_eq!((&*call.name, call.server()), ("tickets/close", None));
    assert!(result.unwrap().content().contains("does not run this tool"));
    let Step::Request(messages) = run.next() else {
        panic!()
    };
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "close");
    assert_eq!(messages[2]["tool_call_id"], "mcpr_1");
}

/// A provider that pauses goes on by itself. Another one must be asked.
#[test]
fn a_turn_that_was_paused_goes_on_by_a_message() {
    let anthropic = Anthropic::default();
    let mut run = Run::new("run-1");
    run.push(anthropic.user_message("Search.")).unwrap();
    let search =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let response = json!({"role": "assistant", "stop_reason": "pause_turn", "content": [
        {"type": "text", "text": "I search."}, search]});
    run.respond(&anthropic, &registry(), anthropic.read(&response).unwrap())
        .unwrap();
    let losses = run.translate(&anthropic, &dialect()).unwrap();
    assert_eq!(lost(&losses), [(1, "server_tool_use", LossKind::Private)]);
    let Step::Request(messages) = run.next() else {
        panic!()
    };
    assert_eq!(messages.len(), 3);
    assert_eq!(*messages[2], dialect().user_message("Go on."));
}

/// The default of a dialect never guesses.
#[test]
fn messages_of_an_own_dialect_that_reads_none_are_listed() {
    struct Own;

    impl Dialect for Own {
        fn write_tools(&self, _: &[ToolEntry], _: &[HostedTool], _: &mut JsonWriter) {}

        fn provider(&self) -> &'static str {
            "our own"
        }

        fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
            let mut turn = Turn::new(vec![response.clone()]);
            turn.text = "Hello!".into();
            Ok(turn)
        }

        fn results(&self, _: &[ToolResult]) -> Vec<Value> {
            Vec::new()
        }
    }

    let mut run = Run::new("run-1");
    run.push(json!({"role": "user", "content": [{"type": "text", "text": "Look."}]}))
        .unwrap();
    run.push(Own.user_message("Hello?")).unwrap();
    let response = Own.read(&json!({"said": "Hello!", "why": "?"})).unwrap();
    run.respond(&Own, &registry(), response).unwrap();
    let before = serde_json::to_value(&run).unwrap();
    let refused = run.translate(&Anthropic::default(), &dialect());
    assert!(matches!(refused, Err(RunError::OtherDialect { .. })));
    assert_eq!(serde_json::to_value(&run).unwrap(), before);

    let losses = run.translate(&Own, &dialect()).unwrap();
    let message = |at| (at, "message", LossKind::Private);
    assert_eq!(lost(&losses), [message(0), message(2)]);
    let messages: Vec<_> = run.messages().iter().map(|message| &**message).collect();
    let hello = json!({"role": "assistant", "content": "Hello!"});
    assert_eq!(messages, [&Own.user_message("Hello?"), &hello]);
}

#[test]
fn each_dialect_reads_what_it_writes() {
    let said = |text: &str| Message::Model {
        text: text.into(),
        calls: Vec::new(),
    };
    let all = tool_dialects::all().filter(|known| known.name != "mcp");
    let mut read = 0;
    for known in all {
        let messages = [
            Message::System("Be brief.".into()),
            Message::User(vec![Content::text("Hello?")]),
            said("Hello!"),
        ];
        for message in messages {
            for written in known.dialect.write_message(&message).unwrap_or_default() {
                let expected = (Some(message.clone()), Vec::new());
                assert_eq!(known.dialect.read_message(&written), expected, "{known:?}");
                read += 1;
            }
        }
        let calls = vec![ToolCall::new("call_1", "add", "{}")];
        let text = "I add.".into();
        let turn = Message::Model { text, calls };
        let (mut texts, mut left_out) = (Vec::new(), Vec::new());
        for written in known.dialect.write_message(&turn).unwrap() {
            let (message, parts) = known.dialect.read_message(&written);
            texts.extend(message);
            left_out.extend(parts);
        }
        assert_eq!(texts, [said("I add.")], "{known:?}");
        // Gemini's models reject a call without a signature.
        left_out.retain(|part| part != "thoughtSignature");
        assert_eq!(left_out, ["call"], "{known:?}");
    }
    assert!(read > 20, "{read}");
}

#[test]
fn what_only_a_provider_understands_is_named() {
    let cases: [(&dyn Dialect, Value, &[&str]); 8] = [
        (
            &OpenAiResponses::default(),
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
            &["reasoning"],
        ),
        (
            &OpenAiResponses::default(),
            json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
            &["web_search_call"],
        ),
        (
            &OpenAiResponses::default(),
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                {"type": "output_text", "text": "Sunny.", "logprobs": [], "annotations": [{"type": "url_citation"}]},
            ]}),
            &["annotations"],
        ),
        (
            &Anthropic::default(),
            json!({"role": "assistant", "content": [
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "Sunny.", "citations": [{"type": "page_location"}]},
            ]}),
            &["redacted_thinking", "citations"],
        ),
        (
            &Gemini::default(),
            json!({"role": "model", "parts": [{"text": "Hm.", "thought": true}, {"text": "Sunny."}]}),
            &["thought"],
        ),
        (
            &GeminiInteractions::default(),
            json!({"type": "thought", "signature": "x"}),
            &["thought"],
        ),
        (
            &Bedrock::default(),
            json!({"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "Sunny."},
            ]}),
            &["reasoningContent"],
        ),
        (
            &Gemini::default(),
            json!({"role": "model", "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "eA=="}}, {"text": "Sunny."},
            ]}),
            &["inlineData"],
        ),
    ];
    for (dialect, message, expected) in cases {
        let (read, left_out) = dialect.read_message(&message);
        assert_eq!(left_out, expected, "{message}");
        match read {
            Some(Message::Model { text, .. }) => assert_eq!(text, "Sunny."),
            other => assert_eq!(other, None, "{message}"),
        }
    }
}

struct Reader;

impl Dialect for Reader {
    fn write_tools(&self, _: &[ToolEntry], _: &[HostedTool], _: &mut JsonWriter) {}

    fn read(&self, _: &Value) -> Result<Turn, ResponseError> {
        Err(ResponseError::new("nothing is read"))
    }

    fn results(&self, _: &[ToolResult]) -> Vec<Value> {
        Vec::new()
    }
}

#[test]
fn a_dialect_that_writes_no_turns_is_refused() {
    let mut run = new_run();
    run.respond(&dialect(), &registry(), turn(&saying("Hello!")))
        .unwrap();
    let refused = run.translate(&dialect(), &Reader).unwrap_err().to_string();
    assert!(
        refused.ends_with("implement `Dialect::write_message`"),
        "{refused}"
    );
    assert_eq!(*run.messages()[0], question());
    // The error about a run of another provider names the way.
    let other = run
        .push(question())
        .and_then(|()| run.cancel(&Anthropic::default()));
    let other = other.unwrap_err().to_string();
    assert!(
        other.ends_with("move the run with `Run::translate`"),
        "{other}"
    );
    assert_eq!(OpenAiChat::default().provider(), dialect().provider());
}
