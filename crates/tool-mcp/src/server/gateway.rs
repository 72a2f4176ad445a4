//! A gateway: the tools, resources and prompts of other servers, for the clients of this one.

use std::pin::pin;
use std::sync::Arc;

use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ListToolsResult, Prompt, Reference,
    Resource, ResourceTemplate,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::json;
use tool_core::{Registry, ToolCall, ToolEntry};

use super::builder::Server;
use super::core::Core;
use super::imported_apps::{Links, Shows, has};
use super::imports::{Imported, Imports};
use super::offers::FoundCall;
use super::progress::until_end;
use super::request::has_apps;
use crate::gateway::{GATEWAYS, HOPS, Hops, MAX_HOPS};
use crate::import::ImportBuilder;

impl<H: ServerHandler> Server<H> {
    /// Imports another server, so that this server is a gateway: its clients also see the tools, resources
    /// and prompts of the other.
    ///
    /// The connection is made in the background. If a server is down, the log and
    /// [`imports`](Server::imports) say so, and it joins when it is up. Without
    /// [`restart`](ImportBuilder::restart), the default [`Backoff`](crate::Backoff) sets how often the
    /// gateway tries.
    ///
    /// # Names
    ///
    /// The prefix comes before the names of tools and prompts. URIs of resources stay as they are, because
    /// the results of tools contain them. Where several servers have the same URI, this server comes first,
    /// and then the server that was imported first. A URI that no server lists is read from the server with
    /// the template that fits best.
    ///
    /// # Who sees what
    ///
    /// Tools are added to the registry of this server, with its hooks, and [`visible`](Server::visible),
    /// [`scopes`](Server::scopes) and [`rate`](Server::rate) get each of them. A resource is read by a call
    /// of the function `read_resource`, and a prompt by a call of `get_prompt`, both with the prefix and
    /// the [tags](ImportBuilder::tags) of the import. A user who can't see that function sees none of the
    /// resources or prompts of the server. They are not [pinned](ImportBuilder::pin).
    ///
    /// # Apps
    ///
    /// Clients with the extension `io.modelcontextprotocol/ui` get the tools for apps, and read the pages that tools link to. A
    /// request reads the page of a tool that it can see. The URI of a page has no prefix. Where several servers have the same one,
    /// it is read from the first, as with other resources, and the tools of the others lose their link to it: no page is shown
    /// for the results of another server.
    ///
    /// A page knows the names of the tools of its server, which have no prefix. So a client with apps may
    /// call a tool [for apps](tool_core::ToolSpec::is_for_apps) by that name, too. A tool that has exactly
    /// this name comes first. If several imported servers have one, the call is an error that names them.
    /// This server is not told which page makes a call, so a page can call all tools for apps, even of
    /// other servers.
    ///
    /// # What is passed on
    ///
    /// Questions to the user, progress and cancellation of calls, traces ([`TraceContext`](tool_core::call::TraceContext)),
    /// completion, changed lists, and updates of resources that clients subscribed to.
    ///
    /// # Loops
    ///
    /// If a server imports this one, directly or through others, that is an error of the kind
    /// [`Loop`](crate::ImportErrorKind::Loop), and the gateway does not try again. The same holds for the
    /// ninth program in a chain of programs that start each other. A request that has passed eight gateways
    /// is rejected.
    ///
    /// ```no_run
    /// use tokio::process::Command;
    /// use tool_core::Registry;
    /// use tool_mcp::{Import, Server};
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Registry::new())
    ///     .import("git_", Import::command(Command::new("mcp-server-git")))
    ///     .import("time_", Import::command(Command::new("mcp-server-time")).pin("time.pins.json"));
    /// let imports = server.imports();
    /// server.stdio().await?;
    /// println!("{imports}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics outside of a runtime of tokio, or if another import has the prefix, or if a tool can't have it in its name.
    #[track_caller]
    pub fn import(mut self, prefix: &str, server: ImportBuilder) -> Server<H> {
        let added = self.options.imports.add(
            &mut self.options.offers,
            &self.registry,
            prefix,
            server.prefix(prefix),
        );
        added.unwrap_or_else(|problem| panic!("the import `{prefix}`: {problem}"));
        self
    }

    /// Returns the servers that were [imported](Server::import), with their states and reports.
    pub fn imports(&self) -> Imports {
        self.options.imports.clone()
    }
}

impl Core {
    /// Returns the servers, and the functions of resources and prompts that a request can see.
    fn imported(&self, context: &RequestContext<RoleServer>) -> Option<(Vec<Imported>, Registry)> {
        let servers = self.options.imports.servers();
        if servers.is_empty() {
            return None;
        }
        Some((servers, self.offered(context)?))
    }

