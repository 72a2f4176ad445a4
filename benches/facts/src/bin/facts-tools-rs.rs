//! tools-rs: `#[tool]`, and a `ToolCollection` of all linked tools.

use facts::{Reply, Subject};
use harness::now::now;
use serde_json::Value;
use tools_rs::{FunctionCall, ToolCollection, tool};

// The tool.
/// Temperature unit.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    Fahrenheit,
}

// The derive macro rejects enums.
impl tools_rs::ToolSchema for Unit {
    fn schema() -> Value {
        serde_json::json!({"type": "string", "enum": ["celsius", "fahrenheit"]})
    }
}

// Docs of parameters do not compile.
/// Weather forecast for a city.
#[tool]
async fn get_weather(city: String, days: Option<u8>, unit: Unit) -> String {
    format!("{city}, {days:?}, {unit:?}")
}
// The end of the tool.

/// Fails.
#[tool]
async fn fail() -> Result<String, String> {
    Err("no such city".into())
}

/// Panics.
#[tool]
async fn panic() -> String {
    panic!("a secret")
}

#[cfg(feature = "silent")]
#[tool]
async fn quiet() -> String {
    "quiet".into()
}

#[cfg(feature = "twice")]
mod again {
    /// Weather forecast for a city.
    #[tools_rs::tool]
    async fn get_weather(city: String) -> String {
        format!("the second of {city}")
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }

    /// Finds a place.
    #[tools_rs::tool]
    async fn find_place(place: Place) -> String {
        place.name
    }
}

struct Tools(ToolCollection);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        Ok(Tools(tools_rs::collect_tools()))
    }

    fn list(&mut self) -> Value {
        self.0.json().expect("JSON")
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        let call = FunctionCall {
            id: None,
            name: tool.to_owned(),
            arguments: serde_json::from_str(arguments).expect("JSON"),
        };
        match now(self.0.call(call)) {
            Ok(response) => match response.result {
                Value::String(text) => Reply::Result(text),
                other => Reply::Result(other.to_string()),
            },
            Err(error) => Reply::Failure(error.to_string()),
        }
    }
}

fn main() {
    facts::main::<Tools>();
}
