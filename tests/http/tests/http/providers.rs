//! Requests and responses of every provider, streamed and whole.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::model::{HttpModel, Response};
use tool_agent::run::{MemoryJournal, Run, RunOutcome};
use tool_agent::{Agent, Event};
use tool_core::dialect::HostedTool;
use tool_core::dialect::{Dialect, ToolChoice};
use tool_core::hooks::Decision;
use tool_dialects::{Anthropic, Bedrock, Gemini, OpenAiChat, OpenAiResponses};

use crate::aws::{framed, frames};
use crate::recorded::{Case, cases};
use crate::server::{Received, Server, events, json};
use crate::{KEY, ask, assert_no_secret, block_on, registry};

/// What a provider's documentation says about a request.
struct Expected {
    path: &'static str,
    stream_path: &'static str,
    key: (&'static str, String),
    messages: &'static str,
    has_model: bool,
    system: Value,
    max_tokens: Value,
}

fn expected(name: &str) -> Expected {
    let bearer = || ("authorization", format!("Bearer {KEY}"));
    let system = json!({"messages": [{"role": "system", "content": "Be brief."}]});
    let chat = Expected {
        path: "/v1/chat/completions",
        stream_path: "/v1/chat/completions",
        key: bearer(),
        messages: "messages",
        has_model: true,
        system,
        max_tokens: json!({"max_tokens": 500}),
    };
    match name {
        "openai-chat" | "xai" | "mistral" => chat,
        "cohere" => Expected {
            path: "/v1/chat",
            stream_path: "/v1/chat",
            ..chat
        },
        "openai-responses" => Expected {
            path: "/v1/responses",
            stream_path: "/v1/responses",
            messages: "input",
            system: json!({"instructions": "Be brief."}),
            max_tokens: json!({"max_output_tokens": 500}),
            ..chat
        },
        "anthropic" => Expected {
            path: "/v1/messages",
            stream_path: "/v1/messages",
            key: ("x-api-key", KEY.to_owned()),
            system: json!({"system": "Be brief."}),
            ..chat
        },
        "gemini" => Expected {
            path: "/v1/models/some%2Fmodel:generateContent",
            stream_path: "/v1/models/some%2Fmodel:streamGenerateContent?alt=sse",
            key: ("x-goog-api-key", KEY.to_owned()),
            messages: "contents",
            has_model: false,
            system: json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}}),
            max_tokens: json!({"generationConfig": {"maxOutputTokens": 500}}),
        },
        "gemini-interactions" => Expected {
            path: "/v1/interactions",
            stream_path: "/v1/interactions",
            key: ("x-goog-api-key", KEY.to_owned()),
            messages: "input",
            system: json!({"system_instruction": "Be brief."}),
            max_tokens: json!({"generation_config": {"max_output_tokens": 500}}),
            ..chat
        },
        "bedrock" => Expected {
            path: "/v1/model/some%2Fmodel/converse",
            stream_path: "/v1/model/some%2Fmodel/converse-stream",
            has_model: false,
            system: json!({"system": [{"text": "Be brief."}]}),
            max_tokens: json!({"inferenceConfig": {"maxTokens": 500}}),
            ..chat
        },
        other => panic!("{other} is not expected"),
    }
}

/// Asserts that `part` is in `whole`: the same values under the same keys, at the same places.
fn assert_has(whole: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            for (key, part) in members {
                assert_has(&whole[key], part);
            }
        }
        Value::Array(items) => {
            for (at, part) in items.iter().enumerate() {
                assert_has(&whole[at], part);
            }
        }
        part => assert_eq!(whole, part),
    }
}

