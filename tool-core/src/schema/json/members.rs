//! Objects and their members.

use super::sink::Sink;
use crate::schema::{Kind, Property, Schema};

impl Sink<'_> {
    pub(super) const fn object(&mut self, properties: &'static [Property]) {
        self.put("\"type\":\"object\",\"properties\":{");
        let start = self.at;
        let others = self.properties(properties, start);
        self.put("}");
        if self.required(properties, false) {
            self.put("]");
        }
        self.put(",\"additionalProperties\":");
        match others {
            Some(values) => self.schema(values, values.description),
            None => self.put("false"),
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
                    self.separate(start);
                    self.property(property);
                }
            }
            at += 1;
        }
        others
    }

    const fn property(&mut self, property: &Property) {
        self.put("\"");
        self.put(property.name.json);
        self.put("\":{");
        let start = self.at;
        if property.nullable && self.is_result {
            self.nullable(property.schema);
            self.describe(property.text(), property.schema.notes, start);
        } else {
            self.content(property.schema, property.text(), start);
        }
        if !property.default.is_empty() && !self.is_result {
            self.separate(start);
            self.put("\"default\":");
            self.put(property.default);
        }
        if !property.example.is_empty() {
            self.separate(start);
            self.put("\"examples\":[");
            self.put(property.example);
            self.put("]");
        }
        self.put("}");
    }

    /// Writes the list of required members up to its closing bracket, and says whether it began.
    const fn required(&mut self, properties: &'static [Property], mut some: bool) -> bool {
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            match property.schema.kind {
                Kind::Object(inner) if property.flat => some = self.required(inner, some),
                _ => {
                    if property.required && !(property.skipped && self.is_result) {
                        self.put(if some { ",\"" } else { ",\"required\":[\"" });
                        self.put(property.name.json);
                        self.put("\"");
                        some = true;
                    }
                }
            }
            at += 1;
        }
        some
    }
}
