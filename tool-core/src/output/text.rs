//! A serializer that writes a top-level string without quotes, and everything else with `serde_json`.

use std::fmt::Display;
use std::io;

use serde::Serialize;
use serde::ser;
use serde_json::ser::Formatter;
use serde_json::{Error, Serializer};

use super::Outcome;
use crate::schema::validate::DEPTH;

type Json<W> = Serializer<W, DepthLimit>;

/// Formats compactly. Rejects values that are nested deeper than arguments may be, because no reader
/// accepts them and serializing them overflows the stack.
///
/// The levels of the JSON text count. A `Serialize` that recurses without writing any
/// is not stopped.
#[derive(Default)]
struct DepthLimit {
    depth: usize,
}

impl DepthLimit {
    #[inline]
    fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(too_deep());
        }
        Ok(())
    }
}

#[cold]
fn too_deep() -> io::Error {
    io::Error::other(format!("nested deeper than {DEPTH} levels"))
}

impl Formatter for DepthLimit {
    #[inline]
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        writer.write_all(b"[")
    }

    #[inline]
    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"]")
    }

    #[inline]
    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter()?;
        writer.write_all(b"{")
    }

    #[inline]
    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }
}

/// Serializes a value to the text of a result.
pub(super) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Outcome, Error> {
    let mut bare = None;
    let mut json = Vec::new();
    value.serialize(TextSerializer {
        // `Value::Null` and a variant of an untagged enum are written as units too.
        is_empty: size_of_val(value) == 0,
        bare: &mut bare,
        json: &mut Json::with_formatter(&mut json, DepthLimit::default()),
    })?;
    Ok(match bare {
        Some(text) => Outcome::Text(text),
        None => Outcome::Json(String::from_utf8(json).expect("serde_json writes UTF-8")),
    })
}

struct TextSerializer<'a, 'w> {
    /// Set if the value holds nothing, as `()` does.
    is_empty: bool,
    /// Set if the value is a string or `()`.
    bare: &'a mut Option<String>,
    json: &'a mut Json<&'w mut Vec<u8>>,
}

impl TextSerializer<'_, '_> {
    fn text(self, text: impl Into<String>) -> Result<(), Error> {
        *self.bare = Some(text.into());
        Ok(())
    }
}

macro_rules! delegate {
    (scalars: $($scalar:ident($type:ty))*; compounds: $($compound:ident($($arg:ident: $arg_type:ty),*) -> $kind:ident)*) => {
        $(fn $scalar(self, value: $type) -> Result<(), Error> {
            self.json.$scalar(value)
        })*
        $(type $kind = <&'a mut Json<&'w mut Vec<u8>> as ser::Serializer>::$kind;

        fn $compound(self, $($arg: $arg_type),*) -> Result<Self::$kind, Error> {
            self.json.$compound($($arg),*)
        })*
    };
}

impl<'a, 'w> ser::Serializer for TextSerializer<'a, 'w> {
    type Ok = ();
    type Error = Error;

    delegate! {
        scalars:
            serialize_bool(bool)
            serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
            serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
            serialize_f32(f32) serialize_f64(f64)
            serialize_bytes(&[u8]);
        compounds:
            serialize_seq(length: Option<usize>) -> SerializeSeq
            serialize_tuple(length: usize) -> SerializeTuple
            serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct
            serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeTupleVariant
            serialize_map(length: Option<usize>) -> SerializeMap
            serialize_struct(name: &'static str, length: usize) -> SerializeStruct
            serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize) -> SerializeStructVariant
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        self.text(text)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.text(value)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.text(value.to_string())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.text(variant)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        if self.is_empty {
            return self.text("ok");
        }
        self.json.serialize_unit()
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Error> {
        self.json.serialize_unit_struct(name)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.json.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.json
            .serialize_newtype_variant(name, index, variant, value)
    }
}
