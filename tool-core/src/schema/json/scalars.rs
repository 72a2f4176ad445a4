//! Numbers and strings.

use super::writer::ConstJsonWriter;
use crate::schema::{IntegerRange, NumberRange, StringRule, Strings};

impl ConstJsonWriter<'_> {
    pub(super) const fn integer(&mut self, range: IntegerRange) {
        self.ascii(b"\"type\":\"integer\"");
        if range.shows_minimum {
            self.ascii(b",\"minimum\":");
            self.whole(range.minimum);
        }
        if range.shows_maximum {
            self.ascii(b",\"maximum\":");
            self.whole(range.maximum);
        }
        if range.multiple_of != 0 {
            self.ascii(b",\"multipleOf\":");
            self.whole(range.multiple_of);
        }
    }

    pub(super) const fn numbers(&mut self, range: NumberRange) {
        self.ascii(b"\"type\":\"number\"");
        if let Some(bound) = range.minimum {
            if bound.is_exclusive {
                self.ascii(b",\"exclusiveMinimum\":");
            } else {
                self.ascii(b",\"minimum\":");
            }
            self.put(bound.json);
        }
        if let Some(bound) = range.maximum {
            if bound.is_exclusive {
                self.ascii(b",\"exclusiveMaximum\":");
            } else {
                self.ascii(b",\"maximum\":");
            }
            self.put(bound.json);
        }
        if let Some(step) = range.multiple_of {
            self.ascii(b",\"multipleOf\":");
            self.put(step.json);
        }
    }

    pub(super) const fn string(&mut self, rule: StringRule) {
        self.ascii(b"\"type\":\"string\"");
        self.lengths(rule.lengths, ",\"minLength\":", ",\"maxLength\":");
        if size_of_val(rule.pattern.json()) > 0 {
            self.ascii(b",\"pattern\":\"");
            self.put(rule.pattern.json());
            self.ascii(b"\"");
        }
        if size_of_val(rule.format) > 0 {
            self.ascii(b",\"format\":\"");
            self.put(rule.format);
            self.ascii(b"\"");
        }
    }

    pub(super) const fn strings(&mut self, strings: Strings) {
        if strings.is_tag {
            self.ascii(b"\"type\":\"string\",\"const\":\"");
            self.put(strings.values[0].json());
            self.ascii(b"\"");
            return;
        }
        self.ascii(b"\"type\":\"string\",\"enum\":[");
        let mut at = 0;
        while at < strings.values.len() {
            if at > 0 {
                self.ascii(b",\"");
            } else {
                self.ascii(b"\"");
            }
            self.put(strings.values[at].json());
            self.ascii(b"\"");
            at += 1;
        }
        self.ascii(b"]");
    }
}
