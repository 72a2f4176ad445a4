//! Runs the service as a user does: over HTTP and in a browser, with restarts at bad moments.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use examples::folder::Temporary;
use examples::program::{assert_rejected, command};
use rusqlite::Connection;
use serde_json::{Value, json};
use tool_core::{Registry, testing};

mod browser;
#[path = "../../approvals/chart.rs"]
mod chart;
#[allow(dead_code)]
#[path = "../../approvals/store.rs"]
mod store;
#[path = "../../approvals/tools.rs"]
mod tools;

/// A running service, and its database.
struct Service {
    child: Child,
    address: String,
    folder: Temporary,
}

/// A call on the page.
fn call<'v>(page: &'v Value, name: &str, state: &str) -> Option<&'v Value> {
    let items = page["items"].as_array().expect("items");
    let mut calls = items.iter().rev().filter(|item| item["name"] == name);
    calls.next().filter(|call| call["state"] == state)
}

fn held(page: &Value) -> Option<String> {
    let fingerprint = call(page, "refund_order", "held")?["hold"][1].as_str();
    fingerprint.map(str::to_owned)
}

fn last_text(page: &Value) -> &str {
    let last = page["items"].as_array().expect("items").last();
    last.expect("an item")["text"].as_str().unwrap_or_default()
}

impl Service {
    fn start() -> Service {
        Service::with_delay("0")
    }

    /// Starts a service whose refunds take this number of milliseconds.
    fn with_delay(delay: &str) -> Service {
        let folder = Temporary::new().expect("a folder");
        let (child, address) = spawn(&folder, "127.0.0.1:0", delay);
        Service {
            child,
            address,
            folder,
        }
    }

    /// Kills the process, without a chance to save anything.
    fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    fn start_again(&mut self) {
        (self.child, self.address) = spawn(&self.folder, &self.address, "0");
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("chat.sqlite")
    }

