//! [`Events`]: the events of a run, as a stream.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::Stream;
use serde_json::{Map, Value};

use tool_core::call::{CallPosition, Progress};
use tool_core::dialect::{AnswerWay, End, Usage};
use tool_core::registry::ArgumentsReader;
use tool_core::schema::Violation;
use tool_core::{ToolCall, ToolError, ToolResult};

use super::error::AgentError;
use crate::guarded::caught;
use crate::run::{Loss, Pending, RunOutcome};

/// An event of a run; see [`Agent::events`](crate::Agent::events).
///
/// `Debug` omits the pieces of arguments, which may be
/// [secret](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#secrets).
///
/// ```
/// use tool_agent::Event;
///
/// /// Shows a run on a terminal.
/// fn show(event: &Event) {
///     match event {
///         Event::Text(piece) => print!("{piece}"),
///         // The arguments without secrets.
///         Event::Call { call, shown } => println!("{}({shown})", call.name),
///         Event::Result(result) => println!("  {}", result.line()),
///         Event::Held(pending) => println!("waits for a decision: {}", pending.reason()),
///         _ => {}
///     }
/// }
///
/// show(&Event::Text("It is sunny.".into()));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Event {
    /// The message of [`Agent::reply`](crate::Agent::reply) was added to the run and saved.
    Message(String),
    /// A request asks for a typed answer ([`Agent::ask_for`](crate::Agent::ask_for),
    /// [`Agent::answer_type`](crate::Agent::answer_type)), in the strongest way that the server has.
    AnswerWay(AnswerWay),
    /// A model is down, and the next one of [`Agent::fallback`](crate::Agent::fallback) is asked. What was streamed of the
    /// response is void.
    FellBack {
        /// The model that is down.
        from: String,
        /// The model that is asked now.
        to: String,
        /// The error.
        error: String,
    },
    /// The conversation was [written](crate::run::Run::translate) in the format of another provider, with these losses.
    Translated(Vec<Loss>),
    /// The text of a response, or a piece of it in streamed responses. If the stream fails, the run ends with an error
    /// and does not contain these pieces.
    Text(String),
    /// A piece of the model's reasoning, or of its summary. Only in streamed responses.
    Reasoning(String),
    /// The model began to write a call. Only in streamed responses; [`Event::Call`] follows when the call runs.
    CallStarted {
        /// The position of the call, repeated in [`Event::Call`] and [`Event::Result`].
        position: CallPosition,
        /// The name of the tool.
        name: String,
    },
    /// The model wrote a piece of a call's arguments. Only in streamed responses.
    Arguments {
        /// The position of the call, repeated in [`Event::Call`] and [`Event::Result`].
        position: CallPosition,
        /// The next piece of JSON, or of [free-form](tool_core::call::Arguments::Freeform) text.
        piece: String,
        /// The arguments so far, validated.
        arguments: PartialArguments,
    },
    /// The tokens that a streamed response used so far.
    Usage(Usage),
    /// A response ended. `usage` is `None` if the provider does not report it.
    Response {
        /// The tokens of this response.
        usage: Option<Usage>,
        /// The reason why the model stopped, in the provider's words.
        stop_reason: Option<String>,
        /// How the response ended.
        end: End,
    },
    /// A call starts.
    Call {
        /// The call, which may contain secrets.
        call: ToolCall,
        /// The arguments for a person, without secrets; see [`Registry::shown`](tool_core::Registry::shown).
        shown: String,
    },
    /// The call at this position runs in the background. The model continues, and [`Event::Result`] may come at any
    /// later time.
    Acknowledged(CallPosition),
    /// A tool reported progress.
    Progress {
        /// The position of the call, repeated in [`Event::Call`] and [`Event::Result`].
        position: CallPosition,
        /// The reported progress.
        progress: Progress,
    },
    /// A call has a result.
    Result(ToolResult),
    /// A call waits for a [decision](crate::run::Run::decide).
    Held(Pending),
    /// An event in the run of an agent that was called as a tool (`Agent::into_tool`).
    Inner {
        /// The position of the agent's call.
        position: CallPosition,
        /// The event.
        event: Box<Event>,
    },
    /// The run ended. This is the last event.
    Done(RunOutcome),
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Arguments {
                position, piece, ..
            } => f
                .debug_struct("Arguments")
                .field("position", position)
                .field("bytes", &piece.len())
                .finish_non_exhaustive(),
            Event::CallStarted { position, name } => f
                .debug_struct("CallStarted")
                .field("position", position)
                .field("name", name)
                .finish(),
            Event::Response {
                usage,
                stop_reason,
                end,
            } => f
                .debug_struct("Response")
                .field("usage", usage)
                .field("stop_reason", stop_reason)
                .field("end", end)
                .finish(),
            Event::Progress { position, progress } => f
                .debug_struct("Progress")
                .field("position", position)
                .field("progress", progress)
                .finish(),
            Event::Message(text) => f.debug_tuple("Message").field(text).finish(),
            Event::AnswerWay(way) => f.debug_tuple("AnswerWay").field(way).finish(),
            Event::FellBack { from, to, error } => f
                .debug_struct("FellBack")
                .field("from", from)
                .field("to", to)
                .field("error", error)
                .finish(),
            Event::Translated(losses) => f.debug_tuple("Translated").field(losses).finish(),
            Event::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Event::Reasoning(text) => f.debug_tuple("Reasoning").field(text).finish(),
            Event::Usage(usage) => f.debug_tuple("Usage").field(usage).finish(),
            Event::Call { call, shown } => f
                .debug_struct("Call")
                .field("call", call)
                .field("shown", shown)
                .finish(),
            Event::Inner { position, event } => f
                .debug_struct("Inner")
                .field("position", position)
                .field("event", event)
                .finish(),
            Event::Acknowledged(position) => f.debug_tuple("Acknowledged").field(position).finish(),
            Event::Result(result) => f.debug_tuple("Result").field(result).finish(),
            Event::Held(pending) => f.debug_tuple("Held").field(pending).finish(),
            Event::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}

