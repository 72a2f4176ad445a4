//! Tools of other servers.

mod apps;
mod backoff;
mod call;
mod capabilities;
mod connection;
#[cfg(feature = "submodel")]
pub(crate) mod direct;
mod elicit;
mod environment;
#[cfg(feature = "client-http")]
mod http;
mod listing;
#[cfg(feature = "oauth")]
pub mod oauth;
pub(crate) mod offers;
mod pins;
mod process;
mod report;
mod request;
mod secrets;
mod supervisor;
mod tasks;
mod tools;
mod transport;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tool_core::call::elicit::Elicited;
use tool_core::call::{CancellationToken, TraceContext};
use tool_core::{CallContext, Registry, ToolEntry};

use self::capabilities::Capabilities;
use self::connection::{Live, Opener, Source, Stream};
use self::elicit::Answerer;
use self::environment::Environment;
use self::offers::{OfferChange, Offered};
use self::secrets::Secrets;
use self::supervisor::Supervisor;
use crate::gateway::MAX_GATEWAYS;
use crate::lock;

pub use self::backoff::Backoff;
pub use self::capabilities::{LogLevel, LogMessage, Sample};
pub use self::connection::Protocol;
pub use self::elicit::Elicitation;
pub use self::report::{HeldTool, RejectedTool, Report, TakenTool};

/// The tools of another server, as tools of a registry.
///
/// The tools stay in the registry as long as the value lives. Dropping it removes them, closes the
/// connection and ends the process of the server.
///
/// ```no_run
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::{Backoff, Import};
///
/// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let mut command = Command::new("uvx");
/// command.arg("mcp-server-git");
/// let import = Import::command(command)
///     .prefix("git_")
///     .restart(Backoff::default())
///     .connect(&registry)
///     .await?;
/// println!("{}", import.report());
/// # Ok(())
/// # }
/// ```
///
/// # Tools
///
/// Each tool becomes a [`DynamicTool::foreign`](tool_core::dynamic::DynamicTool::foreign): names, keys and schemas
/// that some provider rejects are repaired, and the [report](Import::report) lists the repairs. Calls are
/// validated against the original schema, and results against the output schema. Images, audio, links
/// and embedded resources stay [parts](tool_core::content::Content) of the result. Progress, cancellation,
/// questions to the user and traces are passed on.
///
/// When the server says that its tools have changed, they are listed again, and added, replaced and
/// removed in one step.
///
/// # Away
///
/// If the server ends during a call, the call fails with an error that says so, and that is
/// [retryable](tool_core::ToolError::is_retryable) if the server is [restarted](ImportBuilder::restart).
/// While the server is away its tools stay listed, and their calls fail at once.
///
/// # Trust
///
/// What a server says is not trusted:
///
/// - Its annotations count only with [`trust_annotations`](ImportBuilder::trust_annotations).
/// - With [`pin`](ImportBuilder::pin), a tool that changed is held back until a person
///   [accepts](Import::accept) it.
/// - Messages, lists, pages and times are bounded. What exceeds a bound is left out, and the report says
///   so.
/// - A program gets the environment variables that it was given, and few others; see [`command`](Import::command).
/// - Errors, logs and `Debug` do not contain the values of environment variables that the program was given, of
///   inherited variables whose names look secret, of bearer tokens and headers, and of the query of the
///   URL. Results are passed on as they are: a tool that prints its environment prints its secrets. With
///   the level `DEBUG`, `rmcp` logs whole messages, secret arguments included: keep its target at `info`.
pub struct Import {
    shared: Arc<Shared>,
    commands: mpsc::Sender<supervisor::Command>,
    supervisor: Option<JoinHandle<()>>,
}

/// Settings of an [`Import`].
///
/// ```no_run
/// use std::time::Duration;
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::{Backoff, Import};
///
/// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// let import = Import::command(Command::new("notes-server"))
///     .prefix("notes_")
///     .pin("notes.pins.json")
///     .call_timeout(Duration::from_secs(30))
///     .restart(Backoff::default())
///     .connect(&registry)
///     .await?;
/// # let _ = import;
/// # Ok(())
/// # }
/// ```
#[must_use = "an import does nothing until it is connected"]
pub struct ImportBuilder {
    source: Source,
    settings: Settings,
    secrets: Secrets,
}

