//! Opens connections to a server.

// The protocol deprecates sampling, roots and logging, but servers still use them.
#![expect(deprecated)]

use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CreateMessageRequestMethod,
    CreateMessageRequestParams, CreateMessageResult, CustomRequest, CustomResult,
    ElicitRequestParams, ElicitResult, ElicitationCapability, ErrorCode, ExtensionCapabilities,
    FormElicitationCapability, Implementation, JsonObject, ListRootsRequestMethod, ListRootsResult,
    ProtocolVersion, RootsCapabilities, SamplingCapability, ServerCapabilities, SetLevelRequest,
    SetLevelRequestParams, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, InboundStreamOrigin, RequestContext,
    RunningServiceCancellationToken, serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};
use tool_core::call::elicit::ElicitRequest;
use tool_core::runtime::BoxFuture;

use super::capabilities::{Capabilities, Sample};
use super::elicit::{self, Answerer, Elicitation};
use super::environment::Environment;
use super::error::{CLOSED, ImportError, ImportErrorKind, chain};
#[cfg(feature = "oauth")]
use super::http::Tokens;
#[cfg(feature = "oauth")]
use super::http::challenge::{Attempts, MAX_ATTEMPTS};
#[cfg(feature = "client-http")]
use super::http::{self, Endpoint};
use super::live::Live;
use super::process::{self, Process};
use super::request::send;
use super::secrets::{Secrets, shorten};
use super::settings::Settings;
use super::transport::{InFlight, Request, ServerLines, Tap, Waiting};
use crate::apps;

/// Where a server is.
pub(super) enum Source {
    Command {
        /// Boxed, because it is larger than the other sources.
        command: Box<Mutex<Command>>,
        environment: Environment,
        inherits_stderr: bool,
    },
    Io(Connect),
    #[cfg(feature = "client-http")]
    Http(Endpoint),
}

impl Source {
    /// Returns the name of the server in errors, with its address if it has one.
    pub(super) fn place(&self, name: &str) -> String {
        match self {
            #[cfg(feature = "client-http")]
            Source::Http(endpoint) => match endpoint.shown() {
                Some(url) if url.contains(name) => url,
                Some(url) => format!("{name} ({url})"),
                None => name.to_owned(),
            },
            _ => name.to_owned(),
        }
    }

    /// Lets a command write to the standard error of this process.
    pub(super) fn inherit_stderr(&mut self) {
        if let Source::Command {
            inherits_stderr, ..
        } = self
        {
            *inherits_stderr = true;
        }
    }
}

/// Opens a stream to a server.
pub(super) type Connect = Box<dyn Fn() -> BoxFuture<io::Result<Box<dyn Stream>>> + Send + Sync>;

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection to a server. Dropping it closes it and kills the process.
pub(super) struct Connection {
    pub(super) live: Arc<Live>,
    /// `None` once it is closed.
    open: Option<Open>,
    cancellation: RunningServiceCancellationToken,
    process: Option<Process>,
}

/// Ends when the connection is closed.
type Open = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits until a connection is closed. May be dropped and called again.
async fn closed(open: &mut Option<Open>) {
    if let Some(end) = open {
        end.await;
        *open = None;
    }
}

