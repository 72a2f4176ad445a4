//! What decoding wants spelled in another way than it came.

use std::ops::Range;

use super::Walker;
use crate::schema::Property;

/// Arguments in the form that decoding wants. That differs in few places from the text that came,
/// if in any: what lies between two of them is copied only once the second is there.
pub(super) struct Respelling<'t> {
    source: &'t str,
    text: String,
    /// How much of the source has been copied or replaced.
    passed: usize,
}

/// How far a respelling has come.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    written: usize,
    passed: usize,
}

impl<'t> Respelling<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Respelling {
            source,
            text: String::new(),
            passed: 0,
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            written: self.text.len(),
            passed: self.passed,
        }
    }

    /// Forgets what was done behind a mark.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.written);
        self.passed = mark.passed;
    }

    fn copy_to(&mut self, end: usize) {
        self.replace(end..end, "");
    }

    /// Puts a text in the place of a stretch of the source, behind all that was replaced before.
    fn replace(&mut self, place: Range<usize>, text: &str) {
        let before = self.source.get(self.passed..place.start);
        self.text.push_str(before.unwrap_or_default());
        self.text.push_str(text);
        self.passed = place.end;
    }

    /// A value of the source in its new form. The mark is of the time before the value.
    pub(super) fn value(&mut self, before: Mark, place: Range<usize>) -> &str {
        if self.passed <= place.start {
            return self.source.get(place).unwrap_or_default();
        }
        self.copy_to(place.end);
        let start = before.written + place.start - before.passed;
        self.text.get(start..).unwrap_or_default()
    }

    pub(super) fn finish(mut self) -> String {
        self.copy_to(self.source.len());
        self.text
    }
}

impl Walker<'_> {
    /// Puts a text in the place of what was passed since `start`.
    pub(super) fn respell(&mut self, start: usize, text: &str) {
        if let Some(output) = &mut self.output {
            output.replace(start..self.cursor.position(), text);
        }
    }

    /// Leaves out the member that was passed since `start`, with the comma behind it or before it.
    pub(super) fn leave_out(&mut self, start: usize) {
        let is_last = self.cursor.peek() != b',';
        let end = self.cursor.position();
        if let Some(output) = &mut self.output {
            output.replace(start..end + usize::from(!is_last), "");
            if is_last {
                let before = output.text.trim_end();
                let before = before.strip_suffix(',').unwrap_or(before);
                output.text.truncate(before.len());
            }
        }
    }

    /// Adds a member to the object whose end was passed last. serde lets an `Option` be absent, but
    /// not a newtype of one, nor one that is read `with` a function.
    pub(super) fn add_null(&mut self, property: &Property) {
        if let Some(output) = &mut self.output {
            output.copy_to(self.cursor.position().saturating_sub(1));
            let is_first = output.text.trim_end().ends_with('{');
            output.text.push_str(if is_first { "\"" } else { ",\"" });
            output.text.push_str(property.name.json());
            output.text.push_str("\":null");
        }
    }
}