#[derive(Debug)]
struct Settings {
    name: String,
    prefix: String,
    tags: Vec<String>,
    protocol: Protocol,
    trusts_annotations: bool,
    pins: Option<PathBuf>,
    backoff: Option<Backoff>,
    answerer: Answerer,
    capabilities: Capabilities,
    tracer: Tracer,
    connect_timeout: Duration,
    list_timeout: Duration,
    call_timeout: Duration,
    task_timeout: Duration,
    grace: Duration,
    max_tools: usize,
    max_message: usize,
    offers: bool,
    apps: bool,
    /// The id of the gateway that imports the server.
    gateway: Option<String>,
}

/// Returns the trace of the current call. Without a closure, that is what the caller attached to it.
#[derive(Clone, Default)]
struct Tracer(Option<Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>>);

impl Tracer {
    fn current(&self, call: &CallContext) -> Option<TraceContext> {
        match &self.0 {
            Some(current) => current(),
            None => call.get().cloned(),
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Tracer" } else { "None" })
    }
}

impl Settings {
    fn new(name: String) -> Settings {
        Settings {
            name,
            prefix: String::new(),
            tags: Vec::new(),
            protocol: Protocol::default(),
            trusts_annotations: false,
            pins: None,
            backoff: None,
            answerer: Answerer::default(),
            capabilities: Capabilities::default(),
            tracer: Tracer::default(),
            connect_timeout: Duration::from_secs(60),
            list_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(120),
            task_timeout: Duration::from_secs(3600),
            grace: Duration::from_secs(2),
            max_tools: 1000,
            max_message: 16 << 20,
            offers: false,
            apps: false,
            gateway: None,
        }
    }
}

impl Import {
    /// Imports the tools of a program that speaks over its standard input and output: a command of tokio
    /// or std. It gets its own process group, which ends with the import.
    ///
    /// The program gets the variables that the command sets, what [`env`](ImportBuilder::env) sets, and a few of
    /// this process that name no secrets: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, or on Windows the
    /// folders of the user and of the system. It gets these also if the command clears its environment, but none
    /// that the command removes. [`inherit_env`](ImportBuilder::inherit_env) passes on all. `TOOL_MCP_DEPTH` says how many
    /// programs have started each other, so that a loop of them ends: the ninth is not started.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_core::Registry;
    /// use tool_mcp::Import;
    ///
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// let mut command = Command::new("notes-server");
    /// // It gets none of the secrets of this process, unless you pass them on.
    /// command.arg("--read-only").env("NOTES_TOKEN", std::env::var("NOTES_TOKEN")?);
    /// let import = Import::command(command).connect(&registry).await?;
    /// # let _ = import;
    /// # Ok(())
    /// # }
    /// ```
    pub fn command(command: impl Into<Command>) -> ImportBuilder {
        let mut import = Import::command_inheriting(command.into(), environment::INHERITED);
        if let Source::Command { command, .. } = &mut import.source {
            process::count(command.get_mut());
        }
        import
    }

    /// Imports the tools of a program that inherits only these variables.
    fn command_inheriting(mut command: Command, inherited: &[&str]) -> ImportBuilder {
        let environment = Environment::restrict(command.as_std_mut(), inherited);
        let std = command.as_std();
        let program = std.get_program().to_string_lossy();
        let name = program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(&program)
            .to_owned();
        let mut secrets = Secrets::default();
        for (name, value) in std.get_envs() {
            let is_inherited = inherited.iter().any(|other| name == *other);
            if let Some(value) = value
                && !is_inherited
            {
                secrets.add(&value.to_string_lossy());
            }
        }
        let source = Source::Command {
            command: Box::new(tokio::sync::Mutex::new(command)),
            environment,
            inherits_stderr: false,
        };
        ImportBuilder::new(source, name, secrets)
    }

    /// Imports the tools of a server at a URL, by streamable HTTP. Redirects to another origin are not
    /// followed.
    ///
    /// ```no_run
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// # let token = "";
    /// let registry = tool_core::Registry::new();
    /// let import = tool_mcp::Import::http("https://example.com/mcp")
    ///     .bearer(token)
    ///     .connect(&registry)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "client-http")]
    pub fn http(url: impl Into<String>) -> ImportBuilder {
        let endpoint = http::Endpoint {
            url: url.into(),
            tokens: http::Tokens::None,
            headers: Vec::new(),
        };
        let name = endpoint.host().unwrap_or_else(|| "http".into());
        ImportBuilder::new(Source::Http(endpoint), name, Secrets::default())
    }

