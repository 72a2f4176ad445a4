//! [`ToolType`]: the types that a signature may hold, and their schemas.

/// The schemas of types whose `Deserialize` may refuse more than the schema says, in its own words.
macro_rules! schemas {
    ($($type:ty => $schema:expr;)*) => {$(
        impl $crate::types::ToolType for $type {
            const SCHEMA: &'static $crate::schema::Schema = &{
                #[allow(unused_imports, reason = "only what is never decoded needs it")]
                use $crate::schema::decode_check::NoDecodeCheck as _;
                let trial = $crate::schema::decode_check::DecodeCheck::<$type>::VALUE;
                $crate::schema::decode_check::with_decode_check($schema, trial)
            };
        }
    )*};
}

pub(crate) mod borrow;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "camino")]
mod camino;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "either")]
mod either;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;
#[cfg(feature = "semver")]
mod semver;
#[cfg(feature = "smol_str")]
mod smol_str;
mod std;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "url")]
mod url;
#[cfg(feature = "uuid")]
mod uuid;

use ::std::marker::PhantomData;

use crate::schema::Schema;

/// A type that can stand in the signature of a tool.
///
/// Derive it beside serde's traits; serde's attributes are read as serde reads them, so that the
/// schema says what decoding accepts:
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
/// Derive both: a `Deserialize` that is written by hand, and takes a string for more than the
/// schema tells, is not found out.
///
/// A type of another crate can be wrapped in a newtype that implements the trait by hand. Its
/// schema must then describe what its `Deserialize` accepts:
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
    /// What a value of this type looks like in JSON.
    const SCHEMA: &'static Schema;

    /// Whether the strict way to read refuses everything that the schema does not describe, at
    /// every depth, so that the arguments need no second look. `false` is always right.
    #[doc(hidden)]
    const EXACT: bool = false;
}

/// [`ToolType::EXACT`] of a type, an inherent constant; that of [`NotExact`] where the type is no
/// `ToolType`, which is told elsewhere and need not be told twice.
#[doc(hidden)]
pub struct Exactness<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Exactness<T> {
    /// Whether the type is exact.
    pub const VALUE: bool = T::EXACT;
}

/// The way of a type without a schema.
#[doc(hidden)]
pub trait NotExact {
    /// No.
    const VALUE: bool = false;
}

impl<T: ?Sized> NotExact for Exactness<T> {}

/// A string of a form that a description tells.
#[allow(dead_code, reason = "only optional features use it")]
const fn text(description: &'static str) -> Schema {
    Schema::STRING.describe(crate::schema::Text::new(description))
}

/// The months as `chrono` and `time` write them.
#[cfg(any(feature = "chrono", feature = "time"))]
const MONTHS: &Schema = &{
    use crate::schema::Text;
    Schema::strings(&[
        Text::new("January"),
        Text::new("February"),
        Text::new("March"),
        Text::new("April"),
        Text::new("May"),
        Text::new("June"),
        Text::new("July"),
        Text::new("August"),
        Text::new("September"),
        Text::new("October"),
        Text::new("November"),
        Text::new("December"),
    ])
    .read_in_several_ways()
};

/// A type that can be the key of a map: one that is a string in JSON.
///
/// `String` and its kin, `char`, integers (which serde writes in quotes), and what derives
/// [`ToolType`] as an enum of unit variants or as a newtype of one of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a map key in JSON",
    label = "not a map key",
    note = "JSON map keys are strings; use a `Vec` of pairs instead"
)]
pub trait MapKey: ToolType {}
