//! Keeps an import connected.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, SubscriptionFilter};
use rmcp::service::ServiceError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until};
use tool_core::call::Cancelled;
use tool_core::runtime::BoxFuture;

use super::call::AbortOnDrop;
use super::connection::{Connection, Opener, announced};
use super::error::{ImportError, ImportErrorKind};
use super::link::Link;
use super::listing::list;
use super::live::Live;
use super::report::HeldTool;
use super::shared::{Offered, Shared};
use super::tools::Toolbox;
use super::transport::{OFFERS, TOOLS};
use crate::change::Change;
use crate::lock;

/// A request to the supervisor.
pub(super) enum Command {
    /// Lists the tools again.
    Refresh(oneshot::Sender<Result<(), ImportError>>),
    Accept(Box<HeldTool>, oneshot::Sender<Result<(), ImportError>>),
    /// Asks for the file that accepts the tools as they are listed.
    Pins(oneshot::Sender<Result<String, ImportError>>),
}

/// How long to wait after a notification, so that many of them lead to one listing.
struct Quiet {
    wait: Duration,
    last: Instant,
}

impl Default for Quiet {
    fn default() -> Quiet {
        Quiet {
            wait: Quiet::FIRST,
            last: Instant::now(),
        }
    }
}

impl Quiet {
    const FIRST: Duration = Duration::from_millis(50);

    /// The longest wait, because servers that import each other can keep each other busy.
    const LONGEST: Duration = Duration::from_secs(10);

    /// Returns the wait after a notification. It grows while notifications follow each other.
    fn next(&mut self) -> Duration {
        let is_calm = self.last.elapsed() > self.wait * 4;
        self.wait = if is_calm {
            Quiet::FIRST
        } else {
            (self.wait * 3 / 2).min(Quiet::LONGEST)
        };
        self.last = Instant::now();
        self.wait
    }
}