    /// Imports the tools of a server behind any stream of lines, such as a socket. The closure opens the
    /// stream, and is called again for each restart.
    pub fn stream<F, R, S>(connect: F) -> ImportBuilder
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let source = Source::Io(Box::new(move || {
            let connecting = connect();
            Box::pin(async move { Ok(Box::new(connecting.await?) as Box<dyn Stream>) })
        }));
        ImportBuilder::new(source, "stream".into(), Secrets::default())
    }

    /// Returns the [name](ImportBuilder::name) of the server.
    pub fn name(&self) -> &str {
        &self.shared.settings.name
    }

    /// Returns what became of the tools when they were last listed.
    ///
    /// ```no_run
    /// use tool_mcp::Import;
    ///
    /// fn print(import: &Import) {
    ///     let report = import.report();
    ///     println!("{} tools are taken, {} are held", report.taken.len(), report.held.len());
    ///     // All of it, for a person.
    ///     println!("{report}");
    /// }
    /// ```
    pub fn report(&self) -> Arc<Report> {
        lock(&self.shared.report).clone()
    }

    /// Returns the state of the connection.
    pub fn status(&self) -> Status {
        self.shared.link().status()
    }

    /// Waits until the server is connected, such as after a restart.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is away and not restarted again.
    pub async fn connected(&self) -> Result<(), ImportError> {
        let mut link = self.shared.link.subscribe();
        let settled = link.wait_for(|link| !matches!(link, Link::Away { restarts: true, .. }));
        let status = match settled.await {
            Ok(link) => link.status(),
            Err(_) => Status::Closed,
        };
        match status {
            Status::Connected => Ok(()),
            status => {
                let error = ImportError::new(ImportErrorKind::Away, status.to_string());
                Err(error.of(&self.shared.place))
            }
        }
    }

    /// Lists the tools of the server again. Needed only for a server that does not say when they change.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is away, or if the new tools can't replace the old ones, which
    /// stay then.
    pub async fn refresh(&self) -> Result<(), ImportError> {
        self.send(supervisor::Command::Refresh).await
    }

    /// Accepts a tool of [`Report::held`], as it was listed there: a person has looked at it. Writes it to
    /// the [file](ImportBuilder::pin) and adds it to the registry.
    ///
    /// # Errors
    ///
    /// Returns an error if the tool has changed again, or if the file can't be written.
    pub async fn accept(&self, tool: &HeldTool) -> Result<(), ImportError> {
        let tool = Box::new(tool.clone());
        self.send(|sender| supervisor::Command::Accept(tool, sender))
            .await
    }

