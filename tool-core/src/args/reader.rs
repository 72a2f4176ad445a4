//! Reads values from JSON text: a deserializer that knows two ways to read.
//!
//! What is plain is read here, with the eyes of the walker: braces, brackets, commas, keys, truth
//! values, short integers, strings without `\u`. `serde_json` reads everything else, and agrees
//! about what is plain.
//!
//! The strict way takes nothing from a derived `Deserialize` that its schema does not describe: no
//! array for a struct, no unknown member, no `{"unit": null}` for a variant. A type that is
//! [`EXACT`](crate::ToolType) needs no walk over its schema then. What the strict way refuses may
//! still be right; [`Input::decode_slow`](super::Input) finds out.

mod compounds;
mod problem;
#[cfg(test)]
mod tests;
mod variants;

use serde::de::{Deserializer, IgnoredAny, IntoDeserializer, Visitor};
use serde_json::de::StrRead;

use self::compounds::{Items, Members};
pub(super) use self::problem::Problem;
use self::variants::Variant;
use crate::schema::cursor::Cursor;
use crate::schema::validate::DEPTH;

/// A place in the arguments of a call.
pub struct Reader<'de> {
    pub(super) cursor: Cursor<'de>,
    /// How many levels deeper the value may go.
    depth: usize,
    /// Whether the strict way is gone.
    pub(super) is_strict: bool,
}

pub(super) type Result<T> = std::result::Result<T, Problem>;
type Json<'de> = serde_json::Deserializer<StrRead<'de>>;

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Reader {
            cursor: Cursor::new(text),
            depth: DEPTH,
            is_strict: false,
        }
    }

    /// Lets `serde_json` read the value that comes next.
    #[inline(never)]
    fn json<T>(&mut self, read: impl FnOnce(&mut Json<'de>) -> serde_json::Result<T>) -> Result<T> {
        let mut json = Json::new(StrRead::new(self.cursor.rest()));
        let value = read(&mut json);
        // A stream of nothing is what tells its place.
        self.cursor
            .skip(json.into_iter::<IgnoredAny>().byte_offset());
        value.map_err(Problem::json)
    }

    /// The same, where the strict way ends.
    fn json_if_lax<T>(
        &mut self,
        read: impl FnOnce(&mut Json<'de>) -> serde_json::Result<T>,
    ) -> Result<T> {
        if self.is_strict {
            return Err(Problem::unfit());
        }
        self.json(read)
    }

    /// Reads a string behind white space, or with escapes.
    #[inline(never)]
    fn other_string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() != b'"' {
            return Err(Problem::unfit());
        }
        if let Some(text) = self.cursor.eat_plain_string() {
            return visitor.visit_borrowed_str(text);
        }
        match self.cursor.eat_escaped_string() {
            Some(text) => visitor.visit_string(text),
            None => self.json(|json| json.deserialize_str(visitor)),
        }
    }

    #[inline]
    fn require(&mut self, byte: u8) -> Result<()> {
        if self.cursor.eat(byte) {
            Ok(())
        } else {
            Err(Problem::unfit())
        }
    }

    /// Reads what stands between two brackets. An error keeps the place where it arose.
    fn within<T>(&mut self, end: u8, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.cursor.skip(1);
        self.depth = self.depth.checked_sub(1).ok_or_else(Problem::unfit)?;
        let value = read(self)?;
        self.depth += 1;
        self.require(end)?;
        Ok(value)
    }
}

/// Integers that are plain are read here.
macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.cursor.eat_integer() {
                Some(number) => match u64::try_from(number) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => visitor.visit_i64(number),
                },
                None => self.json(|json| json.$method(visitor)),
            }
        }
    )*};
}

/// What `serde_json` reads in either way.
macro_rules! scalars {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.json(|json| json.$method(visitor))
        }
    )*};
}

/// Strings are read as strings, whatever is made of them.
macro_rules! strings {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.cursor.eat_plain_string() {
                Some(text) => visitor.visit_borrowed_str(text),
                None => self.other_string(visitor),
            }
        }
    )*};
}

/// What no derived type asks for, apart from those that are never exact.
macro_rules! lax {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.json_if_lax(|json| json.$method(visitor))
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Problem;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }
    scalars! { deserialize_i128 deserialize_u128 deserialize_f32 deserialize_unit }
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
        match self.cursor.eat_bool() {
            Some(truth) => visitor.visit_bool(truth),
            None => Err(Problem::unfit()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.cursor.peek() != b'n' {
            return visitor.visit_some(self);
        }
        match self.cursor.eat_word("null") {
            true => visitor.visit_none(),
            false => Err(Problem::unfit()),
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
        // Its own types, such as `RawValue`.
        if name.starts_with("$serde_json::") {
            return self.json_if_lax(|json| json.deserialize_newtype_struct(name, visitor));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.cursor.peek() {
            b'[' => self.within(b']', |reader| visitor.visit_seq(Items::of(reader))),
            _ => Err(Problem::unfit()),
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
            b'{' => self.within(b'}', |reader| visitor.visit_map(Members::of(reader))),
            b'[' if !self.is_strict => {
                self.within(b']', |reader| visitor.visit_seq(Items::of(reader)))
            }
            _ => Err(Problem::unfit()),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if let Some(name) = self.cursor.eat_plain_string() {
            return visitor.visit_enum(IntoDeserializer::<Problem>::into_deserializer(name));
        }
        match self.cursor.peek() {
            b'"' => {
                let mut space = String::new();
                let name = self.string(&mut space)?;
                visitor.visit_enum(IntoDeserializer::<Problem>::into_deserializer(name))
            }
            b'{' => self.within(b'}', |reader| visitor.visit_enum(Variant(reader))),
            _ => Err(Problem::unfit()),
        }
    }
}
