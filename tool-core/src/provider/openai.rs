//! OpenAI: Chat Completions, which many other providers and local servers speak too, and Responses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::content::{Audio, Content, Image};
use crate::provider::chat;
use crate::provider::dialect::{
    Deferral, Dialect, JsonWriter, NameRules, strict_or_plain, wire_id, write_head,
};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{
    self, Accepts, OmittedPart, Unwritable, Written, WrittenResult, write_parts,
};
use crate::provider::portable::with_suffix;
use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::response::{ResponseError, ResponseFormat, content_text, is_type};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::provider::subset::{Subset, has_lookaround};
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
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[
    ("OpenAI Chat", &OpenAiChat { is_strict: false }),
    ("OpenAI Chat, strict", &OpenAiChat { is_strict: true }),
    ("OpenAI Responses", &OpenAiResponses::PLAIN),
    ("OpenAI Responses, strict", &OpenAiResponses::STRICT),
];

/// OpenAI's Chat Completions API (`/v1/chat/completions`).
///
/// Reads the calls of the first choice. Omits `strict` unless the dialect is
/// [strict](OpenAiChat::strict), which means `false` here (OpenAI's API description,
/// `FunctionObject`).
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiChat {
    is_strict: bool,
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
        OpenAiChat { is_strict: true }
    }
}

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            if self.is_strict {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &STRICT, "parameters", out);
            } else {
                chat::parameters(tool, out);
            }
        });
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
    /// Set if the model has no tool search.
    is_without_search: bool,
}

impl OpenAiResponses {
    const PLAIN: OpenAiResponses = OpenAiResponses {
        is_strict: false,
        is_without_search: false,
    };
    const STRICT: OpenAiResponses = OpenAiResponses {
        is_strict: true,
        ..OpenAiResponses::PLAIN
    };

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
        OpenAiResponses::STRICT
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
    pub fn without_tool_search(self) -> OpenAiResponses {
        OpenAiResponses {
            is_without_search: true,
            ..self
        }
    }

    fn write_tool(self, tool: &ToolEntry, is_deferred: bool, out: &mut JsonWriter) {
        out.object(|out| {
            out.word("type").string("function");
            write_head(tool, out);
            if self.is_strict {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &STRICT, "parameters", out);
            } else {
                out.word("parameters").raw(tool.portable_json());
                out.word("strict").boolean(false);
            }
            if is_deferred {
                out.word("defer_loading").boolean(true);
            }
        });
    }

    /// Writes the deferred tools: first those without a group, then the groups as namespaces.
    fn write_deferred(self, tools: &[&ToolEntry], out: &mut JsonWriter) {
        let mut groups = BTreeMap::<&str, Vec<&ToolEntry>>::new();
        for tool in tools {
            match tool.group().filter(|group| !group.is_empty()) {
                Some(group) => groups.entry(group).or_default().push(tool),
                None => self.write_tool(tool, true, out),
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
                        self.write_tool(tool, true, out);
                    }
                });
            });
        }
    }
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

const RESPONSES: ResponseFormat = ResponseFormat {
    response: "a response of OpenAI",
    call: "a call in `output`",
    id: "call_id",
    id_is_optional: false,
    name: "name",
    arguments: "arguments",
    stop_reason: "status",
    truncated: &["incomplete"],
};

impl Dialect for OpenAiResponses {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let is_deferred = |tool: &&ToolEntry| !self.is_without_search && tool.is_deferred();
        let deferred: Vec<_> = tools.iter().filter(is_deferred).collect();
        out.array(|out| {
            for tool in tools.iter().filter(|tool| !is_deferred(tool)) {
                self.write_tool(tool, false, out);
            }
            hosted_tool::write(hosted, out);
            if !deferred.is_empty() {
                if !hosted.iter().any(is_tool_search) {
                    out.raw(r#"{"type":"tool_search"}"#);
                }
                // Last, so that the others are a prefix that stays the same when deferred tools change.
                self.write_deferred(&deferred, out);
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
        RESPONSES.calls(response, items, |item| is_type(item, "function_call"))
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
            json!({
                "type": "function_call_output",
                "call_id": wire_id(result),
                "output": output,
            })
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
