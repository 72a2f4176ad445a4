//! Anthropic's Messages API.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::content::{Content, Image, Media};
use crate::provider::dialect::{
    Deferral, Dialect, JsonWriter, NameRules, strict_or_plain, wire_id, write_head,
};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{
    self, Accepts, OmittedPart, Unwritable, Written, WrittenResult, write_parts,
};
use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::response::{ResponseError, ResponseFormat, content_text, is_type};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::provider::subset::{Subset, is_simple};
use crate::tool::ToolEntry;

const GUIDE: Source = Source::new("platform.claude.com, \"Structured outputs\"", "2026");
const PROPERTY_KEY: Rule = Rule::pattern(
    "anthropic.property_key_regex",
    "^[a-zA-Z0-9_.-]{1,64}$",
    Source::new(
        "anthropics/claude-code#79418, ComposioHQ/composio#3500, n8n-io/n8n#30590",
        "2026-07-20",
    ),
);
const SUPPORTED: Rule = Rule::list(
    "anthropic.strict.supported",
    &[
        "type", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "default", "required",
    ],
    GUIDE,
);
const FORMATS: Rule = Rule::list(
    "anthropic.strict.formats",
    &[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ],
    GUIDE,
);
const UNSUPPORTED: Rule = Rule::list(
    "anthropic.strict.unsupported",
    &[
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "maxItems",
        "uniqueItems",
        "additionalProperties",
    ],
    GUIDE,
);
const STRING_KEYWORDS: Rule = Rule::list(
    "anthropic.strict.string_keywords",
    &["pattern", "format"],
    GUIDE,
);
const MAX_STRICT_TOOLS: Rule =
    Rule::limit("anthropic.strict.max_strict_tools_per_request", 20, GUIDE);
const MAX_OPTIONAL: Rule = Rule::limit(
    "anthropic.strict.max_optional_parameters_total",
    24,
    Source::new(
        "platform.claude.com, \"Structured outputs\"; pydantic_ai 2.68.0, \
         models/_anthropic_schema_limits.py",
        "2026",
    ),
);
const MAX_UNIONS: Rule = Rule::limit("anthropic.strict.max_union_parameters_total", 16, GUIDE);
pub(crate) const ENUM_CASE: Rule = Rule::new("anthropic.strict.enum_case", GUIDE);

const IMAGE_TYPES: Rule = Rule::list(
    "anthropic.image_types",
    &["image/jpeg", "image/png", "image/gif", "image/webp"],
    Source::new(
        "anthropic 2.12.0 (Python), `Base64ImageSourceParam`",
        "2026-11",
    ),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "anthropic.image_max_base64",
    5 << 20,
    Source::new(
        "platform.claude.com, \"Vision\"; shellicar/claude-cli#323",
        "2026",
    ),
);
const FILE_TYPES: Rule = Rule::list(
    "anthropic.document_types",
    &["application/pdf", "text/plain"],
    Source::new("anthropic 2.12.0 (Python), `DocumentBlockParam`", "2026-11"),
);
const FILE_BYTES: Rule = Rule::limit(
    "anthropic.request_max_bytes",
    32 << 20,
    Source::new(
        "platform.claude.com, \"Vision\" and \"PDF support\"",
        "2026",
    ),
);

