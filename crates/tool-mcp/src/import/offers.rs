//! Resources and prompts of a server: for the application, as two tools, and for the clients of a gateway.

// Subscriptions are made in another way since version 2026-07-28, but older servers have them.
#![expect(deprecated)]

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ErrorCode, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams, Prompt,
    ReadResourceRequest, ReadResourceRequestParams, Resource, ResourceTemplate, ServerResult,
    SubscribeRequest, SubscribeRequestParams, UnsubscribeRequest, UnsubscribeRequestParams,
};
#[cfg(feature = "server")]
use rmcp::model::{CompleteRequest, CompleteRequestParams, CompleteResult, CompletionInfo};
use rmcp::service::ServiceError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{AnyOutput, CallContext, ToolEntry, visible};

use super::call::{AbortOnDrop, Answers, Unfinished, describe, of_task, until_result};
use super::connection::Live;
use super::listing::{MAX_PAGES, digest};
use super::request::{RequestError, send};
use super::transport::Request;
use super::{Import, ImportError, ImportErrorKind, Link, Shared, Status};
use crate::change::Change;
use crate::lock;
#[cfg(feature = "server")]
use crate::server::ProtocolError;

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

/// Reads all pages of a list.
async fn list(
    shared: &Arc<Shared>,
    live: &Arc<Live>,
    key: &'static str,
    request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
) -> Result<Vec<Value>, ImportError> {
    let settings = &shared.settings;
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    let mut seen = HashSet::new();
    let listing = async {
        for _ in 0..MAX_PAGES {
            let params = cursor
                .take()
                .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page = ask(shared, live.clone(), request(params), key).await?;
            items.extend(page.items);
            if items.len() > settings.max_tools {
                let problem = format!("the server lists more than {} {key}", settings.max_tools);
                return Err(ImportError::new(ImportErrorKind::Rejected, problem));
            }
            cursor = page.next;
            match &cursor {
                Some(next) if seen.insert(digest(next.as_bytes())) => {}
                Some(_) => break,
                None => return Ok(std::mem::take(&mut items)),
            }
        }
        let problem = format!("the server does not end its list of {key}");
        Err(ImportError::new(ImportErrorKind::Rejected, problem))
    };
    let listed = tokio::time::timeout(settings.list_timeout, listing).await;
    listed.unwrap_or_else(|_| Err(timed_out(settings.list_timeout)))
}

fn list_resources(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListResourcesRequest(ListResourcesRequest {
        params,
        ..ListResourcesRequest::default()
    })
}

fn list_resource_templates(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
        params,
        ..ListResourceTemplatesRequest::default()
    })
}

fn list_prompts(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListPromptsRequest(ListPromptsRequest {
        params,
        ..ListPromptsRequest::default()
    })
}

/// The resources and prompts of a server, as last listed for the clients of a gateway.
#[derive(Default)]
pub(crate) struct Offered {
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
}

impl Shared {
    /// Lists the resources and prompts for the clients of a gateway. If a list can't be read, the previous
    /// one stays.
    pub(super) async fn refresh_offers(self: &Arc<Self>, live: &Arc<Live>) {
        let before = lock(&self.offered).clone();
        let mut notes = Vec::new();
        let has_resources = live.capabilities.resources.is_some();
        let resources = self.typed(live, has_resources, "resources", list_resources);
        let resources = resources.await.unwrap_or_else(|note| {
            notes.push(note);
            before.resources.clone()
        });
        let templates = self.typed(
            live,
            has_resources,
            "resourceTemplates",
            list_resource_templates,
        );
        let templates = templates.await.unwrap_or_else(|note| {
            notes.push(note);
            before.templates.clone()
        });
        let has_prompts = live.capabilities.prompts.is_some();
        let prompts = self.typed(live, has_prompts, "prompts", list_prompts).await;
        let prompts = prompts.unwrap_or_else(|note| {
            notes.push(note);
            before.prompts.clone()
        });
        for note in &notes {
            self.note(note);
        }
        let offered = Offered {
            resources,
            templates,
            prompts,
        };
        self.set_offered(offered);
    }

    /// Replaces the resources and prompts, and says so if they are others.
    pub(super) fn set_offered(&self, offered: Offered) {
        let offered = Arc::new(offered);
        let before = std::mem::replace(&mut *lock(&self.offered), offered.clone());
        if before.resources != offered.resources || before.templates != offered.templates {
            self.tell(Change::Resources);
        }
        if before.prompts != offered.prompts {
            self.tell(Change::Prompts);
        }
    }

