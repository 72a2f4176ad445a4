//! Streams, read into structs that borrow from the bytes: the pieces that a program shows, and what the response
//! consists of.

use std::borrow::Cow;
use std::hint::black_box;

use harness::{Work, streams};
use serde::Deserialize;

/// Returns the case that reads a stream in this format.
pub fn work(form: &str, events: Vec<String>) -> Work {
    let read: fn(&str, &mut Response) = match form {
        "openai-chat" => chat,
        "openai-responses" => responses,
        "anthropic" => anthropic,
        "gemini" => gemini,
        _ => panic!("no form {form}"),
    };
    Work::new(events.len(), move || {
        let mut response = Response::default();
        for event in &events {
            for line in black_box(event).lines() {
                match line.strip_prefix("data: ") {
                    Some("[DONE]") | None => {}
                    Some(json) => read(json, &mut response),
                }
            }
        }
        assert!(!response.stop.is_empty());
        black_box(response);
    })
}

pub const CASES: &[&str] = &[
    "stream openai-chat",
    "stream openai-responses",
    "stream anthropic",
    "stream gemini",
    "arguments openai-chat",
    "arguments openai-responses",
    "arguments anthropic",
];

pub fn own(case: &str) -> Work {
    match case.split_once(' ') {
        Some(("stream", form)) => work(form, streams::text(form)),
        Some(("arguments", form)) => work(form, streams::arguments(form)),
        _ => panic!("no case {case}"),
    }
}

#[derive(Default)]
struct Response {
    text: String,
    calls: Vec<Call>,
    stop: String,
    tokens: u64,
}

#[derive(Default)]
#[allow(dead_code, reason = "it is kept, not read")]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Response {
    fn text(&mut self, piece: &str) {
        self.text.push_str(piece);
        // A program shows it.
        black_box(piece.to_owned());
    }

    fn arguments(&mut self, index: usize, piece: &str) {
        self.calls[index].arguments.push_str(piece);
        black_box(piece.to_owned());
    }

    fn call(&mut self, id: &str, name: &str) {
        self.calls.push(Call {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
        });
    }
}

/// A string that is borrowed unless it has escapes. An `Option<Cow<str>>` is always copied.
#[derive(Deserialize)]
struct Text<'e>(#[serde(borrow)] Cow<'e, str>);

fn parse<'e, T: Deserialize<'e>>(json: &'e str) -> T {
    serde_json::from_str(json).expect("an event")
}

#[derive(Deserialize)]
struct Chunk<'e> {
    #[serde(borrow)]
    choices: Vec<Choice<'e>>,
    usage: Option<ChatUsage>,
}

#[derive(Deserialize)]
struct Choice<'e> {
    #[serde(borrow)]
    delta: ChatDelta<'e>,
    finish_reason: Option<&'e str>,
}

#[derive(Deserialize)]
struct ChatDelta<'e> {
    #[serde(borrow)]
    content: Option<Text<'e>>,
    #[serde(borrow, default)]
    tool_calls: Vec<ChatCall<'e>>,
}

#[derive(Deserialize)]
struct ChatCall<'e> {
    index: usize,
    id: Option<&'e str>,
    #[serde(borrow)]
    function: Function<'e>,
}

#[derive(Deserialize)]
struct Function<'e> {
    name: Option<&'e str>,
    #[serde(borrow)]
    arguments: Text<'e>,
}

#[derive(Deserialize)]
struct ChatUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

fn chat(json: &str, response: &mut Response) {
    let chunk: Chunk<'_> = parse(json);
    for choice in chunk.choices {
        if let Some(text) = choice.delta.content {
            response.text(&text.0);
        }
        for call in choice.delta.tool_calls {
            if let (Some(id), Some(name)) = (call.id, call.function.name) {
                response.call(id, name);
            }
            response.arguments(call.index, &call.function.arguments.0);
        }
        if let Some(stop) = choice.finish_reason {
            response.stop = stop.to_owned();
        }
    }
    if let Some(usage) = chunk.usage {
        response.tokens = usage.prompt_tokens + usage.completion_tokens;
    }
}

