//! Decodes the members of an object into slots: the parameters of a call, or the fields of a struct.

use std::ops::Range;

use super::Decode;
use super::reader::{ReadError, Reader, Result, Tag};
use crate::schema::sets::BitSet;
use crate::schema::validate::{conforms_within, plain_length, push_null};
use crate::schema::{Property, Schema};

/// A value that can't be decoded.
pub(crate) struct DecodeFailure {
    pub(crate) property: &'static Property,
    pub(crate) error: ReadError,
    /// Where it starts and where decoding stopped.
    pub(crate) at: Range<usize>,
}

/// Decodes every member of the object in `text` into the slot of its property. Returns `false` if that
/// fails, or if the arguments are not in the form that strict decoding can verify.
#[inline]
pub(crate) fn decode_strict<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn DecodeSlot<'a>],
) -> bool {
    // A tool without parameters needs no reader.
    if properties.is_empty() && text == "{}" {
        return true;
    }
    let mut reader = Reader::new(text);
    reader.is_strict = true;
    reader.object(properties, slots).is_ok() && reader.is_at_end()
}

/// Positions of braces, each with the property for which a `null` member is added before it.
pub(crate) type Nulls = Vec<(usize, &'static Property)>;

/// Decodes like [`decode_strict`]. Returns `None` where that returns `false`. Otherwise returns whether
/// [`normalise`](crate::schema::validate::normalise) would certainly change nothing but add these members.
pub(crate) fn decode_strict_dry<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn DecodeSlot<'a>],
) -> Option<(bool, Nulls)> {
    let mut reader = Reader::new(text);
    reader.is_strict = true;
    reader.is_dry = true;
    let decoded = reader.object(properties, slots).is_ok() && reader.is_at_end();
    let nulls = reader.nulls.map(|nulls| *nulls).unwrap_or_default();
    decoded.then_some((reader.is_normal, nulls))
}

/// Returns the text with these members.
pub(crate) fn with_nulls(text: &str, mut nulls: Nulls) -> String {
    // The content of a variant may be read after what follows it.
    nulls.sort_by_key(|(end, _)| *end);
    let mut output = String::with_capacity(text.len() + 16 * nulls.len());
    let mut copied = 0;
    for (end, property) in nulls {
        output.push_str(&text[copied..end]);
        copied = end;
        push_null(&mut output, property);
    }
    output + &text[copied..]
}

/// Decodes arguments that [`normalise`](crate::schema::validate::normalise) returned. The error is
/// the parameter that can't be decoded, if it is due to one.
pub(crate) fn decode_trusted<'a>(
    text: &'a str,
    properties: &'static [Property],
    slots: &mut [&mut dyn DecodeSlot<'a>],
) -> std::result::Result<(), Option<DecodeFailure>> {
    let mut reader = Reader::new(text);
    match reader.object(properties, slots) {
        Ok(()) if reader.is_at_end() => Ok(()),
        Ok(()) => Err(None),
        Err(error) => Err(reader.failed.map(|(property, at)| DecodeFailure {
            property,
            error,
            at,
        })),
    }
}

impl<'de> Reader<'de> {
    /// Decodes an object, each member into the slot of its property.
    pub(super) fn object(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn DecodeSlot<'de>],
    ) -> Result<()> {
        self.depth = self.depth.checked_sub(1).ok_or_else(ReadError::mismatch)?;
        let mut decoded = 0;
        let is_plain = self.tags.is_empty();
        // Models mostly follow the order of the schema.
        if is_plain {
            let mut before = b'{';
            for (property, slot) in properties.iter().zip(slots.iter_mut()) {
                if !self.cursor.eat_next(before, property) {
                    break;
                }
                before = b',';
                decoded += 1;
                self.member(property, &mut **slot)?;
            }
        }
        if decoded > 0 && decoded == properties.len() && self.cursor.peek() == b'}' {
            self.cursor.skip(1);
        } else {
            self.in_any_order(properties, slots, decoded)?;
        }
        self.depth += 1;
        Ok(())
    }

