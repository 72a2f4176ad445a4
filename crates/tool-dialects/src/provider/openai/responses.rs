//! OpenAI's Responses API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tool_core::content::{Content, Image};
use tool_core::dialect::write::{
    AnswerFormat, Choice, Deferral, HttpApi, JsonWriter, NamedTool, RequestParts, RequestWriter,
    Subset, SystemPrompt, ToolChange, WireId, name as shown_name, with_suffix, write_entry,
    write_freeform_head, write_head,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::schema::Kind;
use tool_core::spec::{OutputValues, Trained};
use tool_core::{ToolEntry, ToolResult, ToolSpec};

use super::accepts::{FILES, IMAGES};
use super::stream::ResponseStream;
use super::trained::PROVIDER;
use super::{answer_schema, response, trained_calls, write_grammar};
use crate::provider::changes::Changes;
use crate::provider::entry::{strict_or_plain, write_callers};
use crate::provider::history::{call_text, user_blocks};
use crate::provider::media::{self, Written, WrittenResult, wire_id, write_parts};
use crate::provider::message;
use crate::provider::response::is_type;
use crate::provider::stream::reader;
use crate::provider::{chat, hosted_tool};
use tool_core::dialect::NamedDialect;

/// OpenAI's Responses API (`/v1/responses`).
///
/// Always writes `strict`: without it, the API makes schemas strict where it can, and optional
/// parameters required (OpenAI's API description, `FunctionToolParam`).
///
/// The turn consists of all items of the output, including reasoning. A request with
/// `previous_response_id` contains the turn already and needs only the results.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::OpenAiResponses;
///
/// let dialect = OpenAiResponses::default();
/// let request = Registry::linked()?.request(&dialect).build()?;
/// let body = request.body(json!({"model": "…", "input": [dialect.user_message("Hello!")]}));
/// # let _ = body;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiResponses {
    is_strict: bool,
    has_functions_only: bool,
    /// Set if the model has no tool search.
    is_without_search: bool,
    has_async_calls: bool,
    has_additional_tools: bool,
}

impl OpenAiResponses {
    pub(crate) const NAMED: &[NamedDialect] = &[
        NamedDialect::new(
            "openai-responses",
            "OpenAI Responses",
            false,
            &OpenAiResponses::new(false),
        ),
        NamedDialect::new(
            "openai-responses",
            "OpenAI Responses, strict",
            true,
            &OpenAiResponses::new(true),
        ),
    ];

