//! A deserializer for JSON text with a strict and a lax mode.
//!
//! Plain spellings are read here, with the cursor of the validator: braces, brackets, commas, keys,
//! booleans, short numbers and strings without `\u`. `serde_json` reads everything else, and agrees
//! about plain spellings.
//!
//! The strict mode gives a derived `Deserialize` only values that match its schema: no array for a struct,
//! no unknown member, no `{"unit": null}` for a variant. An [`EXACT`](crate::ToolType::EXACT) type then
//! needs no validation. A value that the strict mode rejects may still be valid;
//! [`Input::decode_slow`](super::Input) decides.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IgnoredAny, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::de::StrRead;

use super::object::Nulls;
use crate::schema::Property;
use crate::schema::cursor::Cursor;
use crate::schema::validate::{DEPTH, budget};

/// Reads values at a position in the arguments of a call.
pub struct Reader<'de> {
    pub(super) cursor: Cursor<'de>,
    /// The number of levels that values may still nest.
    pub(super) depth: usize,
    /// `true` in the strict mode.
    pub(super) is_strict: bool,
    /// `true` while normalised arguments are the text and [`nulls`](Self::nulls): no value has two spellings.
    pub(super) is_normal: bool,
    /// `true` in a dry run.
    pub(super) is_dry: bool,
    /// The `null` members that the normalised arguments have besides, in a dry run. Boxed, because most have none.
    pub(super) nulls: Option<Box<Nulls>>,
    /// `true` at the key of a map, where numbers and booleans are in quotes.
    is_key: bool,
    /// The tags of the enums around the next value, which is an object, beside its own members.
    pub(super) tags: Vec<Tag>,
    /// The tags of the objects around the content of a variant, where there are some.
    around: Vec<Vec<Tag>>,
    /// The number of bytes that unions may still validate again.
    pub(super) budget: usize,
    /// The outermost property that can't be decoded: where it starts and where decoding stopped.
    pub(super) failed: Option<(&'static Property, Range<usize>)>,
}

/// The tag of an internally tagged enum.
pub(super) struct Tag {
    pub(super) key: &'static str,
    pub(super) is_seen: bool,
}

