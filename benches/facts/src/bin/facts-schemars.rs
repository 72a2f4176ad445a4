//! schemars, with the rest written by hand.

use facts::{Reply, Subject};
use serde_json::{Value, json};

// The tool.
/// Temperature unit.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "closed", serde(deny_unknown_fields))]
struct Weather {
    /// City and country, such as `Lisbon, Portugal`.
    city: String,
    /// How many days ahead.
    days: Option<u8>,
    /// Temperature unit.
    unit: Unit,
}

fn get_weather(weather: Weather) -> String {
    let Weather { city, days, unit } = weather;
    format!("{city}, {days:?}, {unit:?}")
}

fn list() -> Value {
    json!([{
        "name": "get_weather",
        "description": "Weather forecast for a city.",
        "parameters": schemars::schema_for!(Weather),
    }])
}

fn call(tool: &str, arguments: &str) -> Result<String, String> {
    match tool {
        "get_weather" => match serde_json::from_str(arguments) {
            Ok(weather) => Ok(get_weather(weather)),
            Err(error) => Err(error.to_string()),
        },
        "fail" => Err("no such city".into()),
        "panic" => panic!("a secret"),
        _ => Err(format!("no tool {tool}")),
    }
}
// The end of the tool.

struct Tools;

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        Ok(Tools)
    }

    fn list(&mut self) -> Value {
        list()
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        match call(tool, arguments) {
            Ok(text) => Reply::Result(text),
            Err(text) => Reply::Error(text),
        }
    }
}

fn main() {
    facts::main::<Tools>();
}
