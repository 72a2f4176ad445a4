//! The same server without tool-core, as the documentation of `rmcp` shows it, but with `TCP_NODELAY`, and answers in
//! JSON as ours has them.

#![allow(clippy::large_futures, clippy::unused_self)]

use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::JsonSchema;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt, tool_handler, tool_router};
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Numbers {
    a: i64,
    b: i64,
}

/// The unit of a temperature.
#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Forecast {
    /// The city.
    city: String,
    /// How many days.
    days: u8,
    /// The unit.
    unit: Option<Unit>,
}

#[derive(Clone)]
struct Plain {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Plain {
    #[rmcp::tool(description = "Adds two numbers.")]
    fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> String {
        (a + b).to_string()
    }

    #[rmcp::tool(description = "The forecast for a city.")]
    fn forecast(&self, Parameters(forecast): Parameters<Forecast>) -> String {
        let _ = forecast.unit;
        format!("{} {}", forecast.city, forecast.days)
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Plain {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().collect();
    let more: usize = arguments.get(2).ok_or("TOOLS is missing")?.parse()?;
    let mut router = Plain::tool_router();
    let forecast = router.map.remove("forecast").ok_or("no forecast")?;
    for number in 1..more {
        let mut route = forecast.clone();
        route.attr.name = format!("city_{number}_forecast").into();
        router.add_route(route);
    }
    let server = Plain {
        tool_router: router,
    };
    if arguments[1] == "stdio" {
        server
            .serve(rmcp::transport::stdio())
            .await?
            .waiting()
            .await?;
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    let router = axum::Router::new().route_service("/mcp", service);
    axum::serve(listener, router).await?;
    Ok(())
}
