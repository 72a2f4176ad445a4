//! Schemas of small crates' types, each behind the feature of the crate's name.

#![allow(unused_imports, reason = "each feature uses some of them")]

use super::{ToolType, WRITES_EXACTLY, described_string};
use crate::schema::decode_check::{DecodeCheck, with_decode_check};
use crate::schema::{Property, Schema, Text};
use crate::types::borrow::BorrowArg;

// They would accept the bytes of a string too, which validation rejects.
// A feature is on each item, and not on the macro, so that rustdoc shows it.
schemas! {
    #[cfg(feature = "bytes")]
    bytes::Bytes => Schema::array(u8::SCHEMA).with_several_forms();
    #[cfg(feature = "bytes")]
    bytes::BytesMut => Schema::array(u8::SCHEMA).with_several_forms();
}

// It would also read a number, but through an `f64`, which loses digits; validation rejects that. The
// crate's feature `serde-float`, which writes it as a number, is not supported: a result is validated.
#[cfg(feature = "rust_decimal")]
impl ToolType for rust_decimal::Decimal {
    const SCHEMA: &'static Schema = &with_decode_check(
        described_string("Decimal number as a string, such as 12.50.").with_several_forms(),
        DecodeCheck::<rust_decimal::Decimal>::VALUE,
    );
}

schemas! {
    #[cfg(feature = "semver")]
    semver::Version => described_string("Semantic version, such as 1.4.0-beta.2.");
    #[cfg(feature = "semver")]
    semver::VersionReq => described_string("Requirement on a semantic version, such as ^1.2 or >=1.2, <3.");
    #[cfg(feature = "semver")]
    semver::Comparator => described_string("Single requirement on a semantic version, such as ^1.2.");
}

// The format `uri` allows URIs that the URL standard rejects, such as `http://a:99999/`.
schemas! {
    #[cfg(feature = "url")]
    url::Url => described_string("Absolute URL, such as https://example.com/path.");
}

schemas! {
    #[cfg(feature = "uuid")]
    uuid::Uuid => Schema::format("uuid");
}

macro_rules! strings {
    ($($feature:literal $type:ty;)*) => {$(
        #[cfg(feature = $feature)]
        impl ToolType for $type {
            const SCHEMA: &'static Schema = &Schema::STRING;
            const EXACT: bool = true;
            const WRITES: u8 = WRITES_EXACTLY;
        }
    )*};
}

strings! {
    "camino" camino::Utf8Path;
    "camino" camino::Utf8PathBuf;
    "camino" Box<camino::Utf8Path>;
    "smol_str" smol_str::SmolStr;
}

#[cfg(feature = "camino")]
impl BorrowArg for camino::Utf8Path {
    type Owned<'de> = camino::Utf8PathBuf;

    fn borrow(owned: &camino::Utf8PathBuf) -> &camino::Utf8Path {
        owned
    }
}

// serde writes it as an object with one key.
#[cfg(feature = "either")]
impl<L: ToolType, R: ToolType> ToolType for either::Either<L, R> {
    const SCHEMA: &'static Schema = &Schema::any_of(
        const {
            &[
                &Schema::object(const { &[side("Left", L::SCHEMA)] }),
                &Schema::object(const { &[side("Right", R::SCHEMA)] }),
            ]
        },
    );
    const WRITES: u8 = L::WRITES & R::WRITES;
}

/// The value of a side, which is required even if it may be `null`.
#[cfg(feature = "either")]
const fn side(name: &'static str, schema: &'static Schema) -> Property {
    Property {
        schema,
        required: true,
        nullable: false,
        ..Property::new(Text::new(name), Text::EMPTY, schema)
    }
}

// Maps are not exact, because serde lets a later duplicate key replace an earlier one.
#[cfg(feature = "indexmap")]
impl<K: ToolType, V: ToolType, S> ToolType for indexmap::IndexMap<K, V, S> {
    const SCHEMA: &'static Schema = &Schema::map_of(K::SCHEMA, V::SCHEMA);
    const WRITES: u8 = K::WRITES & V::WRITES;
}

#[cfg(feature = "indexmap")]
impl<T: ToolType, S> ToolType for indexmap::IndexSet<T, S> {
    const SCHEMA: &'static Schema = &Schema::set(T::SCHEMA);
    const EXACT: bool = T::EXACT;
    const WRITES: u8 = T::WRITES;
}
