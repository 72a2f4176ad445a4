//! Providers as their documentation describes them: each reads a request by its own rules, rejects one that breaks a rule,
//! and writes a response. Nothing here uses a dialect.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A part of a conversation, in no provider's form.
#[derive(Debug)]
pub(crate) enum Said {
    User(String),
    /// The calls of a response, with their ids. Empty for an answer.
    Model(Vec<Called>),
    Results(Vec<ResultOf>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Called {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
    /// Set if the result may come in any later request.
    pub(crate) is_async: bool,
}

#[derive(Debug)]
pub(crate) struct ResultOf {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// A response of the model.
pub(crate) enum Turn {
    Calls(Vec<Called>),
    Answer(&'static str),
}

/// What is wrong with a request.
type Rejected<T> = Result<T, String>;

/// An HTTP API.
pub(crate) struct Api {
    /// Returns the names of the tools in a request.
    pub(crate) tools: fn(&Value) -> Rejected<Vec<String>>,
    read: fn(&Value) -> Rejected<Vec<Said>>,
    pub(crate) write: fn(&Turn) -> Value,
}

impl Api {
    /// Returns the API of the dialect with this name.
    pub(crate) fn of(name: &str) -> Api {
        match name {
            "openai-chat" | "xai" => Api {
                tools: chat_tools,
                read: chat,
                write: write_chat,
            },
            "mistral" => Api {
                tools: chat_tools,
                read: mistral,
                write: write_chat,
            },
            "cohere" => Api {
                tools: chat_tools,
                read: chat,
                write: write_cohere,
            },
            "openai-responses" => Api {
                tools: responses_tools,
                read: responses,
                write: write_responses,
            },
            "anthropic" => Api {
                tools: anthropic_tools,
                read: anthropic,
                write: write_anthropic,
            },
            "gemini" => Api {
                tools: gemini_tools,
                read: gemini,
                write: write_gemini,
            },
            "gemini-interactions" => Api {
                tools: interactions_tools,
                read: interactions,
                write: write_interactions,
            },
            "bedrock" => Api {
                tools: bedrock_tools,
                read: bedrock,
                write: write_bedrock,
            },
            other => panic!("no server plays {other}"),
        }
    }

    /// Reads the conversation in a request.
    ///
    /// Every provider requires that the results of a response follow it, one for each call that is not async, and that a
    /// request ends with something to answer.
    pub(crate) fn read(&self, body: &Value) -> Rejected<Vec<Said>> {
        let said = (self.read)(body)?;
        let (mut open, mut late) = (BTreeSet::new(), BTreeSet::new());
        for part in &said {
            if let Said::Results(results) = part {
                for result in results {
                    if !open.remove(&result.id) && !late.remove(&result.id) {
                        return Err(format!("no call waits for the result {}", result.id));
                    }
                }
            }
            if let Some(id) = open.first() {
                return Err(format!("the call {id} has no result"));
            }
            for call in part.calls() {
                let calls = if call.is_async { &mut late } else { &mut open };
                calls.insert(call.id.clone());
            }
        }
        let mut ids = BTreeSet::new();
        for call in said.iter().flat_map(Said::calls) {
            if !ids.insert(&call.id) {
                return Err(format!("two calls have the id {}", call.id));
            }
        }
        match said.last() {
            Some(Said::User(_) | Said::Results(_)) => Ok(said),
            last => Err(format!("nothing is to be answered after {last:?}")),
        }
    }
}

impl Said {
    pub(crate) fn calls(&self) -> &[Called] {
        match self {
            Said::Model(calls) => calls,
            _ => &[],
        }
    }

    pub(crate) fn result(&self, id: &str) -> Option<&str> {
        match self {
            Said::Results(results) => {
                let mut results = results.iter();
                let found = results.find(|result| result.id == id)?;
                Some(&found.text)
            }
            _ => None,
        }
    }
}

fn string(value: &Value) -> Rejected<String> {
    let string = value.as_str().map(str::to_owned);
    string.ok_or_else(|| format!("{value} is not a string"))
}

fn list(value: &Value) -> Rejected<&[Value]> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or_else(|| format!("{value} is not a list with items"))?;
    Ok(list)
}

fn object(value: &Value) -> Rejected<Value> {
    if value.is_object() {
        Ok(value.clone())
    } else {
        Err(format!("{value} is not an object"))
    }
}

/// Reads an object that is sent as a string.
fn object_in(text: &Value) -> Rejected<Value> {
    let text = string(text)?;
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("{text}: {error}"))?;
    object(&value)
}

/// Rejects an object with keys that the provider does not know.
fn only(value: &Value, known: &[&str]) -> Rejected<()> {
    let members = value.as_object().ok_or("not an object")?;
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        Some(unknown) => Err(format!("unknown field `{unknown}`")),
        None => Ok(()),
    }
}

/// Reads the name of a tool, which has a description, and an object as its schema.
fn declared(tool: &Value, schema: &str) -> Rejected<String> {
    string(&tool["description"])?;
    // Google's functions without parameters have none.
    if let Some(schema) = tool.get(schema) {
        let is_object = schema["type"] == "object" || schema["type"] == "OBJECT";
        if !is_object {
            return Err(format!("the schema {schema} is not one of an object"));
        }
    }
    string(&tool["name"])
}

/// Joins results that are messages of their own.
fn push_result(said: &mut Vec<Said>, result: ResultOf) {
    match said.last_mut() {
        Some(Said::Results(results)) => results.push(result),
        _ => said.push(Said::Results(vec![result])),
    }
}

// Chat completions, and the API of Cohere, which is like them.

fn chat_tools(body: &Value) -> Rejected<Vec<String>> {
    let names = list(&body["tools"])?.iter().map(|tool| {
        only(tool, &["type", "function"])?;
        if tool["type"] != "function" {
            return Err(format!("unknown type {}", tool["type"]));
        }
        declared(&tool["function"], "parameters")
    });
    names.collect()
}

fn chat(body: &Value) -> Rejected<Vec<Said>> {
    let mut said = Vec::new();
    for message in list(&body["messages"])? {
        match message["role"].as_str() {
            Some("user") => said.push(Said::User(string(&message["content"])?)),
            Some("assistant") => {
                let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
                let calls = calls.map_or(Ok(&[][..]), list)?;
                if calls.is_empty() && message["content"].is_null() {
                    return Err("the assistant has neither content nor calls".into());
                }
                let calls = calls.iter().map(|call| {
                    Ok(Called {
                        id: string(&call["id"])?,
                        name: string(&call["function"]["name"])?,
                        arguments: object_in(&call["function"]["arguments"])?,
                        is_async: false,
                    })
                });
                said.push(Said::Model(calls.collect::<Rejected<_>>()?));
            }
            Some("tool") => push_result(
                &mut said,
                ResultOf {
                    id: string(&message["tool_call_id"])?,
                    text: string(&message["content"])?,
                },
            ),
            other => return Err(format!("unknown role {other:?}")),
        }
    }
    Ok(said)
}

/// Ids have nine letters and digits, and no message of the user follows results.
fn mistral(body: &Value) -> Rejected<Vec<Said>> {
    let said = chat(body)?;
    for call in said.iter().flat_map(Said::calls) {
        if call.id.len() != 9 || !call.id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("the id {} is not valid", call.id));
        }
    }
    if said
        .windows(2)
        .any(|pair| matches!(pair, [Said::Results(_), Said::User(_)]))
    {
        return Err("unexpected role `user` after role `tool`".into());
    }
    Ok(said)
}

