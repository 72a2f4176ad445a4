//! Validates arguments while their text arrives in pieces.
//!
//! Only brackets and strings are followed here. The [`Validator`] checks each parameter once its value has
//! ended, so schemas are known in one place only. It checks the whole text again at the end, because that
//! shows what is missing or given twice.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Path, Validator};
use crate::schema::cursor::before_special;
use crate::schema::violation::{Violation, Violations};
use crate::schema::{Property, Schema};

/// Arguments of this many bytes are not parsed for each piece.
const LONG: usize = 4096;

/// Arguments that arrive in pieces.
pub(crate) struct Incremental {
    schema: Schema,
    is_lenient: bool,
    text: String,
    /// The end of what was looked at.
    scanned: usize,
    state: State,
    /// The closing brackets of what is open.
    open: Vec<u8>,
    /// The start of the current parameter, with its key.
    parameter: usize,
    /// The end of the text whose values are complete.
    complete: usize,
    /// The values up to this end.
    values: (usize, Arc<Map<String, Value>>),
    violations: Violations,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Inside,
    String,
    /// The text is collected without a look at it, because it is no object or the object has ended.
    Collect,
    /// The text is not JSON.
    Malformed,
}

impl Incremental {
    pub(crate) fn new(parameters: Option<&'static [Property]>, is_lenient: bool) -> Incremental {
        Incremental {
            schema: parameters.map_or(Schema::ANY, Schema::object),
            is_lenient,
            text: String::with_capacity(128),
            scanned: 0,
            state: State::Start,
            open: Vec::new(),
            parameter: 0,
            complete: 0,
            values: Default::default(),
            violations: Violations::default(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn all_violations(&self) -> &Violations {
        &self.violations
    }

    pub(crate) fn violations(&self) -> &[Violation] {
        self.violations.listed()
    }

    /// Returns `true` if the arguments are rejected, whatever follows.
    pub(crate) fn is_rejected(&self) -> bool {
        self.state == State::Malformed || !self.violations.is_empty()
    }

    /// Leaves the verdict to the whole text.
    pub(crate) fn give_up(&mut self) {
        self.state = State::Collect;
    }

    /// Returns the values that are complete, in a long text as of a recent piece, because all of it is parsed.
    pub(crate) fn values(&mut self) -> Arc<Map<String, Value>> {
        let (known, values) = &self.values;
        let is_long = *known > LONG && !self.open.is_empty();
        let added = self.complete - known;
        if added == 0 || (is_long && added < known / 8) {
            return Arc::clone(values);
        }
        let text = self.text.get(..self.complete).unwrap_or_default();
        let mut text = text.to_owned();
        text.extend(self.open.iter().rev().map(|&byte| char::from(byte)));
        let values = Arc::new(serde_json::from_str(&text).unwrap_or_default());
        self.values = (self.complete, Arc::clone(&values));
        values
    }

    /// Validates a further piece of the text.
    pub(crate) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        while let State::Start | State::Inside | State::String = self.state {
            let rest = self.text.as_bytes().get(self.scanned..).unwrap_or_default();
            let skipped = match self.state {
                State::String => before_special(rest),
                _ => 0,
            };
            self.scanned += skipped;
            match (self.state, rest.get(skipped..).unwrap_or_default()) {
                (_, []) | (State::String, [b'\\']) => return,
                (State::String, [b'"', ..]) => self.state = State::Inside,
                (State::String, [b'\\', ..]) => self.scanned += 1,
                (State::String, _) => self.state = State::Malformed,
                (_, [byte, ..]) => self.bracket(*byte),
            }
            self.scanned += 1;
        }
    }

    /// Takes the next byte outside of strings.
    fn bracket(&mut self, byte: u8) {
        let at = self.scanned;
        match byte {
            b'{' | b'[' if self.state == State::Inside || byte == b'{' => {
                // In ASCII, a closing bracket comes two places after its opening one.
                self.open.push(byte + 2);
                self.state = State::Inside;
                self.complete = at + 1;
                if self.open.len() == 1 {
                    self.parameter = at + 1;
                }
            }
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ if self.state == State::Start => self.state = State::Collect,
            b'"' => self.state = State::String,
            b',' => {
                self.complete = at;
                self.end_parameter(at);
            }
            b'}' | b']' => {
                self.end_parameter(at);
                self.complete = at + 1;
                if self.open.pop() != Some(byte) {
                    self.state = State::Malformed;
                } else if self.open.is_empty() && self.state == State::Inside {
                    self.state = State::Collect;
                }
            }
            // A number, a literal, or the end of a key.
            b'+' | b'-' | b'.' | b':' => {}
            _ if byte.is_ascii_alphanumeric() => {}
            _ => self.state = State::Malformed,
        }
    }

    /// Validates the parameter that ends here, unless brackets inside of it are open.
    fn end_parameter(&mut self, end: usize) {
        if self.open.len() != 1 {
            return;
        }
        let parameter = self.text.get(self.parameter..end).unwrap_or_default();
        let ends = |at: usize| self.text.as_bytes().get(at) == Some(&b',');
        if parameter.trim_ascii().is_empty() && (ends(end) || ends(self.parameter - 1)) {
            self.state = State::Malformed;
            return;
        }
        let text = format!("{{{parameter}}}");
        self.parameter = end + 1;
        let mut validator = Validator::new(&text, true);
        validator.is_lenient = self.is_lenient;
        validator.is_part = true;
        validator.value(&self.schema, &Path::ROOT, 0);
        if !validator.is_json_to_end() && matches!(validator.json_check, Some(Err(_))) {
            self.state = State::Malformed;
        } else if !validator.is_exhausted {
            // The whole text has greater budgets, so a value may be valid that exhausts them here.
            self.violations.append(validator.violations);
        }
    }
}
