//! Servers by name, against a local server that rejects what the real one rejects and answers in its form.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use strict::check_fields;
use tool_agent::model::{HttpModel, ModelErrorKind};
use tool_agent::{Agent, Event};
use tool_core::dialect::AnswerWay;
use tool_core::{Registry, ToolType};
use tool_dialects::{CallFormat, Prompted, server as known};

use crate::keys::run_with;
use crate::server::{Answer, JSON, Received, Server, events, json, status};
use crate::{KEY, ask, assert_no_secret, block_on, registry};

#[derive(Debug, PartialEq, ToolType)]
struct Sum {
    total: i64,
}

/// Answers a request for a sum in the form that the request asks for, as a stream if it asks for one.
fn answer(name: &str, request: &Received) -> Answer {
    let rejected = |words: &str| {
        let error = json!({"error": {"message": words, "type": "invalid_request_error"}});
        status("400 Bad Request", JSON, error.to_string())
    };
    if let Err(words) = check_fields(name, &request.body) {
        return rejected(&words);
    }
    let body = &request.body;
    let tools = body["tools"].as_array().into_iter().flatten();
    let has_answer_tool = { tools }.any(|tool| tool["function"]["name"] == "final_answer");
    let arguments = r#"{"total":5}"#;
    let (mut message, stop) = if has_answer_tool {
        let function = json!({"name": "final_answer", "arguments": arguments});
        let call = json!({"index": 0, "id": "abcDEF123", "type": "function", "function": function});
        (
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            "tool_calls",
        )
    } else if name == "minimax" {
        let text = format!("<think>\n2 and 3…\n</think>\n\n```json\n{arguments}\n```");
        (json!({"role": "assistant", "content": text}), "stop")
    } else {
        (json!({"role": "assistant", "content": arguments}), "stop")
    };
    if name == "deepseek" {
        message["reasoning_content"] = "2 and 3…".into();
    }
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12});
    if body["stream"] != true {
        return json(
            &json!({"choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage}),
        );
    }
    let mut chunks = vec![
        json!({"choices": [{"index": 0, "delta": message, "finish_reason": null}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}),
    ];
    if !body["stream_options"].is_null() {
        chunks.push(json!({"choices": [], "usage": usage}));
    }
    events(&chunks, 40, true)
}

fn chats() -> impl Iterator<Item = &'static known::Server> {
    known::all().filter(|server| server.dialect.provider() == "chat completions")
}

#[test]
fn each_server_gives_a_typed_answer() {
    for row in chats() {
        let name = row.name();
        for (has_tools, is_streamed) in [(false, false), (false, true), (true, false), (true, true)]
        {
            let server = Server::answering(move |request| answer(name, request));
            let model = HttpModel::new(row, "some/model")
                .base_url(format!("{}/v1", server.url))
                .key(KEY)
                .system("Be brief.")
                .streaming(is_streamed);
            let tools = if has_tools {
                registry()
            } else {
                Registry::new()
            };
            let ways = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&ways);
            let agent = Agent::new(tools, *row, model).on_event(move |event| {
                if let Event::AnswerWay(way) = event {
                    seen.lock().unwrap().push(*way);
                }
            });
            let sum: Sum = block_on(agent.ask_for("What is 2 + 3?"))
                .unwrap_or_else(|error| panic!("{name}, {has_tools}, {is_streamed}: {error}"));
            assert_eq!(sum, Sum { total: 5 }, "{name}");

            let received = server.received();
            let [request] = &*received else {
                panic!("{name}: {} requests", received.len());
            };
            let way = ways.lock().unwrap().clone();
            let system = request.body["messages"][0]["content"].as_str().unwrap();
            let format = &request.body["response_format"]["type"];
            assert!(system.starts_with("Be brief."), "{name}: {system}");
            match *way {
                [AnswerWay::Schema] => assert_eq!(format, "json_schema", "{name}"),
                [AnswerWay::Call] => assert_eq!(request.body["tool_choice"], "required", "{name}"),
                [AnswerWay::Json] => {
                    assert_eq!(format, "json_object", "{name}");
                    assert!(system.contains("\"total\""), "{name}: {system}");
                }
                [AnswerWay::Prompt] => assert!(system.contains("\"total\""), "{name}: {system}"),
                _ => panic!("{name}: {way:?}"),
            }
            let key = match name {
                "azure" | "azure-deployment" => ("api-key", KEY.to_owned()),
                _ => ("authorization", format!("Bearer {KEY}")),
            };
            assert_eq!(request.header(key.0), Some(&*key.1), "{name}");
            let path = match name {
                "azure-deployment" => {
                    "/v1/deployments/some%2Fmodel/chat/completions?api-version=2024-10-21"
                }
                _ => "/v1/chat/completions",
            };
            assert_eq!(request.path, path, "{name}");
        }
    }
}

