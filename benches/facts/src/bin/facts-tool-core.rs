//! tool-core: `#[tool]`, and a `Registry` of all linked tools.

use facts::{Reply, Subject};
use harness::now::now;
use serde_json::Value;
use tool_core::{Registry, ToolCall, ToolType, tool};
use tool_dialects::Mcp;

// The tool.
/// Temperature unit.
#[derive(Debug, ToolType)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Weather forecast for a city.
#[tool]
fn get_weather(
    /// City and country, such as `Lisbon, Portugal`.
    city: String,
    /// How many days ahead.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
) -> String {
    format!("{city}, {days:?}, {unit:?}")
}
// The end of the tool.

/// Fails.
#[tool]
fn fail() -> Result<String, String> {
    Err("no such city".into())
}

/// Panics.
#[tool]
fn panic() -> String {
    panic!("a secret")
}

#[cfg(feature = "silent")]
#[tool]
fn quiet() -> String {
    "quiet".into()
}

#[cfg(feature = "twice")]
mod again {
    /// Weather forecast for a city.
    #[tool_core::tool]
    fn get_weather(
        /// City and country, such as `Lisbon, Portugal`.
        _city: String,
    ) -> String {
        "the second".into()
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }

    /// Finds a place.
    #[tool_core::tool]
    fn find_place(
        /// The place.
        place: Place,
    ) -> String {
        place.name
    }
}

struct Tools(Registry);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        let registry = Registry::linked().map_err(|error| error.to_string())?;
        Ok(Tools(registry))
    }

    fn list(&mut self) -> Value {
        let list = self.0.render(&Mcp::default()).into_string();
        serde_json::from_str(&list).expect("JSON")
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        let result = now(self.0.call(ToolCall::new("1", tool, arguments)));
        let text = result.content().to_owned();
        if result.is_error() {
            Reply::Error(text)
        } else {
            Reply::Result(text)
        }
    }
}

fn main() {
    facts::main::<Tools>();
}
