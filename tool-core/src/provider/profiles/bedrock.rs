//! The rules of Amazon Bedrock: limits and media.

use crate::provider::profile::{Count, Profile};
use crate::provider::rule::{Rule, Source};

const TOOLS_MIN: Rule = Rule::limit(
    "bedrock.tools_min",
    1,
    Source::new(
        "botocore 1.43, data/bedrock-runtime/2023-09-30/service-2.json",
        "2026-11",
    ),
);

const MODEL: Source = Source::new(
    "botocore 1.44.5, data/bedrock-runtime/2023-09-30/service-2.json",
    "2026-11",
);
const IMAGE_TYPES: Rule = Rule::list(
    "bedrock.image_types",
    &["image/png", "image/jpeg", "image/gif", "image/webp"],
    MODEL,
);
const IMAGE_BYTES: Rule = Rule::limit("bedrock.image_max_bytes", 3_932_160, MODEL);
const DOCUMENT_TYPES: Rule = Rule::list(
    "bedrock.document_types",
    &[
        "application/pdf",
        "text/csv",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "text/html",
        "text/plain",
        "text/markdown",
    ],
    MODEL,
);
const DOCUMENT_BYTES: Rule = Rule::limit("bedrock.document_max_bytes", 4_718_592, MODEL);
const AUDIO_TYPES: Rule = Rule::list(
    "bedrock.audio_types",
    &[
        "audio/mpeg",
        "audio/wav",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/ogg",
        "audio/opus",
        "audio/webm",
    ],
    MODEL,
);

pub(crate) const PROFILE: Profile = Profile {
    name: "Amazon Bedrock",
    title: "Amazon Bedrock",
    rules: &[
        &TOOLS_MIN,
        &IMAGE_TYPES,
        &IMAGE_BYTES,
        &DOCUMENT_TYPES,
        &DOCUMENT_BYTES,
        &AUDIO_TYPES,
    ],
    request_limits: &[(Count::MinTools, &TOOLS_MIN)],
    ..Profile::EMPTY
};
