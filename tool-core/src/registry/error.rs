//! Why a registry is not as it should be.

use std::fmt;

use crate::provider::rules::BrokenRule;
use crate::spec::Location;

/// Why tools make no registry. Several have one name, a tool lacks what the registry was not given,
/// or together they are more than a provider takes that this build is made for.
///
/// It displays as everything that is wrong, with what to do.
#[derive(Clone, Default)]
pub struct RegistryError {
    pub(super) duplicates: Vec<Duplicate>,
    /// Tools with a name that not every provider takes.
    pub(super) names: Vec<Lack>,
    /// Tools and the types that they borrow.
    pub(super) context: Vec<Lack>,
    /// Tools and why they need a runtime.
    pub(super) runtime: Vec<Lack>,
    pub(super) broken: Vec<BrokenRule>,
}

impl RegistryError {
    /// What a provider refuses of these tools together.
    pub fn broken_rules(&self) -> &[BrokenRule] {
        &self.broken
    }

    pub(super) fn is_empty(&self) -> bool {
        let RegistryError {
            duplicates,
            names,
            context,
            runtime,
            broken,
        } = self;
        let lacks = [names, context, runtime];
        duplicates.is_empty() && broken.is_empty() && lacks.iter().all(|lack| lack.is_empty())
    }
}

#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    pub(super) name: String,
    pub(super) locations: Vec<Location>,
}

/// Something that one tool lacks.
#[derive(Clone, Debug)]
pub(super) struct Lack {
    pub(super) tool: String,
    pub(super) location: Location,
    pub(super) what: String,
}

const OTHER_NAME: &str = "give one another name with `#[tool(name = \"…\")]`, \
    keep one out of `Registry::linked()` with `#[tool(unlinked)]`, give toolsets unlike prefixes, \
    or choose the tools with `Registry::builder().tools(tools![…])`; \
    `Registry::replace` puts a tool in the place of another";
const PLAIN_NAME: &str = "start it with an ASCII letter or `_`, \
    and go on with at most 63 ASCII letters, digits, `_` or `-`";
const GIVE_CONTEXT: &str = "give the registry a value of each type with \
    `Registry::builder().context(value)`, or say with `.context_per_call::<Type>()` that every call \
    brings one by `ToolCall::with`";
const GIVE_RUNTIME: &str = "turn on the feature `tokio` of tool-core, \
    or give the registry another one with `Registry::builder().runtime(…)`";

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut paragraphs = Vec::new();
        if !self.duplicates.is_empty() {
            let duplicates = self.duplicates.iter().map(Duplicate::to_string);
            paragraphs.push(duplicates.collect::<String>() + OTHER_NAME);
        }
        for (lacks, what, remedy) in [
            (
                &self.names,
                "have a name that not every provider takes",
                PLAIN_NAME,
            ),
            (
                &self.context,
                "lack what they borrow from the application",
                GIVE_CONTEXT,
            ),
            (
                &self.runtime,
                "need timers or threads, and there is no async runtime",
                GIVE_RUNTIME,
            ),
        ] {
            if !lacks.is_empty() {
                let list: String = lacks.iter().map(Lack::to_string).collect();
                paragraphs.push(format!("these tools {what}:\n{list}{remedy}"));
            }
        }
        paragraphs.extend(self.broken.iter().map(BrokenRule::to_string));
        f.write_str(&paragraphs.join("\n"))
    }
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} tools are named `{}`:",
            self.locations.len(),
            self.name
        )?;
        for location in &self.locations {
            writeln!(f, "  {location}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lack {
            tool,
            location,
            what,
        } = self;
        match what.is_empty() {
            true => writeln!(f, "  `{tool}`, {location}"),
            false => writeln!(f, "  `{tool}`: {what}, {location}"),
        }
    }
}

/// As `unwrap` shows it.
impl fmt::Debug for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RegistryError:\n{self}")
    }
}

impl std::error::Error for RegistryError {}

/// Tools that [`Registry::expect`](crate::Registry::expect) did not find.
#[derive(Clone, Debug)]
pub struct MissingTools {
    pub(super) missing: Vec<String>,
}

impl MissingTools {
    /// Their names.
    pub fn names(&self) -> &[String] {
        &self.missing
    }
}

impl fmt::Display for MissingTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "these tools are not in the registry: {}; a crate whose tools are wanted must be named \
             somewhere, for example by `use weather_tools as _;`, or the linker leaves it out",
            self.missing.join(", ")
        )
    }
}

impl std::error::Error for MissingTools {}
