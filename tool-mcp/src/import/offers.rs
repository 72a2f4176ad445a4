//! Resources and prompts of a server: for the application, and as two tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{AnyOutput, CallContext, ToolEntry};

use super::call::{AbortOnDrop, describe};
use super::listing::{MAX_PAGES, digest};
use super::request::{RequestError, send};
use super::transport::Request;
use super::{Import, ImportError, ImportErrorKind, Link, Shared, Status};
use crate::lock;

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
        let request = |params| {
            ClientRequest::ListResourcesRequest(ListResourcesRequest {
                params,
                ..ListResourcesRequest::default()
            })
        };
        self.list("resources", request).await
    }

    /// Lists the templates of URIs of the server, in the form of the protocol: objects with `uriTemplate` and `name`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`list_resources`](Import::list_resources) does.
    pub async fn list_resource_templates(&self) -> Result<Vec<Value>, ImportError> {
        let request = |params| {
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
                params,
                ..ListResourceTemplatesRequest::default()
            })
        };
        self.list("resourceTemplates", request).await
    }

    /// Lists the prompts of the server, in the form of the protocol: objects with `name`, `description` and `arguments`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`list_resources`](Import::list_resources) does.
    pub async fn list_prompts(&self) -> Result<Vec<Value>, ImportError> {
        let request = |params| {
            ClientRequest::ListPromptsRequest(ListPromptsRequest {
                params,
                ..ListPromptsRequest::default()
            })
        };
        self.list("prompts", request).await
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

    /// Reads all pages of a list.
    async fn list(
        &self,
        key: &'static str,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, ImportError> {
        let settings = &self.shared.settings;
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        let listing = async {
            for _ in 0..MAX_PAGES {
                let params = cursor
                    .take()
                    .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
                let limit = settings.list_timeout;
                let page = ask(&self.shared, request(params), key, limit, None).await?;
                items.extend(page.items);
                if items.len() > settings.max_tools {
                    let problem =
                        format!("the server lists more than {} {key}", settings.max_tools);
                    return Err(ImportError::new(ImportErrorKind::Rejected, problem));
                }
                cursor = page.next;
                match &cursor {
                    Some(next) if seen.insert(digest(next.as_bytes())) => {}
                    Some(_) => break,
                    None => return Ok(items),
                }
            }
            let problem = format!("the server does not end its list of {key}");
            Err(ImportError::new(ImportErrorKind::Rejected, problem))
        };
        let listed = tokio::time::timeout(settings.list_timeout, listing).await;
        let listed = listed.unwrap_or_else(|_| Err(timed_out(settings.list_timeout)));
        listed.map_err(|error| error.of(&self.shared.place))
    }
}

impl Shared {
    /// Adds the tools that read resources and get prompts.
    pub(super) fn add_offers(self: &Arc<Self>) -> Result<(), ImportError> {
        let problem = |error: &dyn std::fmt::Display| {
            ImportError::new(ImportErrorKind::Registry, error.to_string())
        };
        let tools = self.offer_tools().map_err(|error| problem(&error))?;
        let added = self.registry.add(tools.clone());
        added.map_err(|error| problem(&error))?;
        *lock(&self.offers) = tools.into();
        Ok(())
    }

