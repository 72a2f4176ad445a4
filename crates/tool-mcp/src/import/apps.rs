//! Apps of a server, for a host that shows them.

use tool_core::{ToolCall, ToolError, ToolResult};

use super::Import;
use super::builder::ImportBuilder;
use crate::lock;

impl ImportBuilder {
    /// Tells the server that this program shows apps (extension `io.modelcontextprotocol/ui`). Without this, many servers list no
    /// tools for apps. [`Server::import`](crate::Server::import) always does.
    ///
    /// The metadata of each tool is in [`ToolSpec::meta_json`](tool_core::ToolSpec::meta_json):
    /// `ui.resourceUri` is the URI of its app, for [`Import::read_resource`]. The page is not yours, so
    /// show it in a frame with the attribute `sandbox`, from another origin, and with a policy of the
    /// origins in `_meta.ui.csp` of its contents.
    pub fn apps(mut self) -> Self {
        self.settings.apps = true;
        self
    }
}

impl Import {
    /// Runs a call that an app of this server made. Name the tool as the server does, without the
    /// [prefix](ImportBuilder::prefix).
    ///
    /// An app reaches only the tools of its server that are [for apps](tool_core::ToolSpec::is_for_apps).
    /// Any other call is denied. The hooks of the registry see the call as any other.
    ///
    /// ```no_run
    /// use tool_core::{ToolCall, ToolResult};
    /// use tool_mcp::Import;
    ///
    /// // The page sent `tools/call`.
    /// async fn on_call(import: &Import, name: &str, arguments: &str) -> ToolResult {
    ///     import.call_from_app(ToolCall::new("app_1", name, arguments)).await
    /// }
    /// ```
    pub async fn call_from_app(&self, mut call: ToolCall) -> ToolResult {
        let is_reachable = {
            let owned = lock(&self.shared.owned);
            let own = owned.as_ref().and_then(|owned| owned.get(&call.name));
            own.is_some_and(|tool| tool.is_for_apps())
        };
        let registry = &self.shared.registry;
        if !is_reachable {
            let error = ToolError::denied(&call.name, "its server has no such tool for apps");
            return registry.fail(call, error);
        }
        call.name.insert_str(0, &self.shared.settings.prefix);
        registry.call(call.from_app()).await
    }
}
