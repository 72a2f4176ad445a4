//! Sample responses. All hold the same five calls between other items: one that succeeds, one that
//! fails, one without arguments, one with invalid arguments, one of an unknown tool.

use serde_json::{Value, json};

pub(crate) fn chat() -> Value {
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "gpt-5",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Let me look.",
                "tool_calls": [
                    {"id": "call_A", "type": "function", "function": {
                        "name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"}},
                    {"id": "call_B", "type": "function", "function": {
                        "name": "cancel_booking", "arguments": "{\"id\":5}"}},
                    {"id": "call_C", "type": "function", "function": {
                        "name": "list_alarms", "arguments": ""}},
                    {"id": "call_D", "type": "function", "function": {
                        "name": "get_forecast", "arguments": "{\"days\":2"}},
                    {"id": "call_E", "type": "function", "function": {
                        "name": "get_forcast", "arguments": "{}"}},
                ],
                "refusal": null,
                "annotations": [],
            },
            "logprobs": null,
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99},
    })
}

pub(crate) fn responses() -> Value {
    json!({
        "id": "resp_67ca09c5efe0819096d0511c92b8c890",
        "object": "response",
        "status": "completed",
        "error": null,
        "incomplete_details": null,
        "model": "gpt-5",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAAB0"},
            {"type": "function_call", "id": "fc_1", "call_id": "call_A", "status": "completed",
             "name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
             "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
            {"type": "function_call", "id": "fc_2", "call_id": "call_B", "status": "completed",
             "name": "cancel_booking", "arguments": "{\"id\":5}"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed",
             "action": {"type": "search", "query": "Lisbon"}},
            {"type": "function_call", "id": "fc_3", "call_id": "call_C", "status": "completed",
             "name": "list_alarms", "arguments": "{}"},
            {"type": "function_call", "id": "fc_4", "call_id": "call_D", "status": "incomplete",
             "name": "get_forecast", "arguments": "{\"days\":2"},
            {"type": "function_call", "id": "fc_5", "call_id": "call_E", "status": "completed",
             "name": "get_forcast", "arguments": "{}"},
        ],
        "parallel_tool_calls": true,
    })
}

pub(crate) fn anthropic() -> Value {
    json!({
        "id": "msg_01Aq9w938a90dw8q",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [
            {"type": "thinking", "thinking": "Two things.", "signature": "EqQBCgIYAhIM"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_A", "name": "get_forecast",
             "input": {"city": "Lisbon", "days": 2}},
            {"type": "tool_use", "id": "toolu_B", "name": "cancel_booking", "input": {"id": 5}},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
             "input": {"query": "Lisbon"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "tool_use", "id": "toolu_C", "name": "list_alarms", "input": {}},
            {"type": "tool_use", "id": "toolu_D", "name": "get_forecast", "input": {"days": 2}},
            {"type": "tool_use", "id": "toolu_E", "name": "get_forcast", "input": {}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": null,
        "usage": {"input_tokens": 472, "output_tokens": 187},
    })
}

/// The first call has an id, the others have none.
pub(crate) fn gemini() -> Value {
    json!({
        "candidates": [{
            "content": {
                "role": "model",
                "parts": [
                    {"text": "Let me look.", "thought": true},
                    {"functionCall": {"id": "9f1c", "name": "get_forecast",
                                      "args": {"city": "Lisbon", "days": 2}},
                     "thoughtSignature": "CpcCAdHtim8"},
                    {"functionCall": {"name": "cancel_booking", "args": {"id": 5}}},
                    {"text": "And:"},
                    {"functionCall": {"name": "list_alarms"}},
                    {"functionCall": {"id": "", "name": "get_forecast", "args": {"days": 2}}},
                    {"functionCall": {"name": "get_forcast", "args": {}}},
                ],
            },
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": {"promptTokenCount": 63, "totalTokenCount": 120},
        "modelVersion": "gemini-3-pro",
    })
}

pub(crate) fn gemini_interactions() -> Value {
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "id": id, "name": name, "arguments": arguments});
    json!({
        "id": "v1_ChdjYkdWYXFyR0dxdW5qckVQaUthLTRRURIX",
        "object": "interaction",
        "status": "requires_action",
        "model": "gemini-3.5-flash",
        "created": "2026-08-31T16:53:09Z",
        "updated": "2026-08-31T16:53:09Z",
        "service_tier": "standard",
        "steps": [
            {"type": "thought", "signature": "EqIHCp8HARFNMg9N7XKzshmr",
             "summary": [{"type": "text", "text": "Two things."}]},
            {"type": "model_output", "content": [{"type": "text", "text": "Let me look."}]},
            call("call_A", "get_forecast", json!({"city": "Lisbon", "days": 2})),
            call("call_B", "cancel_booking", json!({"id": 5})),
            {"type": "google_search_call", "id": "gs_1", "arguments": {"queries": ["Lisbon"]}, "signature": "EqIB"},
            {"type": "google_search_result", "call_id": "gs_1", "result": [], "signature": "EqIC"},
            call("call_C", "list_alarms", json!({})),
            call("call_D", "get_forecast", json!({"days": 2})),
            call("call_E", "get_forcast", json!({})),
        ],
        "usage": {"total_tokens": 390, "total_input_tokens": 136, "total_output_tokens": 28,
                  "total_thought_tokens": 226, "total_cached_tokens": 0, "total_tool_use_tokens": 0},
    })
}

/// Client messages whose ids are a number, a text that looks like it, and a text.
pub(crate) fn mcp() -> Value {
    fn call(id: impl Into<Value>, params: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params})
    }
    json!([
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call(7, &json!({"name": "get_forecast", "arguments": {"city": "Lisbon", "days": 2}})),
        call("7", &json!({"name": "cancel_booking", "arguments": {"id": 5}})),
        {"jsonrpc": "2.0", "id": 8, "method": "tools/list"},
        call("c", &json!({"name": "list_alarms"})),
        call(-1, &json!({"name": "get_forecast", "arguments": {"days": 2}})),
        call(0, &json!({"name": "get_forcast", "arguments": {}})),
    ])
}

