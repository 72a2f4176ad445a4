//! Splits responses into events.

use properties::random::Random;
use serde_json::{Value, json};
use tool_core::dialect::Dialect;
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

pub(crate) fn dialects() -> [(&'static str, Box<dyn Dialect>); 9] {
    [
        ("openai-chat", Box::new(OpenAiChat::default())),
        ("xai", Box::new(XAi::default())),
        ("mistral", Box::new(Mistral::default())),
        ("openai-responses", Box::new(OpenAiResponses::default())),
        ("anthropic", Box::new(Anthropic::default())),
        ("gemini", Box::new(Gemini::default())),
        (
            "gemini-interactions",
            Box::new(GeminiInteractions::default()),
        ),
        ("bedrock", Box::new(Bedrock::default())),
        ("cohere", Box::new(Cohere::default())),
    ]
}

/// A part of a response.
enum Part {
    Text(String),
    Reasoning(String),
    /// A name and the text of the arguments.
    Call(String, String),
    /// What expects an answer and is no call, with a text in it.
    Asked(String),
}

/// A random text, with characters of several bytes.
fn text(random: &mut Random) -> String {
    let length = 1 + random.below(20);
    let pick = |_| *random.pick(&['a', ' ', '"', '\\', '\n', 'é', '🌦', '{', '7']);
    (0..length).map(pick).collect()
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 2 { 4 } else { 6 }) {
        0 => Value::Null,
        1 => random.percent(50).into(),
        2 => random.below(1000).into(),
        3 => text(random).into(),
        4 => (0..random.below(3))
            .map(|_| value(random, depth + 1))
            .collect(),
        _ => object(random, depth + 1),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let members = (0..random.below(4)).map(|_| (text(random), value(random, depth)));
    Value::Object(members.collect())
}

/// Returns the text of an object with members.
pub(crate) fn arguments(random: &mut Random) -> String {
    let mut object = object(random, 0);
    object["city"] = text(random).into();
    object.to_string()
}

fn parts(random: &mut Random) -> Vec<Part> {
    let mut parts = Vec::new();
    if random.percent(50) {
        parts.push(Part::Reasoning(text(random)));
    }
    if random.percent(70) {
        parts.push(Part::Text(text(random)));
    }
    for _ in 0..random.below(4) {
        if random.percent(20) {
            parts.push(Part::Asked(text(random)));
            continue;
        }
        let name = *random.pick(&["get_forecast", "list_alarms"]);
        let arguments = if random.percent(20) {
            String::new()
        } else {
            object(random, 0).to_string()
        };
        parts.push(Part::Call(name.into(), arguments));
    }
    parts
}

/// Splits a text at random places, possibly into empty pieces.
pub(crate) fn pieces(text: &str, random: &mut Random) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in text.chars() {
        while random.percent(30) {
            pieces.push(String::new());
        }
        pieces.last_mut().unwrap().push(character);
    }
    pieces
}

/// Returns the events of a random response, and the response.
pub(crate) fn random(provider: &str, random: &mut Random) -> (Vec<Value>, Value) {
    let parts = parts(random);
    write(provider, &parts, false, random)
}

/// Returns the events of a response with a text.
pub(crate) fn of_text(provider: &str, text: &str) -> Vec<Value> {
    let parts = [Part::Text(text.into())];
    write(provider, &parts, false, &mut Random::new(1)).0
}

/// Returns the events of a response with two calls, which a limit ends in the second.
pub(crate) fn cut_off(provider: &str, arguments: &str) -> Vec<Value> {
    let parts = [
        Part::Call("list_alarms".into(), "{}".into()),
        Part::Call("get_forecast".into(), arguments.into()),
    ];
    write(provider, &parts, true, &mut Random::new(1)).0
}

