//! Messages as span attributes, in the JSON of OpenTelemetry's conventions (open-telemetry/semantic-conventions-genai,
//! `gen-ai-input-messages.json`; read on 2026-11-25), without known secrets.
//!
//! Arguments come from [`Registry::shown`] and results from [`ToolResult::line`]. Every string goes through the
//! [`Secrets`] of all calls so far. The size of an attribute is limited: older messages are left out, and a long string
//! is truncated.

use serde_json::{Value, json};
use tool_core::call::Secrets;
use tool_core::dialect::Turn;
use tool_core::hooks::Decision;
use tool_core::{Registry, ToolCall, ToolResult, visible};

use crate::run::{Part, Round, Run, changed_call};

/// The known secrets of a run's calls.
#[derive(Default)]
pub(super) struct Known {
    /// The number of rounds searched for secrets.
    rounds: usize,
    secrets: Secrets,
}

impl Known {
    /// Returns the secrets in calls with results.
    pub(super) fn of_run(&mut self, registry: &Registry, run: &Run) -> Secrets {
        for round in run.rounds().get(self.rounds..).unwrap_or_default() {
            self.search(registry, round);
        }
        // Between requests, a call without a result is in the background.
        let has_results = |round: &Round| round.calls().all(|(_, result)| result.is_some());
        let new = run.rounds().iter().skip(self.rounds);
        self.rounds += new.take_while(|round| has_results(round)).count();
        self.secrets.clone()
    }

    fn search(&mut self, registry: &Registry, round: &Round) {
        for (index, (call, result)) in round.calls().enumerate() {
            self.secrets.add(registry.secrets(call, result));
            for (_, decision, _) in round.decisions(index) {
                if let Decision::Change(arguments) = decision {
                    let changed = changed_call(registry, call, arguments);
                    self.secrets.add(registry.secrets(&changed, None));
                }
            }
        }
    }
}

/// Returns the messages of a request: the parts of a run that start before `end`, then an instruction.
pub(super) fn input(
    registry: &Registry,
    secrets: &Secrets,
    run: &Run,
    end: usize,
    instruction: Option<&str>,
    cap: usize,
) -> String {
    let mut messages = Attribute::new(secrets, cap);
    if let Some(instruction) = instruction {
        messages.push("user", |parts| parts.text(instruction));
    }
    // Starts with the newest, so that the oldest are left out.
    for part in run.parts_before(end) {
        match part {
            _ if messages.is_full => break,
            Part::Message(message) => {
                messages.push(role(message), |parts| parts.text(&text(message)));
            }
            // The trace already has these results at their calls, so they are left out here.
            Part::Told(preamble) => messages.push("user", |parts| parts.text(preamble)),
            Part::Response(_, round) => {
                if round.calls().len() > 0 {
                    messages.push("tool", |parts| {
                        for (call, result) in round.calls().rev() {
                            parts.result(call, result);
                        }
                    });
                }
                messages.push("assistant", |parts| {
                    for (call, _) in round.calls().rev() {
                        parts.call(registry, call);
                    }
                    parts.text(round.text());
                });
            }
        }
    }
    line(&messages.in_order().into())
}

/// Returns the message for a response.
pub(super) fn output(registry: &Registry, secrets: &Secrets, turn: &Turn, cap: usize) -> String {
    let mut secrets = secrets.clone();
    for call in &turn.calls {
        secrets.add(registry.secrets(call, None));
    }
    let reason = turn.stop.as_deref().unwrap_or_default();
    let mut messages = Attribute::new(&secrets, cap.saturating_sub(REASON + reason.len()));
    messages.push("assistant", |parts| {
        for call in turn.calls.iter().rev() {
            parts.call(registry, call);
        }
        parts.text(&turn.text);
    });
    let mut messages = messages.in_order();
    for message in &mut messages {
        message["finish_reason"] = reason.into();
    }
    line(&messages.into())
}

/// The attribute while it is written, with messages and their parts from the newest to the oldest.
struct Attribute<'s> {
    secrets: &'s Secrets,
    /// The number of bytes left.
    left: usize,
    is_full: bool,
    messages: Vec<(&'static str, Vec<Value>)>,
}

/// Number of bytes around a message.
const FRAME: usize = r#"{"role":"assistant","parts":[]},"#.len();

/// Number of bytes around the reason of a response's end.
const REASON: usize = r#","finish_reason":"""#.len();

