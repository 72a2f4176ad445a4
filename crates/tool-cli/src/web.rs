//! `web`: serves a page to read about the tools and call them.
//!
//! The page is only for the person who started the program. Any page in the same browser can send requests to this
//! machine, so the address has a token, and requests without it, for other hosts or from other sites are refused.

// axum's handlers are async, and `Err` is the response itself.
#![allow(clippy::unused_async, clippy::result_large_err)]

mod browser;
mod questions;

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use futures_util::stream;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tool_core::call::{CancellationToken, Progress};
use tool_core::content::Content;
use tool_core::hooks::{Decision, Hold};
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolError, ToolResult};
use tool_docs::Docs;

use self::questions::{Asker, Given, Questions, Taken};
use crate::cli::Cli;
use crate::failure::Failure;
use crate::registry::runtime;
use crate::terminal::Terminal;

/// Maximum size of a request body in bytes.
const MAX_BODY: usize = 1 << 20;

/// Maximum number of calls that run or wait for a decision.
const MAX_CALLS: usize = 64;

/// Maximum number of progress messages that wait for the browser. Further ones are dropped.
const MAX_WAITING: usize = 64;

/// Number of random bytes in a token.
const TOKEN_BYTES: usize = 16;

/// The icon is a prompt in a square.
const HEAD: &str = concat!(
    "<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
     %3Crect width='16' height='16' rx='4' fill='%230b57b0'/%3E%3Cpath d='M4 5l3 3-3 3M8.5 11H12' fill='none' \
     stroke='white' stroke-width='1.6'/%3E%3C/svg%3E\">\n",
    "<link rel=\"stylesheet\" href=\"live.css\">\n<script src=\"live.js\" defer></script>\n",
);

pub(crate) fn command() -> Command {
    Command::new("web")
        .about("Serves a page on which you call the tools, to this machine alone")
        .arg(
            Arg::new("address")
                .long("address")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .default_value("127.0.0.1:0")
                .help("Serve at this loopback address; port 0 is a free one"),
        )
        .arg(
            Arg::new("open")
                .long("open")
                .action(ArgAction::SetTrue)
                .help("Open the page in your browser"),
        )
}

pub(crate) fn run(cli: Cli, builder: RegistryBuilder, matches: &ArgMatches) -> Result<(), Failure> {
    let Some(&address) = matches.get_one::<SocketAddr>("address") else {
        return Err(Failure::wrong("name an address"));
    };
    if !address.ip().is_loopback() {
        return Err(Failure::wrong(format!(
            "--address {address}: the page runs tools, so it is served at loopback addresses alone, such as 127.0.0.1:8080"
        )));
    }
    let title = cli.program();
    let registry = cli.registry(builder)?;
    let (token, ticket) = (token()?, token()?);
    let is_opened = matches.get_flag("open");
    runtime(2)?.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await;
        let listener = listener
            .map_err(|error| Failure::failed(format!("can't listen at {address}: {error}")))?;
        let bound = listener.local_addr().map_err(Failure::failed)?;
        writeln!(Terminal::stderr(), "open http://{bound}/{token}/")?;
        // The queue of the listener keeps the browser's request until the server runs.
        if is_opened {
            browser::open(&format!("http://{bound}/{ticket}/"));
        }
        let web = Arc::new(Web {
            registry,
            title,
            hosts: hosts(bound),
            token,
            ticket: Mutex::new(is_opened.then_some(ticket)),
            calls: Mutex::default(),
            questions: Questions::default(),
        });
        axum::serve(listener, router(web))
            .await
            .map_err(Failure::failed)
    })
}

/// Returns a random token for an address.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::failed(format!("the system has no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the `Host` values of requests to an address.
fn hosts(bound: SocketAddr) -> Vec<String> {
    let mut hosts = vec![bound.to_string(), format!("localhost:{}", bound.port())];
    // Browsers omit the default port of `http`.
    let short = hosts.iter().filter_map(|host| host.strip_suffix(":80"));
    let short: Vec<_> = short.map(str::to_owned).collect();
    hosts.extend(short);
    hosts
}

struct Web {
    registry: Registry,
    title: String,
    hosts: Vec<String>,
    token: String,
    /// Replaces the token in one request, which is redirected. Other users of the machine can read the arguments that a
    /// browser is started with, so the token must not be there.
    ticket: Mutex<Option<String>>,
    /// The calls that run or wait for a decision, by id.
    calls: Mutex<HashMap<String, Open>>,
    questions: Questions,
}

/// A call that has not ended yet.
enum Open {
    Running(CancellationToken),
    Held(Box<(ToolCall, Hold)>),
}

