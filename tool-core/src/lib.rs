#![doc = include_str!("../README.md")]

extern crate self as tool_core;

#[cfg(feature = "docs")]
pub mod budget;
pub mod dialect;
#[cfg(feature = "docs")]
pub mod docs;
#[cfg(feature = "docs")]
pub mod lock;
pub mod rules;
pub mod schema;
pub mod testing;

mod args;
mod block_on;
mod call;
#[cfg(feature = "docs")]
mod committed;
mod error;
#[cfg(feature = "docs")]
mod json;
mod lend;
mod output;
mod registry;
mod spec;
mod telemetry;
mod tool;
mod types;
mod violation;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use call::{Arguments, ToolCall, ToolResult};
pub use error::{ToolError, ToolErrorKind};
pub use registry::{MissingTools, Registry, RegistryBuilder, RegistryError};
pub use spec::{Annotations, Location, ToolSpec};
pub use tool::{Tool, ToolEntry};
pub use tool_macros::ToolType;
#[doc = include_str!("attributes.md")]
pub use tool_macros::tool;
pub use types::{MapKey, ToolType};
pub use violation::{Coercion, Violation};

/// A list of tools by the names of their functions, for a registry of chosen tools.
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
#[macro_export]
macro_rules! tools {
    ($($tool:ty),* $(,)?) => {
        [$($crate::ToolEntry::of::<$tool>()),*]
    };
}
