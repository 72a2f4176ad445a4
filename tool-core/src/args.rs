//! From the text of a model's arguments to the values that a function takes.
//!
//! The usual call is read in one pass: the keys by a loop that is not generic, each value where it
//! stands, by a decoder that all tools share for its type. Anything unusual leaves the fast path
//! for [`Input::settle`], which finds out what it is: bad JSON, a list of mistakes, or a
//! spelling that serde is stricter about than JSON Schema.

use std::sync::OnceLock;

use serde::de::{Deserialize, IgnoredAny};
use serde_json::Deserializer;
use serde_json::de::StrRead;

use crate::schema::cursor::unquote;
use crate::schema::validate::{Normal, conforms, normalise, path_at};
use crate::schema::words::expected;
use crate::schema::{Property, Schema};
use crate::violation::{Coercion, Violations};

/// The arguments of one call.
pub struct Input {
    /// What they should be: the parameters, in the order of the slots.
    schema: &'static Schema,
    text: String,
    /// Whether a value in quotes is taken for the value; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    is_lenient: bool,
    /// The same arguments respelled for serde, when they had to be.
    respelled: OnceLock<Normal>,
}

/// Why the arguments of a call can't be decoded.
pub enum Refusal {
    #[doc(hidden)]
    Malformed(String),
    #[doc(hidden)]
    Invalid(Box<InvalidArguments>),
}

/// The mistakes in a call's arguments.
pub struct InvalidArguments(pub(crate) Violations);

impl Input {
    pub(crate) fn new(schema: &'static Schema, text: String, is_lenient: bool) -> Input {
        Input {
            schema,
            text,
            is_lenient,
            respelled: OnceLock::new(),
        }
    }

    /// What was taken for something else.
    pub(crate) fn into_coercions(self) -> Vec<Coercion> {
        self.respelled
            .into_inner()
            .map_or_else(Vec::new, |respelled| respelled.coercions)
    }

    /// Fills one slot a parameter, or says everything that is wrong.
    pub fn read<'a>(&'a self, slots: &mut [&mut dyn Decode<'a>]) -> Result<(), Refusal> {
        match fill(&self.text, self.schema.properties(), slots) {
            Ok(()) => Ok(()),
            Err(_) => self.settle(slots),
        }
    }

    /// The slow path. It starts over, so that its verdict does not depend on how far the fast one
    /// came.
    #[cold]
    fn settle<'a>(&'a self, slots: &mut [&mut dyn Decode<'a>]) -> Result<(), Refusal> {
        let schema = self.schema;
        if let Err(error) = serde_json::from_str::<IgnoredAny>(&self.text) {
            return Err(Refusal::Malformed(error.to_string()));
        }
        let respelled = normalise(schema, &self.text, self.is_lenient)
            .map_err(|violations| Refusal::Invalid(Box::new(InvalidArguments(violations))))?;
        for slot in slots.iter_mut() {
            slot.reset();
        }
        let respelled = self.respelled.get_or_init(|| respelled);
        fill(&respelled.text, schema.properties(), slots).map_err(|stop| {
            let violations = match stop {
                Stop::Value(property, problem, at) => {
                    let value = respelled.text.get(at..).unwrap_or_default();
                    let inner = path_at(value, offset(value, &problem));
                    let path = format!("{}{inner}", property.name());
                    // The schema is that of the parameter, not of what stands inside of it.
                    let refused = match inner.is_empty() {
                        true => refused(&problem, Some(property.schema)),
                        false => refused(&problem, None),
                    };
                    Violations::one(&path, refused)
                }
                Stop::Shape => Violations::one("", "could not be read".into()),
            };
            Refusal::Invalid(Box::new(InvalidArguments(violations)))
        })
    }
}

/// The words of a type that refuses what its schema allows: its own, unless they are serde's or
/// name Rust types. What was expected follows, since a parser's own words may say little.
fn refused(problem: &serde_json::Error, schema: Option<&Schema>) -> String {
    let problem = problem.to_string();
    let problem = problem
        .rfind(" at line ")
        .map_or(&*problem, |end| &problem[..end]);
    let generic = [
        "invalid ",
        "missing field",
        "unknown ",
        "duplicate field",
        "data did not",
        "number out of range",
    ];
    let is_generic = generic.iter().any(|start| problem.starts_with(start));
    let said = match is_generic || problem.contains("::") {
        true => "not accepted",
        false => problem,
    };
    let Some(schema) = schema else {
        return said.to_owned();
    };
    let expected = expected(schema);
    match schema.description() {
        "" => format!("{said}; expected {expected}"),
        described => format!("{said}; expected {expected} ({described})"),
    }
}

/// Where in `text` an error of `serde_json` stands.
fn offset(text: &str, problem: &serde_json::Error) -> usize {
    let before = text
        .split_inclusive('\n')
        .take(problem.line().saturating_sub(1));
    before.map(str::len).sum::<usize>() + problem.column()
}

/// Why [`fill`] stopped.
enum Stop<'p> {
    /// The text is not the expected object.
    Shape,
    /// A parameter's value, which stands at this place of the text, does not decode.
    Value(&'p Property, serde_json::Error, usize),
}

