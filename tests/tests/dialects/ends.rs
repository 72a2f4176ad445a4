//! How responses end: every reason to stop that a provider's SDK or description lists, whole and streamed.

use serde_json::{Value, json};
use tool_core::dialect::{Dialect, End, Turn};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

use super::refusal;
use super::streams::read as read_stream;

/// What a response holds besides its reason to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Holds {
    Text,
    Nothing,
    Call,
}

/// What a reason means.
#[derive(Clone, Copy, PartialEq)]
enum Means {
    Answer,
    /// An answer, which may have no text after the results of calls.
    MaySilent,
    Calls,
    Length,
    Refused,
    Filtered,
    Malformed,
    /// The calls of the response are whole.
    Misread,
    Paused,
    Failed,
    /// It is an error.
    Error,
    /// The dialect does not know it.
    Unknown,
}

use Means::*;

fn expected(means: Means, holds: Holds, reason: &str) -> Option<End> {
    Some(match (means, holds) {
        (Error, _) => return None,
        (Length, _) => End::Length,
        (Refused, _) => End::Refused,
        (Filtered, _) => End::Filtered,
        (Failed, _) => End::Failed,
        (Paused, _) => End::Paused,
        (Malformed, _) => End::Malformed,
        (Answer | MaySilent | Calls | Misread | Unknown, Holds::Call) => End::Calls,
        (Calls | Misread, _) => End::Malformed,
        (Unknown, _) => End::Unknown(reason.into()),
        (Answer | MaySilent, Holds::Text) => End::Answered,
        (Answer, Holds::Nothing) => End::Empty,
        (MaySilent, Holds::Nothing) => End::Silent,
    })
}

/// Writes a whole response and the events of the same response as a stream.
type Write = fn(Holds, &str) -> (Value, Vec<Value>);

fn chat(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let mut message = json!({"role": "assistant", "content": null});
    match holds {
        Holds::Text => message["content"] = "Hi".into(),
        Holds::Nothing => {}
        Holds::Call => {
            message["tool_calls"] = json!([{"index": 0, "id": "call00001", "type": "function",
                "function": {"name": "list_alarms", "arguments": "{}"}}]);
        }
    }
    let chunk = |delta: &Value, reason: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let events = vec![chunk(&message, None), chunk(&json!({}), Some(reason))];
    let whole = json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]});
    (whole, events)
}

fn cohere(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let mut message = json!({"role": "assistant"});
    let mut events =
        vec![json!({"type": "message-start", "delta": {"message": {"role": "assistant"}}})];
    match holds {
        Holds::Text => {
            let content = json!({"type": "text", "text": "Hi"});
            events.push(json!({"type": "content-start", "index": 0, "delta": {"message": {"content": content}}}));
            events.push(json!({"type": "content-end", "index": 0}));
            message["content"] = json!([content]);
        }
        Holds::Nothing => {}
        Holds::Call => {
            let call = json!({"id": "list_alarms_1", "type": "function",
                "function": {"name": "list_alarms", "arguments": "{}"}});
            events.push(json!({"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}}));
            events.push(json!({"type": "tool-call-end", "index": 0}));
            message["tool_calls"] = json!([call]);
        }
    }
    events.push(json!({"type": "message-end", "delta": {"finish_reason": reason}}));
    (json!({"message": message, "finish_reason": reason}), events)
}

fn anthropic(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let block = match holds {
        Holds::Text => Some(json!({"type": "text", "text": "Hi"})),
        Holds::Nothing => None,
        Holds::Call => {
            Some(json!({"type": "tool_use", "id": "toolu_1", "name": "list_alarms", "input": {}}))
        }
    };
    let message =
        json!({"type": "message", "role": "assistant", "content": [], "stop_reason": null});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    if let Some(block) = &block {
        events.push(json!({"type": "content_block_start", "index": 0, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": 0}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    events.push(json!({"type": "message_stop"}));
    let content: Vec<_> = block.into_iter().collect();
    (
        json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason}),
        events,
    )
}

fn bedrock(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    let block = match holds {
        Holds::Text => {
            events.push(
                json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}}),
            );
            Some(json!({"text": "Hi"}))
        }
        Holds::Nothing => None,
        Holds::Call => {
            let call = json!({"toolUseId": "t1", "name": "list_alarms"});
            events.push(
                json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": call}}}),
            );
            Some(json!({"toolUse": {"toolUseId": "t1", "name": "list_alarms", "input": {}}}))
        }
    };
    if block.is_some() {
        events.push(json!({"contentBlockStop": {"contentBlockIndex": 0}}));
    }
    events.push(json!({"messageStop": {"stopReason": reason}}));
    let content: Vec<_> = block.into_iter().collect();
    let message = json!({"role": "assistant", "content": content});
    (
        json!({"output": {"message": message}, "stopReason": reason}),
        events,
    )
}

/// The states of a response, which are no reasons.
const STATUSES: [&str; 6] = [
    "completed",
    "failed",
    "in_progress",
    "cancelled",
    "queued",
    "incomplete",
];

fn responses(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let item = match holds {
        Holds::Text => Some(json!({"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Hi"},
        ]})),
        Holds::Nothing => None,
        Holds::Call => Some(
            json!({"type": "function_call", "call_id": "call_1", "name": "list_alarms", "arguments": "{}"}),
        ),
    };
    let output: Vec<_> = item.into_iter().collect();
    let mut response = json!({"status": "incomplete", "output": output, "error": null, "incomplete_details": null});
    if STATUSES.contains(&reason) {
        response["status"] = reason.into();
    } else {
        response["incomplete_details"] = json!({"reason": reason});
    }
    if reason == "failed" {
        response["error"] = json!({"code": "server_error", "message": "Try again."});
    }
    let kind = format!("response.{}", response["status"].as_str().unwrap());
    (
        response.clone(),
        vec![json!({"type": kind, "response": response})],
    )
}

