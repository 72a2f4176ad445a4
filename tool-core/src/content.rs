//! [`Content`]: what a result consists of, if it is more than a string or a value.

pub(crate) mod base64;
#[cfg(feature = "serde")]
pub(crate) mod saved;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

/// One part of a tool's result: text, an image, audio, a file or a link.
///
/// A tool returns one part, several (`Vec<Content>`), or a value with parts (`(T, Vec<Content>)`), each
/// in a `Result` too. The value is the structured result and keeps its output schema.
///
/// ```
/// use serde::Serialize;
/// use tool_core::content::{Content, Image};
/// use tool_core::{Registry, ToolCall, ToolType, tool, tools};
///
/// # fn draw(_: &[f64]) -> Vec<u8> { b"\x89PNG".to_vec() }
/// /// Draws a chart.
/// #[tool]
/// fn draw_chart(values: Vec<f64>) -> Image {
///     Image::png(draw(&values))
/// }
///
/// #[derive(Serialize, ToolType)]
/// struct Summary {
///     mean: f64,
/// }
///
/// /// Summarizes values.
/// #[tool]
/// fn summarize(values: Vec<f64>) -> Result<(Summary, Vec<Content>), String> {
///     if values.is_empty() {
///         return Err("there are no values".into());
///     }
///     let mean = values.iter().sum::<f64>() / values.len() as f64;
///     let chart = Image::png(draw(&values));
///     Ok((Summary { mean }, vec![Content::text("The chart:"), chart.into()]))
/// }
///
/// let registry = Registry::builder().tools(tools![draw_chart, summarize]).build()?;
/// let call = ToolCall::new("call_1", "summarize", r#"{"values":[1,2]}"#);
/// let result = registry.call_blocking(call);
/// assert_eq!(result.content(), r#"{"mean":1.5}"#);
/// let [value, text, Content::Image(chart)] = result.parts() else {
///     panic!()
/// };
/// assert_eq!([value, text], [&Content::text(r#"{"mean":1.5}"#), &Content::text("The chart:")]);
/// assert_eq!(chart.media_type(), Some("image/png"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
///
/// Each dialect writes parts in the form of its provider. Bytes are encoded there, so a result never
/// contains base64 text; they are shared, so a clone is cheap. None of the types implements `Serialize`, so
/// that a picture in a field of a struct does not compile: a model couldn't see it there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
    /// Audio.
    Audio(Audio),
    /// A file, such as a PDF document.
    File(File),
    /// A link to something that the model or the client can fetch.
    Link(ResourceLink),
}

impl Content {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Content {
        Content::Text(text.into())
    }

    /// Returns the text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes that the part consists of, apart from text.
    pub fn media(&self) -> Option<&Media> {
        match self {
            Content::Image(Image(media))
            | Content::Audio(Audio(media))
            | Content::File(File { media, .. }) => Some(media),
            Content::Text(_) | Content::Link(_) => None,
        }
    }

    /// Returns a line for a log or a page, in place of the bytes: "image/png, 12 kB". The line of a text is its text.
    ///
    /// ```
    /// use tool_core::content::{Content, Image};
    ///
    /// let picture = Content::from(Image::png(vec![0; 12_345]));
    /// assert_eq!(picture.line(), "image/png, 12 kB");
    /// ```
    pub fn line(&self) -> String {
        let Some(media) = self.media() else {
            return match self {
                Content::Link(link) => link.as_line(),
                other => other.as_text().unwrap_or_default().to_owned(),
            };
        };
        let kind = match self {
            Content::File(file) => format!("{:?}", file.name),
            Content::Audio(_) => "audio".into(),
            _ => "image".into(),
        };
        let kind = match (media.media_type(), self) {
            (Some(media_type), Content::File(_)) => format!("{kind}, {media_type}"),
            (Some(media_type), _) => media_type.to_owned(),
            (None, _) => kind,
        };
        match &media.source {
            Source::Bytes(bytes) => format!("{kind}, {}", size(bytes.len())),
            Source::Url(_) => format!("{kind} at a URL"),
        }
    }

    /// Returns a short description for a note in its place: "image/png image, 1234 bytes".
    pub fn description(&self) -> String {
        let kind = match self {
            Content::Text(_) => "text".into(),
            Content::Image(_) => "image".into(),
            Content::Audio(_) => "audio".into(),
            Content::File(file) => format!("file {:?}", file.name),
            Content::Link(link) => format!("link {:?}", link.name),
        };
        let Some(media) = self.media() else {
            return kind;
        };
        let kind = match media.media_type() {
            Some(media_type) => format!("{media_type} {kind}"),
            None => kind,
        };
        match &media.source {
            Source::Bytes(bytes) => format!("{kind}, {} bytes", bytes.len()),
            Source::Url(_) => format!("{kind} at a URL"),
        }
    }
}