impl Web {
    /// Returns whether a request has the ticket, which is then used.
    fn takes(&self, given: &str) -> bool {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        ticket.take_if(|ticket| is_same(given, ticket)).is_some()
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn router(web: Arc<Web>) -> Router {
    let pages = Router::new()
        .route("/", get(page))
        .route("/live.js", get(script))
        .route("/live.css", get(style))
        .route("/validate", post(validate))
        .route("/call", post(call))
        .route("/decide", post(decide))
        .route("/answer", post(answer))
        .route("/cancel", post(cancel));
    // All paths contain the token.
    let root = format!("/{}", web.token);
    Router::new()
        .nest(&format!("{root}/"), pages)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(web.clone(), guard))
        .with_state(web)
}

/// Returns a response other than 200, with the reason.
fn refused(status: StatusCode, reason: &str) -> Response {
    (status, format!("{reason}\n")).into_response()
}

/// Refuses requests that do not come from the page, and restricts how browsers may use the responses.
async fn guard(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let mut response = match problem(&web, &request) {
        Some(response) => response,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // The page has a stricter policy in its head. Browsers obey both.
        (
            header::CONTENT_SECURITY_POLICY,
            "object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the response to a request that is not for a page or from one.
fn problem(web: &Web, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(drop),
            (Some(_), Some(_)) => Err(()),
        }
    };
    // Another host name that resolves to this machine would let a site bypass the same-origin policy.
    let Ok(Some(host)) = one(header::HOST) else {
        return Some(refused(
            StatusCode::BAD_REQUEST,
            "the request has no `Host`, or several",
        ));
    };
    if !web.hosts.iter().any(|known| known == host) {
        return Some(refused(
            StatusCode::FORBIDDEN,
            "the request is for another host; open the address that the program wrote",
        ));
    }
    match one(header::ORIGIN) {
        Ok(None) => {}
        Ok(Some(origin)) if origin.strip_prefix("http://") == Some(host) => {}
        _ => {
            return Some(refused(
                StatusCode::FORBIDDEN,
                "the request comes from another site",
            ));
        }
    }
    let given = request.uri().path().split('/').nth(1).unwrap_or_default();
    if web.takes(given) {
        return Some(Redirect::to(&format!("/{}/", web.token)).into_response());
    }
    if !is_same(given, &web.token) {
        return Some(refused(
            StatusCode::FORBIDDEN,
            "the address has no valid token; open the one that the program wrote",
        ));
    }
    // Other sites can send some media types without a preflight request.
    let is_json = matches!(one(header::CONTENT_TYPE), Ok(Some("application/json")));
    if !request.method().is_safe() && !is_json {
        return Some(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is to be `application/json`",
        ));
    }
    None
}

/// Compares tokens in constant time.
fn is_same(given: &str, token: &str) -> bool {
    let pairs = given.bytes().zip(token.bytes());
    given.len() == token.len() && pairs.fold(0, |all, (left, right)| all | (left ^ right)) == 0
}

async fn page(State(web): State<Arc<Web>>) -> Response {
    let docs = Docs::new(&web.registry).title(&*web.title);
    #[cfg(feature = "tokens")]
    let docs = docs.tokens();
    typed("text/html; charset=utf-8", docs.to_served_html(HEAD))
}

async fn script() -> Response {
    typed(
        "text/javascript; charset=utf-8",
        include_str!("web/live.js"),
    )
}

async fn style() -> Response {
    typed("text/css; charset=utf-8", include_str!("web/live.css"))
}

fn typed(media_type: &'static str, body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, media_type)], body.into()).into_response()
}

/// The body of a request of the page about a call.
struct Asked(Value);

impl Asked {
    fn parse(body: &Bytes) -> Result<Asked, Response> {
        let parsed = serde_json::from_slice(body).map(Asked);
        parsed.map_err(|error| {
            refused(
                StatusCode::BAD_REQUEST,
                &format!("the body is not JSON: {error}"),
            )
        })
    }

    fn text(&self, key: &str) -> Result<&str, Response> {
        let text = self.0[key].as_str();
        text.ok_or_else(|| {
            refused(
                StatusCode::BAD_REQUEST,
                &format!("the body has no string `{key}`"),
            )
        })
    }

