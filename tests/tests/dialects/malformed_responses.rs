//! Malformed responses and calls: each gets its own message.

use serde_json::{Value, json};
use tool_core::dialect::{
    Anthropic, Bedrock, Cohere, Dialect, Gemini, Mcp, Mistral, OpenAiChat, OpenAiResponses,
};

use super::refusal;

/// A call that cannot be answered must not be dropped silently: the provider waits for it.
#[test]
fn a_call_without_a_name_is_an_error() {
    let cases: [(&dyn Dialect, Value, &str); 3] = [
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"tool_calls": [{"id": "1", "type": "function"}]}}]}),
            "not a chat completion: a call in `choices[0].message.tool_calls` has no valid `function.name`",
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": 1}}]}}]}),
            "not a response of Gemini: a call in `candidates[0].content.parts` has no valid `functionCall.name`",
        ),
        // The client would not know which of its requests is answered.
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "f"}}),
            "not a JSON-RPC request: a `tools/call` has no valid `id`",
        ),
    ];
    for (dialect, response, sentence) in cases {
        assert_eq!(refusal(dialect, &response), sentence);
    }
}

#[test]
fn malformed_responses_are_described() {
    let cases: [(&dyn Dialect, Value, &str); 12] = [
        (
            &OpenAiChat::default(),
            json!({"choices": []}),
            "not a chat completion: `choices` is empty",
        ),
        (
            &Gemini::default(),
            json!({"candidates": []}),
            "not a response of Gemini: `candidates` is empty",
        ),
        (
            &OpenAiChat::default(),
            json!({"id": "chatcmpl-1"}),
            "not a chat completion: `choices` is missing",
        ),
        (
            &OpenAiChat::default(),
            json!("choices"),
            "not a chat completion: the JSON is not an object",
        ),
        // A stream chunk: its calls would be missed.
        (
            &OpenAiChat::default(),
            json!({"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": []}}]}),
            "not a chat completion: `choices[0].message` is missing",
        ),
        (
            &OpenAiResponses::default(),
            json!({"type": "response.completed", "response": {"output": []}}),
            "not a response of OpenAI: `output` is missing",
        ),
        (
            &Anthropic::default(),
            json!({"role": "assistant", "content": "Hi"}),
            "not a message of Anthropic: `content` is not an array",
        ),
        (
            &Gemini::default(),
            json!([{"candidates": []}]),
            "not a response of Gemini: the JSON is not an object",
        ),
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
            "not a JSON-RPC request: `method` is missing",
        ),
        (
            &Mcp::default(),
            json!(["tools/call"]),
            "not a JSON-RPC request: an item of the array is not an object",
        ),
        (
            &Bedrock::default(),
            json!({"stopReason": "end_turn"}),
            "not a response of Converse: `output` is missing",
        ),
        (
            &Cohere::default(),
            json!({"finish_reason": "COMPLETE"}),
            "not a response of Cohere: `message` is missing",
        ),
    ];
    for (dialect, response, sentence) in cases {
        assert_eq!(refusal(dialect, &response), sentence);
    }
}

/// An error from the provider would otherwise read as a missing field.
#[test]
fn a_providers_own_error_is_passed_on() {
    let cases: [(&dyn Dialect, Value, &str); 9] = [
        (
            &OpenAiChat::default(),
            json!({"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error",
                             "param": null, "code": "invalid_api_key"}}),
            "not a chat completion: the provider answered with the error invalid_api_key: Incorrect API key provided.",
        ),
        (
            &OpenAiChat::default(),
            json!({"error": "model not found"}),
            "not a chat completion: the provider answered with the error model not found",
        ),
        // It has an output without calls: the error must be checked first.
        (
            &OpenAiResponses::default(),
            json!({"object": "response", "status": "failed", "output": [],
                   "error": {"code": "server_error", "message": "The model failed."}}),
            "not a response of OpenAI: the provider answered with the error server_error: The model failed.",
        ),
        (
            &Anthropic::default(),
            json!({"type": "error", "request_id": "req_1",
                   "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "not a message of Anthropic: the provider answered with the error overloaded_error: Overloaded",
        ),
        (
            &Gemini::default(),
            json!({"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}),
            "not a response of Gemini: the provider answered with the error INVALID_ARGUMENT: API key not valid.",
        ),
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}),
            "not a JSON-RPC request: the provider answered with the error -32601: Method not found",
        ),
        // These providers put the error at the top level.
        (
            &Bedrock::default(),
            json!({"message": "The toolConfig field must be defined."}),
            "not a response of Converse: the provider answered with the error The toolConfig field must be defined.",
        ),
        (
            &Cohere::default(),
            json!({"id": "c14c", "message": "invalid request: all tools need a required parameter"}),
            "not a response of Cohere: the provider answered with the error invalid request: all tools need a required parameter",
        ),
        (
            &Mistral::default(),
            json!({"object": "error", "message": "Invalid model", "type": "invalid_model", "code": "1500"}),
            "not a chat completion of Mistral: the provider answered with the error 1500: Invalid model",
        ),
    ];
    for (dialect, response, sentence) in cases {
        assert_eq!(refusal(dialect, &response), sentence);
    }
}
