//! Keeps an import connected.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, SubscriptionFilter};
use rmcp::service::ServiceError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tool_core::call::Cancelled;
use tool_core::runtime::BoxFuture;

use super::call::AbortOnDrop;
use super::connection::{Connection, Live, Opener, announced};
use super::listing::list;
use super::tools::Toolbox;
use super::{HeldTool, ImportError, ImportErrorKind, Link, Shared};

/// A request to the supervisor.
pub(super) enum Command {
    /// Lists the tools again.
    Refresh(oneshot::Sender<Result<(), ImportError>>),
    Accept(Box<HeldTool>, oneshot::Sender<Result<(), ImportError>>),
}

/// Waits so long after a notification, so that many of them lead to one listing.
const QUIET: Duration = Duration::from_millis(50);

pub(super) struct Supervisor {
    pub(super) shared: Arc<Shared>,
    pub(super) opener: Opener,
    /// `None` while another thread has it.
    toolbox: Option<Toolbox>,
    commands: mpsc::Receiver<Command>,
    shutdown: Cancelled,
}

/// Why a connection ended.
enum End {
    Shutdown,
    Lost(String),
}

impl Supervisor {
    pub(super) fn new(
        shared: Arc<Shared>,
        opener: Opener,
        commands: mpsc::Receiver<Command>,
    ) -> Supervisor {
        Supervisor {
            toolbox: Some(Toolbox::new(shared.clone())),
            opener,
            commands,
            shutdown: shared.shutdown.cancelled(),
            shared,
        }
    }

    /// Connects and adds the tools.
    pub(super) async fn connect(&mut self) -> Result<Connection, ImportError> {
        let shared = self.shared.clone();
        let connection = self.opener.open(&shared.settings, &shared.secrets).await?;
        match self.refresh(connection.live.clone()).await {
            Ok(()) => {
                shared.set_link(Link::Up(connection.live.clone()));
                Ok(connection)
            }
            Err(error) => {
                connection.close(shared.settings.grace).await;
                Err(error)
            }
        }
    }

    /// Keeps the import connected until it is closed.
    pub(super) async fn run(mut self, first: Connection) {
        let shared = self.shared.clone();
        let mut connection = first;
        let mut attempt = 0;
        loop {
            let start = Instant::now();
            let end = self.supervise(&mut connection).await;
            let reason = match end {
                End::Shutdown => {
                    shared.set_link(Link::Closed);
                    connection.close(shared.settings.grace).await;
                    return;
                }
                End::Lost(reason) => reason,
            };
            let restarts = shared.settings.backoff.is_some();
            tracing::warn!(
                server = shared.settings.name,
                reason,
                "an MCP server is away"
            );
            shared.set_link(Link::Away {
                reason: reason.clone(),
                restarts,
            });
            connection.close(Duration::from_millis(200)).await;
            if let Some(backoff) = &shared.settings.backoff
                && backoff.is_reset_by(start.elapsed())
            {
                attempt = 0;
            }
            match self.reconnect(&mut attempt, reason).await {
                Some(next) => connection = next,
                None => {
                    shared.set_link(Link::Closed);
                    return;
                }
            }
            tracing::info!(server = shared.settings.name, "an MCP server is back");
        }
    }

    /// Serves one connection.
    async fn supervise(&mut self, connection: &mut Connection) -> End {
        let live = connection.live.clone();
        let _listener = (live.is_modern && live.notifies)
            .then(|| AbortOnDrop(tokio::spawn(listen(live.clone()))));
        loop {
            let mut done = None;
            tokio::select! {
                biased;
                () = &mut self.shutdown => return End::Shutdown,
                reason = connection.lost() => return End::Lost(reason),
                command = self.commands.recv() => match command {
                    Some(Command::Refresh(sender)) => done = Some(sender),
                    Some(Command::Accept(held, sender)) => {
                        let _ = sender.send(self.accept(*held).await);
                        continue;
                    }
                    None => return End::Shutdown,
                },
                () = live.in_flight.list_changed.notified() => sleep(QUIET).await,
            }
            let shutdown = self.shared.shutdown.cancelled();
            let result = tokio::select! {
                result = self.refresh(live.clone()) => result,
                () = shutdown => return End::Shutdown,
            };
            if let Err(error) = &result {
                let error = error.to_string();
                tracing::warn!(
                    server = self.shared.settings.name,
                    error,
                    "the tools of an MCP server stay as they were"
                );
                self.shared.note(&error);
            }
            if let Some(sender) = done {
                let _ = sender.send(result);
            }
        }
    }

