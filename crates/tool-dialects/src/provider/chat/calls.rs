//! The calls of a streamed chat completion, put together from pieces.
//!
//! Servers leave out the index of a call, its id or both, number all calls 0, repeat ids, names and arguments, or send
//! another id with each piece. A call counts once the stream has ended.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Deserializer, Map, Value};
use tool_core::dialect::write::Json;

use crate::provider::stream::{is_complete, merge_member, piece, size};

/// The calls of a message.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) list: Vec<Call>,
    /// The calls of the last delta without indices, by their place in it.
    unnumbered: Vec<usize>,
}

#[derive(Default)]
pub(super) struct Call {
    index: Option<u64>,
    /// The call without the text of its arguments.
    value: Map<String, Value>,
    /// The pieces of the arguments, one after the other.
    text: Option<String>,
    /// Where the last two pieces start that may be arguments from their start.
    restart: Option<(usize, usize)>,
    nesting: Nesting,
    /// The position among the calls of the response, once the name is known.
    pub(super) started: Option<usize>,
    /// Set once a piece of the arguments was emitted.
    pub(super) is_shown: bool,
    /// The arguments with which the call was emitted.
    pub(super) emitted: Option<String>,
}

/// A piece of a call.
pub(super) struct Piece<'e> {
    index: Option<u64>,
    id: Option<&'e str>,
    name: Option<&'e str>,
    /// The text of the arguments.
    pub(super) text: Cow<'e, str>,
}

impl<'e> Piece<'e> {
    pub(super) fn of(delta: impl Json<'e>) -> Piece<'e> {
        let (index, function, custom) = (
            delta.get("index"),
            delta.get("function"),
            delta.get("custom"),
        );
        let input = custom.get("input");
        let arguments = if input.is_null() {
            function.get("arguments")
        } else {
            input
        };
        Piece {
            // Some servers send a string.
            index: index.as_u64().or_else(|| index.as_str()?.parse().ok()),
            id: piece(delta, "id"),
            name: piece(function, "name").or_else(|| piece(custom, "name")),
            text: match arguments.as_str() {
                Some(text) => text.into(),
                None if arguments.is_null() => "".into(),
                None => arguments.value().to_string().into(),
            },
        }
    }

    fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }
}

impl Calls {
    /// Returns the position of the call that a piece continues, or `None` if it starts another. `of` is the place of the
    /// piece in its delta, and how many the delta has.
    pub(super) fn find(
        &mut self,
        piece: &Piece<'_>,
        of: (usize, usize),
    ) -> Result<Option<usize>, &'static str> {
        let calls = &self.list;
        let has_index = |call: &Call| call.index == piece.index;
        let by_id = piece.id.and_then(|id| {
            let has_id = |call: &Call| call.id() == Some(id);
            let is_open = piece.index.is_none();
            let fits = |call: &Call| is_open || call.index.is_none() || has_index(call);
            calls.iter().rposition(|call| has_id(call) && fits(call))
        });
        let found = match (by_id, piece.index) {
            (Some(found), _) => Some(found),
            (None, Some(_)) => calls.iter().rposition(has_index),
            (None, None) if of.1 > 1 => self.unnumbered.get(of.0).copied(),
            (None, None) => {
                let is_unnamed = piece.id.is_none() && piece.name.is_none();
                if self.unnumbered.len() > 1 && is_unnamed && !piece.is_blank() {
                    return Err("a piece has no index and no id, and could be of several calls");
                }
                calls.len().checked_sub(1)
            }
        };
        let found = found.filter(|&found| self.list[found].goes_on(piece));
        if piece.index.is_none() {
            self.unnumbered.truncate(of.1);
            let at = found.unwrap_or(self.list.len());
            match self.unnumbered.get_mut(of.0) {
                Some(known) => *known = at,
                None => self.unnumbered.push(at),
            }
        }
        Ok(found)
    }
}

impl Call {
    pub(super) fn new(piece: &Piece<'_>) -> Call {
        Call {
            index: piece.index,
            ..Call::default()
        }
    }

    fn id(&self) -> Option<&str> {
        let id = self.value.get("id").and_then(Value::as_str);
        id.filter(|id| !id.is_empty())
    }

    /// Returns the function, or the tool whose arguments are text, and the key of its arguments.
    fn function(&self) -> Option<(&Map<String, Value>, &'static str)> {
        let members = |key| self.value.get(key).and_then(Value::as_object);
        let custom = members("custom").map(|custom| (custom, "input"));
        custom.or_else(|| Some((members("function")?, "arguments")))
    }

    pub(super) fn name(&self) -> &str {
        let name = self.function().and_then(|(members, _)| members.get("name"));
        name.and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn is_custom(&self) -> bool {
        matches!(self.function(), Some((_, "input")))
    }

    /// Returns the arguments that the pieces make.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let whole = |(text, starts)| whole(text, starts);
        let whole = self.text.as_deref().zip(self.restart).and_then(whole);
        whole.map_or_else(|| self.written(), Cow::Borrowed)
    }

