//! [`RequestParts`] and [`RequestWriter`]: what a request is made of, and what a dialect writes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::provider::answer::{self, Answer, AnswerFormat, SavedAnswer};
use crate::provider::entry;
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::subset::Subset;
use crate::provider::target::Target;
use crate::provider::tool_request::RequestError;
use crate::provider::writer::JsonWriter;
use crate::schema::messages;
use crate::tool::ToolEntry;
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
/// use tool_core::dialect::{OpenAiChat, RequestOptions};
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
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct RequestOptions {
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(super) choice: Option<ToolChoice>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(super) only: Option<Vec<String>>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    parallel: Option<bool>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    is_cached: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    has_hosted_results: bool,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(super) answer: Option<Answer>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub(crate) has_background: bool,
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

    /// Allows only the tools with these names, which may be names of [hosted tools](HostedTool).
    ///
    /// Where the provider can restrict calls, the list of tools does not change, so that a cached
    /// prompt stays valid. Elsewhere the other tools are left out, and
    /// [`ToolRequest::notes`](crate::dialect::ToolRequest::notes) says so.
    ///
    /// ```
    /// use tool_core::dialect::{OpenAiResponses, RequestOptions};
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

    /// Offers the tool `wait_for_results` while the registry has a tool with
    /// [`background`](crate::ToolSpec::is_background). An `Agent` of the crate `tool-agent` does this.
    ///
    /// ```
    /// use tool_core::dialect::{OpenAiChat, RequestOptions};
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

    /// Asks for what [hosted tools](HostedTool) found and wrote, where the provider sends it only on
    /// request (OpenAI's `include`).
    pub fn hosted_results(mut self) -> Self {
        self.has_hosted_results = true;
        self
    }

    /// Asks for a final answer of a type, in the provider's form of structured output. Read it with
    /// [`TypedAnswer`](crate::dialect::TypedAnswer), which validates it against the schema of the type.
    ///
    /// A type that is not an object is sent as an object with the value under `answer`. What the
    /// provider's subset of JSON Schema can't express goes into descriptions. If it rejects the schema,
    /// or has no structured output, the model is required to call a tool named `final_answer` with the
    /// answer as arguments, and
    /// [`ToolRequest::notes`](crate::dialect::ToolRequest::notes) says so.
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
    pub(super) fn answer_format(&self) -> Result<Option<AnswerFormat>, RequestError> {
        match &self.answer {
            None => Ok(None),
            Some(Answer::Of(format)) => Ok(Some(*format)),
            Some(Answer::Saved(SavedAnswer { name, .. })) => Err(RequestError::new(format!(
                "the settings were saved with the type `{name}` for answers; give them a type with the same schema"
            ))),
        }
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

/// A tool of a request that a setting names.
///
/// ```
/// use tool_core::dialect::{NamedTool, RequestParts};
///
/// /// The names of the allowed tools, in your own dialect.
/// fn allowed<'p>(parts: &'p RequestParts<'_>) -> Vec<&'p str> {
///     let tools = parts.only().unwrap_or_default().iter();
///     tools
///         .filter_map(|tool| match tool {
///             NamedTool::Function(tool) => Some(&*tool.name),
///             _ => None,
///         })
///         .collect()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NamedTool<'r> {
    /// A tool of the registry.
    Function(&'r ToolEntry),
    /// A tool that the provider runs.
    Hosted(&'r HostedTool),
}

impl NamedTool<'_> {
    /// Returns the name that the setting has.
    pub(super) fn name(&self) -> &str {
        match self {
            NamedTool::Function(tool) => &tool.name,
            NamedTool::Hosted(tool) => hosted_tool::names(tool)
                .first()
                .copied()
                .unwrap_or_default(),
        }
    }

    pub(super) fn is_same(self, other: NamedTool<'_>) -> bool {
        match (self, other) {
            (NamedTool::Function(one), NamedTool::Function(other)) => one.is_same(other),
            (NamedTool::Hosted(one), NamedTool::Hosted(other)) => one == other,
            _ => false,
        }
    }
}

/// A [`ToolChoice`] with its tool.
///
/// ```
/// use tool_core::dialect::{Choice, RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_choice(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     let word = match parts.choice() {
///         Some(Choice::Required) => "required",
///         Some(Choice::None) => "none",
///         None | Some(Choice::Auto) => return,
///         Some(_) => return out.note("this server can't require one tool"),
///     };
///     out.field(&["tool_choice"], |out| {
///         out.string(word);
///     });
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Choice<'r> {
    /// [`ToolChoice::Auto`].
    Auto,
    /// [`ToolChoice::Required`].
    Required,
    /// [`ToolChoice::None`].
    None,
    /// [`ToolChoice::Tool`].
    Tool(NamedTool<'r>),
}

/// What a request is made of, for
/// [`Dialect::write_request`](crate::dialect::Dialect::write_request).
///
/// The tools that the dialect rejects are left out already, and names are replaced by their tools.
///
/// ```
/// use tool_core::dialect::{RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_tools(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     out.tools(&["functions"], parts, |out| {
///         out.array(|out| {
///             for tool in parts.tools() {
///                 out.object(|out| {
///                     out.key("name").string(&tool.name);
///                     out.key("schema").raw(tool.parameters_json());
///                 });
///             }
///         });
///     });
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RequestParts<'r> {
    pub(super) tools: Cow<'r, [ToolEntry]>,
    pub(super) hosted: Cow<'r, [HostedTool]>,
    pub(super) choice: Option<Choice<'r>>,
    pub(super) only: Option<Vec<NamedTool<'r>>>,
    /// The tool for the final answer, if one is asked for. Most providers need none.
    pub(super) answer_tool: Option<&'r ToolEntry>,
    pub(super) answer: Option<AnswerFormat>,
    pub(super) options: &'r RequestOptions,
}

impl<'r> RequestParts<'r> {
    /// Returns the tools of the registry, sorted by name.
    pub fn tools(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// Returns the hosted tools that the dialect knows.
    pub fn hosted(&self) -> &[HostedTool] {
        &self.hosted
    }

    /// Returns `true` if there are neither tools nor hosted tools.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.hosted.is_empty()
    }

    /// Returns which tools the model may or must call, if that is set.
    pub fn choice(&self) -> Option<Choice<'r>> {
        self.choice
    }

    /// Returns the allowed tools, if they are restricted. Not empty.
    pub fn only(&self) -> Option<&[NamedTool<'r>]> {
        self.only.as_deref()
    }

    /// Returns `true` if several calls in one response are allowed, if that is set.
    pub fn parallel(&self) -> Option<bool> {
        self.options.parallel
    }

    /// Returns `true` if the provider should cache the tools.
    pub fn is_cached(&self) -> bool {
        self.options.is_cached
    }

    /// Returns `true` if the request asks for the results of hosted tools.
    pub fn has_hosted_results(&self) -> bool {
        self.options.has_hosted_results
    }

    /// Returns the form of the final answer, if one is asked for.
    pub fn answer(&self) -> Option<AnswerFormat> {
        self.answer
    }

    /// Returns the schema of the answer in a subset. Without one that the target accepts, the parts have
    /// a tool for the answer.
    pub(crate) fn structured(
        &self,
        target: Target,
        subset: &Subset,
        out: &mut RequestWriter,
    ) -> (Cow<'_, RequestParts<'r>>, Option<String>) {
        let Some(format) = self.answer() else {
            return (Cow::Borrowed(self), None);
        };
        match format.reduced(target, subset) {
            Ok(schema) => (Cow::Borrowed(self), Some(schema)),
            Err(problem) => {
                let reason = format!("does not accept the schema of the answer ({problem})");
                (Cow::Owned(self.with_answer_tool(&reason, out)), None)
            }
        }
    }

    /// Returns the parts with a tool for the final answer, for a provider without structured output. The
    /// model must call it or another tool. Notes the reason.
    pub(crate) fn with_answer_tool(
        &self,
        reason: &str,
        out: &mut RequestWriter,
    ) -> RequestParts<'r> {
        let mut parts = self.clone();
        let Some(tool) = self.answer_tool else {
            return parts;
        };
        let provider = out.provider;
        out.note(format!(
            "{provider} {reason}; the model answers with a call of the tool `{}`",
            answer::TOOL
        ));
        parts.tools.to_mut().push(tool.clone());
        parts.choice = match self.choice {
            None | Some(Choice::Auto | Choice::Required) => Some(Choice::Required),
            Some(Choice::None) => Some(Choice::Tool(NamedTool::Function(tool))),
            Some(Choice::Tool(tool)) => Some(Choice::Tool(tool)),
        };
        if let Some(only) = &mut parts.only {
            only.push(NamedTool::Function(tool));
        }
        parts
    }

    /// Returns the parts with no other tools than the [allowed](RequestParts::only) ones, for a
    /// provider that can't restrict calls. Notes it, unless all tools are allowed.
    ///
    /// A choice of one tool is not affected.
    pub fn filtered(&self, out: &mut RequestWriter) -> RequestParts<'_> {
        let mut parts = RequestParts {
            tools: Cow::Borrowed(&self.tools),
            hosted: Cow::Borrowed(&self.hosted),
            choice: self.choice,
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
        };
        let Some(only) = &self.only else {
            return parts;
        };
        if only.len() == self.tools.len() + self.hosted.len() {
            return parts;
        }
        parts.keep(only);
        out.left_out(&parts);
        let provider = out.provider;
        out.note(format!(
            "{provider} can't restrict calls to some of the tools; the other tools are left out of \
             the request, which changes the prompt that it caches"
        ));
        parts
    }

    /// Returns the parts with one tool alone, for a provider that can require a call but can't name its
    /// tool. Notes it.
    pub(crate) fn with_only<'p>(
        &'p self,
        tool: NamedTool<'p>,
        out: &mut RequestWriter,
    ) -> RequestParts<'p> {
        let mut parts = RequestParts {
            tools: Cow::Borrowed(&self.tools),
            hosted: Cow::Borrowed(&self.hosted),
            choice: Some(Choice::Required),
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
        };
        if self.tools.len() + self.hosted.len() > 1 {
            parts.keep(&[tool]);
            out.left_out(&parts);
            let provider = out.provider;
            out.note(format!(
                "{provider} can't require a call of one tool among several; the other tools are left \
                 out of the request, which changes the prompt that it caches"
            ));
        }
        parts
    }

    /// Returns the parts without tools, for a provider that can't forbid calls. Notes it.
    pub(crate) fn without_tools(&self, out: &mut RequestWriter) -> RequestParts<'r> {
        let parts = RequestParts {
            tools: Cow::Borrowed(&[]),
            hosted: Cow::Borrowed(&[]),
            choice: None,
            only: None,
            answer_tool: self.answer_tool,
            answer: self.answer,
            options: self.options,
        };
        if !self.is_empty() {
            out.left_out(&parts);
            let provider = out.provider;
            out.note(format!(
                "{provider} can't forbid calls; the tools are left out of the request, which it may \
                 reject if the conversation has calls"
            ));
        }
        parts
    }

    /// Removes all other tools.
    fn keep(&mut self, only: &[NamedTool<'_>]) {
        let has = |tool: &ToolEntry| {
            only.iter()
                .any(|other| matches!(other, NamedTool::Function(other) if other.is_same(tool)))
        };
        let has_hosted = |tool: &HostedTool| {
            only.iter()
                .any(|other| matches!(other, NamedTool::Hosted(other) if *other == tool))
        };
        let tools = self.tools.iter().filter(|tool| has(tool)).cloned();
        self.tools = tools.collect();
        let hosted = self.hosted.iter().filter(|tool| has_hosted(tool)).cloned();
        self.hosted = hosted.collect();
    }
}