fn assert_request(case: &Case, request: &Received, is_streamed: bool) {
    let name = case.name;
    let expected = expected(name);
    assert_eq!(request.method, "POST");
    let path = if is_streamed {
        expected.stream_path
    } else {
        expected.path
    };
    assert_eq!(request.path, path, "{name}");
    assert!(!request.path.contains(KEY));
    assert_eq!(
        request.header(expected.key.0),
        Some(&*expected.key.1),
        "{name}"
    );
    let keys = request
        .headers
        .iter()
        .filter(|(_, value)| value.contains(KEY));
    assert_eq!(keys.count(), 1, "{name}");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("x-extra"), Some("yes"));
    let version = (name == "anthropic").then_some("2023-06-01");
    assert_eq!(request.header("anthropic-version"), version);
    let revision = (name == "gemini-interactions").then_some("2026-05-20");
    assert_eq!(request.header("api-revision"), revision);

    let body = &request.body;
    assert_has(body, &expected.system);
    assert_has(body, &expected.max_tokens);
    let model = expected.has_model.then(|| "some/model".into());
    assert_eq!(body.get("model"), model.as_ref(), "{name}");
    let messages = body[expected.messages].as_array().unwrap();
    let question = case.dialect.user_message("What is 2 + 3?");
    assert_eq!(messages.last(), Some(&question), "{name}");
    // The order of keys is that of the dialect.
    let tools = registry().render(&case.dialect);
    assert!(
        request.text.contains(tools.as_str()),
        "{name}: {}",
        request.text
    );
    let tools_at = match name {
        "bedrock" => &body["toolConfig"]["tools"],
        _ => &body["tools"],
    };
    assert_eq!(*tools_at, json!(tools), "{name}");
    let by_field = is_streamed && !matches!(name, "gemini" | "bedrock");
    assert_eq!(
        body.get("stream"),
        by_field.then_some(&true.into()),
        "{name}"
    );
    assert_eq!(body["nested"], json!({"a": 1, "b": 2}), "{name}");
}

fn model(case: &Case, server: &Server) -> HttpModel {
    HttpModel::new(&case.dialect, "some/model")
        .base_url(format!("{}/v1/", server.url))
        .key(KEY)
        .system("Be brief.")
        .max_tokens(500)
        .header("X-Extra", "yes")
        .field("nested", json!({"a": 1}))
        .field("nested", json!({"b": 2}))
}

#[test]
fn whole_responses_of_every_provider_are_read() {
    for case in cases() {
        let server = Server::start([json(&case.response)]);
        let model = model(&case, &server).streaming(false);
        match ask(&case.dialect, &model) {
            Ok(Response::Whole(response)) => assert_eq!(response, case.response),
            other => panic!("{}: {other:?}", case.name),
        }
        assert_request(&case, &server.received()[0], false);
        assert_no_secret(&[&model]);
    }
}

#[test]
fn streams_of_every_provider_are_read_in_pieces_of_any_size() {
    for case in &cases() {
        let is_framed = case.name == "bedrock";
        for size in [1, 7, 100_000] {
            let server = Server::start([if is_framed {
                framed(&frames(&case.stream), size)
            } else {
                events(&case.stream, size, true)
            }]);
            let model = model(case, &server).streaming(true);
            let Ok(Response::Stream(stream)) = ask(&case.dialect, &model) else {
                panic!("{} is not streamed", case.name);
            };
            let read: Vec<_> = block_on(stream.collect());
            let read = read
                .into_iter()
                .map(|event| event.unwrap().value().into_owned());
            let mut expected = case.stream.clone();
            expected.extend((!is_framed).then(|| "[DONE]".into()));
            assert_eq!(read.collect::<Vec<_>>(), expected, "{}", case.name);
            assert_request(case, &server.received()[0], true);
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_read_whole() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Hi."}}]});
    let server = Server::start([json(&whole)]);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m")
        .base_url(&server.url)
        .streaming(true);
    match ask(&dialect, &model).unwrap() {
        Response::Whole(response) => assert_eq!(response, whole),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.received()[0].header("authorization"), None);
}

/// The events of two streamed responses: a call, then an answer.
fn conversation() -> Vec<Vec<Value>> {
    let message = json!({"type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 9}});
    let start = json!({"type": "message_start", "message": message});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}});
    let piece = |text: &str| {
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "input_json_delta", "partial_json": text}})
    };
    let text = |text: &str| {
        json!({"type": "content_block_delta", "index": 0,
               "delta": {"type": "text_delta", "text": text}})
    };
    let end = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}});
    let block_stop = json!({"type": "content_block_stop", "index": 0});
    let stop = json!({"type": "message_stop"});
    let block =
        |block: Value| json!({"type": "content_block_start", "index": 0, "content_block": block});
    vec![
        vec![
            start.clone(),
            block(call),
            piece("{\"a\":2,"),
            piece("\"b\":3}"),
            block_stop.clone(),
            end("tool_use"),
            stop.clone(),
        ],
        vec![
            start,
            block(json!({"type": "text", "text": ""})),
            text("It is "),
            text("5."),
            block_stop,
            end("end_turn"),
            stop,
        ],
    ]
}

