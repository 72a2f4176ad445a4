//! The types of other crates: what their schemas say, what a tool accepts, what it refuses.

mod containers;
mod dates;
mod formats;
mod texts;

use std::any::type_name;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType};

/// A tool that gives back its one parameter, and a judge of the same schema that knows formats.
struct Echo {
    registry: Registry,
    judge: jsonschema::Validator,
    /// What must not occur in a refusal: the names of Rust types.
    names: Vec<&'static str>,
}

impl Echo {
    /// Of a tool `echo` with a parameter and a result `T`, whose schema is `schema`.
    fn new<T: ToolType>(registry: Registry, schema: &Value) -> Echo {
        let spec = registry.get("echo").expect("the tool");
        let parameters: Value = serde_json::from_str(spec.parameters_json()).unwrap();
        assert_eq!(parameters["properties"]["value"], *schema);
        assert_eq!(T::SCHEMA.to_json().parse::<Value>().unwrap(), *schema);
        let judge = jsonschema::options()
            .should_validate_formats(true)
            .build(&parameters)
            .unwrap();
        let names = type_name::<T>()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|name| name.starts_with(char::is_uppercase) && name.len() > 1);
        Echo {
            registry,
            judge,
            names: names.collect(),
        }
    }

    fn call(&self, value: &Value) -> ToolResult {
        let arguments = json!({"value": value});
        self.registry
            .call_blocking(ToolCall::new("id", "echo", arguments))
    }

    fn is_described(&self, value: &Value) -> bool {
        self.judge.is_valid(&json!({"value": value}))
    }

    /// A value of the crate arrives equal and is described, as it is written.
    fn keeps<T: Serialize + DeserializeOwned + PartialEq>(&self, value: &T) {
        let json = serde_json::to_value(value).unwrap();
        assert!(self.is_described(&json), "{json}");
        let back = self.gives(&json);
        assert!(
            serde_json::from_value::<T>(back).unwrap() == *value,
            "{json}"
        );
    }

    /// What a call with `value` gives back.
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

    /// Accepted, though the schema does not describe it.
    fn is_lax(&self, value: &Value) {
        assert!(!self.is_described(value), "{value}");
        self.gives(value);
    }

    /// Refused, as the schema says.
    fn refuses(&self, value: &Value) {
        assert!(!self.is_described(value), "{value}");
        self.is_refused(value);
    }

    /// Refused, though only the schema's description says why.
    fn misses(&self, value: &Value) {
        assert!(self.is_described(value), "{value}");
        self.is_refused(value);
    }

    fn is_refused(&self, value: &Value) {
        let result = self.call(value);
        assert!(result.is_error(), "{value} gave {}", result.content());
        let text = result.content();
        let (head, reason) = text.split_once("- value").expect(text);
        assert!(head.starts_with("invalid arguments for echo "), "{text}");
        assert!(reason.len() > 12, "{text}");
        assert!(!text.contains("::"), "{text}");
        // The description of the schema follows, in which `Time` is a word.
        let said = text
            .rsplit_once("; expected")
            .map_or(text, |(said, _)| said);
        for name in &self.names {
            assert!(!said.contains(name), "{text}");
        }
    }
}

/// One type: its schema, values of it, and JSON with verdicts.
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

/// The tool of a type.
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
