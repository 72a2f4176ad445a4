//! A stream whose events are whole messages.

use serde_json::Value;
use tool_core::dialect::ResponseError;

use super::response::calls;
use crate::provider::stream::{Output, StreamFormat, size};

#[derive(Default)]
pub(super) struct Messages(Vec<Value>);

impl StreamFormat for Messages {
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        for call in calls(event)? {
            let index = out.start(call.clone());
            out.call(index, call);
        }
        match event {
            Value::Array(messages) => self.0.extend_from_slice(messages),
            message => self.0.push(message.clone()),
        }
        Ok(())
    }

    fn kept(&mut self) -> usize {
        size(&self.0)
    }

    /// Returns all messages. Nothing marks the end of the stream.
    fn response(self) -> Result<Value, ResponseError> {
        Ok(Value::Array(self.0))
    }
}
