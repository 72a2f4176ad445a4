//! Variants of an enum that are objects with one member.

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};

use super::{Problem, Reader, Result};

/// The one member of an object: its key chooses the variant.
pub(super) struct Variant<'r, 'de>(pub(super) &'r mut Reader<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Problem;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        if self.0.cursor.peek() != b'"' {
            return Err(Problem::unfit());
        }
        let mut space = String::new();
        let name = self.0.string(&mut space)?;
        let chosen = seed.deserialize(name.into_deserializer())?;
        self.0.require(b':')?;
        Ok((chosen, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Problem;

    fn unit_variant(self) -> Result<()> {
        // In a schema it is a string.
        if self.0.is_strict {
            return Err(Problem::unfit());
        }
        <()>::deserialize(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.deserialize_struct("", fields, visitor)
    }
}
