//! [`Scanner`]: finds calls in text that arrives in pieces.

use std::collections::{BTreeMap, HashSet};
use std::mem;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use tool_core::ToolCall;
use tool_core::call::Arguments;
use tool_core::dialect::write::{Reason, WireId};
use tool_core::dialect::{ResponseError, Turn};

use super::format::CallFormat;
use crate::provider::stream::check_count;

/// A block of Markdown in which a model may write a call without its start.
const BLOCK: (&str, &str) = ("```json", "```");
/// The most attempts that end without a call. Each may read to the end of the text.
const MOST_FAILURES: usize = 32;
/// The longest name, with an id, that may stand before arguments, in bytes.
const MOST_NAME: usize = 256;
/// What may be in front of the arguments besides a name.
const CALL_ID: &str = "[CALL_ID]";

/// What was found.
pub(super) enum Found {
    Text(String),
    Call(ToolCall),
    /// The text ended in the middle of the call.
    Unfinished(ToolCall),
}

/// Reads the calls in the text of a turn.
pub(super) fn read(format: CallFormat, mut turn: Turn) -> Result<Turn, ResponseError> {
    let mut scanner = Scanner::new(format);
    let found = scanner.push(&turn.text, true);
    check_count(scanner.count())?;
    if scanner.count() == 0 {
        return Ok(turn);
    }
    turn.text.clear();
    let mut calls = Vec::new();
    for found in found {
        match found {
            Found::Text(text) => turn.text.push_str(&text),
            Found::Call(call) => calls.push(call),
            Found::Unfinished(call) if turn.reason.is_some_and(Reason::cuts) => {
                calls.push(call.truncated());
            }
            Found::Unfinished(call) => calls.push(call),
        }
    }
    Ok(turn.with_calls(calls))
}

/// Finds calls in text that arrives in pieces. How it is split changes nothing.
pub(super) struct Scanner {
    format: CallFormat,
    /// What is undecided, from `at` on.
    pending: String,
    at: usize,
    state: State,
    /// Set while nothing but calls has come, so that an object without a start may be one.
    is_first: bool,
    failures: usize,
    ids: HashSet<String>,
    count: usize,
}

/// Offsets count from [`Scanner::at`].
enum State {
    Text,
    /// In JSON that may be a call.
    Json(Start, Json),
    /// Behind a call, whose end may follow.
    Behind {
        end: &'static str,
    },
}

/// The start of what may be a call.
#[derive(Clone)]
struct Start {
    /// What ends the call behind its JSON.
    end: &'static str,
    /// Set if it is a call, even if it can't be read.
    is_certain: bool,
    /// The name and the id in front of the arguments.
    head: Option<(String, Option<String>)>,
    /// Where the JSON starts.
    json: usize,
}

/// Where JSON ends.
#[derive(Default)]
struct Json {
    read: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

/// What [`Json::read`] sees.
enum Ending {
    /// More is needed.
    None,
    /// The JSON ends here.
    Whole(usize),
    /// The end of the call is here, in the middle of the JSON.
    Broken(usize),
}

impl Json {
    fn read(&mut self, text: &str, end: &str, is_end: bool) -> Ending {
        for (at, byte) in text.bytes().enumerate().skip(self.read) {
            if mem::take(&mut self.is_escaped) {
            } else if self.in_string {
                self.is_escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return Ending::Whole(at + 1);
                        }
                    }
                    _ if end.as_bytes().first() == Some(&byte) => {
                        let rest = &text[at..];
                        if rest.starts_with(end) {
                            return Ending::Broken(at);
                        }
                        if !is_end && end.starts_with(rest) {
                            self.read = at;
                            return Ending::None;
                        }
                    }
                    _ => {}
                }
            }
        }
        self.read = text.len();
        Ending::None
    }
}

impl Scanner {
    pub(super) fn new(format: CallFormat) -> Scanner {
        Scanner {
            format,
            pending: String::new(),
            at: 0,
            state: State::Text,
            is_first: true,
            failures: 0,
            ids: HashSet::new(),
            count: 0,
        }
    }

    /// Returns how many calls were found.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Reads a piece. `is_end` says that nothing follows.
    pub(super) fn push(&mut self, piece: &str, is_end: bool) -> Vec<Found> {
        self.pending.push_str(piece);
        let mut found = Vec::new();
        while match mem::replace(&mut self.state, State::Text) {
            State::Text => self.text(is_end, &mut found),
            State::Json(start, json) => self.json(start, json, is_end, &mut found),
            State::Behind { end } => self.behind(end, is_end),
        } {}
        self.pending.drain(..self.at);
        self.at = 0;
        found
    }

