//! The rules of Anthropic: limits, media, and the accepted subset of JSON Schema.

use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::rule::{Rule, Source};
use crate::provider::subset::{Subset, is_simple};

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

const PROGRAMS: Source = Source::new("platform.claude.com, \"Programmatic tool calling\"", "2026");
const CALLERS: Rule = Rule::list(
    "anthropic.programmatic.callers",
    &[
        "code_execution_20250825",
        "code_execution_20260120",
        "code_execution_20260521",
    ],
    Source::new("anthropic 2.12.0 (Python), `ToolParam`", "2026-11"),
);
const CALLERS_STRICT: Rule = Rule::new("anthropic.strict.programmatic", PROGRAMS);
const CALLERS_RECURSION: Rule = Rule::new("anthropic.programmatic.recursion", PROGRAMS);

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
        &CALLERS,
        &CALLERS_STRICT,
        &CALLERS_RECURSION,
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
        (Construct::Programmatic, &CALLERS_STRICT),
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
    has_recursion: false,
    ..Subset::BASE
};
