//! A local HTTP server that answers from a script.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

/// Answers each request with the next response of the script, until the program ends.
///
/// A response with a text `after` is skipped unless the last message of the request contains that text: so a script
/// can answer differently if a call was denied, or if a tool is missing.
///
/// A response with an `error` is sent with the `status` in it, or with 400, and so is the answer to each request
/// after the end of the script. A request for a stream gets the response as server-sent events.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The path of its URL.
    pub path: String,
    /// Its body.
    pub body: Value,
}

impl Scripted {
    /// Starts to serve these responses.
    ///
    /// # Errors
    ///
    /// Returns an error if no local port is free.
    pub fn serve(responses: Vec<Value>) -> io::Result<Scripted> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let keeper = Arc::clone(&asked);
        thread::spawn(move || {
            let mut responses = responses;
            for stream in listener.incoming().flatten() {
                // The client may hang up early.
                let _ = answer(&stream, &mut responses, &keeper);
            }
        });
        Ok(Scripted { address, asked })
    }

    /// Returns the base URL: `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.clone()
    }
}

fn answer(
    mut stream: &TcpStream,
    responses: &mut Vec<Value>,
    keeper: &Mutex<Vec<Asked>>,
) -> io::Result<()> {
    let asked = read(stream)?;
    let is_streamed = asked.body["stream"] == true;
    let response = match asked.body {
        Value::Null => json!({ "error": { "message": "the body is not JSON" } }),
        _ => next(responses, &asked.body)
            .unwrap_or_else(|| json!({ "error": { "message": "the script has ended" } })),
    };
    keeper
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(asked);
    let status = match response.get("error") {
        // A successful response may have `"error": null`.
        None | Some(Value::Null) => 200,
        Some(error) => error["status"].as_u64().unwrap_or(400),
    };
    let events = events(&response);
    if is_streamed && !events.is_empty() {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        for event in events {
            stream.write_all(format!("data: {event}\n\n").as_bytes())?;
        }
        return stream.write_all(b"data: [DONE]\n\n");
    }
    let body = response.to_string();
    let head = format!(
        "HTTP/1.1 {status} \r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Removes the next response that fits the request, and those before it.
fn next(responses: &mut Vec<Value>, body: &Value) -> Option<Value> {
    let messages = body.get("input").or(body.get("messages"));
    let last = messages
        .and_then(Value::as_array)
        .and_then(|all| all.last());
    let last = last.map(Value::to_string).unwrap_or_default();
    let fits = |response: &Value| match &response["after"] {
        Value::String(text) => last.contains(&**text),
        _ => true,
    };
    let index = responses.iter().position(fits)?;
    let mut response = responses.drain(..=index).next_back()?;
    if let Some(fields) = response.as_object_mut() {
        fields.remove("after");
    }
    Some(response)
}

/// Returns the events with which OpenAI streams a response, in the format of the API of the response.
/// There are none for a response that is neither.
fn events(response: &Value) -> Vec<Value> {
    match (&response["output"], &response["choices"][0]["message"]) {
        (Value::Array(items), _) => response_events(response, items),
        (_, message @ Value::Object(_)) => chunks(message),
        _ => Vec::new(),
    }
}

fn response_events(response: &Value, items: &[Value]) -> Vec<Value> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": response["id"]}})];
    for (index, item) in items.iter().enumerate() {
        let mut push = |mut event: Value| {
            event["output_index"] = index.into();
            events.push(event);
        };
        push(json!({"type": "response.output_item.added", "item": item}));
        for part in item["content"].as_array().into_iter().flatten() {
            for piece in words(&part["text"]) {
                push(json!({"type": "response.output_text.delta", "delta": piece}));
            }
        }
        for piece in words(&item["arguments"]) {
            push(json!({"type": "response.function_call_arguments.delta", "delta": piece}));
        }
        push(json!({"type": "response.output_item.done", "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": response}));
    events
}

fn chunks(message: &Value) -> Vec<Value> {
    let chunk = |delta: Value, reason: Value| {
        json!({"object": "chat.completion.chunk",
               "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let mut chunks = vec![chunk(json!({"role": "assistant"}), Value::Null)];
    for piece in words(&message["content"]) {
        chunks.push(chunk(json!({ "content": piece }), Value::Null));
    }
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let mut start = call.clone();
        start["index"] = index.into();
        start["function"]["arguments"] = "".into();
        chunks.push(chunk(json!({ "tool_calls": [start] }), Value::Null));
        for piece in words(&call["function"]["arguments"]) {
            let piece = json!({"index": index, "function": {"arguments": piece}});
            chunks.push(chunk(json!({ "tool_calls": [piece] }), Value::Null));
        }
    }
    let has_calls = message["tool_calls"].is_array();
    let reason = if has_calls { "tool_calls" } else { "stop" };
    chunks.push(chunk(json!({}), reason.into()));
    chunks
}

fn words(text: &Value) -> impl Iterator<Item = &str> {
    text.as_str().unwrap_or_default().split_inclusive(' ')
}

/// Reads one request: the path, the content length and the body.
fn read(stream: &TcpStream) -> io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let header = line.trim_end();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    let body = serde_json::from_str(&body).unwrap_or_default();
    Ok(Asked { path, body })
}
