//! [`Json`]: a JSON value that keeps the order of keys and the spelling of numbers.

mod constraints;
#[cfg(feature = "dynamic")]
pub(crate) mod expected;
pub(crate) mod keywords;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

#[cfg(feature = "dynamic")]
use serde_json::Value;

use crate::schema::cursor::{Cursor, before_special};
use crate::visible;

/// Appends a step to a JSON pointer.
pub(crate) fn pointer_below(place: &str, key: &str) -> String {
    let mut pointer = String::with_capacity(place.len() + 1 + key.len());
    pointer.push_str(place);
    pointer.push('/');
    if key.contains(['~', '/']) {
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(key);
    }
    pointer
}

/// Returns the key that a step of a JSON pointer stands for.
pub(crate) fn pointer_key(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A JSON value that keeps the order of keys and the spelling of numbers, such as a schema.
///
/// People and models read schemas, so the order of keys matters, and a bound may have more digits
/// than a float holds. `serde_json::Value` keeps neither.
///
/// ```
/// use tool_core::schema::Json;
///
/// let schema = Json::parse(r#"{"type": "object", "properties": {"b": {"maximum": 1.50}, "a": {}}}"#)?;
/// let keys: Vec<_> = schema.get_members("properties").iter().map(|(key, _)| &**key).collect();
/// assert_eq!(keys, ["b", "a"]);
/// let maximum = schema.pointer("/properties/b/maximum").and_then(Json::as_number);
/// assert_eq!(maximum, Some("1.50"));
/// assert_eq!(schema.get("properties").unwrap().to_string(), r#"{"b":{"maximum":1.50},"a":{}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number as spelled in the source.
    Number(String),
    /// A string, without its quotes and escapes.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of its members. No key occurs twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a whole text. Of members with the same name the last wins, as in `serde_json`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not valid JSON, or nested more than 127 levels deep.
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        Json::parse_both(text).map(|(json, _)| json)
    }

    /// Parses a whole text. Returns the value without its order, too.
    pub(crate) fn parse_both(text: &str) -> Result<(Json, serde_json::Value), serde_json::Error> {
        // The cursor requires valid JSON. This also limits the depth.
        let value = serde_json::from_str(text)?;
        Ok((read(&mut Cursor::new(text)), value))
    }

    /// Creates an object from the members that have a value.
    pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Option<Json>)>) -> Json {
        let members = members.into_iter();
        let members = members.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Json::Object(members.collect())
    }

    /// Returns the members of an object; nothing for any other value.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the items of an array; nothing for any other value.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the content of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the spelling of a number.
    pub fn as_number(&self) -> Option<&str> {
        match self {
            Json::Number(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of an object's member.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let found = self.members().iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// Returns the content of a member that is a string.
    pub fn get_str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Returns the spelling of a member that is a number.
    pub fn get_number(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_number()
    }

    /// Returns the items of a member that is an array; nothing for any other value.
    pub fn get_items(&self, key: &str) -> &[Json] {
        self.get(key).map_or(&[], Json::items)
    }

    /// Returns the members of a member that is an object; nothing for any other value.
    pub fn get_members(&self, key: &str) -> &[(String, Json)] {
        self.get(key).map_or(&[], Json::members)
    }

    /// Returns the member with this key, or the item with this index.
    pub(crate) fn child(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => self.get(key),
        }
    }

    /// Resolves a JSON pointer, such as `/$defs/Node`. The empty pointer leads to the value itself.
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        let mut value = self;
        for step in pointer.split('/').skip(1) {
            value = value.child(&pointer_key(step))?;
        }
        Some(value)
    }

    /// Returns the name of the type in JSON Schema. A number without fraction and exponent is an
    /// integer.
    #[cfg(feature = "dynamic")]
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Boolean(_) => "boolean",
            Json::Number(text) if text.contains(['.', 'e', 'E']) => "number",
            Json::Number(_) => "integer",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// Returns the value without its order.
    #[cfg(feature = "dynamic")]
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Boolean(value) => Value::Bool(*value),
            // Valid JSON has no number that `serde_json` does not read.
            Json::Number(text) => serde_json::from_str(text).unwrap_or_default(),
            Json::String(text) => Value::from(&**text),
            Json::Array(items) => items.iter().map(Json::to_value).collect(),
            Json::Object(members) => {
                let members = members.iter();
                let members = members.map(|(key, value)| (key.clone(), value.to_value()));
                Value::Object(members.collect())
            }
        }
    }

    /// Writes on one line, or indented if a depth is given.
    fn write(&self, out: &mut String, indent: Option<usize>, quote: &dyn Fn(&str) -> String) {
        let inner = indent.map(|depth| depth + 1);
        match self {
            Json::Null => out.push_str("null"),
            Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => out.push_str(&quote(text)),
            Json::Array(items) if indent.is_none() || fits_one_line(items) => {
                let separator = if indent.is_some() { ", " } else { "," };
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { separator } else { "" });
                    item.write(out, None, quote);
                }
                out.push(']');
            }
            Json::Array(items) => {
                enclose(out, indent, ['[', ']'], items, |out, item| {
                    item.write(out, inner, quote);
                });
            }
            Json::Object(members) => {
                enclose(out, indent, ['{', '}'], members, |out, (key, value)| {
                    out.push_str(&quote(key));
                    out.push_str(if indent.is_some() { ": " } else { ":" });
                    value.write(out, inner, quote);
                });
            }
        }
    }
}

/// Returns the indented text, with each string written by `quote`.
pub fn pretty(json: &Json, quote: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    json.write(&mut out, Some(0), quote);
    out
}

