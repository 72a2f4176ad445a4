//! Anthropic's Messages API.

mod accepts;
mod response;
mod stream;
pub mod trained;

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::{Content, File, Image, Media};
use tool_core::dialect::write::{
    Choice, Deferral, HttpApi, JsonWriter, NamedTool, RequestParts, RequestWriter, Subset,
    SystemPrompt, ToolChange, name as shown_name, write_entry, write_head,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{self, BrokenRule, Target, Value as RuleValue, broken};
use tool_core::spec::{Programmatic, Trained};
use tool_core::{ToolEntry, ToolResult, ToolSpec};

use self::accepts::{FILES, IMAGES};
use self::stream::Messages;
use self::trained::PROVIDER;
use crate::provider::changes::Changes;
use crate::provider::entry::{NameRules, strict_or_plain, structured, write_callers};
use crate::provider::history::{call_object, user_blocks};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable, Written, WrittenResult, wire_id, write_parts};
use crate::provider::message;
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// Anthropic's Messages API (`/v1/messages`).
///
/// [Examples](tool_core::ToolSpec::examples) of a tool are sent as `input_examples`, which need no beta
/// header. All results go into one user message, before any text of the user (Anthropic's guide to tool
/// use). Calls of the provider's own server tools are ignored. Calls of its tools that the application
/// runs, such as `memory` and `bash`, are like any other, and a function can [provide](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#trained-tools).
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Anthropic;
///
/// let dialect = Anthropic::default();
/// let request = Registry::linked()?.request(&dialect).build()?;
/// let body = request.body(json!({
///     "model": "…",
///     "max_tokens": 1024,
///     "messages": [dialect.user_message("Hello!")],
/// }));
/// # let _ = body;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic {
    is_strict: bool,
    has_eager_input: bool,
    /// Set if the model has no tool search.
    is_without_search: bool,
    has_inline_tools: bool,
}

impl Anthropic {
    pub(crate) const NAMED: &[NamedDialect] = &[
        NamedDialect::new("anthropic", "Anthropic", false, &Anthropic::new(false)),
        NamedDialect::new(
            "anthropic",
            "Anthropic, strict",
            true,
            &Anthropic::new(true),
        ),
    ];

    const fn new(is_strict: bool) -> Anthropic {
        Anthropic {
            is_strict,
            has_eager_input: false,
            is_without_search: false,
            has_inline_tools: false,
        }
    }

    /// Sends `search_tools` and `call_tool` in place of [deferred](tool_core::RegistryBuilder::defer) tools, for
    /// models that have no tool search, such as those before Claude Sonnet 4 and Claude Opus 4.
    ///
    /// With tool search, a request has Anthropic's search by words
    /// (`tool_search_tool_bm25_20251119`), unless the registry has a [hosted tool](HostedTool) with another
    /// one, such as `{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}`.
    ///
    /// ```
    /// use tool_dialects::Anthropic;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool(defer)]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let rendered = registry.render(&Anthropic::default().without_tool_search());
    /// assert!(rendered.as_str().contains("search_tools"));
    /// assert!(!rendered.as_str().contains("roll_die"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[must_use]
    pub fn without_tool_search(mut self) -> Anthropic {
        self.is_without_search = true;
        self
    }

