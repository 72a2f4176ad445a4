//! The macros of [`tool-core`](https://docs.rs/tool-core). Depend on that crate, which re-exports
//! them.
//!
//! A macro goes through four stages. Each knows only the one before it:
//!
//! | stage | what it holds |
//! |---|---|
//! | `attr` | attributes and signatures as written, with their spans |
//! | `model` | what the tool or the type is; no attribute survives past here |
//! | `check` | what makes a model refuse to be a tool, one function a rule |
//! | `emit` | the generated code; it can't fail |

use proc_macro::TokenStream;

mod attr;
mod check;
mod emit;
#[cfg(test)]
mod golden;
mod model;
mod util;

/// Turns a function into a tool that a language model can call.
///
/// The function stays as it is. Beside it stands a handler of the same name (a struct, in the
/// namespace of types) that implements `Tool`.
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model calls; without it the function's own |
/// | `title = "…"` | a name for people |
/// | `description = "…"` | instead of a doc comment |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | how the tool behaves, in MCP's meaning; also `= false` |
/// | `unlinked` | keeps the tool out of `Registry::linked()` |
/// | `crate = path` | where `tool_core` is, if it was renamed or is re-exported |
///
/// Parameters take `#[param(…)]`:
///
/// | key | meaning |
/// |---|---|
/// | `description = "…"` | instead of a doc comment |
/// | `rename = "…"` | the key in the arguments; without it the parameter's own name |
/// | `default = literal` | the parameter may be left out, and the schema says what it is then |
/// | `default` | the parameter may be left out and is then `Default::default()` |
///
/// # Doc comments
///
/// The text before the first heading is the description. `# Arguments` lists parameters
/// (``* `city` - text``), as an alternative to doc comments on the parameters themselves.
/// `# When to use` and `# Returns` reach the model too. Every other section is for people.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    emit::tool(arguments.into(), item.into()).into()
}

/// Implements `ToolType` for a struct or an enum that stands in the signature of a tool.
///
/// serde's attributes are read as serde reads them. Doc comments become descriptions; a field can
/// have `#[param(description = "…")]` instead. On the type itself, `#[param(crate = path)]` says
/// where `tool_core` is.
#[proc_macro_derive(ToolType, attributes(param, serde))]
pub fn tool_type(item: TokenStream) -> TokenStream {
    emit::tool_type(item.into()).into()
}
