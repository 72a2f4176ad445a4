//! [`StreamReader`]: reads a streamed response event by event.
//!
//! Each format of a stream is a [`StreamFormat`], which its dialects construct. It collects the parts of
//! the response and emits a call only once its arguments are complete.

use std::borrow::Cow;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::call::{Arguments, ToolCall};
use crate::provider::event::{Event, EventJson, EventReader, Json};
use crate::provider::forms;
use crate::provider::response::{CallIds, ResponseError, ResponseFormat};
use crate::provider::server_sent::{ServerSentError, ServerSentEvents};
use crate::provider::turn::Turn;
use crate::provider::usage::Usage;
use crate::provider::value_limit::{ParseError, ValueLimit};

/// The last event of some streams, which is no JSON.
pub(crate) const DONE: &str = "[DONE]";

/// Reads the events of one streamed response; see [`Dialect::stream`](crate::dialect::Dialect::stream).
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Anthropic, Dialect, StreamEvent};
///
/// let dialect = Anthropic::default();
/// let mut reader = dialect.stream();
/// let call = json!({"type": "tool_use", "id": "toolu_1", "name": "list_alarms", "input": {}});
/// let events = [
///     json!({"type": "message_start",
///            "message": {"type": "message", "role": "assistant", "content": []}}),
///     json!({"type": "content_block_start", "index": 0, "content_block": call}),
///     json!({"type": "content_block_delta", "index": 0,
///            "delta": {"type": "input_json_delta", "partial_json": "{\"day\":"}}),
///     json!({"type": "content_block_delta", "index": 0,
///            "delta": {"type": "input_json_delta", "partial_json": "\"Monday\"}"}}),
///     json!({"type": "content_block_stop", "index": 0}),
///     json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
///            "usage": {"output_tokens": 12}}),
///     json!({"type": "message_stop"}),
/// ];
/// for event in &events {
///     for event in reader.event(event)? {
///         match event {
///             StreamEvent::Text(text) => print!("{text}"),
///             // The call can run now, before the message ends.
///             StreamEvent::Call(call) => assert_eq!(call.name, "list_alarms"),
///             _ => {}
///         }
///     }
/// }
/// let (turn, response) = reader.finish()?;
/// assert_eq!(response["content"][0]["input"], json!({"day": "Monday"}));
/// assert_eq!((turn.calls.len(), turn.stop.as_deref()), (1, Some("tool_use")));
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
pub trait StreamReader: Send {
    /// Reads one event: the JSON of a server-sent event's `data`. The `[DONE]` that ends some streams is the string
    /// `"[DONE]"`. Returns what it adds to the response.
    ///
    /// # Errors
    ///
    /// Returns an error if the provider reports one, if the event does not belong to a stream of this provider, or if the
    /// response takes more than 128 MiB of memory or has more than 10,000 calls or other parts. The stream has failed then,
    /// and every later method returns the same error.
    fn event(&mut self, event: &Value) -> Result<Vec<StreamEvent>, ResponseError>;

    /// Reads one event, like [`event`](StreamReader::event), at less cost if its text was parsed. By default, passes its
    /// value to [`event`](StreamReader::event).
    ///
    /// ```
    /// use tool_core::dialect::{Dialect, EventJson, OpenAiChat, StreamEvent, ValueLimit};
    ///
    /// let mut reader = OpenAiChat::default().stream();
    /// let data = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#;
    /// let event = EventJson::parse(data, &mut ValueLimit::default())?;
    /// assert_eq!(reader.json(&event)?[0], StreamEvent::Text("Hi".into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`event`](StreamReader::event).
    fn json(&mut self, event: &EventJson) -> Result<Vec<StreamEvent>, ResponseError> {
        match event.value() {
            // A reader of an application may not know it.
            end if *end == DONE => Ok(Vec::new()),
            value => self.event(&value),
        }
    }

