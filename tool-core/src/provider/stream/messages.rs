//! A stream whose events are whole messages, as those of the Model Context Protocol.

use serde_json::Value;

use super::{StreamEvent, StreamFormat};
use crate::call::ToolCall;
use crate::provider::response::ResponseError;

/// Reads the calls of a message.
type ReadCalls = Box<dyn Fn(&Value) -> Result<Vec<ToolCall>, ResponseError> + Send>;

pub(crate) struct WholeMessages {
    calls: ReadCalls,
    messages: Vec<Value>,
    started: usize,
}

impl WholeMessages {
    pub(crate) fn new(
        calls: impl Fn(&Value) -> Result<Vec<ToolCall>, ResponseError> + Send + 'static,
    ) -> WholeMessages {
        WholeMessages {
            calls: Box::new(calls),
            messages: Vec::new(),
            started: 0,
        }
    }
}

impl StreamFormat for WholeMessages {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        for call in (self.calls)(event)? {
            out.push(StreamEvent::CallStarted {
                index: self.started,
                id: call.id.clone(),
                name: call.name.clone(),
            });
            self.started += 1;
            out.push(StreamEvent::Call(call));
        }
        match event {
            Value::Array(messages) => self.messages.extend_from_slice(messages),
            message => self.messages.push(message.clone()),
        }
        Ok(())
    }

    /// Returns all messages. The stream has no end of its own.
    fn response(self) -> Result<Value, ResponseError> {
        Ok(Value::Array(self.messages))
    }
}
