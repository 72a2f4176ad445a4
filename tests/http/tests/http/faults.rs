//! Errors of providers, and servers that misbehave.

use std::fmt::Debug;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};
use tool_agent::model::{HttpModel, ModelError, ModelErrorKind, Response};
use tool_agent::run::{Run, Step};
use tool_agent::{Agent, AgentError};
use tool_core::dialect::Dialect;
use tool_dialects::{Anthropic, Gemini, Mcp, OpenAiChat};

use crate::recorded::anthropic;
use crate::server::{
    Answer, EVENTS, HTML, JSON, Server, chunked, endless, events, json, lines, stalled, status,
};
use crate::{KEY, ask, assert_no_secret, block_on, registry, whole_text};

use ModelErrorKind as Kind;

fn model(server: &Server) -> HttpModel {
    HttpModel::new(&Anthropic::default(), "claude")
        .base_url(&server.url)
        .key(KEY)
        .header("x-session-token", KEY)
}

/// Asks for a response and reads it to its end. Returns the error.
fn fails(dialect: &dyn Dialect, model: &HttpModel) -> ModelError {
    let error = match ask(dialect, model) {
        Err(error) => error,
        Ok(Response::Stream(stream)) => {
            let read: Vec<_> = block_on(stream.collect());
            let error = read.into_iter().find_map(Result::err);
            error.expect("the stream fails")
        }
        Ok(other) => panic!("a response: {other:?}"),
    };
    assert_no_secret(&[&error, model, &whole_text(&error)]);
    error
}

/// Answers a request in both ways of reading, and returns the errors.
fn both(answer: impl Fn() -> Answer) -> [ModelError; 2] {
    [false, true].map(|is_streamed| {
        // A stream without events is asked for again.
        let server = Server::start([answer(), answer(), answer()]);
        fails(
            &Anthropic::default(),
            &model(&server).streaming(is_streamed),
        )
    })
}

