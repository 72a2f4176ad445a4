//! A second reading of responses, from the JSON of each format alone: what a person would write down who has the
//! documentation of the provider and no library.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// What a response says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The names and the arguments of calls. Arguments that are no JSON are a string.
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) text: String,
    pub(crate) stop: Option<String>,
    /// Input, cached input and output.
    pub(crate) usage: Option<[u64; 3]>,
}

/// Reads a whole response. Returns nothing for what is none, such as an error.
pub(crate) fn whole(dialect: &str, response: &Value) -> Option<Reading> {
    match dialect {
        "openai-chat" | "mistral" | "xai" => {
            let choice = &response["choices"][0];
            choice["message"]
                .is_object()
                .then(|| chat(choice, &response["usage"]))
        }
        "openai-responses" => response["output"].is_array().then(|| responses(response)),
        "anthropic" => response["content"].is_array().then(|| anthropic(response)),
        "gemini" => response["candidates"]
            .is_array()
            .then(|| gemini(&[response])),
        "gemini-interactions" => response["status"]
            .is_string()
            .then(|| interactions(response)),
        "bedrock" => response["output"]["message"]
            .is_object()
            .then(|| bedrock(response)),
        "cohere" => response["message"].is_object().then(|| cohere(response)),
        _ => None,
    }
}

/// Reads the events of a stream.
pub(crate) fn stream(dialect: &str, events: &[Value]) -> Option<Reading> {
    if events.iter().any(is_error) {
        return None;
    }
    match dialect {
        "openai-chat" | "mistral" | "xai" => chat_stream(events),
        "openai-responses" => responses_stream(events),
        "anthropic" => anthropic_stream(events),
        "gemini" => Some(gemini(&events.iter().collect::<Vec<_>>())),
        "gemini-interactions" => interactions_stream(events),
        "cohere" => Some(cohere_stream(events)),
        _ => None,
    }
}

fn is_error(event: &Value) -> bool {
    event["error"].is_object() && !event["error"].as_object().is_some_and(Map::is_empty)
        || event["type"] == "error"
}

fn count(usage: &Value, pointer: &str) -> u64 {
    usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Returns counts, or nothing if the first one is missing.
fn usage(usage: &Value, input: &[&str], cached: &str, output: &[&str]) -> Option<[u64; 3]> {
    usage.pointer(input[0]).filter(|count| !count.is_null())?;
    let sum = |pointers: &[&str]| pointers.iter().map(|pointer| count(usage, pointer)).sum();
    Some([sum(input), count(usage, cached), sum(output)])
}

/// Parses arguments that are sent as text.
fn arguments(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
        Value::Null => Value::Object(Map::new()),
        other => other.clone(),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the texts of parts whose type is one of these.
fn texts(content: &Value, kinds: &[&str]) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts = parts.iter();
            let said =
                parts.filter(|part| kinds.contains(&part["type"].as_str().unwrap_or_default()));
            said.map(|part| {
                part["text"]
                    .as_str()
                    .or(part["refusal"].as_str())
                    .unwrap_or_default()
            })
            .collect()
        }
        _ => String::new(),
    }
}

fn chat(choice: &Value, counts: &Value) -> Reading {
    let message = &choice["message"];
    let calls = match &message["tool_calls"] {
        Value::Array(calls) => calls.as_slice(),
        call @ Value::Object(_) => std::slice::from_ref(call),
        _ => &[],
    };
    Reading {
        calls: calls
            .iter()
            .map(|call| {
                if call["custom"].is_object() {
                    (
                        string(&call["custom"]["name"]),
                        call["custom"]["input"].clone(),
                    )
                } else {
                    let function = &call["function"];
                    (string(&function["name"]), arguments(&function["arguments"]))
                }
            })
            .collect(),
        text: texts(&message["content"], &["text"]) + &string(&message["refusal"]),
        stop: choice["finish_reason"].as_str().map(str::to_owned),
        usage: usage(
            counts,
            &["/prompt_tokens"],
            "/prompt_tokens_details/cached_tokens",
            &["/completion_tokens"],
        ),
    }
}

/// A call that is put together from pieces.
#[derive(Default)]
struct Pieces {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Pieces {
    fn is_complete(&self) -> bool {
        is_object(&self.arguments)
    }

