//! Streamed responses: each equals the response as if it had not been streamed.

pub(super) mod disorder;
pub(super) mod recorded;
pub(super) mod split;

use std::collections::BTreeSet;

use properties::random::Random;
use serde_json::{Value, json};
use tool_core::call::Arguments;
use tool_core::dialect::HostedTool;
use tool_core::dialect::write::{EventJson, JsonWriter, ParseError, ValueLimit};
use tool_core::dialect::{Dialect, ResponseError, StreamEvent, StreamReader, Turn};
use tool_core::{ToolCall, ToolEntry, ToolErrorKind, ToolResult};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

/// What a reader returned: all events, and the end.
pub(super) struct Read {
    events: Vec<StreamEvent>,
    pub(super) turn: Turn,
    pub(super) response: Result<Value, ResponseError>,
}

/// Reads a stream, and checks that its bytes and its texts are read as its events are.
pub(super) fn read(dialect: &dyn Dialect, stream: &[Value]) -> Read {
    let mut reader = dialect.stream();
    let mut of_bytes = dialect.stream();
    let mut of_json = dialect.stream();
    let mut limit = ValueLimit::default();
    let mut events = Vec::new();
    for event in stream {
        let read = reader.event(event);
        let text = match event.as_str() {
            Some(done) => done.to_owned(),
            None => event.to_string(),
        };
        let bytes = format!("data: {text}\n\n");
        assert_eq!(of_bytes.bytes(bytes.as_bytes()), read, "{event}");
        let json = EventJson::parse(text, &mut limit).unwrap();
        assert_eq!(of_json.json(&json), read, "{event}");
        match read {
            Ok(more) => events.extend(more),
            Err(error) => {
                // Every later method returns the same error.
                assert_eq!(reader.event(event).unwrap_err(), error);
                assert_eq!(of_json.json(&json).unwrap_err(), error);
                assert_eq!(reader.finish().unwrap_err(), error);
                return Read {
                    events,
                    turn: Turn::default(),
                    response: Err(error),
                };
            }
        }
    }
    let finished = reader.finish();
    assert_eq!(of_bytes.finish(), finished);
    assert_eq!(of_json.finish(), finished);
    let (turn, response) = match finished {
        Ok((turn, response)) => (turn, Ok(response)),
        Err(error) => (Turn::default(), Err(error)),
    };
    Read {
        events,
        turn,
        response,
    }
}

/// Reads a stream that ends with `[DONE]`.
fn read_to_end(dialect: &dyn Dialect, stream: &[Value]) -> Read {
    read(dialect, &[stream, &[json!("[DONE]")]].concat())
}

impl Read {
    fn calls(&self) -> Vec<&ToolCall> {
        let calls = self.events.iter().filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call),
            _ => None,
        });
        calls.collect()
    }

    fn text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            StreamEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn error(&self) -> String {
        self.response.as_ref().unwrap_err().to_string()
    }
}

/// Returns everything about a call that its tool and its result see. Arguments compare as values.
fn shown(call: &ToolCall) -> (String, String, Result<Value, String>, bool) {
    let arguments = call.arguments.to_object().map(Value::Object);
    let arguments = arguments.map_err(|_| match &call.arguments {
        Arguments::Text(text) | Arguments::Freeform(text) => text.clone(),
        Arguments::Json(value) => value.to_string(),
    });
    (
        call.id.clone(),
        call.name.clone(),
        arguments,
        call.is_truncated(),
    )
}

/// Returns a turn with arguments that are values: those of a stream may be text.
fn with_values(turn: &Turn) -> Turn {
    let mut turn = turn.clone();
    for call in &mut turn.calls {
        if let Ok(object) = call.arguments.to_object() {
            call.arguments = object.into();
        }
    }
    turn
}

/// Checks the events of a stream against the response as if it had not been streamed.
fn check(name: &str, dialect: &dyn Dialect, stream: &[Value], expected: &Value) {
    let read = read_to_end(dialect, stream);
    let response = read.response.as_ref();
    let response = response.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(response, expected, "{name}");
    let turn = dialect.read(response).unwrap();
    // A call without arguments is emitted late.
    let mut emitted = read.calls();
    emitted.sort_by_key(|call| turn.calls.iter().position(|other| other.id == call.id));
    assert!(emitted.into_iter().eq(&read.turn.calls), "{name}");
    assert_eq!(read.text(), turn.text, "{name}");
    assert_eq!(with_values(&read.turn), with_values(&turn), "{name}");
    check_pieces(name, &read);
}