fn chat_calls(turn: &Turn) -> Value {
    let Turn::Calls(calls) = turn else {
        return Value::Null;
    };
    let calls = calls.iter().map(|call| {
        json!({"id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": call.arguments.to_string()}})
    });
    calls.collect()
}

fn write_chat(turn: &Turn) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let reason = match turn {
        Turn::Calls(_) => {
            message["tool_calls"] = chat_calls(turn);
            "tool_calls"
        }
        Turn::Answer(text) => {
            message["content"] = (*text).into();
            "stop"
        }
    };
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1_741_569_952, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}]})
}

fn write_cohere(turn: &Turn) -> Value {
    let (message, reason) = match turn {
        Turn::Calls(_) => (
            json!({"role": "assistant", "tool_plan": "I use tools.", "tool_calls": chat_calls(turn)}),
            "TOOL_CALL",
        ),
        Turn::Answer(text) => (
            json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
            "COMPLETE",
        ),
    };
    json!({"id": "c14c80c3", "finish_reason": reason, "message": message})
}

// The Responses API of OpenAI.

fn responses_tools(body: &Value) -> Rejected<Vec<String>> {
    let names = list(&body["tools"])?.iter().map(|tool| {
        only(
            tool,
            &[
                "type",
                "name",
                "description",
                "parameters",
                "strict",
                "async",
            ],
        )?;
        tool["strict"].as_bool().ok_or("`strict` is missing")?;
        declared(tool, "parameters")
    });
    names.collect()
}

