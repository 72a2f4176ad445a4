//! Facts about a tool for clients of the Model Context Protocol, and not for models.

use std::borrow::Cow;

use super::ToolSpec;
use super::parts::Parts;

/// Facts about a tool for clients of the Model Context Protocol, and not for models.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct ForClients {
    /// JSON text of an object; empty if there is none.
    pub meta: Cow<'static, str>,
    /// JSON text of a list; empty if there is none.
    pub icons: Cow<'static, str>,
    /// Set unless `ui.visibility` of `meta` leaves models out.
    pub for_models: bool,
    /// Set unless it leaves apps out.
    pub for_apps: bool,
}

impl ToolSpec {
    /// Returns the JSON text of `#[tool(meta = …)]`, an object: what clients of the Model Context Protocol get as
    /// `_meta`. It is never sent to a provider.
    ///
    /// ```
    /// use tool_core::{Tool, tool};
    ///
    /// /// Draws a chart.
    /// #[tool(meta = r#"{ "com.example/cost": 3 }"#, icons = ["https://example.com/chart.png"])]
    /// fn draw_chart() {}
    ///
    /// assert_eq!(draw_chart::SPEC.meta_json(), Some(r#"{"com.example/cost":3}"#));
    /// assert_eq!(draw_chart::SPEC.icons_json(), Some(r#"[{"src":"https://example.com/chart.png"}]"#));
    /// ```
    pub fn meta_json(&self) -> Option<&str> {
        self.for_clients()
            .map(|clients| &*clients.meta)
            .filter(|text| !text.is_empty())
    }

    /// Returns the JSON text of `#[tool(icons = …)]`, a list in the form of the Model Context Protocol. It is never
    /// sent to a provider.
    #[inline]
    pub fn icons_json(&self) -> Option<&str> {
        self.for_clients()
            .map(|clients| &*clients.icons)
            .filter(|text| !text.is_empty())
    }

    /// Returns `false` if only [apps](macro@crate::tool#tools-for-apps) may call the tool. No provider is sent such a
    /// tool, and a call of it that a model makes ends as a call of an unknown tool.
    ///
    /// ```
    /// use tool_dialects::OpenAiChat;
    /// use tool_core::{Registry, Tool, ToolCall, tool, tools};
    ///
    /// /// Turns the chart to the next page.
    /// #[tool(meta = r#"{"ui": {"visibility": ["app"]}}"#)]
    /// fn turn_page(page: u32) -> u32 {
    ///     page + 1
    /// }
    ///
    /// assert!(!turn_page::SPEC.is_for_models() && turn_page::SPEC.is_for_apps());
    /// let registry = Registry::builder().tools(tools![turn_page]).build()?;
    /// assert_eq!(registry.render(&OpenAiChat::default()).as_str(), "[]");
    /// let call = ToolCall::new("call_1", "turn_page", r#"{"page":1}"#);
    /// assert!(registry.call_blocking(call.clone()).is_error());
    /// assert_eq!(registry.call_blocking(call.from_app()).content(), "2");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn is_for_models(&self) -> bool {
        self.for_clients().is_none_or(|clients| clients.for_models)
    }

    /// Returns `false` if no [app](macro@crate::tool#tools-for-apps) may call the tool.
    pub fn is_for_apps(&self) -> bool {
        self.for_clients().is_none_or(|clients| clients.for_apps)
    }

    /// Returns `true` if the tool may run a call of a model, or of an app.
    #[inline]
    pub(crate) fn admits(&self, is_from_app: bool) -> bool {
        self.for_clients().is_none_or(|clients| {
            if is_from_app {
                clients.for_apps
            } else {
                clients.for_models
            }
        })
    }

    #[inline]
    fn for_clients(&self) -> Option<&ForClients> {
        match &self.parts {
            Parts::Static { details, .. } => (*details)?.for_clients,
            Parts::Dynamic(parts) => parts.for_clients.as_deref(),
        }
    }
}