    pub(super) const fn new(is_strict: bool) -> OpenAiResponses {
        OpenAiResponses {
            is_strict,
            has_functions_only: false,
            is_without_search: false,
            has_async_calls: false,
            has_additional_tools: false,
        }
    }

    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Tools are written as by [`OpenAiChat::strict`](crate::OpenAiChat::strict).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Says hello.
    /// #[tool]
    /// fn greet(name: Option<&str>) -> String {
    ///     format!("Hello, {}!", name.unwrap_or("you"))
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![greet]).build()?;
    /// let tools = json!(registry.render(&OpenAiResponses::strict()));
    /// assert_eq!(tools[0]["strict"], true);
    /// assert_eq!(tools[0]["parameters"]["required"], json!(["name"]));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> OpenAiResponses {
        OpenAiResponses::new(true)
    }

    /// Writes [free-form](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#free-form-tools) tools as functions too, as
    /// [`OpenAiChat::functions_only`](crate::OpenAiChat::functions_only) does.
    pub fn functions_only(mut self) -> OpenAiResponses {
        self.has_functions_only = true;
        self
    }

    /// Sends `search_tools` and `call_tool` in place of [deferred](tool_core::RegistryBuilder::defer) tools, for
    /// models that have no tool search: those before GPT-5.4, and of other servers.
    ///
    /// With tool search, the request has the tool `tool_search`, and each group with deferred tools is a
    /// namespace. OpenAI advises to have fewer than ten tools in each. The model sees the name and the
    /// description of a namespace, or of a deferred tool without a group.
    ///
    /// ```
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool(defer)]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let rendered = registry.render(&OpenAiResponses::default().without_tool_search());
    /// assert!(rendered.as_str().contains("search_tools"));
    /// assert!(!rendered.as_str().contains("roll_die"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[must_use]
    pub fn without_tool_search(mut self) -> OpenAiResponses {
        self.is_without_search = true;
        self
    }

    /// Lets the model go on in the same response after a call of a tool with
    /// [`background`](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys-of-tool), for GPT-6 Astra and later models: the tool is `async`. The result is sent
    /// with the id of the call, in any later request. Without this, and for calls of other models, an agent sends an
    /// acknowledgement first.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Builds the project, which takes minutes.
    /// #[tool(background)]
    /// async fn build_project() -> String {
    ///     "built".into()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![build_project]).build()?;
    /// let dialect = OpenAiResponses::default().async_calls();
    /// assert_eq!(json!(registry.render(&dialect))[0]["async"], true);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[must_use]
    pub fn async_calls(mut self) -> OpenAiResponses {
        self.has_async_calls = true;
        self
    }

    /// Adds tools to a conversation by an item of its input (`additional_tools`), so that the cached prompt before it
    /// stays, for models that take it. Without this, and if a tool gets another definition, an agent sends another list,
    /// and the model reads the whole conversation again. Removed tools need no item: a request says which tools are
    /// allowed (OpenAI's Python SDK 3.57, `AdditionalTools` and `ToolChoiceAllowedParam`, 2026-11).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_core::dialect::write::ToolChange;
    /// use tool_dialects::OpenAiResponses;
    ///
    /// let tool = |name: &str| json!({"type": "function", "name": name});
    /// let dialect = OpenAiResponses::default().additional_tools();
    /// let change = dialect.change_tools(&[tool("get_order")], &[tool("get_order"), tool("refund")]);
    /// let item = json!({"type": "additional_tools", "role": "developer", "tools": [tool("refund")]});
    /// assert_eq!(change, ToolChange::Message(item));
    /// ```
    #[must_use]
    pub fn additional_tools(mut self) -> OpenAiResponses {
        self.has_additional_tools = true;
        self
    }

    /// Writes the deferred tools and a search for them: first those without a group, then the groups as
    /// namespaces.
    #[cold]
    fn write_deferred(
        self,
        tools: &[ToolEntry],
        hosted: &[HostedTool],
        has_programs: bool,
        out: &mut JsonWriter,
    ) {
        if !hosted.iter().any(is_tool_search) {
            out.raw(r#"{"type":"tool_search"}"#);
        }
        let mut groups = BTreeMap::<&str, Vec<&ToolEntry>>::new();
        let is_deferred =
            |tool: &&ToolEntry| tool.is_deferred() && self.trained(tool, tools).is_none();
        for tool in tools.iter().filter(is_deferred) {
            match tool.group().filter(|group| !group.is_empty()) {
                Some(group) => groups.entry(group).or_default().push(tool),
                None => self.write_tool(tool, has_programs, true, out),
            }
        }
        for (group, tools) in groups {
            out.object(|out| {
                out.word("type").string("namespace");
                out.word("name").string(&namespace_name(group));
                out.word("description");
                match tools.iter().find_map(|tool| tool.group_description()) {
                    Some(description) => out.string(description),
                    None => out.string(&namespace_description(&tools)),
                };
                out.word("tools").array(|out| {
                    for tool in tools {
                        self.write_tool(tool, has_programs, true, out);
                    }
                });
            });
        }
    }

    /// Returns the tool of OpenAI that a function provides. Of several functions that provide the same, the first counts: a
    /// request has each tool once.
    #[inline]
    fn trained(self, tool: &ToolEntry, tools: &[ToolEntry]) -> Option<&'static Trained> {
        let trained = tool.trained(PROVIDER)?;
        let mut providing = tools.iter().filter(|other| {
            let other = other.trained(PROVIDER);
            other.is_some_and(|other| other.kind == trained.kind)
        });
        let is_first = providing.next().is_some_and(|first| first.is_same(tool));
        (is_first && !self.has_functions_only).then_some(trained)
    }

    /// Writes a tool with its settings.
    #[inline]
    fn write_tool(
        self,
        tool: &ToolEntry,
        has_programs: bool,
        is_deferred: bool,
        out: &mut JsonWriter,
    ) {
        out.object(|out| {
            let is_custom = tool.is_freeform() && !self.has_functions_only;
            if is_custom {
                write_custom(tool, out);
            } else if tool.strict().unwrap_or(self.is_strict) {
                out.word("type").string("function");
                write_head(tool, out);
                strict_or_plain(
                    tool,
                    Target::OpenAiStrict,
                    &Subset::OPENAI_STRICT,
                    "parameters",
                    out,
                );
            } else {
                write_function(tool, out);
            }
            if has_programs {
                write_for_programs(tool, is_custom, out);
            }
            if is_deferred {
                out.word("defer_loading").boolean(true);
            }
            // A program waits for its calls.
            if self.has_async_calls
                && tool.is_background()
                && !(has_programs && tool.programmatic().is_some())
            {
                out.word("async").boolean(true);
            }
        });
    }
}

