//! [`RequestBuilder`]: the settings of one request.

use crate::Registry;
use crate::provider::dialect::{Dialect, RequestError, RequestOptions, ToolChoice, ToolRequest};
use crate::types::ToolType;

/// Builds a [`ToolRequest`]; see [`Registry::request`].
///
/// ```
/// use tool_core::dialect::{OpenAiChat, ToolChoice};
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
#[derive(Clone, Debug)]
#[must_use]
pub struct RequestBuilder<'r, D: ?Sized> {
    registry: &'r Registry,
    dialect: &'r D,
    options: RequestOptions,
}

impl<'r, D: Dialect + ?Sized> RequestBuilder<'r, D> {
    pub(super) fn new(registry: &'r Registry, dialect: &'r D) -> RequestBuilder<'r, D> {
        RequestBuilder {
            registry,
            dialect,
            options: RequestOptions::new(),
        }
    }

    /// Replaces all settings.
    pub fn options(mut self, options: RequestOptions) -> Self {
        self.options = options;
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
        self.registry.tool_request(self.dialect, &self.options)
    }

    fn change(mut self, change: impl FnOnce(RequestOptions) -> RequestOptions) -> Self {
        self.options = change(self.options);
        self
    }
}