    /// Opens a connection again, after waiting. `None` if the import is closed.
    async fn reconnect(&mut self, attempt: &mut u32, mut reason: String) -> Option<Connection> {
        let shared = self.shared.clone();
        loop {
            let wait = shared
                .settings
                .backoff
                .as_ref()
                .and_then(|backoff| backoff.wait(*attempt));
            let restarts = wait.is_some();
            shared.set_link(Link::Away {
                reason: reason.clone(),
                restarts,
            });
            self.wait_away(wait.map(|wait| Instant::now() + wait))
                .await?;
            *attempt = attempt.saturating_add(1);
            let shutdown = shared.shutdown.cancelled();
            let connected = tokio::select! {
                connected = self.connect() => connected,
                () = shutdown => return None,
            };
            match connected {
                Ok(connection) => return Some(connection),
                Err(error) => reason = error.to_string(),
            }
        }
    }

    /// Answers commands until the instant. `None` if the import is closed.
    async fn wait_away(&mut self, until: Option<Instant>) -> Option<()> {
        loop {
            let wait = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut self.shutdown => return None,
                () = wait => return Some(()),
                command = self.commands.recv() => match command? {
                    Command::Refresh(sender) => {
                        let text = "the server is away";
                        let _ = sender.send(Err(ImportError::new(ImportErrorKind::Away, text)));
                    }
                    Command::Accept(held, sender) => {
                        let _ = sender.send(self.accept(*held).await);
                    }
                },
            }
        }
    }

    /// Lists the tools and updates the registry.
    async fn refresh(&mut self, live: Arc<Live>) -> Result<(), ImportError> {
        let shared = self.shared.clone();
        let listing: BoxFuture<_> = {
            let live = live.clone();
            Box::pin(async move {
                let settings = &shared.settings;
                let listing = list(&live, settings, &shared.secrets);
                announced(&settings.name, "its answer to `tools/list`", listing).await
            })
        };
        let listing = listing.await;
        let listing = listing.map_err(|text| ImportError::new(ImportErrorKind::List, text))?;
        self.with_toolbox(move |toolbox| {
            let before = toolbox.listing.clone();
            toolbox.set_listing(&live, listing);
            let applied = toolbox.apply();
            if applied.is_err() {
                toolbox.listing = before;
            }
            applied
        })
        .await
    }

    async fn accept(&mut self, held: HeldTool) -> Result<(), ImportError> {
        self.with_toolbox(move |toolbox| toolbox.accept(&held))
            .await
    }

    /// Compiling schemas and writing files may take long.
    async fn with_toolbox(
        &mut self,
        work: impl FnOnce(&mut Toolbox) -> Result<(), ImportError> + Send + 'static,
    ) -> Result<(), ImportError> {
        let toolbox = self.toolbox.take();
        let mut toolbox = toolbox.unwrap_or_else(|| Toolbox::new(self.shared.clone()));
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut toolbox);
            (toolbox, result)
        });
        match done.await {
            Ok((toolbox, result)) => {
                self.toolbox = Some(toolbox);
                result
            }
            Err(error) => Err(ImportError::new(ImportErrorKind::List, error.to_string())),
        }
    }
}

/// Asks a server of version 2026-07-28 for notifications, as long as it is connected. [`Tap`] sees them.
///
/// [`Tap`]: super::transport::Tap
async fn listen(live: Arc<Live>) {
    let mut wait = Duration::from_millis(500);
    loop {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let peer = live.peer.clone();
        // Boxed, because rustc can't prove that the future of `rmcp` is `Send` for every lifetime.
        let listening: BoxFuture<_> = Box::pin(async move { peer.listen(filter).await });
        match listening.await {
            Ok(mut subscription) => {
                wait = Duration::from_millis(500);
                // Changes until now were not notified.
                live.in_flight.list_changed.notify_one();
                while let Ok(Some(_)) = subscription.next().await {
                    live.in_flight.list_changed.notify_one();
                }
            }
            Err(ServiceError::TransportClosed) => return,
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return;
            }
            Err(_) => {}
        }
        sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(60));
    }
}
