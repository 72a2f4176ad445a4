//! Validates arguments while their text arrives in pieces.
//!
//! Objects, maps and arrays are followed as they open and close, without recursion. Every other value,
//! and those that only the whole value decides (unions, types with a decode check), is collected up to
//! its end and then passed to the [`Validator`], which so has the last word on all of them. Together
//! that is one pass over the text, with the verdict of [`normalise`](super::normalise).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::coerce::is_nothing;
use super::path::{push_index, push_key, push_path};
use super::unions::may_be_kind;
use super::{
    DEPTH, Path, Validator, key_value, write_mismatch, write_same_key, write_secret_mismatch,
    write_unknown_key,
};
use crate::schema::cursor::{Cursor, before_special, unquote};
use crate::schema::messages::{self, push, unknown};
use crate::schema::property::Members;
use crate::schema::secret::any_secret;
use crate::schema::sets::{BitSet, KeySet};
use crate::schema::violation::{Violation, Violations};
use crate::schema::{ArrayRule, Kind, Lengths, MapRule, Property, Schema};

const ANY: &Schema = &Schema::ANY;
/// The verdict on the text so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Whatever follows, the arguments are rejected.
    Rejected,
    /// The arguments may be valid once more text follows.
    Open,
    /// The arguments are complete and valid.
    Accepted,
    /// Only the whole text decides.
    Unknown,
}

/// Arguments that arrive in pieces.
pub(crate) struct Incremental {
    /// The parameters; `None` accepts any object.
    parameters: Option<&'static [Property]>,
    is_lenient: bool,
    text: String,
    /// Everything before is validated or belongs to a key.
    at: usize,
    state: State,
    frames: Vec<Frame>,
    violations: Violations,
    is_rejected: bool,
    /// The end of the last value or opening bracket.
    complete: usize,
    /// The part of the budgets that unions have used; the length of the text sets the budgets.
    used: [usize; 2],
    deepest_union: usize,
}

#[derive(Clone, Copy)]
enum State {
    Start,
    Value(Expected),
    /// The first key or the end of an object.
    FirstKey,
    Key,
    /// The colon before a value.
    Colon(Expected),
    /// The first item or the end of an array.
    FirstItem,
    /// A comma or the end of an array or object.
    Next,
    Token(Token),
    /// White space up to the end.
    End,
    /// Collects the text without a look at it.
    Collect,
    /// The text is not JSON.
    Malformed,
}

/// The expectation for the next value.
#[derive(Clone, Copy)]
struct Expected {
    /// `None` for a value that is skipped, because its place is wrong already.
    schema: Option<&'static Schema>,
    /// `true` if `null` is accepted whatever the schema says.
    may_be_null: bool,
    /// `true` if the value is secret whatever the schema says.
    is_secret: bool,
}

impl Expected {
    const NOTHING: Expected = Expected::value(None);

    const fn value(schema: Option<&'static Schema>) -> Expected {
        Expected {
            schema,
            may_be_null: false,
            is_secret: false,
        }
    }

    fn property(property: &Property) -> Expected {
        let may_be_absent = !property.is_required() || property.is_nullable();
        Expected {
            schema: Some(property.schema),
            may_be_null: may_be_absent && (property.is_nullable() || property.ignores_null()),
            is_secret: false,
        }
    }
}

/// A key or a value that has begun at [`Incremental::at`].
#[derive(Clone, Copy)]
struct Token {
    kind: TokenKind,
    /// The schema of a value; `None` for one that is skipped.
    schema: Option<&'static Schema>,
    /// `true` if `null` is accepted whatever the schema says.
    may_be_null: bool,
    /// `true` if the value is secret whatever the schema says.
    is_secret: bool,
    /// The end of what was looked at.
    scanned: usize,
    has_escapes: bool,
    /// The most characters of a string.
    maximum: usize,
    /// The characters of a string so far, and their bytes.
    characters: usize,
    counted: usize,
    /// The open brackets of an array or an object.
    depth: usize,
    /// `true` inside a string of an array or an object.
    is_inside: bool,
}

