//! [`Arguments`]: what a model wrote into a call.

use serde_json::{Map, Value};

use super::NOT_AN_OBJECT;

/// The arguments of a call: JSON text as it came, or a JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// Text that should be a JSON object.
    Text(String),
    /// A value that should be an object.
    Json(Value),
}

impl Arguments {
    /// The arguments as an object, for whoever looks at a call without running it. A tool reads the
    /// text itself, and is stricter: it refuses a key that comes twice.
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
    /// When they are no object, with the reason.
    pub fn to_object(&self) -> Result<Map<String, Value>, String> {
        match self {
            Arguments::Json(Value::Object(members)) => Ok(members.clone()),
            Arguments::Json(Value::Null) => Ok(Map::new()),
            Arguments::Json(_) => Err(NOT_AN_OBJECT.into()),
            Arguments::Text(text) if matches!(text.trim_ascii(), "" | "null") => Ok(Map::new()),
            Arguments::Text(text) => match serde_json::from_str(text) {
                Ok(Value::Object(members)) => Ok(members),
                Ok(_) => Err(NOT_AN_OBJECT.into()),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// The text that is decoded. `null` and nothing at all are no arguments.
    #[inline]
    pub(crate) fn into_text(self) -> String {
        match self {
            Arguments::Text(text) if text.starts_with('{') => text,
            other => other.into_other_text(),
        }
    }

    #[cold]
    fn into_other_text(self) -> String {
        match self {
            Arguments::Json(Value::Null) => "{}".into(),
            Arguments::Json(value) => value.to_string(),
            Arguments::Text(text) if matches!(text.trim_ascii(), "" | "null") => "{}".into(),
            Arguments::Text(text) => text,
        }
    }
}

#[cfg(feature = "tracing")]
impl Arguments {
    /// How long the text is.
    pub(crate) fn bytes(&self) -> usize {
        /// Keeps nothing.
        struct Length(usize);

        impl std::io::Write for Length {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        match self {
            Arguments::Text(text) => text.len(),
            Arguments::Json(value) => {
                let mut length = Length(0);
                let written = serde_json::to_writer(&mut length, value);
                written.map_or(0, |()| length.0)
            }
        }
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
    /// A string is the text that it holds: clients put there what they could not parse, and no
    /// string is an object.
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