    /// Tells the gateway of a change.
    pub(super) fn tell(&self, change: Change) {
        let Some(listener) = self.listener.get() else {
            return;
        };
        let updated = match &change {
            Change::Updated(uri) => Some(uri.clone()),
            _ => None,
        };
        if !listener(change)
            && let Some(uri) = updated
            && lock(&self.watched).remove(&uri)
        {
            self.rewatch.notify_one();
        }
    }

    /// Subscribes at a server before version 2026-07-28 to the same resources as the clients of a gateway.
    /// `made` lists the subscriptions of this connection.
    pub(super) async fn subscribe(&self, live: &Live, made: &mut BTreeSet<String>) {
        let resources = live.capabilities.resources.as_ref();
        if resources.and_then(|resources| resources.subscribe) != Some(true) {
            return;
        }
        let wanted = lock(&self.watched).clone();
        let added = wanted.difference(made).map(|uri| {
            let params = SubscribeRequestParams::new(uri);
            ClientRequest::SubscribeRequest(SubscribeRequest::new(params))
        });
        let removed = made.difference(&wanted).map(|uri| {
            let params = UnsubscribeRequestParams::new(uri);
            ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(params))
        });
        let requests: Vec<_> = added.chain(removed).collect();
        *made = wanted;
        let limit = self.settings.list_timeout;
        let sending = async {
            for request in requests {
                let (carried, events) = Request::new(None);
                if let Err(error) = send(live, request, carried, events, limit).await {
                    let error = describe(&error, &self.secrets);
                    tracing::debug!(
                        server = self.settings.name,
                        error,
                        "an MCP server rejects a subscription"
                    );
                }
            }
        };
        if tokio::time::timeout(limit, sending).await.is_err() {
            tracing::debug!(
                server = self.settings.name,
                "an MCP server takes too long to subscribe"
            );
        }
    }

    /// Lists what a server may have. The error is a note for the report.
    async fn typed<T: DeserializeOwned>(
        self: &Arc<Self>,
        live: &Arc<Live>,
        has: bool,
        key: &'static str,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<T>, String> {
        if !has {
            return Ok(Vec::new());
        }
        let items = match list(self, live, key, request).await {
            Ok(items) => items,
            // Servers with a capability need not have every list of it.
            Err(error) if error.code == Some(ErrorCode::METHOD_NOT_FOUND.0) => Vec::new(),
            Err(error) => {
                let error = error.to_string();
                tracing::warn!(
                    server = self.settings.name,
                    key,
                    error,
                    "a list of an MCP server stays as it was"
                );
                return Err(format!("the {key} can't be listed: {error}"));
            }
        };
        let count = items.len();
        let mut hidden = 0;
        let visible = items
            .into_iter()
            .filter_map(|item| visible_item(item, &mut hidden));
        let items: Vec<_> = visible.collect();
        if hidden > 0 || items.len() < count {
            let left_out = count - items.len();
            self.note(&format!(
                "{hidden} invisible characters were removed from the {key}, and {left_out} with some in a name or a URI were \
                 left out"
            ));
        }
        let count = items.len();
        let read = items.into_iter().map(serde_json::from_value);
        let read: Vec<T> = read.filter_map(Result::ok).collect();
        if read.len() < count {
            let left_out = count - read.len();
            self.note(&format!(
                "{left_out} of the {key} are no {key} of the protocol; they were left out"
            ));
        }
        Ok(read)
    }

    /// Returns the connection.
    fn live(&self) -> Result<Arc<Live>, ImportError> {
        match self.link() {
            Link::Up(live) => Ok(live),
            link => {
                let status: Status = link.status();
                Err(ImportError::new(ImportErrorKind::Away, status.to_string()))
            }
        }
    }
}

/// Removes hidden characters from the titles and descriptions of a resource or a prompt, and adds their
/// number to `count`. Returns `None` if a part that clients repeat contains some.
fn visible_item(mut item: Value, count: &mut usize) -> Option<Value> {
    for (key, value) in item.as_object_mut().into_iter().flatten() {
        match (&**key, value) {
            ("title" | "description", Value::String(text)) => {
                let visible = visible::remove(text);
                *count += text.chars().count() - visible.chars().count();
                *text = visible.into_owned();
            }
            ("name" | "uri" | "uriTemplate", Value::String(text))
                if visible::remove(text).len() < text.len() =>
            {
                return None;
            }
            ("arguments", Value::Array(arguments)) => {
                for argument in arguments {
                    *argument = visible_item(argument.take(), count)?;
                }
            }
            _ => {}
        }
    }
    Some(item)
}

