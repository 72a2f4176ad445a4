//! OpenAI: Chat Completions, which many other providers and local servers speak too, and Responses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::content::{Audio, Content, Image};
use crate::provider::answer;
use crate::provider::chat::{self, ChatRequest};
use crate::provider::dialect::{
    Choice, Deferral, Dialect, JsonWriter, NameRules, NamedTool, RequestParts, RequestWriter,
    strict_or_plain, wire_id, write_callers, write_freeform_head, write_head,
};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{
    self, Accepts, OmittedPart, Unwritable, Written, WrittenResult, write_parts,
};
use crate::provider::portable::with_suffix;
use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::response::{
    CustomCalls, ResponseError, ResponseFormat, content_text, is_type,
};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::provider::subset::{Subset, has_lookaround};
use crate::schema::Kind;
use crate::schema::messages;
use crate::spec::{Grammar, OutputValues, ToolSpec};
use crate::tool::ToolEntry;

const GUIDE: Source = Source::new(
    "developers.openai.com, guides \"Structured outputs\" and \"Function calling\"",
    "2026",
);
const TOOLS_MAX: Rule = Rule::limit(
    "openai.tools_max",
    128,
    Source::new(
        "zed-industries/zed#42393, anomalyco/opencode#4909",
        "2025-11-29",
    ),
);
const CLOSED: Rule = Rule::new("openai.strict.additionalProperties", GUIDE);
const REQUIRED: Rule = Rule::new("openai.strict.required", GUIDE);
const TYPES: Rule = Rule::list(
    "openai.strict.types",
    &[
        "string", "number", "boolean", "integer", "object", "array", "enum", "anyOf",
    ],
    GUIDE,
);
const STRING_KEYWORDS: Rule = Rule::list(
    "openai.strict.string_keywords",
    &["pattern", "format"],
    GUIDE,
);
const FORMATS: Rule = Rule::list(
    "openai.strict.formats",
    &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    GUIDE,
);
const NUMBER_KEYWORDS: Rule = Rule::list(
    "openai.strict.number_keywords",
    &[
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
    ],
    GUIDE,
);
const ARRAY_KEYWORDS: Rule = Rule::list(
    "openai.strict.array_keywords",
    &["items", "minItems", "maxItems"],
    GUIDE,
);
const CONSTANTS: Rule = Rule::list("openai.strict.constants", &["const"], GUIDE);
const MAX_PROPERTIES: Rule = Rule::limit("openai.strict.max_properties_total", 5000, GUIDE);
const MAX_NESTING: Rule = Rule::limit("openai.strict.max_nesting", 10, GUIDE);
const MAX_STRINGS: Rule = Rule::limit("openai.strict.max_string_total", 120_000, GUIDE);
const MAX_ENUM_VALUES: Rule = Rule::limit("openai.strict.max_enum_values_total", 1000, GUIDE);
const MAX_ENUM_STRINGS: Rule = Rule::limit(
    "openai.strict.max_enum_string_len_when_gt_250",
    15_000,
    GUIDE,
);

