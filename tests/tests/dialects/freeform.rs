//! Free-form tools: their text is the only argument, whatever form a provider sends it in.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::run::Run;
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Event};
use tool_core::call::Arguments;
use tool_core::dialect::{Dialect, RequestOptions, StreamEvent, ToolChoice};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Gate;
use tool_core::spec::Grammar;
use tool_core::{CallContext, Registry, Tool, ToolCall, ToolEntry, ToolErrorKind, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};
use tool_docs::lock::Lock;

/// Runs a query.
#[tool(freeform)]
fn run_sql(
    /// A query of one statement.
    #[param(length = 1..=40)]
    sql: &str,
) -> String {
    format!("ran {sql}")
}

/// Saves a date.
#[tool(freeform, grammar = regex(r"[0-9]{4}-[0-9]{2}"))]
fn save_month(month: String, _call: &CallContext) -> String {
    month
}

const RULES: &str = "start: NUMBER (\"+\" NUMBER)*\nNUMBER: /[0-9]+/\n";

/// Adds numbers.
#[tool(freeform, grammar = lark(RULES), programmatic = only)]
fn add(sum: &str) -> u64 {
    sum.split('+')
        .filter_map(|number| number.parse::<u64>().ok())
        .sum()
}

pub(crate) fn tools() -> Vec<ToolEntry> {
    tools![run_sql, save_month, add].into()
}

fn registry() -> Registry {
    Registry::builder().tools(tools()).build().unwrap()
}

fn rendered(dialect: &dyn Dialect) -> Value {
    json!(registry().render(dialect))
}

fn tool(name: &str, tools: &Value) -> Value {
    let tools = tools.as_array().unwrap().iter();
    let is_it = |tool: &&Value| tool.to_string().contains(&format!("\"name\":\"{name}\""));
    tools.clone().find(is_it).unwrap().clone()
}

#[test]
fn responses_has_custom_tools() {
    let tools = rendered(&OpenAiResponses::default());
    assert_eq!(
        tool("run_sql", &tools),
        json!({
            "type": "custom",
            "name": "run_sql",
            "description": "Runs a query.\n\nA query of one statement.\n\
                            Must be a string of 1 to 40 characters.",
        })
    );
    assert_eq!(
        tool("save_month", &tools),
        json!({
            "type": "custom",
            "name": "save_month",
            "description": "Saves a date.",
            "format": {
                "type": "grammar",
                "syntax": "regex",
                "definition": "^(?:[0-9]{4}-[0-9]{2})$",
            },
        })
    );
    assert_eq!(
        tool("add", &tools)["format"],
        json!({"type": "grammar", "syntax": "lark", "definition": RULES})
    );
    assert_eq!(tools, rendered(&OpenAiResponses::strict()));
}

#[test]
fn chat_has_custom_tools() {
    let tools = rendered(&OpenAiChat::default());
    assert_eq!(
        tool("save_month", &tools),
        json!({
            "type": "custom",
            "custom": {
                "name": "save_month",
                "description": "Saves a date.",
                "format": {
                    "type": "grammar",
                    "grammar": {"syntax": "regex", "definition": "^(?:[0-9]{4}-[0-9]{2})$"},
                },
            },
        })
    );
    assert!(tool("run_sql", &tools)["custom"].get("format").is_none());
}