fn log_away(shared: &Shared, reason: &str) {
    tracing::warn!(
        server = shared.settings.name,
        reason,
        "an MCP server is away"
    );
}

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
                if shared.settings.gateway.is_some() {
                    shared.refresh_offers(&connection.live).await;
                }
                shared.set_link(Link::Up(connection.live.clone()));
                Ok(connection)
            }
            Err(error) => {
                connection.close(shared.settings.grace).await;
                Err(error)
            }
        }
    }

    /// Tries to connect until it succeeds, and then keeps the import connected until it is closed.
    #[cfg(feature = "server")]
    pub(super) async fn start(mut self) {
        let shared = self.shared.clone();
        let shutdown = shared.shutdown.cancelled();
        let connected = tokio::select! {
            connected = self.connect() => connected,
            () = shutdown => return shared.set_link(Link::Closed),
        };
        let connection = match connected {
            Ok(connection) => Some(connection),
            Err(error) => {
                log_away(&shared, &error.to_string());
                self.reconnect(&mut 0, error).await
            }
        };
        match connection {
            Some(connection) => {
                tracing::info!(server = shared.settings.name, "an MCP server is connected");
                self.run(connection).await;
            }
            None => shared.set_link(Link::Closed),
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
            log_away(&shared, &reason);
            shared.set_link(Link::Away {
                reason: reason.clone(),
                restarts: shared.settings.backoff.is_some(),
            });
            connection.close(Duration::from_millis(200)).await;
            if let Some(backoff) = &shared.settings.backoff
                && backoff.is_reset_by(start.elapsed())
            {
                attempt = 0;
            }
            let reason = ImportError::new(ImportErrorKind::Away, reason);
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
        let is_gateway = self.shared.settings.gateway.is_some();
        let shared = self.shared.clone();
        let listen = || {
            let watched = lock(&shared.watched).iter().cloned().collect();
            let listening = listen(live.clone(), is_gateway, watched);
            (live.is_modern && live.notifies).then(|| AbortOnDrop(tokio::spawn(listening)))
        };
        let mut _listener = listen();
        let mut subscribed = BTreeSet::new();
        if !live.is_modern {
            self.shared.subscribe(&live, &mut subscribed).await;
        }
        let mut quiet = Quiet::default();
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
                    Some(Command::Pins(sender)) => {
                        let _ = sender.send(Ok(self.pins()));
                        continue;
                    }
                    None => return End::Shutdown,
                },
                () = live.in_flight.list_changed.notified() => {
                    let shutdown = self.shared.shutdown.cancelled();
                    tokio::select! {
                        () = sleep(quiet.next()) => {}
                        () = shutdown => return End::Shutdown,
                        reason = connection.lost() => return End::Lost(reason),
                    }
                }
                () = self.shared.rewatch.notified() => {
                    if live.is_modern {
                        _listener = listen();
                    } else {
                        self.shared.subscribe(&live, &mut subscribed).await;
                    }
                    continue;
                }
            }
            let stale = live.in_flight.take_stale();
            if self.shared.settings.gateway.is_some() {
                if stale & OFFERS != 0 || done.is_some() {
                    let shutdown = self.shared.shutdown.cancelled();
                    tokio::select! {
                        () = self.shared.refresh_offers(&live) => {}
                        () = shutdown => return End::Shutdown,
                    }
                }
                for uri in live.in_flight.take_updated() {
                    self.shared.tell(Change::Updated(uri));
                }
            }
            if done.is_none() && stale & TOOLS == 0 {
                continue;
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
            if let Err(error) = &result
                && error.kind() == ImportErrorKind::Loop
            {
                return End::Lost(error.to_string());
            }
            if let Some(sender) = done {
                let _ = sender.send(result);
            }
        }
    }

    /// Opens a connection again, after waiting. `None` if the import is closed.
    async fn reconnect(&mut self, attempt: &mut u32, mut error: ImportError) -> Option<Connection> {
        let shared = self.shared.clone();
        loop {
            let wait = shared
                .settings
                .backoff
                .as_ref()
                .and_then(|backoff| backoff.wait(*attempt))
                // A loop would only start again.
                .filter(|_| error.kind() != ImportErrorKind::Loop);
            shared.set_link(Link::Away {
                reason: error.to_string(),
                restarts: wait.is_some(),
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
                Err(again) => error = again,
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
                    Command::Pins(sender) => {
                        let _ = sender.send(Ok(self.pins()));
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
        let listing = listing.await?;
        if let Err(error) = self.shared.check_loop(&listing.gateways) {
            self.shared.set_offered(Offered::default());
            return self
                .with_toolbox(move |toolbox| {
                    toolbox.clear();
                    // After the tools, because the tools must not be listed without the gateways.
                    lock(&toolbox.shared.gateways).clear();
                    Err(error)
                })
                .await;
        }
        self.with_toolbox(move |toolbox| {
            let before = toolbox.listing.clone();
            let gateways = listing.gateways.clone();
            toolbox.set_listing(&live, listing);
            let applied = toolbox.apply();
            match &applied {
                Ok(()) => *lock(&toolbox.shared.gateways) = gateways,
                Err(_) => toolbox.listing = before,
            }
            applied
        })
        .await
    }

    fn pins(&self) -> String {
        let toolbox = self.toolbox.as_ref();
        toolbox.map(Toolbox::pins).unwrap_or_default().to_string()
    }

    async fn accept(&mut self, held: HeldTool) -> Result<(), ImportError> {
        self.with_toolbox(move |toolbox| toolbox.accept(&held))
            .await
    }

    /// Runs a closure on a blocking thread, because compiling schemas and writing files may take long.
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
async fn listen(live: Arc<Live>, is_gateway: bool, watched: Vec<String>) {
    let mut wait = Duration::from_millis(500);
    loop {
        let mut filter = SubscriptionFilter::builder().tools_list_changed();
        if is_gateway {
            filter = filter.resources_list_changed().prompts_list_changed();
        }
        if !watched.is_empty() {
            filter = filter.resource_subscriptions(watched.clone());
        }
        let filter = filter.build();
        let peer = live.peer.clone();
        // Boxed, because rustc can't prove that the future of `rmcp` is `Send` for every lifetime.
        let listening: BoxFuture<_> = Box::pin(async move { peer.listen(filter).await });
        match listening.await {
            Ok(mut subscription) => {
                wait = Duration::from_millis(500);
                // Nothing notified this program of the changes until now.
                live.in_flight.mark(TOOLS | OFFERS);
                while let Ok(Some(_)) = subscription.next().await {}
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