    /// Reads the next bytes of a body of server-sent events, in pieces of any size, and returns what they add to the
    /// response. This costs less than to parse each event for [`event`](StreamReader::event).
    ///
    /// ```
    /// use tool_core::dialect::{Dialect, OpenAiChat, StreamEvent};
    ///
    /// let mut reader = OpenAiChat::default().stream();
    /// let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\
    ///     \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    /// let mut text = String::new();
    /// for chunk in body.chunks(10) {
    ///     for event in reader.bytes(chunk)? {
    ///         if let StreamEvent::Text(piece) = event {
    ///             text.push_str(&piece);
    ///         }
    ///     }
    /// }
    /// assert_eq!(text, "Hi");
    /// assert_eq!(reader.finish()?.0.text, "Hi");
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`event`](StreamReader::event), and an error if an event is not UTF-8 or JSON, or has more than
    /// a million [values](crate::dialect::ValueLimit). A reader that does not implement this returns an error.
    fn bytes(&mut self, _chunk: &[u8]) -> Result<Vec<StreamEvent>, ResponseError> {
        Err(ResponseError::new(
            "this reader takes events; implement `StreamReader::bytes`",
        ))
    }

    /// Returns what the response says, and the response as if it had not been streamed, with its
    /// signatures, encrypted reasoning and usage.
    ///
    /// The turn is the one that [`Dialect::read`](crate::dialect::Dialect::read) returns for the response,
    /// but its calls are those that were emitted: their arguments may be the text that the model wrote,
    /// where the response has a value, and text shows whether it is complete.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, OpenAiChat};
    ///
    /// let mut reader = OpenAiChat::default().stream();
    /// reader.event(&json!({"choices": [{"delta": {"content": "Hi!"}, "finish_reason": "stop"}]}))?;
    /// let (turn, response) = reader.finish()?;
    /// assert_eq!(turn.text, "Hi!");
    /// assert_eq!(response["choices"][0]["message"]["content"], "Hi!");
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the stream failed or ended before the response did.
    fn finish(self: Box<Self>) -> Result<(Turn, Value), ResponseError>;
}

/// A part of a streamed response.
///
/// `Debug` does not show the pieces of arguments, which may be [secret](macro@crate::tool#secrets).
///
/// ```
/// use tool_core::dialect::StreamEvent;
///
/// /// Shows what arrives.
/// fn show(event: StreamEvent) {
///     match event {
///         StreamEvent::Text(piece) => print!("{piece}"),
///         StreamEvent::CallStarted { name, .. } => println!("calling {name} …"),
///         StreamEvent::Call(call) => println!("{} can run now", call.name),
///         StreamEvent::Usage(usage) => println!("{} tokens so far", usage.total()),
///         // Later versions may add events.
///         _ => {}
///     }
/// }
///
/// show(StreamEvent::Text("It is sunny.".into()));
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// A piece of the model's text, or of its refusal.
    Text(String),
    /// A piece of the model's reasoning or of a summary of it.
    Reasoning(String),
    /// The model started to write a call.
    CallStarted {
        /// The position of the call among the calls of the response, which counts from 0.
        index: usize,
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// A piece of a call's arguments, to show it or to check it with
    /// [`Registry::arguments`](crate::Registry::arguments).
    Arguments {
        /// The position of the call; see [`StreamEvent::CallStarted`].
        index: usize,
        /// JSON text that continues the earlier pieces. The arguments of the call count where they differ: some servers of
        /// chat completions send the arguments again.
        piece: String,
    },
    /// A piece of the text of a call whose arguments are [free-form](crate::call::Arguments::Freeform).
    Freeform {
        /// The position of the call; see [`StreamEvent::CallStarted`].
        index: usize,
        /// Text that continues the earlier pieces.
        piece: String,
    },
    /// A complete call, which can run before the response ends. Calls without arguments, and calls whose
    /// arguments are not JSON, are complete only once something else follows them. A call that the end
    /// of the response cut off is [marked](ToolCall::truncated), so that no tool runs for it.
    ///
    /// Servers of chat completions go on after a reason to stop, after an empty object of arguments, and with pieces of
    /// earlier calls. Such a call is complete when the next one starts, if its arguments are an object with members, and
    /// otherwise at `[DONE]`. At the end of a stream without it, the turn of [`finish`](StreamReader::finish) has the
    /// calls that are left. Each call is emitted once.
    Call(ToolCall),
    /// The reason why the model stopped, in the provider's word. Replaces earlier events of this kind: some servers of chat
    /// completions send a reason with each call.
    Stop(String),
    /// The tokens that were used so far. Replaces earlier events of this kind.
    Usage(Usage),
    /// The provider sent something of this type, which the reader does not know. Its fields are in the
    /// response where they belong to a known part of it.
    Unknown(String),
}