impl Token {
    /// Returns `true` inside a string of any length.
    #[inline]
    fn is_in_plain_string(&self) -> bool {
        match self.kind {
            TokenKind::Key => true,
            TokenKind::String => self.maximum == usize::MAX,
            TokenKind::Whole => self.is_inside,
            TokenKind::Scalar => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum TokenKind {
    Key,
    String,
    /// A number or a word.
    Scalar,
    /// An array or an object, up to its closing bracket.
    Whole,
}

struct Frame {
    kind: FrameKind,
    /// The number of items of an array that have started.
    count: usize,
    /// The place of the current key with its quotes.
    key: (usize, usize),
    /// `true` once the length was reported.
    is_reported: bool,
}

enum FrameKind {
    Object {
        members: Members,
        seen: BitSet,
        seen_others: KeySet<'static>,
        /// The property that is expected next.
        next: usize,
    },
    Map {
        schema: &'static Schema,
        rule: &'static MapRule,
        seen: KeySet<'static>,
    },
    Array {
        schema: &'static Schema,
        rule: &'static ArrayRule,
    },
    Tuple {
        schema: &'static Schema,
        items: &'static [&'static Schema],
    },
}

impl Incremental {
    pub(crate) fn new(parameters: Option<&'static [Property]>, is_lenient: bool) -> Incremental {
        Incremental {
            parameters,
            is_lenient,
            text: String::with_capacity(128),
            at: 0,
            state: State::Start,
            frames: Vec::new(),
            violations: Violations::default(),
            is_rejected: false,
            complete: 0,
            used: [0; 2],
            deepest_union: 0,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn all_violations(&self) -> &Violations {
        &self.violations
    }

    pub(crate) fn violations(&self) -> &[Violation] {
        self.violations.listed()
    }

    pub(crate) fn verdict(&self) -> Verdict {
        match self.state {
            _ if self.is_rejected => Verdict::Rejected,
            State::Malformed => Verdict::Rejected,
            State::End => Verdict::Accepted,
            State::Start | State::Collect => Verdict::Unknown,
            _ => Verdict::Open,
        }
    }

    /// Leaves the verdict to the whole text.
    pub(crate) fn give_up(&mut self) {
        self.state = State::Collect;
    }

    /// Returns the values that are complete. Parses the text so far.
    pub(crate) fn values(&self) -> Map<String, Value> {
        let mut text = self
            .text
            .get(..self.complete)
            .unwrap_or_default()
            .to_owned();
        for frame in self.frames.iter().rev() {
            text.push(match frame.kind {
                FrameKind::Object { .. } | FrameKind::Map { .. } => '}',
                FrameKind::Array { .. } | FrameKind::Tuple { .. } => ']',
            });
        }
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Validates a further piece of the text.
    pub(crate) fn push(&mut self, piece: &str) {
        // Most pieces of a long text are in the middle of a string.
        if let State::Token(token) = &mut self.state
            && token.is_in_plain_string()
            && token.scanned == self.text.len()
            && before_special(piece.as_bytes()) == piece.len()
        {
            token.scanned += piece.len();
            self.text.push_str(piece);
            return;
        }
        self.text.push_str(piece);
        while self.step() {}
    }

    /// Skips white space. Returns the next byte, or `None` at the end of the text so far.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                next => return next.copied(),
            }
        }
    }

    /// Goes on to the next state. Returns `false` if that needs more text.
    #[inline]
    fn step(&mut self) -> bool {
        if let State::Token(token) = self.state {
            return self.scan(token);
        }
        if let State::Collect | State::Malformed = self.state {
            return false;
        }
        let Some(next) = self.peek() else {
            return false;
        };
        match self.state {
            State::Start => self.start(next),
            State::Value(expected) => match expected.schema {
                Some(_) if expected.may_be_null && next == b'n' => {
                    self.value(Expected::value(Some(&Schema::NULL)), next);
                }
                _ => self.value(expected, next),
            },
            State::FirstKey if next == b'}' => self.close(),
            State::FirstItem if next == b']' => self.close(),
            State::FirstItem => self.item(),
            State::FirstKey | State::Key if next == b'"' => {
                self.state = self.token(TokenKind::Key, Expected::NOTHING);
            }
            State::Colon(expected) if next == b':' => {
                self.at += 1;
                self.state = State::Value(expected);
            }
            State::Next => match (next, self.is_object()) {
                (b',', is_object) => {
                    self.at += 1;
                    if is_object {
                        self.state = State::Key;
                    } else {
                        self.item();
                    }
                }
                (b'}', true) | (b']', false) => self.close(),
                _ => self.state = State::Malformed,
            },
            _ => self.state = State::Malformed,
        }
        true
    }

    fn is_object(&self) -> bool {
        let last = self.frames.last().map(|frame| &frame.kind);
        matches!(last, Some(FrameKind::Object { .. } | FrameKind::Map { .. }))
    }

    fn start(&mut self, next: u8) {
        match (next, self.parameters) {
            (b'{', Some(parameters)) => self.open_object(parameters),
            (b'{', None) => self.open(FrameKind::Map {
                schema: ANY,
                rule: &MapRule::ANY,
                seen: KeySet::default(),
            }),
            // Empty text, also as a JSON string, and `null` count as the empty object.
            (b'[' | b'-' | b'0'..=b'9' | b't' | b'f', _) if !self.is_lenient => {
                self.reject(|out| {
                    push(out, format_args!("expected an object, got {}", kind(next)));
                });
                self.give_up();
            }
            _ => self.give_up(),
        }
    }

    fn token(&self, kind: TokenKind, expected: Expected) -> State {
        State::Token(Token {
            kind,
            schema: expected.schema,
            may_be_null: expected.may_be_null,
            is_secret: expected.is_secret,
            // Behind the opening quote.
            scanned: self.at + usize::from(matches!(kind, TokenKind::Key | TokenKind::String)),
            has_escapes: false,
            maximum: match expected.schema.map(|schema| &schema.kind) {
                Some(Kind::String(rule)) => rule.lengths.maximum,
                _ => usize::MAX,
            },
            characters: 0,
            counted: 0,
            depth: 0,
            is_inside: false,
        })
    }

    fn open(&mut self, kind: FrameKind) {
        let is_object = matches!(kind, FrameKind::Object { .. } | FrameKind::Map { .. });
        self.frames.push(Frame {
            kind,
            count: 0,
            key: (0, 0),
            is_reported: false,
        });
        self.at += 1;
        self.complete = self.at;
        self.state = if is_object {
            State::FirstKey
        } else {
            State::FirstItem
        };
    }

    fn open_object(&mut self, properties: &'static [Property]) {
        self.open(FrameKind::Object {
            members: Members::of(properties),
            seen: BitSet::default(),
            seen_others: KeySet::default(),
            next: 0,
        });
    }

    /// Starts a value, whose first byte is `first`.
    fn value(&mut self, expected: Expected, first: u8) {
        let is_bracket = matches!(first, b'{' | b'[');
        if !is_bracket && !matches!(first, b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
            self.state = State::Malformed;
            return;
        }
        let Some(schema) = expected.schema else {
            return self.start_token(Expected::NOTHING, first);
        };
        if self.frames.len() > DEPTH {
            self.reject(|out| push(out, format_args!("nested deeper than {DEPTH} levels")));
            return self.start_token(Expected::NOTHING, first);
        }
        let mut inner = schema;
        // A secret value is validated as a whole, so that no path shows a part of it.
        let mut is_checked = expected.is_secret || inner.decode_check.is_some() || inner.is_secret;
        loop {
            inner = match inner.kind {
                Kind::Nullable(inner) if first != b'n' => inner,
                Kind::Reference(reference) => (reference.target)(),
                _ => break,
            };
            is_checked |= inner.decode_check.is_some() || inner.is_secret;
        }
        if !self.is_lenient && !may_be_kind(inner, first) {
            self.reject(|out| {
                if expected.is_secret {
                    return write_secret_mismatch(out, schema);
                }
                out.push_str("expected ");
                messages::expected(out, schema);
                push(out, format_args!(", got {}", kind(first)));
            });
            return self.start_token(Expected::NOTHING, first);
        }
        match (&inner.kind, first) {
            _ if is_checked => self.start_token(expected, first),
            (Kind::Object(properties), b'{') => self.open_object(properties),
            (Kind::Map(rule), b'{') => self.open(FrameKind::Map {
                schema: inner,
                rule,
                seen: KeySet::default(),
            }),
            (Kind::Any, b'{') => self.open(FrameKind::Map {
                schema: inner,
                rule: &MapRule::ANY,
                seen: KeySet::default(),
            }),
            // Items are compared as they are normalised.
            (Kind::Array(rule), b'[') if rule.is_unique => self.start_token(expected, first),
            (Kind::Array(rule), b'[') => self.open(FrameKind::Array {
                schema: inner,
                rule,
            }),
            (Kind::Any, b'[') => self.open(FrameKind::Array {
                schema: inner,
                rule: &ArrayRule::ANY,
            }),
            (Kind::Tuple(items), b'[') => self.open(FrameKind::Tuple {
                schema: inner,
                items,
            }),
            _ => self.start_token(expected, first),
        }
    }

    fn start_token(&mut self, expected: Expected, first: u8) {
        let kind = match first {
            b'"' => TokenKind::String,
            b'{' | b'[' => TokenKind::Whole,
            _ => TokenKind::Scalar,
        };
        self.state = self.token(kind, expected);
    }

    /// Looks for the end of a token.
    #[inline]
    fn scan(&mut self, mut token: Token) -> bool {
        let end = match token.kind {
            TokenKind::Key | TokenKind::String => self.scan_string(&mut token),
            TokenKind::Scalar => self.scan_scalar(&mut token),
            TokenKind::Whole => self.scan_whole(&mut token),
        };
        match end {
            Some(end) if token.kind == TokenKind::Key => self.end_key(token, end),
            Some(end) => self.end_value(token, end),
            None if matches!(self.state, State::Malformed) => {}
            None => {
                self.check_length(&mut token);
                self.state = State::Token(token);
            }
        }
        end.is_some()
    }

    /// Returns the end of a string.
    #[inline]
    fn scan_string(&mut self, token: &mut Token) -> Option<usize> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(token.scanned..).unwrap_or_default();
            token.scanned += before_special(rest);
            match bytes.get(token.scanned..)? {
                [b'"', ..] => return Some(token.scanned + 1),
                [b'\\', _, ..] => {
                    token.has_escapes = true;
                    token.scanned += 2;
                }
                [b'\\'] | [] => return None,
                _ => {
                    // A control character.
                    self.state = State::Malformed;
                    return None;
                }
            }
        }
    }

