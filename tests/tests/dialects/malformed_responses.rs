//! Malformed responses and calls: each gets its own message.

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses,
};

use super::refusal;

/// A call that cannot be answered must not be dropped silently: the provider waits for it.
#[test]
fn a_call_without_a_name_is_an_error() {
    let cases: [(&dyn Dialect, Value, &str); 4] = [
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
        (
            &GeminiInteractions::default(),
            json!({"steps": [{"type": "function_call", "id": "1", "arguments": {}}]}),
            "not an interaction of Gemini: a call in `steps` has no valid `name`",
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
    let cases: [(&dyn Dialect, Value, &str); 15] = [
        (
            &OpenAiChat::default(),
            json!({"choices": []}),
            "not a chat completion: `choices` is empty: there is no answer; repeat the request",
        ),
        (
            &Gemini::default(),
            json!({"candidates": []}),
            "not a response of Gemini: `candidates` is empty: there is no answer; repeat the request",
        ),
        (
            &OpenAiChat::default(),
            json!({"id": "chatcmpl-1"}),
            "not a chat completion: `choices` is missing; it has `id`; check that the dialect is the server's",
        ),
        (
            &OpenAiChat::default(),
            json!("choices"),
            "not a chat completion: `choices` is missing; it is \"choices\"; check that the dialect is the server's",
        ),
        // A stream chunk: its calls would be missed.
        (
            &OpenAiChat::default(),
            json!({"object": "chat.completion.chunk", "choices": [{"delta": {"tool_calls": []}}]}),
            "not a chat completion: it is an event of a stream, which the reader of `Dialect::stream` takes",
        ),
        (
            &OpenAiResponses::default(),
            json!({"type": "response.completed", "response": {"output": []}}),
            "not a response of OpenAI: `output` is missing; it has `response`, `type`; check that the dialect is the server's",
        ),
        (
            &Anthropic::default(),
            json!({"role": "assistant", "content": "Hi"}),
            "not a message of Anthropic: `content` is not an array",
        ),
        (
            &Gemini::default(),
            json!([{"candidates": []}]),
            "not a response of Gemini: `candidates` is missing; it is [{\"candidates\":[]}]; check that the dialect is the server's",
        ),
        // The form before the revision of May 2026.
        (
            &GeminiInteractions::default(),
            json!({"outputs": [{"type": "text", "text": "Hi"}]}),
            "not an interaction of Gemini: `steps` is missing; it has `outputs`; check that the dialect is the server's",
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "completed", "steps": {}}),
            "not an interaction of Gemini: `steps` is not an array",
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "in_progress", "steps": []}),
            "not an interaction of Gemini: it has not ended, its status is `in_progress`; request it without `background`, \
             or read it when it has ended",
        ),
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
            "not a JSON-RPC request: `method` is missing; it has `id`, `jsonrpc`, `result`; check that the dialect is the server's",
        ),
        (
            &Mcp::default(),
            json!(["tools/call"]),
            "not a JSON-RPC request: an item of the array is not an object",
        ),
        (
            &Bedrock::default(),
            json!({"stopReason": "end_turn"}),
            "not a response of Converse: `output` is missing; it has `stopReason`; check that the dialect is the server's",
        ),
        (
            &Cohere::default(),
            json!({"finish_reason": "COMPLETE"}),
            "not a response of Cohere: `message` is missing; it has `finish_reason`; check that the dialect is the server's",
        ),
    ];
    for (dialect, response, sentence) in cases {
        assert_eq!(refusal(dialect, &response), sentence);
    }
}

/// The response and the first event of the stream of each provider, read by the dialects of all others.
#[test]
fn the_response_of_another_provider_is_recognized() {
    let forms: [(&dyn Dialect, Value, Value, &str); 7] = [
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"role": "assistant", "content": "Hi"}}]}),
            json!({"choices": [{"index": 0, "delta": {"content": "Hi"}}]}),
            "OpenAI's Chat Completions API: the dialect `OpenAiChat` reads it",
        ),
        (
            &OpenAiResponses::default(),
            json!({"output": [], "status": "completed"}),
            json!({"type": "response.created", "response": {"id": "resp_1"}}),
            "OpenAI's Responses API: the dialect `OpenAiResponses` reads it",
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "tool_use", "id": "t", "name": "add", "input": {}}],
                   "stop_reason": "tool_use"}),
            json!({"type": "message_start", "message": {"role": "assistant", "content": []}}),
            "Anthropic's Messages API: the dialect `Anthropic` reads it",
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}),
            "the Gemini API: the dialect `Gemini` reads it",
        ),
        (
            &GeminiInteractions::default(),
            json!({"status": "completed", "steps": []}),
            json!({"event_type": "interaction.created", "interaction": {"status": "in_progress"}}),
            "the Interactions API of Gemini: the dialect `GeminiInteractions` reads it",
        ),
        (
            &Bedrock::default(),
            json!({"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}}),
            json!({"messageStart": {"role": "assistant"}}),
            "Amazon Bedrock's Converse: the dialect `Bedrock` reads it",
        ),
        (
            &Cohere::default(),
            json!({"message": {"role": "assistant"}, "finish_reason": "COMPLETE"}),
            json!({"type": "message-start", "delta": {"message": {"role": "assistant"}}}),
            "Cohere's Chat API: the dialect `Cohere` reads it",
        ),
    ];
    for (own, response, event, api) in &forms {
        assert!(own.read(response).is_ok(), "{api}");
        for (other, ..) in &forms {
            let is_own = other.provider() == own.provider();
            let mut reader = other.stream();
            let read = reader.event(event);
            let streamed = match read {
                Err(error) => error,
                // Without the end of the stream.
                Ok(_) => reader.finish().unwrap_err(),
            };
            let (is_told, streamed_end) = (!is_own, streamed.to_string());
            assert_eq!(streamed_end.contains(api), is_told, "{streamed_end}");
            assert_eq!(streamed.is_incomplete(), is_own, "{streamed_end}");
            if !is_own {
                let sentence = refusal(*other, response);
                assert!(sentence.ends_with(api), "{sentence}");
            }
        }
    }
    let ollama = json!({"model": "qwen3", "message": {"role": "assistant"}, "done": true});
    let sentence = refusal(&OpenAiChat::default(), &ollama);
    assert!(sentence.contains("Ollama's own API"), "{sentence}");
}

/// An error from the provider would otherwise read as a missing field.
#[test]
fn a_providers_own_error_is_passed_on() {
    let cases: [(&dyn Dialect, Value, &str); 10] = [
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
            &GeminiInteractions::default(),
            json!({"error": {"code": "invalid_request", "message": "Unknown model."}}),
            "not an interaction of Gemini: the provider answered with the error invalid_request: Unknown model.",
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
