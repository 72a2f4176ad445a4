//! The settings of a server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{Implementation, InitializeResult, ServerCapabilities};
use tool_core::{ToolCall, ToolEntry, ToolSpec};

use super::approvals::Approvals;
use super::changes::Changes;
#[cfg(feature = "client")]
use super::imports::Imports;
use super::offers::Offers;
use super::rate::Rates;
use super::request::{Refusal, Request};
use super::store::Store;
use super::task_settings::{TaskLimits, TaskPolicy};
use crate::apps::capability;

pub(super) type Identity =
    dyn Fn(&Request<'_>, ToolCall) -> Result<ToolCall, Refusal> + Send + Sync;

pub(super) type Visible = dyn Fn(&Request<'_>, &ToolEntry) -> bool + Send + Sync;

pub(super) type Policies = dyn Fn(&ToolEntry) -> TaskPolicy + Send + Sync;

pub(super) type Scopes = dyn Fn(&ToolSpec) -> Vec<String> + Send + Sync;

pub(super) struct Options {
    pub(super) implementation: Option<Implementation>,
    pub(super) instructions: Option<String>,
    pub(super) identity: Option<Box<Identity>>,
    pub(super) visible: Option<Arc<Visible>>,
    pub(super) policies: Option<Box<Policies>>,
    pub(super) scopes: Option<Box<Scopes>>,
    pub(super) rates: Option<Rates>,
    pub(super) offers: Offers,
    #[cfg(feature = "client")]
    pub(super) imports: Imports,
    pub(super) changes: Option<Changes>,
    pub(super) approvals: Option<Approvals>,
    pub(super) task_limits: TaskLimits,
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) page_size: usize,
    pub(super) cache_for: Duration,
    pub(super) state_key: Option<Vec<u8>>,
    pub(super) state_lifetime: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            implementation: None,
            instructions: None,
            identity: None,
            visible: None,
            policies: None,
            scopes: None,
            rates: None,
            offers: Offers::default(),
            #[cfg(feature = "client")]
            imports: Imports::default(),
            changes: None,
            approvals: None,
            task_limits: TaskLimits::default(),
            store: None,
            page_size: 1000,
            cache_for: Duration::from_secs(60),
            state_key: None,
            state_lifetime: Duration::from_secs(600),
        }
    }
}

impl Options {
    /// Returns `true` if calls must pass a check before they run.
    pub(super) fn has_limits(&self) -> bool {
        self.scopes.is_some() || self.rates.is_some()
    }

    /// Returns `true` if resources and prompts of other servers are served, too.
    #[cfg_attr(not(feature = "client"), expect(clippy::unused_self))]
    pub(super) fn has_imports(&self) -> bool {
        #[cfg(feature = "client")]
        return !self.imports.is_empty();
        #[cfg(not(feature = "client"))]
        false
    }

    /// Returns `true` if clients are notified of changes of resources and prompts.
    pub(super) fn notifies(&self) -> bool {
        self.changes.is_some() || self.has_imports()
    }

    /// Adds the server's own information to the information of a handler.
    pub(super) fn info(&self, mut info: InitializeResult, keeps_results: bool) -> InitializeResult {
        if let Some(implementation) = &self.implementation {
            info.server_info = implementation.clone();
        }
        if let Some(instructions) = &self.instructions {
            info.instructions = Some(instructions.clone());
        }
        let own = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed();
        let own = if self.policies.is_some() {
            own.enable_tasks().build()
        } else {
            own.build()
        };
        info.capabilities.tools = own.tools;
        let capabilities = &mut info.capabilities;
        if !self.offers.apps.is_empty() || self.has_imports() {
            let all = capabilities.extensions.get_or_insert_default();
            all.extend(capability());
        }
        let notifies = self.notifies();
        let has_resources = !self.offers.resources.is_empty() || !self.offers.apps.is_empty();
        if has_resources || keeps_results || self.has_imports() {
            let resources = capabilities.resources.get_or_insert_default();
            if notifies {
                resources.subscribe = Some(true);
                resources.list_changed = Some(true);
            }
        }
        if !self.offers.prompts.is_empty() || self.has_imports() {
            let prompts = capabilities.prompts.get_or_insert_default();
            if notifies {
                prompts.list_changed = Some(true);
            }
        }
        if self.offers.completes() || self.has_imports() {
            capabilities.completions.get_or_insert_default();
        }
        if let Some(extensions) = own.extensions {
            let all = info.capabilities.extensions.get_or_insert_default();
            all.extend(extensions);
        }
        info
    }
}