/// Returns a number of bytes in the largest unit of which there is one.
fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

impl From<String> for Content {
    fn from(text: String) -> Content {
        Content::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Content {
        Content::text(text)
    }
}

/// The bytes of a part with their media type, or its URL: what a dialect writes.
///
/// ```
/// use tool_core::content::Image;
///
/// let image = Image::png([1, 2, 3]);
/// assert_eq!(image.media().media_type(), Some("image/png"));
/// assert_eq!(image.media().data_url(), "data:image/png;base64,AQID");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Media {
    /// Empty if it is unknown.
    media_type: Cow<'static, str>,
    pub(crate) source: Source,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Bytes(Arc<Vec<u8>>),
    Url(Arc<str>),
}

impl Media {
    pub(crate) fn of(media_type: impl Into<Cow<'static, str>>, source: Source) -> Media {
        Media {
            media_type: usual_name(media_type.into()),
            source,
        }
    }

    fn bytes(media_type: impl Into<Cow<'static, str>>, bytes: impl Into<Vec<u8>>) -> Media {
        Media::of(media_type, Source::Bytes(Arc::new(bytes.into())))
    }

    /// Decodes a `data:` URL, whose base64 must not reach a model as text.
    fn url(url: &str) -> Media {
        let data = url.strip_prefix("data:").and_then(|data| {
            let (head, text) = data.split_once(',')?;
            let bytes = base64::decode(text)?;
            Some(Media::bytes(
                head.strip_suffix(";base64")?.to_owned(),
                bytes,
            ))
        });
        data.unwrap_or_else(|| Media::of("", Source::Url(url.into())))
    }

    /// Returns the media type, if it is known.
    pub fn media_type(&self) -> Option<&str> {
        (!self.media_type.is_empty()).then_some(&*self.media_type)
    }

    /// Returns the bytes, unless there is a URL.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.source {
            Source::Bytes(bytes) => Some(bytes),
            Source::Url(_) => None,
        }
    }

    /// Returns the URL, if there is one in place of bytes.
    pub fn as_url(&self) -> Option<&str> {
        match &self.source {
            Source::Bytes(_) => None,
            Source::Url(url) => Some(url),
        }
    }

    /// Returns the size of the bytes that a request would contain.
    pub fn size(&self) -> usize {
        self.as_bytes().map_or(0, <[u8]>::len)
    }

    /// Returns the text of a text file: of the type `text/…`, JSON or XML, and valid UTF-8.
    pub fn as_text(&self) -> Option<&str> {
        let media_type = self.media_type.split(';').next().unwrap_or_default();
        let is_text = media_type.starts_with("text/")
            || matches!(media_type, "application/json" | "application/xml")
            || media_type.ends_with("+json")
            || (media_type.ends_with("+xml") && !media_type.starts_with("image/"));
        is_text
            .then(|| std::str::from_utf8(self.as_bytes()?).ok())
            .flatten()
    }

    /// Returns the bytes as base64. Empty for a URL.
    pub fn base64(&self) -> String {
        let mut out = String::new();
        base64::encode(self.as_bytes().unwrap_or_default(), &mut out);
        out
    }

    /// Returns the URL, or the bytes as a `data:` URL.
    pub fn data_url(&self) -> String {
        match &self.source {
            Source::Url(url) => url.to_string(),
            Source::Bytes(bytes) => {
                let mut out = format!("data:{};base64,", self.media_type);
                base64::encode(bytes, &mut out);
                out
            }
        }
    }
}

/// Replaces other names of a media type that are common, which providers do not accept.
fn usual_name(media_type: Cow<'static, str>) -> Cow<'static, str> {
    match &*media_type {
        "image/jpg" => "image/jpeg".into(),
        "audio/mp3" => "audio/mpeg".into(),
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav".into(),
        _ => media_type,
    }
}

/// Omits the bytes, which may be many and personal.
impl fmt::Debug for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Media");
        if let Some(media_type) = self.media_type() {
            out.field("media_type", &media_type);
        }
        match &self.source {
            Source::Bytes(bytes) => out.field("bytes", &bytes.len()),
            Source::Url(url) => out.field("url", url),
        };
        out.finish()
    }
}

