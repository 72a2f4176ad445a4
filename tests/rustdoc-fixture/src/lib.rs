//! Tools whose rustdoc pages `tests/tests/rustdoc_pages.rs` reads.

#![allow(clippy::too_many_arguments)]

use serde::Deserialize;
use tool_core::{ToolType, tool};

/// Temperature unit.
#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Water freezes at 0.
    Celsius,
    /// Water freezes at 32.
    Fahrenheit,
}

/// Weather forecast
/// for a `city`.
///
/// # When to use
/// Somebody asks for \[rain\], <b>snow</b> or `sun`.
///
/// # Returns
/// ```text
/// a sentence
/// ```
///
/// # Errors
/// When nobody knows.
#[tool(
    name = "get-forecast",
    title = "Rain & [shine]",
    read_only,
    destructive = false
)]
#[must_use]
pub fn forecast(
    /// City, such as `Lisbon | Porto`: see [Unit], [`Unit`] or [no such thing].
    ///
    /// Names | of <i>places</i> at https://example.org/a_b, *all* of them; a ` and \[that\].
    city: &str,
    #[param(range = 1..=14, default = 3)] days: u8,
    unit: Unit,
    place: Option<Box<(f64, f64)>>,
    /** On one line. */
    #[param(rename = "in", length = 1..=5)]
    languages: Vec<String>,
) -> String {
    format!("{city} {days} {unit:?} {place:?} {languages:?}")
}

/// Types whose names tell their schema.
#[tool]
pub fn known(
    truth: bool,
    byte: u8,
    signed_byte: i8,
    short: u16,
    signed_short: i16,
    word: u32,
    signed_word: i32,
    long: u64,
    signed_long: i64,
    longer: u128,
    signed_longer: i128,
    size: usize,
    signed_size: isize,
    float: f32,
    double: f64,
    letter: char,
    text: String,
    lent: &str,
    list: Vec<Option<String>>,
    lent_list: &[u8],
    triple: [f64; 3],
    nested: Vec<Vec<bool>>,
    maybe: Option<u16>,
    maybe_lent: Option<&str>,
    maybe_list: std::option::Option<std::vec::Vec<std::primitive::i64>>,
    #[param(default)] filled: u8,
) {
    drop((
        (
            truth,
            byte,
            signed_byte,
            short,
            signed_short,
            word,
            signed_word,
        ),
        (
            long,
            signed_long,
            longer,
            signed_longer,
            size,
            signed_size,
            float,
        ),
        (double, letter, text, lent.len(), list, lent_list.len()),
        (
            triple,
            nested,
            maybe,
            maybe_lent.map(str::len),
            maybe_list,
            filled,
        ),
    ));
}

/// Constraints of every kind.
#[tool]
pub fn constrained(
    /// A "quoted" text.
    #[param(range = 1..=14, multiple_of = 7, default = 7, example = 14)]
    days: u8,
    #[param(range = 5..)] least: i64,
    #[param(range = ..=5)] most: Option<u32>,
    #[param(range = 0.5..1.0, multiple_of = 0.25)] share: f64,
    #[param(length = 2..=8, pattern = "^[a|b]+\\.$", example = "ab.")] word: &str,
    #[param(format = "email")] mail: Option<String>,
    #[param(length = ..=3, unique)] items: Vec<u8>,
    #[param(as = String, length = 3..=3)] other: serde_json::Value,
) {
    drop((days, least, most, share, word.len(), mail, items, other));
}

/// Another schema than the type's.
#[tool]
pub fn written(
    #[param(schema = r#"{"type":["integer","null"]}"#)] number: Option<serde_json::Value>,
    #[param(schema = r#"{"type":"string","enum":["a","b"]}"#)] letter: serde_json::Value,
) {
    drop((number, letter));
}

/// Rows that are there or not.
#[tool]
pub fn conditional(
    #[cfg(not(feature = "broken-link"))] there: u8,
    #[cfg(feature = "broken-link")]
    #[cfg(not(feature = "broken-link"))]
    missing: u8,
    always: u8,
) {
    let _ = (there, always);
}

/// No arguments.
///
/// - A list that ends the docs.
#[tool(idempotent, open_world = true)]
pub const fn nothing() {}

#[tool(description = "Described by a key.")]
#[expect(missing_docs, reason = "rustdoc shows what the model sees")]
pub const fn keyed() {}

/// A page without the section.
#[tool(doc = false)]
pub fn plain(
    /// Not [shown].
    city: &str,
) {
    let _ = city;
}

/// See [nowhere].
#[cfg(feature = "broken-link")]
#[tool]
pub fn broken(
    /// See [nowhere] either.
    city: &str,
) {
    let _ = city;
}