impl fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut piece_of = |name, index: &usize, piece: &str| {
            let mut out = f.debug_struct(name);
            out.field("index", index).field("bytes", &piece.len());
            out.finish_non_exhaustive()
        };
        match self {
            StreamEvent::Arguments { index, piece } => piece_of("Arguments", index, piece),
            StreamEvent::Freeform { index, piece } => piece_of("Freeform", index, piece),
            StreamEvent::CallStarted { index, id, name } => f
                .debug_struct("CallStarted")
                .field("index", index)
                .field("id", id)
                .field("name", name)
                .finish(),
            StreamEvent::Text(text) => f.debug_tuple("Text").field(text).finish(),
            StreamEvent::Reasoning(text) => f.debug_tuple("Reasoning").field(text).finish(),
            StreamEvent::Call(call) => f.debug_tuple("Call").field(call).finish(),
            StreamEvent::Stop(reason) => f.debug_tuple("Stop").field(reason).finish(),
            StreamEvent::Usage(usage) => f.debug_tuple("Usage").field(usage).finish(),
            StreamEvent::Unknown(kind) => f.debug_tuple("Unknown").field(kind).finish(),
        }
    }
}

/// One format of a stream.
pub(crate) trait StreamFormat: Send {
    /// Reads an event. After an error, no other method is called.
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError>;

    /// Reads an event that is no tree of values, like [`read`](StreamFormat::read).
    fn read_event(&mut self, event: Event<'_>, out: &mut Output) -> Result<(), ResponseError> {
        self.read(&event.value(), out)
    }

    /// Reads the end, once: `[DONE]`, or otherwise the end of the body. Emits what is certain only now, or returns an error
    /// that says what is missing. No event follows.
    fn end(&mut self, _is_done: bool, _out: &mut Output) -> Result<(), ResponseError> {
        Ok(())
    }

    /// Returns about how many bytes take what is kept of the response; see [`size`]. Without what may be left out, if this is
    /// much.
    fn kept(&mut self) -> usize;

    /// Returns the response, or an error that says what is missing.
    fn response(self) -> Result<Value, ResponseError>;
}

/// Creates the reader of a stream. `format` is that of the whole response, and `outline` returns its turn
/// without its calls.
pub(crate) fn reader(
    stream: impl StreamFormat + 'static,
    format: &'static ResponseFormat,
    outline: fn(&Value) -> Turn,
) -> Box<dyn StreamReader> {
    Box::new(Reader {
        reading: Reading {
            stream,
            format,
            out: Output {
                ids: CallIds::of(format),
                ..Output::default()
            },
            start: Start::default(),
            has_ended: false,
            read: 0,
        },
        outline,
        server_sent: ServerSentEvents::default(),
        event: EventReader::default(),
        limit: ValueLimit::default(),
        error: None,
    })
}

/// A reader that repeats its first error.
struct Reader<S> {
    reading: Reading<S>,
    outline: fn(&Value) -> Turn,
    server_sent: ServerSentEvents,
    event: EventReader,
    /// Of the events that are read from bytes.
    limit: ValueLimit,
    error: Option<ResponseError>,
}

impl<S: StreamFormat> Reader<S> {
    /// Reads more, unless the stream has failed. Returns what was read, or keeps the error.
    fn read(
        &mut self,
        more: impl FnOnce(&mut Self) -> Result<(), ResponseError>,
    ) -> Result<Vec<StreamEvent>, ResponseError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        match more(self) {
            Ok(()) => Ok(std::mem::take(&mut self.reading.out.events)),
            Err(error) => {
                self.error = Some(error.clone());
                Err(error)
            }
        }
    }
}

/// What has been read of a stream.
struct Reading<S> {
    stream: S,
    format: &'static ResponseFormat,
    out: Output,
    start: Start,
    has_ended: bool,
    /// About how many bytes the events took since what is kept was measured.
    read: usize,
}

/// The most memory that what is kept of a response may take, in bytes.
pub(crate) const MOST: usize = 128 << 20;
/// The bytes of events after which what is kept is measured.
const MEASURED: usize = 16 << 20;
/// The most calls, blocks or other items of a response. A look-up may compare all of them.
const ITEMS: usize = 10_000;
/// The bytes that a value takes, without the text in it.
const VALUE: usize = 64;