/// Collects the fields of a request; see
/// [`Dialect::write_request`](crate::dialect::Dialect::write_request).
///
/// ```
/// use tool_core::dialect::{RequestParts, RequestWriter};
///
/// /// In `Dialect::write_request` of your own dialect.
/// fn write_settings(parts: &RequestParts<'_>, out: &mut RequestWriter) {
///     if let Some(is_allowed) = parts.parallel() {
///         out.field(&["parallel"], |out| {
///             out.boolean(is_allowed);
///         });
///     }
///     if parts.is_cached() {
///         out.header("x-cache", "tools");
///     }
///     if parts.answer().is_some() {
///         out.note("this server has no structured output");
///     }
/// }
/// ```
#[derive(Debug)]
pub struct RequestWriter {
    provider: &'static str,
    pub(super) tools: Option<String>,
    pub(super) fields: RequestFields,
    pub(super) notes: Vec<String>,
    /// The tools that are sent, if some are left out.
    pub(super) sent: Option<(Vec<ToolEntry>, Vec<HostedTool>)>,
}

impl RequestWriter {
    pub(super) fn new(provider: &'static str) -> RequestWriter {
        RequestWriter {
            provider,
            tools: None,
            fields: RequestFields::default(),
            notes: Vec::new(),
            sent: None,
        }
    }