#[test]
fn an_agent_shows_a_streamed_conversation() {
    let answers = conversation()
        .into_iter()
        .map(|stream| events(&stream, 50, true));
    let server = Server::start(answers);
    let dialect = Anthropic::default();
    let model = HttpModel::new(&dialect, "claude")
        .base_url(&server.url)
        .key(KEY);
    let agent = Agent::new(registry(), dialect, model);
    let mut run = Run::new("run-1");
    run.push(dialect.user_message("What is 2 + 3?")).unwrap();
    let mut shown = Vec::new();
    block_on(async {
        let mut events = agent.events(&mut run);
        while let Some(event) = events.next().await {
            shown.push(match event.unwrap() {
                Event::Text(text) => text,
                Event::CallStarted { name, .. } => format!("starts {name}"),
                Event::Arguments { piece, .. } => piece,
                Event::Call { call, .. } => format!("calls {}", call.name),
                Event::Result(result) => format!("gets {}", result.content()),
                Event::Done(outcome) => {
                    assert_eq!(outcome, RunOutcome::Answered("It is 5.".into()));
                    "done".to_owned()
                }
                _ => continue,
            });
        }
    });
    let expected = [
        "starts add",
        "{\"a\":2,",
        "\"b\":3}",
        "calls add",
        "gets 5",
        "It is ",
        "5.",
        "done",
    ];
    assert_eq!(shown, expected);
    let bodies = server.received().into_iter().map(|request| request.body);
    let bodies: Vec<_> = bodies.collect();
    // Required, and the only default.
    assert_eq!(bodies[0]["max_tokens"], 4096);
    let turn = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 2, "b": 3}},
    ]});
    assert_eq!(bodies[1]["messages"][1], turn);
    assert_eq!(bodies[1]["messages"][2]["content"][0]["content"], "5");
    assert_no_secret(&[&agent, &run]);
}

/// Requests for approvals, whole and streamed. The process ends, and another one loads the run and sends the decisions.
#[test]
fn an_approval_is_decided_in_another_process_and_sent() {
    let request = |id: &str| {
        json!({"type": "mcp_approval_request", "id": id, "server_label": "tickets",
        "name": "close", "arguments": "{\"id\":7}"})
    };
    let items = [
        request("mcpr_1"),
        json!({"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{\"a\":2,\"b\":3}"}),
        request("mcpr_2"),
    ];
    let message = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "Closed."}]});
    for is_streamed in [false, true] {
        let respond = |items: &[Value]| {
            let whole = json!({"status": "completed", "output": items});
            if !is_streamed {
                return json(&whole);
            }
            let done = items.iter().enumerate().map(
                |(index, item)| json!({"type": "response.output_item.done", "output_index": index, "item": item}),
            );
            let end = json!({"type": "response.completed", "response": whole});
            let stream: Vec<_> = done.chain([end]).collect();
            events(&stream, 50, true)
        };
        let server = Server::start([respond(&items), respond(std::slice::from_ref(&message))]);
        let journal = MemoryJournal::new();
        let dialect = OpenAiResponses::default();
        let process = || {
            let model = HttpModel::new(&dialect, "gpt")
                .base_url(&server.url)
                .key(KEY)
                .streaming(is_streamed);
            let agent = Agent::new(registry(), dialect, model).journal(journal.clone());
            agent.may_decide(async |_| true)
        };
        let first = process();
        let mut run = Run::new("run-1");
        let outcome = block_on(first.reply(&mut run, "Close it.")).unwrap();
        let RunOutcome::Waiting(pending) = outcome else {
            panic!("{outcome:?}");
        };
        drop((first, run));

        let second = process();
        let mut run = block_on(second.load("run-1")).unwrap().unwrap();
        let decisions = [Decision::deny("it is still open"), Decision::Allow];
        // The later one first.
        for (pending, decision) in pending.iter().zip(decisions).rev() {
            assert_eq!(pending.hold().server(), Some("tickets"));
            let fingerprint = pending.fingerprint();
            block_on(second.decide(&mut run, fingerprint, decision, "Ada")).unwrap();
        }
        let outcome = block_on(second.run(&mut run)).unwrap();
        assert_eq!(outcome, RunOutcome::Answered("Closed.".into()));
        assert_eq!(server.received().len(), 2);
        let input = &server.received()[1].body["input"];
        let input = input.as_array().unwrap();
        assert_eq!(input[1..4], items);
        assert_eq!(input[4]["type"], "function_call_output");
        let answer = |id: &str, approve: bool| json!({"type": "mcp_approval_response", "approval_request_id": id, "approve": approve});
        let mut denied = input[5].clone();
        let reason = denied.as_object_mut().unwrap().remove("reason").unwrap();
        assert!(
            reason.as_str().unwrap().ends_with(": it is still open"),
            "{reason}"
        );
        assert_eq!(denied, answer("mcpr_1", false));
        assert_eq!(input[6..], [answer("mcpr_2", true)]);
    }
}

