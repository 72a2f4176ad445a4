//! What expects an answer and is no call: nothing that a provider asks is passed over.

use properties::random::Random;
use serde_json::{Map, Value, json};
use tool_core::ToolCall;
use tool_core::dialect::{Dialect, StreamEvent, Turn, Unanswered};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::streams::{self, split};

/// The committed table: for each provider, every kind of part that its package has, and what the part expects: a
/// `call` that the registry runs, an `approval`, an answer that is `unanswered`, or `none`.
pub(super) fn table() -> Map<String, Value> {
    serde_json::from_str(include_str!("../../oracles/answers.json")).unwrap()
}

/// Returns the kind of a part: its type, or the only key.
pub(super) fn kind(part: &Value) -> &str {
    let key = part.as_object().and_then(|part| part.keys().next());
    part["type"].as_str().or(key.map(String::as_str)).unwrap()
}

/// Returns the dialects of a provider in the table, a response with these parts, and the events of its stream.
fn response(provider: &str, parts: &[Value]) -> (Vec<Box<dyn Dialect>>, Value, Vec<Value>) {
    match provider {
        "openai-responses" => {
            let response = json!({"status": "completed", "output": parts});
            let items = parts.iter().enumerate().flat_map(|(index, item)| {
                let event = |kind| json!({"type": format!("response.output_item.{kind}"), "output_index": index, "item": item});
                [event("added"), event("done")]
            });
            let end = json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
            let events = items.chain([end]).collect();
            (vec![Box::new(OpenAiResponses::default())], response, events)
        }
        "anthropic" => {
            let response =
                json!({"role": "assistant", "content": parts, "stop_reason": "end_turn"});
            let mut events = vec![json!({"type": "message_start", "message": {"content": []}})];
            for (index, block) in parts.iter().enumerate() {
                events.push(
                    json!({"type": "content_block_start", "index": index, "content_block": block}),
                );
                events.push(json!({"type": "content_block_stop", "index": index}));
            }
            events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
            events.push(json!({"type": "message_stop"}));
            (vec![Box::new(Anthropic::default())], response, events)
        }
        "gemini" => {
            let response = json!({"candidates": [{"content": {"role": "model", "parts": parts},
                "finishReason": "STOP"}]});
            let events = vec![response.clone()];
            (vec![Box::new(Gemini::default())], response, events)
        }
        "gemini-interactions" => {
            let response = json!({"status": "completed", "steps": parts});
            let steps = parts.iter().enumerate().flat_map(|(index, step)| {
                let start = json!({"event_type": "step.start", "index": index, "step": step});
                [start, json!({"event_type": "step.stop", "index": index})]
            });
            let end = json!({"event_type": "interaction.completed", "interaction": {"status": "completed"}});
            let events = steps.chain([end]).collect();
            (
                vec![Box::new(GeminiInteractions::default())],
                response,
                events,
            )
        }
        "bedrock" => {
            let response = json!({"output": {"message": {"role": "assistant", "content": parts}},
                "stopReason": "end_turn"});
            let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
            for (index, block) in parts.iter().enumerate() {
                let (event, key) = if kind(block).ends_with("Use") {
                    ("contentBlockStart", "start")
                } else {
                    ("contentBlockDelta", "delta")
                };
                events.push(json!({event: {"contentBlockIndex": index, key: block}}));
                events.push(json!({"contentBlockStop": {"contentBlockIndex": index}}));
            }
            events.push(json!({"messageStop": {"stopReason": "end_turn"}}));
            (vec![Box::new(Bedrock::default())], response, events)
        }
        _ => chat(provider, parts),
    }
}

/// Returns the same for chat completions, whose parts are calls or members of the message.
fn chat(provider: &str, parts: &[Value]) -> (Vec<Box<dyn Dialect>>, Value, Vec<Value>) {
    let mut message = json!({"role": "assistant"});
    if provider.ends_with(" calls") {
        message["tool_calls"] = parts.into();
    } else {
        for part in parts {
            let members = part.as_object().unwrap().clone();
            message.as_object_mut().unwrap().extend(members);
        }
    }
    if provider.starts_with("cohere") {
        let mut events = vec![json!({"type": "message-start", "delta": {"message": {}}})];
        for (index, call) in message["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            let delta = json!({"message": {"tool_calls": call}});
            events.push(json!({"type": "tool-call-start", "index": index, "delta": delta}));
            events.push(json!({"type": "tool-call-end", "index": index}));
        }
        events.push(json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}));
        let response = json!({"message": message, "finish_reason": "COMPLETE"});
        return (vec![Box::new(Cohere::default())], response, events);
    }
    let chunk = |delta: &Value, stop: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]});
    let events = vec![
        chunk(&message, Value::Null),
        chunk(&json!({}), "stop".into()),
    ];
    let response = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let dialects: Vec<Box<dyn Dialect>> = if provider.starts_with("mistral") {
        vec![Box::new(Mistral::default())]
    } else {
        vec![Box::new(OpenAiChat::default()), Box::new(XAi::default())]
    };
    (dialects, response, events)
}

