//! The chunks of the AI SDK's UI message stream, case by case. The folder `judges` has its own packages read them.

use std::time::Duration;

use front_ends::{USER, conversations};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::conversations::{Conversation, ConversationError, Conversations};
use tool_agent::run::Run;
use tool_agent::ui::ai_sdk;

async fn new() -> (Conversations, Conversation) {
    let (all, _) = conversations();
    let run = Run::builder("chat-1").owner(USER).build();
    let conversation = all.create(run).await.unwrap();
    (all, conversation)
}

fn say(text: &str) -> Value {
    json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": text}]})
}

fn request(messages: &[Value]) -> Result<ai_sdk::Request, serde_json::Error> {
    let body = json!({"id": "chat-1", "trigger": "submit-message", "messages": messages});
    serde_json::from_value(body)
}

async fn try_post(
    conversation: &Conversation,
    messages: &[Value],
) -> Result<Vec<String>, ConversationError> {
    let answer = request(messages)
        .unwrap()
        .answer(conversation, USER)
        .await?;
    Ok(answer.collect().await)
}

/// Returns the chunks, of which the last event is not one.
async fn post(conversation: &Conversation, messages: &[Value]) -> Vec<Value> {
    let mut events = try_post(conversation, messages).await.unwrap();
    assert_eq!(events.pop().unwrap(), "[DONE]");
    let chunks = events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap());
    chunks.collect()
}

/// Returns the kinds of chunks, without what follows one of its kind.
fn kinds(chunks: &[Value]) -> Vec<&str> {
    let kinds = chunks.iter().map(|chunk| chunk["type"].as_str().unwrap());
    let mut kinds: Vec<_> = kinds.collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn a_text_is_streamed_in_pieces() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("hello")]).await;
    let expected = json!([
        {"type": "start", "messageId": "turn-1"},
        {"type": "start-step"},
        {"type": "text-start", "id": "model-0"},
        {"type": "text-delta", "id": "model-0", "delta": "Hel"},
        {"type": "text-delta", "id": "model-0", "delta": "lo"},
        {"type": "text-delta", "id": "model-0", "delta": "!"},
        {"type": "text-end", "id": "model-0"},
        {"type": "finish-step"},
        {"type": "finish", "finishReason": "stop"},
    ]);
    assert_eq!(json!(chunks), expected);
    // The next turn has its own message, without the entries of the first.
    let chunks = post(&conversation, &[say("changed"), say("think")]).await;
    assert_eq!(chunks[0]["messageId"], "turn-2");
    let expected = [
        "start",
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ];
    assert_eq!(kinds(&chunks), expected);
    let ids: Vec<_> = ai_sdk::messages(&conversation.transcript())
        .iter()
        .map(|message| message["id"].clone())
        .collect();
    assert_eq!(json!(ids), json!(["user-0", "turn-1", "user-1", "turn-2"]));
    // What the page changed before its last message counts for nothing.
    assert!(!format!("{:?}", conversation.transcript()).contains("changed"));
}

#[tokio::test]
async fn a_call_has_input_progress_and_output() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("weather")]).await;
    let of_the_call = |chunk: &&Value| {
        let id = chunk.get("toolCallId").or(chunk["data"].get("toolCallId"));
        id == Some(&json!("call-0-0"))
    };
    let call: Vec<_> = chunks.iter().filter(of_the_call).collect();
    let input = json!({"place": "Oslo"});
    let expected = json!([
        {"type": "tool-input-start", "toolCallId": "call-0-0", "toolName": "find_weather"},
        {"type": "tool-input-delta", "toolCallId": "call-0-0", "inputTextDelta": "{\"place\":"},
        {"type": "tool-input-delta", "toolCallId": "call-0-0", "inputTextDelta": "\"Oslo\"}"},
        {"type": "tool-input-available", "toolCallId": "call-0-0", "toolName": "find_weather", "input": input},
        {"type": "data-progress", "transient": true, "data": {"toolCallId": "call-0-0", "message": "asks the station"}},
        {"type": "tool-output-available", "toolCallId": "call-0-0", "output": {"place": "Oslo", "degrees": 21}},
    ]);
    assert_eq!(json!(call), expected);
    // Of both responses.
    let usage = json!({"inputTokens": 164, "cachedInputTokens": 128, "outputTokens": 34, "totalTokens": 198});
    assert_eq!(chunks.last().unwrap()["messageMetadata"]["usage"], usage);
    let chunks = post(&conversation, &[say("nowhere")]).await;
    let failed = chunks
        .iter()
        .find(|chunk| chunk["type"] == "tool-output-error");
    assert!(
        failed.unwrap()["errorText"]
            .as_str()
            .unwrap()
            .contains("no such place")
    );
    let chunks = post(&conversation, &[say("chart")]).await;
    let file = chunks.iter().find(|chunk| chunk["type"] == "file").unwrap();
    let url = "data:image/png;base64,iVBORw==";
    assert_eq!(
        *file,
        json!({"type": "file", "mediaType": "image/png", "url": url})
    );
}

