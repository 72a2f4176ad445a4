//! [`ServerSent`]: the bytes of a stream as the data of server-sent events.

use std::borrow::Cow;
use std::fmt;

/// Splits a stream of server-sent events (HTML Living Standard, 9.2) into the `data` of each event. Other fields are
/// ignored.
#[derive(Default)]
pub(crate) struct ServerSent {
    /// The start of a line.
    line: Vec<u8>,
    /// The lines of the event so far.
    data: String,
    has_data: bool,
    /// Set if the last byte was a carriage return, which a line feed may follow.
    has_return: bool,
}

/// The longest event.
const LONGEST: usize = 64 << 20;

impl ServerSent {
    /// Reads bytes, and the events that end in them. Returns the first error of `read`, or an error if an event is too long.
    pub(crate) fn push<E: From<TooLong>>(
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
                add_line(line, &mut self.data, &mut self.has_data);
                self.line.clear();
            } else if std::mem::take(&mut self.has_data) {
                let event = read(&self.data);
                self.data.clear();
                event?;
            }
            rest = &rest[end + 1..];
        }
        if self.line.len() + self.data.len() > LONGEST {
            return Err(TooLong.into());
        }
        Ok(())
    }
}

/// Adds a line to the data of an event.
fn add_line(line: &[u8], data: &mut String, has_data: &mut bool) {
    // Most lines are valid, which `from_utf8` finds out faster.
    let line = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
    let Some(value) = line.strip_prefix("data:") else {
        return;
    };
    if std::mem::replace(has_data, true) {
        data.push('\n');
    }
    data.push_str(value.strip_prefix(' ').unwrap_or(value));
}

/// An event is longer than this reads.
pub(crate) struct TooLong;

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an event of the stream is longer than {LONGEST} bytes")
    }
}

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
    use super::{ServerSent, TooLong};

    #[test]
    fn events_are_the_same_however_the_bytes_are_split() {
        let stream = "\u{feff}data: {\"a\":\ndata: \"\u{e9}\"}\r\n\r\n: ping\n\nevent: x\rdata:[1]\r\rid: 1\ndata: 2\n\n";
        let expected = ["{\"a\":\n\"\u{e9}\"}", "[1]", "2"];
        for size in 1..stream.len() {
            let mut reader = ServerSent::default();
            let mut events = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                let read = reader.push(chunk, |event| {
                    events.push(event.to_owned());
                    Ok::<_, TooLong>(())
                });
                assert!(read.is_ok());
            }
            assert_eq!(events, expected, "chunks of {size} bytes");
        }
    }
}
