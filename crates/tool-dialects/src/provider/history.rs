//! [`History`]: how a request repeats the calls and results of earlier messages.
//!
//! A provider sends what its model wrote, and may reject it in the next request: arguments that are not an
//! object, or a name that no tool can have. Accepted parts are repeated unchanged. Anything else is
//! replaced by the nearest form that it accepts, which depends on the message alone, so that a prompt cache
//! and a resumed run see the same bytes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use tool_core::call::Arguments;
use tool_core::content::{Content, Media};
use tool_core::dialect::write::bare_name;
use tool_core::{ToolCall, ToolResult};

use crate::provider::entry::NameRules;
use crate::provider::media::WrittenResult;
use crate::provider::response::{ResponseFormat, find, is_type};

/// How a provider takes the calls and results of earlier messages.
pub(crate) struct History {
    /// The form of a call.
    pub(crate) call: &'static ResponseFormat,
    /// The key of the calls in a message. Empty if each message is one.
    pub(crate) items: &'static str,
    pub(crate) arguments: ArgumentsForm,
    pub(crate) names: NameRules,
    /// The ids that are accepted, if not all are.
    pub(crate) ids: Option<IdRules>,
    /// The path of the id in a result.
    pub(crate) result_id: &'static str,
    /// The path of the tool's name in a result, if it has one.
    pub(crate) result_name: Option<&'static str>,
    /// The part of a message with this text, if messages consist of parts. Blank ones are rejected.
    pub(crate) text: Option<TextPart>,
}

/// The form of arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentsForm {
    /// The text of an object.
    Text,
    Object,
    /// An object, or nothing.
    Optional,
}

/// The form of a part with text.
#[derive(Clone, Copy)]
pub(crate) struct TextPart {
    /// Returns `true` for a part with blank text and nothing else.
    pub(crate) is_blank: fn(&Value) -> bool,
    pub(crate) of: fn(&str) -> Value,
}

/// Stands for the text of a model that has written none, where a message needs some.
pub(crate) const NO_TEXT: &str = "(no text)";

/// The ids of calls that a server accepts; see [`ChatRules::ids`](crate::ChatRules::ids).
///
/// ```
/// use tool_dialects::{ChatRules, IdRules, OpenAiChat};
///
/// // Nine letters and digits, as Mistral's models need them.
/// let ids = IdRules { min: 9, max: 9, more: Some("") };
/// let dialect = OpenAiChat::with(ChatRules { ids: Some(ids), ..ChatRules::OPENAI });
/// # let _ = dialect;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRules {
    /// The smallest number of characters.
    pub min: usize,
    /// The largest number of characters.
    pub max: usize,
    /// The characters besides ASCII letters and digits. `None` for any character.
    pub more: Option<&'static str>,
}

impl IdRules {
    fn accepts(&self, id: &str) -> bool {
        let is_accepted =
            |byte: u8, more: &str| byte.is_ascii_alphanumeric() || more.as_bytes().contains(&byte);
        (self.min..=self.max).contains(&id.len())
            && self
                .more
                .is_none_or(|more| id.bytes().all(|byte| is_accepted(byte, more)))
    }
}