    async fn send(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<(), ImportError>>) -> supervisor::Command,
    ) -> Result<(), ImportError> {
        let (sender, receiver) = oneshot::channel();
        let sent = self.commands.send(command(sender)).await;
        let done = match sent {
            Ok(()) => receiver.await.ok(),
            Err(_) => None,
        };
        let done = done.unwrap_or_else(|| {
            let closed = Status::Closed.to_string();
            Err(ImportError::new(ImportErrorKind::Away, closed))
        });
        done.map_err(|error| error.of(&self.shared.place))
    }

    /// Removes the tools, closes the connection, and waits until the process has ended.
    pub async fn close(mut self) {
        self.shared.shut_down();
        if let Some(supervisor) = self.supervisor.take() {
            // The supervisor bounds each of its steps.
            let _ = timeout(
                self.shared.settings.grace * 3 + Duration::from_secs(10),
                supervisor,
            )
            .await;
        }
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        self.shared.shut_down();
    }
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import")
            .field("name", &self.shared.settings.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl ImportBuilder {
    fn new(source: Source, name: String, secrets: Secrets) -> ImportBuilder {
        ImportBuilder {
            source,
            settings: Settings::new(name),
            secrets,
        }
    }

    /// Adds two tools to the registry, `read_resource` and `get_prompt` after the [prefix](ImportBuilder::prefix). With them a
    /// model reads every resource of the server and gets every prompt. Without this, only the application does, by
    /// [`Import::read_resource`] and [`Import::get_prompt`].
    ///
    /// ```no_run
    /// use tool_core::Registry;
    /// use tool_mcp::Import;
    ///
    /// # async fn import() -> Result<(), tool_mcp::ImportError> {
    /// let registry = Registry::new();
    /// let import = Import::http("https://notes.example.com/mcp").prefix("notes_").resource_tools().connect(&registry).await?;
    /// assert!(registry.get("notes_read_resource").is_some());
    /// # let _ = import;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resource_tools(mut self) -> Self {
        self.settings.offers = true;
        self
    }

    /// Sets the name of the server in errors, logs and questions. The default is the program or the host.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Puts a prefix before the names of the tools.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.settings.prefix = prefix.into();
        self
    }

    /// Adds tags to all tools, which an application uses to
    /// [select](tool_core::Registry::select_tags) them.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.settings.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Restarts the server, or connects again, when the connection is lost. Without it the tools stay
    /// listed, and their calls fail.
    pub fn restart(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = Some(backoff);
        self
    }

    /// Chooses the version of the protocol. The default is the newest.
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// Trusts what the server says about the effects of its tools: their annotations become the annotations of the
    /// tools in the registry. Without it, the tools have no annotations.
    pub fn trust_annotations(mut self) -> Self {
        self.settings.trusts_annotations = true;
        self
    }

    /// Keeps hashes of the descriptions, schemas and annotations of the tools in a JSON file, by name. The
    /// first connection accepts all tools and writes the file. Later, a tool that is new or changed is
    /// not added to the registry, and removed from it, until a person [accepts](Import::accept) it. Each
    /// server needs its own file.
    ///
    /// A file that can't be read is an error, and accepts nothing.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_mcp::Import;
    ///
    /// let builder = Import::command(Command::new("notes-server")).pin("notes.pins.json");
    /// # let _ = builder;
    /// ```
    pub fn pin(mut self, file: impl Into<PathBuf>) -> Self {
        self.settings.pins = Some(file.into());
        self
    }

    /// Sets the handler of the questions that the server asks the user. Without one, the user of the call is asked
    /// as [`CallContext::elicit`] does, such as the user of a [`Server`](crate::Server) with these tools, and
    /// a question without such a user is declined.
    ///
    /// Where a question ends the call, which is then [made
    /// again](tool_core::call::elicit#a-tool-may-run-again), a server of version 2026-07-28 goes on where it asked. An
    /// older one runs the call again from its start.
    ///
    /// The clock of a call stops while the user is asked.
    ///
    /// ```no_run
    /// use tool_core::call::elicit::Elicited;
    /// use tool_mcp::Import;
    ///
    /// # fn build(command: tokio::process::Command) {
    /// let import = Import::command(command).on_elicit(async |question| {
    ///     println!("{} asks: {}", question.server, question.request.message);
    ///     Elicited::Declined
    /// });
    /// # }
    /// ```
    pub fn on_elicit<F, R>(mut self, answer: F) -> Self
    where
        F: Fn(Elicitation) -> R + Send + Sync + 'static,
        R: Future<Output = Elicited> + Send + 'static,
    {
        self.settings.answerer = Answerer::new(answer);
        self
    }

    /// Lets the server ask the model of the application (`sampling`), and sets what answers: the result of
    /// `sampling/createMessage` in the form of the protocol, or an error that the server gets. Without this, the server is
    /// not told that it could.
    ///
    /// A server can spend money with this, and its messages are as untrusted as its results. At most 4 requests run at the
    /// same time and 60 in a minute, and one has at most 1 MiB; further ones are errors. The clock of a call stops while the
    /// model is asked. The protocol deprecates sampling since version 2026-07-28.
    ///
    /// See [`Sample`] for an example.
    pub fn on_sample<F, R>(mut self, answer: F) -> Self
    where
        F: Fn(Sample) -> R + Send + Sync + 'static,
        R: Future<Output = Result<serde_json::Value, String>> + Send + 'static,
    {
        self.settings.capabilities.on_sample(answer);
        self
    }

    /// Tells the server which folders it is about (`roots`), as URIs such as `file:///home/ada/project`. They are a hint and
    /// confine nothing. Without this, the server is not told of any. The protocol deprecates roots since version 2026-07-28.
    ///
    /// ```
    /// let command = tokio::process::Command::new("mcp-server-filesystem");
    /// let builder = tool_mcp::Import::command(command).roots(["file:///home/ada/project"]);
    /// # let _ = builder;
    /// ```
    pub fn roots(mut self, uris: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let uris = uris.into_iter().map(Into::into).collect();
        self.settings.capabilities.roots = Some(uris);
        self
    }

    /// Calls a closure with each message of the server's log of this level or a more serious one. Without this, they are
    /// dropped. The protocol deprecates logging since version 2026-07-28.
    ///
    /// The closure should return quickly, because the connection waits for it. It gets at most 100 messages in a second, and
    /// the rest is dropped. See [`LogMessage`] for an example.
    pub fn on_log(
        mut self,
        level: LogLevel,
        listener: impl Fn(LogMessage) + Send + Sync + 'static,
    ) -> Self {
        self.settings.capabilities.on_log(level, listener);
        self
    }

    /// Sets what returns the trace of a call, which the server gets in the `_meta` of the request: `traceparent`,
    /// `tracestate` and `baggage`. The closure runs inside the span of the call. Without it, the server gets
    /// the [`TraceContext`] that the call carries, as the calls of a [`Server`](crate::Server) do.
    ///
    /// ```no_run
    /// use tool_core::call::TraceContext;
    /// use tool_mcp::Import;
    ///
    /// # fn current_traceparent() -> Option<String> { None }
    /// # fn build(command: tokio::process::Command) {
    /// // With `tracing-opentelemetry`: inject `Span::current().context()` into a map with a propagator.
    /// let import = Import::command(command)
    ///     .trace_context(|| TraceContext::new(current_traceparent()?));
    /// # }
    /// ```
    pub fn trace_context(
        mut self,
        current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.settings.tracer = Tracer(Some(Arc::new(current)));
        self
    }

    /// Sets the timeout of a connection, including the start of the program. One minute by default.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.settings.connect_timeout = limit;
        self
    }

    /// Sets the timeout of listing the tools, with all pages. 30 seconds by default.
    pub fn list_timeout(mut self, limit: Duration) -> Self {
        self.settings.list_timeout = limit;
        self
    }

    /// Sets the timeout of a call. Two minutes by default. Each progress report starts it again, until the
    /// call has taken ten times as long. It does not run while the user is asked.
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.settings.call_timeout = limit;
        self
    }

    /// Sets how long the server may continue a call as a task, in place of [`call_timeout`](ImportBuilder::call_timeout). An hour
    /// by default. It does not run while the user is asked. Then the task is cancelled, and so it is when the call is cancelled.
    ///
    /// The call waits for the result, which it asks for as often as the server wants, but at most ten times in a second, and
    /// once in a minute. A lost connection does not end the task if the server still knows it after a
    /// [restart](ImportBuilder::restart).
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// let import = tool_mcp::Import::http("https://render.example.com/mcp").task_timeout(Duration::from_secs(24 * 3600));
    /// # let _ = import;
    /// ```
    pub fn task_timeout(mut self, limit: Duration) -> Self {
        self.settings.task_timeout = limit;
        self
    }

    /// Sets how long a program may take to end: after its standard input is closed, and again after
    /// it is asked to end. Then it is killed. Two seconds by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// Sets the maximum number of tools. Further ones are left out. 1,000 by default.
    pub fn max_tools(mut self, count: usize) -> Self {
        self.settings.max_tools = count;
        self
    }

    /// Sets the maximum size of a message, and of the list of tools, in bytes. A call whose result is
    /// larger fails. 16 MiB by default.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_message = bytes;
        self
    }

    /// Sets an environment variable of the program, in place of one that the command sets. Its value is a secret:
    /// errors and logs do not contain it.
    ///
    /// ```no_run
    /// # fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let command = tokio::process::Command::new("mcp-server-github");
    /// let import = tool_mcp::Import::command(command)
    ///     .env("GITHUB_TOKEN", std::env::var("GITHUB_TOKEN")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let (name, value) = (name.as_ref(), value.as_ref());
        if let Source::Command {
            command,
            environment,
            ..
        } = &mut self.source
        {
            environment.set(command.get_mut().as_std_mut(), name, value);
            self.secrets.add(&value.to_string_lossy());
        }
        self
    }

    /// Lets the program inherit all environment variables of this process, with every secret in them, but those
    /// that the command sets or removes.
    pub fn inherit_env(mut self) -> Self {
        if let Source::Command {
            command,
            environment,
            ..
        } = &mut self.source
        {
            environment.inherit_all(command.get_mut().as_std_mut());
            // Not the number of this program.
            process::count(command.get_mut());
            self.secrets.add_inherited();
        }
        self
    }

    /// Passes the standard error of the program on to this process's. Without it, the last lines
    /// are part of the error if the program can't be started, with secrets redacted.
    pub fn inherit_stderr(mut self) -> Self {
        self.source.inherit_stderr();
        self
    }

    /// Sends a bearer token with each request to a server at a URL, which must start with `https://` unless the server
    /// is on this machine. Replaces other tokens.
    #[cfg(feature = "client-http")]
    pub fn bearer(self, token: impl Into<String>) -> Self {
        self.tokens(http::Tokens::Fixed(token.into()))
    }

    /// Sends the bearer token that a closure returns. It is called for each connection, and again when the server
    /// rejects the token with status 401: then the request is sent once more, with the new token. Its errors must
    /// contain no secrets. The rules of [`bearer`](ImportBuilder::bearer) apply.
    ///
    /// ```no_run
    /// # async fn token_of_vault() -> std::io::Result<String> { Ok(String::new()) }
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = tool_core::Registry::new();
    /// let import = tool_mcp::Import::http("https://example.com/mcp")
    ///     .bearer_with(async || Ok(token_of_vault().await?))
    ///     .connect(&registry)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "client-http")]
    pub fn bearer_with<F, R>(self, token: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, Box<dyn std::error::Error + Send + Sync>>>
            + Send
            + 'static,
    {
        self.tokens(http::Tokens::Source(http::TokenSource::new(token)))
    }

    /// Signs in to a server at a URL by OAuth, when the server asks for it; see the module [`oauth`]. Replaces other
    /// tokens.
    ///
    /// ```no_run
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// use tool_mcp::import::oauth::{FileStore, OAuth};
    ///
    /// let registry = tool_core::Registry::new();
    /// let oauth = OAuth::new(FileStore::new("tokens.json")).open(async |url| {
    ///     println!("sign in at {url}");
    ///     Ok(())
    /// });
    /// let import = tool_mcp::Import::http("https://example.com/mcp")
    ///     .oauth(oauth)
    ///     .connect(&registry)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "oauth")]
    pub fn oauth(mut self, oauth: oauth::OAuth) -> Self {
        oauth.add_secrets(&mut self.secrets);
        let tokens = match &self.source {
            Source::Http(endpoint) => oauth.session(&endpoint.url, &self.secrets),
            _ => return self,
        };
        self.tokens(tokens)
    }

    #[cfg(feature = "client-http")]
    fn tokens(mut self, tokens: http::Tokens) -> Self {
        if let Source::Http(endpoint) = &mut self.source {
            endpoint.tokens = tokens;
        }
        self
    }

    /// Sends a header with each request to a server at a URL.
    #[cfg(feature = "client-http")]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Source::Http(endpoint) = &mut self.source {
            endpoint.headers.push((name.into(), value.into()));
        }
        self
    }

    /// Connects, and adds the tools to a registry. Must be called in a runtime of tokio, which the
    /// connection and the calls run on.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_core::Registry;
    /// use tool_mcp::Import;
    ///
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// let import = Import::command(Command::new("notes-server")).connect(&registry).await?;
    /// println!("{} tools", registry.len());
    /// // They stay until the import is dropped.
    /// drop(import);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error outside of such a runtime, if the program can't be started, if the handshake fails, if the tools can't be
    /// listed, or if the registry rejects them for another reason than a name that is taken.
    pub async fn connect(self, registry: &Registry) -> Result<Import, ImportError> {
        let (mut import, mut supervisor) = self.prepare(registry, "connect")?;
        let shared = import.shared.clone();
        // Boxed, because it is large, and so would be each future that connects.
        let connected = Box::pin(supervisor.connect()).await;
        let connection = connected.map_err(|error| error.of(&shared.place))?;
        if shared.settings.offers {
            let added = shared.add_offers();
            added.map_err(|error| error.of(&shared.place))?;
        }
        import.supervisor = Some(tokio::spawn(supervisor.run(connection)));
        Ok(import)
    }

    /// Connects in the background, on behalf of the gateway with an id. A server that is down joins later.
    #[cfg(feature = "server")]
    pub(crate) fn start(
        mut self,
        registry: &Registry,
        gateway: &str,
    ) -> Result<Import, ImportError> {
        self.settings.gateway = Some(gateway.to_owned());
        self.settings.apps = true;
        self.settings.backoff.get_or_insert_default();
        let (mut import, supervisor) = self.prepare(registry, "import")?;
        if import.shared.settings.offers {
            let added = import.shared.add_offers();
            added.map_err(|error| error.of(&import.shared.place))?;
        }
        import.supervisor = Some(tokio::spawn(supervisor.start()));
        Ok(import)
    }

    /// Creates an import that is not connected, in a method with a name.
    fn prepare(
        self,
        registry: &Registry,
        method: &str,
    ) -> Result<(Import, Supervisor), ImportError> {
        let Ok(runtime) = Handle::try_current() else {
            let text = format!("an import needs a runtime of tokio; call `{method}` in one");
            let error = ImportError::new(ImportErrorKind::Start, text);
            return Err(error.of(&self.settings.name));
        };
        #[cfg_attr(not(feature = "client-http"), allow(unused_mut))]
        let mut secrets = self.secrets;
        #[cfg(feature = "client-http")]
        if let Source::Http(endpoint) = &self.source {
            endpoint.add_secrets(&mut secrets);
        }
        let away = Link::Away {
            reason: "it is not connected yet".into(),
            restarts: true,
        };
        let shared = Arc::new(Shared {
            place: secrets.redact(self.source.place(&self.settings.name)),
            settings: self.settings,
            secrets,
            runtime,
            registry: registry.clone(),
            link: watch::Sender::new(away),
            report: Mutex::default(),
            owned: Mutex::new(Some(HashMap::new())),
            added: Mutex::default(),
            offers: Mutex::default(),
            offered: Mutex::default(),
            gateways: Mutex::default(),
            listener: OnceLock::new(),
            watched: Mutex::default(),
            rewatch: Notify::new(),
            shutdown: CancellationToken::new(),
        });
        let (commands, receiver) = mpsc::channel(16);
        let opener = Opener {
            source: self.source,
            is_legacy: AtomicBool::new(false),
        };
        // Removes the tools if it is dropped before the supervisor runs.
        let import = Import {
            shared: shared.clone(),
            commands,
            supervisor: None,
        };
        Ok((import, Supervisor::new(shared, opener, receiver)))
    }
}