    fn add(&mut self, name: &str, piece: &str) {
        // Some servers repeat the name with each piece.
        if name != self.name {
            self.name += name;
        }
        let known = &self.arguments;
        let is_again = !piece.is_empty() && piece == known && is_object(piece);
        // Pieces of some servers are all that was written so far.
        let is_cumulative =
            known.len() > 2 && piece.len() > known.len() && piece.starts_with(known.as_str());
        // Some servers write an empty object first.
        let was_placeholder = known == "{}" && piece.trim_start().starts_with('{');
        if is_cumulative || was_placeholder {
            piece.clone_into(&mut self.arguments);
        } else if !is_again {
            self.arguments += piece;
        }
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

/// Puts the pieces of calls together as a person would, who sees the ids, the indices and whether arguments are whole.
#[derive(Default)]
struct Calls {
    calls: Vec<Pieces>,
    /// The calls that began in one chunk, for pieces that have only their position.
    together: Vec<usize>,
}

impl Calls {
    fn add_chunk(&mut self, list: &Value) {
        let items = match list {
            Value::Array(items) => items.as_slice(),
            Value::Object(_) => std::slice::from_ref(list),
            _ => &[],
        };
        let mut started = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let index = match &item["index"] {
                Value::String(index) => index.parse().ok(),
                index => index.as_u64(),
            };
            let id = match &item["id"] {
                Value::Number(id) => id.to_string(),
                id => string(id),
            };
            let name = string(&item["function"]["name"]);
            let piece = match &item["function"]["arguments"] {
                Value::String(piece) => piece.clone(),
                Value::Null => String::new(),
                whole => whole.to_string(),
            };
            let at = self
                .find(index, &id, &name, &piece, (position, items.len()))
                .unwrap_or_else(|| {
                    self.calls.push(Pieces {
                        index,
                        id: id.clone(),
                        ..Pieces::default()
                    });
                    started.push(self.calls.len() - 1);
                    self.calls.len() - 1
                });
            self.calls[at].add(&name, &piece);
        }
        if !started.is_empty() {
            self.together = started;
        }
    }

    /// Returns the call to which a piece belongs, or nothing if it starts one.
    fn find(
        &self,
        index: Option<u64>,
        id: &str,
        name: &str,
        piece: &str,
        (position, count): (usize, usize),
    ) -> Option<usize> {
        let last = |is: &dyn Fn(&Pieces) -> bool| self.calls.iter().rposition(is);
        let is_whole = is_object(piece);
        if !id.is_empty() {
            if let Some(at) =
                last(&|call| call.id == id && (index.is_none() || call.index == index))
            {
                let call = &self.calls[at];
                // Another whole call under one id.
                let is_other = is_whole
                    && call.is_complete()
                    && call.arguments != "{}"
                    && call.arguments != piece;
                return (!is_other).then_some(at);
            }
            // A new id with each piece.
            let at = last(&|call| index.is_some() && call.index == index)?;
            let call = &self.calls[at];
            let goes_on = !call.arguments.is_empty() && !call.is_complete() && !is_whole;
            let fits = serde_json::from_str::<Value>(&(call.arguments.clone() + piece)).is_ok();
            return (goes_on && (name.is_empty() || fits)).then_some(at);
        }
        let at = match index {
            Some(_) => last(&|call| call.index == index),
            None if count > 1 => self.together.get(position).copied(),
            None => self.calls.len().checked_sub(1),
        }?;
        let call = &self.calls[at];
        let starts = !name.is_empty()
            && (call.is_complete() || index.is_none() && count > 1 && call.name != name);
        (!starts).then_some(at)
    }
}

/// Puts the chunks together.
fn chat_stream(events: &[Value]) -> Option<Reading> {
    let (mut content, mut refusal) = (String::new(), String::new());
    let mut calls = Calls::default();
    let mut reading = Reading::default();
    // Of several candidates, the answer is the first one.
    let choices = events
        .iter()
        .filter_map(|event| event["choices"].as_array());
    let first = choices
        .clone()
        .flatten()
        .filter_map(|choice| choice["index"].as_u64())
        .min();
    let is_response = choices.flatten().next().is_some();
    for event in events {
        let counts = usage(
            &event["usage"],
            &["/prompt_tokens"],
            "/prompt_tokens_details/cached_tokens",
            &["/completion_tokens"],
        );
        reading.usage = counts.or(reading.usage);
        let choices = event["choices"].as_array().into_iter().flatten();
        let mut choices = choices.filter(|choice| choice["index"].as_u64().or(first) == first);
        let Some(choice) = choices.next() else {
            continue;
        };
        let delta = &choice["delta"];
        content += &texts(&delta["content"], &["text"]);
        refusal += &texts(&delta["refusal"], &["text"]);
        // Some servers repeat the whole message at the end, or send nothing else.
        if content.is_empty() {
            content += &texts(&choice["message"]["content"], &["text"]);
        }
        calls.add_chunk(&delta["tool_calls"]);
        if let Some(stop) = choice["finish_reason"]
            .as_str()
            .filter(|stop| !stop.is_empty())
        {
            reading.stop = Some(stop.to_owned());
        }
    }
    let calls = calls.calls.into_iter();
    reading.calls = calls
        .map(|call| (call.name, arguments(&call.arguments.into())))
        .collect();
    reading.text = content + &refusal;
    is_response.then_some(reading)
}

/// Reads the items of a response and why it ended.
fn responses(response: &Value) -> Reading {
    let mut reading = Reading {
        stop: response["incomplete_details"]["reason"]
            .as_str()
            .or(response["status"].as_str())
            .map(str::to_owned),
        usage: usage(
            &response["usage"],
            &["/input_tokens"],
            "/input_tokens_details/cached_tokens",
            &["/output_tokens"],
        ),
        ..Reading::default()
    };
    let mut said = Vec::new();
    for item in response["output"].as_array().into_iter().flatten() {
        match item["type"].as_str() {
            Some("function_call") => {
                reading
                    .calls
                    .push((string(&item["name"]), arguments(&item["arguments"])));
            }
            Some("custom_tool_call") => reading
                .calls
                .push((string(&item["name"]), item["input"].clone())),
            Some("message") => {
                said.push(texts(&item["content"], &["output_text", "text", "refusal"]));
            }
            _ => {}
        }
    }
    reading.text = said.join("\n\n");
    reading
}

/// Reads the items that are done, in their order, and the last event.
fn responses_stream(events: &[Value]) -> Option<Reading> {
    let last = events
        .iter()
        .rev()
        .find(|event| event["response"]["status"].is_string())?;
    let mut response = last["response"].clone();
    let done = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done");
    let mut items: Vec<_> = done
        .map(|event| (event["output_index"].as_u64(), event["item"].clone()))
        .collect();
    items.sort_by_key(|(index, _)| *index);
    response["output"] = items.into_iter().map(|(_, item)| item).collect();
    Some(responses(&response))
}

const ANTHROPIC_INPUT: [&str; 3] = [
    "/input_tokens",
    "/cache_read_input_tokens",
    "/cache_creation_input_tokens",
];

fn anthropic(response: &Value) -> Reading {
    let blocks = response["content"].as_array();
    let uses = blocks
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "tool_use");
    Reading {
        calls: uses
            .map(|block| (string(&block["name"]), arguments(&block["input"])))
            .collect(),
        text: texts(&response["content"], &["text"]),
        stop: response["stop_reason"].as_str().map(str::to_owned),
        usage: usage(
            &response["usage"],
            &ANTHROPIC_INPUT,
            "/cache_read_input_tokens",
            &["/output_tokens"],
        ),
    }
}

fn anthropic_stream(events: &[Value]) -> Option<Reading> {
    let start = events
        .iter()
        .find(|event| event["type"] == "message_start")?;
    let mut message = start["message"].clone();
    let mut blocks: BTreeMap<u64, (Value, String)> = BTreeMap::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("content_block_start") => {
                blocks.insert(index, (event["content_block"].clone(), String::new()));
            }
            Some("content_block_delta") => {
                let (block, json) = blocks.get_mut(&index)?;
                if let Some(piece) = event["delta"]["text"].as_str() {
                    block["text"] = (string(&block["text"]) + piece).into();
                }
                *json += event["delta"]["partial_json"].as_str().unwrap_or_default();
            }
            Some("message_delta") => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                for (key, count) in event["usage"].as_object().into_iter().flatten() {
                    if !count.is_null() {
                        message["usage"][key] = count.clone();
                    }
                }
            }
            _ => {}
        }
    }
    let blocks = blocks.into_values().map(|(mut block, json)| {
        if !json.is_empty() {
            block["input"] = arguments(&json.into());
        }
        block
    });
    message["content"] = blocks.collect();
    Some(anthropic(&message))
}

