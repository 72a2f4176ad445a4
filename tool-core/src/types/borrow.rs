//! Borrowed parameters: what is decoded for a `&str`, and how it is lent to the function.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A type that a parameter can borrow.
#[diagnostic::on_unimplemented(
    message = "a tool cannot borrow a `{Self}`",
    label = "cannot be borrowed by a tool",
    note = "take an owned value: `String`, a `Vec`, or a type of yours that derives `tool_core::ToolType`"
)]
pub trait Lend {
    /// What is decoded, and kept until the function returns.
    type Held<'de>;

    /// Borrows from what is kept.
    fn lend<'h>(held: &'h Self::Held<'_>) -> &'h Self;
}

impl<T> Lend for T {
    type Held<'de> = T;

    fn lend(held: &T) -> &T {
        held
    }
}

impl<T> Lend for [T] {
    type Held<'de> = Vec<T>;

    fn lend(held: &Vec<T>) -> &[T] {
        held
    }
}

impl Lend for Path {
    type Held<'de> = PathBuf;

    fn lend(held: &PathBuf) -> &Path {
        held
    }
}

impl Lend for str {
    type Held<'de> = Str<'de>;

    fn lend<'h>(held: &'h Str<'_>) -> &'h str {
        &held.0
    }
}

/// A string that borrows from the arguments unless it holds escapes.
///
/// `Cow<str>` won't do: its `Deserialize` always copies.
pub struct Str<'de>(Cow<'de, str>);

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
