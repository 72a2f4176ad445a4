//! tower-mcp: `#[tool_fn]`, and a server on lines.

use facts::lines::Client;
use facts::{Reply, Subject};
use serde_json::Value;
use tower_mcp::{CallToolResult, McpRouter, NoParams, StdioTransport, tool_fn};

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

#[tool_fn(name = "get_weather", description = "Weather forecast for a city.")]
async fn get_weather(weather: Weather) -> tower_mcp::Result<CallToolResult> {
    let Weather { city, days, unit } = weather;
    Ok(CallToolResult::text(format!("{city}, {days:?}, {unit:?}")))
}
// The end of the tool.

#[tool_fn(description = "Fails.")]
async fn fail(_: NoParams) -> tower_mcp::Result<CallToolResult> {
    Err(tower_mcp::Error::tool("no such city"))
}

#[tool_fn(description = "Panics.")]
async fn panic(_: NoParams) -> tower_mcp::Result<CallToolResult> {
    panic!("a secret")
}

#[cfg(feature = "silent")]
#[tool_fn]
async fn quiet(_: NoParams) -> tower_mcp::Result<CallToolResult> {
    Ok(CallToolResult::text("quiet"))
}

#[cfg(feature = "twice")]
mod again {
    use tower_mcp::CallToolResult;

    #[tower_mcp::tool_fn(name = "get_weather", description = "Weather forecast for a city.")]
    async fn get_weather(_: super::Weather) -> tower_mcp::Result<CallToolResult> {
        Ok(CallToolResult::text("the second"))
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    use tower_mcp::CallToolResult;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }

    #[tower_mcp::tool_fn(description = "Finds a place.")]
    async fn find_place(place: Place) -> tower_mcp::Result<CallToolResult> {
        Ok(CallToolResult::text(place.name))
    }
}

struct Tools(Client);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        let router = McpRouter::new()
            .tool(get_weather_tool())
            .tool(fail_tool())
            .tool(panic_tool());
        #[cfg(feature = "silent")]
        let router = router.tool(quiet_tool());
        #[cfg(feature = "twice")]
        let router = router.tool(again::get_weather_tool());
        #[cfg(feature = "foreign")]
        let router = router.tool(foreign::find_place_tool());
        #[cfg(feature = "caught")]
        let router = router.catch_panics();
        Ok(Tools(Client::of(|stream| {
            let (from, to) = tokio::io::split(stream);
            tokio::spawn(async {
                let mut transport = StdioTransport::new(router);
                transport.run_with_streams(from, to).await.ok();
            });
        })))
    }

    fn list(&mut self) -> Value {
        self.0.list()
    }

    fn call(&mut self, tool: &str, arguments: &str) -> Reply {
        self.0.call(tool, arguments)
    }
}

fn main() {
    facts::main::<Tools>();
}
