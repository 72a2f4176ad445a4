//! [`RequestOptions`]: the settings of a request.

use super::RequestError;
use crate::provider::answer::{Answer, AnswerFormat, SavedAnswer};
use crate::types::ToolType;

/// Which tools the model may or must call.
///
/// ```
/// use tool_core::dialect::ToolChoice;
///
/// assert_eq!(ToolChoice::tool("add"), ToolChoice::Tool("add".to_owned()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model calls tools or answers. The default of every provider.
    #[default]
    Auto,
    /// The model calls at least one tool.
    Required,
    /// The model calls no tool.
    None,
    /// The model calls the tool with this name.
    Tool(String),
}

impl ToolChoice {
    /// Requires a call of the tool with this name.
    pub fn tool(name: impl Into<String>) -> ToolChoice {
        ToolChoice::Tool(name.into())
    }
}

/// The settings of a [`ToolRequest`](crate::dialect::ToolRequest). The default sends the tools and nothing else.
///
/// [`Registry::request`](crate::Registry::request) has the same methods. Use this type to apply the
/// same settings to several requests, such as an agent's requests.
///
/// ```
/// use tool_core::dialect::RequestOptions;
/// use tool_dialects::OpenAiChat;
/// use tool_core::Registry;
///
/// let options = RequestOptions::new().parallel(false).cached();
/// let dialect = OpenAiChat::default();
/// for _ in 0..2 {
///     let request = Registry::new().request(&dialect).options(options.clone()).build()?;
///     println!("{}", request.body(serde_json::json!({"model": "…"})));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// With the feature `serde`, they can be saved. A type of answers is saved as its schema, and
/// [`with_answer_of`](RequestOptions::with_answer_of) gives the type again to settings that were read.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RequestOptions {
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(in crate::provider) choice: Option<ToolChoice>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(in crate::provider) only: Option<Vec<String>>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(super) parallel: Option<bool>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(super) is_cached: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(super) has_hosted_results: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(in crate::provider) answer: Option<Answer>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(crate) has_background: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(in crate::provider) has_only_these: bool,
}

impl RequestOptions {
    /// Creates the default settings.
    pub fn new() -> RequestOptions {
        RequestOptions::default()
    }

    /// Sets which tools the model may or must call.
    ///
    /// ```
    /// use tool_core::dialect::{RequestOptions, ToolChoice};
    ///
    /// // The first request has to look something up.
    /// let options = RequestOptions::new().choice(ToolChoice::tool("search_notes"));
    /// # let _ = options;
    /// ```
    pub fn choice(mut self, choice: ToolChoice) -> Self {
        self.choice = Some(choice);
        self
    }

