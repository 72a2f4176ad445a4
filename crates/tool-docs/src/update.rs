//! Whether generated files are rewritten.

use std::env;

/// The environment variable that requests a rewrite of generated files.
pub(crate) const UPDATE: &str = "TOOL_CORE_UPDATE";

/// Returns `true` if files are to be rewritten.
pub(crate) fn is_updating() -> bool {
    env::var_os(UPDATE).is_some_and(|value| value != "0" && !value.is_empty())
}