/// Returns the events of a response with one call, and the response. It may have reasoning, and may be cut off.
pub(crate) fn calling(
    provider: &str,
    (name, arguments): (&str, &str),
    (reasons, cut): (bool, bool),
    random: &mut Random,
) -> (Vec<Value>, Value) {
    let mut parts = Vec::new();
    if reasons {
        parts.push(Part::Reasoning("It is a question.".into()));
    }
    if random.percent(50) {
        parts.push(Part::Text("I will look.".into()));
    }
    parts.push(Part::Call(name.into(), arguments.into()));
    write(provider, &parts, cut, random)
}

/// Returns the events of a response with this text, and the response.
pub(crate) fn saying(provider: &str, text: &str, random: &mut Random) -> (Vec<Value>, Value) {
    let (events, response) = write(provider, &[Part::Text(text.into())], false, random);
    // The others end as with calls.
    let ended = |value: Value| -> Value {
        let ends = [
            ("tool_use", "end_turn"),
            ("tool_calls", "stop"),
            ("requires_action", "completed"),
        ];
        let text = ends
            .iter()
            .fold(value.to_string(), |text, (calls, answer)| {
                text.replace(&format!("\"{calls}\""), &format!("\"{answer}\""))
            });
        serde_json::from_str(&text).unwrap()
    };
    (events.into_iter().map(ended).collect(), ended(response))
}

fn write(provider: &str, parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    match provider {
        "anthropic" => anthropic(parts, cut, random),
        "bedrock" => bedrock(parts, cut, random),
        "openai-responses" => responses(parts, cut, random),
        "gemini" => gemini(parts, cut, random),
        "gemini-interactions" => gemini_interactions(parts, cut, random),
        "cohere" => cohere(parts, cut, random),
        "mistral" => chat(parts, cut, true, random),
        _ => chat(parts, cut, false, random),
    }
}

fn parsed(arguments: &str) -> Value {
    match arguments {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!({"INVALID_JSON": text})),
    }
}

fn anthropic(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut content = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let (start, whole, deltas) = match part {
            Part::Text(text) => (
                json!({"type": "text", "text": ""}),
                json!({"type": "text", "text": text}),
                pieces(text, random)
                    .into_iter()
                    .map(|piece| json!({"type": "text_delta", "text": piece}))
                    .collect(),
            ),
            Part::Reasoning(text) => {
                let deltas = pieces(text, random).into_iter();
                let deltas =
                    deltas.map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                let signature = json!({"type": "signature_delta", "signature": "EqQB"});
                (
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    json!({"type": "thinking", "thinking": text, "signature": "EqQB"}),
                    deltas.chain([signature]).collect(),
                )
            }
            Part::Call(name, arguments) => {
                let head = json!({"type": "tool_use", "id": format!("t{index}"), "name": name, "input": {}});
                let mut whole = head.clone();
                whole["input"] = parsed(arguments);
                let deltas = pieces(arguments, random).into_iter();
                let deltas =
                    deltas.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                (head, whole, deltas.collect::<Vec<_>>())
            }
            Part::Asked(text) => {
                let head = json!({"type": "future_use", "id": format!("t{index}"), "input": {}});
                let mut whole = head.clone();
                whole["input"] = json!({"text": text});
                let input = whole["input"].to_string();
                let deltas = pieces(&input, random).into_iter();
                let deltas =
                    deltas.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                (head, whole, deltas.collect())
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
        content.push(whole);
    }
    let stop = if cut { "max_tokens" } else { "tool_use" };
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}}));
    events.push(json!({"type": "message_stop"}));
    message["content"] = content.into();
    message["stop_reason"] = stop.into();
    message["usage"]["output_tokens"] = 9.into();
    (events, message)
}

