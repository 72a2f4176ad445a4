//! Connections: their number, their time-outs and their end.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Sleep;
use tower_service::Service;

use super::HttpConfig;

/// The most bytes of a head.
const HEAD: usize = 64 * 1024;

/// The response while there are too many connections.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Accepts connections until the signal. Returns them.
pub(super) async fn accept(
    listener: TcpListener,
    router: &Router,
    config: &HttpConfig,
    closing: &watch::Sender<bool>,
    shutdown: impl Future<Output = ()>,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => return connections,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "can't accept a connection");
                // Files that are open may be too many. Other errors belong to one connection.
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            }
        };
        // Without it, each message of a session waits for the acknowledgement of the one before.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "can't set TCP_NODELAY");
        }
        if connections.len() >= config.max_connections {
            tracing::debug!("rejected a connection: there are too many");
            let _ = stream.try_write(FULL);
            continue;
        }
        connections.spawn(serve(stream, router.clone(), config, closing.subscribe()));
    }
}

/// Serves one connection.
fn serve(
    stream: TcpStream,
    router: Router,
    config: &HttpConfig,
    mut closing: watch::Receiver<bool>,
) -> impl Future<Output = ()> + use<> {
    let mut builder = http1::Builder::new();
    // A request has at most 100 headers, which is the limit of `hyper`. To set it would put them into an allocation.
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
        .max_header_size(HEAD)
        .max_buf_size(HEAD);
    let stream = TimedStream {
        inner: stream,
        timeout: config.write_timeout,
        waiting: None,
    };
    async move {
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            router.clone().call(request.map(Body::new))
        });
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let closed = async {
            let _ = closing.wait_for(|closing| *closing).await;
        };
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = closed => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// A stream whose client must read.
struct TimedStream {
    inner: TcpStream,
    timeout: Duration,
    /// While the client reads nothing.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl TimedStream {
    /// Ends a write that waits for too long.
    fn in_time(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let timeout = self.timeout;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.in_time(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, slices);
        this.in_time(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}