    /// Decodes the remaining members, in any order.
    #[inline(never)]
    fn in_any_order(
        &mut self,
        properties: &'static [Property],
        slots: &mut [&mut dyn DecodeSlot<'de>],
        decoded: usize,
    ) -> Result<()> {
        let mut tags = std::mem::take(&mut self.tags);
        let mut seen = BitSet::default();
        for index in 0..decoded {
            seen.insert(index);
        }
        let mut is_first = decoded == 0;
        if is_first {
            self.require(b'{')?;
        }
        let mut next = decoded;
        while let Some(index) = self.next_member(properties, next, &mut is_first, &mut tags)? {
            require(seen.insert(index))?;
            self.member(&properties[index], &mut *slots[index])?;
            next = index + 1;
        }
        self.require(b'}')?;
        for (index, property) in properties.iter().enumerate() {
            if !seen.contains(index) {
                self.absent(property, &mut *slots[index])?;
            }
        }
        Ok(())
    }

    /// Moves to the value of the next member and returns the index of its property. Returns `None`
    /// before the end of the object.
    fn next_member(
        &mut self,
        properties: &[Property],
        expected: usize,
        is_first: &mut bool,
        tags: &mut [Tag],
    ) -> Result<Option<usize>> {
        if let Some(property) = properties.get(expected) {
            let mut next = self.cursor;
            if (*is_first || next.eat(b','))
                && next.peek() == b'"'
                && next.eat_key(property.json_key())
            {
                self.cursor = next;
                *is_first = false;
                return Ok(Some(expected));
            }
        }
        let Some(key) = self.key(is_first, tags)? else {
            return Ok(None);
        };
        let mut properties = properties.iter();
        let index = properties.position(|property| property.has_name(&key));
        index.map(Some).ok_or_else(ReadError::mismatch)
    }

    /// Decodes the value of a property.
    #[inline]
    fn member(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'de>,
    ) -> Result<()> {
        let may_be_null = property.is_nullable() || !property.is_required();
        if may_be_null && self.cursor.peek() == b'n' {
            self.null(property, slot)
        } else if property.is_exact() || !self.is_strict {
            self.decode(property, slot)
        } else {
            self.inexact(property, slot)
        }
    }

    /// Decodes a value that starts like `null`, for an optional or nullable property.
    #[inline(never)]
    fn null(&mut self, property: &'static Property, slot: &mut dyn DecodeSlot<'de>) -> Result<()> {
        if property.ignores_null() && self.cursor.eat_word("null") {
            self.is_normal = false;
            self.absent(property, slot)
        } else if property.is_exact() || !self.is_strict {
            self.decode(property, slot)
        } else if property.is_nullable() {
            self.lax(|reader| reader.decode(property, slot))
        } else {
            self.inexact(property, slot)
        }
    }

    /// Decodes a value whose type enforces less than its schema, in the strict mode.
    #[inline(never)]
    fn inexact(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'de>,
    ) -> Result<()> {
        if self.is_dry {
            return self.inexact_dry(property, slot);
        }
        self.validated(property.schema, |reader| reader.decode(property, slot))
    }

    /// Decodes like [`inexact`](Self::inexact). A value that is spelled plainly is in its normalised form.
    #[cold]
    #[inline(never)]
    fn inexact_dry(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'de>,
    ) -> Result<()> {
        self.cursor.peek();
        let is_plain = plain_length(property.schema, self.cursor.rest()).is_some();
        let is_normal = self.is_normal && is_plain;
        self.validated(property.schema, |reader| reader.decode(property, slot))?;
        self.is_normal = is_normal;
        Ok(())
    }

    /// Decodes a value. In the strict mode, it is validated first unless its type is as exact as the schema.
    #[inline]
    pub(super) fn checked<T>(
        &mut self,
        schema: &Schema,
        is_exact: bool,
        decode: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if is_exact || !self.is_strict {
            decode(self)
        } else {
            self.validated(schema, decode)
        }
    }

    /// Validates a value before it is decoded in the lax mode.
    fn validated<T>(
        &mut self,
        schema: &Schema,
        decode: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.cursor.peek();
        // Validation comes first, because its time is bounded and the time of a user's type may not be.
        let start = self.cursor.position();
        let length = conforms_within(&mut self.budget, schema, self.cursor.rest());
        let end = start + length.ok_or_else(ReadError::mismatch)?;
        let value = self.lax(decode)?;
        require(end == self.cursor.position())?;
        Ok(value)
    }

    /// Decodes a value in the lax mode.
    fn lax<T>(&mut self, decode: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.is_strict = false;
        self.is_normal = false;
        let value = decode(self)?;
        self.is_strict = true;
        Ok(value)
    }

    #[inline]
    fn decode(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'de>,
    ) -> Result<()> {
        let start = self.cursor.position();
        let decoded = slot.decode(self);
        if decoded.is_err() {
            self.fail(property, start..self.cursor.position());
        }
        decoded
    }

    /// Remembers the outermost property that can't be decoded.
    #[cold]
    fn fail(&mut self, property: &'static Property, at: Range<usize>) {
        self.failed = Some((property, at));
    }

    /// Decodes the default of an absent property.
    #[inline(never)]
    fn absent(
        &mut self,
        property: &'static Property,
        slot: &mut dyn DecodeSlot<'de>,
    ) -> Result<()> {
        let default_json = match property.default_json() {
            Some(default) => default,
            None if property.is_required() => return Err(ReadError::mismatch()),
            None if property.is_nullable() && !property.has_fallback() => {
                if self.is_dry {
                    let end = self.cursor.position().saturating_sub(1);
                    self.nulls.get_or_insert_default().push((end, property));
                }
                "null"
            }
            // The generated code uses a default for an empty slot.
            None => {
                slot.reset();
                return Ok(());
            }
        };
        let decoded = slot.decode(&mut Reader::new(default_json));
        if decoded.is_err() {
            // The value is not in the text.
            self.fail(property, 0..0);
        }
        decoded
    }
}

fn require(holds: bool) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(ReadError::mismatch())
    }
}