#[test]
fn elsewhere_they_are_functions_of_one_string() {
    let dialects: [Box<dyn Dialect>; 10] = [
        Box::new(OpenAiChat::default().functions_only()),
        Box::new(OpenAiResponses::strict().functions_only()),
        Box::new(Anthropic::default()),
        Box::new(Gemini::default()),
        Box::new(GeminiInteractions::default()),
        Box::new(Bedrock::default()),
        Box::new(Cohere::default()),
        Box::new(XAi::default()),
        Box::new(Mistral::default()),
        Box::new(Mcp::default()),
    ];
    for dialect in dialects {
        let tools = registry().render(&*dialect).into_string();
        assert!(!tools.contains("custom"), "{tools}");
        assert!(tools.contains(r#""month":{"type":"string""#), "{tools}");
        // As a keyword, or in a sentence.
        assert!(tools.contains("^(?:[0-9]{4}-[0-9]{2})$"), "{tools}");
        assert!(
            tools.contains("`sum` must follow this Lark grammar"),
            "{tools}"
        );
        assert!(tools.contains(r"NUMBER: /[0-9]+/\n"), "{tools}");
    }
    assert_eq!(
        save_month::SPEC.parameters_json(),
        r#"{"type":"object","properties":{"month":{"type":"string","pattern":"^(?:[0-9]{4}-[0-9]{2})$"}},"required":["month"],"additionalProperties":false}"#
    );
}

/// Returns a response with calls of these names and texts, for Responses and for Chat.
pub(crate) fn responses(calls: &[(&str, &str)]) -> [(Box<dyn Dialect>, Value); 2] {
    let numbered = || calls.iter().enumerate();
    let output: Vec<_> = numbered()
        .map(|(at, (name, text))| {
            json!({"type": "custom_tool_call", "id": format!("ctc_{at}"), "status": "completed",
                   "call_id": format!("call_{at}"), "name": name, "input": text})
        })
        .collect();
    let responses = json!({"object": "response", "status": "completed", "output": output});
    let calls: Vec<_> = numbered()
        .map(|(at, (name, text))| {
            json!({"id": format!("call_{at}"), "type": "custom",
                   "custom": {"name": name, "input": text}})
        })
        .collect();
    let chat = json!({"choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": calls}}]});
    [
        (Box::new(OpenAiResponses::default()), responses),
        (Box::new(OpenAiChat::default()), chat),
    ]
}

const HOSTILE: [&str; 8] = [
    "SELECT 1",
    "",
    "{\"sql\":\"x\"}",
    "\"\"",
    "null",
    " \"quoted\" \\ \u{8} \u{0} \n\t",
    "ünï🌦",
    "{",
];

#[test]
fn the_text_arrives_as_it_was_sent() {
    for text in HOSTILE {
        for (dialect, response) in responses(&[("run_sql", text)]) {
            let calls = dialect.read(&response).unwrap().calls;
            assert_eq!(calls[0].arguments, Arguments::Freeform(text.into()));
            assert_eq!(calls[0].parse_error(), None);
            let result = registry().call_blocking(calls[0].clone());
            if text.is_empty() {
                assert_eq!(result.error().unwrap().violations()[0].path(), "sql");
            } else {
                assert_eq!(result.content(), format!("ran {text}"));
            }
        }
    }
}

#[test]
fn results_have_the_form_of_their_calls() {
    let [(responses, one), (chat, other)] = responses(&[("run_sql", "SELECT 1"), ("add", "1+2")]);
    let results = |dialect: &dyn Dialect, response: &Value| {
        let calls = dialect.read(response).unwrap().calls.into_iter();
        let results: Vec<_> = calls.map(|call| registry().call_blocking(call)).collect();
        dialect.results(&results)
    };
    assert_eq!(
        json!(results(&*responses, &one)),
        json!([
            {"type": "custom_tool_call_output", "call_id": "call_0", "output": "ran SELECT 1"},
            {"type": "custom_tool_call_output", "call_id": "call_1", "output": "3"},
        ])
    );
    assert_eq!(
        json!(results(&*chat, &other)),
        json!([
            {"role": "tool", "tool_call_id": "call_0", "content": "ran SELECT 1"},
            {"role": "tool", "tool_call_id": "call_1", "content": "3"},
        ])
    );
}

#[test]
fn calls_of_an_unknown_type_are_not_read() {
    let [(_, _), (dialect, mut response)] = responses(&[("run_sql", "SELECT 1"), ("add", "1")]);
    response["choices"][0]["message"]["tool_calls"][0] =
        json!({"id": "call_0", "type": "vault", "vault": {"name": "run_sql"}});
    let calls = dialect.read(&response).unwrap().calls;
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].name, "add");
}

#[test]
fn a_grammar_is_enforced_at_the_call() {
    for (text, is_valid) in [
        ("2026-11", true),
        ("x2026-11", false),
        ("2026-11x", false),
        ("2026-11\n", false),
    ] {
        for (dialect, response) in responses(&[("save_month", text)]) {
            let call = dialect.read(&response).unwrap().calls.remove(0);
            let result = registry().call_blocking(call);
            assert_eq!(
                result.is_error(),
                !is_valid,
                "{text:?}: {}",
                result.content()
            );
            if !is_valid {
                let error = result.error().unwrap();
                assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
                assert_eq!(error.violations()[0].path(), "month");
            }
        }
    }
}

