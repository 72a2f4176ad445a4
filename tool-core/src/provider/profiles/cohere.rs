//! The rules of Cohere: limits and media.

use crate::provider::profile::{Count, Profile};
use crate::provider::rule::{Rule, Source};

const GUIDE: Source = Source::new(
    "docs.cohere.com, \"Parameter types for tool use\" (v2)",
    "2026",
);
const REQUIRED: Rule = Rule::limit("cohere.strict.min_required_params_per_tool", 1, GUIDE);

const FIELDS: Rule = Rule::limit("cohere.strict.max_fields_total", 200, GUIDE);

const IMAGE_TYPES: Rule = Rule::list(
    "cohere.image_types",
    &["image/png", "image/jpeg", "image/webp", "image/gif"],
    Source::new(
        "docs.cohere.com, \"Using Cohere's Models to Work with Image Inputs\"",
        "2026",
    ),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "cohere.images_max_bytes",
    20 << 20,
    Source::new(
        "docs.cohere.com, \"Using Cohere's Models to Work with Image Inputs\"",
        "2026",
    ),
);

pub(crate) const PROFILE: Profile = Profile {
    name: "Cohere",
    title: "Cohere, `strict_tools`",
    rules: &[&REQUIRED, &FIELDS, &IMAGE_TYPES, &IMAGE_BYTES],
    tool_limits: &[(Count::Properties, &FIELDS), (Count::Required, &REQUIRED)],
    request_limits: &[(Count::Properties, &FIELDS)],
    ..Profile::EMPTY
};
