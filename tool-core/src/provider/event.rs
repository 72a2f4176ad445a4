//! [`EventJson`] and [`Event`]: the JSON of an event of a stream, read without a tree of values.
//!
//! Most events of a stream are small and alike: a piece of text among members that repeat. An [`EventReader`] lists the
//! values of such an event in one pass, and allocates nothing once it has read another. What it does not read, because
//! it is spelled unusually, invalid, large or deep, is read as a [`Value`]. [`Json`] is both to the reader of a stream.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value;

use crate::provider::value_limit::{ParseError, ValueLimit};
use crate::schema::cursor::Cursor;

/// The last event of some streams, which is no JSON.
pub const DONE: &str = "[DONE]";

/// The levels that values may nest.
const DEPTH: usize = 24;
/// The values and keys that an event may have, so that a list of them takes little memory.
const TOKENS: usize = 2_000;
/// The members that an object may have. Each is compared with those before it.
const MEMBERS: usize = 16;

/// A value of an event: an [`Event`], or a [`Value`] behind a reference. A reader of a stream takes both.
///
/// ```
/// use tool_core::dialect::write::{EventReader, Json};
///
/// fn text<'e>(event: impl Json<'e>) -> Option<&'e str> {
///     event.get("delta").get("text").as_str()
/// }
///
/// let json = r#"{"delta":{"text":"Hi"}}"#;
/// let value = serde_json::from_str(json).unwrap();
/// assert_eq!(text(&value), Some("Hi"));
/// let mut reader = EventReader::default();
/// assert_eq!(reader.read(json).and_then(text), Some("Hi"));
/// ```
pub trait Json<'e>: Copy {
    /// Returns the member `key`, or `null`.
    fn get(self, key: &str) -> Self;

    /// Returns a string.
    fn as_str(self) -> Option<&'e str>;

    /// Returns an integer that is not negative.
    fn as_u64(self) -> Option<u64>;

    /// Returns `true` for `null`.
    fn is_null(self) -> bool;

    /// Returns `true` for an object.
    fn is_object(self) -> bool;

    /// Returns `true` for an array.
    fn is_array(self) -> bool;

    /// Returns the members of an object, in any order. Other values have none.
    fn members(self) -> impl Iterator<Item = (&'e str, Self)>;

    /// Returns the items of an array. Other values have none.
    fn items(self) -> impl Iterator<Item = Self>;

    /// Returns the first item of an array, or `null`.
    fn first(self) -> Self;

    /// Returns it as a value.
    fn value(self) -> Cow<'e, Value>;

    /// Returns `true` if it equals a value.
    fn is(self, value: &Value) -> bool;

    /// Returns its JSON text, if it is read from one.
    fn json_text(self) -> Option<&'e str>;
}

/// Parses JSON that an [`EventReader`] has read.
fn parse(json: &str) -> Value {
    let value = serde_json::from_str(json);
    debug_assert!(value.is_ok(), "{value:?}");
    value.unwrap_or_default()
}

impl<'e> Json<'e> for &'e Value {
    fn get(self, key: &str) -> Self {
        &self[key]
    }

    fn as_str(self) -> Option<&'e str> {
        Value::as_str(self)
    }

    fn as_u64(self) -> Option<u64> {
        Value::as_u64(self)
    }

    fn is_null(self) -> bool {
        Value::is_null(self)
    }

    fn is_object(self) -> bool {
        Value::is_object(self)
    }

    fn is_array(self) -> bool {
        Value::is_array(self)
    }

    fn members(self) -> impl Iterator<Item = (&'e str, Self)> {
        let members = self.as_object().into_iter().flatten();
        members.map(|(key, value)| (&**key, value))
    }

    fn items(self) -> impl Iterator<Item = Self> {
        self.as_array().into_iter().flatten()
    }

    fn first(self) -> Self {
        &self[0]
    }

    fn value(self) -> Cow<'e, Value> {
        Cow::Borrowed(self)
    }

    fn is(self, value: &Value) -> bool {
        self == value
    }

    fn json_text(self) -> Option<&'e str> {
        None
    }
}

