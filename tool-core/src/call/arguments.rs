//! [`Arguments`]: the arguments of a call.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::schema::messages::name;
use crate::schema::not_json;
use crate::schema::numbers::rounded_integer;

const NOT_AN_OBJECT: &str = "the arguments are JSON, but not an object";
const FREEFORM: &str = "the arguments are free-form text, not JSON";

/// The arguments of a call: JSON text, a JSON value, or free-form text.
///
/// Prefer the text if you have it. A `Value` rounds integers of more than 64 bits to floats, so a call with
/// such a number for an integer is rejected if its arguments are a value.
///
/// `Debug` shows the names of the arguments but no values, which may be
/// [secret](macro@crate::tool#secrets). [`to_object`](Arguments::to_object) has them.
///
/// ```
/// use serde_json::json;
/// use tool_core::call::Arguments;
///
/// let text = Arguments::from(r#"{"city":"Lisbon"}"#);
/// let value = Arguments::from(json!({"city": "Lisbon"}));
/// assert_eq!(text.to_object(), value.to_object());
/// assert!(Arguments::from("[1, 2]").to_object().is_err());
/// ```
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Arguments {
    /// Text that should be a JSON object.
    Text(String),
    /// A value that should be an object.
    Json(Value),
    /// Text in no format: the only argument of a [free-form](macro@crate::tool#free-form-tools) tool.
    /// Hooks see it as JSON. For a tool of another kind it is read as [JSON text](Arguments::Text).
    Freeform(String),
}

impl Arguments {
    /// Parses the arguments as an object, to inspect a call without running it. Running a call is
    /// stricter: it also rejects duplicate keys.
    ///
    /// ```
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// assert_eq!(call.arguments.to_object().unwrap()["city"], "Lisbon");
    /// let none = ToolCall::new("call_2", "list_alarms", "");
    /// assert!(none.arguments.to_object().unwrap().is_empty());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments are not a JSON object, or if their text contains an integer
    /// of more than 64 bits, which a `Value` would round.
    pub fn to_object(&self) -> Result<Map<String, Value>, String> {
        match self {
            Arguments::Json(Value::Object(members)) => Ok(members.clone()),
            _ if self.is_nothing() => Ok(Map::new()),
            Arguments::Json(_) => Err(NOT_AN_OBJECT.into()),
            Arguments::Freeform(_) => Err(FREEFORM.into()),
            Arguments::Text(text) => match serde_json::from_str(text) {
                Ok(Value::Object(members)) => match rounded_integer(text) {
                    Some(number) => Err(format!(
                        "{number} has more than 64 bits, so that a JSON value would round it; \
                         read the text of the arguments"
                    )),
                    None => Ok(members),
                },
                Ok(_) => Err(NOT_AN_OBJECT.into()),
                Err(error) => Err(not_json::why(text, &error)),
            },
        }
    }

    /// Returns the arguments as JSON text, like [`into_text`](Arguments::into_text). They may have secrets;
    /// [`Registry::shown`](crate::Registry::shown) returns what a person may see.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::call::Arguments;
    ///
    /// assert_eq!(Arguments::from(json!({"id": 7})).text(), r#"{"id":7}"#);
    /// assert_eq!(Arguments::from("").text(), "{}");
    /// ```
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Arguments::Text(text) | Arguments::Freeform(text) if !self.is_nothing() => text.into(),
            other => other.clone().into_text().into(),
        }
    }

    /// Returns `true` if there are no arguments: `null`, or empty text, as it is or as a JSON string.
    fn is_nothing(&self) -> bool {
        match self {
            Arguments::Json(Value::Null) => true,
            Arguments::Json(Value::String(text)) => text.trim_ascii().is_empty(),
            Arguments::Json(_) | Arguments::Freeform(_) => false,
            Arguments::Text(text) => match text.trim_ascii() {
                "" | "null" => true,
                text => text
                    .strip_prefix('"')
                    .and_then(|text| text.strip_suffix('"'))
                    .is_some_and(|text| text.bytes().all(|byte| byte == b' ')),
            },
        }
    }

    /// Returns `true` if these are values, in which integers of more than 64 bits are rounded.
    #[inline]
    pub(crate) fn is_rounded(&self) -> bool {
        matches!(self, Arguments::Json(_))
    }

    /// Returns why the arguments are not an object. `null`, empty text and free-form text count as one.
    pub(crate) fn parse_error(&self) -> Option<String> {
        let text = match self {
            Arguments::Json(Value::Object(_)) | Arguments::Freeform(_) => return None,
            _ if self.is_nothing() => return None,
            Arguments::Json(_) => return Some(NOT_AN_OBJECT.into()),
            Arguments::Text(text) => text.trim_ascii(),
        };
        match serde_json::from_str::<IgnoredAny>(text) {
            Err(error) => Some(not_json::why(text, &error)),
            Ok(_) if !text.starts_with('{') => Some(NOT_AN_OBJECT.into()),
            Ok(_) => None,
        }
    }

    /// Returns the arguments as JSON text; free-form text is returned as it is. Missing arguments, `null` and
    /// empty text become the empty object.
    #[inline]
    pub fn into_text(self) -> String {
        self.into_text_with(|text| text)
    }

    /// Returns the text to decode. `freeform` turns free-form text into JSON.
    #[inline]
    pub(crate) fn into_text_with(self, freeform: impl FnOnce(String) -> String) -> String {
        match self {
            Arguments::Text(text) if text.starts_with('{') => text,
            other => other.into_other_text(freeform),
        }
    }

    #[cold]
    fn into_other_text(self, freeform: impl FnOnce(String) -> String) -> String {
        match self {
            _ if self.is_nothing() => "{}".into(),
            Arguments::Json(value) => value.to_string(),
            Arguments::Text(text) => text,
            Arguments::Freeform(text) => freeform(text),
        }
    }

    /// Returns the length of the arguments as JSON text.
    pub(crate) fn bytes(&self) -> usize {
        struct Length(usize);

        impl Write for Length {
            fn write_str(&mut self, part: &str) -> fmt::Result {
                self.0 += part.len();
                Ok(())
            }
        }

        match self {
            Arguments::Text(text) | Arguments::Freeform(text) => text.len(),
            Arguments::Json(value) => {
                let mut length = Length(0);
                let written = write!(length, "{value}");
                written.map_or(0, |()| length.0)
            }
        }
    }
}

impl fmt::Debug for Arguments {
    /// Shows the names of the arguments and their length. The values may be
    /// [secret](macro@crate::tool#secrets), which only the registry knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Arguments::Text(_) => "Text",
            Arguments::Json(_) => "Json",
            Arguments::Freeform(_) => "Freeform",
        };
        let members = self.to_object().unwrap_or_default();
        let names: Vec<_> = members.keys().map(|key| name(key)).collect();
        f.debug_struct(kind)
            .field("names", &names)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments::Json(Value::Null)
    }
}

impl From<&str> for Arguments {
    #[inline]
    fn from(text: &str) -> Self {
        Arguments::Text(text.into())
    }
}

impl From<String> for Arguments {
    #[inline]
    fn from(text: String) -> Self {
        Arguments::Text(text)
    }
}

impl From<Value> for Arguments {
    /// Converts a string to [`Arguments::Text`], because clients pass arguments that they could not
    /// parse as a string.
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Arguments::Text(text),
            value => Arguments::Json(value),
        }
    }
}

impl From<Map<String, Value>> for Arguments {
    fn from(members: Map<String, Value>) -> Self {
        Arguments::Json(Value::Object(members))
    }
}
