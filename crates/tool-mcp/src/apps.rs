//! The names of MCP Apps (extension `io.modelcontextprotocol/ui`, version 2026-01-26), for both sides.

use rmcp::model::ExtensionCapabilities;
use serde_json::json;

const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The MIME type of an app.
pub(crate) const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// Returns what a side that has apps says of itself.
pub(crate) fn capability() -> ExtensionCapabilities {
    let mime_types = json!([MIME_TYPE]);
    let settings = [("mimeTypes".to_owned(), mime_types)].into_iter().collect();
    [(EXTENSION.to_owned(), settings)].into_iter().collect()
}

/// Returns `true` if a side says that it has apps of this type.
#[cfg(feature = "server")]
pub(crate) fn is_supported(extensions: Option<&ExtensionCapabilities>) -> bool {
    let settings = extensions.and_then(|extensions| extensions.get(EXTENSION));
    let mime_types = settings.and_then(|settings| settings.get("mimeTypes")?.as_array());
    mime_types.is_some_and(|types| types.iter().any(|one| one == MIME_TYPE))
}
