//! The stream of Amazon Bedrock's Converse (`ConverseStreamOutput` of the service's model in botocore
//! 1.44, 2026-11).

use serde_json::{Map, Value, json};

use super::{Calls, StreamEvent, StreamFormat, arguments_value, broken_off, piece, update};
use crate::call::{Arguments, ToolCall};
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::usage::Usage;

pub(crate) struct ConverseStream {
    format: &'static ResponseFormat,
    role: Option<Value>,
    blocks: Vec<Block>,
    calls: Calls,
    /// The members of the response other than the message.
    rest: Map<String, Value>,
    is_stopped: bool,
}

/// A block of the content. Only calls, results and images have a start event.
#[derive(Default)]
struct Block {
    index: u64,
    start: Value,
    text: Option<String>,
    citations: Vec<Value>,
    reasoning: Option<String>,
    signature: Option<String>,
    redacted: Option<String>,
    input: String,
    results: Vec<Value>,
    /// Members of an update without a rule here.
    other: Map<String, Value>,
    call: Option<usize>,
    is_ended: bool,
}

impl Block {
    fn into_value(self) -> Value {
        let mut block = match self.start {
            Value::Object(start) => start,
            _ => Map::new(),
        };
        if let Some(Value::Object(call)) = block.get_mut("toolUse") {
            call.insert("input".into(), arguments_value(&self.input));
        }
        if let Some(Value::Object(result)) = block.get_mut("toolResult") {
            result.insert("content".into(), self.results.into());
        }
        match (self.text, self.citations) {
            (text, citations) if !citations.is_empty() => {
                let content = json!([{ "text": text.unwrap_or_default() }]);
                let cited = json!({ "content": content, "citations": citations });
                block.insert("citationsContent".into(), cited);
            }
            (Some(text), _) => {
                block.insert("text".into(), text.into());
            }
            (None, _) => {}
        }
        if let Some(redacted) = self.redacted {
            let reasoning = json!({ "redactedContent": redacted });
            block.insert("reasoningContent".into(), reasoning);
        } else if self.reasoning.is_some() || self.signature.is_some() {
            let mut reasoning = json!({ "text": self.reasoning.unwrap_or_default() });
            if let Some(signature) = self.signature {
                reasoning["signature"] = signature.into();
            }
            let reasoning = json!({ "reasoningText": reasoning });
            block.insert("reasoningContent".into(), reasoning);
        }
        for (key, value) in self.other {
            match (block.get_mut(&key), value) {
                (Some(Value::Object(known)), value @ Value::Object(_)) => update(known, &value),
                (_, value) => {
                    block.insert(key, value);
                }
            }
        }
        Value::Object(block)
    }
}

impl ConverseStream {
    pub(crate) fn new(format: &'static ResponseFormat) -> ConverseStream {
        ConverseStream {
            format,
            role: None,
            blocks: Vec::new(),
            calls: Calls::default(),
            rest: Map::new(),
            is_stopped: false,
        }
    }

    /// Returns the block of an event, which it opens if `opens` is set.
    fn block(
        &mut self,
        body: &Value,
        opens: bool,
        out: &mut Vec<StreamEvent>,
    ) -> Result<&mut Block, ResponseError> {
        let Some(index) = body["contentBlockIndex"].as_u64() else {
            let problem = "an event of a block has no valid `contentBlockIndex`";
            return Err(self.format.error(problem));
        };
        let place = self.blocks.iter().rposition(|block| block.index == index);
        let place = match place {
            Some(place) if !self.blocks[place].is_ended => place,
            None if opens && self.role.is_some() && !self.is_stopped => {
                self.calls.release(out);
                self.blocks.push(Block {
                    index,
                    ..Block::default()
                });
                self.blocks.len() - 1
            }
            _ => return Err(self.format.error(format_args!("block {index} is not open"))),
        };
        Ok(&mut self.blocks[place])
    }

    fn call(&self, block: &Value) -> Result<Option<ToolCall>, ResponseError> {
        let call = &block["toolUse"];
        if !call.is_object() || call["type"] == "server_tool_use" {
            return Ok(None);
        }
        self.format.call(0, block).map(Some)
    }

    fn start(&mut self, body: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let call = self.call(&body["start"])?;
        self.block(body, true, out)?.start = body["start"].clone();
        if let Some(call) = call {
            let index = self.calls.start(&call, out);
            self.block(body, false, out)?.call = Some(index);
        }
        Ok(())
    }