/// Reads a response with these parts, whole and streamed.
fn read(provider: &str, parts: &[Value]) -> Turn {
    let (dialects, response, events) = response(provider, parts);
    let turns = dialects.iter().map(|dialect| {
        let whole = dialect.read(&response);
        let whole = whole.unwrap_or_else(|error| panic!("{provider} {parts:?}: {error}"));
        let streamed = streams::read(&**dialect, &events);
        let (streamed, response) = (streamed.turn, streamed.response);
        assert!(response.is_ok(), "{provider} {parts:?}: {response:?}");
        assert_eq!(
            streamed.unanswered, whole.unanswered,
            "{provider} {parts:?}"
        );
        let ids = |turn: &Turn| {
            let ids = turn.calls.iter().map(|call| call.id.clone());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(ids(&streamed), ids(&whole), "{provider} {parts:?}");
        let approvals = |turn: &Turn| {
            let calls = turn.calls.iter().filter(|call| call.server().is_some());
            calls.cloned().collect::<Vec<_>>()
        };
        assert_eq!(approvals(&streamed), approvals(&whole));
        // Whoever runs calls as they arrive sees them, too.
        assert_eq!(arrived(dialect, &events), approvals(&whole));
        whole
    });
    let mut turns: Vec<_> = turns.collect();
    turns.pop().unwrap()
}

/// Returns the requests for approvals among the events of a stream.
fn arrived(dialect: &dyn Dialect, events: &[Value]) -> Vec<ToolCall> {
    let mut reader = dialect.stream();
    let events = events.iter().flat_map(|event| reader.event(event).unwrap());
    let calls = events.filter_map(|event| match event {
        StreamEvent::Call(call) if call.server().is_some() => Some(call),
        _ => None,
    });
    calls.collect()
}

/// Checks what a part expects. What is unanswered is the part as it came.
pub(super) fn check(provider: &str, part: &Value, answer: &str) {
    let turn = read(provider, std::slice::from_ref(part));
    let found = match (turn.calls.len(), &*turn.unanswered) {
        (1, []) if turn.calls[0].approvals().is_empty() => "call",
        (1, []) => "approval",
        (0, [asked]) => {
            assert_eq!(asked.kind, kind(part), "{provider}");
            // The call of the form before tools is a member of the message.
            assert!(
                asked.item == *part || asked.item == part[&asked.kind],
                "{asked:?}"
            );
            "unanswered"
        }
        (0, []) => "none",
        _ => panic!("{provider}: {turn:?}"),
    };
    assert_eq!(found, answer, "{provider}: {part}");
}

#[test]
fn every_kind_of_part_expects_what_the_table_says() {
    let mut counts = [0; 4];
    for (provider, rows) in table() {
        for row in rows.as_array().unwrap() {
            let answer = row["answer"].as_str().unwrap();
            let answers = ["call", "unanswered", "none", "approval"];
            counts[answers.iter().position(|known| *known == answer).unwrap()] += 1;
            check(&provider, &row["part"], answer);
        }
    }
    assert!(
        counts[0] >= 7 && counts[1] >= 5 && counts[2] > 70 && counts[3] == 1,
        "{counts:?}"
    );
}

/// Returns the kind and the id of what is unanswered.
fn asked(turn: &Turn) -> Vec<(&str, Option<&str>)> {
    let asked = turn.unanswered.iter();
    asked
        .map(|asked| (&*asked.kind, asked.id.as_deref()))
        .collect()
}

/// An answer in the response itself is the provider's.
#[test]
fn what_the_provider_answers_is_not_unanswered() {
    let shell =
        json!({"type": "shell_call", "id": "s", "call_id": "c", "action": {"commands": ["ls"]}});
    let output = json!({"type": "shell_call_output", "id": "o", "call_id": "c", "output": []});
    let other = json!({"type": "shell_call_output", "id": "o", "call_id": "d", "output": []});
    let provider = "openai-responses";
    assert_eq!(asked(&read(provider, &[shell.clone(), output])), []);
    let turn = read(provider, &[shell.clone(), other]);
    assert_eq!(asked(&turn), [("shell_call", Some("c"))]);
    // A container is the provider's, also while it has no output yet.
    let mut hosted = shell.clone();
    hosted["environment"] = json!({"type": "container_reference", "container_id": "cntr_1"});
    assert_eq!(asked(&read(provider, &[hosted])), []);
    let mut local = shell;
    local["environment"] = json!({"type": "local"});
    assert_eq!(asked(&read(provider, &[local])).len(), 1);

    let local = json!({"type": "local_shell_call", "id": "l", "call_id": "c"});
    let output = json!({"type": "local_shell_call_output", "id": "c", "output": "{}"});
    assert_eq!(asked(&read(provider, &[local, output])), []);
    let request = json!({"type": "mcp_approval_request", "id": "m", "server_label": "tickets",
        "name": "close", "arguments": "{}"});
    let response = json!({"type": "mcp_approval_response", "approval_request_id": "m"});
    let answered = read(provider, &[request.clone(), response]);
    assert_eq!((asked(&answered), answered.calls.len()), (vec![], 0));
    assert_eq!(read(provider, &[request]).calls.len(), 1);

    let search = |execution: &str| json!({"type": "tool_search_call", "id": "t", "call_id": "c", "execution": execution});
    assert_eq!(asked(&read(provider, &[search("server")])), []);
    assert_eq!(
        asked(&read(provider, &[search("client")])),
        [("tool_search_call", Some("c"))]
    );

    let used = json!({"type": "future_use", "id": "u", "input": {}});
    let result = json!({"type": "future_result", "tool_use_id": "u"});
    assert_eq!(asked(&read("anthropic", &[used.clone(), result])), []);
    let mut paused = response_of_anthropic(used);
    assert_eq!(asked(&Anthropic::default().read(&paused).unwrap()).len(), 1);
    paused["stop_reason"] = "pause_turn".into();
    assert_eq!(asked(&Anthropic::default().read(&paused).unwrap()), []);

    let call = json!({"futureCall": {"id": "g"}});
    let answer = json!({"futureResponse": {"id": "g"}});
    assert_eq!(asked(&read("gemini", &[call, answer])), []);
    let call = json!({"type": "tool_search_call", "id": "s", "arguments": {}});
    let result = json!({"type": "tool_search_result", "call_id": "s", "result": []});
    let provider = "gemini-interactions";
    assert_eq!(asked(&read(provider, &[call.clone(), result])), []);
    let other = json!({"type": "tool_search_result", "call_id": "t", "result": []});
    assert_eq!(
        asked(&read(provider, &[call, other])),
        [("tool_search_call", Some("s"))]
    );
    // An agent's own call.
    let call = json!({"type": "function_call", "id": "f", "name": "list_files", "arguments": {}});
    let result = json!({"type": "function_result", "call_id": "f", "result": "none"});
    let steps = [call.clone(), result];
    let own = json!({"status": "completed", "agent": "antigravity", "steps": steps});
    let turn = GeminiInteractions::agent().read(&own).unwrap();
    assert_eq!((turn.calls.len(), turn.messages.len()), (0, 2));
    let used = json!({"futureUse": {"toolUseId": "b"}});
    let result = json!({"futureResult": {"toolUseId": "b"}});
    assert_eq!(asked(&read("bedrock", &[used, result])), []);
    let server =
        json!({"toolUse": {"toolUseId": "b", "name": "x", "input": {}, "type": "server_tool_use"}});
    assert_eq!(asked(&read("bedrock", &[server])), []);

    let messages = [
        json!({"role": "assistant", "tool_calls": [{"id": "h", "type": "connector"}]}),
        json!({"role": "tool", "tool_call_id": "h"}),
        json!({"role": "assistant", "tool_calls": [{"id": "i", "type": "connector"}]}),
    ];
    let turn = Mistral::default().read(&json!({"choices": [{"messages": messages}]}));
    assert_eq!(asked(&turn.unwrap()), [("connector", Some("i"))]);
}

/// A request for an approval is a call that comes with it, after the calls of tools.
#[test]
fn a_request_for_an_approval_is_a_call_that_asks() {
    let provider = "openai-responses";
    let request = |id: &str| {
        json!({"type": "mcp_approval_request", "id": id, "server_label": "tickets",
        "name": "close", "arguments": "{\"id\":7}"})
    };
    let function =
        json!({"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"});
    let turn = read(provider, &[request("m"), function, request("n")]);
    let calls: Vec<_> = turn
        .calls
        .iter()
        .map(|call| (&*call.id, &*call.name))
        .collect();
    assert_eq!(
        calls,
        [("c", "add"), ("m", "tickets/close"), ("n", "tickets/close")]
    );
    let call = &turn.calls[1];
    assert_eq!(
        (call.server(), call.approvals().len()),
        (Some("tickets"), 1)
    );
    assert_eq!(call.arguments.text(), r#"{"id":7}"#);
    assert_eq!(turn.messages.len(), 3);

    // One answer would be for both.
    let turn = read(provider, &[request("m"), request("m"), request("n")]);
    assert_eq!(asked(&turn), [("mcp_approval_request", Some("m")); 2]);
    assert_eq!(turn.calls.len(), 1);
    // What can't be shown or answered is no question to a person.
    for key in ["server_label", "name", "arguments", "id"] {
        for value in [json!(null), json!(7)] {
            let mut broken = request("m");
            broken[key] = value;
            let turn = read(provider, &[broken]);
            assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, 1), "{key}");
        }
    }
    // A response that was cut off: the last item may be incomplete.
    let dialect = OpenAiResponses::default();
    let mut cut = request("n");
    cut["arguments"] = "{\"id\":".into();
    let response = json!({"status": "incomplete", "output": [request("m"), cut]});
    let whole = dialect.read(&response).unwrap();
    let event = json!({"type": "response.incomplete", "response": response});
    let streamed = streams::read(&dialect, &[event]).turn;
    for turn in [whole, streamed] {
        let truncated: Vec<_> = turn.calls.iter().map(ToolCall::is_truncated).collect();
        assert_eq!(truncated, [false, true]);
    }
}