/// A command, streamed. The next request has it and its answer.
#[test]
fn what_a_provider_asks_besides_calls_is_answered_in_the_next_request() {
    let shell = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed",
        "action": {"commands": ["uptime"]}});
    let streamed = |items: &[Value]| {
        let done = items.iter().enumerate().map(
            |(index, item)| json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
        let end = json!({"type": "response.completed", "response": {"status": "completed", "output": items}});
        let stream: Vec<_> = done.chain([end]).collect();
        events(&stream, 50, true)
    };
    let message = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "Up."}]});
    let asked = [shell];
    let server = Server::start([streamed(&asked), streamed(&[message])]);
    let dialect = OpenAiResponses::default();
    let model = HttpModel::new(&dialect, "gpt")
        .base_url(&server.url)
        .key(KEY)
        .streaming(true);
    let agent = Agent::new(registry(), dialect, model);
    let mut run = Run::new("run-1");
    run.push(dialect.user_message("Is it up?")).unwrap();
    let RunOutcome::Unanswered(unanswered) = block_on(agent.run(&mut run)).unwrap() else {
        panic!("{run:?}");
    };
    assert!(unanswered.iter().map(|asked| &asked.item).eq(&asked));
    let answers = [json!({"type": "shell_call_output", "call_id": "call_1", "output": []})];
    run.answer(answers.clone()).unwrap();
    let outcome = block_on(agent.run(&mut run)).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Up.".into()));
    let input = &server.received()[1].body["input"];
    let sent: Vec<_> = asked.into_iter().chain(answers).collect();
    assert_eq!(input.as_array().unwrap()[1..], sent);
}

#[test]
fn an_agent_works_without_a_runtime_and_in_several() {
    let whole = json!({"output": [{"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": "5"},
    ]}]});
    let server = Server::start([0; 4].map(|_| json(&whole)));
    let dialect = OpenAiResponses::default();
    let model = HttpModel::new(&dialect, "m").base_url(&server.url).key(KEY);
    let agent = Agent::new(registry(), dialect, model);
    for _ in 0..2 {
        assert_eq!(agent.ask_blocking("What is 2 + 3?").unwrap(), "5");
        assert_eq!(block_on(agent.ask("What is 2 + 3?")).unwrap(), "5");
    }
    // Nothing is streamed if nobody reads events.
    assert_eq!(server.received()[0].body.get("stream"), None);
}

#[test]
fn a_stream_is_read_without_a_runtime() {
    let answers = conversation()
        .into_iter()
        .map(|stream| events(&stream, 50, true));
    let server = Server::start(answers);
    let dialect = Anthropic::default();
    let model = HttpModel::new(&dialect, "claude")
        .base_url(&server.url)
        .key(KEY);
    let agent = Agent::new(registry(), dialect, model.streaming(true));
    assert_eq!(agent.ask_blocking("What is 2 + 3?").unwrap(), "It is 5.");
}

#[test]
fn the_system_prompt_is_read_for_every_request_and_an_empty_one_omitted() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Hi."}}]});
    let server = Server::start([0; 2].map(|_| json(&whole)));
    let dialect = OpenAiChat::default();
    let count = std::sync::atomic::AtomicUsize::new(0);
    let prompt = move || match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        0 => String::new(),
        number => format!("prompt {number}"),
    };
    let model = HttpModel::new(&dialect, "m")
        .base_url(&server.url)
        .system_with(prompt);
    for _ in 0..2 {
        ask(&dialect, &model).unwrap();
    }
    let received = server.received();
    assert_eq!(received[0].body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(received[1].body["messages"][0]["content"], "prompt 1");
}