    /// Adds the imported servers' items to a list, except items with a key that is taken.
    fn add_imported<T>(
        &self,
        context: &RequestContext<RoleServer>,
        all: &mut Vec<T>,
        of: impl Fn(&Imported, &Registry) -> Vec<T>,
        key: impl Fn(&T) -> &str,
    ) {
        let Some((servers, offered)) = self.imported(context) else {
            return;
        };
        all.extend(servers.iter().flat_map(|server| of(server, &offered)));
        // Stable, so that the first one stays.
        all.sort_by(|one, other| key(one).cmp(key(other)));
        all.dedup_by(|other, first| key(other) == key(first));
    }

    /// Adds the imported resources that a request can see.
    pub(super) fn add_resources(
        &self,
        context: &RequestContext<RoleServer>,
        resources: &mut Vec<Resource>,
    ) {
        let links = Links::of(&self.options.imports.servers());
        let tools = self.registry_of(context);
        let of = |server: &Imported, offered: &Registry| match server.reader(offered) {
            Some(_) => {
                let mut resources = server.import.offered().resources.clone();
                resources.retain(|resource| {
                    links.shows(server.number, &tools, &resource.uri) != Shows::Never
                });
                resources
            }
            None => Vec::new(),
        };
        self.add_imported(context, resources, of, |resource| &resource.uri);
    }

    /// Adds the imported templates that a request can see.
    pub(super) fn add_templates(
        &self,
        context: &RequestContext<RoleServer>,
        templates: &mut Vec<ResourceTemplate>,
    ) {
        let of = |server: &Imported, offered: &Registry| match server.reader(offered) {
            Some(_) => server.import.offered().templates.clone(),
            None => Vec::new(),
        };
        self.add_imported(context, templates, of, |template| &template.uri_template);
    }

    /// Adds the imported prompts that a request can see.
    pub(super) fn add_prompts(
        &self,
        context: &RequestContext<RoleServer>,
        prompts: &mut Vec<Prompt>,
    ) {
        let of = |server: &Imported, offered: &Registry| match server.prompter(offered) {
            Some(_) => {
                let mut prompts = server.import.offered().prompts.clone();
                for prompt in &mut prompts {
                    prompt.name.insert_str(0, &server.prefix);
                }
                prompts
            }
            None => Vec::new(),
        };
        self.add_imported(context, prompts, of, |prompt| &prompt.name);
    }

