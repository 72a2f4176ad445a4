//! Images, audio and files in results.
//!
//! A dialect has one function that writes a part, and says where: in the result, or after all results.
//! If the provider rejects the part, the result gets a note instead, so that the model knows of it, and
//! [`Dialect::omitted`](tool_core::dialect::Dialect::omitted) lists the part for the application.

use serde_json::{Number, Value, json};
use tool_core::ToolResult;
use tool_core::content::{Content, Media};
use tool_core::dialect::OmittedPart;
use tool_core::dialect::write::WireId;
use tool_core::rules::{self, Rule, Value as RuleValue};

/// Why a part can't be written.
pub(crate) struct Unwritable {
    rule: Option<&'static Rule>,
    reason: String,
}

impl Unwritable {
    pub(crate) fn new(reason: impl Into<String>) -> Unwritable {
        Unwritable {
            rule: None,
            reason: reason.into(),
        }
    }
}

/// A part in the form of a provider.
pub(crate) enum Written {
    /// A block of the result.
    Inside(Value),
    /// A block of the user's message after the results.
    After(Value),
}

/// The media types and sizes of one kind of parts that a provider accepts.
pub(crate) struct Accepts {
    /// The id of the rule that lists the media types.
    pub(crate) types: &'static str,
    /// The id of the rule with the maximum size in bytes.
    pub(crate) size: Option<&'static str>,
    /// Set when the size counts the base64 text.
    pub(crate) is_size_encoded: bool,
    /// The schemes of URLs.
    pub(crate) schemes: &'static [&'static str],
}

/// The schemes of URLs that a provider fetches.
pub(crate) const WEB: &[&str] = &["https", "http"];

impl Accepts {
    pub(crate) const fn types(types: &'static str) -> Accepts {
        Accepts {
            types,
            size: None,
            is_size_encoded: false,
            schemes: &[],
        }
    }

    /// Checks the type and size of bytes, or the scheme of a URL.
    pub(crate) fn check(&self, media: &Media) -> Result<(), Unwritable> {
        if let Some(media_type) = media.media_type()
            && !self.names().contains(&media_type)
        {
            return Err(Unwritable {
                rule: rules::find(self.types),
                reason: format!("the provider accepts {}", self.names().join(", ")),
            });
        }
        match (media.as_url(), media.as_bytes()) {
            (Some(url), _) => check_scheme(url, self.schemes),
            (None, Some(bytes)) => self.check_size(bytes.len()),
            (None, None) => Ok(()),
        }
    }

    /// Returns the position of a media type in the list of the rule.
    pub(crate) fn position(&self, media: &Media) -> Option<usize> {
        let mut names = self.names().iter();
        names.position(|name| media.media_type() == Some(name))
    }

    /// Returns the media type at a position in the list of the rule.
    pub(crate) fn media_type(&self, at: usize) -> &'static str {
        self.names()[at]
    }

    /// Returns the accepted media types.
    fn names(&self) -> &'static [&'static str] {
        match rules::find(self.types).map(|rule| rule.value) {
            Some(RuleValue::Names(names)) => names,
            other => unreachable!("the rule {} lists media types: {other:?}", self.types),
        }
    }

    fn check_size(&self, bytes: usize) -> Result<(), Unwritable> {
        if bytes == 0 {
            return Err(Unwritable::new("it is empty"));
        }
        let Some(rule) = self.size.and_then(rules::find) else {
            return Ok(());
        };
        let (size, unit) = if self.is_size_encoded {
            (bytes.div_ceil(3) * 4, "bytes as base64")
        } else {
            (bytes, "bytes")
        };
        match rule.value {
            RuleValue::Number(limit) if size > limit => Err(Unwritable {
                rule: Some(rule),
                reason: format!("the provider accepts at most {limit} {unit}"),
            }),
            _ => Ok(()),
        }
    }
}

/// Checks the scheme of a URL, and that it has no characters that no URL has.
fn check_scheme(url: &str, schemes: &[&str]) -> Result<(), Unwritable> {
    let is_known = url.split_once("://").is_some_and(|(scheme, rest)| {
        let mut schemes = schemes.iter();
        schemes.any(|known| scheme.eq_ignore_ascii_case(known)) && !rest.is_empty()
    });
    if is_known && url.bytes().all(is_plain) {
        return Ok(());
    }
    let reason = match schemes {
        [] => "the provider fetches no URLs; send the bytes".to_owned(),
        _ => format!(
            "its URL is not a valid one of the scheme {}",
            schemes.join(" or ")
        ),
    };
    Err(Unwritable::new(reason))
}

/// Checks that a text is a URI of any scheme but `data`, whose base64 must not be sent as text.
pub(crate) fn check_uri(uri: &str) -> Result<(), Unwritable> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !scheme.eq_ignore_ascii_case("data");
    if is_scheme && uri.bytes().all(is_plain) {
        return Ok(());
    }
    Err(Unwritable::new("its URL is not valid"))
}

/// Returns `true` for a byte that a URL can contain.
fn is_plain(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && !b"\"<>\\^`{|}".contains(&byte)
}

/// A result with parts in the form of a provider.
#[derive(Default)]
pub(crate) struct WrittenResult {
    /// Texts and blocks of the result, in order.
    pub(crate) inside: Vec<Piece>,
    /// Blocks of the user's message after the results.
    pub(crate) after: Vec<Value>,
    omitted: Vec<OmittedPart>,
}

