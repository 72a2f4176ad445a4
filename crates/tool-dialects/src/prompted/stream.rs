//! [`TextCalls`]: reads a stream whose text has calls.

use serde_json::Value;
use tool_core::dialect::write::EventJson;
use tool_core::dialect::{ResponseError, StreamEvent, StreamReader, Turn};

use super::format::CallFormat;
use super::scanner::{Found, Scanner, read};
use crate::provider::stream::check_count;

/// Reads a stream with the reader of the server's dialect, and the calls in its text.
pub(super) struct TextCalls {
    reader: Box<dyn StreamReader>,
    format: CallFormat,
    scanner: Scanner,
    error: Option<ResponseError>,
}

impl TextCalls {
    pub(super) fn new(reader: Box<dyn StreamReader>, format: CallFormat) -> TextCalls {
        TextCalls {
            reader,
            format,
            scanner: Scanner::new(format),
            error: None,
        }
    }

    /// Reads events of the server's dialect.
    fn read(
        &mut self,
        events: Result<Vec<StreamEvent>, ResponseError>,
    ) -> Result<Vec<StreamEvent>, ResponseError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut read = Vec::new();
        for event in events? {
            // The calls of the server come behind those in the text.
            let before = self.scanner.count();
            match event {
                StreamEvent::Text(text) => self.text(&text, false, &mut read)?,
                StreamEvent::Stop(reason) => {
                    self.text("", true, &mut read)?;
                    read.push(StreamEvent::Stop(reason));
                }
                StreamEvent::CallStarted { index, id, name } => {
                    let index = before + index;
                    read.push(StreamEvent::CallStarted { index, id, name });
                }
                StreamEvent::Arguments { index, piece } => {
                    let index = before + index;
                    read.push(StreamEvent::Arguments { index, piece });
                }
                StreamEvent::Freeform { index, piece } => {
                    let index = before + index;
                    read.push(StreamEvent::Freeform { index, piece });
                }
                other => read.push(other),
            }
        }
        Ok(read)
    }

    /// Reads a piece of the text.
    fn text(
        &mut self,
        text: &str,
        is_end: bool,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), ResponseError> {
        let mut index = self.scanner.count();
        for found in self.scanner.push(text, is_end) {
            let (call, is_whole) = match found {
                Found::Text(text) => {
                    events.push(StreamEvent::Text(text));
                    continue;
                }
                Found::Call(call) => (call, true),
                // The turn says whether it was truncated.
                Found::Unfinished(call) => (call, false),
            };
            events.push(StreamEvent::CallStarted {
                index,
                id: call.id.clone(),
                name: call.name.clone(),
            });
            let piece = call.arguments.text().into_owned();
            events.push(StreamEvent::Arguments { index, piece });
            if is_whole {
                events.push(StreamEvent::Call(call));
            }
            index += 1;
        }
        let checked = check_count(self.scanner.count());
        self.error = checked.clone().err();
        checked
    }
}

impl StreamReader for TextCalls {
    fn event(&mut self, event: &Value) -> Result<Vec<StreamEvent>, ResponseError> {
        let events = self.reader.event(event);
        self.read(events)
    }

    fn json(&mut self, event: &EventJson) -> Result<Vec<StreamEvent>, ResponseError> {
        let events = self.reader.json(event);
        self.read(events)
    }

    fn bytes(&mut self, chunk: &[u8]) -> Result<Vec<StreamEvent>, ResponseError> {
        let events = self.reader.bytes(chunk);
        self.read(events)
    }

    fn finish(self: Box<Self>) -> Result<(Turn, Value), ResponseError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let (turn, response) = self.reader.finish()?;
        Ok((read(self.format, turn)?, response))
    }
}