/// The results of the functions that read resources and get prompts.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Content for a model.
    Content,
    /// The result of the protocol, for the client of a gateway.
    #[cfg(feature = "server")]
    Protocol,
}

impl Form {
    /// Converts a list of the server into a result, whose parts `blocks` makes. For a client, an error
    /// keeps its code.
    fn output(
        self,
        shared: &Shared,
        key: &str,
        items: Result<Vec<Value>, ImportError>,
        blocks: impl Fn(Vec<Value>) -> Vec<Value>,
    ) -> Result<AnyOutput, Box<dyn Error + Send + Sync>> {
        let result = match (self, items) {
            (Form::Content, items) => json!({ "content": blocks(items?) }),
            #[cfg(feature = "server")]
            (Form::Protocol, Ok(items)) => json!({ "structuredContent": { key: items } }),
            #[cfg(feature = "server")]
            (Form::Protocol, Err(error)) => {
                let error = error.of(&shared.place);
                return Err(match error.code {
                    Some(code) => ProtocolError::new(code, error.to_string()).into(),
                    None => error.into(),
                });
            }
        };
        #[cfg(not(feature = "server"))]
        let _ = key;
        let output = AnyOutput::from_mcp(result, false);
        output.map_err(|error| rejected(&shared.secrets.redact(error)).into())
    }
}

impl Shared {
    /// Adds the tools that read resources and get prompts.
    pub(super) fn add_offers(self: &Arc<Self>) -> Result<(), ImportError> {
        let problem = |error: &dyn std::fmt::Display| {
            ImportError::new(ImportErrorKind::Registry, error.to_string())
        };
        let tools = self.functions(Form::Content);
        let tools = tools.map_err(|error| problem(&error))?;
        let added = self.registry.add(tools.clone());
        added.map_err(|error| problem(&error))?;
        *lock(&self.offers) = tools.into();
        Ok(())
    }

    /// Returns the functions that read a resource and get a prompt.
    fn functions(self: &Arc<Self>, form: Form) -> Result<[ToolEntry; 2], DynamicToolError> {
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
                    let contents = read(&shared, uri, Some(call)).await;
                    form.output(&shared, "contents", contents, of_contents)
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
                    let given = given.unwrap_or_default();
                    let messages = prompt(&shared, name, given, Some(call)).await;
                    form.output(&shared, "messages", messages, of_messages)
                }
            })?;
        Ok([read_resource.into(), get_prompt.into()])
    }
}

/// Returns the parts that contents of a resource are for a model.
fn of_contents(contents: Vec<Value>) -> Vec<Value> {
    let blocks = contents.into_iter().map(|mut resource| {
        if resource["text"].is_string() {
            return json!({"type": "text", "text": resource["text"].take()});
        }
        json!({"type": "resource", "resource": resource})
    });
    blocks.collect()
}