#[test]
fn a_request_without_tools_has_no_tools_field() {
    use tool_agent::model::{Model, Request};
    for case in cases() {
        let server = Server::start([json(&case.response)]);
        let model = model(&case, &server);
        let registry = tool_core::Registry::new();
        let tools = registry.request(&case.dialect).build().unwrap();
        block_on(model.ask(Request::new(Vec::new(), tools))).unwrap();
        let body = &server.received()[0].body;
        assert!(body.get("tools").is_none(), "{}", case.name);
        assert!(body.get("toolConfig").is_none(), "{}", case.name);
    }
}

#[test]
fn fields_replace_what_the_model_writes() {
    let server = Server::start([json(&json!({"candidates": []}))]);
    let dialect = Gemini::default();
    let model = HttpModel::new(&dialect, "m")
        .base_url(&server.url)
        .max_tokens(5);
    let model = model
        .field("generationConfig", json!({"temperature": 0}))
        .field("tools", json!([{"googleSearch": {}}]));
    ask(&dialect, &model).unwrap();
    let body = &server.received()[0].body;
    assert_eq!(
        body["generationConfig"],
        json!({"temperature": 0, "maxOutputTokens": 5})
    );
    assert_eq!(body["tools"], json!([{"googleSearch": {}}]));
}

#[test]
fn the_query_of_a_base_url_is_kept() {
    let server = Server::start([json(&json!({"candidates": []}))]);
    let dialect = Gemini::default();
    let url = format!("{}/v1beta?tenant=7", server.url);
    let model = HttpModel::new(&dialect, "m").base_url(url).streaming(false);
    ask(&dialect, &model).unwrap();
    let path = &server.received()[0].path;
    assert_eq!(path, "/v1beta/models/m:generateContent?tenant=7");
}

/// Returns the request of an agent that is asked once.
fn sent(dialect: impl Dialect + 'static, model: impl Fn(HttpModel) -> HttpModel) -> Received {
    let server = Server::start([json(&json!({}))]);
    let http = HttpModel::new(&dialect, "m")
        .base_url(&server.url)
        .without_key();
    let registry = registry();
    registry.add_hosted(HostedTool::new(
        json!({"type": "mcp_toolset", "mcp_server_name": "docs"}),
    ));
    let agent = Agent::new(registry, dialect, model(http))
        .tool_choice(ToolChoice::Required)
        .parallel(false)
        .cached();
    let _ = agent.ask_blocking("What is 2 + 3?");
    server.received().remove(0)
}

#[test]
fn requests_have_the_fields_and_headers_of_the_tools() {
    let anthropic = sent(Anthropic::default(), |model| {
        model.header(
            "anthropic-beta",
            "context-1m-2025-08-07, mcp-client-2025-11-20",
        )
    });
    assert_eq!(
        anthropic.body["tool_choice"],
        json!({"type": "any", "disable_parallel_tool_use": true})
    );
    assert!(
        anthropic
            .text
            .contains(r#""cache_control":{"type":"ephemeral"}}]"#)
    );
    // The application's values stay, and none is there twice.
    assert_eq!(
        anthropic.header("anthropic-beta"),
        Some("context-1m-2025-08-07,mcp-client-2025-11-20")
    );
    let anthropic = sent(Anthropic::default(), |model| {
        model.field("tool_choice", json!({"type": "auto"}))
    });
    assert_eq!(anthropic.body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(
        anthropic.header("anthropic-beta"),
        Some("mcp-client-2025-11-20")
    );

    let bedrock = sent(Bedrock::default(), |model| {
        model.field("toolConfig", json!({"own": 1}))
    });
    let config = &bedrock.body["toolConfig"];
    assert_eq!(config["own"], 1);
    assert_eq!(config["toolChoice"], json!({"any": {}}));
    let last = config["tools"].as_array().unwrap().last();
    assert_eq!(last, Some(&json!({"cachePoint": {"type": "default"}})));

    let openai = sent(OpenAiResponses::default(), |model| model);
    assert_eq!(openai.body["tool_choice"], "required");
    assert_eq!(openai.body["parallel_tool_calls"], false);
    assert_eq!(openai.header("anthropic-beta"), None);
}
