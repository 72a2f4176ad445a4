//! Decodes values to find out whether their types reject what their schemas allow.

use std::fmt::Debug;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{DecodeOwned, decode_text};
use crate::schema::decode_check::DecodeCheckFn;

/// Provides a type's decode check as an inherent constant. Falls back to the constant of [`NoDecodeCheck`]
/// for a type that borrows from the text or is never decoded.
pub struct DecodeCheck<T: ?Sized>(PhantomData<T>);

impl<T: DecodeOwned> DecodeCheck<T> {
    /// The check.
    pub const VALUE: Option<DecodeCheckFn> = Some(decode_error::<T>);
}

/// The fallback for types that can't be checked.
pub trait NoDecodeCheck {
    /// `None`.
    const VALUE: Option<DecodeCheckFn> = None;
}

impl<T: ?Sized> NoDecodeCheck for DecodeCheck<T> {}

fn decode_error<T: DecodeOwned>(json: &str, _: Option<&mut String>) -> Option<String> {
    let decoded = decode_text::<T>(json);
    decoded.err().map(|error| error.to_string())
}

/// Provides the decode check of a type that serializes in one spelling. Falls back to
/// [`NoDecodeCheck`].
pub(crate) struct RespellingDecodeCheck<T: ?Sized>(PhantomData<T>);

impl<T: DecodeOwned + Serialize> RespellingDecodeCheck<T> {
    /// The check.
    pub(crate) const VALUE: Option<DecodeCheckFn> = Some(respell::<T>);
}

impl<T: ?Sized> NoDecodeCheck for RespellingDecodeCheck<T> {}

fn respell<T: DecodeOwned + Serialize>(
    json: &str,
    spelling: Option<&mut String>,
) -> Option<String> {
    match decode_text::<T>(json) {
        Ok(value) => {
            if let Some(spelling) = spelling {
                *spelling = serde_json::to_string(&value).unwrap_or_default();
            }
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Provides a comparison of a type's own decoding with its `Deserialize`. Falls back to [`NoDecodeCheck`] for a
/// type that has none.
pub struct Comparison<T: ?Sized>(PhantomData<T>);

impl<T: DecodeOwned + DeserializeOwned + Debug> Comparison<T> {
    /// The comparison.
    pub const VALUE: Option<DecodeCheckFn> =
        Some(|json, _| difference::<T>(json, |value| format!("{value:?}")));
}

impl<T: ?Sized> NoDecodeCheck for Comparison<T> {}

/// Provides the same for a type whose values can't be shown. Compares only whether they are accepted.
pub struct VerdictComparison<T: ?Sized>(PhantomData<T>);

impl<T: DecodeOwned + DeserializeOwned> VerdictComparison<T> {
    /// The comparison.
    pub const VALUE: Option<DecodeCheckFn> =
        Some(|json, _| difference::<T>(json, |_| String::new()));
}

impl<T: ?Sized> NoDecodeCheck for VerdictComparison<T> {}

fn difference<T: DecodeOwned + DeserializeOwned>(
    json: &str,
    show: fn(&T) -> String,
) -> Option<String> {
    let by_serde = match (decode_text::<T>(json), serde_json::from_str::<T>(json)) {
        (Ok(own), Ok(by_serde)) if show(&own) == show(&by_serde) => return None,
        (Err(_), Err(_)) => return None,
        (_, Ok(by_serde)) => format!("accepts it {}", show(&by_serde)),
        (_, Err(error)) => format!("rejects it ({error})"),
    };
    Some(format!(
        "the `Deserialize` of this type {by_serde}, but is not used; add `#[param(serde)]` to the type"
    ))
}
