//! Objects and their members.

use super::writer::ConstJsonWriter;
use crate::schema::{Kind, Property, Schema};

impl ConstJsonWriter<'_> {
    pub(super) const fn object(&mut self, properties: &'static [Property]) {
        self.ascii(b"\"type\":\"object\",\"properties\":{");
        let start = self.at;
        let others = self.properties(properties, start);
        self.ascii(b"}");
        if self.required(properties, false) {
            self.ascii(b"\"]");
        }
        match others {
            Some(values) => {
                self.ascii(b",\"additionalProperties\":");
                self.schema(values, values.description);
            }
            None => self.ascii(b",\"additionalProperties\":false"),
        }
    }

    /// Writes the members and gives the schema of all others, if there may be others.
    const fn properties(
        &mut self,
        properties: &'static [Property],
        start: usize,
    ) -> Option<&'static Schema> {
        let mut others = None;
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            match property.schema.kind {
                Kind::Object(inner) if property.flat => {
                    if let Some(values) = self.properties(inner, start) {
                        others = Some(values);
                    }
                }
                Kind::Map(rule) if property.flat => others = Some(rule.values),
                _ => {
                    if self.at > start {
                        self.ascii(b",\"");
                    } else {
                        self.ascii(b"\"");
                    }
                    self.property(property);
                }
            }
            at += 1;
        }
        others
    }

    const fn property(&mut self, property: &Property) {
        self.put(property.name.json());
        self.ascii(b"\":{");
        let start = self.at;
        let text = if size_of_val(property.description.json()) > 0 {
            property.description
        } else {
            property.schema.description
        };
        if property.nullable && self.is_result {
            self.nullable(property.schema);
            self.describe(text, property.schema.notes, start);
        } else {
            self.content(property.schema, text, start);
        }
        if size_of_val(property.default) > 0 && !self.is_result {
            self.separate(start);
            self.ascii(b"\"default\":");
            self.put(property.default);
        }
        if size_of_val(property.example) > 0 {
            self.separate(start);
            self.ascii(b"\"examples\":[");
            self.put(property.example);
            self.ascii(b"]");
        }
        self.ascii(b"}");
    }

    /// Writes the list of required members up to its closing quote, and says whether it began.
    const fn required(&mut self, properties: &'static [Property], mut some: bool) -> bool {
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            match property.schema.kind {
                Kind::Object(inner) if property.flat => some = self.required(inner, some),
                _ => {
                    if property.required && !(property.skipped && self.is_result) {
                        if some {
                            self.ascii(b"\",\"");
                        } else {
                            self.ascii(b",\"required\":[\"");
                        }
                        self.put(property.name.json());
                        some = true;
                    }
                }
            }
            at += 1;
        }
        some
    }
}
