//! A registry in a server of `rmcp` that you write yourself, such as one that has resources and prompts too.
//!
//! ```sh
//! cargo add tool-core
//! cargo add tool-dialects
//! cargo add serde_json
//! cargo add rmcp --no-default-features --features server,transport-io
//! cargo add tokio --features macros,rt
//! ```
//!
//! Lost in between, compared with the crate `tool-mcp`: progress, cancellation, questions to the user, held calls,
//! notices of changes, tasks, and the users of HTTP.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, from_str, from_value};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, tool};
use tool_dialects::Mcp;

/// The current temperature of a city in degrees Celsius.
#[tool(read_only)]
fn get_temperature(city: &str) -> Result<f64, String> {
    if city == "Lisbon" {
        Ok(21.5)
    } else {
        Err(format!("there is no station in {city}"))
    }
}

struct Server(Registry);

fn internal(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.render(&Mcp::default());
        Ok(ListToolsResult::with_all_items(
            from_str(tools.as_str()).map_err(internal)?,
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let call = ToolCall::new(context.id.to_string(), request.name, arguments);
        let result = self.0.call(call).await;
        let mut reply = Mcp::default().results(&[result]).remove(0);
        if reply["error"].is_object() {
            return Err(from_value(reply["error"].take()).map_err(internal)?);
        }
        let result: CallToolResult = from_value(reply["result"].take()).map_err(internal)?;
        Ok(result.into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use rmcp::ServiceExt;
    let server = Server(Registry::linked()?);
    server
        .serve((tokio::io::stdin(), tokio::io::stdout()))
        .await?
        .waiting()
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::ServiceExt;
    use rmcp::service::ServiceError;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn a_client_lists_and_calls_the_tools() {
        let (ours, theirs) = tokio::io::duplex(4096);
        let server = Server(Registry::linked().unwrap());
        tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
        let client = ().serve(theirs).await.unwrap();

        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(
            json!(tools),
            json!(Registry::linked().unwrap().render(&Mcp::v2025_11_25()))
        );

        let call = |name: &'static str, arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap();
            client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments))
        };
        let result = call("get_temperature", json!({"city": "Lisbon"}))
            .await
            .unwrap();
        // A client of the version 2025-11-25: only objects are structured.
        assert_eq!(result.content[0].as_text().unwrap().text, "21.5");

        let result = call("get_temperature", json!({"town": "Lisbon"}))
            .await
            .unwrap();
        assert_eq!(result.is_error, Some(true));
        let text = &result.content[0].as_text().unwrap().text;
        assert!(
            text.contains(r#"- town: unknown; expected "city""#),
            "{text}"
        );

        let error = call("get_weather", json!({})).await.unwrap_err();
        assert!(matches!(error, ServiceError::McpError(error) if error.code.0 == -32602));
    }
}
