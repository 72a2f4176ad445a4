//! One pass over the top level of the arguments.

use std::ops::Range;

use super::reader::{Problem, Reader};
use super::slot::Decode;
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::seen::Seen;
use crate::schema::validate::conforms;

/// Why [`fill`] stopped. In a box, since it is rare and the way to it is not.
type Stopped<'p> = Box<Stop<'p>>;

pub(super) enum Stop<'p> {
    /// The text is not the expected object.
    Shape,
    /// A parameter's value does not decode. It starts and was given up at these places of the text.
    Value(&'p Property, Problem, Range<usize>),
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
) -> Result<(), Stopped<'p>> {
    let mut reader = Reader::new(text);
    let mut seen = Seen::default();
    let mut given = 0;
    require(reader.cursor.eat(b'{'))?;
    if !reader.cursor.eat(b'}') {
        // A model mostly keeps to the order of the schema.
        let mut next = 0;
        loop {
            let place = match properties.get(next) {
                Some(property) if is_next(&mut reader.cursor, property) => next,
                _ => other_key(&mut reader.cursor, properties)?,
            };
            next = place + 1;
            require(seen.insert(place))?;
            given += 1;
            value(&mut reader, &properties[place], &mut *slots[place], trust)?;
            if !reader.cursor.eat(b',') {
                require(reader.cursor.eat(b'}'))?;
                break;
            }
        }
    }
    reader.cursor.peek();
    require(reader.cursor.position() == text.len())?;
    if given == properties.len() {
        return Ok(());
    }
    for (place, property) in properties.iter().enumerate() {
        if !seen.contains(place) {
            absent(property, &mut *slots[place])?;
        }
    }
    Ok(())
}

fn require(holds: bool) -> Result<(), Stopped<'static>> {
    if holds {
        Ok(())
    } else {
        Err(Stop::Shape.into())
    }
}

/// Steps over the key of a property, if it comes next as it is mostly written.
#[inline]
fn is_next(cursor: &mut Cursor<'_>, property: &Property) -> bool {
    property.name.is_plain() && cursor.eat_key(property.name())
}

/// Steps over a key that is not the expected one, and gives the place of its property.
#[inline(never)]
fn other_key(cursor: &mut Cursor<'_>, properties: &[Property]) -> Result<usize, Stopped<'static>> {
    require(cursor.peek() == b'"')?;
    let key = cursor.string().text().ok_or(Stop::Shape)?;
    require(cursor.eat(b':'))?;
    let place = properties
        .iter()
        .position(|property| property.is_called(&key));
    Ok(place.ok_or(Stop::Shape)?)
}

/// Decodes the value that comes next.
fn value<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
    trust: Trust,
) -> Result<(), Stopped<'p>> {
    let first = reader.cursor.peek();
    if first == b'n' && property.drops_null() && reader.cursor.eat_word("null") {
        return absent(property, slot);
    }
    reader.is_strict = property.exact && trust == Trust::None;
    let is_known = property.exact || trust == Trust::All || property.nullable && first == b'n';
    if is_known {
        return decode(reader, property, slot);
    }
    // The walk comes first: it is bounded, and a type's own decoding might not be.
    let start = reader.cursor.position();
    let length = conforms(property.schema, reader.cursor.rest()).ok_or(Stop::Shape)?;
    decode(reader, property, slot)?;
    require(start + length == reader.cursor.position())
}

fn decode<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    let start = reader.cursor.position();
    slot.decode(reader).map_err(|problem| {
        let place = start..reader.cursor.position();
        Box::new(Stop::Value(property, problem, place))
    })
}

/// Fills the slot of a parameter that the call does not give.
#[inline(never)]
fn absent<'p>(property: &'p Property, slot: &mut dyn Decode<'_>) -> Result<(), Stopped<'p>> {
    let stand_in = match property.default_json() {
        Some(default) => default,
        None if property.required => return Err(Stop::Shape.into()),
        None if property.nullable => "null",
        // Filled from `Default` when it is taken.
        None => {
            slot.reset();
            return Ok(());
        }
    };
    slot.decode(&mut Reader::new(stand_in))
        // It stands nowhere.
        .map_err(|problem| Box::new(Stop::Value(property, problem, 0..0)))
}
