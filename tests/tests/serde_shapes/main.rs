//! Every shape of serde's derive: its schema and what reaches the tool.

// Tests read the fields through `Debug`.
#![allow(dead_code)]

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType};

/// Makes a tool with one parameter `value` of a type: its JSON schema and its registry.
macro_rules! subject {
    ($ty:ty) => {{
        /// Takes a value.
        #[tool(unlinked)]
        fn take(value: $ty) -> String {
            format!("{value:?}")
        }
        let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
        let registry = Registry::builder().tools(tools![take]).build().unwrap();
        Subject {
            parameters,
            registry,
        }
    }};
}

mod enforced;
mod enums;
mod messages;
mod recursive;
mod structs;

struct Subject {
    parameters: Value,
    registry: Registry,
}

impl Subject {
    fn schema(&self, expected: Value) {
        assert_eq!(
            self.parameters["properties"]["value"], expected,
            "{}",
            self.parameters
        );
    }

    fn call(&self, value: &Value) -> ToolResult {
        let arguments = json!({ "value": value });
        self.registry
            .call_blocking(ToolCall::new("id", "take", arguments))
    }

    fn is_valid(&self, value: &Value) -> bool {
        let validator = jsonschema::validator_for(&self.parameters).unwrap();
        validator.is_valid(&json!({ "value": value }))
    }

    fn accepts(&self, value: Value, seen: &str) {
        assert_eq!(self.call(&value).content(), seen, "{value}");
        assert!(self.is_valid(&value), "{value} against {}", self.parameters);
    }

    /// Accepted although the schema does not show it.
    fn accepts_unseen(&self, value: Value, seen: &str) {
        assert_eq!(self.call(&value).content(), seen, "{value}");
        assert!(!self.is_valid(&value), "{value} is shown after all");
    }

    fn refuses(&self, value: Value, said: &str) {
        let result = self.call(&value);
        assert!(result.is_error(), "{value} gave {}", result.content());
        assert!(
            result.content().contains(said),
            "{value}: {}",
            result.content()
        );
        assert!(!self.is_valid(&value), "{value}");
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Circle {
    /// In metres.
    radius: f64,
}