    fn rest(&self) -> &str {
        &self.pending[self.at..]
    }

    /// Emits text.
    fn emit(&mut self, length: usize, found: &mut Vec<Found>) {
        let text = &self.pending[self.at..self.at + length];
        if text.is_empty() {
            return;
        }
        self.is_first &= text.trim_ascii().is_empty();
        match found.last_mut() {
            Some(Found::Text(before)) => before.push_str(text),
            _ => found.push(Found::Text(text.to_owned())),
        }
        self.at += length;
    }

    /// Reads text up to the next start. Returns `true` if there is more to read.
    fn text(&mut self, is_end: bool, found: &mut Vec<Found>) -> bool {
        let format = self.format;
        if self.failures > MOST_FAILURES {
            self.emit(self.rest().len(), found);
            return false;
        }
        if format.is_bare && self.is_first {
            self.emit(space(self.rest()), found);
            if self.rest().starts_with(['{', '[']) {
                let start = Start {
                    end: format.end,
                    is_certain: false,
                    head: None,
                    json: 0,
                };
                self.state = State::Json(start, Json::default());
                return true;
            }
        }
        let rest = self.rest();
        let own = (format.start, format.end);
        let own = (!format.start.is_empty()).then_some(own);
        let starts = [own, format.is_bare.then_some(BLOCK)];
        let starts = || starts.iter().flatten();
        let at = rest.char_indices().find(|(at, _)| {
            let rest = &rest[*at..];
            let may_start =
                |start: &str| rest.starts_with(start) || (!is_end && start.starts_with(rest));
            starts().any(|(start, _)| may_start(start))
        });
        let (at, is_over) = at.map_or((rest.len(), true), |(at, _)| (at, false));
        self.emit(at, found);
        let rest = self.rest();
        let start = starts().find(|(start, _)| rest.starts_with(start));
        let (Some((start, end)), false) = (start, is_over) else {
            return false;
        };
        match self.begin(start, end, *start == format.start) {
            Begun::Json(start) => self.state = State::Json(start, Json::default()),
            Begun::Undecided if !is_end => return false,
            // It is no start after all.
            _ => self.emit(start.len(), found),
        }
        true
    }

    /// Reads what follows a start.
    fn begin(&self, start: &'static str, end: &'static str, is_certain: bool) -> Begun {
        let Some(mut inner) = json_in(&self.rest()[start.len()..]) else {
            return Begun::No;
        };
        let mut head = None;
        if !inner.starts_with(['{', '[']) {
            let Some(between) = self.format.between.filter(|_| is_certain) else {
                return if inner.is_empty() {
                    Begun::Undecided
                } else {
                    Begun::No
                };
            };
            let Some((name, behind)) = inner.split_once(between) else {
                let may_follow = inner.len() < MOST_NAME + between.len() && is_name(inner);
                return if may_follow {
                    Begun::Undecided
                } else {
                    Begun::No
                };
            };
            let Some(behind) = json_in(behind) else {
                return Begun::No;
            };
            if name.len() >= MOST_NAME || !is_name(name) {
                return Begun::No;
            }
            if !behind.starts_with('{') {
                return if behind.is_empty() {
                    Begun::Undecided
                } else {
                    Begun::No
                };
            }
            inner = behind;
            head = Some(match name.split_once(CALL_ID) {
                Some((name, id)) => (name.to_owned(), Some(id.to_owned())),
                None => (name.to_owned(), None),
            });
        }
        Begun::Json(Start {
            end,
            is_certain,
            head,
            json: self.rest().len() - inner.len(),
        })
    }

    /// Reads JSON. Returns `true` if there is more to read.
    fn json(&mut self, start: Start, mut json: Json, is_end: bool, found: &mut Vec<Found>) -> bool {
        let text = &self.rest()[start.json..];
        let ending = json.read(text, start.end, is_end);
        let (length, is_whole) = match ending {
            Ending::None if !is_end => {
                self.state = State::Json(start, json);
                return false;
            }
            Ending::None => (text.len(), false),
            Ending::Whole(length) => (length, true),
            Ending::Broken(length) => (length, false),
        };
        if is_whole && let Some(calls) = self.read(&text[..length], &start) {
            self.at += start.json + length;
            for (name, id, arguments) in calls {
                let call = self.call(name, id, arguments);
                found.push(Found::Call(call));
            }
            self.state = State::Behind { end: start.end };
            return true;
        }
        let text = &text[..length];
        let name = match &start.head {
            Some((name, _)) => Some(name.clone()),
            None => broken_name(text),
        };
        let key = format!("\"{}\"", self.format.arguments);
        let is_call = start.is_certain || (!is_whole && name.is_some() && text.contains(&key));
        if !is_call {
            let length = if is_whole {
                start.json + length
            } else {
                start.json + 1
            };
            self.failures += usize::from(!is_whole);
            self.emit(length, found);
            return true;
        }
        // An unclosed string hides the end of the call.
        let end = text.find(start.end).filter(|_| !start.end.is_empty());
        let text = text[..end.unwrap_or(length)].to_owned();
        self.failures += 1;
        self.at += start.json + text.len();
        let is_last = self.at == self.pending.len();
        let call = self.call(name.unwrap_or_default(), None, Arguments::Text(text));
        found.push(if is_last && !is_whole && is_end {
            Found::Unfinished(call)
        } else {
            Found::Call(call)
        });
        self.state = State::Behind { end: start.end };
        true
    }