fn gemini(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let part = match holds {
        Holds::Text => Some(json!({"text": "Hi"})),
        Holds::Nothing => None,
        Holds::Call => Some(json!({"functionCall": {"name": "list_alarms", "args": {}}})),
    };
    let parts: Vec<_> = part.into_iter().collect();
    let content = json!({"role": "model", "parts": parts});
    let whole = json!({"candidates": [{"content": content, "finishReason": reason}]});
    let first = json!({"candidates": [{"content": content}]});
    let last = json!({"candidates": [{"finishReason": reason}]});
    (whole, vec![first, last])
}

fn interactions(holds: Holds, reason: &str) -> (Value, Vec<Value>) {
    let step = match holds {
        Holds::Text => {
            Some(json!({"type": "model_output", "content": [{"type": "text", "text": "Hi"}]}))
        }
        Holds::Nothing => None,
        Holds::Call => Some(
            json!({"type": "function_call", "id": "fc_1", "name": "list_alarms", "arguments": {}}),
        ),
    };
    let mut events =
        vec![json!({"event_type": "interaction.created", "interaction": {"id": "i_1"}})];
    if let Some(step) = &step {
        events.push(json!({"event_type": "step.start", "index": 0, "step": step}));
        events.push(json!({"event_type": "step.stop", "index": 0}));
    }
    events.push(
        json!({"event_type": "interaction.completed", "interaction": {"id": "i_1", "status": reason}}),
    );
    let steps: Vec<_> = step.into_iter().collect();
    (
        json!({"id": "i_1", "status": reason, "steps": steps}),
        events,
    )
}

