//! The parts of results that Amazon Bedrock accepts.

use crate::provider::media::Accepts;

const S3: &[&str] = &["s3"];
pub(super) const IMAGES: Accepts = Accepts {
    size: Some("bedrock.image_max_bytes"),
    schemes: S3,
    ..Accepts::types("bedrock.image_types")
};
pub(super) const DOCUMENTS: Accepts = Accepts {
    size: Some("bedrock.document_max_bytes"),
    schemes: S3,
    ..Accepts::types("bedrock.document_types")
};
pub(super) const AUDIO: Accepts = Accepts {
    schemes: S3,
    ..Accepts::types("bedrock.audio_types")
};
/// The formats of the media types in these rules, in the same order.
pub(super) const IMAGE_FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];
pub(super) const DOCUMENT_FORMATS: [&str; 9] = [
    "pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md",
];
pub(super) const AUDIO_FORMATS: [&str; 8] =
    ["mp3", "wav", "aac", "flac", "mp4", "ogg", "opus", "webm"];