pub(super) type Result<T> = std::result::Result<T, ReadError>;
type Json<'de> = serde_json::Deserializer<StrRead<'de>>;

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Reader {
            cursor: Cursor::new(text),
            // The outermost value is a level, too.
            depth: DEPTH + 1,
            is_strict: false,
            is_normal: true,
            is_dry: false,
            nulls: None,
            is_key: false,
            tags: Vec::new(),
            around: Vec::new(),
            budget: budget(text),
            failed: None,
        }
    }

    /// Returns `true` if only white space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.cursor.is_at_end()
    }

    /// Reads the next value with `serde_json`.
    #[inline(never)]
    fn json<T>(&mut self, read: impl FnOnce(&mut Json<'de>) -> serde_json::Result<T>) -> Result<T> {
        let mut json = Json::new(StrRead::new(self.cursor.rest()));
        let value = read(&mut json);
        // Only a stream tells its position.
        self.cursor
            .skip(json.into_iter::<IgnoredAny>().byte_offset());
        value.map_err(ReadError::json)
    }

    /// Reads the next value with `serde_json`, unless in the strict mode.
    fn json_if_lax<T>(
        &mut self,
        read: impl FnOnce(&mut Json<'de>) -> serde_json::Result<T>,
    ) -> Result<T> {
        if self.is_strict {
            return Err(ReadError::mismatch());
        }
        self.json(read)
    }

    /// Reads a string after white space, or with escapes.
    #[inline(never)]
    fn string_slow<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() != b'"' {
            return Err(ReadError::mismatch());
        }
        if let Some(text) = self.cursor.eat_plain_string() {
            return visitor.visit_borrowed_str(text);
        }
        match self.cursor.eat_escaped_string() {
            Some(text) => visitor.visit_string(text),
            None => self.json(|json| json.deserialize_str(visitor)),
        }
    }

    /// Reads the key of a map and the colon after it.
    pub(super) fn map_key<K>(&mut self, read: impl FnOnce(&mut Self) -> Result<K>) -> Result<K> {
        self.is_key = true;
        let key = read(self);
        self.is_key = false;
        let key = key?;
        self.require(b':')?;
        Ok(key)
    }

    /// Reads a number with `serde_json`, which is in quotes if it is a key.
    #[inline(never)]
    fn number<T>(
        &mut self,
        read: impl FnOnce(&mut Json<'de>) -> serde_json::Result<T>,
    ) -> Result<T> {
        if !self.is_key {
            return self.json(read);
        }
        let is_number = self.cursor.eat_word("\"")
            && matches!(self.cursor.rest().as_bytes(), [b'-' | b'0'..=b'9', ..]);
        if !is_number {
            return Err(ReadError::mismatch());
        }
        let number = self.json(read)?;
        if self.cursor.eat_word("\"") {
            Ok(number)
        } else {
            Err(ReadError::mismatch())
        }
    }

    #[inline]
    pub(super) fn require(&mut self, byte: u8) -> Result<()> {
        if self.cursor.eat(byte) {
            Ok(())
        } else {
            Err(ReadError::mismatch())
        }
    }

    /// Reads the content of a pair of brackets. After an error the cursor stays where it occurred.
    pub(super) fn within<T>(
        &mut self,
        end: u8,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.cursor.skip(1);
        self.depth = self.depth.checked_sub(1).ok_or_else(ReadError::mismatch)?;
        let value = read(self)?;
        self.depth += 1;
        self.require(end)?;
        Ok(value)
    }

    /// Reads the members of an object as a struct or a map of serde.
    fn members<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() != b'{' {
            return Err(ReadError::mismatch());
        }
        self.within(b'}', |reader| visitor.visit_map(Items::new(reader)))
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>> {
        match self.cursor.eat_plain_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.json(|json| String::deserialize(json)).map(Cow::Owned),
        }
    }

    /// Moves to the value of the next member that is none of these tags, and returns its key.
    /// Returns `None` before the end of the object.
    pub(super) fn key(
        &mut self,
        is_first: &mut bool,
        tags: &mut [Tag],
    ) -> Result<Option<Cow<'de, str>>> {
        if !self.has_key(is_first, tags)? {
            return Ok(None);
        }
        let key = self.string()?;
        self.require(b':')?;
        Ok(Some(key))
    }

    /// Moves to the next key that is none of these tags. Returns `false` before the end of the object.
    #[inline]
    pub(super) fn has_key(&mut self, is_first: &mut bool, tags: &mut [Tag]) -> Result<bool> {
        Ok(self.has_next(b'}', is_first)? && (tags.is_empty() || self.skip_tags(tags)?))
    }

    fn skip_tags(&mut self, tags: &mut [Tag]) -> Result<bool> {
        loop {
            let start = self.cursor;
            let key = self.string()?;
            let Some(tag) = tags.iter_mut().find(|tag| tag.key == key) else {
                self.cursor = start;
                return Ok(true);
            };
            if std::mem::replace(&mut tag.is_seen, true) {
                return Err(ReadError::mismatch());
            }
            self.require(b':')?;
            self.cursor.value();
            if !self.has_next(b'}', &mut false)? {
                return Ok(false);
            }
        }
    }

    /// Reads the start of an object around the content of a variant. Returns `true`, since the next
    /// member is the first.
    pub(super) fn open_around(&mut self) -> Result<bool> {
        self.require(b'{')?;
        self.depth = self.depth.checked_sub(1).ok_or_else(ReadError::mismatch)?;
        let tags = std::mem::take(&mut self.tags);
        self.around.push(tags);
        Ok(true)
    }

    /// Returns `true` if the innermost of these objects has tags of other enums.
    pub(super) fn is_beside_tags(&self) -> bool {
        self.around.last().is_some_and(|tags| !tags.is_empty())
    }

    /// Reads the next [`key`](Reader::key) of such an object.
    pub(super) fn key_around(&mut self, is_first: &mut bool) -> Result<Option<Cow<'de, str>>> {
        let mut tags = self.around.pop().unwrap_or_default();
        let key = self.key(is_first, &mut tags);
        self.around.push(tags);
        key
    }

    /// Reads the end of such an object.
    pub(super) fn close_around(&mut self) -> Result<()> {
        let mut tags = self.around.pop().unwrap_or_default();
        self.only_tags(&mut tags)?;
        self.depth += 1;
        self.require(b'}')
    }

    /// Skips the tags at the end of an object, which has no other members.
    fn only_tags(&mut self, tags: &mut [Tag]) -> Result<()> {
        if !tags.is_empty() && self.key(&mut false, tags)?.is_some() {
            return Err(ReadError::mismatch());
        }
        Ok(())
    }

    /// Returns `true` if a member or an item follows. Skips the comma before all but the first.
    pub(super) fn has_next(&mut self, end: u8, is_first: &mut bool) -> Result<bool> {
        let mut next = self.cursor.peek();
        if next == end {
            return Ok(false);
        }
        if !std::mem::replace(is_first, false) {
            self.require(b',')?;
            next = self.cursor.peek();
        }
        if next == end || end == b'}' && next != b'"' {
            Err(ReadError::mismatch())
        } else {
            Ok(true)
        }
    }
}

/// Reads plain integers here.
macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.cursor.eat_integer() {
                Some(number) => match u64::try_from(number) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => visitor.visit_i64(number),
                },
                None => self.number(|json| json.$method(visitor)),
            }
        }
    )*};
}

/// Reads with `serde_json` in both modes.
macro_rules! scalars {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.number(|json| json.$method(visitor))
        }
    )*};
}

/// Reads plain strings here, for any type.
macro_rules! strings {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.cursor.eat_plain_string() {
                Some(text) => visitor.visit_borrowed_str(text),
                None => self.string_slow(visitor),
            }
        }
    )*};
}