/// The JSON of an event of a stream: the `data` of a server-sent event. The `[DONE]` that ends some streams is one, too, and
/// its value is that string.
///
/// Most events are kept as their text, with the places of the values in it. That costs less than a [`Value`], and
/// [`StreamReader::json`](crate::dialect::StreamReader::json) reads it without one.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::write::{EventJson, ValueLimit};
///
/// let mut limit = ValueLimit::default();
/// let event = EventJson::parse(r#"{"type":"ping"}"#, &mut limit)?;
/// assert_eq!(*event.value(), json!({"type": "ping"}));
/// # Ok::<(), tool_core::dialect::write::ParseError>(())
/// ```
#[derive(Clone)]
pub struct EventJson(Form);

#[derive(Clone)]
enum Form {
    Text(String, EventReader),
    Value(Value),
}

impl EventJson {
    /// Parses an event. `limit` is that of all events of the stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the event has more than a million values, or if it is not JSON.
    pub fn parse(json: impl Into<String>, limit: &mut ValueLimit) -> Result<EventJson, ParseError> {
        let json = json.into();
        if json.trim_ascii() == DONE {
            return Ok(EventJson(Form::Value(DONE.into())));
        }
        // A token takes about that many bytes of JSON.
        let mut reader = EventReader {
            tokens: Vec::with_capacity((json.len() / 8).min(TOKENS)),
            ..EventReader::default()
        };
        Ok(EventJson(match reader.read(&json).map(Event::values) {
            Some(values) => {
                limit.check(values)?;
                Form::Text(json, reader)
            }
            None => Form::Value(limit.parse_event(json.as_bytes())?),
        }))
    }

    /// Returns the event as a value.
    #[inline]
    pub fn value(&self) -> Cow<'_, Value> {
        match &self.0 {
            Form::Text(json, reader) => reader.event(json).value(),
            Form::Value(value) => Cow::Borrowed(value),
        }
    }

    /// Returns the event as it was read, or its value.
    #[inline]
    pub fn read(&self) -> Result<Event<'_>, &Value> {
        match &self.0 {
            Form::Text(json, reader) => Ok(reader.event(json)),
            Form::Value(value) => Err(value),
        }
    }
}

impl From<Value> for EventJson {
    fn from(value: Value) -> EventJson {
        EventJson(Form::Value(value))
    }
}

/// The content is not in the output, because arguments of calls may be secret.
impl fmt::Debug for EventJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventJson").finish_non_exhaustive()
    }
}

/// Reads events, one after the other.
///
/// ```
/// use tool_core::dialect::write::{EventReader, Json};
///
/// let mut reader = EventReader::default();
/// let event = reader.read(r#"{"type":"ping"}"#).unwrap();
/// assert_eq!(event.get("type").as_str(), Some("ping"));
/// // What is unusual is left to `serde_json`.
/// assert!(reader.read("1e3").is_none());
/// ```
#[derive(Clone, Default)]
pub struct EventReader {
    /// The values of an event, each before what is in it. The first is the `null` of what is absent, and the second is the
    /// event. An object has keys and values in turn.
    tokens: Vec<Token>,
    /// The strings that have escapes.
    unescaped: Vec<String>,
    /// The places where a value may start, as [`ValueLimit`](super::value_limit::ValueLimit) counts them.
    values: usize,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    /// The text, with the quotes of a string. No event that is read here is longer than four gigabytes.
    start: u32,
    end: u32,
    /// For a container the token after its content, and for a string with escapes its number.
    next: u32,
}

