//! [`RegistryError`] and [`MissingTools`].

use std::fmt;

use crate::provider::rules::BrokenRule;
use crate::runtime::HAS_CLOCK;
use crate::spec::{Location, ToolSpec};
use crate::tool::ToolEntry;

/// Why a registry could not be built or changed: several tools have the same name, a tool needs
/// something that the registry does not have, the tools together exceed a limit of a provider
/// that the build targets, the registry is a [selection](crate::Registry::select), or the linked tools
/// [can't be listed](crate::guide::traps#tools-are-missing).
///
/// Displays every problem with its remedy.
///
/// ```
/// use tool_core::{Registry, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let twice = [tools![roll_die], tools![roll_die]].concat();
/// let error = Registry::builder().tools(twice).build().unwrap_err();
/// assert_eq!(error.duplicate_names().collect::<Vec<_>>(), ["roll_die"]);
/// ```
#[derive(Clone, Default)]
pub struct RegistryError {
    pub(super) duplicates: Vec<Duplicate>,
    problems: Vec<ToolProblem>,
    pub(super) broken: Vec<BrokenRule>,
    is_selection: bool,
    unlisted: Option<String>,
}

impl RegistryError {
    /// Returns the provider rules that the tools together break.
    pub fn broken_rules(&self) -> &[BrokenRule] {
        &self.broken
    }

    /// Returns the names that several tools have.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let error = registry.add(tools![roll_die]).unwrap_err();
    /// assert_eq!(error.duplicate_names().collect::<Vec<_>>(), ["roll_die"]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn duplicate_names(&self) -> impl Iterator<Item = &str> {
        self.duplicates.iter().map(|duplicate| &*duplicate.name)
    }

    /// Creates the error of a change of a selection.
    pub(super) fn of_selection() -> RegistryError {
        RegistryError {
            is_selection: true,
            ..RegistryError::default()
        }
    }

    /// Creates the error of linked tools that can't be listed.
    pub(super) fn of_linked_tools(problem: String) -> RegistryError {
        RegistryError {
            unlisted: Some(problem),
            ..RegistryError::default()
        }
    }

    /// Adds a problem of a tool.
    pub(super) fn add(&mut self, kind: ProblemKind, tool: &ToolSpec, detail: &str) {
        self.problems.push(ToolProblem {
            kind,
            tool: tool.name.to_string(),
            location: tool.location,
            detail: detail.to_owned(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.duplicates.is_empty()
            && self.problems.is_empty()
            && self.broken.is_empty()
            && !self.is_selection
    }
}

#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    pub(super) name: String,
    locations: Vec<Location>,
}

impl Duplicate {
    pub(super) fn new<'t>(name: &str, tools: impl IntoIterator<Item = &'t ToolEntry>) -> Duplicate {
        // The order of linked tools differs between builds. They are few, and a sort is 4 kB of code.
        let mut locations: Vec<Location> = Vec::new();
        for tool in tools {
            let location = tool.location;
            let key = (location.file, location.line);
            let at = locations.partition_point(|one| (one.file, one.line) < key);
            locations.insert(at, location);
        }
        Duplicate {
            name: name.to_owned(),
            locations,
        }
    }
}