    /// Allows only the tools with these names, which may be names of [hosted tools](crate::dialect::HostedTool).
    ///
    /// Where the provider can restrict calls, the list of tools does not change, so that a cached
    /// prompt stays valid. Elsewhere the other tools are left out, and
    /// [`ToolRequest::notes`](crate::dialect::ToolRequest::notes) says so.
    ///
    /// ```
    /// use tool_core::dialect::RequestOptions;
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let dialect = OpenAiResponses::default();
    /// let options = RequestOptions::new().only(["add"]);
    /// let request = registry.request(&dialect).options(options).build()?;
    /// assert!(request.fields()["tool_choice"].get().contains("allowed_tools"));
    /// // A name that no tool has is an error.
    /// assert!(registry.request(&dialect).only(["subtract"]).build().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Allows only the tools of the request, although it may be sent with the
    /// [tools of an earlier one](crate::dialect::ToolRequest::with_tools). Does nothing if [`only`](RequestOptions::only)
    /// is set. An `Agent` of the crate `tool-agent` does this after tools were removed.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::RequestOptions;
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let options = RequestOptions::new().only_these();
    /// let request = registry.request(&OpenAiResponses::default()).options(options).build()?;
    /// assert_eq!(json!(request.fields())["tool_choice"]["tools"][0]["name"], "roll_die");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only_these(mut self) -> Self {
        self.has_only_these = true;
        self
    }

    /// Offers the tool `wait_for_results` while the registry has a tool with
    /// [`background`](crate::ToolSpec::is_background). An `Agent` of the crate `tool-agent` does this.
    ///
    /// ```
    /// use tool_core::dialect::RequestOptions;
    /// use tool_dialects::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Builds the project, which takes minutes.
    /// #[tool(background)]
    /// async fn build_project() -> String {
    ///     "built".into()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![build_project]).build()?;
    /// let dialect = OpenAiChat::default();
    /// let options = RequestOptions::new().background();
    /// let request = registry.request(&dialect).options(options).build()?;
    /// assert!(request.fields()["tools"].get().contains("wait_for_results"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn background(mut self) -> Self {
        self.has_background = true;
        self
    }

    /// Allows or forbids several calls in one response. By default, the provider decides.
    pub fn parallel(mut self, is_allowed: bool) -> Self {
        self.parallel = Some(is_allowed);
        self
    }

    /// Marks the end of the tools as the end of a prefix that the provider should cache, where it
    /// needs such a mark. Other providers cache by themselves.
    pub fn cached(mut self) -> Self {
        self.is_cached = true;
        self
    }

    /// Asks for the results and outputs of [hosted tools](crate::dialect::HostedTool), where the provider
    /// sends it only on request (OpenAI's `include`).
    pub fn hosted_results(mut self) -> Self {
        self.has_hosted_results = true;
        self
    }

    /// Asks for a final answer of a type, in the provider's form of structured output. Read it with
    /// [`TypedAnswer`](crate::dialect::TypedAnswer), which validates it against the schema of the type.
    ///
    /// A type that is not an object is sent as an object with the value under `answer`. Restrictions that
    /// the provider's subset of JSON Schema lacks go into descriptions. If it rejects the schema, or has no
    /// structured output, the model is required to call a tool named `final_answer` with the answer as
    /// arguments, and [`ToolRequest::notes`](crate::dialect::ToolRequest::notes) says so.
    ///
    /// ```
    /// use tool_core::ToolType;
    /// use tool_core::dialect::RequestOptions;
    ///
    /// #[derive(ToolType)]
    /// struct Forecast {
    ///     high: f64,
    /// }
    ///
    /// let options = RequestOptions::new().answer::<Forecast>();
    /// assert!(options.has_answer());
    /// ```
    pub fn answer<T: ToolType + ?Sized>(mut self) -> Self {
        self.answer = Some(Answer::Of(AnswerFormat::of::<T>()));
        self
    }

    /// Takes the type of answers from other settings, and gives it again to settings that were saved. Of two types, the
    /// schemas must be equal.
    ///
    /// ```
    /// use tool_core::dialect::RequestOptions;
    ///
    /// let saved = RequestOptions::new().parallel(false).answer::<u8>();
    /// let numbers = RequestOptions::new().answer::<u8>();
    /// assert!(saved.clone().with_answer_of(&numbers).is_ok());
    /// let texts = RequestOptions::new().answer::<String>();
    /// let error = saved.with_answer_of(&texts).unwrap_err();
    /// println!("{error}");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the schemas differ, or if these settings were saved with a type and the others have none.
    pub fn with_answer_of(mut self, other: &RequestOptions) -> Result<Self, RequestError> {
        let Some(own) = &self.answer else {
            self.answer.clone_from(&other.answer);
            return Ok(self);
        };
        let Some(other) = &other.answer else {
            self.answer_format()?;
            return Ok(self);
        };
        let (own, given) = (
            SavedAnswer::from(own.clone()),
            SavedAnswer::from(other.clone()),
        );
        if own.schema != given.schema {
            return Err(RequestError::new(format!(
                "the settings ask for an answer of the type `{}`, whose schema is not that of `{}`",
                own.name, given.name
            )));
        }
        self.answer = Some(other.clone());
        Ok(self)
    }

    /// Returns the form of the final answer, if one is asked for.
    pub(in crate::provider) fn answer_format(&self) -> Result<Option<AnswerFormat>, RequestError> {
        match &self.answer {
            None => Ok(None),
            Some(Answer::Of(format)) => Ok(Some(*format)),
            Some(Answer::Saved(SavedAnswer { name, .. })) => Err(RequestError::new(format!(
                "the settings were saved with the type `{name}` for answers; give them a type with the same schema"
            ))),
        }
    }

    /// Returns `true` if the model may not call tools.
    ///
    /// ```
    /// use tool_core::dialect::{RequestOptions, ToolChoice};
    ///
    /// assert!(RequestOptions::new().choice(ToolChoice::None).forbids_calls());
    /// ```
    pub fn forbids_calls(&self) -> bool {
        matches!(self.choice, Some(ToolChoice::None))
    }

    /// Returns `true` if the settings ask for an answer of a type.
    pub fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns the settings for a request after the required calls were made: a required choice becomes
    /// [`ToolChoice::Auto`], so that the model can answer.
    ///
    /// ```
    /// use tool_core::dialect::{RequestOptions, ToolChoice};
    ///
    /// let options = RequestOptions::new().choice(ToolChoice::Required).parallel(false);
    /// let next = options.without_required_choice();
    /// # let _ = next;
    /// ```
    pub fn without_required_choice(mut self) -> Self {
        if let Some(ToolChoice::Required | ToolChoice::Tool(_)) = self.choice {
            self.choice = Some(ToolChoice::Auto);
        }
        self
    }
}
