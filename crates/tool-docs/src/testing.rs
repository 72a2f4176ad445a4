//! Assertions for the tests of a program with tools. [`check()`] combines all of them in one test.

mod check;

use tool_core::Registry;

pub use check::{Check, check};

/// Asserts that these tools are linked into the program, so that [`Registry::linked`] finds them.
/// Context values that they borrow are not needed.
///
/// Tools in a crate that the program never references are not linked, and silently absent. Call
/// this in a test to detect it.
///
/// ```
/// use tool_core::tool;
/// use tool_docs::testing;
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// testing::assert_linked(["roll_die"]);
/// ```
///
/// # Panics
///
/// Panics if tools are missing, if two tools have the same name, or if the tools together exceed
/// the limits of a build target.
#[track_caller]
pub fn assert_linked<'n>(names: impl IntoIterator<Item = &'n str>) {
    expect_linked(names);
}

/// Asserts that exactly these tools are linked into the program. This detects a tool that a
/// dependency adds without notice.
///
/// ```
/// use tool_core::tool;
/// use tool_docs::testing;
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// testing::assert_linked_only(["roll_die"]);
/// ```
///
/// # Panics
///
/// Panics if tools are missing, or if there are others, with their names and locations.
#[track_caller]
pub fn assert_linked_only<'n>(names: impl IntoIterator<Item = &'n str>) {
    let names: Vec<_> = names.into_iter().collect();
    let registry = expect_linked(names.iter().copied());
    if let Some(message) = unexpected_tools(&registry, &names) {
        panic!("{message}");
    }
}

#[track_caller]
fn expect_linked<'n>(names: impl IntoIterator<Item = &'n str>) -> Registry {
    let registry = Registry::builder().linked().build_without_context();
    let registry = registry.unwrap_or_else(|error| panic!("{error}"));
    registry
        .expect(names)
        .unwrap_or_else(|missing| panic!("{missing}"))
}

/// Lists the tools with other names than these.
fn unexpected_tools(registry: &Registry, names: &[&str]) -> Option<String> {
    let mut tools = registry.specs();
    tools.retain(|tool| !names.contains(&&*tool.name));
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| format!("\n  {}, {}", tool.name, tool.location))
        .collect();
    (!tools.is_empty()).then(|| {
        format!(
            "unexpected tools; expect them too, or mark them `#[tool(unlinked)]`:{}",
            tools.concat()
        )
    })
}