/// A problem of one tool.
#[derive(Clone, Debug)]
struct ToolProblem {
    kind: ProblemKind,
    tool: String,
    location: Location,
    /// The type of the context value, or the reason for the runtime; empty for a name.
    detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ProblemKind {
    /// The name is not valid for every provider.
    Name,
    /// A context value is missing.
    Context,
    /// The tool needs a runtime.
    Runtime,
    /// The name belongs to a tool that finds deferred tools.
    Reserved,
}

/// The kinds of problems, each with its headline and its remedy.
const PROBLEMS: [(ProblemKind, &str, &str); 4] = [
    (
        ProblemKind::Name,
        "these tool names are not valid for every provider",
        "start the name with an ASCII letter or `_`, followed by at most 63 ASCII letters, digits, \
         `_` or `-`",
    ),
    (
        ProblemKind::Context,
        "these tools need context values that are missing",
        "add a value of each type with `Registry::builder().context(value)`, or declare with \
         `.context_per_call::<Type>()` that every call has one from `ToolCall::with`",
    ),
    (
        ProblemKind::Runtime,
        "these tools need timers or threads, but there is no async runtime",
        if HAS_CLOCK {
            "enable the feature `tokio` of tool-core, or set another runtime with \
             `Registry::builder().runtime(…)`"
        } else {
            "set a runtime of this platform with `Registry::builder().runtime(…)`"
        },
    ),
    (
        ProblemKind::Reserved,
        "these names are reserved for the tools that find deferred ones, or wait for calls in the background",
        "rename the tool, or have no tool in this registry that is deferred, or is called in the background",
    ),
];
const SELECTION: &str = "the tools of a selection follow another registry: add, replace and remove them in the \
    registry that `Registry::select`, `group` or the like was called on";
const TWICE: &str = "  (a unit test contains its crate twice if a dev-dependency depends on it: move the test to `tests/`)\n";
const DUPLICATE_REMEDY: &str = "rename one with `#[tool(name = \"…\")]`, \
    keep one out of `Registry::linked()` with `#[tool(unlinked)]`, \
    give each toolset its own prefix, \
    choose the tools with `Registry::builder().tools(tools![…])`, \
    or replace a tool with `Registry::replace`";

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut paragraphs = Vec::new();
        if !self.duplicates.is_empty() {
            let duplicates = self.duplicates.iter().map(Duplicate::to_string);
            paragraphs.push(duplicates.collect::<String>() + DUPLICATE_REMEDY);
        }
        for (kind, headline, remedy) in PROBLEMS {
            let problems = self.problems.iter().filter(|problem| problem.kind == kind);
            let list: String = problems.map(ToolProblem::to_string).collect();
            if !list.is_empty() {
                paragraphs.push(format!("{headline}:\n{list}{remedy}"));
            }
        }
        paragraphs.extend(self.broken.iter().map(BrokenRule::to_string));
        if self.is_selection {
            paragraphs.push(SELECTION.into());
        }
        paragraphs.extend(self.unlisted.clone());
        f.write_str(&paragraphs.join("\n"))
    }
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.locations.len();
        let name = self.name.escape_debug();
        writeln!(f, "{count} tools are named `{name}`:")?;
        for location in &self.locations {
            writeln!(f, "  {location}")?;
        }
        if let [first, others @ ..] = &*self.locations
            && others.contains(first)
        {
            f.write_str(TWICE)?;
        }
        Ok(())
    }
}

impl fmt::Display for ToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolProblem {
            tool,
            location,
            detail,
            ..
        } = self;
        let tool = tool.escape_debug();
        if detail.is_empty() {
            writeln!(f, "  `{tool}`, {location}")
        } else {
            writeln!(f, "  `{tool}`: {detail}, {location}")
        }
    }
}

/// Formats the error like `Display`, because `unwrap` shows `Debug`.
impl fmt::Debug for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RegistryError:\n{self}")
    }
}

impl std::error::Error for RegistryError {}

/// The error of [`Registry::expect`](crate::Registry::expect).
///
/// ```
/// let missing = tool_core::Registry::new().expect(["get_weather"]).unwrap_err();
/// assert_eq!(missing.names(), ["get_weather"]);
/// ```
#[derive(Clone, Debug)]
pub struct MissingTools {
    pub(super) missing: Vec<String>,
}

impl MissingTools {
    /// Returns the names of the missing tools.
    pub fn names(&self) -> &[String] {
        &self.missing
    }
}

impl fmt::Display for MissingTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self
            .missing
            .iter()
            .map(|name| name.escape_debug().to_string());
        let names: Vec<_> = names.collect();
        write!(
            f,
            "these tools are not in the registry: {}; if the program does not refer to their crate, \
             write `use weather_tools as _;`; `Registry::linked()` finds the tools of its own executable or shared \
             library alone, and those in a `staticlib` if it is linked with `--whole-archive`: list others with \
             `tools![…]`",
            names.join(", ")
        )
    }
}

impl std::error::Error for MissingTools {}