/// Returns the message of a page that has answered each question for a decision.
fn decided(chunks: &[Value], approvals: &[bool]) -> Value {
    let asked = chunks
        .iter()
        .filter(|chunk| chunk["type"] == "tool-approval-request");
    let parts = asked.zip(approvals).map(|(asked, approved)| {
        let approval =
            json!({"id": asked["approvalId"], "approved": approved, "reason": "as I say"});
        json!({"type": "tool-pay", "toolCallId": asked["toolCallId"], "state": "approval-responded",
            "input": {"cents": 1}, "approval": approval})
    });
    let parts: Vec<_> = parts.collect();
    assert_eq!(parts.len(), approvals.len());
    json!({"id": "turn-1", "role": "assistant", "parts": parts})
}

#[tokio::test]
async fn calls_wait_for_decisions_and_the_same_message_goes_on() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("pay twice")]).await;
    assert_eq!(chunks.last().unwrap()["finishReason"], "tool-calls");
    // Secrets are neither in pieces nor in the whole.
    let input = json!({"cents": 700, "pin": "[secret]"});
    assert!(
        chunks.iter().any(|chunk| chunk["input"] == input),
        "{chunks:#?}"
    );
    assert!(!json!(chunks).to_string().contains("4711"));
    let error = try_post(&conversation, &[say("hello")]).await.unwrap_err();
    assert!(matches!(error, ConversationError::Waiting));

    let message = decided(&chunks, &[true, false]);
    let rest = post(&conversation, &[say("pay twice"), message.clone()]).await;
    let expected = json!([
        {"type": "start", "messageId": "turn-1"},
        {"type": "tool-output-available", "toolCallId": "call-0-0", "output": "paid 700 with 4 digits"},
        {"type": "tool-output-denied", "toolCallId": "call-0-1"},
        {"type": "start-step"},
    ]);
    assert_eq!(json!(rest[..4]), expected, "{rest:#?}");
    let shown = conversation.transcript();
    assert_eq!(shown.call("call-0-1").unwrap().decisions[0].by, USER);
    assert!(
        shown
            .call("call-0-1")
            .unwrap()
            .result
            .as_ref()
            .unwrap()
            .contains("as I say")
    );
    // The same decisions again count for nothing, and the page gets what it lacks.
    let again = post(&conversation, &[say("pay twice"), message]).await;
    assert_eq!(kinds(&again), kinds(&rest));
}

/// One after the other would wait for ever.
#[tokio::test]
async fn calls_that_are_allowed_together_run_together() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("meet")]).await;
    let messages = [decided(&chunks, &[true, true])];
    let rest = post(&conversation, &messages);
    let rest = tokio::time::timeout(Duration::from_secs(60), rest).await;
    let rest = rest.expect("the calls meet");
    let outputs = rest.iter().filter(|chunk| chunk["output"] == "met");
    assert_eq!(outputs.count(), 2, "{rest:#?}");
}

/// A page that posts old decisions again does not wait until the conversation rests.
#[tokio::test]
async fn old_decisions_do_not_delay_the_stream() {
    let (all, gate) = conversations();
    let run = Run::builder("chat-1").owner(USER).build();
    let conversation = all.create(run).await.unwrap();
    let chunks = post(&conversation, &[say("pay")]).await;
    let message = decided(&chunks, &[true]);
    post(&conversation, std::slice::from_ref(&message)).await;
    let slow = request(&[say("slow")]).unwrap();
    let mut slow = slow.answer(&conversation, USER).await.unwrap();
    while !slow.next().await.unwrap().contains("two") {}
    let again = request(&[message]).unwrap();
    let mut again = again.answer(&conversation, USER).await.unwrap();
    let first = tokio::time::timeout(Duration::from_secs(60), again.next()).await;
    let first = first.expect("the stream begins while the model answers");
    assert!(first.unwrap().contains("start"));
    gate.add_permits(1);
}