fn bedrock(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    let mut content = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let deltas: Vec<Value> = match part {
            Part::Text(text) => {
                content.push(json!({"text": text}));
                pieces(text, random)
                    .into_iter()
                    .map(|piece| json!({"text": piece}))
                    .collect()
            }
            Part::Reasoning(text) => {
                content.push(json!({"reasoningContent": {"reasoningText": {"text": text, "signature": "s"}}}));
                let deltas = pieces(text, random)
                    .into_iter()
                    .map(|piece| json!({"reasoningContent": {"text": piece}}));
                deltas
                    .chain([json!({"reasoningContent": {"signature": "s"}})])
                    .collect()
            }
            Part::Call(name, arguments) => {
                let mut call = json!({"toolUseId": format!("t{index}"), "name": name});
                events.push(json!({"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": call}}}));
                call["input"] = parsed(arguments);
                content.push(json!({"toolUse": call}));
                pieces(arguments, random)
                    .into_iter()
                    .map(|piece| json!({"toolUse": {"input": piece}}))
                    .collect()
            }
            Part::Asked(text) => {
                let mut asked = json!({"toolUseId": format!("t{index}")});
                events.push(json!({"contentBlockStart": {"contentBlockIndex": index, "start": {"futureUse": asked}}}));
                asked["input"] = text.as_str().into();
                content.push(json!({"futureUse": asked}));
                vec![json!({"futureUse": {"input": text}})]
            }
        };
        events.extend(deltas.into_iter().map(
            |delta| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}),
        ));
        events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
    }
    let stop = if cut { "max_tokens" } else { "tool_use" };
    let usage = json!({"inputTokens": 3, "outputTokens": 9, "totalTokens": 12});
    events.push(json!({"messageStop": {"stopReason": stop}}));
    events.push(json!({"metadata": {"usage": usage, "metrics": {"latencyMs": 7}}}));
    let response = json!({"output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 7}});
    (events, response)
}

fn responses(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}),
    ];
    let mut output = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let (item, kind, deltas) = match part {
            Part::Text(text) => (
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
                "response.output_text.delta",
                pieces(text, random),
            ),
            Part::Reasoning(text) => (
                json!({"type": "reasoning", "encrypted_content": "g", "summary": [{"type": "summary_text", "text": text}]}),
                "response.reasoning_summary_text.delta",
                pieces(text, random),
            ),
            Part::Call(name, arguments) => (
                json!({"type": "function_call", "call_id": format!("t{index}"), "name": name, "arguments": arguments}),
                "response.function_call_arguments.delta",
                pieces(arguments, random),
            ),
            Part::Asked(text) => (
                json!({"type": "shell_call", "id": format!("s{index}"), "call_id": format!("t{index}"),
                       "action": {"commands": [text]}}),
                "response.shell_call_command.delta",
                pieces(text, random),
            ),
        };
        let mut start = item.clone();
        for key in ["content", "summary", "encrypted_content", "action"] {
            start.as_object_mut().unwrap().remove(key);
        }
        if start["type"] == "function_call" {
            start["arguments"] = "".into();
        }
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": start}),
        );
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"type": kind, "output_index": index, "delta": delta})),
        );
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
        output.push(item);
    }
    let status = if cut { "incomplete" } else { "completed" };
    let whole = json!({"id": "r", "status": status, "output": output, "usage": {"input_tokens": 3, "output_tokens": 9}});
    let mut sent = whole.clone();
    // Some servers leave it out.
    if random.percent(30) {
        sent["output"] = json!([]);
    }
    events.push(json!({"type": format!("response.{status}"), "response": sent}));
    (events, whole)
}

fn gemini(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut sent = Vec::new();
    let mut whole = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(text) => {
                sent.extend(
                    pieces(text, random)
                        .into_iter()
                        .map(|piece| json!({"text": piece})),
                );
                whole.push(json!({"text": text}));
            }
            Part::Reasoning(text) => {
                sent.extend(
                    pieces(text, random)
                        .into_iter()
                        .map(|piece| json!({"text": piece, "thought": true})),
                );
                whole.push(json!({"text": text, "thought": true}));
            }
            Part::Call(name, arguments) => {
                let part = json!({"functionCall": {"id": format!("t{index}"), "name": name, "args": parsed(arguments)},
                                  "thoughtSignature": "C"});
                sent.push(part.clone());
                whole.push(part);
            }
            Part::Asked(text) => {
                let part = json!({"futureCall": {"id": format!("t{index}"), "input": text}});
                sent.push(part.clone());
                whole.push(part);
            }
        }
    }
    let stop = if cut { "MAX_TOKENS" } else { "STOP" };
    let mut events = Vec::new();
    while !sent.is_empty() {
        let count = 1 + random.below(3.min(sent.len()));
        let parts: Vec<_> = sent.drain(..count).collect();
        events.push(json!({"candidates": [{"content": {"role": "model", "parts": parts}}]}));
    }
    events.push(
        json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": stop}],
                       "usageMetadata": {"promptTokenCount": 3}}),
    );
    let response = json!({"candidates": [{"content": {"role": "model", "parts": whole}, "finishReason": stop}],
                          "usageMetadata": {"promptTokenCount": 3}});
    (events, response)
}

