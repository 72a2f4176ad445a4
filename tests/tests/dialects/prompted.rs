//! Calls in the text of models without tools of their own.

use properties::random::Random;
use serde_json::{Value, json};
use tool_core::content::Image;
use tool_core::dialect::{Dialect, End, Message, RequestOptions, StreamEvent, ToolChoice, Turn};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult, ToolType, tool, tools};
use tool_dialects::{CallFormat, ChatRules, OpenAiChat, Prompted, server};

/// Adds two numbers.
#[tool(unlinked)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Deletes everything.
#[tool(unlinked, destructive)]
fn delete_all() -> &'static str {
    unreachable!("no call of it is whole")
}

const FORMATS: [(&str, CallFormat); 4] = [
    ("hermes", CallFormat::HERMES),
    ("qwen", CallFormat::QWEN),
    ("llama", CallFormat::LLAMA),
    ("mistral", CallFormat::MISTRAL),
];

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![add, delete_all])
        .build()
        .unwrap()
}

fn dialect(format: CallFormat) -> Prompted<OpenAiChat> {
    Prompted::new(OpenAiChat::with(ChatRules::IMITATION), format)
}

fn read(format: CallFormat, text: &str, stop: &str) -> Turn {
    let message = json!({"role": "assistant", "content": text});
    let response = json!({"choices": [{"index": 0, "message": message, "finish_reason": stop}]});
    dialect(format).read(&response).unwrap()
}

/// Reads a stream of these pieces. Returns the text and the calls that its events have, and the turn.
fn stream(format: CallFormat, pieces: &[&str], stop: &str) -> (String, Vec<ToolCall>, Turn) {
    let mut reader = dialect(format).stream();
    let chunk = |delta: Value, stop: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]});
    let mut events = reader
        .event(&chunk(
            json!({"role": "assistant", "content": ""}),
            Value::Null,
        ))
        .unwrap();
    for piece in pieces {
        events.extend(
            reader
                .event(&chunk(json!({"content": piece}), Value::Null))
                .unwrap(),
        );
    }
    events.extend(reader.event(&chunk(json!({}), stop.into())).unwrap());
    let (mut text, mut calls) = (String::new(), Vec::new());
    for event in events {
        match event {
            StreamEvent::Text(piece) => text.push_str(&piece),
            StreamEvent::CallStarted { index, .. } => assert_eq!(index, calls.len()),
            StreamEvent::Call(call) => calls.push(call),
            _ => {}
        }
    }
    (text, calls, reader.finish().unwrap().0)
}

/// Returns the names and arguments of the calls.
fn calls(turn: &Turn) -> Vec<(&str, String)> {
    let calls = turn.calls.iter();
    calls
        .map(|call| (&*call.name, call.arguments.text().into_owned()))
        .collect()
}

