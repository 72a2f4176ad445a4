//! [`ToolRequest`]: the fields of a request that belong to its tools, as a dialect wrote them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::provider::answer::{self, AnswerFormat, AnswerWay};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::rendered::{Rendered, accepted, select};
use crate::provider::request::{
    Choice, HistoryTools, NamedTool, RequestError, RequestFields, RequestOptions, RequestParts,
    RequestWriter, ToolChoice,
};
use crate::provider::wire::Dialect;
use crate::schema::messages::{self, nearest};
use crate::telemetry;
use crate::tool::ToolEntry;

/// The fields of a request that belong to its tools, for one provider.
///
/// Created by [`Registry::request`](crate::Registry::request).
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::ToolChoice;
/// use tool_dialects::OpenAiChat;
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
///     .request(&OpenAiChat::default())
///     .choice(ToolChoice::tool("add"))
///     .parallel(false)
///     .build()?;
/// let fields = json!(request.fields());
/// assert_eq!(fields["tools"][0]["function"]["name"], "add");
/// assert_eq!(fields["tool_choice"], json!({"type": "function", "function": {"name": "add"}}));
/// assert_eq!(fields["parallel_tool_calls"], false);
///
/// // The body of the request, in which the tools are as the dialect wrote them.
/// let body = request.body(json!({"model": "…", "messages": []}));
/// assert!(body.contains(request.tools().as_str()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolRequest {
    tools: Rendered,
    fields: RequestFields,
    notes: Vec<String>,
    answer_way: Option<AnswerWay>,
    instructions: Option<String>,
    /// `false` if the registry has no tools for this dialect.
    has_tools: bool,
    /// The tools that it has because of the messages.
    history: Vec<String>,
}

impl ToolRequest {
    /// Writes a request. The tools are the registry's, sorted by name.
    pub(crate) fn new(
        dialect: &(impl Dialect + ?Sized),
        tools: &[ToolEntry],
        hosted: &[HostedTool],
        options: &RequestOptions,
        messages: &[&Value],
    ) -> Result<ToolRequest, RequestError> {
        let (tools, mut rejected) = accepted(dialect, tools);
        let (hosted, rejected_hosted) = select(dialect, &tools, hosted);
        rejected.extend(rejected_hosted);
        let find = |name: &str| find(name, &tools, &hosted);
        let choice = match &options.choice {
            None => None,
            Some(ToolChoice::Auto) => Some(Choice::Auto),
            Some(ToolChoice::Required) => Some(Choice::Required),
            Some(ToolChoice::None) => Some(Choice::None),
            Some(ToolChoice::Tool(name)) => Some(Choice::Tool(find(name)?)),
        };
        let only = match &options.only {
            None if options.has_only_these => {
                let tools = tools.iter().map(NamedTool::Function);
                Some(tools.chain(hosted.iter().map(NamedTool::Hosted)).collect())
            }
            None => None,
            Some(names) if names.is_empty() => {
                return Err(RequestError::new(
                    "`only` has no names; to forbid calls, use `ToolChoice::None`",
                ));
            }
            Some(names) => {
                let mut only: Vec<NamedTool<'_>> = Vec::with_capacity(names.len());
                for name in names {
                    let tool = find(name)?;
                    if !only.iter().any(|other| other.is_same(tool)) {
                        only.push(tool);
                    }
                }
                Some(only)
            }
        };
        if let (Some(Choice::Tool(tool)), Some(only)) = (choice, &only)
            && !only.iter().any(|other| other.is_same(tool))
        {
            let name = messages::name(tool.name());
            return Err(RequestError::new(format!(
                "the request requires a call of {name}, which is not among the tools of `only`"
            )));
        }
        let answer = options.answer_format()?;
        let answer_tool = answer.map(|format| format.tool());
        if answer_tool.is_some() && find(answer::TOOL).is_ok() {
            return Err(RequestError::new(format!(
                "the name `{}` is reserved for the answer; rename the tool",
                answer::TOOL
            )));
        }
        let history = dialect.history_tools(!tools.is_empty(), messages);
        let missing = history.iter().filter(|name| {
            let has_name = |tool: &ToolEntry| *tool.name == ***name;
            !tools.iter().any(has_name)
        });
        let missing: Vec<_> = missing.map(|name| stub(name)).collect();
        let mut out = RequestWriter::new(dialect.provider());
        let parts = RequestParts {
            tools: Cow::Borrowed(&tools),
            hosted: Cow::Borrowed(&hosted),
            choice,
            only,
            answer_tool: answer_tool.as_ref(),
            answer,
            options,
            history: HistoryTools {
                names: &history,
                missing: &missing,
            },
        };
        dialect.write_request(&parts, &mut out);
        let json = out.tools.unwrap_or_else(|| "[]".to_owned());
        let broken = match &out.sent {
            Some((tools, hosted)) => dialect.broken_rules(tools, hosted),
            None => dialect.broken_rules(&tools, &hosted),
        };
        Ok(ToolRequest {
            tools: Rendered::from_parts(json, broken, rejected),
            fields: out.fields,
            notes: out.notes,
            answer_way: answer.map(|_| out.answer_way.unwrap_or(AnswerWay::Schema)),
            instructions: out.instructions,
            has_tools: !tools.is_empty(),
            history,
        })
    }