    fn delta(&mut self, body: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let block = self.block(body, true, out)?;
        let continued = |text: &mut Option<String>, piece: &str| {
            text.get_or_insert_default().push_str(piece);
        };
        for (key, value) in body["delta"].as_object().into_iter().flatten() {
            match (&**key, value) {
                ("text", Value::String(piece)) => {
                    continued(&mut block.text, piece);
                    if !piece.is_empty() {
                        out.push(StreamEvent::Text(piece.clone()));
                    }
                }
                ("toolUse", call) => {
                    if let Some(piece) = piece(call, "input") {
                        block.input.push_str(piece);
                        if let Some(index) = block.call {
                            out.push(StreamEvent::Arguments {
                                index,
                                piece: piece.to_owned(),
                            });
                        }
                    }
                }
                ("reasoningContent", reasoning) => {
                    if let Some(text) = reasoning["text"].as_str() {
                        continued(&mut block.reasoning, text);
                        if !text.is_empty() {
                            out.push(StreamEvent::Reasoning(text.to_owned()));
                        }
                    }
                    if let Some(signature) = reasoning["signature"].as_str() {
                        continued(&mut block.signature, signature);
                    }
                    if let Some(redacted) = reasoning["redactedContent"].as_str() {
                        continued(&mut block.redacted, redacted);
                    }
                }
                ("citation", citation) => block.citations.push(citation.clone()),
                ("toolResult", Value::Array(results)) => {
                    for result in results {
                        let last = block.results.last_mut().map(|last| &mut last["text"]);
                        match (last, result["text"].as_str()) {
                            (Some(Value::String(text)), Some(piece)) => text.push_str(piece),
                            _ => block.results.push(result.clone()),
                        }
                    }
                }
                (key, value) => {
                    block.other.insert(key.to_owned(), value.clone());
                    if key != "image" {
                        out.push(StreamEvent::Unknown(key.to_owned()));
                    }
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, body: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let block = self.block(body, false, out)?;
        block.is_ended = true;
        if block.call.is_some() {
            let (start, input) = (block.start.clone(), block.input.clone());
            let mut call = self.format.call(0, &start)?;
            call.arguments = Arguments::Text(input);
            self.calls.end(call, out);
        }
        Ok(())
    }
}

impl StreamFormat for ConverseStream {
    fn read(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ResponseError> {
        let members = event.as_object();
        let Some((kind, body)) = members.and_then(|members| members.iter().next()) else {
            return Err(self.format.error("an event is not an object with one key"));
        };
        match &**kind {
            "messageStart" => self.role = Some(body["role"].clone()),
            "contentBlockStart" => self.start(body, out)?,
            "contentBlockDelta" => self.delta(body, out)?,
            "contentBlockStop" => self.end(body, out)?,
            "messageStop" if self.role.is_some() => {
                if self
                    .blocks
                    .iter()
                    .any(|block| block.call.is_some() && !block.is_ended)
                {
                    return Err(broken_off("`contentBlockStop` is missing"));
                }
                let reason = body["stopReason"].as_str().unwrap_or_default();
                let is_truncated = self.format.truncated.contains(&reason);
                self.calls.stop(is_truncated, out);
                out.push(StreamEvent::Stop(reason.to_owned()));
                update(&mut self.rest, body);
                self.is_stopped = true;
            }
            "messageStop" => return Err(self.format.error("`messageStart` is missing")),
            "metadata" => {
                update(&mut self.rest, body);
                out.extend(Usage::find(body).map(StreamEvent::Usage));
            }
            "message" if body.is_string() => return Err(self.format.provider_error(event)),
            kind if kind.ends_with("Exception") => {
                let message = body["message"].as_str().unwrap_or_default();
                let error = json!({ "code": kind, "message": message });
                return Err(self.format.provider_error(&error));
            }
            kind => {
                self.format.check_error(event)?;
                out.push(StreamEvent::Unknown(kind.to_owned()));
            }
        }
        Ok(())
    }

    fn response(self) -> Result<Value, ResponseError> {
        if !self.is_stopped {
            return Err(broken_off("`messageStop` is missing"));
        }
        let content: Vec<_> = self.blocks.into_iter().map(Block::into_value).collect();
        let message = json!({ "role": self.role, "content": content });
        let mut response = self.rest;
        response.insert("output".into(), json!({ "message": message }));
        Ok(Value::Object(response))
    }
}