/// The arguments that the model is writing for a call; see [`Event::Arguments`].
///
/// Clones share the arguments, so an older clone shows the latest state. Empty if the tool is unknown.
///
/// ```
/// use tool_agent::Event;
///
/// /// Fills a form while the model writes.
/// fn show(event: &Event) {
///     if let Event::Arguments { arguments, .. } = event {
///         for (key, value) in &*arguments.values() {
///             println!("{key}: {value}");
///         }
///         if let Some(error) = arguments.error() {
///             println!("the model will have to correct this: {error}");
///         }
///     }
/// }
/// ```
#[derive(Clone)]
pub struct PartialArguments(pub(super) Option<Arc<Mutex<ArgumentsReader>>>);

impl PartialArguments {
    /// Returns the complete values; see [`ArgumentsReader::values`].
    pub fn values(&self) -> Arc<Map<String, Value>> {
        self.read(ArgumentsReader::values).unwrap_or_default()
    }

    /// Returns the error of the call if it is rejected however it goes on; see [`ArgumentsReader::error`].
    pub fn error(&self) -> Option<ToolError> {
        self.read(|reader| reader.error())?
    }

    /// Returns the violations so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.read(|reader| reader.violations().to_vec())
            .unwrap_or_default()
    }

    pub(super) fn push(&self, piece: &str) {
        self.read(|reader| reader.push(piece));
    }

    pub(super) fn push_freeform(&self, piece: &str) {
        self.read(|reader| reader.push_freeform(piece));
    }

    fn read<T>(&self, read: impl FnOnce(&mut ArgumentsReader) -> T) -> Option<T> {
        let reader = self.0.as_ref()?;
        let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
        Some(read(&mut reader))
    }
}

