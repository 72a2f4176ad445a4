//! [`StreamFormat`]: reads one format of a stream, event by event.
//!
//! It collects the parts of the response and emits a call only once its arguments are complete.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use tool_core::ToolCall;
use tool_core::call::Arguments;
use tool_core::dialect::write::{
    DONE, Event, EventJson, EventReader, Json, ParseError, ServerSentEvents, ValueLimit,
};
use tool_core::dialect::{ResponseError, StreamEvent, StreamReader, Turn, Usage};

use crate::provider::forms;
use crate::provider::response::{CallIds, ResponseFormat};

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

/// Creates the reader of a stream. `format` reads the whole response, and `outline` returns its turn without
/// its calls.
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

/// A stream that is partly read.
struct Reading<S> {
    stream: S,
    format: &'static ResponseFormat,
    out: Output,
    start: Start,
    has_ended: bool,
    /// About how many bytes the events took since what is kept was measured.
    read: usize,
}

/// The maximum memory for the kept parts of a response, in bytes.
pub(crate) const MOST: usize = 128 << 20;
/// After so many bytes of events, the kept parts are measured.
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

    /// Returns an error if too much is kept. A stream has many events, but few of their values are kept.
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

/// The form of the first event.
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

/// Returns the error of an event that can't be parsed.
fn unparsed(error: ParseError) -> ResponseError {
    match error {
        ParseError::Json(error) => {
            ResponseError::new(format!("an event of the stream is not JSON: {error}"))
        }
        too_many => ResponseError::new(too_many.to_string()),
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

/// The events of a reader, and the calls so far.
#[derive(Default)]
pub(crate) struct Output {
    /// Emitted for the current event.
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
        if is_truncated {
            self.held = (self.held.take()).map(|(index, call)| (index, call.truncated()));
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
