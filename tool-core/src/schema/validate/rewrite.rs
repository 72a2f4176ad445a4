//! [`Rewrite`]: arguments in the form that serde accepts.

use std::ops::Range;

use serde_json::Value;

use super::candidates::members;

/// Arguments in the form that serde accepts. Unchanged text is copied only before the next change,
/// because most arguments have none.
pub(super) struct Rewrite<'t> {
    source: &'t str,
    pub(super) text: String,
    /// The length of the source that has been copied or replaced.
    passed: usize,
}

/// A point to rewind a [`Rewrite`] to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    written: usize,
    passed: usize,
}

impl<'t> Rewrite<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Rewrite {
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

    /// Discards all changes since `mark`.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.text.truncate(mark.written);
        self.passed = mark.passed;
    }

    pub(super) fn copy_to(&mut self, end: usize) {
        self.replace(end..end, "");
    }

    /// Replaces a range of the source, after all earlier replacements.
    pub(super) fn replace(&mut self, place: Range<usize>, text: &str) {
        let before = self.source.get(self.passed..place.start);
        self.text.push_str(before.unwrap_or_default());
        self.text.push_str(text);
        self.passed = place.end;
    }

    /// Returns a value of the source in its new form. `before` must be from before the value.
    pub(super) fn value(&mut self, before: Mark, place: Range<usize>) -> &str {
        if self.passed <= place.start {
            return self.source.get(place).unwrap_or_default();
        }
        self.copy_to(place.end);
        let start = before.written + place.start - before.passed;
        self.text.get(start..).unwrap_or_default()
    }

    /// Moves members of an object of the source before its others: serde takes the first key that names
    /// a variant as the variant, also if it is meant as a key of a map. `before` must be from before
    /// the object.
    pub(super) fn move_first(
        &mut self,
        before: Mark,
        place: Range<usize>,
        is_first: impl Fn(&str) -> bool,
    ) {
        let start = before.written + place.start - before.passed;
        let is_unchanged = self.passed <= place.start;
        let members = members(self.value(before, place.clone())).into_iter();
        let (first, others): (Vec<_>, Vec<_>) = members.partition(|(key, _)| is_first(key));
        let members: Vec<_> = first
            .iter()
            .chain(&others)
            .map(|(key, value)| format!("{}:{value}", Value::from(&**key)))
            .collect();
        let object = format!("{{{}}}", members.join(","));
        if is_unchanged {
            self.replace(place, &object);
        } else {
            self.text.truncate(start);
            self.text.push_str(&object);
        }
    }

    pub(super) fn finish(mut self) -> String {
        self.copy_to(self.source.len());
        self.text
    }
}
