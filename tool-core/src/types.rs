//! [`ToolType`]: the types that can be used in the signature of a tool, and their schemas.

/// Implements [`ToolType`] for types whose `Deserialize` may reject values that the schema allows.
macro_rules! schemas {
    ($($(#[$cfg:meta])* $type:ty => $schema:expr;)*) => {$(
        $crate::by_serde!($(#[$cfg])* $type);
        $(#[$cfg])*
        impl $crate::types::ToolType for $type {
            const SCHEMA: &'static $crate::schema::Schema = &{
                #[allow(unused_imports, reason = "only types that can't be decoded need it")]
                use $crate::decode::check::NoDecodeCheck as _;
                let check = $crate::decode::check::RespellingDecodeCheck::<$type>::VALUE;
                $crate::schema::decode_check::with_decode_check($schema, check)
            };
            const WRITES: u8 = $crate::types::WRITES_EXACTLY;
        }
    )*};
}

/// Implements [`ToolType`](crate::ToolType): the schema, and the values of `EXACT` and `WRITES`.
macro_rules! impls {
    ($($(#[$cfg:meta])* [$($generics:tt)*] $type:ty => $schema:expr, $exact:expr, $writes:expr;)*) => {$(
        $(#[$cfg])*
        impl<$($generics)*> $crate::types::ToolType for $type {
            const SCHEMA: &'static $crate::schema::Schema = $schema;
            const EXACT: bool = $exact;
            const WRITES: u8 = $writes;
        }
    )*};
}

/// The schema of an enum that is also read in other forms.
#[cfg(any(feature = "chrono04", feature = "time03"))]
macro_rules! one_of {
    ($($value:literal)*) => {
        $crate::schema::Schema::strings(&[$($crate::schema::Text::new($value)),*])
            .with_several_forms()
    };
}

pub(crate) mod borrow;
#[cfg(feature = "chrono04")]
mod chrono;
mod crates;
#[cfg(feature = "jiff02")]
mod jiff;
mod std;
#[cfg(feature = "time03")]
mod time;

use ::std::marker::PhantomData;

use crate::decode::{DescribedSlot, Slot};
use crate::schema::{Schema, Text};

/// A type that can be used in the signature of a tool.
///
/// The derive follows serde's attributes, and decodes values by the schema. A type of arguments needs no
/// other derive:
///
/// ```
/// use tool_core::ToolType;
///
/// /// A place on Earth.
/// #[derive(ToolType)]
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
/// A type of results derives `Serialize`, too. If you write it by hand, nothing checks that it writes the
/// values that the derived schema describes. A `Deserialize` that you write by hand is not used, unless you
/// ask for it with `#[param(serde)]`; see [Decoding](macro@crate::tool#decoding).
///
/// Results follow serde's attributes too: the output schema of a tool describes the values that `Serialize`
/// writes, even if `Deserialize` accepts others. Where the type alone does not guarantee a match, each
/// result is validated: a float may be NaN, and nothing enforces the `#[param(range = …)]` of a returned
/// field. A result that does not match is an error of the kind
/// [`InvalidResult`](crate::ToolErrorKind::InvalidResult).
///
/// To use a type of another crate, wrap it in a newtype and implement the trait by hand. Values are validated by the
/// schema before serde decodes them. If a tool returns the type, each result is validated:
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used in the signature of a tool",
    label = "does not implement `ToolType`",
    note = "for a value that the application provides, such as a database, write `#[param(context)] name: &{Self}`",
    note = "for your own struct or enum, add `#[derive(tool_core::ToolType)]`; if a tool returns it, `serde::Serialize` too",
    note = "for a type of another crate, enable its feature of `tool-core`: `bytes1`, `camino1`, `chrono04`, `either1`, \
            `indexmap2`, `jiff02`, `rust_decimal1`, `semver1`, `smol_str03`, `time03`, `url2` or `uuid1`",
    note = "for any other type, wrap it in your own struct, or use `serde_json::Value`"
)]
pub trait ToolType {
    /// The schema of a value of this type.
    const SCHEMA: &'static Schema;

    /// `true` if strict decoding rejects everything that the schema does not describe, at every
    /// depth, so that the arguments need no validation. `false` is always correct.
    #[doc(hidden)]
    const EXACT: bool = false;

    /// The guarantee about the output of `Serialize`: [`WRITES_EXACTLY`], [`WRITES_NULLS`], or 0 if the
    /// result of a tool needs validation. 0 is always correct.
    #[doc(hidden)]
    const WRITES: u8 = 0;
}

impl<T: ToolType> DescribedSlot for Slot<T> {}

/// Everything that `Serialize` writes matches the schema, at every depth, except that `null` may
/// replace a number: serde_json writes it for NaN and infinity. The bits of several types are
/// combined with `&`.
#[doc(hidden)]
pub(crate) const WRITES_NULLS: u8 = 1;

/// Everything that `Serialize` writes matches the schema, at every depth.
#[doc(hidden)]
pub const WRITES_EXACTLY: u8 = WRITES_NULLS | 2;

/// Provides [`ToolType::EXACT`] as an inherent constant. Falls back to the constant of [`NotExact`] for a type
/// that is not a `ToolType`, so that this error is not reported twice.
#[doc(hidden)]
pub struct Exactness<T: ?Sized>(PhantomData<T>);

impl<T: ToolType + ?Sized> Exactness<T> {
    /// `true` if the type is exact.
    pub const VALUE: bool = T::EXACT;
    /// The guarantee about the output of `Serialize`.
    pub const WRITES: u8 = T::WRITES;
}

/// The fallback for types without a schema.
#[doc(hidden)]
pub trait NotExact {
    /// `false`.
    const VALUE: bool = false;
    /// Anything.
    const WRITES: u8 = 0;
}

impl<T: ?Sized> NotExact for Exactness<T> {}

/// A string whose form is described in words. They are notes, so that they stay when a parameter or a field
/// has a description.
const fn described_string(form: &'static str) -> Schema {
    Schema {
        notes: Text::new(form),
        ..Schema::STRING
    }
}

/// The months, as `chrono` and `time` write them.
#[cfg(any(feature = "chrono04", feature = "time03"))]
const MONTHS: Schema = one_of!["January" "February" "March" "April" "May" "June" "July" "August"
    "September" "October" "November" "December"];

/// A type that can be the key of a map.
///
/// Keys are strings in JSON: `String` and similar types, `char`, integers and `bool` (which serde
/// writes in quotes), and types that derive [`ToolType`] as an enum of unit variants or as a newtype of one
/// of these.
///
/// ```
/// use std::collections::BTreeMap;
/// use tool_core::{Tool, ToolType, tool};
///
/// #[derive(PartialEq, Eq, PartialOrd, Ord, ToolType)]
/// #[serde(rename_all = "lowercase")]
/// enum Meal {
///     Lunch,
///     Dinner,
/// }
///
/// /// Books tables.
/// #[tool]
/// fn book(guests: BTreeMap<Meal, u8>) -> u32 {
///     guests.values().copied().map(u32::from).sum()
/// }
///
/// assert!(book::SPEC.parameters_json().contains("lunch"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not supported as the key of a map",
    label = "not a map key",
    note = "keys can be strings, `char`, `bool`, integers and enums without data; use a `Vec` of pairs instead"
)]
pub trait MapKey: ToolType {}