/// The methods that all kinds of media have.
macro_rules! media {
    ($type:ident, $media:tt) => {
        impl $type {
            /// Sets the media type of the file at a URL. Some providers require it.
            pub fn with_media_type(mut self, media_type: impl Into<Cow<'static, str>>) -> $type {
                let media = &mut self.$media;
                *media = Media::of(media_type, media.source.clone());
                self
            }

            /// Returns the media type, such as `image/png`. For a URL it may be unknown.
            pub fn media_type(&self) -> Option<&str> {
                self.$media.media_type()
            }

            /// Returns the bytes, unless there is only a URL.
            pub fn bytes(&self) -> Option<&[u8]> {
                self.$media.as_bytes()
            }

            /// Returns the URL, if there is one.
            pub fn as_url(&self) -> Option<&str> {
                self.$media.as_url()
            }

            /// Returns the URL, or a `data:` URL with the bytes as base64, such as for a web page.
            pub fn to_data_url(&self) -> String {
                self.$media.data_url()
            }
        }

        impl From<$type> for Content {
            fn from(value: $type) -> Content {
                Content::$type(value)
            }
        }
    };
}

/// An image: bytes with a media type, or a URL.
///
/// ```
/// use tool_core::content::Image;
///
/// let image = Image::png(b"\x89PNG");
/// assert_eq!(image.media_type(), Some("image/png"));
/// assert_eq!(image.to_data_url(), "data:image/png;base64,iVBORw==");
/// let image = Image::url("https://example.com/chart.png");
/// assert_eq!(image.bytes(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image(pub(crate) Media);

impl Image {
    /// Returns the bytes with their media type, or the URL.
    pub fn media(&self) -> &Media {
        &self.0
    }

    /// Creates an image from bytes with this media type. The bytes are not inspected.
    pub fn new(media_type: impl Into<Cow<'static, str>>, bytes: impl Into<Vec<u8>>) -> Image {
        Image(Media::bytes(media_type, bytes))
    }

    /// Creates a PNG image.
    pub fn png(bytes: impl Into<Vec<u8>>) -> Image {
        Image::new("image/png", bytes)
    }

    /// Creates a JPEG image.
    pub fn jpeg(bytes: impl Into<Vec<u8>>) -> Image {
        Image::new("image/jpeg", bytes)
    }

    /// Creates a GIF image.
    pub fn gif(bytes: impl Into<Vec<u8>>) -> Image {
        Image::new("image/gif", bytes)
    }

    /// Creates a WebP image.
    pub fn webp(bytes: impl Into<Vec<u8>>) -> Image {
        Image::new("image/webp", bytes)
    }

    /// Creates an image that the provider fetches. A `data:` URL with base64 is decoded.
    ///
    /// A provider accepts only some schemes, mostly `https`. A dialect replaces an image at another
    /// URL by a [note](crate::dialect::Dialect::omitted).
    pub fn url(url: impl AsRef<str>) -> Image {
        Image(Media::url(url.as_ref()))
    }
}

media!(Image, 0);

/// Audio: bytes with a media type, or a URL.
///
/// ```
/// use tool_core::content::Audio;
/// use tool_core::{ToolCall, ToolResult};
///
/// let call = ToolCall::new("call_1", "read_aloud", "");
/// let result = ToolResult::new(&call, Audio::mp3([0xFF, 0xFB, 0x90]));
/// assert_eq!(result.parts().len(), 1);
/// assert_eq!(Audio::url("https://example.org/a.wav").bytes(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audio(pub(crate) Media);

impl Audio {
    /// Returns the bytes with their media type, or the URL.
    pub fn media(&self) -> &Media {
        &self.0
    }

    /// Creates audio from bytes with this media type. The bytes are not inspected.
    pub fn new(media_type: impl Into<Cow<'static, str>>, bytes: impl Into<Vec<u8>>) -> Audio {
        Audio(Media::bytes(media_type, bytes))
    }

    /// Creates WAV audio.
    pub fn wav(bytes: impl Into<Vec<u8>>) -> Audio {
        Audio::new("audio/wav", bytes)
    }

    /// Creates MP3 audio.
    pub fn mp3(bytes: impl Into<Vec<u8>>) -> Audio {
        Audio::new("audio/mpeg", bytes)
    }

    /// Creates audio that the provider fetches; see [`Image::url`]. Few providers do.
    pub fn url(url: impl AsRef<str>) -> Audio {
        Audio(Media::url(url.as_ref()))
    }
}

media!(Audio, 0);

