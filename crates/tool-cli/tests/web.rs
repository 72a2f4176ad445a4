//! `web`: the server of the page, seen from a browser and from others.

#![cfg(feature = "web")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
#[cfg(target_os = "linux")]
use std::{fs, path::Path};

use serde_json::{Value, json};

/// Time limit for an event that never happens if a guard is missing.
const PATIENCE: Duration = Duration::from_secs(60);

/// The running program. It is ended with the test.
struct Page {
    program: Child,
    host: String,
    token: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Page {
    fn start() -> Page {
        let mut command = support::command();
        Page::of(command.arg("web")).0
    }

    /// Starts the program, and returns the rest of its log as well.
    fn of(command: &mut Command) -> (Page, Receiver<String>) {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut program = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut log = BufReader::new(program.stderr.take().unwrap());
        log.read_line(&mut line).unwrap();
        // The rest of the log is read, because a closed pipe must not end the program.
        let (lines, rest) = channel();
        std::thread::spawn(move || {
            log.lines()
                .map_while(Result::ok)
                .try_for_each(|line| lines.send(line))
        });
        let address = line.trim().strip_prefix("open http://");
        let address = address.unwrap_or_else(|| panic!("no address in {line}"));
        let (host, token) = address.split_once('/').unwrap();
        let page = Page {
            program,
            host: host.to_owned(),
            token: token.trim_matches('/').to_owned(),
        };
        (page, rest)
    }

    fn connect(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // A test fails if the server never answers.
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let request = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a request with these header lines, and returns the whole response.
    fn raw(&self, head: &str, body: &str) -> String {
        let mut response = Vec::new();
        let read = self.connect(head, body).read_to_end(&mut response);
        // A server that refuses a large body may close the connection before reading all of it.
        read.map_or_else(|error| assert!(!response.is_empty(), "{error}"), drop);
        String::from_utf8_lossy(&response).into_owned()
    }

    fn head(&self, line: &str) -> String {
        format!("{line} HTTP/1.1\r\nhost: {}\r\n", self.host)
    }

    fn get(&self, path: &str) -> String {
        self.raw(&self.head(&format!("GET /{}/{path}", self.token)), "")
    }

    fn posting(&self, path: &str) -> String {
        let head = self.head(&format!("POST /{}/{path}", self.token));
        format!(
            "{head}origin: http://{}\r\ncontent-type: application/json\r\n",
            self.host
        )
    }

    fn post(&self, path: &str, body: &Value) -> String {
        self.raw(&self.posting(path), &body.to_string())
    }

    /// Makes a call, and returns its messages.
    fn messages(&self, path: &str, body: &Value) -> Vec<Value> {
        let response = self.post(path, body);
        assert_eq!(status(&response), 200, "{response}");
        let lines = response.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn status(response: &str) -> u16 {
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_page_is_for_those_who_know_its_address() {
    let page = Page::start();
    let shown = page.get("");
    assert_eq!(status(&shown), 200, "{shown}");
    for part in [
        "cache-control: no-store\r\n",
        "referrer-policy: no-referrer\r\n",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff\r\n",
        "x-frame-options: DENY\r\n",
        "cross-origin-opener-policy: same-origin\r\n",
        "cross-origin-resource-policy: same-origin\r\n",
        "<title>desk</title>",
        "<script src=\"live.js\" defer></script>",
    ] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    for file in ["live.js", "live.css"] {
        assert_eq!(status(&page.get(file)), 200, "{file}");
    }
    assert_eq!(status(&page.get("other")), 404);
    // 128 bits.
    assert_eq!(page.token.len(), 32, "{}", page.token);
    assert_ne!(Page::start().token, page.token);
}

/// Writes a program with the name of the one that opens pages, and returns the command of a page that starts it.
#[cfg(target_os = "linux")]
fn opening(folder: &str, script: Option<&str>) -> Command {
    use std::os::unix::fs::PermissionsExt;

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    if let Some(script) = script {
        let program = folder.join("xdg-open");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = support::command();
    command.args(["web", "--open"]).env("PATH", &folder);
    command.current_dir(folder);
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_browser_opens_the_page_by_an_address_that_works_once() {
    // The name tells that the file is complete.
    let script = "echo \"$1\" > part && exec /bin/mv part address";
    let (page, _log) = Page::of(&mut opening("open", Some(script)));
    let written = Path::new(env!("CARGO_TARGET_TMPDIR")).join("open/address");
    let end = Instant::now() + PATIENCE;
    while !written.exists() {
        assert!(Instant::now() < end, "no browser was started");
        std::thread::yield_now();
    }
    let address = fs::read_to_string(written).unwrap();
    let path = address
        .trim()
        .strip_prefix(&format!("http://{}", page.host));
    let path = path.unwrap_or_else(|| panic!("{address}"));
    // Other users see the arguments of programs.
    assert!(!path.contains(&page.token), "{path}");
    let elsewhere = format!("GET {path} HTTP/1.1\r\nhost: example.com\r\n");
    assert_eq!(status(&page.raw(&elsewhere, "")), 403);
    let opened = page.raw(&page.head(&format!("GET {path}")), "");
    assert_eq!(status(&opened), 303, "{opened}");
    assert!(
        opened.contains(&format!("location: /{}/\r\n", page.token)),
        "{opened}"
    );
    let again = page.raw(&page.head(&format!("GET {path}")), "");
    assert_eq!(status(&again), 403, "{again}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_browser_that_can_not_be_opened_ends_nothing() {
    for (script, why) in [
        (None, "there is no `xdg-open`"),
        (Some("exit 3"), "`xdg-open` failed (exit status: 3)"),
    ] {
        let (page, log) = Page::of(&mut opening("no-open", script));
        let line = log.recv_timeout(PATIENCE).unwrap();
        let expected = format!("can't open a browser: {why}; open the address above yourself");
        assert_eq!(line, expected);
        assert_eq!(status(&page.get("")), 200);
    }
}

#[test]
fn requests_from_elsewhere_are_refused() {
    let page = Page::start();
    let (host, token) = (&page.host, &page.token);
    let port = host.split_once(':').unwrap().1;
    let call = json!({"id": "1", "name": "read_note", "arguments": "{\"id\":1}"}).to_string();
    let json = "content-type: application/json\r\n";
    let cut = &token[..31];
    for (why, head, expected) in [
        (
            "no token",
            format!("GET / HTTP/1.1\r\nhost: {host}\r\n"),
            403,
        ),
        (
            "a part of the token",
            format!("GET /{cut}/ HTTP/1.1\r\nhost: {host}\r\n"),
            403,
        ),
        (
            "another token",
            format!("GET /{cut}x/ HTTP/1.1\r\nhost: {host}\r\n"),
            403,
        ),
        (
            "another name",
            format!("GET /{token}/ HTTP/1.1\r\nhost: evil.example:{port}\r\n"),
            403,
        ),
        (
            "another port",
            format!("GET /{token}/ HTTP/1.1\r\nhost: 127.0.0.1:1\r\n"),
            403,
        ),
        ("no name", format!("GET /{token}/ HTTP/1.0\r\n"), 400),
        (
            "two names",
            format!("GET /{token}/ HTTP/1.1\r\nhost: {host}\r\nhost: {host}\r\n"),
            400,
        ),
        (
            "another site",
            format!(
                "POST /{token}/call HTTP/1.1\r\nhost: {host}\r\norigin: http://evil.example\r\n{json}"
            ),
            403,
        ),
        (
            "a site of this machine",
            format!(
                "POST /{token}/call HTTP/1.1\r\nhost: {host}\r\norigin: http://127.0.0.1:1\r\n{json}"
            ),
            403,
        ),
        (
            "no site",
            format!("POST /{token}/call HTTP/1.1\r\nhost: {host}\r\norigin: null\r\n{json}"),
            403,
        ),
        (
            "a form",
            format!("POST /{token}/call HTTP/1.1\r\nhost: {host}\r\ncontent-type: text/plain\r\n"),
            415,
        ),
        (
            "a wrong method",
            format!("GET /{token}/call HTTP/1.1\r\nhost: {host}\r\n"),
            405,
        ),
    ] {
        let response = page.raw(&head, &call);
        assert_eq!(status(&response), expected, "{why}: {response}");
        assert!(!response.contains("Call Ada"), "{why}: {response}");
    }
    let local = format!("GET /{token}/ HTTP/1.1\r\nhost: localhost:{port}\r\n");
    assert_eq!(status(&page.raw(&local, "")), 200);
    let large = format!("{{\"id\": \"{}\"}}", "x".repeat(1 << 20));
    let response = page.raw(&page.posting("validate"), &large);
    assert_eq!(status(&response), 413, "{response}");
    for body in [
        "",
        "[]",
        "{}",
        "{\"name\": \"read_note\"}",
        "{\"name\": 1, \"arguments\": \"\"}",
    ] {
        for path in ["validate", "call", "decide", "answer", "cancel"] {
            let response = page.raw(&page.posting(path), body);
            assert_eq!(status(&response), 400, "{path} {body}: {response}");
        }
    }
}

#[test]
fn only_loopback_addresses_are_served() {
    let mut command = support::command();
    command.args(["web", "--address", "0.0.0.0:0"]);
    let mut program = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut log = BufReader::new(program.stderr.take().unwrap());
    log.read_line(&mut line).unwrap();
    // A program that serves would not end by itself.
    let _ = program.kill();
    program.wait().unwrap();
    assert!(
        line.contains("error") && line.contains("loopback"),
        "{line}"
    );
}

#[test]
fn arguments_are_judged_without_a_call() {
    let page = Page::start();
    let judge = |name: &str, arguments: &str| -> Value {
        let response = page.post("validate", &json!({"name": name, "arguments": arguments}));
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    };
    let wrong = judge("get_forecast", "{\"city\":\"Lisbon\",\"days\":300}");
    assert_eq!(wrong["violations"][0]["path"], "days", "{wrong}");
    assert!(
        wrong["message"]
            .as_str()
            .unwrap()
            .starts_with("invalid arguments for get_forecast")
    );
    let right = judge("get_forecast", "{\"city\":\"Lisbon\",\"days\":3}");
    assert_eq!(right["violations"], json!([]), "{right}");
    assert_eq!(judge("get_forecast", "{")["kind"], "malformed_json");
    assert_eq!(judge("no_tool", "{}")["kind"], "unknown_tool");
}

#[test]
fn a_call_has_progress_parts_and_a_result() {
    let page = Page::start();
    let messages = page.messages(
        "call",
        &json!({"id": "1", "name": "count", "arguments": "{\"to\":3}"}),
    );
    let (last, progress) = messages.split_last().unwrap();
    assert_eq!(
        progress[0]["progress"],
        json!({"done": 0.0, "total": 3.0, "message": null})
    );
    assert_eq!(last["result"]["content"], "3", "{last}");
    let chart = page.messages(
        "call",
        &json!({"id": "1", "name": "draw_chart", "arguments": "{}"}),
    );
    let data = chart[0]["result"]["parts"][0]["data"].as_str().unwrap();
    assert!(data.starts_with("data:image/png;base64,"), "{data}");
    let failed = page.messages(
        "call",
        &json!({"id": "1", "name": "read_note", "arguments": "{\"id\":9}"}),
    );
    assert_eq!(failed[0]["result"]["error"]["kind"], "failed", "{failed:?}");
}

#[test]
fn a_running_call_is_cancelled_on_request_and_with_its_page() {
    let page = Page::start();
    let slow =
        |id: &str| json!({"id": id, "name": "count", "arguments": "{\"to\":1000000}"}).to_string();
    let start = |id: &str| {
        let mut reader = BufReader::new(page.connect(&page.posting("call"), &slow(id)));
        let mut line = String::new();
        // The first progress message shows that the call runs.
        while !line.contains("progress") {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        }
        reader
    };
    let mut reader = start("a");
    assert_eq!(status(&page.raw(&page.posting("call"), &slow("a"))), 409);
    let decision = json!({"id": "a", "decision": "allow"});
    assert_eq!(status(&page.post("decide", &decision)), 409);
    assert_eq!(status(&page.post("cancel", &json!({"id": "a"}))), 204);
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"kind\":\"cancelled\""), "{rest}");
    assert_eq!(status(&page.post("cancel", &json!({"id": "a"}))), 404);

    drop(start("b"));
    // The server learns that the page is gone when it writes the next progress.
    let other = json!({"id": "b", "name": "read_note", "arguments": "{\"id\":1}"});
    let start = Instant::now();
    while status(&page.post("call", &other)) == 409 {
        assert!(
            start.elapsed() < PATIENCE,
            "the call goes on without its page"
        );
        std::thread::yield_now();
    }
}

#[test]
fn a_held_call_waits_for_a_decision() {
    let page = Page::start();
    let call = json!({"id": "1", "name": "delete_note", "arguments": "{\"id\":1}"});
    let waiting = page.messages("call", &call);
    let hold = &waiting[0]["result"]["hold"];
    assert_eq!(hold["reason"], "it deletes something", "{waiting:?}");
    assert_eq!(status(&page.post("call", &call)), 409);
    assert_eq!(
        status(&page.post("decide", &json!({"id": "1", "decision": "maybe"}))),
        400
    );
    let allowed = page.messages("decide", &json!({"id": "1", "decision": "allow"}));
    assert_eq!(
        allowed[0]["result"]["content"], "note 1 is deleted",
        "{allowed:?}"
    );
    // A decision can be used only once.
    assert_eq!(
        status(&page.post("decide", &json!({"id": "1", "decision": "allow"}))),
        404
    );
    page.messages("call", &call);
    let denied = page.messages(
        "decide",
        &json!({"id": "1", "decision": "deny", "reason": "keep it"}),
    );
    assert_eq!(denied[0]["result"]["error"]["kind"], "denied", "{denied:?}");
    assert!(
        denied[0]["result"]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("keep it")
    );
}

/// Nobody else can decide: a request without the token and one from another site are refused.
#[test]
fn a_hold_waits_for_the_page_alone() {
    let page = Page::start();
    let call = json!({"id": "1", "name": "delete_note", "arguments": "{\"id\":1}"});
    page.messages("call", &call);
    let allow = json!({"id": "1", "decision": "allow"}).to_string();
    let json = "content-type: application/json\r\n";
    let foreign = page.head(&format!("POST /{}/decide", page.token)) + json;
    let foreign = format!("{foreign}origin: http://evil.example\r\n");
    let unknown = page.head("POST /decide") + json;
    for head in [foreign, unknown] {
        assert_eq!(status(&page.raw(&head, &allow)), 403);
    }
    // A decision on another call does not apply to this one.
    let other = json!({"id": "2", "decision": "allow"});
    assert_eq!(status(&page.post("decide", &other)), 404);
    // A denial needs a reason, which the model reads.
    let silent = json!({"id": "1", "decision": "deny"});
    assert_eq!(status(&page.post("decide", &silent)), 400);
    let allowed = page.messages("decide", &json!({"id": "1", "decision": "allow"}));
    assert_eq!(allowed[0]["result"]["content"], "note 1 is deleted");
}

#[test]
fn calls_that_run_have_a_limit() {
    let page = Page::start();
    let call = |id: usize| {
        json!({"id": id.to_string(), "name": "count", "arguments": "{\"to\":1000000}"}).to_string()
    };
    let running = (0..64).map(|id| {
        let mut reader = BufReader::new(page.connect(&page.posting("call"), &call(id)));
        let mut line = String::new();
        while !line.contains("progress") {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0);
        }
        reader
    });
    let running: Vec<_> = running.collect();
    let refused = page.raw(&page.posting("call"), &call(64));
    assert_eq!(status(&refused), 429, "{refused}");
    assert_eq!(status(&page.post("cancel", &json!({"id": "0"}))), 204);
    drop(running);
}

#[test]
fn calls_that_wait_have_a_limit() {
    let page = Page::start();
    for id in 0..70 {
        let call = json!({"id": id.to_string(), "name": "delete_note", "arguments": "{\"id\":1}"});
        assert_eq!(page.messages("call", &call).len(), 1);
    }
    let found =
        (0..70).filter(|id| status(&page.post("cancel", &json!({"id": id.to_string()}))) == 204);
    assert_eq!(found.count(), 64);
}

/// Starts a call that asks a question. Returns the question and the rest of the response.
fn asked(page: &Page, id: &str) -> (BufReader<TcpStream>, Value) {
    let call = json!({"id": id, "name": "reserve_seat", "arguments": "{}"}).to_string();
    let mut reader = BufReader::new(page.connect(&page.posting("call"), &call));
    let mut line = String::new();
    while !line.starts_with("{\"question\"") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0);
    }
    let mut asked: Value = serde_json::from_str(&line).unwrap();
    (reader, asked["question"].take())
}

/// Returns the result at the end of a response.
fn ended(mut reader: BufReader<TcpStream>) -> Value {
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let mut lines = rest.lines().filter(|line| line.starts_with('{'));
    serde_json::from_str(lines.next_back().unwrap()).unwrap()
}

#[test]
fn a_question_is_judged_and_answered_declined_or_cancelled() {
    let page = Page::start();
    let reply = |question: &Value, action: &str, arguments: &str| {
        let body = json!({"question": question["id"], "action": action, "arguments": arguments});
        page.post("answer", &body)
    };
    let (reader, question) = asked(&page, "1");
    assert_eq!(question["message"], "Where do you want to sit?");
    assert_eq!(question["schema"]["properties"]["row"]["maximum"], 30);
    let (right, wrong) = (r#"{"row":7,"window":true}"#, r#"{"row":31,"window":true}"#);
    // The answer is checked while the person types, and again when it is sent. The question stays open.
    let judged = |arguments: &str| {
        let body = json!({"question": question["id"], "arguments": arguments});
        let response = page.post("validate", &body);
        let (_, body) = response.split_once("\r\n\r\n").unwrap();
        serde_json::from_str::<Value>(body).unwrap()
    };
    assert_eq!(judged(wrong)["violations"][0]["path"], "row");
    assert_eq!(judged(right)["violations"], json!([]));
    for invalid in [wrong, "{}", "{", "[]"] {
        let refused = reply(&question, "accept", invalid);
        assert_eq!(status(&refused), 422, "{invalid}: {refused}");
    }
    assert_eq!(status(&reply(&question, "maybe", right)), 400);
    let unknown = json!({"id": "no-such-question"});
    assert_eq!(status(&reply(&unknown, "accept", right)), 404);
    assert_eq!(status(&reply(&question, "accept", right)), 204);
    assert_eq!(ended(reader)["result"]["content"], "row 7, at the window");
    // A question takes only one answer.
    assert_eq!(status(&reply(&question, "accept", right)), 404);

    for (action, result) in [("decline", "any seat"), ("cancel", "no seat")] {
        let (reader, question) = asked(&page, "1");
        assert_eq!(status(&reply(&question, action, "")), 204);
        assert_eq!(ended(reader)["result"]["content"], result);
    }
}

#[test]
fn a_question_ends_with_its_call() {
    let page = Page::start();
    let (reader, question) = asked(&page, "1");
    assert_eq!(status(&page.post("cancel", &json!({"id": "1"}))), 204);
    assert_eq!(ended(reader)["result"]["error"]["kind"], "cancelled");
    let late = json!({"question": question["id"], "action": "decline"});
    assert_eq!(status(&page.post("answer", &late)), 404);
    let judged = json!({"question": question["id"], "arguments": "{}"});
    assert_eq!(status(&page.post("validate", &judged)), 404);
}
