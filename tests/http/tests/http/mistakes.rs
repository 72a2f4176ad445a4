//! What a developer reads: each error names the model, the server and what to do.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use futures_util::StreamExt;
use serde_json::json;
use tool_agent::model::{HttpModel, Response};
use tool_agent::{Agent, AgentError};
use tool_core::dialect::Dialect;
use tool_dialects::{Anthropic, OpenAiChat, OpenAiResponses};

use crate::server::{Answer, EVENTS, HTML, JSON, Server, status};
use crate::{KEY, ask, assert_no_secret, block_on, registry};

/// Returns the message of a request that gets this answer, with the address of the server as `SERVER`.
fn said(
    answer: Answer,
    is_streamed: bool,
    change: impl FnOnce(HttpModel, &str) -> HttpModel,
) -> String {
    let server = Server::start([answer]);
    let dialect = OpenAiChat::default();
    let url = format!("{}/v1", server.url);
    let model = HttpModel::new(&dialect, "qwen3").base_url(&url).key(KEY);
    let model = change(model.streaming(is_streamed), &url);
    let error = match ask(&dialect, &model) {
        Err(error) => error,
        Ok(Response::Stream(stream)) => {
            let read: Vec<_> = block_on(stream.collect());
            read.into_iter().find_map(Result::err).expect("it fails")
        }
        Ok(other) => panic!("a response: {other:?}"),
    };
    assert_no_secret(&[&error]);
    error.to_string().replace(&server.url, "SERVER")
}

fn plain(answer: Answer) -> String {
    said(answer, false, |model, _| model)
}

fn streamed(body: &str) -> String {
    said(status("200 OK", EVENTS, body), true, |model, _| model)
}

const START: &str = "the request to qwen3 at SERVER/v1/chat/completions failed: ";

#[test]
fn a_status_is_explained() {
    let body = json!({"error": {"message": "Slow down", "type": "rate_limit"}}).to_string();
    let headers = format!("{JSON}retry-after: 7\r\n");
    assert_eq!(
        plain(status("429 Too Many Requests", &headers, body)),
        format!("{START}429 Too Many Requests: Slow down (rate_limit); repeat it after 7s")
    );
    let body = json!({"error": {"message": "No such key"}}).to_string();
    assert_eq!(
        plain(status("401 Unauthorized", JSON, &body)),
        format!("{START}401 Unauthorized: No such key")
    );
    let no_key = "; no key was sent: set one with `HttpModel::key` or `HttpModel::key_from_env`";
    assert_eq!(
        said(
            status("401 Unauthorized", JSON, &body),
            false,
            |model, _| model.without_key()
        ),
        format!("{START}401 Unauthorized: No such key{no_key}")
    );
    assert_eq!(
        said(
            status("401 Unauthorized", JSON, &body),
            false,
            |model, _| model.key(" ")
        ),
        format!("{START}401 Unauthorized: No such key{no_key}")
    );
    // The key of the environment stays with its provider.
    let server = Server::start([status("401 Unauthorized", JSON, &body)]);
    let model = HttpModel::new(&OpenAiChat::default(), "qwen3").base_url(&server.url);
    let error = ask(&OpenAiChat::default(), &model).unwrap_err().to_string();
    let why = "no key was sent, because OPENAI_API_KEY goes to api.openai.com only: set one with `HttpModel::key` or \
               `HttpModel::key_from_env`";
    assert!(error.ends_with(&format!("No such key; {why}")), "{error}");
    // It may be the key.
    let own = |model: HttpModel, _: &str| model.without_key().header("x-api-key", KEY);
    assert_eq!(
        said(status("401 Unauthorized", JSON, &body), false, own),
        format!("{START}401 Unauthorized: No such key")
    );
}