#[test]
fn a_gateway_of_ten_lines_changes_any_part_of_a_request() {
    use tool_core::dialect::write::HttpApi;
    use tool_dialects::{ChatRules, OpenAiChat};

    const GATEWAY: known::Server = known::Server {
        dialect: &OpenAiChat::with(ChatRules {
            answer: AnswerWay::Prompt,
            ..ChatRules::IMITATION
        }),
        api: HttpApi {
            name: "gateway",
            key_header: "x-gateway-key",
            query: &[("team", "a b")],
            headers: &[("x-tenant", "7")],
            fields: r#"{"route":{"tier":1,"zone":"eu"},"stream_options":null}"#,
            ..known::VLLM.api
        },
        ..known::VLLM
    };
    let server = Server::answering(|request| answer("openai", request));
    let model = HttpModel::new(&GATEWAY, "m")
        .base_url(&server.url)
        .key(KEY)
        .streaming(true)
        .field("route", json!({"zone": null, "tier": 2}))
        .field("parallel_tool_calls", true)
        .field("parallel_tool_calls", Value::Null)
        .field("model", Value::Null);
    let agent = Agent::new(registry(), GATEWAY, model.clone()).parallel(false);
    agent.ask_blocking("What is 2 + 3?").unwrap();
    let request = &server.received()[0];
    assert_eq!(request.path, "/chat/completions?team=a+b");
    assert_eq!(request.header("x-gateway-key"), Some(KEY));
    assert_eq!(request.header("x-tenant"), Some("7"));
    let body = request.body.as_object().unwrap();
    // Their order depends on the features of `serde_json` in the build.
    let keys: BTreeSet<_> = body.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        BTreeSet::from(["messages", "route", "stream", "tools"])
    );
    assert_eq!(body["route"], json!({"tier": 2}));
    assert_no_secret(&[&model, &agent]);

    // There is no constant to look at.
    let server = Server::start([status("400 Bad Request", "", "no")]);
    let error = ask(&GATEWAY, &model.base_url(&server.url)).unwrap_err();
    let text = error.to_string();
    assert!(text.ends_with(" 400 Bad Request: no"), "{text}");
}

#[test]
fn headers_come_from_functions_at_each_request() {
    let server = Server::answering(|request| answer("azure", request));
    let count = Arc::new(Mutex::new(0));
    let model = HttpModel::new(&known::AZURE, "m")
        .base_url(&server.url)
        .without_key()
        .header_with("authorization", move || {
            let count = Arc::clone(&count);
            async move {
                let mut count = count.lock().unwrap();
                *count += 1;
                Ok(format!("Bearer {KEY}-{count}"))
            }
        });
    model.check().unwrap();
    for _ in 0..2 {
        ask(&known::AZURE, &model).unwrap();
    }
    let sent: Vec<_> = server
        .received()
        .iter()
        .map(|request| request.header("authorization").map(str::to_owned))
        .collect();
    assert_eq!(
        sent,
        [
            Some(format!("Bearer {KEY}-1")),
            Some(format!("Bearer {KEY}-2"))
        ]
    );

    let refusing = Server::answering(|request| {
        let words = format!("bad token {}", request.header("x-token").unwrap());
        status(
            "401 Unauthorized",
            JSON,
            json!({"error": {"message": words}}).to_string(),
        )
    });
    let model = HttpModel::new(&known::VLLM, "m")
        .base_url(&refusing.url)
        .header_with("x-token", async || Ok(KEY.to_owned()));
    let error = ask(&known::VLLM, &model).unwrap_err();
    assert!(error.to_string().contains("bad token [key]"), "{error}");
    assert_no_secret(&[&error, &model]);
}

#[test]
fn errors_name_the_server_and_its_constant() {
    let error = |number: &'static str| {
        let server = Server::answering(move |_| {
            status(
                number,
                JSON,
                json!({"error": {"message": "no"}}).to_string(),
            )
        });
        let model = HttpModel::new(&known::LM_STUDIO, "m")
            .base_url(&server.url)
            .key(KEY);
        let error = ask(&known::LM_STUDIO, &model).unwrap_err();
        error.to_string().replace(&server.url, "URL")
    };
    let start = "the request to m at LM Studio (URL/chat/completions) failed:";
    assert_eq!(
        error("400 Bad Request"),
        format!("{start} 400 Bad Request: no; see `server::LM_STUDIO`")
    );
    assert_eq!(
        error("404 Not Found"),
        format!("{start} 404 Not Found: no; see `server::LM_STUDIO`")
    );
    assert_eq!(
        error("401 Unauthorized"),
        format!(
            "{start} 401 Unauthorized: no; LM Studio takes its key in the header `authorization`; see `server::LM_STUDIO`"
        )
    );
    assert_eq!(
        error("503 Service Unavailable"),
        format!("{start} 503 Service Unavailable: no; repeat it later")
    );
}