    /// Returns the end of a number or a word.
    fn scan_scalar(&mut self, token: &mut Token) -> Option<usize> {
        let rest = self
            .text
            .as_bytes()
            .get(token.scanned..)
            .unwrap_or_default();
        let is_inside =
            |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E');
        let length = rest.iter().position(|byte| !is_inside(byte));
        token.scanned += length.unwrap_or(rest.len());
        length.map(|_| token.scanned)
    }

    /// Returns the end of an array or an object whose members are not followed.
    fn scan_whole(&mut self, token: &mut Token) -> Option<usize> {
        loop {
            if token.is_inside {
                token.scanned = self.scan_string(token)?;
                token.is_inside = false;
            }
            let byte = *self.text.as_bytes().get(token.scanned)?;
            token.scanned += 1;
            match byte {
                b'"' => token.is_inside = true,
                b'{' | b'[' => token.depth += 1,
                b'}' | b']' => {
                    token.depth -= 1;
                    if token.depth == 0 {
                        return Some(token.scanned);
                    }
                }
                _ => {}
            }
        }
    }

    /// Rejects a string that is already too long.
    fn check_length(&mut self, token: &mut Token) {
        let maximum = token.maximum;
        let Some(schema) = token.schema else { return };
        if token.kind != TokenKind::String || token.has_escapes || maximum == usize::MAX {
            return;
        }
        let from = self.at + 1 + token.counted;
        let new = self.text.as_bytes().get(from..token.scanned);
        let new = new.unwrap_or_default();
        token.characters += new.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        token.counted += new.len();
        if token.characters > maximum {
            let count = token.characters;
            self.reject(|out| {
                out.push_str("expected ");
                messages::expected(out, schema);
                push(out, format_args!(", got at least {count} characters"));
            });
            token.schema = None;
            token.maximum = usize::MAX;
        }
    }

