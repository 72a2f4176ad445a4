//! Numbers and strings.

use super::{Path, Walker, unlike};
use crate::schema::numbers::{is_multiple, whole_number};
use crate::schema::words::{nearest, shorten};
use crate::schema::{IntegerRange, NumberRange, Schema, StringRule, Strings, Text};

impl Walker<'_> {
    pub(super) fn integer(&mut self, schema: &Schema, range: IntegerRange, path: &Path<'_>) {
        let start = self.cursor.clone();
        if let Some(number) = self.cursor.eat_integer().map(i128::from)
            && range.minimum <= number
            && number <= range.maximum
            && (range.multiple_of == 0 || number % range.multiple_of == 0)
        {
            return self.write(start.text_to(&self.cursor));
        }
        self.cursor = start;
        let text = self.cursor.scalar();
        let Some(digits) = whole_number(text) else {
            return self.report(path, || unlike(schema, text));
        };
        let negative = digits.starts_with('-');
        // Beyond 128 bits the sign alone decides.
        let number = digits
            .parse()
            .unwrap_or(if negative { i128::MIN } else { i128::MAX });
        if number < range.minimum {
            self.report(path, || below(text, range.minimum));
        } else if number > range.maximum {
            self.report(path, || above(text, range.maximum));
        } else if range.multiple_of != 0 && number % range.multiple_of != 0 {
            self.report(path, || no_multiple(text, range.multiple_of));
        } else {
            self.write(&digits);
        }
    }

    pub(super) fn number(&mut self, range: &NumberRange, path: &Path<'_>) {
        let text = self.cursor.scalar();
        let is_bounded =
            range.minimum.is_some() || range.maximum.is_some() || range.multiple_of.is_some();
        if !is_bounded && is_small(text) {
            return self.write(text);
        }
        let Some(number) = text
            .parse::<f64>()
            .ok()
            .filter(|n| n.abs() <= range.magnitude)
        else {
            return self.report(path, || format!("{} is out of range", shorten(text)));
        };
        if let Some(bound) = range.minimum
            && (number < bound.value || bound.is_exclusive && number <= bound.value)
        {
            return self.report(path, || match bound.is_exclusive {
                true => format!("{} is not above {}", shorten(text), bound.json),
                false => below(text, bound.json),
            });
        }
        if let Some(bound) = range.maximum
            && (number > bound.value || bound.is_exclusive && number >= bound.value)
        {
            return self.report(path, || match bound.is_exclusive {
                true => format!("{} is not below {}", shorten(text), bound.json),
                false => above(text, bound.json),
            });
        }
        if let Some(step) = range.multiple_of
            && !is_multiple(text, step.json)
        {
            return self.report(path, || no_multiple(text, step.json));
        }
        self.write(text);
    }

    pub(super) fn string(&mut self, schema: &Schema, rule: &StringRule, path: &Path<'_>) {
        let quoted = self.cursor.string();
        if rule.lengths.is_any() && rule.pattern.is_empty() && quoted.is_text() {
            return self.write(quoted.json());
        }
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.no_text(path);
        };
        if !rule.lengths.is_any() && !rule.lengths.admits(text.chars().count()) {
            self.report(path, || unlike(schema, quoted));
        } else if !matches_pattern(rule, &text) {
            self.report(path, || {
                let pattern = rule.pattern.as_str();
                format!("{} does not match the pattern {pattern}", shorten(quoted))
            });
        } else {
            self.write(quoted);
        }
    }

    pub(super) fn one_of(&mut self, schema: &Schema, strings: Strings, path: &Path<'_>) {
        let quoted = self.cursor.string();
        let (quoted, text) = (quoted.json(), quoted.text());
        let Some(text) = text else {
            return self.no_text(path);
        };
        if strings.lists(&text) {
            return self.write(quoted);
        }
        if self.folds
            && let Some(value) = strings.fold(&text)
        {
            self.write("\"");
            self.write(value.json());
            return self.write("\"");
        }
        // One that is meant in another case is none of the others.
        if strings.is_open && strings.fold(&text).is_none() {
            return self.write(quoted);
        }
        self.report(path, || {
            let meant = nearest(&text, strings.values.iter().map(Text::as_str));
            let hint = meant.map_or_else(String::new, |m| format!("; did you mean \"{m}\"?"));
            format!("{}{hint}", unlike(schema, quoted))
        });
    }

    pub(super) fn no_text(&mut self, path: &Path<'_>) {
        self.report(path, || {
            "holds half of a surrogate pair, which is no text".into()
        });
    }
}

/// Whether a number is within the range of every float, by its spelling: `f32` ends above 10^38.
fn is_small(text: &str) -> bool {
    text.len() <= 38
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-'))
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

fn below(text: &str, minimum: impl ToString) -> String {
    [
        &shorten(text),
        " is below the minimum ",
        &minimum.to_string(),
    ]
    .concat()
}

fn above(text: &str, maximum: impl ToString) -> String {
    [
        &shorten(text),
        " is above the maximum ",
        &maximum.to_string(),
    ]
    .concat()
}

fn no_multiple(text: &str, step: impl ToString) -> String {
    [&shorten(text), " is no multiple of ", &step.to_string()].concat()
}