/// The tools of OpenAI that programs may call (OpenAI's Python SDK, the parameters of each tool).
const CALLABLE: [&str; 2] = ["apply_patch", "shell"];

/// Writes a tool on which OpenAI trained its models.
#[cold]
fn write_trained(trained: &Trained, tool: &ToolSpec, has_programs: bool, out: &mut JsonWriter) {
    out.object(|out| {
        write_entry(trained, out);
        if has_programs && CALLABLE.contains(&trained.kind) {
            write_callers(tool, "programmatic", out);
        }
    });
}

/// Writes a function that is not strict.
fn write_function(tool: &ToolSpec, out: &mut JsonWriter) {
    out.quoted("\"type\":").raw("\"function\"");
    write_head(tool, out);
    out.quoted("\"parameters\":").raw(tool.portable_json());
    out.quoted("\"strict\":").boolean(false);
}

/// Returns the name of a group as a namespace: `^[a-zA-Z0-9_-]{1,64}$` (OpenAI's API description,
/// `FunctionCallOutputItemParam.namespace`).
fn namespace_name(group: &str) -> Cow<'_, str> {
    let is_accepted = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if group.len() <= 64 && group.chars().all(is_accepted) {
        return group.into();
    }
    let name: String = group
        .chars()
        .map(|letter| if is_accepted(letter) { letter } else { '_' })
        .collect();
    with_suffix(&name, group).into()
}

/// Returns a description of a group that has none: a namespace requires one.
fn namespace_description(tools: &[&ToolEntry]) -> String {
    const LISTED: usize = 10;
    let names: Vec<_> = tools.iter().take(LISTED).map(|tool| &*tool.name).collect();
    let mut text = format!("Tools: {}", names.join(", "));
    if tools.len() > LISTED {
        text += &format!(" and {} more", tools.len() - LISTED);
    }
    text + "."
}

/// Returns `true` for the search for deferred tools.
fn is_tool_search(tool: &HostedTool) -> bool {
    tool.json()["type"] == "tool_search"
}

/// The types of tools other than functions (OpenAI's Python SDK, `responses.ToolParam`).
const HOSTED: [&str; 17] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
];

/// The parts that `include` adds to the items of hosted tools (OpenAI's Python SDK, `ResponseIncludable`).
const INCLUDED: [(&str, &str); 8] = [
    ("file_search", "file_search_call.results"),
    ("web_search", "web_search_call.action.sources"),
    ("web_search_2025_08_26", "web_search_call.action.sources"),
    ("web_search_preview", "web_search_call.action.sources"),
    (
        "web_search_preview_2025_03_11",
        "web_search_call.action.sources",
    ),
    ("code_interpreter", "code_interpreter_call.outputs"),
    ("computer", "computer_call_output.output.image_url"),
    (
        "computer_use_preview",
        "computer_call_output.output.image_url",
    ),
];

/// The hosted tools that a choice may name (OpenAI's Python SDK, `ToolChoiceTypesParam` and the other
/// members of `response_create_params.ToolChoice`).
const CHOOSABLE: [&str; 11] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "mcp",
    "shell",
    "web_search_preview",
    "web_search_preview_2025_03_11",
];

