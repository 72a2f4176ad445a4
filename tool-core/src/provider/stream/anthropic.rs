//! The stream of Anthropic's Messages API (`RawMessageStreamEvent` and `accumulate_event` of
//! Anthropic's Python SDK 2.12, 2026-11).

use serde_json::{Map, Value, json};

use super::{
    Calls, StreamEvent, StreamFormat, append, arguments_value, broken_off, merge, piece, update,
};
use crate::call::Arguments;
use crate::provider::response::{ResponseError, ResponseFormat, is_type};
use crate::provider::usage::Usage;

pub(crate) struct Messages {
    format: &'static ResponseFormat,
    /// The response, without its content.
    message: Option<Map<String, Value>>,
    blocks: Vec<Block>,
    calls: Calls,
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
    pub(crate) fn new(format: &'static ResponseFormat) -> Messages {
        Messages {
            format,
            message: None,
            blocks: Vec::new(),
            calls: Calls::default(),
            is_stopped: false,
        }
    }

    fn start(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let index = self.index(event)?;
        let Value::Object(value) = &event["content_block"] else {
            return Err(self.format.error("`content_block` is missing"));
        };
        if self.blocks.iter().any(|block| block.index == index) {
            return Err(self
                .format
                .error(format_args!("block {index} starts twice")));
        }
        self.calls.release(out);
        let block = &event["content_block"];
        let call = if is_type(block, "tool_use") {
            let call = self.format.call(self.blocks.len(), block)?;
            Some(self.calls.start(&call, out))
        } else {
            None
        };
        emit(block, out);
        self.blocks.push(Block {
            index,
            value: value.clone(),
            input: String::new(),
            call,
            is_ended: false,
        });
        Ok(())
    }

    fn delta(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let block = self.block(event)?;
        let delta = &event["delta"];
        let kind = delta["type"].as_str().unwrap_or_default();
        match kind {
            "text_delta" => continue_block(block, "text", delta),
            "thinking_delta" => continue_block(block, "thinking", delta),
            "input_json_delta" => {
                if let Some(piece) = piece(delta, "partial_json") {
                    block.input.push_str(piece);
                    if let Some(index) = block.call {
                        out.push(StreamEvent::Arguments {
                            index,
                            piece: piece.to_owned(),
                        });
                    }
                }
            }
            "signature_delta" => {
                let signature = delta["signature"].clone();
                block.value.insert("signature".into(), signature);
            }
            "citations_delta" => {
                let citation = delta["citation"].clone();
                match block.value.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => {
                        let citations = Value::Array(vec![citation]);
                        block.value.insert("citations".into(), citations);
                    }
                }
            }
            _ => {
                let mut delta = delta.as_object().cloned().unwrap_or_default();
                delta.remove("type");
                merge(&mut block.value, &delta);
                out.push(StreamEvent::Unknown(kind.to_owned()));
            }
        }
        emit(delta, out);
        Ok(())
    }

    fn end(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let format = self.format;
        let block = self.block(event)?;
        block.is_ended = true;
        let is_call = block.call.is_some();
        let input = std::mem::take(&mut block.input);
        if !input.is_empty() {
            block.value.insert("input".into(), arguments_value(&input));
        }
        if is_call {
            let value = Value::Object(block.value.clone());
            let mut call = format.call(0, &value)?;
            if !input.is_empty() {
                call.arguments = Arguments::Text(input);
            }
            self.calls.end(call, out);
        }
        Ok(())
    }

    fn block(&mut self, event: &Value) -> Result<&mut Block, ResponseError> {
        let index = self.index(event)?;
        let mut blocks = self.blocks.iter_mut();
        match blocks.rfind(|block| block.index == index) {
            Some(block) if !block.is_ended => Ok(block),
            _ => Err(self.format.error(format_args!("block {index} is not open"))),
        }
    }

    fn index(&self, event: &Value) -> Result<u64, ResponseError> {
        let index = event["index"].as_u64();
        index.ok_or_else(|| {
            self.format
                .error("an event of a block has no valid `index`")
        })
    }
}

fn continue_block(block: &mut Block, key: &str, delta: &Value) {
    if let Some(piece) = piece(delta, key) {
        append(&mut block.value, key, piece);
    }
}

/// Emits the text and the reasoning in a block or an update.
fn emit(part: &Value, out: &mut Vec<StreamEvent>) {
    let text = piece(part, "text").map(|text| StreamEvent::Text(text.to_owned()));
    let thinking = piece(part, "thinking").map(|text| StreamEvent::Reasoning(text.to_owned()));
    out.extend(text.into_iter().chain(thinking));
}

impl StreamFormat for Messages {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let kind = event["type"].as_str();
        match (kind, &mut self.message) {
            (Some("ping"), _) => Ok(()),
            (Some("error"), _) => Err(self.format.provider_error(&event["error"])),
            (None, _) => {
                self.format.check_error(event)?;
                Err(self.format.error("an event has no `type`"))
            }
            (Some("message_start"), message @ None) => match &event["message"] {
                Value::Object(members) => {
                    *message = Some(members.clone());
                    Ok(())
                }
                _ => Err(self.format.error("`message` is missing")),
            },
            (Some("content_block_start"), Some(_)) => self.start(event, out),
            (Some("content_block_delta"), Some(_)) => self.delta(event, out),
            (Some("content_block_stop"), Some(_)) => self.end(event, out),
            (Some("message_delta"), Some(message)) => {
                update(message, &event["delta"]);
                if let Some(context) = event.get("context_management") {
                    message.insert("context_management".into(), context.clone());
                }
                // The counts are totals. Those that are absent were sent with the start.
                if let Some(Value::Object(usage)) = message.get_mut("usage") {
                    update(usage, &event["usage"]);
                } else if event["usage"].is_object() {
                    message.insert("usage".into(), event["usage"].clone());
                }
                let usage = message.get("usage").cloned();
                let usage = Usage::find(&json!({ "usage": usage }));
                out.extend(usage.map(StreamEvent::Usage));
                if let Some(reason) = piece(&event["delta"], "stop_reason") {
                    let is_truncated = self.format.truncated.contains(&reason);
                    self.calls.stop(is_truncated, out);
                    out.push(StreamEvent::Stop(reason.to_owned()));
                }
                Ok(())
            }
            (Some("message_stop"), Some(_)) => {
                self.calls.release(out);
                self.is_stopped = true;
                Ok(())
            }
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
            ) => Err(self
                .format
                .error(format_args!("`{kind}` is out of order in the stream"))),
            (Some(kind), _) => {
                out.push(StreamEvent::Unknown(kind.to_owned()));
                Ok(())
            }
        }
    }

    fn response(self) -> Result<Value, ResponseError> {
        let Some(mut message) = self.message else {
            return Err(broken_off("`message_start` is missing"));
        };
        if !self.is_stopped {
            return Err(broken_off("`message_stop` is missing"));
        }
        if self.blocks.iter().any(|block| !block.is_ended) {
            return Err(broken_off("`content_block_stop` is missing"));
        }
        let blocks = self.blocks.into_iter();
        let content = blocks.map(|block| Value::Object(block.value)).collect();
        message.insert("content".into(), content);
        Ok(Value::Object(message))
    }
}
