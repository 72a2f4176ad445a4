//! The tools of another MCP server in a registry, with a client of `rmcp` that you write yourself.
//!
//! ```sh
//! cargo add tool-core --features dynamic
//! cargo add rmcp --no-default-features --features client,transport-child-process
//! cargo add serde_json tokio --features tokio/macros,tokio/rt
//! cargo run -- uvx mcp-server-time
//! ```
//!
//! Lost in between, compared with `Import` of the crate `tool-mcp`: restarts, changes of the server's list, progress,
//! questions to the user, limits of size and time, and pinned descriptions.

use std::error::Error;

use rmcp::RoleClient;
use rmcp::model::CallToolRequestParams;
use rmcp::service::Peer;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{AnyOutput, Registry};

type BoxError = Box<dyn Error + Send + Sync>;

async fn import(server: &Peer<RoleClient>, tools: &Registry) -> Result<(), BoxError> {
    for listed in server.list_all_tools().await? {
        let (server, name) = (server.clone(), listed.name.clone());
        let has_output_schema = listed.output_schema.is_some();
        let tool = DynamicTool::from_mcp(&json!(listed)).build(move |arguments, _call| {
            let mut request = CallToolRequestParams::new(name.clone());
            if let Value::Object(arguments) = arguments {
                request = request.with_arguments(arguments);
            }
            let server = server.clone();
            async move {
                let result = json!(server.call_tool(request).await?);
                Ok::<_, BoxError>(AnyOutput::from_mcp(result, has_output_schema)?)
            }
        })?;
        for repair in tool.repairs() {
            println!("{}: {repair}", tool.spec().name);
        }
        tools.add(tool)?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    use rmcp::ServiceExt;
    let mut command = std::env::args().skip(1);
    let program = command.next().ok_or("which program is the server?")?;
    let mut server = tokio::process::Command::new(program);
    server.args(command);
    let client = ().serve(TokioChildProcess::new(server)?).await?;
    let tools = Registry::new();
    import(&client, &tools).await?;
    for tool in tools.specs() {
        println!("{}: {}", tool.name, tool.parameters_json());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rmcp::handler::server::wrapper::Parameters;
    use rmcp::model::{CallToolResult, ContentBlock};
    use rmcp::{ErrorData, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
    use tool_core::ToolCall;
    use tool_core::content::Content;

    use super::*;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Place {
        #[serde(rename = "city-name")]
        city: String,
    }

    #[derive(Clone)]
    struct Server;

    #[tool_router]
    impl Server {
        /// Photographs a city.
        #[tool(name = "city/photo")]
        fn photo(&self, Parameters(place): Parameters<Place>) -> Result<CallToolResult, ErrorData> {
            if place.city != "Lisbon" {
                return Ok(CallToolResult::error(vec![ContentBlock::text(
                    "no such city",
                )]));
            }
            Ok(CallToolResult::success(vec![
                ContentBlock::text("taken at noon"),
                ContentBlock::image("iVBORw==", "image/png"),
            ]))
        }
    }

    #[tool_handler]
    impl ServerHandler for Server {}

    #[tokio::test]
    async fn names_keys_pictures_and_errors_pass() {
        let (ours, theirs) = tokio::io::duplex(4096);
        tokio::spawn(async move { Server.serve(theirs).await.unwrap().waiting().await });
        let client = ().serve(ours).await.unwrap();
        let tools = Registry::new();
        import(&client, &tools).await.unwrap();

        let call = |arguments: Value| tools.call(ToolCall::new("call_1", "city_photo", arguments));
        let photo = call(json!({"city_name": "Lisbon"})).await;
        assert_eq!(photo.content(), "taken at noon");
        let [Content::Text(_), Content::Image(image)] = photo.parts() else {
            panic!("a text and a picture");
        };
        assert_eq!(image.bytes(), Some(&b"\x89PNG"[..]));

        let error = call(json!({"city_name": "Atlantis"})).await;
        assert!(error.is_error() && error.content().ends_with("no such city"));
        // Rejected here, by the server's schema.
        let rejected = call(json!({"city_name": 7})).await;
        assert_eq!(
            rejected.error().unwrap().violations()[0].path(),
            "city_name"
        );
    }
}
