//! The saved form of parts. The types themselves do not implement serde's traits, because a tool could
//! otherwise return a picture as a string of base64.

use std::sync::Arc;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Audio, Content, File, Image, Media, ResourceLink, Source, base64};

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SavedPart {
    Text {
        text: String,
    },
    Image(SavedMedia),
    Audio(SavedMedia),
    File {
        name: String,
        #[serde(flatten)]
        media: SavedMedia,
    },
    Link(#[serde(with = "SavedLink")] ResourceLink),
}

#[derive(Serialize, Deserialize)]
struct SavedMedia {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    media_type: String,
    #[serde(flatten)]
    source: SavedSource,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedSource {
    Base64(String),
    Url(String),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ResourceLink")]
struct SavedLink {
    uri: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
}

pub(crate) fn serialize<S: Serializer>(
    parts: &[Content],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(parts.iter().map(SavedPart::from))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Content>, D::Error> {
    let parts = Vec::<SavedPart>::deserialize(deserializer)?.into_iter();
    let parts = parts.map(|part| part.into_content().ok_or("a part is not valid base64"));
    parts.collect::<Result<_, _>>().map_err(D::Error::custom)
}

impl From<&Media> for SavedMedia {
    fn from(media: &Media) -> SavedMedia {
        SavedMedia {
            media_type: media.media_type().unwrap_or_default().into(),
            source: match &media.source {
                Source::Bytes(_) => SavedSource::Base64(media.base64()),
                Source::Url(url) => SavedSource::Url(url.to_string()),
            },
        }
    }
}

impl SavedMedia {
    fn into_media(self) -> Option<Media> {
        let source = match self.source {
            SavedSource::Base64(text) => Source::Bytes(Arc::new(base64::decode(&text)?)),
            SavedSource::Url(url) => Source::Url(url.into()),
        };
        Some(Media::of(self.media_type, source))
    }
}

impl From<&Content> for SavedPart {
    fn from(part: &Content) -> SavedPart {
        match part {
            Content::Text(text) => SavedPart::Text { text: text.clone() },
            Content::Image(Image(media)) => SavedPart::Image(media.into()),
            Content::Audio(Audio(media)) => SavedPart::Audio(media.into()),
            Content::File(file) => SavedPart::File {
                name: file.name.clone(),
                media: (&file.media).into(),
            },
            Content::Link(link) => SavedPart::Link(link.clone()),
        }
    }
}

impl SavedPart {
    fn into_content(self) -> Option<Content> {
        Some(match self {
            SavedPart::Text { text } => Content::Text(text),
            SavedPart::Image(media) => Image(media.into_media()?).into(),
            SavedPart::Audio(media) => Audio(media.into_media()?).into(),
            SavedPart::File { name, media } => File::of(name, media.into_media()?).into(),
            SavedPart::Link(link) => Content::Link(link),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_part_is_read_back() {
        let link = ResourceLink::new("file:///a", "a")
            .title("A")
            .description("b")
            .size(3);
        let parts: Vec<Content> = vec![
            Content::text("t"),
            Image::png([0, 255, 3]).into(),
            Image::url("https://a.b/c").into(),
            Audio::mp3([]).into(),
            File::pdf("a.pdf", *b"%PDF").into(),
            File::url("b", "s3://c/d")
                .with_media_type("text/csv")
                .into(),
            link.media_type("text/plain").into(),
            ResourceLink::new("file:///b", "b").into(),
        ];
        let saved = serialize(&parts, serde_json::value::Serializer).unwrap();
        assert_eq!(saved[1]["base64"], "AP8D");
        assert_eq!(deserialize(saved).unwrap(), parts);
        let broken = serde_json::json!([{"type": "image", "media_type": "a/b", "base64": "?"}]);
        assert!(deserialize(broken).is_err());
    }
}
