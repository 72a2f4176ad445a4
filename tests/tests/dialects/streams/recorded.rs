//! Streams in the providers' real event formats.

use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) dialect: Box<dyn Dialect>,
    pub(crate) stream: Vec<Value>,
    /// The response as if it had not been streamed.
    pub(crate) response: Value,
    pub(crate) calls: usize,
    /// The event with which the first call is emitted.
    pub(crate) first_call: usize,
    /// The number of events after which the response is complete.
    pub(crate) is_complete_at: usize,
    /// Events that change nothing.
    pub(crate) unknown: Vec<Value>,
    /// Events that end the stream, with a part of the error.
    pub(crate) errors: Vec<(Value, &'static str)>,
    /// `true` if each event with a call has the whole call.
    pub(crate) sends_whole_calls: bool,
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        anthropic(),
        responses(),
        chat("openai-chat", Box::new(OpenAiChat::default())),
        chat("xai", Box::new(XAi::default())),
        mistral(),
        gemini(),
        gemini_interactions(),
        bedrock(),
        cohere(),
    ]
}

pub(crate) fn anthropic() -> Case {
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let json_delta = |index, piece: &str| {
        delta(
            index,
            json!({"type": "input_json_delta", "partial_json": piece}),
        )
    };
    let usage = json!({"input_tokens": 72, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 10,
                       "output_tokens": 2, "service_tier": "standard"});
    let message = json!({"id": "msg_01Aq9w938a90dw8q", "type": "message", "role": "assistant",
        "model": "claude-sonnet-4-5", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let stream = vec![
        json!({"type": "message_start", "message": message}),
        start(
            0,
            json!({"type": "thinking", "thinking": "", "signature": ""}),
        ),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Two "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "things."})),
        delta(
            0,
            json!({"type": "signature_delta", "signature": "EqQBCgIYAhIM"}),
        ),
        stop(0),
        start(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Let me"})),
        delta(1, json!({"type": "text_delta", "text": " look."})),
        delta(
            1,
            json!({"type": "citations_delta", "citation": {"type": "web_search_result_location", "url": "https://example.org",
            "cited_text": "It is", "encrypted_index": "Eo8B", "title": "Lisbon"}}),
        ),
        stop(1),
        start(
            2,
            json!({"type": "tool_use", "id": "toolu_A", "name": "get_forecast", "input": {}}),
        ),
        json_delta(2, ""),
        json_delta(2, "{\"city\":"),
        json_delta(2, " \"Lis"),
        json_delta(2, "bon\", \"days\": 2}"),
        stop(2),
        start(
            3,
            json!({"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"}),
        ),
        stop(3),
        start(
            4,
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        ),
        json_delta(4, "{\"query\": \"Lisbon\"}"),
        stop(4),
        start(
            5,
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
        ),
        stop(5),
        start(
            6,
            json!({"type": "tool_use", "id": "toolu_C", "name": "list_alarms", "input": {}}),
        ),
        json_delta(6, ""),
        stop(6),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
               "usage": {"output_tokens": 17}}),
        json!({"type": "message_stop"}),
    ];
    let response = json!({"id": "msg_01Aq9w938a90dw8q", "type": "message", "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [
            {"type": "thinking", "thinking": "Two things.", "signature": "EqQBCgIYAhIM"},
            {"type": "text", "text": "Let me look.",
             "citations": [{"type": "web_search_result_location", "url": "https://example.org",
            "cited_text": "It is", "encrypted_index": "Eo8B", "title": "Lisbon"}]},
            {"type": "tool_use", "id": "toolu_A", "name": "get_forecast", "input": {"city": "Lisbon", "days": 2}},
            {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix"},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Lisbon"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "tool_use", "id": "toolu_C", "name": "list_alarms", "input": {}},
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 72, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 10,
                  "output_tokens": 17, "service_tier": "standard"}});
    Case {
        name: "anthropic",
        dialect: Box::new(Anthropic::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 2,
        first_call: 17,
        unknown: vec![
            json!({"type": "ping"}),
            json!({"type": "vault_event", "index": 3}),
        ],
        errors: vec![(
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "overloaded_error: Overloaded",
        )],
        sends_whole_calls: false,
    }
}

pub(crate) fn responses() -> Case {
    let item = |kind: &str, index: u64, item: &Value| json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item});
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAAAAB0",
        "summary": [{"type": "summary_text", "text": "Two things."}]});
    let text =
        json!({"type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": []});
    let message = json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [text]});
    let forecast = json!({"type": "function_call", "id": "fc_1", "call_id": "call_A", "status": "completed",
        "name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "Lisbon"}});
    let alarms = json!({"type": "function_call", "id": "fc_2", "call_id": "call_C", "status": "completed",
        "name": "list_alarms", "arguments": ""});
    let second = json!({"type": "message", "id": "msg_2", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": "And then.", "annotations": [], "logprobs": []}]});
    let with = |item: &Value, key: &str, value: Value| {
        let mut item = item.clone();
        item[key] = value;
        item["status"] = "in_progress".into();
        item
    };
    let response = json!({"id": "resp_67ca09c5efe0819096d0511c92b8c890", "object": "response",
        "status": "completed", "error": null, "incomplete_details": null, "model": "gpt-5", "created_at": 1_741_569_952, "tools": [], "tool_choice": "auto",
        "output": [reasoning, message, forecast, search, alarms, second],
        "usage": {"input_tokens": 82, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                  "output_tokens": 17, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 99},
        "parallel_tool_calls": true});
    let mut begun = response.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let arguments = |piece: &str| {
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1",
        "output_index": 2, "delta": piece})
    };
    let delta = |index: u64, piece: &str| {
        json!({"type": "response.output_text.delta", "item_id": "msg_1",
        "output_index": index, "content_index": 0, "delta": piece, "logprobs": []})
    };
    let mut stream = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
        item(
            "added",
            0,
            &json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        ),
        json!({"type": "response.reasoning_summary_part.added", "item_id": "rs_1", "output_index": 0,
               "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0,
               "summary_index": 0, "delta": "Two things."}),
        json!({"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "output_index": 0,
               "summary_index": 0, "text": "Two things."}),
        item("done", 0, &reasoning),
        item("added", 1, &with(&message, "content", json!([]))),
        json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 1, "content_index": 0,
               "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}}),
        delta(1, "Let me"),
        delta(1, " look."),
        json!({"type": "response.output_text.done", "item_id": "msg_1", "output_index": 1, "content_index": 0,
               "text": "Let me look.", "logprobs": []}),
        json!({"type": "response.content_part.done", "item_id": "msg_1", "output_index": 1, "content_index": 0,
               "part": text}),
        item("done", 1, &message),
        item("added", 2, &with(&forecast, "arguments", json!(""))),
        arguments("{\"city\":\"Lis"),
        arguments("bon\",\"days\":2}"),
        json!({"type": "response.function_call_arguments.done", "item_id": "fc_1", "output_index": 2,
               "arguments": "{\"city\":\"Lisbon\",\"days\":2}"}),
        item("done", 2, &forecast),
        item("added", 3, &with(&search, "status", Value::Null)),
        json!({"type": "response.web_search_call.in_progress", "item_id": "ws_1", "output_index": 3}),
        json!({"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 3}),
        json!({"type": "response.web_search_call.completed", "item_id": "ws_1", "output_index": 3}),
        item("done", 3, &search),
        item("added", 4, &with(&alarms, "arguments", json!(""))),
        item("done", 4, &alarms),
        item("added", 5, &with(&second, "content", json!([]))),
        json!({"type": "response.content_part.added", "item_id": "msg_2", "output_index": 5, "content_index": 0,
               "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []}}),
        delta(5, "And then."),
        item("done", 5, &second),
        json!({"type": "response.completed", "response": response}),
    ];
    for (number, event) in stream.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    Case {
        name: "openai-responses",
        dialect: Box::new(OpenAiResponses::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 2,
        first_call: 18,
        unknown: vec![
            json!({"type": "keepalive", "sequence_number": 3}),
            json!({"type": "response.vault.opened", "sequence_number": 3}),
        ],
        errors: vec![
            (
                json!({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": null}),
                "rate_limit_exceeded: Slow down",
            ),
            (
                json!({"type": "response.failed", "response": {"status": "failed",
                    "error": {"code": "server_error", "message": "It broke"}}}),
                "server_error: It broke",
            ),
        ],
        sends_whole_calls: true,
    }
}

pub(crate) fn chat(name: &'static str, dialect: Box<dyn Dialect>) -> Case {
    let chunk = |choices: Value, usage: Value| {
        json!({"id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion.chunk", "created": 1_741_569_952, "model": "gpt-5",
        "service_tier": "default", "system_fingerprint": "fp_44709d6fcb", "choices": choices, "usage": usage})
    };
    let delta = |delta: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]),
            Value::Null,
        )
    };
    let piece = |index: u64, piece: &str| {
        delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    };
    let call = |index: u64, id: &str, name: &str, arguments: &str| {
        delta(json!({"tool_calls": [
        {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]}))
    };
    let usage = json!({"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99});
    let stream = vec![
        delta(json!({"role": "assistant", "content": "", "refusal": null})),
        delta(json!({"reasoning_content": "Two "})),
        delta(json!({"reasoning_content": "things."})),
        delta(json!({"content": "Let me"})),
        delta(json!({"content": " look."})),
        call(0, "call_A", "get_forecast", ""),
        piece(0, "{\"city\""),
        piece(0, ":\"Lisbon\""),
        piece(0, ",\"days\":2}"),
        call(1, "call_B", "cancel_booking", ""),
        piece(1, "{\"id\":5}"),
        call(2, "call_C", "list_alarms", ""),
        chunk(
            json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "tool_calls"}]),
            Value::Null,
        ),
        chunk(json!([]), usage.clone()),
    ];
    let response = json!({"id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion", "created": 1_741_569_952, "model": "gpt-5",
        "service_tier": "default", "system_fingerprint": "fp_44709d6fcb",
        "choices": [{"index": 0, "logprobs": null, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Let me look.", "refusal": null, "reasoning_content": "Two things.",
            "tool_calls": [
                {"id": "call_A", "type": "function",
                 "function": {"name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"}},
                {"id": "call_B", "type": "function", "function": {"name": "cancel_booking", "arguments": "{\"id\":5}"}},
                {"id": "call_C", "type": "function", "function": {"name": "list_alarms", "arguments": ""}},
            ]}}],
        "usage": usage});
    Case {
        name,
        dialect,
        is_complete_at: 13,
        stream,
        response,
        calls: 3,
        first_call: 9,
        unknown: vec![chunk(json!([]), Value::Null)],
        errors: vec![(
            json!({"error": {"message": "Upstream is down", "type": "server_error", "code": 502}}),
            "502: Upstream is down",
        )],
        sends_whole_calls: false,
    }
}

pub(crate) fn mistral() -> Case {
    let chunk = |delta: Value, stop: Value, usage: Value| {
        let mut chunk = json!({"id": "cmpl-e5cc70bb28c444948073e77776eb30ef", "object": "chat.completion.chunk",
            "created": 1_741_569_952, "model": "magistral-medium-latest",
            "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]});
        if usage.is_object() {
            chunk["usage"] = usage;
        }
        chunk
    };
    let delta = |delta: Value| chunk(delta, Value::Null, Value::Null);
    let thought = |text: &str| {
        delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}),
        )
    };
    let usage = json!({"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99});
    let calls = json!([
        {"id": "aBcD12345", "function": {"name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"}, "index": 0},
        {"id": "bBcD12345", "function": {"name": "list_alarms", "arguments": "{}"}, "index": 1},
    ]);
    let stream = vec![
        delta(json!({"role": "assistant", "content": ""})),
        thought("Two "),
        thought("things."),
        delta(json!({"content": "Let me"})),
        delta(json!({"content": " look."})),
        chunk(
            json!({"content": "", "tool_calls": calls}),
            json!("tool_calls"),
            usage.clone(),
        ),
    ];
    let response = json!({"id": "cmpl-e5cc70bb28c444948073e77776eb30ef", "object": "chat.completion",
        "created": 1_741_569_952, "model": "magistral-medium-latest",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Two things."}]},
                {"type": "text", "text": "Let me look."},
            ],
            "tool_calls": calls}}],
        "usage": usage});
    Case {
        name: "mistral",
        dialect: Box::new(Mistral::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 2,
        first_call: 6,
        unknown: vec![json!({"choices": []})],
        errors: vec![(
            json!({"object": "error", "message": "Service tier exceeded", "code": "3505"}),
            "3505: Service tier exceeded",
        )],
        sends_whole_calls: true,
    }
}