/// Writes the compact text; with `{:#}`, an indented one.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, f.alternate().then_some(0), &quote);
        f.write_str(&out)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Boolean(value)
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Json {
        Json::Array(items.into_iter().collect())
    }
}

impl FromIterator<(String, Json)> for Json {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(members: I) -> Json {
        Json::Object(members.into_iter().collect())
    }
}

/// Returns `true` if an array consists of few, short scalars.
fn fits_one_line(items: &[Json]) -> bool {
    let width = items.iter().map(|item| match item {
        Json::String(text) | Json::Number(text) => text.len() + 4,
        _ => 6,
    });
    let is_scalar = |item: &Json| !matches!(item, Json::Array(_) | Json::Object(_));
    items.iter().all(is_scalar) && width.sum::<usize>() <= 80
}

fn enclose<T>(
    out: &mut String,
    indent: Option<usize>,
    [open, close]: [char; 2],
    parts: &[T],
    write: impl Fn(&mut String, &T),
) {
    out.push(open);
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        if let Some(depth) = indent {
            new_line(out, depth + 1);
        }
        write(out, part);
    }
    if let Some(depth) = indent.filter(|_| !parts.is_empty()) {
        new_line(out, depth);
    }
    out.push(close);
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
}

/// A JSON string in quotes. Hidden characters are escaped, because people read the text.
pub(crate) fn quote(text: &str) -> String {
    if text.is_ascii() && before_special(text.as_bytes()) == text.len() {
        return ["\"", text, "\""].concat();
    }
    let plain = serde_json::Value::from(text).to_string();
    match visible::escape_json(&plain) {
        Cow::Borrowed(_) => plain,
        Cow::Owned(escaped) => escaped,
    }
}

/// The number of members from which an object that is read gets an index.
const MANY: usize = 16;

fn read(cursor: &mut Cursor<'_>) -> Json {
    match cursor.peek() {
        b'{' => {
            let mut members: Vec<(String, Json)> = Vec::new();
            let mut indices = HashMap::new();
            cursor.eat(b'{');
            while !cursor.eat(b'}') && cursor.peek() != 0 {
                let key = cursor.key().text().unwrap_or_default();
                let value = read(cursor);
                let before = if members.len() < MANY {
                    members.iter().position(|(name, _)| *name == key)
                } else {
                    for (at, (name, _)) in members.iter().enumerate().skip(indices.len()) {
                        indices.insert(name.clone(), at);
                    }
                    indices.get(&*key).copied()
                };
                match before {
                    Some(at) => members[at].1 = value,
                    None => members.push((key.into_owned(), value)),
                }
                cursor.eat(b',');
            }
            Json::Object(members)
        }
        b'[' => {
            let mut items = Vec::new();
            cursor.eat(b'[');
            while !cursor.eat(b']') && cursor.peek() != 0 {
                items.push(read(cursor));
                cursor.eat(b',');
            }
            Json::Array(items)
        }
        b'"' => Json::String(cursor.string().text().unwrap_or_default().into_owned()),
        _ => match cursor.scalar() {
            "null" => Json::Null,
            word @ ("true" | "false") => Json::Boolean(word == "true"),
            number => Json::Number(number.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_are_kept() {
        let text = r#"{"z":[1.0,-170141183460469231731687303715884105728,1e2],"a":{"b":null,"":true},"é\n":[{}]}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(json.to_string(), text);
        assert_eq!(json.pointer("/z/2").and_then(Json::as_number), Some("1e2"));
        assert_eq!(json.pointer("/a/b"), Some(&Json::Null));
        assert_eq!(json.pointer("/a/c"), None);
        assert_eq!(Json::parse(&format!("{json:#}")).unwrap(), json);
    }

    #[test]
    fn invalid_or_deeply_nested_json_is_rejected() {
        for text in ["", "{", "[1,]", "{\"a\":1}}", "'a'", "\"\\ud800\""] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn the_last_member_of_a_name_wins() {
        let json = Json::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(json.to_string(), r#"{"a":3,"b":2}"#);
        let many = |value: &str| {
            let members = (0..3 * MANY).map(|at| format!("\"{at}\":{value}"));
            members.collect::<Vec<_>>().join(",")
        };
        let json = Json::parse(&format!("{{{},{}}}", many("1"), many("2"))).unwrap();
        assert_eq!(json.to_string(), format!("{{{}}}", many("2")));
    }

    #[test]
    fn short_arrays_of_scalars_are_written_on_one_line() {
        let json = Json::parse(r#"{"a":["x","y"],"b":{},"c":[],"d":[{"e":1}]}"#).unwrap();
        assert_eq!(
            format!("{json:#}"),
            "{\n  \"a\": [\"x\", \"y\"],\n  \"b\": {},\n  \"c\": [],\n  \"d\": [\n    {\n      \
             \"e\": 1\n    }\n  ]\n}"
        );
    }

    #[test]
    fn strings_are_quoted_as_serde_json_does() {
        for text in [
            "",
            "a b",
            "\"",
            "a\\b/c",
            "\u{7}",
            "\u{7f}",
            "é",
            "a long text\twith a tab",
        ] {
            assert_eq!(quote(text), serde_json::Value::from(text).to_string());
        }
        assert_eq!(pointer_below("/a", "b"), "/a/b");
        assert_eq!(pointer_below("", "~/a~1"), "/~0~1a~01");
    }

    #[test]
    fn bidirectional_control_characters_are_escaped() {
        let json = Json::from("a\u{202e}b");
        assert_eq!(json.to_string(), r#""a\u202eb""#);
        assert_eq!(Json::parse(&json.to_string()).unwrap(), json);
    }
}
