//! The rules of xAI: limits, media, and the accepted subset of JSON Schema.

use crate::provider::profile::{Construct, Profile};
use crate::provider::rule::{Rule, Source};
use crate::provider::subset::{Subset, is_anchored, is_simple};

const GUIDE: Source = Source::new("docs.x.ai, \"Structured Outputs\"", "2026");
const SUPPORTED: Rule = Rule::list(
    "xai.supported",
    &[
        "string", "number", "integer", "boolean", "null", "enum", "const", "array", "object",
        "anyOf", "$ref", "$defs",
    ],
    GUIDE,
);

const FORMATS: Rule = Rule::list(
    "xai.formats",
    &[
        "date",
        "time",
        "date-time",
        "email",
        "uuid",
        "ipv4",
        "ipv6",
        "uri",
    ],
    GUIDE,
);

const KEYWORDS: Rule = Rule::list(
    "xai.keywords",
    &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "format",
        "const",
        "prefixItems",
        "additionalProperties",
    ],
    GUIDE,
);

const IMAGE_TYPES: Rule = Rule::list(
    "xai.image_types",
    &["image/jpeg", "image/png"],
    Source::new("docs.x.ai, \"Image Understanding\"", "2026"),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "xai.image_max_bytes",
    20 << 20,
    Source::new("docs.x.ai, \"Image Understanding\"", "2026"),
);

pub(crate) const PROFILE: Profile = Profile {
    name: "xAI",
    title: "xAI",
    rules: &[&SUPPORTED, &FORMATS, &KEYWORDS, &IMAGE_TYPES, &IMAGE_BYTES],
    rejected: &[(Construct::Recursion, &SUPPORTED)],
    ..Profile::EMPTY
};

pub(crate) const SUBSET: Subset = Subset {
    keywords: &[&KEYWORDS],
    formats: Some(&FORMATS),
    pattern: |pattern| is_simple(pattern) && is_anchored(pattern),
    has_recursion: false,
    ..Subset::BASE
};