    fn offer_tools(self: &Arc<Self>) -> Result<[ToolEntry; 2], DynamicToolError> {
        let settings = &self.settings;
        let (name, prefix) = (&settings.name, &settings.prefix);
        let shared = self.clone();
        let read_resource = DynamicTool::builder(format!("{prefix}read_resource"))
            .description(format!("Reads a resource of the server {name}."))
            .tags(settings.tags.clone())
            .parameters(json!({
                "type": "object",
                "properties": {"uri": {"type": "string", "description": "The URI of the resource."}},
                "required": ["uri"],
                "additionalProperties": false,
            }))
            .build(move |arguments, call| {
                let shared = shared.clone();
                async move {
                    let uri = arguments["uri"].as_str().unwrap_or_default();
                    let contents = read(&shared, uri, Some(call)).await?;
                    let blocks = contents.into_iter().map(|mut resource| {
                        if resource["text"].is_string() {
                            return json!({"type": "text", "text": resource["text"].take()});
                        }
                        json!({"type": "resource", "resource": resource})
                    });
                    output(&shared, blocks.collect())
                }
            })?;
        let shared = self.clone();
        let get_prompt = DynamicTool::builder(format!("{prefix}get_prompt"))
            .description(format!(
                "Returns the messages of a prompt of the server {name}."
            ))
            .tags(settings.tags.clone())
            .parameters(json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The name of the prompt."},
                    "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["name"],
                "additionalProperties": false,
            }))
            .build(move |arguments, call| {
                let shared = shared.clone();
                async move {
                    let name = arguments["name"].as_str().unwrap_or_default();
                    let given = arguments["arguments"].as_object().cloned();
                    let messages =
                        prompt(&shared, name, given.unwrap_or_default(), Some(call)).await?;
                    let blocks = messages.into_iter().flat_map(|mut message| {
                        // A message of the user is the usual one.
                        let role = message["role"].as_str().filter(|role| *role != "user");
                        let role =
                            role.map(|role| json!({"type": "text", "text": format!("{role}:")}));
                        role.into_iter().chain([message["content"].take()])
                    });
                    output(&shared, blocks.collect())
                }
            })?;
        Ok([read_resource.into(), get_prompt.into()])
    }
}

fn output(shared: &Shared, blocks: Vec<Value>) -> Result<AnyOutput, ImportError> {
    let output = AnyOutput::from_mcp(json!({ "content": blocks }), false);
    let rejected =
        |error: String| ImportError::new(ImportErrorKind::Rejected, shared.secrets.redact(error));
    output.map_err(|error| rejected(error.clone()))
}

async fn read(
    shared: &Arc<Shared>,
    uri: &str,
    call: Option<CallContext>,
) -> Result<Vec<Value>, ImportError> {
    let params = ReadResourceRequestParams::new(uri);
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
    let limit = shared.settings.call_timeout;
    Ok(ask(shared, request, "contents", limit, call).await?.items)
}

async fn prompt(
    shared: &Arc<Shared>,
    name: &str,
    arguments: Map<String, Value>,
    call: Option<CallContext>,
) -> Result<Vec<Value>, ImportError> {
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = (!arguments.is_empty()).then_some(arguments);
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    let limit = shared.settings.call_timeout;
    Ok(ask(shared, request, "messages", limit, call).await?.items)
}

/// What a server answers.
struct Answer {
    items: Vec<Value>,
    next: Option<String>,
}

/// Sends a request on the runtime of the import, and returns a list of its result.
async fn ask(
    shared: &Arc<Shared>,
    request: ClientRequest,
    key: &str,
    limit: Duration,
    call: Option<CallContext>,
) -> Result<Answer, ImportError> {
    let link = shared.link();
    let Link::Up(live) = link else {
        let status: Status = link.status();
        return Err(ImportError::new(ImportErrorKind::Away, status.to_string()));
    };
    let token = call.as_ref().map(|call| call.cancellation().clone());
    let (carried, events) = Request::new(call);
    let task = async move { send(&live, request, carried, events, limit).await };
    let mut task = AbortOnDrop(shared.runtime.spawn(task));
    let cancelled = async {
        match token {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let rejected = |problem: &str| ImportError::new(ImportErrorKind::Rejected, problem);
    let ended = tokio::select! {
        ended = &mut task.0 => ended,
        () = cancelled => return Err(rejected("the call was cancelled")),
    };
    let stopped = "the runtime of the import has stopped";
    let sent = ended.map_err(|_| ImportError::new(ImportErrorKind::Away, stopped))?;
    let result = sent.map_err(|error| match error {
        RequestError::TimedOut(limit) => timed_out(limit),
        error => rejected(&describe(&error, &shared.secrets)),
    })?;
    let mut result = json!(result);
    if result["resultType"] == "input_required" {
        return Err(rejected(
            "the server asks for input, which only calls of tools can get",
        ));
    }
    let next = result["nextCursor"].as_str().map(ToOwned::to_owned);
    match result[key].take() {
        Value::Array(items) => Ok(Answer { items, next }),
        _ => Err(rejected("the server answered with another result")),
    }
}

fn timed_out(limit: Duration) -> ImportError {
    let text = format!("the server did not answer within {limit:?}");
    ImportError::new(ImportErrorKind::TimedOut, text)
}
