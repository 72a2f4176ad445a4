//! Borrowed parameters: the owned values that `&str` and other references borrow from.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::by_serde;
use crate::decode::Wrapper;

/// A type that a parameter can borrow.
#[diagnostic::on_unimplemented(
    message = "a tool cannot borrow a `{Self}`",
    label = "cannot be borrowed by a tool",
    note = "take an owned value: `String`, a `Vec`, or a type of yours that derives `tool_core::ToolType`"
)]
pub trait BorrowArg {
    /// The decoded value, which lives until the function returns.
    type Owned<'de>;

    /// Borrows from the decoded value.
    fn borrow<'h>(owned: &'h Self::Owned<'_>) -> &'h Self;
}

impl<T> BorrowArg for T {
    type Owned<'de> = T;

    fn borrow(owned: &T) -> &T {
        owned
    }
}

impl<T> BorrowArg for [T] {
    type Owned<'de> = Vec<T>;

    fn borrow(owned: &Vec<T>) -> &[T] {
        owned
    }
}

impl BorrowArg for Path {
    type Owned<'de> = PathBuf;

    fn borrow(owned: &PathBuf) -> &Path {
        owned
    }
}

impl BorrowArg for str {
    type Owned<'de> = Str<'de>;

    fn borrow<'h>(owned: &'h Str<'_>) -> &'h str {
        &owned.0
    }
}

/// A string that borrows from the arguments unless it contains escapes.
///
/// The `Deserialize` of `Cow<str>` would always copy.
pub struct Str<'de>(Cow<'de, str>);

by_serde!(Str<'de>);

impl<'de> Wrapper for Str<'de> {
    type Inner = Cow<'de, str>;

    fn inner(self) -> Cow<'de, str> {
        self.0
    }
}

impl<'de> Deserialize<'de> for Str<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(Text)
    }
}
