//! The stream of Anthropic's Messages API (`RawMessageStreamEvent` and `accumulate_event` of
//! Anthropic's Python SDK 2.12, 2026-11).

use serde_json::{Map, Value};
use tool_core::call::Arguments;
use tool_core::dialect::ResponseError;
use tool_core::dialect::write::{Event, Json};

use super::response::{FORMAT, USAGE};
use crate::provider::history::arguments_value;
use crate::provider::response::is_type;
use crate::provider::stream::{
    Output, StreamFormat, append, broken_off, check_count, merge, piece, size, update,
};

#[derive(Default)]
pub(super) struct Messages {
    /// The response, without its content.
    message: Option<Map<String, Value>>,
    blocks: Vec<Block>,
    is_stopped: bool,
}

/// A block of the content.
struct Block {
    index: u64,
    value: Map<String, Value>,
    /// JSON text that replaces `input`.
    input: String,
    /// The position of the call.
    call: Option<usize>,
    is_ended: bool,
}

impl Messages {
    fn start(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let block = &event["content_block"];
        let Value::Object(value) = block else {
            return Err(FORMAT.error("`content_block` is missing"));
        };
        let index = event["index"].as_u64();
        let index = index.unwrap_or(self.blocks.len() as u64);
        // Some servers number all blocks 0, and leave out where they end.
        if let Some(place) = self.place(Some(index)) {
            let open = &self.blocks[place];
            if open.input.is_empty() && open.value == *value {
                return Ok(());
            }
            self.end(place, out)?;
        }
        check_count(self.blocks.len())?;
        out.release();
        let call = if is_type(block, "tool_use") {
            Some(out.start(FORMAT.call(self.blocks.len(), block)?))
        } else {
            None
        };
        out.part(block);
        self.blocks.push(Block {
            index,
            value: value.clone(),
            input: String::new(),
            call,
            is_ended: false,
        });
        Ok(())
    }

    fn delta<'e>(&mut self, event: impl Json<'e>, out: &mut Output) -> Result<(), ResponseError> {
        let place = self.open(event)?;
        let block = &mut self.blocks[place];
        let delta = event.get("delta");
        let kind = delta.get("type").as_str().unwrap_or_default();
        match kind {
            "text_delta" => continue_block(block, "text", delta),
            "thinking_delta" => continue_block(block, "thinking", delta),
            "input_json_delta" => {
                if let Some(piece) = piece(delta, "partial_json") {
                    block.input.push_str(piece);
                    if let Some(index) = block.call {
                        out.arguments(index, piece);
                    }
                }
            }
            "signature_delta" => {
                let signature = delta.get("signature").value().into_owned();
                block.value.insert("signature".into(), signature);
            }
            "citations_delta" => {
                let citation = delta.get("citation").value().into_owned();
                match block.value.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => {
                        let citations = Value::Array(vec![citation]);
                        block.value.insert("citations".into(), citations);
                    }
                }
            }
            _ => {
                let mut delta = delta.value().into_owned();
                if let Value::Object(members) = &mut delta {
                    members.remove("type");
                }
                merge(&mut block.value, &delta);
                out.unknown(kind);
            }
        }
        out.part(delta);
        Ok(())
    }

    fn end(&mut self, place: usize, out: &mut Output) -> Result<(), ResponseError> {
        let block = &mut self.blocks[place];
        block.is_ended = true;
        let call = block.call;
        let input = std::mem::take(&mut block.input);
        if !input.is_empty() {
            block.value.insert("input".into(), arguments_value(&input));
        }
        if let Some(index) = call {
            let value = Value::Object(block.value.clone());
            let mut call = FORMAT.call(0, &value)?;
            if !input.is_empty() {
                call.arguments = Arguments::Text(input);
            }
            out.end(index, call);
        }
        Ok(())
    }

    /// Ends the message, and the blocks whose end some servers leave out.
    fn end_message(&mut self, out: &mut Output) -> Result<(), ResponseError> {
        for place in 0..self.blocks.len() {
            if !self.blocks[place].is_ended {
                self.end(place, out)?;
            }
        }
        let stop = self
            .message
            .as_ref()
            .and_then(|message| message.get("stop_reason"));
        out.release_last(stop.is_some_and(|stop| FORMAT.is_truncated(stop)));
        self.is_stopped = true;
        Ok(())
    }

    /// Returns the place of an event's block.
    fn open<'e>(&self, event: impl Json<'e>) -> Result<usize, ResponseError> {
        let index = event.get("index").as_u64();
        self.place(index).ok_or_else(|| match index {
            Some(index) => FORMAT.error(format_args!("block {index} is not open")),
            None => FORMAT.error("an event has no valid `index`, and no block is open"),
        })
    }

    /// Returns the place of the last block of an index, or of any, if it is open.
    fn place(&self, index: Option<u64>) -> Option<usize> {
        let is_named = |block: &Block| index.is_none_or(|index| block.index == index);
        let place = self.blocks.iter().rposition(is_named)?;
        (!self.blocks[place].is_ended).then_some(place)
    }
}

