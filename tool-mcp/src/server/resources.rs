//! Resources: functions that a URI calls.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tool_core::{Registry, ToolEntry};

use super::Core;
use super::call::Purpose;
use super::lines::RawArguments;
use super::offers::{self, for_clients, refused};
use super::request::is_modern;

/// The longest URI that is looked up.
const LONGEST: usize = 64 << 10;

/// The registry of a request, the function that a URI calls, and the variables of the URI.
type Found<'o> = (Registry, ToolEntry, Vec<(&'o str, String)>);

impl Core {
    /// Returns the resources without variables that a request can see; `None` if the server has no resources of its own.
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
        let resources = self.visible_resources(context, listed);
        if self.options.offers.apps.is_empty() {
            return resources;
        }
        let mut all = resources.unwrap_or_default();
        all.extend(self.own_apps(context));
        all.sort_by(|one, other| one.uri.cmp(&other.uri));
        Some(all)
    }

    /// Returns the templates that a request can see; `None` if the server has no resources of its own.
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
        self.visible_resources(context, listed)
    }

    fn visible_resources<T>(
        &self,
        context: &RequestContext<RoleServer>,
        listed: impl Fn(&offers::Resource, ToolEntry) -> Option<T>,
    ) -> Option<Vec<T>> {
        let resources = &self.options.offers.resources;
        if resources.is_empty() {
            return None;
        }
        let offered = self.offered(context)?;
        let listed = resources.iter().filter_map(|resource| {
            let function = offered.get(&resource.name)?;
            listed(resource, function)
        });
        Some(listed.collect())
    }

    /// Reads a resource. Returns `None` if the server has none with this URI.
    pub(super) async fn read(
        self: &Arc<Self>,
        params: &ReadResourceRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Option<Result<ReadResourceResponse, ErrorData>> {
        let uri = &*params.uri;
        if self.options.offers.resources.is_empty() {
            return None;
        }
        if uri.len() > LONGEST {
            let problem = format!("the URI has more than {LONGEST} bytes");
            return Some(Err(ErrorData::invalid_params(problem, None)));
        }
        let (offered, function, values) = self.find(uri, &context)?;
        let arguments = function.arguments_from_text(values);
        context.extensions.insert(RawArguments(arguments));
        let mut call = CallToolRequestParams::new(function.name.to_string());
        call.input_responses.clone_from(&params.input_responses);
        call.request_state.clone_from(&params.request_state);
        let is_modern = is_modern(&context);
        let response = self.run(Purpose::Resource, offered, call, context).await;
        Some(response.and_then(|response| match response {
            CallToolResponse::Complete(result) if result.is_error == Some(true) => {
                Err(refused(result))
            }
            CallToolResponse::Complete(result) => {
                let result = ReadResourceResult::new(contents(uri, result));
                Ok(ReadResourceResponse::Complete(if is_modern {
                    // Only the function knows how long its result holds, and for whom.
                    result.with_ttl_ms(0).with_cache_scope(CacheScope::Private)
                } else {
                    result
                }))
            }
            CallToolResponse::InputRequired(questions) => {
                Ok(ReadResourceResponse::InputRequired(questions))
            }
            _ => Err(ErrorData::internal_error("a resource is no task", None)),
        }))
    }

    /// Returns the function that a URI calls, if the request can see it.
    fn find(&self, uri: &str, context: &RequestContext<RoleServer>) -> Option<Found<'_>> {
        let resources = self.options.offers.resources.iter();
        let mut found = resources.filter_map(|resource| {
            let values = resource.template.matches(uri)?;
            Some((&resource.name, values))
        });
        // Templates do not overlap.
        let (name, values) = found.next()?;
        let offered = self.offered(context)?;
        let function = offered.get(name)?;
        Some((offered, function, values))
    }
}

/// Returns the error for a URI that nobody has. `rmcp` writes the code of each version.
pub(super) fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("unknown resource", Some(json!({ "uri": uri })))
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

/// Gives contents the URI that was read, in place of the one that the dialect makes up for a file.
fn of_resource(mut contents: ResourceContents, read: &str) -> ResourceContents {
    match &mut contents {
        ResourceContents::TextResourceContents { uri, .. }
        | ResourceContents::BlobResourceContents { uri, .. } => read.clone_into(uri),
        _ => {}
    }
    contents
}