/// Writes `tool_choice` of the Responses API.
fn write_choice(dialect: OpenAiResponses, parts: &RequestParts<'_>, out: &mut RequestWriter) {
    let has_custom_tools = !dialect.has_functions_only;
    let trained = |tool: &ToolEntry| dialect.trained(tool, parts.tools());
    let write_tool = |tool: &NamedTool<'_>, json: &mut JsonWriter| match tool {
        NamedTool::Function(tool) => {
            if let Some(trained) = trained(tool) {
                json.object(|json| {
                    json.word("type").string(trained.kind);
                });
                return;
            }
            let kind = if has_custom_tools && tool.is_freeform() {
                "custom"
            } else {
                "function"
            };
            json.object(|json| {
                json.word("type").string(kind);
                json.word("name").string(&tool.name);
            });
        }
        NamedTool::Hosted(tool) => hosted_tool::write_reference(tool, json),
        _ => {}
    };
    let path = &["tool_choice"];
    let mut word = |word: &str| {
        out.field(path, |json| {
            json.string(word);
        });
    };
    match (parts.choice(), parts.only()) {
        (Some(Choice::None), _) => word("none"),
        (Some(Choice::Tool(NamedTool::Hosted(tool))), _)
            if !hosted_tool::is_of_type(tool, |name| CHOOSABLE.contains(&name)) =>
        {
            out.cannot_require(tool);
        }
        (Some(Choice::Tool(NamedTool::Function(tool))), _)
            if trained(tool).is_some_and(|trained| !CHOOSABLE.contains(&trained.kind)) =>
        {
            let name = shown_name(&tool.name);
            out.note(format!(
                "OpenAI cannot require a call of {name}, which provides a tool of its own; the model chooses"
            ));
        }
        (Some(Choice::Tool(tool)), _) => out.field(path, |json| write_tool(&tool, json)),
        (choice, Some(only)) => out.field(path, |json| {
            json.object(|json| {
                json.word("type").string("allowed_tools");
                chat::write_allowed(choice, json);
                json.word("tools").array(|json| {
                    for tool in only {
                        write_tool(tool, json);
                    }
                });
            });
        }),
        (Some(Choice::Required), None) => word("required"),
        (Some(_), None) => word("auto"),
        (None, None) => {}
    }
}

pub(crate) const HTTP_API: HttpApi = HttpApi {
    path: &["responses"],
    key_variables: &["OPENAI_API_KEY"],
    messages: "input",
    system: SystemPrompt::Text("instructions"),
    max_tokens: &["max_output_tokens"],
    ..HttpApi::new("OpenAI", "https://api.openai.com/v1")
};

