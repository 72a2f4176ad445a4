//! The stream of Gemini's Interactions API (`InteractionSSEEvent` of Google's Gen AI SDK 3.6, 2026-11).

use serde_json::{Map, Value};
use tool_core::ToolCall;
use tool_core::call::Arguments;
use tool_core::dialect::ResponseError;

use super::response::{FORMAT, USAGE, check_answer, check_status};
use crate::provider::history::arguments_value;
use crate::provider::response::is_type;
use crate::provider::stream::{
    Output, StreamFormat, broken_off, check_count, merge, piece, size, update,
};

#[derive(Default)]
pub(super) struct InteractionStream {
    /// The response without its steps.
    interaction: Map<String, Value>,
    steps: Vec<Step>,
    /// The calls of an agent, each with its position. It may answer them itself.
    waiting: Vec<(usize, ToolCall)>,
    has_text: bool,
    /// Set after a step that is neither text nor a thought.
    is_interrupted: bool,
    is_ended: bool,
}

struct Step {
    index: u64,
    value: Map<String, Value>,
    /// JSON text that replaces `arguments`.
    arguments: String,
    /// The position of the call.
    call: Option<usize>,
    is_ended: bool,
}

type Read = Result<(), ResponseError>;

impl InteractionStream {
    fn start(&mut self, index: u64, step: &Value, out: &mut Output) -> Read {
        let Value::Object(value) = step else {
            return Err(FORMAT.error("`step` is missing"));
        };
        if self.steps.iter().any(|step| step.index == index) {
            return Err(FORMAT.error(format_args!("step {index} starts twice")));
        }
        out.release();
        let call = if (FORMAT.is_call)(step) {
            Some(out.start(FORMAT.call(self.steps.len(), step)?))
        } else {
            None
        };
        if is_type(step, "model_output") {
            for content in step["content"].as_array().into_iter().flatten() {
                self.text(content["text"].as_str().unwrap_or_default(), out);
            }
        } else if is_type(step, "thought") {
            for content in step["summary"].as_array().into_iter().flatten() {
                out.reasoning(content["text"].as_str().unwrap_or_default());
            }
        } else {
            self.is_interrupted = true;
        }
        if is_type(step, "function_result") {
            self.waiting.retain(|(_, call)| call.id != step["call_id"]);
        }
        check_count(self.steps.len())?;
        self.steps.push(Step {
            index,
            value: value.clone(),
            arguments: String::new(),
            call,
            is_ended: false,
        });
        Ok(())
    }

    fn text(&mut self, piece: &str, out: &mut Output) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_interrupted) && self.has_text {
            out.text("\n\n");
        }
        self.has_text = true;
        out.text(piece);
    }

    fn delta(&mut self, event: &Value, out: &mut Output) -> Read {
        let delta = &event["delta"];
        let kind = delta["type"].as_str().unwrap_or_default();
        if kind == "text" {
            self.text(delta["text"].as_str().unwrap_or_default(), out);
        }
        let step = self.step(event)?;
        match kind {
            "text" => append(&mut step.value, "content", delta),
            "image" | "audio" | "video" | "document" => {
                list(&mut step.value, "content").push(delta.clone());
            }
            "text_annotation_delta" => annotate(&mut step.value, delta),
            "thought_summary" => {
                out.reasoning(delta["content"]["text"].as_str().unwrap_or_default());
                append(&mut step.value, "summary", &delta["content"]);
            }
            "thought_signature" => {
                let signature = delta["signature"].clone();
                step.value.insert("signature".into(), signature);
            }
            "arguments_delta" => {
                if let Some(piece) = piece(delta, "arguments") {
                    step.arguments.push_str(piece);
                    if let Some(index) = step.call {
                        out.arguments(index, piece);
                    }
                }
            }
            _ => {
                if step.value.get("type").and_then(Value::as_str) != Some(kind) {
                    out.unknown(kind);
                }
                let mut delta = delta.clone();
                if let Some(members) = delta.as_object_mut() {
                    members.remove("type");
                }
                merge(&mut step.value, &delta);
            }
        }
        self.usage(&event["metadata"]["total_usage"], out);
        Ok(())
    }

    /// Ends a step.
    fn end(&mut self, place: usize, out: &mut Output) -> Read {
        let is_agent = self.interaction.get("agent").is_some_and(Value::is_string);
        let step = &mut self.steps[place];
        step.is_ended = true;
        let text = std::mem::take(&mut step.arguments);
        if !text.is_empty() {
            step.value
                .insert("arguments".into(), arguments_value(&text));
        }
        let Some(index) = step.call else {
            return Ok(());
        };
        // The API requires them.
        let arguments = step.value.entry("arguments");
        arguments.or_insert_with(|| Map::new().into());
        let mut call = FORMAT.call(place, &Value::Object(step.value.clone()))?;
        if !text.is_empty() {
            call.arguments = Arguments::Text(text);
        }
        if is_agent {
            self.waiting.push((index, call));
        } else {
            out.end(index, call);
        }
        Ok(())
    }

    /// Reads the end of the interaction.
    fn complete(&mut self, event: &Value, out: &mut Output) -> Read {
        let Value::Object(interaction) = &event["interaction"] else {
            return Err(FORMAT.error("`interaction` is missing"));
        };
        let mut interaction = interaction.clone();
        // The events have them, but for a server that does not stream them.
        let steps = interaction.remove("steps");
        let steps = steps.as_ref().and_then(Value::as_array);
        update(&mut self.interaction, &Value::Object(interaction));
        check_status(&event["interaction"])?;
        if self.steps.is_empty() {
            for (index, step) in (0..).zip(steps.into_iter().flatten()) {
                self.start(index, step, out)?;
                self.end(self.steps.len() - 1, out)?;
            }
        }
        let status = self.interaction.get("status").unwrap_or(&Value::Null);
        let (is_truncated, stop) = (FORMAT.is_truncated(status), status.clone());
        for place in 0..self.steps.len() {
            if !self.steps[place].is_ended {
                if !is_truncated {
                    return Err(broken_off("`step.stop` is missing"));
                }
                self.end(place, out)?;
            }
        }
        for (index, call) in std::mem::take(&mut self.waiting) {
            out.end(index, call);
        }
        let ends_in_call = self.steps.last().is_some_and(|step| step.call.is_some());
        out.release_last(is_truncated && ends_in_call);
        let usage = event["interaction"]["usage"].clone();
        self.usage(&usage, out);
        out.stop(stop.as_str().unwrap_or("completed"));
        self.is_ended = true;
        Ok(())
    }

    fn usage(&mut self, usage: &Value, out: &mut Output) {
        if usage.is_object() {
            self.interaction.insert("usage".into(), usage.clone());
            out.usage(USAGE.read(usage));
        }
    }

    fn step(&mut self, event: &Value) -> Result<&mut Step, ResponseError> {
        let place = self.place(event)?;
        Ok(&mut self.steps[place])
    }

    /// Returns the position of an event's step, which is open.
    fn place(&self, event: &Value) -> Result<usize, ResponseError> {
        let index = index(event)?;
        let is_open = |step: &Step| step.index == index && !step.is_ended;
        let place = self.steps.iter().rposition(is_open);
        place.ok_or_else(|| FORMAT.error(format_args!("step {index} is not open")))
    }
}

