//! [`App`]: a page that a host shows for the results of a tool.

use std::borrow::Cow;

use rmcp::model::MetaObject;
use serde_json::{Map, Value, json};

/// A page of HTML that a host shows for the results of a tool, for [`Server::ui`](crate::Server::ui).
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
    pub(super) html: Cow<'static, str>,
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
    pub(super) fn meta(&self) -> Option<MetaObject> {
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