fn report(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

#[test]
fn statuses_of_providers_are_told_apart() {
    let rows = [
        (
            "429 Too Many Requests",
            "rate_limit_error",
            Kind::RateLimited,
            true,
        ),
        (
            "429 Too Many Requests",
            "insufficient_quota",
            Kind::Rejected,
            false,
        ),
        (
            "500 Internal Server Error",
            "api_error",
            Kind::Overloaded,
            true,
        ),
        (
            "503 Service Unavailable",
            "server_error",
            Kind::Overloaded,
            true,
        ),
        ("529 Overloaded", "overloaded_error", Kind::Overloaded, true),
        ("504 Gateway Timeout", "timeout_error", Kind::TimedOut, true),
        (
            "401 Unauthorized",
            "authentication_error",
            Kind::Unauthorized,
            false,
        ),
        (
            "403 Forbidden",
            "permission_error",
            Kind::Unauthorized,
            false,
        ),
        (
            "400 Bad Request",
            "invalid_request_error",
            Kind::Rejected,
            false,
        ),
        ("404 Not Found", "not_found_error", Kind::Rejected, false),
        (
            "413 Content Too Large",
            "request_too_large",
            Kind::Rejected,
            false,
        ),
    ];
    for (line, code, kind, is_retryable) in rows {
        let words = "messages: roles must alternate";
        for error in both(|| status(line, JSON, report(code, words).to_string())) {
            assert_eq!(error.kind(), kind, "{line}");
            assert_eq!(error.is_retryable(), is_retryable, "{line}");
            let text = error.to_string();
            assert!(
                text.contains(&format!("/messages failed: {}", &line[..3])),
                "{text}"
            );
            assert!(text.contains(words) && text.contains(code), "{text}");
        }
    }
}

#[test]
fn error_bodies_of_every_provider_are_read() {
    let bodies = [
        json!({"error": {"message": "the words", "type": "invalid_request_error", "code": null}}),
        json!([{"error": {"code": 400, "message": "the words", "status": "INVALID_ARGUMENT"}}]),
        json!({"message": "the words"}),
        json!({"Message": "the words"}),
        json!({"error": "the words"}),
        json!({"code": "invalid", "error": "the words"}),
        json!({"object": "error", "message": "the words", "type": "invalid_model", "code": "1500"}),
        json!({"detail": "the words"}),
        json!({"detail": [{"loc": ["body", "tools"], "msg": "the words"}]}),
        json!({"object": "error", "message": {"detail": [{"msg": "the words"}]}}),
        json!("the words"),
    ];
    for body in bodies {
        for error in both(|| status("400 Bad Request", JSON, body.to_string())) {
            assert_eq!(error.kind(), Kind::Rejected);
            assert!(error.to_string().contains("the words"), "{body}: {error}");
        }
    }
}

#[test]
fn the_time_to_wait_is_read() {
    let wait = |headers: &str, body: Value| {
        let answer = || status("429 Too Many Requests", headers, body.to_string());
        both(answer).map(|error| error.wait_before_retry())
    };
    let seconds = |seconds: f64| [Some(Duration::from_secs_f64(seconds)); 2];
    assert_eq!(wait("retry-after: 7\r\n", json!({})), seconds(7.0));
    assert_eq!(wait("retry-after: 0\r\n", json!({})), seconds(0.0));
    assert_eq!(
        wait("retry-after-ms: 1500\r\nretry-after: 2\r\n", json!({})),
        seconds(1.5)
    );
    let past = "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
    assert_eq!(wait(past, json!({})), seconds(0.0));
    for time in wait("retry-after: Wed, 21 Oct 2099 07:28:00 GMT\r\n", json!({})) {
        assert!(time > Some(Duration::from_secs(86_400 * 365)));
    }
    for bad in [
        "-3",
        "soon",
        "1e400",
        "NaN",
        "",
        "99999999999999999999999999",
    ] {
        assert_eq!(
            wait(&format!("retry-after: {bad}\r\n"), json!({})),
            [None; 2],
            "{bad}"
        );
    }
    let info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"});
    let body = json!({"error": {"status": "RESOURCE_EXHAUSTED", "details": [{}, info]}});
    assert_eq!(wait("", body), seconds(34.5));
}

#[test]
fn a_key_that_the_server_repeats_is_hidden() {
    let words = format!("Incorrect API key provided: {KEY}, {KEY}.");
    let bodies = [
        report("authentication_error", &words).to_string(),
        words.clone(),
    ];
    for body in bodies {
        for headers in [JSON, ""] {
            for error in both(|| status("401 Unauthorized", headers, &body)) {
                assert_eq!(error.kind(), Kind::Unauthorized);
                assert!(error.to_string().contains("[key], [key]"), "{error}");
            }
        }
    }
    for error in both(|| {
        status(
            "200 OK",
            JSON,
            report("authentication_error", &words).to_string(),
        )
    }) {
        assert_eq!(error.kind(), Kind::Unauthorized);
        assert!(error.to_string().contains("[key]"), "{error}");
    }
    let gemini = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": words,
        "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}]}});
    let server = Server::start([status("400 Bad Request", JSON, gemini.to_string())]);
    let dialect = Gemini::default();
    let model = HttpModel::new(&dialect, "m").base_url(&server.url).key(KEY);
    assert_eq!(fails(&dialect, &model).kind(), Kind::Unauthorized);
}

#[test]
fn a_password_in_the_url_is_hidden() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let dialect = OpenAiChat::default();
    for url in [
        format!("http://user:{KEY}@{address}/?token={KEY}"),
        format!("ftp://user:{KEY}@{address}"),
        format!("http://user:{KEY}@:{KEY}"),
        format!("{KEY} is not a URL"),
        format!("data:{KEY}"),
    ] {
        let error = fails(&dialect, &HttpModel::new(&dialect, "m").base_url(&url));
        let expected = if url.contains('?') {
            Kind::Connection
        } else {
            Kind::Other
        };
        assert_eq!(error.kind(), expected, "{error}");
    }
}

#[test]
fn pages_of_proxies_are_not_responses() {
    let page = "<html><head><title>Sign in</title></head></html>";
    for error in both(|| status("502 Bad Gateway", HTML, page)) {
        assert_eq!(error.kind(), Kind::Overloaded);
        assert!(error.to_string().contains("HTML"), "{error}");
        assert!(!error.to_string().contains('<'), "{error}");
    }
    for error in both(|| status("200 OK", HTML, page)) {
        assert_eq!(error.kind(), Kind::Response);
        assert!(error.to_string().contains("text/html"), "{error}");
    }
    for error in both(|| status("200 OK", "", page)) {
        assert!(!error.is_retryable() || error.kind() == Kind::Connection);
    }
    for error in both(|| status("503 Service Unavailable", "", "upstream  is\r\ndown")) {
        let said = "/messages failed: 503 Service Unavailable: upstream is down; repeat it later";
        assert!(error.to_string().ends_with(said), "{error}");
    }
    for error in both(|| status("500 Internal Server Error", "", "")) {
        let said = "/messages failed: 500 Internal Server Error; repeat it later";
        assert!(error.to_string().ends_with(said), "{error}");
    }
    let long = "x".repeat(3 << 20);
    for error in both(|| status("500 Internal Server Error", "", &long)) {
        assert!(error.to_string().len() < 1100);
    }
}

