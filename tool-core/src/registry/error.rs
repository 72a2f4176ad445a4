//! Why a registry is not as it should be.

use std::fmt;

use crate::spec::Location;

/// Tools of one name met in a registry.
#[derive(Clone, Debug)]
pub struct RegistryError {
    pub(super) duplicates: Vec<Duplicate>,
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
