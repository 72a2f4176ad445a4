//! [`Way`]: which calls are read without `rmcp`, by their head and their text.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion};

use crate::server::core::Core;
use crate::server::lines::{CALL, read_call};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of parameters start with it.
const PARAMETER: &str = "mcp-param-";

/// Which calls are read here.
pub(super) enum Way {
    /// Calls of a session.
    Session,
    /// Calls without a session, which name their tool in the head too.
    Alone(HeaderValue),
    /// None: `rmcp` reads the message.
    Any,
}

impl Way {
    pub(super) fn of(headers: &HeaderMap, core: &Core) -> Way {
        let modern = ProtocolVersion::V_2026_07_28;
        let version = headers.get(PROTOCOL_VERSION).map(HeaderValue::as_bytes);
        if version.is_none_or(|version| version < modern.as_str().as_bytes()) {
            return if headers.contains_key(SESSION_ID) {
                Way::Session
            } else {
                Way::Any
            };
        }
        // `rmcp` checks requests that repeat a header or send parameters in the head.
        let is_plain = version == Some(modern.as_str().as_bytes())
            && headers.get(METHOD).is_some_and(|method| method == CALL)
            && headers.len() == headers.keys_len()
            && !headers
                .keys()
                .any(|name| name.as_str().starts_with(PARAMETER));
        match headers.get(NAME).filter(|_| is_plain) {
            Some(name) if has_no_headers(name, core) => Way::Alone(name.clone()),
            _ => Way::Any,
        }
    }

    /// Reads a call of this way. `None` if `rmcp` has to read the message.
    pub(super) fn read(&self, message: &[u8]) -> Option<ClientJsonRpcMessage> {
        if matches!(self, Way::Any) {
            return None;
        }
        let call = read_call(message)?;
        let ClientJsonRpcMessage::Request(request) = &call else {
            return None;
        };
        let meta = request.request.get_meta();
        let version = meta.protocol_version();
        let is_read = match (self, &request.request) {
            (Way::Alone(name), ClientRequest::CallToolRequest(call)) => {
                let modern = ProtocolVersion::V_2026_07_28;
                name == call.params.name.as_bytes()
                    && meta.missing_required_keys(&modern).is_empty()
                    && version == Some(modern)
                    // Its reports are a stream.
                    && meta.get_progress_token().is_none()
            }
            _ => version.is_none(),
        };
        is_read.then_some(call)
    }
}

/// Returns `true` for a tool none of whose parameters is sent in the head.
fn has_no_headers(name: &HeaderValue, core: &Core) -> bool {
    let name = name.to_str();
    name.is_ok_and(|name| core.list().with_headers(name).is_none())
}

// `client` turns on the tools from elsewhere that the tests use.
#[cfg(all(test, feature = "client"))]
mod tests {
    use serde_json::{Value, json};
    use tool_core::dynamic::DynamicTool;
    use tool_core::{Registry, tool, tools};

    use super::*;
    use crate::Server;

    /// Adds.
    #[tool(unlinked)]
    fn add(a: i64) -> i64 {
        a
    }

    fn is_read(headers: &[(&'static str, &'static str)], message: &Value) -> bool {
        let region = r#"{"type": "object", "properties": {"region": {"x-mcp-header": "Region"}}}"#;
        let greet = DynamicTool::foreign("greet")
            .description("Greets a region.")
            .parameters_json(region)
            .build(async |_, _| Ok::<_, String>("hello"));
        let registry = Registry::builder().tools(tools![add]).tool(greet.unwrap());
        let handler = Server::new(registry.build().unwrap()).into_handler();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let way = Way::of(&map, &handler.core);
        way.read(message.to_string().as_bytes()).is_some()
    }

    fn call(name: &str, meta: &Value) -> Value {
        let params = json!({"name": name, "arguments": {}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 1, "method": CALL, "params": params})
    }

    #[test]
    fn calls_of_sessions_are_read_here_unless_they_name_a_version() {
        let plain = call("add", &json!({}));
        let session = ("mcp-session-id", "s");
        assert!(is_read(&[session], &plain));
        assert!(is_read(
            &[session, ("mcp-protocol-version", "2025-11-25")],
            &plain
        ));
        assert!(!is_read(
            &[session, ("mcp-protocol-version", "2026-07-28")],
            &plain
        ));
        assert!(!is_read(&[], &plain));
        let version = json!({"io.modelcontextprotocol/protocolVersion": "2025-11-25"});
        assert!(!is_read(&[session], &call("add", &version)));
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        assert!(!is_read(&[session], &ping));
    }

    #[test]
    fn calls_without_a_session_are_read_here_if_their_head_agrees() {
        let head = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", CALL),
            ("mcp-name", "add"),
        ];
        let complete = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        assert!(is_read(&head, &call("add", &complete)));
        for (at, other) in [
            (0, ("mcp-protocol-version", "2027-01-01")),
            (1, ("mcp-method", "tools/list")),
            (2, ("mcp-name", "subtract")),
            (2, ("x-name", "add")),
        ] {
            let mut head = head;
            head[at] = other;
            assert!(!is_read(&head, &call("add", &complete)), "{other:?}");
        }
        for more in [("mcp-name", "add"), ("mcp-param-region", "x")] {
            let head = [head[0], head[1], head[2], more];
            assert!(!is_read(&head, &call("add", &complete)), "{more:?}");
        }
        for (key, value) in [
            (
                "io.modelcontextprotocol/protocolVersion",
                json!("2025-11-25"),
            ),
            ("io.modelcontextprotocol/clientCapabilities", json!(1)),
            ("progressToken", json!(1)),
        ] {
            let mut meta = complete.clone();
            meta[key] = value;
            assert!(!is_read(&head, &call("add", &meta)), "{key}");
        }
        let head = [head[0], head[1], ("mcp-name", "greet")];
        assert!(!is_read(&head, &call("greet", &complete)));
    }
}
