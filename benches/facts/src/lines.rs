//! A client of a server that reads and writes messages as lines, as on standard input and output.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::Reply;

/// Time to wait for an answer. Answers take milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);

pub struct Client {
    runtime: Runtime,
    from: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    to: WriteHalf<DuplexStream>,
    last: u64,
}

impl Client {
    /// Starts a server and initializes it. The function is called inside a runtime.
    pub fn of(serve: impl FnOnce(DuplexStream)) -> Client {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let (near, far) = tokio::io::duplex(1 << 20);
        {
            let _inside = runtime.enter();
            serve(far);
        }
        let (from, to) = tokio::io::split(near);
        let from = BufReader::new(from).lines();
        let mut client = Client {
            runtime,
            from,
            to,
            last: 0,
        };
        let about = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "facts", "version": "0"},
        });
        client.ask("initialize", about).expect("a server");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let written = self.runtime.block_on(self.to.write_all(line.as_bytes()));
        // A server that is gone answers nothing.
        written.ok();
    }

    /// Sends a request and returns the answer, if one comes.
    fn ask(&mut self, method: &str, params: Value) -> Option<Value> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.runtime.block_on(async {
            loop {
                let line = timeout(PATIENCE, self.from.next_line()).await;
                let line = line.ok()?.ok()??;
                let message: Value = serde_json::from_str(&line).expect("JSON");
                if message["id"] == id {
                    return Some(message);
                }
            }
        })
    }

    /// Returns the list of tools.
    pub fn list(&mut self) -> Value {
        let answer = self.ask("tools/list", json!({}));
        answer.expect("an answer")["result"]["tools"].clone()
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        let params = json!({"name": tool, "arguments": arguments});
        let Some(answer) = self.ask("tools/call", params) else {
            return Reply::Nothing;
        };
        if let Some(error) = answer.get("error") {
            return Reply::Protocol(error["message"].as_str().unwrap_or_default().to_owned());
        }
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        if result["isError"] == true {
            Reply::Error(text.to_owned())
        } else {
            Reply::Result(text.to_owned())
        }
    }
}
