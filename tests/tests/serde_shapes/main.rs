//! Every shape of serde's derive: its schema and what reaches the tool.

// Tests read the fields through `Debug`.
#![allow(dead_code)]

use properties::mutate;
use properties::random::Random;
use properties::sample::Sampler;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType};

/// Makes a tool with one parameter `value` of a type: its JSON schema and its registry. Compares what it receives
/// with what a tool receives whose value serde decodes.
macro_rules! subject {
    ($ty:ty) => {{
        /// Takes a value.
        #[tool(unlinked)]
        fn take(value: $ty) -> String {
            format!("{value:?}")
        }
        let by_serde = {
            /// Takes a value.
            #[tool(unlinked)]
            fn take(value: properties::table::BySerde<$ty>) -> String {
                format!("{:?}", value.0)
            }
            Registry::builder().tools(tools![take]).build().unwrap()
        };
        let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
        let registry = Registry::builder().tools(tools![take]).build().unwrap();
        let subject = Subject {
            parameters,
            registry,
            by_serde,
        };
        subject.decodes_as_serde(stringify!($ty));
        subject
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
    by_serde: Registry,
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
        self.call_both(&json!({ "value": value }).to_string())
    }

    /// Calls both tools, which must give the same result.
    fn call_both(&self, arguments: &str) -> ToolResult {
        let call = || ToolCall::new("id", "take", arguments);
        let own = self.registry.call_blocking(call());
        let by_serde = self.by_serde.call_blocking(call());
        let same = [&own, &by_serde].map(|result| match result.error() {
            Some(error) => Err((error.kind(), error.violations())),
            None => {
                // A hash map prints its entries in any order.
                let mut bytes = result.content().as_bytes().to_vec();
                bytes.sort_unstable();
                Ok(bytes)
            }
        });
        assert!(
            same[0] == same[1],
            "{arguments}: {}\nby serde: {}",
            own.content(),
            by_serde.content()
        );
        own
    }

    /// Calls both tools with random arguments, of which most are valid.
    fn decodes_as_serde(&self, name: &str) {
        let sampler = Sampler::new(&self.parameters);
        let mut random = Random::named(name, 29);
        for round in 0..properties::rounds(100, 10_000) {
            let mut arguments = sampler.sample(&mut random);
            if round % 3 == 0 {
                arguments = mutate::value(&arguments, &self.parameters, &mut random);
            }
            self.call_both(&arguments.to_string());
        }
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