/// Reasons to stop, with their meaning.
type Words = Vec<(&'static str, Means)>;

/// The words of each provider: of its SDK or API description, of servers that imitate it, and one that nobody has.
fn providers() -> Vec<(Box<dyn Dialect>, Write, Words)> {
    // `ChatCompletion.finish_reason` (openai 3.57.0), OpenRouter, xAI, Text Generation Inference, DeepSeek, Z.AI, vLLM.
    let of_chat = vec![
        ("stop", Answer),
        ("length", Length),
        ("tool_calls", Calls),
        ("content_filter", Filtered),
        ("function_call", Calls),
        ("error", Failed),
        ("end_turn", Answer),
        ("eos_token", Answer),
        ("stop_sequence", Answer),
        ("model_length", Length),
        ("insufficient_system_resource", Failed),
        ("sensitive", Filtered),
        ("network_error", Failed),
        ("model_context_window_exceeded", Length),
        ("abort", Failed),
        ("STOP", Unknown),
        ("future", Unknown),
    ];
    vec![
        (Box::new(OpenAiChat::default()), chat, of_chat.clone()),
        (Box::new(XAi::default()), chat, of_chat.clone()),
        // `ChatCompletionChoiceFinishReason` (mistralai 3.7.0) is among them.
        (Box::new(Mistral::default()), chat, of_chat),
        // `ChatFinishReason` (cohere 7.3.1).
        (
            Box::new(Cohere::default()),
            cohere,
            vec![
                ("COMPLETE", Answer),
                ("STOP_SEQUENCE", Answer),
                ("MAX_TOKENS", Length),
                ("TOOL_CALL", Calls),
                ("ERROR", Failed),
                ("TIMEOUT", Failed),
                ("FUTURE", Unknown),
            ],
        ),
        // `BetaStopReason` (anthropic 2.14.0).
        (
            Box::new(Anthropic::default()),
            anthropic,
            vec![
                ("end_turn", MaySilent),
                ("max_tokens", Length),
                ("stop_sequence", Answer),
                ("tool_use", Calls),
                ("pause_turn", Paused),
                ("compaction", Paused),
                ("refusal", Refused),
                ("model_context_window_exceeded", Length),
                ("future", Unknown),
            ],
        ),
        // `StopReason` (botocore 1.44.8).
        (
            Box::new(Bedrock::default()),
            bedrock,
            vec![
                ("end_turn", MaySilent),
                ("tool_use", Calls),
                ("max_tokens", Length),
                ("stop_sequence", Answer),
                ("guardrail_intervened", Filtered),
                ("content_filtered", Filtered),
                ("malformed_model_output", Malformed),
                ("malformed_tool_use", Malformed),
                ("model_context_window_exceeded", Length),
                ("future", Unknown),
            ],
        ),
        // `ResponseStatus` and `IncompleteDetails.reason` (openai 3.57.0).
        (
            Box::new(OpenAiResponses::default()),
            responses,
            vec![
                ("completed", Answer),
                ("failed", Error),
                ("in_progress", Error),
                ("cancelled", Error),
                ("queued", Error),
                ("incomplete", Length),
                ("max_output_tokens", Length),
                ("max_messages", Length),
                ("content_filter", Filtered),
                ("steered", Paused),
                ("future", Unknown),
            ],
        ),
        // `FinishReason` (google-genai 3.6.1).
        (
            Box::new(Gemini::default()),
            gemini,
            vec![
                ("FINISH_REASON_UNSPECIFIED", MaySilent),
                ("STOP", MaySilent),
                ("MAX_TOKENS", Length),
                ("SAFETY", Filtered),
                ("RECITATION", Filtered),
                ("LANGUAGE", Filtered),
                ("OTHER", Failed),
                ("BLOCKLIST", Filtered),
                ("PROHIBITED_CONTENT", Filtered),
                ("SPII", Filtered),
                ("MALFORMED_FUNCTION_CALL", Misread),
                ("IMAGE_SAFETY", Filtered),
                ("IMAGE_PROHIBITED_CONTENT", Filtered),
                ("IMAGE_OTHER", Failed),
                ("NO_IMAGE", Failed),
                ("IMAGE_RECITATION", Filtered),
                ("UNEXPECTED_TOOL_CALL", Misread),
                ("TOO_MANY_TOOL_CALLS", Failed),
                ("MISSING_THOUGHT_SIGNATURE", Failed),
                ("MALFORMED_RESPONSE", Misread),
                ("ESCALATION", Filtered),
                ("PUP_LIMITED_DISABLED", Failed),
                ("CONTINUATION", Length),
                ("MODEL_ARMOR", Filtered),
                ("FUTURE", Unknown),
            ],
        ),
        // `Interaction.status` (google-genai 3.6.1).
        (
            Box::new(GeminiInteractions::default()),
            interactions,
            vec![
                ("completed", MaySilent),
                ("requires_action", Calls),
                ("requires_continuation", Length),
                ("incomplete", Length),
                ("budget_exceeded", Length),
                ("failed", Error),
                ("cancelled", Error),
                ("in_progress", Error),
                ("queued", Error),
                ("future", Unknown),
            ],
        ),
    ]
}

#[test]
fn every_reason_of_a_provider_has_its_end() {
    for (dialect, write, reasons) in providers() {
        for (reason, means) in reasons {
            for mut holds in [Holds::Text, Holds::Nothing, Holds::Call] {
                let (whole, events) = write(holds, reason);
                let place = format!("{} {reason} {holds:?}", dialect.provider());
                let read = dialect.read(&whole);
                // An interaction that requires an action asks for what is in its last step.
                if reason == "requires_action" && holds == Holds::Text {
                    holds = Holds::Call;
                }
                let Some(end) = expected(means, holds, reason) else {
                    assert!(read.is_err(), "{place}");
                    continue;
                };
                let turn = read.unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(turn.end(), end, "{place}");
                let mut reader = dialect.stream();
                for event in &events {
                    reader
                        .event(event)
                        .unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                let (streamed, _) = reader
                    .finish()
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
                assert_eq!(streamed.end(), end, "{place}, streamed");
            }
        }
    }
}

/// Returns the end of a response, and what the provider says about it.
fn end_of(dialect: &dyn Dialect, response: &Value) -> (End, Option<String>) {
    let turn = dialect.read(response).unwrap();
    (turn.end(), turn.explanation)
}

#[test]
fn what_a_response_holds_counts_besides_its_reason() {
    let chat = |message: Value, reason: Value| json!({"choices": [{"message": message, "finish_reason": reason}]});
    let cases: [(&dyn Dialect, Value, End); 16] = [
        // Servers leave the reason out.
        (
            &OpenAiChat::default(),
            chat(json!({"content": "Hi"}), Value::Null),
            End::Answered,
        ),
        (
            &OpenAiChat::default(),
            chat(json!({"content": "Hi"}), "".into()),
            End::Answered,
        ),
        (
            &OpenAiChat::default(),
            chat(json!({"content": " \n"}), "stop".into()),
            End::Empty,
        ),
        (
            &OpenAiChat::default(),
            chat(
                json!({"content": null, "reasoning_content": "I will call it."}),
                "stop".into(),
            ),
            End::Empty,
        ),
        (
            &OpenAiChat::default(),
            chat(
                json!({"content": null, "refusal": "I can't help with that."}),
                "stop".into(),
            ),
            End::Refused,
        ),
        // Other output than text.
        (
            &OpenAiChat::default(),
            chat(
                json!({"content": null, "audio": {"id": "audio_1", "data": ""}}),
                "stop".into(),
            ),
            End::Answered,
        ),
        (
            &OpenAiChat::default(),
            chat(
                json!({"content": "", "images": [{"type": "image_url", "image_url": {"url": "data:,"}}]}),
                "stop".into(),
            ),
            End::Answered,
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
                {"inlineData": {"mimeType": "image/png", "data": ""}},
            ]}}]}),
            End::Answered,
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": ""}]}}]}),
            End::Silent,
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [
                {"text": "hm", "thought": true},
            ]}}]}),
            End::Length,
        ),
        (
            &OpenAiResponses::default(),
            json!({"status": "completed", "output": [
                {"type": "reasoning", "summary": []},
                {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": ""},
            ]}),
            End::Answered,
        ),
        (
            &OpenAiResponses::default(),
            json!({"status": "completed", "output": [{"type": "message", "content": [
                {"type": "refusal", "refusal": "I can't help with that."},
            ]}]}),
            End::Refused,
        ),
        (
            &OpenAiResponses::default(),
            json!({"status": "completed", "output": [{"type": "reasoning", "summary": []}]}),
            End::Empty,
        ),
        (
            &Bedrock::default(),
            json!({"stopReason": "end_turn", "output": {"message": {"content": [
                {"image": {"format": "png", "source": {"bytes": ""}}},
            ]}}}),
            End::Answered,
        ),
        (
            &Anthropic::default(),
            json!({"stop_reason": "end_turn", "content": [{"type": "thinking", "thinking": "Done."}]}),
            End::Silent,
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "completed", "steps": [{"type": "model_output", "content": [
                {"type": "image", "mime_type": "image/png", "data": ""},
            ]}]}),
            End::Answered,
        ),
    ];
    for (dialect, response, end) in cases {
        assert_eq!(end_of(dialect, &response).0, end, "{response}");
    }
}

