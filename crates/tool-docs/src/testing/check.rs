//! [`Check`]: checks everything about a program's tools in one test.

use std::path::Path;

use tool_core::__docs::compare_decoding;
use tool_core::{Registry, ToolCall, ToolError, ToolSpec};

use super::unexpected_tools;
use crate::lock::Lock;
use crate::{Budget, Docs};

/// Starts a check of a program's tools.
///
/// This can be the only test of the tools:
///
/// ```no_run
/// use tool_core::Registry;
/// use tool_docs::testing;
///
/// #[test]
/// fn tools() {
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
/// Examples and defaults that a schema rejects are compile errors, so they need no test. If tools
/// borrow context values, build the registry with `Registry::builder().linked()` and those values.
pub fn check(registry: &Registry) -> Check<'_> {
    Check {
        registry,
        failures: Vec::new(),
    }
}

/// Returns the call of an example, as an app makes it if the tool is for apps alone.
fn call_of(tool: &ToolSpec, example: &str) -> ToolCall {
    let call = ToolCall::new("example", &*tool.name, example);
    if tool.is_for_models() {
        call
    } else {
        call.from_app()
    }
}

/// Describes an example that a call rejects.
fn wrong_example(tool: &str, example: &str, error: &ToolError) -> String {
    let violations: Vec<_> = error.violations().iter().map(ToString::to_string).collect();
    let problem = match &violations[..] {
        [] => format!("{} ({})", error.message(), error.detail()),
        violations => violations.join("; "),
    };
    format!("the example {example} of `{tool}` fails: {problem}")
}

/// A check of tools, created by [`check`].
///
/// ```no_run
/// use tool_core::Registry;
/// use tool_docs::testing;
///
/// #[test]
/// fn the_tools_are_as_committed() {
///     testing::check(&Registry::linked().unwrap())
///         .expect_tools(["get_weather"])
///         .lock("tools.lock.json")
///         .docs("TOOLS.md")
///         .budget_bytes(4_000)
///         .run();
/// }
/// ```
#[must_use = "call `run` or `failures` to learn the results"]
pub struct Check<'r> {
    registry: &'r Registry,
    failures: Vec<String>,
}

