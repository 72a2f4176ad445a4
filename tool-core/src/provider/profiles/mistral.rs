//! The rules of Mistral: media, and the order of messages.

use crate::provider::profile::Profile;
use crate::provider::rule::{Rule, Source};

const IMAGE_TYPES: Rule = Rule::list(
    "mistral.image_types",
    &["image/png", "image/jpeg", "image/webp", "image/gif"],
    Source::new("docs.mistral.ai, \"Vision\"", "2026"),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "mistral.image_max_bytes",
    10 << 20,
    Source::new("docs.mistral.ai, \"Vision\"", "2026"),
);

const AUDIO_TYPES: Rule = Rule::list(
    "mistral.audio_types",
    &["audio/mpeg", "audio/wav"],
    Source::new("docs.mistral.ai, \"Audio\"", "2026"),
);
const DOCUMENT_TYPES: Rule = Rule::list(
    "mistral.document_types",
    &["application/pdf"],
    Source::new("mistralai 3.7.0 (Python), `DocumentURLChunk`", "2026-11"),
);
const ORDER: Rule = Rule::new(
    "mistral.message_order",
    Source::new(
        "datapizza-labs/datapizza-ai#98, avante-corp/avante.nvim#2695 (code 3230)",
        "2025-12-04",
    ),
);

pub(crate) const PROFILE: Profile = Profile {
    name: "Mistral",
    title: "Mistral",
    rules: &[
        &IMAGE_TYPES,
        &IMAGE_BYTES,
        &AUDIO_TYPES,
        &DOCUMENT_TYPES,
        &ORDER,
    ],
    ..Profile::EMPTY
};