/// The part of a request to Anthropic's models on Vertex AI that differs from Anthropic's own API.
#[test]
fn anthropic_on_vertex_has_its_own_paths_and_fields() {
    let message = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "5"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 9, "output_tokens": 3}});
    let server = Server::answering(move |_| json(&message));
    let row = known::VERTEX_ANTHROPIC;
    for is_streamed in [false, true] {
        let model = HttpModel::new(&row, "claude@1")
            .base_url(&server.url)
            .key(KEY)
            .streaming(is_streamed);
        assert!(ask(&row, &model).is_ok());
    }
    let received = server.received();
    for (request, path) in received.iter().zip(["rawPredict", "streamRawPredict"]) {
        assert_eq!(request.path, format!("/models/claude@1:{path}"));
        assert_eq!(
            request.header("authorization"),
            Some(&*format!("Bearer {KEY}"))
        );
        assert_eq!(request.header("anthropic-version"), None);
        assert_eq!(request.body["anthropic_version"], "vertex-2023-10-16");
        assert_eq!(request.body["model"], Value::Null);
        assert_eq!(request.body["stream"] == true, path == "streamRawPredict");
    }
    assert_eq!(received.len(), 2);
}

#[test]
fn urls_come_from_the_environment() {
    let server = Server::answering(|request| {
        let name = if request.path.contains("deployments") {
            "azure-deployment"
        } else {
            "databricks"
        };
        answer(name, request)
    });
    run_with(
        &[
            ("DATABRICKS_HOST", &format!("{}/", server.url)),
            ("DATABRICKS_TOKEN", KEY),
            ("AZURE_OPENAI_ENDPOINT", &server.url),
            ("AZURE_OPENAI_API_KEY", KEY),
            ("GOOGLE_CLOUD_LOCATION", "europe-west1"),
            ("GOOGLE_CLOUD_PROJECT", "evil.example/p"),
        ],
        "servers::child_with_urls",
    );
    let received = server.received();
    let paths: Vec<_> = received.iter().map(|request| &*request.path).collect();
    assert_eq!(
        paths,
        [
            "/serving-endpoints/chat/completions",
            "/openai/v1/chat/completions",
            "/openai/deployments/m/chat/completions?api-version=2024-10-21",
        ]
    );
    run_with(
        &[("GOOGLE_CLOUD_PROJECT", "p-1")],
        "servers::child_without_urls",
    );
}

#[test]
#[ignore = "run by another test"]
fn child_with_urls() {
    for row in [known::DATABRICKS, known::AZURE, known::AZURE_DEPLOYMENT] {
        ask(&row, &HttpModel::new(&row, "m")).unwrap();
    }
    let error = HttpModel::new(&known::VERTEX, "m").check().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("GOOGLE_CLOUD_PROJECT in the environment has characters"),
        "{error}"
    );
}

#[test]
#[ignore = "run by another test"]
fn child_without_urls() {
    let error = |row: &known::Server| HttpModel::new(row, "m").check().unwrap_err();
    let text = error(&known::DATABRICKS).to_string();
    let end = "failed: the URL is incomplete: set DATABRICKS_HOST, or call `HttpModel::base_url`";
    assert_eq!(text, format!("the request to m at Databricks {end}"));
    let text = error(&known::VERTEX).to_string();
    assert!(text.contains("set GOOGLE_CLOUD_LOCATION,"), "{text}");
    let groq = error(&known::GROQ);
    assert_eq!(groq.kind(), ModelErrorKind::Unauthorized);
    let place = "the request to m at Groq (https://api.groq.com/openai/v1/chat/completions)";
    let missing = "no key for Groq: set GROQ_API_KEY, or call `HttpModel::key`; see `server::GROQ`";
    assert_eq!(groq.to_string(), format!("{place} failed: {missing}"));
    // A server on this machine needs no key.
    HttpModel::new(&known::OLLAMA, "m").check().unwrap();
}

/// The server rejects tools; the model writes calls as text.
#[test]
fn a_model_without_tools_calls_them_in_its_text() {
    let answer = |request: &Received| {
        if let Err(words) = check_fields("perplexity", &request.body) {
            return status("400 Bad Request", JSON, words);
        }
        let messages = request.body["messages"].as_array().unwrap();
        let text = match messages.last().unwrap()["content"].as_str().unwrap() {
            "<tool_response>\n5\n</tool_response>" => "It is 5.",
            _ => {
                "Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}\n</tool_call>"
            }
        };
        if request.body["stream"] != true {
            let message = json!({"role": "assistant", "content": text});
            return json(
                &json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}),
            );
        }
        let pieces = text.split_inclusive(['<', ' ']);
        let chunk = |piece: &str| json!({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]});
        let mut chunks: Vec<_> = pieces.map(chunk).collect();
        chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
        events(&chunks, 40, true)
    };
    for is_streamed in [false, true] {
        let server = Server::answering(answer);
        let dialect = Prompted::new(known::PERPLEXITY, CallFormat::QWEN);
        let model = HttpModel::new(&dialect, "some/model")
            .base_url(&server.url)
            .key(KEY)
            .system("Be brief.")
            .streaming(is_streamed);
        let agent = Agent::new(registry(), dialect, model);
        let said = block_on(agent.ask("What is 2 + 3?")).unwrap();
        assert_eq!(said, "It is 5.");
        let second = &server.received()[1].body["messages"];
        let prompt = second[0]["content"].as_str().unwrap();
        assert!(prompt.starts_with("Be brief.\n\n") && prompt.contains("\"add\""));
        let roles: Vec<_> = second
            .as_array()
            .unwrap()
            .iter()
            .map(|message| &message["role"])
            .collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
    }
}
