//! Numbers and strings.

use std::borrow::Cow;

use super::{Path, Walker, unlike};
use crate::schema::numbers::{is_multiple, whole_number};
use crate::schema::words::{did_you_mean, push, shorten};
use crate::schema::{IntegerRange, NumberRange, Schema, StringRule, Strings, Text};

impl Walker<'_> {
    pub(super) fn integer(&mut self, schema: &Schema, range: &IntegerRange, path: &Path<'_>) {
        let start = self.cursor.clone();
        let (number, digits) = match self.cursor.eat_integer() {
            Some(number) => (i128::from(number), Cow::Borrowed("")),
            None => {
                let text = self.scalar();
                let Some(digits) = whole_number(text) else {
                    return self.unlike(schema, text, path);
                };
                // Beyond 128 bits the sign alone decides.
                let most = match digits.starts_with('-') {
                    true => i128::MIN,
                    false => i128::MAX,
                };
                (digits.parse().unwrap_or(most), digits)
            }
        };
        let text = start.text_to(&self.cursor);
        let side = if number < range.minimum {
            Some(("below the minimum", range.minimum))
        } else if number > range.maximum {
            Some(("above the maximum", range.maximum))
        } else {
            None
        };
        if let Some((relation, limit)) = side {
            self.is_not(text, relation, itoa::Buffer::new().format(limit), path);
        }
        let step = range.multiple_of;
        if step != 0 && number % step != 0 {
            // Beyond 128 bits the number is another than the text.
            if side.is_none() || !matches!(number, i128::MIN | i128::MAX) {
                self.is_not(
                    text,
                    "no multiple of",
                    itoa::Buffer::new().format(step),
                    path,
                );
            }
        } else if let (None, Cow::Owned(digits)) = (side, digits) {
            self.respell(start.position(), &digits);
        }
    }

    pub(super) fn number(&mut self, range: &NumberRange, path: &Path<'_>) {
        let start = self.cursor.clone();
        let number = match self.cursor.eat_decimal() {
            None => self.scalar().parse().ok(),
            plain => plain,
        };
        let text = start.text_to(&self.cursor);
        let Some(number) = number.filter(|number| number.abs() <= range.magnitude) else {
            return self.report(path, |words| {
                push(words, format_args!("{} is out of range", shorten(text)));
            });
        };
        if let Some(bound) = range.minimum
            && (number < bound.value || bound.is_exclusive && number <= bound.value)
        {
            let relation = match bound.is_exclusive {
                true => "not above",
                false => "below the minimum",
            };
            self.is_not(text, relation, bound.json, path);
        } else if let Some(bound) = range.maximum
            && (number > bound.value || bound.is_exclusive && number >= bound.value)
        {
            let relation = match bound.is_exclusive {
                true => "not below",
                false => "above the maximum",
            };
            self.is_not(text, relation, bound.json, path);
        }
        if let Some(step) = range.multiple_of
            && !is_multiple(text, step.json)
        {
            self.is_not(text, "no multiple of", step.json, path);
        }
    }

    /// Reports a number on the wrong side of a limit.
    fn is_not(&mut self, text: &str, relation: &str, limit: &str, path: &Path<'_>) {
        self.report(path, |words| {
            words.push_str(&shorten(text));
            words.push_str(" is ");
            words.push_str(relation);
            words.push(' ');
            words.push_str(limit);
        });
    }

    pub(super) fn string(&mut self, schema: &Schema, rule: &StringRule, path: &Path<'_>) {
        let quoted = self.quoted();
        if rule.lengths.is_any() && rule.pattern.is_empty() && quoted.is_text() {
            return;
        }
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.no_text(path);
        };
        if !rule.lengths.is_any() && !rule.lengths.admits(text.chars().count()) {
            self.unlike(schema, quoted, path);
        } else if !matches_pattern(rule, &text) {
            self.report(path, |words| {
                let (got, pattern) = (shorten(quoted), rule.pattern.as_str());
                push(
                    words,
                    format_args!("{got} does not match the pattern {pattern}"),
                );
            });
        }
    }

    pub(super) fn one_of(&mut self, schema: &Schema, strings: &Strings, path: &Path<'_>) {
        let start = self.cursor.position();
        let quoted = self.quoted();
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.no_text(path);
        };
        if strings.lists(&text) {
            return;
        }
        if self.folds
            && let Some(value) = strings.fold(&text)
        {
            return self.respell(start, &format!("\"{}\"", value.json()));
        }
        // One that is meant in another case is none of the others.
        if strings.is_open && strings.fold(&text).is_none() {
            return;
        }
        self.report(path, |words| {
            unlike(words, schema, quoted);
            did_you_mean(words, &text, strings.values.iter().map(Text::as_str));
        });
    }

    pub(super) fn no_text(&mut self, path: &Path<'_>) {
        let problem = "holds half of a surrogate pair, which is no text";
        self.report(path, |words| words.push_str(problem));
    }
}

#[cfg(feature = "regex")]
fn matches_pattern(rule: &StringRule, text: &str) -> bool {
    rule.pattern.is_empty() || crate::schema::pattern::is_match(rule.regex, text)
}

/// Without the feature no schema has a pattern.
#[cfg(not(feature = "regex"))]
fn matches_pattern(_: &StringRule, _: &str) -> bool {
    true
}