    /// Handles a key that is complete.
    #[inline]
    fn end_key(&mut self, token: Token, end: usize) {
        let start = self.at;
        self.at = end;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.key = (start, end);
        // Usually the property after the last one.
        if let FrameKind::Object {
            members,
            next,
            seen,
            ..
        } = &mut frame.kind
            && !token.has_escapes
            && let Some(property) = members.known.get(*next)
            && self.text.as_bytes().get(start + 1..end - 1) == Some(property.name().as_bytes())
            && seen.insert(*next)
        {
            *next += 1;
            self.state = State::Colon(Expected::property(property));
            return;
        }
        self.state = State::Colon(self.other_key(start, end));
    }

    /// Handles a key other than the one that was expected. Returns what its value must match.
    fn other_key(&mut self, start: usize, end: usize) -> Expected {
        let quoted = self.text.get(start..end).unwrap_or_default();
        let Some(key) = unquote(quoted).map(Cow::into_owned) else {
            let message = "contains an unpaired surrogate, which is not valid text";
            self.reject(|out| out.push_str(message));
            return Expected::NOTHING;
        };
        let Some(frame) = self.frames.last_mut() else {
            return Expected::NOTHING;
        };
        let (expected, is_twice) = match &mut frame.kind {
            FrameKind::Object {
                members,
                seen,
                seen_others,
                next,
            } => {
                let mut known = members.known.iter();
                match (
                    known.position(|property| property.has_name(&key)),
                    members.others,
                ) {
                    (Some(place), _) => {
                        *next = place + 1;
                        let property = Expected::property(&members.known[place]);
                        (property, !seen.insert(place))
                    }
                    (None, Some(values)) => {
                        let is_twice = seen_others.contains(&key);
                        seen_others.insert(Cow::Owned(key));
                        let value = Expected {
                            is_secret: any_secret(&members.known),
                            ..Expected::value(Some(values))
                        };
                        (value, is_twice)
                    }
                    (None, None) => {
                        let mut message = String::new();
                        let names = members.known.iter().map(Property::name);
                        unknown(&mut message, &key, names);
                        self.reject(|out| out.push_str(&message));
                        return Expected::NOTHING;
                    }
                }
            }
            FrameKind::Map { schema, rule, seen } => {
                let (schema, rule) = (*schema, *rule);
                let value = key_value(rule.keys, Cow::Borrowed(&key)).map(Cow::into_owned);
                let is_twice = value.as_ref().is_some_and(|value| seen.contains(value));
                seen.insert(Cow::Owned(value.as_ref().unwrap_or(&key).clone()));
                let count = seen.len();
                self.check_count(schema, rule.lengths, count);
                let Some(value) = value else {
                    self.reject(|out| write_unknown_key(out, rule.keys, &key));
                    return Expected::NOTHING;
                };
                if is_twice && value != key {
                    self.reject(|out| write_same_key(out, &value));
                    return Expected::NOTHING;
                }
                (Expected::value(Some(rule.values)), is_twice)
            }
            FrameKind::Array { .. } | FrameKind::Tuple { .. } => return Expected::NOTHING,
        };
        if is_twice {
            self.reject(|out| out.push_str("given twice; give it once"));
            return Expected::NOTHING;
        }
        expected
    }