    /// Returns the amounts that were paid.
    fn refunds(&self) -> Vec<u32> {
        let database = Connection::open(self.database()).expect("a database");
        let mut statement = database
            .prepare("SELECT cents FROM refund")
            .expect("a table");
        let amounts = statement.query_map([], |row| row.get(0)).expect("rows");
        amounts.collect::<Result<_, _>>().expect("numbers")
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

    /// Does what the page does; returns the status.
    fn post(&self, path: &str, body: &Value) -> u16 {
        let token = self.page()["token"].as_str().expect("a token").to_owned();
        let origin = format!("http://{}", self.address);
        let headers = [
            ("host", &*self.address),
            ("origin", &*origin),
            ("x-token", &*token),
            ("content-type", "application/json"),
        ];
        status(&self.send(&format!("POST {path}"), &headers, &body.to_string()))
    }

    /// Returns what a page that connects now shows.
    fn page(&self) -> Value {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let head = format!("GET /events HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).expect("it reads");
        let lines = BufReader::new(stream)
            .lines()
            .map(|line| line.expect("text"));
        let mut frames = lines.filter_map(|line| line.strip_prefix("data: ").map(str::to_owned));
        serde_json::from_str(&frames.next().expect("a frame")).expect("JSON")
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

    fn wait_until_idle(&self) -> Value {
        self.wait(|page| (page["status"]["is_busy"] == false).then(|| page.clone()))
    }

    fn ask(&self, text: &str) {
        assert_eq!(self.post("/say", &json!({ "text": text })), 200);
    }

    fn decide(&self, fingerprint: &str, decision: Value) -> u16 {
        let mut body = decision;
        body["fingerprint"] = json!(fingerprint);
        self.post("/decide", &body)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &Temporary, address: &str, delay: &str) -> (Child, String) {
    let mut child = command("approvals")
        .args([
            "--listen", address, "--user", "Ada", "--pace", "4", "--delay", delay,
        ])
        .arg("--database")
        .arg(folder.path().join("chat.sqlite"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("cargo builds the examples before the tests");
    let mut line = String::new();
    let out = child.stdout.take().expect("piped");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let address = line
        .trim()
        .strip_prefix("open http://")
        .expect("an address");
    (child, address.to_owned())
}

fn status(response: &str) -> u16 {
    let status = response.split(' ').nth(1).expect("a status");
    status.parse().expect("a number")
}

const QUESTION: &str = "Refund it, and show me how sales are going.";

/// After an intended change: `TOOL_CORE_UPDATE=1 cargo test --features approvals`.
#[test]
fn the_catalogue_is_up_to_date() {
    let folder = Temporary::new().expect("a folder");
    let store = store::Store::open(&folder.path().join("shop.sqlite")).expect("a store");
    let shop = tools::Shop {
        store,
        delay: Duration::ZERO,
    };
    let registry = Registry::builder()
        .toolset("", shop)
        .build()
        .expect("three tools");
    testing::check(&registry)
        .expect_tools(["draw_sales", "find_order", "refund_order"])
        .lock("approvals/tools.lock.json")
        .catalogue(&registry.docs().title("Approvals"), "approvals/TOOLS.md")
        .examples()
        .run();
}

#[test]
fn other_web_sites_can_neither_read_nor_act() {
    let service = Service::start();
    let token = service.page()["token"]
        .as_str()
        .expect("a token")
        .to_owned();
    let (host, origin) = (&*service.address, format!("http://{}", service.address));
    let json = ("content-type", "application/json");
    let (own, other) = (("origin", &*origin), ("origin", "http://evil.example"));
    let (host, token) = (("host", host), ("x-token", &*token));
    let body = r#"{"text":"Refund it"}"#;
    for (line, headers, expected) in [
        ("POST /say", vec![host, json, own], 403),
        ("POST /say", vec![host, json, token], 403),
        ("POST /say", vec![host, json, other, token], 403),
        (
            "POST /say",
            vec![host, json, ("origin", "null"), token],
            403,
        ),
        ("POST /say", vec![host, json, own, ("x-token", "0")], 403),
        (
            "POST /say",
            vec![("host", "evil.example"), json, other, token],
            403,
        ),
        ("POST /say", vec![json, own, token], 400),
        (
            "POST /say",
            vec![host, ("content-type", "text/plain"), own, token],
            415,
        ),
        ("OPTIONS /say", vec![host, other], 403),
        ("GET /say", vec![host], 405),
        ("GET /events", vec![("host", "evil.example")], 403),
        (
            "GET /events",
            vec![host, ("sec-fetch-site", "cross-site")],
            403,
        ),
        (
            "GET /events",
            vec![host, ("sec-fetch-site", "same-site")],
            403,
        ),
        (
            "GET /picture/x",
            vec![host, ("sec-fetch-site", "cross-site")],
            403,
        ),
        ("GET /", vec![("host", "evil.example")], 403),
        ("GET /", vec![host, ("sec-fetch-site", "cross-site")], 200),
    ] {
        let response = service.send(line, &headers, body);
        // hyper itself answers a request without a host, or the guard does.
        let status = status(&response);
        let is_expected = status == expected || (expected == 400 && status == 403);
        assert!(is_expected, "{line} {headers:?}: {response}");
        assert!(!response.contains("access-control-allow"), "{response}");
        if status != 400 {
            assert!(response.contains("default-src 'none'"), "{response}");
        }
    }
    for (body, expected) in [
        (json!({"text": "x".repeat(70_000)}), 413),
        (json!({"text": " "}), 422),
        (json!({"text": "x", "by": "Eve"}), 422),
        (json!({}), 422),
    ] {
        assert_eq!(service.post("/say", &body), expected);
    }
    assert_eq!(service.page()["items"], json!([]));
}

#[test]
fn a_call_waits_for_one_decision_and_runs_once() {
    let service = Service::start();
    service.ask(QUESTION);
    let fingerprint = service.wait(held);
    assert!(service.refunds().is_empty());
    let page = service.wait_until_idle();
    let arguments = call(&page, "refund_order", "held").expect("held")["arguments"].as_str();
    let arguments: Value = serde_json::from_str(arguments.expect("text")).expect("JSON");
    assert_eq!(arguments["cents"], 4800);
    assert_eq!(service.post("/say", &json!({"text": "And?"})), 409);
    assert_eq!(
        service.decide(&"0".repeat(64), json!({"decision": "allow"})),
        409
    );
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "answer"})),
        422
    );

    let picture = call(&page, "draw_sales", "done").expect("done")["pictures"][0].as_str();
    let line = format!("GET {}", picture.expect("a picture"));
    let response = service.send(&line, &[("host", &service.address)], "");
    assert!(
        response.contains("image/png") && response.contains("PNG\r\n"),
        "{response}"
    );

    let twice = thread::scope(|scope| {
        let decide = || service.decide(&fingerprint, json!({"decision": "allow"}));
        let threads = [scope.spawn(decide), scope.spawn(decide)];
        let mut statuses = threads.map(|thread| thread.join().expect("a status"));
        statuses.sort_unstable();
        statuses
    });
    assert_eq!(twice, [200, 409]);
    let page = service.wait_until_idle();
    assert!(last_text(&page).starts_with("Done"), "{page:#}");
    let refund = call(&page, "refund_order", "done").expect("done");
    assert_eq!(refund["decisions"], json!(["Allowed by Ada"]));
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        409
    );
    assert_eq!(service.refunds(), [4800]);
}

#[test]
fn a_person_can_deny_a_call_or_change_its_arguments() {
    let service = Service::start();
    service.ask(QUESTION);
    let deny = json!({"decision": "deny", "reason": "not yet"});
    assert_eq!(service.decide(&service.wait(held), deny), 200);
    let page = service.wait_until_idle();
    let refund = call(&page, "refund_order", "denied").expect("denied");
    assert_eq!(refund["decisions"], json!(["Denied by Ada"]));
    assert!(refund["result"].as_str().expect("text").contains("not yet"));
    assert!(last_text(&page).contains("not refunded"), "{page:#}");

    service.ask(QUESTION);
    let fingerprint = service.wait(held);
    let change = |arguments: Value| {
        let arguments = arguments.to_string();
        service.decide(
            &fingerprint,
            json!({"decision": "change", "arguments": arguments}),
        )
    };
    assert_eq!(
        change(json!({"order": 1042, "cents": -1, "reason": "x"})),
        422
    );
    assert_eq!(service.wait(held), fingerprint);
    assert_eq!(
        change(json!({"order": 1042, "cents": 2500, "reason": "half"})),
        200
    );
    let page = service.wait_until_idle();
    let refund = call(&page, "refund_order", "done").expect("done");
    assert_eq!(refund["decisions"], json!(["Changed and allowed by Ada"]));
    assert_eq!(service.refunds(), [2500]);
}

/// Kills the service while the model writes, and while a call waits.
#[test]
fn a_conversation_goes_on_where_it_was_killed() {
    let mut service = Service::start();
    service.ask(QUESTION);
    service.wait(|page| page["items"].get(1).map(drop));
    service.kill();
    service.start_again();

    let fingerprint = service.wait(held);
    let before = service.wait_until_idle();
    service.kill();
    service.start_again();
    let after = service.wait_until_idle();
    assert_eq!(before["items"], after["items"]);
    assert_ne!(before["token"], after["token"]);

    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        200
    );
    let before = service.wait_until_idle();
    assert!(last_text(&before).starts_with("Done"), "{before:#}");
    service.kill();
    service.start_again();
    assert_eq!(service.wait_until_idle()["items"], before["items"]);
    assert_eq!(service.refunds(), [4800]);
}

