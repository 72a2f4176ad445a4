//! How an import starts.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tool_core::Registry;

use super::Import;
use super::builder::ImportBuilder;
use super::connection::Opener;
#[cfg(feature = "client-http")]
use super::connection::Source;
use super::error::{ImportError, ImportErrorKind};
use super::shared::Shared;
use super::supervisor::Supervisor;

impl ImportBuilder {
    /// Connects, and adds the tools to a registry. Must be called in a runtime of tokio, which the
    /// connection and the calls run on.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_core::Registry;
    /// use tool_mcp::Import;
    ///
    /// # async fn import() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new();
    /// let import = Import::command(Command::new("notes-server")).connect(&registry).await?;
    /// println!("{} tools", registry.len());
    /// // They stay until the import is dropped.
    /// drop(import);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error outside of such a runtime, if the program can't be started, if the handshake fails,
    /// if the tools can't be listed, or if the registry rejects them, except because a name is taken.
    pub async fn connect(self, registry: &Registry) -> Result<Import, ImportError> {
        let (mut import, mut supervisor) = self.prepare(registry, "connect")?;
        let shared = import.shared.clone();
        // Boxed, because it is large, and so would be each future that connects.
        let connected = Box::pin(supervisor.connect()).await;
        let connection = connected.map_err(|error| error.of(&shared.place))?;
        if shared.settings.offers {
            let added = shared.add_offers();
            added.map_err(|error| error.of(&shared.place))?;
        }
        import.supervisor = Some(tokio::spawn(supervisor.run(connection)));
        Ok(import)
    }

    /// Connects in the background, on behalf of the gateway with an id. A server that is down joins later.
    #[cfg(feature = "server")]
    pub(crate) fn start(
        mut self,
        registry: &Registry,
        gateway: &str,
    ) -> Result<Import, ImportError> {
        self.settings.gateway = Some(gateway.to_owned());
        self.settings.apps = true;
        self.settings.backoff.get_or_insert_default();
        let (mut import, supervisor) = self.prepare(registry, "import")?;
        if import.shared.settings.offers {
            let added = import.shared.add_offers();
            added.map_err(|error| error.of(&import.shared.place))?;
        }
        import.supervisor = Some(tokio::spawn(supervisor.start()));
        Ok(import)
    }

    /// Creates an import that is not connected, in a method with a name.
    fn prepare(
        self,
        registry: &Registry,
        method: &str,
    ) -> Result<(Import, Supervisor), ImportError> {
        let Ok(runtime) = Handle::try_current() else {
            let text = format!("an import needs a runtime of tokio; call `{method}` in one");
            let error = ImportError::new(ImportErrorKind::Start, text);
            return Err(error.of(&self.settings.name));
        };
        #[cfg_attr(not(feature = "client-http"), allow(unused_mut))]
        let mut secrets = self.secrets;
        #[cfg(feature = "client-http")]
        if let Source::Http(endpoint) = &self.source {
            endpoint.add_secrets(&mut secrets);
        }
        let place = secrets.redact(self.source.place(&self.settings.name));
        let shared = Shared::new(place, self.settings, secrets, runtime, registry.clone());
        let shared = Arc::new(shared);
        let (commands, receiver) = mpsc::channel(16);
        let opener = Opener {
            source: self.source,
            is_legacy: AtomicBool::new(false),
        };
        // Removes the tools if it is dropped before the supervisor runs.
        let import = Import {
            shared: shared.clone(),
            commands,
            supervisor: None,
        };
        Ok((import, Supervisor::new(shared, opener, receiver)))
    }
}