    /// Starts an item of an array.
    fn item(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let index = frame.count;
        frame.count += 1;
        let (schema, lengths, item) = match frame.kind {
            FrameKind::Array { schema, rule } => (schema, rule.lengths, Some(rule.items)),
            FrameKind::Tuple { schema, items } => {
                let lengths = Lengths::exactly(items.len());
                (schema, lengths, items.get(index).copied())
            }
            FrameKind::Object { .. } | FrameKind::Map { .. } => return,
        };
        self.check_count(schema, lengths, index + 1);
        self.state = State::Value(Expected::value(item));
    }

    /// Rejects an array or a map that has too many items.
    fn check_count(&mut self, schema: &Schema, lengths: Lengths, count: usize) {
        if count <= lengths.maximum {
            return;
        }
        if let Some(frame) = self.frames.last_mut()
            && !std::mem::replace(&mut frame.is_reported, true)
        {
            let depth = self.frames.len() - 1;
            self.reject_at(depth, |out| write_mismatch(out, schema, &count.to_string()));
        }
    }

    /// Handles the closing bracket of an array or an object.
    fn close(&mut self) {
        self.at += 1;
        let Some(frame) = self.frames.pop() else {
            self.state = State::Malformed;
            return;
        };
        match frame.kind {
            FrameKind::Object { members, seen, .. } => {
                for (place, property) in members.known.iter().enumerate() {
                    if property.is_required() && !seen.contains(place) {
                        let mut path = self.path(self.frames.len());
                        push_key(&mut path, property.name());
                        self.is_rejected = true;
                        self.violations.push_with(|| {
                            Violation::new(path, |out| {
                                out.push_str("missing; expected ");
                                messages::expected(out, property.schema);
                            })
                        });
                    }
                }
            }
            FrameKind::Map { schema, rule, seen } => {
                self.check_minimum(schema, rule.lengths, seen.len());
            }
            FrameKind::Array { schema, rule } => {
                self.check_minimum(schema, rule.lengths, frame.count);
            }
            FrameKind::Tuple { schema, items } => {
                self.check_minimum(schema, Lengths::exactly(items.len()), frame.count);
            }
        }
        self.end();
    }

