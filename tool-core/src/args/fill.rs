//! One pass over the top level of the arguments.

use std::ops::Range;

use super::reader::{Problem, Reader};
use super::slot::Decode;
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::seen::Seen;
use crate::schema::validate::conforms;

/// The text is not what fills the slots.
struct Mismatch;

/// A value that does not decode.
pub(super) struct DecodeFailure {
    pub(super) property: &'static Property,
    pub(super) problem: Problem,
    /// Where it starts and was given up.
    pub(super) at: Range<usize>,
}

/// Decodes every member of the object in `text` into the slot of its property, if it can.
#[inline]
pub(super) fn fill<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn Decode<'a>],
) -> bool {
    let mut pass = Pass::new(text);
    pass.reader.is_strict = true;
    pass.members(properties, &mut slots[..properties.len()])
        .is_ok()
}

/// The same of a text that is known to be JSON and what the schema describes. Gives the value that
/// does not decode, or nothing where there is another reason.
pub(super) fn fill_trusted<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn Decode<'a>],
) -> Result<(), Option<DecodeFailure>> {
    let mut pass = Pass::new(text);
    let filled = pass.others(properties, slots, 0);
    filled.map_err(|Mismatch| pass.unread)
}

/// One pass over the arguments.
struct Pass<'a> {
    reader: Reader<'a>,
    /// At which value it stopped, if it was that.
    unread: Option<DecodeFailure>,
}

impl<'a> Pass<'a> {
    fn new(text: &'a str) -> Self {
        Pass {
            reader: Reader::new(text),
            unread: None,
        }
    }

    #[inline]
    fn members(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn Decode<'a>],
    ) -> Result<(), Mismatch> {
        // A model mostly keeps to the order of the schema, and writes no white space.
        let mut before = b'{';
        let mut given = 0;
        for (property, slot) in properties.iter().zip(slots.iter_mut()) {
            let cursor = &mut self.reader.cursor;
            if !property.name.is_plain() || !cursor.eat_member(before, property.name()) {
                break;
            }
            before = b',';
            given += 1;
            self.value(property, &mut **slot)?;
        }
        let is_whole = match self.reader.cursor.rest() {
            "}" => given > 0,
            "{}" => given == 0,
            _ => false,
        };
        if is_whole && given == properties.len() {
            return Ok(());
        }
        self.others(properties, slots, given)
    }

    /// Goes on behind the first members, in any order.
    #[inline(never)]
    fn others(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn Decode<'a>],
        given: usize,
    ) -> Result<(), Mismatch> {
        let mut seen = Seen::default();
        for place in 0..given {
            seen.insert(place);
        }
        let mut is_first = given == 0;
        let mut next = given;
        while let Some(place) = member(&mut self.reader.cursor, properties, next, is_first)? {
            require(seen.insert(place))?;
            self.value(&properties[place], &mut *slots[place])?;
            is_first = false;
            next = place + 1;
        }
        self.reader.cursor.peek();
        require(self.reader.cursor.rest().is_empty())?;
        for (place, property) in properties.iter().enumerate() {
            if !seen.contains(place) {
                self.absent(property, &mut *slots[place])?;
            }
        }
        Ok(())
    }

    /// Decodes the value that comes next.
    #[inline]
    fn value(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'a>,
    ) -> Result<(), Mismatch> {
        let may_be_null = property.nullable || !property.required;
        if may_be_null && self.reader.cursor.peek() == b'n' {
            return self.null(property, slot);
        }
        match property.exact || !self.reader.is_strict {
            true => self.decode(property, slot),
            false => self.checked(property, slot),
        }
    }

    /// Decodes what seems to be `null`, where a parameter may be `null` or absent.
    #[inline(never)]
    fn null(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'a>,
    ) -> Result<(), Mismatch> {
        if property.drops_null() && self.reader.cursor.eat_word("null") {
            return self.absent(property, slot);
        }
        match property.exact || !self.reader.is_strict {
            true => self.decode(property, slot),
            false if property.nullable => self.decode_lax(property, slot),
            false => self.checked(property, slot),
        }
    }

    /// Decodes a value of a type that enforces less than its schema.
    #[inline(never)]
    fn checked(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'a>,
    ) -> Result<(), Mismatch> {
        self.reader.cursor.peek();
        // The walk comes first: it is bounded, and a type's own decoding might not be.
        let start = self.reader.cursor.position();
        let length = conforms(property.schema, self.reader.cursor.rest()).ok_or(Mismatch)?;
        self.decode_lax(property, slot)?;
        require(start + length == self.reader.cursor.position())
    }

    /// Decodes a value without the strict way.
    fn decode_lax(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'a>,
    ) -> Result<(), Mismatch> {
        self.reader.is_strict = false;
        self.decode(property, slot)?;
        self.reader.is_strict = true;
        Ok(())
    }

    fn decode(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'a>,
    ) -> Result<(), Mismatch> {
        let start = self.reader.cursor.position();
        match slot.decode(&mut self.reader) {
            Ok(()) => Ok(()),
            Err(problem) => {
                let end = self.reader.cursor.position();
                self.refused(property, problem, start..end)
            }
        }
    }

    #[cold]
    fn refused(
        &mut self,
        property: &'static Property,
        problem: Problem,
        at: Range<usize>,
    ) -> Result<(), Mismatch> {
        self.unread = Some(DecodeFailure {
            property,
            problem,
            at,
        });
        Err(Mismatch)
    }

    /// Fills the slot of a parameter that the call does not give.
    #[inline(never)]
    fn absent(
        &mut self,
        property: &'static Property,
        slot: &mut dyn Decode<'_>,
    ) -> Result<(), Mismatch> {
        let stand_in = match property.default_json() {
            Some(default) => default,
            None if property.required => return Err(Mismatch),
            None if property.nullable => "null",
            // Filled from `Default` when it is taken.
            None => {
                slot.reset();
                return Ok(());
            }
        };
        match slot.decode(&mut Reader::new(stand_in)) {
            Ok(()) => Ok(()),
            // It stands nowhere.
            Err(problem) => self.refused(property, problem, 0..0),
        }
    }
}

fn require(holds: bool) -> Result<(), Mismatch> {
    if holds { Ok(()) } else { Err(Mismatch) }
}

/// Steps to the value of the next member and gives the place of its property, or steps over the end
/// of the object.
fn member(
    cursor: &mut Cursor<'_>,
    properties: &[Property],
    expected: usize,
    is_first: bool,
) -> Result<Option<usize>, Mismatch> {
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
    let key = cursor.string().text().ok_or(Mismatch)?;
    require(cursor.eat(b':'))?;
    let mut properties = properties.iter();
    let place = properties.position(|property| property.is_called(&key));
    Ok(Some(place.ok_or(Mismatch)?))
}
