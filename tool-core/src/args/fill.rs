//! One pass over the top level of the arguments.

use std::ops::Range;

use super::reader::Reader;
use super::slot::Decode;
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::seen::Seen;
use crate::schema::validate::conforms;

/// Why [`fill`] stopped.
pub(super) enum Stop<'p> {
    /// The text is not the expected object.
    Shape,
    /// A parameter's value does not decode. It starts and was given up at these places of the text.
    Value(&'p Property, serde_json::Error, Range<usize>),
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
    let mut reader = Reader::new(text);
    let mut seen = Seen::default();
    require(reader.cursor.eat(b'{'))?;
    if !reader.cursor.eat(b'}') {
        // A model mostly keeps to the order of the schema.
        let mut next = 0;
        loop {
            let place = match properties.get(next) {
                Some(property) if reader.cursor.eat_key(property.name.json) => next,
                _ => other_key(&mut reader.cursor, properties)?,
            };
            next = place + 1;
            require(seen.insert(place))?;
            value(&mut reader, &properties[place], &mut *slots[place], trust)?;
            if !reader.cursor.eat(b',') {
                require(reader.cursor.eat(b'}'))?;
                break;
            }
        }
    }
    reader.cursor.peek();
    require(reader.cursor.position() == text.len())?;
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

/// Steps over a key that is not the expected one, and gives the place of its property.
fn other_key(cursor: &mut Cursor<'_>, properties: &[Property]) -> Result<usize, Stop<'static>> {
    require(cursor.peek() == b'"')?;
    let key = cursor.string().text().ok_or(Stop::Shape)?;
    require(cursor.eat(b':'))?;
    let place = properties.iter().position(|property| property.is_called(&key));
    place.ok_or(Stop::Shape)
}

/// Decodes the value that comes next.
fn value<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
    trust: Trust,
) -> Result<(), Stop<'p>> {
    let first = reader.cursor.peek();
    if first == b'n' && property.drops_null() && reader.cursor.eat_word("null") {
        return absent(property, slot);
    }
    let start = reader.cursor.position();
    // The walk comes first: it is bounded, and a type's own decoding might not be.
    let is_known = trust == Trust::All || property.exact || property.nullable && first == b'n';
    let walked = match is_known {
        true => None,
        false => {
            let length = conforms(property.schema, reader.cursor.rest()).ok_or(Stop::Shape)?;
            Some(start + length)
        }
    };
    reader.is_strict = property.exact && trust == Trust::None;
    if let Err(problem) = slot.decode(reader) {
        return Err(Stop::Value(property, problem, start..reader.cursor.position()));
    }
    require(walked.is_none_or(|end| end == reader.cursor.position()))
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
    slot.decode(&mut Reader::new(stand_in))
        // It stands nowhere.
        .map_err(|problem| Stop::Value(property, problem, 0..0))
}