    fn check_minimum(&mut self, schema: &Schema, lengths: Lengths, count: usize) {
        if count < lengths.minimum {
            self.reject(|out| write_mismatch(out, schema, &count.to_string()));
        }
    }

    /// Ends a value.
    #[inline]
    fn end(&mut self) {
        self.complete = self.at;
        self.state = if self.frames.is_empty() {
            State::End
        } else {
            State::Next
        };
    }

    /// Validates a value that is complete.
    fn end_value(&mut self, token: Token, end: usize) {
        let start = std::mem::replace(&mut self.at, end);
        self.end();
        let Some(schema) = token.schema else { return };
        let value = self.text.get(start..end).unwrap_or_default();
        if is_valid(schema, value, token) {
            return;
        }
        if self.is_lenient
            && token.may_be_null
            && unquote(value).is_some_and(|text| is_nothing(schema, &text))
        {
            return;
        }
        let allowed = self.text.len().saturating_mul(512).saturating_add(1 << 16);
        let mut validator = Validator::new(value, true);
        validator.is_lenient = self.is_lenient;
        let budgets = self.used.map(|used| allowed.saturating_sub(used));
        [validator.budget, validator.decode_budget] = budgets;
        validator.deepest_union = self.deepest_union;
        if token.is_secret {
            validator.secret_value(schema, &Path::ROOT, self.frames.len());
        } else {
            validator.value(schema, &Path::ROOT, self.frames.len());
        }
        let is_json = validator.is_json_to_end();
        self.used = [
            self.used[0] + (budgets[0] - validator.budget),
            self.used[1] + (budgets[1] - validator.decode_budget),
        ];
        self.deepest_union = validator.deepest_union;
        if !is_json {
            self.state = State::Malformed;
        } else if validator.is_exhausted {
            // More text gives a greater budget.
            self.give_up();
        } else if !validator.violations.is_empty() {
            self.is_rejected = true;
            let path = self.path(self.frames.len());
            let (listed, more) = validator.violations.into_parts();
            for violation in listed {
                let mut path = path.clone();
                push_path(&mut path, violation.path());
                let message = violation.message();
                self.violations
                    .push_with(|| Violation::new(path, |out| out.push_str(message)));
            }
            self.violations.count(more);
        }
    }

