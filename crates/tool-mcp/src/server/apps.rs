//! Apps: pages that a host shows for the results of tools.

use rmcp::ServerHandler;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use rmcp::service::{RequestContext, RoleServer};

use super::app::App;
use super::builder::Server;
use super::core::Core;
use super::list::{List, millis};
use super::offers::ServedApp;
use super::request::is_modern;
use super::template::Template;
use crate::apps::MIME_TYPE;

impl<H: ServerHandler> Server<H> {
    /// Serves an app: a page that hosts show for the results of a tool. A host reads it as a resource,
    /// shows it in a separate frame, and passes it the arguments and the result of each call. The page may
    /// call tools of this server through its host.
    ///
    /// Hosts find the app by `_meta.ui` of the tool. Clients without the extension
    /// `io.modelcontextprotocol/ui` ignore it, and the tool works for them as before. A request that can't
    /// [see](Server::visible) the tool can't read the app.
    ///
    /// A tool that only the app calls is `#[tool(meta = r#"{"ui": {"visibility": ["app"]}}"#)]`: it is not
    /// sent to models, and it is unknown to clients without the extension. With `["model"]`, hosts refuse
    /// calls of apps. A server can't tell whether an app or a model made a call, so use
    /// [`scopes`](Server::scopes) or hooks for calls that the user of the client may not make.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_mcp::Server;
    ///
    /// /// Draws the sales.
    /// #[tool(unlinked)]
    /// fn draw_sales(weeks: u8) -> Vec<u32> {
    ///     vec![7; weeks.into()]
    /// }
    ///
    /// const CHART: &str = "<!doctype html><title>Sales</title>";
    ///
    /// let registry = Registry::builder().tools(tools![draw_sales]).build()?;
    /// let server = Server::new(registry).ui("draw_sales", "ui://sales/chart", CHART);
    /// # let _ = server;
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the registry has no tool of this name, if the tool has an app already, if the URI does not start with `ui://`
    /// or has spaces or braces, or if another app or a [resource](Server::resource) has it. Several tools may share an app.
    #[track_caller]
    pub fn ui(mut self, tool: &str, uri: &str, app: impl Into<App>) -> Server<H> {
        let added = self.add_app(tool, uri, app.into());
        added.unwrap_or_else(|problem| panic!("{problem}"));
        self
    }

    fn add_app(&mut self, tool: &str, uri: &str, app: App) -> Result<(), String> {
        let path = uri.strip_prefix("ui://").unwrap_or_default();
        let is_wrong = |c: char| c.is_whitespace() || c.is_control() || "{}".contains(c);
        if path.is_empty() || path.contains(is_wrong) {
            return Err(format!(
                "{uri:?} is not the URI of an app; write one such as \"ui://{tool}\""
            ));
        }
        // Looks the tool up as clients see it, because it may come from another server.
        if !List::new(&self.registry, &self.options).has(tool) {
            return Err(format!(
                "the app `{uri}` is for the tool {tool}, which the registry does not have; add the tool first"
            ));
        }
        let offers = &mut self.options.offers;
        if let Some(other) = offers
            .apps
            .iter()
            .find(|app| app.tools.iter().any(|name| name == tool))
        {
            return Err(format!(
                "the tool {tool} has the app `{}` already",
                other.uri
            ));
        }
        let is_taken = |template: &Template| template.matches(uri).is_some();
        if offers
            .resources
            .iter()
            .any(|resource| is_taken(&resource.template))
        {
            return Err(format!("the app `{uri}` has the URI of a resource"));
        }
        match offers.apps.iter_mut().find(|app| app.uri == uri) {
            Some(same) if same.app == app => same.tools.push(tool.to_owned()),
            Some(_) => return Err(format!("two apps have the URI `{uri}`; change one of them")),
            None => offers.apps.push(ServedApp {
                uri: uri.to_owned(),
                app,
                tools: vec![tool.to_owned()],
            }),
        }
        Ok(())
    }
}

impl Core {
    /// Returns the apps that a request can see.
    pub(super) fn own_apps(&self, context: &RequestContext<RoleServer>) -> Vec<Resource> {
        let apps = self.options.offers.apps.iter();
        let apps = apps.filter(|app| self.sees_app(app, context));
        let listed = apps.map(|app| {
            let mut resource = Resource::new(&*app.uri, app.uri.trim_start_matches("ui://"));
            resource.mime_type = Some(MIME_TYPE.into());
            resource.meta = app.app.meta();
            resource
        });
        listed.collect()
    }

    /// Reads an app. Returns `None` if there is none with this URI.
    pub(super) fn read_app(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Option<ReadResourceResult> {
        let app = self.options.offers.apps.iter().find(|app| app.uri == uri)?;
        if !self.sees_app(app, context) {
            return None;
        }
        let contents = ResourceContents::TextResourceContents {
            uri: uri.to_owned(),
            mime_type: Some(MIME_TYPE.into()),
            text: app.app.html.clone().into_owned(),
            meta: app.app.meta(),
        };
        let result = ReadResourceResult::new(vec![contents]);
        Some(if is_modern(context) {
            let scope = match &self.options.visible {
                Some(_) => CacheScope::Private,
                None => CacheScope::Public,
            };
            let time = millis(self.options.cache_for);
            result.with_ttl_ms(time).with_cache_scope(scope)
        } else {
            result
        })
    }

    fn sees_app(&self, app: &ServedApp, context: &RequestContext<RoleServer>) -> bool {
        let registry = self.registry_of(context);
        app.tools.iter().any(|tool| registry.get(tool).is_some())
    }
}