/// Reads the chunks of a stream, or one whole response.
fn gemini(chunks: &[&Value]) -> Reading {
    let mut reading = Reading::default();
    for chunk in chunks {
        let counts = usage(
            &chunk["usageMetadata"],
            &["/promptTokenCount", "/toolUsePromptTokenCount"],
            "/cachedContentTokenCount",
            &["/candidatesTokenCount", "/thoughtsTokenCount"],
        );
        reading.usage = counts.or(reading.usage);
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"]
            .as_array()
            .into_iter()
            .flatten()
        {
            if part["functionCall"].is_object() {
                let call = &part["functionCall"];
                reading
                    .calls
                    .push((string(&call["name"]), arguments(&call["args"])));
            }
            if part["thought"] != true {
                reading.text += part["text"].as_str().unwrap_or_default();
            }
        }
        if let Some(stop) = candidate["finishReason"].as_str() {
            reading.stop = Some(stop.to_owned());
        }
    }
    reading
}

fn interactions(response: &Value) -> Reading {
    let mut reading = Reading {
        stop: response["status"].as_str().map(str::to_owned),
        usage: usage(
            &response["usage"],
            &["/total_input_tokens", "/total_tool_use_tokens"],
            "/total_cached_tokens",
            &["/total_output_tokens", "/total_thought_tokens"],
        ),
        ..Reading::default()
    };
    for step in response["steps"].as_array().into_iter().flatten() {
        match step["type"].as_str() {
            Some("function_call") => {
                reading
                    .calls
                    .push((string(&step["name"]), arguments(&step["arguments"])));
            }
            Some("model_output") => reading.text += &texts(&step["content"], &["text"]),
            _ => {}
        }
    }
    reading
}