fn responses(body: &Value) -> Rejected<Vec<Said>> {
    let mut said: Vec<Said> = Vec::new();
    for item in list(&body["input"])? {
        match (item["type"].as_str(), item["role"].as_str()) {
            (None | Some("message"), Some("user")) => {
                said.push(Said::User(string(&item["content"])?));
            }
            (Some("message"), Some("assistant")) => said.push(Said::Model(Vec::new())),
            (Some("function_call"), None) => {
                let call = Called {
                    id: string(&item["call_id"])?,
                    name: string(&item["name"])?,
                    arguments: object_in(&item["arguments"])?,
                    is_async: item["async"] == true,
                };
                match said.last_mut() {
                    Some(Said::Model(calls)) => calls.push(call),
                    _ => said.push(Said::Model(vec![call])),
                }
            }
            (Some("function_call_output"), None) => push_result(
                &mut said,
                ResultOf {
                    id: string(&item["call_id"])?,
                    text: string(&item["output"])?,
                },
            ),
            other => return Err(format!("unknown item {other:?}")),
        }
    }
    Ok(said)
}

fn write_responses(turn: &Turn) -> Value {
    let output: Vec<_> = match turn {
        Turn::Calls(calls) => {
            let calls = calls.iter().map(|call| {
                let mut item = json!({"type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
                    "name": call.name, "arguments": call.arguments.to_string(), "status": "completed"});
                if call.is_async {
                    item["async"] = true.into();
                }
                item
            });
            calls.collect()
        }
        Turn::Answer(text) => {
            let text = json!({"type": "output_text", "text": text, "annotations": []});
            vec![
                json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [text]}),
            ]
        }
    };
    json!({"id": "resp_1", "object": "response", "status": "completed", "output": output})
}

// Anthropic's Messages API.

fn anthropic_tools(body: &Value) -> Rejected<Vec<String>> {
    let tools = list(&body["tools"])?.iter();
    tools.map(|tool| declared(tool, "input_schema")).collect()
}

/// Results come first in the message after their calls. The first message is one of the user.
fn anthropic(body: &Value) -> Rejected<Vec<Said>> {
    body["max_tokens"]
        .as_u64()
        .ok_or("`max_tokens` is missing")?;
    let mut said = Vec::new();
    for message in list(&body["messages"])? {
        let content = match &message["content"] {
            Value::String(text) => json!([{"type": "text", "text": text}]),
            content => content.clone(),
        };
        let blocks = list(&content)?;
        match message["role"].as_str() {
            Some("user") => {
                let mut texts = Vec::new();
                let mut results = Vec::new();
                for block in blocks {
                    match block["type"].as_str() {
                        Some("tool_result") if texts.is_empty() => results.push(ResultOf {
                            id: string(&block["tool_use_id"])?,
                            text: string(&block["content"])?,
                        }),
                        Some("text") => texts.push(string(&block["text"])?),
                        other => return Err(format!("a block {other:?} at this place")),
                    }
                }
                if !results.is_empty() {
                    said.push(Said::Results(results));
                }
                if !texts.is_empty() {
                    said.push(Said::User(texts.concat()));
                }
            }
            Some("assistant") if !said.is_empty() => {
                let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
                let calls = calls.map(|block| {
                    Ok(Called {
                        id: string(&block["id"])?,
                        name: string(&block["name"])?,
                        arguments: object(&block["input"])?,
                        is_async: false,
                    })
                });
                said.push(Said::Model(calls.collect::<Rejected<_>>()?));
            }
            other => return Err(format!("the role {other:?} at this place")),
        }
    }
    Ok(said)
}

