//! llm-tool: `#[llm_tool]`, and a `ToolRegistry`.

use facts::{Reply, Subject};
use harness::now::now;
use llm_tool::{ToolContext, ToolRegistry, llm_tool};
use serde_json::Value;

// The tool.
/// Temperature unit.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Weather forecast for a city.
#[llm_tool]
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
#[llm_tool]
fn fail() -> Result<String, String> {
    Err("no such city".to_owned())
}

/// Panics.
#[llm_tool]
fn panic() -> String {
    facts::panic()
}

#[cfg(feature = "silent")]
#[llm_tool]
fn quiet() -> String {
    "quiet".to_owned()
}

#[cfg(feature = "twice")]
mod again {
    /// Weather forecast for a city.
    #[llm_tool::llm_tool]
    pub fn get_weather(
        /// City and country, such as `Lisbon, Portugal`.
        city: String,
    ) -> String {
        format!("the second of {city}")
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }

    /// Finds a place.
    #[llm_tool::llm_tool]
    pub fn find_place(
        /// The place.
        place: Place,
    ) -> String {
        place.name
    }
}

struct Tools(ToolRegistry);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        let mut tools = ToolRegistry::new();
        tools.register(GetWeather).register(Fail).register(Panic);
        #[cfg(feature = "silent")]
        tools.register(Quiet);
        #[cfg(feature = "twice")]
        tools.register(again::GetWeather);
        #[cfg(feature = "foreign")]
        tools.register(foreign::FindPlace);
        Ok(Tools(tools))
    }

    fn list(&mut self) -> Value {
        serde_json::to_value(&*self.0.definitions_slice()).expect("JSON")
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        let context = ToolContext::new();
        match now(self.0.dispatch_str(tool, arguments, &context)) {
            Ok(output) => Reply::Result(output.content().to_owned()),
            Err(error) => Reply::Failure(error.to_string()),
        }
    }
}

fn main() {
    facts::main::<Tools>();
}
