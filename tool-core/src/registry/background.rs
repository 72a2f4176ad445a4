//! The tool `wait_for_results`, which a model calls to wait for its calls in the background.
//!
//! It is not among the tools of a snapshot. A `Run` of the crate `tool-agent` answers its calls.

use crate::args::ArgumentError;
use crate::spec::Location;
use crate::tool::{Invoke, StaticSpec, Tool, ToolEntry};

/// The name of the tool that waits for calls in the background. No other tool of a registry with tools in the background
/// can have it; see [`RequestOptions::background`](crate::dialect::RequestOptions::background).
pub const WAIT_FOR_RESULTS: &str = "wait_for_results";

/// The handler of `wait_for_results`. By hand, because the check of provider rules would reject a tool without parameters.
struct WaitForResults;

impl Tool for WaitForResults {
    const SOURCE: StaticSpec = StaticSpec {
        name: WAIT_FOR_RESULTS,
        description: "Waits until a call in the background has ended, and returns its result.",
        annotations: [Some(true), None, None, None],
        invoke: Invoke::Sync(|_| {
            let none = "no call is in the background";
            Err(ArgumentError::Malformed(none.into()))
        }),
        ..StaticSpec::EMPTY
    };
    const LOCATION: Location = crate::__private::location(module_path!());
}

pub(super) fn entry() -> ToolEntry {
    ToolEntry::of::<WaitForResults>()
}
