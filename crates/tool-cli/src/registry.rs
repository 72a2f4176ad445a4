//! What several commands do with the registry and a runtime.

use tokio::runtime::Runtime;
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolEntry};

use crate::failure::{Failure, in_words};

/// Builds the registry without the context values.
pub(crate) fn inspected(builder: RegistryBuilder) -> Result<Registry, Failure> {
    builder.build_without_context().map_err(Failure::failed)
}

/// Finds a tool by its name. The name may contain `-` in place of `_`.
pub(crate) fn find(registry: &Registry, name: &str) -> Result<ToolEntry, Failure> {
    let found = registry.get(name);
    let found = found.or_else(|| registry.get(&name.replace('-', "_")));
    found.ok_or_else(|| {
        // The registry suggests similar names, as it does for models.
        let error = registry.validate(&ToolCall::new("", name, "{}")).err();
        let message = error.as_ref().map_or_else(String::new, in_words);
        // These words are for a model.
        let message = message.replace(
            "call one of the tools you were given",
            "`list` shows the tools",
        );
        Failure::Wrong(message)
    })
}

/// Creates a runtime with this number of threads, or one on the current thread if the target has no others.
pub(crate) fn runtime(threads: usize) -> Result<Runtime, Failure> {
    #[cfg(not(target_family = "wasm"))]
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    #[cfg(target_family = "wasm")]
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let built = builder.worker_threads(threads).enable_all().build();
    built.map_err(|error| Failure::failed(format!("can't start the runtime: {error}")))
}
