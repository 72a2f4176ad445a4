//! Tools of other servers.

mod apps;
mod backoff;
mod builder;
mod call;
mod capabilities;
mod connection;
#[cfg(feature = "submodel")]
pub(crate) mod direct;
mod elicit;
mod environment;
mod error;
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
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tool_core::call::CancellationToken;
use tool_core::{Registry, ToolEntry};

use self::builder::Settings;
use self::connection::{Live, Source, Stream};
use self::environment::Environment;
use self::offers::Offered;
use self::secrets::Secrets;
use crate::change::Change;
use crate::gateway::MAX_GATEWAYS;
use crate::lock;

pub use self::backoff::Backoff;
pub use self::builder::ImportBuilder;
pub use self::capabilities::{LogLevel, LogMessage, Sample};
pub use self::connection::Protocol;
pub use self::elicit::Elicitation;
pub use self::error::{ImportError, ImportErrorKind};
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
/// The import does not trust the server:
///
/// - Its annotations count only with [`trust_annotations`](ImportBuilder::trust_annotations).
/// - With [`pin`](ImportBuilder::pin), a tool that changed is held back until a person
///   [accepts](Import::accept) it.
/// - Messages, lists, pages and times are bounded. Anything beyond a bound is left out, and the report says
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

impl Import {
    /// Imports the tools of a program that speaks over its standard input and output: a command of tokio
    /// or std. It gets its own process group, which ends with the import.
    ///
    /// The program gets the variables that the command and [`env`](ImportBuilder::env) set, and a few of
    /// this process that name no secrets: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, or on
    /// Windows the folders of the user and of the system. It gets these even if the command clears its
    /// environment, but none that the command removes. [`inherit_env`](ImportBuilder::inherit_env) passes
    /// on all. `TOOL_MCP_DEPTH` says how many programs have started each other, so that a loop of them
    /// ends: the ninth is not started.
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
    /// Returns an error if the server is away, or if the new tools can't replace the old ones. The old ones
    /// stay in that case.
    pub async fn refresh(&self) -> Result<(), ImportError> {
        self.send(supervisor::Command::Refresh).await
    }

    /// Accepts a tool of [`Report::held`], as it was listed there. Call this once a person has looked at
    /// it. Writes it to the [file](ImportBuilder::pin) and adds it to the registry.
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

/// The state that the import, its supervisor and its tools share.
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

type Listener = Box<dyn Fn(Change) -> bool + Send + Sync>;

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

    /// Notes the gateways that tools come from, besides the gateways of the tools listed so far. Returns an
    /// error if the gateway of this import is one of them.
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
        lock(&self.gateways).extend(gateways.iter().cloned());
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