/// A file with a name: bytes with a media type, or a URL.
///
/// If a provider doesn't accept files of its type, a dialect sends a text file as text.
///
/// ```
/// use tool_core::content::File;
///
/// let file = File::text("notes.md", "# Notes").with_media_type("text/markdown");
/// assert_eq!(file.name(), "notes.md");
/// assert_eq!(file.bytes(), Some(b"# Notes".as_slice()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    name: String,
    pub(crate) media: Media,
}

impl File {
    /// Returns the bytes with their media type, or the URL.
    pub fn media(&self) -> &Media {
        &self.media
    }

    /// Creates a file from bytes with this media type. The bytes are not inspected.
    pub fn new(
        name: impl Into<String>,
        media_type: impl Into<Cow<'static, str>>,
        bytes: impl Into<Vec<u8>>,
    ) -> File {
        File::of(name.into(), Media::bytes(media_type, bytes))
    }

    /// Creates a PDF document.
    pub fn pdf(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> File {
        File::new(name, "application/pdf", bytes)
    }

    /// Creates a plain text file.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> File {
        File::new(name, "text/plain", text.into())
    }

    /// Creates a file that the provider fetches; see [`Image::url`].
    pub fn url(name: impl Into<String>, url: impl AsRef<str>) -> File {
        File::of(name.into(), Media::url(url.as_ref()))
    }

    pub(crate) fn of(name: String, media: Media) -> File {
        File { name, media }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

media!(File, media);

/// A link to a resource that is not part of the result. The Model Context Protocol has a form for it;
/// other dialects write it as text.
///
/// ```
/// use tool_core::content::{Content, ResourceLink};
///
/// let link = ResourceLink::new("file:///srv/report.csv", "report.csv").description("All sales.");
/// assert_eq!(Content::from(link.clone()), Content::Link(link));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceLink {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) size: Option<u64>,
}

impl ResourceLink {
    /// Creates a link to a URI of any scheme.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> ResourceLink {
        ResourceLink {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            media_type: None,
            size: None,
        }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> ResourceLink {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    pub fn description(mut self, description: impl Into<String>) -> ResourceLink {
        self.description = Some(description.into());
        self
    }

    /// Sets the media type.
    pub fn media_type(mut self, media_type: impl Into<String>) -> ResourceLink {
        self.media_type = Some(media_type.into());
        self
    }

    /// Sets the size in bytes.
    pub fn size(mut self, bytes: u64) -> ResourceLink {
        self.size = Some(bytes);
        self
    }

    /// Returns the link as MCP writes it: a part of the type `resource_link`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::content::ResourceLink;
    ///
    /// let link = ResourceLink::new("file:///srv/report.csv", "report.csv").size(7);
    /// assert_eq!(
    ///     link.to_json(),
    ///     json!({"type": "resource_link", "uri": "file:///srv/report.csv", "name": "report.csv", "size": 7}),
    /// );
    /// ```
    pub fn to_json(&self) -> Value {
        let mut value = json!({ "type": "resource_link", "uri": self.uri, "name": self.name });
        let texts = [
            ("title", &self.title),
            ("description", &self.description),
            ("mimeType", &self.media_type),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                value[key] = (&**text).into();
            }
        }
        if let Some(size) = self.size {
            value["size"] = size.into();
        }
        value
    }

    /// Returns the URI.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the link as one line of text.
    pub fn as_line(&self) -> String {
        let mut line = format!("{}: {}", self.name, self.uri);
        if let Some(description) = &self.description {
            line.push_str(" – ");
            line.push_str(description);
        }
        line
    }
}

impl From<ResourceLink> for Content {
    fn from(link: ResourceLink) -> Content {
        Content::Link(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_url_is_decoded() {
        let image = Image::url("data:image/jpg;base64,Zm9v");
        assert_eq!(image.bytes(), Some(b"foo".as_slice()));
        assert_eq!(image.media_type(), Some("image/jpeg"));
        for url in [
            "data:image/png,foo",
            "data:image/png;base64,Zm9",
            "https://a.b/c.png",
        ] {
            assert_eq!(Image::url(url).as_url(), Some(url));
        }
    }

    #[test]
    fn debug_shows_no_bytes() {
        let shown = format!("{:?}", Content::from(Image::png([112; 3])));
        assert_eq!(
            shown,
            r#"Image(Image(Media { media_type: "image/png", bytes: 3 }))"#
        );
    }

    #[test]
    fn clones_share_their_bytes() {
        let image = Image::png(vec![0; 1 << 20]);
        let clone = image.clone();
        assert!(std::ptr::eq(image.bytes().unwrap(), clone.bytes().unwrap()));
    }
}
