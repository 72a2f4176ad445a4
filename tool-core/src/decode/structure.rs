//! Structs, as `#[derive(ToolType)]` decodes them.

use std::fmt;

use serde::de::{Deserialize, Error};

use super::Decode;
use super::object::{DecodeSlot, Slot, take};
use super::reader::{ReadError, Reader, Result};
use crate::schema::{Kind, Schema};

/// A field that may be absent.
pub struct Absent<T>(Option<T>);

impl<T> Absent<T> {
    /// Returns the value, or else the default of its type.
    pub fn or_default<'de>(self) -> T
    where
        T: HasDefault<'de>,
    {
        self.0.unwrap_or_else(T::make)
    }

    /// Returns the value, or else what a function returns.
    pub fn or_else(self, default: impl FnOnce() -> T) -> T {
        self.0.unwrap_or_else(default)
    }

    /// Returns the value, or else another one.
    pub fn or(self, default: T) -> T {
        self.0.unwrap_or(default)
    }
}

/// `Default` with a lifetime, which delays the check of a bound until the struct is decoded: a type that is
/// only returned need not have it. For the same reason it is no supertrait.
pub trait HasDefault<'de> {
    /// Returns the default.
    fn make() -> Self;
}

impl<T: Default> HasDefault<'_> for T {
    fn make() -> T {
        T::default()
    }
}

/// `From` with such a lifetime.
pub trait HasFrom<'de, T> {
    /// Converts a value.
    fn convert(value: T) -> Self;
}

impl<T, U: From<T>> HasFrom<'_, T> for U {
    fn convert(value: T) -> U {
        U::from(value)
    }
}

/// `TryFrom` with such a lifetime.
pub trait HasTryFrom<'de, T>: Sized {
    /// Why a value is not accepted.
    type Error: fmt::Display;

    /// Converts a value.
    fn try_convert(value: T) -> std::result::Result<Self, Self::Error>;
}

impl<T, U: TryFrom<T, Error: fmt::Display>> HasTryFrom<'_, T> for U {
    type Error = U::Error;

    fn try_convert(value: T) -> std::result::Result<U, U::Error> {
        U::try_from(value)
    }
}

/// A wrapper that a field is decoded as, in place of its type.
pub trait Wrapper {
    /// The type of the field.
    type Inner;

    /// Returns the field.
    fn inner(self) -> Self::Inner;
}

impl<W: Wrapper> Wrapper for Absent<W> {
    type Inner = Absent<W::Inner>;

    fn inner(self) -> Absent<W::Inner> {
        Absent(self.0.map(W::inner))
    }
}

/// A parameter or a field that serde decodes: another type describes it.
#[derive(Default)]
pub struct BySerde<T>(T);

impl<T> Wrapper for BySerde<T> {
    type Inner = T;

    fn inner(self) -> T {
        self.0
    }
}

impl<'de, T: Deserialize<'de>> Decode<'de> for BySerde<T> {
    fn decode(reader: &mut Reader<'de>) -> Result<Self> {
        T::deserialize(reader).map(BySerde)
    }
}

/// The tag of an enum, which has been read before.
pub struct Tag;

impl Decode<'_> for Tag {
    fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        reader.cursor.value();
        Ok(Tag)
    }
}

/// The slot of a field, which becomes its value.
pub trait Field<'de>: Sized {
    /// The value in the slot.
    type Value: Decode<'de>;

    /// Returns the field.
    fn of(slot: Slot<Self::Value>) -> Self;
}

impl<'de, T: Decode<'de>> Field<'de> for T {
    type Value = T;

    fn of(slot: Slot<T>) -> T {
        take(slot)
    }
}

impl<'de, T: Decode<'de>> Field<'de> for Absent<T> {
    type Value = T;

    fn of(slot: Slot<T>) -> Self {
        Absent(slot.into_option())
    }
}

type Slots<'s, 'de> = [&'s mut dyn DecodeSlot<'de>];

/// All fields of a struct.
pub trait Fields<'de>: Sized {
    /// Returns the fields, given a function that fills their slots.
    fn fill(decode: impl FnMut(&mut Slots<'_, 'de>) -> Result<()>) -> Result<Self>;
}

/// Fields that are more than the largest tuple.
pub struct Both<A, B>(pub A, pub B);

impl<'de, A: Fields<'de>, B: Fields<'de>> Fields<'de> for Both<A, B> {
    fn fill(mut decode: impl FnMut(&mut Slots<'_, 'de>) -> Result<()>) -> Result<Self> {
        let mut second = None;
        let first = A::fill(|first| {
            second = Some(B::fill(|second| {
                let mut all: Vec<&mut dyn DecodeSlot<'de>> = Vec::new();
                for slot in first.iter_mut() {
                    all.push(&mut **slot);
                }
                for slot in second {
                    all.push(&mut **slot);
                }
                decode(&mut all)
            })?);
            Ok(())
        })?;
        let second = second.ok_or_else(ReadError::mismatch)?;
        Ok(Both(first, second))
    }
}

macro_rules! fields {
    ($($($item:ident)*;)*) => {$(
        #[allow(non_snake_case)]
        impl<'de, $($item: Field<'de>),*> Fields<'de> for ($($item,)*) {
            fn fill(mut decode: impl FnMut(&mut Slots<'_, 'de>) -> Result<()>) -> Result<Self> {
                $(let mut $item = Slot::<$item::Value>(None);)*
                decode(&mut [$(&mut $item),*])?;
                Ok(($($item::of($item),)*))
            }
        }
    )*};
}

fields! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

impl<'de> Reader<'de> {
    /// Reads a struct with named fields.
    #[inline]
    pub fn structure<F: Fields<'de>, T>(
        &mut self,
        schema: &'static Schema,
        build: impl FnOnce(F) -> T,
    ) -> Result<T> {
        match schema.kind {
            // A `match` in generic code takes less time to compile than `map`.
            Kind::Object(properties) => match F::fill(|slots| self.object(properties, slots)) {
                Ok(fields) => Ok(build(fields)),
                Err(error) => Err(error),
            },
            _ => Err(ReadError::mismatch()),
        }
    }

    /// Reads a value as another type. Validates it first unless that type is as exact as the schema.
    #[inline]
    pub fn wrapped<V: Decode<'de>, T>(
        &mut self,
        schema: &'static Schema,
        is_exact: bool,
        build: impl FnOnce(V) -> T,
    ) -> Result<T> {
        match self.checked(schema, is_exact, V::decode) {
            Ok(value) => Ok(build(value)),
            Err(error) => Err(error),
        }
    }

    /// Reads a value as another type, and converts it.
    pub fn converted<V: Decode<'de>, T, E: fmt::Display>(
        &mut self,
        schema: &'static Schema,
        is_exact: bool,
        build: impl FnOnce(V) -> std::result::Result<T, E>,
    ) -> Result<T> {
        let result = self.wrapped(schema, is_exact, build)?;
        result.map_err(ReadError::custom)
    }

    /// Returns the error of a type that can't be decoded.
    pub fn rejected<T>(&self) -> Result<T> {
        Err(ReadError::mismatch())
    }
}