    /// Leaves out the end of a call, and white space. Returns `true` if there is more to read.
    fn behind(&mut self, end: &'static str, is_end: bool) -> bool {
        self.at += space(self.rest());
        let rest = self.rest();
        if !end.is_empty() && rest.starts_with(end) {
            self.at += end.len();
            self.state = State::Behind { end: "" };
            return true;
        }
        let is_undecided = rest.is_empty() || end.starts_with(rest);
        if is_undecided && !is_end {
            self.state = State::Behind { end };
        }
        !is_undecided || is_end
    }

    /// Reads JSON that is whole. Returns `None` if it is no call.
    fn read(&self, text: &str, start: &Start) -> Option<Vec<Written>> {
        if let Some((name, id)) = &start.head {
            let _: IgnoredAny = serde_json::from_str(text).ok()?;
            return Some(vec![(name.clone(), id.clone(), Arguments::from(text))]);
        }
        if !text.starts_with('[') {
            return Some(vec![self.member(text, start.is_certain)?]);
        }
        let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        let calls = items.iter();
        let calls: Option<Vec<_>> = calls
            .map(|item| self.member(item.get(), start.is_certain))
            .collect();
        calls.filter(|calls| start.is_certain || !calls.is_empty())
    }

    /// Reads an object that may be a call.
    fn member(&self, text: &str, is_certain: bool) -> Option<Written> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
        let string =
            |key: &str| -> Option<String> { serde_json::from_str(members.get(key)?.get()).ok() };
        // The form of the API.
        if let Some(function) = members.get("function")
            && function.get().starts_with('{')
        {
            let (name, id, arguments) = self.member(function.get(), is_certain)?;
            return Some((name, string("id").or(id), arguments));
        }
        let keys = [self.format.arguments, "arguments", "parameters"];
        let arguments = keys.iter().find_map(|key| members.get(*key));
        if !is_certain {
            let is_known =
                |key: &String| ["name", "id", "type"].contains(&&**key) || keys.contains(&&**key);
            let is_object = arguments.is_some_and(|text| text.get().starts_with('{'));
            if !is_object || !members.keys().all(is_known) {
                return None;
            }
        }
        let name = string("name").filter(|name| !name.is_empty())?;
        let text = arguments.map_or("", |text| text.get());
        let arguments = match serde_json::from_str(text) {
            Ok(inner) => Arguments::Text(inner),
            Err(_) => Arguments::from(text),
        };
        Some((name, string("id"), arguments))
    }

    fn call(&mut self, name: String, id: Option<String>, arguments: Arguments) -> ToolCall {
        let is_new = |id: &String| !id.is_empty() && !self.ids.contains(id);
        let id = id.filter(is_new);
        let id = id.unwrap_or_else(|| format!("call_{}", self.count));
        self.ids.insert(id.clone());
        self.count += 1;
        ToolCall::new(id, name, arguments).with_wire_id(WireId::Absent)
    }
}

/// Returns the length of the white space at the start of a text.
fn space(text: &str) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Returns what follows white space, unless there is too much of it.
fn json_in(text: &str) -> Option<&str> {
    let space = space(text);
    (space <= MOST_NAME).then(|| &text[space..])
}

/// Returns `true` if a text can be the start of what stands before arguments.
fn is_name(text: &str) -> bool {
    !text.contains(|character: char| character.is_whitespace() || character == '{')
}

/// The name, the id and the arguments of a call.
type Written = (String, Option<String>, Arguments);

/// What follows a start.
enum Begun {
    Json(Start),
    No,
    Undecided,
}

/// Returns the name in a call that is no JSON. Without one, no tool can run by mistake.
fn broken_name(text: &str) -> Option<String> {
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return None;
    }
    let (_, rest) = text.split_once("\"name\"")?;
    let rest = rest.trim_ascii_start().strip_prefix(':')?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    values.next()?.ok()
}
