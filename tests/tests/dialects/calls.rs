//! The calls in a response, and what is no response.

use serde_json::{Value, json};
use tool_core::dialect::{
    Anthropic, Bedrock, Cohere, Dialect, Gemini, Mcp, Mistral, OpenAiChat, OpenAiResponses,
};
use tool_core::{Arguments, ToolCall};

use super::{dialects, refusal};

/// Ids and names, in order.
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
        let calls = dialect.calls(&response).unwrap();
        let expected: Vec<_> = ids.into_iter().zip(names).collect();
        assert_eq!(heads(&calls), expected);
    }
}

/// Reading arguments as JSON would refuse a truncated text, which the tool must answer to.
#[test]
fn text_arguments_stay_the_text_that_came() {
    for (dialect, response) in dialects().into_iter().take(2) {
        let calls = dialect.calls(&response).unwrap();
        assert_eq!(calls[3].arguments, Arguments::Text(r#"{"days":2"#.into()));
        assert!(calls[3].parse_error().is_some());
    }
}

#[test]
fn a_response_is_only_read_in_its_own_dialect() {
    // After them come MCP again, and those who share the shape of chat completions.
    let mut dialects = dialects().into_iter().take(8).collect::<Vec<_>>();
    dialects.remove(5);
    // Any array could hold messages of MCP.
    dialects[4].1 = dialects[4].1[1].take();
    for (at, (dialect, _)) in dialects.iter().enumerate() {
        for (other, (_, response)) in dialects.iter().enumerate() {
            let calls = dialect.calls(response);
            assert_eq!(calls.is_ok(), at == other, "{at} reads {other}");
        }
    }
}

#[test]
fn a_response_without_calls_is_no_error() {
    let cases: [(&dyn Dialect, Value); 13] = [
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
            &Gemini::default(),
            json!({"promptFeedback": {"blockReason": "SAFETY"}}),
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
        assert_eq!(dialect.calls(&response), Ok(Vec::new()), "{response}");
    }
}

/// Other servers speak these dialects with an accent. A call that can be made is made.
#[test]
fn odd_arguments_do_not_lose_a_call() {
    let chat = |call: Value| json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let cases: [(&dyn Dialect, Value, Arguments); 9] = [
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
        let calls = dialect.calls(&response).unwrap();
        assert_eq!(heads(&calls), [("1", "f")], "{response}");
        assert_eq!(calls[0].arguments, arguments, "{response}");
    }
}

/// A call that can't be answered must not be dropped in silence: the provider waits for it.
#[test]
fn a_call_without_a_name_or_an_id_is_an_error() {
    let cases: [(&dyn Dialect, Value, &str); 7] = [
        (
            &OpenAiChat::default(),
            json!({"choices": [{"message": {"tool_calls": [{"id": "1", "type": "function"}]}}]}),
            "not a chat completion: a call in `choices[0].message.tool_calls` has no valid `function.name`",
        ),
        (
            &OpenAiResponses::default(),
            json!({"output": [{"type": "function_call", "id": "fc_1", "name": "f"}]}),
            "not a response of OpenAI: a call in `output` has no valid `call_id`",
        ),
        (
            &Anthropic::default(),
            json!({"content": [{"type": "tool_use", "id": null, "name": "f"}]}),
            "not a message of Anthropic: a `tool_use` block in `content` has no valid `id`",
        ),
        (
            &Gemini::default(),
            json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": 1}}]}}]}),
            "not a response of Gemini: a call in `candidates[0].content.parts` has no valid `functionCall.name`",
        ),
        (
            &Mcp::default(),
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "f"}}),
            "not a JSON-RPC request: a `tools/call` has no valid `id`",
        ),
        (
            &Bedrock::default(),
            json!({"output": {"message": {"content": [{"toolUse": {"name": "f", "input": {}}}]}}}),
            "not a response of Converse: a `toolUse` block in `output.message.content` has no valid `toolUse.toolUseId`",
        ),
        (
            &Cohere::default(),
            json!({"message": {"tool_calls": [{"type": "function", "function": {"name": "f"}}]}}),
            "not a response of Cohere: a call in `message.tool_calls` has no valid `id`",
        ),
    ];
    for (dialect, response, sentence) in cases {
        assert_eq!(refusal(dialect, &response), sentence);
    }
}

#[test]
fn what_is_no_response_is_named() {
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
        // A piece of a stream: its calls would go unseen.
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

/// An error that a provider answered with would otherwise read as a missing field.
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
        // It has its output, and no calls in it: the error must come first.
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
        // These put it at the top.
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
