//! For the tests of a program with tools: one line each, or with the feature `docs` all of them in
//! one, which begins with `testing::check`.

#[cfg(feature = "docs")]
mod check;

use crate::Registry;

#[cfg(feature = "docs")]
pub use check::{Check, check};

/// Checks that the tools are no more than so many tokens together, as [`Budget`] counts them.
///
/// ```
/// use tool_core::{Registry, testing};
///
/// testing::assert_budget(&Registry::new(), 0);
/// ```
///
/// ```should_panic
/// use tool_core::{Registry, testing, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build().unwrap();
/// testing::assert_budget(&registry, 20);
/// ```
///
/// # Panics
///
/// When they are more, with what each of them is.
///
/// [`Budget`]: crate::budget::Budget
#[cfg(feature = "tokens")]
#[track_caller]
pub fn assert_budget(registry: &Registry, tokens: usize) {
    check(registry).budget(tokens).run();
}

/// Checks that these tools are linked into the program, as [`Registry::linked`] finds them. What
/// they borrow from the application need not be given here.
///
/// A crate that nothing names is not linked, and its tools are then missing without a word. This
/// line in a test of the program says so.
///
/// ```
/// use tool_core::{testing, tool};
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
/// When some are missing, with their names and the reason. When two tools have one name, or all are
/// more than a target of the build takes.
#[track_caller]
pub fn assert_linked<'n>(names: impl IntoIterator<Item = &'n str>) {
    assert_missing_none(linked(), names);
}

/// Checks that these tools are linked into the program, and no others: a tool that a model could
/// call because some dependency brought it is a surprise.
///
/// ```
/// use tool_core::{testing, tool};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// testing::assert_linked_alone(["roll_die"]);
/// ```
///
/// # Panics
///
/// When some are missing, or when there are others: they are named, with their places.
#[track_caller]
pub fn assert_linked_alone<'n>(names: impl IntoIterator<Item = &'n str>) {
    let names: Vec<_> = names.into_iter().collect();
    let tools = assert_missing_none(linked(), names.iter().copied()).specs();
    let others = tools.iter().filter(|tool| !names.contains(&&*tool.name));
    let others: Vec<_> = others
        .map(|tool| format!("{}, {}", tool.name, tool.location))
        .collect();
    assert!(
        others.is_empty(),
        "these tools are linked and not expected; expect them too, or mark them \
         `#[tool(unlinked)]`:\n  {}",
        others.join("\n  ")
    );
}

/// The linked tools. None is called, so what they borrow need not be there.
#[track_caller]
fn linked() -> Registry {
    Registry::linked_specs().unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn assert_missing_none<'n>(tools: Registry, names: impl IntoIterator<Item = &'n str>) -> Registry {
    tools
        .expect(names)
        .unwrap_or_else(|missing| panic!("{missing}"))
}