impl<S: StreamFormat> Reading<S> {
    /// Reads an event that takes about `size` bytes.
    fn value(&mut self, event: &Value, size: usize) -> Result<(), ResponseError> {
        if self.has_ended {
            return Ok(());
        }
        if event == DONE {
            return self.end(true);
        }
        self.start.see(self.format, event);
        let read = self.stream.read(event, &mut self.out);
        read.map_err(|error| self.start.explained(self.format, error))?;
        self.measure(size)
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), ResponseError> {
        if self.has_ended {
            return Ok(());
        }
        self.start.see(self.format, event);
        let read = self.stream.read_event(event, &mut self.out);
        read.map_err(|error| self.start.explained(self.format, error))?;
        self.measure(event.size())
    }

    /// Returns an error if too much is kept. Events are many, but most of what is in them is not kept.
    fn measure(&mut self, read: usize) -> Result<(), ResponseError> {
        check_count(self.out.ids.count())?;
        self.read += read;
        if self.read > MEASURED {
            self.read = 0;
            if self.stream.kept() > MOST {
                let problem = format!("the response takes more than {MOST} bytes");
                return Err(ResponseError::new(problem));
            }
        }
        Ok(())
    }

    fn end(&mut self, is_done: bool) -> Result<(), ResponseError> {
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        let ended = self.stream.end(is_done, &mut self.out);
        ended.map_err(|error| self.start.explained(self.format, error))
    }
}

/// What the first event looks like.
#[derive(Default)]
struct Start {
    has_started: bool,
    /// Set if it is of the stream of another provider.
    other: Option<String>,
}

impl Start {
    fn see<'e>(&mut self, format: &ResponseFormat, event: impl Json<'e>) {
        if !std::mem::replace(&mut self.has_started, true) {
            self.other = forms::other(format.response, &event.value());
        }
    }

    /// Says in an error whose stream it looks like.
    fn explained(&mut self, format: &ResponseFormat, error: ResponseError) -> ResponseError {
        match self.other.take() {
            Some(other) => format.error(other),
            None => error,
        }
    }
}

impl From<ServerSentError> for ResponseError {
    fn from(error: ServerSentError) -> ResponseError {
        ResponseError::new(error.to_string())
    }
}

/// Returns the error of an event that can't be parsed.
fn unparsed(error: ParseError) -> ResponseError {
    match error {
        ParseError::Json(error) => {
            ResponseError::new(format!("an event of the stream is not JSON: {error}"))
        }
        too_many @ ParseError::TooManyValues => ResponseError::new(too_many.to_string()),
    }
}

impl<S: StreamFormat> StreamReader for Reader<S> {
    fn event(&mut self, event: &Value) -> Result<Vec<StreamEvent>, ResponseError> {
        // It was parsed already, so that a guess must do.
        self.read(|reader| reader.reading.value(event, 1 << 10))
    }

    fn json(&mut self, event: &EventJson) -> Result<Vec<StreamEvent>, ResponseError> {
        self.read(|reader| match event.read() {
            Ok(event) => reader.reading.event(event),
            Err(value) => reader.reading.value(value, size([value])),
        })
    }

    fn bytes(&mut self, chunk: &[u8]) -> Result<Vec<StreamEvent>, ResponseError> {
        self.read(|reader| {
            reader.server_sent.push(chunk, |data| {
                match data.trim() {
                    // Some servers keep the connection open so.
                    "" | "ping" => return Ok(()),
                    DONE => return reader.reading.end(true),
                    _ => {}
                }
                if let Some(event) = reader.event.read(data) {
                    reader.limit.check(event.values()).map_err(unparsed)?;
                    reader.reading.event(event)
                } else {
                    let event = reader
                        .limit
                        .parse_event(data.as_bytes())
                        .map_err(unparsed)?;
                    reader.reading.value(&event, size([&event]))
                }
            })
        })
    }

    fn finish(mut self: Box<Self>) -> Result<(Turn, Value), ResponseError> {
        // Some servers leave out the empty line after the last event.
        if self.error.is_none() {
            self.bytes(b"\n\n")?;
        }
        self.read(|reader| reader.reading.end(false))?;
        let Reading {
            stream,
            format,
            mut out,
            mut start,
            ..
        } = self.reading;
        let response = stream.response();
        let response = response.map_err(|error| start.explained(format, error))?;
        let response = format.with_ids(Cow::Owned(response), &out.ids);
        let response = response.into_owned();
        out.calls.sort_by_key(|(index, _)| *index);
        let calls = out.calls.into_iter().map(|(_, call)| call).collect();
        let turn = format
            .with_reason((self.outline)(&response))
            .with_calls(calls);
        Ok((turn, response))
    }
}