#[derive(Deserialize)]
struct ResponseEvent<'e> {
    r#type: &'e str,
    output_index: Option<usize>,
    #[serde(borrow)]
    delta: Option<Text<'e>>,
    #[serde(borrow)]
    item: Option<Item<'e>>,
    #[serde(borrow)]
    response: Option<End<'e>>,
}

#[derive(Deserialize)]
struct Item<'e> {
    call_id: Option<&'e str>,
    name: Option<&'e str>,
}

#[derive(Deserialize)]
struct End<'e> {
    status: &'e str,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    output_tokens: u64,
}

fn responses(json: &str, response: &mut Response) {
    let event: ResponseEvent<'_> = parse(json);
    match event.r#type {
        "response.output_text.delta" => response.text(&event.delta.expect("a delta").0),
        "response.function_call_arguments.delta" => {
            let index = event.output_index.expect("an index");
            response.arguments(index, &event.delta.expect("a delta").0);
        }
        "response.output_item.added" => {
            let item = event.item.expect("an item");
            if let (Some(id), Some(name)) = (item.call_id, item.name) {
                response.call(id, name);
            }
        }
        "response.completed" => {
            let end = event.response.expect("a response");
            response.stop = end.status.to_owned();
            let usage = end.usage.expect("a usage");
            response.tokens = usage.input_tokens + usage.output_tokens;
        }
        _ => {}
    }
}

#[derive(Deserialize)]
struct MessageEvent<'e> {
    r#type: &'e str,
    index: Option<usize>,
    #[serde(borrow)]
    delta: Option<MessageDelta<'e>>,
    #[serde(borrow)]
    content_block: Option<Block<'e>>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct MessageDelta<'e> {
    #[serde(borrow)]
    text: Option<Text<'e>>,
    #[serde(borrow)]
    partial_json: Option<Text<'e>>,
    stop_reason: Option<&'e str>,
}

#[derive(Deserialize)]
struct Block<'e> {
    id: Option<&'e str>,
    name: Option<&'e str>,
}

fn anthropic(json: &str, response: &mut Response) {
    let event: MessageEvent<'_> = parse(json);
    match event.r#type {
        "content_block_start" => {
            let block = event.content_block.expect("a block");
            if let (Some(id), Some(name)) = (block.id, block.name) {
                response.call(id, name);
            }
        }
        "content_block_delta" => {
            let delta = event.delta.expect("a delta");
            if let Some(text) = delta.text {
                response.text(&text.0);
            }
            if let Some(piece) = delta.partial_json {
                response.arguments(event.index.expect("an index"), &piece.0);
            }
        }
        "message_delta" => {
            let stop = event.delta.expect("a delta").stop_reason;
            response.stop = stop.expect("a reason").to_owned();
            response.tokens = event.usage.expect("a usage").output_tokens;
        }
        _ => {}
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiResponse<'e> {
    #[serde(borrow)]
    candidates: Vec<Candidate<'e>>,
    usage_metadata: GeminiUsage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'e> {
    #[serde(borrow)]
    content: Content<'e>,
    finish_reason: Option<&'e str>,
}

#[derive(Deserialize)]
struct Content<'e> {
    #[serde(borrow)]
    parts: Vec<Part<'e>>,
}

#[derive(Deserialize)]
struct Part<'e> {
    #[serde(borrow)]
    text: Text<'e>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: u64,
    candidates_token_count: u64,
}

fn gemini(json: &str, response: &mut Response) {
    let event: GeminiResponse<'_> = parse(json);
    for candidate in event.candidates {
        for part in candidate.content.parts {
            response.text(&part.text.0);
        }
        if let Some(stop) = candidate.finish_reason {
            response.stop = stop.to_owned();
        }
    }
    let usage = event.usage_metadata;
    response.tokens = usage.prompt_token_count + usage.candidates_token_count;
}
