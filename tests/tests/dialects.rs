//! What goes to a provider and what comes back, in whole requests and responses.

use serde::Serialize;
use serde_json::{Value, json};
use tool_core::dialect::{
    Anthropic, Dialect, Gemini, JsonWriter, Mcp, OpenAiChat, OpenAiResponses, ResponseError,
};
use tool_core::{Arguments, Registry, ToolCall, ToolEntry, ToolResult, ToolType, tool, tools};

#[derive(Serialize, ToolType)]
struct Forecast {
    city: String,
    highs: Vec<f64>,
}

/// Weather forecast for a city.
///
/// # When to use
/// The user asks about weather.
///
/// # Returns
/// One entry a day.
#[tool(title = "Forecast", read_only, open_world = false)]
async fn get_forecast(
    /// City and country.
    city: &str,
    days: Option<u8>,
) -> Forecast {
    Forecast {
        city: city.into(),
        highs: vec![21.5; days.unwrap_or(1).into()],
    }
}

/// Lists "alarms":
/// tabs\slashes, ünïcödé 🌦.
#[tool]
fn list_alarms() -> Vec<u32> {
    vec![7, 19]
}

/// Cancels a booking.
#[tool(destructive)]
fn cancel_booking(id: u32) -> Result<String, String> {
    match id {
        0 => Ok("done".into()),
        _ => Err(format!("booking {id} is paid")),
    }
}

#[derive(Serialize, ToolType)]
struct Person {
    name: String,
    email: Option<String>,
}

/// Finds a person.
#[tool]
fn find_person(name: String) -> Vec<Person> {
    vec![Person { name, email: None }]
}

/// Says anything.
#[tool]
fn say(what: Value) -> Value {
    what
}

fn registry() -> Registry {
    let tools = tools![get_forecast, list_alarms, cancel_booking, find_person, say];
    Registry::builder().tools(tools).build().unwrap()
}

fn dialects() -> [(&'static str, Box<dyn Dialect>); 6] {
    [
        ("chat", Box::new(OpenAiChat::default())),
        ("responses", Box::new(OpenAiResponses::default())),
        ("anthropic", Box::new(Anthropic::default())),
        ("gemini", Box::new(Gemini::default())),
        ("mcp", Box::new(Mcp::default())),
        ("mcp", Box::new(Mcp::v2025_11_25())),
    ]
}

async fn answer(dialect: &dyn Dialect, response: &Value) -> Vec<ToolResult> {
    let calls = dialect.calls(response).unwrap();
    registry().call_all(calls).await
}

fn refusal(dialect: &dyn Dialect, response: Value) -> String {
    dialect.calls(&response).unwrap_err().to_string()
}