pub(crate) fn gemini() -> Case {
    let usage = json!({"promptTokenCount": 82, "candidatesTokenCount": 12, "thoughtsTokenCount": 5, "totalTokenCount": 99});
    let chunk = |parts: Value, stop: Option<&str>, usage: &Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let Some(stop) = stop {
            candidate["finishReason"] = stop.into();
        }
        json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "r1"})
    };
    let early = json!({"promptTokenCount": 82, "totalTokenCount": 82});
    let stream = vec![
        chunk(json!([{"text": "Two ", "thought": true}]), None, &early),
        chunk(json!([{"text": "things.", "thought": true}]), None, &early),
        chunk(json!([{"text": "Let me"}]), None, &early),
        chunk(json!([{"text": " look."}]), None, &early),
        chunk(
            json!([{"functionCall": {"name": "get_forecast", "args": {"city": "Lisbon", "days": 2}},
                      "thoughtSignature": "CpcCAdHtim8"}]),
            None,
            &early,
        ),
        chunk(
            json!([{"functionCall": {"id": "9f1c", "name": "cancel_booking", "args": {"id": 5}}},
                     {"functionCall": {"name": "list_alarms"}}]),
            None,
            &early,
        ),
        chunk(
            json!([{"text": "", "thoughtSignature": "Dq9k"}]),
            Some("STOP"),
            &usage,
        ),
    ];
    let response = json!({
        "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
            {"text": "Two things.", "thought": true},
            {"text": "Let me look."},
            {"functionCall": {"name": "get_forecast", "args": {"city": "Lisbon", "days": 2}},
             "thoughtSignature": "CpcCAdHtim8"},
            {"functionCall": {"id": "9f1c", "name": "cancel_booking", "args": {"id": 5}}},
            {"functionCall": {"name": "list_alarms"}},
            {"text": "", "thoughtSignature": "Dq9k"},
        ]}}],
        "usageMetadata": usage, "modelVersion": "gemini-3-pro", "responseId": "r1"});
    Case {
        name: "gemini",
        dialect: Box::new(Gemini::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 3,
        first_call: 5,
        unknown: vec![json!({"candidates": []}), json!({})],
        errors: vec![(
            json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}),
            "UNAVAILABLE: The model is overloaded.",
        )],
        sends_whole_calls: true,
    }
}