#[test]
fn redirects_are_not_followed() {
    let other = Server::start([]);
    let target = format!("location: {}/elsewhere?key={KEY}\r\n", other.url);
    for line in [
        "301 Moved Permanently",
        "302 Found",
        "307 Temporary Redirect",
    ] {
        for error in both(|| status(line, &target, "")) {
            assert_eq!(error.kind(), Kind::Rejected);
            assert!(
                error.to_string().contains("redirects to 127.0.0.1"),
                "{error}"
            );
        }
    }
    assert_eq!(other.received().len(), 0);
}

#[test]
fn bodies_that_never_end_are_limited() {
    const PIECE: &[u8] = &[b' '; 1000];
    const COMMENT: &[u8] = b": ping\n\n";
    const EVENT: &[u8] = b"data: {\"type\": \"ping\"}\n\n";
    let limited = |answer: Answer, is_streamed| {
        let server = Server::start([answer]);
        let model = model(&server)
            .streaming(is_streamed)
            .max_response_bytes(200_000);
        fails(&Anthropic::default(), &model)
    };
    for (headers, piece, is_streamed) in [
        (JSON, PIECE, false),
        (JSON, PIECE, true),
        (EVENTS, COMMENT, true),
        (EVENTS, EVENT, true),
        (EVENTS, b"data: {", true),
        (EVENTS, b"unknown field", true),
    ] {
        let error = limited(endless(headers, piece, 0), is_streamed);
        assert_eq!(error.kind(), Kind::Response, "{error}");
        assert!(
            error.to_string().contains("longer than 200000 bytes"),
            "{error}"
        );
    }
}