    /// Adds, replaces and removes tools of a conversation by a message of the system, so that the cached prompt before it
    /// stays. Without this, an agent sends another list, and the model reads the whole conversation again.
    ///
    /// For models with messages of the system in a conversation: Claude Opus 4.8, the models of version 5 except
    /// Claude Sonnet 5, and later ones. Every request has the beta header `inline-tools-2026-09-15` (Anthropic's guide
    /// "Mid-conversation system messages and tool changes", 2026-11).
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    /// use tool_dialects::Anthropic;
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let request = registry.request(&Anthropic::default().inline_tools()).build()?;
    /// assert_eq!(request.headers().next(), Some(("anthropic-beta", "inline-tools-2026-09-15")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn inline_tools(mut self) -> Anthropic {
        self.has_inline_tools = true;
        self
    }

    /// Streams the arguments of calls as the model writes them, before they are complete and valid JSON
    /// (`eager_input_streaming`), except for tools with `#[tool(eager_input = false)]`. A response that is
    /// truncated then has incomplete arguments, and the call gets an error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::Anthropic;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Writes a report.
    /// #[tool]
    /// fn write_report(text: &str) {
    ///     # let _ = text;
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![write_report]).build()?;
    /// let tools = json!(registry.render(&Anthropic::default().eager_input()));
    /// assert_eq!(tools[0]["eager_input_streaming"], true);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[must_use]
    pub fn eager_input(mut self) -> Anthropic {
        self.has_eager_input = true;
        self
    }

    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Ranges, lengths and similar constraints go into the description. A tool that strict mode
    /// rejects is sent unchanged and not as strict; with the feature `anthropic-strict` it is a
    /// compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::Anthropic;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&Anthropic::strict()));
    /// assert_eq!(tools[0]["strict"], true);
    /// assert_eq!(
    ///     tools[0]["input_schema"]["properties"],
    ///     json!({
    ///         "dice": {"type": "integer", "description": "Must be an integer from 1 to 6."},
    ///         "name": {"type": "string"},
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> Anthropic {
        Anthropic::new(true)
    }
}

impl Anthropic {
    /// Writes the tools. With `is_cached`, the last one that is not deferred ends a cached prefix. Returns `true` if some
    /// have rare settings.
    fn write(
        self,
        tools: &[ToolEntry],
        hosted: &[HostedTool],
        is_cached: bool,
        out: &mut JsonWriter,
    ) -> bool {
        let mut has_settings = false;
        let is_deferred = |tool: &ToolEntry| !tool.is_plain() && tool.is_deferred();
        if self.is_without_search || !tools.iter().any(is_deferred) {
            out.array(|out| has_settings = self.write_listed(tools, hosted, is_cached, out));
        } else {
            has_settings = true;
            out.array(|out| self.write_with_search(tools, hosted, is_cached, out));
        }
        has_settings
    }

    /// Writes the tools, of which some are deferred, and a search for them.
    #[cold]
    fn write_with_search(
        self,
        tools: &[ToolEntry],
        hosted: &[HostedTool],
        is_cached: bool,
        out: &mut JsonWriter,
    ) {
        let tools = tools.iter().cloned();
        let (deferred, listed): (Vec<_>, Vec<_>) = tools.partition(ToolEntry::is_deferred);
        let mut hosted = hosted.to_vec();
        if !hosted.iter().any(is_tool_search) {
            hosted.push(HostedTool::new(json!({
                "type": "tool_search_tool_bm25_20251119",
                "name": "tool_search_tool_bm25",
            })));
        }
        self.write_listed(&listed, &hosted, is_cached, out);
        // Last, so that the others are a prefix that stays the same when deferred tools change.
        let program = program(&hosted);
        for tool in deferred {
            self.write_tool(&tool, program, Mark::Deferred, out);
        }
    }

    /// Writes tools that are not deferred. Returns `true` if some have rare settings.
    fn write_listed(
        self,
        tools: &[ToolEntry],
        hosted: &[HostedTool],
        is_cached: bool,
        out: &mut JsonWriter,
    ) -> bool {
        let (marked, others) = match tools.split_last() {
            Some((last, others)) if is_cached && hosted.is_empty() => (Some(last), others),
            _ => (None, tools),
        };
        let program = program(hosted);
        let is_plain = !self.is_strict && !self.has_eager_input;
        let mut has_settings = false;
        for tool in others {
            let tool = tool.spec();
            // Most tools, which must not pay for the settings of others.
            if is_plain && !tool.has_details() {
                out.object(|out| {
                    write_head(tool, out);
                    out.quoted("\"input_schema\":").raw(tool.portable_json());
                });
            } else {
                has_settings = true;
                self.write_tool(tool, program, Mark::None, out);
            }
        }
        if let Some(tool) = marked {
            has_settings = true;
            self.write_tool(tool, program, Mark::Cached, out);
        }
        match hosted.split_last() {
            Some((last, others)) if is_cached => {
                hosted_tool::write(others, out);
                hosted_tool::write_with(last, "cache_control", CACHED, out);
            }
            _ => hosted_tool::write(hosted, out),
        }
        has_settings
    }

