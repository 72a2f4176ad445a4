//! Resources and prompts of a server, for the application and for a gateway.

#[cfg(feature = "server")]
use std::sync::Arc;

use rmcp::model::{ClientRequest, PaginatedRequestParams};
#[cfg(feature = "server")]
use rmcp::model::{
    CompleteRequest, CompleteRequestParams, CompleteResult, CompletionInfo, ServerResult,
};
use serde_json::Value;
#[cfg(feature = "server")]
use tool_core::{ToolEntry, dynamic::DynamicToolError};

use super::Import;
#[cfg(feature = "server")]
use super::call::AbortOnDrop;
use super::error::ImportError;
#[cfg(feature = "server")]
use super::offers::{Form, failed, rejected, stopped};
use super::offers::{list, list_prompts, list_resource_templates, list_resources, prompt, read};
#[cfg(feature = "server")]
use super::request::send;
#[cfg(feature = "server")]
use super::shared::Offered;
#[cfg(feature = "server")]
use super::transport::Request;
#[cfg(feature = "server")]
use crate::{change::Change, lock};

impl Import {
    /// Lists the resources of the server, in the form of the protocol: objects with `uri`, `name` and often `description` and
    /// `mimeType`.
    ///
    /// ```no_run
    /// use tool_mcp::Import;
    ///
    /// async fn print(import: &Import) -> Result<(), tool_mcp::ImportError> {
    ///     for resource in import.list_resources().await? {
    ///         println!("{}", resource["uri"]);
    ///     }
    ///     let contents = import.read_resource("notes://7").await?;
    ///     println!("{}", contents[0]["text"]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the server is away, rejects the request or does not answer in
    /// [time](super::ImportBuilder::list_timeout), or lists more than [`max_tools`](super::ImportBuilder::max_tools).
    pub async fn list_resources(&self) -> Result<Vec<Value>, ImportError> {
        self.list("resources", list_resources).await
    }

    /// Lists the templates of URIs of the server, in the form of the protocol: objects with `uriTemplate` and `name`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`list_resources`](Import::list_resources) does.
    pub async fn list_resource_templates(&self) -> Result<Vec<Value>, ImportError> {
        self.list("resourceTemplates", list_resource_templates)
            .await
    }

    /// Lists the prompts of the server, in the form of the protocol: objects with `name`, `description` and `arguments`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`list_resources`](Import::list_resources) does.
    pub async fn list_prompts(&self) -> Result<Vec<Value>, ImportError> {
        self.list("prompts", list_prompts).await
    }

    /// Reads a resource. Returns its contents in the form of the protocol: objects with `uri`, `mimeType`, and `text` or
    /// `blob`, which is base64. They come from the server as they are.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is away, rejects the request, asks its user for something, or does not answer in
    /// [time](super::ImportBuilder::call_timeout).
    pub async fn read_resource(&self, uri: &str) -> Result<Vec<Value>, ImportError> {
        let read = read(&self.shared, uri, None).await;
        read.map_err(|error| error.of(&self.shared.place))
    }

    /// Returns the messages of a prompt in the form of the protocol: objects with `role` and `content`. They come from the
    /// server as they are.
    ///
    /// ```no_run
    /// use tool_mcp::Import;
    ///
    /// async fn print(import: &Import) -> Result<(), tool_mcp::ImportError> {
    ///     let messages = import.get_prompt("review", [("change", "12")]).await?;
    ///     println!("{}", messages[0]["content"]["text"]);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error as [`read_resource`](Import::read_resource) does.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Result<Vec<Value>, ImportError> {
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|(name, value)| (name.into(), Value::String(value.into())));
        let prompt = prompt(&self.shared, name, arguments.collect(), None).await;
        prompt.map_err(|error| error.of(&self.shared.place))
    }

    async fn list(
        &self,
        key: &'static str,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, ImportError> {
        let listed = async {
            let live = self.shared.live()?;
            list(&self.shared, &live, key, request).await
        };
        listed.await.map_err(|error| error.of(&self.shared.place))
    }
}

/// For a gateway.
#[cfg(feature = "server")]
impl Import {
    /// Returns the functions that read the resources and get the prompts for the clients of a gateway.
    /// Their results have the form of the protocol.
    pub(crate) fn functions(&self) -> Result<[ToolEntry; 2], DynamicToolError> {
        self.shared.functions(Form::Protocol)
    }

    /// Returns the tools with the names that the server knows, including the tools that the registry is
    /// just getting.
    pub(crate) fn tools(&self) -> Vec<(String, ToolEntry)> {
        let owned = lock(&self.shared.owned);
        let added = lock(&self.shared.added);
        let tools = owned.iter().flatten().chain(&*added);
        tools
            .map(|(name, tool)| (name.clone(), tool.clone()))
            .collect()
    }

    /// Returns the resources and prompts, as last listed.
    pub(crate) fn offered(&self) -> Arc<Offered> {
        lock(&self.shared.offered).clone()
    }

    /// Returns the ids of the gateways that the tools may come from.
    pub(crate) fn gateways(&self) -> Vec<String> {
        lock(&self.shared.gateways).iter().cloned().collect()
    }

    /// Sets the closure that is told of changes. It returns `false` if nobody wants to know of the resource
    /// any more.
    pub(crate) fn listen(&self, listener: impl Fn(Change) -> bool + Send + Sync + 'static) {
        // A server is built once.
        let _ = self.shared.listener.set(Box::new(listener));
    }

    /// Subscribes to a resource.
    pub(crate) fn watch(&self, uri: &str) {
        let mut watched = lock(&self.shared.watched);
        if watched.len() >= MAX_WATCHED && !watched.contains(uri) {
            tracing::warn!(
                server = self.shared.settings.name,
                "no more than {MAX_WATCHED} resources of an MCP server can be subscribed to"
            );
        } else if watched.insert(uri.to_owned()) {
            self.shared.rewatch.notify_one();
        }
    }

    /// Completes an argument.
    pub(crate) async fn complete(
        &self,
        params: CompleteRequestParams,
    ) -> Result<CompleteResult, ImportError> {
        let live = self.shared.live()?;
        if live.capabilities.completions.is_none() {
            return Err(rejected("the server completes nothing"));
        }
        let limit = self.shared.settings.list_timeout;
        let (carried, events) = Request::new(None);
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        let task = async move { send(&live, request, carried, events, limit).await };
        let mut task = AbortOnDrop(self.shared.runtime.spawn(task));
        let sent = (&mut task.0).await.map_err(|_| stopped())?;
        match sent.map_err(|error| failed(&self.shared, error))? {
            ServerResult::CompleteResult(mut completed) => {
                let values = &mut completed.completion.values;
                values.truncate(CompletionInfo::MAX_VALUES);
                Ok(completed)
            }
            _ => Err(rejected("the server answered with another result")),
        }
    }
}

/// The maximum number of resources of a server to which the clients of a gateway have subscribed.
#[cfg(feature = "server")]
const MAX_WATCHED: usize = 1000;