#[test]
fn slow_servers_time_out() {
    let timed = |answer: Answer, is_streamed: bool, idle: u64, whole: u64| {
        let server = Server::start([answer]);
        let model = model(&server)
            .streaming(is_streamed)
            .idle_timeout(Duration::from_millis(idle))
            .timeout(Duration::from_millis(whole));
        let error = fails(&Anthropic::default(), &model);
        assert_eq!(error.kind(), Kind::TimedOut, "{error}");
        assert!(error.is_retryable());
    };
    for is_streamed in [false, true] {
        // No header, half a header, no body.
        timed(stalled(""), is_streamed, 100, 60_000);
        timed(
            stalled("HTTP/1.1 200 OK\r\ncontent-ty"),
            is_streamed,
            100,
            60_000,
        );
        timed(
            stalled("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
            is_streamed,
            100,
            60_000,
        );
        timed(stalled(""), is_streamed, 60_000, 100);
    }
    let start =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"type\": \"ping\"}\n\n";
    timed(stalled(start), true, 200, 60_000);
    // Bytes arrive, but the response does not end.
    timed(
        endless(EVENTS, b"data: {\"type\": \"ping\"}\n\n", 5),
        true,
        60_000,
        200,
    );
    timed(endless(JSON, b" ", 5), false, 60_000, 200);
}

#[test]
fn text_that_is_not_utf_8_is_an_error() {
    let broken = || b"data: {\"type\": \"ping\", \"text\": \"\xFF\"}\n\n".to_vec();
    for pieces in [
        vec![broken()],
        broken().chunks(1).map(<[u8]>::to_vec).collect(),
    ] {
        let server = Server::start([chunked(EVENTS, pieces, true)]);
        let error = fails(&Anthropic::default(), &model(&server).streaming(true));
        assert_eq!(error.kind(), Kind::Response, "{error}");
    }
    for error in both(|| status("200 OK", JSON, b"{\"text\": \"\xFF\"}")) {
        assert_eq!(error.kind(), Kind::Response, "{error}");
    }
    for error in both(|| status("400 Bad Request", JSON, b"\xFF no")) {
        assert!(error.to_string().ends_with(" no"), "{error}");
    }
}

#[test]
fn giant_lines_cost_linear_time() {
    let giant = json!({"type": "ping", "text": "x".repeat(4 << 20)});
    let server = Server::start([events(std::slice::from_ref(&giant), 4096, true)]);
    let model = model(&server).streaming(true);
    let began = Instant::now();
    let Ok(Response::Stream(stream)) = ask(&Anthropic::default(), &model) else {
        panic!("no stream");
    };
    let read: Vec<_> = block_on(stream.collect());
    assert_eq!(read.len(), 2);
    assert_eq!(*read[0].as_ref().unwrap().value(), giant);
    // Quadratic time would be minutes.
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// Servers and proxies send a whole response as a stream, a stream as a whole response, and either by the wrong type.
#[test]
fn a_body_is_read_by_its_form() {
    let chunk = |text: &str, stop: &str| {
        format!(
            "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{stop}}}]}}"
        )
    };
    let (first, last) = (chunk("H", "null"), chunk("i", "\"stop\""));
    let events = format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    let whole = r#"{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"score":NaN}"#;
    let bodies = [
        events.clone(),
        format!("\u{feff}{events}"),
        format!(": welcome\n\n{events}"),
        format!("event: x\r\ndata:{first}\r\n\r\ndata:{last}\r\n\r\n"),
        format!("data: {first}\ndata: {last}\ndata: [DONE]"),
        // No reason, but an end.
        format!(
            "data: {first}\n\ndata: {}\n\ndata: [DONE]\n\n",
            chunk("i", "null")
        ),
        whole.to_owned(),
        format!("\u{feff} {whole}"),
        format!("{first}\n{last}\n"),
        format!("[{first},\r\n{last}]"),
    ];
    for body in bodies {
        for headers in [JSON, EVENTS, HTML, "content-type: text/plain\r\n", ""] {
            for is_streamed in [true, false] {
                if body.starts_with('[') && !is_streamed {
                    continue;
                }
                let server = Server::start([status("200 OK", headers, &body)]);
                let model = HttpModel::new(&OpenAiChat::default(), "m").base_url(&server.url);
                let model = model.streaming(is_streamed);
                let answer =
                    block_on(Agent::new(registry(), OpenAiChat::default(), model).ask("Hi"));
                match answer {
                    Ok(answer) => assert_eq!(answer, "Hi", "{headers}{body}"),
                    Err(error) => panic!("{headers}{body}: {error}"),
                }
            }
        }
    }
}

/// Half of a character is no reason to lose a response.
#[test]
fn half_of_a_character_is_replaced() {
    let body = r#"{"choices":[{"message":{"role":"assistant","content":"a\ud83d"},"finish_reason":"stop"}]}"#;
    let server = Server::start([status("200 OK", JSON, body)]);
    let model = HttpModel::new(&OpenAiChat::default(), "m").base_url(&server.url);
    let answer = block_on(Agent::new(registry(), OpenAiChat::default(), model).ask("Hi"));
    assert_eq!(answer.unwrap(), "a\u{fffd}");
}

#[test]
fn events_that_are_not_json_are_errors() {
    for body in ["data: <html>\n\n", "data: {} {}\n\n"] {
        let server = Server::start([status("200 OK", EVENTS, body)]);
        let error = fails(&Anthropic::default(), &model(&server).streaming(true));
        assert_eq!(error.kind(), Kind::Response, "{body}: {error}");
    }
    for body in [
        "",
        "\n\n",
        ": nothing\n\n",
        "data: [DONE]\n\n",
        "data: {\"type\":\n\n",
    ] {
        let server = Server::answering(move |_| status("200 OK", EVENTS, body));
        let error = fails(&Anthropic::default(), &model(&server).streaming(true));
        assert_eq!(error.kind(), Kind::Connection, "{body}: {error}");
    }
    let deep = format!("data: {}\n\n", "[".repeat(100_000));
    let server = Server::start([status("200 OK", EVENTS, deep)]);
    let error = fails(&Anthropic::default(), &model(&server).streaming(true));
    assert_eq!(error.kind(), Kind::Response);
}

#[test]
fn the_last_event_needs_no_empty_line() {
    let text = "data: {\"type\": \"ping\"}\r\n\r\ndata: {\"type\": \"message_stop\"}";
    let server = Server::start([status("200 OK", EVENTS, text)]);
    let Ok(Response::Stream(stream)) = ask(&Anthropic::default(), &model(&server).streaming(true))
    else {
        panic!("no stream");
    };
    let read: Vec<_> = block_on(stream.collect());
    assert_eq!(read.len(), 2);
    assert!(read.iter().all(Result::is_ok));
}

/// llama-cpp-python fails once it has sent the status of a stream, and can't stream calls.
#[test]
fn a_stream_without_events_is_asked_for_whole() {
    let empty = || chunked(EVENTS, Vec::new(), true);
    let broken =
        r#"{"error": {"message": "no attribute 'content'", "type": "internal_server_error"}}"#;
    let server = Server::start([empty(), status("500 Internal Server Error", JSON, broken)]);
    let error = fails(&OpenAiChat::default(), &model(&server).streaming(true));
    assert_eq!(error.kind(), Kind::Overloaded);
    assert!(
        error.to_string().contains("no attribute 'content'"),
        "{error}"
    );

    let whole = json!({"role": "assistant", "content": [{"type": "text", "text": "5"}]});
    let server = Server::start([empty(), json(&whole)]);
    let response = ask(&Anthropic::default(), &model(&server).streaming(true));
    assert!(matches!(response, Ok(Response::Whole(_))));
    let streams: Vec<_> = server
        .received()
        .iter()
        .map(|received| received.body["stream"] == true)
        .collect();
    assert_eq!(streams, [true, false]);

    // A server may close the connection that it promised to keep.
    let reset: Answer = Box::new(|_| Ok(()));
    let server = Server::start([empty(), reset, json(&whole)]);
    let response = ask(&Anthropic::default(), &model(&server).streaming(true));
    assert!(matches!(response, Ok(Response::Whole(_))));

    let server = Server::start([empty(), empty(), empty()]);
    let error = fails(&Anthropic::default(), &model(&server).streaming(true));
    assert_eq!(error.kind(), Kind::Connection);
    assert!(
        error
            .to_string()
            .contains("the stream ended before the first event"),
        "{error}"
    );
}

#[test]
fn nothing_is_read_after_the_end_of_a_stream() {
    const PING: &[u8] = b"data: {\"type\": \"ping\"}\n\n";
    let read = |pieces: &[&[u8]]| {
        let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
        let server = Server::start([chunked(EVENTS, pieces, true)]);
        let model = model(&server).streaming(true);
        let Ok(Response::Stream(stream)) = ask(&Anthropic::default(), &model) else {
            panic!("no stream");
        };
        let read: Vec<_> = block_on(stream.collect());
        read.iter().map(Result::is_ok).collect::<Vec<_>>()
    };
    let end: &[u8] = b"data: [DONE]\n\n";
    for more in [PING, b"data: nonsense\n\n", b"data: \xff\n\n"] {
        // The end is an event, too.
        assert_eq!(read(&[PING, end, more]), [true, true]);
        assert_eq!(read(&[&[PING, end, more].concat()]), [true, true]);
    }
    let broken: &[u8] = b"data: nonsense\n\n";
    assert_eq!(read(&[PING, broken, PING]), [true, false]);
    assert_eq!(read(&[&[PING, broken, PING].concat()]), [true, false]);
}

#[test]
fn errors_in_a_stream_are_told_apart() {
    let rows = [
        ("overloaded_error", Kind::Overloaded),
        ("api_error", Kind::Overloaded),
        ("rate_limit_error", Kind::RateLimited),
        ("authentication_error", Kind::Unauthorized),
        ("timeout_error", Kind::TimedOut),
        ("invalid_request_error", Kind::Rejected),
    ];
    for (code, kind) in rows {
        let event = report(code, &format!("Sorry {KEY}"));
        let ping = json!({"type": "ping"});
        for stream in [vec![event.clone()], vec![ping, event]] {
            let server = Server::start([events(&stream, 1000, true)]);
            let error = fails(&Anthropic::default(), &model(&server).streaming(true));
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains("Sorry [key]"), "{error}");
        }
    }
}

/// Runs an agent, and asserts that the run is as before the request.
fn breaks(answer: impl Fn() -> Answer) -> AgentError {
    let server = Server::start([answer(), answer(), answer()]);
    let dialect = Anthropic::default();
    let agent = Agent::new(registry(), dialect, model(&server).streaming(true));
    let mut run = Run::new("run-1");
    run.push(dialect.user_message("What is 2 + 3?")).unwrap();
    let before = format!("{run:?}");
    let error = block_on(agent.run(&mut run)).unwrap_err();
    run.mark_saved(u64::MAX);
    assert!(run.rounds().is_empty());
    assert_eq!(run.messages().len(), 1);
    assert!(matches!(run.next(), Step::Request(_)));
    assert_no_secret(&[&error, &agent, &whole_text(&error), &before as &dyn Debug]);
    error
}

#[test]
fn a_stream_that_breaks_off_leaves_the_run_as_it_was() {
    let case = anthropic();
    let text = lines(&case.stream).into_bytes();
    // A connection that breaks at any byte is an error of the model.
    for end in (1..text.len()).step_by(text.len() / 40) {
        let error = breaks(|| chunked(EVENTS, vec![text[..end].to_vec()], false));
        let AgentError::Model(error) = &error else {
            panic!("{end}: {error:?}");
        };
        assert_eq!(error.kind(), Kind::Connection, "{end}: {error}");
    }
    // So is one that ends early as if it were complete.
    for end in (1..text.len()).step_by(text.len() / 40) {
        let error = breaks(|| chunked(EVENTS, vec![text[..end].to_vec()], true));
        let AgentError::Model(error) = &error else {
            panic!("{end}: {error:?}");
        };
        assert_eq!(error.kind(), Kind::Connection, "{end}: {error}");
    }
}

/// A whole response that ends early as if it were complete may be whole the next time.
#[test]
fn a_response_that_ends_early_is_a_broken_connection() {
    let text = anthropic().response.to_string();
    for end in (0..text.len()).step_by(text.len() / 40) {
        let server = Server::start([status("200 OK", JSON, &text[..end])]);
        let error = fails(&Anthropic::default(), &model(&server).streaming(false));
        assert_eq!(error.kind(), Kind::Connection, "{end}: {error}");
    }
}

/// A value takes far more memory than its JSON, so both are limited: in a response and in each event of a stream.
#[test]
fn the_values_of_a_response_are_limited() {
    let zeros = "0,".repeat(1_000_001);
    let response = format!("{{\"unknown\":[{zeros}0]}}");
    let server = Server::start([status("200 OK", JSON, response)]);
    let error = fails(&Anthropic::default(), &model(&server).streaming(false));
    assert_eq!(error.kind(), Kind::Response);
    assert!(error.to_string().contains("1000000 JSON values"), "{error}");
    let event = format!("data: {{\"type\": \"ping\", \"unknown\":[{zeros}0]}}\n\n");
    let server = Server::start([status("200 OK", EVENTS, event)]);
    let error = fails(&Anthropic::default(), &model(&server).streaming(true));
    assert_eq!(error.kind(), Kind::Response);
    assert!(error.to_string().contains("1000000 JSON values"), "{error}");
    // Those in strings are none.
    let text = format!("{{\"text\":\"{zeros}\"}}");
    let server = Server::start([status("200 OK", JSON, text)]);
    assert!(ask(&Anthropic::default(), &model(&server).streaming(false)).is_ok());
}

#[test]
fn a_server_that_is_not_there_is_a_broken_connection() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m").base_url(url).key(KEY);
    let error = fails(&dialect, &model);
    assert_eq!(error.kind(), Kind::Connection);
    assert!(error.is_retryable());
}

#[test]
fn settings_that_are_not_possible_are_errors() {
    let dialect = OpenAiChat::default();
    let model = || HttpModel::new(&dialect, "m").base_url("http://127.0.0.1:1");
    for (model, part) in [
        (HttpModel::new(&Mcp::default(), "m"), "no HTTP API"),
        (model().header("bad name", KEY), "the header \"bad name\""),
        (
            model().header("x-key", format!("{KEY}\n")),
            "the header \"x-key\"",
        ),
        (model().key(format!("{KEY}\n{KEY}")), "a header can't have"),
    ] {
        let error = fails(&dialect, &model);
        assert!(error.to_string().contains(part), "{error}");
        assert!(!error.is_retryable());
    }
}