/// Checks that calls start before they are complete, and that the pieces are their arguments.
fn check_pieces(name: &str, read: &Read) {
    let mut started: Vec<(String, String)> = Vec::new();
    for event in &read.events {
        match event {
            StreamEvent::CallStarted { index, id, .. } => {
                assert_eq!(*index, started.len(), "{name}");
                started.push((id.clone(), String::new()));
            }
            StreamEvent::Arguments { index, piece } => started[*index].1.push_str(piece),
            StreamEvent::Call(call) => {
                let mut known = started.iter().filter(|(id, _)| *id == call.id);
                let pieces = known.next().unwrap_or_else(|| panic!("{name}: {call:?}"));
                if let (Arguments::Text(text), false) = (&call.arguments, call.is_truncated()) {
                    assert_eq!(*text, pieces.1, "{name}");
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_recorded_stream_gives_the_response_as_if_it_had_not_been_streamed() {
    for case in recorded::cases() {
        check(case.name, &*case.dialect, &case.stream, &case.response);
        let read = read_to_end(&*case.dialect, &case.stream);
        assert_eq!(read.calls().len(), case.calls, "{}", case.name);
        let has = |is: fn(&StreamEvent) -> bool| read.events.iter().any(is);
        let name = case.name;
        assert!(has(|event| matches!(event, StreamEvent::Text(_))), "{name}");
        if !name.starts_with("mcp") {
            assert!(has(|event| matches!(event, StreamEvent::Stop(_))), "{name}");
            let usage = read.events.iter().rev().find_map(|event| match event {
                StreamEvent::Usage(usage) => Some(*usage),
                _ => None,
            });
            let usage = usage.unwrap();
            assert_eq!((usage.input, usage.output), (82, 17), "{name}");
        }
        assert!(
            !has(|event| matches!(event, StreamEvent::Unknown(_))),
            "{name}: {:?}",
            read.events
        );
    }
}

/// Replaces every string of `old`.
fn replaced(value: &Value, old: &[String], new: &Value) -> Value {
    match value {
        Value::String(text) if old.contains(text) => new.clone(),
        Value::Array(items) => items.iter().map(|item| replaced(item, old, new)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| (key.clone(), replaced(value, old, new)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// A model may repeat an id or leave it out. The next request still answers each call by an id of its own,
/// whether the response is streamed or not.
#[test]
fn calls_without_an_id_of_their_own_get_one() {
    for case in recorded::cases() {
        let name = case.name;
        let ids = case.dialect.read(&case.response).unwrap().calls;
        let ids: Vec<_> = ids.into_iter().map(|call| call.id).collect();
        assert!(ids.len() > 1, "{name}");
        // The ids that would be made, too.
        for id in [json!(""), json!(null), json!("d"), json!("call00001")] {
            let response = replaced(&case.response, &ids, &id);
            let turn = case.dialect.read(&response).unwrap();
            assert_eq!(turn.calls.len(), ids.len(), "{name}");
            let unique: BTreeSet<_> = turn.calls.iter().map(|call| &call.id).collect();
            assert_eq!(unique.len(), ids.len(), "{name}: {unique:?}");
            let results: Vec<_> = turn
                .calls
                .iter()
                .map(|call| ToolResult::new(call, "done"))
                .collect();
            let sent = json!(case.dialect.follow_up(&turn, &results)).to_string();
            let received = case.response.to_string();
            for (call, old) in turn.calls.iter().zip(&ids) {
                // Gemini and Mistral are sent no ids that they did not send.
                let is_empty = id.as_str().is_none_or(str::is_empty) || !received.contains(old);
                // Mistral accepts ids of nine letters and digits alone.
                let is_replaced = name == "mistral" && call.id.len() != 9;
                let is_omitted = matches!(name, "gemini" | "mistral") && is_empty || is_replaced;
                let is_sent = sent.contains(&json!(call.id).to_string());
                assert_ne!(is_sent, is_omitted, "{name} {id}: {sent}");
            }
            let stream: Vec<_> = case
                .stream
                .iter()
                .map(|event| replaced(event, &ids, &id))
                .collect();
            let read = read(&*case.dialect, &stream);
            let streamed = read.response.as_ref();
            let streamed = streamed.unwrap_or_else(|error| panic!("{name} {id}: {error}"));
            assert_eq!(with_values(&read.turn), with_values(&turn), "{name} {id}");
            assert_eq!(
                case.dialect.read(streamed).unwrap().messages,
                turn.messages,
                "{name} {id}"
            );
            check_pieces(name, &read);
        }
    }
}

#[test]
fn a_call_is_emitted_as_soon_as_it_is_complete() {
    for case in recorded::cases() {
        let mut reader = case.dialect.stream();
        let mut first = None;
        let done = json!("[DONE]");
        for (at, event) in case.stream.iter().chain([&done]).enumerate() {
            let events = reader.event(event).unwrap();
            if events
                .iter()
                .any(|event| matches!(event, StreamEvent::Call(_)))
            {
                first.get_or_insert(at);
            }
        }
        assert_eq!(first, Some(case.first_call), "{}", case.name);
    }
}

#[test]
fn a_stream_that_breaks_off_is_an_error_and_runs_no_half_call() {
    for case in recorded::cases() {
        let whole = read_to_end(&*case.dialect, &case.stream);
        let whole: Vec<_> = whole.calls().into_iter().map(shown).collect();
        for end in 0..case.stream.len() {
            let read = read(&*case.dialect, &case.stream[..end]);
            for call in read.calls() {
                assert!(
                    whole.contains(&shown(call)),
                    "{} {end}: {call:?}",
                    case.name
                );
            }
            match read.response {
                // Some streams go on with usage after the response has ended.
                Ok(response) => {
                    assert!(end >= case.is_complete_at, "{} {end}", case.name);
                    let calls = case.dialect.read(&response).unwrap().calls;
                    assert_eq!(calls.len(), whole.len(), "{}", case.name);
                }
                Err(error) => {
                    assert!(end < case.is_complete_at, "{} {end}: {error}", case.name);
                    let error = error.to_string();
                    assert!(error.starts_with("the stream broke off"), "{error}");
                }
            }
        }
    }
}

#[test]
fn unknown_events_and_pings_are_passed_over() {
    let mut random = Random::new(1);
    for case in recorded::cases() {
        for at in 0..=case.stream.len() {
            let mut stream = case.stream.clone();
            let unknown = random.pick(&case.unknown).clone();
            stream.insert(at, unknown);
            let read = read_to_end(&*case.dialect, &stream);
            assert_eq!(
                read.response.as_ref(),
                Ok(&case.response),
                "{} {at}",
                case.name
            );
            assert_eq!(read.calls().len(), case.calls, "{} {at}", case.name);
        }
    }
}

#[test]
fn an_error_inside_of_a_stream_ends_it() {
    for case in recorded::cases() {
        for (error, expected) in &case.errors {
            for at in 0..case.stream.len() {
                let mut stream = case.stream[..at].to_vec();
                stream.push(error.clone());
                let read = read(&*case.dialect, &stream);
                assert!(
                    read.error().contains(expected),
                    "{} {at}: {}",
                    case.name,
                    read.error()
                );
            }
        }
    }
}

/// Every event repeated, dropped or swapped with its neighbour: an error or a response, but no panic,
/// and no call whose arguments are only part of what was sent.
#[test]
fn a_stream_in_disorder_runs_no_half_call() {
    for case in recorded::cases() {
        let whole = read_to_end(&*case.dialect, &case.stream);
        let whole: Vec<_> = whole.calls().into_iter().map(shown).collect();
        for at in 0..case.stream.len() {
            let mut repeated = case.stream.clone();
            repeated.insert(at, case.stream[at].clone());
            let mut dropped = case.stream.clone();
            dropped.remove(at);
            let mut swapped = case.stream.clone();
            swapped.swap(at, (at + 1).min(case.stream.len() - 1));
            for (stream, is_dropped) in [(repeated, false), (dropped, true), (swapped, false)] {
                for call in read_to_end(&*case.dialect, &stream).calls() {
                    // What is run is an object that was sent, or is rejected.
                    let (id, _, arguments, is_truncated) = shown(call);
                    let known = whole.iter().find(|(known, ..)| *known == id);
                    let is_same = known.is_none_or(|(_, _, known, _)| *known == arguments);
                    let is_rejected = is_truncated || arguments.is_err();
                    // Nothing tells that the only piece is missing.
                    let is_same = is_same || is_dropped && arguments == Ok(json!({}));
                    assert!(
                        is_same || is_rejected || case.sends_whole_calls,
                        "{} {at}: {call:?}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_call_that_a_limit_cut_off_is_marked() {
    for (provider, dialect) in split::dialects() {
        for (text, is_truncated) in [
            ("", true),
            ("{\"city\":\"Lis", true),
            ("{\"days\":2}", false),
        ] {
            let sends_values = matches!(provider, "gemini");
            if sends_values && text.starts_with("{\"city") {
                continue;
            }
            let stream = split::cut_off(provider, text);
            let read = read_to_end(&*dialect, &stream);
            let response = read.response.as_ref();
            let response = response.unwrap_or_else(|error| panic!("{provider}: {error}"));
            let calls = read.calls();
            assert_eq!(calls.len(), 2, "{provider}");
            // A value may have been closed by the provider, but text shows that it is complete.
            let is_truncated = is_truncated || sends_values;
            assert_eq!(calls[1].is_truncated(), is_truncated, "{provider} {text:?}");
            assert!(!calls[0].is_truncated(), "{provider}");
            let whole = dialect.read(response).unwrap().calls;
            assert!(
                whole[1].is_truncated() >= is_truncated,
                "{provider} {text:?}"
            );
            if is_truncated {
                let result = super::registry().call_blocking(calls[1].clone());
                assert_eq!(result.error().unwrap().kind(), ToolErrorKind::MalformedJson);
            }
        }
    }
}

/// Returns how many random cases a test tries.
fn rounds(few: u64) -> u64 {
    match std::env::var_os("TOOL_CORE_LONG") {
        Some(_) => 100_000,
        None => few,
    }
}

/// Random responses, split into events at random places.
#[test]
fn any_response_survives_being_split_into_events() {
    let rounds = rounds(200);
    for (provider, dialect) in split::dialects() {
        let mut random = Random::named(provider, 1);
        for round in 0..rounds {
            let (stream, response) = split::random(provider, &mut random);
            let name = format!("{provider} {round}");
            check(&name, &*dialect, &stream, &response);
        }
    }
}

#[test]
fn a_dialect_without_a_reader_says_so() {
    struct Custom;

    impl Dialect for Custom {
        fn write_tools(&self, _: &[ToolEntry], _: &[HostedTool], _: &mut JsonWriter) {}

        fn read(&self, _: &Value) -> Result<Turn, ResponseError> {
            Ok(Turn::default())
        }

        fn results(&self, _: &[ToolResult]) -> Vec<Value> {
            Vec::new()
        }
    }

    let boxed: Box<dyn Dialect> = Box::new(Custom);
    let error = read(&boxed, &[json!({})]).error();
    assert!(error.contains("implement `Dialect::stream`"), "{error}");
}

#[test]
fn streams_of_lenient_servers_are_read() {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let call = |id: &str, arguments: &str| {
        json!({"index": 0, "id": id, "type": "function",
               "function": {"name": "list_alarms", "arguments": arguments}})
    };
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let streams = [
        // All calls are number 0.
        vec![
            chunk(json!({"tool_calls": [call("a", "{}")]})),
            chunk(json!({"tool_calls": [call("b", "{}")]})),
        ],
        // No call has a number.
        vec![chunk(json!({"tool_calls": [
            {"id": "a", "function": {"name": "list_alarms", "arguments": "{}"}},
            {"id": "b", "function": {"name": "list_alarms", "arguments": "{}"}},
        ]}))],
        // Role, id and name are repeated.
        vec![
            chunk(json!({"role": "assistant", "tool_calls": [call("a", "{")]})),
            chunk(json!({"role": "assistant", "tool_calls": [call("a", "}")]})),
            chunk(
                json!({"role": "assistant", "tool_calls": [{"index": 1, "id": "b",
                "function": {"name": "list_alarms", "arguments": "{"}}]}),
            ),
            chunk(
                json!({"tool_calls": [{"index": 1, "id": "", "function": {"name": "", "arguments": "}"}}]}),
            ),
        ],
    ];
    for mut stream in streams {
        stream.push(end.clone());
        let read = read_to_end(&OpenAiChat::default(), &stream);
        let calls: Vec<_> = read.calls().into_iter().map(shown).collect();
        let call = |id: &str| (id.into(), "list_alarms".into(), Ok(json!({})), false);
        assert_eq!(calls, [call("a"), call("b")], "{stream:?}");
    }
}

#[test]
fn a_call_that_goes_on_after_its_end_is_an_error() {
    let chunk = |index: u64, arguments: &str| {
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": index, "id": format!("c{index}"),
            "function": {"name": "list_alarms", "arguments": arguments}}]}}]})
    };
    let late = json!({"choices": [{"delta": {"tool_calls": [
        {"index": 0, "function": {"arguments": "{\"a\":1}"}}]}}]});
    let stream = [chunk(0, "{\"b\":1}"), chunk(1, "{}"), late];
    let error = read_to_end(&OpenAiChat::default(), &stream).error();
    assert!(error.contains("a call goes on"), "{error}");
    // Interleaved pieces are put together.
    let stream = [
        chunk(0, "{\"id\""),
        chunk(1, "{}"),
        chunk(0, ":5}"),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let calls = read_to_end(&OpenAiChat::default(), &stream);
    assert_eq!(shown(calls.calls()[0]).2, Ok(json!({"id": 5})));
}

#[test]
fn arguments_that_vertex_ai_streams_are_put_together() {
    let chunk = |call: Value| json!({"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}}]});
    let stream = [
        chunk(json!({"name": "get_forecast", "willContinue": true})),
        chunk(
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "Lis", "willContinue": true}],
                     "willContinue": true}),
        ),
        chunk(
            json!({"partialArgs": [{"jsonPath": "$.city", "stringValue": "bon"}], "willContinue": true}),
        ),
        chunk(
            json!({"partialArgs": [{"jsonPath": "$.stops[0].name", "stringValue": "x"},
                                     {"jsonPath": "$['days']", "numberValue": 2}], "willContinue": true}),
        ),
        chunk(json!({})),
        json!({"candidates": [{"finishReason": "STOP"}]}),
    ];
    let read = read(&Gemini::default(), &stream);
    let response = read.response.as_ref().unwrap();
    let arguments = json!({"city": "Lisbon", "days": 2, "stops": [{"name": "x"}]});
    assert_eq!(
        response["candidates"][0]["content"]["parts"],
        json!([{"functionCall": {"name": "get_forecast", "args": arguments}}])
    );
    assert_eq!(shown(read.calls()[0]).2, Ok(arguments));
    for end in 1..stream.len() {
        let read = self::read(&Gemini::default(), &stream[..end]);
        assert!(read.calls().is_empty() && read.response.is_err());
    }
}

/// An agent of Gemini may answer a call itself, after it.
#[test]
fn a_call_that_an_agent_answers_is_not_emitted() {
    let call = |id: &str| json!({"type": "function_call", "id": id, "name": "list_alarms", "arguments": {}});
    let answer = json!({"type": "function_result", "call_id": "own", "result": "none"});
    let steps = [call("own"), answer, call("ours")];
    let begun = json!({"id": "v1", "agent": "antigravity", "status": "in_progress"});
    let mut stream = vec![json!({"event_type": "interaction.created", "interaction": begun})];
    for (index, step) in steps.iter().enumerate() {
        stream.push(json!({"event_type": "step.start", "index": index, "step": step}));
        stream.push(json!({"event_type": "step.stop", "index": index}));
    }
    let end = json!({"id": "v1", "status": "requires_action"});
    stream.push(json!({"event_type": "interaction.completed", "interaction": end}));
    let dialect = GeminiInteractions::agent();
    let read = self::read(&dialect, &stream);
    let ids: Vec<_> = read.calls().iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["ours"]);
    let response = read.response.as_ref().unwrap();
    assert_eq!(response["steps"], json!(steps));
    assert_eq!(dialect.read(response).unwrap().calls.len(), 1);
    // A step that has not ended.
    stream.remove(6);
    let error = self::read(&dialect, &stream).error();
    assert!(error.contains("`step.stop` is missing"), "{error}");
}

/// A server may send all steps at the end.
#[test]
fn the_steps_at_the_end_of_an_interaction_are_read() {
    let whole = super::sample_responses::gemini_interactions();
    let stream = [json!({"event_type": "interaction.completed", "interaction": whole})];
    check("steps", &GeminiInteractions::default(), &stream, &whole);
}

#[test]
fn a_response_that_is_not_streamed_is_not_read_as_a_stream() {
    for (dialect, response) in super::dialects() {
        let read = read(&*dialect, std::slice::from_ref(&response));
        // Gemini's and MCP's events are whole messages, and servers of chat completions send some whole.
        let name = dialect.provider();
        if response["choices"].is_array() {
            assert_eq!(read.turn, dialect.read(&response).unwrap(), "{name}");
        } else if !matches!(name, "Gemini" | "the Model Context Protocol") {
            assert!(read.response.is_err() && read.calls().is_empty(), "{name}");
        }
    }
}

#[test]
fn the_readers_are_those_of_every_dialect() {
    let dialects: [Box<dyn Dialect>; 10] = [
        Box::new(OpenAiChat::strict()),
        Box::new(OpenAiResponses::strict()),
        Box::new(Anthropic::strict()),
        Box::new(Gemini::open_api()),
        Box::new(GeminiInteractions::default()),
        Box::new(Bedrock::default()),
        Box::new(Cohere::default()),
        Box::new(Mistral::default()),
        Box::new(XAi::default()),
        Box::new(Mcp::default()),
    ];
    for dialect in dialects {
        if let Err(error) = dialect.stream().finish() {
            assert!(
                error.to_string().starts_with("the stream broke off"),
                "{error}"
            );
        }
    }
}

/// MCP's messages have no end.
#[test]
fn the_messages_of_a_client_are_read_one_by_one() {
    let messages = super::sample_responses::mcp();
    let dialect = Mcp::default();
    let read = read(&dialect, messages.as_array().unwrap());
    assert_eq!(read.calls().len(), 5);
    let response = read.response.unwrap();
    assert_eq!(response, messages);
    assert_eq!(dialect.read(&response).unwrap().calls.len(), 5);
}

#[test]
fn bytes_in_any_pieces_are_the_events_one_by_one() {
    let mut random = Random::new(1);
    for case in recorded::cases() {
        let expected = read_to_end(&*case.dialect, &case.stream);
        let mut body = String::new();
        for event in &case.stream {
            body += &format!("event: message\ndata: {event}\n\n");
        }
        body += "data: [DONE]\n\n";
        let mut reader = case.dialect.stream();
        let (mut events, mut rest) = (Vec::new(), body.as_bytes());
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(1 + random.below(rest.len().min(40)));
            events.extend(reader.bytes(piece).unwrap());
            rest = more;
        }
        assert_eq!(events, expected.events, "{}", case.name);
        let (turn, response) = reader.finish().unwrap();
        assert_eq!(Ok(response), expected.response, "{}", case.name);
        assert_eq!(turn, expected.turn, "{}", case.name);
    }
}

#[test]
fn an_event_with_too_many_values_ends_a_stream() {
    let mut reader = OpenAiChat::default().stream();
    let zeros = |count| format!("data: {{\"x\":[{}0]}}\n\n", "0,".repeat(count));
    reader.bytes(zeros(900_000).as_bytes()).unwrap();
    reader.bytes(zeros(900_000).as_bytes()).unwrap();
    let error = reader.bytes(zeros(1_000_000).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the response has more than 1000000 JSON values"
    );
    assert_eq!(reader.finish().unwrap_err(), error);
}

/// A long answer has more values than a response may keep, but they are not kept.
#[test]
fn the_events_of_a_long_answer_are_not_limited() {
    for (provider, dialect) in split::dialects() {
        let stream = split::of_text(provider, "Hi");
        let data = |event: &Value| format!("data: {event}\n\n");
        let (mut reader, mut repeated) = (dialect.stream(), 0);
        for event in &stream {
            let read = reader.bytes(data(event).as_bytes()).unwrap();
            if repeated > 0
                || !read
                    .iter()
                    .any(|event| matches!(event, StreamEvent::Text(_)))
            {
                continue;
            }
            let values = event.to_string().matches([',', '{', '[']).count();
            let chunk = data(event).repeat(100);
            while repeated * values < 1_200_000 {
                let read = reader.bytes(chunk.as_bytes());
                let read = read.unwrap_or_else(|error| panic!("{provider}: {error}"));
                assert!(read.len() >= 100, "{provider}");
                repeated += 100;
            }
        }
        reader.event(&json!("[DONE]")).unwrap();
        let (turn, _) = reader.finish().unwrap();
        // The item of OpenAI's Responses has a text of its own.
        let is_whole = provider == "openai-responses" || turn.text.len() > repeated;
        assert!(repeated > 0 && is_whole, "{provider}");
    }
}

/// Log probabilities are many times larger than the text. Those of the start of a long answer are kept.
#[test]
fn the_log_probabilities_of_a_long_answer_do_not_end_it() {
    let one = json!({"token": "Hi", "logprob": -0.5, "bytes": [72, 105]});
    let mut token = one.clone();
    token["top_logprobs"] = vec![one; 20].into();
    let event = json!({"choices": [{"index": 0, "delta": {"content": "Hi"},
        "logprobs": {"content": [token], "refusal": null}, "finish_reason": null}]});
    let chunk = format!("data: {event}\n\n").repeat(10);
    let mut reader = OpenAiChat::default().stream();
    let tokens = 12_000;
    for _ in 0..tokens / 10 {
        reader.bytes(chunk.as_bytes()).unwrap();
    }
    reader.event(&json!("[DONE]")).unwrap();
    let (turn, response) = reader.finish().unwrap();
    assert_eq!(turn.text.len(), 2 * tokens);
    let kept = response["choices"][0]["logprobs"]["content"].as_array();
    let kept = kept.unwrap().len();
    assert!((5_000..tokens).contains(&kept), "{kept}");
}

/// What an event adds counts, whatever its form: other members, parts, calls.
#[test]
fn what_is_kept_of_a_response_is_limited() {
    let zeros = vec![0; 100_000];
    let error = |dialect: &dyn Dialect, start: &[Value], event: &dyn Fn(usize) -> Value| {
        let mut reader = dialect.stream();
        for event in start {
            reader.event(event).unwrap();
        }
        let data = |at| format!("data: {}\n\n", event(at));
        let mut read = (0..100_000).map(|at| reader.bytes(data(at).as_bytes()));
        let error = read.find_map(Result::err).unwrap();
        drop(read);
        assert_eq!(reader.finish().unwrap_err(), error);
        error.to_string()
    };
    let chat = OpenAiChat::default();
    let said = error(&chat, &[], &|at| json!({ at.to_string(): zeros }));
    assert_eq!(said, "the response takes more than 134217728 bytes");
    let said = error(
        &chat,
        &[],
        &|at| json!({"choices": [{"delta": {"tool_calls": [{"index": at, "id": at.to_string(), "function": {"name": "x"}}]}}]}),
    );
    assert_eq!(
        said,
        "the response has more than 10000 calls or other parts"
    );
    let begun = json!({"type": "message_start", "message": {}});
    let said = error(
        &Anthropic::default(),
        &[begun],
        &|at| json!({"type": "content_block_start", "index": at, "content_block": {"type": "text", "text": "", "x": zeros[..10]}}),
    );
    assert_eq!(
        said,
        "the response has more than 10000 calls or other parts"
    );
    let said = error(
        &Gemini::default(),
        &[],
        &|_| json!({"candidates": [{"content": {"parts": [{"x": zeros}]}}]}),
    );
    assert_eq!(said, "the response takes more than 134217728 bytes");
}

/// Half of a character, one that two events have together, numbers that JSON does not have, and the mark of an encoding.
#[test]
fn what_is_no_json_is_repaired() {
    let chunk = |text: &str| {
        format!(
            "data: {{\"score\":NaN,\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n"
        )
    };
    let text = |pieces: &[&str]| {
        let mut reader = OpenAiChat::default().stream();
        let mut of_json = OpenAiChat::default().stream();
        let mut limit = ValueLimit::default();
        reader.bytes(b"\xef\xbb\xbf").unwrap();
        for piece in pieces {
            reader.bytes(chunk(piece).as_bytes()).unwrap();
            let chunk = chunk(piece);
            let json = EventJson::parse(chunk["data: ".len()..].trim_end(), &mut limit);
            of_json.json(&json.unwrap()).unwrap();
        }
        reader.bytes(b"data: [DONE]\n\n").unwrap();
        of_json.event(&json!("[DONE]")).unwrap();
        let (turn, response) = reader.finish().unwrap();
        assert_eq!(of_json.finish().unwrap().0, turn);
        assert_eq!(response["score"], Value::Null);
        turn.text
    };
    assert_eq!(text(&["a\\ud83d", "\\ude00b"]), "a\u{1f600}b");
    assert_eq!(text(&["a\\ud83d\\ude00", "b"]), "a\u{1f600}b");
    assert_eq!(text(&["a\\ud83db", "\\ude00"]), "a\u{fffd}b\u{fffd}");
    assert_eq!(text(&["a\\ud83d", "b", "\\ude00"]), "ab\u{fffd}");
    let whole = b"\xef\xbb\xbf{\"x\":-Infinity,\"y\":\"\\ud83d\"}";
    let whole = ValueLimit::default().parse(whole).unwrap();
    assert_eq!(whole, json!({"x": null, "y": "\u{fffd}"}));
}

/// Reads values alone, as a reader of an application does that was written before events had texts.
#[test]
fn a_reader_of_values_reads_texts() {
    struct Values(Vec<Value>);

    impl StreamReader for Values {
        fn event(&mut self, event: &Value) -> Result<Vec<StreamEvent>, ResponseError> {
            self.0.push(event.clone());
            Ok(Vec::new())
        }

        fn finish(self: Box<Self>) -> Result<(Turn, Value), ResponseError> {
            Ok((Turn::default(), self.0.into()))
        }
    }

    let mut reader = Box::new(Values(Vec::new()));
    let mut limit = ValueLimit::default();
    for json in [r#"{"a":"\n"}"#, "[1e3]"] {
        let event = EventJson::parse(json, &mut limit).unwrap();
        assert_eq!(reader.json(&event), Ok(Vec::new()));
    }
    reader.json(&json!(7).into()).unwrap();
    assert_eq!(reader.finish().unwrap().1, json!([{"a": "\n"}, [1e3], 7]));
}

#[test]
fn a_text_that_is_not_json_is_no_event() {
    for json in ["", "{", "{\"a\":", "{} {}", "[DONE", "<html>"] {
        let parsed = EventJson::parse(json, &mut ValueLimit::default());
        let Err(ParseError::Json(error)) = parsed else {
            panic!("{json}: {parsed:?}");
        };
        let is_cut_off = json.is_empty() || json.starts_with('{') && !json.ends_with('}');
        assert_eq!(error.is_eof(), is_cut_off, "{json}");
    }
    let event = EventJson::parse(r#"{"secret":1}"#, &mut ValueLimit::default()).unwrap();
    assert!(!format!("{event:?}").contains("secret"));
}

/// Spellings that are read as values, among others that are not.
#[test]
fn every_spelling_of_an_event_is_read() {
    let text = |pieces: &[&str]| {
        let mut reader = OpenAiChat::default().stream();
        let mut text = String::new();
        for piece in pieces {
            let event = format!("data: {piece}\r\n\r\n");
            for event in reader.bytes(event.as_bytes()).unwrap() {
                if let StreamEvent::Text(piece) = event {
                    text += &piece;
                }
            }
        }
        let (turn, response) = reader.finish().unwrap();
        assert_eq!(turn.text, text);
        (text, response)
    };
    let (text, response) = text(&[
        r#"{"id":"a","created":1e3,"choices":[{"index":0,"delta":{"content":"A"}}]}"#,
        r#" { "id" : "a" , "choices" : [ { "index" : 0 , "delta" : { "content" : "\u00e9\n" } } ] } "#,
        r#"{"id":"b","id":"a","choices":[{"delta":{"content":"x","content":"B"}}]}"#,
        r#"{"\u0069d":"c","choices":[{"delta":{"\u0063ontent":"C"}}]}"#,
        r#"{"x":1.5,"y":[],"choices":[{"delta":{"content":"D"},"finish_reason":"stop"}]}"#,
    ]);
    assert_eq!(text, "A\u{e9}\nBCD");
    assert_eq!(response["id"], "c");
    assert_eq!(
        (&response["created"], &response["x"]),
        (&json!(1e3), &json!(1.5))
    );
    // The pieces of one event have the same order, too.
    let event = r#"{"choices":[{"delta":{"reasoning":"R","content":"C"}}]}"#;
    let value: Value = serde_json::from_str(event).unwrap();
    let stream = || OpenAiChat::default().stream();
    let bytes = format!("data: {event}\n\n");
    assert_eq!(stream().bytes(bytes.as_bytes()), stream().event(&value));
}
