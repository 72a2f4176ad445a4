//! The properties of an object, including the properties of its flattened fields.

use super::{Kind, Property, Schema};

/// Returns the number of properties, flattened ones included.
const fn length(properties: &[Property]) -> usize {
    let (mut length, mut at) = (0, 0);
    while at < properties.len() {
        length += match properties[at].schema.kind {
            Kind::Object(inner) if properties[at].is_flat() => self::length(inner),
            _ => !properties[at].is_flat() as usize,
        };
        at += 1;
    }
    length
}

/// Returns a property of an object by its place, flattened ones included.
pub(super) const fn nth(properties: &[Property], mut place: usize) -> Option<&Property> {
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        match property.schema.kind {
            Kind::Object(inner) if property.is_flat() => {
                let length = length(inner);
                if place < length {
                    return nth(inner, place);
                }
                place -= length;
            }
            _ if property.is_flat() => {}
            _ if place == 0 => return Some(property),
            _ => place -= 1,
        }
        at += 1;
    }
    None
}

/// Returns the schema of the values under other keys, if an object has some.
pub(super) const fn others(properties: &[Property]) -> Option<&'static Schema> {
    let mut at = 0;
    while at < properties.len() {
        let property = &properties[at];
        match property.schema.kind {
            Kind::Object(inner) if property.is_flat() => {
                if let Some(values) = others(inner) {
                    return Some(values);
                }
            }
            Kind::Map(rule) if property.is_flat() => return Some(rule.values),
            _ => {}
        }
        at += 1;
    }
    None
}