fn write_anthropic(turn: &Turn) -> Value {
    let (content, reason): (Vec<_>, _) = match turn {
        Turn::Calls(calls) => {
            let calls = calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
            });
            (calls.collect(), "tool_use")
        }
        Turn::Answer(text) => (vec![json!({"type": "text", "text": text})], "end_turn"),
    };
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": reason, "usage": {"input_tokens": 9, "output_tokens": 3}})
}

// Gemini's `generateContent`.

fn gemini_tools(body: &Value) -> Rejected<Vec<String>> {
    let mut names = Vec::new();
    for tool in list(&body["tools"])? {
        for function in list(&tool["functionDeclarations"])? {
            // `behavior` is for the Live API alone.
            only(
                function,
                &["name", "description", "parameters", "parametersJsonSchema"],
            )?;
            let key = match function.get("parameters") {
                Some(_) => "parameters",
                None => "parametersJsonSchema",
            };
            names.push(declared(function, key)?);
        }
    }
    Ok(names)
}

/// Calls have no ids here: the results have the names and the order of the calls.
fn gemini(body: &Value) -> Rejected<Vec<Said>> {
    let mut said: Vec<Said> = Vec::new();
    for (turn, content) in list(&body["contents"])?.iter().enumerate() {
        let parts = list(&content["parts"])?;
        match content["role"].as_str() {
            Some("model") => {
                let calls = parts.iter().filter_map(|part| part.get("functionCall"));
                let calls = calls.enumerate().map(|(index, call)| {
                    Ok(Called {
                        id: format!("{turn}/{index}"),
                        name: string(&call["name"])?,
                        arguments: object(&call["args"])?,
                        is_async: false,
                    })
                });
                said.push(Said::Model(calls.collect::<Rejected<_>>()?));
            }
            Some("user") => {
                let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
                let responses: Vec<_> = responses.collect();
                if responses.is_empty() {
                    let texts = parts.iter().map(|part| string(&part["text"]));
                    said.push(Said::User(texts.collect::<Rejected<Vec<_>>>()?.concat()));
                    continue;
                }
                let calls = said.last().map_or(&[][..], Said::calls);
                if calls.len() != responses.len() || parts.len() != responses.len() {
                    return Err("the number of responses is not the number of calls".into());
                }
                let results = calls.iter().zip(responses).map(|(call, response)| {
                    // `scheduling` is for the Live API alone.
                    only(response, &["name", "response"])?;
                    if response["name"] != *call.name {
                        return Err(format!("the response of {} is {response}", call.name));
                    }
                    object(&response["response"])?;
                    Ok(ResultOf {
                        id: call.id.clone(),
                        text: string(&response["response"]["output"])?,
                    })
                });
                let results = results.collect::<Rejected<_>>()?;
                said.push(Said::Results(results));
            }
            other => return Err(format!("unknown role {other:?}")),
        }
    }
    Ok(said)
}

fn write_gemini(turn: &Turn) -> Value {
    let parts: Vec<_> = match turn {
        Turn::Calls(calls) => {
            let calls = calls
                .iter()
                .map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments}}));
            calls.collect()
        }
        Turn::Answer(text) => vec![json!({"text": text})],
    };
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}]})
}

// Gemini's Interactions API.

fn interactions_tools(body: &Value) -> Rejected<Vec<String>> {
    let names = list(&body["tools"])?.iter().map(|tool| {
        only(tool, &["type", "name", "description", "parameters"])?;
        declared(tool, "parameters")
    });
    names.collect()
}

