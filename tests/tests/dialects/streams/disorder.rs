//! Streams in the orders of servers that differ from the providers' own, each against the response as a whole.

use properties::random::Random;
use serde_json::{Value, json};
use tool_core::call::Arguments;
use tool_core::dialect::Dialect;
use tool_dialects::{Mistral, OpenAiChat, XAi};

use super::{Read, read, read_to_end, shown, with_values};

fn chunk(delta: Value, stop: Option<&str>) -> Value {
    json!({"id": "c1", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
}

fn calls_chunk(calls: Value, stop: Option<&str>) -> Value {
    chunk(json!({"tool_calls": calls}), stop)
}

/// Returns a piece of a call. What is `None` is left out.
fn piece(
    index: Option<Value>,
    id: Option<&str>,
    name: Option<&str>,
    arguments: Option<Value>,
) -> Value {
    let mut function = json!({});
    let mut call = json!({});
    for (key, value) in [("name", name.map(Value::from)), ("arguments", arguments)] {
        if let Some(value) = value {
            function[key] = value;
        }
    }
    for (key, value) in [("index", index), ("id", id.map(Value::from))] {
        if let Some(value) = value {
            call[key] = value;
        }
    }
    if name.is_some() {
        call["type"] = "function".into();
    }
    call["function"] = function;
    call
}

/// Returns the id, the name and the arguments of each call.
fn calls(read: &Read) -> Vec<(String, String, Value)> {
    let calls = read.turn.calls.iter().map(|call| {
        let (id, name, arguments, is_truncated) = shown(call);
        assert!(!is_truncated, "{id}");
        (id, name, arguments.unwrap_or_else(Value::from))
    });
    calls.collect()
}

/// Checks that each call of the turn was emitted once.
fn assert_emitted_once(name: &str, read: &Read) {
    let emitted = read.calls();
    assert_eq!(emitted.len(), read.turn.calls.len(), "{name}");
    for call in &read.turn.calls {
        let count = emitted.iter().filter(|emitted| **emitted == call).count();
        assert_eq!(count, 1, "{name}: {call:?}");
    }
}

/// The dialects of chat completions.
fn dialects() -> [Box<dyn Dialect>; 3] {
    [
        Box::new(OpenAiChat::default()),
        Box::new(XAi::default()),
        Box::new(Mistral::default()),
    ]
}

#[test]
fn calls_of_a_chat_are_final_when_the_stream_is() {
    let whole = |index: u64, id: &str, city: &str| {
        let arguments = json!({ "city": city }).to_string();
        piece(
            Some(index.into()),
            Some(id),
            Some("get_weather"),
            Some(arguments.into()),
        )
    };
    let one = |call: Value, stop| calls_chunk(json!([call]), stop);
    let more = |index: u64, text: &str| {
        one(
            piece(Some(index.into()), None, None, Some(text.into())),
            None,
        )
    };
    let end = chunk(json!({}), Some("tool_calls"));
    let (a, b, c) = (("a", "Oslo"), ("b", "Rome"), ("c", "Bern"));
    let cases = [
        // SenseNova, and sometimes NVIDIA.
        (
            "a call after the reason",
            vec![
                one(whole(0, "a", "Oslo"), None),
                end.clone(),
                one(whole(1, "b", "Rome"), Some("tool_calls")),
            ],
            vec![a, b],
        ),
        (
            "a reason with each call",
            vec![
                one(whole(0, "a", "Oslo"), Some("tool_calls")),
                one(whole(1, "b", "Rome"), Some("tool_calls")),
                one(whole(2, "c", "Bern"), Some("tool_calls")),
            ],
            vec![a, b, c],
        ),
        (
            "stop with each call of number 0",
            vec![
                one(whole(0, "a", "Oslo"), Some("stop")),
                one(whole(0, "b", "Rome"), Some("stop")),
            ],
            vec![a, b],
        ),
        (
            "stop before the only call",
            vec![
                chunk(json!({"content": ""}), Some("stop")),
                one(whole(0, "a", "Oslo"), None),
                end.clone(),
            ],
            vec![a],
        ),
        (
            "arguments after stop",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("{\"city\":".into()),
                    ),
                    None,
                ),
                chunk(json!({}), Some("stop")),
                more(0, "\"Oslo\"}"),
                end.clone(),
            ],
            vec![a],
        ),
        (
            "a late piece of an earlier call",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("{\"city\":".into()),
                    ),
                    None,
                ),
                one(whole(1, "b", "Rome"), None),
                end.clone(),
                more(0, "\"Oslo\"}"),
            ],
            vec![a, b],
        ),
        (
            "an empty object and then the arguments",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("{}".into()),
                    ),
                    None,
                ),
                one(whole(1, "b", "Rome"), None),
                more(0, "{\"city\":"),
                more(0, "\"Oslo\"}"),
                end.clone(),
            ],
            vec![a, b],
        ),
        (
            "the same arguments again, after another call",
            vec![
                one(whole(0, "a", "Oslo"), None),
                one(whole(1, "b", "Rome"), None),
                one(whole(0, "a", "Oslo"), None),
                more(0, "\n"),
                end.clone(),
            ],
            vec![a, b],
        ),
        (
            "all arguments with each piece",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("{\"ci".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        None,
                        Some("{\"city\":\"Os".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        None,
                        Some("{\"city\":\"Oslo\"}".into()),
                    ),
                    None,
                ),
                end.clone(),
            ],
            vec![a],
        ),
        (
            "two calls of one id and one number",
            vec![
                one(whole(0, "a", "Oslo"), None),
                one(whole(0, "a", "Rome"), None),
                end.clone(),
            ],
            vec![a, ("call00000", "Rome")],
        ),
        (
            "two calls without numbers in one delta",
            vec![
                calls_chunk(
                    json!([
                        piece(None, Some("a"), Some("get_weather"), Some("".into())),
                        piece(None, Some("b"), Some("get_weather"), Some("".into())),
                    ]),
                    None,
                ),
                calls_chunk(
                    json!([
                        piece(None, None, None, Some("{\"city\":\"O".into())),
                        piece(None, None, None, Some("{\"city\":\"R".into())),
                    ]),
                    None,
                ),
                calls_chunk(
                    json!([
                        piece(None, None, None, Some("slo\"}".into())),
                        piece(None, None, None, Some("ome\"}".into())),
                    ]),
                    None,
                ),
                end.clone(),
            ],
            vec![a, b],
        ),
        (
            "pieces without ids, of number 0",
            vec![
                one(
                    piece(Some(0.into()), None, Some("get_weather"), Some("".into())),
                    None,
                ),
                more(0, "{\"city\":\"Oslo\"}"),
                one(
                    piece(Some(0.into()), None, Some("get_weather"), Some("".into())),
                    None,
                ),
                more(0, "{\"city\":\"Rome\"}"),
                end.clone(),
            ],
            vec![("call00000", "Oslo"), ("call00001", "Rome")],
        ),
        (
            "ids with each piece, in turn",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("b"),
                        Some("get_weather"),
                        Some("".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        None,
                        Some("{\"city\":\"Oslo\"}".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("b"),
                        None,
                        Some("{\"city\":\"Rome\"}".into()),
                    ),
                    None,
                ),
                end.clone(),
            ],
            vec![a, b],
        ),
        (
            "another id and the name with each piece",
            vec![
                one(
                    piece(
                        Some(0.into()),
                        Some("a"),
                        Some("get_weather"),
                        Some("{\"city\":".into()),
                    ),
                    None,
                ),
                one(
                    piece(
                        Some(0.into()),
                        Some("x"),
                        Some("get_weather"),
                        Some("\"Oslo\"}".into()),
                    ),
                    None,
                ),
                end.clone(),
            ],
            vec![a],
        ),
        (
            "a name in pieces",
            vec![
                one(
                    piece(Some(0.into()), Some("a"), Some("get_"), Some("".into())),
                    None,
                ),
                one(
                    piece(Some(0.into()), None, Some("weather"), Some("".into())),
                    None,
                ),
                more(0, "{\"city\":\"Oslo\"}"),
                end.clone(),
            ],
            vec![a],
        ),
        (
            "one object in place of a list",
            vec![calls_chunk(whole(0, "a", "Oslo"), None), end.clone()],
            vec![a],
        ),
        ("no reason", vec![one(whole(0, "a", "Oslo"), None)], vec![a]),
    ];
    for (name, stream, expected) in cases {
        for dialect in dialects() {
            let read = read_to_end(&*dialect, &stream);
            if let Err(error) = &read.response {
                panic!("{name}: {error}");
            }
            let expected: Vec<_> = expected
                .iter()
                .map(|(id, city)| {
                    (
                        (*id).to_owned(),
                        "get_weather".to_owned(),
                        json!({"city": city}),
                    )
                })
                .collect();
            let found = calls(&read);
            if dialect.provider() == "Mistral" {
                // It makes other ids.
                let without = |calls: &[(String, String, Value)]| -> Vec<_> {
                    calls
                        .iter()
                        .map(|(_, name, arguments)| (name.clone(), arguments.clone()))
                        .collect()
                };
                assert_eq!(without(&found), without(&expected), "{name}");
            } else {
                assert_eq!(found, expected, "{name}");
            }
            assert_emitted_once(name, &read);
            // The end of the connection is an end, too, once there was a reason.
            let without = super::read(&*dialect, &stream);
            match &without.response {
                Ok(_) => assert_eq!(without.turn, read.turn, "{name}"),
                Err(error) => assert!(
                    error.is_incomplete() && name == "no reason",
                    "{name}: {error}"
                ),
            }
        }
    }
}