    /// Returns `true` if a tool is sent as strict.
    fn is_strict_tool(self, tool: &ToolSpec) -> bool {
        tool.strict().unwrap_or(self.is_strict)
    }

    /// Writes a tool with its settings.
    #[inline(never)]
    fn write_tool(self, tool: &ToolSpec, program: Option<&str>, mark: Mark, out: &mut JsonWriter) {
        // Strict mode rejects tools that programs call.
        let program = program.filter(|_| is_callable(tool));
        if let Some(trained) = tool.trained(PROVIDER) {
            return write_trained(trained, tool, program, mark, out);
        }
        out.object(|out| {
            write_head(tool, out);
            if self.is_strict_tool(tool) && program.is_none() {
                let target = Target::AnthropicStrict;
                strict_or_plain(tool, target, &Subset::ANTHROPIC_STRICT, "input_schema", out);
            } else {
                out.word("input_schema").raw(tool.portable_json());
            }
            if let Some(program) = program {
                write_callers(tool, program, out);
            }
            if tool.has_examples() {
                out.word("input_examples").array(|out| {
                    for example in tool.examples() {
                        out.raw(example);
                    }
                });
            }
            let eager = self.has_eager_input.then_some(true);
            if let Some(is_eager) = tool.eager_input().or(eager) {
                out.word("eager_input_streaming").boolean(is_eager);
            }
            mark.write(out);
        });
    }
}

/// Writes a tool on which Anthropic trained its models. Its form has neither examples nor a setting for the stream.
#[cold]
fn write_trained(
    trained: &Trained,
    tool: &ToolSpec,
    program: Option<&str>,
    mark: Mark,
    out: &mut JsonWriter,
) {
    out.object(|out| {
        write_entry(trained, out);
        match program {
            Some(program) => write_callers(tool, program, out),
            None if tool.strict() == Some(true) => {
                out.word("strict").boolean(true);
            }
            None => {}
        }
        mark.write(out);
    });
}

/// The mark of a tool. The API rejects a deferred tool with a cache mark.
#[derive(Clone, Copy)]
enum Mark {
    None,
    Cached,
    Deferred,
}

impl Mark {
    fn write(self, out: &mut JsonWriter) {
        match self {
            Mark::None => {}
            Mark::Cached => {
                out.word("cache_control").raw(CACHED);
            }
            Mark::Deferred => {
                out.word("defer_loading").boolean(true);
            }
        }
    }
}

/// Returns `true` for a search that Anthropic runs (Anthropic's Python SDK 2.12, `ToolUnionParam`, 2026-11).
fn is_tool_search(tool: &HostedTool) -> bool {
    let kind = tool.json()["type"].as_str().unwrap_or_default();
    kind.starts_with("tool_search_tool_")
}

/// The end of a cached prefix (Anthropic's guide "Tool use with prompt caching").
const CACHED: &str = r#"{"type":"ephemeral"}"#;

/// Hosted tools with the value of `anthropic-beta` that they need (Anthropic's Python SDK,
/// `BetaToolUnionParam` without the members of `ToolUnionParam`).
const BETAS: [(&str, &str); 7] = [
    ("advisor_20260301", "advisor-tool-2026-03-01"),
    ("bash_20241022", "computer-use-2024-10-22"),
    ("computer_20241022", "computer-use-2024-10-22"),
    ("computer_20250124", "computer-use-2025-01-24"),
    ("computer_20251124", "computer-use-2025-11-24"),
    ("mcp_toolset", "mcp-client-2025-11-20"),
    ("text_editor_20241022", "computer-use-2024-10-22"),
];

