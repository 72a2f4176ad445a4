//! A server for `benches/bounds.py`: `bounds_ours (stdio|http) TOOLS`. Over HTTP, it prints its URL.

#![allow(clippy::large_futures, clippy::unused_self)]

use tokio::net::TcpListener;
use tool_core::{Registry, ToolType, tool, tools, toolset};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// The unit of a temperature.
#[derive(ToolType)]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Clone)]
struct Weather;

#[toolset]
impl Weather {
    /// The forecast for a city.
    #[tool]
    fn forecast(
        &self,
        /// The city.
        city: String,
        /// How many days.
        days: u8,
        /// The unit.
        unit: Option<Unit>,
    ) -> String {
        let _ = unit;
        format!("{city} {days}")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().collect();
    let more: usize = arguments.get(2).ok_or("TOOLS is missing")?.parse()?;
    let mut builder = Registry::builder().tools(tools![add]);
    for number in 1..more {
        builder = builder.toolset(&format!("city_{number}_"), Weather);
    }
    let server = Server::new(builder.build()?);
    if arguments[1] == "stdio" {
        server.stdio().await?;
    } else {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("http://{}/mcp", listener.local_addr()?);
        server.serve(listener, HttpConfig::default()).await?;
    }
    Ok(())
}
