//! [`Serving`]: a listener for Restate, and its orderly end.
//!
//! The SDK's server ends each connection with a GOAWAY. Restate 1.7 then fails its next request on the connection, and
//! closes it with all running calls. So this server sends nothing before the calls have ended. It refuses new requests
//! one by one, and Restate sends them again.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use axum::serve::Listener;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::endpoint::{Endpoint, ResponseBody};
use restate_sdk::service::ServiceDefinition;
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Settings of serving.
pub(crate) struct Serving {
    /// Each request must be signed with one of these keys, if there are any.
    pub(crate) identity_keys: Vec<String>,
    /// The time for which calls may run after the signal to end.
    pub(crate) grace_period: Duration,
}

impl Default for Serving {
    fn default() -> Serving {
        Serving {
            identity_keys: Vec::new(),
            grace_period: Duration::from_secs(10),
        }
    }
}

impl Serving {
    /// Serves services until a signal, and then until running work has ended.
    pub(crate) async fn serve(
        &self,
        services: impl IntoIterator<Item = ServiceDefinition>,
        mut listener: TcpListener,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut endpoint = Endpoint::builder();
        for service in services {
            endpoint = endpoint.bind(service);
        }
        for key in &self.identity_keys {
            endpoint = endpoint.identity_key(key)?;
        }
        let endpoint = endpoint.build();
        send_at_once(&listener)?;
        let ending = CancellationToken::new();
        let mut connections = JoinSet::new();
        let mut signal = pin!(signal_to_end());
        loop {
            tokio::select! {
                () = &mut signal => break,
                Some(_) = connections.join_next() => {}
                (stream, _) = Listener::accept(&mut listener) => {
                    connections.spawn(serve_connection(stream, endpoint.clone(), ending.clone()));
                }
            }
        }
        // A closed port makes a balancer use other processes.
        drop(listener);
        ending.cancel();
        let ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.grace_period, ended)
            .await
            .is_err()
        {
            tracing::warn!(time = ?self.grace_period, "calls still run after the grace period and are interrupted");
        }
        Ok(())
    }
}

/// Sends small pieces at once on connections of a listener. Otherwise they would wait for acknowledgements, which takes
/// 40 ms for each step. On Linux, connections inherit this option from their listener.
pub(crate) fn send_at_once(listener: &TcpListener) -> io::Result<()> {
    SockRef::from(listener).set_tcp_nodelay(true)
}

/// Completes at Ctrl-C, and at `SIGTERM`, which service managers send.
async fn signal_to_end() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = interrupt.await;
}

/// Serves a connection until it is closed, or until its running work has ended.
async fn serve_connection(stream: TcpStream, endpoint: Endpoint, ending: CancellationToken) {
    let running = TaskTracker::new();
    let answering = service_fn(|request| {
        let answer = answer(&endpoint, &running, request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let builder = http2::Builder::new(TokioExecutor::new());
    let serving = builder.serve_connection(TokioIo::new(stream), answering);
    let ended = async {
        ending.cancelled().await;
        running.close();
        // A body ends once Restate has its last message, so the rest of the connection contains nothing new.
        running.wait().await;
    };
    tokio::select! {
        served = serving => if let Err(error) = served {
            tracing::debug!(%error, "a connection of Restate ended early");
        },
        () = ended => {}
    }
}

/// Starts a request. Refuses it if the connection is ending.
fn answer(
    endpoint: &Endpoint,
    running: &TaskTracker,
    request: Request<Incoming>,
) -> Response<Answer> {
    // These handlers mostly wait for other requests, so another process can continue them.
    let handler = request.uri().path().rsplit('/').next();
    let is_left = matches!(handler, Some("send" | "drive" | "background"));
    let token = (!is_left).then(|| running.token());
    if running.is_closed() {
        let mut refused = Response::new(Answer::default());
        // With this header, Restate does not count it as a failed attempt.
        *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        let headers = refused.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        return refused;
    }
    endpoint.handle(request).map(|body| Answer {
        body: Some(body),
        _running: token,
    })
}

/// The body of a response, which runs the handler.
#[derive(Default)]
struct Answer {
    body: Option<ResponseBody>,
    /// The connection stays open until this is dropped.
    _running: Option<TaskTrackerToken>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = <ResponseBody as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}