/// Returns the parts that the messages of a prompt are for a model.
fn of_messages(messages: Vec<Value>) -> Vec<Value> {
    let blocks = messages.into_iter().flat_map(|mut message| {
        // A message of the user is the usual one.
        let role = message["role"].as_str().filter(|role| *role != "user");
        let role = role.map(|role| json!({"type": "text", "text": format!("{role}:")}));
        role.into_iter().chain([message["content"].take()])
    });
    blocks.collect()
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

/// Reads a resource. A call passes on the server's questions.
async fn read(
    shared: &Arc<Shared>,
    uri: &str,
    call: Option<CallContext>,
) -> Result<Vec<Value>, ImportError> {
    let params = ReadResourceRequestParams::new(uri);
    let request = move |answers: Answers| {
        let mut params = params.clone();
        params.input_responses = answers.responses;
        params.request_state = answers.state;
        ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
    };
    of_call(shared, "contents", call, request).await
}

/// Gets a prompt. A call passes on the server's questions.
async fn prompt(
    shared: &Arc<Shared>,
    name: &str,
    arguments: Map<String, Value>,
    call: Option<CallContext>,
) -> Result<Vec<Value>, ImportError> {
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = (!arguments.is_empty()).then_some(arguments);
    let request = move |answers: Answers| {
        let mut params = params.clone();
        params.input_responses = answers.responses;
        params.request_state = answers.state;
        ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
    };
    of_call(shared, "messages", call, request).await
}

/// An answer of a server.
struct Answer {
    items: Vec<Value>,
    next: Option<String>,
}

/// Sends a request of a call on the runtime of the import, and returns a list of its result.
async fn of_call(
    shared: &Arc<Shared>,
    key: &str,
    call: Option<CallContext>,
    request: impl Fn(Answers) -> ClientRequest + Send + Sync + 'static,
) -> Result<Vec<Value>, ImportError> {
    let live = shared.live()?;
    let Some(call) = call else {
        let request = request(Answers::default());
        return Ok(ask(shared, live, request, key).await?.items);
    };
    // Here, inside the span of the call.
    let trace = shared.settings.tracer.current(&call);
    let task = {
        let shared = shared.clone();
        async move { until_result(&shared, &live, &call, trace, request).await }
    };
    // The registry drops a call that is cancelled.
    let mut task = AbortOnDrop(shared.runtime.spawn(task));
    let ended = (&mut task.0).await;
    match ended.map_err(|_| stopped())? {
        Ok((result, _)) => Ok(items(result, key)?.items),
        Err(Unfinished::Failed(error)) => Err(failed(shared, error)),
        Err(Unfinished::Task(problem)) => Err(rejected(&of_task(&problem))),
        Err(Unfinished::Other(error)) => Err(rejected(&shared.secrets.redact(error.to_string()))),
    }
}

/// Sends a request that is no call on the runtime of the import, and returns a list of its result.
async fn ask(
    shared: &Arc<Shared>,
    live: Arc<Live>,
    request: ClientRequest,
    key: &str,
) -> Result<Answer, ImportError> {
    let (carried, events) = Request::new(None);
    let limit = match &request {
        ClientRequest::ReadResourceRequest(_) | ClientRequest::GetPromptRequest(_) => {
            shared.settings.call_timeout
        }
        _ => shared.settings.list_timeout,
    };
    let task = async move { send(&live, request, carried, events, limit).await };
    let mut task = AbortOnDrop(shared.runtime.spawn(task));
    let sent = (&mut task.0).await.map_err(|_| stopped())?;
    items(sent.map_err(|error| failed(shared, error))?, key)
}

/// Reads a list of a result.
fn items(result: ServerResult, key: &str) -> Result<Answer, ImportError> {
    let mut result = json!(result);
    if result["resultType"] == "input_required" {
        return Err(rejected(
            "the server asks for input, which only calls can get",
        ));
    }
    let next = result["nextCursor"].as_str().map(ToOwned::to_owned);
    match result[key].take() {
        Value::Array(items) => Ok(Answer { items, next }),
        _ => Err(rejected("the server answered with another result")),
    }
}

fn failed(shared: &Shared, error: RequestError) -> ImportError {
    match error {
        RequestError::TimedOut(limit) => timed_out(limit),
        error => {
            let mut failed = rejected(&describe(&error, &shared.secrets));
            if let RequestError::Service(ServiceError::McpError(error)) = error {
                failed.code = Some(error.code.0);
            }
            failed
        }
    }
}

fn rejected(problem: &str) -> ImportError {
    ImportError::new(ImportErrorKind::Rejected, problem)
}

fn stopped() -> ImportError {
    let text = "the runtime of the import has stopped";
    ImportError::new(ImportErrorKind::Away, text)
}

fn timed_out(limit: Duration) -> ImportError {
    let text = format!("the server did not answer within {limit:?}");
    ImportError::new(ImportErrorKind::TimedOut, text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::visible_item;

    #[test]
    fn titles_lose_hidden_characters_and_names_with_some_are_left_out() {
        let mut hidden = 0;
        let item = json!({
            "name": "report",
            "title": "A\u{200b} report",
            "description": "for\u{202e} you",
            "arguments": [{"name": "year", "description": "four\u{e0041} digits"}],
        });
        let visible = json!({
            "name": "report",
            "title": "A report",
            "description": "for you",
            "arguments": [{"name": "year", "description": "four digits"}],
        });
        assert_eq!(visible_item(item, &mut hidden), Some(visible));
        assert_eq!(hidden, 3);
        for item in [
            json!({"name": "re\u{200b}port"}),
            json!({"name": "report", "uri": "file:///re\u{200b}port"}),
            json!({"name": "report", "uriTemplate": "file:///{na\u{200b}me}"}),
            json!({"name": "report", "arguments": [{"name": "ye\u{200b}ar"}]}),
        ] {
            assert_eq!(visible_item(item.clone(), &mut hidden), None, "{item}");
        }
    }
}