#[test]
fn hooks_and_decisions_see_json() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (before, after) = (seen.clone(), seen.clone());
    let registry = Registry::builder()
        .tools(tools![run_sql])
        .before(move |hook| {
            let seen = before.clone();
            async move {
                seen.lock().unwrap().push(hook.call.arguments.clone());
                if hook.call.arguments.to_object().unwrap()["sql"] == "change" {
                    return Gate::Change(Arguments::Freeform("changed".into()));
                }
                Gate::Allow
            }
        })
        .after(move |hook, result| {
            let seen = after.clone();
            async move {
                seen.lock().unwrap().push(hook.call.arguments.clone());
                result
            }
        })
        .build()
        .unwrap();
    let call = |text: &str| ToolCall::new("call_1", "run_sql", Arguments::Freeform(text.into()));
    assert_eq!(registry.call_blocking(call("a\"b")).content(), "ran a\"b");
    assert_eq!(
        registry.call_blocking(call("change")).content(),
        "ran changed"
    );
    assert!(registry.call_blocking(call("")).is_error());
    let text = |text: &str| Arguments::from(text);
    assert_eq!(
        *seen.lock().unwrap(),
        [
            text(r#"{"sql":"a\"b"}"#),
            text(r#"{"sql":"a\"b"}"#),
            text(r#"{"sql":"change"}"#),
            text(r#"{"sql":"changed"}"#),
            text(r#"{"sql":""}"#),
        ]
    );
}

#[test]
fn a_truncated_text_is_not_run() {
    for (dialect, mut response) in responses(&[("run_sql", "DELETE FROM a")]) {
        if response["output"].is_array() {
            response["status"] = "incomplete".into();
        } else {
            response["choices"][0]["finish_reason"] = "length".into();
        }
        let call = dialect.read(&response).unwrap().calls.remove(0);
        assert!(call.parse_error().unwrap().contains("truncated"));
        let result = registry().call_blocking(call);
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::MalformedJson);
    }
}

#[test]
fn a_function_call_of_a_freeform_tool_has_json() {
    let call = ToolCall::new("call_1", "run_sql", r#"{"sql":"SELECT 1"}"#);
    assert_eq!(registry().call_blocking(call).content(), "ran SELECT 1");
    // And text for a tool of another kind is JSON.
    let registry = super::registry();
    let call = Arguments::Freeform(r#"{"id":0}"#.into());
    let call = ToolCall::new("call_1", "cancel_booking", call);
    assert_eq!(registry.call_blocking(call).content(), "done");
}

#[test]
fn a_dynamic_tool_is_freeform_too() {
    let tool = DynamicTool::builder("save_code")
        .description("Saves a code.")
        .freeform("code", Some(Grammar::Regex("[a-z]+".into())))
        .build(async |arguments, _| Ok::<_, String>(arguments["code"].to_string()))
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let tools = json!(registry.render(&OpenAiResponses::default()));
    assert_eq!(
        tools[0]["format"],
        json!({"type": "grammar", "syntax": "regex", "definition": "^(?:[a-z]+)$"})
    );
    let tools = json!(registry.render(&Anthropic::default()));
    let code = &tools[0]["input_schema"]["properties"]["code"];
    assert_eq!(*code, json!({"type": "string", "pattern": "^(?:[a-z]+)$"}));
    let call = |text: &str| ToolCall::new("call_1", "save_code", Arguments::Freeform(text.into()));
    assert_eq!(registry.call_blocking(call("ab")).content(), r#""ab""#);
    let result = registry.call_blocking(call("a1"));
    assert_eq!(result.error().unwrap().violations()[0].path(), "code");
}

/// The events of a streamed response with two calls, the second of them of a function.
pub(crate) fn streamed_responses() -> Vec<Value> {
    let sql = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_A",
        "name": "run_sql", "input": "SELECT \"a\"", "status": "completed"});
    let other = json!({"type": "function_call", "id": "fc_1", "call_id": "call_B",
        "name": "list_alarms", "arguments": "{}", "status": "completed"});
    let begun = |item: &Value, key: &str| {
        let mut item = item.clone();
        item[key] = "".into();
        item["status"] = "in_progress".into();
        item
    };
    let delta = |piece: &str| {
        json!({"type": "response.custom_tool_call_input.delta", "item_id": "ctc_1",
               "output_index": 0, "delta": piece})
    };
    let item = |kind: &str, at: u64, item: Value| json!({"type": format!("response.output_item.{kind}"), "output_index": at, "item": item});
    let response = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "status": status, "model": "gpt-5",
               "created_at": 1_741_569_952, "tools": [], "tool_choice": "auto",
               "parallel_tool_calls": true, "output": output})
    };
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress", json!([]))}),
        item("added", 0, begun(&sql, "input")),
        delta("SELECT "),
        delta("\"a\""),
        json!({"type": "response.custom_tool_call_input.done", "item_id": "ctc_1",
               "output_index": 0, "input": "SELECT \"a\""}),
        item("done", 0, sql.clone()),
        item("added", 1, begun(&other, "arguments")),
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1",
               "output_index": 1, "delta": "{}"}),
        item("done", 1, other.clone()),
        json!({"type": "response.completed",
               "response": response("completed", json!([sql, other]))}),
    ];
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

