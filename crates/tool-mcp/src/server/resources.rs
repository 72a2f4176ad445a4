//! Resources: functions that a URI calls.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_core::registry::READ_RESULT;
use tool_core::{ToolCall, ToolEntry};

use super::core::Core;
use super::lines::RawArguments;
use super::offers::{self, FoundCall, for_clients, refused};
use super::request::{Request, is_modern, result_scope};
use super::result::{KEPT, Purpose, TEXT};

/// The longest URI that is looked up.
const LONGEST: usize = 64 << 10;

impl Core {
    /// Returns the resources without variables that a request can see; `None` if the server itself has no
    /// resources.
    pub(super) fn own_resources(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Option<Vec<Resource>> {
        let listed = |own: &offers::Resource, function: ToolEntry| {
            let is_one = own.template.variables().next().is_none();
            is_one.then(|| {
                let mut resource = Resource::new(own.template.source(), &*function.name);
                resource.title = function.title().map(ToOwned::to_owned);
                resource.description = Some(function.prompt().into_owned());
                (resource.icons, resource.meta) = for_clients(&function);
                resource.annotations.clone_from(&own.annotations);
                resource
            })
        };
        let apps = &self.options.offers.apps;
        let resources = self.visible_resources(context, listed);
        if resources.is_none() && apps.is_empty() {
            return None;
        }
        let mut resources = resources.unwrap_or_default();
        if !apps.is_empty() {
            resources.extend(self.own_apps(context));
            resources.sort_by(|one, other| one.uri.cmp(&other.uri));
        }
        #[cfg(feature = "client")]
        self.add_resources(context, &mut resources);
        Some(resources)
    }

    /// Returns the templates that a request can see; `None` if the server itself has no resources.
    pub(super) fn own_templates(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Option<Vec<ResourceTemplate>> {
        let listed = |own: &offers::Resource, function: ToolEntry| {
            own.template.variables().next()?;
            let mut listed = ResourceTemplate::new(own.template.source(), &*function.name);
            listed.title = function.title().map(ToOwned::to_owned);
            listed.description = Some(function.prompt().into_owned());
            (listed.icons, listed.meta) = for_clients(&function);
            listed.annotations.clone_from(&own.annotations);
            Some(listed)
        };
        #[cfg_attr(not(feature = "client"), expect(unused_mut))]
        let mut templates = self.visible_resources(context, listed)?;
        #[cfg(feature = "client")]
        self.add_templates(context, &mut templates);
        Some(templates)
    }

    fn visible_resources<T>(
        &self,
        context: &RequestContext<RoleServer>,
        listed: impl Fn(&offers::Resource, ToolEntry) -> Option<T>,
    ) -> Option<Vec<T>> {
        let resources = &self.options.offers.resources;
        if !self.has_resources() {
            return None;
        }
        let offered = self.offered(context)?;
        let listed = resources.iter().filter_map(|resource| {
            let function = offered.get(&resource.name)?;
            listed(resource, function)
        });
        Some(listed.collect())
    }

    /// Returns `true` if the server has resources, or imports other servers.
    fn has_resources(&self) -> bool {
        !self.options.offers.resources.is_empty() || self.options.has_imports()
    }

    /// Reads a resource. Returns `None` if the server has none with this URI.
    pub(super) async fn read(
        self: &Arc<Self>,
        params: &ReadResourceRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Option<Result<ReadResourceResponse, ErrorData>> {
        let uri = &*params.uri;
        if !self.has_resources() {
            return None;
        }
        if uri.len() > LONGEST {
            let problem = format!("the URI has more than {LONGEST} bytes");
            return Some(Err(ErrorData::invalid_params(problem, None)));
        }
        let found = self.find(uri, &context)?;
        context.extensions.insert(RawArguments(found.arguments));
        let mut call = CallToolRequestParams::new(found.function.name.to_string());
        call.input_responses.clone_from(&params.input_responses);
        call.request_state.clone_from(&params.request_state);
        let is_modern = is_modern(&context);
        let response = self
            .run(Purpose::Resource, found.registry, call, context)
            .await;
        Some(response.and_then(|response| match response {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => {
                Err(refused(result))
            }
            CallToolResponse::Complete(result) => {
                let contents = if found.is_imported {
                    of_other(result, "contents")
                } else {
                    contents(uri, result)
                };
                Ok(complete(contents, is_modern))
            }
            CallToolResponse::InputRequired(questions) => {
                Ok(ReadResourceResponse::InputRequired(questions))
            }
            _ => Err(ErrorData::internal_error("a resource is no task", None)),
        }))
    }

    /// Reads a kept result. Returns `None` if its session and its user have none with this URI.
    pub(super) async fn read_kept(
        self: &Arc<Self>,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<ReadResourceResponse, ErrorData>> {
        let handle = uri.strip_prefix(KEPT)?;
        let store = self.registry.result_store()?;
        let call = ToolCall::new(context.id.to_string(), READ_RESULT, "");
        let call = match self.identify(&Request::new(context), call) {
            Ok(call) => call,
            Err(refused) => return Some(Err(refused)),
        };
        let scope = result_scope(&call, context)?;
        let reader = self.registry.get(READ_RESULT)?;
        // It is a read by the tool, as far as limits go.
        if let Err(refused) = self.admit(&reader, context, true) {
            return Some(Err(refused));
        }
        let contents = match store.read(&scope, handle).await {
            Ok(text) => ResourceContents::text(&*text?, uri).with_mime_type(TEXT),
            Err(error) => {
                tracing::error!(%error, "a kept result can't be read");
                let problem = "the result can't be read at the moment";
                return Some(Err(ErrorData::internal_error(problem, None)));
            }
        };
        Some(Ok(complete(vec![contents], is_modern(context))))
    }

    /// Returns the function that a URI calls, if the request can see it.
    pub(super) fn function_of(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<ToolEntry> {
        Some(self.find(uri, context)?.function)
    }

    /// Returns the call that reads a resource, if the request can see it.
    fn find(&self, uri: &str, context: &RequestContext<RoleServer>) -> Option<FoundCall> {
        let resources = self.options.offers.resources.iter();
        let mut found = resources.filter_map(|resource| {
            let values = resource.template.matches(uri)?;
            Some((&resource.name, values))
        });
        // Templates do not overlap.
        let Some((name, values)) = found.next() else {
            #[cfg(feature = "client")]
            return self.imported_resource(uri, context);
            #[cfg(not(feature = "client"))]
            return None;
        };
        let registry = self.offered(context)?;
        let function = registry.get(name)?;
        Some(FoundCall {
            arguments: function.arguments_from_text(values),
            registry,
            function,
            description: None,
            is_imported: false,
        })
    }
}

/// Returns the response with the contents of a resource.
fn complete(contents: Vec<ResourceContents>, is_modern: bool) -> ReadResourceResponse {
    let result = ReadResourceResult::new(contents);
    ReadResourceResponse::Complete(if is_modern {
        // Only the function knows how long its result holds, and for whom.
        result.with_ttl_ms(0).with_cache_scope(CacheScope::Private)
    } else {
        result
    })
}

/// Returns the error for a URI that nobody has. `rmcp` writes the code of each version.
pub(super) fn unknown(uri: &str) -> ErrorData {
    // A longer one would cost as much to send back.
    let shown = (uri.len() <= 2000).then(|| json!({ "uri": uri }));
    ErrorData::resource_not_found("unknown resource", shown)
}

/// Returns a list of a result of another server.
pub(super) fn of_other<T: DeserializeOwned>(result: CallToolResult, key: &str) -> Vec<T> {
    let mut result = result.structured_content.unwrap_or_default();
    let items = match result[key].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    // Parts that `rmcp` can't read are left out.
    let items = items.into_iter().map(serde_json::from_value);
    items.filter_map(Result::ok).collect()
}

/// Writes the parts of a result as the contents of a resource.
fn contents(uri: &str, result: CallToolResult) -> Vec<ResourceContents> {
    let text_type = match result.structured_content {
        Some(_) => "application/json",
        None => "text/plain",
    };
    let contents = result.content.into_iter().filter_map(|block| {
        Some(match block {
            ContentBlock::Text(text) => {
                ResourceContents::text(text.text, uri).with_mime_type(text_type)
            }
            ContentBlock::Image(image) => {
                ResourceContents::blob(image.data, uri).with_mime_type(image.mime_type)
            }
            ContentBlock::Audio(audio) => {
                ResourceContents::blob(audio.data, uri).with_mime_type(audio.mime_type)
            }
            ContentBlock::Resource(embedded) => of_resource(embedded.resource, uri),
            ContentBlock::ResourceLink(link) => {
                ResourceContents::text(link.uri, uri).with_mime_type("text/uri-list")
            }
            _ => return None,
        })
    });
    contents.collect()
}

/// Sets the URI of contents to the URI that was read, in place of the URI that the dialect makes up for a
/// file.
fn of_resource(mut contents: ResourceContents, read: &str) -> ResourceContents {
    match &mut contents {
        ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } => read.clone_into(uri),
        _ => {}
    }
    contents
}