impl Dialect for OpenAiResponses {
    fn change_tools(&self, before: &[Value], now: &[Value]) -> ToolChange {
        let changes = Changes::between(before, now, "");
        if changes.is_empty() {
            return ToolChange::Same;
        }
        if changes.added.is_empty() && !now.is_empty() {
            return ToolChange::Allowed;
        }
        let is_new = |tool: &&Value| {
            let is_listed = before.iter().any(|other| other["name"] == tool["name"]);
            tool["name"].is_string() && tool["defer_loading"] != true && !is_listed
        };
        let has_only_new = changes.removed.is_empty() && changes.added.iter().all(is_new);
        if self.has_additional_tools && has_only_new && !before.is_empty() {
            return ToolChange::Message(json!({
                "type": "additional_tools",
                "role": "developer",
                "tools": changes.added,
            }));
        }
        let advice =
            "`OpenAiResponses::additional_tools` keeps it for models that take additional tools";
        ToolChange::Rewritten {
            advice: (has_only_new && !self.has_additional_tools).then_some(advice),
        }
    }

    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let is_hosted = |tool: &HostedTool| is_type(tool.json(), "programmatic_tool_calling");
        let has_programs = hosted.iter().any(is_hosted);
        let mut has_deferred = false;
        out.array(|out| {
            for tool in tools {
                // Most tools, which must not pay for the settings of others.
                if !self.is_strict && tool.is_plain() {
                    out.object(|out| write_function(tool, out));
                } else if let Some(trained) = self.trained(tool, tools) {
                    // The API has no form for one that is deferred.
                    write_trained(trained, tool, has_programs, out);
                } else if !self.is_without_search && tool.is_deferred() {
                    has_deferred = true;
                } else {
                    self.write_tool(tool, has_programs, false, out);
                }
            }
            hosted_tool::write(hosted, out);
            if has_deferred {
                // Last, so that the others are a prefix that stays the same when deferred tools change.
                self.write_deferred(tools, hosted, has_programs, out);
            }
        });
    }

    fn deferral(&self) -> Deferral {
        if self.is_without_search {
            Deferral::Emulated
        } else {
            Deferral::Native
        }
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        out.tools(&["tools"], parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        if let Some((schema, is_strict)) = answer_schema(parts, out) {
            out.field(&["text", "format"], |json| {
                json.object(|json| {
                    json.word("type").string("json_schema");
                    json.word("name").string(AnswerFormat::NAME);
                    json.word("schema").raw(&schema);
                    json.word("strict").boolean(is_strict);
                });
            });
        }
        if parts.is_empty() {
            return out.ignores_without_tools(parts);
        }
        match parts.choice() {
            // The API rejects the request (OpenAI's Agents SDK, guide "Tools", 2026).
            Some(Choice::Tool(NamedTool::Function(tool)))
                if tool.is_deferred()
                    && !self.is_without_search
                    && self.trained(tool, parts.tools()).is_none() =>
            {
                let name = shown_name(&tool.name);
                out.note(format!(
                    "OpenAI cannot require a call of {name}, which is deferred; the model chooses"
                ));
            }
            _ => write_choice(*self, parts, out),
        }
        if let Some(is_allowed) = parts.parallel() {
            out.field(&["parallel_tool_calls"], |json| {
                json.boolean(is_allowed);
            });
        }
        let types = parts.hosted().iter();
        let types: Vec<_> = types
            .filter_map(|tool| tool.json()["type"].as_str())
            .collect();
        let included = INCLUDED.iter().filter(|(name, _)| types.contains(name));
        let mut included: Vec<_> = included.map(|(_, field)| *field).collect();
        included.dedup();
        if parts.has_hosted_results() && !included.is_empty() {
            out.field(&["include"], |json| {
                json.array(|json| {
                    for field in included {
                        json.string(field);
                    }
                });
            });
        }
    }

    /// An item that the application must run itself, such as a `shell_call`, is
    /// [unanswered](Turn::unanswered).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        response::NAMES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "the Responses API of OpenAI"
    }

    fn telemetry_name(&self) -> &'static str {
        "openai"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(
            ResponseStream::default(),
            &response::FORMAT,
            response::outline,
        )
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut after = Vec::new();
        let item = |result: &ToolResult| {
            if let Some(answer) = result.answer() {
                return trained_calls::output(answer, result, &mut after);
            }
            if result.server().is_some() {
                return approval_response(result);
            }
            let output = if result.parts().is_empty() {
                result.content().into()
            } else {
                let text = |text| json!({ "type": "input_text", "text": text });
                Value::Array(responses_parts(result).into_blocks(text))
            };
            let kind = if result.wire_id() == WireId::Custom {
                "custom_tool_call_output"
            } else {
                "function_call_output"
            };
            let mut item = json!({
                "type": kind,
                "call_id": wire_id(result),
                "output": output,
            });
            if let Some(caller) = result.caller() {
                item["caller"] = caller.clone();
            }
            item
        };
        let mut items: Vec<_> = results.iter().map(item).collect();
        items.append(&mut after);
        items
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        let text = |text| json!({ "type": "input_text", "text": text });
        Some(match message {
            Message::System(text) => vec![json!({ "role": "system", "content": text })],
            Message::User(parts) => {
                let mut blocks = user_blocks(parts, responses_parts, text);
                // Required here, and optional in results (`ResponseInputImageParam` of OpenAI's Python SDK).
                for block in blocks
                    .iter_mut()
                    .filter(|block| is_type(block, "input_image"))
                {
                    block["detail"] = "auto".into();
                }
                vec![json!({ "role": "user", "content": blocks })]
            }
            Message::Model { text, calls } => {
                // Parts of an output need an id and a status (`ResponseOutputMessageParam` of OpenAI's Python SDK).
                let said = (!text.is_empty() || calls.is_empty())
                    .then(|| json!({ "type": "message", "role": "assistant", "content": text }));
                let calls = calls.iter().map(|call| {
                    json!({
                        "type": "function_call",
                        "call_id": call.id,
                        "name": call.name,
                        "arguments": call_text(call),
                    })
                });
                said.into_iter().chain(calls).collect()
            }
            _ => return None,
        })
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        message::read(message, read_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        response::HISTORY.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| match trained_calls::parts(result) {
            Some(written) => written,
            None => responses_parts(result),
        })
    }

    /// Deferred tools are not counted: OpenAI documents no limit for them.
    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        if self.is_without_search || !tools.iter().any(ToolEntry::is_deferred) {
            return broken(Target::OpenAiStrict, tools);
        }
        let tools = tools.iter().filter(|tool| !tool.is_deferred()).cloned();
        broken(Target::OpenAiStrict, &tools.collect::<Vec<_>>())
    }
}

