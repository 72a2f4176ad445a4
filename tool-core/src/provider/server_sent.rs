//! [`ServerSent`]: the bytes of a stream as the data of server-sent events.

/// Splits a stream of server-sent events (HTML Living Standard, 9.2) into the `data` of each event. Other fields are
/// ignored.
#[derive(Default)]
pub(crate) struct ServerSent {
    /// The start of a line.
    line: Vec<u8>,
    /// The lines of the event so far.
    data: Option<String>,
    /// Set if the last byte was a carriage return, which a line feed may follow.
    has_return: bool,
}

/// The longest event.
const LONGEST: usize = 64 << 20;

impl ServerSent {
    /// Returns the events that end in these bytes, or an error if one is too long.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let mut events = Vec::new();
        for &byte in bytes {
            let follows_return = std::mem::take(&mut self.has_return);
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => {
                    self.has_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                byte => self.line.push(byte),
            }
        }
        if self.line.len() + self.data.as_ref().map_or(0, String::len) > LONGEST {
            return Err(format!(
                "an event of the stream is longer than {LONGEST} bytes"
            ));
        }
        Ok(events)
    }

    /// Ends a line. Returns the event if the line is empty.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        let value = line.strip_prefix("data:")?;
        let value = value.strip_prefix(' ').unwrap_or(value);
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_owned()),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::ServerSent;

    #[test]
    fn events_are_the_same_however_the_bytes_are_split() {
        let stream = "\u{feff}data: {\"a\":\ndata: \"\u{e9}\"}\r\n\r\n: ping\n\nevent: x\rdata:[1]\r\rid: 1\ndata: 2\n\n";
        let expected = ["{\"a\":\n\"\u{e9}\"}", "[1]", "2"];
        for size in 1..stream.len() {
            let mut reader = ServerSent::default();
            let chunks = stream.as_bytes().chunks(size);
            let events: Vec<_> = chunks
                .flat_map(|chunk| reader.push(chunk).unwrap())
                .collect();
            assert_eq!(events, expected, "chunks of {size} bytes");
        }
    }
}