impl Token {
    #[inline]
    fn text(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Decimal,
    /// A string without escapes.
    Plain,
    Escaped,
    Array,
    Object,
}

impl EventReader {
    /// Reads an event, or returns `None` if it has to be read as a value.
    pub fn read<'e>(&'e mut self, json: &'e str) -> Option<Event<'e>> {
        u32::try_from(json.len()).ok()?;
        self.tokens.clear();
        self.unescaped.clear();
        self.values = 1;
        self.push(Kind::Null, 0, 0);
        let mut cursor = Cursor::new(json);
        self.value(&mut cursor, DEPTH)?;
        cursor.is_at_end().then(|| self.event(json))
    }

    /// Returns the event that was read last, of this text.
    #[inline]
    fn event<'e>(&'e self, json: &'e str) -> Event<'e> {
        Event {
            reader: self,
            json,
            at: 1,
        }
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the length of the event was checked"
    )]
    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.tokens.push(Token {
            kind,
            start: start as u32,
            end: end as u32,
            next: self.unescaped.len() as u32,
        });
    }

    fn value(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        if self.tokens.len() > TOKENS {
            return None;
        }
        let next = cursor.peek();
        let start = cursor.position();
        let kind = match next {
            b'"' => return self.string(cursor),
            b'{' => return self.object(cursor, depth),
            b'[' => return self.array(cursor, depth),
            b'n' if cursor.eat_word("null") => Kind::Null,
            b't' | b'f' => cursor.eat_bool().map(|_| Kind::Boolean)?,
            _ if cursor.eat_integer().is_some() => Kind::Integer,
            _ => cursor.eat_decimal().map(|_| Kind::Decimal)?,
        };
        self.push(kind, start, cursor.position());
        Some(())
    }

    fn string(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let start = cursor.position();
        if cursor.eat_plain_string().is_some() {
            self.push(Kind::Plain, start, cursor.position());
            return Some(());
        }
        let unescaped = match cursor.eat_escaped_string() {
            Some(text) => text,
            // With `\u`, or invalid.
            None => cursor.string().text()?.into_owned(),
        };
        self.push(Kind::Escaped, start, cursor.position());
        self.unescaped.push(unescaped);
        Some(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        let at = self.open(Kind::Object, cursor);
        if cursor.peek() == b'}' {
            return self.close(at, b'}', cursor);
        }
        let mut keys = [""; MEMBERS];
        for count in 0..MEMBERS {
            cursor.peek();
            let start = cursor.position();
            let key = cursor.eat_plain_string()?;
            // Of two members with one key, the last counts.
            let mut known = keys[..count].iter();
            if known.any(|known| known.len() == key.len() && *known == key) {
                return None;
            }
            keys[count] = key;
            self.push(Kind::Plain, start, cursor.position());
            if !cursor.eat(b':') {
                return None;
            }
            self.value(cursor, depth.checked_sub(1)?)?;
            if !self.goes_on(cursor) {
                return self.close(at, b'}', cursor);
            }
        }
        None
    }

    fn array(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
        let at = self.open(Kind::Array, cursor);
        if cursor.peek() != b']' {
            loop {
                self.value(cursor, depth.checked_sub(1)?)?;
                if !self.goes_on(cursor) {
                    break;
                }
            }
        }
        self.close(at, b']', cursor)
    }

    fn open(&mut self, kind: Kind, cursor: &mut Cursor<'_>) -> usize {
        self.values += 1;
        self.push(kind, cursor.position(), 0);
        cursor.skip(1);
        self.tokens.len() - 1
    }

    fn goes_on(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let goes_on = cursor.eat(b',');
        self.values += usize::from(goes_on);
        goes_on
    }

    /// Returns the token after a value.
    #[inline]
    fn after(&self, at: usize) -> usize {
        let token = self.tokens[at];
        match token.kind {
            Kind::Array | Kind::Object => token.next as usize,
            _ => at + 1,
        }
    }

    fn close(&mut self, at: usize, end: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        if !cursor.eat(end) {
            return None;
        }
        let next = u32::try_from(self.tokens.len()).ok()?;
        let end = u32::try_from(cursor.position()).ok()?;
        let token = &mut self.tokens[at];
        (token.next, token.end) = (next, end);
        Some(())
    }
}

