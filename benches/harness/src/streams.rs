//! Streamed responses, in the formats of four providers.

/// The formats.
pub const FORMS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

/// The pieces of an answer.
const PIECES: usize = 200;
/// The calls of a response, and the pieces of the arguments of each.
const CALLS: usize = 2;
const ARGUMENTS: [&str; 50] = {
    let mut pieces = [" and"; 50];
    pieces[0] = r#"{\""#;
    pieces[1] = "query";
    pieces[2] = r#"\":\""#;
    pieces[49] = r#"\"}"#;
    pieces
};

/// Returns a response that answers with a message, each event as the bytes of a server-sent event.
pub fn text(form: &str) -> Vec<String> {
    let words = [
        " the",
        " forecast",
        " for",
        " Lisbon",
        ",",
        " Portugal",
        " is",
        " sunny",
    ];
    let pieces = words.into_iter().cycle().take(PIECES);
    match form {
        "openai-chat" => chat(
            pieces.map(|piece| format!(r#"{{"content":"{piece}"}}"#)),
            "stop",
        ),
        "openai-responses" => {
            let item = r#"{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}"#;
            let deltas = pieces.enumerate().map(|(at, piece)| {
                format!(
                    r#"{{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"{piece}","logprobs":[],"obfuscation":"Zk3xQ9","sequence_number":{at}}}"#
                )
            });
            responses(with_item(0, item, deltas.collect()))
        }
        "anthropic" => {
            let deltas = pieces.map(|piece| format!(r#"{{"type":"text_delta","text":"{piece}"}}"#));
            let block = r#"{"type":"text","text":""}"#;
            anthropic(with_block(0, block, deltas), "end_turn")
        }
        "gemini" => gemini(
            pieces.map(|piece| format!(r#"{{"text":"{piece}, and tomorrow it will be windy"}}"#)),
        ),
        _ => panic!("no form {form}"),
    }
}

/// Returns a response with calls, whose arguments come in pieces.
pub fn arguments(form: &str) -> Vec<String> {
    let calls = 0..CALLS;
    match form {
        "openai-chat" => {
            let calls = calls.flat_map(|call| {
                let start = format!(
                    r#"{{"tool_calls":[{{"index":{call},"id":"call_{call}","type":"function","function":{{"name":"search","arguments":""}}}}]}}"#
                );
                let pieces = ARGUMENTS.map(|piece| {
                    format!(r#"{{"tool_calls":[{{"index":{call},"function":{{"arguments":"{piece}"}}}}]}}"#)
                });
                std::iter::once(start).chain(pieces)
            });
            chat(calls, "tool_calls")
        }
        "openai-responses" => responses(
            calls
                .flat_map(|call| {
                    let item = format!(
                        r#"{{"id":"fc_{call}","type":"function_call","status":"in_progress","arguments":"","call_id":"call_{call}","name":"search"}}"#
                    );
                    let deltas = ARGUMENTS.map(|piece| {
                        format!(
                            r#"{{"type":"response.function_call_arguments.delta","item_id":"fc_{call}","output_index":{call},"delta":"{piece}","obfuscation":"Zk3xQ9","sequence_number":7}}"#
                        )
                    });
                    with_item(call, &item, deltas.into())
                })
                .collect(),
        ),
        "anthropic" => {
            let blocks = calls.flat_map(|call| {
                let block = format!(r#"{{"type":"tool_use","id":"toolu_{call}","name":"search","input":{{}}}}"#);
                let deltas = ARGUMENTS
                    .map(|piece| format!(r#"{{"type":"input_json_delta","partial_json":"{piece}"}}"#));
                with_block(call, &block, deltas.into_iter())
            });
            anthropic(blocks.collect(), "tool_use")
        }
        // It sends whole calls.
        _ => panic!("no pieces of arguments in {form}"),
    }
}

fn data(json: impl AsRef<str>) -> String {
    format!("data: {}\n\n", json.as_ref())
}

/// An event with its type, as two providers send it.
fn typed(json: impl AsRef<str>) -> String {
    let json = json.as_ref();
    let kind = json
        .strip_prefix(r#"{"type":""#)
        .and_then(|rest| rest.split('"').next());
    format!("event: {}\ndata: {json}\n\n", kind.expect("a type"))
}

fn chat(deltas: impl Iterator<Item = String>, stop: &str) -> Vec<String> {
    let chunk = |choices: &str, usage: &str| {
        data(format!(
            r#"{{"id":"chatcmpl-CfQ7vJ2mXb0TzLr9KdWnEy4sHuGa","object":"chat.completion.chunk","created":1795800000,"model":"gpt-5.2-2026-08-07","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":{choices},"usage":{usage},"obfuscation":"Zk3xQ9"}}"#
        ))
    };
    let choice = |delta: &str, stop: &str| {
        let choices =
            format!(r#"[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{stop}}}]"#);
        chunk(&choices, "null")
    };
    let mut events = vec![choice(
        r#"{"role":"assistant","content":null,"refusal":null}"#,
        "null",
    )];
    events.extend(deltas.map(|delta| choice(&delta, "null")));
    events.push(choice("{}", &format!("\"{stop}\"")));
    events.push(chunk(
        "[]",
        r#"{"prompt_tokens":82,"completion_tokens":17,"total_tokens":99}"#,
    ));
    events.push(data("[DONE]"));
    events
}

fn with_item(place: usize, item: &str, deltas: Vec<String>) -> Vec<String> {
    let event = |kind: &str| {
        format!(
            r#"{{"type":"response.output_item.{kind}","output_index":{place},"item":{item},"sequence_number":1}}"#
        )
    };
    let mut events = vec![event("added")];
    events.extend(deltas);
    events.push(event("done"));
    events
}

fn responses(events: Vec<String>) -> Vec<String> {
    let response = |status: &str, usage: &str| {
        format!(
            r#"{{"type":"response.{status}","response":{{"id":"resp_1","object":"response","created_at":1795800000,"status":"{status}","model":"gpt-5.2-2026-08-07","output":[],"usage":{usage}}},"sequence_number":0}}"#
        )
    };
    let usage = r#"{"input_tokens":82,"output_tokens":17,"total_tokens":99}"#;
    let start = std::iter::once(response("created", "null"));
    let end = std::iter::once(response("completed", usage));
    start.chain(events).chain(end).map(typed).collect()
}

fn with_block(index: usize, block: &str, deltas: impl Iterator<Item = String>) -> Vec<String> {
    let mut events = vec![format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#
    )];
    events.extend(deltas.map(|delta| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
    }));
    events.push(format!(
        r#"{{"type":"content_block_stop","index":{index}}}"#
    ));
    events
}

fn anthropic(events: Vec<String>, stop: &str) -> Vec<String> {
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":82,"output_tokens":1}}}"#;
    let stop = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":17}}}}"#
    );
    let events = std::iter::once(start.to_owned()).chain(events);
    let events = events.chain([stop, r#"{"type":"message_stop"}"#.to_owned()]);
    events.map(typed).collect()
}

fn gemini(parts: impl Iterator<Item = String>) -> Vec<String> {
    let response = |part: &str, stop: &str| {
        data(format!(
            r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}}{stop},"index":0}}],"usageMetadata":{{"promptTokenCount":82,"candidatesTokenCount":17,"totalTokenCount":99,"promptTokensDetails":[{{"modality":"TEXT","tokenCount":82}}]}},"modelVersion":"gemini-3-pro-preview","responseId":"c7gjaZ2mXb0TzLr9KdWnEy4s"}}"#
        ))
    };
    let mut events: Vec<_> = parts.map(|part| response(&part, "")).collect();
    events.push(response(r#"{"text":"."}"#, r#","finishReason":"STOP""#));
    events
}
