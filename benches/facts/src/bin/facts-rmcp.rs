//! rmcp: `#[tool_router]`, and a server on lines.

use facts::lines::Client;
use facts::{Reply, Subject};
use rmcp::ServiceExt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{tool, tool_handler, tool_router};
use serde_json::Value;

#[derive(Clone)]
struct Server {
    tool_router: ToolRouter<Self>,
}

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

#[tool_router]
impl Server {
    /// Weather forecast for a city.
    #[tool]
    fn get_weather(&self, Parameters(weather): Parameters<Weather>) -> String {
        let Weather { city, days, unit } = weather;
        format!("{city}, {days:?}, {unit:?}")
    }
}
// The end of the tool.

#[tool_router(router = more)]
impl Server {
    /// Fails.
    #[tool]
    fn fail(&self) -> Result<String, String> {
        Err("no such city".into())
    }

    /// Panics.
    #[tool]
    fn panic(&self) -> String {
        panic!("a secret")
    }
}

#[cfg(feature = "silent")]
#[tool_router(router = silent)]
impl Server {
    #[tool]
    fn quiet(&self) -> String {
        "quiet".into()
    }
}

#[cfg(feature = "twice")]
#[tool_router(router = again)]
impl Server {
    /// Weather forecast for a city.
    #[tool(name = "get_weather")]
    fn get_weather_again(&self, Parameters(_): Parameters<Weather>) -> String {
        "the second".into()
    }
}

#[cfg(feature = "foreign")]
mod foreign {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Place {
        pub name: String,
    }
}

#[cfg(feature = "foreign")]
#[tool_router(router = places)]
impl Server {
    /// Finds a place.
    #[tool]
    fn find_place(&self, Parameters(place): Parameters<foreign::Place>) -> String {
        place.name
    }
}

#[tool_handler(router = self.tool_router)]
impl rmcp::ServerHandler for Server {}

struct Tools(Client);

impl Subject for Tools {
    fn start() -> Result<Self, String> {
        let tool_router = Server::tool_router() + Server::more();
        #[cfg(feature = "silent")]
        let tool_router = tool_router + Server::silent();
        #[cfg(feature = "twice")]
        let tool_router = tool_router + Server::again();
        #[cfg(feature = "foreign")]
        let tool_router = tool_router + Server::places();
        let server = Server { tool_router };
        Ok(Tools(Client::of(|stream| {
            tokio::spawn(async {
                let running = server.serve(stream).await.expect("a client");
                running.waiting().await.ok();
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