/// A [`Slot`] without its type.
pub trait DecodeSlot<'de> {
    /// Decodes the next value, whatever follows it.
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<()>;
    /// Empties the slot.
    fn reset(&mut self);
}

/// Holds a decoded parameter or field.
pub struct Slot<T>(pub Option<T>);

/// Returns the decoded value. The generated code calls a function, because rustc looks for a method in each trait in
/// scope.
///
/// # Panics
///
/// Panics if the slot is empty, which successful decoding prevents.
pub fn take<T>(slot: Slot<T>) -> T {
    match slot.0 {
        Some(value) => value,
        None => unreachable!("what was read has a value"),
    }
}

impl<T> Slot<T> {
    /// Returns the decoded value, or the default of its type if the slot is empty.
    pub fn take_or_default(self) -> T
    where
        T: Default,
    {
        self.0.unwrap_or_default()
    }

    /// Returns the decoded value, if there is one.
    pub(super) fn into_option(self) -> Option<T> {
        self.0
    }
}

impl<'de, T: Decode<'de>> Slot<T> {
    /// Returns a reference to the slot. Falls back to the method of [`DescribedSlot`] or [`OtherSlot`], so that a
    /// type with neither trait is one error: that it is no `ToolType`.
    #[inline]
    pub const fn reference(&mut self) -> &mut Slot<T> {
        self
    }
}

/// The fallback for a type that can't be decoded, which is an error where the reference is used.
pub trait DescribedSlot: Sized {
    /// Returns a reference to the slot.
    fn reference(&mut self) -> &mut Self {
        self
    }
}

/// The fallback for a type that can't be described either, which is an error where its schema is used.
pub trait OtherSlot {
    /// Panics. The tool does not compile.
    fn reference(&self) -> &'static mut Slot<()> {
        unreachable!("a type that is not described is an error")
    }
}

impl<T> OtherSlot for &mut Slot<T> {}

impl<'de, T: Decode<'de>> DecodeSlot<'de> for Slot<T> {
    // A `match` in generic code takes less time to compile than `?`.
    fn decode(&mut self, reader: &mut Reader<'de>) -> Result<()> {
        match T::decode(reader) {
            Ok(value) => self.0 = Some(value),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.0 = None;
    }
}
