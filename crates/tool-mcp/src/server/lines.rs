//! Reads messages that are lines, and calls over HTTP.
//!
//! `rmcp` tries one kind of request after the other on a copy of each message. Nearly all messages are calls,
//! so these are read here, in one pass. Their arguments stay text: they are decoded once, by the tool, and
//! integers of more than 64 bits stay exact. All other messages are read by `rmcp`.

use std::collections::VecDeque;
use std::io;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetExtensions,
    InputResponses, JsonObject, RequestId, RequestMetaObject, ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::lines::{Line, Lines, Outline, Sending};

/// The longest message, as with `rmcp`. A longer one is dropped.
const LONGEST: usize = 16 << 20;

pub(super) const CALL: &str = "tools/call";

/// The arguments of a call as JSON text, in the extensions of its request.
#[derive(Clone)]
pub(super) struct RawArguments(pub(super) String);

/// Returns the arguments of a call as they are in a message.
#[cfg(feature = "server-http")]
pub(super) fn arguments_in(message: &[u8]) -> Option<String> {
    let line: CallLine<'_> = serde_json::from_slice(message).ok()?;
    Some(line.params.arguments?.get().to_owned())
}

pub(super) struct LineTransport<R, W> {
    lines: Lines<R, W>,
    /// The messages of a batch that are not returned yet.
    batch: VecDeque<Read>,
    /// The response to a bad message. Kept here, because `receive` may be dropped and called again.
    pending: Option<Sending>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(input: R, output: W) -> LineTransport<R, W> {
        LineTransport {
            lines: Lines::new(input, output, LONGEST),
            batch: VecDeque::new(),
            pending: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.lines.send(&message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(pending) = &mut self.pending {
                let sent = pending.await;
                self.pending = None;
                sent.ok()?;
            }
            let next = match self.batch.pop_front() {
                Some(message) => Ok(Err(message)),
                None => self.lines.next().await.map(Ok),
            };
            let message = match next {
                Ok(Err(message)) => message,
                Ok(Ok(Some(Line::Whole(line)))) => {
                    let message = match read_batch(&line) {
                        Some(batch) => {
                            self.batch = batch;
                            Ok(None)
                        }
                        None => read(&line),
                    };
                    self.lines.reuse(line);
                    message
                }
                Ok(Ok(Some(Line::TooLong(outline)))) => {
                    tracing::error!("dropped a message of more than {LONGEST} bytes");
                    let reason = format!("the message has more than {LONGEST} bytes");
                    match outline.request_id() {
                        Some(id) => reject(Some(id), ErrorData::invalid_request(reason, None)),
                        None => Ok(None),
                    }
                }
                Ok(Ok(None)) => return None,
                Err(error) => {
                    tracing::error!(%error, "can't read messages");
                    return None;
                }
            };
            match message {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(rejected) => {
                    let Rejected { id, error } = *rejected;
                    let message = ServerJsonRpcMessage::error(error, id);
                    self.pending = Some(self.lines.send(&message));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await;
        Ok(())
    }
}

/// A message that gets an error as its response.
#[derive(Debug)]
struct Rejected {
    id: Option<RequestId>,
    error: ErrorData,
}

/// Returns the error for a message.
fn reject<T>(id: Option<&RequestId>, error: ErrorData) -> Result<T, Box<Rejected>> {
    Err(Box::new(Rejected {
        id: id.cloned(),
        error,
    }))
}

/// A message, `None` for a line without one.
type Read = Result<Option<ClientJsonRpcMessage>, Box<Rejected>>;

/// The most messages of a batch.
const LARGEST_BATCH: usize = 1000;

/// Reads a batch, a form of version 2025-03-26 of the protocol. Each request gets a separate response.
/// Returns `None` for anything else.
fn read_batch(line: &[u8]) -> Option<VecDeque<Read>> {
    if !line.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(line).ok()?;
    let is_batch = (1..=LARGEST_BATCH).contains(&messages.len());
    let read = |message: &&RawValue| read(message.get().as_bytes());
    is_batch.then(|| messages.iter().map(read).collect())
}

/// Reads a message. Returns `None` for a line without one.
fn read(line: &[u8]) -> Read {
    // JSON may start with a byte order mark (RFC 8259, section 8.1).
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(message) = read_call(line) {
        return Ok(Some(message));
    }
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    // The text of the error may quote the message.
    let (kind, column) = (error.classify(), error.column());
    tracing::debug!(?kind, column, "rejected a message");
    let outline = Outline::of(line);
    let id = outline.request_id();
    if matches!(kind, Category::Data) {
        let error = ErrorData::invalid_request("Invalid request", None);
        return reject(id, error);
    }
    // Without an id there is no response, because a client that echoes it would get another one. Other
    // implementations ignore such input too.
    let Some(id) = id else {
        return Ok(None);
    };
    let message = format!("Parse error at column {column}");
    reject(Some(id), ErrorData::parse_error(message, None))
}

/// A call, as most clients write it. Anything else is read by `rmcp`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine<'l> {
    jsonrpc: &'l str,
    id: RequestId,
    method: &'l str,
    #[serde(borrow)]
    params: CallParams<'l>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'l> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'l RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

pub(super) fn read_call(line: &[u8]) -> Option<ClientJsonRpcMessage> {
    let CallLine {
        jsonrpc,
        id,
        method,
        params,
    } = serde_json::from_slice(line).ok()?;
    if jsonrpc != "2.0" || method != CALL {
        return None;
    }
    let arguments = match params.arguments.map(RawValue::get) {
        Some(object) if object.starts_with('{') => Some(object.to_owned()),
        Some(_) => return None,
        None => None,
    };
    let mut call = CallToolRequestParams::new(params.name);
    call.input_responses = params.input_responses;
    call.request_state = params.request_state;
    let mut request = CallToolRequest::new(call);
    let extensions = request.extensions_mut();
    if let Some(meta) = params.meta {
        extensions.insert(RequestMetaObject::from(meta));
    }
    if let Some(arguments) = arguments {
        extensions.insert(RawArguments(arguments));
    }
    let request = ClientRequest::CallToolRequest(request);
    Some(ClientJsonRpcMessage::request(request, id))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    use super::*;

    /// Returns a message as `rmcp` would have read it.
    fn with_arguments(mut message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
        if let ClientJsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::CallToolRequest(call) = &mut request.request
            && let Some(RawArguments(text)) = call.extensions.remove()
        {
            call.params.arguments = serde_json::from_str(&text).unwrap();
        }
        message
    }

    #[test]
    fn calls_are_read_as_rmcp_reads_them() {
        let mut fast = 0;
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"b":3,"a":[{}]}}}"#,
            r#"{"method":"tools/call","params":{"name":"a\u0064d"},"id":"x","jsonrpc":"2.0"}"#,
            r#" {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":null,"_meta":{"progressToken":3}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","extra":1,"requestState":"s","inputResponses":{"k":{"action":"accept"}}}}"#,
            // Not calls, or not quite.
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"tools/call","params":{"name":"add"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"add"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            "[]",
            "{",
        ] {
            let text = |message: ClientJsonRpcMessage| format!("{message:?}");
            fast += usize::from(read_call(line.trim().as_bytes()).is_some());
            let ours = read(line.as_bytes()).ok().flatten().map(with_arguments);
            let theirs = serde_json::from_str(line).ok();
            assert_eq!(ours.map(text), theirs.map(text), "{line}");
        }
        assert_eq!(fast, 4);
    }

    #[tokio::test]
    async fn every_line_with_an_id_has_a_response_and_batches_are_read() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let deep = format!(
            r#"{{"id":7,"method":"x","params":{}1{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let lines = [
            r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":"three","method":"ping","params":{"#,
            r#"{"id":4,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":5}"#,
            &*format!(r#"[{ping},{{"jsonrpc":"2.0","id":6}},{ping}]"#),
            &*deep,
            // Responses, and noise.
            r#"{"jsonrpc":"2.0","id":8,"result":NaN}"#,
            "noise",
        ];
        let input = std::io::Cursor::new(format!("{}\n", lines.join("\n")));
        let (output, far) = tokio::io::duplex(64 * 1024);
        let mut transport = LineTransport::new(input, output);
        let mut pings = 0;
        while let Some(message) = transport.receive().await {
            assert_eq!(serde_json::to_string(&message).unwrap(), ping);
            pings += 1;
        }
        assert_eq!(pings, 2);
        drop(transport);
        let mut responses = BufReader::new(far).lines();
        let mut ids = Vec::new();
        while let Some(line) = responses.next_line().await.unwrap() {
            let response: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert!(response["error"]["code"].is_i64(), "{line}");
            ids.push(response["id"].to_string());
        }
        assert_eq!(ids, ["2", "\"three\"", "4", "5", "6", "7"]);
    }

    #[tokio::test]
    async fn lines_are_read_whole_and_bad_ones_do_not_end_the_connection() {
        let (near, far) = tokio::io::duplex(8);
        let (input, output) = tokio::io::split(far);
        let mut transport = LineTransport::new(input, output);
        transport.lines.set_longest(100);
        let (mut reading, mut writing) = tokio::io::split(near);
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let mut text = format!("\r\n{{\n\u{feff}{ping}\r\n5\n");
        text.push_str(&"x".repeat(101));
        text.push('\n');
        text.push_str(ping);
        text.push('\n');
        text.push_str("{\"jsonrpc\"");
        let writer = tokio::spawn(async move { writing.write_all(text.as_bytes()).await });
        let reader = tokio::spawn(async move {
            let mut line = String::new();
            BufReader::new(&mut reading)
                .read_line(&mut line)
                .await
                .unwrap();
            line
        });
        for _ in 0..2 {
            // Dropped and called again, like in a `select!`.
            let message = loop {
                tokio::select! {
                    biased;
                    () = tokio::task::yield_now() => {}
                    message = transport.receive() => break message,
                }
            };
            let message = serde_json::to_string(&message.unwrap()).unwrap();
            assert_eq!(message, ping);
        }
        writer.await.unwrap().unwrap();
        // The line of the number.
        let response = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request"}}"#;
        assert_eq!(reader.await.unwrap().trim(), response);
        assert!(transport.receive().await.is_none());
    }
}