#[test]
fn the_words_of_the_provider_about_an_end_are_kept() {
    let cases: [(&dyn Dialect, Value, End, &str); 4] = [
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
                "finishMessage": "Malformed function call: print(1)"}]}),
            End::Malformed,
            "Malformed function call: print(1)",
        ),
        (
            &Gemini::default(),
            json!({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "The prompt is unsafe."}}),
            End::Filtered,
            "The prompt is unsafe.",
        ),
        (
            &Anthropic::default(),
            json!({"content": [], "stop_reason": "refusal", "stop_details":
                {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}}),
            End::Refused,
            "It could do harm.",
        ),
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"content": "Hal"}, "finish_reason": "error",
                "error": {"code": 502, "message": "Provider disconnected"}}]}),
            End::Failed,
            "Provider disconnected",
        ),
    ];
    for (dialect, response, end, explanation) in cases {
        assert_eq!(
            end_of(dialect, &response),
            (end, Some(explanation.to_owned()))
        );
    }
}

#[test]
fn a_blocked_prompt_is_a_filtered_response_in_a_stream_too() {
    let event = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 3}});
    let mut reader = Gemini::default().stream();
    reader.event(&event).unwrap();
    let (turn, response) = reader.finish().unwrap();
    assert_eq!(turn.end(), End::Filtered);
    assert_eq!(turn.stop.as_deref(), Some("PROHIBITED_CONTENT"));
    assert!(turn.messages.is_empty());
    assert_eq!(turn, Gemini::default().read(&response).unwrap());
}