    /// Writes the tools at a path of the request, such as `["tools"]`.
    ///
    /// An empty array is left out of the request: providers reject it.
    pub fn tools(
        &mut self,
        path: &'static [&'static str],
        parts: &RequestParts<'_>,
        write: impl FnOnce(&mut JsonWriter),
    ) {
        let mut json = JsonWriter::with_capacity(entry::capacity(parts.tools()));
        write(&mut json);
        self.fields.tools = path;
        self.tools = Some(json.into_string());
    }

    /// Writes a field at a path of the request, such as `["toolConfig", "toolChoice"]`.
    pub fn field(&mut self, path: &'static [&'static str], write: impl FnOnce(&mut JsonWriter)) {
        let mut json = JsonWriter::new();
        write(&mut json);
        self.fields.others.push((path, json.into_string()));
    }

    /// Adds a header of the request. Several values of one header are joined with commas.
    pub fn header(&mut self, name: &'static str, value: &str) {
        self.fields.headers.add(name, value);
    }

    /// Adds a note about a setting that the provider lacks; see
    /// [`ToolRequest::notes`](crate::dialect::ToolRequest::notes).
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Notes the settings that are not the default, for a provider that has none of them.
    pub(crate) fn ignores(&mut self, parts: &RequestParts<'_>) {
        match parts.choice() {
            None | Some(Choice::Auto) => {}
            Some(_) => self.lacks("tool choice"),
        }
        self.ignores_parallel(parts);
        if parts.answer().is_some() {
            self.lacks("structured output");
        }
    }

    /// Notes that the provider can't allow or forbid several calls in a response.
    pub(crate) fn ignores_parallel(&mut self, parts: &RequestParts<'_>) {
        if parts.parallel() == Some(false) {
            self.lacks("setting that forbids several calls in a response");
        }
    }

    /// Notes that a request without tools has neither a choice nor a setting for parallel calls.
    pub(crate) fn ignores_without_tools(&mut self, parts: &RequestParts<'_>) {
        if let Some(Choice::Required) = parts.choice() {
            self.note("there are no tools, so that no call can be required");
        }
    }

    /// Notes that the provider rejects the schema of the answer, even as the schema of a tool.
    pub(crate) fn rejects_answer(&mut self, problem: &str) {
        let provider = self.provider;
        self.note(format!(
            "{provider} does not accept the schema of the answer ({problem}); it is left out: \
             describe the answer in the prompt"
        ));
    }

    /// Notes that the provider can't require a call of a hosted tool.
    pub(crate) fn cannot_require(&mut self, tool: &HostedTool) {
        let (provider, tool) = (self.provider, tool.to_string());
        let tool = messages::shorten(&tool);
        self.note(format!(
            "{provider} can't require a call of the hosted tool {tool}; the choice is left out"
        ));
    }

    /// Notes that the provider has no such setting.
    pub(crate) fn lacks(&mut self, what: &str) {
        let provider = self.provider;
        self.note(format!("{provider} has no {what}; it is left out"));
    }

    /// Remembers the tools that are sent, because others are left out.
    fn left_out(&mut self, parts: &RequestParts<'_>) {
        self.sent = Some((parts.tools.to_vec(), parts.hosted.to_vec()));
    }
}

