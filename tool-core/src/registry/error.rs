//! Why a registry is not as it should be.

use std::fmt;

use crate::rules::BrokenRule;
use crate::spec::Location;

/// Why tools make no registry: several have one name, or together they are more than a provider
/// takes that this build is made for, by a feature of this crate.
#[derive(Clone, Debug, Default)]
pub struct RegistryError {
    pub(super) duplicates: Vec<Duplicate>,
    pub(super) broken: Vec<BrokenRule>,
}

impl RegistryError {
    /// What a provider refuses of these tools together.
    pub fn broken_rules(&self) -> &[BrokenRule] {
        &self.broken
    }
}

#[derive(Clone, Debug)]
pub(super) struct Duplicate {
    pub(super) name: String,
    pub(super) locations: Vec<Location>,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Duplicate { name, locations } in &self.duplicates {
            writeln!(f, "{} tools are named `{name}`:", locations.len())?;
            for location in locations {
                writeln!(f, "  {location}")?;
            }
        }
        for (at, rule) in self.broken.iter().enumerate() {
            let end = if at > 0 { "\n" } else { "" };
            write!(f, "{end}{rule}")?;
        }
        if self.duplicates.is_empty() {
            return Ok(());
        }
        f.write_str(
            "give one another name with `#[tool(name = \"…\")]`, \
             keep one out of `Registry::linked()` with `#[tool(unlinked)]`, \
             or choose the tools with `Registry::builder().tools(tools![…])`",
        )
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
