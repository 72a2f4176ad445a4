//! The state that an import, its supervisor and its tools share.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rmcp::model::{Prompt, Resource, ResourceTemplate};
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tool_core::call::CancellationToken;
use tool_core::{Registry, ToolEntry};

use super::error::{ImportError, ImportErrorKind};
use super::link::Link;
use super::live::Live;
use super::report::Report;
use super::secrets::Secrets;
use super::settings::Settings;
use crate::change::Change;
use crate::gateway::MAX_GATEWAYS;
use crate::lock;

/// The state that the import, its supervisor and its tools share.
pub(super) struct Shared {
    /// The name of the server in errors, with its address if there is one.
    pub(super) place: String,
    pub(super) settings: Settings,
    pub(super) secrets: Secrets,
    pub(super) runtime: Handle,
    /// It has the tools, which have this: `remove_tools` breaks the cycle.
    pub(super) registry: Registry,
    pub(super) link: watch::Sender<Link>,
    pub(super) report: Mutex<Arc<Report>>,
    /// The tools in the registry, by the name at the server. `None` once the import is closed.
    pub(super) owned: Mutex<Option<HashMap<String, ToolEntry>>>,
    /// The tools that the registry gets, while it does.
    pub(super) added: Mutex<HashMap<String, ToolEntry>>,
    /// The tools that read resources and get prompts.
    pub(super) offers: Mutex<Vec<ToolEntry>>,
    /// The resources and prompts for the clients of a gateway.
    pub(super) offered: Mutex<Arc<Offered>>,
    /// The ids of the gateways that the tools may come from.
    pub(super) gateways: Mutex<BTreeSet<String>>,
    /// Tells the gateway of changes.
    pub(super) listener: OnceLock<Listener>,
    /// The resources that clients of the gateway have subscribed to.
    pub(super) watched: Mutex<BTreeSet<String>>,
    /// Notified when they change.
    pub(super) rewatch: Notify,
    pub(super) shutdown: CancellationToken,
}

type Listener = Box<dyn Fn(Change) -> bool + Send + Sync>;

/// The resources and prompts of a server, as last listed for the clients of a gateway.
#[derive(Default)]
pub(crate) struct Offered {
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
}

impl Shared {
    /// Creates the state of an import that is not connected.
    pub(super) fn new(
        place: String,
        settings: Settings,
        secrets: Secrets,
        runtime: Handle,
        registry: Registry,
    ) -> Shared {
        let away = Link::Away {
            reason: "it is not connected yet".into(),
            restarts: true,
        };
        Shared {
            place,
            settings,
            secrets,
            runtime,
            registry,
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
        }
    }

    pub(super) fn link(&self) -> Link {
        self.link.borrow().clone()
    }

    /// Waits until the supervisor knows that a connection is lost, which the calls notice sooner.
    pub(super) async fn wait_until_lost(&self, lost: &Live) {
        let mut link = self.link.subscribe();
        let is_other = |link: &Link| match link {
            Link::Up(live) => !std::ptr::eq(Arc::as_ptr(live), lost),
            _ => true,
        };
        let _ = timeout(Duration::from_secs(3), link.wait_for(is_other)).await;
    }

    pub(super) fn set_link(&self, link: Link) {
        self.link.send_replace(link);
    }

    pub(super) fn publish(&self, report: Report) {
        *lock(&self.report) = Arc::new(report);
    }

    /// Adds a note to the report.
    pub(super) fn note(&self, note: &str) {
        let mut report = lock(&self.report);
        let report = Arc::make_mut(&mut report);
        if !report.notes.iter().any(|other| other == note) && report.notes.len() < 100 {
            report.notes.push(note.to_owned());
        }
    }

    /// Notes the gateways that tools come from, besides the gateways of the tools listed so far. Returns an
    /// error if the gateway of this import is one of them.
    pub(super) fn check_loop(&self, gateways: &BTreeSet<String>) -> Result<(), ImportError> {
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

    pub(super) fn shut_down(&self) {
        self.shutdown.cancel();
        self.remove_tools();
    }

    /// Returns the connection.
    pub(super) fn live(&self) -> Result<Arc<Live>, ImportError> {
        match self.link() {
            Link::Up(live) => Ok(live),
            link => {
                let status = link.status();
                Err(ImportError::new(ImportErrorKind::Away, status.to_string()))
            }
        }
    }

    /// Replaces the resources and prompts, and says so if they are others.
    pub(super) fn set_offered(&self, offered: Offered) {
        let offered = Arc::new(offered);
        let before = std::mem::replace(&mut *lock(&self.offered), offered.clone());
        if before.resources != offered.resources || before.templates != offered.templates {
            self.tell(Change::Resources);
        }
        if before.prompts != offered.prompts {
            self.tell(Change::Prompts);
        }
    }

    /// Tells the gateway of a change.
    pub(super) fn tell(&self, change: Change) {
        let Some(listener) = self.listener.get() else {
            return;
        };
        let updated = match &change {
            Change::Updated(uri) => Some(uri.clone()),
            _ => None,
        };
        if !listener(change)
            && let Some(uri) = updated
            && lock(&self.watched).remove(&uri)
        {
            self.rewatch.notify_one();
        }
    }

    /// Replaces the tools of the import in the registry, unless the import was closed.
    pub(super) fn replace_tools(
        &self,
        registry: &Registry,
        new: &HashMap<String, ToolEntry>,
    ) -> Result<(), tool_core::RegistryError> {
        let Some(old) = lock(&self.owned).clone() else {
            return Ok(());
        };
        let is_kept = |entry: &ToolEntry, others: &HashMap<String, ToolEntry>, name: &str| {
            let other = others.get(name);
            other.is_some_and(|other| std::ptr::eq(other.spec(), entry.spec()))
        };
        let removed = old
            .iter()
            .filter(|(name, entry)| !is_kept(entry, new, name));
        let removed: Vec<_> = removed.map(|(_, entry)| entry.clone()).collect();
        let added = new
            .iter()
            .filter(|(name, entry)| !is_kept(entry, &old, name));
        let added: HashMap<_, _> = added
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect();
        if !removed.is_empty() || !added.is_empty() {
            let entries: Vec<_> = added.values().cloned().collect();
            *lock(&self.added) = added;
            // Not under the lock: the listeners of the registry may close the import.
            let exchanged = registry.exchange(&removed, entries);
            if exchanged.is_err() {
                lock(&self.added).clear();
            }
            exchanged?;
        }
        let mut owned = lock(&self.owned);
        lock(&self.added).clear();
        match &mut *owned {
            Some(owned) => owned.clone_from(new),
            None => {
                drop(owned);
                // Closed in between, which removed the old tools.
                let new: Vec<_> = new.values().cloned().collect();
                let _ = registry.exchange(&new, []);
            }
        }
        Ok(())
    }

    /// Removes the tools of the import from the registry, for good.
    pub(super) fn remove_tools(&self) {
        self.set_offered(Offered::default());
        let offers = std::mem::take(&mut *lock(&self.offers));
        let _ = self.registry.exchange(&offers, []);
        let owned = lock(&self.owned).take();
        if let Some(owned) = owned {
            let tools: Vec<_> = owned.into_values().collect();
            // A subset of valid tools is valid, so this never fails.
            let _ = self.registry.exchange(&tools, []);
        }
    }
}
