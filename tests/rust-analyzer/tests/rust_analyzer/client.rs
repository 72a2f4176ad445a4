//! A client of rust-analyzer: starts it for a project, sends requests, and awaits answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// How many requests are under way at once: rust-analyzer answers on several threads.
const UNDER_WAY: usize = 8;

/// A language server with a folder of packages.
pub(crate) struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    root: String,
    opened: BTreeSet<String>,
    /// The names of the types of highlighted tokens.
    pub(crate) highlights: Value,
}

impl Client {
    /// Starts rust-analyzer in a folder, and waits until it has loaded the packages of these manifests, with all their features.
    pub(crate) fn open(folder: &Path, manifests: &[&str], sources: &Path) -> Client {
        let mut command = Command::new("rust-analyzer");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // What it logs is about its own progress.
        command.stderr(Stdio::null());
        let mut process = command.spawn().expect("rust-analyzer is installed");
        let root = format!("file://{}", folder.display());
        let manifests = manifests.iter().map(|manifest| folder.join(manifest));
        let mut client = Client {
            input: process.stdin.take().expect("it is piped"),
            output: BufReader::new(process.stdout.take().expect("it is piped")),
            process,
            next: 0,
            root: root.clone(),
            opened: BTreeSet::new(),
            highlights: Value::Null,
        };
        let completion = json!({"completionItem": {"documentationFormat": ["markdown"], "resolveSupport": {"properties": ["documentation"]}}});
        let answer = client.request(
            "initialize",
            json!({
                "processId": std::process::id(),
                "rootUri": root,
                "capabilities": {
                    "general": {"positionEncodings": ["utf-8"]},
                    "experimental": {"serverStatusNotification": true},
                    "window": {"workDoneProgress": false},
                    "textDocument": {
                        "completion": completion,
                        "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                        "hover": {"contentFormat": ["markdown"]},
                        "diagnostic": {},
                    },
                },
                "initializationOptions": {
                    "cachePriming": {"enable": false},
                    "checkOnSave": false,
                    "cargo": {"features": "all", "sysrootSrc": sources},
                    // Among these is `type-mismatch`.
                    "diagnostics": {"experimental": {"enable": true}},
                    "linkedProjects": manifests.collect::<Vec<_>>(),
                },
            }),
        );
        let provider = &answer["capabilities"]["semanticTokensProvider"];
        client.highlights = provider["legend"]["tokenTypes"].clone();
        client.send(json!({"method": "initialized", "params": {}}));
        while client.receive()["params"]["quiescent"] != true {}
        client
    }

    /// Sends a request, and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let mut answers = self.requests(method, vec![params]);
        answers.pop().expect("an answer")
    }

    /// Sends requests, and returns their results in this order.
    pub(crate) fn requests(&mut self, method: &str, all: Vec<Value>) -> Vec<Value> {
        let mut answers = vec![Value::Null; all.len()];
        let mut waiting: Vec<_> = all.into_iter().enumerate().rev().collect();
        let mut sent = BTreeMap::new();
        loop {
            while sent.len() < UNDER_WAY
                && let Some((at, params)) = waiting.pop()
            {
                self.next += 1;
                self.send(json!({"id": self.next, "method": method, "params": params.clone()}));
                sent.insert(self.next, (at, params));
            }
            if sent.is_empty() {
                return answers;
            }
            let message = self.receive();
            if message.get("method").is_some() {
                continue;
            }
            let id = message["id"].as_u64().expect("the number of a request");
            let (at, params) = sent.remove(&id).expect("a request");
            let Some(error) = message.get("error") else {
                answers[at] = message["result"].clone();
                continue;
            };
            // The server cancels what it worked on when it learns more of the project.
            let is_cancelled = [-32801, -32802].map(Value::from).contains(&error["code"]);
            assert!(is_cancelled, "{method}: {error}");
            waiting.push((at, params));
        }
    }

    /// Asks about a position in a file.
    pub(crate) fn at(
        &mut self,
        what: &str,
        file: &str,
        (line, column): (usize, usize),
        more: &Value,
    ) -> Value {
        let mut params = json!({
            "textDocument": {"uri": self.uri(file)},
            "position": {"line": line, "character": column},
        });
        let more = more.as_object().cloned().unwrap_or_default();
        params.as_object_mut().expect("it is one").extend(more);
        self.request(&format!("textDocument/{what}"), params)
    }

    /// Shows a file, or its new text.
    pub(crate) fn show(&mut self, file: &str, text: &str) {
        let uri = self.uri(file);
        self.next += 1;
        let version = self.next;
        let message = if self.opened.insert(file.to_owned()) {
            let document =
                json!({"uri": uri, "languageId": "rust", "version": version, "text": text});
            json!({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        } else {
            let document = json!({"uri": uri, "version": version});
            let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            json!({"method": "textDocument/didChange", "params": params})
        };
        self.send(message);
    }

    /// Returns the CPU time of rust-analyzer and of the process in which it runs macros, where `/proc` has it.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let id = self.process.id();
        let mut ticks = 0;
        for entry in fs::read_dir("/proc").ok()? {
            let Ok(text) = fs::read_to_string(entry.ok()?.path().join("stat")) else {
                continue;
            };
            let (number, rest) = text.split_once(" (")?;
            // After the name: the state, the number of the parent, and 9 and 10 fields later the times.
            let (_, rest) = rest.rsplit_once(") ")?;
            let fields: Vec<_> = rest.split(' ').collect();
            if number == id.to_string() || fields[1] == id.to_string() {
                ticks += fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
            }
        }
        // A tick is 10 ms in all builds of Linux.
        Some(Duration::from_millis(10 * ticks))
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        format!("{}/{file}", self.root)
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .expect("rust-analyzer reads");
        self.input.flush().expect("rust-analyzer reads");
    }

    /// Returns the next message, and answers it if it is a request.
    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("text");
            assert!(!line.is_empty(), "rust-analyzer ended");
            match line.trim().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("a number"),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a whole message");
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        if message.get("method").is_some() && message.get("id").is_some() {
            self.send(json!({"id": message["id"], "result": null}));
        }
        message
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