fn gemini_interactions(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut events = vec![
        json!({"event_type": "interaction.created", "interaction": {"id": "v1", "status": "in_progress"}}),
    ];
    let mut steps = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let (start, step, mut deltas): (Value, Value, Vec<Value>) = match part {
            Part::Text(text) => (
                json!({"type": "model_output"}),
                json!({"type": "model_output", "content": [{"type": "text", "text": text}]}),
                pieces(text, random)
                    .into_iter()
                    .map(|piece| json!({"type": "text", "text": piece}))
                    .collect(),
            ),
            Part::Reasoning(text) => {
                let summary = |piece: &str| json!({"type": "thought_summary", "content": {"type": "text", "text": piece}});
                let deltas = pieces(text, random).into_iter();
                let deltas = deltas.map(|piece| summary(&piece));
                let signature = json!({"type": "thought_signature", "signature": "EqQB"});
                (
                    json!({"type": "thought"}),
                    json!({"type": "thought", "summary": [{"type": "text", "text": text}], "signature": "EqQB"}),
                    deltas.chain([signature]).collect(),
                )
            }
            Part::Call(name, arguments) => {
                let start = json!({"type": "function_call", "id": format!("t{index}"), "name": name, "arguments": {}});
                let mut step = start.clone();
                step["arguments"] = parsed(arguments);
                let deltas = pieces(arguments, random).into_iter();
                let deltas =
                    deltas.map(|piece| json!({"type": "arguments_delta", "arguments": piece}));
                (start, step, deltas.collect())
            }
            Part::Asked(text) => {
                let start = json!({"type": "future_call", "id": format!("t{index}")});
                let mut step = start.clone();
                step["input"] = json!({"text": text});
                let delta = json!({"type": "future_call", "input": {"text": text}});
                (start, step, vec![delta])
            }
        };
        events.push(json!({"event_type": "step.start", "index": index, "step": start}));
        let deltas = deltas.drain(..);
        events.extend(
            deltas.map(|delta| json!({"event_type": "step.delta", "index": index, "delta": delta})),
        );
        // A limit may leave it out.
        let is_last = index + 1 == parts.len();
        if !(cut && is_last && random.percent(50)) {
            events.push(json!({"event_type": "step.stop", "index": index}));
        }
        steps.push(step);
    }
    let mut response = json!({"id": "v1", "status": if cut { "incomplete" } else { "requires_action" },
        "usage": {"total_input_tokens": 3, "total_output_tokens": 9}});
    events.push(json!({"event_type": "interaction.completed", "interaction": response}));
    response["steps"] = steps.into();
    (events, response)
}

