//! Sends a request and waits for its result.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CancelledNotificationParam, ClientRequest, GetExtensions, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tool_core::runtime::BoxFuture;

use super::error::chain;
#[cfg(feature = "client-http")]
use super::http::error::{is_unsent, no_token};
use super::live::Live;
use super::secrets::{Secrets, shorten};
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
    // Before the message is sent, because a question may arrive, and end the call, before `rmcp` returns.
    let mut guard = Guard {
        peer: live.peer.clone(),
        in_flight: live.in_flight.clone(),
        request: carried.clone(),
        is_cancelled_on_drop: true,
    };
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
    request: Arc<Request>,
    is_cancelled_on_drop: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let sent = self.in_flight.remove(&self.request);
        if let Some(id) = sent
            && self.is_cancelled_on_drop
            && !self.peer.is_transport_closed()
            && let Ok(runtime) = Handle::try_current()
        {
            let peer = self.peer.clone();
            let reason = Some("the call was cancelled".into());
            let cancelled = CancelledNotificationParam::new(Some(id), reason);
            runtime.spawn(async move {
                let _ = peer.notify_cancelled(cancelled).await;
            });
        }
    }
}

/// The longest error of a server that a model gets.
const MAX_ERROR: usize = 4096;

/// Redacts and truncates a message of a server.
pub(super) fn text(secrets: &Secrets, error: &str) -> String {
    shorten(&secrets.redact(error), MAX_ERROR).into_owned()
}

/// The known effect of a call without a result.
pub(super) enum Effect {
    /// The server did not get the call.
    NotSent,
    /// The server answered with an error, and gets the same answer if it is called again.
    Answered,
    /// The server may have got the call.
    Unknown,
}

pub(super) fn effect(error: &RequestError) -> Effect {
    match error {
        RequestError::NotSent => Effect::NotSent,
        RequestError::Service(ServiceError::McpError(_)) => Effect::Answered,
        error if is_unauthorized(error) => Effect::Answered,
        #[cfg(feature = "client-http")]
        RequestError::Service(ServiceError::TransportSend(error)) if is_unsent(&*error.error) => {
            Effect::NotSent
        }
        RequestError::TimedOut(_) | RequestError::Unreadable(_) | RequestError::Service(_) => {
            Effect::Unknown
        }
    }
}

/// Returns `true` if the server rejected the token, or if there is none.
pub(super) fn is_unauthorized(error: &RequestError) -> bool {
    match error {
        #[cfg(feature = "client-http")]
        RequestError::Service(ServiceError::TransportSend(error))
            if no_token(&*error.error).is_some() =>
        {
            true
        }
        RequestError::Service(error) => error.is_authorization_required(),
        _ => false,
    }
}

/// Words why a request has no result.
pub(super) fn describe(error: &RequestError, secrets: &Secrets) -> String {
    let described = match error {
        RequestError::TimedOut(limit) => {
            format!(
                "the server did not answer within {} seconds",
                limit.as_secs_f32().round()
            )
        }
        RequestError::NotSent => "the connection is lost".into(),
        RequestError::Unreadable(reason) => format!("the result of the server {reason}"),
        RequestError::Service(ServiceError::McpError(error)) => {
            format!(
                "the server rejected the request: {} ({})",
                error.message, error.code.0
            )
        }
        RequestError::Service(ServiceError::TransportClosed) => {
            "the server ended during the request".into()
        }
        #[cfg(feature = "client-http")]
        RequestError::Service(ServiceError::TransportSend(error))
            if no_token(&*error.error).is_some() =>
        {
            chain(&*error.error)
        }
        RequestError::Service(ServiceError::TransportSend(error)) => {
            format!("the server can't be reached: {}", chain(&*error.error))
        }
        RequestError::Service(ServiceError::UnexpectedResponse) => {
            "the server answered with another result".into()
        }
        RequestError::Service(error) => error.to_string(),
    };
    text(secrets, &described)
}
