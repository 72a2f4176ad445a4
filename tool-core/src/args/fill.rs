//! One pass over the top level of the arguments.

use super::slot::Decode;
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::seen::Seen;
use crate::schema::validate::conforms;

/// Why [`fill`] stopped.
pub(super) enum Stop<'p> {
    /// The text is not the expected object.
    Shape,
    /// A parameter's value, which stands at this place of the text, does not decode.
    Value(&'p Property, serde_json::Error, usize),
}

/// What is known of the text beforehand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing.
    None,
    /// It is JSON and what the schema describes.
    All,
}

/// Decodes every member of the object in `text` into the slot of its property.
pub(super) fn fill<'a, 'p>(
    text: &'a str,
    properties: &'p [Property],
    slots: &mut [&mut dyn Decode<'a>],
    trust: Trust,
) -> Result<(), Stop<'p>> {
    let mut cursor = Cursor::new(text);
    let mut seen = Seen::default();
    require(cursor.eat(b'{'))?;
    if !cursor.eat(b'}') {
        // A model mostly keeps to the order of the schema.
        let mut next = 0;
        loop {
            let first = cursor.peek();
            let place = match properties.get(next) {
                Some(property) if cursor.eat_key(property.name.json) => next,
                _ => {
                    require(first == b'"')?;
                    let key = cursor.string().text().ok_or(Stop::Shape)?;
                    require(cursor.eat(b':'))?;
                    let place = properties.iter().position(|p| p.is_called(&key));
                    place.ok_or(Stop::Shape)?
                }
            };
            next = place + 1;
            require(seen.insert(place))?;
            value(&mut cursor, &properties[place], &mut *slots[place], trust)?;
            if !cursor.eat(b',') {
                require(cursor.eat(b'}'))?;
                break;
            }
        }
    }
    cursor.peek();
    require(cursor.position() == text.len())?;
    for (place, property) in properties.iter().enumerate() {
        if !seen.contains(place) {
            absent(property, &mut *slots[place])?;
        }
    }
    Ok(())
}

fn require(holds: bool) -> Result<(), Stop<'static>> {
    if holds { Ok(()) } else { Err(Stop::Shape) }
}

/// Decodes the value that comes next.
fn value<'a, 'p>(
    cursor: &mut Cursor<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
    trust: Trust,
) -> Result<(), Stop<'p>> {
    let first = cursor.peek();
    let rest = cursor.rest();
    if first == b'n' && property.drops_null() && rest.starts_with("null") {
        cursor.skip("null".len());
        return absent(property, slot);
    }
    // The walk comes first: it is bounded, and a type's own decoding might not be.
    let is_known =
        trust == Trust::All || property.exact || property.nullable && first == b'n';
    let walked = match is_known {
        true => None,
        false => Some(conforms(property.schema, rest).ok_or(Stop::Shape)?),
    };
    let length = slot
        .decode(rest)
        .map_err(|problem| Stop::Value(property, problem, cursor.position()))?;
    require(walked.is_none_or(|walked| walked == length))?;
    cursor.skip(length);
    Ok(())
}

/// Fills the slot of a parameter that the call does not give.
fn absent<'p>(property: &'p Property, slot: &mut dyn Decode<'_>) -> Result<(), Stop<'p>> {
    let stand_in = match property.default_json() {
        Some(default) => default,
        None if property.required => return Err(Stop::Shape),
        None if property.nullable => "null",
        // Filled from `Default` when it is taken.
        None => {
            slot.reset();
            return Ok(());
        }
    };
    slot.decode(stand_in)
        .map(|_| ())
        // It stands nowhere.
        .map_err(|problem| Stop::Value(property, problem, usize::MAX))
}
