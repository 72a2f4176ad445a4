//! Schemas of small crates' types, each behind the feature of the crate's name.

#![allow(unused_imports, reason = "each feature uses some of them")]

use super::{ToolType, WRITES_EXACTLY, described_string};
use crate::by_serde;
use crate::decode::check::DecodeCheck;
use crate::decode::{Decode, ReadError, Reader};
use crate::schema::decode_check::with_decode_check;
use crate::schema::{Property, Schema, Text};
use crate::types::borrow::BorrowArg;

// They would accept the bytes of a string too, which validation rejects.
// A feature is on each item, and not on the macro, so that rustdoc shows it.
schemas! {
    #[cfg(feature = "bytes1")]
    bytes::Bytes => Schema::array(u8::SCHEMA).with_several_forms();
    #[cfg(feature = "bytes1")]
    bytes::BytesMut => Schema::array(u8::SCHEMA).with_several_forms();
}

// It would also read a number, but through an `f64`, which loses digits; validation rejects that. The
// crate's feature `serde-float`, which writes it as a number, is not supported: a result is validated.
#[cfg(feature = "rust_decimal1")]
impl ToolType for rust_decimal::Decimal {
    const SCHEMA: &'static Schema = &with_decode_check(
        described_string("Decimal number as a string, such as 12.50.").with_several_forms(),
        DecodeCheck::<rust_decimal::Decimal>::VALUE,
    );
}

schemas! {
    #[cfg(feature = "semver1")]
    semver::Version => described_string("Semantic version, such as 1.4.0-beta.2.");
    #[cfg(feature = "semver1")]
    semver::VersionReq => described_string("Requirement on a semantic version, such as ^1.2 or >=1.2, <3.");
    #[cfg(feature = "semver1")]
    semver::Comparator => described_string("Single requirement on a semantic version, such as ^1.2.");
}

// The format `uri` allows URIs that the URL standard rejects, such as `http://a:99999/`.
schemas! {
    #[cfg(feature = "url2")]
    url::Url => described_string("Absolute URL, such as https://example.com/path.");
}

schemas! {
    #[cfg(feature = "uuid1")]
    uuid::Uuid => Schema::format("uuid");
}

impls! {
    #[cfg(feature = "camino1")]
    [] camino::Utf8Path => &Schema::STRING, true, WRITES_EXACTLY;
    #[cfg(feature = "camino1")]
    [] camino::Utf8PathBuf => &Schema::STRING, true, WRITES_EXACTLY;
    #[cfg(feature = "camino1")]
    [] Box<camino::Utf8Path> => &Schema::STRING, true, WRITES_EXACTLY;
    #[cfg(feature = "smol_str03")]
    [] smol_str::SmolStr => &Schema::STRING, true, WRITES_EXACTLY;
    // serde writes it as an object with one key.
    #[cfg(feature = "either1")]
    [L: ToolType, R: ToolType] either::Either<L, R> => &Schema::any_of(const {
        &[
            &Schema::object(const { &[side("Left", L::SCHEMA, L::EXACT)] }),
            &Schema::object(const { &[side("Right", R::SCHEMA, R::EXACT)] }),
        ]
    }), true, L::WRITES & R::WRITES;
    #[cfg(feature = "indexmap2")]
    [K: ToolType, V: ToolType, S] indexmap::IndexMap<K, V, S>
        => &Schema::map_of(K::SCHEMA, V::SCHEMA), K::EXACT && V::EXACT, K::WRITES & V::WRITES;
    #[cfg(feature = "indexmap2")]
    [T: ToolType, S] indexmap::IndexSet<T, S> => &Schema::set(T::SCHEMA), T::EXACT, T::WRITES;
}

#[cfg(feature = "camino1")]
by_serde!(camino::Utf8PathBuf, Box<camino::Utf8Path>);
#[cfg(feature = "smol_str03")]
by_serde!(smol_str::SmolStr);
#[cfg(feature = "rust_decimal1")]
by_serde!(rust_decimal::Decimal);

#[cfg(feature = "either1")]
impl<'de, L, R> Decode<'de> for either::Either<L, R>
where
    L: Decode<'de> + ToolType,
    R: Decode<'de> + ToolType,
{
    fn decode(reader: &mut Reader<'de>) -> Result<Self, ReadError> {
        let variant = reader.external(Self::SCHEMA)?;
        match variant.number {
            0 => reader.content(variant, either::Either::Left),
            _ => reader.content(variant, either::Either::Right),
        }
    }
}

#[cfg(feature = "camino1")]
impl BorrowArg for camino::Utf8Path {
    type Owned<'de> = camino::Utf8PathBuf;

    fn borrow(owned: &camino::Utf8PathBuf) -> &camino::Utf8Path {
        owned
    }
}

/// The value of a side, which is required even if it may be `null`.
#[cfg(feature = "either1")]
const fn side(name: &'static str, schema: &'static Schema, exact: bool) -> Property {
    crate::__private::content(Text::new(name), schema, exact)
}
