#![doc = include_str!("../README.md")]

extern crate self as tool_core;

#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "docs")]
pub mod budget;
#[cfg(feature = "docs")]
pub mod docs;
#[cfg(feature = "docs")]
pub mod lock;
pub mod schema;
pub mod testing;

mod args;
mod call;
#[cfg(feature = "dynamic")]
mod dynamic;
#[cfg(feature = "docs")]
mod generated_file;
#[cfg(feature = "docs")]
mod ordered_json;
mod output;
mod provider;
mod registry;
mod runtime;
mod spec;
mod telemetry;
mod tool;
mod types;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use call::context::{CallContext, CancellationToken, Cancelled, Progress};
pub use call::error::{ToolError, ToolErrorKind, Transient};
pub use call::{Arguments, ToolCall, ToolResult};
#[cfg(feature = "dynamic")]
pub use dynamic::{DynamicTool, DynamicToolBuilder, DynamicToolError};
pub use provider::hosted_tool::HostedTool;
pub use provider::{dialect, rules};
pub use registry::{Gate, MissingTools, PendingCall, Registry, RegistryBuilder, RegistryError};
pub use runtime::{BoxFuture, NoRuntime, Runtime};
pub use schema::violation::{Coercion, Violation};
pub use spec::{Annotations, Location, ToolSpec};
pub use tool::toolset::Toolset;
pub use tool::{Tool, ToolEntry};
pub use tool_core_macros::ToolType;
#[doc = include_str!("attributes.md")]
pub use tool_core_macros::tool;
#[doc = include_str!("toolset.md")]
pub use tool_core_macros::toolset;
pub use types::{MapKey, ToolType};

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

/// Stops the build unless the schema of a tool's arguments is the text that it should be: a golden
/// file that no change passes unseen, `cargo check` included.
///
/// White space outside of strings does not matter. The first argument names the tool by its
/// function, as in [`tools!`]; the second is any constant text, mostly
/// `include_str!("get_weather.json")`. The error says where the two part. Compared with an empty
/// text, it shows the whole schema, to be written into the file.
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
/// Another schema than the tool's:
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
        // A text of some hundred KB takes the compiler a moment.
        #[allow(long_running_const_eval)]
        const _: () = $crate::__private::assert_schema::<$tool>($json);
    };
}

/// Only rustdoc hides lines: whoever copies an example from elsewhere would copy them too.
#[test]
fn the_readme_hides_no_line_of_an_example() {
    let mut blocks = include_str!("../README.md").split("\n```");
    blocks.next();
    for block in blocks.step_by(2).filter(|block| block.starts_with("rust")) {
        let hidden = block
            .lines()
            .find(|line| line.trim_start().starts_with("# "));
        assert_eq!(hidden, None);
    }
}
