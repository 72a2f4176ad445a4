//! JSON in the order and the spelling in which it was written.
//!
//! Schemas are read by people and by models, so that the order of their keys means something, and
//! their bounds may have more digits than a float holds. `serde_json::Value` keeps neither.

pub(crate) mod keywords;

use std::fmt;

use crate::schema::cursor::Cursor;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Boolean(bool),
    /// A number as it is spelled.
    Number(String),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a whole text. Of members of one name the last counts, as for `serde_json`.
    pub(crate) fn parse(text: &str) -> Result<Json, serde_json::Error> {
        // A cursor steps over what is known to be JSON. This bounds its depth too.
        serde_json::from_str::<serde_json::Value>(text)?;
        Ok(read(&mut Cursor::new(text)))
    }

    /// An object of those members that are there.
    pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Option<Json>)>) -> Json {
        let members = members.into_iter();
        let members = members.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        Json::Object(members.collect())
    }

    /// The value of a member, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        let found = self.members().iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// The members of an object; none of anything else.
    pub(crate) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The spelling of a number.
    pub(crate) fn number(&self) -> Option<&str> {
        match self {
            Json::Number(text) => Some(text),
            _ => None,
        }
    }

    /// What `pointer` leads to, a JSON pointer: `/$defs/Node`.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<&Json> {
        let mut place = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            place = match place {
                Json::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => place.get(&step)?,
            };
        }
        Some(place)
    }

    /// The text in lines, indented, with each string as `string` writes it.
    pub(crate) fn lines(&self, string: &dyn Fn(&str) -> String) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0), string);
        out
    }

    /// Writes in one line, or in lines that are indented this deep.
    fn write(&self, out: &mut String, indent: Option<usize>, string: &dyn Fn(&str) -> String) {
        let inner = indent.map(|depth| depth + 1);
        match self {
            Json::Null => out.push_str("null"),
            Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => out.push_str(&string(text)),
            Json::Array(items) if indent.is_none() || is_short(items) => {
                let space = if indent.is_some() { ", " } else { "," };
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { space } else { "" });
                    item.write(out, None, string);
                }
                out.push(']');
            }
            Json::Array(items) => {
                enclose(out, indent, ['[', ']'], items, |out, item| {
                    item.write(out, inner, string);
                });
            }
            Json::Object(members) => {
                enclose(out, indent, ['{', '}'], members, |out, (key, value)| {
                    out.push_str(&string(key));
                    out.push_str(if indent.is_some() { ": " } else { ":" });
                    value.write(out, inner, string);
                });
            }
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }
}

/// The compact text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, None, &quoted);
        f.write_str(&out)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.to_owned())
    }
}

/// Whether an array goes into one line.
fn is_short(items: &[Json]) -> bool {
    let width = items.iter().map(|item| match item {
        Json::String(text) | Json::Number(text) => text.len() + 4,
        _ => 6,
    });
    items.iter().all(Json::is_scalar) && width.sum::<usize>() <= 80
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

/// A string with its quotes. What would show the text around it in another order is escaped, since
/// people read it: the marks and overrides of bidirectional text.
pub(crate) fn quoted(text: &str) -> String {
    let plain = serde_json::Value::from(text).to_string();
    if !plain.contains(is_bidi_control) {
        return plain;
    }
    let escaped = plain.chars().map(|character| match character {
        _ if is_bidi_control(character) => format!("\\u{:04x}", u32::from(character)),
        _ => character.to_string(),
    });
    escaped.collect()
}

/// Whether a character has no shape and changes the direction of others.
pub(crate) fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn read(cursor: &mut Cursor<'_>) -> Json {
    match cursor.peek() {
        b'{' => {
            let mut members: Vec<(String, Json)> = Vec::new();
            cursor.eat(b'{');
            while !cursor.eat(b'}') && cursor.peek() != 0 {
                let key = cursor.key().text().unwrap_or_default().into_owned();
                let value = read(cursor);
                match members.iter_mut().find(|(name, _)| *name == key) {
                    Some(member) => member.1 = value,
                    None => members.push((key, value)),
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
        assert_eq!(json.pointer("/z/2").and_then(Json::number), Some("1e2"));
        assert_eq!(json.pointer("/a/b"), Some(&Json::Null));
        assert_eq!(json.pointer("/a/c"), None);
        assert_eq!(Json::parse(&json.lines(&quoted)).unwrap(), json);
    }

    #[test]
    fn only_json_is_read_and_only_so_deep() {
        for text in ["", "{", "[1,]", "{\"a\":1}}", "'a'", "\"\\ud800\""] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn the_last_of_two_members_of_one_name_counts() {
        let json = Json::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(json.to_string(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn lines_are_short_where_there_are_only_scalars() {
        let json = Json::parse(r#"{"a":["x","y"],"b":{},"c":[],"d":[{"e":1}]}"#).unwrap();
        assert_eq!(
            json.lines(&quoted),
            "{\n  \"a\": [\"x\", \"y\"],\n  \"b\": {},\n  \"c\": [],\n  \"d\": [\n    {\n      \
             \"e\": 1\n    }\n  ]\n}"
        );
    }

    #[test]
    fn what_reorders_text_is_escaped() {
        let json = Json::from("a\u{202e}b");
        assert_eq!(json.to_string(), r#""a\u202eb""#);
        assert_eq!(Json::parse(&json.to_string()).unwrap(), json);
    }
}
