//! Apps: pages that a host shows for the results of tools.

use std::borrow::Cow;

use rmcp::ServerHandler;
use rmcp::model::{CacheScope, MetaObject, ReadResourceResult, Resource, ResourceContents, Tool};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use super::list::List;
use super::request::is_modern;
use super::template::Template;
use super::{Core, Server};
use crate::apps::{MIME_TYPE, is_supported};

/// A page of HTML that a host shows for the results of a tool, for [`Server::ui`].
///
/// The host shows it in a frame without an origin, and by default without a network: it loads only parts of
/// the page itself, or files from the origins that you name here.
///
/// ```
/// use tool_mcp::server::{App, AppPermission};
///
/// let app = App::new("<!doctype html><title>Map</title>")
///     .connect_to(["https://tiles.example.com"])
///     .permission(AppPermission::Geolocation);
/// # let _ = app;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct App {
    html: Cow<'static, str>,
    /// `_meta.ui` of the resource.
    meta: Map<String, Value>,
}

/// Something that a browser asks its user for, and that an [`App`] needs. Hosts may refuse it.
///
/// ```
/// use tool_mcp::server::{App, AppPermission};
///
/// let app = App::new("<!doctype html><title>Dictate</title>").permission(AppPermission::Microphone);
/// # let _ = app;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AppPermission {
    /// Pictures of the camera.
    Camera,
    /// Sound of the microphone.
    Microphone,
    /// The location of the device.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

impl App {
    /// Creates an app from a page of HTML.
    pub fn new(html: impl Into<Cow<'static, str>>) -> App {
        let (html, meta) = (html.into(), Map::new());
        App { html, meta }
    }

    /// Lets the app send requests to these origins, such as `https://api.example.com` or `wss://*.example.com`.
    ///
    /// # Panics
    ///
    /// Panics if one is not an origin: a scheme, a host, and perhaps a port.
    #[track_caller]
    pub fn connect_to<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> App {
        self.origins("connectDomains", origins)
    }

    /// Lets the app load scripts, styles, fonts, images and media from these origins.
    ///
    /// # Panics
    ///
    /// Panics as [`connect_to`](App::connect_to) does.
    #[track_caller]
    pub fn load_from<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> App {
        self.origins("resourceDomains", origins)
    }

    /// Lets the app show frames with pages of these origins.
    ///
    /// # Panics
    ///
    /// Panics as [`connect_to`](App::connect_to) does.
    #[track_caller]
    pub fn frames_of<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> App {
        self.origins("frameDomains", origins)
    }

    /// Asks the host for a permission.
    pub fn permission(mut self, permission: AppPermission) -> App {
        let name = match permission {
            AppPermission::Camera => "camera",
            AppPermission::Microphone => "microphone",
            AppPermission::Geolocation => "geolocation",
            AppPermission::ClipboardWrite => "clipboardWrite",
        };
        self.part("permissions").insert(name.to_owned(), json!({}));
        self
    }

    /// Sets whether the host draws a border and a background. By default, the host decides.
    pub fn border(mut self, has_border: bool) -> App {
        self.meta.insert("prefersBorder".into(), has_border.into());
        self
    }

    #[track_caller]
    fn origins<O: Into<String>>(mut self, key: &str, origins: impl IntoIterator<Item = O>) -> App {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        for origin in &origins {
            // A host writes it into a policy, where other characters begin another rule.
            assert!(
                is_origin(origin),
                "{origin:?} is not an origin; write a scheme and a host, such as \"https://example.com\""
            );
        }
        self.part("csp").insert(key.to_owned(), origins.into());
        self
    }

    /// Returns an object of the metadata, which is added if it is missing.
    fn part(&mut self, key: &str) -> &mut Map<String, Value> {
        let part = self.meta.entry(key).or_insert_with(|| json!({}));
        part.as_object_mut().expect("only objects are added")
    }

    /// Returns the metadata of the resource.
    fn meta(&self) -> Option<MetaObject> {
        let ui = Value::Object(self.meta.clone());
        let meta = [("ui".to_owned(), ui)].into_iter().collect();
        (!self.meta.is_empty()).then_some(MetaObject(meta))
    }
}

impl From<&'static str> for App {
    fn from(html: &'static str) -> App {
        App::new(html)
    }
}

impl From<String> for App {
    fn from(html: String) -> App {
        App::new(html)
    }
}

fn is_origin(origin: &str) -> bool {
    const SCHEMES: [&str; 4] = ["https", "wss", "http", "ws"];
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-*:[]".contains(&byte);
    origin.split_once("://").is_some_and(|(scheme, host)| {
        SCHEMES.contains(&scheme) && !host.is_empty() && host.bytes().all(is_part)
    })
}

/// An app that is served.
pub(super) struct ServedApp {
    pub(super) uri: String,
    app: App,
    /// The names of the tools whose results it shows.
    tools: Vec<String>,
}

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

/// Adds to a tool the URI of its app.
pub(super) fn link(tool: &mut Tool, apps: &[ServedApp]) {
    let is_its = |app: &&ServedApp| app.tools.iter().any(|name| *name == tool.name);
    let Some(app) = apps.iter().find(is_its) else {
        return;
    };
    let MetaObject(meta) = tool.meta.get_or_insert_default();
    let ui = meta.entry("ui").or_insert_with(|| json!({}));
    if !ui.is_object() {
        *ui = json!({});
    }
    ui["resourceUri"] = app.uri.clone().into();
    if ui.get("visibility").is_none() {
        ui["visibility"] = json!(["model", "app"]);
    }
}

/// Returns `true` if a client supports apps, because such a client hides tools for apps from models.
pub(super) fn has_apps(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    capabilities.is_some_and(|capabilities| is_supported(capabilities.extensions.as_ref()))
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
            let time = super::list::millis(self.options.cache_for);
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
