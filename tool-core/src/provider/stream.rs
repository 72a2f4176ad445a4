//! [`StreamReader`]: reads a streamed response event by event.

use std::fmt;

use serde_json::Value;

use crate::call::ToolCall;
use crate::provider::event::{DONE, EventJson};
use crate::provider::response::ResponseError;
use crate::provider::server_sent::ServerSentError;
use crate::provider::turn::Turn;
use crate::provider::usage::Usage;

/// Reads the events of one streamed response; see [`Dialect::stream`](crate::dialect::Dialect::stream).
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Dialect, StreamEvent};
/// use tool_dialects::Anthropic;
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
    /// use tool_core::dialect::write::{EventJson, ValueLimit};
    /// use tool_core::dialect::{Dialect, StreamEvent};
    /// use tool_dialects::OpenAiChat;
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
    /// use tool_core::dialect::{Dialect, StreamEvent};
    /// use tool_dialects::OpenAiChat;
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
    /// a million [values](crate::dialect::write::ValueLimit). A reader that does not implement this returns an error.
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
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiChat;
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

impl From<ServerSentError> for ResponseError {
    fn from(error: ServerSentError) -> ResponseError {
        ResponseError::new(error.to_string())
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