fn read(dialect: &dyn Dialect, events: &[Value]) -> (Vec<StreamEvent>, Value) {
    let mut reader = dialect.stream();
    let read = events.iter().map(|event| reader.event(event).unwrap());
    let read = read.collect::<Vec<_>>().concat();
    (read, reader.finish().unwrap().1)
}

#[test]
fn a_stream_has_the_text_in_pieces() {
    let dialect = OpenAiResponses::default();
    let (events, response) = read(&dialect, &streamed_responses());
    let pieces: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Freeform { index, piece } => Some((*index, &**piece)),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, [(0, "SELECT "), (0, "\"a\"")]);
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(calls, dialect.read(&response).unwrap().calls);
    assert_eq!(
        calls[0].arguments,
        Arguments::Freeform("SELECT \"a\"".into())
    );
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, StreamEvent::Unknown(_)))
    );
}

#[test]
fn a_truncated_stream_marks_the_text() {
    let mut events = streamed_responses();
    events.drain(4..9);
    let sql = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_A",
        "name": "run_sql", "input": "SELECT \"a\"", "status": "incomplete"});
    events[4]["type"] = "response.incomplete".into();
    events[4]["response"]["status"] = "incomplete".into();
    events[4]["response"]["output"] = json!([sql]);
    let (events, _) = read(&OpenAiResponses::default(), &events);
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].is_truncated());
}

#[test]
fn a_chat_stream_has_the_text_in_pieces() {
    let chunk = |delta: Value, stop: Value| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_741_569_952,
               "model": "gpt-5", "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    };
    let call = |call: Value| chunk(json!({"tool_calls": [call]}), Value::Null);
    let events = [
        chunk(json!({"role": "assistant", "content": null}), Value::Null),
        call(json!({"index": 0, "id": "call_A", "type": "custom",
                    "custom": {"name": "run_sql", "input": ""}})),
        call(json!({"index": 0, "custom": {"input": "SELECT "}})),
        call(json!({"index": 0, "custom": {"input": "1"}})),
        call(json!({"index": 1, "id": "call_B", "type": "function",
                    "function": {"name": "list_alarms", "arguments": "{}"}})),
        chunk(json!({}), "tool_calls".into()),
        json!("[DONE]"),
    ];
    let dialect = OpenAiChat::default();
    let (events, response) = read(&dialect, &events);
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Freeform { index: 0, piece } => Some(&**piece),
            _ => None,
        })
        .collect();
    assert_eq!(text, "SELECT 1");
    let calls = dialect.read(&response).unwrap().calls;
    assert_eq!(calls[0].arguments, Arguments::Freeform("SELECT 1".into()));
    assert_eq!(calls.len(), 2);
    let emitted = |call: &ToolCall| events.contains(&StreamEvent::Call(call.clone()));
    assert!(calls.iter().all(emitted));
    assert_eq!(
        response["choices"][0]["message"]["tool_calls"][0],
        json!({"id": "call_A", "type": "custom",
               "custom": {"name": "run_sql", "input": "SELECT 1"}})
    );
}

