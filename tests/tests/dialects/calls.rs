//! Reading the calls of a response.

use serde_json::{Value, json};
use tool_core::ToolCall;
use tool_core::call::Arguments;
use tool_core::dialect::{Dialect, End};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses,
};

use super::dialects;

/// Returns ids and names, in order.
fn heads(calls: &[ToolCall]) -> Vec<(&str, &str)> {
    calls.iter().map(|call| (&*call.id, &*call.name)).collect()
}

#[test]
fn every_parallel_call_is_found_between_other_items() {
    let names = [
        "get_forecast",
        "cancel_booking",
        "list_alarms",
        "get_forecast",
        "get_forcast",
    ];
    let openai = ["call_A", "call_B", "call_C", "call_D", "call_E"];
    let ids = [
        openai,
        openai,
        ["toolu_A", "toolu_B", "toolu_C", "toolu_D", "toolu_E"],
        ["9f1c", "call_2", "call_4", "call_5", "call_6"],
        openai,
        ["7", "7", "c", "-1", "0"],
        ["7", "7", "c", "-1", "0"],
        [
            "tooluse_A",
            "tooluse_B",
            "tooluse_C",
            "tooluse_D",
            "tooluse_E",
        ],
        [
            "get_forecast_a1",
            "cancel_booking_b2",
            "list_alarms_c3",
            "get_forecast_d4",
            "get_forcast_e5",
        ],
        openai,
        [
            "aBcD12345",
            "bBcD12345",
            "cBcD12345",
            "dBcD12345",
            "eBcD12345",
        ],
    ];
    for ((dialect, response), ids) in dialects().into_iter().zip(ids) {
        let calls = dialect.read(&response).unwrap().calls;
        let expected: Vec<_> = ids.into_iter().zip(names).collect();
        assert_eq!(heads(&calls), expected);
    }
}

