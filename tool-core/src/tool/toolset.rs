//! [`Toolset`]: methods as tools.

use crate::tool::StaticTool;

/// A type whose methods are tools, by [`#[toolset]`](macro@crate::toolset) on its `impl` block.
///
/// [`RegistryBuilder::toolset`](crate::RegistryBuilder::toolset) takes a value of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no toolset",
    note = "add `#[tool_core::toolset]` to the `impl` block whose methods have `#[tool]`"
)]
pub trait Toolset: Sized + Send + Sync + 'static {
    /// Its tools.
    #[doc(hidden)]
    const TOOLS: &'static [&'static StaticTool];
}
