//! A registry's part of a request to a provider, [`RequestBuilder`]: the settings of one request, and [`RequestCache`]: the
//! requests of a loop.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;

use super::snapshot::Snapshot;
use super::{Registry, background};
use crate::provider::dialect::{
    Dialect, Rendered, RequestError, RequestOptions, ToolChoice, ToolRequest,
};
use crate::provider::wire::Deferral;
use crate::telemetry;
use crate::tool::ToolEntry;
use crate::types::ToolType;

/// Sends the tools to providers.
impl Registry {
    /// Renders the value of a request's `tools` field in the format of a provider.
    ///
    /// [`Rendered::broken_rules`] lists the provider rules that the tools break, and
    /// [`Rendered::rejected`] the tools that the dialect omits. Both are logged too.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_dialects::Anthropic;
    ///
    /// let body = serde_json::json!({ "tools": Registry::new().render(&Anthropic::default()) });
    /// assert_eq!(body["tools"], serde_json::json!([]));
    /// ```
    pub fn render(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let rendered = self.rendered(dialect);
        telemetry::rendered(&rendered);
        rendered
    }

    /// Renders the tools without logging.
    pub(crate) fn rendered(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let snapshot = self.0.snapshot();
        let tools = self.sent_tools(dialect.deferral(), &snapshot);
        Rendered::new(dialect, &tools, &snapshot.hosted)
    }

    /// Writes the fields of a request that belong to its tools, for one provider: the tools, which of
    /// them the model may or must call, whether the provider should cache them, and so on.
    ///
    /// The tools are the same bytes from request to request while the registry is unchanged and the
    /// provider can restrict calls by itself, since prompt caches depend on it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::ToolChoice;
    /// use tool_dialects::Anthropic;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let request = registry
    ///     .request(&Anthropic::default())
    ///     .choice(ToolChoice::Required)
    ///     .cached()
    ///     .build()?;
    /// let fields = json!(request.fields());
    /// assert_eq!(fields["tools"][0]["cache_control"], json!({"type": "ephemeral"}));
    /// assert_eq!(fields["tool_choice"], json!({"type": "any"}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn request<'r, D: Dialect + ?Sized>(&'r self, dialect: &'r D) -> RequestBuilder<'r, D> {
        RequestBuilder::new(self, dialect)
    }

    pub(crate) fn tool_request(
        &self,
        dialect: &(impl Dialect + ?Sized),
        options: &RequestOptions,
        messages: &[&Value],
    ) -> Result<ToolRequest, RequestError> {
        let snapshot = self.0.snapshot();
        let mut tools = self.sent_tools(dialect.deferral(), &snapshot);
        if options.has_background
            && snapshot.has_background()
            && dialect.deferral() != Deferral::Ignored
        {
            tools.to_mut().push(background::entry());
        }
        let request = ToolRequest::new(dialect, &tools, &snapshot.hosted, options, messages)?;
        telemetry::requested(&request);
        Ok(request)
    }

    /// Returns the tools as requests have them.
    pub(super) fn sent_tools<'s>(
        &self,
        deferral: Deferral,
        snapshot: &'s Snapshot,
    ) -> Cow<'s, [ToolEntry]> {
        let mut tools = Cow::Borrowed(snapshot.tools());
        if snapshot.has_deferred() && deferral == Deferral::Emulated {
            tools = Cow::Owned(snapshot.listed());
        }
        if snapshot.has_hidden() && deferral != Deferral::Ignored {
            tools.to_mut().retain(|tool| tool.is_for_models());
        }
        // A truncated result does not match its schema.
        if self.0.policy.output_cap.is_some() {
            let all = tools.iter().cloned();
            return all.map(ToolEntry::without_output).collect();
        }
        tools
    }

    /// Returns the tools of a request to a provider that can't search.
    pub(crate) fn listed(&self) -> Vec<ToolEntry> {
        self.0.snapshot().listed()
    }
}

/// Builds a [`ToolRequest`]; see [`Registry::request`].
///
/// ```
/// use tool_core::dialect::ToolChoice;
/// use tool_dialects::OpenAiChat;
/// use tool_core::{Registry, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let registry = Registry::builder().tools(tools![roll_die]).build()?;
/// let dialect = OpenAiChat::default();
/// let request = registry.request(&dialect).choice(ToolChoice::Required).parallel(false).build()?;
/// assert_eq!(request.fields()["tool_choice"].get(), "\"required\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct RequestBuilder<'r, D: ?Sized> {
    registry: &'r Registry,
    dialect: &'r D,
    options: RequestOptions,
    messages: Vec<&'r Value>,
}

/// The messages contain the arguments of calls, which may be secret.
impl<D: ?Sized> fmt::Debug for RequestBuilder<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBuilder")
            .field("options", &self.options)
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}

