//! Servers by name: everything in which a server differs from the provider whose format it speaks.
//!
//! A [`Server`] is a [`Dialect`] and data alone: where the API is, how the key is sent, what a request may have, and where
//! that is written. So an agent and `HttpModel` of the crate `tool-agent` take it in place of a dialect:
//!
//! ```
//! use tool_core::{Registry, tool, tools};
//! use tool_dialects::server;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! // With `tool-agent`: `Agent::new(registry, server::GROQ, HttpModel::new(&server::GROQ, "…"))`.
//! let request = registry.request(&server::GROQ).build()?;
//! # let _ = request;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A row for your own gateway is a constant, too:
//!
//! ```
//! use tool_core::dialect::AnswerWay;
//! use tool_core::dialect::write::{HttpApi, Streaming};
//! use tool_dialects::server::{self, Server};
//! use tool_dialects::{ChatRules, OpenAiChat};
//!
//! const GATEWAY: Server = Server {
//!     dialect: &OpenAiChat::with(ChatRules { answer: AnswerWay::Json, ..ChatRules::IMITATION }),
//!     api: HttpApi {
//!         name: "gateway",
//!         key_variables: &["GATEWAY_KEY"],
//!         key_header: "x-api-key",
//!         fields: r#"{"tenant":"a-7","stream_options":null}"#,
//!         ..HttpApi::new("Our gateway", "https://llm.example.com/v1")
//!     },
//!     ..server::VLLM
//! };
//! ```
//!
//! A server keeps the format of its dialect, so a conversation can continue at another server with that format.

mod rows;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde_json::Value;
use tool_core::dialect::write::{
    Deferral, HttpApi, JsonWriter, RequestParts, RequestWriter, ToolChange,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::BrokenRule;
use tool_core::{ToolEntry, ToolResult};

pub use self::rows::*;

/// A server, as data; see the [module](crate::server).
///
/// ```
/// use tool_dialects::server;
///
/// assert_eq!(server::GROQ.name(), "groq");
/// assert_eq!(server::GROQ.api.key_variables, ["GROQ_API_KEY"]);
/// ```
#[derive(Clone, Copy)]
pub struct Server {
    /// Its format, and the fields that a request may have.
    pub dialect: &'static dyn Dialect,
    /// Where its API is, and the parts of a request other than messages and tools.
    pub api: HttpApi,
    /// The name in spans and metrics: `gen_ai.provider.name` in OpenTelemetry's conventions.
    pub telemetry_name: &'static str,
    /// Where the differences are written, with dates.
    pub sources: &'static str,
    /// The responses of the server that its dialect has read, or `not tried`.
    pub tried: &'static str,
}

impl Server {
    /// Returns the name on command lines, such as `groq`. The constant has the same name in capitals.
    pub fn name(&self) -> &'static str {
        self.api.name
    }
}

/// Returns every server, for lists to choose from.
///
/// ```
/// for server in tool_dialects::server::all() {
///     println!("{}: {} at {}", server.name(), server.api.provider, server.api.base_url);
/// }
/// ```
pub fn all() -> impl Iterator<Item = &'static Server> {
    rows::ALL.iter()
}

/// Returns the server with this [name](Server::name), such as one that a user has typed.
///
/// ```
/// use tool_dialects::server;
///
/// assert_eq!(server::find("llama-cpp")?.api.base_url, "http://localhost:8080/v1");
/// let error = server::find("olama").unwrap_err().to_string();
/// assert!(error.starts_with("there is no server \"olama\", only openai, "), "{error}");
/// # Ok::<(), server::UnknownServer>(())
/// ```
///
/// # Errors
///
/// Returns an error that lists the names if there is no such server.
pub fn find(name: &str) -> Result<Server, UnknownServer> {
    let found = all().find(|server| server.name().eq_ignore_ascii_case(name.trim()));
    found.copied().ok_or_else(|| UnknownServer {
        name: name.to_owned(),
    })
}

/// The error of [`find`].
///
/// ```
/// use tool_dialects::server;
///
/// let error = server::find("somewhere").unwrap_err();
/// assert!(error.to_string().contains("deepseek"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownServer {
    name: String,
}

impl fmt::Display for UnknownServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = all().map(Server::name).collect();
        write!(
            f,
            "there is no server {:?}, only {}; write a `tool_dialects::server::Server` for another one",
            self.name,
            names.join(", ")
        )
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for UnknownServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for UnknownServer {}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name())
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

/// The dialect's methods, with the server's API and names.
impl Dialect for Server {
    fn http_api(&self) -> Option<&HttpApi> {
        Some(&self.api)
    }

    fn telemetry_name(&self) -> &'static str {
        self.telemetry_name
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        out.server(self.api.provider);
        self.dialect.write_request(parts, out);
    }

    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        self.dialect.write_tools(tools, hosted, out);
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        self.dialect.hosts(tool)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        self.dialect.problem(tool)
    }

    fn deferral(&self) -> Deferral {
        self.dialect.deferral()
    }

    fn provider(&self) -> &'static str {
        self.dialect.provider()
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        self.dialect.read(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        self.dialect.stream()
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        self.dialect.results(results)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        self.dialect.omitted(results)
    }

    fn user_message(&self, text: &str) -> Value {
        self.dialect.user_message(text)
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        self.dialect.write_message(message)
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        self.dialect.read_message(message)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        self.dialect.repeat(message)
    }

    fn between(&self, before: &Value, message: &Value) -> Option<Value> {
        self.dialect.between(before, message)
    }

    fn follow_up(&self, turn: &Turn, results: &[ToolResult]) -> Vec<Value> {
        self.dialect.follow_up(turn, results)
    }

    fn history_tools(&self, has_tools: bool, messages: &[&Value]) -> Vec<String> {
        self.dialect.history_tools(has_tools, messages)
    }

    /// A server that imitates the format of another may not take its changes of tools.
    fn change_tools(&self, before: &[Value], now: &[Value]) -> ToolChange {
        let own = self.dialect.http_api().map(|api| api.base_url);
        if own == Some(self.api.base_url) {
            self.dialect.change_tools(before, now)
        } else {
            ToolChange::Rewritten { advice: None }
        }
    }

    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        self.dialect.broken_rules(tools, hosted)
    }
}