#[test]
fn a_call_that_ran_during_a_kill_is_not_repeated() {
    let mut service = Service::with_delay("60000");
    service.ask(QUESTION);
    let fingerprint = service.wait(held);
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        200
    );
    // Saved as started before it runs.
    service.wait(|page| {
        call(page, "refund_order", "running")?["progress"]
            .as_str()
            .map(drop)
    });
    service.kill();
    service.start_again();
    // The model is told, looks whether the money is gone, and asks again.
    let page = service.wait(|page| held(page).map(|_| page.clone()));
    let items = page["items"].as_array().expect("items").iter();
    let mut results = items.filter_map(|item| item["result"].as_str());
    assert!(
        results.any(|text| text.contains("was interrupted")),
        "{page:#}"
    );
    assert!(service.refunds().is_empty());
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        409
    );
    let fingerprint = held(&page).expect("held");
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        200
    );
    assert!(last_text(&service.wait_until_idle()).starts_with("Done"));
    assert_eq!(service.refunds(), [4800]);
}

#[test]
fn stopping_cancels_and_a_new_conversation_is_empty() {
    let service = Service::start();
    service.ask(QUESTION);
    let fingerprint = service.wait(held);
    service.wait_until_idle();
    assert_eq!(service.post("/restart", &json!({})), 409);
    assert_eq!(service.post("/stop", &json!({})), 200);
    let page = service.wait_until_idle();
    assert_eq!(page["status"]["problem"], "Stopped.");
    assert!(call(&page, "refund_order", "failed").is_some(), "{page:#}");
    assert_eq!(
        service.decide(&fingerprint, json!({"decision": "allow"})),
        409
    );
    service.ask("Go on.");
    assert_eq!(service.post("/stop", &json!({})), 200);
    let page = service.wait_until_idle();
    assert_eq!(page["status"]["problem"], "Stopped.");
    assert_eq!(service.post("/restart", &json!({})), 200);
    assert_eq!(service.page()["items"], json!([]));
    service.ask("Hello?");
    assert!(last_text(&service.wait_until_idle()).starts_with("I am a recording"));
    assert!(service.refunds().is_empty());
}

#[test]
fn wrong_flags_end_with_a_message() {
    let service = Service::start();
    for (flags, said) in [
        (&["--listen", "0.0.0.0:0"][..], "no logins"),
        (&["--listen", "here"], "--listen"),
        (
            &["--listen", &service.address, "--database", ":memory:"],
            "can't listen on",
        ),
        (
            &["--database", "/nowhere/x.sqlite"],
            "can't open /nowhere/x.sqlite",
        ),
        (&["--script", "-"], "the script is not valid"),
        (&["--url", "http://localhost:1/v1"], "--model"),
        (&["--pace", "70000"], "--pace"),
    ] {
        assert_rejected("approvals", flags, "[", said);
    }
}
