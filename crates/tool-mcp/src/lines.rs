//! Messages as lines: standard input and output, sockets. Both sides read and write them here.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::RequestId;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Ends when a message is written.
pub(crate) type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Reads and writes lines.
pub(crate) struct Lines<R, W> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// The length of the longest line.
    longest: usize,
    /// Set while the rest of a line that is too long is skipped.
    skipped: Option<Outline>,
    output: Arc<Mutex<Option<W>>>,
}

/// The outcome of a read.
pub(crate) enum Line {
    /// A line, with its end.
    Whole(Vec<u8>),
    /// A line longer than the longest. Only its outline is known.
    TooLong(Outline),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    pub(crate) fn new(input: R, output: W, longest: usize) -> Lines<R, W> {
        Lines {
            input: BufReader::new(input),
            line: Vec::new(),
            longest,
            skipped: None,
            output: Arc::new(Mutex::new(Some(output))),
        }
    }

    #[cfg(test)]
    pub(crate) fn set_longest(&mut self, longest: usize) {
        self.longest = longest;
    }

    /// Returns the next line, and `None` at the end of the input. Can be dropped at any time: what was read so
    /// far is kept.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let piece = &available[..taken];
            match &mut self.skipped {
                Some(outline) => outline.push(piece),
                None if self.line.len() + taken > self.longest => {
                    let mut outline = Outline::default();
                    outline.push(&self.line);
                    outline.push(piece);
                    self.line = Vec::new();
                    self.skipped = Some(outline);
                }
                None => self.line.extend_from_slice(piece),
            }
            self.input.consume(taken);
            if newline.is_some() {
                return Ok(Some(match self.skipped.take() {
                    Some(outline) => Line::TooLong(outline),
                    None => Line::Whole(std::mem::take(&mut self.line)),
                }));
            }
        }
    }

    /// Takes the memory of a line that was read, for the next.
    pub(crate) fn reuse(&mut self, mut line: Vec<u8>) {
        if self.line.is_empty() {
            line.clear();
            self.line = line;
        }
    }

    /// Writes a message.
    pub(crate) fn send(&self, message: &impl Serialize) -> Sending {
        let output = self.output.clone();
        let line = serde_json::to_vec(message).map(|mut line| {
            line.push(b'\n');
            line
        });
        Box::pin(async move {
            let line = line?;
            let mut output = output.lock().await;
            let Some(output) = output.as_mut() else {
                return Err(io::ErrorKind::NotConnected.into());
            };
            output.write_all(&line).await?;
            output.flush().await
        })
    }

    /// Closes the output.
    pub(crate) async fn close(&mut self) {
        self.output.lock().await.take();
    }
}

/// The longest id of a message that can't be read.
const LONGEST_ID: usize = 256;

/// The recognizable parts of a message that can't be read: its members at the top level, as far as bytes
/// that may not be JSON show them.
#[derive(Default)]
pub(crate) struct Outline {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    place: Place,
    /// The bytes of the current key or of the id.
    token: Vec<u8>,
    key: Key,
    id: Option<RequestId>,
    has_method: bool,
    has_outcome: bool,
    has_ended: bool,
}

/// Where in an object the outline is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Key,
    Value,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Key {
    Id,
    #[default]
    Other,
}

impl Outline {
    pub(crate) fn of(bytes: &[u8]) -> Outline {
        let mut outline = Outline::default();
        outline.push(bytes);
        outline
    }

    /// Reads on.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                self.note(byte);
                if !self.in_string && self.depth == 1 && self.place == Place::Key {
                    self.end_key();
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.note(byte);
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.place = Place::Key;
                }
                b'}' | b']' => {
                    self.end_value();
                    self.depth = self.depth.saturating_sub(1);
                    self.has_ended |= self.depth == 0;
                    // Within the value of a key.
                    self.place = Place::Value;
                }
                b':' if self.depth == 1 => self.place = Place::Value,
                b',' => {
                    self.end_value();
                    if self.depth == 1 {
                        self.place = Place::Key;
                    }
                }
                _ if byte.is_ascii_whitespace() => {}
                _ => self.note(byte),
            }
        }
    }

    /// Keeps a byte of a key, or of the id.
    fn note(&mut self, byte: u8) {
        let is_kept = self.place == Place::Key || self.key == Key::Id;
        if self.depth == 1 && !self.has_ended && is_kept && self.token.len() <= LONGEST_ID {
            self.token.push(byte);
        }
    }

    fn end_key(&mut self) {
        self.key = match &*self.token {
            br#""id""# => Key::Id,
            br#""method""# => {
                self.has_method = true;
                Key::Other
            }
            br#""result""# | br#""error""# => {
                self.has_outcome = true;
                Key::Other
            }
            _ => Key::Other,
        };
        self.token.clear();
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            if self.key == Key::Id && self.id.is_none() {
                self.id = serde_json::from_slice(&self.token).ok();
            }
            self.key = Key::Other;
            self.token.clear();
        }
    }

    /// Returns the id of a request.
    #[cfg(feature = "server")]
    pub(crate) fn request_id(&self) -> Option<&RequestId> {
        // An answer to a response would get another one.
        self.id.as_ref().filter(|_| !self.has_outcome)
    }

    /// Returns the id of a response.
    #[cfg(feature = "client")]
    pub(crate) fn response_id(&self) -> Option<&RequestId> {
        self.id.as_ref().filter(|_| !self.has_method)
    }

    /// Returns `true` if there is a result or an error.
    #[cfg(feature = "client")]
    pub(crate) fn has_outcome(&self) -> bool {
        self.has_outcome
    }

    /// Returns `true` if the message may continue on the next line, as indented JSON does.
    #[cfg(feature = "client")]
    pub(crate) fn continues(&self) -> bool {
        self.depth > 0 && !self.in_string && !self.has_ended
    }

    /// Returns `true` after the end of the message.
    #[cfg(feature = "client")]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outline_of_anything_has_its_id() {
        let number = |id| Some(RequestId::Number(id));
        let cases: [(&[u8], Option<RequestId>, Option<RequestId>); 13] = [
            (
                br#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"x":NaN}}"#,
                None,
                number(7),
            ),
            (
                br#"{"result":{"id":8,"x":[{"id":1}]},"id" : 7 }"#,
                None,
                number(7),
            ),
            (br#"{"jsonrpc":"2.0","id":7}"#, number(7), number(7)),
            (b"{\"id\":7,\"method\":\"a\xE4\"}", number(7), None),
            (
                br#"{"id":"a\"}","method":5}"#,
                Some(RequestId::String("a\"}".into())),
                None,
            ),
            (br#"{"a":"\"id\":3","id":7,"result":"cut"#, None, number(7)),
            (br#"{"id":7.5}"#, None, None),
            (br#"{"id":null}"#, None, None),
            (br#"{"x":{"id":7}}"#, None, None),
            (br#"[{"id":7}]"#, None, None),
            (br#""id":7"#, None, None),
            (br#"{"id":7}{"id":8}"#, number(7), number(7)),
            (b"}}{{\"id\":", None, None),
        ];
        for (bytes, request, response) in cases {
            let outline = Outline::of(bytes);
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(outline.request_id(), request.as_ref(), "{text}");
            assert_eq!(outline.response_id(), response.as_ref(), "{text}");
        }
    }
}
