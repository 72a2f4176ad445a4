//! Sends a request and waits for its result.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, GetExtensions, ProgressToken, RequestId,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tool_core::runtime::BoxFuture;

use super::connection::Live;
use super::transport::{Event, InFlight, Request};

/// The reason why there is no result.
pub(super) enum RequestError {
    /// The server did not answer in time. Any effect may have happened.
    TimedOut(Duration),
    /// The connection was lost before.
    NotSent,
    /// The result is no message of the protocol, or exceeds the maximum size of one. Contains a predicate, such as
    /// "is too large".
    Unreadable(String),
    Service(ServiceError),
}

/// Sends a request. Dropping the future tells the server that the request is cancelled.
///
/// `limit` is the longest time without a sign of life: progress, or a question to the user. Progress alone
/// extends the time at most tenfold.
pub(super) async fn send(
    live: &Live,
    mut request: ClientRequest,
    carried: Arc<Request>,
    mut events: mpsc::Receiver<Event>,
    limit: Duration,
) -> Result<ServerResult, RequestError> {
    request.extensions_mut().insert(carried.clone());
    let peer = live.peer.clone();
    // Boxed, because rustc can't prove that the future of `rmcp` is `Send` for every lifetime.
    let sent: BoxFuture<_> = Box::pin(async move {
        let options = PeerRequestOptions::no_options();
        peer.send_request_with_option(request, options).await
    });
    let sent = live.in_flight.within(limit, sent).await;
    let mut handle = sent
        .ok_or(RequestError::TimedOut(limit))?
        .map_err(|error| match error {
            ServiceError::TransportClosed => RequestError::NotSent,
            error => RequestError::Service(error),
        })?;
    let mut guard = Guard {
        peer: live.peer.clone(),
        in_flight: live.in_flight.clone(),
        id: handle.id.clone(),
        token: handle.progress_token.clone(),
        is_cancelled_on_drop: true,
    };
    let start = Instant::now();
    let mut last = start + limit * 10;
    let mut deadline = start + limit;
    loop {
        tokio::select! {
            biased;
            event = events.recv() => {
                if let Some(Event::Progress(progress)) = event {
                    carried.report(progress);
                    deadline = (Instant::now() + limit).min(last);
                }
                if let Some(problem) = carried.problem() {
                    guard.is_cancelled_on_drop = false;
                    return Err(RequestError::Unreadable(problem));
                }
            }
            result = &mut handle.rx => {
                guard.is_cancelled_on_drop = false;
                // All progress came before the result.
                while let Ok(event) = events.try_recv() {
                    if let Event::Progress(progress) = event {
                        carried.report(progress);
                    }
                }
                let result = result.unwrap_or(Err(ServiceError::TransportClosed));
                return result.map_err(RequestError::Service);
            }
            () = sleep_until(deadline) => {
                if !carried.is_asking() && !live.in_flight.is_signing_in() {
                    return Err(RequestError::TimedOut(deadline - start));
                }
                // A person needs more time than a server.
                last = Instant::now() + limit * 10;
                deadline = Instant::now() + limit;
            }
        }
    }
}

/// Forgets a request, and cancels it unless there is a result.
struct Guard {
    peer: Peer<RoleClient>,
    in_flight: Arc<InFlight>,
    id: RequestId,
    token: ProgressToken,
    is_cancelled_on_drop: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.in_flight.remove(&self.id, &self.token);
        if self.is_cancelled_on_drop
            && !self.peer.is_transport_closed()
            && let Ok(runtime) = Handle::try_current()
        {
            let peer = self.peer.clone();
            let reason = Some("the call was cancelled".into());
            let cancelled = CancelledNotificationParam::new(Some(self.id.clone()), reason);
            runtime.spawn(async move {
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}
