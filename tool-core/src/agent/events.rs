//! [`Events`]: what happens in a run, as a stream.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;

use super::AgentError;
use crate::call::context::Progress;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::Usage;
use crate::run::{Pending, RunOutcome};

/// Something that happened in a run; see [`Agent::events`](super::Agent::events).
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The text of a response.
    Text(String),
    /// A response ended. `usage` is `None` if the provider does not tell it.
    Response {
        /// The tokens of this response.
        usage: Option<Usage>,
        /// Why the model stopped, in the provider's words.
        stop_reason: Option<String>,
    },
    /// A call starts.
    Call(ToolCall),
    /// A tool reported progress.
    Progress {
        /// The id of the call.
        call_id: String,
        /// What the tool reported.
        progress: Progress,
    },
    /// A call has a result.
    Result(ToolResult),
    /// A call waits for a [decision](crate::run::Run::decide).
    Held(Pending),
    /// The run ended. This is the last event.
    Done(RunOutcome),
}

/// The events of a run, a [`Stream`]; see [`Agent::events`](super::Agent::events).
///
/// Dropping it stops the run. The last item is [`Event::Done`] or an error.
pub struct Events<'a> {
    queue: EventQueue,
    /// `None` once it has completed.
    running: Option<Running<'a>>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<RunOutcome, AgentError>> + Send + 'a>>;

/// Events that have happened and are not yet in the stream.
#[derive(Clone, Default)]
pub(super) struct EventQueue(Arc<Mutex<Queued>>);

#[derive(Default)]
struct Queued {
    events: VecDeque<Event>,
    waker: Option<Waker>,
}

impl EventQueue {
    /// Adds an event, from any thread.
    pub(super) fn push(&self, event: Event) {
        let mut queued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queued.events.push_back(event);
        let waker = queued.waker.take();
        drop(queued);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Removes the first event, or keeps the waker until there is one.
    fn poll(&self, waker: &Waker) -> Option<Event> {
        let mut queued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let event = queued.events.pop_front();
        if event.is_none() {
            queued.waker = Some(waker.clone());
        }
        event
    }

    fn is_empty(&self) -> bool {
        let queued = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queued.events.is_empty()
    }
}

impl<'a> Events<'a> {
    pub(super) fn new(
        queue: EventQueue,
        running: impl Future<Output = Result<RunOutcome, AgentError>> + Send + 'a,
    ) -> Events<'a> {
        Events {
            queue,
            running: Some(Box::pin(running)),
        }
    }
}

impl Stream for Events<'_> {
    type Item = Result<Event, AgentError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(event) = this.queue.poll(cx.waker()) {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(running) = &mut this.running else {
            return Poll::Ready(None);
        };
        let outcome = running.as_mut().poll(cx);
        if let Poll::Ready(outcome) = outcome {
            this.running = None;
            // After the events of the last poll.
            match outcome {
                Ok(outcome) => this.queue.push(Event::Done(outcome)),
                Err(error) if this.queue.is_empty() => return Poll::Ready(Some(Err(error))),
                Err(error) => {
                    let failed = async move { Err(error) };
                    this.running = Some(Box::pin(failed));
                }
            }
        }
        match this.queue.poll(cx.waker()) {
            Some(event) => Poll::Ready(Some(Ok(event))),
            None => Poll::Pending,
        }
    }
}