const IMAGE_TYPES: Rule = Rule::list(
    "openai.image_types",
    &["image/png", "image/jpeg", "image/webp", "image/gif"],
    Source::new("developers.openai.com, guide \"Images and vision\"", "2026"),
);
const AUDIO_TYPES: Rule = Rule::list(
    "openai.chat.audio_types",
    &["audio/wav", "audio/mpeg"],
    Source::new(
        "openai 3.54.0 (Python), `ChatCompletionContentPartInputAudioParam`",
        "2026-11",
    ),
);
const CHAT_FILE_TYPES: Rule = Rule::list(
    "openai.chat.file_types",
    &["application/pdf"],
    Source::new("developers.openai.com, guide \"File inputs\"", "2026"),
);
const FILE_TYPES: Rule = Rule::list(
    "openai.responses.file_types",
    &[
        "application/pdf",
        "text/plain",
        "text/markdown",
        "text/html",
        "text/xml",
        "text/csv",
        "text/tab-separated-values",
        "application/json",
        "application/xml",
        "application/rtf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ],
    Source::new("developers.openai.com, guide \"File inputs\"", "2026"),
);
const FILE_BYTES: Rule = Rule::limit(
    "openai.file_max_bytes",
    50 << 20,
    Source::new("developers.openai.com, guide \"File inputs\"", "2026"),
);

const IMAGES: Accepts = Accepts {
    schemes: media::WEB,
    ..Accepts::types(&IMAGE_TYPES)
};
const CHAT_AUDIO: Accepts = Accepts::types(&AUDIO_TYPES);
const CHAT_FILES: Accepts = Accepts {
    size: Some(&FILE_BYTES),
    ..Accepts::types(&CHAT_FILE_TYPES)
};
const FILES: Accepts = Accepts {
    size: Some(&FILE_BYTES),
    schemes: media::WEB,
    ..Accepts::types(&FILE_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "OpenAI",
    title: "OpenAI, strict",
    rules: &[
        &TOOLS_MAX,
        &CLOSED,
        &REQUIRED,
        &TYPES,
        &STRING_KEYWORDS,
        &FORMATS,
        &NUMBER_KEYWORDS,
        &ARRAY_KEYWORDS,
        &CONSTANTS,
        &MAX_PROPERTIES,
        &MAX_NESTING,
        &MAX_STRINGS,
        &MAX_ENUM_VALUES,
        &MAX_ENUM_STRINGS,
        &IMAGE_TYPES,
        &AUDIO_TYPES,
        &CHAT_FILE_TYPES,
        &FILE_TYPES,
        &FILE_BYTES,
    ],
    rejected: &[
        (Construct::Untyped, &TYPES),
        (Construct::FreeMap, &CLOSED),
        (Construct::EnumMap, &REQUIRED),
        (Construct::Nesting, &MAX_NESTING),
        (Construct::LargeEnum, &MAX_ENUM_STRINGS),
    ],
    tool_limits: &[
        (Count::Properties, &MAX_PROPERTIES),
        (Count::EnumValues, &MAX_ENUM_VALUES),
        (Count::Characters, &MAX_STRINGS),
    ],
    request_limits: &[(Count::Tools, &TOOLS_MAX)],
};

/// The subset of the strict mode.
pub(crate) const STRICT: Subset = Subset {
    keywords: &[
        &STRING_KEYWORDS,
        &NUMBER_KEYWORDS,
        &ARRAY_KEYWORDS,
        &CONSTANTS,
    ],
    formats: Some(&FORMATS),
    pattern: |pattern| !has_lookaround(pattern),
    requires_all: true,
    ..Subset::BASE
};

#[cfg(feature = "docs")]
const CHAT: OpenAiChat = OpenAiChat {
    is_strict: false,
    has_functions_only: false,
};

#[cfg(feature = "docs")]
const RESPONSES_API: OpenAiResponses = OpenAiResponses {
    is_strict: false,
    has_functions_only: false,
    is_without_search: false,
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[
    ("OpenAI Chat", &CHAT),
    (
        "OpenAI Chat, strict",
        &OpenAiChat {
            is_strict: true,
            ..CHAT
        },
    ),
    ("OpenAI Responses", &RESPONSES_API),
    (
        "OpenAI Responses, strict",
        &OpenAiResponses {
            is_strict: true,
            ..RESPONSES_API
        },
    ),
];

/// OpenAI's Chat Completions API (`/v1/chat/completions`).
///
/// Reads the calls of the first choice. Omits `strict` unless the dialect is
/// [strict](OpenAiChat::strict), which means `false` here (OpenAI's API description,
/// `FunctionObject`).
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiChat {
    is_strict: bool,
    has_functions_only: bool,
}

impl OpenAiChat {
    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Every key is required, and `null` means an absent value. Constraints that the strict subset of
    /// JSON Schema lacks go into the description. A tool that strict mode rejects is sent unchanged
    /// and not as strict; with the feature `openai-strict` it is a compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6, default = 1)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&OpenAiChat::strict()));
    /// assert_eq!(tools[0]["function"]["strict"], true);
    /// assert_eq!(
    ///     tools[0]["function"]["parameters"],
    ///     json!({
    ///         "type": "object",
    ///         "properties": {
    ///             "dice": {"type": ["integer", "null"], "minimum": 1, "maximum": 6,
    ///                      "description": "null means the default, 1."},
    ///             "name": {"type": ["string", "null"]},
    ///         },
    ///         "required": ["dice", "name"],
    ///         "additionalProperties": false,
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> OpenAiChat {
        OpenAiChat {
            is_strict: true,
            has_functions_only: false,
        }
    }

    /// Writes [free-form](macro@crate::tool#free-form-tools) tools as functions too, for servers and
    /// models without custom tools. OpenAI's models have them since GPT-5.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Runs a query.
    /// #[tool(freeform)]
    /// fn run_sql(sql: &str) -> usize {
    ///     sql.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![run_sql]).build()?;
    /// let tools = json!(registry.render(&OpenAiChat::default()));
    /// assert_eq!(tools[0]["type"], "custom");
    /// let tools = json!(registry.render(&OpenAiChat::default().functions_only()));
    /// assert_eq!(tools[0]["type"], "function");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn functions_only(mut self) -> OpenAiChat {
        self.has_functions_only = true;
        self
    }
}

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let schema = |tool: &ToolEntry, out: &mut JsonWriter| {
            if tool.strict().unwrap_or(self.is_strict) {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &STRICT, "parameters", out);
            } else {
                chat::parameters(tool, out);
            }
        };
        out.array(|out| {
            for tool in tools {
                if tool.is_freeform() && !self.has_functions_only {
                    write_custom_chat(tool, out);
                } else {
                    chat::write_tool(tool, out, schema);
                }
            }
            hosted_tool::write(hosted, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let form = ChatRequest {
            required: "required",
            has_allowed_tools: true,
            has_custom_tools: !self.has_functions_only,
        };
        chat::write_request(self, &form, parts, out);
        if let Some((schema, is_strict)) = answer_schema(parts, out) {
            chat::write_answer(&schema, is_strict, out);
        }
    }

    /// OpenAI documents none. Servers that imitate it may have some: use
    /// [`HostedTool::unchecked`].
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |_| false)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "chat completions"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::OPENAI_CHAT)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        chat::calls(&chat::FORMAT, response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        let calls = |response: &Value| chat::calls(&chat::FORMAT, response);
        stream::reader(stream::chat::Chunks::new(&chat::FORMAT, calls))
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        chat::turn(response)
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results, chat_part)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, chat_part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::OpenAiStrict, tools)
    }
}

