//! tower-mcp: `#[tool_fn]`, and a `McpRouter` as a service of requests, without the transport
//! around it.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use std::cell::RefCell;
use std::collections::HashSet;

use harness::now::now;
use serde_json::{Value, json};
use tower::Service;
use tower_mcp::protocol::{McpNotification, McpRequest, McpResponse, RequestId};
use tower_mcp::router::RouterRequest;
use tower_mcp::{JsonRpcRequest, McpRouter};

pub struct TowerMcp {
    /// A service is called through `&mut`.
    router: RefCell<McpRouter>,
    forgotten: HashSet<String>,
}

impl TowerMcp {
    /// Returns a router of all tools but these. A router can't forget tools.
    fn without(forgotten: HashSet<String>) -> Self {
        let tools = tools::all().into_iter();
        let kept = tools.filter(|tool| !forgotten.contains(&tool.name));
        TowerMcp {
            router: RefCell::new(kept.fold(McpRouter::new(), McpRouter::tool)),
            forgotten,
        }
    }

    fn ask(&self, request: McpRequest) -> Result<McpResponse, String> {
        let request = RouterRequest::new(RequestId::Number(1), request);
        let Ok(response) = now(self.router.borrow_mut().call(request));
        response.inner.map_err(|error| error.message)
    }

    /// Makes the router answer more than `initialize`.
    fn initialize(&self) {
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "benches", "version": "0"},
        });
        let request = JsonRpcRequest::new(0, "initialize").with_params(parameters);
        let request = McpRequest::from_jsonrpc(&request).expect("a request");
        self.ask(request).expect("a server");
        self.router
            .borrow()
            .handle_notification(McpNotification::Initialized);
    }
}

impl harness::Contender for TowerMcp {
    type Tool = &'static str;

    fn start() -> Self {
        let server = TowerMcp::without(HashSet::new());
        server.initialize();
        server
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        let arguments: Value = match serde_json::from_str(arguments) {
            Ok(arguments) => arguments,
            Err(error) => return look(Err(&error.to_string())),
        };
        let call = tower_mcp::protocol::CallToolParams {
            name: (*tool).to_owned(),
            arguments,
            input_responses: None,
            request_state: None,
            meta: None,
            task: None,
        };
        match self.ask(McpRequest::CallTool(call)) {
            Ok(McpResponse::CallTool(result)) => {
                let text = result.first_text().expect("text");
                if result.is_error {
                    look(Err(text));
                } else {
                    look(Ok(text));
                }
            }
            Ok(_) => panic!("not a result"),
            Err(message) => look(Err(&message)),
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        match self.ask(McpRequest::ListTools(Default::default())) {
            Ok(McpResponse::ListTools(list)) => serde_json::to_vec(&list.tools).expect("JSON"),
            _ => panic!("not a list"),
        }
    }

    fn forget(&mut self, name: &str) {
        let mut forgotten = std::mem::take(&mut self.forgotten);
        forgotten.insert(name.to_owned());
        *self = TowerMcp::without(forgotten);
        self.initialize();
    }
}