    /// Reports a violation at the current value.
    fn reject(&mut self, message: impl FnOnce(&mut String)) {
        self.reject_at(self.frames.len(), message);
    }

    #[cold]
    fn reject_at(&mut self, depth: usize, message: impl FnOnce(&mut String)) {
        self.is_rejected = true;
        let path = self.path(depth);
        self.violations.push_with(|| Violation::new(path, message));
    }

    /// Returns the path to the current value in the outermost `depth` frames.
    fn path(&self, depth: usize) -> String {
        let mut path = String::new();
        for frame in self.frames.iter().take(depth) {
            match frame.kind {
                FrameKind::Object { .. } | FrameKind::Map { .. } => {
                    let quoted = self.text.get(frame.key.0..frame.key.1);
                    let quoted = quoted.unwrap_or_default();
                    let key = unquote(quoted).unwrap_or(Cow::Borrowed(quoted));
                    push_key(&mut path, &key);
                }
                FrameKind::Array { .. } | FrameKind::Tuple { .. } => {
                    push_index(&mut path, frame.count.saturating_sub(1));
                }
            }
        }
        path
    }
}

/// Returns `true` if a value certainly matches its schema, for the most frequent kinds.
#[inline]
fn is_valid(schema: &Schema, value: &str, token: Token) -> bool {
    if schema.decode_check.is_some() {
        return false;
    }
    match &schema.kind {
        Kind::String(rule) => {
            token.kind == TokenKind::String
                && !token.has_escapes
                && rule.lengths.is_any()
                && rule.pattern.is_empty()
        }
        Kind::Boolean => matches!(value, "true" | "false"),
        Kind::Integer(range) => {
            let mut cursor = Cursor::new(value);
            let number = cursor.eat_integer().map(i128::from);
            cursor.position() == value.len()
                && number.is_some_and(|number| matches!(range.violated(number), [None, None]))
        }
        Kind::Number(range) => {
            let mut cursor = Cursor::new(value);
            let is_plain = cursor.eat_integer().is_some() || cursor.eat_decimal().is_some();
            is_plain && cursor.position() == value.len() && range.is_any()
        }
        Kind::Enum(strings) => {
            let inner = value.get(1..value.len().saturating_sub(1));
            token.kind == TokenKind::String
                && !token.has_escapes
                && inner.is_some_and(|inner| strings.contains(inner))
        }
        Kind::Null => value == "null",
        _ => false,
    }
}

/// Returns the kind of a value that starts with this byte.
fn kind(first: u8) -> &'static str {
    match first {
        b'"' => "a string",
        b'{' => "an object",
        b'[' => "an array",
        b't' | b'f' => "true or false",
        b'n' => "null",
        _ => "a number",
    }
}