#[test]
fn pieces_are_checked_as_they_arrive() {
    let registry = registry();
    for text in HOSTILE {
        for split in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut arguments = registry.arguments("run_sql").unwrap();
            let (head, tail) = text.split_at(split);
            arguments.push_freeform(head);
            arguments.push_freeform(tail);
            let call = ToolCall::new("", "run_sql", Arguments::Freeform(text.into()));
            match registry.validate(&call) {
                Ok(valid) => assert_eq!(arguments.finish().unwrap(), valid),
                Err(error) => {
                    let found = arguments.finish().unwrap_err();
                    assert_eq!(found.violations(), error.violations());
                }
            }
        }
    }
    let mut arguments = registry.arguments("run_sql").unwrap();
    arguments.push_freeform(&"x".repeat(50));
    arguments.push_freeform("y");
    assert!(arguments.finish().is_err());
}

#[test]
fn a_choice_names_a_custom_tool() {
    let request = |dialect: &dyn Dialect, options: RequestOptions| {
        let request = registry()
            .request(dialect)
            .options(options)
            .build()
            .unwrap();
        json!(request.fields())["tool_choice"].clone()
    };
    let options = || RequestOptions::new().choice(ToolChoice::tool("add"));
    assert_eq!(
        request(&OpenAiResponses::default(), options()),
        json!({"type": "custom", "name": "add"})
    );
    assert_eq!(
        request(&OpenAiChat::default(), options()),
        json!({"type": "custom", "custom": {"name": "add"}})
    );
    assert_eq!(
        request(&OpenAiChat::default().functions_only(), options()),
        json!({"type": "function", "function": {"name": "add"}})
    );
    let only = RequestOptions::new().only(["add"]);
    let choice = request(&OpenAiResponses::default(), only);
    assert_eq!(choice["tools"], json!([{"type": "custom", "name": "add"}]));
}

/// The pieces of a streamed call, its result and what is saved of them.
#[tokio::test]
async fn an_agent_runs_a_freeform_call() {
    let model = ScriptedModel::new([]);
    model.push_stream(streamed_responses());
    let message = json!({"type": "message", "role": "assistant",
                         "content": [{"type": "output_text", "text": "Done."}]});
    model.push(json!({"object": "response", "status": "completed", "output": [message]}));
    let dialect = OpenAiResponses::default();
    let agent = Agent::new(registry(), dialect, model.clone());
    let mut run = Run::new("run_1");
    run.push(dialect.user_message("?")).unwrap();
    let mut pieces = Vec::new();
    let mut events = agent.events(&mut run);
    while let Some(event) = events.next().await {
        if let Event::Arguments {
            piece, arguments, ..
        } = event.unwrap()
        {
            assert!(arguments.error().is_none());
            pieces.push(piece);
        }
    }
    drop(events);
    assert_eq!(pieces, ["SELECT ", "\"a\"", "{}"]);
    let requests = model.requests();
    let sent = requests[1]
        .messages
        .iter()
        .map(|message| (**message).clone());
    let sent: Vec<_> = sent.filter(|item| item["call_id"] == "call_A").collect();
    assert_eq!(sent[0]["type"], "custom_tool_call");
    assert_eq!(
        sent[1],
        json!({"type": "custom_tool_call_output", "call_id": "call_A",
               "output": "ran SELECT \"a\""})
    );
    let saved = serde_json::to_string(&run).unwrap();
    let loaded: Run = serde_json::from_str(&saved).unwrap();
    let (call, _) = loaded.rounds()[0].calls().next().unwrap();
    assert_eq!(call.arguments, Arguments::Freeform("SELECT \"a\"".into()));
    assert_eq!(serde_json::to_string(&loaded).unwrap(), saved);
}

#[test]
fn lock_files_have_the_grammar() {
    let lock = Lock::new(&registry()).to_string();
    assert!(
        lock.contains(r#""grammar": "^(?:[0-9]{4}-[0-9]{2})$""#),
        "{lock}"
    );
    assert_eq!(lock.matches(r#""freeform": true"#).count(), 3);
    assert!(lock.contains(r#""programmatic": "only""#));
}