    /// Returns the pieces of the arguments, one after the other.
    fn written(&self) -> Cow<'_, str> {
        let value = || self.function().and_then(|(members, key)| members.get(key));
        match &self.text {
            Some(text) => text.into(),
            None => match value() {
                None | Some(Value::Null) => "".into(),
                Some(value) => value.to_string().into(),
            },
        }
    }

    /// Returns `true` if the arguments are an object from start to end.
    fn is_whole(&mut self) -> bool {
        match &self.text {
            Some(text) => is_object(text) && self.nesting.is_closed(text),
            None => !self.written().is_empty(),
        }
    }

    /// Returns `true` if the call was emitted, and has gone on since then.
    pub(super) fn has_changed(&self) -> bool {
        let emitted = self.emitted.as_deref();
        emitted.is_some_and(|emitted| !letters(emitted).eq(letters(&self.arguments())))
    }

    /// Returns `true` if a piece that may be of this call is not the start of another: one with the same index, or after
    /// it.
    fn goes_on(&mut self, piece: &Piece<'_>) -> bool {
        let is_other = match (piece.id, self.id()) {
            (None, _) => false,
            (Some(id), Some(known)) => id != known,
            // An id may be late.
            (Some(_), None) => self.is_whole(),
        };
        let Some(name) = piece.name else {
            // Some servers make an id for each piece.
            return !is_other || piece.is_blank() || !self.is_whole();
        };
        let has_id = self.id().is_some();
        let is_same = matches!(self.name(), known if known.is_empty() || known == name);
        let known = self.written();
        if known.trim_ascii().is_empty() {
            // The rest of a name has no id.
            return !is_other && (is_same || has_id && piece.id.is_none());
        }
        let is_open_object = is_object(&known) && !self.is_custom();
        if !is_same || is_other && (!is_open_object || piece.text.is_empty()) {
            return false;
        }
        // Arguments are sent again, or all so far with each piece.
        let last = &known[self.restart.map_or(0, |(_, last)| last)..];
        let is_repeated = repeats(&known, &piece.text) || piece.text.starts_with(last);
        let is_filled = has_id && piece.id.is_some() && is_empty(&known);
        if self.is_whole() {
            // Without ids each of several equal calls may be meant.
            return !is_other && has_id && (piece.is_blank() || is_repeated || is_filled);
        }
        // No arguments start in the middle.
        !is_other || !is_object(&piece.text)
    }

    /// Adds a piece.
    pub(super) fn add<'e>(&mut self, delta: impl Json<'e>) {
        for (key, value) in delta.members() {
            match key {
                // The first one counts.
                "id" if self.id().is_some() => {}
                "function" | "custom" if value.is_object() => {
                    if !self.value.get(key).is_some_and(Value::is_object) {
                        self.value.insert(key.to_owned(), Map::new().into());
                    }
                    self.add_function(key, value);
                }
                _ => merge_member(&mut self.value, key, value),
            }
        }
    }

    fn add_function<'e>(&mut self, key: &str, function: impl Json<'e>) {
        let Some(Value::Object(members)) = self.value.get_mut(key) else {
            return;
        };
        for (key, value) in function.members() {
            match (key, value.as_str(), members.get_mut(key)) {
                ("arguments" | "input", Some(piece), _) => {
                    let text = self.text.get_or_insert_default();
                    if key == "arguments" && !text.is_empty() && is_object(piece) {
                        let before = self.restart.map_or(0, |(_, last)| last);
                        self.restart = Some((before, text.len()));
                    }
                    text.push_str(piece);
                }
                // Repeated, or in pieces.
                ("name", Some(piece), Some(Value::String(name))) => {
                    if piece.starts_with(&**name) {
                        name.replace_range(.., piece);
                    } else {
                        name.push_str(piece);
                    }
                }
                _ => merge_member(members, key, value),
            }
        }
    }

    pub(super) fn size(&self) -> usize {
        size(self.value.values()) + self.text.as_deref().map_or(0, str::len)
    }

    /// Returns the call as in a whole response.
    pub(super) fn to_value(&self, keeps_index: bool) -> Value {
        let mut call = Value::Object(self.value.clone());
        if !keeps_index && let Value::Object(members) = &mut call {
            members.remove("index");
        }
        if let (Some(_), Some((_, key))) = (&self.text, self.function()) {
            let of = if key == "input" { "custom" } else { "function" };
            call[of][key] = self.arguments().into_owned().into();
        }
        call
    }
}

/// Returns `true` for text that starts as an object does.
fn is_object(text: &str) -> bool {
    text.trim_ascii_start().starts_with('{')
}

/// Returns `true` for an object without members, which some servers send before the arguments.
pub(super) fn is_empty(text: &str) -> bool {
    letters(text).eq(*b"{}")
}

/// Returns what counts of JSON that is sent again.
fn letters(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace())
}

/// Returns `true` if a piece starts the same arguments again.
fn repeats(known: &str, piece: &str) -> bool {
    let mut known = letters(known);
    letters(piece).all(|byte| known.next() == Some(byte))
}

/// Returns the arguments in pieces that are not one object together. `starts` is where the last two pieces start that may
/// be arguments from their start.
///
/// They are the object that is sent several times, or after empty ones. Or they are the last piece, if it continues the
/// one before from its start.
fn whole(text: &str, starts: (usize, usize)) -> Option<&str> {
    let mut objects = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let (mut found, mut start) = ("", 0);
    loop {
        match objects.next() {
            Some(Ok(_)) => {
                let object = &text[start..objects.byte_offset()];
                start = objects.byte_offset();
                if found.is_empty() || is_empty(found) {
                    found = object;
                } else if !is_empty(object) && !letters(object).eq(letters(found)) {
                    return None;
                }
            }
            None => return Some(found.trim_ascii()),
            // The object after empty ones may be cut off.
            Some(Err(_)) if is_empty(found) => return Some(&text[start..]),
            Some(Err(_)) => break,
        }
    }
    let (before, last) = (&text[starts.0..starts.1], &text[starts.1..]);
    let is_cumulative = last.starts_with(before) && is_complete(&last.into());
    is_cumulative.then_some(last)
}

/// How far brackets are closed.
#[derive(Default)]
struct Nesting {
    /// The bytes that were read.
    read: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    /// Reads on in a text that has grown. Returns `true` if all brackets in it are closed.
    fn is_closed(&mut self, text: &str) -> bool {
        for byte in &text.as_bytes()[self.read..] {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.read = text.len();
        self.depth == 0 && !self.in_string
    }
}