/// A path of keys in the body of a request.
type FieldPath = &'static [&'static str];

/// The fields of a request apart from its tools, and its headers.
#[derive(Clone, Debug)]
pub(crate) struct RequestFields {
    /// The path of the tools.
    tools: FieldPath,
    /// Each with its JSON text.
    others: Vec<(FieldPath, String)>,
    headers: Headers,
}

impl Default for RequestFields {
    fn default() -> RequestFields {
        RequestFields {
            tools: &["tools"],
            others: Vec::new(),
            headers: Headers::default(),
        }
    }
}

impl RequestFields {
    /// Returns all fields with their JSON texts.
    fn all<'f>(&'f self, tools: &'f str) -> Vec<Field<'f>> {
        let others = self.others.iter();
        let others = others.map(|(path, json)| (*path, json.as_str()));
        let tools = (tools != "[]").then_some((self.tools, tools));
        let all = tools.into_iter().chain(others);
        all.filter(|(path, _)| !path.is_empty()).collect()
    }

    /// Returns the top-level fields.
    pub(crate) fn top_level(&self, tools: &str) -> BTreeMap<String, Box<RawValue>> {
        let all = self.all(tools);
        let mut fields = BTreeMap::new();
        for (path, json) in &all {
            if fields.contains_key(path[0]) {
                continue;
            }
            let text = if path.len() > 1 {
                let same = below(&all, path[0], 0);
                let mut out = JsonWriter::new();
                out.object(|out| write_others(&Map::new(), &same, 1, out));
                out.into_string()
            } else {
                (*json).to_owned()
            };
            // A dialect of the application may write anything.
            if let Ok(value) = RawValue::from_string(text) {
                fields.insert(path[0].to_owned(), value);
            }
        }
        fields
    }