impl Connection {
    /// Waits until the connection is lost, and returns the reason. May be dropped and called again.
    pub(super) async fn lost(&mut self) -> String {
        let exited = async {
            match &mut self.process {
                Some(process) => process.exited().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = closed(&mut self.open) => {}
            status = exited => {
                // A process that the server started may hold its standard output.
                let _ = timeout(Duration::from_secs(1), closed(&mut self.open)).await;
                return exit_text(status);
            }
        }
        match &mut self.process {
            None => "it closed the connection".into(),
            Some(process) => match timeout(Duration::from_secs(1), process.exited()).await {
                Ok(status) => exit_text(status),
                Err(_) => "it closed its standard output".into(),
            },
        }
    }

    /// Closes the connection and ends the process.
    pub(super) async fn close(mut self, grace: Duration) {
        self.cancellation.cancel();
        // The transport is closed after the last answers to the server are written.
        let _ = timeout(grace + Duration::from_secs(3), closed(&mut self.open)).await;
        if let Some(process) = self.process {
            process.end(grace).await;
        }
    }
}

fn exit_text(status: Option<std::process::ExitStatus>) -> String {
    match status {
        Some(status) => format!("its process ended: {status}"),
        None => "its process ended".into(),
    }
}

/// Opens connections to one server.
pub(super) struct Opener {
    pub(super) source: Source,
    /// Set once the server turned out to be older than 2026-07-28.
    pub(super) is_legacy: AtomicBool,
}

impl Opener {
    /// Opens a connection.
    pub(super) async fn open(
        &self,
        settings: &Settings,
        secrets: &Secrets,
    ) -> Result<Connection, ImportError> {
        let modes = settings
            .protocol
            .modes(self.is_legacy.load(Ordering::Relaxed));
        let mut deadline = Instant::now() + settings.connect_timeout;
        let mut last = None;
        for mode in modes {
            match self.signed_in(settings, secrets, mode, &mut deadline).await {
                Ok(connection) => {
                    self.is_legacy
                        .store(!connection.live.is_modern, Ordering::Relaxed);
                    return Ok(connection);
                }
                Err(error) if error.kind() == ImportErrorKind::Handshake => {
                    // The first error is about the version that is most likely spoken.
                    last.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| ImportError::new(ImportErrorKind::Handshake, "no version")))
    }

    /// Opens a connection. Signs in if the server asks for it.
    async fn signed_in(
        &self,
        settings: &Settings,
        secrets: &Secrets,
        mode: ClientLifecycleMode,
        deadline: &mut Instant,
    ) -> Result<Connection, ImportError> {
        #[cfg(feature = "oauth")]
        if let Source::Http(Endpoint {
            tokens: Tokens::OAuth(session),
            ..
        }) = &self.source
        {
            let mut attempts = Attempts::default();
            loop {
                let attempt = self.attempt(settings, secrets, mode.clone(), *deadline);
                let connected = attempt.await;
                match &connected {
                    Err(error)
                        if error.kind() == ImportErrorKind::Unauthorized
                            && attempts.all < MAX_ATTEMPTS => {}
                    _ => return connected,
                }
                attempts.all += 1;
                match session.sign_in(&mut attempts).await {
                    Ok(true) => *deadline = Instant::now() + settings.connect_timeout,
                    Ok(false) => return connected,
                    Err(error) => {
                        let text = error.to_string();
                        return Err(ImportError::new(ImportErrorKind::Unauthorized, text));
                    }
                }
            }
        }
        self.attempt(settings, secrets, mode, *deadline).await
    }

    async fn attempt(
        &self,
        settings: &Settings,
        secrets: &Secrets,
        mode: ClientLifecycleMode,
        deadline: Instant,
    ) -> Result<Connection, ImportError> {
        let in_flight = Arc::new(InFlight::default());
        let max = settings.max_message;
        let limited = Limited {
            settings,
            deadline,
            awaited: awaited(&mode),
        };
        match &self.source {
            Source::Command {
                command,
                inherits_stderr,
                ..
            } => {
                process::check_depth()
                    .map_err(|problem| ImportError::new(ImportErrorKind::Loop, problem))?;
                let mut command = command.lock().await;
                let program = command
                    .as_std()
                    .get_program()
                    .to_string_lossy()
                    .into_owned();
                let started = process::start(&mut command, *inherits_stderr);
                drop(command);
                let (mut process, stdout, stdin) = started.map_err(|error| {
                    let text = secrets.redact(format!("can't start `{program}`: {error}"));
                    ImportError::new(ImportErrorKind::Start, text)
                })?;
                let transport = lines(stdout, stdin, &in_flight, max);
                let received = in_flight.clone();
                let connecting = connect(transport, in_flight, settings, mode, secrets);
                match limited.wait(connecting).await {
                    Ok(mut connection) => {
                        connection.process = Some(process);
                        Ok(connection)
                    }
                    Err(mut error) => {
                        let last = process.last_words(secrets).await;
                        let unreadable = received.unreadable(secrets);
                        let program = secrets.redact(program);
                        error.of_program(&program, last, unreadable, *inherits_stderr);
                        Err(error)
                    }
                }
            }
            Source::Io(open) => {
                let connecting = async {
                    let stream = open().await.map_err(|error| {
                        let text = secrets.redact(format!("can't connect: {error}"));
                        ImportError::new(ImportErrorKind::Start, text)
                    })?;
                    let (read, write) = tokio::io::split(stream);
                    let transport = lines(read, write, &in_flight, max);
                    connect(transport, in_flight, settings, mode, secrets).await
                };
                limited.wait(connecting).await
            }
            #[cfg(feature = "client-http")]
            Source::Http(endpoint) => {
                let transport =
                    endpoint.transport(max, settings.connect_timeout, secrets, &in_flight);
                let transport = transport
                    .map_err(|problem| ImportError::new(ImportErrorKind::Start, problem))?;
                let connecting = connect(transport, in_flight, settings, mode, secrets);
                limited.wait(connecting).await
            }
        }
    }
}

/// Returns what a connection waits for.
fn awaited(mode: &ClientLifecycleMode) -> &'static str {
    match mode {
        ClientLifecycleMode::Initialize => "its answer to `initialize`",
        ClientLifecycleMode::Discover { .. } => "its answer to `server/discover`",
        _ => {
            "its answer to `server/discover`; an older server, which has none, is sent `initialize` after ten seconds, \
             or at once with `Protocol::V2025_11_25`"
        }
    }
}

/// A time limit for a connection, and the step that it waits for.
struct Limited<'s> {
    settings: &'s Settings,
    deadline: Instant,
    awaited: &'static str,
}

