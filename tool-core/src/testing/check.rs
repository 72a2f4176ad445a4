//! [`Check`]: all that a test of a program's tools asks, and all answers at once.

use std::path::Path;

use crate::docs::{self, Docs};
use crate::registry::Registry;

/// Begins a check of all that a program promises of its tools.
///
/// One function is then the whole test of the tools:
///
/// ```no_run
/// use tool_core::{Registry, testing};
///
/// #[test]
/// fn the_tools_are_as_we_know_them() {
///     testing::check(&Registry::linked().unwrap())
///         .expect_tools(["get_forecast", "search_notes"])
///         .lock("tools.lock.json")
///         .docs("TOOLS.md")
///         .examples()
///         .budget_bytes(2_000)
///         .run();
/// }
/// ```
///
/// That the examples and the defaults in the schemas fit needs no test: they would not compile.
/// Where tools borrow from the application, the registry is one of `Registry::builder().linked()`
/// that was given what they borrow.
pub fn check(registry: &Registry) -> Check<'_> {
    Check {
        registry,
        failures: Vec::new(),
    }
}

/// A check of tools, made by [`check`].
#[must_use = "what was found is told by `run`"]
pub struct Check<'r> {
    registry: &'r Registry,
    failures: Vec<String>,
}

impl Check<'_> {
    /// There are these tools and no others.
    ///
    /// ```should_panic
    /// use tool_core::{Registry, testing};
    ///
    /// testing::check(&Registry::new()).expect_tools(["get_forecast"]).run();
    /// ```
    pub fn expect_tools<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<_> = names.into_iter().collect();
        let tools = self.registry.specs();
        let missing: Vec<_> = names
            .iter()
            .filter(|name| self.registry.get(name).is_none())
            .collect();
        if !missing.is_empty() {
            self.failures.push(format!(
                "these tools are missing: {missing:?}; a crate that nothing names is not linked: \
                 name it, as in `use weather_tools as _;`"
            ));
        }
        let others = tools.iter().filter(|tool| !names.contains(&&*tool.name));
        let others: Vec<_> = others
            .map(|tool| format!("\n  {}, {}", tool.name, tool.location))
            .collect();
        if !others.is_empty() {
            self.failures.push(format!(
                "these tools are there and not expected; expect them too, or mark them \
                 `#[tool(unlinked)]`:{}",
                others.concat()
            ));
        }
        self
    }

    /// The tools are as a lock file says, as by [`Lock::check`](crate::lock::Lock::check).
    pub fn lock(mut self, path: impl AsRef<Path>) -> Self {
        let checked = self.registry.lock().check(path);
        self.failures
            .extend(checked.err().map(|error| error.to_string()));
        self
    }

    /// A catalogue is up to date, as by [`Docs::check`](crate::docs::Docs::check).
    pub fn docs(self, path: impl AsRef<Path>) -> Self {
        let docs = self.registry.docs();
        self.catalogue(&docs, path)
    }

    /// A catalogue with a title of its own is up to date.
    ///
    /// ```no_run
    /// use tool_core::{Registry, testing};
    ///
    /// let registry = Registry::linked()?;
    /// let docs = registry.docs().title("What our agents can do");
    /// testing::check(&registry).catalogue(&docs, "TOOLS.md").catalogue(&docs, "tools.html").run();
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn catalogue(mut self, docs: &Docs, path: impl AsRef<Path>) -> Self {
        let checked = docs.check(path);
        self.failures
            .extend(checked.err().map(|error| error.to_string()));
        self
    }

    /// Every tool has an example call that it takes, as [`docs::example`] makes it.
    pub fn examples(mut self) -> Self {
        for tool in self.registry.specs() {
            if let Err(why) = docs::example(&tool) {
                let message = format!("no example call of {} can be made: {why}", tool.name);
                self.failures.push(message);
            }
        }
        self
    }

    /// The tools are no more than so many tokens together, as
    /// [`Budget::tokens`](crate::budget::Budget::tokens) counts them.
    #[cfg(feature = "tokens")]
    pub fn budget(self, tokens: usize) -> Self {
        let found = self.registry.budget().tokens();
        self.within("tokens", tokens, found)
    }

    /// The tools are no more than so many bytes together, as
    /// [`Budget::bytes`](crate::budget::Budget::bytes) counts them.
    pub fn budget_bytes(self, bytes: usize) -> Self {
        let found = self.registry.budget().bytes();
        self.within("bytes", bytes, found)
    }

    fn within(mut self, unit: &str, most: usize, found: usize) -> Self {
        if found > most {
            self.failures.push(format!(
                "the tools are {found} {unit} and should be at most {most}:\n{}",
                self.registry.budget()
            ));
        }
        self
    }

    /// Tells what was found.
    ///
    /// # Panics
    ///
    /// When something was not as it should be, with all of it.
    #[track_caller]
    pub fn run(self) {
        let Check { failures, .. } = self;
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }
}