pub(crate) fn bedrock() -> Value {
    json!({
        "output": {"message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Two things.", "signature": "EqQB"}}},
                {"text": "Let me look."},
                {"toolUse": {"toolUseId": "tooluse_A", "name": "get_forecast",
                             "input": {"city": "Lisbon", "days": 2}}},
                {"toolUse": {"toolUseId": "tooluse_B", "name": "cancel_booking", "input": {"id": 5}}},
                {"toolUse": {"toolUseId": "srv_1", "name": "nova_grounding", "input": {},
                             "type": "server_tool_use"}},
                {"toolResult": {"toolUseId": "srv_1", "content": []}},
                {"toolUse": {"toolUseId": "tooluse_C", "name": "list_alarms", "input": {}}},
                {"toolUse": {"toolUseId": "tooluse_D", "name": "get_forecast", "input": {"days": 2}}},
                {"toolUse": {"toolUseId": "tooluse_E", "name": "get_forcast", "input": {}}},
            ],
        }},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 472, "outputTokens": 187, "totalTokens": 659},
        "metrics": {"latencyMs": 1551},
    })
}

pub(crate) fn cohere() -> Value {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({
        "id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": [
                call("get_forecast_a1", "get_forecast", r#"{"city":"Lisbon","days":2}"#),
                call("cancel_booking_b2", "cancel_booking", r#"{"id":5}"#),
                call("list_alarms_c3", "list_alarms", "{}"),
                call("get_forecast_d4", "get_forecast", r#"{"days":2"#),
                call("get_forcast_e5", "get_forcast", "{}"),
            ],
        },
        "usage": {"tokens": {"input_tokens": 924, "output_tokens": 87}},
    })
}

pub(crate) fn mistral() -> Value {
    let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "function": {"name": name, "arguments": arguments}, "index": 0});
    json!({
        "id": "cmpl-e5cc70bb28c444948073e77776eb30ef",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": "mistral-large-latest",
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    call("aBcD12345", "get_forecast", json!(r#"{"city":"Lisbon","days":2}"#)),
                    call("bBcD12345", "cancel_booking", json!({"id": 5})),
                    call("cBcD12345", "list_alarms", json!("")),
                    call("dBcD12345", "get_forecast", json!(r#"{"days":2"#)),
                    call("eBcD12345", "get_forcast", json!("{}")),
                ],
            },
            "finish_reason": "tool_calls",
        }],
        "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99},
    })
}