impl Limited<'_> {
    async fn wait<T>(
        self,
        connecting: impl Future<Output = Result<T, ImportError>>,
    ) -> Result<T, ImportError> {
        let connecting = announced(&self.settings.name, self.awaited, connecting);
        let connected = timeout_at(self.deadline, connecting).await;
        connected.unwrap_or_else(|_| {
            let limit = self.settings.connect_timeout;
            let text = format!("the server did not answer within {limit:?}");
            Err(ImportError::new(ImportErrorKind::TimedOut, text))
        })
    }
}

/// Awaits a future. After a second, logs what the import waits for.
pub(super) async fn announced<T>(
    server: &str,
    awaited: &str,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    if let Ok(done) = timeout(Duration::from_secs(1), &mut future).await {
        return done;
    }
    tracing::info!(server, awaited, "an import waits for an MCP server");
    future.await
}

/// Reads and writes messages as lines.
fn lines<R: AsyncRead + Send + Unpin + 'static, W: AsyncWrite + Send + Unpin + 'static>(
    read: R,
    write: W,
    in_flight: &Arc<InFlight>,
    max: usize,
) -> impl Transport<RoleClient> + 'static {
    ServerLines::new(read, write, in_flight.clone(), max)
}

/// Does the handshake.
async fn connect<T: Transport<RoleClient> + 'static>(
    transport: T,
    in_flight: Arc<InFlight>,
    settings: &Settings,
    mode: ClientLifecycleMode,
    secrets: &Secrets,
) -> Result<Connection, ImportError> {
    let handler = Handler {
        server: settings.name.clone(),
        capabilities: settings.capabilities.clone(),
        answerer: settings.answerer.clone(),
        in_flight: in_flight.clone(),
        has_apps: settings.apps,
    };
    let on_log = {
        let (capabilities, server) = (settings.capabilities.clone(), settings.name.clone());
        let secrets = secrets.clone();
        move |message: &_| capabilities.log(&server, &secrets, message)
    };
    let transport = Tap::new(transport, in_flight.clone(), on_log);
    // Boxed, because rustc can't prove that the future of `rmcp` is `Send` for every lifetime.
    let service: BoxFuture<_> = Box::pin(serve_client_with_lifecycle(handler, transport, mode));
    let service = service
        .await
        .map_err(|error| handshake_error(&error, secrets))?;
    let info = service.peer_info();
    let capabilities = info.as_ref().map(|info| info.capabilities.clone());
    let capabilities = capabilities.unwrap_or_default();
    let live = Live {
        peer: service.peer().clone(),
        in_flight,
        protocol: info.as_ref().map_or_else(String::new, |info| {
            shorten(info.protocol_version.as_str(), 40).into()
        }),
        server: info.as_ref().and_then(|info| {
            let server = info.server_info.as_ref()?;
            let text = |text: &str| shorten(&secrets.redact(text), 100).into_owned();
            Some((text(&server.name), text(&server.version)))
        }),
        is_modern: info.is_some_and(|info| !info.protocol_version.has_initialize()),
        notifies: notifies(&capabilities, settings.gateway.is_some()),
        capabilities,
    };
    let cancellation = service.cancellation_token();
    if let Some(level) = settings.capabilities.log_level()
        && !live.is_modern
        && live.capabilities.logging.is_some()
    {
        let request = SetLevelRequest::new(SetLevelRequestParams::new(level.to_wire()));
        let request = ClientRequest::SetLevelRequest(request);
        let (carried, events) = Request::new(None);
        if send(&live, request, carried, events, settings.list_timeout)
            .await
            .is_err()
        {
            tracing::debug!(
                server = settings.name,
                "an MCP server does not set the level of its log"
            );
        }
    }
    Ok(Connection {
        live: Arc::new(live),
        open: Some(Box::pin(async move {
            let _ = service.waiting().await;
        })),
        cancellation,
        process: None,
    })
}

