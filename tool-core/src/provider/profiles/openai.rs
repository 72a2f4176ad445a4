//! The rules of OpenAI: limits, media, and the accepted subset of JSON Schema.

use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::rule::{Rule, Source};
use crate::provider::subset::{Subset, has_lookaround};

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