/// Returns the answer to a request for an approval (`McpApprovalResponse` of OpenAI's Python SDK). Only a decision
/// approves.
#[cold]
fn approval_response(result: &ToolResult) -> Value {
    let is_approved = !result.is_error() && !result.approved().is_empty();
    let mut item = json!({
        "type": "mcp_approval_response",
        "approval_request_id": result.call_id(),
        "approve": is_approved,
    });
    if !is_approved {
        item["reason"] = result.content().into();
    }
    item
}

/// Writes the members of a custom tool of Responses (`CustomToolParam` of OpenAI's Python SDK).
#[cold]
fn write_custom(tool: &ToolSpec, out: &mut JsonWriter) {
    out.word("type").string("custom");
    write_freeform_head(tool, out);
    if let Some(grammar) = tool.grammar() {
        out.word("format").object(|out| {
            out.word("type").string("grammar");
            write_grammar(grammar, out);
        });
    }
}

/// Writes what programs need to know about a tool of Responses.
#[cold]
fn write_for_programs(tool: &ToolSpec, is_custom: bool, out: &mut JsonWriter) {
    if let (false, Some(_), Some(schema)) =
        (is_custom, tool.programmatic(), structured_output(tool))
    {
        out.word("output_schema").raw(schema);
    }
    write_callers(tool, "programmatic", out);
}

/// Returns the schema of results that are objects or arrays: other results may be text that is not
/// JSON.
fn structured_output(tool: &ToolSpec) -> Option<&str> {
    let is_structured = match tool.output() {
        Some(schema) => matches!(
            schema.kind(),
            Kind::Object(_) | Kind::Map(_) | Kind::Array(_) | Kind::Tuple(_)
        ),
        None => tool.output_values() == OutputValues::Objects,
    };
    is_structured.then(|| tool.output_json()).flatten()
}

/// Writes the parts of a result for the Responses API.
fn responses_parts(result: &ToolResult) -> WrittenResult {
    write_parts(result, |content, _| match content {
        Content::Image(image) => {
            let media = image.media();
            IMAGES.check(media)?;
            Ok(Written::Inside(
                json!({ "type": "input_image", "image_url": media.data_url() }),
            ))
        }
        Content::File(file) => {
            FILES.check(file.media())?;
            // The API rejects a URL with a name (OpenAI's API description, `InputFileContent`).
            Ok(Written::Inside(match file.as_url() {
                Some(url) => json!({ "type": "input_file", "file_url": url }),
                None => json!({
                    "type": "input_file",
                    "filename": file.name(),
                    "file_data": file.to_data_url(),
                }),
            }))
        }
        _ => Err(media::no_form("the API")),
    })
}

/// Reads a part other than text.
fn read_part(part: &Value) -> Option<Content> {
    let at = |key: &str| part[key].as_str();
    Some(match part["type"].as_str()? {
        "input_image" => Image::url(at("image_url")?).into(),
        "input_file" => {
            let url = at("file_data").or_else(|| at("file_url"))?;
            message::file(at("filename"), url).into()
        }
        _ => return None,
    })
}
