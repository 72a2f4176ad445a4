//! Dialects: whole requests and responses of each provider.

mod agent;
mod async_calls;
mod calls;
#[allow(dead_code)] // Other tests look at spans.
#[path = "../../support/capture.rs"]
mod capture;
mod ends;
mod freeform;
mod history;
mod hosted;
mod malformed_responses;
mod media;
mod oracles;
mod programmatic;
mod prompted;
mod requests;
mod results;
mod sample_responses;
mod streams;
mod strict;
mod tools_field;
mod trained;
mod truncated;
mod unanswered;

use serde::Serialize;
use serde_json::Value;
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolType, tool, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

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

/// Returns every dialect with a sample response.
fn dialects() -> [(Box<dyn Dialect>, Value); 11] {
    [
        (Box::new(OpenAiChat::default()), sample_responses::chat()),
        (
            Box::new(OpenAiResponses::default()),
            sample_responses::responses(),
        ),
        (
            Box::new(Anthropic::default()),
            sample_responses::anthropic(),
        ),
        (Box::new(Gemini::default()), sample_responses::gemini()),
        (
            Box::new(GeminiInteractions::default()),
            sample_responses::gemini_interactions(),
        ),
        (Box::new(Mcp::default()), sample_responses::mcp()),
        (Box::new(Mcp::v2025_11_25()), sample_responses::mcp()),
        (Box::new(Bedrock::default()), sample_responses::bedrock()),
        (Box::new(Cohere::default()), sample_responses::cohere()),
        (Box::new(XAi::default()), sample_responses::chat()),
        (Box::new(Mistral::default()), sample_responses::mistral()),
    ]
}

fn refusal(dialect: &dyn Dialect, response: &Value) -> String {
    dialect.read(response).unwrap_err().to_string()
}