const IMAGES: Accepts = Accepts {
    size: Some(&IMAGE_BYTES),
    is_size_encoded: true,
    schemes: media::WEB,
    ..Accepts::types(&IMAGE_TYPES)
};
const FILES: Accepts = Accepts {
    size: Some(&FILE_BYTES),
    is_size_encoded: true,
    schemes: media::WEB,
    ..Accepts::types(&FILE_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "Anthropic",
    title: "Anthropic, strict",
    rules: &[
        &PROPERTY_KEY,
        &SUPPORTED,
        &STRING_KEYWORDS,
        &FORMATS,
        &UNSUPPORTED,
        &MAX_STRICT_TOOLS,
        &MAX_OPTIONAL,
        &MAX_UNIONS,
        &ENUM_CASE,
        &IMAGE_TYPES,
        &IMAGE_BYTES,
        &FILE_TYPES,
        &FILE_BYTES,
    ],
    rejected: &[
        (Construct::Untyped, &SUPPORTED),
        (Construct::FreeMap, &UNSUPPORTED),
        (Construct::Recursion, &UNSUPPORTED),
        (Construct::UnusualKey, &PROPERTY_KEY),
    ],
    tool_limits: &[
        (Count::Optional, &MAX_OPTIONAL),
        (Count::Unions, &MAX_UNIONS),
    ],
    request_limits: &[
        (Count::StrictTools, &MAX_STRICT_TOOLS),
        (Count::Optional, &MAX_OPTIONAL),
        (Count::Unions, &MAX_UNIONS),
    ],
};

/// The subset of the strict mode.
pub(crate) const STRICT: Subset = Subset {
    keywords: &[&SUPPORTED, &STRING_KEYWORDS],
    formats: Some(&FORMATS),
    pattern: is_simple,
    // "Array `minItems` (only values 0 and 1)".
    max_min_items: 1,
    // Its documents have them, its own packages do not.
    has_type_lists: false,
    ..Subset::BASE
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[
    ("Anthropic", &Anthropic::PLAIN),
    ("Anthropic, strict", &Anthropic::STRICT),
];

/// Anthropic's Messages API (`/v1/messages`).
///
/// All results go into one user message, before any text of the user (Anthropic's guide to tool
/// use). Calls of the provider's own server tools are ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic {
    is_strict: bool,
    /// Set if the model has no tool search.
    is_without_search: bool,
}

impl Anthropic {
    const PLAIN: Anthropic = Anthropic {
        is_strict: false,
        is_without_search: false,
    };
    const STRICT: Anthropic = Anthropic {
        is_strict: true,
        ..Anthropic::PLAIN
    };

    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Ranges, lengths and similar constraints go into the description. A tool that strict mode
    /// rejects is sent unchanged and not as strict; with the feature `anthropic-strict` it is a
    /// compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Anthropic;
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
        Anthropic::STRICT
    }

    /// Sends `search_tools` and `call_tool` in place of [deferred](crate::RegistryBuilder::defer) tools, for
    /// models that have no tool search, such as those before Claude Sonnet 4 and Claude Opus 4.
    ///
    /// With tool search, a request has Anthropic's search by words
    /// (`tool_search_tool_bm25_20251119`), unless the registry has a [hosted tool](HostedTool) with another
    /// one, such as `{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}`.
    ///
    /// ```
    /// use tool_core::dialect::Anthropic;
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
    pub fn without_tool_search(self) -> Anthropic {
        Anthropic {
            is_without_search: true,
            ..self
        }
    }

    fn write_tool(self, tool: &ToolEntry, is_deferred: bool, out: &mut JsonWriter) {
        out.object(|out| {
            write_head(tool, out);
            if self.is_strict {
                let target = Target::AnthropicStrict;
                let style = &STRICT;
                strict_or_plain(tool, target, style, "input_schema", out);
            } else {
                out.word("input_schema").raw(tool.portable_json());
            }
            if is_deferred {
                out.word("defer_loading").boolean(true);
            }
        });
    }
}

/// Anthropic's search by words (Anthropic's Python SDK 2.12, `ToolSearchToolBm25_20251119Param`, 2026-11).
const TOOL_SEARCH: &str =
    r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#;

/// Returns `true` for a search that Anthropic runs.
fn is_tool_search(tool: &HostedTool) -> bool {
    let kind = tool.json()["type"].as_str().unwrap_or_default();
    kind.starts_with("tool_search_tool_")
}

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a message of Anthropic",
    call: "a `tool_use` block in `content`",
    id: "id",
    id_is_optional: false,
    name: "name",
    arguments: "input",
    // Anthropic's guide "Stop reasons and fallback". Truncated arguments may be an empty object.
    stop_reason: "stop_reason",
    truncated: &[
        "max_tokens",
        "model_context_window_exceeded",
        "refusal",
        "stop_sequence",
    ],
};

impl Dialect for Anthropic {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let is_deferred = |tool: &&ToolEntry| !self.is_without_search && tool.is_deferred();
        let mut deferred = tools.iter().filter(is_deferred).peekable();
        out.array(|out| {
            for tool in tools.iter().filter(|tool| !is_deferred(tool)) {
                self.write_tool(tool, false, out);
            }
            hosted_tool::write(hosted, out);
            if deferred.peek().is_some() && !hosted.iter().any(is_tool_search) {
                out.raw(TOOL_SEARCH);
            }
            // Last, so that the others are a prefix that stays the same when deferred tools change.
            for tool in deferred {
                self.write_tool(tool, true, out);
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

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::ANTHROPIC)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let blocks = FORMAT.array(response, "content")?;
        FORMAT.calls(response, blocks, |block| is_type(block, "tool_use"))
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(stream::anthropic::Messages::new(&FORMAT))
    }

    /// Returns the assistant's message. The API rejects an empty one, so that it is omitted.
    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["content"] {
            Value::Array(blocks) if !blocks.is_empty() => {
                vec![json!({ "role": "assistant", "content": blocks })]
            }
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        content_text(&response["content"])
    }

    /// Anthropic pauses when its server tools reach the time limit of a response (Anthropic's guide
    /// "Stop reasons and fallback").
    fn is_paused(&self, response: &Value) -> bool {
        response["stop_reason"] == "pause_turn"
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

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
    }

    /// Only strict tools have limits.
    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        if self.is_strict {
            broken(Target::AnthropicStrict, tools)
        } else {
            Vec::new()
        }
    }
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
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(Written::Inside(
                json!({ "type": "image", "source": source(media) }),
            ))
        }
        Content::File(file) => {
            FILES.check(&file.media)?;
            let source = match file.media.as_text() {
                Some(text) => json!({ "type": "text", "media_type": "text/plain", "data": text }),
                None if file.media_type() == Some("text/plain") => {
                    return Err(Unwritable::new("it is not UTF-8"));
                }
                None => source(&file.media),
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