impl fmt::Debug for ImportBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImportBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What the import, its supervisor and its tools share.
struct Shared {
    /// The name of the server in errors, with its address if there is one.
    place: String,
    settings: Settings,
    secrets: Secrets,
    runtime: Handle,
    /// It has the tools, which have this: `remove_tools` breaks the cycle.
    registry: Registry,
    link: watch::Sender<Link>,
    report: Mutex<Arc<Report>>,
    /// The tools in the registry, by the name at the server. `None` once the import is closed.
    owned: Mutex<Option<HashMap<String, ToolEntry>>>,
    /// The tools that the registry gets, while it does.
    added: Mutex<HashMap<String, ToolEntry>>,
    /// The tools that read resources and get prompts.
    offers: Mutex<Vec<ToolEntry>>,
    /// The resources and prompts for the clients of a gateway.
    offered: Mutex<Arc<Offered>>,
    /// The ids of the gateways that the tools may come from.
    gateways: Mutex<BTreeSet<String>>,
    /// Tells the gateway of changes.
    listener: OnceLock<Listener>,
    /// The resources that clients of the gateway have subscribed to.
    watched: Mutex<BTreeSet<String>>,
    /// Notified when they change.
    rewatch: Notify,
    shutdown: CancellationToken,
}

type Listener = Box<dyn Fn(OfferChange) -> bool + Send + Sync>;

