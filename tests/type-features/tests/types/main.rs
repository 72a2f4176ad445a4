//! The types of other crates: their schemas, what a tool accepts, what it rejects.

mod containers;
mod dates;
mod formats;
mod strings;

use std::any::type_name;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType};

/// A tool that returns its one parameter, and a validator of its schema that checks formats.
struct Echo {
    registry: Registry,
    validator: jsonschema::Validator,
    /// Names of Rust types, which a message must not contain.
    names: Vec<&'static str>,
}

impl Echo {
    /// Creates it from a tool `echo` with a parameter and a result `T`, whose schema is `schema`.
    fn new<T: ToolType>(registry: Registry, schema: &Value) -> Echo {
        let spec = registry.get("echo").expect("the tool");
        let parameters: Value = serde_json::from_str(spec.parameters_json()).unwrap();
        assert_eq!(parameters["properties"]["value"], *schema);
        assert_eq!(T::SCHEMA.to_json().parse::<Value>().unwrap(), *schema);
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .build(&parameters)
            .unwrap();
        let names = type_name::<T>()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|name| name.starts_with(char::is_uppercase) && name.len() > 1);
        Echo {
            registry,
            validator,
            names: names.collect(),
        }
    }

    fn call(&self, value: &Value) -> ToolResult {
        let arguments = json!({"value": value});
        self.registry
            .call_blocking(ToolCall::new("id", "echo", arguments))
    }

    fn is_described(&self, value: &Value) -> bool {
        self.validator.is_valid(&json!({"value": value}))
    }

    /// Checks that a value arrives equal and that the schema describes its serialized form.
    fn keeps<T: Serialize + DeserializeOwned + PartialEq>(&self, value: &T) {
        let json = serde_json::to_value(value).unwrap();
        assert!(self.is_described(&json), "{json}");
        let back = self.gives(&json);
        assert!(
            serde_json::from_value::<T>(back).unwrap() == *value,
            "{json}"
        );
    }

    /// Returns the result of a call with `value`.
    fn gives(&self, value: &Value) -> Value {
        let result = self.call(value);
        assert!(!result.is_error(), "{value}: {}", result.content());
        result
            .structured()
            .unwrap_or_else(|| result.content().into())
    }

    /// Accepted, as the schema says.
    fn accepts(&self, value: &Value) {
        assert!(self.is_described(value), "{value}");
        self.gives(value);
    }

    /// Accepted, although the schema does not describe it.
    fn is_lax(&self, value: &Value) {
        assert!(!self.is_described(value), "{value}");
        self.gives(value);
    }

    /// Rejected, as the schema says.
    fn rejects(&self, value: &Value) {
        assert!(!self.is_described(value), "{value}");
        self.is_rejected(value);
    }

    /// Rejected, although only the schema's description says so.
    fn misses(&self, value: &Value) {
        assert!(self.is_described(value), "{value}");
        self.is_rejected(value);
    }

    fn is_rejected(&self, value: &Value) {
        let result = self.call(value);
        assert!(result.is_error(), "{value} gave {}", result.content());
        let text = result.content();
        let (head, reason) = text.split_once("- value").expect(text);
        assert!(head.starts_with("invalid arguments for echo "), "{text}");
        assert!(reason.len() > 12, "{text}");
        assert!(!text.contains("::"), "{text}");
        // The schema's description follows; it contains the word `Time`.
        let said = text
            .rsplit_once("; expected")
            .map_or(text, |(said, _)| said);
        for name in &self.names {
            assert!(!said.contains(name), "{text}");
        }
    }
}

/// Defines the test of a type: its schema, values of it, and JSON with verdicts.
macro_rules! type_test {
    ($test:ident: $type:ty, $schema:tt;
     keeps $($value:expr),*;
     $($verdict:ident $($json:tt),*;)*) => {
        #[test]
        fn $test() {
            let echo = $crate::echo!($type, $schema);
            $(echo.keeps::<$type>(&$value);)*
            $($(echo.$verdict(&serde_json::json!($json));)*)*
        }
    };
}

/// Makes the tool of a type.
macro_rules! echo {
    ($type:ty, $schema:tt) => {{
        /// Gives back what it takes.
        #[tool_core::tool(unlinked)]
        fn echo(value: $type) -> $type {
            value
        }
        let tools = tool_core::tools![echo];
        let registry = tool_core::Registry::builder().tools(tools).build().unwrap();
        $crate::Echo::new::<$type>(registry, &serde_json::json!($schema))
    }};
}

use {echo, type_test};
