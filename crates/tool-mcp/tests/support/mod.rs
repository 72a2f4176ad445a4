//! Clients for the tests of the server.

#![allow(dead_code, unreachable_pub, unused_imports)]

mod in_time;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock,
    ElicitRequestParams, ElicitResult, ElicitationAction, ExtensionCapabilities, Implementation,
    ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServerHandler,
};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tool_mcp::{Import, ImportBuilder, Server};

pub use self::in_time::{in_time, run};

/// The lifecycles of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

pub const BOTH: [Lifecycle; 2] = [Lifecycle::Legacy, Lifecycle::Modern];

impl Lifecycle {
    pub fn mode(self) -> ClientLifecycleMode {
        match self {
            Lifecycle::Legacy => ClientLifecycleMode::Initialize,
            Lifecycle::Modern => ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        }
    }
}

/// A client that notes what it receives, and answers questions.
#[derive(Clone)]
pub struct TestClient {
    pub capabilities: ClientCapabilities,
    /// The answers to questions, in order.
    pub answers: Arc<Mutex<VecDeque<Answer>>>,
    /// The questions so far.
    pub questions: Arc<Mutex<Vec<String>>>,
    pub progress: Arc<Mutex<Vec<f64>>>,
    pub changes: Arc<Notify>,
    /// The notices of resources and prompts so far: what has changed.
    pub notices: Arc<Mutex<Vec<String>>>,
    pub cancelled: Arc<Notify>,
    pub asked: Arc<Notify>,
}

#[derive(Clone, Debug)]
pub enum Answer {
    Accept(Value),
    Decline,
    /// No answer.
    Never,
}

impl Default for TestClient {
    fn default() -> TestClient {
        TestClient {
            capabilities: ClientCapabilities::builder().enable_elicitation().build(),
            answers: Arc::default(),
            questions: Arc::default(),
            progress: Arc::default(),
            changes: Arc::default(),
            notices: Arc::default(),
            cancelled: Arc::default(),
            asked: Arc::default(),
        }
    }
}

impl TestClient {
    pub fn answering(answers: impl IntoIterator<Item = Answer>) -> TestClient {
        let client = TestClient::default();
        client.answers.lock().unwrap().extend(answers);
        client
    }

    /// A client that shows apps.
    pub fn with_apps() -> TestClient {
        let mut client = TestClient::default();
        let settings = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
        let settings = settings.as_object().unwrap().clone();
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert("io.modelcontextprotocol/ui".into(), settings);
        client.capabilities.extensions = Some(extensions);
        client
    }

    /// A client that has tasks, and answers questions.
    pub fn with_tasks() -> TestClient {
        TestClient {
            capabilities: ClientCapabilities::builder()
                .enable_elicitation()
                .enable_tasks()
                .build(),
            ..TestClient::default()
        }
    }

    fn notice(&self, what: &str) {
        self.notices.lock().unwrap().push(what.to_owned());
    }

    /// Waits until the client has been told of a change.
    pub async fn noticed(&self, what: &str) {
        let is_there = || {
            self.notices
                .lock()
                .unwrap()
                .iter()
                .any(|notice| notice == what)
        };
        in_time(async {
            while !is_there() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    pub fn questions(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            self.capabilities.clone(),
            Implementation::new("tests", "1.0.0"),
        )
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let message = match request {
            ElicitRequestParams::FormElicitationParams { message, .. } => message,
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                format!("{message} {url}")
            }
            other => panic!("{other:?}"),
        };
        self.questions.lock().unwrap().push(message);
        self.asked.notify_one();
        let answer = self.answers.lock().unwrap().pop_front();
        match answer.expect("a question without an answer") {
            Answer::Accept(value) => {
                Ok(ElicitResult::new(ElicitationAction::Accept).with_content(value))
            }
            Answer::Decline => Ok(ElicitResult::new(ElicitationAction::Decline)),
            Answer::Never => {
                context.ct.cancelled().await;
                self.cancelled.notify_one();
                Err(ErrorData::internal_error("cancelled", None))
            }
        }
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(progress.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.notice("resources");
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.notice("prompts");
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.notice(&updated.uri);
    }
}

pub type Running = RunningService<RoleClient, TestClient>;

/// Connects a client to a server through memory.
pub async fn connect<H: ServerHandler>(
    server: Server<H>,
    lifecycle: Lifecycle,
    client: TestClient,
) -> Running {
    client
        .serve_with_lifecycle(serve(server), lifecycle.mode())
        .await
        .expect("the client connects")
}

/// Serves a client through memory.
fn serve<H: ServerHandler>(server: Server<H>) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    tokio::spawn(server.serve_stream(input, output));
    near
}

/// Imports from a server in this process. Each connection starts it anew.
pub fn import_of<H: ServerHandler>(
    server: impl Fn() -> Server<H> + Send + Sync + 'static,
) -> ImportBuilder {
    Import::stream(move || {
        let stream = serve(server());
        async { Ok::<_, std::io::Error>(stream) }
    })
}

pub fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are objects")
    };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// Calls a tool. Returns what the client gets as JSON: the result, or the error.
pub async fn call(client: &Running, tool: &'static str, arguments: Value) -> Value {
    match in_time(client.call_tool(params(tool, arguments))).await {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(rmcp::ServiceError::McpError(error)) => {
            json!({ "error": serde_json::to_value(error).unwrap() })
        }
        Err(error) => panic!("{error}"),
    }
}

pub async fn text(client: &Running, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{result}")).to_owned()
}

pub fn first_text(result: &CallToolResult) -> &str {
    result
        .content
        .first()
        .and_then(ContentBlock::as_text)
        .map_or("", |text| &text.text)
}

/// Notifies when it is dropped.
pub struct OnDrop(pub Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
