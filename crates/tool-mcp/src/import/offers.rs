//! Requests for resources and prompts, two tools that make them, and the lists for the clients of a gateway.

// Subscriptions are made in another way since version 2026-07-28, but older servers have them.
#![expect(deprecated)]

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, ErrorCode, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams, ServerResult, SubscribeRequest,
    SubscribeRequestParams, UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::ServiceError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{AnyOutput, CallContext, ToolEntry, visible};

use super::call::{AbortOnDrop, of_task, until_result};
use super::error::{ImportError, ImportErrorKind};
use super::listing::MAX_PAGES;
use super::live::Live;
use super::pins::digest;
use super::request::{RequestError, describe, send};
use super::rounds::{Answers, Unfinished};
use super::shared::{Offered, Shared};
use super::transport::Request;
use crate::lock;
#[cfg(feature = "server")]
use crate::protocol_error::ProtocolError;

/// Reads all pages of a list.
pub(super) async fn list(
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

pub(super) fn list_resources(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListResourcesRequest(ListResourcesRequest {
        params,
        ..ListResourcesRequest::default()
    })
}

pub(super) fn list_resource_templates(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest {
        params,
        ..ListResourceTemplatesRequest::default()
    })
}

pub(super) fn list_prompts(params: Option<PaginatedRequestParams>) -> ClientRequest {
    ClientRequest::ListPromptsRequest(ListPromptsRequest {
        params,
        ..ListPromptsRequest::default()
    })
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
    pub(super) fn functions(
        self: &Arc<Self>,
        form: Form,
    ) -> Result<[ToolEntry; 2], DynamicToolError> {
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

/// Reads a resource. A call passes on the server's questions.
pub(super) async fn read(
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
pub(super) async fn prompt(
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

pub(super) fn failed(shared: &Shared, error: RequestError) -> ImportError {
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

pub(super) fn rejected(problem: &str) -> ImportError {
    ImportError::new(ImportErrorKind::Rejected, problem)
}

pub(super) fn stopped() -> ImportError {
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