fn interactions_stream(events: &[Value]) -> Option<Reading> {
    let last = events
        .iter()
        .rev()
        .find(|event| event["event_type"] == "interaction.completed")?;
    let mut response = last["interaction"].clone();
    let mut steps: BTreeMap<u64, (Value, String, String)> = BTreeMap::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["event_type"].as_str() {
            Some("step.start") => {
                steps.insert(index, (event["step"].clone(), String::new(), String::new()));
            }
            Some("step.delta") => {
                let (_, json, text) = steps.get_mut(&index)?;
                match event["delta"]["type"].as_str() {
                    Some("arguments_delta") => *json += event["delta"]["arguments"].as_str()?,
                    Some("text") => *text += event["delta"]["text"].as_str()?,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let steps = steps.into_values().map(|(mut step, json, text)| {
        if !json.is_empty() {
            step["arguments"] = arguments(&json.into());
        }
        if step["type"] == "model_output" {
            let said = texts(&step["content"], &["text"]) + &text;
            step["content"] = said.into();
        }
        step
    });
    response["steps"] = steps.collect();
    Some(interactions(&response))
}

fn bedrock(response: &Value) -> Reading {
    let mut reading = Reading {
        stop: response["stopReason"].as_str().map(str::to_owned),
        usage: usage(
            &response["usage"],
            &[
                "/inputTokens",
                "/cacheReadInputTokens",
                "/cacheWriteInputTokens",
            ],
            "/cacheReadInputTokens",
            &["/outputTokens"],
        ),
        ..Reading::default()
    };
    for block in response["output"]["message"]["content"]
        .as_array()
        .into_iter()
        .flatten()
    {
        reading.text += block["text"].as_str().unwrap_or_default();
        if block["toolUse"].is_object() {
            let call = &block["toolUse"];
            reading
                .calls
                .push((string(&call["name"]), arguments(&call["input"])));
        }
    }
    reading
}

fn cohere_usage(counts: &Value) -> Option<[u64; 3]> {
    usage(
        counts,
        &["/tokens/input_tokens"],
        "/cached_tokens",
        &["/tokens/output_tokens"],
    )
}

fn cohere(response: &Value) -> Reading {
    let message = &response["message"];
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    Reading {
        calls: calls
            .map(|call| {
                (
                    string(&call["function"]["name"]),
                    arguments(&call["function"]["arguments"]),
                )
            })
            .collect(),
        text: texts(&message["content"], &["text"]),
        stop: response["finish_reason"].as_str().map(str::to_owned),
        usage: cohere_usage(&response["usage"]),
    }
}

fn cohere_stream(events: &[Value]) -> Reading {
    let mut reading = Reading::default();
    let mut calls: BTreeMap<u64, (String, String)> = BTreeMap::new();
    for event in events {
        let message = &event["delta"]["message"];
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("content-start" | "content-delta") => {
                reading.text += message["content"]["text"].as_str().unwrap_or_default();
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let (name, text) = calls.entry(index).or_default();
                let function = &message["tool_calls"]["function"];
                *name += function["name"].as_str().unwrap_or_default();
                *text += function["arguments"].as_str().unwrap_or_default();
            }
            Some("message-end") => {
                reading.stop = event["delta"]["finish_reason"].as_str().map(str::to_owned);
                reading.usage = cohere_usage(&event["delta"]["usage"]);
            }
            _ => {}
        }
    }
    let calls = calls.into_values();
    reading.calls = calls
        .map(|(name, text)| (name, arguments(&text.into())))
        .collect();
    reading
}
