//! Responses truncated in the middle of a call, and refusals in place of an answer.

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolErrorKind, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

/// Deletes notes, or all of them.
#[tool(unlinked, destructive)]
fn delete_notes(older_than_days: Option<u32>) -> String {
    match older_than_days {
        Some(days) => format!("older than {days}"),
        None => "all".into(),
    }
}

fn builder() -> RegistryBuilder {
    Registry::builder().tools(tools![delete_notes])
}

/// Writes a response with these calls of `delete_notes` and this stop reason.
type Response = fn(&[Value], &str) -> Value;

fn chat(calls: &[Value], stop: &str) -> Value {
    let calls = calls.iter().map(|arguments| {
        json!({"id": "1", "type": "function",
               "function": {"name": "delete_notes", "arguments": arguments}})
    });
    let calls: Vec<_> = calls.collect();
    json!({"choices": [{"finish_reason": stop,
                        "message": {"role": "assistant", "tool_calls": calls}}]})
}

fn cohere(calls: &[Value], stop: &str) -> Value {
    let mut choice = chat(calls, stop)["choices"][0].take();
    choice["id"] = "c14c".into();
    choice
}

/// Mistral's format with messages of hosted tools.
fn messages(calls: &[Value], stop: &str) -> Value {
    let message = chat(calls, stop)["choices"][0]["message"].take();
    let first = json!({"role": "assistant", "content": "Let me look."});
    json!({"choices": [{"finish_reason": stop, "messages": [first, message]}]})
}

fn responses(calls: &[Value], stop: &str) -> Value {
    let calls = calls.iter().map(|arguments| {
        json!({"type": "function_call", "call_id": "1", "name": "delete_notes",
               "arguments": arguments})
    });
    json!({"status": stop, "output": calls.collect::<Vec<_>>()})
}

fn anthropic(calls: &[Value], stop: &str) -> Value {
    let calls = calls.iter().map(
        |input| json!({"type": "tool_use", "id": "1", "name": "delete_notes", "input": input}),
    );
    json!({"stop_reason": stop, "content": calls.collect::<Vec<_>>()})
}

fn gemini(calls: &[Value], stop: &str) -> Value {
    let calls = calls
        .iter()
        .map(|args| json!({"functionCall": {"name": "delete_notes", "args": args}}));
    json!({"candidates": [{"finishReason": stop,
                           "content": {"role": "model", "parts": calls.collect::<Vec<_>>()}}]})
}

fn gemini_interactions(calls: &[Value], stop: &str) -> Value {
    let calls = calls.iter().map(
        |arguments| json!({"type": "function_call", "id": "1", "name": "delete_notes", "arguments": arguments}),
    );
    json!({"status": stop, "steps": calls.collect::<Vec<_>>()})
}

fn bedrock(calls: &[Value], stop: &str) -> Value {
    let calls = calls.iter().map(
        |input| json!({"toolUse": {"toolUseId": "1", "name": "delete_notes", "input": input}}),
    );
    json!({"stopReason": stop,
           "output": {"message": {"role": "assistant", "content": calls.collect::<Vec<_>>()}}})
}

/// `true` if arguments are text, the stop reason of a limit, and that of a normal end.
type Case = (Box<dyn Dialect>, Response, bool, &'static str, &'static str);

fn cases() -> [Case; 10] {
    [
        (
            Box::new(OpenAiChat::default()),
            chat,
            true,
            "length",
            "tool_calls",
        ),
        (Box::new(XAi::default()), chat, true, "length", "tool_calls"),
        (
            Box::new(Mistral::default()),
            chat,
            true,
            "model_length",
            "tool_calls",
        ),
        (
            Box::new(Mistral::default()),
            messages,
            true,
            "length",
            "tool_calls",
        ),
        (
            Box::new(Cohere::default()),
            cohere,
            true,
            "MAX_TOKENS",
            "TOOL_CALL",
        ),
        (
            Box::new(OpenAiResponses::default()),
            responses,
            true,
            "incomplete",
            "completed",
        ),
        (
            Box::new(Anthropic::default()),
            anthropic,
            false,
            "max_tokens",
            "tool_use",
        ),
        (
            Box::new(Gemini::default()),
            gemini,
            false,
            "MAX_TOKENS",
            "STOP",
        ),
        (
            Box::new(GeminiInteractions::default()),
            gemini_interactions,
            false,
            "incomplete",
            "requires_action",
        ),
        (
            Box::new(Bedrock::default()),
            bedrock,
            false,
            "max_tokens",
            "tool_use",
        ),
    ]
}

