//! A local HTTP server that answers each request by what it says, or with the next function of a list.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// Writes a response.
pub(crate) type Answer = Box<dyn FnOnce(&mut TcpStream) -> std::io::Result<()> + Send>;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }
}

pub(crate) struct Server {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    pub(crate) fn start(answers: impl IntoIterator<Item = Answer>) -> Server {
        let answers: VecDeque<_> = answers.into_iter().collect();
        let answers = Mutex::new(answers);
        Server::answering(move |_| {
            let answer = answers.lock().unwrap().pop_front();
            answer.unwrap_or_else(|| status("500 No More Answers", "", ""))
        })
    }

    pub(crate) fn answering(
        respond: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        let respond = Arc::new(respond);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (kept, respond) = (Arc::clone(&kept), Arc::clone(&respond));
                thread::spawn(move || {
                    let Some(request) = read(&stream) else {
                        return;
                    };
                    kept.lock().unwrap().push(request.clone());
                    // The client may hang up early.
                    let _ = respond(&request)(&mut stream);
                });
            }
        });
        Server { url, received }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut text = String::new();
    reader.take(length).read_to_string(&mut text).ok()?;
    Some(Received {
        method,
        path,
        headers,
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
    })
}

/// Answers with a status, headers that each end with a line break, and a body.
pub(crate) fn status(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref().to_vec();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Box::new(move |stream| {
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)
    })
}

pub(crate) const JSON: &str = "content-type: application/json; charset=utf-8\r\n";
pub(crate) const HTML: &str = "content-type: text/html\r\n";
pub(crate) const EVENTS: &str = "content-type: text/event-stream\r\n";

pub(crate) fn json(body: &Value) -> Answer {
    status("200 OK", JSON, body.to_string())
}

/// Returns events as a provider writes them.
pub(crate) fn lines(events: &[Value]) -> String {
    let mut text = String::from(": welcome\n\n");
    for event in events {
        if let Some(name) = event["type"].as_str() {
            let _ = writeln!(text, "event: {name}");
        }
        let _ = write!(text, "data: {event}\n\n");
    }
    text
}

/// Answers with a body of unknown length, in these pieces. It is ended as HTTP says, or breaks off.
pub(crate) fn chunked(headers: &'static str, pieces: Vec<Vec<u8>>, is_ended: bool) -> Answer {
    Box::new(move |stream| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\n{headers}transfer-encoding: chunked\r\n\r\n"
        )?;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            write!(stream, "{:x}\r\n", piece.len())?;
            stream.write_all(piece)?;
            stream.write_all(b"\r\n")?;
            stream.flush()?;
        }
        if is_ended {
            stream.write_all(b"0\r\n\r\n")?;
        }
        Ok(())
    })
}

/// Answers with a stream of server-sent events, split at every `size` bytes.
pub(crate) fn events(events: &[Value], size: usize, is_ended: bool) -> Answer {
    let text = lines(events) + if is_ended { "data: [DONE]\n\n" } else { "" };
    let pieces = text.as_bytes().chunks(size).map(<[u8]>::to_vec);
    chunked(EVENTS, pieces.collect(), is_ended)
}

/// Repeats a piece until the client hangs up.
pub(crate) fn endless(headers: &'static str, piece: &'static [u8], pause: u64) -> Answer {
    Box::new(move |stream| {
        write!(
            stream,
            "HTTP/1.1 200 OK\r\n{headers}connection: close\r\n\r\n"
        )?;
        loop {
            stream.write_all(piece)?;
            thread::sleep(std::time::Duration::from_millis(pause));
        }
    })
}

/// Writes the start of a response and waits until the client hangs up.
pub(crate) fn stalled(start: &'static str) -> Answer {
    Box::new(move |stream| {
        stream.write_all(start.as_bytes())?;
        stream.read(&mut [0]).map(drop)
    })
}