fn continue_block<'e>(block: &mut Block, key: &str, delta: impl Json<'e>) {
    if let Some(piece) = piece(delta, key) {
        append(&mut block.value, key, piece);
    }
}

impl StreamFormat for Messages {
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let kind = event["type"].as_str();
        match (kind, &mut self.message) {
            (Some("ping"), _) => Ok(()),
            (Some("error"), _) => Err(FORMAT.provider_error(&event["error"])),
            (None, _) => Err(FORMAT.untyped(event, "type")),
            (Some("message_start"), message @ None) => match &event["message"] {
                Value::Object(members) => {
                    *message = Some(members.clone());
                    Ok(())
                }
                _ => Err(FORMAT.error("`message` is missing")),
            },
            (Some("content_block_start"), Some(_)) => self.start(event, out),
            (Some("content_block_delta"), Some(_)) => self.delta(event, out),
            (Some("content_block_stop"), Some(_)) => {
                let place = self.open(event)?;
                self.end(place, out)
            }
            (Some("message_delta"), Some(message)) => {
                update(message, &event["delta"]);
                if let Some(context) = event.get("context_management") {
                    message.insert("context_management".into(), context.clone());
                }
                // The counts are totals. Absent counts were sent with the start.
                if let Some(Value::Object(usage)) = message.get_mut("usage") {
                    update(usage, &event["usage"]);
                } else if event["usage"].is_object() {
                    message.insert("usage".into(), event["usage"].clone());
                }
                out.usage(message.get("usage").and_then(|usage| USAGE.read(usage)));
                if let Some(reason) = piece(&event["delta"], "stop_reason") {
                    out.stop(reason);
                }
                Ok(())
            }
            (Some("message_stop"), Some(_)) => self.end_message(out),
            (
                Some(
                    kind @ ("message_start"
                    | "content_block_start"
                    | "content_block_delta"
                    | "content_block_stop"
                    | "message_delta"
                    | "message_stop"),
                ),
                _,
            ) => Err(FORMAT.error(format_args!("`{kind}` is out of order in the stream"))),
            (Some(kind), _) => {
                out.unknown(kind);
                Ok(())
            }
        }
    }

    fn read_event(&mut self, event: Event<'_>, out: &mut Output) -> Result<(), ResponseError> {
        // Most events are pieces.
        if self.message.is_some() && event.get("type").as_str() == Some("content_block_delta") {
            return self.delta(event, out);
        }
        self.read(&event.value(), out)
    }

    fn end(&mut self, is_done: bool, out: &mut Output) -> Result<(), ResponseError> {
        if self.message.is_none() {
            return Err(broken_off("`message_start` is missing"));
        }
        match (self.is_stopped, is_done) {
            (true, _) => Ok(()),
            (false, true) => self.end_message(out),
            (false, false) => Err(broken_off("`message_stop` is missing")),
        }
    }

    fn kept(&mut self) -> usize {
        let blocks = self.blocks.iter();
        let blocks = blocks.map(|block| size(block.value.values()) + block.input.len());
        let message = self.message.iter().flat_map(Map::values);
        blocks.sum::<usize>() + size(message)
    }

    fn response(self) -> Result<Value, ResponseError> {
        let mut message = self.message.unwrap_or_default();
        let blocks = self.blocks.into_iter();
        let content = blocks.map(|block| Value::Object(block.value)).collect();
        message.insert("content".into(), content);
        Ok(Value::Object(message))
    }
}