pub(crate) fn gemini_interactions() -> Case {
    let start = |index: u64, step: &Value| json!({"event_type": "step.start", "index": index, "step": step});
    let delta = |index: u64, delta: Value| json!({"event_type": "step.delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"event_type": "step.stop", "index": index});
    let summary = |piece: &str| {
        delta(
            0,
            json!({"type": "thought_summary", "content": {"type": "text", "text": piece}}),
        )
    };
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "id": id, "name": name, "arguments": arguments});
    let citation = json!({"type": "url_citation", "url": "https://example.org", "title": "Lisbon",
        "start_index": 0, "end_index": 3});
    let usage = json!({"total_tokens": 99, "total_input_tokens": 82, "total_cached_tokens": 0,
        "total_output_tokens": 12, "total_tool_use_tokens": 0, "total_thought_tokens": 5,
        "input_tokens_by_modality": [{"modality": "text", "tokens": 82}]});
    let begun = json!({"id": "v1_ChdjYkdW", "status": "in_progress", "object": "interaction", "model": "gemini-3.5-flash"});
    let mut ended = begun.clone();
    ended["status"] = "requires_action".into();
    ended["usage"] = usage.clone();
    ended["created"] = "2026-08-31T16:53:12Z".into();
    ended["updated"] = "2026-08-31T16:53:12Z".into();
    ended["service_tier"] = "standard".into();
    let search = json!({"queries": ["Lisbon"]});
    let found = json!([{"search_suggestions": "<div>Lisbon</div>"}]);
    let stream = vec![
        json!({"event_type": "interaction.created", "interaction": begun}),
        json!({"event_type": "interaction.status_update", "interaction_id": "v1_ChdjYkdW", "status": "in_progress"}),
        start(0, &json!({"type": "thought"})),
        summary("Two "),
        summary("things."),
        delta(
            0,
            json!({"type": "thought_signature", "signature": "EqQICqEIARFNMg=="}),
        ),
        stop(0),
        start(1, &json!({"type": "model_output"})),
        delta(1, json!({"type": "text", "text": "Let me"})),
        delta(1, json!({"type": "text", "text": " look."})),
        delta(
            1,
            json!({"type": "text_annotation_delta", "annotations": [citation]}),
        ),
        delta(
            1,
            json!({"type": "image", "data": "cG5n", "mime_type": "image/png"}),
        ),
        stop(1),
        start(2, &call("call_63237", "get_forecast", json!({}))),
        delta(
            2,
            json!({"type": "arguments_delta", "arguments": "{\"city\":\"Lis"}),
        ),
        delta(
            2,
            json!({"type": "arguments_delta", "arguments": "bon\",\"days\":2}"}),
        ),
        stop(2),
        start(
            3,
            &json!({"type": "google_search_call", "id": "gs_1", "arguments": {}}),
        ),
        delta(
            3,
            json!({"type": "google_search_call", "arguments": search, "signature": "EqIB"}),
        ),
        stop(3),
        start(
            4,
            &json!({"type": "google_search_result", "call_id": "gs_1", "result": []}),
        ),
        delta(
            4,
            json!({"type": "google_search_result", "result": found, "signature": "EqIC"}),
        ),
        stop(4),
        start(5, &json!({"type": "model_output"})),
        delta(5, json!({"type": "text", "text": "And then."})),
        stop(5),
        start(6, &call("call_63238", "list_alarms", json!({}))),
        stop(6),
        json!({"event_type": "interaction.completed", "interaction": ended}),
    ];
    let mut response = ended;
    response["steps"] = json!([
        {"type": "thought", "signature": "EqQICqEIARFNMg==", "summary": [{"type": "text", "text": "Two things."}]},
        {"type": "model_output", "content": [
            {"type": "text", "text": "Let me look.", "annotations": [citation]},
            {"type": "image", "data": "cG5n", "mime_type": "image/png"},
        ]},
        call("call_63237", "get_forecast", json!({"city": "Lisbon", "days": 2})),
        {"type": "google_search_call", "id": "gs_1", "arguments": search, "signature": "EqIB"},
        {"type": "google_search_result", "call_id": "gs_1", "result": found, "signature": "EqIC"},
        {"type": "model_output", "content": [{"type": "text", "text": "And then."}]},
        call("call_63238", "list_alarms", json!({})),
    ]);
    Case {
        name: "gemini-interactions",
        dialect: Box::new(GeminiInteractions::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 2,
        first_call: 16,
        unknown: vec![json!({"event_type": "vault.opened", "index": 1})],
        errors: vec![
            (
                json!({"event_type": "error", "error": {"code": "overloaded", "message": "The model is overloaded."}}),
                "overloaded: The model is overloaded.",
            ),
            (
                json!({"event_type": "interaction.completed", "interaction": {"id": "v1", "status": "failed",
                    "errors": [{"code": "tool_failed", "message": "It broke."}]}}),
                "Gemini's interaction failed: tool_failed: It broke.",
            ),
        ],
        sends_whole_calls: false,
    }
}

pub(crate) fn bedrock() -> Case {
    let delta = |index: u64, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
    let start = |index: u64, start: Value| json!({"contentBlockStart": {"contentBlockIndex": index, "start": start}});
    let stop = |index: u64| json!({"contentBlockStop": {"contentBlockIndex": index}});
    let input = |index, piece: &str| delta(index, json!({"toolUse": {"input": piece}}));
    let usage = json!({"inputTokens": 82, "outputTokens": 17, "totalTokens": 99});
    let stream = vec![
        json!({"messageStart": {"role": "assistant"}}),
        delta(0, json!({"reasoningContent": {"text": "Two "}})),
        delta(0, json!({"reasoningContent": {"text": "things."}})),
        delta(0, json!({"reasoningContent": {"signature": "EqQB"}})),
        stop(0),
        delta(1, json!({"text": "Let me"})),
        delta(1, json!({"text": " look."})),
        stop(1),
        start(
            2,
            json!({"toolUse": {"toolUseId": "tooluse_A", "name": "get_forecast"}}),
        ),
        input(2, "{\"city\":\"Lis"),
        input(2, "bon\",\"days\":2}"),
        stop(2),
        start(
            3,
            json!({"toolUse": {"toolUseId": "srv_1", "name": "nova_grounding", "type": "server_tool_use"}}),
        ),
        input(3, "{\"q\":1}"),
        stop(3),
        start(
            4,
            json!({"toolResult": {"toolUseId": "srv_1", "type": "nova_grounding_result", "status": "success"}}),
        ),
        delta(4, json!({"toolResult": [{"text": "Su"}]})),
        delta(
            4,
            json!({"toolResult": [{"text": "nny"}, {"json": {"a": 1}}]}),
        ),
        stop(4),
        delta(5, json!({"text": "It is sunny."})),
        delta(
            5,
            json!({"citation": {"location": {"web": {"url": "u", "domain": "d"}}}}),
        ),
        stop(5),
        start(
            6,
            json!({"toolUse": {"toolUseId": "tooluse_C", "name": "list_alarms"}}),
        ),
        stop(6),
        json!({"messageStop": {"stopReason": "tool_use"}}),
        json!({"metadata": {"usage": usage, "metrics": {"latencyMs": 1551}}}),
    ];
    let response = json!({
        "output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Two things.", "signature": "EqQB"}}},
            {"text": "Let me look."},
            {"toolUse": {"toolUseId": "tooluse_A", "name": "get_forecast", "input": {"city": "Lisbon", "days": 2}}},
            {"toolUse": {"toolUseId": "srv_1", "name": "nova_grounding", "type": "server_tool_use", "input": {"q": 1}}},
            {"toolResult": {"toolUseId": "srv_1", "type": "nova_grounding_result", "status": "success",
                            "content": [{"text": "Sunny"}, {"json": {"a": 1}}]}},
            {"citationsContent": {"content": [{"text": "It is sunny."}],
                                  "citations": [{"location": {"web": {"url": "u", "domain": "d"}}}]}},
            {"toolUse": {"toolUseId": "tooluse_C", "name": "list_alarms", "input": {}}},
        ]}},
        "stopReason": "tool_use", "usage": usage, "metrics": {"latencyMs": 1551}});
    Case {
        name: "bedrock",
        dialect: Box::new(Bedrock::default()),
        is_complete_at: 25,
        stream,
        response,
        calls: 2,
        first_call: 11,
        unknown: vec![json!({"vaultEvent": {}})],
        errors: vec![
            (
                json!({"throttlingException": {"message": "Too many requests"}}),
                "throttlingException: Too many requests",
            ),
            (
                json!({"modelStreamErrorException": {"message": "It broke", "originalStatusCode": 500}}),
                "It broke",
            ),
        ],
        sends_whole_calls: false,
    }
}