    /// Returns the JSON text of a body.
    pub(crate) fn body(&self, tools: &str, own: Value) -> String {
        let own = match own {
            Value::Object(own) => own,
            _ => Map::new(),
        };
        let mut out = JsonWriter::with_capacity(tools.len() + 1024);
        out.object(|out| write_merged(&own, &self.all(tools), 0, out));
        out.into_string()
    }

    /// Returns the headers.
    pub(crate) fn headers(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.headers.iter()
    }
}

/// A field of a request with its JSON text.
type Field<'f> = (FieldPath, &'f str);

/// Writes the members of an object: the application's, merged with fields. `depth` is the number
/// of keys in the paths that lead to the object.
fn write_merged(
    own: &Map<String, Value>,
    fields: &[Field<'_>],
    depth: usize,
    out: &mut JsonWriter,
) {
    write_own(own, fields, depth, out);
    write_others(own, fields, depth, out);
}

/// Returns the fields below a member of an object.
fn below<'f>(fields: &[Field<'f>], key: &str, depth: usize) -> Vec<Field<'f>> {
    let is_below = |path: FieldPath| path[depth] == key && path.len() > depth + 1;
    let fields = fields.iter().copied();
    fields.filter(|(path, _)| is_below(path)).collect()
}

/// Writes the members that the application sets.
fn write_own(own: &Map<String, Value>, fields: &[Field<'_>], depth: usize, out: &mut JsonWriter) {
    for (key, value) in own {
        let same = below(fields, key, depth);
        match value {
            Value::Object(own) if !same.is_empty() => {
                out.key(key)
                    .object(|out| write_merged(own, &same, depth + 1, out));
            }
            _ => {
                out.key(key).raw(&value.to_string());
            }
        }
    }
}

/// Writes the members that the application does not set.
fn write_others(
    own: &Map<String, Value>,
    fields: &[Field<'_>],
    depth: usize,
    out: &mut JsonWriter,
) {
    for (at, (path, json)) in fields.iter().enumerate() {
        let key = path[depth];
        let is_written = own.contains_key(key)
            || fields[..at]
                .iter()
                .any(|(earlier, _)| earlier[depth] == key);
        if is_written {
            continue;
        }
        if path.len() == depth + 1 {
            out.key(key).raw(json);
        } else {
            let same = below(fields, key, depth);
            out.key(key)
                .object(|out| write_others(&Map::new(), &same, depth + 1, out));
        }
    }
}

/// Headers with their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers(Vec<(&'static str, String)>);

impl Headers {
    /// Adds a value, unless the header has it.
    fn add(&mut self, name: &'static str, value: &str) {
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            None => self.0.push((name, value.to_owned())),
            Some((_, values)) => {
                if values.split(',').all(|other| other != value) {
                    values.push(',');
                    values.push_str(value);
                }
            }
        }
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