#[test]
fn the_last_reason_to_stop_counts_unless_it_says_less() {
    for (reasons, expected) in [
        (&["stop", "tool_calls"][..], Some("tool_calls")),
        (&["tool_calls", "stop"], Some("tool_calls")),
        (&["tool_calls", "length"], Some("length")),
        (&["length", "stop"], Some("length")),
        (&["", "stop", ""], Some("stop")),
        (&["stop", "stop"], Some("stop")),
        (&[""], None),
        (&[], None),
    ] {
        let text = chunk(json!({"content": "Hi"}), None);
        let ends = reasons.iter().map(|reason| chunk(json!({}), Some(reason)));
        let stream: Vec<_> = [text].into_iter().chain(ends).collect();
        let read = read_to_end(&OpenAiChat::default(), &stream);
        assert_eq!(read.turn.text, "Hi");
        let stop = read.turn.stop.as_deref().filter(|stop| !stop.is_empty());
        assert_eq!(stop, expected, "{reasons:?}");
    }
}

/// Text after a reason is part of the answer, and so is what follows the call.
#[test]
fn text_and_usage_after_a_reason_count() {
    let arguments = json!({"index": 0, "id": "a", "type": "function", "function": {"name": "ping", "arguments": "{}"}});
    let stream = [
        calls_chunk(json!([arguments]), Some("tool_calls")),
        chunk(json!({"content": "late"}), None),
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    ];
    let read = read_to_end(&OpenAiChat::default(), &stream);
    assert_eq!((read.text(), read.turn.calls.len()), ("late".into(), 1));
    assert_eq!(read.turn.usage.unwrap().total(), 5);
    // Nothing follows `[DONE]`.
    let done = json!("[DONE]");
    let stream = [&stream[..], &[done, chunk(json!({"content": " x"}), None)]].concat();
    assert_eq!(super::read(&OpenAiChat::default(), &stream).text(), "late");
}

