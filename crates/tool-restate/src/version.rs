//! Versions of tools: an agent and a worker that have different ones don't call each other.

use sha2::{Digest, Sha256};
use tool_core::{Registry, ToolCall};

/// Returns a hash of what a call relies on: the name, the schema of the arguments, and the annotations of the tool. Not of
/// its descriptions, which may be improved at any time. `None` if there is no such tool.
pub(crate) fn version_of(registry: &Registry, call: &ToolCall) -> Option<String> {
    let tool = registry.resolve(&mut call.clone())?;
    let annotations = tool.annotations;
    let parts = format!(
        "{}\n{}\n{:?} {:?} {:?}",
        tool.name,
        tool.parameters_json(),
        annotations.read_only,
        annotations.idempotent,
        annotations.destructive
    );
    let hash = Sha256::digest(parts);
    Some(hash[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}