/// Returns `true` if a server announces changes that the import follows.
fn notifies(capabilities: &ServerCapabilities, is_gateway: bool) -> bool {
    let tools = capabilities.tools.as_ref();
    let follows_tools = tools.is_some_and(|tools| tools.list_changed == Some(true));
    let resources = capabilities.resources.as_ref();
    let prompts = capabilities.prompts.as_ref();
    let others = [
        resources.and_then(|resources| resources.list_changed),
        resources.and_then(|resources| resources.subscribe),
        prompts.and_then(|prompts| prompts.list_changed),
    ];
    follows_tools || is_gateway && others.contains(&Some(true))
}

/// Words the error of a handshake.
fn handshake_error(error: &ClientInitializeError, secrets: &Secrets) -> ImportError {
    if error.is_authorization_required() {
        let text = "the server requires authorization: set the token with `ImportBuilder::bearer`, or check it";
        return ImportError::new(ImportErrorKind::Unauthorized, text);
    }
    #[cfg(feature = "client-http")]
    if let ClientInitializeError::TransportError { error, .. } = error
        && let Some(error) = http::error::no_token(&*error.error)
    {
        return ImportError::new(ImportErrorKind::Unauthorized, error.to_string());
    }
    let text = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            return handshake_error(fallback, secrets);
        }
        ClientInitializeError::ConnectionClosed(_) => CLOSED.into(),
        ClientInitializeError::TransportError { error, .. } if is_closed(&*error.error) => {
            CLOSED.into()
        }
        ClientInitializeError::TransportError { error, .. } => {
            #[cfg(feature = "client-http")]
            let advice = http::error::advice(&*error.error);
            #[cfg(not(feature = "client-http"))]
            let advice = "";
            format!("the handshake failed: {}{advice}", chain(&*error.error))
        }
        ClientInitializeError::JsonRpcError(error) => {
            format!(
                "the server rejected the handshake: {} ({})",
                error.message, error.code.0
            )
        }
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions: Vec<_> = server_supported
                .iter()
                .map(ProtocolVersion::as_str)
                .collect();
            let versions = versions.join(", ");
            format!("there is no common protocol version; the server supports {versions}")
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "the server answered the handshake with another message".into()
        }
        error => format!("the handshake failed: {error}"),
    };
    let text = secrets.redact(text);
    ImportError::new(ImportErrorKind::Handshake, shorten(&text, 1000))
}

