//! The events of AG-UI, case by case. The folder `judges` has its own client read them.

use std::time::Duration;

use front_ends::{USER, conversations};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::conversations::Conversation;
use tool_agent::run::Run;
use tool_agent::ui::ag_ui::Request;

fn request(input: Value) -> Result<Request, serde_json::Error> {
    let mut whole =
        json!({"threadId": "chat-1", "runId": "run-1", "messages": [], "tools": [], "context": []});
    let fields = whole.as_object_mut().unwrap();
    fields.extend(input.as_object().unwrap().clone());
    serde_json::from_value(whole)
}

async fn post(conversation: &Conversation, input: Value) -> Vec<Value> {
    let answer = request(input).unwrap().answer(conversation, USER).await;
    let events: Vec<String> = answer.unwrap().collect().await;
    let events = events.iter().map(|event| serde_json::from_str(event));
    events.map(Result::unwrap).collect()
}

fn say(text: &str) -> Value {
    json!({"messages": [{"id": "m", "role": "user", "content": text}]})
}

async fn new() -> Conversation {
    let (all, _) = conversations();
    let run = Run::builder("chat-1").owner(USER).build();
    all.create(run).await.unwrap()
}

#[tokio::test]
async fn a_call_and_a_text_are_written_in_pieces() {
    let conversation = new().await;
    let events = post(&conversation, say("weather")).await;
    let content = r#"{"degrees":21,"place":"Oslo"}"#;
    let expected = json!([
        {"type": "RUN_STARTED", "threadId": "chat-1", "runId": "run-1"},
        {"type": "TEXT_MESSAGE_START", "messageId": "model-0", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "model-0", "delta": "I look."},
        {"type": "TEXT_MESSAGE_END", "messageId": "model-0"},
        {"type": "TOOL_CALL_START", "toolCallId": "call-0-0", "toolCallName": "find_weather", "parentMessageId": "model-0"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call-0-0", "delta": "{\"place\":"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "call-0-0", "delta": "\"Oslo\"}"},
        {"type": "TOOL_CALL_END", "toolCallId": "call-0-0"},
        {"type": "CUSTOM", "name": "progress", "value": {"toolCallId": "call-0-0", "message": "asks the station"}},
        {"type": "TOOL_CALL_RESULT", "messageId": "result-call-0-0", "toolCallId": "call-0-0", "role": "tool", "content": content},
        {"type": "TEXT_MESSAGE_START", "messageId": "model-1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "model-1", "delta": "I got: "},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "model-1", "delta": content},
        {"type": "TEXT_MESSAGE_END", "messageId": "model-1"},
        {"type": "RUN_FINISHED", "threadId": "chat-1", "runId": "run-1", "outcome": {"type": "success"}},
    ]);
    assert_eq!(json!(events), expected, "{events:#?}");
}

#[tokio::test]
async fn a_call_that_waits_is_an_interrupt() {
    let conversation = new().await;
    let events = post(&conversation, say("pay")).await;
    let arguments = events
        .iter()
        .find(|event| event["type"] == "TOOL_CALL_ARGS");
    assert_eq!(
        arguments.unwrap()["delta"],
        r#"{"cents":700,"pin":"[secret]"}"#
    );
    let interrupt = &events.last().unwrap()["outcome"]["interrupts"][0];
    assert_eq!(interrupt["toolCallId"], "call-0-0");
    assert_eq!(interrupt["metadata"]["hold"]["reason"], "it costs money");

    let calls = json!({"messages": [
        {"id": "m", "role": "user", "content": "pay"},
        {"id": "model-0", "role": "assistant", "toolCalls": [{"id": "call-0-0"}]},
    ]});
    let decide = |approved: Value| {
        let mut input = calls.clone();
        let payload = json!({"approved": approved});
        input["resume"] =
            json!([{"interruptId": interrupt["id"], "status": "resolved", "payload": payload}]);
        input
    };
    // Somebody who may not decide gets the reason.
    let refused = request(decide(json!(true))).unwrap();
    let refused = refused.answer(&conversation, "ben").await.unwrap();
    let refused: Vec<String> = refused.collect().await;
    assert!(refused.last().unwrap().contains("RUN_ERROR"), "{refused:?}");
    // What is not plainly a yes denies.
    let events = post(&conversation, decide(json!("yes"))).await;
    assert_eq!(events[1]["type"], "TOOL_CALL_RESULT");
    assert!(!events[1]["content"].as_str().unwrap().contains("paid"));
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
}

/// One after the other would wait for ever.
#[tokio::test]
async fn calls_that_are_allowed_together_run_together() {
    let conversation = new().await;
    let events = post(&conversation, say("meet")).await;
    let interrupts = events.last().unwrap()["outcome"]["interrupts"].as_array();
    let resume = interrupts.unwrap().iter().map(|interrupt| {
        let payload = json!({"approved": true});
        json!({"interruptId": interrupt["id"], "status": "resolved", "payload": payload})
    });
    let messages = json!([{"id": "m", "role": "user", "content": "meet"}]);
    let input = json!({"messages": messages, "resume": resume.collect::<Vec<_>>()});
    let events = tokio::time::timeout(Duration::from_secs(60), post(&conversation, input)).await;
    let events = events.expect("the calls meet");
    let results = events.iter().filter(|event| event["content"] == "met");
    assert_eq!(results.count(), 2, "{events:#?}");
}

#[tokio::test]
async fn what_an_error_makes_void_is_taken_back() {
    let conversation = new().await;
    let events = post(&conversation, say("break")).await;
    let [.., snapshot, error] = &events[..] else {
        panic!("{events:#?}")
    };
    let messages = json!([{"id": "user-0", "role": "user", "content": "break"}]);
    assert_eq!(
        *snapshot,
        json!({"type": "MESSAGES_SNAPSHOT", "messages": messages})
    );
    assert_eq!(error["type"], "RUN_ERROR");
    assert!(
        !error["message"]
            .as_str()
            .unwrap()
            .contains("a cause for the log")
    );
}

#[tokio::test]
async fn a_request_without_news_follows() {
    let conversation = new().await;
    post(&conversation, say("chart")).await;
    let events = post(&conversation, json!({})).await;
    assert_eq!(events.len(), 3, "{events:#?}");
    let source = json!({"type": "data", "value": "iVBORw==", "mimeType": "image/png"});
    let content = json!([{"type": "text", "text": "a chart"}, {"type": "image", "source": source}]);
    assert_eq!(events[1]["messages"][2]["content"], content);
    assert_eq!(events[2]["outcome"]["type"], "success");
}

#[test]
fn what_is_no_text_of_a_user_is_rejected() {
    let picture =
        json!([{"type": "image", "source": {"type": "url", "value": "https://example.com"}}]);
    for (content, expected) in [(picture, "takes text alone"), (json!(" "), "is empty")] {
        let messages = json!([{"id": "m", "role": "user", "content": content}]);
        let error = request(json!({"messages": messages})).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