/// Marks the end of a truncated string.
const TRUNCATED: &str = " [truncated]";

impl<'s> Attribute<'s> {
    fn new(secrets: &'s Secrets, cap: usize) -> Attribute<'s> {
        Attribute {
            secrets,
            left: cap.saturating_sub("[]".len()),
            is_full: false,
            messages: Vec::new(),
        }
    }

    /// Adds a message older than the previous ones, starting with its last part.
    fn push(&mut self, role: &'static str, add: impl FnOnce(&mut Attribute<'s>)) {
        if self.left < FRAME {
            self.is_full = true;
        }
        if self.is_full {
            return;
        }
        self.left -= FRAME;
        self.messages.push((role, Vec::new()));
        add(self);
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            let part = |content: &str| json!({"type": "text", "content": content});
            self.part(text, part);
        }
    }

    fn call(&mut self, registry: &Registry, call: &ToolCall) {
        let name = self.secrets.hide(&call.name);
        let part = |arguments: &str| {
            let value = serde_json::from_str(arguments);
            let arguments = value.unwrap_or_else(|_| Value::from(arguments));
            json!({"type": "tool_call", "id": call.id, "name": name, "arguments": arguments})
        };
        self.part(&registry.shown(call), part);
    }

    fn result(&mut self, call: &ToolCall, result: Option<&ToolResult>) {
        if let Some(result) = result {
            let part = |response: &str| json!({"type": "tool_call_response", "id": call.id, "response": response});
            self.part(&result.line(), part);
        }
    }

    /// Adds a part with this content. If there is too little room, truncates it.
    fn part(&mut self, content: &str, part: impl Fn(&str) -> Value) {
        if self.is_full {
            return;
        }
        let content = self.secrets.hide(content);
        let room = self.left.saturating_sub(",".len());
        let mut added = part(&content);
        if line(&added).len() > room {
            self.is_full = true;
            let frame = line(&part("")).len() + TRUNCATED.len();
            let Some(room) = room.checked_sub(frame) else {
                return;
            };
            added = part(&[start(&content, room), TRUNCATED].concat());
        }
        self.left -= line(&added).len() + ",".len();
        if let Some((_, parts)) = self.messages.last_mut() {
            parts.push(added);
        }
    }

    fn in_order(self) -> Vec<Value> {
        let messages = self.messages.into_iter().rev();
        let messages = messages.filter(|(_, parts)| !parts.is_empty());
        let messages = messages.map(|(role, mut parts)| {
            parts.reverse();
            json!({"role": role, "parts": parts})
        });
        messages.collect()
    }
}

fn role(message: &Value) -> &'static str {
    match message["role"].as_str() {
        Some("system" | "developer") => "system",
        Some("assistant" | "model") => "assistant",
        _ => "user",
    }
}

/// Returns the text of an application's message in any provider's format.
fn text(message: &Value) -> String {
    let content = match &message["content"] {
        Value::Null => &message["parts"],
        content => content,
    };
    let block = |block: &Value| match block.as_str().or_else(|| block["text"].as_str()) {
        Some(text) => text.to_owned(),
        None => "[no text]".to_owned(),
    };
    match content {
        Value::Array(blocks) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
        content => block(content),
    }
}

/// Returns JSON on one line, with invisible characters escaped.
fn line(json: &Value) -> String {
    let json = json.to_string();
    let mut line = String::with_capacity(json.len());
    for character in json.chars() {
        match escaped(character) {
            None => line.push(character),
            Some(units) => line.extend(units),
        }
    }
    line
}

/// Returns the escapes of a JSON character that can't be printed.
fn escaped(character: char) -> Option<impl Iterator<Item = char>> {
    let mut units = [0; 2];
    let units: Vec<_> = character.encode_utf16(&mut units).to_vec();
    let escapes = move || {
        let escapes = units.into_iter().map(|unit| format!("\\u{unit:04x}"));
        escapes.flat_map(|escape| escape.chars().collect::<Vec<_>>())
    };
    visible::is_unclear(character).then(escapes)
}

/// Returns the longest start of a string that takes at most this many bytes in a [line].
fn start(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, character)| {
        used += match character {
            // The longest escapes are `\n` and `\u0001`.
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            character if character.is_ascii_control() => 6,
            character => escaped(*character).map_or(character.len_utf8(), Iterator::count),
        };
        used > room
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}