pub(crate) const HTTP_API: HttpApi = HttpApi {
    path: &["messages"],
    key_variables: &["ANTHROPIC_API_KEY"],
    key_header: "x-api-key",
    headers: &[("anthropic-version", "2023-06-01")],
    system: SystemPrompt::Text("system"),
    // The largest that all models accept.
    required_max_tokens: Some(4096),
    ..HttpApi::new("Anthropic", "https://api.anthropic.com/v1")
};

impl Dialect for Anthropic {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        self.write(tools, hosted, false, out);
    }

    fn deferral(&self) -> Deferral {
        if self.is_without_search {
            Deferral::Emulated
        } else {
            Deferral::Native
        }
    }

    /// The choice also says whether several calls are allowed in a response. There is no list of allowed
    /// tools (Anthropic's Python SDK, `ToolChoiceParam`). With extended thinking, the API rejects a
    /// choice that requires a call.
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let (parts, schema) = structured(
            parts,
            Target::AnthropicStrict,
            &Subset::ANTHROPIC_STRICT,
            out,
        );
        if let Some(schema) = schema {
            out.field(&["output_config", "format"], |json| {
                json.object(|json| {
                    json.word("type").string("json_schema");
                    json.word("schema").raw(&schema);
                });
            });
        }
        let mut parts = parts.filtered(out);
        if parts.is_empty() {
            // Rule `anthropic.history_tools`.
            parts = parts.with_history();
            if !parts.is_empty() {
                out.ignores_without_tools(&parts);
                parts = parts.with_choice(Choice::None);
            }
        }
        let parts = &parts;
        let mut has_settings = false;
        out.tools(&["tools"], parts, |json| {
            has_settings = self.write(parts.tools(), parts.hosted(), parts.is_cached(), json);
        });
        let kinds = parts
            .hosted()
            .iter()
            .map(|tool| tool.json()["type"].as_str());
        let tools = if has_settings { parts.tools() } else { &[] };
        let trained = tools.iter().map(|tool| Some(tool.trained(PROVIDER)?.kind));
        for kind in kinds.chain(trained).flatten() {
            if let Some((_, beta)) = BETAS.iter().find(|(tool, _)| *tool == kind) {
                out.header("anthropic-beta", beta);
            }
        }
        if self.has_inline_tools {
            out.header("anthropic-beta", "inline-tools-2026-09-15");
        }
        if parts.is_empty() {
            return out.ignores_without_tools(parts);
        }
        let programs = program(parts.hosted());
        let has_programs = programs.is_some() && parts.tools().iter().any(|tool| is_callable(tool));
        let mut parallel = parts.parallel();
        if has_programs && parallel == Some(false) {
            out.note(
                "Anthropic cannot forbid several calls where programs call tools; they are allowed",
            );
            parallel = None;
        }
        let (kind, name) = match parts.choice() {
            Some(Choice::None) => ("none", None),
            Some(Choice::Required) => ("any", None),
            // The API rejects the request.
            Some(Choice::Tool(NamedTool::Function(tool)))
                if programs.is_some()
                    && is_callable(tool)
                    && tool.programmatic() == Some(Programmatic::Only) =>
            {
                let name = shown_name(&tool.name);
                return out.note(format!(
                    "Anthropic cannot require a call of {name}, which only programs call; the model \
                     chooses"
                ));
            }
            Some(Choice::Tool(NamedTool::Function(tool))) => ("tool", Some(&*tool.name)),
            Some(Choice::Tool(NamedTool::Hosted(tool))) => match tool.json()["name"].as_str() {
                Some(name) => ("tool", Some(name)),
                None => return out.cannot_require(tool),
            },
            Some(_) => ("auto", None),
            None if parallel == Some(false) => ("auto", None),
            None => return,
        };
        out.field(&["tool_choice"], |json| {
            json.object(|json| {
                json.word("type").string(kind);
                if let Some(name) = name {
                    json.word("name").string(name);
                }
                if let (Some(is_allowed), true) = (parallel, kind != "none") {
                    json.word("disable_parallel_tool_use").boolean(!is_allowed);
                }
            });
        });
    }

    /// A tool with a definition replaces one of the same name. A removal must be the last message or stand before the
    /// model's (Anthropic's guide "Mid-conversation system messages and tool changes", 2026-11).
    fn change_tools(&self, before: &[Value], now: &[Value]) -> ToolChange {
        let changes = Changes::between(before, now, "cache_control");
        if changes.is_empty() {
            return ToolChange::Same;
        }
        // A set of tools has no name, and the API searches deferred tools in the list.
        let is_inline = |tool: &&Value| tool["name"].is_string() && tool["defer_loading"] != true;
        let mut all = changes.added.iter().chain(&changes.removed);
        if !self.has_inline_tools || before.is_empty() || !all.all(is_inline) {
            let advice = "`Anthropic::inline_tools` keeps it for models that take changes of tools";
            return ToolChange::Rewritten {
                advice: (!self.has_inline_tools).then_some(advice),
            };
        }
        let added = changes.added.into_iter().map(|tool| {
            let mut tool = tool.clone();
            tool.as_object_mut().map(|tool| tool.remove("cache_control"));
            json!({"type": "tool_addition", "tool": {"type": "tool_definition", "definition": tool}})
        });
        let removed = changes.removed.into_iter().map(|tool| {
            json!({"type": "tool_removal", "tool": {"type": "tool_reference", "name": tool["name"]}})
        });
        let content: Vec<_> = added.chain(removed).collect();
        ToolChange::Message(json!({"role": "system", "content": content}))
    }

    /// Tools with a version in their type, such as `web_search_20250305`, and `mcp_toolset`
    /// (Anthropic's tool reference).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| name == "mcp_toolset" || has_version(name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules {
            keys: Some(".-"),
            ..NameRules::COMMON
        };
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Anthropic"
    }

    fn telemetry_name(&self) -> &'static str {
        "anthropic"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Messages::default(), &response::FORMAT, response::outline)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let block = |result: &ToolResult| {
            let content = if result.parts().is_empty() {
                result.content().into()
            } else {
                Value::Array(parts(result).into_blocks(media::chat_text))
            };
            let mut block = json!({
                "type": "tool_result",
                "tool_use_id": wire_id(result),
                "content": content,
            });
            if result.is_error() {
                block["is_error"] = true.into();
            }
            block
        };
        let blocks: Vec<_> = results.iter().map(block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "content": blocks })]
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        let (role, blocks) = match message {
            Message::User(said) => ("user", user_blocks(said, parts, media::chat_text)),
            Message::Model { text, calls } => {
                let text = (!text.is_empty() || calls.is_empty()).then(|| media::chat_text(text));
                let calls = calls.iter().map(|call| {
                    let input = call_object(call);
                    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
                });
                ("assistant", text.into_iter().chain(calls).collect())
            }
            _ => return None,
        };
        Some(vec![json!({ "role": role, "content": blocks })])
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        message::read(message, read_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        response::HISTORY.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
    }

    /// Any tool will do.
    fn history_tools(&self, has_tools: bool, messages: &[&Value]) -> Vec<String> {
        if has_tools {
            Vec::new()
        } else {
            response::HISTORY.names(messages)
        }
    }

    /// Only strict tools have limits. The restrictions of tools for programs are listed here as well.
    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        let programs = program(hosted);
        if !self.is_strict && tools.iter().all(|tool| !tool.has_details()) {
            return Vec::new();
        }
        let is_called = |tool: &ToolEntry| programs.is_some() && is_callable(tool);
        let is_strict = |tool: &ToolEntry| {
            self.is_strict_tool(tool) && !is_called(tool) && tool.trained(PROVIDER).is_none()
        };
        let strict = tools.iter().filter(|tool| is_strict(tool));
        let strict: Vec<_> = strict.cloned().collect();
        let mut all = broken(Target::AnthropicStrict, &strict);
        if programs.is_none() {
            return all;
        }
        for tool in tools.iter().filter(|tool| tool.programmatic().is_some()) {
            let name = shown_name(&tool.name);
            if !is_callable(tool) {
                all.extend(broken_rule(CALLERS_RECURSION, format!(
                        "Anthropic's programs cannot call {name}, whose arguments have a recursive \
                         type; only the model can: remove `programmatic`, or limit the depth of the \
                         type"
                    )));
            } else if self.is_strict_tool(tool) {
                all.extend(broken_rule(
                    CALLERS_STRICT,
                    format!(
                        "Anthropic's strict mode rejects tools that programs call: {name} is not \
                         strict; remove `programmatic`, or add `strict = false`"
                    ),
                ));
            }
        }
        all
    }
}

