//! Each rule accepts and rejects.

use serde_json::{Value, json};
use strict::{Format, Server, check};

/// A conversation in the words of no format.
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

const CALL: Call<'_> = Call {
    id: "abcDEF123",
    name: "get_weather",
    arguments: r#"{"city":"Oslo"}"#,
};

fn user(format: Format, text: &str) -> Value {
    match format {
        Format::Anthropic => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Format::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        Format::Interactions => {
            json!({"type": "user_input", "content": [{"type": "text", "text": text}]})
        }
        Format::Bedrock => json!({"role": "user", "content": [{"text": text}]}),
        _ => json!({"role": "user", "content": text}),
    }
}

/// Returns the messages of a model's turn with these calls.
fn turn(format: Format, calls: &[Call<'_>]) -> Vec<Value> {
    let value =
        |call: &Call<'_>| serde_json::from_str::<Value>(call.arguments).unwrap_or(Value::Null);
    let list =
        |write: &dyn Fn(&Call<'_>) -> Value| -> Vec<Value> { calls.iter().map(write).collect() };
    match format {
        Format::Responses => list(
            &|call| json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}),
        ),
        Format::Anthropic => vec![json!({"role": "assistant", "content": list(&|call| {
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": value(call)})
        })})],
        Format::Gemini => vec![json!({"role": "model", "parts": list(&|call| {
            json!({"functionCall": {"id": call.id, "name": call.name, "args": value(call)}})
        })})],
        Format::Interactions => list(
            &|call| json!({"type": "function_call", "id": call.id, "name": call.name, "arguments": value(call)}),
        ),
        Format::Bedrock => vec![json!({"role": "assistant", "content": list(&|call| {
            json!({"toolUse": {"toolUseId": call.id, "name": call.name, "input": value(call)}})
        })})],
        _ => {
            let calls = list(&|call| {
                json!({"id": call.id, "type": "function",
                       "function": {"name": call.name, "arguments": call.arguments}})
            });
            let mut message = json!({"role": "assistant", "content": "", "tool_calls": calls});
            if format == Format::Chat(Server::DeepSeek) {
                message["reasoning_content"] = "The user asks for the weather.".into();
            }
            vec![message]
        }
    }
}

