// Examples need `tool-core`: the package `tests` compiles them.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
//!
//! # How an expansion is made
//!
//! Each stage uses the result of the stage before it:
//!
//! | stage | result |
//! |---|---|
//! | `attr` | attributes and signatures as written, with their spans |
//! | `model` | the tool or the type that they describe, without attributes |
//! | `check` | the errors in a model, one function per rule |
//! | `emit` | the generated code; it can't fail |
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![recursion_limit = "256"]

use proc_macro::TokenStream;

mod attr;
mod check;
#[cfg(feature = "client")]
mod client;
mod emit;
mod expand;
#[cfg(test)]
mod golden;
mod model;
mod util;

/// # Keys in short
///
/// - What the model reads: `name = "…"`, `description = "…"`, `example = r#"{…}"#` (arguments of a call)
/// - What people and clients see: `title = "…"`, `tags = ["…"]`, `icons`, `meta`, `doc = false` (in rustdoc)
/// - What a call does, for MCP: `read_only`, `destructive`, `idempotent`, `open_world`
/// - How calls run: `timeout = "30s"`, `blocking`, `parallel`, `background`, `ends_run`
/// - What a provider is told: `strict`, `freeform`, `grammar`, `programmatic`, `provides = Type`, `eager_input`, `defer`
/// - The generated code: `handler = Name`, `unlinked`, `crate = path`
///
/// Of a parameter, in `#[param(…)]`:
///
/// - `description = "…"`, `rename = "…"`, `example = literal`, `default = literal` or `default` alone
/// - Accepted values: `range = 1..=14`, `multiple_of = 5`, `length = 1..=64`, `unique`, `pattern = "…"`, `format = "email"`
/// - Another schema: `as = Type`, `schema = r#"{…}"#`
/// - `secret` keeps a value out of logs; the application provides a value with `context`
///
/// The [reference](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys) explains each key.
///
/// # The handler
///
/// The macro generates a handler: a type that implements `Tool` and has the name of the function, or
/// the one in `#[tool(handler = Name)]`.
#[cfg_attr(not(doctest), doc = include_str!("examples/tool.md"))]
///
/// # Doc comments
///
/// The text before the first heading is the description. `# Arguments` lists parameters
/// (``* `city` - text``), as an alternative to doc comments on the parameters themselves.
/// `# When to use` and `# Returns` are sent to the model too. All other sections are for people.
#[doc(alias("function calling", "tool use", "function_tool"))]
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(arguments.into(), item.into()).into()
}

/// Turns the functions with [`macro@tool`] in an `impl` block into tools, both methods and functions
/// without `self`.
///
/// # Keys in short
///
/// - `blocks = 2` on the first block of a type that has several, `block = 2` on the second
/// - `crate = path`, if `tool_core` is renamed or re-exported
///
/// The [reference](https://docs.rs/tool-core/latest/tool_core/attr.toolset.html) has examples.
#[cfg_attr(not(doctest), doc = include_str!("examples/toolset.md"))]
#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::toolset(arguments.into(), item.into()).into()
}

/// Implements `ToolType` and `Decode` for a struct or an enum, so that it can be used in the signature of a tool.
#[cfg_attr(not(doctest), doc = include_str!("examples/tool_type.md"))]
///
/// # Keys in short
///
/// - Of a type, in `#[param(…)]`: `description = "…"`, `serde` (serde decodes it), `crate = path`
/// - Of a variant: `description = "…"`
/// - Of a field: `description = "…"`, `example = literal`, `range = 1..=14`, `multiple_of = 5`, `length = 1..=64`, `unique`,
///   `pattern = "…"`, `format = "email"`, `secret`, `as = Type`, `schema = r#"{…}"#`, and `recursive` for a type that
///   contains this one (a field of the type itself needs no key)
/// - serde's attributes: `#[serde(rename = "…", default)]` and all others
///
/// The [reference](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys) explains each key.
///
/// # Decoding
///
/// The type decodes itself by its schema. serde decodes it if it is untagged, or if a field is flattened or
/// has a function (`with`, `deserialize_with`), and if `#[param(serde)]` on the type asks for it. A
/// `Deserialize` that is written by hand is not used otherwise.
///
/// serde's attributes are read with serde's own code: names, defaults, aliases, `skip`, `flatten`,
/// `transparent`, `from`, `try_from` and all four enum representations. A field with `with` needs
/// `#[param(as = Type)]` or `#[param(schema = …)]`. Doc comments become descriptions. Doc comments of unit
/// variants are added to the description of each use of the enum.
///
/// Fields must own their text or hold it in a `Cow`: JSON strings with escapes can't be borrowed.
///
/// serde tries the variants of an untagged enum in order. A variant that accepts the values of a
/// later one is a compile error.
#[proc_macro_derive(ToolType, attributes(param, serde))]
pub fn tool_type(item: TokenStream) -> TokenStream {
    expand::tool_type(item.into()).into()
}

/// Reports what `tools!` can't read.
#[doc(hidden)]
#[proc_macro]
pub fn not_tools(input: TokenStream) -> TokenStream {
    expand::not_tools(input.into()).into()
}

/// Expands `tool_mcp::client!`, whose documentation is there.
#[cfg(feature = "client")]
#[doc(hidden)]
#[proc_macro]
pub fn client(input: TokenStream) -> TokenStream {
    client::expand(input.into()).into()
}
