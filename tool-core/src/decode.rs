//! Decodes JSON text into values, by the schemas of their types.
//!
//! The usual call is decoded in one pass: a loop that is not generic reads the keys of an object
//! ([`object`]), and each value is decoded in place by code that all tools share for its type.
//! `#[derive(ToolType)]` decodes a struct or an enum with the functions in [`structure`] and [`variant`], whose
//! table is the schema itself. Everything else is decoded by serde, from the same [`Reader`].

pub(crate) mod check;
mod object;
mod reader;
mod std;
mod structure;
mod variant;

pub(crate) use self::object::DecodeSlot;
pub(crate) use self::object::{
    DecodeFailure, decode_strict, decode_strict_dry, decode_trusted, with_nulls,
};
pub use self::object::{DescribedSlot, OtherSlot, Slot, take};
pub use self::reader::{ReadError, Reader};
pub use self::structure::{Absent, Both, BySerde, HasDefault, HasFrom, HasTryFrom, Tag, Wrapper};
pub use self::variant::Variant;

/// A type that can be decoded from the arguments of a call.
///
/// `#[derive(ToolType)]` implements it: the type is decoded by its schema, and needs no `Deserialize`.
/// For a type that implements [`ToolType`](crate::ToolType) by hand, [`by_serde!`](crate::by_serde)
/// does.
///
/// ```
/// use tool_core::{Decode, ToolType};
///
/// #[derive(ToolType)]
/// struct Place {
///     city: String,
/// }
///
/// fn is_decoded<'de, T: Decode<'de>>() {}
/// is_decoded::<Place>();
/// is_decoded::<Vec<Place>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded from arguments",
    label = "does not implement `Decode`",
    note = "for your own struct or enum, add `#[derive(tool_core::ToolType)]`",
    note = "for a type that implements `ToolType` by hand, write `tool_core::by_serde!(…);`"
)]
pub trait Decode<'de>: Sized {
    /// Decodes the next value.
    #[doc(hidden)]
    fn decode(reader: &mut Reader<'de>) -> Result<Self, ReadError>;
}

/// A type that can be decoded and borrows nothing from the text.
///
/// Bounds of generic code use it, such as `T: ToolType + DecodeOwned`.
///
/// ```
/// use tool_core::call::elicit::Elicit;
/// use tool_core::{DecodeOwned, ToolType};
///
/// /// Asks for a value of any type that tools can take.
/// fn ask<T: ToolType + DecodeOwned>(what: &str) -> Elicit<T> {
///     Elicit::form(format!("Please enter {what}."))
/// }
///
/// #[derive(ToolType)]
/// struct Address {
///     street: String,
/// }
///
/// assert_eq!(ask::<Address>("an address").request().message, "Please enter an address.");
/// ```
pub trait DecodeOwned: for<'de> Decode<'de> {}

impl<T: for<'de> Decode<'de>> DecodeOwned for T {}

/// Lets serde decode types that implement [`ToolType`](crate::ToolType) by hand.
///
/// ```
/// use tool_core::{ToolType, by_serde, schema::{Schema, Text}};
///
/// #[derive(serde::Deserialize)]
/// struct Port(u16);
///
/// impl ToolType for Port {
///     const SCHEMA: &'static Schema = &u16::SCHEMA.describe(Text::new("A TCP port."));
/// }
///
/// by_serde!(Port);
/// ```
///
/// Type parameters follow the type in brackets: `by_serde!(Wrapper<T> [T: Clone])`.
#[macro_export]
macro_rules! by_serde {
    ($($(#[$attribute:meta])* $type:ty $([$($generics:tt)*])?),+ $(,)?) => {$(
        $(#[$attribute])*
        impl<'de, $($($generics)*)?> $crate::Decode<'de> for $type
        where
            $type: $crate::__private::Deserialize<'de>,
        {
            #[inline]
            fn decode(
                reader: &mut $crate::__private::Reader<'de>,
            ) -> $crate::__private::Result<Self, $crate::__private::ReadError> {
                <$type as $crate::__private::Deserialize<'de>>::deserialize(reader)
            }
        }
    )+};
}

/// Decodes a whole text, which matches the schema of the type.
pub(crate) fn decode_text<'de, T: Decode<'de>>(text: &'de str) -> Result<T, ReadError> {
    let mut reader = Reader::new(text);
    let value = T::decode(&mut reader)?;
    if reader.is_at_end() {
        Ok(value)
    } else {
        Err(ReadError::mismatch())
    }
}
