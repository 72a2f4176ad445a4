#![doc = include_str!("guide/front.md")]
#![doc = include_str!("guide/call-wide.svg")]
#![doc = include_str!("guide/call-narrow.svg")]
#![doc = include_str!("guide/overview.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules, from the bottom up. A module imports only from those above it.
//
// visible     characters that nobody sees, and texts without them
// schema      the schema of arguments and results: tree, JSON text, validation
// ordered_json   JSON that keeps the order of its keys; the keywords of schemas
// decode      from JSON text to values: `Decode`, the reader, structs and enums
// types       `ToolType` for the types of std and of other crates
// content     the parts of results: text, images, audio, files, links
// call        calls, their arguments, context, errors and results; questions to the user
// spec        the description of a tool
// args        decodes arguments; `output` encodes results
// tool        handlers and entries: a spec with the code that runs it
// provider    the trait of a dialect, and the rules of the providers
// runtime     timers and threads; `telemetry` emits spans and events
// results     stores of long results, and parts of them
// hooks       closures around the calls of a registry, and what they see and decide
// registry    looks up, lists, renders and runs tools
// dynamic     tools that come while the program runs
// guide       pages about subjects that concern several modules
// __private   what generated code uses; `__docs` what `tool-docs` uses

extern crate self as tool_core;

#[cfg(all(feature = "tokio", target_family = "wasm", target_os = "unknown"))]
compile_error!(
    "the feature `tokio` of tool-core needs a clock, which this target lacks; \
     pass your own `Runtime` to `RegistryBuilder::runtime` for timeouts"
);

// First, because the page of `ToolResult` has its methods in this order.
mod output;

pub mod call;
pub mod content;
#[cfg(feature = "dynamic")]
pub mod dynamic;
pub mod files;
#[cfg(any(doc, doctest))]
pub mod guide;
pub mod hooks;
pub mod registry;
pub mod runtime;
pub mod schema;
pub mod spec;
pub mod visible;

mod args;
mod decode;
#[cfg_attr(not(feature = "dynamic"), allow(dead_code))]
mod ordered_json;
mod provider;
mod results;
mod telemetry;
mod tool;
mod types;

#[doc(hidden)]
#[path = "docs.rs"]
pub mod __docs;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc(inline)]
pub use call::ToolCall;
pub use call::context::CallContext;
pub use call::error::{ToolError, ToolErrorKind};
pub use call::result::ToolResult;
pub use decode::{Decode, DecodeOwned};
pub use output::{AnyOutput, IntoOutput, Returned};
pub use provider::{dialect, rules};
#[doc(inline)]
pub use registry::Registry;
pub use registry::builder::RegistryBuilder;
pub use registry::error::RegistryError;
#[doc(inline)]
pub use spec::ToolSpec;
pub use tool::{IntoTools, Tool, ToolEntry, Toolset};
pub use tool_core_macros::ToolType;
#[doc = include_str!("attributes.md")]
pub use tool_core_macros::tool;
#[doc = include_str!("toolset.md")]
pub use tool_core_macros::toolset;
pub use types::{MapKey, ToolType};

/// Creates an array of [`ToolEntry`]s from the names of tool functions.
///
/// ```
/// mod weather {
///     /// The current temperature.
///     #[tool_core::tool]
///     pub fn get_temperature(city: &str) -> f64 {
///         # let _ = city;
///         21.5
///     }
/// }
///
/// /// Rolls a die.
/// #[tool_core::tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let list = tool_core::tools![roll_die, weather::get_temperature];
/// assert_eq!(list[1].name, "get_temperature");
/// ```
///
/// The error "constant provided when a type was expected" means that a function has no `#[tool]`: the attribute
/// generates the type of its name.
#[macro_export]
macro_rules! tools {
    ($($tool:ty),* $(,)?) => {
        [$($crate::ToolEntry::of::<$tool>()),*]
    };
    ($($wrong:tt)*) => {
        $crate::__private::not_tools!($($wrong)*)
    };
}

/// Asserts at compile time, including `cargo check`, that the schema of a tool's arguments equals a
/// JSON text.
///
/// The first argument is the name of the tool's function. The second is any constant text, such as
/// `include_str!("get_weather.json")`. White space outside of strings is ignored. The error shows
/// the first difference; for an empty text, it shows the whole schema, ready to be saved as the
/// golden file.
///
/// ```
/// use tool_core::{assert_schema, tool};
///
/// /// The current temperature.
/// #[tool]
/// fn get_temperature(city: &str) -> f64 {
///     # let _ = city;
///     21.5
/// }
///
/// assert_schema!(
///     get_temperature,
///     r#"{
///         "type": "object",
///         "properties": { "city": { "type": "string" } },
///         "required": ["city"],
///         "additionalProperties": false
///     }"#
/// );
/// ```
///
/// A schema that differs does not compile:
///
/// ```compile_fail
/// # use tool_core::{assert_schema, tool};
/// /// The current temperature.
/// #[tool]
/// fn get_temperature(city: &str) -> f64 {
///     # let _ = city;
///     21.5
/// }
///
/// assert_schema!(get_temperature, r#"{"type":"object","properties":{}}"#);
/// ```
#[macro_export]
macro_rules! assert_schema {
    ($tool:ty, $json:expr $(,)?) => {
        // A string of several hundred KB triggers the lint.
        #[allow(long_running_const_eval)]
        const _: () = $crate::__private::assert_schema::<$tool>($json);
    };
}