impl Shared {
    fn link(&self) -> Link {
        self.link.borrow().clone()
    }

    /// Waits until the supervisor knows that a connection is lost, which the calls notice sooner.
    async fn wait_until_lost(&self, lost: &Live) {
        let mut link = self.link.subscribe();
        let is_other = |link: &Link| match link {
            Link::Up(live) => !std::ptr::eq(Arc::as_ptr(live), lost),
            _ => true,
        };
        let _ = timeout(Duration::from_secs(3), link.wait_for(is_other)).await;
    }

    fn set_link(&self, link: Link) {
        self.link.send_replace(link);
    }

    fn publish(&self, report: Report) {
        *lock(&self.report) = Arc::new(report);
    }

    /// Adds a note to the report.
    fn note(&self, note: &str) {
        let mut report = lock(&self.report);
        let report = Arc::make_mut(&mut report);
        if !report.notes.iter().any(|other| other == note) && report.notes.len() < 100 {
            report.notes.push(note.to_owned());
        }
    }

    /// Notes the gateways that tools come from. The error says that the gateway of this import is one of them.
    fn check_loop(&self, gateways: &BTreeSet<String>) -> Result<(), ImportError> {
        let own = self.settings.gateway.as_ref();
        let is_loop = own.is_some_and(|own| gateways.contains(own));
        if own.is_some() && (is_loop || gateways.len() > MAX_GATEWAYS) {
            let text = if is_loop {
                "the server imports this one, itself or through others, so the two are in a loop; remove one of the imports"
                    .into()
            } else {
                format!(
                    "its tools come through more than {MAX_GATEWAYS} gateways, which looks like a loop"
                )
            };
            return Err(ImportError::new(ImportErrorKind::Loop, text));
        }
        lock(&self.gateways).clone_from(gateways);
        Ok(())
    }