/// A value in an event that an [`EventReader`] has read.
///
/// ```
/// use tool_core::dialect::write::{EventReader, Json};
///
/// let mut reader = EventReader::default();
/// let event = reader.read(r#"{"index":1,"text":"Hi"}"#).unwrap();
/// assert_eq!((event.get("index").as_u64(), event.get("text").as_str()), (Some(1), Some("Hi")));
/// ```
#[derive(Clone, Copy)]
pub struct Event<'e> {
    reader: &'e EventReader,
    json: &'e str,
    at: usize,
}

impl<'e> Event<'e> {
    /// Returns how many values the event has, as [`ValueLimit`](super::value_limit::ValueLimit) counts them.
    #[inline]
    pub fn values(self) -> usize {
        self.reader.values
    }

    /// Returns about how many bytes the event would take as a value.
    #[inline]
    pub fn size(self) -> usize {
        self.json.len() + self.reader.tokens.len() * 64
    }

    #[inline]
    fn token(self) -> Token {
        self.reader.tokens[self.at]
    }

    #[inline]
    fn text(self) -> &'e str {
        let token = self.token();
        match token.kind {
            // What is absent has no text.
            Kind::Null => "null",
            _ => &self.json[token.text()],
        }
    }

    #[inline]
    fn at(self, at: usize) -> Event<'e> {
        Event { at, ..self }
    }

    /// Returns the values in an object or an array, with the keys.
    #[inline]
    fn content(self, kind: Kind) -> impl Iterator<Item = Event<'e>> {
        let token = self.token();
        let end = if token.kind == kind {
            token.next as usize
        } else {
            0
        };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let value = self.at(at);
                at = self.reader.after(at);
                value
            })
        })
    }

    /// Returns a string without escapes.
    #[inline]
    fn plain(self) -> &'e str {
        let text = self.token().text();
        &self.json[text.start + 1..text.end - 1]
    }
}