/// Returns arguments in the form of a provider.
fn given(is_text: bool, days: Option<u32>) -> Value {
    match (is_text, days) {
        (true, Some(days)) => json!(format!(r#"{{"older_than_days":{days}}}"#)),
        (true, None) => json!(""),
        (false, Some(days)) => json!({"older_than_days": days}),
        (false, None) => json!({}),
    }
}

#[test]
fn a_truncated_call_is_rejected_and_not_run() {
    let registry = builder().build().unwrap();
    for (dialect, response, is_text, limit, end) in cases() {
        let name = dialect.provider();
        let whole = [given(is_text, Some(7)), given(is_text, None)];
        let run = |response: &Value| {
            let calls = dialect.read(response).unwrap().calls;
            let results = calls
                .iter()
                .cloned()
                .map(|call| registry.call_blocking(call));
            let results: Vec<_> = results.collect();
            (calls, results)
        };

        // Only the last call can be truncated.
        let (calls, results) = run(&response(&whole, limit));
        assert_eq!(results[0].content(), "older than 7", "{name}");
        let error = results[1]
            .error()
            .unwrap_or_else(|| panic!("{name} ran it"));
        assert_eq!(error.kind(), ToolErrorKind::MalformedJson, "{name}");
        let problem = calls[1].parse_error().unwrap();
        assert!(
            problem.starts_with("the response was truncated"),
            "{name}: {problem}"
        );
        assert!(error.message().ends_with(&problem), "{name}: {error}");
        // It is answered in the next request.
        assert_eq!(results[1].call_id(), calls[1].id, "{name}");

        // Text shows that it is complete, a JSON value does not.
        let (_, results) = run(&response(&[given(is_text, Some(7))], limit));
        assert_eq!(results[0].is_error(), !is_text, "{name}");

        let (calls, results) = run(&response(&whole, end));
        assert_eq!(results[1].content(), "all", "{name}");
        assert_eq!(calls[1].parse_error(), None, "{name}");
    }
}

#[test]
fn text_after_a_call_shows_that_the_call_is_complete() {
    let mut response = anthropic(&[json!({})], "max_tokens");
    let content = response["content"].as_array_mut().unwrap();
    content.push(json!({"type": "text", "text": "And now"}));
    let calls = Anthropic::default().read(&response).unwrap().calls;
    assert_eq!(calls[0].parse_error(), None);
}

#[test]
fn a_truncated_call_reaches_no_hook_and_an_adapter_can_mark_one() {
    let response = anthropic(&[json!({})], "max_tokens");
    let turn = Anthropic::default().read(&response);
    let call = turn.unwrap().calls.remove(0);
    let marked = ToolCall::new("1", "delete_notes", json!({})).truncated();
    assert_eq!(call, marked);
    assert!(call.is_truncated());
    for call in [call, marked] {
        let registry = builder().before(async |_| panic!("a gate was asked"));
        let result = registry.build().unwrap().call_blocking(call);
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::MalformedJson);
    }
}

#[test]
fn a_refusal_is_the_text_of_the_response() {
    let refusal = "I can't help with that.";
    let chat = json!({"choices": [{"message":
        {"role": "assistant", "content": null, "refusal": refusal}}]});
    assert_eq!(OpenAiChat::default().read(&chat).unwrap().text, refusal);
    let responses = json!({"output": [{"type": "message", "role": "assistant",
        "content": [{"type": "refusal", "refusal": refusal}]}]});
    assert_eq!(
        OpenAiResponses::default().read(&responses).unwrap().text,
        refusal
    );
}