/// OpenAI's Responses API (`/v1/responses`).
///
/// Always writes `strict`: without it, the API makes schemas strict where it can, and optional
/// parameters required (OpenAI's API description, `FunctionToolParam`).
///
/// The turn consists of all items of the output, including reasoning. A request with
/// `previous_response_id` contains the turn already and needs only the results.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiResponses {
    is_strict: bool,
    has_functions_only: bool,
    /// Set if the model has no tool search.
    is_without_search: bool,
}

impl OpenAiResponses {
    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Tools are written as by [`OpenAiChat::strict`].
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::OpenAiResponses;
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
        OpenAiResponses {
            is_strict: true,
            ..OpenAiResponses::default()
        }
    }

    /// Writes [free-form](macro@crate::tool#free-form-tools) tools as functions too, as
    /// [`OpenAiChat::functions_only`] does.
    pub fn functions_only(mut self) -> OpenAiResponses {
        self.has_functions_only = true;
        self
    }

    /// Sends `search_tools` and `call_tool` in place of [deferred](crate::RegistryBuilder::defer) tools, for
    /// models that have no tool search: those before GPT-5.4, and of other servers.
    ///
    /// With tool search, the request has the tool `tool_search`, and each group with deferred tools is a
    /// namespace. OpenAI advises to have fewer than ten tools in each. The model sees the name and the
    /// description of a namespace, or of a deferred tool without a group.
    ///
    /// ```
    /// use tool_core::dialect::OpenAiResponses;
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
        for tool in tools.iter().filter(|tool| tool.is_deferred()) {
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
                strict_or_plain(tool, Target::OpenAiStrict, &STRICT, "parameters", out);
            } else {
                write_function(tool, out);
            }
            if has_programs {
                write_for_programs(tool, is_custom, out);
            }
            if is_deferred {
                out.word("defer_loading").boolean(true);
            }
        });
    }
}