#[test]
fn a_wrong_path_is_explained() {
    let check = "; check the base URL, to which /chat/completions is appended";
    for (headers, body, words) in [
        ("", "", ""),
        (JSON, r#"{"detail":"Not Found"}"#, ": Not Found"),
        (
            HTML,
            "<html>",
            ": the body is a page of HTML, perhaps of a proxy",
        ),
    ] {
        assert_eq!(
            plain(status("404 Not Found", headers, body)),
            format!("{START}404 Not Found{words}{check}")
        );
    }
    let unknown = json!({"error": {"message": "The model `qwen3` does not exist"}}).to_string();
    assert_eq!(
        plain(status("404 Not Found", JSON, unknown)),
        format!("{START}404 Not Found: The model `qwen3` does not exist")
    );
    for end in ["", "/"] {
        let twice = said(status("404 Not Found", "", ""), false, |model, url| {
            model.base_url(format!("{url}/chat/completions{end}"))
        });
        assert_eq!(
            twice,
            "the request to qwen3 at SERVER/v1/chat/completions/chat/completions failed: 404 Not \
             Found; the base URL ends in /chat/completions already: remove it there, because it is \
             appended"
        );
    }
}

#[test]
fn what_is_no_response_is_shown() {
    let page = "; check the base URL";
    assert_eq!(
        plain(status("200 OK", HTML, "<html>")),
        format!(
            "{START}the response has the content type \"text/html\": it is a page, perhaps of a proxy{page}"
        )
    );
    assert_eq!(
        plain(status("200 OK", JSON, " \n")),
        format!(
            "{START}the body of the response is empty; check the base URL, and the log of the server; repeat it later"
        )
    );
    let text = format!("welcome {KEY}\n to {}", "x".repeat(1000));
    assert_eq!(
        plain(status("200 OK", "content-type: text/plain\r\n", text)),
        format!(
            "{START}the response, of the content type \"text/plain\", is not JSON; it starts with \
             \"welcome [key] to {}\"…{page}",
            "x".repeat(43)
        )
    );
    assert_eq!(
        plain(Box::new(|_| Ok(()))),
        format!(
            "{START}the connection broke: connection closed before message completed; repeat it later"
        )
    );
    let first = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
    assert_eq!(
        streamed(&format!("{first}data: {{\"choi")),
        format!("{START}the stream broke off inside an event; repeat it later")
    );
    assert_eq!(
        streamed(&format!("{first}data: nonsense {KEY}\n\n")),
        format!("{START}an event of the stream is not JSON; it starts with \"nonsense [key]\"")
    );
}

/// The cause is in the message, because many programs print no sources.
#[test]
fn a_server_that_can_not_be_reached_is_named() {
    let dialect = OpenAiChat::default();
    let advice = "; check the URL, and that the server runs; repeat it later";
    let model = HttpModel::new(&dialect, "qwen3")
        .base_url(format!("http://u:{KEY}@127.0.0.1:9/v1?k={KEY}"));
    let error = ask(&dialect, &model).unwrap_err().to_string();
    let start =
        "the request to qwen3 at http://127.0.0.1:9/v1/chat/completions failed: can't connect: ";
    assert!(
        error.starts_with(start) && error.ends_with(advice),
        "{error}"
    );
    #[cfg(unix)]
    assert!(error.contains("Connection refused"), "{error}");
}

#[test]
fn a_server_without_tls_is_told_apart() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "qwen3").base_url(format!("https://{address}"));
    let error = ask(&dialect, &model).unwrap_err().to_string();
    let advice =
        "; the server does not speak TLS there: start the URL with http://; repeat it later";
    assert!(error.ends_with(advice), "{error}");
}

/// Without a request.
#[test]
fn wrong_settings_are_refused_at_once() {
    let dialect = OpenAiChat::default();
    let named = |name: &str| HttpModel::new(&dialect, name).base_url("http://127.0.0.1:9/v1");
    let scheme =
        "the base URL must start with http:// or https://, as http://localhost:8000/v1 does";
    let no_name = "the name of the model is empty; pass it to `HttpModel::new`";
    for (model, said) in [
        (named("m").base_url("x"), format!("m failed: {scheme}")),
        (named("m").base_url("localhost:8080/v1"), format!("m failed: {scheme}")),
        (named("m").base_url("ftp://localhost"), format!("m failed: {scheme}")),
        (named(""), format!("the model failed: {no_name}")),
        (named(" "), format!("the model failed: {no_name}")),
        (
            named("m").header("bad name", "x"),
            "m at http://127.0.0.1:9/v1/chat/completions failed: the header \"bad name\" is not valid: names are of letters, \
             digits and `-`, and values have no line break".into(),
        ),
        (
            named("m").key_from_env("TOOL_CORE_NO_SUCH_KEY"),
            "m at http://127.0.0.1:9/v1/chat/completions failed: no key: set TOOL_CORE_NO_SUCH_KEY, \
             or call `HttpModel::key`"
                .into(),
        ),
    ] {
        let said = format!("the request to {said}");
        assert_eq!(model.check().unwrap_err().to_string(), said);
        assert_eq!(ask(&dialect, &model).unwrap_err().to_string(), said);
    }
    named("m").check().unwrap();
    HttpModel::new(&OpenAiResponses::default(), "m")
        .key(KEY)
        .check()
        .unwrap();
}

/// The agent adds the name of the model where the dialect knows none.
#[test]
fn a_response_of_another_provider_names_the_model() {
    let message = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Hi"}]});
    let server = Server::start([status("200 OK", JSON, message.to_string())]);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "qwen3").base_url(&server.url);
    let error = block_on(Agent::new(registry(), dialect, model).ask("Hi")).unwrap_err();
    assert!(matches!(error, AgentError::Response(_)));
    assert_eq!(
        error.to_string(),
        "the response of qwen3 can't be read: not a chat completion: `choices` is missing; it looks like a response of \
         Anthropic's Messages API: the dialect `Anthropic` reads it"
    );
    let event =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    let server = Server::start([status("200 OK", EVENTS, event)]);
    let dialect = Anthropic::default();
    let model = HttpModel::new(&dialect, "claude")
        .base_url(&server.url)
        .streaming(true);
    let error = block_on(Agent::new(registry(), dialect, model).ask("Hi")).unwrap_err();
    let said = error.to_string();
    assert!(
        said.ends_with("the dialect `OpenAiChat` reads it"),
        "{said}"
    );
    assert_eq!(dialect.provider(), "Anthropic");
}