#[test]
fn a_dialect_of_an_application_says_how_its_responses_end() {
    let mut turn = Turn::new(Vec::new());
    turn.text = "Hi".into();
    assert_eq!(turn.end(), End::Answered);
    turn.stop = Some("done".into());
    assert_eq!(turn.end(), End::Unknown("done".into()));
    for end in [
        End::Answered,
        End::Length,
        End::Refused,
        End::Filtered,
        End::Malformed,
        End::Paused,
        End::Failed,
        End::Unknown("tired".into()),
    ] {
        assert_eq!(turn.clone().with_end(end.clone()).end(), end);
    }
    assert_eq!(turn.clone().with_end(End::Calls).end(), End::Malformed);
    turn.text.clear();
    assert_eq!(turn.clone().with_end(End::Answered).end(), End::Empty);
    assert_eq!(turn.with_end(End::Silent).end(), End::Silent);
}

/// Errors of gateways and frameworks with a status of success.
#[test]
fn an_error_in_place_of_a_response_is_the_error() {
    let errors = [
        (json!({"error": "model not found"}), "error model not found"),
        (
            json!({"success": false, "error": {"code": "INTERNAL", "status": 500, "message": "oops"}}),
            "error 500: oops",
        ),
        (
            json!({"detail": "Not authenticated"}),
            "error Not authenticated",
        ),
        (
            json!({"detail": [{"loc": ["body"], "msg": "extra"}]}),
            "error [{\"loc\":[\"body\"],\"msg\":\"extra\"}]",
        ),
        (
            json!({"code": 1113, "msg": "balance too low", "success": false}),
            "error 1113: balance too low",
        ),
        (
            json!({"success": false, "message": "no such model"}),
            "error no such model",
        ),
        (
            json!({"id": "x", "choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
            "error 1008: insufficient balance",
        ),
    ];
    for (dialect, ..) in providers() {
        for (response, words) in &errors {
            let said = refusal(&*dialect, response);
            let ends = said.ends_with(&format!("the provider answered with the {words}"));
            assert!(ends, "{}: {said}", dialect.provider());
            // Converse is not streamed as JSON.
            if dialect.provider().contains("Bedrock") {
                continue;
            }
            let said = read_stream(&*dialect, std::slice::from_ref(response)).error();
            let ends = said.ends_with(&format!("the provider answered with the {words}"));
            assert!(ends, "{}, streamed: {said}", dialect.provider());
        }
    }
}

#[test]
fn an_empty_error_is_none() {
    for error in [Value::Null, json!({}), json!("")] {
        let (mut whole, mut events) = chat(Holds::Text, "stop");
        whole["error"] = error.clone();
        for event in &mut events {
            event["error"] = error.clone();
        }
        assert_eq!(
            OpenAiChat::default().read(&whole).unwrap().end(),
            End::Answered
        );
        let mut reader = OpenAiChat::default().stream();
        for event in &events {
            reader.event(event).unwrap();
        }
        assert_eq!(reader.finish().unwrap().0.text, "Hi");
    }
}
