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

/// Decodes every member of the object in `text` into the slot of its property.
#[inline]
pub(super) fn fill<'a, 'p>(
    text: &'a str,
    properties: &'p [Property],
    slots: &mut [&mut dyn Decode<'a>],
) -> Result<(), Stopped<'p>> {
    let slots = &mut slots[..properties.len()];
    let mut reader = Reader::new(text);
    reader.is_strict = true;
    // A model mostly keeps to the order of the schema, and writes no white space.
    let mut before = b'{';
    let mut given = 0;
    for (property, slot) in properties.iter().zip(slots.iter_mut()) {
        if !property.name.is_plain() || !reader.cursor.eat_member(before, property.name()) {
            break;
        }
        before = b',';
        given += 1;
        value(&mut reader, property, &mut **slot)?;
    }
    let is_whole = match reader.cursor.rest() {
        "}" => given > 0,
        "{}" => given == 0,
        _ => false,
    };
    if is_whole && given == properties.len() {
        return Ok(());
    }
    fill_others(&mut reader, properties, slots, given)
}

/// The same of a text that is known to be JSON and what the schema describes.
pub(super) fn fill_trusted<'a, 'p>(
    text: &'a str,
    properties: &'p [Property],
    slots: &mut [&mut dyn Decode<'a>],
) -> Result<(), Stopped<'p>> {
    fill_others(&mut Reader::new(text), properties, slots, 0)
}

/// Goes on behind the first members, in any order.
#[inline(never)]
fn fill_others<'a, 'p>(
    reader: &mut Reader<'a>,
    properties: &'p [Property],
    slots: &mut [&mut dyn Decode<'a>],
    given: usize,
) -> Result<(), Stopped<'p>> {
    let mut seen = Seen::default();
    for place in 0..given {
        seen.insert(place);
    }
    let mut is_first = given == 0;
    let mut next = given;
    while let Some(place) = member(&mut reader.cursor, properties, next, is_first)? {
        require(seen.insert(place))?;
        value(reader, &properties[place], &mut *slots[place])?;
        is_first = false;
        next = place + 1;
    }
    reader.cursor.peek();
    require(reader.cursor.rest().is_empty())?;
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

/// Steps to the value of the next member and gives the place of its property, or steps over the end
/// of the object.
fn member(
    cursor: &mut Cursor<'_>,
    properties: &[Property],
    expected: usize,
    is_first: bool,
) -> Result<Option<usize>, Stopped<'static>> {
    if is_first {
        require(cursor.eat(b'{'))?;
    }
    if cursor.eat(b'}') {
        return Ok(None);
    }
    require(is_first || cursor.eat(b','))?;
    require(cursor.peek() == b'"')?;
    if let Some(property) = properties.get(expected)
        && cursor.eat_key(property.name.json())
    {
        return Ok(Some(expected));
    }
    let key = cursor.string().text().ok_or(Stop::Shape)?;
    require(cursor.eat(b':'))?;
    let mut properties = properties.iter();
    let place = properties.position(|property| property.is_called(&key));
    Ok(Some(place.ok_or(Stop::Shape)?))
}

/// Decodes the value that comes next.
#[inline]
fn value<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    let may_be_null = property.nullable || !property.required;
    if may_be_null && reader.cursor.peek() == b'n' {
        return null(reader, property, slot);
    }
    match property.exact || !reader.is_strict {
        true => decode(reader, property, slot),
        false => checked(reader, property, slot),
    }
}

/// Decodes what seems to be `null`, where a parameter may be `null` or absent.
#[inline(never)]
fn null<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    if property.drops_null() && reader.cursor.eat_word("null") {
        return absent(property, slot);
    }
    match property.exact || !reader.is_strict {
        true => decode(reader, property, slot),
        false if property.nullable => decode_lax(reader, property, slot),
        false => checked(reader, property, slot),
    }
}

/// Decodes a value of a type that enforces less than its schema.
#[inline(never)]
fn checked<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    reader.cursor.peek();
    // The walk comes first: it is bounded, and a type's own decoding might not be.
    let start = reader.cursor.position();
    let length = conforms(property.schema, reader.cursor.rest()).ok_or(Stop::Shape)?;
    decode_lax(reader, property, slot)?;
    require(start + length == reader.cursor.position())
}

/// Decodes a value without the strict way.
fn decode_lax<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    reader.is_strict = false;
    decode(reader, property, slot)?;
    reader.is_strict = true;
    Ok(())
}

fn decode<'a, 'p>(
    reader: &mut Reader<'a>,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<(), Stopped<'p>> {
    let start = reader.cursor.position();
    match slot.decode(reader) {
        Ok(()) => Ok(()),
        Err(problem) => refused(property, problem, start..reader.cursor.position()),
    }
}

#[cold]
fn refused(property: &Property, problem: Problem, at: Range<usize>) -> Result<(), Stopped<'_>> {
    Err(Box::new(Stop::Value(property, problem, at)))
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