/// Writes a function that is not strict.
fn write_function(tool: &ToolSpec, out: &mut JsonWriter) {
    out.word("type").string("function");
    write_head(tool, out);
    out.word("parameters").raw(tool.portable_json());
    out.word("strict").boolean(false);
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

/// What `include` adds to the items of hosted tools (OpenAI's Python SDK, `ResponseIncludable`).
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

/// Returns the schema of the answer, and `true` if it is strict. Whatever strict mode rejects is
/// described to the model and not enforced by the provider, which is noted.
fn answer_schema(parts: &RequestParts<'_>, out: &mut RequestWriter) -> Option<(String, bool)> {
    let format = parts.answer()?;
    match format.reduced(Target::OpenAiStrict, &STRICT) {
        Ok(schema) => Some((schema, true)),
        Err(problem) => {
            out.note(format!(
                "OpenAI's strict mode does not accept the schema of the answer ({problem}); it is \
                 sent as not strict"
            ));
            Some((format.schema().to_json(), false))
        }
    }
}

/// Writes `tool_choice` of the Responses API.
fn write_choice(parts: &RequestParts<'_>, has_custom_tools: bool, out: &mut RequestWriter) {
    let write_tool = |tool: &NamedTool<'_>, json: &mut JsonWriter| match tool {
        NamedTool::Function(tool) => {
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
        (Some(Choice::Auto), None) => word("auto"),
        (None, None) => {}
    }
}

const RESPONSES: ResponseFormat = ResponseFormat {
    response: "a response of OpenAI",
    call: "a call in `output`",
    id: "call_id",
    id_is_optional: false,
    name: "name",
    arguments: "arguments",
    stop_reason: "status",
    truncated: &["incomplete"],
    custom: Some(&CustomCalls {
        kind: "custom_tool_call",
        name: "name",
        input: "input",
    }),
    has_origin: true,
};

/// Returns `true` for an item that is a call of a function or of a custom tool.
fn is_call(item: &Value) -> bool {
    is_type(item, "function_call") || RESPONSES.is_custom(item)
}

impl Dialect for OpenAiResponses {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let is_hosted = |tool: &HostedTool| is_type(tool.json(), "programmatic_tool_calling");
        let has_programs = hosted.iter().any(is_hosted);
        let mut has_deferred = false;
        out.array(|out| {
            for tool in tools {
                // Most tools, which must not pay for the settings of others.
                if !self.is_strict && tool.is_plain() {
                    out.object(|out| write_function(tool, out));
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
                    json.word("name").string(answer::NAME);
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
                if tool.is_deferred() && !self.is_without_search =>
            {
                let name = messages::name(&tool.name);
                out.note(format!(
                    "OpenAI cannot require a call of {name}, which is deferred; the model chooses"
                ));
            }
            _ => write_choice(parts, !self.has_functions_only, out),
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

    /// Calls of hosted tools that the application must run itself, such as `shell`, are not read.
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules {
            max_len: 128,
            ..NameRules::COMMON
        };
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "the Responses API of OpenAI"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::OPENAI_RESPONSES)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let items = RESPONSES.array(response, "output")?;
        RESPONSES.calls(response, items, is_call)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(stream::responses::ResponseStream::new(&RESPONSES))
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        response["output"].as_array().cloned().unwrap_or_default()
    }

    /// Returns the texts of all messages, one paragraph each.
    fn text(&self, response: &Value) -> String {
        let items = response["output"].as_array().into_iter().flatten();
        let texts: Vec<_> = items
            .filter(|item| is_type(item, "message"))
            .map(|item| content_text(&item["content"]))
            .collect();
        texts.join("\n\n")
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let item = |result: &ToolResult| {
            let output = if result.parts().is_empty() {
                result.content().into()
            } else {
                let text = |text| json!({ "type": "input_text", "text": text });
                Value::Array(responses_parts(result).into_blocks(text))
            };
            let kind = if result.wire_id == WireId::Custom {
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
        results.iter().map(item).collect()
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, responses_parts)
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

/// Writes a custom tool of Chat Completions (`ChatCompletionCustomToolParam` of OpenAI's Python SDK).
#[cold]
fn write_custom_chat(tool: &ToolSpec, out: &mut JsonWriter) {
    out.object(|out| {
        out.word("type").string("custom");
        out.word("custom").object(|out| {
            write_freeform_head(tool, out);
            if let Some(grammar) = tool.grammar() {
                out.word("format").object(|out| {
                    out.word("type").string("grammar");
                    out.word("grammar")
                        .object(|out| write_grammar(grammar, out));
                });
            }
        });
    });
}

fn write_grammar(grammar: &Grammar, out: &mut JsonWriter) {
    out.word("syntax").string(grammar.syntax());
    out.word("definition").string(grammar.definition());
}

/// Returns the schema of results that are objects or arrays: other results may be text that is not
/// JSON.
fn structured_output(tool: &ToolSpec) -> Option<&str> {
    let is_structured = match tool.output() {
        Some(schema) => matches!(
            schema.kind,
            Kind::Object(_) | Kind::Map(_) | Kind::Array(_) | Kind::Tuple(_)
        ),
        None => {
            let parts = tool.dynamic_parts();
            parts.is_some_and(|parts| parts.output_values == OutputValues::Objects)
        }
    };
    is_structured.then(|| tool.output_json()).flatten()
}

/// Writes a part for the user's message after the results. Tool messages contain text alone
/// (`ChatCompletionToolMessageParam` of OpenAI's Python SDK).
fn chat_part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        Content::Audio(Audio(media)) => {
            CHAT_AUDIO.check(media)?;
            let format = match media.media_type() {
                Some("audio/wav") => "wav",
                _ => "mp3",
            };
            let audio = json!({ "data": media.base64(), "format": format });
            Ok(json!({ "type": "input_audio", "input_audio": audio }))
        }
        Content::File(file) => {
            CHAT_FILES.check(&file.media)?;
            let file = json!({ "filename": file.name(), "file_data": file.to_data_url() });
            Ok(json!({ "type": "file", "file": file }))
        }
        _ => Err(media::no_form("the API")),
    }
}

/// Writes the parts of a result for the Responses API.
fn responses_parts(result: &ToolResult) -> WrittenResult {
    write_parts(result, |content, _| match content {
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(Written::Inside(
                json!({ "type": "input_image", "image_url": media.data_url() }),
            ))
        }
        Content::File(file) => {
            FILES.check(&file.media)?;
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