/// A text of a model with what is read in it: the text that is left, and each call's name and arguments.
type Case = (
    CallFormat,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const SUM: &[(&str, &str)] = &[("add", r#"{"a": 2, "b": 3}"#)];

const CASES: &[Case] = &[
    (
        CallFormat::HERMES,
        "Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}\n</tool_call>",
        "Let me see.\n",
        SUM,
    ),
    // Several, with white space between them, in the other order of keys, and text behind them.
    (
        CallFormat::QWEN,
        "<tool_call>{\"arguments\": {\"a\": 2, \"b\": 3}, \"name\": \"add\"}</tool_call>\n<tool_call>\n{\"name\": \"list\"}\n</tool_call>\nDone.",
        "Done.",
        &[("add", r#"{"a": 2, "b": 3}"#), ("list", "{}")],
    ),
    // A list, the form of the API, arguments in a string, an end that is missing.
    (
        CallFormat::HERMES,
        r#"<tool_call>[{"name":"a","arguments":"{\"x\":1}"},{"type":"function","function":{"name":"b","parameters":{}}}]"#,
        "",
        &[("a", r#"{"x":1}"#), ("b", "{}")],
    ),
    // An argument may have the end in it.
    (
        CallFormat::HERMES,
        r#"<tool_call>{"name":"write","arguments":{"text":"</tool_call> \" } ]"}}</tool_call>"#,
        "",
        &[("write", r#"{"text":"</tool_call> \" } ]"}"#)],
    ),
    // What is no call stays text.
    (
        CallFormat::HERMES,
        "A <tool_call> has JSON, as in {\"name\": \"add\"}. <tool_c",
        "A <tool_call> has JSON, as in {\"name\": \"add\"}. <tool_c",
        &[],
    ),
    (
        CallFormat::LLAMA,
        "{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}",
        "",
        SUM,
    ),
    (
        CallFormat::LLAMA,
        "<|python_tag|>{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}; {\"name\": \"list\", \"parameters\": {}}",
        "",
        &[("add", r#"{"a": 2, "b": 3}"#), ("list", "{}")],
    ),
    (
        CallFormat::LLAMA,
        "I add them:\n```json\n{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}\n```\nDone.",
        "I add them:\nDone.",
        SUM,
    ),
    // JSON that is an answer, and JSON in the middle of a text.
    (
        CallFormat::LLAMA,
        "{\"name\": \"Ada\", \"parameters\": {}, \"age\": 36}",
        "{\"name\": \"Ada\", \"parameters\": {}, \"age\": 36}",
        &[],
    ),
    (
        CallFormat::LLAMA,
        "As in {\"name\": \"add\", \"parameters\": {}} or ```json\n[1, 2]\n``` or {",
        "As in {\"name\": \"add\", \"parameters\": {}} or ```json\n[1, 2]\n``` or {",
        &[],
    ),
    (CallFormat::LLAMA, "{\"a\": [1", "{\"a\": [1", &[]),
    // A family without a start.
    (
        CallFormat {
            start: "",
            ..CallFormat::LLAMA
        },
        "[{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}]",
        "",
        SUM,
    ),
    (
        CallFormat::MISTRAL,
        "[TOOL_CALLS][{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}, \"id\": \"VvvODy9mT\"}, {\"name\": \"list\", \"arguments\": {}}]",
        "",
        &[("add", r#"{"a": 2, "b": 3}"#), ("list", "{}")],
    ),
    (
        CallFormat::MISTRAL,
        "Yes.[TOOL_CALLS]add[ARGS]{\"a\": 2, \"b\": 3}[TOOL_CALLS]list[CALL_ID]abcDEF123[ARGS]{}",
        "Yes.",
        &[("add", r#"{"a": 2, "b": 3}"#), ("list", "{}")],
    ),
    (
        CallFormat::MISTRAL,
        "The token [TOOL_CALLS] starts a call, [TOOL_CALLS",
        "The token [TOOL_CALLS] starts a call, [TOOL_CALLS",
        &[],
    ),
];

#[test]
fn calls_are_read_in_the_form_of_each_family() {
    for (format, text, left, expected) in CASES {
        let turn = read(*format, text, "stop");
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, text)| (*name, (*text).to_owned()))
            .collect();
        assert_eq!((&*turn.text, calls(&turn)), (*left, expected), "{text}");
        // The next request repeats what the model wrote.
        assert_eq!(turn.messages[0]["content"], *text);
        let has_calls = !turn.calls.is_empty();
        assert_eq!(turn.end() == End::Calls, has_calls, "{text}");
    }
}

/// Checks that a text gives the same turn however its stream is split, and that events and turn agree.
fn check_splits(format: CallFormat, text: &str, stop: &str) {
    let whole = read(format, text, stop);
    let characters: Vec<_> = text
        .char_indices()
        .map(|(at, character)| &text[at..at + character.len_utf8()])
        .collect();
    let splits = text
        .char_indices()
        .map(|(at, _)| vec![&text[..at], &text[at..]]);
    for pieces in splits.chain([characters]) {
        let (shown, emitted, turn) = stream(format, &pieces, stop);
        assert_eq!(
            (&turn.text, &turn.calls),
            (&whole.text, &whole.calls),
            "{pieces:?}"
        );
        // A call that the end cuts off is in the turn alone.
        assert!(whole.calls.starts_with(&emitted), "{pieces:?}: {emitted:?}");
        assert!(
            emitted.len() + 1 >= whole.calls.len(),
            "{pieces:?}: {emitted:?}"
        );
        assert_eq!(shown, whole.text, "{pieces:?}");
    }
}

#[test]
fn a_stream_that_is_split_anywhere_gives_the_same_turn() {
    for (format, text, ..) in CASES {
        check_splits(*format, text, "stop");
    }
}

#[test]
fn random_parts_of_calls_give_the_same_turn_whole_and_in_pieces() {
    const PARTS: [&str; 26] = [
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]",
        "<|python_tag|>",
        "```json",
        "```",
        ";",
        "{\"name\": \"add\", ",
        "\"arguments\": {\"a\": 2, \"b\": 3}}",
        "\"parameters\": {\"a\": 2}}",
        "{}",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "\\\"",
        " ",
        "\n",
        "text",
        "ü🌦",
        "add",
        "[{\"name\":\"add\",\"arguments\":{}}]",
        "<",
    ];
    let mut random = Random::new(7);
    let mut found = 0;
    for round in 0..150 {
        let parts = 1 + random.below(8);
        let text: String = (0..parts).map(|_| *random.pick(&PARTS)).collect();
        for (_, format) in FORMATS {
            check_splits(
                format,
                &text,
                if round % 3 == 0 { "length" } else { "stop" },
            );
            found += read(format, &text, "stop").calls.len();
        }
    }
    assert!(found > 30, "{found}");
}

#[test]
fn a_broken_call_becomes_a_result_that_the_model_can_act_on() {
    let result = |format: CallFormat, text: &str, stop: &str| {
        let turn = read(format, text, stop);
        assert_eq!(turn.calls.len(), 1, "{text}");
        let result = registry().call_blocking(turn.calls[0].clone());
        let kind = result.error().map(tool_core::ToolError::kind);
        let message = dialect(format).results(&[result]).remove(0);
        (
            turn.text,
            kind,
            message["content"].as_str().unwrap().to_owned(),
        )
    };
    let hermes = CallFormat::HERMES;
    // A brace is missing.
    let (text, kind, said) = result(
        hermes,
        "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":2}</tool_call>Yes.",
        "stop",
    );
    assert_eq!((&*text, kind), ("Yes.", Some(ToolErrorKind::MalformedJson)));
    assert!(said.contains("not JSON") || said.contains("JSON"), "{said}");
    // An unclosed string does not swallow the rest.
    let (text, kind, _) = result(
        hermes,
        "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":\"2}}</tool_call>Yes.",
        "stop",
    );
    assert_eq!((&*text, kind), ("Yes.", Some(ToolErrorKind::MalformedJson)));
    // Without a name, it is said how to write one.
    for text in [
        "<tool_call>{add(2, 3)}</tool_call>",
        "<tool_call>{\"arguments\":{\"name\":\"delete_all\"}}</tool_call>",
    ] {
        let (_, kind, said) = result(hermes, text, "stop");
        assert_eq!(kind, Some(ToolErrorKind::UnknownTool));
        assert!(said.contains("Write it again"), "{said}");
    }
    // A limit cut the response off.
    for (format, text) in [
        (hermes, "<tool_call>{\"name\":\"delete_all\",\"arg"),
        (
            CallFormat::LLAMA,
            "{\"name\":\"delete_all\",\"parameters\":{",
        ),
        (CallFormat::MISTRAL, "[TOOL_CALLS]delete_all[ARGS]{"),
    ] {
        let (_, kind, said) = result(format, text, "length");
        assert_eq!(kind, Some(ToolErrorKind::MalformedJson));
        assert!(said.contains("truncated"), "{said}");
    }
}

/// Hostile texts must not cost more than their length.
#[test]
fn many_starts_are_read_in_linear_time() {
    let count = 100_000;
    for (_, format) in FORMATS {
        for part in [
            format.start,
            "```json{",
            "<tool_call>{\"",
            "[TOOL_CALLS]add[ARGS]{\"",
            "{",
            "```json[]",
        ] {
            let text = part.repeat(count);
            read(format, &text, "stop");
        }
    }
    let many = "<tool_call>{\"name\":\"add\"}</tool_call>".repeat(10_001);
    let message = json!({"role": "assistant", "content": many});
    let error = dialect(CallFormat::HERMES)
        .read(&json!({"choices": [{"message": message}]}))
        .unwrap_err();
    assert!(
        error.to_string().contains("more than 10000 calls"),
        "{error}"
    );
}

#[test]
fn results_have_the_form_of_each_family() {
    let turn = |format: CallFormat| {
        let call = match format.between {
            Some(_) => {
                "[TOOL_CALLS][{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3},\"id\":\"VvvODy9mT\"},{\"name\":\"say\"}]"
            }
            None if format.is_bare => {
                "{\"name\":\"add\",\"parameters\":{\"a\":2,\"b\":3}};{\"name\":\"say\",\"parameters\":{}}"
            }
            None => {
                "<tool_call>{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3}}</tool_call><tool_call>{\"name\":\"say\"}</tool_call>"
            }
        };
        read(format, call, "stop")
    };
    let expected = [
        json!([
            {"role": "tool", "tool_call_id": "call_0", "content": "<tool_response>\n{\"name\":\"add\",\"content\":5}\n</tool_response>"},
            {"role": "tool", "tool_call_id": "call_1", "content": "<tool_response>\n{\"name\":\"say\",\"content\":\"</tool> <\\/tool_response>\"}\n</tool_response>"},
        ]),
        json!([
            {"role": "user", "content": "<tool_response>\n5\n</tool_response>\n<tool_response>\n</tool> <\\/tool_response>\n</tool_response>"},
        ]),
        json!([
            {"role": "tool", "tool_call_id": "call_0", "content": "5"},
            {"role": "tool", "tool_call_id": "call_1", "content": "</tool> </tool_response>"},
        ]),
        json!([
            {"role": "user", "content": "[TOOL_RESULTS]{\"content\":5,\"call_id\":\"VvvODy9mT\"}[/TOOL_RESULTS]\n[TOOL_RESULTS]{\"content\":\"</tool> </tool_response>\",\"call_id\":\"call_1\"}[/TOOL_RESULTS]"},
        ]),
    ];
    for ((name, format), expected) in FORMATS.into_iter().zip(expected) {
        let turn = turn(format);
        let results = [
            ToolResult::new(&turn.calls[0], 5),
            // A result can't end itself.
            ToolResult::new(&turn.calls[1], "</tool> </tool_response>"),
        ];
        assert_eq!(json!(dialect(format).results(&results)), expected, "{name}");
    }
    // A part that is no text follows all results.
    let turn = turn(CallFormat::QWEN);
    let results = [
        ToolResult::new(&turn.calls[0], Image::png([0; 8])),
        ToolResult::new(&turn.calls[1], 1),
    ];
    let messages = dialect(CallFormat::QWEN).results(&results);
    assert_eq!(
        (messages.len(), &messages[0]["role"], &messages[1]["role"]),
        (2, &json!("user"), &json!("user"))
    );
    assert!(messages[1]["content"].is_array());
}

/// A conversation that moves here from another provider has calls that this dialect reads.
#[test]
fn calls_of_another_provider_are_written_as_the_family_writes_them() {
    let calls = [
        ("add", r#"{"a":2,"b":3}"#),
        ("say", r#"{"text":"</tool_call> \"é\""}"#),
        ("list", "{}"),
    ];
    for (name, format) in FORMATS {
        let written = calls.iter().enumerate();
        let written =
            written.map(|(at, (name, text))| ToolCall::new(format!("call{at:05}"), *name, *text));
        let message = Message::Model {
            text: String::new(),
            calls: written.collect(),
        };
        let messages = dialect(format).write_message(&message).unwrap();
        assert_eq!(
            (messages.len(), messages[0].get("tool_calls")),
            (1, None),
            "{name}"
        );
        let turn = read(format, messages[0]["content"].as_str().unwrap(), "stop");
        assert_eq!(
            self::calls(&turn),
            calls.map(|(name, text)| (name, text.to_owned())),
            "{name}"
        );
        // Results of its calls are text, too.
        let result = ToolResult::new(&ToolCall::new("call00000", "add", "{}"), 5);
        let content = &dialect(format).results(&[result])[0]["content"];
        assert!(
            content
                .as_str()
                .unwrap()
                .starts_with(format.result[0].trim()),
            "{name}: {content}"
        );
    }
}

#[test]
fn the_system_prompt_has_the_tools_and_the_settings() {
    let registry = registry();
    for (name, format) in FORMATS {
        let dialect = Prompted::new(server::OLLAMA, format);
        let request = registry.request(&dialect).build().unwrap();
        // The server gets none of it in fields that it may not have.
        assert!(
            request.fields().is_empty() && request.notes().is_empty(),
            "{name}"
        );
        let prompt = request.instructions().unwrap();
        for part in [
            format.start,
            format.end,
            format.tools[0],
            "Adds two numbers.",
            "delete_all",
            "\"required\"",
        ] {
            assert!(prompt.contains(part), "{name}: {part}: {prompt}");
        }
        // The example in the prompt is a call that the dialect reads.
        let example = prompt
            .lines()
            .find(|line| line.contains("tool_name"))
            .unwrap();
        assert_eq!(
            calls(&read(format, example, "stop")),
            [("tool_name", r#"{"argument": "value"}"#.to_owned())]
        );

        let options = RequestOptions::new()
            .choice(ToolChoice::tool("add"))
            .only(["add"])
            .parallel(false)
            .answer::<Vec<u8>>();
        let request = registry.request(&dialect).options(options).build().unwrap();
        let prompt = request.instructions().unwrap();
        assert!(
            prompt.contains("You must call the tool add now.")
                && prompt.contains("one tool at a time"),
            "{prompt}"
        );
        assert!(
            prompt.contains("JSON Schema:\n{") && !prompt.contains("delete_all"),
            "{prompt}"
        );
        assert!(
            request
                .notes()
                .iter()
                .any(|note| note.contains("does not check it")),
            "{:?}",
            request.notes()
        );
    }
    // Without tools, the server's own way to an answer is used.
    let dialect = Prompted::new(server::OLLAMA, CallFormat::QWEN);
    let request = Registry::new()
        .request(&dialect)
        .answer::<Vec<u8>>()
        .build()
        .unwrap();
    assert!(request.fields().contains_key("response_format") && request.instructions().is_none());
}

#[derive(ToolType)]
#[allow(dead_code)] // It is for its schema.
struct Tree {
    name: String,
    children: Vec<Tree>,
}

mod other {
    use tool_core::{ToolType, tool};

    #[derive(ToolType)]
    #[allow(dead_code)] // It is for its schema.
    pub(super) struct Tree {
        left: Option<Box<Tree>>,
    }

    /// Cuts a tree.
    #[tool(unlinked)]
    pub(super) fn cut(tree: Tree) {
        let _ = tree;
    }
}

/// Plants a tree.
#[tool(unlinked)]
fn plant(tree: Tree) {
    let _ = tree;
}

#[test]
fn the_schema_of_a_call_has_each_tool_with_its_definitions() {
    let registry = Registry::builder()
        .tools(tools![add, plant, other::cut])
        .build()
        .unwrap();
    let schema: Value = serde_json::from_str(&registry.call_schema().to_string()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let tree = |key: &str, inner: Value| json!({"tree": {"name": "a", "children": [], key: inner}});
    let leaf = json!({"name": "b", "children": []});
    for (name, arguments, is_valid) in [
        ("add", json!({"a": 1, "b": 2}), true),
        ("add", json!({"a": 1}), false),
        ("add", json!({"a": "1", "b": 2}), false),
        ("subtract", json!({"a": 1, "b": 2}), false),
        ("plant", tree("children", json!([leaf])), true),
        ("plant", tree("children", json!([{"name": "b"}])), false),
        // Both tools define the name `Tree`.
        ("cut", json!({"tree": {"left": {"left": {}}}}), true),
        ("cut", json!({"tree": {"left": {"left": 1}}}), false),
    ] {
        let call = json!({"name": name, "arguments": arguments});
        assert_eq!(validator.is_valid(&call), is_valid, "{call}");
    }
    // Engines write keys in this order, so that the name decides the arguments.
    let text = registry.call_schema_with("parameters").to_string();
    assert!(
        text.contains(r#"{"name":{"const":"add"},"parameters":{"type":"object""#),
        "{text}"
    );
    let none = Registry::new().call_schema().to_string();
    assert_eq!(none, r#"{"not":{}}"#);
}