    /// Returns the server that has a resource, if the request can see it: the one whose page it is, the first that lists the
    /// URI, or else the one with the template that fits best.
    fn server_of(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<(Imported, Registry, ToolEntry)> {
        let (servers, offered) = self.imported(context)?;
        let (links, tools) = (Links::to(uri, &servers), self.registry_of(context));
        let mut best: Option<(usize, Imported, ToolEntry)> = None;
        for server in servers {
            let Some(function) = server.reader(&offered) else {
                continue;
            };
            let shows = links.shows(server.number, &tools, uri);
            if shows == Shows::Never {
                continue;
            }
            let listed = server.import.offered();
            if shows == Shows::Always || listed.resources.iter().any(|resource| resource.uri == uri)
            {
                return Some((server, offered, function));
            }
            let fits = listed.templates.iter();
            let fits = fits
                .filter_map(|template| fit(&template.uri_template, uri))
                .max();
            if let Some(fit) = fits
                && best.as_ref().is_none_or(|(other, ..)| fit > *other)
            {
                best = Some((fit, server, function));
            }
        }
        let (_, server, function) = best?;
        Some((server, offered, function))
    }

    /// Returns the call that reads an imported resource.
    pub(super) fn imported_resource(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<FoundCall> {
        let (_, registry, function) = self.server_of(uri, context)?;
        Some(FoundCall {
            registry,
            function,
            arguments: json!({ "uri": uri }).to_string(),
            description: None,
            is_imported: true,
        })
    }

    /// Returns the call that gets an imported prompt.
    pub(super) fn imported_prompt(
        &self,
        name: &str,
        arguments: &serde_json::Map<String, serde_json::Value>,
        context: &RequestContext<RoleServer>,
    ) -> Option<FoundCall> {
        let (servers, registry) = self.imported(context)?;
        let found = servers.iter().find_map(|server| {
            let function = server.prompter(&registry)?;
            Some((server.prompt(name)?, function))
        });
        let (prompt, function) = found?;
        let arguments = json!({ "name": prompt.name, "arguments": arguments }).to_string();
        Some(FoundCall {
            registry,
            function,
            arguments,
            description: prompt.description,
            is_imported: true,
        })
    }

    /// Subscribes to a resource at the server that has it, if there is one.
    pub(super) fn watch(&self, uri: &str, context: &RequestContext<RoleServer>) {
        if let Some((server, ..)) = self.server_of(uri, context) {
            server.import.watch(uri);
        }
    }

    /// Completes an argument of an imported prompt, or a variable of an imported template.
    pub(super) async fn complete_imported(
        self: &Arc<Self>,
        params: &CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CompleteResult, ErrorData>> {
        let (servers, offered) = self.imported(context)?;
        let mut params = params.clone();
        let found = servers
            .into_iter()
            .find_map(|server| match &mut params.r#ref {
                Reference::Prompt(prompt) => {
                    let function = server.prompter(&offered)?;
                    prompt.name = server.prompt(&prompt.name)?.name;
                    Some((server, function))
                }
                Reference::Resource(resource) => {
                    let function = server.reader(&offered)?;
                    let listed = server.import.offered();
                    let mut templates = listed.templates.iter();
                    let has = templates.any(|template| template.uri_template == resource.uri);
                    has.then_some((server, function))
                }
                _ => None,
            });
        let (server, function) = found?;
        Some(match self.admit(&function, context, true) {
            Ok(_) => match until_end(pin!(server.import.complete(params)), None, context).await {
                Ok(Ok(completed)) => Ok(completed),
                // A field without suggestions can be filled in, too.
                Ok(Err(error)) => {
                    tracing::debug!(%error, "an MCP server completes nothing");
                    Ok(CompleteResult::new(CompletionInfo::default()))
                }
                Err(cancelled) => Err(cancelled),
            },
            Err(refused) => Err(refused),
        })
    }

    /// Adds the ids of the gateways that tools may come from to a list of them, so that a loop is noticed. `before` are the
    /// ids from before the tools were read: an import may have lost tools since then, and the ids with them.
    pub(super) fn add_gateways(&self, page: &mut ListToolsResult, before: Vec<String>) {
        let mut ids = self.options.imports.ids();
        ids.extend(before);
        ids.sort_unstable();
        ids.dedup();
        if !ids.is_empty() {
            let meta = page.meta.get_or_insert_default();
            meta.insert(GATEWAYS.to_owned(), ids.into());
        }
    }

    /// Attaches to a call of a gateway how many it has passed. The error says that there are too many.
    pub(super) fn count_hops(
        &self,
        call: ToolCall,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolCall, ErrorData> {
        if self.options.imports.is_empty() {
            return Ok(call);
        }
        let hops = context.meta.get(HOPS);
        let hops = hops.and_then(serde_json::Value::as_u64).unwrap_or(0);
        if hops >= MAX_HOPS {
            let problem = format!(
                "the request has passed {hops} gateways, so they are in a loop; remove the import that leads back to one of \
                 them"
            );
            return Err(ErrorData::invalid_request(problem, None));
        }
        Ok(call.with(Hops(hops)))
    }

    /// Returns the tool that an app of an imported server means, because its page knows the name without
    /// the prefix. The error says that several servers have a tool of that name.
    pub(super) fn tool_of_app(
        &self,
        name: &str,
        tools: &Registry,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<ToolEntry>, ErrorData> {
        if !has_apps(context) {
            return Ok(None);
        }
        let servers = self.options.imports.servers();
        let all = servers.iter().flat_map(|server| server.import.tools());
        let found = all.filter(|(source, tool)| {
            // A tool whose headers are checked is called by its own name, which `rmcp` looks up.
            let has_headers = || self.list().with_headers(&tool.name).is_some();
            source == name && tool.is_for_apps() && has(tools, tool) && !has_headers()
        });
        let mut found: Vec<_> = found.map(|(_, tool)| tool).collect();
        if found.len() > 1 {
            let names: Vec<_> = found.iter().map(|tool| &*tool.name).collect();
            let problem = format!(
                "several imported servers have the tool {name}; call one of {}",
                names.join(", ")
            );
            return Err(ErrorData::invalid_params(problem, None));
        }
        Ok(found.pop())
    }
}

/// Returns the number of bytes of a URI that the literal parts of a template match (RFC 6570, of any
/// level). `None` if the URI does not fit.
///
/// The server reads the URI: this only finds the server. A template without a scheme fits nothing, because it would be for
/// the resources of all servers.
fn fit(template: &str, uri: &str) -> Option<usize> {
    let (start, mut template) = template.split_once('{')?;
    if !start.contains(':') {
        return None;
    }
    let mut rest = uri.strip_prefix(start)?;
    let mut count = start.len();
    loop {
        let (_, after) = template.split_once('}')?;
        let Some((text, next)) = after.split_once('{') else {
            return rest.ends_with(after).then_some(count + after.len());
        };
        rest = &rest[rest.find(text)? + text.len()..];
        count += text.len();
        template = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_with_the_most_text_fits_best() {
        for (template, uri, expected) in [
            ("notes://{id}", "notes://7", Some(8)),
            ("notes://{id}.json", "notes://7.json", Some(13)),
            ("notes://{id}.json", "notes://7", None),
            ("notes://{a}/b/{c}", "notes://x/b/y", Some(11)),
            ("notes://{a}/b/{c}", "notes://x/y", None),
            ("file:///{+path}", "file:///a/b", Some(8)),
            ("search://{term}{?page,size}", "search://x?page=2", Some(9)),
            ("{+uri}", "notes://7", None),
            ("notes{rest}", "notes://7", None),
            ("notes://7", "notes://7", None),
            ("notes://{id", "notes://7", None),
        ] {
            assert_eq!(fit(template, uri), expected, "{template} {uri}");
        }
    }
}
