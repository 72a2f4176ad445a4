//! The same server with tower-mcp: `bounds_tower (stdio|http) TOOLS`. Over HTTP, it prints its URL.

use axum::serve::ListenerExt as _;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;
use tower_mcp::{BoxError, CallToolResult, HttpTransport, McpRouter, StdioTransport, ToolBuilder};

#[derive(Debug, Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

/// The unit of a temperature.
#[derive(Debug, Deserialize, JsonSchema)]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Forecast {
    /// The city.
    city: String,
    /// How many days.
    days: u8,
    /// The unit.
    #[allow(dead_code)]
    unit: Option<Unit>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let arguments: Vec<_> = std::env::args().collect();
    let more: usize = arguments.get(2).ok_or("TOOLS is missing")?.parse()?;
    let add = ToolBuilder::new("add")
        .description("Adds two numbers.")
        .handler(|numbers: Numbers| async move {
            Ok(CallToolResult::text((numbers.a + numbers.b).to_string()))
        })
        .build();
    let mut router = McpRouter::new().server_info("bounds", "1").tool(add);
    for number in 1..more {
        let forecast = ToolBuilder::new(format!("city_{number}_forecast"))
            .description("The forecast for a city.")
            .handler(|forecast: Forecast| async move {
                Ok(CallToolResult::text(format!("{} {}", forecast.city, forecast.days)))
            })
            .build();
        router = router.tool(forecast);
    }
    if arguments[1] == "stdio" {
        StdioTransport::new(router).run().await?;
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, HttpTransport::new(router).into_router_at("/mcp")).await?;
    Ok(())
}
