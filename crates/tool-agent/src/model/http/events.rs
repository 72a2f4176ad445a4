//! Reads the events of a streamed response from its bytes.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tool_core::dialect::write::{EventJson, ServerSentError, ServerSentEvents, ValueLimit};

use super::failure::reported;
use super::secrets::{Secrets, start_of};
use super::transport::{Chunks, unparsed};
use crate::model::{ModelError, ModelErrorKind, ResponseStream};

/// How the bytes of a stream are divided into events.
pub(super) trait Framing: Send + 'static {
    /// Reads a chunk, and calls a function with the JSON of each event that ends in it.
    fn push(
        &mut self,
        chunk: &[u8],
        read: &mut dyn FnMut(&str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError>;
}

impl Framing for ServerSentEvents {
    fn push(
        &mut self,
        chunk: &[u8],
        read: &mut dyn FnMut(&str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        ServerSentEvents::push(self, chunk, read)
    }
}

/// Returns the server-sent events of a body, or `None` if it has none.
pub(super) async fn server_sent(
    bytes: Chunks,
    secrets: Secrets,
) -> Result<Option<ResponseStream>, ModelError> {
    // Some servers omit the empty line after the last event.
    let end = stream::iter([Ok(Bytes::from_static(b"\n\n"))]);
    events(
        Box::pin(bytes.chain(end)),
        ServerSentEvents::default(),
        secrets,
    )
    .await
}

/// Returns the events of a body, or `None` if it has none. Waits for the first event, so that an earlier failure can be
/// retried.
pub(super) async fn events(
    bytes: Chunks,
    framing: impl Framing,
    secrets: Secrets,
) -> Result<Option<ResponseStream>, ModelError> {
    let init = EventSource {
        bytes,
        framing,
        limit: ValueLimit::default(),
        secrets,
        read: VecDeque::new(),
        has_begun: false,
        has_ended: false,
    };
    let mut events = Box::pin(stream::unfold(init, |mut source| async move {
        let event = source.next().await?;
        Some((event, source))
    }));
    match events.next().await {
        Some(first) => Ok(Some(Box::pin(stream::iter([Ok(first?)]).chain(events)))),
        None => Ok(None),
    }
}

/// Reads the events of a body.
struct EventSource<F> {
    bytes: Chunks,
    framing: F,
    limit: ValueLimit,
    secrets: Secrets,
    /// Parsed events that have not been returned yet.
    read: VecDeque<Result<EventJson, ModelError>>,
    /// Set after the first event.
    has_begun: bool,
    /// Set after the event that ends the stream, and after an error.
    has_ended: bool,
}

impl<F: Framing> EventSource<F> {
    async fn next(&mut self) -> Option<Result<EventJson, ModelError>> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(event);
            }
            if self.has_ended {
                return None;
            }
            let read = match self.bytes.next().await? {
                Ok(chunk) => self.push(&chunk),
                Err(error) => Err(error),
            };
            if let (Err(error), false) = (read, self.has_ended) {
                self.has_ended = true;
                self.read.push_back(Err(error));
            }
        }
    }

    /// Reads the events that this chunk completes.
    fn push(&mut self, chunk: &[u8]) -> Result<(), ModelError> {
        self.framing.push(chunk, &mut |data| {
            match data.trim() {
                "" | "ping" => {}
                _ if self.has_ended => {}
                data => {
                    self.has_ended = data == "[DONE]";
                    // An end without any event before it is not a response.
                    if self.has_ended && !self.has_begun {
                        return Ok(());
                    }
                    self.has_begun = true;
                    let event = event(data, &mut self.limit, &self.secrets)?;
                    self.read.push_back(Ok(event));
                }
            }
            Ok(())
        })
    }
}

/// Reads the JSON of one event.
fn event(data: &str, limit: &mut ValueLimit, secrets: &Secrets) -> Result<EventJson, ModelError> {
    let event = EventJson::parse(data, limit).map_err(|error| {
        unparsed(error, |cut_off| {
            if cut_off {
                return "the stream broke off inside an event".into();
            }
            let start = start_of(data.as_bytes(), secrets);
            format!("an event of the stream is not JSON; it starts with {start}")
        })
    })?;
    // Only these events have to be parsed as values, because every error contains one of these strings.
    let may_be_error = data.contains("\"error\"");
    match may_be_error
        .then(|| reported(&event.value(), secrets))
        .flatten()
    {
        Some(error) => Err(error),
        None => Ok(event),
    }
}

impl From<ServerSentError> for ModelError {
    fn from(error: ServerSentError) -> ModelError {
        ModelError::new(ModelErrorKind::Response, error.to_string()).with_source(error)
    }
}