/// Returns the index of an event's step.
fn index(event: &Value) -> Result<u64, ResponseError> {
    let index = event["index"].as_u64();
    index.ok_or_else(|| FORMAT.error("an event of a step has no valid `index`"))
}

/// Returns the list under a key, which it creates.
fn list<'v>(value: &'v mut Map<String, Value>, key: &str) -> &'v mut Vec<Value> {
    let list = value.entry(key).or_insert(Value::Null);
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    let Value::Array(list) = list else {
        unreachable!("it is a list by now");
    };
    list
}

/// Continues the last text of a list, or adds the content.
fn append(value: &mut Map<String, Value>, key: &str, content: &Value) {
    let contents = list(value, key);
    match (contents.last_mut(), content["text"].as_str()) {
        (Some(last), Some(piece)) if is_type(last, "text") => match &mut last["text"] {
            Value::String(text) => text.push_str(piece),
            text => *text = piece.into(),
        },
        _ => contents.push(content.clone()),
    }
}

/// Adds annotations to the last text.
fn annotate(value: &mut Map<String, Value>, delta: &Value) {
    let Some(Value::Object(last)) = list(value, "content").last_mut() else {
        return;
    };
    let annotations = delta["annotations"].as_array().into_iter().flatten();
    list(last, "annotations").extend(annotations.cloned());
}

impl StreamFormat for InteractionStream {
    fn read(&mut self, event: &Value, out: &mut Output) -> Read {
        let Some(kind) = event["event_type"].as_str() else {
            return Err(FORMAT.untyped(event, "event_type"));
        };
        match kind {
            "interaction.created" => update(&mut self.interaction, &event["interaction"]),
            "interaction.status_update" => {
                if event["status"].is_string() {
                    let status = event["status"].clone();
                    self.interaction.insert("status".into(), status);
                }
                self.usage(&event["usage"], out);
            }
            "step.start" => self.start(index(event)?, &event["step"], out)?,
            "step.delta" => self.delta(event, out)?,
            "step.stop" => {
                let place = self.place(event)?;
                self.end(place, out)?;
                self.usage(&event["usage"], out);
            }
            "interaction.completed" => self.complete(event, out)?,
            "error" => return Err(FORMAT.provider_error(&event["error"])),
            kind => out.unknown(kind),
        }
        Ok(())
    }

    fn kept(&mut self) -> usize {
        let steps = self.steps.iter();
        let steps = steps.map(|step| size(step.value.values()) + step.arguments.len());
        size(self.interaction.values()) + steps.sum::<usize>()
    }

    fn response(self) -> Result<Value, ResponseError> {
        if !self.is_ended {
            return Err(broken_off("`interaction.completed` is missing"));
        }
        let steps = self.steps.into_iter();
        let steps: Vec<_> = steps.map(|step| Value::Object(step.value)).collect();
        check_answer(&steps)?;
        let mut response = self.interaction;
        response.insert("steps".into(), steps.into());
        Ok(Value::Object(response))
    }
}
