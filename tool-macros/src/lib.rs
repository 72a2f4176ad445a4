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
mod expand;
#[cfg(test)]
mod golden;
mod model;
mod util;

/// # The handler
///
/// Beside the function stands its handler: a struct of the same name, in the namespace of types,
/// that implements `Tool`. `tool-core`, which re-exports this macro, lists the keys of `#[tool(…)]`
/// and of `#[param(…)]` with an example each.
///
/// # Doc comments
///
/// The text before the first heading is the description. `# Arguments` lists parameters
/// (``* `city` - text``), as an alternative to doc comments on the parameters themselves.
/// `# When to use` and `# Returns` reach the model too. Every other section is for people.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(arguments.into(), item.into()).into()
}

/// On an `impl` block: its functions with [`macro@tool`] become tools, methods as well as functions
/// without `self`. `tool-core`, which re-exports this macro, tells all of it.
#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::toolset(arguments.into(), item.into()).into()
}

/// Implements `ToolType` for a struct or an enum that stands in the signature of a tool.
///
/// serde's attributes are read as serde reads them, by its own code: names, defaults, aliases,
/// `skip`, `flatten`, `transparent`, `from` and `try_from`, all four ways to tag an enum. `with`
/// needs `#[param(as = Type)]` or `#[param(schema = …)]` to say what it reads. Doc comments become
/// descriptions; those of unit variants are told beside the description of whatever uses the enum.
///
/// A field takes the keys of [`macro@tool`]'s `#[param(…)]`, apart from `rename` and `default`,
/// which are serde's, and besides `recursive`: the field leads back to a type that holds this one.
/// A type that names itself needs no telling.
///
/// Fields own their text, or hold it in a `Cow`: JSON with escapes has none to lend.
///
/// On the type itself, `#[param(crate = path)]` says where `tool_core` is.
///
/// The variants of an untagged enum are tried in turn by serde. One that would take the values of
/// a later one is a compile error.
#[proc_macro_derive(ToolType, attributes(param, serde))]
pub fn tool_type(item: TokenStream) -> TokenStream {
    expand::tool_type(item.into()).into()
}