    fn call(&self) -> Result<ToolCall, Response> {
        let id = self.0["id"].as_str().unwrap_or("call");
        Ok(ToolCall::new(
            id,
            self.text("name")?,
            self.text("arguments")?,
        ))
    }
}

async fn validate(State(web): State<Arc<Web>>, body: Bytes) -> Result<Response, Response> {
    let asked = Asked::parse(&body)?;
    let (registry, call) = match asked.0["question"].as_str() {
        Some(id) => match web.questions.judge(id) {
            Some(judge) => (judge, questions::answer(asked.text("arguments")?)),
            None => return Err(no_question()),
        },
        None => (web.registry.clone(), asked.call()?),
    };
    let mut answer = match registry.validate(&call) {
        Ok(_) => json!({"violations": []}),
        Err(error) => described(&error),
    };
    answer["shown"] = registry.shown(&call).into();
    Ok(typed("application/json", answer.to_string()))
}

/// Takes the answer to a question of a running tool. If it does not match the question's schema, refuses it and keeps
/// the question open.
async fn answer(State(web): State<Arc<Web>>, body: Bytes) -> Result<Response, Response> {
    let asked = Asked::parse(&body)?;
    let id = asked.text("question")?;
    let given = match asked.text("action")? {
        "accept" => Given::Accepted(asked.text("arguments")?),
        "decline" => Given::Declined,
        "cancel" => Given::Dismissed,
        other => {
            let reason = format!("the action is `accept`, `decline` or `cancel`, not `{other}`");
            return Err(refused(StatusCode::BAD_REQUEST, &reason));
        }
    };
    match web.questions.take(id, given) {
        Taken::Answered => Ok(StatusCode::NO_CONTENT.into_response()),
        Taken::Unknown => Err(no_question()),
        Taken::Invalid(error) => {
            let described = typed("application/json", described(&error).to_string());
            Ok((StatusCode::UNPROCESSABLE_ENTITY, described).into_response())
        }
    }
}

fn no_question() -> Response {
    refused(StatusCode::NOT_FOUND, "no question with this id is open")
}

async fn call(State(web): State<Arc<Web>>, body: Bytes) -> Result<Response, Response> {
    let asked = Asked::parse(&body)?;
    asked.text("id")?;
    start(web, asked.call()?)
}

async fn decide(State(web): State<Arc<Web>>, body: Bytes) -> Result<Response, Response> {
    let asked = Asked::parse(&body)?;
    let id = asked.text("id")?;
    let decision = match asked.text("decision")? {
        "allow" => Decision::Allow,
        "deny" => Decision::deny(asked.text("reason")?),
        other => {
            let reason = format!("the decision is `allow` or `deny`, not `{other}`");
            return Err(refused(StatusCode::BAD_REQUEST, &reason));
        }
    };
    let (call, hold) = {
        let mut calls = web.calls();
        match calls.remove(id) {
            Some(Open::Held(held)) => *held,
            Some(running) => {
                calls.insert(id.to_owned(), running);
                return Err(refused(StatusCode::CONFLICT, "the call runs already"));
            }
            None => {
                let reason = "no call with this id waits for a decision";
                return Err(refused(StatusCode::NOT_FOUND, reason));
            }
        }
    };
    start(web, call.decided(hold, decision))
}

async fn cancel(State(web): State<Arc<Web>>, body: Bytes) -> Result<StatusCode, Response> {
    let asked = Asked::parse(&body)?;
    let id = asked.text("id")?;
    let open = {
        let mut calls = web.calls();
        match calls.get(id) {
            Some(Open::Running(token)) => Some(Open::Running(token.clone())),
            // A held call that is cancelled needs no decision any more.
            Some(Open::Held(_)) => calls.remove(id),
            None => None,
        }
    };
    // Cancelling and dropping may run code of the application, so they happen outside of the lock.
    match open {
        Some(Open::Running(token)) => token.cancel(),
        Some(Open::Held(_)) => {}
        None => return Err(refused(StatusCode::NOT_FOUND, "no call with this id runs")),
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Starts a call. The response has one line of JSON for each progress message, and one for the result.
fn start(web: Arc<Web>, call: ToolCall) -> Result<Response, Response> {
    let token = CancellationToken::new();
    let removed = {
        let mut calls = web.calls();
        if calls.contains_key(&call.id) {
            return Err(refused(
                StatusCode::CONFLICT,
                "a call with this id runs or waits",
            ));
        }
        let mut removed = None;
        if calls.len() >= MAX_CALLS {
            // A held call may belong to a closed page, where nobody can decide on it any more.
            let held = calls.iter().find(|(_, call)| matches!(call, Open::Held(_)));
            let Some(id) = held.map(|(id, _)| id.clone()) else {
                let reason = format!("{MAX_CALLS} calls run already; cancel one, or wait");
                return Err(refused(StatusCode::TOO_MANY_REQUESTS, &reason));
            };
            removed = calls.remove(&id);
        }
        calls.insert(call.id.clone(), Open::Running(token.clone()));
        removed
    };
    drop(removed);
    let (sender, receiver) = mpsc::channel::<String>(MAX_WAITING);
    let progress = sender.clone();
    let asker = Asker::new(web.questions.clone(), sender.clone());
    let running = call.clone().elicit_with(Arc::new(asker));
    let running = running.cancel_with(&token).on_progress(move |step| {
        // A page that reads too slowly misses some messages.
        let _ = progress.try_send(line(&json!({"progress": of_progress(step)})));
    });
    tokio::spawn(async move {
        let since = Instant::now();
        let result = web.registry.call(running).await;
        let mut answer = of_result(&result);
        answer["milliseconds"] =
            json!(u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX));
        let hold = result.error().and_then(ToolError::hold).cloned();
        let ended = {
            let mut calls = web.calls();
            match hold {
                Some(hold) => calls.insert(call.id.clone(), Open::Held(Box::new((call, hold)))),
                None => calls.remove(&call.id),
            }
        };
        drop(ended);
        // Fails if the page is closed, when nobody needs the result.
        let _ = sender.send(line(&json!({"result": answer}))).await;
    });
    // Closing the page drops the response and thereby cancels the call.
    let reader = (receiver, CancelOnDrop(token));
    let lines = stream::unfold(reader, |(mut receiver, guard)| async {
        let line = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(line), (receiver, guard)))
    });
    Ok(typed("application/x-ndjson", Body::from_stream(lines)))
}

