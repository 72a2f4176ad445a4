//! Whether an editor runs the macros.

use std::env;
use std::sync::OnceLock;

/// Returns `true` in the process in which rust-analyzer runs macros.
///
/// A macro can't see `cfg(rust_analyzer)`, and tokens behind it would cost time in every build.
pub(crate) fn is_running() -> bool {
    static IS_RUNNING: OnceLock<bool> = OnceLock::new();
    *IS_RUNNING.get_or_init(|| {
        let program = env::current_exe().unwrap_or_default();
        let name = program.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("rust-analyzer")
    })
}
