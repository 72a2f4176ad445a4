//! [`ToolType`]: the types that can be used in the signature of a tool, and their schemas.

/// Implements [`ToolType`] for types whose `Deserialize` may reject values that the schema allows.
macro_rules! schemas {
    ($($type:ty => $schema:expr;)*) => {$(
        impl $crate::types::ToolType for $type {
            const SCHEMA: &'static $crate::schema::Schema = &{
                #[allow(unused_imports, reason = "only types that can't be decoded need it")]
                use $crate::schema::decode_check::NoDecodeCheck as _;
                let check = $crate::schema::decode_check::RespellingDecodeCheck::<$type>::VALUE;
                $crate::schema::decode_check::with_decode_check($schema, check)
            };
        }
    )*};
}

/// The schema of an enum that is also read in other forms.
#[cfg(any(feature = "chrono", feature = "time"))]
macro_rules! one_of {
    ($($value:literal)*) => {
        $crate::schema::Schema::strings(&[$($crate::schema::Text::new($value)),*])
            .with_several_forms()
    };
}

pub(crate) mod borrow;
#[cfg(feature = "chrono")]
mod chrono;
mod crates;
#[cfg(feature = "jiff")]
mod jiff;
mod std;
#[cfg(feature = "time")]
mod time;

use ::std::marker::PhantomData;

use crate::schema::Schema;

/// A type that can be used in the signature of a tool.
///
/// Derive it together with serde's traits. The derive follows serde's attributes, so the schema
/// describes what decoding accepts:
///
/// ```
/// use serde::Deserialize;
/// use tool_core::ToolType;
///
/// /// A place on Earth.
/// #[derive(Deserialize, ToolType)]
/// struct Place {
///     /// Degrees north.
///     latitude: f64,
///     /// Degrees east.
///     longitude: f64,
/// }
///
/// assert!(Place::SCHEMA.to_json().starts_with(r#"{"type":"object","properties":{"latitude":"#));
/// ```
///
/// Derive both traits. If you write `Deserialize` by hand, nothing checks that it accepts the same
/// values as the derived schema.
///
/// To use a type of another crate, wrap it in a newtype and implement the trait by hand. The schema
/// must describe what its `Deserialize` accepts:
///
/// ```
/// use tool_core::{ToolType, schema::{Schema, Text}};
///
/// #[derive(serde::Deserialize)]
/// struct Port(u16);
///
/// impl ToolType for Port {
///     const SCHEMA: &'static Schema = &u16::SCHEMA.describe(Text::new("A TCP port."));
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in the signature of a tool",
    label = "does not implement `ToolType`",
    note = "for your own struct or enum, add `#[derive(serde::Deserialize, tool_core::ToolType)]`",
    note = "for a type of another crate, enable the feature of `tool-core` named after that crate, wrap the type in your own struct, or use `serde_json::Value`",
    note = "for a value that the application provides, write `#[param(context)]`"
)]
pub trait ToolType {
    /// The schema of a value of this type.
    const SCHEMA: &'static Schema;

    /// `true` if strict decoding rejects everything that the schema does not describe, at every
    /// depth, so that the arguments need no validation. `false` is always correct.
    #[doc(hidden)]
    const EXACT: bool = false;
}

/// Provides [`ToolType::EXACT`] as an inherent constant. Falls back to that of [`NotExact`] for a type
/// that is not a `ToolType`, so that this error is not reported twice.
#[doc(hidden)]
pub struct Exactness<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Exactness<T> {
    /// `true` if the type is exact.
    pub const VALUE: bool = T::EXACT;
}

/// The fallback for types without a schema.
#[doc(hidden)]
pub trait NotExact {
    /// `false`.
    const VALUE: bool = false;
}

impl<T: ?Sized> NotExact for Exactness<T> {}

/// A string whose form is described in words.
const fn described_string(description: &'static str) -> Schema {
    Schema::STRING.describe(crate::schema::Text::new(description))
}

/// The months, as `chrono` and `time` write them.
#[cfg(any(feature = "chrono", feature = "time"))]
const MONTHS: Schema = one_of!["January" "February" "March" "April" "May" "June" "July" "August"
    "September" "October" "November" "December"];

/// A type that can be the key of a map.
///
/// Keys are strings in JSON: `String` and similar types, `char`, integers and `bool` (which serde
/// writes in quotes), and types that derive [`ToolType`] as an enum of unit variants or as a newtype of one
/// of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a map key in JSON",
    label = "not a map key",
    note = "JSON map keys are strings; use a `Vec` of pairs instead"
)]
pub trait MapKey: ToolType {}