/// A path in a call or result, and the value that is sent there.
type Fix = (&'static str, Value);

impl History {
    /// Returns a message with calls and results that the provider accepts.
    pub(crate) fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        // Where messages have items, only a result of chat completions is a message.
        let is_item = self.items.is_empty() || !message["tool_call_id"].is_null();
        let fixes = if is_item {
            self.fixes(message)
        } else {
            Vec::new()
        };
        // Messages of the user are the application's.
        let text = self.text.filter(|_| message["role"] != "user");
        let is_blank = |item: &Value| text.is_some_and(|text| (text.is_blank)(item));
        let mut items = self.items(message).iter();
        let is_accepted = |item: &Value| self.fixes(item).is_empty() && !is_blank(item);
        if fixes.is_empty() && items.all(is_accepted) {
            return Cow::Borrowed(message);
        }
        let mut repeated = message.clone();
        apply(&mut repeated, fixes);
        if let Some(repeated) = repeated.get_mut(self.items).and_then(Value::as_array_mut) {
            repeated.retain(|item| !is_blank(item));
            for item in &mut *repeated {
                let fixes = self.fixes(item);
                apply(item, fixes);
            }
            if let (true, Some(text)) = (repeated.is_empty(), text) {
                repeated.push((text.of)(NO_TEXT));
            }
        }
        Cow::Owned(repeated)
    }

    /// Returns the names in the calls of messages, as requests repeat them, each once.
    pub(crate) fn names(&self, messages: &[&Value]) -> Vec<String> {
        let mut names = BTreeSet::new();
        for item in messages.iter().flat_map(|message| self.items(message)) {
            let name = (self.call.is_call)(item).then(|| find(item, self.call.name).as_str());
            if let Some(name) = name.flatten()
                && !names.contains(name)
            {
                names.insert(self.name(name).into_owned());
            }
        }
        names.into_iter().collect()
    }

    pub(crate) fn accepts_id(&self, id: &str) -> bool {
        self.ids.as_ref().is_none_or(|ids| ids.accepts(id))
    }

    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.names.accepts_name(name) {
            name.into()
        } else {
            nearest_name(name, &self.names).into()
        }
    }

    /// Returns the calls and results in a message that is none itself.
    fn items<'m>(&self, message: &'m Value) -> &'m [Value] {
        match self.items {
            "" => &[],
            key => message[key].as_array().map_or(&[], Vec::as_slice),
        }
    }

    /// Returns what has to be replaced in a call or a result.
    fn fixes(&self, item: &Value) -> Vec<Fix> {
        let mut fixes = Vec::new();
        let custom = self.call.custom.filter(|custom| is_type(item, custom.kind));
        let name_path = custom.map_or(self.call.name, |custom| custom.name);
        let call = (self.call.is_call)(item).then(|| find(item, name_path).as_str());
        let (id_path, name) = match call.flatten() {
            Some(name) => (self.call.id, Some((name_path, name))),
            None => {
                let name = self.result_name;
                let name = name.and_then(|path| Some((path, find(item, path).as_str()?)));
                (self.result_id, name)
            }
        };
        if let Some((path, name)) = name
            && let Cow::Owned(nearest) = self.name(name)
        {
            fixes.push((path, nearest.into()));
        }
        match find(item, id_path) {
            Value::String(id) if !self.accepts_id(id) => {
                fixes.push((id_path, short_id(id).into()));
            }
            Value::Number(id) => fixes.push((id_path, id.to_string().into())),
            _ => {}
        }
        // Some servers of chat completions omit the type, or leave it empty.
        let has_type = || item["type"].as_str().is_some_and(|kind| !kind.is_empty());
        if self.items == "tool_calls" && call.flatten().is_some() && !has_type() {
            fixes.push(("type", "function".into()));
        }
        if call.flatten().is_some() && custom.is_none() {
            let path = self.call.arguments;
            let arguments = find(item, path);
            let object = match self.arguments {
                ArgumentsForm::Text => arguments_text(arguments).map(Value::String),
                ArgumentsForm::Optional if arguments.is_null() => None,
                _ => arguments_object(arguments),
            };
            fixes.extend(object.map(|object| (path, object)));
        }
        fixes
    }
}

/// Replaces values. Their parents are objects, in which other values were found.
fn apply(item: &mut Value, fixes: Vec<Fix>) {
    for (path, value) in fixes {
        let mut place = &mut *item;
        for key in path.split('.') {
            place = &mut place[key];
        }
        *place = value;
    }
}

/// Returns text of an object in place of arguments that are none.
fn arguments_text(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) if is_object(text) => None,
        Value::String(text) => Some(arguments_value(text).to_string()),
        Value::Object(_) => Some(arguments.to_string()),
        Value::Null => Some("{}".into()),
        other => Some(arguments_value(&other.to_string()).to_string()),
    }
}

/// Returns an object in place of arguments that are none.
fn arguments_object(arguments: &Value) -> Option<Value> {
    match arguments {
        Value::Object(_) => None,
        Value::String(text) => Some(arguments_value(text)),
        Value::Null => Some(Value::Object(Map::new())),
        other => Some(arguments_value(&other.to_string())),
    }
}

/// Returns the text of arguments as an object. Text that is none can't be sent back as it is, and must not look like a
/// call without arguments, because the model learns from its result what was wrong with it. Anthropic asks to wrap it
/// under this key (its guide "Fine-grained tool streaming", 2025-05).
pub(crate) fn arguments_value(text: &str) -> Value {
    let nothing = || Value::Object(Map::new());
    if text.trim_ascii().is_empty() {
        return nothing();
    }
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => object,
        Ok(Value::Null) => nothing(),
        // The object as text.
        Ok(Value::String(inner)) if is_object(&inner) || inner.trim_ascii().is_empty() => {
            arguments_value(&inner)
        }
        _ => {
            let member = ("INVALID_JSON".to_owned(), Value::from(text));
            Value::Object(Map::from_iter([member]))
        }
    }
}

/// Returns the blocks of a user's message with these parts. `write` writes the parts of a result.
pub(crate) fn user_blocks(
    parts: &[Content],
    write: impl Fn(&ToolResult) -> WrittenResult,
    text: impl Fn(String) -> Value,
) -> Vec<Value> {
    // A provider may need names of documents that no other message has.
    let media = parts.iter().filter_map(Content::media);
    let data: String = media.map(Media::data_url).collect();
    let call = ToolCall::new(short_id(&data), "", "");
    write(&ToolResult::new(&call, parts.to_vec())).into_message(text)
}

