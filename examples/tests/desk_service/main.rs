//! Runs the service as its users do: over HTTP, over MCP and in a browser, with restarts at bad moments.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use examples::folder::Temporary;
use examples::program::{assert_rejected, command, run};
use rusqlite::Connection;
use serde_json::{Value, json};
use tool_docs::{Docs, testing};

mod app;
mod browser;
#[path = "../../desk_service/chart.rs"]
mod chart;
#[path = "../../desk_service/tools.rs"]
mod tools;
#[allow(dead_code)]
#[path = "../../desk_service/users.rs"]
mod users;

/// A running service, and its folder.
struct Service {
    child: Child,
    address: String,
    tokens: HashMap<String, String>,
    folder: Temporary,
}

/// The conversation of a user.
struct Chat<'s> {
    service: &'s Service,
    user: &'static str,
    run: String,
}

/// The last call of a tool on the page, if it has this status.
fn call<'v>(page: &'v Value, name: &str, status: &str) -> Option<&'v Value> {
    let entries = page["entries"].as_array().expect("entries");
    let mut calls = entries.iter().rev().filter(|entry| entry["name"] == name);
    calls.next().filter(|call| call["status"] == status)
}

fn held(page: &Value) -> Option<String> {
    let fingerprint = call(page, "refund_order", "waiting")?["hold"]["fingerprint"].as_str();
    fingerprint.map(str::to_owned)
}

fn last_text(page: &Value) -> &str {
    let last = page["entries"].as_array().expect("entries").last();
    last.expect("an entry")["text"].as_str().unwrap_or_default()
}

impl Service {
    fn start() -> Service {
        Service::with(&["--delay", "0"])
    }

    fn with(flags: &[&str]) -> Service {
        let folder = Temporary::new().expect("a folder");
        let (child, address, tokens) = spawn(&folder, "127.0.0.1:0", flags);
        Service {
            child,
            address,
            tokens,
            folder,
        }
    }

    /// Kills the process, without a chance to save anything.
    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    fn start_again(&mut self) {
        let address = self.address.clone();
        (self.child, self.address, self.tokens) = spawn(&self.folder, &address, &["--delay", "0"]);
    }

    fn query<T: rusqlite::types::FromSql>(&self, sql: &str) -> Vec<T> {
        let database = Connection::open(self.folder.path().join("desk/shop.sqlite"));
        let database = database.expect("a database");
        let mut statement = database.prepare(sql).expect("a table");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("values")
    }

    /// Returns the amounts that were paid.
    fn refunds(&self) -> Vec<u32> {
        self.query("SELECT cents FROM refund")
    }