/// However a stream breaks off, either all of its approvals are asked or the response is an error.
#[test]
fn a_stream_with_approvals_may_break_off_anywhere() {
    let request = |id: &str| {
        json!({"type": "mcp_approval_request", "id": id, "server_label": "tickets",
        "name": "close", "arguments": "{}"})
    };
    let (dialects, _, events) = response("openai-responses", &[request("m"), request("n")]);
    for end in 0..=events.len() {
        let read = streams::read(&*dialects[0], &events[..end]);
        assert_eq!(read.response.is_ok(), end == events.len());
        let calls = arrived(&*dialects[0], &events[..end]);
        assert_eq!(calls.len(), if end == events.len() { 2 } else { 0 });
    }
}

fn response_of_anthropic(block: Value) -> Value {
    json!({"content": [block], "stop_reason": "end_turn"})
}

/// What is newer than this version, by the rules `*.answers`.
#[test]
fn an_unknown_part_with_the_form_of_a_request_is_unanswered() {
    let asks = [
        (
            "openai-responses",
            json!({"type": "future_call", "id": "i", "call_id": "c"}),
            Some("c"),
        ),
        (
            "openai-responses",
            json!({"type": "future_request", "id": "i"}),
            Some("i"),
        ),
        ("openai-responses", json!({"type": "future_request"}), None),
        (
            "anthropic",
            json!({"type": "future_use", "id": "u"}),
            Some("u"),
        ),
        (
            "openai-chat calls",
            json!({"id": "i", "type": "future"}),
            Some("i"),
        ),
        (
            "mistral calls",
            json!({"id": "i", "type": "future"}),
            Some("i"),
        ),
        (
            "cohere calls",
            json!({"id": "i", "type": "future"}),
            Some("i"),
        ),
        ("gemini", json!({"futureCall": {"id": "g"}}), Some("g")),
        ("gemini", json!({"futureRequest": {}}), None),
        (
            "gemini-interactions",
            json!({"type": "future_call", "id": "g"}),
            Some("g"),
        ),
        (
            "gemini-interactions",
            json!({"type": "future_request"}),
            None,
        ),
        (
            "bedrock",
            json!({"futureUse": {"toolUseId": "b"}}),
            Some("b"),
        ),
    ];
    for (provider, part, id) in asks {
        let turn = read(provider, std::slice::from_ref(&part));
        assert_eq!(asked(&turn), [(kind(&part), id)], "{provider}");
    }
    let asks_nothing = [
        (
            "openai-responses",
            json!({"type": "future_item", "id": "i"}),
        ),
        (
            "openai-responses",
            json!({"type": "future_call_output", "call_id": "c"}),
        ),
        ("anthropic", json!({"type": "future_block"})),
        (
            "anthropic",
            json!({"type": "future_result", "id": "r", "tool_use_id": "u"}),
        ),
        ("gemini", json!({"futureMetadata": {"id": "g"}})),
        ("gemini", json!({"futureCall": "text"})),
        (
            "gemini-interactions",
            json!({"type": "future_step", "id": "g"}),
        ),
        (
            "gemini-interactions",
            json!({"type": "future_result", "id": "r", "call_id": "g"}),
        ),
        ("bedrock", json!({"futureBlock": {}})),
    ];
    for (provider, part) in asks_nothing {
        assert_eq!(asked(&read(provider, &[part])), [], "{provider}");
    }
}