pub(crate) fn cohere() -> Case {
    let message = |kind: &str, index: u64, message: Value| json!({"type": kind, "index": index, "delta": {"message": message}});
    let plan =
        |text: &str| json!({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}});
    let end = |kind: &str, index: u64| json!({"type": kind, "index": index});
    let call = |index, id: &str, name: &str| {
        message(
            "tool-call-start",
            index,
            json!({"tool_calls":
        {"id": id, "type": "function", "function": {"name": name, "arguments": ""}}}),
        )
    };
    let piece = |index, piece: &str| {
        message(
            "tool-call-delta",
            index,
            json!({"tool_calls": {"function": {"arguments": piece}}}),
        )
    };
    let usage = json!({"billed_units": {"input_tokens": 30, "output_tokens": 17},
                       "tokens": {"input_tokens": 82, "output_tokens": 17}});
    let citation =
        json!({"start": 0, "end": 3, "text": "Let", "sources": [], "type": "TEXT_CONTENT"});
    let stream = vec![
        json!({"id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "type": "message-start", "delta": {"message": {
            "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}}}),
        message(
            "content-start",
            0,
            json!({"content": {"type": "thinking", "thinking": ""}}),
        ),
        message("content-delta", 0, json!({"content": {"thinking": "Two "}})),
        message(
            "content-delta",
            0,
            json!({"content": {"thinking": "things."}}),
        ),
        end("content-end", 0),
        message(
            "content-start",
            1,
            json!({"content": {"type": "text", "text": ""}}),
        ),
        message("content-delta", 1, json!({"content": {"text": "Let me"}})),
        message("content-delta", 1, json!({"content": {"text": " look."}})),
        message("citation-start", 0, json!({"citations": citation})),
        end("citation-end", 0),
        end("content-end", 1),
        plan("I will"),
        plan(" look."),
        call(0, "get_forecast_a1", "get_forecast"),
        piece(0, "{\"city\":\"Lis"),
        piece(0, "bon\",\"days\":2}"),
        end("tool-call-end", 0),
        call(1, "list_alarms_c3", "list_alarms"),
        end("tool-call-end", 1),
        json!({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}}),
    ];
    let response = json!({
    "id": "c14c80c3-18eb-4519-9460-6c92edd8cfb4", "finish_reason": "TOOL_CALL", "usage": usage,
    "message": {"role": "assistant", "tool_plan": "I will look.",
        "content": [{"type": "thinking", "thinking": "Two things."}, {"type": "text", "text": "Let me look."}],
        "citations": [citation],
        "tool_calls": [
            {"id": "get_forecast_a1", "type": "function",
             "function": {"name": "get_forecast", "arguments": "{\"city\":\"Lisbon\",\"days\":2}"}},
            {"id": "list_alarms_c3", "type": "function", "function": {"name": "list_alarms", "arguments": ""}},
        ]}});
    Case {
        name: "cohere",
        dialect: Box::new(Cohere::default()),
        is_complete_at: stream.len(),
        stream,
        response,
        calls: 2,
        first_call: 16,
        unknown: vec![
            json!({"type": "vault-opened", "index": 1}),
            json!({"type": "debug", "prompt": "p"}),
        ],
        errors: vec![
            (
                json!({"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "It broke"}}),
                "It broke",
            ),
            (json!({"message": "too many requests"}), "too many requests"),
        ],
        sends_whole_calls: false,
    }
}