/// Returns the messages with the results of calls.
fn results(format: Format, calls: &[Call<'_>]) -> Vec<Value> {
    let list =
        |write: &dyn Fn(&Call<'_>) -> Value| -> Vec<Value> { calls.iter().map(write).collect() };
    match format {
        Format::Responses => list(
            &|call| json!({"type": "function_call_output", "call_id": call.id, "output": "12"}),
        ),
        Format::Anthropic => vec![json!({"role": "user", "content": list(&|call| {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": "12"})
        })})],
        Format::Gemini => vec![json!({"role": "user", "parts": list(&|call| {
            json!({"functionResponse": {"id": call.id, "name": call.name, "response": {"output": 12}}})
        })})],
        Format::Interactions => list(&|call| {
            json!({"type": "function_result", "call_id": call.id, "name": call.name,
                   "result": [{"type": "text", "text": "12"}]})
        }),
        Format::Bedrock => vec![json!({"role": "user", "content": list(&|call| {
            json!({"toolResult": {"toolUseId": call.id, "content": [{"text": "12"}]}})
        })})],
        _ => list(&|call| json!({"role": "tool", "tool_call_id": call.id, "content": "12"})),
    }
}

/// Returns the model's answer in words.
fn answer(format: Format) -> Value {
    let text = "12 degrees.";
    match format {
        Format::Responses => {
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        }
        Format::Anthropic => {
            json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
        }
        Format::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        Format::Interactions => {
            json!({"type": "model_output", "content": [{"type": "text", "text": text}]})
        }
        Format::Bedrock => json!({"role": "assistant", "content": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    }
}

/// Returns the request after a turn with these calls, with the results of the others.
fn after(format: Format, calls: &[Call<'_>], answered: &[Call<'_>]) -> Value {
    let mut history = vec![user(format, "How warm is it?")];
    history.extend(turn(format, calls));
    history.extend(results(format, answered));
    format.request(history, &["get_weather"])
}

fn rejected(format: Format, request: &Value, why: &str) {
    match check(format, request) {
        Ok(()) => panic!("{format:?} accepts {request}"),
        Err(error) => assert!(error.contains(why), "{format:?}: {error}, not {why}"),
    }
}

fn accepted(format: Format, request: &Value) {
    if let Err(error) = check(format, request) {
        panic!("{format:?}: {error}: {request}");
    }
}

/// Checks a request whose history is a question and these messages.
fn history(format: Format, messages: Vec<Value>) -> Result<(), String> {
    let mut history = vec![user(format, "How warm is it?")];
    history.extend(messages);
    check(format, &format.request(history, &["get_weather"]))
}

#[test]
fn a_conversation_of_two_rounds_is_accepted_by_all() {
    for format in Format::all() {
        let second = Call {
            id: "zyxWVU987",
            ..CALL
        };
        let mut history = vec![user(format, "How warm is it?")];
        history.extend(turn(format, &[CALL, second]));
        history.extend(results(
            format,
            &[
                CALL,
                Call {
                    id: "zyxWVU987",
                    ..CALL
                },
            ],
        ));
        history.push(answer(format));
        history.push(user(format, "And now?"));
        history.extend(turn(
            format,
            &[Call {
                id: "abcDEF124",
                ..CALL
            }],
        ));
        history.extend(results(
            format,
            &[Call {
                id: "abcDEF124",
                ..CALL
            }],
        ));
        accepted(format, &format.request(history, &["get_weather"]));
    }
}

#[test]
fn arguments_are_objects_everywhere() {
    for format in Format::all() {
        accepted(format, &after(format, &[CALL], &[CALL]));
        accepted(
            format,
            &after(
                format,
                &[Call {
                    arguments: "{}",
                    ..CALL
                }],
                &[CALL],
            ),
        );
        for arguments in [
            "{\"city\":\"Os",
            "",
            "null",
            "[]",
            "\"x\"",
            "{}{}",
            "```json\n{}\n```",
            "True",
        ] {
            let call = Call { arguments, ..CALL };
            // Gemini may leave them out, and null is that.
            let is_absent = serde_json::from_str::<Value>(arguments)
                .unwrap_or_default()
                .is_null();
            let request = after(format, &[call], &[CALL]);
            if format == Format::Gemini && is_absent {
                accepted(format, &request);
            } else {
                rejected(format, &request, "no JSON object");
            }
        }
    }
}

#[test]
fn names_have_the_characters_and_the_length_of_the_format() {
    for format in Format::all() {
        let long = "x".repeat(129);
        let middle = "x".repeat(65);
        let takes_128 = matches!(
            format,
            Format::Responses | Format::Gemini | Format::Interactions
        );
        let takes_dots = matches!(format, Format::Gemini | Format::Interactions);
        for (name, is_valid) in [
            ("A-1_b", true),
            ("", false),
            ("get weather", false),
            ("get_weather<|channel|>commentary", false),
            ("Wetter_für", false),
            ("functions.get_weather", takes_dots),
            ("1st", !takes_dots),
            (middle.as_str(), takes_128),
            (long.as_str(), false),
        ] {
            let call = || Call { name, ..CALL };
            let request = after(format, &[call()], &[call()]);
            if is_valid {
                accepted(format, &request);
            } else {
                rejected(format, &request, "the name");
            }
            let offered = format.request(vec![user(format, "Hello!")], &[name]);
            assert_eq!(
                check(format, &offered).is_ok(),
                is_valid,
                "{format:?}: {name}"
            );
        }
        let twice = format.request(vec![user(format, "Hello!")], &["a", "a"]);
        rejected(format, &twice, "two tools have the name a");
    }
}

#[test]
fn each_call_has_one_result_and_each_result_one_call() {
    let other = || Call {
        id: "zyxWVU987",
        ..CALL
    };
    for format in Format::all() {
        for (calls, answered) in [
            (vec![CALL], vec![]),
            (vec![CALL, other()], vec![CALL]),
            (vec![CALL], vec![other()]),
            (vec![CALL], vec![CALL, CALL]),
            (vec![CALL], vec![CALL, other()]),
            (vec![CALL, CALL], vec![CALL, CALL]),
        ] {
            let request = after(format, &calls, &answered);
            // Without ids, calls of Gemini are told apart by their number alone.
            if format == Format::Gemini && answered.len() == 2 && calls.len() == 2 {
                continue;
            }
            rejected(format, &request, "");
        }
        // The order of results is free.
        accepted(format, &after(format, &[CALL, other()], &[other(), CALL]));
        // A message of the user must not come first, except where results have no place of their own.
        let mut messages = turn(format, &[CALL]);
        messages.push(user(format, "Hello?"));
        messages.extend(results(format, &[CALL]));
        let has_places = !matches!(format, Format::Responses | Format::Interactions);
        assert_eq!(history(format, messages).is_err(), has_places, "{format:?}");
        // A result without any call, and one that comes again in a later round.
        assert!(
            history(format, results(format, &[CALL])).is_err(),
            "{format:?}"
        );
        let mut messages = turn(format, &[CALL]);
        messages.extend(results(format, &[CALL]));
        messages.push(answer(format));
        messages.extend(results(format, &[CALL]));
        assert!(history(format, messages).is_err(), "{format:?}");
    }
}

#[test]
fn ids_have_the_characters_and_the_length_of_the_format() {
    let long = "x".repeat(70);
    let middle = "x".repeat(50);
    for format in Format::all() {
        for (id, reject) in [
            (
                "",
                &Format::all()
                    .filter(|format| *format != Format::Gemini)
                    .collect::<Vec<_>>()[..],
            ),
            ("call_1234", &[Format::Mistral]),
            ("abcDEF1234", &[Format::Mistral]),
            (
                "functions.get_weather:0",
                &[Format::Mistral, Format::Anthropic],
            ),
            (
                "a|b",
                &[Format::Mistral, Format::Anthropic, Format::Bedrock],
            ),
            (
                middle.as_str(),
                &[Format::Mistral, Format::Chat(Server::OpenAi)],
            ),
            (
                long.as_str(),
                &[
                    Format::Mistral,
                    Format::Chat(Server::OpenAi),
                    Format::Responses,
                    Format::Bedrock,
                ],
            ),
        ] {
            let call = || Call { id, ..CALL };
            let request = after(format, &[call()], &[call()]);
            if reject.contains(&format) {
                rejected(format, &request, "the id");
            } else {
                accepted(format, &request);
            }
        }
    }
}

#[test]
fn an_id_may_come_again_in_a_later_round_of_some() {
    for format in Format::all() {
        let mut messages = Vec::new();
        for _ in 0..2 {
            messages.extend(turn(format, &[CALL]));
            messages.extend(results(format, &[CALL]));
        }
        let is_unique = matches!(
            format,
            Format::Anthropic | Format::Responses | Format::Interactions
        );
        assert_eq!(history(format, messages).is_err(), is_unique, "{format:?}");
    }
}

/// Returns the formats that are like chat completions and accept the messages after a question.
fn chats_that_accept(messages: &Value) -> Vec<Format> {
    let others = [Format::Cohere, Format::Mistral, Format::XAi];
    let chats = Server::ALL.map(Format::Chat).into_iter().chain(others);
    chats
        .filter(|format| history(*format, messages.as_array().unwrap().clone()).is_ok())
        .collect()
}

const ALL_CHATS: usize = Server::ALL.len() + 3;

#[test]
fn servers_of_chat_completions_differ_in_contents() {
    let call = json!([{"id": "abcDEF123", "type": "function", "function": {"name": "ping", "arguments": "{}"}}]);
    let result = json!({"role": "tool", "tool_call_id": "abcDEF123", "content": ""});
    let with_calls = |content: Option<Value>| {
        let mut message = json!({"role": "assistant", "tool_calls": call, "reasoning_content": ""});
        if let Some(content) = content {
            message["content"] = content;
        }
        json!([message, result])
    };
    // Groq and Cerebras reject the reasoning.
    assert_eq!(
        chats_that_accept(&with_calls(Some("".into()))).len(),
        ALL_CHATS - 2
    );
    for content in [Some(Value::Null), None] {
        let accept = chats_that_accept(&with_calls(content));
        assert_eq!(accept.len(), ALL_CHATS - 4);
        assert!(!accept.contains(&Format::Chat(Server::LlamaCppPython)));
        assert!(!accept.contains(&Format::XAi));
    }
    assert!(chats_that_accept(&with_calls(Some(json!(5)))).is_empty());
    assert!(chats_that_accept(&with_calls(Some(json!(["text"])))).is_empty());
    assert!(chats_that_accept(&json!([{"role": "assistant", "content": null}])).is_empty());
    let refusal = json!([{"role": "assistant", "content": null, "refusal": "No."}]);
    assert_eq!(chats_that_accept(&refusal), Server::ALL.map(Format::Chat));
    let empty = chats_that_accept(&json!([{"role": "assistant", "content": ""}]));
    assert_eq!(empty, Server::ALL.map(Format::Chat));
    assert!(
        chats_that_accept(&json!([{"role": "assistant", "content": "Hi", "tool_calls": []}]))
            .is_empty()
    );
    assert!(chats_that_accept(&json!([{"role": "user", "content": ""}])).is_empty());
    assert!(chats_that_accept(&json!([{"role": "user", "content": null}])).is_empty());
    assert!(chats_that_accept(&json!([{"role": "bot", "content": "Hi"}])).is_empty());
}

#[test]
fn keys_of_responses_are_rejected_or_required() {
    let with = |key: &str| {
        let mut turn = turn(Format::Chat(Server::OpenAi), &[CALL]).remove(0);
        turn[key] = "The user asks for the weather.".into();
        let result = results(Format::Chat(Server::OpenAi), &[CALL]).remove(0);
        chats_that_accept(&json!([turn, result]))
    };
    let (groq, cerebras) = (Format::Chat(Server::Groq), Format::Chat(Server::Cerebras));
    let deepseek = Format::Chat(Server::DeepSeek);
    let accept = with("reasoning_content");
    assert_eq!(accept.len(), ALL_CHATS - 2);
    assert!(!accept.contains(&groq) && !accept.contains(&cerebras));
    for key in ["channel", "executed_tools"] {
        assert_eq!(with(key).len(), ALL_CHATS - 3, "{key}");
        assert!(!with(key).contains(&groq) && !with(key).contains(&cerebras));
    }
    let accept = with("reasoning");
    assert!(accept.contains(&cerebras) && !accept.contains(&groq) && !accept.contains(&deepseek));
}

#[test]
fn an_item_of_tool_calls_has_a_known_type_and_its_fields() {
    for call in [
        json!({"id": "abcDEF123", "function": {"name": "ping", "arguments": "{}"}}),
        json!({"id": "abcDEF123", "type": "tool", "function": {"name": "ping", "arguments": "{}"}}),
        json!({"id": "abcDEF123", "type": "function", "function": {"name": "ping", "arguments": {}}}),
        json!({"id": "abcDEF123", "type": "function", "function": {"arguments": "{}"}}),
        json!({"id": 5, "type": "function", "function": {"name": "ping", "arguments": "{}"}}),
        json!({"id": "abcDEF123", "type": "custom", "custom": {"name": "run", "input": {}}}),
    ] {
        let message = json!({"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": [call]});
        let result = json!({"role": "tool", "tool_call_id": "abcDEF123", "content": "12"});
        assert_eq!(chats_that_accept(&json!([message, result])), []);
    }
    let call = json!({"id": "a", "type": "custom", "custom": {"name": "run", "input": "SELECT 1"}});
    let message = json!({"role": "assistant", "content": "", "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "12"});
    history(Format::Chat(Server::OpenAi), vec![message, result]).unwrap();
}

#[test]
fn mistral_wants_an_assistant_between_a_result_and_the_user() {
    let mut messages = turn(Format::Mistral, &[CALL]);
    messages.extend(results(Format::Mistral, &[CALL]));
    messages.push(user(Format::Mistral, "And now?"));
    assert_eq!(chats_that_accept(&json!(messages)).len(), ALL_CHATS - 2);
    assert!(
        history(Format::Mistral, messages.clone())
            .unwrap_err()
            .contains("follows a result")
    );
    messages.insert(2, json!({"role": "assistant", "content": "…"}));
    history(Format::Mistral, messages).unwrap();
}

#[test]
fn responses_has_rules_for_items() {
    let format = Format::Responses;
    let reasoning = || json!({"type": "reasoning", "id": "rs_1", "summary": []});
    history(format, vec![reasoning(), answer(format)]).unwrap();
    let mut messages = vec![reasoning()];
    messages.extend(turn(format, &[CALL]));
    messages.extend(results(format, &[CALL]));
    history(format, messages).unwrap();
    let alone = history(format, vec![reasoning(), user(format, "And now?")]);
    assert!(alone.unwrap_err().contains("no item that follows"));
    assert!(history(format, vec![json!({"type": "reasoning"}), answer(format)]).is_err());
    let part =
        |role: &str, kind: &str| json!({"role": role, "content": [{"type": kind, "text": "Hi"}]});
    history(
        format,
        vec![part("assistant", "output_text"), part("user", "input_text")],
    )
    .unwrap();
    assert!(history(format, vec![part("assistant", "input_text")]).is_err());
    assert!(history(format, vec![part("user", "output_text")]).is_err());
    assert!(history(format, vec![json!({"role": "user", "content": null})]).is_err());
    let result = results(format, &[CALL]);
    let mut request = format.request(result, &[]);
    assert!(check(format, &request).is_err());
    request["previous_response_id"] = "resp_1".into();
    check(format, &request).unwrap();
    check(format, &json!({"input": "Hello!"})).unwrap();
    let custom =
        json!({"type": "custom_tool_call", "call_id": "a", "name": "run", "input": "SELECT 1"});
    let output = json!({"type": "custom_tool_call_output", "call_id": "a", "output": "1"});
    history(format, vec![custom, output]).unwrap();
}

#[test]
fn anthropic_has_rules_for_blocks() {
    let format = Format::Anthropic;
    let text = |text: &str| json!({"type": "text", "text": text});
    let said = |blocks: Vec<Value>| {
        history(
            format,
            vec![
                json!({"role": "assistant", "content": blocks}),
                user(format, "Hi"),
            ],
        )
    };
    said(vec![text("12")]).unwrap();
    said(vec![text(" "), text("12")]).unwrap();
    assert!(said(vec![text("")]).unwrap_err().contains("empty"));
    assert!(
        said(vec![text(""), text("12")])
            .unwrap_err()
            .contains("empty")
    );
    assert!(said(vec![text("\n")]).unwrap_err().contains("blank"));
    assert!(said(vec![]).unwrap_err().contains("empty"));
    said(vec![
        json!({"type": "thinking", "thinking": "", "signature": "x"}),
        text("12"),
    ])
    .unwrap();
    assert!(
        said(vec![
            json!({"type": "thinking", "thinking": ""}),
            text("12")
        ])
        .is_err()
    );
    // The last message of the assistant may be empty.
    history(format, vec![json!({"role": "assistant", "content": []})]).unwrap();
    // Results are at the start of the message, and text after them.
    let with = |blocks: Vec<Value>| {
        let mut messages = turn(format, &[CALL]);
        messages.push(json!({"role": "user", "content": blocks}));
        history(format, messages)
    };
    let result = |content: Value, is_error: bool| json!({"type": "tool_result", "tool_use_id": CALL.id, "content": content, "is_error": is_error});
    with(vec![result("12".into(), false), text("And now?")]).unwrap();
    with(vec![result("".into(), false)]).unwrap();
    assert!(with(vec![text("And now?"), result("12".into(), false)]).is_err());
    assert!(
        with(vec![result("".into(), true)])
            .unwrap_err()
            .contains("empty")
    );
    assert!(
        with(vec![result(json!([text("")]), false)])
            .unwrap_err()
            .contains("empty")
    );
    // Messages of the user that follow each other are one.
    let mut messages = turn(format, &[CALL]);
    messages.extend(results(format, &[CALL]));
    messages.push(user(format, "And now?"));
    history(format, messages).unwrap();
    let first = format.request(vec![answer(format)], &[]);
    assert!(check(format, &first).unwrap_err().contains("first"));
    let mut request = after(format, &[CALL], &[CALL]);
    request.as_object_mut().unwrap().remove("tools");
    assert!(check(format, &request).unwrap_err().contains("tools"));
}

#[test]
fn bedrock_has_rules_for_roles_and_blocks() {
    let format = Format::Bedrock;
    let said = |content: Value| {
        history(
            format,
            vec![
                json!({"role": "assistant", "content": content}),
                user(format, "Hi"),
            ],
        )
    };
    said(json!([{"text": "12"}])).unwrap();
    assert!(said(json!([])).is_err());
    assert!(said(json!("12")).is_err());
    assert!(said(json!([{"text": " "}])).unwrap_err().contains("blank"));
    assert!(said(json!([{"text": "12", "image": {}}])).is_err());
    assert!(
        history(format, vec![user(format, "And now?")])
            .unwrap_err()
            .contains("alternate")
    );
    assert!(check(format, &format.request(vec![answer(format)], &[])).is_err());
    let result = |result: Value| {
        let mut messages = turn(format, &[CALL]);
        let mut block = json!({"toolResult": {"toolUseId": CALL.id}});
        block["toolResult"]
            .as_object_mut()
            .unwrap()
            .extend(result.as_object().unwrap().clone());
        messages.push(json!({"role": "user", "content": [block]}));
        history(format, messages)
    };
    result(json!({"content": [{"text": ""}]})).unwrap();
    result(json!({"content": [{"json": {}}], "status": "error"})).unwrap();
    assert!(result(json!({"content": []})).is_err());
    assert!(result(json!({"content": [{"json": []}]})).is_err());
    assert!(result(json!({"content": [{"text": "12"}], "status": "failed"})).is_err());
    let mut request = after(format, &[CALL], &[CALL]);
    request.as_object_mut().unwrap().remove("toolConfig");
    assert!(check(format, &request).unwrap_err().contains("toolConfig"));
    let mut request = format.request(vec![user(format, "Hi")], &[]);
    request["toolConfig"] = json!({"tools": []});
    assert!(check(format, &request).unwrap_err().contains("toolConfig"));
    // A call that Bedrock ran has its result beside it.
    said(json!([
        {"toolUse": {"toolUseId": "a", "name": "search", "input": {}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "a", "content": []}},
    ]))
    .unwrap();
}

#[test]
fn gemini_has_rules_for_parts_and_turns() {
    let format = Format::Gemini;
    let said = |parts: Value| {
        history(
            format,
            vec![json!({"role": "model", "parts": parts}), user(format, "Hi")],
        )
    };
    said(json!([{"text": "12"}])).unwrap();
    said(json!([{"text": "", "thoughtSignature": "x"}])).unwrap();
    assert!(said(json!([])).is_err());
    assert!(said(json!([{"text": ""}])).unwrap_err().contains("no data"));
    assert!(said(json!([{}])).unwrap_err().contains("no data"));
    assert!(
        history(
            format,
            vec![json!({"role": "assistant", "parts": [{"text": "12"}]})]
        )
        .is_err()
    );
    // Ids may be missing, in both.
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "ping"}}]});
    let result =
        |response: Value| json!({"role": "user", "parts": [{"functionResponse": response}]});
    history(
        format,
        vec![
            call.clone(),
            result(json!({"name": "ping", "response": {}})),
        ],
    )
    .unwrap();
    for response in [
        json!({"name": "pong", "response": {}}),
        json!({"name": "ping", "response": "12"}),
        json!({"id": "made", "name": "ping", "response": {}}),
    ] {
        assert!(history(format, vec![call.clone(), result(response)]).is_err());
    }
    // Calls follow the user or results.
    let mut messages = vec![answer(format)];
    messages.extend(turn(format, &[CALL]));
    messages.extend(results(format, &[CALL]));
    assert!(history(format, messages).unwrap_err().contains("follow"));
}

#[test]
fn interactions_has_rules_for_results() {
    let format = Format::Interactions;
    let mut messages = turn(format, &[CALL]);
    messages.extend(results(
        format,
        &[Call {
            name: "ping",
            ..CALL
        }],
    ));
    assert!(
        history(format, messages)
            .unwrap_err()
            .contains("is for a call of get_weather")
    );
    let mut request = format.request(results(format, &[CALL]), &[]);
    assert!(check(format, &request).is_err());
    request["previous_interaction_id"] = "int_1".into();
    check(format, &request).unwrap();
}

#[test]
fn a_request_without_messages_is_rejected() {
    for format in Format::all() {
        assert!(check(format, &json!({})).is_err());
        assert!(check(format, &format.request(vec![], &[])).is_err());
        assert!(check(format, &json!("text")).is_err());
    }
}

#[test]
fn each_dialect_has_its_formats() {
    assert_eq!(Format::of("openai-chat").count(), Server::ALL.len());
    for format in Format::all() {
        assert!(Format::of(format.dialect()).any(|found| found == format));
    }
    assert_eq!(Format::of("mcp").count(), 0);
}