/// Gemini's status tells it even where no step does.
#[test]
fn an_interaction_that_requires_an_action_asks_for_one() {
    let read = |steps: Value| {
        let response = json!({"status": "requires_action", "steps": steps});
        GeminiInteractions::default().read(&response).unwrap()
    };
    let confirmation = json!({"type": "future_confirmation", "id": "c"});
    let turn = read(json!([{"type": "thought"}, confirmation]));
    assert_eq!(asked(&turn), [("future_confirmation", Some("c"))]);
    let call = json!({"type": "function_call", "id": "f", "name": "add", "arguments": {}});
    assert_eq!(asked(&read(json!([call, confirmation]))), []);
    assert_eq!(asked(&read(json!([]))), []);
}

/// A call of the form before tools counts if there are no others: some servers send both.
#[test]
fn a_call_of_the_form_before_tools_is_unanswered() {
    let old = json!({"function_call": {"name": "add", "arguments": "{}"}});
    let new = json!({"tool_calls": [{"id": "i", "type": "function",
        "function": {"name": "add", "arguments": "{}"}}]});
    assert_eq!(
        asked(&read("openai-chat", std::slice::from_ref(&old))),
        [("function_call", None)]
    );
    let both = read("openai-chat", &[old, new]);
    assert_eq!((both.calls.len(), both.unanswered.len()), (1, 0));
    let empty = json!({"function_call": {"name": "", "arguments": ""}});
    assert_eq!(asked(&read("openai-chat", &[empty])), []);
}

