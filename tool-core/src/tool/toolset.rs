//! [`Toolset`]: methods as tools.

use crate::tool::StaticTool;

/// A type whose methods are tools, by [`#[toolset]`](macro@crate::toolset) on its `impl` block.
///
/// [`RegistryBuilder::toolset`](crate::RegistryBuilder::toolset) takes a value of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a toolset",
    note = "add `#[tool_core::toolset]` to the `impl` block that holds its `#[tool]` methods"
)]
pub trait Toolset: Sized + Send + Sync + 'static {
    /// Its tools.
    #[doc(hidden)]
    const TOOLS: &'static [&'static StaticTool];
}