impl Check<'_> {
    /// Checks that there are exactly these tools.
    ///
    /// ```should_panic
    /// use tool_core::Registry;
    /// use tool_docs::testing;
    ///
    /// testing::check(&Registry::new()).expect_tools(["get_forecast"]).run();
    /// ```
    pub fn expect_tools<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<_> = names.into_iter().collect();
        let missing = self.registry.clone().expect(names.iter().copied()).err();
        self.failures.extend(missing.map(|error| error.to_string()));
        self.failures
            .extend(unexpected_tools(self.registry, &names));
        self
    }

    /// Checks that a lock file matches the tools, like [`Lock::check`](crate::lock::Lock::check).
    pub fn lock(mut self, path: impl AsRef<Path>) -> Self {
        let error = Lock::new(self.registry).check(path).err();
        self.failures.extend(error.map(|error| error.to_string()));
        self
    }

    /// Checks that a catalogue is up to date, like [`Docs::check`].
    pub fn docs(self, path: impl AsRef<Path>) -> Self {
        let docs = Docs::new(self.registry);
        self.catalogue(&docs, path)
    }

    /// Checks that a customized catalogue is up to date.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    /// use tool_docs::{Docs, testing};
    ///
    /// let registry = Registry::linked()?;
    /// let docs = Docs::new(&registry).title("What our agents can do");
    /// testing::check(&registry).catalogue(&docs, "TOOLS.md").catalogue(&docs, "tools.html").run();
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn catalogue(mut self, docs: &Docs, path: impl AsRef<Path>) -> Self {
        let error = docs.check(path).err();
        self.failures.extend(error.map(|error| error.to_string()));
        self
    }

    /// Checks the [examples](ToolSpec::examples) of every tool as calls, without running a tool,
    /// and that [`example`](crate::example) can generate one for a tool without any.
    ///
    /// The compiler has checked the examples against the schema. This checks the rest, which a constant
    /// can't compute: patterns and formats inside of other types, and values that a type's own code
    /// rejects.
    ///
    /// A type that derives [`ToolType`](macro@tool_core::ToolType) does not use its `Deserialize`. For the types of the crate
    /// whose unit tests run (`cfg(test)`), the values are decoded by it too, and a difference is a failure. An optimised build
    /// does not compare.
    ///
    /// ```should_panic
    /// use std::net::IpAddr;
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::testing;
    ///
    /// /// Pings a host.
    /// #[tool(example = r#"{"host": "localhost"}"#)]
    /// fn ping(host: IpAddr) -> String {
    ///     host.to_string()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![ping]).build().unwrap();
    /// // "localhost" is a string, but not an address.
    /// testing::check(&registry).examples().run();
    /// ```
    pub fn examples(mut self) -> Self {
        for tool in self.registry.specs() {
            for example in tool.examples() {
                let call = call_of(&tool, example);
                if let Err(error) = self.registry.validate(&call) {
                    let failure = wrong_example(&tool.name, example, &error);
                    self.failures.push(failure);
                } else {
                    self.compare_decoding(&tool, example);
                }
            }
            match crate::example(&tool) {
                Ok(example) if tool.examples().len() == 0 => {
                    self.compare_decoding(&tool, &example);
                }
                Ok(_) => {}
                Err(reason) => {
                    let message = format!("no example call of `{}`: {reason}", tool.name);
                    self.failures.push(message);
                }
            }
        }
        self
    }

    /// Decodes an example by the `Deserialize` of each type in it, too.
    fn compare_decoding(&mut self, tool: &ToolSpec, example: &str) {
        for difference in compare_decoding(tool, example) {
            let name = &tool.name;
            self.failures
                .push(format!("the example {example} of `{name}`: {difference}"));
        }
    }

    /// Runs the [examples](ToolSpec::examples) of these tools, and checks that they succeed. The
    /// calls have the effects of any other call, and the context values of the registry.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_docs::testing;
    ///
    /// /// Adds two numbers.
    /// #[tool(example = r#"{"a": 1, "b": 2}"#)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// testing::check(&registry).run_examples(["add"]).run();
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn run_examples<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        for name in names {
            let tool = self.registry.get(name);
            let calls = tool.iter().flat_map(|tool| {
                let examples = tool.examples();
                examples.map(|example| (example.to_owned(), call_of(tool, example)))
            });
            let calls: Vec<_> = calls.collect();
            if calls.is_empty() {
                self.failures.push(format!("no example to run of `{name}`"));
            }
            for (example, call) in calls {
                if let Some(error) = self.registry.call_blocking(call).error() {
                    let failure = wrong_example(name, &example, error);
                    self.failures.push(failure);
                }
            }
        }
        self
    }

    /// Checks that all tools together have at most this many tokens, as counted by
    /// [`Budget::tokens`].
    #[cfg(feature = "tokens")]
    pub fn budget(self, tokens: usize) -> Self {
        let found = Budget::new(self.registry).tokens();
        self.within("tokens", tokens, found)
    }

    /// Checks that all tools together have at most this many bytes, as counted by
    /// [`Budget::bytes`].
    pub fn budget_bytes(self, bytes: usize) -> Self {
        let found = Budget::new(self.registry).bytes();
        self.within("bytes", bytes, found)
    }

    fn within(mut self, unit: &str, maximum: usize, found: usize) -> Self {
        if found > maximum {
            self.failures.push(format!(
                "the tools have {found} {unit}, more than the budget of {maximum}:\n{}",
                Budget::new(self.registry)
            ));
        }
        self
    }

    /// Returns the failures, for a program that reports them itself.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_docs::testing;
    ///
    /// let failures = testing::check(&Registry::new()).expect_tools(["get_forecast"]).failures();
    /// assert!(failures[0].contains("get_forecast"));
    /// ```
    pub fn failures(self) -> Vec<String> {
        self.failures
    }

    /// Reports the results.
    ///
    /// # Panics
    ///
    /// Panics if a check failed, with all failures.
    #[track_caller]
    pub fn run(self) {
        let failures = self.failures();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }
}
