//! [`Skills`]: folders of instructions, as a handler.

use std::path::PathBuf;

use rmcp::handler::server::skill_catalog::SkillCatalog;
use rmcp::model::{
    GetSkillRequestParams, GetSkillResult, InitializeResult, ListResourcesResult, ListSkillsResult,
    PaginatedRequestParams, ReadResourceDirectoryRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};

use super::handler::NoHandler;
use super::resources::unknown;
use super::serve::ServeError;

/// Serves skills (extension `io.modelcontextprotocol/skills`): folders with instructions for a model, each with a `SKILL.md`.
/// Pass it to [`Server::with_handler`](crate::Server::with_handler).
///
/// The files are read once. Symbolic links are not followed, hidden files are left out, and so is a skill with more than 512
/// files or 16 MiB; the log says which.
///
/// ```no_run
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::Skills;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Registry::linked()?).with_handler(Skills::from_folder("skills")?);
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Skills(SkillCatalog);

impl Skills {
    /// Reads all skills in a folder and in the folders below it. This blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can't be read.
    pub fn from_folder(folder: impl Into<PathBuf>) -> Result<Skills, ServeError> {
        let catalog = SkillCatalog::from_dir(folder);
        let catalog =
            catalog.map_err(|error| ServeError(format!("the folder of skills: {error}")))?;
        Ok(Skills(catalog))
    }
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Skills {
    fn get_info(&self) -> InitializeResult {
        let mut info = NoHandler.get_info();
        info.capabilities = ServerCapabilities::builder()
            .enable_resources()
            .enable_skills_with_directory_read()
            .build();
        info
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(self.0.list_skills())
    }

    async fn get_skill(
        &self,
        params: GetSkillRequestParams,
        _: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        self.0.get_skill(&params.uri)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.resources()))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.0.read_resource(&params.uri);
        let read = read.ok_or_else(|| unknown(&params.uri))?;
        Ok(ReadResourceResponse::Complete(read))
    }

    async fn read_resource_directory(
        &self,
        params: ReadResourceDirectoryRequestParams,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.0.read_resource_directory(&params.uri)
    }
}