/// Parsing the arguments here would lose a truncated text, which the tool must report.
#[test]
fn text_arguments_are_kept_as_text() {
    for (dialect, response) in dialects().into_iter().take(2) {
        let calls = dialect.read(&response).unwrap().calls;
        assert_eq!(calls[3].arguments, Arguments::Text(r#"{"days":2"#.into()));
        assert!(calls[3].parse_error().is_some());
    }
}

#[test]
fn a_response_is_read_in_its_own_dialect_only() {
    // MCP follows, and the dialects that share the format of chat completions.
    let mut dialects = dialects().into_iter().take(9).collect::<Vec<_>>();
    dialects.remove(6);
    // Any array could hold MCP messages.
    dialects[5].1 = dialects[5].1[1].take();
    for (at, (dialect, _)) in dialects.iter().enumerate() {
        for (other, (_, response)) in dialects.iter().enumerate() {
            let turn = dialect.read(response);
            assert_eq!(turn.is_ok(), at == other, "{at} reads {other}");
        }
    }
}

#[test]
fn a_response_without_calls_is_not_an_error() {
    let cases: [(&dyn Dialect, Value); 14] = [
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"content": "Hi"}}]}),
        ),
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"tool_calls": null}}]}),
        ),
        (
            &OpenAiChat::default(),
            json!({"error": false, "choices": [{"message": {"content": ""}}]}),
        ),
        (
            &OpenAiResponses::default(),
            json!({"error": null, "output": []}),
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "text", "text": "Hi"}]}),
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}),
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"role": "model"}}]}),
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "completed", "steps": [{"type": "model_output", "content": []}]}),
        ),
        // A limit cut off the thoughts.
        (
            &GeminiInteractions::default(),
            json!({"status": "incomplete"}),
        ),
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ),
        (&Mcp::default(), json!([])),
        (
            &Bedrock::default(),
            json!({"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}}),
        ),
        (
            &Cohere::default(),
            json!({"message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}}),
        ),
        (
            &Mistral::default(),
            json!({"choices": [{"message": {"tool_calls": null}}]}),
        ),
    ];
    for (dialect, response) in cases {
        let turn = dialect.read(&response).unwrap();
        assert!(turn.calls.is_empty(), "{response}");
    }
}

#[test]
fn gemini_reports_why_there_is_no_answer() {
    let candidate = |reason: &str, parts: Value| json!({"candidates": [{"finishReason": reason, "finishMessage": "Malformed call: f(", "content": {"role": "model", "parts": parts}}]});
    let text = || json!([{"text": "Let me look."}]);
    let call = || json!([{"functionCall": {"name": "f", "args": {}}}]);
    for (response, end, stop, explanation) in [
        (
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
            End::Filtered,
            "PROHIBITED_CONTENT",
            None,
        ),
        (
            json!({"candidates": [], "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "No."}}),
            End::Filtered,
            "OTHER",
            Some("No."),
        ),
        (
            json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}),
            End::Malformed,
            "MALFORMED_FUNCTION_CALL",
            None,
        ),
        (
            candidate("MALFORMED_FUNCTION_CALL", text()),
            End::Malformed,
            "MALFORMED_FUNCTION_CALL",
            Some("Malformed call: f("),
        ),
        (
            candidate("UNEXPECTED_TOOL_CALL", json!([])),
            End::Malformed,
            "UNEXPECTED_TOOL_CALL",
            Some("Malformed call: f("),
        ),
        (
            candidate("SAFETY", json!([{"text": "hm", "thought": true}])),
            End::Filtered,
            "SAFETY",
            Some("Malformed call: f("),
        ),
    ] {
        let turn = Gemini::default().read(&response).unwrap();
        assert_eq!(turn.end(), end, "{response}");
        assert_eq!(turn.stop.as_deref(), Some(stop), "{response}");
        assert_eq!(turn.explanation.as_deref(), explanation, "{response}");
    }
    for (reason, parts) in [
        ("STOP", json!([])),
        ("MAX_TOKENS", json!([])),
        ("SAFETY", text()),
        ("MALFORMED_FUNCTION_CALL", call()),
    ] {
        let response = candidate(reason, parts.clone());
        let calls = Gemini::default().read(&response).unwrap().calls;
        assert_eq!(calls.is_empty(), parts != call(), "{response}");
    }
}

#[test]
fn an_interaction_of_gemini_reports_why_there_is_no_answer() {
    let blocked = json!({"type": "model_output", "error": {"code": 3, "message": "Blocked."}});
    let text = json!({"type": "model_output", "content": [{"type": "text", "text": "Hi"}]});
    let call = json!({"type": "function_call", "id": "1", "name": "f", "arguments": {}});
    for (response, expected) in [
        (
            json!({"status": "failed", "steps": [], "errors": [{"code": "quota", "message": "Spent."}]}),
            "Gemini's interaction failed: quota: Spent.",
        ),
        (
            json!({"status": "failed", "steps": [blocked]}),
            "Gemini's interaction failed: 3: Blocked.",
        ),
        (
            json!({"status": "cancelled", "steps": [text]}),
            "Gemini's interaction was cancelled",
        ),
        (
            json!({"status": "completed", "steps": [blocked]}),
            "Gemini's interaction stopped without an answer: 3: Blocked.",
        ),
    ] {
        let error = GeminiInteractions::default().read(&response).unwrap_err();
        assert_eq!(error.to_string(), expected, "{response}");
    }
    for steps in [json!([text, blocked]), json!([call, blocked])] {
        let response = json!({"status": "completed", "steps": steps});
        let turn = GeminiInteractions::default().read(&response).unwrap();
        assert_eq!(turn.end(), End::Failed);
        assert_eq!(turn.explanation.as_deref(), Some("Blocked."));
    }
    // A tool of the provider may fail, and the model answers nevertheless.
    let failed = json!({"type": "url_context_call", "id": "2", "error": {"code": 3, "message": "Not found."}});
    let response = json!({"status": "completed", "steps": [failed, text]});
    let turn = GeminiInteractions::default().read(&response).unwrap();
    assert_eq!(turn.end(), End::Answered);
}

/// Other servers deviate from these dialects. A call is run if it can be.
#[test]
fn odd_arguments_do_not_lose_a_call() {
    let chat = |call: Value| json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let cases: [(&dyn Dialect, Value, Arguments); 10] = [
        (
            &OpenAiChat::default(),
            chat(json!({"id": "1", "type": "function",
                        "function": {"name": "f", "arguments": {"a": 1}}})),
            json!({"a": 1}).into(),
        ),
        (
            &OpenAiChat::default(),
            chat(json!({"id": "1", "function": {"name": "f", "arguments": null}})),
            Arguments::default(),
        ),
        (
            &OpenAiResponses::default(),
            json!({"output": [{"type": "function_call", "call_id": "1", "name": "f"}]}),
            Arguments::default(),
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "tool_use", "id": "1", "name": "f", "input": "{\"a\":1}"}]}),
            r#"{"a":1}"#.into(),
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "tool_use", "id": "1", "name": "f", "input": [1]}]}),
            json!([1]).into(),
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"id": "1", "name": "f"}}]}}]}),
            Arguments::default(),
        ),
        (
            &GeminiInteractions::default(),
            json!({"steps": [{"type": "function_call", "id": "1", "name": "f"}]}),
            Arguments::default(),
        ),
        (
            &Mcp::default(),
            json!({"id": "1", "method": "tools/call", "params": {"name": "f"}}),
            Arguments::default(),
        ),
        (
            &Bedrock::default(),
            json!({"output": {"message": {"content": [{"toolUse": {"toolUseId": "1", "name": "f"}}]}}}),
            Arguments::default(),
        ),
        (
            &Mistral::default(),
            chat(json!({"id": "1", "function": {"name": "f", "arguments": {"a": 1}}})),
            json!({"a": 1}).into(),
        ),
    ];
    for (dialect, response, arguments) in cases {
        let calls = dialect.read(&response).unwrap().calls;
        assert_eq!(heads(&calls), [("1", "f")], "{response}");
        assert_eq!(calls[0].arguments, arguments, "{response}");
    }
}