/// Returns `true` for the error of a write to a process or a socket that is closed.
fn is_closed(error: &(dyn Error + 'static)) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(
        kind,
        Some(io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
    ) || error.source().is_some_and(is_closed)
}

/// Answers the requests of a server.
struct Handler {
    server: String,
    capabilities: Capabilities,
    answerer: Answerer,
    in_flight: Arc<InFlight>,
    has_apps: bool,
}

impl Handler {
    /// Returns the request that a request of the server belongs to, if that is known, and all that are running.
    fn asking(
        &self,
        context: &RequestContext<RoleClient>,
    ) -> (Option<Arc<Request>>, Vec<Arc<Request>>) {
        let running = self.in_flight.calls();
        // Only HTTP tells which call it belongs to.
        let asking = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => self.in_flight.get(id),
            _ => running.first().filter(|_| running.len() == 1).cloned(),
        };
        (asking, running)
    }

    async fn ask(
        &self,
        request: Option<ElicitRequest>,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(request) = request else {
            return Err(ErrorData::invalid_params(
                "the question can't be read",
                None,
            ));
        };
        let (asking, running) = self.asking(&context);
        let question = Elicitation {
            server: self.server.clone(),
            call: asking.as_ref().and_then(|request| request.call.clone()),
            request,
        };
        // The same in another run of the call, which asks the same questions in the same order.
        let key = match &asking {
            Some(request) => format!("import/{}", request.next_question()),
            None => String::new(),
        };
        let waiting = asking.map_or(running, |request| vec![request]);
        let _waiting = Waiting::new(waiting);
        tokio::select! {
            answer = self.answerer.answer(&key, question) => Ok(answer),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.ask(elicit::read(request), context).await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if !self.capabilities.samples() {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        let (asking, running) = self.asking(&context);
        let sample = Sample {
            server: self.server.clone(),
            call: asking.as_ref().and_then(|request| request.call.clone()),
            params: serde_json::to_value(params).unwrap_or_default(),
        };
        let waiting = asking.map_or(running, |request| vec![request]);
        let _waiting = Waiting::new(waiting);
        tokio::select! {
            answer = self.capabilities.sample(sample) => {
                answer.map_err(|problem| ErrorData::invalid_request(problem, None))
            }
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        if self.capabilities.roots.is_none() {
            return Err(ErrorData::method_not_found::<ListRootsRequestMethod>());
        }
        serde_json::from_value(self.capabilities.roots())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        // One whose schema `rmcp` does not know.
        if request.method == "elicitation/create"
            && let Some(params) = &request.params
        {
            let answer = self.ask(elicit::read_value(params), context).await?;
            let answer = serde_json::to_value(answer);
            return answer
                .map(CustomResult::new)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            request.method,
            None,
        ))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new()),
        );
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(TASKS_EXTENSION_ID.into(), JsonObject::new());
        if self.has_apps {
            extensions.extend(apps::capability());
        }
        capabilities.extensions = Some(extensions);
        capabilities.sampling = self
            .capabilities
            .samples()
            .then(SamplingCapability::default);
        let roots = self.capabilities.roots.as_ref();
        capabilities.roots = roots.map(|_| RootsCapabilities::default());
        let client = Implementation::new("tool-mcp", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