/// The reader of a dialect that has none.
pub(crate) struct Unsupported;

impl Unsupported {
    fn error() -> ResponseError {
        ResponseError::new(
            "this dialect can't read streams; implement `Dialect::stream`, or request a response \
             that is not streamed",
        )
    }
}

impl StreamReader for Unsupported {
    fn event(&mut self, _: &Value) -> Result<Vec<StreamEvent>, ResponseError> {
        Err(Unsupported::error())
    }

    fn bytes(&mut self, _: &[u8]) -> Result<Vec<StreamEvent>, ResponseError> {
        Err(Unsupported::error())
    }

    fn finish(self: Box<Self>) -> Result<(Turn, Value), ResponseError> {
        Err(Unsupported::error())
    }
}

/// Returns the error for a stream without its end.
pub(crate) fn broken_off(state: &str) -> ResponseError {
    ResponseError::incomplete(format!(
        "the stream broke off before the response ended: {state}"
    ))
}

/// Returns an error if there are too many items.
pub(crate) fn check_count(items: usize) -> Result<(), ResponseError> {
    if items > ITEMS {
        let problem = format!("the response has more than {ITEMS} calls or other parts");
        return Err(ResponseError::new(problem));
    }
    Ok(())
}

/// What a reader emits, and the calls so far.
#[derive(Default)]
pub(crate) struct Output {
    /// Those of the current event.
    events: Vec<StreamEvent>,
    /// The emitted calls, each with its position.
    calls: Vec<(usize, ToolCall)>,
    ids: CallIds,
    /// An ended call whose arguments may turn out to be truncated.
    held: Option<(usize, ToolCall)>,
}

impl Output {
    /// Emits an event.
    pub(crate) fn push(&mut self, event: StreamEvent) {
        self.events.push(event);
    }

    /// Emits a piece of the text, unless it is empty.
    pub(crate) fn text(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.push(StreamEvent::Text(piece.to_owned()));
        }
    }

    /// Emits a piece of the reasoning, unless it is empty.
    pub(crate) fn reasoning(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.push(StreamEvent::Reasoning(piece.to_owned()));
        }
    }

    /// Emits the text and the reasoning in a part or its update.
    pub(crate) fn part<'e>(&mut self, part: impl Json<'e>) {
        self.text(part.get("text").as_str().unwrap_or_default());
        self.reasoning(part.get("thinking").as_str().unwrap_or_default());
    }

    /// Emits a piece of a call's arguments, unless it is empty.
    pub(crate) fn arguments(&mut self, index: usize, piece: impl Into<String>) {
        let piece = piece.into();
        if !piece.is_empty() {
            self.push(StreamEvent::Arguments { index, piece });
        }
    }

    /// Emits a piece of the text of a free-form call, unless it is empty.
    pub(crate) fn freeform(&mut self, index: usize, piece: impl Into<String>) {
        let piece = piece.into();
        if !piece.is_empty() {
            self.push(StreamEvent::Freeform { index, piece });
        }
    }

    /// Emits the usage, if there is any.
    pub(crate) fn usage(&mut self, usage: Option<Usage>) {
        self.events.extend(usage.map(StreamEvent::Usage));
    }

    /// Emits the reason to stop.
    pub(crate) fn stop(&mut self, reason: &str) {
        self.push(StreamEvent::Stop(reason.to_owned()));
    }

    /// Emits the type of something unknown.
    pub(crate) fn unknown(&mut self, kind: &str) {
        self.push(StreamEvent::Unknown(kind.to_owned()));
    }

    /// Counts a call and emits its start. Returns its position.
    pub(crate) fn start(&mut self, mut call: ToolCall) -> usize {
        let index = self.ids.add(&mut call);
        self.push(StreamEvent::CallStarted {
            index,
            id: call.id,
            name: call.name,
        });
        index
    }

    /// Emits a complete call, which has [started](Output::start) with this position.
    pub(crate) fn call(&mut self, index: usize, mut call: ToolCall) {
        self.ids.apply(index, &mut call);
        self.push(StreamEvent::Call(call.clone()));
        self.calls.push((index, call));
    }

    /// Emits a call that has ended, or holds it until it is certain that it was not truncated.
    pub(crate) fn end(&mut self, index: usize, call: ToolCall) {
        self.release();
        if is_complete(&call.arguments) {
            self.call(index, call);
        } else {
            self.held = Some((index, call));
        }
    }

    /// Holds a call whose arguments don't show that they are complete.
    pub(crate) fn hold(&mut self, index: usize, call: ToolCall) {
        self.release();
        self.held = Some((index, call));
    }

    /// Emits the held call, because another item follows it.
    pub(crate) fn release(&mut self) {
        if let Some((index, call)) = self.held.take() {
            self.call(index, call);
        }
    }

    /// Emits the held call, which was the last item of the response.
    pub(crate) fn release_last(&mut self, is_truncated: bool) {
        if let (true, Some((_, call))) = (is_truncated, &mut self.held) {
            call.is_truncated = true;
        }
        self.release();
    }
}