#[tokio::test]
async fn decisions_are_made_although_the_page_hangs_up() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("pay twice")]).await;
    let request = request(&[decided(&chunks, &[true, false])]).unwrap();
    drop(request.answer(&conversation, USER).await.unwrap());
    let mut updates = conversation.follow();
    let mut entries = Vec::new();
    while !json!(entries).to_string().contains("I got: ") {
        updates.next().await.unwrap().apply(&mut entries);
    }
}

#[tokio::test]
async fn a_refused_decision_asks_again() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("pay")]).await;
    let request = request(&[decided(&chunks, &[true])]).unwrap();
    let answer = request.answer(&conversation, "ben").await.unwrap();
    let events: Vec<String> = answer.collect().await;
    let chunks: Vec<Value> = events[..events.len() - 1]
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let expected = ["start", "tool-approval-request", "error", "finish"];
    assert_eq!(kinds(&chunks), expected);
    assert!(
        conversation
            .transcript()
            .call("call-0-0")
            .unwrap()
            .hold
            .is_some()
    );
}

#[tokio::test]
async fn a_page_that_comes_late_gets_the_whole_turn() {
    let (all, gate) = conversations();
    let run = Run::builder("chat-1").owner(USER).build();
    let conversation = all.create(run).await.unwrap();
    post(&conversation, &[say("hello")]).await;
    assert!(ai_sdk::resume(&conversation).is_none());
    let request = request(&[say("slow")]).unwrap();
    let mut first = request.answer(&conversation, USER).await.unwrap();
    while !first.next().await.unwrap().contains("two") {}
    drop(first);
    let late = ai_sdk::resume(&conversation).unwrap();
    gate.add_permits(1);
    let chunks: Vec<String> = late.collect().await;
    let deltas: Vec<Value> = chunks
        .iter()
        .filter(|chunk| chunk.contains("text-delta"))
        .map(|chunk| serde_json::from_str::<Value>(chunk).unwrap()["delta"].clone())
        .collect();
    assert_eq!(json!(deltas), json!(["One two ", "three."]));
    assert_eq!(
        chunks[0],
        json!({"type": "start", "messageId": "turn-2"}).to_string()
    );
}

#[tokio::test]
async fn an_error_of_the_model_ends_the_stream() {
    let (_, conversation) = new().await;
    let chunks = post(&conversation, &[say("break")]).await;
    let [.., error, finish] = &chunks[..] else {
        panic!("{chunks:#?}")
    };
    assert_eq!(error["type"], "error");
    assert!(
        !error["errorText"]
            .as_str()
            .unwrap()
            .contains("a cause for the log")
    );
    assert_eq!(*finish, json!({"type": "finish", "finishReason": "error"}));
}

#[test]
fn what_is_no_text_of_a_user_is_rejected() {
    let error = |messages: &[Value]| request(messages).unwrap_err().to_string();
    let file = json!({"type": "file", "mediaType": "image/png", "url": "data:,"});
    let cases = [
        (vec![], "`messages` is empty"),
        (vec![say("  ")], "is empty"),
        (
            vec![json!({"role": "system", "parts": []})],
            "not by the user",
        ),
        (
            vec![json!({"role": "user", "parts": [file]})],
            "takes text alone",
        ),
    ];
    for (messages, expected) in cases {
        let error = error(&messages);
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_long_text_costs_little_more_than_its_pieces() {
    let (all, gate) = conversations();
    let run = Run::builder("chat-1").owner(USER).build();
    let conversation = all.create(run).await.unwrap();
    let request = request(&[say("long")]).unwrap();
    let answer = request.answer(&conversation, USER).await.unwrap();
    // In a task, which takes turns with the agent's.
    let collecting = tokio::spawn(answer.collect());
    gate.add_permits(1);
    let events: Vec<String> = collecting.await.unwrap();
    let deltas = events.iter().filter(|event| event.contains("text-delta"));
    assert_eq!(deltas.count(), 6_000);
    let on_the_wire = |event: &str| "data: \n\n".len() + event.len();
    let sent: usize = events.iter().map(|event| on_the_wire(event)).sum();
    let piece = json!({"type": "text-delta", "id": "0", "delta": "word "}).to_string();
    let deltas = 6_000 * on_the_wire(&piece);
    println!("{sent} bytes, and {deltas} of the pieces alone");
    assert!(sent * 2 <= deltas * 3, "{sent} of {deltas}");
}