/// Returns the arguments of a call as the text of an object. Free-form text is a member of one.
pub(crate) fn call_text(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Freeform(text) => json!({ "input": text }).to_string(),
        arguments => arguments.text().into_owned(),
    }
}

/// Returns the arguments of a call as an object.
pub(crate) fn call_object(call: &ToolCall) -> Value {
    arguments_value(&call_text(call))
}

/// Returns `true` for text of an object of words, short integers and strings without escapes. Other text may be one of an
/// object, too, which [`is_object`] finds at several times the cost.
pub(crate) fn is_flat_object(text: &str) -> bool {
    fn string(text: &[u8]) -> Option<&[u8]> {
        let text = text.strip_prefix(b"\"")?;
        let end = text
            .iter()
            .position(|&byte| matches!(byte, b'"' | b'\\' | 0..=31))?;
        text[end..].strip_prefix(b"\"")
    }
    fn value(text: &[u8]) -> Option<&[u8]> {
        match text.first()? {
            b'"' => string(text),
            b't' => text.strip_prefix(b"true"),
            b'f' => text.strip_prefix(b"false"),
            b'n' => text.strip_prefix(b"null"),
            b'1'..=b'9' => {
                let end = text.iter().position(|byte| !byte.is_ascii_digit())?;
                (end < 19).then(|| &text[end..])
            }
            _ => None,
        }
    }
    fn members(text: &[u8]) -> Option<&[u8]> {
        let mut rest = text.strip_prefix(b"{")?;
        if rest == b"}" {
            return Some(b"");
        }
        loop {
            rest = string(rest.trim_ascii_start())?.trim_ascii_start();
            rest = value(rest.strip_prefix(b":")?.trim_ascii_start())?.trim_ascii_start();
            match rest.split_first()? {
                (b',', more) => rest = more,
                (b'}', end) => return Some(end),
                _ => return None,
            }
        }
    }
    members(text.as_bytes()).is_some_and(<[u8]>::is_empty)
}

/// Returns `true` for text of an object that any parser of JSON accepts.
fn is_object(text: &str) -> bool {
    if is_flat_object(text) {
        return true;
    }
    if !text.trim_ascii_start().starts_with('{') {
        return false;
    }
    // Values that some parsers reject: lone surrogates, numbers that are too large, and deep values.
    let (mut last, mut depth, mut digits) = (0, 0_usize, 0_usize);
    let is_unusual = |byte: u8| {
        let is_exponent = digits > 0 && matches!(byte, b'e' | b'E');
        let is_escape = last == b'\\' && byte == b'u';
        depth += usize::from(matches!(byte, b'{' | b'['));
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        last = byte;
        is_exponent || is_escape || depth > 100 || digits > 300
    };
    if text.bytes().any(is_unusual) {
        return matches!(serde_json::from_str(text), Ok(Value::Object(_)));
    }
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns `true` for text of white space alone.
pub(crate) fn is_blank(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Returns the name nearest to one that the rules reject.
fn nearest_name(name: &str, rules: &NameRules) -> String {
    let is_accepted = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let letters = bare_name(name).chars().take(rules.max_len);
    let letters = letters.map(|letter| if is_accepted(letter) { letter } else { '_' });
    let nearest: String = letters.collect();
    if rules.accepts_name(&nearest) && nearest.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        nearest
    } else {
        "unknown_tool".into()
    }
}

/// Returns an id of nine letters and digits for one that is rejected, always the same.
fn short_id(id: &str) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // FNV-1a.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let digits = (0..9).scan(hash, |left, _| {
        let digit = DIGITS[(*left % 36) as usize];
        *left /= 36;
        Some(char::from(digit))
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::{is_flat_object, is_object};

    /// The short way finds no object that the long way would not.
    #[test]
    fn a_flat_object_is_an_object() {
        let flat = [
            "{}",
            r#"{"a":1}"#,
            r#"{ "a": "é 🌦", "b":true,"c" : null }"#,
            "{\n\"a\": 12\n}",
        ];
        for text in flat {
            assert!(is_flat_object(text), "{text}");
        }
        let pieces = [
            "{", "}", "\"", "a", ":", ",", "1", "0", "-", " ", "\\", "true", "null", "[", "\n",
        ];
        let mut word = 1_u64;
        let mut found = 0;
        for _ in 0..200_000 {
            let mut text = String::from("{\"a\":");
            for _ in 0..word % 7 {
                word = word
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(word >> 33) as usize % pieces.len()]);
            }
            word = word
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push('}');
            if is_flat_object(&text) {
                found += 1;
                let value: Result<serde_json::Value, _> = serde_json::from_str(&text);
                assert!(value.is_ok_and(|value| value.is_object()), "{text}");
                assert!(is_object(&text));
            }
        }
        assert!(found > 100, "{found}");
    }
}
