//! rig: `#[rig_tool]`, and a `ToolSet`.

use facts::{Reply, Subject};
use harness::now::now;
use rig_agent::tool::ToolSet;
use rig_core::rig_tool;
use rig_core::tool::{ToolContext, ToolExecutionError};
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
#[rig_tool]
fn get_weather(
    /// City and country, such as `Lisbon, Portugal`.
    city: String,
    /// How many days ahead.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
) -> Result<String, ToolExecutionError> {
    Ok(format!("{city}, {days:?}, {unit:?}"))
}
// The end of the tool.

/// Fails.
#[rig_tool]
fn fail() -> Result<String, ToolExecutionError> {
    Err(ToolExecutionError::other("no such city"))
}

/// Panics.
#[rig_tool]
fn panic() -> Result<String, ToolExecutionError> {
    panic!("a secret")
}

#[cfg(feature = "silent")]
#[rig_tool]
fn quiet() -> Result<String, ToolExecutionError> {
    Ok("quiet".into())
}

#[cfg(feature = "twice")]
mod again {
    use rig_core::tool::ToolExecutionError;

    /// Weather forecast for a city.
    #[rig_core::rig_tool]
    pub fn get_weather(city: String) -> Result<String, ToolExecutionError> {
        Ok(format!("the second of {city}"))
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    use rig_core::tool::ToolExecutionError;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }

    /// Finds a place.
    #[rig_core::rig_tool]
    pub fn find_place(
        /// The place.
        place: Place,
    ) -> Result<String, ToolExecutionError> {
        Ok(place.name)
    }
}

struct Tools(ToolSet);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        let mut tools = ToolSet::default();
        tools.add_tool(GetWeather);
        tools.add_tool(Fail);
        tools.add_tool(Panic);
        #[cfg(feature = "silent")]
        tools.add_tool(Quiet);
        #[cfg(feature = "twice")]
        tools.add_tool(again::GetWeather);
        #[cfg(feature = "foreign")]
        tools.add_tool(foreign::FindPlace);
        Ok(Tools(tools))
    }

    fn list(&mut self) -> Value {
        serde_json::to_value(self.0.tool_definitions()).expect("JSON")
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        let mut context = ToolContext::new();
        let result = now(self.0.execute(tool, arguments, &mut context));
        let text = result.output().as_text().expect("text").to_string();
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