/// The ids of the rules about programs that call tools.
const CALLERS: &str = "anthropic.programmatic.callers";
const CALLERS_STRICT: &str = "anthropic.strict.programmatic";
const CALLERS_RECURSION: &str = "anthropic.programmatic.recursion";

fn broken_rule(id: &str, message: String) -> Option<BrokenRule> {
    Some(BrokenRule::new(rules::find(id)?, message))
}

/// Returns the types of the tools whose programs may call tools.
fn callers() -> &'static [&'static str] {
    match rules::find(CALLERS).map(|rule| rule.value) {
        Some(RuleValue::Names(names)) => names,
        other => unreachable!("the rule {CALLERS} lists tools: {other:?}"),
    }
}

/// Returns the name of the code execution tool whose programs may call tools.
fn program(hosted: &[HostedTool]) -> Option<&str> {
    let kinds = hosted
        .iter()
        .filter_map(|tool| tool.json()["type"].as_str());
    let mut kinds = kinds.filter(|kind| callers().contains(kind));
    kinds.next()
}

/// Returns `true` if programs may call a tool: a recursive type makes the whole request fail.
#[cold]
fn is_callable(tool: &ToolSpec) -> bool {
    tool.programmatic().is_some() && !tool.portable_json().contains(r#""$ref":"#)
}

/// Writes the parts of a result.
fn parts(result: &ToolResult) -> WrittenResult {
    let source = |media: &Media| match media.as_url() {
        Some(url) => json!({ "type": "url", "url": url }),
        None => json!({
            "type": "base64",
            "media_type": media.media_type(),
            "data": media.base64(),
        }),
    };
    write_parts(result, |content, _| match content {
        _ if result.is_programmatic() => Err(Unwritable::new("programs get text only")),
        Content::Image(image) => {
            let media = image.media();
            IMAGES.check(media)?;
            Ok(Written::Inside(
                json!({ "type": "image", "source": source(media) }),
            ))
        }
        Content::File(file) => {
            FILES.check(file.media())?;
            let source = match file.media().as_text() {
                Some(text) => json!({ "type": "text", "media_type": "text/plain", "data": text }),
                None if file.media_type() == Some("text/plain") => {
                    return Err(Unwritable::new("it is not UTF-8"));
                }
                None => source(file.media()),
            };
            Ok(Written::Inside(json!({
                "type": "document",
                "title": file.name(),
                "source": source,
            })))
        }
        _ => Err(media::no_form("Anthropic")),
    })
}

/// Returns `true` for a name that ends with a date without separators: Anthropic's versions.
fn has_version(name: &str) -> bool {
    name.rsplit_once('_')
        .is_some_and(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads a part other than text.
fn read_part(part: &Value) -> Option<Content> {
    let (source, title) = (&part["source"], part["title"].as_str());
    let at = |key: &str| source[key].as_str();
    Some(match (at("type")?, part["type"].as_str()?) {
        ("text", _) => File::text(title.unwrap_or("file"), at("data")?).into(),
        ("base64", _) => return message::media(at("media_type")?, at("data"), None, title),
        ("url", "image") => Image::url(at("url")?).into(),
        ("url", "document") => message::file(title, at("url")?).into(),
        _ => return None,
    })
}