fn cohere(parts: &[Part], cut: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let mut events = vec![
        json!({"id": "c", "type": "message-start", "delta": {"message": {"role": "assistant", "content": []}}}),
    ];
    let mut message = json!({"role": "assistant"});
    let (mut content, mut calls) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) | Part::Reasoning(text) => {
                let key = if matches!(part, Part::Text(_)) {
                    "text"
                } else {
                    "thinking"
                };
                let index = content.len();
                let event = |kind: &str, content: Value| json!({"type": kind, "index": index, "delta": {"message": {"content": content}}});
                events.push(event("content-start", json!({"type": key, key: ""})));
                events.extend(
                    pieces(text, random)
                        .into_iter()
                        .map(|piece| event("content-delta", json!({key: piece}))),
                );
                events.push(json!({"type": "content-end", "index": index}));
                content.push(json!({"type": key, key: text}));
            }
            Part::Call(name, arguments) => {
                let index = calls.len();
                let mut call = json!({"id": format!("t{index}"), "type": "function",
                                      "function": {"name": name, "arguments": ""}});
                let event = |kind: &str, call: &Value| json!({"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}});
                events.push(event("tool-call-start", &call));
                events.extend(pieces(arguments, random).into_iter().map(|piece| {
                    event(
                        "tool-call-delta",
                        &json!({"function": {"arguments": piece}}),
                    )
                }));
                events.push(json!({"type": "tool-call-end", "index": index}));
                call["function"]["arguments"] = arguments.as_str().into();
                calls.push(call);
            }
            Part::Asked(text) => {
                let index = calls.len();
                let mut call =
                    json!({"id": format!("t{index}"), "type": "future", "future": {"input": ""}});
                let event = |kind: &str, call: &Value| json!({"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}});
                events.push(event("tool-call-start", &call));
                let pieces = pieces(text, random).into_iter();
                let piece = |piece| event("tool-call-delta", &json!({"future": {"input": piece}}));
                events.extend(pieces.map(piece));
                events.push(json!({"type": "tool-call-end", "index": index}));
                call["future"]["input"] = text.as_str().into();
                calls.push(call);
            }
        }
    }
    let stop = if cut { "MAX_TOKENS" } else { "COMPLETE" };
    events.push(json!({"type": "message-end", "delta": {"finish_reason": stop}}));
    for (key, list) in [("content", content), ("tool_calls", calls)] {
        if !list.is_empty() {
            message[key] = list.into();
        }
    }
    (
        events,
        json!({"id": "c", "finish_reason": stop, "message": message}),
    )
}

fn chat(parts: &[Part], cut: bool, is_mistral: bool, random: &mut Random) -> (Vec<Value>, Value) {
    let chunk = |delta: Value, stop: Option<&str>| {
        json!({"id": "c", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    let mut message = json!({"role": "assistant", "content": ""});
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => {
                events.extend(
                    pieces(text, random)
                        .into_iter()
                        .map(|piece| chunk(json!({"content": piece}), None)),
                );
                message["content"] = text.as_str().into();
            }
            Part::Reasoning(text) => {
                events.extend(
                    pieces(text, random)
                        .into_iter()
                        .map(|piece| chunk(json!({"reasoning_content": piece}), None)),
                );
                message["reasoning_content"] = text.as_str().into();
            }
            Part::Call(name, arguments) => {
                let index = calls.len();
                let mut call = json!({"id": format!("t{index}"), "type": "function",
                                      "function": {"name": name, "arguments": ""}});
                let mut first = call.clone();
                first["index"] = index.into();
                let pieces = if is_mistral {
                    vec![arguments.clone()]
                } else {
                    pieces(arguments, random)
                };
                events.push(chunk(json!({"tool_calls": [first]}), None));
                events.extend(pieces.into_iter().map(|piece| {
                    chunk(
                        json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                        None,
                    )
                }));
                call["function"]["arguments"] = arguments.as_str().into();
                if is_mistral {
                    call["index"] = index.into();
                }
                calls.push(call);
            }
            Part::Asked(text) => {
                let index = calls.len();
                let mut call =
                    json!({"id": format!("t{index}"), "type": "future", "future": {"input": ""}});
                let mut first = call.clone();
                first["index"] = index.into();
                events.push(chunk(json!({"tool_calls": [first]}), None));
                let pieces = pieces(text, random).into_iter();
                let piece = |piece| json!({"index": index, "future": {"input": piece}});
                events.extend(pieces.map(|text| chunk(json!({"tool_calls": [piece(text)]}), None)));
                call["future"]["input"] = text.as_str().into();
                if is_mistral {
                    call["index"] = index.into();
                }
                calls.push(call);
            }
        }
    }
    let stop = if cut { "length" } else { "tool_calls" };
    events.push(chunk(json!({}), Some(stop)));
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let response = json!({"id": "c", "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": stop}]});
    (events, response)
}
