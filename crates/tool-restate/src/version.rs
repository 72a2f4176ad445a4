//! Versions of tools. If an agent and a worker have different versions, the call does not run.

use sha2::{Digest, Sha256};
use tool_core::{Registry, ToolCall};

/// Returns a hash of everything a call relies on: the name, the schema of the arguments, and the annotations of the
/// tool. Descriptions are not included, so you can improve them at any time. Returns `None` if the tool does not exist.
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
