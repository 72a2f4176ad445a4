//! The rules of Gemini: limits, media, and the accepted subset of JSON Schema.

use crate::provider::profile::{Construct, Count, Profile};
use crate::provider::rule::{Rule, Source};
use crate::provider::subset::Subset;

const SCHEMA_FIELDS: Rule = Rule::list(
    "gemini.parameters.schema_fields",
    &[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "items",
        "minItems",
        "maxItems",
        "enum",
        "properties",
        "propertyOrdering",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
    ],
    Source::new(
        "google-genai 3.4.0 (Python), types.py; adolfousier/opencrabs#99",
        "2026-11",
    ),
);
const STRING_FORMATS: Rule = Rule::list(
    "gemini.parameters.string_formats",
    &["enum", "date-time"],
    Source::new(
        "google-gemini/gemini-cli#3178, enechange/collmbo#195",
        "2025-07",
    ),
);
const KEYWORDS: Rule = Rule::list(
    "gemini.parametersJsonSchema.keywords",
    &[
        "$defs",
        "$ref",
        "type",
        "title",
        "description",
        "enum",
        "format",
        "minimum",
        "maximum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "anyOf",
        "properties",
        "required",
        "additionalProperties",
        "propertyOrdering",
    ],
    Source::new(
        "UnitVectorY-Labs/jsonschemaprofiles@57d66e1, docs/GEMINI.md; google-genai 3.4.0 \
         (Python), `response_json_schema`",
        "2026-11",
    ),
);
const RECURSION: Rule = Rule::new(
    "gemini.parametersJsonSchema.recursion",
    Source::new(
        "google-genai 3.4.0 (Python), `response_json_schema`",
        "2026-11",
    ),
);
const TOOLS_MAX: Rule = Rule::limit(
    "gemini.tools_max",
    128,
    Source::new(
        "cloud.google.com, Vertex AI, \"Function calling\"",
        "2025-09",
    ),
);

const RESPONSE_TYPES: Rule = Rule::list(
    "gemini.function_response_types",
    &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "application/pdf",
        "text/plain",
    ],
    Source::new(
        "ai.google.dev, \"Function calling\", Gemini 3; vercel/ai#12777, maximhq/bifrost#4202",
        "2026-06",
    ),
);
const INPUT_TYPES: Rule = Rule::list(
    "gemini.input_types",
    &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
        "audio/wav",
        "audio/mpeg",
        "audio/aiff",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
        "application/pdf",
        "text/plain",
    ],
    Source::new(
        "firebase.google.com, \"Supported input files and requirements\"",
        "2026",
    ),
);
const INLINE_BYTES: Rule = Rule::limit(
    "gemini.inline_max_bytes",
    20 << 20,
    Source::new(
        "firebase.google.com, \"Supported input files and requirements\"",
        "2026",
    ),
);

pub(crate) const PROFILE: Profile = Profile {
    name: "Gemini",
    title: "Gemini",
    rules: &[
        &SCHEMA_FIELDS,
        &STRING_FORMATS,
        &KEYWORDS,
        &RECURSION,
        &TOOLS_MAX,
        &RESPONSE_TYPES,
        &INPUT_TYPES,
        &INLINE_BYTES,
    ],
    rejected: &[(Construct::RequiredRecursion, &RECURSION)],
    request_limits: &[(Count::Tools, &TOOLS_MAX)],
    ..Profile::EMPTY
};

/// The subset of `parametersJsonSchema`.
pub(crate) const JSON_SCHEMA: Subset = Subset {
    keywords: &[&KEYWORDS],
    requires_identifiers: true,
    ..Subset::BASE
};

/// The subset of `parameters`.
pub(crate) const OPEN_API: Subset = Subset {
    keywords: &[&SCHEMA_FIELDS],
    formats: Some(&STRING_FORMATS),
    is_open_api: true,
    requires_identifiers: true,
    has_recursion: false,
    ..Subset::BASE
};