    /// Sends a request and returns the whole response.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let mut head = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut response = Vec::new();
        // A service that rejects a large body closes the connection early.
        let _ = stream.read_to_end(&mut response);
        String::from_utf8_lossy(&response).into_owned()
    }

    fn cookie(&self, user: &str) -> String {
        format!("other=1; token={}", self.tokens[user])
    }

    /// Sends what the page of a user sends.
    fn post(&self, user: &str, path: &str, body: &Value) -> String {
        let origin = format!("http://{}", self.address);
        let cookie = self.cookie(user);
        let headers = [
            ("host", &*self.address),
            ("origin", &*origin),
            ("cookie", &*cookie),
            ("content-type", "application/json"),
        ];
        self.send(&format!("POST {path}"), &headers, &body.to_string())
    }

    /// Returns the events that a page of the user gets.
    fn events(&self, user: &str, path: &str) -> impl Iterator<Item = Value> + use<> {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let (address, cookie) = (&self.address, self.cookie(user));
        let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        let lines = BufReader::new(stream)
            .lines()
            .map(|line| line.expect("text"));
        lines.filter_map(|line| {
            let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).expect("JSON");
            Some(event)
        })
    }

    /// Returns the first event of a type that a page of the user gets.
    fn event(&self, user: &str, path: &str, kind: &str) -> Value {
        let mut events = self
            .events(user, path)
            .filter(|event| event["type"] == kind);
        events.next().expect("an event")
    }

    fn lists(&self, user: &str) -> Value {
        self.event(user, "/events", "lists")
    }

    fn chat(&self, user: &'static str) -> Chat<'_> {
        let created = self.post(user, "/runs", &Value::Null);
        assert_eq!(status(&created), 200, "{created}");
        let run = created.split("\r\n\r\n").nth(1).expect("a body");
        self.chat_of(user, run)
    }

    fn chat_of(&self, user: &'static str, run: &str) -> Chat<'_> {
        let (service, run) = (self, run.to_owned());
        Chat { service, user, run }
    }

    /// Does something in a conversation of a user's own; returns the status.
    fn act(&self, user: &str, run: &str, action: &str, with: Value) -> u16 {
        let body = json!({"do": action, "with": with});
        status(&self.post(user, &format!("/runs/{run}"), &body))
    }

    /// Decides on a call of somebody else; returns the status.
    fn decide(&self, user: &str, action: &str, with: Value) -> u16 {
        let body = json!({"do": action, "with": with});
        status(&self.post(user, "/inbox", &body))
    }

    /// Returns the names of tools, or the result of a call, over MCP.
    fn mcp(&self, token: Option<&str>, method: &str, mut params: Value) -> (u16, Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let bearer = format!("Bearer {}", token.unwrap_or_default());
        let mut headers = vec![
            ("host", &*self.address),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", &*name),
        ];
        if token.is_some() {
            headers.push(("authorization", &*bearer));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.send("POST /mcp", &headers, &body.to_string());
        let body = response.split("\r\n\r\n").nth(1).expect("a body");
        let body = serde_json::from_str(body).unwrap_or_default();
        (status(&response), body)
    }
}

impl Chat<'_> {
    fn act(&self, action: &str, with: Value) -> u16 {
        self.service.act(self.user, &self.run, action, with)
    }

    fn ask(&self, text: &str) {
        assert_eq!(self.act("say", json!(text)), 200);
    }

    /// Returns what a page that connects now shows.
    fn page(&self) -> Value {
        self.service
            .event(self.user, &format!("/events/{}", self.run), "all")
    }

    /// Waits for something on the page.
    fn wait<T>(&self, look: impl Fn(&Value) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            let page = self.page();
            match look(&page) {
                Some(found) => return found,
                None => assert!(began.elapsed() < Duration::from_secs(30), "{page:#}"),
            }
            sleep(Duration::from_millis(10));
        }
    }

    fn rest(&self) -> Value {
        self.wait(|page| (page["status"]["is_busy"] == false).then(|| page.clone()))
    }

    /// Returns the id of the call that waits, as the lead finds it in the inbox.
    fn waiting(&self) -> String {
        self.wait(held);
        let inbox = self.service.lists("lead-1")["inbox"].clone();
        let calls = inbox.as_array().expect("an inbox");
        let own = calls.iter().find(|call| call["owner"] == self.user);
        own.expect("it waits")["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// The lead decides.
    fn decide(&self, action: &str, with: Value) -> u16 {
        self.service.decide("lead-1", action, with)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(
    folder: &Temporary,
    address: &str,
    flags: &[&str],
) -> (Child, String, HashMap<String, String>) {
    let mut child = command("desk_service")
        .args(["--listen", address, "--pace", "4"])
        .args(flags)
        .arg("--folder")
        .arg(folder.path().join("desk"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo builds the examples before the tests");
    let out = BufReader::new(child.stdout.take().expect("piped"));
    let mut lines = out.lines().map(|line| line.expect("a line"));
    let first = lines.next().expect("a line");
    let address = first.strip_prefix("open http://").expect("an address");
    let address = address.split(' ').next().expect("an address").to_owned();
    let tokens = lines.take(4).map(|line| {
        let (name, token) = line.split_once(' ').expect("a token");
        (name.to_owned(), token.to_owned())
    });
    let tokens = tokens.collect();
    (child, address, tokens)
}

fn status(response: &str) -> u16 {
    let status = response.split(' ').nth(1).expect("a status");
    status.parse().expect("a number")
}

const QUESTION: &str = "Refund it, and show me how sales are going.";

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --features desk_service`.
#[test]
fn the_catalogue_is_up_to_date() {
    let database = Connection::open_in_memory().expect("a database");
    let registry = tools::registry(database, Duration::ZERO);
    let registry = registry.context_per_call::<users::User>().build();
    let registry = registry.expect("four tools");
    testing::check(&registry)
        .expect_tools(["change_price", "draw_sales", "find_order", "refund_order"])
        .lock("desk_service/tools.lock.json")
        .catalogue(
            &Docs::new(&registry).title("Desk service"),
            "desk_service/TOOLS.md",
        )
        .examples()
        .run();
}

#[test]
fn other_web_sites_can_neither_read_nor_act() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    let (host, origin) = (&*service.address, format!("http://{}", service.address));
    let cookie = service.cookie("clerk-1");
    let (act, events) = (
        format!("POST /runs/{}", chat.run),
        format!("GET /events/{}", chat.run),
    );
    let (act, events) = (&*act, &*events);
    let json = ("content-type", "application/json");
    let (own, other) = (("origin", &*origin), ("origin", "http://evil.example"));
    let (host, cookie) = (("host", host), ("cookie", &*cookie));
    let body = r#"{"do":"say","with":"Refund it"}"#;
    for (line, headers, expected) in [
        (act, vec![host, json, cookie], 403),
        (act, vec![host, json, other, cookie], 403),
        (act, vec![host, json, ("origin", "null"), cookie], 403),
        (
            act,
            vec![("host", "evil.example"), json, other, cookie],
            403,
        ),
        (act, vec![json, own, cookie], 400),
        (
            act,
            vec![host, ("content-type", "text/plain"), own, cookie],
            415,
        ),
        ("POST /sign-in", vec![host, json, other], 403),
        ("OPTIONS /runs", vec![host, other], 403),
        ("GET /runs", vec![host, cookie], 405),
        (events, vec![("host", "evil.example"), cookie], 403),
        (
            events,
            vec![host, cookie, ("sec-fetch-site", "cross-site")],
            403,
        ),
        (
            events,
            vec![host, cookie, ("sec-fetch-site", "same-site")],
            403,
        ),
        ("GET /", vec![("host", "evil.example")], 403),
        ("GET /", vec![host, ("sec-fetch-site", "cross-site")], 200),
    ] {
        let response = service.send(line, &headers, body);
        // hyper itself answers a request without a host, or the service does.
        let status = status(&response);
        let is_expected = status == expected || (expected == 400 && status == 403);
        assert!(is_expected, "{line} {headers:?}: {response}");
        assert!(!response.contains("access-control-allow"), "{response}");
        if status != 400 {
            assert!(response.contains("default-src 'none'"), "{response}");
        }
    }
    for (body, expected) in [
        (json!({"do": "say", "with": "x".repeat(70_000)}), 413),
        (json!({"do": "answer", "with": "x"}), 422),
        (json!({"do": "say"}), 422),
        (json!({}), 422),
    ] {
        let response = service.post("clerk-1", &format!("/runs/{}", chat.run), &body);
        assert_eq!(status(&response), expected, "{body}");
    }
    chat.ask(" ");
    assert_eq!(chat.page()["entries"], json!([]));
}

#[test]
fn a_request_without_a_valid_token_is_refused() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    let (host, origin) = (
        ("host", &*service.address),
        format!("http://{}", service.address),
    );
    let (own, json) = (("origin", &*origin), ("content-type", "application/json"));
    let events = format!("GET /events/{}", chat.run);
    let act = format!("POST /runs/{}", chat.run);
    let token = &service.tokens["clerk-1"];
    let wrong = format!("token={}0", &token[1..]);
    for cookie in ["", "token=", &wrong, "token", &format!("xtoken={token}")] {
        let headers = [host, own, json, ("cookie", cookie)];
        let paths = [
            "GET /events",
            &events,
            &act,
            "POST /runs",
            "GET /parts/x/y/0",
        ];
        for line in paths {
            let response = service.send(line, &headers, r#"{"do":"say","with":"Hello"}"#);
            assert_eq!(status(&response), 401, "{line} {cookie}: {response}");
        }
    }
    assert_eq!(chat.page()["entries"], json!([]));

    // A token gets a cookie that scripts can't read and other sites can't use.
    for (token, expected) in [(&**token, 200), ("0", 401), (" ", 401), ("", 200)] {
        let body = json!(token).to_string();
        let response = service.send("POST /sign-in", &[host, own, json], &body);
        assert_eq!(status(&response), expected, "{token}");
        let cookie = format!("set-cookie: token={token}; Path=/; HttpOnly; SameSite=Strict\r\n");
        assert_eq!(response.contains(&cookie), expected == 200, "{response}");
    }
}

#[test]
fn a_hold_is_decided_by_somebody_else_once() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    chat.ask(QUESTION);
    let fingerprint = chat.wait(held);
    let id = chat.waiting();
    let page = chat.rest();
    assert!(service.refunds().is_empty());
    let arguments = call(&page, "refund_order", "waiting").expect("held")["arguments"].as_str();
    let arguments: Value = serde_json::from_str(arguments.expect("text")).expect("JSON");
    assert_eq!(arguments["cents"], 4800);
    assert_eq!(chat.act("say", json!("And?")), 409);

    // Who asked can't decide, and neither can somebody with the same role.
    assert_eq!(chat.act("allow", json!(fingerprint)), 403);
    for user in ["clerk-1", "clerk-2"] {
        assert_eq!(service.decide(user, "allow", json!(id)), 403, "{user}");
    }
    for (user, run) in [
        ("clerk-2", &*chat.run),
        ("lead-1", &chat.run),
        ("clerk-1", "nothing"),
    ] {
        assert_eq!(
            service.act(user, run, "allow", json!(fingerprint)),
            404,
            "{user}"
        );
    }
    assert_eq!(chat.decide("allow", json!(fingerprint)), 404);
    assert_eq!(chat.decide("say", json!("And?")), 422);
    assert!(service.refunds().is_empty());

    let (part, index) = (format!("GET /parts/{}/call-0-0", chat.run), "/1");
    for (user, expected) in [("clerk-1", 200), ("clerk-2", 404), ("lead-1", 404)] {
        let cookie = service.cookie(user);
        let headers = [("host", &*service.address), ("cookie", &*cookie)];
        let response = service.send(&format!("{part}{index}"), &headers, "");
        assert_eq!(status(&response), expected, "{response}");
        let has_chart = response.contains("image/svg+xml") && response.contains("Units sold");
        assert_eq!(has_chart, expected == 200);
    }

    let twice = thread::scope(|scope| {
        let decide = || chat.decide("allow", json!(id));
        let threads = [scope.spawn(decide), scope.spawn(decide)];
        let mut statuses = threads.map(|thread| thread.join().expect("a status"));
        statuses.sort_unstable();
        statuses
    });
    assert_eq!(twice, [200, 409]);
    let page = chat.wait(|page| last_text(page).starts_with("Done").then(|| page.clone()));
    let refund = call(&page, "refund_order", "done").expect("done");
    assert_eq!(
        refund["decisions"],
        json!([{"verdict": "allowed", "by": "lead-1"}])
    );
    assert_eq!(chat.decide("allow", json!(id)), 409);
    assert_eq!(service.refunds(), [4800]);
    assert_eq!(
        service.query::<String>("SELECT owner FROM refund"),
        ["clerk-1"]
    );
}

#[test]
fn two_clerks_and_a_lead_pay_an_order_once() {
    // The second call starts while the bank takes its time over the first one.
    let service = Service::with(&["--delay", "1500"]);
    let chats = ["clerk-1", "clerk-2"].map(|clerk| service.chat(clerk));
    for chat in &chats {
        chat.ask(QUESTION);
    }
    let waiting = chats.each_ref().map(Chat::waiting);
    for (chat, id) in chats.iter().zip(waiting) {
        assert_eq!(chat.decide("allow", json!(id)), 200);
    }
    let results = chats.each_ref().map(|chat| {
        chat.wait(|page| {
            let ended = ["done", "failed"].iter();
            let mut ended = ended.filter_map(|status| call(page, "refund_order", status));
            ended.next()?["result"].as_str().map(str::to_owned)
        })
    });
    assert_eq!(service.refunds(), [4800]);
    let refused = |text: &String| text.contains("0 cents left");
    assert_eq!(
        results.iter().filter(|text| refused(text)).count(),
        1,
        "{results:?}"
    );
    assert!(
        service
            .query::<String>("SELECT key FROM reservation")
            .is_empty()
    );
}

#[test]
fn conversations_that_start_at_once_have_their_own_ids() {
    let service = Service::start();
    let ids: Vec<_> = thread::scope(|scope| {
        let create = || service.chat("clerk-1").run;
        let threads: Vec<_> = (0..40).map(|_| scope.spawn(create)).collect();
        let ids = threads
            .into_iter()
            .map(|thread| thread.join().expect("an id"));
        ids.collect()
    });
    let different: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(different.len(), 40);
}

#[test]
fn a_lead_decides_on_no_own_hold() {
    let service = Service::start();
    let chat = service.chat("lead-1");
    chat.ask(QUESTION);
    let fingerprint = chat.wait(held);
    chat.rest();
    assert_eq!(service.lists("lead-1")["inbox"], json!([]));
    assert_eq!(chat.act("allow", json!(fingerprint)), 403);
    let id = service.lists("admin-1")["inbox"][0]["id"].clone();
    assert_eq!(service.decide("lead-1", "allow", id.clone()), 403);
    assert_eq!(service.decide("admin-1", "allow", id), 200);
    chat.wait(|page| last_text(page).starts_with("Done").then_some(()));
    assert_eq!(service.refunds(), [4800]);
}

#[test]
fn a_lead_can_deny_a_call_or_change_its_arguments() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    chat.ask(QUESTION);
    assert_eq!(chat.decide("deny", json!([chat.waiting(), "not yet"])), 200);
    let page = chat.wait(|page| {
        last_text(page)
            .contains("not refunded")
            .then(|| page.clone())
    });
    let refund = call(&page, "refund_order", "denied").expect("denied");
    assert_eq!(
        refund["decisions"],
        json!([{"verdict": "denied", "by": "lead-1"}])
    );
    assert!(refund["result"].as_str().expect("text").contains("not yet"));
    chat.rest();

    chat.ask(QUESTION);
    let (fingerprint, id) = (chat.wait(held), chat.waiting());
    let change = |arguments: Value| {
        let arguments = arguments.to_string();
        chat.decide("change", json!([id, arguments]))
    };
    assert_eq!(
        change(json!({"order": 1042, "cents": -1, "reason": "x"})),
        422
    );
    assert_eq!(chat.wait(held), fingerprint);
    assert_eq!(
        change(json!({"order": 1042, "cents": 2500, "reason": "half"})),
        200
    );
    let page = chat.wait(|page| call(page, "refund_order", "done").map(|_| page.clone()));
    let refund = call(&page, "refund_order", "done").expect("done");
    assert_eq!(
        refund["decisions"],
        json!([{"verdict": "changed", "by": "lead-1"}])
    );
    assert_eq!(service.refunds(), [2500]);
}

#[test]
fn the_inbox_has_what_waits_for_those_who_decide() {
    let service = Service::start();
    let chats = [service.chat("clerk-1"), service.chat("clerk-2")];
    for chat in &chats {
        chat.ask(QUESTION);
        chat.wait(held);
        chat.rest();
    }
    for user in ["lead-1", "admin-1"] {
        let lists = service.lists(user);
        let inbox = lists["inbox"].as_array().expect("an inbox");
        let owners: Vec<_> = inbox.iter().map(|hold| &hold["owner"]).collect();
        assert_eq!(owners, ["clerk-1", "clerk-2"], "{lists}");
        assert_eq!(inbox[0]["reason"], "it can't be undone");
        assert_eq!(
            (&lists["runs"], &lists["decides"]),
            (&json!([]), &json!(true))
        );
    }
    // A clerk sees neither the inbox nor a conversation of somebody else.
    let lists = service.lists("clerk-1");
    assert_eq!(
        (&lists["inbox"], &lists["decides"]),
        (&json!([]), &json!(false))
    );
    let runs = lists["runs"].as_array().expect("runs").len();
    assert_eq!((runs, &lists["runs"][0]["waits"]), (1, &json!(true)));
    assert_eq!(
        service.act("clerk-2", &chats[0].run, "say", json!("Hello")),
        404
    );
    assert_eq!(
        service.act("lead-1", &chats[0].run, "say", json!("Hello")),
        404
    );
    assert_eq!(
        service.act("admin-1", &chats[0].run, "stop", Value::Null),
        404
    );
    let cookie = service.cookie("clerk-2");
    let headers = [("host", &*service.address), ("cookie", &*cookie)];
    let response = service.send(&format!("GET /events/{}", chats[0].run), &headers, "");
    assert_eq!(status(&response), 404, "{response}");

    let id = service.lists("lead-1")["inbox"][0]["id"].clone();
    assert_eq!(service.decide("lead-1", "allow", id), 200);
    chats[0].wait(|page| last_text(page).starts_with("Done").then_some(()));
    let inbox = service.lists("admin-1")["inbox"].clone();
    assert_eq!(
        (inbox.as_array().map(Vec::len), &inbox[0]["owner"]),
        (Some(1), &json!("clerk-2"))
    );
}

/// The service is killed between the hold and the decision, and between the decision and the call that it allows.
#[test]
fn a_held_call_of_an_mcp_client_waits_in_the_inbox() {
    let mut service = Service::start();
    let refund = json!({"order": 1042, "cents": 100, "reason": "x"});
    let refund = json!({"name": "refund_order", "arguments": refund});
    let call = |service: &Service| {
        let token = Some(&*service.tokens["clerk-1"]);
        let (_, called) = service.mcp(token, "tools/call", refund.clone());
        called["result"].clone()
    };
    let held = call(&service);
    assert_eq!(held["isError"], true, "{held}");
    let text = held["content"][0]["text"].as_str().expect("text");
    assert!(text.contains("waits for"), "{text}");
    service.kill();
    service.start_again();

    let inbox = service.lists("lead-1")["inbox"].clone();
    assert_eq!(
        (&inbox[0]["owner"], &inbox[0]["name"]),
        (&json!("clerk-1"), &json!("refund_order"))
    );
    assert_eq!(service.lists("clerk-1")["inbox"], json!([]));
    let id = || inbox[0]["id"].clone();
    assert_eq!(service.decide("clerk-1", "allow", id()), 403);
    assert_eq!(service.decide("lead-1", "allow", id()), 200);
    assert_eq!(service.decide("admin-1", "allow", id()), 409);
    assert!(service.refunds().is_empty());
    service.kill();
    service.start_again();

    let paid = call(&service);
    assert_ne!(paid["isError"], true, "{paid}");
    assert_eq!(service.refunds(), [100]);
    // A decision is for one call.
    assert_eq!(call(&service)["isError"], true);
    assert_eq!(service.refunds(), [100]);
}

/// Writes recordings: texts to which the model answers with a call, or with a text.
fn script(service_folder: &Temporary, answers: &[(&str, Value)]) -> String {
    let recordings = answers.iter().map(|(after, delta)| {
        json!({"after": after, "events": [{"choices": [{"delta": delta, "finish_reason": "stop"}]}]})
    });
    let path = service_folder.path().join("script.json");
    let recordings: Value = recordings.collect();
    fs::write(&path, recordings.to_string()).expect("a file");
    path.to_str().expect("text").to_owned()
}

fn calls(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"tool_calls": [{"index": 0, "id": "call_1", "function": function}]})
}

/// The model of a clerk calls a tool of admins, right after an admin has decided.
#[test]
fn the_rights_of_who_decides_do_not_reach_the_conversation() {
    let folder = Temporary::new().expect("a folder");
    let price = calls("change_price", &json!({"order": 1042, "cents": 1}));
    let refund = json!({"order": 1042, "cents": 100, "reason": "x"});
    let script = script(
        &folder,
        &[
            ("refunded 1.00 EUR", price.clone()),
            ("change_price was not run", json!({"content": "I may not."})),
            ("costs 1 cents now", json!({"content": "It is cheap."})),
            ("Price", price),
            ("Refund", calls("refund_order", &refund)),
        ],
    );
    let service = Service::with(&["--delay", "0", "--script", &script]);
    let prices = "SELECT cents FROM customer_order WHERE number = 1042";
    let chat = service.chat("clerk-1");
    chat.ask("Refund");
    let id = chat.waiting();
    chat.rest();
    assert_eq!(service.decide("admin-1", "allow", json!(id)), 200);
    chat.wait(|page| (last_text(page) == "I may not.").then_some(()));
    assert_eq!(
        (service.refunds(), service.query::<u32>(prices)),
        (vec![100], vec![4800])
    );
    // Nothing waits that somebody could confirm.
    assert_eq!(service.lists("admin-1")["inbox"], json!([]));

    // An admin may, and confirms it.
    let chat = service.chat("admin-1");
    chat.ask("Price");
    let page = chat.wait(|page| call(page, "change_price", "waiting").map(|_| page.clone()));
    chat.rest();
    let hold = &call(&page, "change_price", "waiting").expect("held")["hold"];
    assert_eq!(hold["is_confirmation"], true);
    assert_eq!(service.query::<u32>(prices), [4800]);
    assert_eq!(chat.act("allow", hold["fingerprint"].clone()), 200);
    chat.wait(|page| (last_text(page) == "It is cheap.").then_some(()));
    assert_eq!(service.query::<u32>(prices), [1]);
}

#[test]
fn each_user_has_own_tools_over_mcp() {
    let service = Service::start();
    let names = |user: &str| {
        let token = Some(&*service.tokens[user]);
        let (status, list) = service.mcp(token, "tools/list", json!({}));
        assert_eq!(status, 200, "{list}");
        let tools = list["result"]["tools"].as_array().expect("tools").iter();
        let names = tools.map(|tool| tool["name"].as_str().expect("a name").to_owned());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names
    };
    let own = ["draw_sales", "find_order", "refund_order"];
    assert_eq!(names("clerk-1"), own);
    assert_eq!(names("lead-1"), own);
    assert_eq!(names("admin-1")[0], "change_price");

    let find = || json!({"name": "find_order", "arguments": {"order": 1042}});
    let (status, found) = service.mcp(Some(&service.tokens["clerk-1"]), "tools/call", find());
    assert_eq!(
        (status, &found["result"]["structuredContent"]["cents"]),
        (200, &json!(4800))
    );
    for token in [None, Some(""), Some("wrong")] {
        assert_eq!(
            service.mcp(token, "tools/list", json!({})).0,
            401,
            "{token:?}"
        );
        assert_eq!(service.mcp(token, "tools/call", find()).0, 401, "{token:?}");
    }
    // The cookie of a page is no bearer token.
    let cookie = service.cookie("admin-1");
    let headers = [("host", &*service.address), ("cookie", &*cookie)];
    assert_eq!(
        self::status(&service.send("POST /mcp", &headers, "{}")),
        401
    );

    let price = json!({"name": "change_price", "arguments": {"order": 1042, "cents": 1}});
    let token = Some(&*service.tokens["lead-1"]);
    let (_, unknown) = service.mcp(token, "tools/call", price.clone());
    assert!(
        unknown["error"].to_string().contains("unknown tool"),
        "{unknown}"
    );
    // A client that can't ask its user confirms nothing.
    let admin = Some(&*service.tokens["admin-1"]);
    let (_, unconfirmed) = service.mcp(admin, "tools/call", price);
    let required = &unconfirmed["error"]["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{unconfirmed}");
    assert!(service.refunds().is_empty());
    assert_eq!(
        service.query::<u32>("SELECT cents FROM customer_order WHERE number = 1042"),
        [4800]
    );
}

/// Kills the service while the model writes, and while a call waits.
#[test]
fn a_conversation_goes_on_where_it_was_killed() {
    let mut service = Service::start();
    let run = {
        let chat = service.chat("clerk-1");
        chat.ask(QUESTION);
        chat.run
    };
    service.kill();
    service.start_again();
    let id = service.chat_of("clerk-1", &run).waiting();
    let before = service.chat_of("clerk-1", &run).rest();
    service.kill();
    service.start_again();
    assert_eq!(service.chat_of("clerk-1", &run).rest(), before);
    assert_eq!(service.lists("lead-1")["inbox"][0]["id"], id);

    assert_eq!(service.decide("lead-1", "allow", json!(id)), 200);
    let done = |page: &Value| last_text(page).starts_with("Done").then_some(());
    service.chat_of("clerk-1", &run).wait(done);
    let before = service.chat_of("clerk-1", &run).rest();
    service.kill();
    service.start_again();
    assert_eq!(service.chat_of("clerk-1", &run).rest(), before);
    assert_eq!(service.refunds(), [4800]);
}

#[test]
fn an_interrupted_conversation_goes_on_before_somebody_opens_it() {
    let mut service = Service::start();
    service.chat("clerk-1").ask(QUESTION);
    service.kill();
    service.start_again();
    // Nobody opens the conversation: the lead sees the inbox alone.
    let began = Instant::now();
    while service.lists("lead-1")["inbox"][0]["owner"] != "clerk-1" {
        assert!(began.elapsed() < Duration::from_secs(30));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_call_that_ran_during_a_kill_is_not_repeated() {
    let mut service = Service::with(&["--delay", "60000"]);
    let (run, id) = {
        let chat = service.chat("clerk-1");
        chat.ask(QUESTION);
        let id = chat.waiting();
        assert_eq!(chat.decide("allow", json!(id)), 200);
        // Saved as started before it runs.
        chat.wait(|page| {
            call(page, "refund_order", "running")?["progress"]
                .as_str()
                .map(drop)
        });
        (chat.run, id)
    };
    service.kill();
    service.start_again();
    let chat = service.chat_of("clerk-1", &run);
    // The model is told, looks whether the money is gone, and asks again.
    let page = chat.wait(|page| held(page).map(|_| page.clone()));
    let entries = page["entries"].as_array().expect("entries").iter();
    let mut results = entries.filter_map(|entry| entry["result"].as_str());
    assert!(
        results.any(|text| text.contains("was interrupted")),
        "{page:#}"
    );
    chat.rest();
    assert!(service.refunds().is_empty());
    assert_eq!(chat.decide("allow", json!(id)), 409);
    assert_eq!(chat.decide("allow", json!(chat.waiting())), 200);
    chat.wait(|page| last_text(page).starts_with("Done").then_some(()));
    assert_eq!(service.refunds(), [4800]);

    // Another question about the same order is no interruption.
    chat.rest();
    chat.ask(QUESTION);
    let page = chat.wait(|page| {
        last_text(page)
            .contains("refunded before")
            .then(|| page.clone())
    });
    assert!(!last_text(&page).contains("interrupt"), "{page:#}");
}

#[test]
fn stopping_cancels_and_a_new_conversation_is_empty() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    chat.ask(QUESTION);
    let id = chat.waiting();
    chat.rest();
    assert_eq!(chat.act("stop", Value::Null), 200);
    let page = chat.rest();
    let problem = page["status"]["problem"].as_str().expect("a problem");
    assert!(problem.contains("cancelled"), "{problem}");
    assert!(call(&page, "refund_order", "failed").is_some(), "{page:#}");
    assert_eq!(chat.decide("allow", json!(id)), 409);
    assert_eq!(service.lists("lead-1")["inbox"], json!([]));
    chat.ask("Go on.");
    assert_eq!(chat.act("stop", Value::Null), 200);
    chat.rest();

    let other = service.chat("clerk-1");
    assert_eq!(other.page()["entries"], json!([]));
    other.ask("Hello?");
    let answered = |page: &Value| {
        last_text(page)
            .starts_with("I am a recording")
            .then_some(())
    };
    other.wait(answered);
    assert_eq!(
        service.lists("clerk-1")["runs"].as_array().map(Vec::len),
        Some(2)
    );
    assert!(service.refunds().is_empty());
}

/// What a follower gets, event by event.
#[test]
fn events_follow_a_conversation() {
    let service = Service::start();
    let chat = service.chat("clerk-1");
    let mut events = service.events("clerk-1", &format!("/events/{}", chat.run));
    let mut kinds: Vec<String> = Vec::new();
    // A message that is sent before the service follows would be a part of this event.
    for event in events.by_ref() {
        kinds.push(event["type"].as_str().expect("a type").to_owned());
        if event["type"] == "all" {
            assert_eq!(event["entries"], json!([]));
            break;
        }
    }
    chat.ask("Hello?");
    let mut texts = Vec::new();
    for event in events {
        let kind = event["type"].as_str().expect("a type");
        kinds.push(kind.to_owned());
        let new = event["entry"]["text"].as_str();
        if let Some(text) = new.or(event["piece"].as_str()) {
            texts.push(text.to_owned());
        }
        if kind == "status" && event["status"]["is_busy"] == false && texts.len() > 1 {
            break;
        }
    }
    assert_eq!(texts[0], "Hello?");
    // The text arrives in pieces, each of them once.
    assert!(texts.len() > 5, "{texts:?}");
    assert_eq!(texts[1..].concat(), last_text(&chat.rest()));
    assert!(kinds.iter().any(|kind| kind == "lists"), "{kinds:?}");
}

/// Reads the log until a line of a span has been seen that a function accepts.
fn span(log: &mut BufReader<ChildStderr>, accepts: impl Fn(&str) -> bool) -> String {
    let mut lines = log.lines().map(|line| line.expect("text"));
    let mut spans = lines.by_ref().filter(|line| line.starts_with("span "));
    spans.find(|line| accepts(line)).expect("a span")
}

#[test]
fn a_decision_is_linked_to_the_trace_of_the_question() {
    let mut service = Service::with(&["--delay", "0", "--log"]);
    let mut log = BufReader::new(service.child.stderr.take().expect("piped"));
    let chat = service.chat("clerk-1");
    chat.ask(QUESTION);
    let id = chat.waiting();
    chat.rest();
    assert_eq!(chat.decide("allow", json!(id)), 200);
    let field = |line: &str, name: &str| {
        let (_, value) = line.split_once(&format!(" {name}="))?;
        value.split(' ').next().map(str::to_owned)
    };
    let invoked = span(&mut log, |line| line.contains("\"invoke_agent\""));
    let asked = field(&invoked, "trace").expect("a trace");
    // The span of a request ends with what it caused.
    let say = span(&mut log, |line| line.contains("\"POST /runs/"));
    assert_eq!(field(&say, "trace"), Some(asked.clone()));
    assert_eq!(field(&say, "id"), field(&invoked, "parent"));
    let refund = span(&mut log, |line| {
        line.contains("\"execute_tool refund_order\"")
    });
    assert_ne!(field(&refund, "trace"), Some(asked.clone()));
    let invoked = span(&mut log, |line| line.contains("\"invoke_agent\""));
    assert_eq!(field(&invoked, "trace"), field(&refund, "trace"));
    assert_eq!(field(&invoked, "link"), Some(asked));
}

#[test]
fn wrong_flags_end_with_a_message() {
    let service = Service::start();
    let folder = Temporary::new().expect("a folder");
    let folder = folder.path().join("desk");
    let folder = folder.to_str().expect("text");
    for (flags, said) in [
        (&["--listen", "0.0.0.0:0"][..], "tokens need TLS"),
        (&["--listen", "here"], "--listen"),
        (
            &["--listen", &service.address, "--folder", folder],
            "can't listen on",
        ),
        (&["--folder", "/dev/null/x"], "can't open /dev/null/x"),
        (&["--script", "-"], "the script is not valid"),
        (&["--script", "-", "--model", "gpt"], "--model"),
        (&["--pace", "70000"], "--pace"),
        (&["--token", "x"], "--token"),
    ] {
        assert_rejected("desk_service", flags, "[", said);
    }
}

#[test]
fn the_tools_have_a_command_line() {
    let ran = run("desk_service", &["tools", "list"], "");
    assert!(ran.out.contains(r#""name":"refund_order""#), "{ran:?}");
    let call = |arguments: &[&str]| {
        run(
            "desk_service",
            &[&["tools", "call"], arguments].concat(),
            "",
        )
    };
    let ran = call(&["find_order", "--order", "1042"]);
    assert!(ran.out.contains(r#""refunded_cents":0"#), "{ran:?}");
    // The user is an admin, for whom the hook holds what can't be undone all the same.
    let ran = call(&["change_price", "--order", "1042", "--cents", "100"]);
    assert!(ran.log.contains("everybody sees it"), "{ran:?}");
}
