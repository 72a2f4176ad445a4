//! Tools of other servers.

mod apps;
mod backoff;
mod builder;
mod call;
mod capabilities;
mod connect;
mod connection;
#[cfg(feature = "submodel")]
pub(crate) mod direct;
mod elicit;
mod environment;
mod error;
#[cfg(feature = "client-http")]
mod http;
mod link;
mod listing;
mod live;
#[cfg(feature = "oauth")]
pub mod oauth;
mod offers;
mod pins;
mod process;
mod report;
mod request;
mod resources;
mod rounds;
mod secrets;
mod settings;
mod shared;
mod supervisor;
mod tasks;
mod tools;
mod transport;

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tool_core::{Registry, ToolEntry};

use self::connection::{Source, Stream};
use self::link::Link;
use self::secrets::Secrets;
use self::shared::Shared;
use crate::lock;

pub use self::backoff::Backoff;
pub use self::builder::ImportBuilder;
pub use self::capabilities::{LogLevel, LogMessage, Sample};
pub use self::elicit::Elicitation;
pub use self::error::{ImportError, ImportErrorKind};
pub use self::link::Status;
pub use self::report::{HeldTool, RejectedTool, Report, TakenTool};
pub use self::settings::Protocol;

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
#[doc(alias("MCP client"))]
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
        let mut import = ImportBuilder::of_command(command.into(), environment::INHERITED);
        if let Source::Command { command, .. } = &mut import.source {
            process::count(command.get_mut());
        }
        import
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

    /// Returns the text of a [file](ImportBuilder::pin) that accepts all tools as the server lists them now. The keys are
    /// sorted, so that two texts differ only where the tools do.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    /// use tool_mcp::{Import, ImportError};
    ///
    /// /// Returns `true` if a server is still as it was when the file was written.
    /// async fn is_same(import: &Import, file: &str) -> Result<bool, ImportError> {
    ///     Ok(import.pins().await? == file)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the import is closed.
    pub async fn pins(&self) -> Result<String, ImportError> {
        self.send(supervisor::Command::Pins).await
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    /// Returns a tool in the registry by its name at the server.
    pub(crate) fn entry(&self, tool: &str) -> Option<ToolEntry> {
        if !lock(&self.shared.owned).as_ref()?.contains_key(tool) {
            return None;
        }
        let name = format!("{}{tool}", self.shared.settings.prefix);
        let mut entries = self.shared.registry.specs().into_iter();
        entries.find(|entry| entry.source().is_some_and(|source| source.name == name))
    }

    async fn send<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, ImportError>>) -> supervisor::Command,
    ) -> Result<T, ImportError> {
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