/// One pass over the top level of `text`.
fn fill<'a, 'p>(
    text: &'a str,
    properties: &'p [Property],
    slots: &mut [&mut dyn Decode<'a>],
) -> Result<(), Stop<'p>> {
    let mut at = after(text, 0, b'{')?;
    let mut expected = 0;
    if peek(text, at).1 != b'}' {
        loop {
            let (key, end) = key(text, at)?;
            at = after(text, end, b':')?;
            // A model mostly keeps to the order of the schema.
            let index = (expected..properties.len())
                .chain(0..expected)
                .find(|&index| properties[index].name() == key)
                .ok_or(Stop::Shape)?;
            expected = index + 1;
            at = value(text, at, &properties[index], &mut *slots[index])?;
            let (place, byte) = peek(text, at);
            at = place;
            match byte {
                b',' => at += 1,
                b'}' => break,
                _ => return Err(Stop::Shape),
            }
        }
    }
    let (end, _) = peek(text, after(text, at, b'}')?);
    if end < text.len() {
        return Err(Stop::Shape);
    }
    for (property, slot) in properties.iter().zip(slots) {
        if !slot.is_given() {
            absent(property, &mut **slot)?;
        }
    }
    Ok(())
}

/// Decodes the value that starts at `at` and gives the place behind it.
fn value<'a, 'p>(
    text: &'a str,
    at: usize,
    property: &'p Property,
    slot: &mut dyn Decode<'a>,
) -> Result<usize, Stop<'p>> {
    let (at, first) = peek(text, at);
    if slot.is_given() {
        return Err(Stop::Shape);
    }
    if first == b'n' && property.drops_null() && text[at..].starts_with("null") {
        slot.skip();
        absent(property, slot)?;
        return Ok(at + "null".len());
    }
    // The walk comes first: it is bounded, and a type's own decoding might not be.
    let checked = match property.exact || property.nullable && first == b'n' {
        true => None,
        false => Some(conforms(property.schema, &text[at..]).ok_or(Stop::Shape)?),
    };
    let length = slot
        .decode(&text[at..])
        .map_err(|problem| Stop::Value(property, problem, at))?;
    if checked.is_some_and(|checked| checked != length) {
        return Err(Stop::Shape);
    }
    Ok(at + length)
}

/// Fills the slot of a parameter that the call does not give.
fn absent<'p>(property: &'p Property, slot: &mut dyn Decode<'_>) -> Result<(), Stop<'p>> {
    let stand_in = match property.default_json() {
        Some(default) => default,
        None if property.required => return Err(Stop::Shape),
        None if property.nullable => "null",
        // Filled from `Default` when it is taken.
        None => return Ok(()),
    };
    slot.decode(stand_in)
        .map(|_| ())
        // It stands nowhere.
        .map_err(|problem| Stop::Value(property, problem, usize::MAX))
}

/// The next byte that is not white space, and its place; 0 at the end.
fn peek(text: &str, mut at: usize) -> (usize, u8) {
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            return (at, byte);
        }
        at += 1;
    }
    (at, 0)
}

/// The place behind `byte`, which must come next.
fn after(text: &str, at: usize, byte: u8) -> Result<usize, Stop<'static>> {
    match peek(text, at) {
        (at, found) if found == byte => Ok(at + 1),
        _ => Err(Stop::Shape),
    }
}

/// The key that comes next, and the place behind it.
fn key(text: &str, at: usize) -> Result<(std::borrow::Cow<'_, str>, usize), Stop<'static>> {
    let start = after(text, at, b'"')?;
    let bytes = text.as_bytes();
    let mut end = start;
    loop {
        match bytes.get(end) {
            Some(b'"') => break,
            Some(b'\\') => end += 2,
            Some(_) => end += 1,
            None => return Err(Stop::Shape),
        }
    }
    let key = unquote(&text[start - 1..=end]).ok_or(Stop::Shape)?;
    Ok((key, end + 1))
}

/// A place for one decoded parameter, without its type.
pub trait Decode<'de> {
    /// Decodes the value at the start of `text` and says how many bytes it took.
    fn decode(&mut self, text: &'de str) -> serde_json::Result<usize>;
    /// Notes that the call gave the parameter without a value.
    fn skip(&mut self);
    /// Whether the call gave the parameter.
    fn is_given(&self) -> bool;
    /// Empties the slot.
    fn reset(&mut self);
}

/// A place for one decoded parameter.
pub struct Slot<T> {
    value: Option<T>,
    given: bool,
}

impl<T> Slot<T> {
    /// An empty slot.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Slot<T> {
        Slot {
            value: None,
            given: false,
        }
    }

    /// The decoded value.
    ///
    /// # Panics
    ///
    /// When the slot is empty, which [`Input::read`] rules out.
    pub fn take(self) -> T {
        self.value.expect("a parameter that was read has a value")
    }

    /// The decoded value, or the default of its type.
    pub fn take_or_default(self) -> T
    where
        T: Default,
    {
        self.value.unwrap_or_default()
    }
}

impl<'de, T: Deserialize<'de>> Decode<'de> for Slot<T> {
    fn decode(&mut self, text: &'de str) -> serde_json::Result<usize> {
        let mut values = Deserializer::new(StrRead::new(text)).into_iter();
        match values.next() {
            Some(value) => self.value = Some(value?),
            // Only white space was left. Let serde say so.
            None => self.value = Some(serde_json::from_str(text)?),
        }
        self.given = true;
        Ok(values.byte_offset())
    }

    fn skip(&mut self) {
        self.given = true;
    }

    fn is_given(&self) -> bool {
        self.given
    }

    fn reset(&mut self) {
        self.value = None;
        self.given = false;
    }
}
