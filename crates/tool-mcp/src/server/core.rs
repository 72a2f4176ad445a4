//! The state that all connections of a server share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::watch;
use tool_core::registry::ChangeListener;
use tool_core::{Registry, ToolCall, ToolEntry};

use super::clients::Clients;
use super::list::{List, ListCache};
use super::options::Options;
#[cfg(feature = "server-http")]
use super::request::Token;
use super::request::{Request, UserId};
use super::state::{StateCodec, random};
use super::store::{MemoryStore, Notice};
use super::tasks::Tasks;
use crate::change::Change;
use crate::lock;

/// The state that all connections of a server share.
pub(super) struct Core {
    pub(super) registry: Registry,
    pub(super) options: Options,
    list: ListCache,
    /// The key of signatures and digests.
    pub(super) key: Vec<u8>,
    pub(super) states: StateCodec,
    pub(super) tasks: Tasks,
    /// Counts the changes of the registry.
    changes: AtomicU64,
    /// `true` once the server closes.
    pub(super) closing: watch::Sender<bool>,
    /// The clients to notify of changes, since they have initialized or subscribed.
    pub(super) clients: Clients,
    /// Notifies clients, if all see all tools.
    listener: Mutex<Option<ChangeListener>>,
}

impl Core {
    pub(super) fn new(registry: Registry, options: Options) -> Arc<Core> {
        let key = options.state_key.clone();
        let key = key.unwrap_or_else(|| random::<32>().to_vec());
        let store = options.store.clone();
        let store = store.unwrap_or_else(|| Arc::new(MemoryStore::default()));
        let core = Arc::new(Core {
            list: ListCache::default(),
            states: StateCodec::new(&key, options.state_lifetime),
            key,
            tasks: Tasks::new(store.clone(), options.task_limits.clone()),
            changes: AtomicU64::new(0),
            closing: watch::Sender::new(false),
            clients: Clients::default(),
            listener: Mutex::default(),
            registry,
            options,
        });
        let weak = Arc::downgrade(&core);
        let notifies_all = core.options.visible.is_none();
        let listener = core.registry.on_change(move |_, _| {
            if let Some(core) = weak.upgrade() {
                core.changes.fetch_add(1, Ordering::AcqRel);
                if notifies_all {
                    core.clients.notify(&Change::Tools);
                }
            }
        });
        *lock(&core.listener) = Some(listener);
        let weak = Arc::downgrade(&core);
        store.listen(Box::new(move |notice| {
            let core = weak.upgrade();
            core.map(|core| core.hear(notice)).is_some()
        }));
        if let (Some(approvals), Some(offers)) =
            (&core.options.approvals, core.options.offers.functions())
        {
            approvals.set_offers(offers);
        }
        #[cfg(feature = "client")]
        for import in core.options.imports.all() {
            let weak = Arc::downgrade(&core);
            import.listen(move |change| {
                let core = weak.upgrade();
                core.is_some_and(|core| core.clients.pass_on(&change))
            });
        }
        if let Some(changes) = &core.options.changes {
            changes.add(core.tasks.store());
        }
        core
    }

    /// Returns the list of the tools that a request without a selection sees.
    pub(super) fn list(&self) -> Arc<List> {
        let changes = self.changes.load(Ordering::Acquire);
        let list = || List::new(&self.registry, &self.options);
        self.list.get(changes, list)
    }

    /// Returns the tools that a request can see, if it can't see all.
    pub(super) fn selection(&self, context: &RequestContext<RoleServer>) -> Option<Registry> {
        self.selection_of(&self.registry, context)
    }

    fn selection_of(
        &self,
        registry: &Registry,
        context: &RequestContext<RoleServer>,
    ) -> Option<Registry> {
        let visible = self.options.visible.clone()?;
        let context = context.clone();
        let is_visible = move |tool: &ToolEntry| visible(&Request::new(&context), tool);
        Some(registry.select(is_visible))
    }

    /// Returns the tools that a request can see.
    pub(super) fn registry_of(&self, context: &RequestContext<RoleServer>) -> Registry {
        self.selection(context)
            .unwrap_or_else(|| self.registry.clone())
    }

    /// Returns the functions of resources and prompts that a request can see; `None` if there are none at all.
    pub(super) fn offered(&self, context: &RequestContext<RoleServer>) -> Option<Registry> {
        let all = self.options.offers.functions()?;
        Some(
            self.selection_of(all, context)
                .unwrap_or_else(|| all.clone()),
        )
    }

    /// Attaches the application's values for the request to a call.
    pub(super) fn identify(
        &self,
        request: &Request<'_>,
        call: ToolCall,
    ) -> Result<ToolCall, ErrorData> {
        // The user of the token.
        #[cfg(feature = "server-http")]
        let call = match request.extension::<UserId>() {
            Some(user) => call.with(user.clone()),
            None => call,
        };
        #[cfg(feature = "server-http")]
        let call = match request.extension::<Token>() {
            Some(token) => call.with(token.clone()),
            None => call,
        };
        match &self.options.identity {
            Some(identity) => identity(request, call)
                .map_err(|refusal| ErrorData::invalid_request(refusal.0, None)),
            None => Ok(call),
        }
    }

    /// Returns the user of a request that is not a call.
    pub(super) fn user(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<UserId>, ErrorData> {
        let call = ToolCall::new(context.id.to_string(), "", "");
        let call = self.identify(&Request::new(context), call)?;
        Ok(call.get::<UserId>().cloned())
    }

    /// Returns the user of an HTTP request whose message is not read yet.
    #[cfg(feature = "server-http")]
    pub(super) fn http_user(
        &self,
        parts: &::http::request::Parts,
    ) -> Result<Option<UserId>, ErrorData> {
        let call = ToolCall::new("", "", "");
        let call = self.identify(&Request::of_http(parts), call)?;
        Ok(call.get::<UserId>().cloned())
    }

    /// Does what a notice of this or another process asks for.
    fn hear(&self, notice: &Notice) {
        // Without them, the server has not announced that it notifies of changes.
        let announced = self.options.changes.is_some();
        match notice {
            Notice::Task(id) => self.tasks.wake(Some(id)),
            Notice::Resources if announced => self.clients.notify(&Change::Resources),
            Notice::Prompts if announced => self.clients.notify(&Change::Prompts),
            Notice::Resource(uri) if announced => {
                self.clients.notify(&Change::Updated(uri.clone()));
            }
            Notice::Missed => {
                self.tasks.wake(None);
                if announced {
                    self.clients.notify(&Change::Resources);
                    self.clients.notify(&Change::Prompts);
                    self.clients.notify_all_updated();
                }
            }
            // `Approvals` listens for itself.
            Notice::Held(_) | Notice::Resources | Notice::Prompts | Notice::Resource(_) => {}
        }
    }
}