    /// Returns the request with the tools of an earlier one of the conversation: the JSON text of its
    /// [tools](ToolRequest::tools). The provider has cached a prompt that starts with them; see
    /// [`Dialect::change_tools`].
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let request = Registry::new().request(&OpenAiChat::default()).build()?;
    /// let request = request.with_tools(r#"[{"type":"function","function":{"name":"get_time"}}]"#);
    /// assert!(request.body(serde_json::json!({})).contains("get_time"));
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    #[must_use]
    pub fn with_tools(&self, tools: &str) -> ToolRequest {
        let mut request = self.clone();
        request.tools.replace_json(tools);
        request
    }

    /// Returns the request with another [note](ToolRequest::notes), and logs the note.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let request = Registry::new().request(&OpenAiChat::default()).build()?;
    /// assert_eq!(request.with_note("the tools changed").notes(), ["the tools changed"]);
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    #[must_use]
    pub fn with_note(&self, note: impl Into<String>) -> ToolRequest {
        let mut request = self.clone();
        let note = note.into();
        telemetry::noted(&note);
        request.notes.push(note);
        request
    }

    /// Returns `true` if the request would be the same with these messages.
    pub(crate) fn fits(&self, dialect: &(impl Dialect + ?Sized), messages: &[&Value]) -> bool {
        dialect.history_tools(self.has_tools, messages) == self.history
    }

    /// Returns the tools, with the rules that they break and the tools that are left out.
    pub fn tools(&self) -> &Rendered {
        &self.tools
    }

    /// Returns the top-level fields of the request as JSON. Without tools, there is no field for them.
    ///
    /// The values keep the text that the dialect wrote. If the application sets a field too, such as
    /// `generationConfig` of Gemini, the values have to be merged; [`body`](ToolRequest::body) does that.
    pub fn fields(&self) -> BTreeMap<String, Box<RawValue>> {
        self.fields.top_level(self.tools.as_str())
    }

    /// Returns the headers that the request needs beyond the headers of every request, such as
    /// `anthropic-beta`.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.fields.headers()
    }

    /// Returns what the provider lacks, in words for the developer: settings that are left out, or
    /// replaced by something else.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_dialects::Gemini;
    ///
    /// let request = Registry::new().request(&Gemini::default()).parallel(false).build()?;
    /// assert_eq!(
    ///     request.notes()[0],
    ///     "Gemini has no setting that forbids several calls in a response; it is left out"
    /// );
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns how the model is made to answer in a form, if the request
    /// [asks](crate::dialect::RequestOptions::answer) for one.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::dialect::AnswerWay;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let request = Registry::new().request(&OpenAiChat::default()).answer::<Vec<String>>().build()?;
    /// assert_eq!(request.answer_way(), Some(AnswerWay::Schema));
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn answer_way(&self) -> Option<AnswerWay> {
        self.answer_way
    }

    /// Returns what the system prompt must say besides: the schema of the answer, where the provider does not take it in
    /// a field. `HttpModel` adds it.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_dialects::server;
    ///
    /// let request = Registry::new().request(&server::DEEPSEEK).answer::<Vec<String>>().build()?;
    /// assert!(request.instructions().unwrap().contains("JSON Schema"));
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Returns the JSON text of a request's body: the application's fields, merged with the fields of the
    /// tools. Objects are merged; of two other values, the application's stays. `null` removes the field.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let request = Registry::new().request(&OpenAiChat::default()).build()?;
    /// assert_eq!(request.body(json!({"model": "…", "user": null})), r#"{"model":"…"}"#);
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn body(&self, own: impl Into<Value>) -> String {
        self.fields.body(self.tools.as_str(), own.into())
    }
}

/// Returns what stands in for a tool that the conversation names and the registry does not have.
#[cold]
fn stub(name: &str) -> ToolEntry {
    let description = "This tool is no longer available. Do not call it.";
    AnswerFormat::entry(name, description, r#"{"type":"object","properties":{}}"#)
}

/// Finds the tool that a setting names.
fn find<'r>(
    name: &str,
    tools: &'r [ToolEntry],
    hosted: &'r [HostedTool],
) -> Result<NamedTool<'r>, RequestError> {
    if let Ok(at) = tools.binary_search_by(|tool| (*tool.name).cmp(name)) {
        return Ok(NamedTool::Function(&tools[at]));
    }
    if let Some(tool) = tools.iter().find(|tool| tool.source_name() == name) {
        return Ok(NamedTool::Function(tool));
    }
    let is_named = |tool: &&HostedTool| hosted_tool::names(tool).contains(&name);
    if let Some(tool) = hosted.iter().find(is_named) {
        return Ok(NamedTool::Hosted(tool));
    }
    let functions = tools.iter().map(|tool| &*tool.name);
    let hosted_names = hosted.iter().flat_map(hosted_tool::names);
    let hint = match nearest(name, functions.chain(hosted_names)) {
        Some(nearest) => format!("; did you mean {nearest}?"),
        None => String::new(),
    };
    let name = messages::name(name);
    Err(RequestError::new(format!(
        "the request has no tool {name}{hint}"
    )))
}
