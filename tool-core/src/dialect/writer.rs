//! [`JsonWriter`]: JSON text piece by piece, without a tree in between.

/// Writes JSON text. Commas come by themselves.
///
/// ```
/// use tool_core::dialect::JsonWriter;
///
/// let mut out = JsonWriter::new();
/// out.object(|out| {
///     out.key("name").string("say \"hi\"");
///     out.key("schema").raw(r#"{"type":"object"}"#);
/// });
/// assert_eq!(out.into_string(), r#"{"name":"say \"hi\"","schema":{"type":"object"}}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonWriter {
    /// Bytes, because `serde_json` escapes straight into them.
    json: Vec<u8>,
    /// Whether something stands before the place that is written next. One flag does for every
    /// depth: what encloses a closed object or array has that before it.
    follows: bool,
}

impl JsonWriter {
    /// Nothing written yet.
    pub fn new() -> JsonWriter {
        JsonWriter::default()
    }

    pub(super) fn with_capacity(bytes: usize) -> JsonWriter {
        JsonWriter {
            json: Vec::with_capacity(bytes),
            follows: false,
        }
    }

    /// An object, whose members `members` writes.
    pub fn object(&mut self, members: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose(b'{', members, b'}')
    }

    /// An array, whose items `items` writes.
    pub fn array(&mut self, items: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose(b'[', items, b']')
    }

    /// The key of a member, whose value is to be written next.
    pub fn key(&mut self, key: &str) -> &mut JsonWriter {
        self.string(key);
        self.json.push(b':');
        self.follows = false;
        self
    }

    /// A string.
    #[allow(clippy::missing_panics_doc)] // A vector takes every string.
    pub fn string(&mut self, text: &str) -> &mut JsonWriter {
        self.separate();
        serde_json::to_writer(&mut self.json, text).expect("a vector takes every string");
        self
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) -> &mut JsonWriter {
        self.raw(if value { "true" } else { "false" })
    }

    /// A value that is JSON text already. It is copied, not checked.
    pub fn raw(&mut self, json: &str) -> &mut JsonWriter {
        self.separate();
        self.json.extend_from_slice(json.as_bytes());
        self
    }

    /// The text.
    #[allow(clippy::missing_panics_doc)] // Only strings and brackets went in.
    pub fn into_string(self) -> String {
        String::from_utf8(self.json).expect("only strings and brackets went in")
    }

    fn enclose(
        &mut self,
        open: u8,
        inside: impl FnOnce(&mut JsonWriter),
        close: u8,
    ) -> &mut JsonWriter {
        self.separate();
        self.json.push(open);
        self.follows = false;
        inside(self);
        self.json.push(close);
        self.follows = true;
        self
    }

    /// A comma, unless nothing stands before it.
    fn separate(&mut self) {
        if self.follows {
            self.json.push(b',');
        }
        self.follows = true;
    }
}