/// No call of two that can't be told apart is run with the arguments of both.
#[test]
fn pieces_that_could_be_of_several_calls_are_an_error() {
    let start = calls_chunk(
        json!([
            piece(None, Some("a"), Some("get_weather"), Some("".into())),
            piece(None, Some("b"), Some("get_weather"), Some("".into())),
        ]),
        None,
    );
    let stream = [
        start,
        calls_chunk(
            json!([piece(None, None, None, Some("{\"city\"".into()))]),
            None,
        ),
    ];
    let error = read(&OpenAiChat::default(), &stream).error();
    assert!(error.contains("could be of several calls"), "{error}");
    // One call with what is not one object.
    let stream = [
        calls_chunk(
            json!([piece(
                Some(0.into()),
                Some("a"),
                Some("get_weather"),
                Some("{\"city\":\"Oslo\"}".into())
            )]),
            None,
        ),
        calls_chunk(
            json!([piece(
                Some(0.into()),
                None,
                None,
                Some("{\"city\":\"Rome\"}".into())
            )]),
            None,
        ),
    ];
    let read = read_to_end(&OpenAiChat::default(), &stream);
    let [call] = &read.turn.calls[..] else {
        panic!("{:?}", read.turn);
    };
    assert!(call.parse_error().is_some());
}