impl fmt::Debug for PartialArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(reader) => reader.lock().unwrap_or_else(PoisonError::into_inner).fmt(f),
            None => f.write_str("PartialArguments"),
        }
    }
}

/// The events of a run, a [`Stream`]; see [`Agent::events`](crate::Agent::events).
///
/// Dropping it stops the run. The last item is [`Event::Done`] or an error.
///
/// ```
/// use futures_util::StreamExt;
/// use tool_agent::run::{Run, RunOutcome};
/// use tool_agent::{Agent, AgentError, Event};
///
/// async fn drive(agent: &Agent, run: &mut Run) -> Result<Option<RunOutcome>, AgentError> {
///     let mut events = agent.events(run);
///     while let Some(event) = events.next().await {
///         match event? {
///             Event::Text(piece) => print!("{piece}"),
///             Event::Done(outcome) => return Ok(Some(outcome)),
///             _ => {}
///         }
///     }
///     Ok(None)
/// }
/// ```
pub struct Events<'a> {
    queue: EventQueue,
    /// `None` after completion.
    running: Option<Running<'a>>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<RunOutcome, AgentError>> + Send + 'a>>;

/// The destination of a run's events.
#[derive(Clone, Default)]
pub(super) struct EventSink {
    queue: Option<EventQueue>,
    listener: Option<Listener>,
}

/// A function that receives every event.
pub(super) type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// The caller of an agent that is a tool.
#[derive(Clone)]
#[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
pub(super) struct Caller {
    pub(super) events: EventSink,
    pub(super) position: CallPosition,
}

impl EventSink {
    pub(super) fn new(queue: Option<EventQueue>, listener: Option<Listener>) -> EventSink {
        EventSink { queue, listener }
    }

    /// Adds a function that receives every event, after the existing ones.
    pub(super) fn listen(&mut self, listener: Listener) {
        self.listener = Some(match self.listener.take() {
            None => listener,
            Some(first) => Arc::new(move |event| {
                // If a listener panics, the others still get the event.
                let _ = caught("", || first(event));
                listener(event);
            }),
        });
    }

    /// Returns `true` if the events have a receiver.
    pub(super) fn is_read(&self) -> bool {
        self.queue.is_some() || self.listener.is_some()
    }

    pub(super) fn push(&self, event: Event) {
        if let Some(listener) = &self.listener {
            // If the listener panics, the run goes on without it.
            let _ = caught("", || listener(&event));
        }
        if let Some(queue) = &self.queue {
            queue.push(event);
        }
    }
}

/// Events that the stream has not returned yet.
#[derive(Clone, Default)]
pub(super) struct EventQueue(Arc<Mutex<Queued>>);

#[derive(Default)]
struct Queued {
    events: VecDeque<Event>,
    /// Set once the stream is dropped. Background calls may continue.
    is_closed: bool,
    waker: Option<Waker>,
}

impl EventQueue {
    /// Adds an event, from any thread.
    pub(super) fn push(&self, event: Event) {
        let mut queued = self.lock();
        if queued.is_closed {
            drop(queued);
            // Dropped outside of the lock, because it may contain values of the application.
            drop(event);
            return;
        }
        queued.events.push_back(event);
        let waker = queued.waker.take();
        drop(queued);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Removes the first event. If there is none, keeps the waker.
    fn poll(&self, waker: &Waker) -> Option<Event> {
        let mut queued = self.lock();
        let event = queued.events.pop_front();
        if event.is_none() {
            let replaced = queued.waker.replace(waker.clone());
            drop(queued);
            // Dropped outside of the lock, because it may drop a task.
            drop(replaced);
        }
        event
    }

    fn is_empty(&self) -> bool {
        self.lock().events.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

impl Drop for Events<'_> {
    fn drop(&mut self) {
        let mut queued = self.queue.lock();
        queued.is_closed = true;
        let events = std::mem::take(&mut queued.events);
        drop(queued);
        drop(events);
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
            // The outcome comes after the events of the last poll.
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
