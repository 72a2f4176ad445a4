//! Errors of servers that are ends of responses: the model wrote a call that they can't read.

use serde_json::{Value, json};
use tool_agent::model::HttpModel;
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, AgentError};
use tool_core::dialect::End;
use tool_dialects::OpenAiChat;

use crate::server::{Answer, EVENTS, JSON, Server, json as whole, lines, status};
use crate::{block_on, registry};

fn agent(server: &Server, is_streamed: bool) -> Agent {
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "qwen3").base_url(&server.url);
    Agent::new(registry(), dialect, model.streaming(is_streamed))
}

fn answer() -> Answer {
    whole(
        &json!({"choices": [{"message": {"role": "assistant", "content": "5"}, "finish_reason": "stop"}]}),
    )
}

/// What Groq, Ollama and llama.cpp answer, with the status and the words for the model.
fn errors() -> [(&'static str, Value, &'static str); 3] {
    let groq = json!({"error": {"message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error", "code": "tool_use_failed",
        "failed_generation": "<function=add>{\"a\": 2"}});
    let ollama = json!({"error": {"message": "error parsing tool call: raw='{\"a\":' err=unexpected end of JSON input",
        "type": "api_error", "param": null, "code": null}});
    let llama = json!({"error": {"code": 500, "type": "server_error",
        "message": "Failed to parse input at pos 12: </tool_call>"}});
    [
        (
            "400 Bad Request",
            groq,
            "Failed to call a function. Please adjust your prompt. (tool_use_failed); it wrote <function=add>{\"a\": 2",
        ),
        (
            "500 Internal Server Error",
            ollama,
            "error parsing tool call: raw='{\"a\":' err=unexpected end of JSON input",
        ),
        (
            "500 Internal Server Error",
            llama,
            "Failed to parse input at pos 12: </tool_call>",
        ),
    ]
}

/// Returns the answers of a server that reports an error with a status, and in a stream.
fn reports(number: &'static str, error: &Value) -> [(bool, Answer); 2] {
    let start = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]});
    let events = lines(&[start, error.clone()]);
    [
        (false, status(number, JSON, error.to_string())),
        (true, status("200 OK", EVENTS, events)),
    ]
}

#[test]
fn a_call_that_the_server_can_not_read_goes_back_to_the_model() {
    for (number, error, words) in errors() {
        for (is_streamed, report) in reports(number, &error) {
            let server = Server::start([report, answer()]);
            let agent = agent(&server, is_streamed).ask_again(1);
            let mut run = Run::new("run-1");
            let outcome = block_on(agent.reply(&mut run, "What is 2 + 3?")).unwrap();
            assert_eq!(outcome, RunOutcome::Answered("5".into()));
            assert_eq!(run.rounds()[0].end(), &End::Malformed);
            let received = server.received();
            let told = received[1].body["messages"][1]["content"].as_str().unwrap();
            assert!(told.contains(words), "{told}");
        }
    }
}

#[test]
fn a_call_that_the_server_can_not_read_is_a_malformed_end() {
    for (number, error, words) in errors() {
        for (is_streamed, report) in reports(number, &error) {
            let server = Server::start([report]);
            let error = agent(&server, is_streamed)
                .ask_blocking("What is 2 + 3?")
                .unwrap_err();
            assert!(matches!(error, AgentError::Unfinished(_)), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}

#[test]
fn an_error_with_a_status_of_success_is_in_the_servers_words() {
    for (error, words) in [
        (json!({"error": "model not found"}), "model not found"),
        (
            json!({"success": false, "error": {"code": "INTERNAL", "message": "oops"}}),
            "oops (INTERNAL)",
        ),
        (json!({"detail": "Not authenticated"}), "Not authenticated"),
        (
            json!({"code": 1113, "msg": "balance too low", "success": false}),
            "1113: balance too low",
        ),
        (
            json!({"choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
            "1008: insufficient balance",
        ),
    ] {
        for (is_streamed, report) in reports("200 OK", &error) {
            let server = Server::start([report]);
            let said = agent(&server, is_streamed).ask_blocking("Go.").unwrap_err();
            assert!(said.to_string().contains(words), "{said}");
        }
    }
}
