//! The stream of Amazon Bedrock's Converse (`ConverseStreamOutput` of the service's model in botocore
//! 1.44, 2026-11).

use serde_json::{Map, Value, json};
use tool_core::call::Arguments;
use tool_core::dialect::ResponseError;

use super::response::{FORMAT, USAGE, is_call};
use crate::provider::history::arguments_value;
use crate::provider::stream::{Output, StreamFormat, broken_off, check_count, size, update};

#[derive(Default)]
pub(super) struct ConverseStream {
    role: Option<Value>,
    blocks: Vec<Block>,
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
    fn size(&self) -> usize {
        let texts = [&self.text, &self.reasoning, &self.signature, &self.redacted];
        let texts = texts.into_iter().flatten().map(String::len);
        let values = self.citations.iter().chain(&self.results);
        let values = values.chain(self.other.values()).chain([&self.start]);
        texts.sum::<usize>() + self.input.len() + size(values)
    }

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
    /// Returns the block of an event, which it opens if `opens` is set.
    fn block(
        &mut self,
        body: &Value,
        opens: bool,
        out: &mut Output,
    ) -> Result<&mut Block, ResponseError> {
        let Some(index) = body["contentBlockIndex"].as_u64() else {
            let problem = "an event of a block has no valid `contentBlockIndex`";
            return Err(FORMAT.error(problem));
        };
        let place = self.blocks.iter().rposition(|block| block.index == index);
        let place = match place {
            Some(place) if !self.blocks[place].is_ended => place,
            None if opens && self.role.is_some() && !self.is_stopped => {
                check_count(self.blocks.len())?;
                out.release();
                self.blocks.push(Block {
                    index,
                    ..Block::default()
                });
                self.blocks.len() - 1
            }
            _ => return Err(FORMAT.error(format_args!("block {index} is not open"))),
        };
        Ok(&mut self.blocks[place])
    }

    fn start(&mut self, body: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let start = &body["start"];
        let call = is_call(start).then(|| FORMAT.call(0, start)).transpose()?;
        let block = self.block(body, true, out)?;
        block.start = start.clone();
        block.call = call.map(|call| out.start(call));
        Ok(())
    }

    fn delta(&mut self, body: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let block = self.block(body, true, out)?;
        let continued = |text: &mut Option<String>, piece: &str| {
            text.get_or_insert_default().push_str(piece);
        };
        for (key, value) in body["delta"].as_object().into_iter().flatten() {
            match (&**key, value) {
                ("text", Value::String(piece)) => {
                    continued(&mut block.text, piece);
                    out.text(piece);
                }
                ("toolUse", call) => {
                    let piece = call["input"].as_str().unwrap_or_default();
                    block.input.push_str(piece);
                    if let Some(index) = block.call {
                        out.arguments(index, piece);
                    }
                }
                ("reasoningContent", reasoning) => {
                    if let Some(text) = reasoning["text"].as_str() {
                        continued(&mut block.reasoning, text);
                        out.reasoning(text);
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
                        out.unknown(key);
                    }
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, body: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let block = self.block(body, false, out)?;
        block.is_ended = true;
        if let Some(index) = block.call {
            let mut call = FORMAT.call(0, &block.start)?;
            call.arguments = Arguments::Text(block.input.clone());
            out.end(index, call);
        }
        Ok(())
    }
}

impl StreamFormat for ConverseStream {
    fn read(&mut self, event: &Value, out: &mut Output) -> Result<(), ResponseError> {
        let members = event.as_object();
        let Some((kind, body)) = members.and_then(|members| members.iter().next()) else {
            return Err(FORMAT.error("an event is not an object with one key"));
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
                out.release_last(FORMAT.is_truncated(&body["stopReason"]));
                out.stop(body["stopReason"].as_str().unwrap_or_default());
                update(&mut self.rest, body);
                self.is_stopped = true;
            }
            "messageStop" => return Err(FORMAT.error("`messageStart` is missing")),
            "metadata" => {
                update(&mut self.rest, body);
                out.usage(USAGE.read(&body["usage"]));
            }
            "message" if body.is_string() => return Err(FORMAT.provider_error(event)),
            kind if kind.ends_with("Exception") => {
                let message = body["message"].as_str().unwrap_or_default();
                let error = json!({ "code": kind, "message": message });
                return Err(FORMAT.provider_error(&error));
            }
            kind => {
                FORMAT.check_error(event)?;
                out.unknown(kind);
            }
        }
        Ok(())
    }

    fn kept(&mut self) -> usize {
        let blocks = self.blocks.iter().map(Block::size);
        size(self.rest.values()) + blocks.sum::<usize>()
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