    fn shut_down(&self) {
        self.shutdown.cancel();
        self.remove_tools();
    }
}

/// The state of a connection, for calls.
#[derive(Clone)]
enum Link {
    Up(Arc<Live>),
    Away { reason: String, restarts: bool },
    Closed,
}

impl Link {
    fn status(&self) -> Status {
        match self {
            Link::Up(_) => Status::Connected,
            Link::Away { reason, restarts } => Status::Away {
                reason: reason.clone(),
                restarts: *restarts,
            },
            Link::Closed => Status::Closed,
        }
    }
}

/// The state of an import; see [`Import::status`].
///
/// ```
/// use tool_mcp::import::Status;
///
/// fn light(status: &Status) -> &'static str {
///     match status {
///         Status::Connected => "green",
///         Status::Away { restarts: true, .. } => "yellow",
///         _ => "red",
///     }
/// }
///
/// assert_eq!(light(&Status::Connected), "green");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The server is connected.
    Connected,
    /// The connection is lost.
    Away {
        /// How it was lost, or why the last attempt to restart failed.
        reason: String,
        /// `true` if there will be another attempt.
        restarts: bool,
    },
    /// The import is closed.
    Closed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Connected => f.write_str("the server is connected"),
            Status::Away { reason, .. } => write!(f, "the server is away: {reason}"),
            Status::Closed => f.write_str("the import is closed"),
        }
    }
}

