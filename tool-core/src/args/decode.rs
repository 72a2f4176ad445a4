//! Decodes the arguments of a call into slots, in one pass over the top-level object.

use std::ops::Range;

use serde::de::Deserialize;

use super::reader::{ReadError, Reader};
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::sets::BitSet;
use crate::schema::validate::conforms;

/// The text is not what the slots expect.
struct Mismatch;

/// A value that can't be decoded.
pub(super) struct DecodeFailure {
    pub(super) property: &'static Property,
    pub(super) error: ReadError,
    /// Where it starts and where decoding stopped.
    pub(super) at: Range<usize>,
}

/// Decodes every member of the object in `text` into the slot of its property. Returns `false` if
/// that fails, or if the arguments are not in the form that strict decoding can verify.
#[inline]
pub(super) fn decode_strict<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn DecodeSlot<'a>],
) -> bool {
    let mut decoder = Decoder::new(text);
    decoder.reader.is_strict = true;
    decoder
        .members(properties, &mut slots[..properties.len()])
        .is_ok()
}

/// Decodes arguments that [`normalise`](crate::schema::validate::normalise) returned. The error is
/// the value that can't be decoded, if it is due to one.
pub(super) fn decode_trusted<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn DecodeSlot<'a>],
) -> Result<(), Option<DecodeFailure>> {
    let mut decoder = Decoder::new(text);
    let result = decoder.in_any_order(properties, slots, 0);
    result.map_err(|Mismatch| decoder.failure)
}

/// One pass over the arguments.
struct Decoder<'a> {
    reader: Reader<'a>,
    /// The value at which decoding failed, if it is due to one.
    failure: Option<DecodeFailure>,
}

impl<'a> Decoder<'a> {
    fn new(text: &'a str) -> Self {
        Decoder {
            reader: Reader::new(text),
            failure: None,
        }
    }

    #[inline]
    fn members(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn DecodeSlot<'a>],
    ) -> Result<(), Mismatch> {
        // Models mostly follow the order of the schema and write no white space.
        let mut before = b'{';
        let mut decoded = 0;
        for (property, slot) in properties.iter().zip(slots.iter_mut()) {
            let cursor = &mut self.reader.cursor;
            if !property.name.is_plain() || !cursor.eat_member(before, property.name()) {
                break;
            }
            before = b',';
            decoded += 1;
            self.value(property, &mut **slot)?;
        }
        let is_whole = match self.reader.cursor.rest() {
            "}" => decoded > 0,
            "{}" => decoded == 0,
            _ => false,
        };
        if is_whole && decoded == properties.len() {
            return Ok(());
        }
        self.in_any_order(properties, slots, decoded)
    }

    /// Decodes the remaining members, in any order.
    #[inline(never)]
    fn in_any_order(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn DecodeSlot<'a>],
        decoded: usize,
    ) -> Result<(), Mismatch> {
        let mut seen = BitSet::default();
        for index in 0..decoded {
            seen.insert(index);
        }
        let mut is_first = decoded == 0;
        let mut next = decoded;
        while let Some(index) = member(&mut self.reader.cursor, properties, next, is_first)? {
            require(seen.insert(index))?;
            self.value(&properties[index], &mut *slots[index])?;
            is_first = false;
            next = index + 1;
        }
        self.reader.cursor.peek();
        require(self.reader.cursor.rest().is_empty())?;
        for (index, property) in properties.iter().enumerate() {
            if !seen.contains(index) {
                self.decode_absent(property, &mut *slots[index])?;
            }
        }
        Ok(())
    }

    /// Decodes the next value.
    #[inline]
    fn value(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'a>,
    ) -> Result<(), Mismatch> {
        let may_be_null = property.nullable || !property.required;
        if may_be_null && self.reader.cursor.peek() == b'n' {
            return self.decode_null(property, slot);
        }
        if property.exact || !self.reader.is_strict {
            self.decode(property, slot)
        } else {
            self.decode_validated(property, slot)
        }
    }