/// Reads with `serde_json` in the lax mode: exact types use these methods for no value.
macro_rules! lax {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            if self.tags.is_empty() {
                self.json_if_lax(|json| json.$method(visitor))
            } else {
                self.members(visitor)
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }
    scalars! { deserialize_i128 deserialize_u128 deserialize_f32 }
    strings! { deserialize_char deserialize_str deserialize_string deserialize_identifier }
    lax! {
        deserialize_any deserialize_bytes deserialize_byte_buf deserialize_map deserialize_ignored_any
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.cursor.eat_decimal() {
            Some(number) => visitor.visit_f64(number),
            None => self.json(|json| json.deserialize_f64(visitor)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if let Some(truth) = self.cursor.eat_bool() {
            return visitor.visit_bool(truth);
        }
        let is_key = self.is_key && self.cursor.peek() == b'"';
        match &*(if is_key { self.string()? } else { "".into() }) {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(ReadError::mismatch()),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.tags.is_empty() {
            return self.json(|json| json.deserialize_unit(visitor));
        }
        // An enum writes its tag beside nothing.
        self.object(&[], &mut [])?;
        visitor.visit_unit()
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() != b'n' {
            return visitor.visit_some(self);
        }
        if self.cursor.eat_word("null") {
            visitor.visit_none()
        } else {
            Err(ReadError::mismatch())
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        // serde_json's own types, such as `RawValue`.
        if name.starts_with("$serde_json::") {
            return self.json_if_lax(|json| json.deserialize_newtype_struct(name, visitor));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.cursor.peek() {
            b'[' => self.within(b']', |reader| visitor.visit_seq(Items::new(reader))),
            _ => Err(ReadError::mismatch()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.cursor.peek() {
            b'{' => self.members(visitor),
            b'[' if !self.is_strict => {
                self.within(b']', |reader| visitor.visit_seq(Items::new(reader)))
            }
            _ => Err(ReadError::mismatch()),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.cursor.peek() {
            b'"' => {
                let name = self.string()?;
                visitor.visit_enum(IntoDeserializer::<ReadError>::into_deserializer(&*name))
            }
            b'{' => self.within(b'}', |reader| {
                let mut tags = std::mem::take(&mut reader.tags);
                let variant = Variant {
                    reader: &mut *reader,
                    tags: &mut tags,
                };
                let value = visitor.visit_enum(variant)?;
                reader.only_tags(&mut tags)?;
                Ok(value)
            }),
            _ => Err(ReadError::mismatch()),
        }
    }
}

/// The items of an array, or the members of an object that is read as a struct.
struct Items<'r, 'de> {
    tags: Vec<Tag>,
    reader: &'r mut Reader<'de>,
    is_first: bool,
}

impl<'r, 'de> Items<'r, 'de> {
    fn new(reader: &'r mut Reader<'de>) -> Self {
        Items {
            tags: std::mem::take(&mut reader.tags),
            reader,
            is_first: true,
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.reader.has_next(b']', &mut self.is_first)? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }
}
impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.tags.is_empty()
            && let Some(key) = self.reader.cursor.eat_plain_key(self.is_first)
        {
            self.is_first = false;
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        match self.reader.key(&mut self.is_first, &mut self.tags)? {
            Some(key) => seed.deserialize((&*key).into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.reader)
    }
}

/// An enum as an object with one member, whose key is the variant.
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
    /// The tags beside the member.
    tags: &'r mut [Tag],
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let key = self.reader.key(&mut true, self.tags)?;
        let name = key.ok_or_else(ReadError::mismatch)?;
        let chosen = seed.deserialize((&*name).into_deserializer())?;
        Ok((chosen, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<()> {
        // The schema describes a unit variant as a string.
        if self.reader.is_strict {
            return Err(ReadError::mismatch());
        }
        <()>::deserialize(self.reader)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.reader.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.reader.deserialize_struct("", fields, visitor)
    }
}

/// The error of a value that can't be read.
///
/// It is `None` for most errors, which are never displayed because validation finds better
/// messages. The box keeps the error small, since every value that is read is moved together with
/// the space for one.
#[derive(Debug)]
pub struct ReadError(Option<Box<Cause>>);

#[derive(Debug)]
enum Cause {
    /// The error of the type itself.
    Custom(String),
    /// The error of `serde_json`.
    Json(serde_json::Error),
}

impl ReadError {
    #[cold]
    pub(super) fn mismatch() -> ReadError {
        ReadError(None)
    }

    #[cold]
    fn json(error: serde_json::Error) -> ReadError {
        ReadError(Some(Box::new(Cause::Json(error))))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            None => f.write_str("not accepted"),
            Some(Cause::Custom(message)) => f.write_str(message),
            Some(Cause::Json(error)) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

/// Errors without a message.
macro_rules! unspecific {
    ($($method:ident($($argument:ty),*);)*) => {$(
        fn $method($(_: $argument),*) -> Self {
            ReadError::mismatch()
        }
    )*};
}

impl Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError(Some(Box::new(Cause::Custom(message.to_string()))))
    }

    unspecific! {
        invalid_type(Unexpected<'_>, &dyn Expected);
        invalid_value(Unexpected<'_>, &dyn Expected);
        invalid_length(usize, &dyn Expected);
        unknown_variant(&str, &'static [&'static str]);
        unknown_field(&str, &'static [&'static str]);
        missing_field(&'static str);
        duplicate_field(&'static str);
    }
}