pub(crate) enum Piece {
    Text(String),
    Block(Value),
    /// A text about the next block after the results.
    Note(String),
}

/// Writes the parts of a result. `part` gets the position of each as well.
pub(crate) fn write_parts(
    result: &ToolResult,
    part: impl Fn(&Content, usize) -> Result<Written, Unwritable>,
) -> WrittenResult {
    let mut written = WrittenResult::default();
    for (at, content) in result.parts().iter().enumerate() {
        let piece = match content {
            Content::Text(text) => Piece::Text(text.clone()),
            _ => match part(content, at) {
                Ok(Written::Inside(block)) => Piece::Block(block),
                Ok(Written::After(block)) => {
                    written.after.push(block);
                    let what = content.description();
                    Piece::Note(format!("[{what}: follows the results of the tools]"))
                }
                Err(unwritable) => match as_text(content) {
                    Some(text) => Piece::Text(text),
                    None => {
                        let what = content.description();
                        let note = format!("[{what}, omitted: {}]", unwritable.reason);
                        let omitted =
                            OmittedPart::new(result.call_id(), at, unwritable.rule, note.clone());
                        written.omitted.push(omitted);
                        Piece::Text(note)
                    }
                },
            },
        };
        // Anthropic and Bedrock reject empty texts.
        if !matches!(&piece, Piece::Text(text) if text.is_empty()) {
            written.inside.push(piece);
        }
    }
    written
}

/// Returns what a dialect omits of these results.
pub(crate) fn omitted(
    results: &[ToolResult],
    write: impl Fn(&ToolResult) -> WrittenResult,
) -> Vec<OmittedPart> {
    results
        .iter()
        .flat_map(|result| write(result).omitted)
        .collect()
}

/// Returns a link or a text file as text.
fn as_text(content: &Content) -> Option<String> {
    match content {
        Content::Link(link) => check_uri(link.uri()).is_ok().then(|| link.as_line()),
        Content::File(file) => {
            let text = file.media().as_text()?;
            Some(format!("{}:\n{text}", file.name()))
        }
        _ => None,
    }
}

impl WrittenResult {
    /// Returns the texts of the result, one a line.
    pub(crate) fn text(&self) -> String {
        let texts = self.inside.iter().filter_map(|piece| match piece {
            Piece::Text(text) | Piece::Note(text) => Some(&**text),
            Piece::Block(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the texts and the blocks of the result.
    pub(crate) fn into_texts_and_blocks(self) -> (Vec<String>, Vec<Value>) {
        let (mut texts, mut blocks) = (Vec::new(), Vec::new());
        for piece in self.inside {
            match piece {
                Piece::Text(text) | Piece::Note(text) => texts.push(text),
                Piece::Block(block) => blocks.push(block),
            }
        }
        (texts, blocks)
    }

    /// Returns the blocks of the result, with those that `text` makes of texts.
    pub(crate) fn into_blocks(self, text: impl Fn(String) -> Value) -> Vec<Value> {
        let blocks = self.inside.into_iter().map(|piece| match piece {
            Piece::Text(piece) | Piece::Note(piece) => text(piece),
            Piece::Block(block) => block,
        });
        blocks.collect()
    }

    /// Returns the blocks of a message of the user, each in its place.
    pub(crate) fn into_message(self, text: impl Fn(String) -> Value) -> Vec<Value> {
        let mut after = self.after.into_iter();
        let blocks = self.inside.into_iter().filter_map(|piece| match piece {
            Piece::Text(piece) => Some(text(piece)),
            Piece::Block(block) => Some(block),
            Piece::Note(_) => after.next(),
        });
        blocks.collect()
    }

    /// Returns the blocks after the results, behind a text that names the call. They gain the authority of
    /// the user, who did not write them.
    pub(crate) fn labelled_after(&mut self, result: &ToolResult) -> Option<(String, Vec<Value>)> {
        if self.after.is_empty() {
            return None;
        }
        let name = result.name();
        let call = match result.wire_id() {
            WireId::Absent => String::new(),
            WireId::Text | WireId::Custom | WireId::Number => {
                format!(", call {}", result.call_id())
            }
        };
        let label = format!("Output of the tool {name}{call}. The user did not write it:");
        Some((label, std::mem::take(&mut self.after)))
    }
}

/// Returns a text block of chat completions.
pub(crate) fn chat_text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// Returns an image of chat completions.
pub(crate) fn chat_image(media: &Media) -> Value {
    json!({ "type": "image_url", "image_url": { "url": media.data_url() } })
}

/// Returns the reason for a kind of parts that a provider has no form for.
pub(crate) fn no_form(provider: &str) -> Unwritable {
    Unwritable::new(format!("{provider} has no form for it"))
}

/// Returns the id of the call, with the JSON type that it was sent with.
pub(crate) fn wire_id(result: &ToolResult) -> Value {
    let number = match result.wire_id() {
        WireId::Number => serde_json::from_str::<Number>(result.call_id()).ok(),
        WireId::Text | WireId::Custom | WireId::Absent => None,
    };
    number.map_or_else(|| result.call_id().into(), Value::Number)
}