/// Why an import failed. Its text contains no secrets.
///
/// ```no_run
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::Import;
///
/// # async fn import(registry: &Registry) {
/// // A server that fails does not have to end the program.
/// if let Err(error) = Import::command(Command::new("notes-server")).connect(registry).await {
///     eprintln!("the tools of notes are missing: {error}");
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct ImportError {
    kind: ImportErrorKind,
    text: String,
    /// The code of the error of the server.
    code: Option<i32>,
}

/// The kinds of failures of an import.
///
/// ```
/// use tool_mcp::import::{ImportError, ImportErrorKind};
///
/// fn advice(error: &ImportError) -> &'static str {
///     match error.kind() {
///         ImportErrorKind::Start => "is the server installed?",
///         ImportErrorKind::Unauthorized => "the token has expired",
///         ImportErrorKind::Pins => "look at what has changed, then accept it",
///         _ => "try again later",
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// The program can't be started, or the address is invalid.
    Start,
    /// The handshake failed.
    Handshake,
    /// The server requires authorization.
    Unauthorized,
    /// The server did not answer in time.
    TimedOut,
    /// The tools can't be listed.
    List,
    /// The registry rejects the tools.
    Registry,
    /// The file of accepted tools can't be read or written, or a tool can't be accepted.
    Pins,
    /// The server is away, or the import is closed.
    Away,
    /// The server rejects a request, or its result can't be used.
    Rejected,
    /// The server imports the gateway that imports it, or too many servers have started each other. It is not tried again.
    Loop,
}

impl ImportError {
    fn new(kind: ImportErrorKind, text: impl Into<String>) -> ImportError {
        ImportError {
            kind,
            text: text.into(),
            code: None,
        }
    }

    /// Names the server.
    fn of(mut self, server: &str) -> ImportError {
        self.text = format!("{server}: {}", self.text);
        self
    }

    /// Adds how the program ended and what it wrote, to its standard error and in place of a message.
    fn of_program(
        &mut self,
        program: &str,
        (status, words): (Option<ExitStatus>, String),
        unreadable: Option<String>,
        inherits_stderr: bool,
    ) {
        let text = &mut self.text;
        let is_closed = text.ends_with(connection::CLOSED);
        let is_silent = is_closed || self.kind == ImportErrorKind::TimedOut;
        // After another error it ends because its input does.
        if let Some(status) = status.filter(|_| is_closed) {
            text.push_str(&format!("; `{program}` has ended: {status}"));
        }
        if let Some(unreadable) = unreadable {
            text.push_str(&format!(
                "; its standard output is for messages alone, and it wrote {unreadable:?} there"
            ));
        } else if words.is_empty() && is_silent && !inherits_stderr {
            text.push_str(&format!(
                "; it wrote nothing to its standard error: check that `{program}` with its arguments is an MCP server"
            ));
        }
        if !words.is_empty() {
            text.push_str("; it wrote:\n");
            text.push_str(&words);
        }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ImportErrorKind {
        self.kind
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ImportError {}
