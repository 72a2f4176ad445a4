//! Receives the browser of a user who has signed in.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

const PATH: &str = "/callback";

/// Connections at a time. Browsers open a few, with and without requests.
const MAX_CONNECTIONS: usize = 16;

/// A code and where it is from.
pub(super) struct Callback {
    pub(super) code: String,
    pub(super) state: String,
    pub(super) issuer: Option<String>,
}

/// Why a redirect is not the end of a sign-in.
#[derive(Debug, PartialEq)]
pub(super) enum Refused {
    /// It does not belong to the sign-in: anybody can send it.
    Foreign(&'static str),
    /// The authorization server says no.
    Denied(String),
}

/// Words what an authorization server answered in place of a code.
pub(super) fn denied(error: &str) -> String {
    format!("the authorization server or the user refused: {error}")
}

impl Callback {
    /// Reads a redirect of the sign-in with a `state`.
    pub(super) fn read(url: &Url, state: &str) -> Result<Callback, Refused> {
        let mut values = HashMap::new();
        for (key, value) in url.query_pairs() {
            if values.insert(key, value).is_some() {
                return Err(Refused::Foreign("it has a parameter twice"));
            }
        }
        match values.get("state") {
            Some(given) if given == state => {}
            Some(_) => return Err(Refused::Foreign("its `state` is of another sign-in")),
            None => return Err(Refused::Foreign("it has no `state`")),
        }
        if let Some(error) = values.get("error") {
            let description = values.get("error_description");
            let description = description.map(|text| format!(": {text}"));
            return Err(Refused::Denied(format!(
                "{error}{}",
                description.unwrap_or_default()
            )));
        }
        let code = values
            .remove("code")
            .ok_or(Refused::Foreign("it has no `code`"))?;
        Ok(Callback {
            code: code.into_owned(),
            state: state.to_owned(),
            issuer: values.remove("iss").map(Cow::into_owned),
        })
    }
}

/// Waits for the browser on a port of this machine.
pub(super) struct Listener {
    listener: TcpListener,
    pub(super) url: String,
}

impl Listener {
    /// Binds a port, or any free one.
    pub(super) async fn bind(port: Option<u16>) -> io::Result<Listener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let url = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Listener { listener, url })
    }

    /// Waits for the redirect of the sign-in with a `state`. Others are answered, and change nothing.
    pub(super) async fn wait(self, state: &str) -> Result<Callback, String> {
        let (sender, mut received) = mpsc::channel(1);
        let handler = Arc::new(Handler {
            url: self.url,
            state: state.to_owned(),
            received: sender,
        });
        let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        // Ends with this future.
        let mut connections = JoinSet::new();
        let accepting = async {
            loop {
                let Ok(free) = free.clone().acquire_owned().await else {
                    return;
                };
                let Ok((stream, _)) = self.listener.accept().await else {
                    // Such as too many open files.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                let handler = handler.clone();
                connections.spawn(async move {
                    let answer = service_fn(|request| {
                        let answer = handler.answer(&request);
                        async move { Ok::<_, Infallible>(answer) }
                    });
                    let connection = hyper::server::conn::http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(Duration::from_secs(10))
                        .max_buf_size(64 << 10)
                        .keep_alive(false)
                        .serve_connection(TokioIo::new(stream), answer);
                    let _ = connection.await;
                    drop(free);
                });
                while connections.try_join_next().is_some() {}
            }
        };
        let answer = tokio::select! {
            answer = received.recv() => answer,
            () = accepting => None,
        };
        // The page is still on its way to the browser.
        let _ = tokio::time::timeout(Duration::from_secs(1), async {
            while connections.join_next().await.is_some() {}
        })
        .await;
        answer.unwrap_or_else(|| Err("the port is closed".into()))
    }
}

struct Handler {
    url: String,
    state: String,
    received: mpsc::Sender<Result<Callback, String>>,
}

impl Handler {
    fn answer(&self, request: &Request<Incoming>) -> Response<String> {
        let query = request.uri().query().unwrap_or_default();
        let url = Url::parse(&format!("{}?{query}", self.url));
        let (Ok(url), PATH, &Method::GET) = (url, request.uri().path(), request.method()) else {
            return page(StatusCode::NOT_FOUND, "There is nothing here.");
        };
        match Callback::read(&url, &self.state) {
            Ok(callback) => {
                let _ = self.received.try_send(Ok(callback));
                let text = "You can close this page and go back to the program.";
                page(StatusCode::OK, text)
            }
            Err(Refused::Denied(error)) => {
                let _ = self.received.try_send(Err(denied(&error)));
                let text = "You are not signed in. Go back to the program to see why.";
                page(StatusCode::OK, text)
            }
            Err(Refused::Foreign(_)) => {
                let text = "This page does not belong to a sign-in that is going on.";
                page(StatusCode::BAD_REQUEST, text)
            }
        }
    }
}

/// Returns a page that repeats nothing of the request.
fn page(status: StatusCode, text: &str) -> Response<String> {
    let html = format!("<!doctype html><meta charset=utf-8><title>Sign-in</title><p>{text}</p>\n");
    let mut response = Response::new(html);
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        let value = hyper::header::HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}