    /// Decodes a value that starts like `null`, for an optional or nullable parameter.
    #[inline(never)]
    fn decode_null(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'a>,
    ) -> Result<(), Mismatch> {
        if property.ignores_null() && self.reader.cursor.eat_word("null") {
            return self.decode_absent(property, slot);
        }
        if property.exact || !self.reader.is_strict {
            self.decode(property, slot)
        } else if property.nullable {
            self.decode_lax(property, slot)
        } else {
            self.decode_validated(property, slot)
        }
    }

    /// Decodes a value whose type enforces less than its schema.
    #[inline(never)]
    fn decode_validated(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'a>,
    ) -> Result<(), Mismatch> {
        self.reader.cursor.peek();
        // Validation comes first: its time is bounded, and the time of a user's type may not be.
        let start = self.reader.cursor.position();
        let length = conforms(property.schema, self.reader.cursor.rest()).ok_or(Mismatch)?;
        self.decode_lax(property, slot)?;
        require(start + length == self.reader.cursor.position())
    }

    /// Decodes a value in the lax mode.
    fn decode_lax(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'a>,
    ) -> Result<(), Mismatch> {
        self.reader.is_strict = false;
        self.decode(property, slot)?;
        self.reader.is_strict = true;
        Ok(())
    }

    fn decode(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'a>,
    ) -> Result<(), Mismatch> {
        let start = self.reader.cursor.position();
        match slot.decode(&mut self.reader) {
            Ok(()) => Ok(()),
            Err(error) => {
                let end = self.reader.cursor.position();
                self.fail(property, error, start..end)
            }
        }
    }

    #[cold]
    fn fail(
        &mut self,
        property: &'static Property,
        error: ReadError,
        at: Range<usize>,
    ) -> Result<(), Mismatch> {
        self.failure = Some(DecodeFailure {
            property,
            error,
            at,
        });
        Err(Mismatch)
    }

    /// Decodes the default of an absent parameter.
    #[inline(never)]
    fn decode_absent(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'_>,
    ) -> Result<(), Mismatch> {
        let default_json = match property.default_json() {
            Some(default) => default,
            None if property.required => return Err(Mismatch),
            None if property.nullable => "null",
            // The generated code uses `Default` for an empty slot.
            None => {
                slot.reset();
                return Ok(());
            }
        };
        match slot.decode(&mut Reader::new(default_json)) {
            Ok(()) => Ok(()),
            // The value is not in the text.
            Err(error) => self.fail(property, error, 0..0),
        }
    }
}

fn require(holds: bool) -> Result<(), Mismatch> {
    if holds { Ok(()) } else { Err(Mismatch) }
}

/// Moves to the value of the next member and returns the index of its property, or skips the end of
/// the object.
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
    let index = properties.position(|property| property.has_name(&key));
    Ok(Some(index.ok_or(Mismatch)?))
}

/// A [`Slot`] without its type.
pub trait DecodeSlot<'de> {
    /// Decodes the next value, whatever follows it.
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<(), ReadError>;
    /// Empties the slot.
    fn reset(&mut self);
}

/// Holds a decoded parameter.
pub struct Slot<T>(Option<T>);

impl<T> Slot<T> {
    /// Creates an empty slot.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot<T> {
        Slot(None)
    }

    /// Returns the decoded value.
    ///
    /// # Panics
    ///
    /// Panics if the slot is empty, which [`Input::read`](super::Input::read) prevents.
    pub fn take(self) -> T {
        self.0.expect("a parameter that was read has a value")
    }

    /// Returns the decoded value, or the default of its type if the slot is empty.
    pub fn take_or_default(self) -> T
    where
        T: Default,
    {
        self.0.unwrap_or_default()
    }
}

impl<'de, T: Deserialize<'de>> DecodeSlot<'de> for Slot<T> {
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<(), ReadError> {
        self.0 = Some(T::deserialize(reader)?);
        Ok(())
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}