/// Returns about how many bytes values take.
pub(crate) fn size<'v>(values: impl IntoIterator<Item = &'v Value>) -> usize {
    let size = |value: &'v Value| {
        VALUE
            + match value {
                Value::String(text) => text.len(),
                Value::Array(items) => size(items),
                Value::Object(members) => {
                    members.keys().map(String::len).sum::<usize>() + size(members.values())
                }
                _ => 0,
            }
    };
    values.into_iter().map(size).sum()
}

/// Returns `true` if the arguments are the text of a JSON object. Nothing can follow it.
pub(crate) fn is_complete(arguments: &Arguments) -> bool {
    match arguments {
        Arguments::Text(text) => {
            text.trim_ascii_start().starts_with('{')
                && serde_json::from_str::<IgnoredAny>(text).is_ok()
        }
        Arguments::Json(_) | Arguments::Freeform(_) => false,
    }
}

/// Returns the string `key` of an object, or nothing if it is empty.
pub(crate) fn piece<'e>(value: impl Json<'e>, key: &str) -> Option<&'e str> {
    value.get(key).as_str().filter(|piece| !piece.is_empty())
}

/// Sets the members of `target` that are not null in `source`.
pub(crate) fn update(target: &mut Map<String, Value>, source: &Value) {
    for (key, value) in source.as_object().into_iter().flatten() {
        if !value.is_null() || !target.contains_key(key) {
            target.insert(key.clone(), value.clone());
        }
    }
}

/// Appends to the string under a key, which it creates.
pub(crate) fn append(members: &mut Map<String, Value>, key: &str, piece: &str) {
    match members.get_mut(key) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            members.insert(key.to_owned(), piece.into());
        }
    }
}

/// Merges an update of an object that is streamed in pieces: strings are continued, lists extended or
/// merged by `index`, other values replaced.
pub(crate) fn merge<'e>(target: &mut Map<String, Value>, delta: impl Json<'e>) {
    for (key, value) in delta.members() {
        merge_member(target, key, value);
    }
}

/// Merges a member of an update.
pub(crate) fn merge_member<'e>(target: &mut Map<String, Value>, key: &str, value: impl Json<'e>) {
    match target.get_mut(key) {
        Some(_) if value.is_null() => {}
        Some(Value::String(text)) if value.as_str().is_some() => {
            let piece = value.as_str().unwrap_or_default();
            if !is_whole(key) {
                text.push_str(piece);
            } else if !piece.is_empty() && text != piece {
                piece.clone_into(text);
            }
        }
        Some(Value::Object(inner)) if value.is_object() => merge(inner, value),
        Some(Value::Array(items)) if value.is_array() => merge_items(items, value),
        Some(known) => {
            if !value.is(known) {
                *known = value.value().into_owned();
            }
        }
        None if value.is_array() => {
            let mut items = Vec::new();
            merge_items(&mut items, value);
            target.insert(key.to_owned(), Value::Array(items));
        }
        None => {
            target.insert(key.to_owned(), value.value().into_owned());
        }
    }
}

/// Returns `true` for keys whose strings are not streamed in pieces. Some servers repeat them.
fn is_whole(key: &str) -> bool {
    matches!(
        key,
        "role" | "id" | "type" | "name" | "index" | "format" | "signature" | "status"
    )
}

fn merge_items<'e>(items: &mut Vec<Value>, more: impl Json<'e>) {
    for item in more.items() {
        let index = item.get("index");
        let known = items
            .iter_mut()
            .rfind(|known| !index.is_null() && index.is(&known["index"]));
        match known {
            Some(Value::Object(known)) if item.is_object() => merge(known, item),
            _ => items.push(item.value().into_owned()),
        }
    }
}