impl<'r, D: Dialect + ?Sized> RequestBuilder<'r, D> {
    pub(super) fn new(registry: &'r Registry, dialect: &'r D) -> RequestBuilder<'r, D> {
        RequestBuilder {
            registry,
            dialect,
            options: RequestOptions::new(),
            messages: Vec::new(),
        }
    }

    /// Replaces all settings.
    pub fn options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the messages of the request. Some providers reject messages with calls in a request without the tools, such as
    /// Amazon Bedrock. They are sent the tools that the messages name, in spite of [`ToolChoice::None`], and stubs in place
    /// of tools that the registry no longer has.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Bedrock;
    ///
    /// let dialect = Bedrock::default();
    /// let call = json!({"toolUse": {"toolUseId": "call_1", "name": "get_time", "input": {}}});
    /// let result = json!({"toolResult": {"toolUseId": "call_1", "content": [{"text": "12:00"}]}});
    /// let messages = [
    ///     dialect.user_message("What time is it?"),
    ///     json!({"role": "assistant", "content": [call]}),
    ///     json!({"role": "user", "content": [result]}),
    /// ];
    /// let request = Registry::new().request(&dialect).history(&messages).build()?;
    /// assert!(request.tools().as_str().contains("get_time"));
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn history(mut self, messages: impl IntoIterator<Item = &'r Value>) -> Self {
        self.messages = messages.into_iter().collect();
        self
    }

    /// Sets which tools the model may or must call.
    pub fn choice(self, choice: ToolChoice) -> Self {
        self.change(|options| options.choice(choice))
    }

    /// Allows only the tools with these names; see [`RequestOptions::only`].
    pub fn only<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.change(|options| options.only(names))
    }

    /// Allows or forbids several calls in one response. By default, the provider decides.
    pub fn parallel(self, is_allowed: bool) -> Self {
        self.change(|options| options.parallel(is_allowed))
    }

    /// Marks the end of the tools as the end of a cached prefix; see [`RequestOptions::cached`].
    pub fn cached(self) -> Self {
        self.change(RequestOptions::cached)
    }

    /// Asks for the results of hosted tools; see [`RequestOptions::hosted_results`].
    pub fn hosted_results(self) -> Self {
        self.change(RequestOptions::hosted_results)
    }

    /// Asks for a final answer of a type; see [`RequestOptions::answer`].
    pub fn answer<T: ToolType + ?Sized>(self) -> Self {
        self.change(RequestOptions::answer::<T>)
    }

    /// Renders the tools and writes the other fields.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting names a tool that the request does not have, or if the settings
    /// contradict each other.
    pub fn build(self) -> Result<ToolRequest, RequestError> {
        self.registry
            .tool_request(self.dialect, &self.options, &self.messages)
    }

    /// Returns the request of the cache, if it has the one that [`build`](RequestBuilder::build) would return.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`build`](RequestBuilder::build).
    pub fn build_in(self, cache: &RequestCache) -> Result<Arc<ToolRequest>, RequestError> {
        // Weak, so that a removed tool is dropped. Its address is not used again before the cache lets it go.
        let snapshot = Arc::downgrade(&self.registry.0.snapshot());
        let is_same = |kept: &KeptRequest| {
            kept.snapshot.ptr_eq(&snapshot)
                && kept.options == self.options
                && kept.request.fits(self.dialect, &self.messages)
        };
        if let Some(kept) = cache.lock().iter().find(|kept| is_same(kept)) {
            return Ok(Arc::clone(&kept.request));
        }
        let options = self.options.clone();
        let request = Arc::new(self.build()?);
        let mut kept = cache.lock();
        kept.retain(|kept| kept.snapshot.strong_count() > 0);
        if kept.len() == RequestCache::LEN {
            kept.remove(0);
        }
        kept.push(KeptRequest {
            snapshot,
            options,
            request: Arc::clone(&request),
        });
        Ok(request)
    }

    fn change(mut self, change: impl FnOnce(RequestOptions) -> RequestOptions) -> Self {
        self.options = change(self.options);
        self
    }
}

/// The last requests to one model. A loop around a model uses it so that tools are rendered again only after a change: of the
/// registry, of the settings, or of the tools that the messages need. The `Agent` of `tool-agent` does.
///
/// It keeps at most eight requests. Use a cache of its own for each dialect: it does not compare them.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::registry::RequestCache;
/// use tool_core::{Registry, tool, tools};
/// use tool_dialects::Anthropic;
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let (registry, dialect) = (Registry::new(), Anthropic::default());
/// let cache = RequestCache::default();
/// let first = registry.request(&dialect).build_in(&cache)?;
/// let second = registry.request(&dialect).build_in(&cache)?;
/// assert!(Arc::ptr_eq(&first, &second));
///
/// registry.add(tools![roll_die])?;
/// let third = registry.request(&dialect).build_in(&cache)?;
/// assert!(third.tools().as_str().contains("roll_die"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct RequestCache(Mutex<Vec<KeptRequest>>);

#[derive(Debug)]
struct KeptRequest {
    snapshot: Weak<Snapshot>,
    options: RequestOptions,
    request: Arc<ToolRequest>,
}

impl RequestCache {
    /// A conversation has other settings in its first round, and users of several roles may take turns.
    const LEN: usize = 8;

    fn lock(&self) -> MutexGuard<'_, Vec<KeptRequest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