#[test]
fn other_requests_of_a_client_are_unanswered() {
    let messages = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "add"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]);
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    let turn = Mcp::default().read(&ping).unwrap();
    assert_eq!(asked(&turn), [("ping", Some("p"))]);
    let turn = Mcp::default().read(&messages).unwrap();
    assert_eq!(turn.calls.len(), 1);
    assert_eq!(asked(&turn), [("tools/list", Some("1"))]);
    let streamed = streams::read(&Mcp::default(), messages.as_array().unwrap());
    assert_eq!(streamed.turn.unanswered, turn.unanswered);
}

/// Commands and arguments may be secret.
#[test]
fn the_item_is_not_shown() {
    let item = json!({"type": "shell_call", "call_id": "c", "action": {"commands": ["hunter2"]}});
    let turn = read("openai-responses", &[item]);
    assert!(!format!("{turn:?}").contains("hunter2"));
    assert!(format!("{turn:?}").contains("shell_call"));
    assert_eq!(turn.unanswered[0].to_string(), r#""shell_call" ("c")"#);
    let long = Unanswered::new("k".repeat(10_000), Some("i".repeat(10_000)), json!({}));
    assert!(long.to_string().len() < 500);
}

/// Every beginning of a stream, and every stream in disorder: an error or a response, but no panic, and what is unanswered
/// is in the response.
#[test]
fn streams_with_requests_may_break_off_anywhere() {
    let (mut broken, mut found) = (0, 0);
    for (provider, dialect) in split::dialects() {
        let mut random = Random::named(provider, 7);
        for _ in 0..20 {
            let (stream, _) = split::random(provider, &mut random);
            let beginnings = (0..=stream.len()).map(|end| stream[..end].to_vec());
            let swapped = (1..stream.len()).map(|at| {
                let mut stream = stream.clone();
                stream.swap(at - 1, at);
                stream
            });
            let dropped = (0..stream.len()).map(|at| {
                let mut stream = stream.clone();
                stream.remove(at);
                stream
            });
            for stream in beginnings.chain(swapped).chain(dropped) {
                let read = streams::read(&*dialect, &stream);
                let Ok(response) = &read.response else {
                    broken += 1;
                    continue;
                };
                found += read.turn.unanswered.len();
                let whole = dialect.read(response).unwrap();
                assert_eq!(read.turn.unanswered, whole.unanswered, "{provider}");
            }
        }
    }
    assert!(broken > 500 && found > 100, "{broken} {found}");
}
