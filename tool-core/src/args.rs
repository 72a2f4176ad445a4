//! From the text of a model's arguments to the values that a function takes.
//!
//! The usual call is read in one pass: the keys by a loop that is not generic, each value where it
//! stands, by a decoder that all tools share for its type. Anything unusual leaves the fast path
//! for [`Input::settle`], which finds out what it is: bad JSON, a list of mistakes, or a
//! spelling that serde is stricter about than JSON Schema.

mod fill;
mod reader;
mod slot;

use std::sync::OnceLock;

use serde::de::IgnoredAny;

use self::fill::{Stop, Trust, fill};
use self::reader::Problem;
use self::slot::Decode;
pub use self::slot::Slot;
use crate::schema::Schema;
use crate::schema::validate::{Normal, normalise, path_at};
use crate::schema::words::expected;
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
    respelled: OnceLock<Box<Normal>>,
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
    pub(crate) fn take_coercions(&mut self) -> Vec<Coercion> {
        match self.respelled.get_mut() {
            Some(respelled) => std::mem::take(&mut respelled.coercions),
            None => Vec::new(),
        }
    }

    /// Fills one slot a parameter, or says everything that is wrong.
    pub fn read<'a>(&'a self, slots: &mut [&mut dyn Decode<'a>]) -> Result<(), Refusal> {
        match fill(&self.text, self.schema.properties(), slots, Trust::None) {
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
        let respelled = self.respelled.get_or_init(|| Box::new(respelled));
        let filled = fill(&respelled.text, schema.properties(), slots, Trust::All);
        filled.map_err(|stop| {
            let violations = match *stop {
                Stop::Value(property, problem, at) => {
                    let value = respelled.text.get(at.start..).unwrap_or_default();
                    let inner = path_at(value, at.len());
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
fn refused(problem: &Problem, schema: Option<&Schema>) -> String {
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
