//! rmcp: `#[tool_router]`, and `ToolRouter::call` without the transport around it.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use std::sync::OnceLock;

use harness::now::now;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject, RequestId};
use rmcp::service::{Peer, RequestContext, RoleServer, serve_directly};

use tools::Server;

pub struct Rmcp {
    router: ToolRouter<Server>,
    context: OnceLock<RequestContext<RoleServer>>,
}

impl rmcp::ServerHandler for Server {}

/// Returns a connection, which a call must refer to and never uses.
fn peer() -> Peer<RoleServer> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let _inside = runtime.enter();
    let (ours, _theirs) = tokio::io::duplex(64);
    serve_directly(Server, ours, None).peer().clone()
}

impl harness::Contender for Rmcp {
    type Tool = &'static str;

    fn start() -> Self {
        Rmcp {
            router: Server::tool_router(),
            context: OnceLock::new(),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        let arguments: JsonObject = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return look(Err(&error.to_string())),
        };
        let request = CallToolRequestParams::new(*tool).with_arguments(arguments);
        let context = self
            .context
            .get_or_init(|| RequestContext::new(RequestId::Number(1), peer()));
        let context = ToolCallContext::new(&Server, request, context.clone());
        match now(self.router.call(context)) {
            Ok(CallToolResponse::Complete(result)) => {
                let text = &result.content[0].as_text().expect("text").text;
                if result.is_error == Some(true) {
                    look(Err(text));
                } else {
                    look(Ok(text));
                }
            }
            Ok(_) => panic!("not a result"),
            Err(error) => look(Err(&error.message)),
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        serde_json::to_vec(&self.router.list_all()).expect("JSON")
    }

    fn forget(&mut self, name: &str) {
        self.router.remove_route(name);
    }
}