impl<'e> Json<'e> for Event<'e> {
    #[inline]
    fn get(self, key: &str) -> Self {
        let object = self.token();
        let mut at = self.at + 1;
        if object.kind == Kind::Object {
            while at < object.next as usize {
                let known = self.reader.tokens[at].text();
                // By bytes, because most keys differ in their length.
                if known.len() == key.len() + 2
                    && self.json.as_bytes()[known.start + 1..known.end - 1] == *key.as_bytes()
                {
                    return self.at(at + 1);
                }
                at = self.reader.after(at + 1);
            }
        }
        self.at(0)
    }

    #[inline]
    fn as_str(self) -> Option<&'e str> {
        let token = self.token();
        match token.kind {
            Kind::Plain => Some(self.plain()),
            Kind::Escaped => Some(&self.reader.unescaped[token.next as usize]),
            _ => None,
        }
    }

    #[inline]
    fn as_u64(self) -> Option<u64> {
        let is_integer = self.token().kind == Kind::Integer;
        is_integer.then(|| self.text().parse().ok()).flatten()
    }

    #[inline]
    fn is_null(self) -> bool {
        self.token().kind == Kind::Null
    }

    #[inline]
    fn is_object(self) -> bool {
        self.token().kind == Kind::Object
    }

    #[inline]
    fn is_array(self) -> bool {
        self.token().kind == Kind::Array
    }

    #[inline]
    fn members(self) -> impl Iterator<Item = (&'e str, Self)> {
        let mut content = self.content(Kind::Object);
        std::iter::from_fn(move || Some((content.next()?.plain(), content.next()?)))
    }

    #[inline]
    fn items(self) -> impl Iterator<Item = Self> {
        self.content(Kind::Array)
    }

    #[inline]
    fn first(self) -> Self {
        self.items().next().unwrap_or(self.at(0))
    }

    #[inline]
    fn value(self) -> Cow<'e, Value> {
        Cow::Owned(match self.as_str() {
            Some(text) => text.into(),
            None => parse(self.text()),
        })
    }

    #[inline]
    fn is(self, value: &Value) -> bool {
        match value {
            Value::Null => self.is_null(),
            Value::String(text) => self.as_str() == Some(text),
            Value::Number(number) if number.is_u64() => self.as_u64() == number.as_u64(),
            // Few values need that.
            _ => *self.value() == *value,
        }
    }

    #[inline]
    fn json_text(self) -> Option<&'e str> {
        Some(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads every part of an event in both ways.
    fn assert_same(event: Event<'_>, value: &Value) {
        assert_eq!(*event.value(), *value);
        assert!(event.is(value));
        assert_eq!(event.as_str(), value.as_str());
        assert_eq!(event.as_u64(), value.as_u64());
        assert_eq!(event.is_null(), value.is_null());
        assert_eq!(event.is_object(), value.is_object());
        assert_eq!(event.is_array(), value.is_array());
        assert_eq!(event.members().count(), Json::members(value).count());
        for (key, member) in Json::members(value) {
            assert_same(event.get(key), member);
        }
        assert!(event.get("no such key").is_null());
        let items: Vec<_> = event.items().collect();
        assert_eq!(items.len(), Json::items(value).count());
        assert_eq!(*event.first().value(), value[0]);
        for (event, item) in items.into_iter().zip(Json::items(value)) {
            assert_same(event, item);
        }
        let text = event.json_text().map(serde_json::from_str::<Value>);
        assert_eq!(text.unwrap().unwrap(), *value);
    }

    #[test]
    fn an_event_has_what_its_value_has() {
        let mut reader = EventReader::default();
        for json in [
            r#"{"id":"a\"b\\\n","object":"x","n":null,"t":true,"f":false,"e":{},"l":[],"choices":[{"index":0}]}"#,
            " { \"a\" : [ 1 , -2 , 3.5 , 0 , 123456789012345678 ] , \"b\" : \"\\u00e9\\ud83d\\ude00\" } ",
            "[]",
            "7",
            r#""plain é""#,
            r#"[[[{"a":{"b":[{}]}}]]]"#,
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            let event = reader.read(json);
            assert_same(event.unwrap_or_else(|| panic!("{json}")), &value);
        }
    }

    /// Whatever is read is valid JSON with the same meaning, also after every change of one byte.
    #[test]
    fn what_is_read_is_valid() {
        let json = r#"{"a":"b\n\u0041","n":[1,-20,3.5],"x":null,"b":true,"o":{"k":{"d":[]}}} "#;
        let mut reader = EventReader::default();
        let mut read = 0;
        for at in 0..json.len() {
            for byte in b"\"\\{}[],:019.-eEntu \n\x01a" {
                let mut changed = json.as_bytes().to_vec();
                changed[at] = *byte;
                for text in [&changed[..], &changed[..at], &changed[at..]] {
                    let text = String::from_utf8_lossy(text);
                    if let Some(event) = reader.read(&text) {
                        read += 1;
                        let value = serde_json::from_str::<Value>(&text);
                        let value = value.unwrap_or_else(|error| panic!("{text}: {error}"));
                        assert_same(event, &value);
                    }
                }
            }
        }
        assert!(read > 300, "{read}");
    }

    #[test]
    fn what_is_unusual_is_left_to_values() {
        let mut reader = EventReader::default();
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let wide: Vec<_> = (0..100).map(|at| format!("\"{at}\":0")).collect();
        let wide = format!("{{{}}}", wide.join(","));
        let long = format!("[{}0]", "0,".repeat(5_000));
        for json in [
            "",
            "{",
            "{}}",
            "{,}",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "1e3",
            "01",
            "-0",
            "\"\\ud800\"",
            "{\"a\":1,\"a\":2}",
            "{\"\\u0061\":1}",
            "nul",
            "12345678901234567890",
            &deep,
            &wide,
            &long,
        ] {
            assert!(reader.read(json).is_none(), "{json}");
        }
        assert!(reader.read("{\"a\":1}").is_some());
    }
}
