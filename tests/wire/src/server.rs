//! A local server that answers the requests of one run.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// What the server answers.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Set if the connection breaks off after the body.
    pub(crate) is_cut: bool,
}

/// A server that runs until the program ends.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The bodies of the requests.
    pub(crate) requests: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Starts a server, which calls `answer` with the number of each request, which counts from 0, and its body.
    pub(crate) fn start(
        answer: impl Fn(usize, &Value) -> Reply + Send + 'static,
    ) -> io::Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that hangs up early is none of our business.
                let _ = serve(stream, &kept, &answer);
            }
        });
        Ok(Server { url, requests })
    }
}

fn serve(
    mut stream: TcpStream,
    requests: &Mutex<Vec<Value>>,
    answer: &impl Fn(usize, &Value) -> Reply,
) -> io::Result<()> {
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line.trim_end().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let number = {
        let mut requests = requests
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        requests.push(body.clone());
        requests.len() - 1
    };
    let reply = answer(number, &body);
    let mut head = format!(
        "HTTP/1.1 {} Status\r\ncontent-type: {}\r\n",
        reply.status, reply.kind
    );
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    // A body that is cut off is shorter than its length.
    let length = reply.body.len() + usize::from(reply.is_cut);
    head += &format!("content-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&reply.body)
}
