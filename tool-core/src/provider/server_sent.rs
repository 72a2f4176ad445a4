//! [`ServerSentEvents`]: the bytes of a stream as the data of server-sent events.

use std::error::Error;
use std::fmt;

use serde::de::IgnoredAny;

/// Splits a body of server-sent events (HTML Living Standard, 9.2) into the `data` of each event. Other fields are
/// ignored.
///
/// [`StreamReader::bytes`](crate::dialect::StreamReader::bytes) does this itself. This is for what stands between a
/// connection and a reader, such as a client of your own for `tool-agent`, together with
/// [`EventJson`](crate::dialect::write::EventJson).
///
/// ```
/// use tool_core::dialect::write::{ServerSentError, ServerSentEvents};
///
/// let mut events = ServerSentEvents::default();
/// let mut data = Vec::new();
/// for chunk in [&b"data: {\"a\""[..], b":1}\r\n\r\n: ping\n\ndata: [DONE]\n\n"] {
///     events.push(chunk, |event| {
///         data.push(event.to_owned());
///         Ok::<_, ServerSentError>(())
///     })?;
/// }
/// assert_eq!(data, ["{\"a\":1}", "[DONE]"]);
/// # Ok::<(), ServerSentError>(())
/// ```
#[derive(Default)]
pub struct ServerSentEvents {
    /// The start of a line.
    line: Vec<u8>,
    /// The lines of the event so far.
    data: String,
    /// How many they are.
    lines: usize,
    /// Set if the last byte was a carriage return, which a line feed may follow.
    has_return: bool,
}

/// The longest event, in bytes.
const LONGEST: usize = 64 << 20;

impl ServerSentEvents {
    /// Reads the next bytes, in pieces of any size, and calls `read` with the data of each event that ends in them. The
    /// bytes `\n\n` end an event whose empty line the server left out. A line of data that is a JSON object is an event of its
    /// own, because some servers leave out all empty lines.
    ///
    /// # Errors
    ///
    /// Returns the first error of `read`, or an error if data is not UTF-8 or an event is longer than 64 MiB. The rest
    /// of the stream must not be read then.
    pub fn push<E: From<ServerSentError>>(
        &mut self,
        bytes: &[u8],
        mut read: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.has_return) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = line_end(rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            self.has_return = rest[end] == b'\r';
            let is_whole = self.line.is_empty();
            let line = if is_whole {
                &rest[..end]
            } else {
                self.line.extend_from_slice(&rest[..end]);
                &self.line[..]
            };
            if !line.is_empty() {
                if let Some(value) = data_of(line) {
                    if self.lines == 1 && is_object(&self.data) {
                        self.lines = 0;
                        read(&self.data)?;
                    }
                    match self.lines {
                        0 => self.data.clear(),
                        _ => self.data.push('\n'),
                    }
                    self.lines += 1;
                    let value = str::from_utf8(value).map_err(|_| ServerSentError::NotUtf8)?;
                    self.data.push_str(value);
                }
                self.line.clear();
            } else if std::mem::take(&mut self.lines) > 0 {
                let event = read(&self.data);
                self.data.clear();
                event?;
            }
            rest = &rest[end + 1..];
        }
        if self.line.len() + self.data.len() > LONGEST {
            return Err(ServerSentError::TooLong.into());
        }
        Ok(())
    }
}

/// The content is not in the output, because it may be secret.
impl fmt::Debug for ServerSentEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSentEvents").finish_non_exhaustive()
    }
}

/// Returns the data in a line.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value = line.strip_prefix(b"data:")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// Returns `true` for data that is whole without the next line.
fn is_object(data: &str) -> bool {
    data.starts_with('{') && serde_json::from_str::<IgnoredAny>(data).is_ok()
}

/// The error of [`ServerSentEvents::push`].
///
/// ```
/// use tool_core::dialect::write::{ServerSentError, ServerSentEvents};
///
/// let read = ServerSentEvents::default().push(b"data: \xff\n", |_| Ok(()));
/// assert_eq!(read, Err(ServerSentError::NotUtf8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerSentError {
    /// An event is longer than 64 MiB.
    TooLong,
    /// The data of an event is not UTF-8.
    NotUtf8,
}

impl fmt::Display for ServerSentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerSentError::TooLong => {
                write!(f, "an event of the stream is longer than {LONGEST} bytes")
            }
            ServerSentError::NotUtf8 => f.write_str("an event of the stream is not UTF-8"),
        }
    }
}

impl Error for ServerSentError {}

/// Returns the position of the first line feed or carriage return.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    // Without a return inside, the bytes of a chunk are compared at once.
    let has_end = |chunk: &[u8; 32]| chunk.iter().fold(false, |found, byte| found | is_end(byte));
    let (chunks, _) = bytes.as_chunks();
    let passed = chunks.iter().take_while(|chunk| !has_end(chunk)).count() * 32;
    let rest = bytes[passed..].iter().position(is_end);
    rest.map(|at| passed + at)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, ServerSentError, ServerSentEvents};

    /// Asserts that a stream has these events, however its bytes are split.
    fn assert_events(stream: &str, expected: &[&str]) {
        for size in 1..stream.len() {
            let mut reader = ServerSentEvents::default();
            let mut events = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                let read = reader.push(chunk, |event| {
                    events.push(event.to_owned());
                    Ok::<_, ServerSentError>(())
                });
                assert!(read.is_ok());
            }
            assert_eq!(events, expected, "chunks of {size} bytes");
        }
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_split() {
        let stream = "\u{feff}data: {\"a\":\ndata: \"\u{e9}\"}\r\n\r\n: ping\n\nevent: x\rdata:[1]\r\rid: 1\ndata: 2\n\n";
        let expected = ["{\"a\":\n\"\u{e9}\"}", "[1]", "2"];
        assert_events(stream, &expected);
    }

    #[test]
    fn objects_on_lines_of_their_own_are_events() {
        let stream = "data: {\"a\":1}\ndata:{\"b\":\ndata:2}\n\ndata: {}\nevent: x\ndata: {\ndata: }\ndata: [DONE]\n\ndata: 1\ndata: 2\n\n";
        let expected = ["{\"a\":1}", "{\"b\":\n2}", "{}", "{\n}\n[DONE]", "1\n2"];
        assert_events(stream, &expected);
    }

    /// Fields that are not read, and comments, may have any bytes.
    #[test]
    fn data_that_is_not_utf_8_is_an_error() {
        let read = |stream: &[u8]| {
            let mut reader = ServerSentEvents::default();
            stream
                .chunks(1)
                .try_for_each(|byte| reader.push(byte, |_| Ok(())))
        };
        assert_eq!(read(b": \xff\n\xff\nevent: \xff\ndata: 1\n\n"), Ok(()));
        assert_eq!(read(b"data: \xff\n"), Err(ServerSentError::NotUtf8));
    }

    #[test]
    fn an_event_without_end_is_an_error() {
        let mut reader = ServerSentEvents::default();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let mut lines = 0;
        while reader.push(line.as_bytes(), |_| Ok(())) != Err(ServerSentError::TooLong) {
            lines += 1;
            assert!(lines <= LONGEST >> 20);
        }
        assert!(lines > 60, "{lines}");
        let endless = vec![b'x'; LONGEST + 1];
        let read = ServerSentEvents::default().push(&endless, |_| Ok(()));
        assert_eq!(read, Err(ServerSentError::TooLong));
    }
}