struct CancelOnDrop(CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn of_progress(progress: &Progress) -> Value {
    json!({"done": progress.done, "total": progress.total, "message": progress.message})
}

/// Returns an error in the form for the page.
fn described(error: &ToolError) -> Value {
    let violations = error.violations().iter();
    let violations: Vec<_> = violations
        .map(|violation| json!({"path": violation.path(), "message": violation.message()}))
        .collect();
    json!({"kind": error.kind().as_str(), "message": error.message(), "violations": violations})
}

fn of_result(result: &ToolResult) -> Value {
    let mut answer = Map::new();
    answer.insert("content".into(), result.content().into());
    // As text, because the page keeps the spelling of numbers.
    answer.insert("structured".into(), result.structured_json().into());
    let parts: Vec<_> = result.parts().iter().map(of_part).collect();
    answer.insert("parts".into(), parts.into());
    if let Some(error) = result.error() {
        answer.insert("error".into(), described(error));
        if let Some(hold) = error.hold() {
            let hold = json!({"tool": hold.tool(), "reason": hold.reason(), "arguments": hold.arguments()});
            answer.insert("hold".into(), hold);
        }
    }
    answer.into()
}

/// Returns a part with its bytes as a `data:` address, because the page loads nothing from elsewhere.
fn of_part(part: &Content) -> Value {
    let (url, is_loaded) = match part {
        Content::Image(image) => (image.to_data_url(), image.bytes().is_some()),
        Content::Audio(audio) => (audio.to_data_url(), audio.bytes().is_some()),
        Content::File(file) => (file.to_data_url(), file.bytes().is_some()),
        _ => return json!({"text": part.as_text().map_or_else(|| part.line(), str::to_owned)}),
    };
    if is_loaded {
        json!({"text": part.line(), "data": url})
    } else {
        json!({"text": part.line()})
    }
}

#[cfg(test)]
mod tests {
    use tool_core::content::{Content, File, Image};

    use super::{hosts, of_part};

    /// The page loads nothing from elsewhere, so it gets no other addresses.
    #[test]
    fn parts_that_are_elsewhere_are_lines() {
        let url = "https://example.com/x.png";
        for part in [
            Content::from(Image::url(url)),
            Content::from(File::url("x.png", url)),
        ] {
            let shown = of_part(&part);
            assert!(shown["data"].is_null(), "{shown}");
            assert!(shown["text"].is_string(), "{shown}");
        }
        let shown = of_part(&Image::png([1, 2]).into());
        assert!(
            shown["data"]
                .as_str()
                .unwrap()
                .starts_with("data:image/png;base64,")
        );
    }

    #[test]
    fn browsers_leave_out_the_port_80_alone() {
        let hosts = |address: &str| hosts(address.parse().unwrap());
        assert_eq!(
            hosts("127.0.0.1:80"),
            ["127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"]
        );
        assert_eq!(
            hosts("[::1]:80"),
            ["[::1]:80", "localhost:80", "[::1]", "localhost"]
        );
        assert_eq!(
            hosts("127.0.0.1:8080"),
            ["127.0.0.1:8080", "localhost:8080"]
        );
    }
}