/// How a server numbers calls.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Numbers {
    Own,
    Text,
    FromOne,
    Zero,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ids {
    First,
    Each,
    Another,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// One call after the other.
    Sequence,
    /// A piece of each call in turn.
    Turns,
    /// A piece of each call in each delta.
    Together,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Pieces,
    Whole,
    Value,
    /// An empty object, then the arguments.
    AfterEmpty,
    /// Everything so far with each piece.
    Cumulative,
    /// Whole, several times.
    Repeated,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reason {
    Last,
    WithEach,
    Early,
    Absent,
}

/// The order in which a server sends a response.
#[derive(Clone, Copy, Debug)]
struct Server {
    numbers: Numbers,
    ids: Ids,
    names_each: bool,
    order: Order,
    form: Form,
    reason: Reason,
}

impl Server {
    fn random(random: &mut Random) -> Server {
        loop {
            let server = Server {
                numbers: *random.pick(&[
                    Numbers::Own,
                    Numbers::Text,
                    Numbers::FromOne,
                    Numbers::Zero,
                    Numbers::None,
                ]),
                ids: *random.pick(&[Ids::First, Ids::Each, Ids::Another, Ids::None]),
                names_each: random.percent(30),
                order: *random.pick(&[Order::Sequence, Order::Turns, Order::Together]),
                form: *random.pick(&[
                    Form::Pieces,
                    Form::Whole,
                    Form::Value,
                    Form::AfterEmpty,
                    Form::Cumulative,
                    Form::Repeated,
                ]),
                reason: *random.pick(&[
                    Reason::Last,
                    Reason::WithEach,
                    Reason::Early,
                    Reason::Absent,
                ]),
            };
            if server.tells_calls_apart() {
                return server;
            }
        }
    }

    /// Returns `true` if each piece can be of one call alone.
    fn tells_calls_apart(self) -> bool {
        let is_numbered = !matches!(self.numbers, Numbers::Zero | Numbers::None);
        let in_order = match self.order {
            Order::Sequence => true,
            Order::Turns => is_numbered || self.ids == Ids::Each,
            Order::Together => {
                is_numbered || self.ids == Ids::Each || self.numbers == Numbers::None
            }
        };
        let sends_again = !matches!(self.form, Form::Pieces | Form::Whole | Form::Value);
        // What starts with a name and another id, or none, is another call.
        let is_started_again = self.names_each && !matches!(self.ids, Ids::Each)
            // Nothing tells the next call from the same one again.
            || self.ids == Ids::None && !is_numbered;
        in_order && !(sends_again && (is_started_again || self.ids == Ids::Another))
    }

    fn write(self, calls: &[(String, String)], random: &mut Random) -> (Vec<Value>, Value) {
        let mut pieces: Vec<Vec<Value>> = Vec::new();
        for (at, (name, arguments)) in calls.iter().enumerate() {
            let texts = self.texts(arguments, random);
            let written = texts.into_iter().enumerate().map(|(number, text)| {
                let index = match self.numbers {
                    Numbers::Own => Some(json!(at)),
                    Numbers::Text => Some(json!(at.to_string())),
                    Numbers::FromOne => Some(json!(at + 1)),
                    Numbers::Zero => Some(json!(0)),
                    Numbers::None => None,
                };
                let id = match self.ids {
                    Ids::First if number > 0 => None,
                    Ids::Another if number > 0 => Some(format!("t{at}x{number}")),
                    Ids::None => None,
                    _ => Some(format!("t{at}")),
                };
                let name = (number == 0 || self.names_each).then_some(name);
                piece(index, id.as_deref(), name.map(String::as_str), Some(text))
            });
            pieces.push(written.collect());
        }
        let mut events = vec![chunk(json!({"role": "assistant", "content": "Hm"}), None)];
        if self.reason == Reason::Early {
            events.push(chunk(json!({}), Some("stop")));
        }
        let each = (self.reason == Reason::WithEach).then_some("tool_calls");
        let longest = pieces.iter().map(Vec::len).max().unwrap_or_default();
        match self.order {
            Order::Sequence => {
                for piece in pieces.into_iter().flatten() {
                    events.push(calls_chunk(json!([piece]), each));
                }
            }
            Order::Turns => {
                for number in 0..longest {
                    for piece in pieces.iter().filter_map(|pieces| pieces.get(number)) {
                        events.push(calls_chunk(json!([piece]), each));
                    }
                }
            }
            Order::Together => {
                for number in 0..longest {
                    // By their place, where nothing else tells them apart.
                    let nothing = || piece(None, None, None, Some("".into()));
                    let has_place = self.numbers == Numbers::None && self.ids != Ids::Each;
                    let of = pieces.iter().filter_map(|pieces| {
                        let piece = pieces.get(number).cloned();
                        piece.or_else(|| has_place.then(nothing))
                    });
                    events.push(calls_chunk(of.collect(), each));
                }
            }
        }
        if matches!(self.reason, Reason::Last | Reason::Early) {
            events.push(chunk(json!({}), Some("tool_calls")));
        }
        let whole = calls.iter().enumerate().map(|(at, (name, arguments))| {
            let arguments = match self.form {
                Form::Value => serde_json::from_str(arguments).unwrap(),
                _ => Value::from(&**arguments),
            };
            let id = (self.ids != Ids::None).then(|| format!("t{at}"));
            piece(None, id.as_deref(), Some(name), Some(arguments))
        });
        let message =
            json!({"role": "assistant", "content": "Hm", "tool_calls": whole.collect::<Vec<_>>()});
        let reason = (self.reason != Reason::Absent).then_some("tool_calls");
        let whole = json!({"id": "c1", "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}]});
        (events, whole)
    }

    /// Returns the pieces of the arguments.
    fn texts(self, arguments: &str, random: &mut Random) -> Vec<Value> {
        let mut pieces = super::split::pieces(arguments, random);
        if self.names_each || self.ids == Ids::Another {
            // A piece that starts like arguments, or is empty, is another call.
            pieces = pieces
                .into_iter()
                .fold(Vec::new(), |mut joined: Vec<String>, piece| {
                    match joined.last_mut() {
                        Some(last)
                            if last.trim().is_empty()
                                || piece.trim().is_empty()
                                || piece.trim_start().starts_with('{') =>
                        {
                            last.push_str(&piece);
                        }
                        _ => joined.push(piece),
                    }
                    joined
                });
        }
        match self.form {
            Form::Pieces => pieces.into_iter().map(Value::from).collect(),
            Form::Whole => vec![arguments.into()],
            Form::Value => vec![serde_json::from_str(arguments).unwrap()],
            Form::AfterEmpty => {
                let pieces = pieces.into_iter().map(Value::from);
                [Value::from("{}")].into_iter().chain(pieces).collect()
            }
            Form::Cumulative => {
                let mut so_far = String::new();
                let pieces = pieces.iter().filter(|piece| !piece.is_empty());
                let pieces = pieces.map(|piece| {
                    so_far.push_str(piece);
                    Value::from(&*so_far)
                });
                pieces.collect()
            }
            Form::Repeated => vec![arguments.into(); 2 + random.below(2)],
        }
    }
}

/// Each call comes whole and once, whatever the order of a server.
#[test]
fn a_chat_in_the_order_of_any_server_is_the_whole_response() {
    let rounds = super::rounds(1_000);
    for dialect in dialects() {
        let mut random = Random::named(dialect.provider(), 1);
        for round in 0..rounds {
            let server = Server::random(&mut random);
            let count = 1 + random.below(3);
            let call = |_| {
                let name = *random.pick(&["get_forecast", "list_alarms"]);
                (name.to_owned(), super::split::arguments(&mut random))
            };
            let calls: Vec<_> = (0..count).map(call).collect();
            let (stream, whole) = server.write(&calls, &mut random);
            let name = format!("{} {round} {server:?} {calls:?}", dialect.provider());
            let read = read_to_end(&*dialect, &stream);
            if let Err(error) = &read.response {
                panic!("{name}: {error}");
            }
            let expected = dialect.read(&whole).unwrap();
            let (mut found, mut expected) = (with_values(&read.turn), with_values(&expected));
            if dialect.provider() == "Mistral" {
                // The messages keep the index.
                found.messages.clear();
                expected.messages.clear();
            }
            assert_eq!(found, expected, "{name}");
            assert_emitted_once(&name, &read);
            for call in &read.turn.calls {
                assert!(!matches!(call.arguments, Arguments::Freeform(_)));
            }
        }
    }
}

/// Writes the events of a stream as other servers of its format send them.
fn disordered(provider: &str, stream: Vec<Value>, random: &mut Random) -> Vec<Value> {
    let (one, other, third) = (random.percent(50), random.percent(50), random.percent(50));
    match provider {
        "anthropic" => {
            let is_dropped = |event: &Value, drops: bool| {
                let kind = event["type"].as_str().unwrap();
                drops && (kind == "content_block_stop" || kind == "message_stop")
            };
            let kept = stream.into_iter().filter(|event| !is_dropped(event, one));
            let numbered = kept.map(|mut event| {
                if event["index"].is_u64() && other {
                    event["index"] = 0.into();
                } else if third && let Some(members) = event.as_object_mut() {
                    members.remove("index");
                }
                event
            });
            numbered.collect()
        }
        "openai-responses" => {
            let mut stream: Vec<_> = stream
                .into_iter()
                .map(|mut event| {
                    if one && let Some(members) = event.as_object_mut() {
                        members.remove("output_index");
                    }
                    event
                })
                .collect();
            let end = stream.last_mut().unwrap();
            if other {
                end["response"]["output"] = json!([]);
            }
            if third {
                // Nothing but pieces tells what is in these items.
                stream.retain(|event| {
                    let is_told = matches!(
                        event["item"]["type"].as_str(),
                        Some("message" | "function_call")
                    );
                    event["type"] != "response.output_item.done" || !is_told
                });
            }
            stream
        }
        "gemini" => {
            let with_reason = stream.into_iter().map(|mut event| {
                if one {
                    event["candidates"][0]["finishReason"] = "STOP".into();
                }
                event
            });
            with_reason.collect()
        }
        _ => stream,
    }
}

/// What a server leaves out, or sends in another place, changes nothing as long as it is clear.
#[test]
fn a_stream_in_the_order_of_any_server_is_the_whole_response() {
    let rounds = super::rounds(300);
    for (provider, dialect) in super::split::dialects() {
        let mut random = Random::named(provider, 2);
        for round in 0..rounds {
            let (stream, whole) = super::split::random(provider, &mut random);
            let stream = disordered(provider, stream, &mut random);
            let read = read_to_end(&*dialect, &stream);
            let name = format!("{provider} {round}");
            if let Err(error) = &read.response {
                panic!("{name}: {error}");
            }
            let expected = dialect.read(&whole).unwrap();
            assert_eq!(with_values(&read.turn), with_values(&expected), "{name}");
            assert_emitted_once(&name, &read);
        }
    }
}

#[test]
fn a_server_of_responses_may_leave_out_what_events_are_about() {
    let event = |kind: &str, more: Value| {
        let mut event = json!({"type": format!("response.{kind}")});
        for (key, value) in more.as_object().unwrap() {
            event[key] = value.clone();
        }
        event
    };
    let call = |id: &str, arguments: &str| json!({"item": {"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments}});
    let delta = |text: &str| json!({ "delta": text });
    // Without positions and ids. All items are done at the end.
    let stream = [
        event(
            "created",
            json!({"response": {"id": "r", "status": "in_progress"}}),
        ),
        event(
            "output_item.added",
            json!({"item": {"type": "message", "role": "assistant", "content": []}}),
        ),
        event("output_text.delta", delta("Let me")),
        event("output_text.delta", delta(" see.")),
        event("output_item.added", call("a", "")),
        event("function_call_arguments.delta", delta("{\"city\":")),
        event("function_call_arguments.delta", delta("\"Oslo\"}")),
        event("output_item.added", call("b", "")),
        event(
            "function_call_arguments.delta",
            delta("{\"city\":\"Rome\"}"),
        ),
        event("output_item.done", call("a", "{\"city\":\"Oslo\"}")),
        event("output_item.done", call("b", "{\"city\":\"Rome\"}")),
    ];
    let dialect = tool_dialects::OpenAiResponses::default();
    let completed = event(
        "completed",
        json!({"response": {"id": "r", "status": "completed", "output": []}}),
    );
    for end in [completed, json!("[DONE]")] {
        let stream = [&stream[..], &[end]].concat();
        let read = read_to_end(&dialect, &stream);
        assert_eq!(read.turn.text, "Let me see.");
        let expected = |id: &str, city: &str| {
            (
                id.to_owned(),
                "get_weather".to_owned(),
                json!({ "city": city }),
            )
        };
        assert_eq!(calls(&read), [expected("a", "Oslo"), expected("b", "Rome")]);
        assert_emitted_once("responses", &read);
        assert_eq!(read.turn.messages.len(), 3);
    }
    // Text without any item.
    let stream = [
        event("output_text.delta", delta("Hi")),
        event(
            "completed",
            json!({"response": {"status": "completed", "output": []}}),
        ),
    ];
    assert_eq!(read(&dialect, &stream).turn.text, "Hi");
    let stream = [
        event("output_text.delta", delta("Hi")),
        event(
            "completed",
            json!({"response": {"status": "completed", "output": [{"type": "message", "content": []}]}}),
        ),
    ];
    assert_eq!(read(&dialect, &stream).turn.text, "Hi");
}

#[test]
fn the_position_of_an_item_may_be_any_number() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "ping", "arguments": "{}"});
    let done = "response.output_item.done";
    let stream = [
        json!({"type": done, "output_index": u64::MAX, "item": call("a")}),
        json!({"type": done, "item": call("b")}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
    ];
    let dialect = tool_dialects::OpenAiResponses::default();
    assert_eq!(read(&dialect, &stream).turn.calls.len(), 2);
}

#[test]
fn whole_calls_in_other_forms_than_a_list_are_read() {
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "ping", "arguments": "{}"}});
    let whole =
        |calls: Value| json!({"choices": [{"message": {"content": "Hi", "tool_calls": calls}}]});
    for dialect in dialects() {
        let expected = dialect.read(&whole(json!([call]))).unwrap();
        assert_eq!(dialect.read(&whole(call.clone())).unwrap(), expected);
        assert_eq!(expected.calls.len(), 1);
        let none = dialect.read(&whole(json!(""))).unwrap();
        assert_eq!(none, dialect.read(&whole(json!([]))).unwrap());
        assert!(dialect.read(&whole(json!("x"))).is_err());
    }
}

#[test]
fn a_type_that_is_none_is_that_of_a_function() {
    for kind in ["", "tool"] {
        let call = json!({"id": "a", "type": kind, "index": 0, "function": {"name": "ping", "arguments": "{}"}});
        let whole = json!({"choices": [{"message": {"tool_calls": [call]}}]});
        assert_eq!(
            OpenAiChat::default().read(&whole).unwrap().calls.len(),
            1,
            "{kind}"
        );
        let stream = [calls_chunk(json!([call]), Some("tool_calls"))];
        let read = read_to_end(&OpenAiChat::default(), &stream);
        assert_eq!(read.turn.calls.len(), 1, "{kind}");
    }
    let call = json!({"id": "a", "type": "", "future": {}});
    let whole = json!({"choices": [{"message": {"tool_calls": [call]}}]});
    let turn = OpenAiChat::default().read(&whole).unwrap();
    assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, 1));
}

#[test]
fn an_empty_error_and_a_ping_are_no_errors() {
    let mut chunk = chunk(json!({"content": "Hi"}), Some("stop"));
    chunk["error"] = json!({});
    assert_eq!(
        read_to_end(&OpenAiChat::default(), &[chunk.clone()]).text(),
        "Hi"
    );
    let mut reader = OpenAiChat::default().stream();
    let body = format!("data: ping\n\ndata: {chunk}\n\n");
    reader.bytes(body.as_bytes()).unwrap();
    assert_eq!(reader.finish().unwrap().0.text, "Hi");
    let whole = json!({"error": {}, "choices": [{"message": {"content": "Hi"}}]});
    assert_eq!(OpenAiChat::default().read(&whole).unwrap().text, "Hi");
}