fn interactions(body: &Value) -> Rejected<Vec<Said>> {
    let text_of = |content: &Value| -> Rejected<String> {
        let texts = list(content)?.iter().map(|part| string(&part["text"]));
        Ok(texts.collect::<Rejected<Vec<_>>>()?.concat())
    };
    let mut said: Vec<Said> = Vec::new();
    for step in list(&body["input"])? {
        match step["type"].as_str() {
            Some("user_input") => said.push(Said::User(text_of(&step["content"])?)),
            Some("model_output") => said.push(Said::Model(Vec::new())),
            Some("function_call") => {
                let call = Called {
                    id: string(&step["id"])?,
                    name: string(&step["name"])?,
                    arguments: object(&step["arguments"])?,
                    is_async: false,
                };
                match said.last_mut() {
                    Some(Said::Model(calls)) => calls.push(call),
                    _ => said.push(Said::Model(vec![call])),
                }
            }
            Some("function_result") => {
                let id = string(&step["call_id"])?;
                let mut calls = said.iter().flat_map(Said::calls);
                let is_named = calls.any(|call| call.id == id && step["name"] == *call.name);
                if !is_named {
                    return Err(format!("no call of {} has the id {id}", step["name"]));
                }
                let text = text_of(&step["result"])?;
                push_result(&mut said, ResultOf { id, text });
            }
            other => return Err(format!("unknown step {other:?}")),
        }
    }
    Ok(said)
}

fn write_interactions(turn: &Turn) -> Value {
    let (steps, status): (Vec<_>, _) = match turn {
        Turn::Calls(calls) => {
            let calls = calls.iter().map(|call| {
                json!({"type": "function_call", "id": call.id, "name": call.name, "arguments": call.arguments})
            });
            (calls.collect(), "requires_action")
        }
        Turn::Answer(text) => {
            let content = json!([{"type": "text", "text": text}]);
            (
                vec![json!({"type": "model_output", "content": content})],
                "completed",
            )
        }
    };
    json!({"id": "v1_1", "object": "interaction", "status": status, "steps": steps})
}

// Bedrock's Converse.

fn bedrock_tools(body: &Value) -> Rejected<Vec<String>> {
    let names = list(&body["toolConfig"]["tools"])?.iter().map(|tool| {
        only(tool, &["toolSpec"])?;
        let mut spec = tool["toolSpec"].clone();
        only(&spec, &["name", "description", "inputSchema", "strict"])?;
        spec["schema"] = spec["inputSchema"]["json"].clone();
        declared(&spec, "schema")
    });
    names.collect()
}

/// The roles alternate.
fn bedrock(body: &Value) -> Rejected<Vec<Said>> {
    let mut said = Vec::new();
    for (index, message) in list(&body["messages"])?.iter().enumerate() {
        let blocks = list(&message["content"])?;
        let expected = ["user", "assistant"][index % 2];
        if message["role"] != expected {
            return Err(format!(
                "the role {} in place of {expected}",
                message["role"]
            ));
        }
        if expected == "assistant" {
            let calls = blocks.iter().filter_map(|block| block.get("toolUse"));
            let calls = calls.map(|call| {
                Ok(Called {
                    id: string(&call["toolUseId"])?,
                    name: string(&call["name"])?,
                    arguments: object(&call["input"])?,
                    is_async: false,
                })
            });
            said.push(Said::Model(calls.collect::<Rejected<_>>()?));
            continue;
        }
        let mut texts = Vec::new();
        let mut results = Vec::new();
        for block in blocks {
            only(block, &["text", "toolResult"])?;
            let Some(result) = block.get("toolResult") else {
                texts.push(string(&block["text"])?);
                continue;
            };
            let id = string(&result["toolUseId"])?;
            let content = list(&result["content"])?.iter();
            let content = content.map(|block| string(&block["text"]));
            let text = content.collect::<Rejected<Vec<_>>>()?.concat();
            results.push(ResultOf { id, text });
        }
        if !results.is_empty() {
            said.push(Said::Results(results));
        }
        if !texts.is_empty() {
            said.push(Said::User(texts.concat()));
        }
    }
    Ok(said)
}

fn write_bedrock(turn: &Turn) -> Value {
    let (content, reason): (Vec<_>, _) = match turn {
        Turn::Calls(calls) => {
            let calls = calls.iter().map(|call| {
                json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
            });
            (calls.collect(), "tool_use")
        }
        Turn::Answer(text) => (vec![json!({"text": text})], "end_turn"),
    };
    json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": reason,
        "usage": {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12}})
}
