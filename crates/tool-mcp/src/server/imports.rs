//! [`Imports`]: the servers that a gateway imports.

use std::fmt;
use std::sync::{Arc, Mutex};

use rmcp::model::Prompt;
use tool_core::{Registry, ToolEntry};

use super::offers::Offers;
use super::state::random;
use crate::import::{Import, ImportBuilder};
use crate::{hex, lock};

/// The servers that a [`Server`](crate::Server) imports. Displays as lines for a person: the state of each server, and the
/// outcome for its tools.
///
/// They stay connected as long as the server, or this value, lives.
///
/// ```no_run
/// use tool_mcp::Status;
/// use tool_mcp::server::Imports;
///
/// /// Names the servers that are down.
/// fn missing(imports: &Imports) -> Vec<String> {
///     let all = imports.all().into_iter();
///     let down = all.filter(|import| import.status() != Status::Connected);
///     down.map(|import| format!("{}: {}", import.name(), import.status())).collect()
/// }
/// ```
#[derive(Clone)]
pub struct Imports(Arc<Inner>);

struct Inner {
    /// The id of the gateway.
    id: String,
    servers: Mutex<Vec<Imported>>,
}

#[derive(Clone)]
pub(super) struct Imported {
    /// Its place among the servers.
    pub(super) number: usize,
    pub(super) prefix: String,
    pub(super) import: Arc<Import>,
}

impl Default for Imports {
    fn default() -> Imports {
        Imports(Arc::new(Inner {
            id: hex(&random::<16>()),
            servers: Mutex::default(),
        }))
    }
}

impl fmt::Debug for Imports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

impl fmt::Display for Imports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.servers().iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            let (import, prefix) = (&server.import, &server.prefix);
            let offered = import.offered();
            write!(f, "{} as {prefix:?}: {}", import.name(), import.status())?;
            write!(
                f,
                "; {} resources, {} templates and {} prompts",
                offered.resources.len(),
                offered.templates.len(),
                offered.prompts.len(),
            )?;
            if !import.report().protocol.is_empty() {
                write!(
                    f,
                    "\n  {}",
                    import.report().to_string().replace('\n', "\n  ")
                )?;
            }
        }
        Ok(())
    }
}

impl Imports {
    /// Returns the servers, in the order in which they were imported.
    pub fn all(&self) -> Vec<Arc<Import>> {
        let servers = self.servers();
        servers.into_iter().map(|server| server.import).collect()
    }

    pub(super) fn servers(&self) -> Vec<Imported> {
        lock(&self.0.servers).clone()
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0.servers).is_empty()
    }

    pub(super) fn add(
        &self,
        offers: &mut Offers,
        registry: &Registry,
        prefix: &str,
        server: ImportBuilder,
    ) -> Result<(), String> {
        let import = server.start(registry, &self.0.id);
        let import = import.map_err(|error| error.to_string())?;
        let functions = import.functions().map_err(|error| error.to_string())?;
        offers.add(registry, functions.into(), |names| {
            format!("the functions {names}")
        })?;
        let mut servers = lock(&self.0.servers);
        let server = Imported {
            number: servers.len(),
            prefix: prefix.to_owned(),
            import: Arc::new(import),
        };
        servers.push(server);
        Ok(())
    }

    /// Returns the ids of this gateway and of the gateways behind it; none if it is no gateway.
    pub(super) fn ids(&self) -> Vec<String> {
        let servers = self.servers();
        if servers.is_empty() {
            return Vec::new();
        }
        let behind = servers.iter().flat_map(|server| server.import.gateways());
        let mut ids: Vec<_> = behind.chain([self.0.id.clone()]).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl Imported {
    /// Returns the function that reads the resources, if the registry has it.
    pub(super) fn reader(&self, offered: &Registry) -> Option<ToolEntry> {
        offered.get(&format!("{}read_resource", self.prefix))
    }

    /// Returns the function that gets the prompts, if the registry has it.
    pub(super) fn prompter(&self, offered: &Registry) -> Option<ToolEntry> {
        offered.get(&format!("{}get_prompt", self.prefix))
    }

    /// Returns the prompt with a name that clients know.
    pub(super) fn prompt(&self, name: &str) -> Option<Prompt> {
        let name = name.strip_prefix(&self.prefix)?;
        let offered = self.import.offered();
        let prompt = offered.prompts.iter().find(|prompt| prompt.name == name);
        prompt.cloned()
    }
}
