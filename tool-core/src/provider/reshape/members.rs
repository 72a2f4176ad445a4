//! Objects and the variants of unions.

use crate::provider::reshape::notes::Notes;
use crate::provider::reshape::{JsonWriter, Reshaper};
use crate::schema::property::Members;
use crate::schema::{Kind, Property, Schema};

impl Reshaper<'_> {
    /// An object whose keys come in the order of the source, but for one that comes first.
    pub(crate) fn object(
        self,
        properties: &'static [Property],
        first: Option<usize>,
        out: &mut JsonWriter,
    ) {
        let Members { known, others } = Members::of(properties);
        let mut known = known.into_owned();
        if let Some(first) = first {
            known[..=first].rotate_right(1);
        }
        self.typed("object", false, out);
        let is_required = |property: &&Property| property.required || self.style.requires_all;
        out.word("properties").object(|out| {
            for property in &known {
                let notes = Notes::member(property, self.style);
                let or_null = self.style.requires_all && !property.required;
                out.key(property.name());
                self.node(property.schema, notes, or_null, out);
            }
        });
        if self.style.is_open_api {
            out.word("propertyOrdering").array(|out| {
                for property in &known {
                    out.string(property.name());
                }
            });
        }
        if self.style.requires_all || known.iter().any(|property| property.required) {
            out.word("required").array(|out| {
                for property in known.iter().filter(is_required) {
                    out.string(property.name());
                }
            });
        }
        self.close(others, out);
    }

    /// What other keys an object may have. An open one says so: not everyone takes silence for it.
    pub(crate) fn close(self, others: Option<&'static Schema>, out: &mut JsonWriter) {
        if self.style.is_open_api {
            return;
        }
        out.word("additionalProperties");
        match others {
            None => {
                out.boolean(false);
            }
            Some(values) if matches!(values.kind, Kind::Any) => {
                out.boolean(true);
            }
            Some(values) => self.schema(values, out),
        }
    }

    pub(crate) fn variants(self, schemas: &[&'static Schema], out: &mut JsonWriter) {
        for (at, schema) in schemas.iter().enumerate() {
            match schema.kind {
                Kind::Object(properties) if self.reference(schema).is_none() => {
                    out.object(|out| {
                        let first = self.style.requires_all.then(|| leading(schemas, at));
                        self.object(properties, first.flatten(), out);
                        Notes::of(schema, self.style).write(out);
                    });
                }
                _ => self.schema(schema, out),
            }
        }
    }
}

/// The place of the key that tells an object from the others of a union, unless its first key
/// does: its tag, or a key that no other has. A model decides by the first key that it writes.
fn leading(schemas: &[&'static Schema], at: usize) -> Option<usize> {
    let members = |schema: &Schema| Members::of(schema.properties()).known.into_owned();
    let own = members(schemas[at]);
    let is_tag =
        |property: &Property| matches!(property.schema.kind, Kind::Enum(strings) if strings.is_tag);
    if let Some(tag) = own.iter().position(is_tag) {
        return Some(tag);
    }
    let others: Vec<Property> = schemas
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .flat_map(|(_, schema)| members(schema))
        .collect();
    own.iter()
        .position(|property| others.iter().all(|other| other.name() != property.name()))
}
