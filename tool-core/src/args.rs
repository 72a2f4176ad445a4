//! From the text of a model's arguments to the values that a function takes.
//!
//! The usual call is read in one pass: the keys by a loop that is not generic, each value where it
//! stands, by a decoder that all tools share for its type. Anything unusual leaves the fast path
//! for [`Input::decode_slow`], which finds out what it is: bad JSON, a list of mistakes, or a
//! spelling that serde is stricter about than JSON Schema.

mod fill;
mod reader;
mod slot;

use std::any::{Any, TypeId, type_name};
use std::sync::OnceLock;

use self::fill::{DecodeFailure, fill, fill_trusted};
use self::slot::Decode;
pub use self::slot::Slot;
use crate::call::CallHead;
use crate::call::context::{CallContext, CancellationToken, Shared};
use crate::schema::decode_check::refused;
use crate::schema::validate::{Normal, ValidateError, normalise, path_at};
use crate::schema::violation::{Coercion, Violations};
use crate::schema::{Property, Schema};

/// What one call of a tool brings.
pub struct Input {
    /// The parameters of the tool, one per slot.
    parameters: &'static [Property],
    /// The value that the tool is a method of.
    receiver: Option<Shared>,
    context: CallContext,
    text: String,
    /// Whether a value in quotes is taken for the value; see
    /// [`RegistryBuilder::lenient`](crate::RegistryBuilder::lenient).
    is_lenient: bool,
    /// The same arguments respelled for serde, when they had to be.
    respelled: OnceLock<Box<Normal>>,
}

/// Why the arguments of a call can't be decoded.
pub enum ArgumentError {
    #[doc(hidden)]
    Malformed(String),
    #[doc(hidden)]
    Invalid(InvalidArguments),
    /// The call has no value of this type.
    #[doc(hidden)]
    Lacking(&'static str),
}

/// The mistakes in a call's arguments.
pub struct InvalidArguments(pub(crate) Violations);

impl From<ValidateError> for ArgumentError {
    fn from(unfit: ValidateError) -> Self {
        match unfit {
            ValidateError::NoJson(problem) => ArgumentError::Malformed(problem),
            ValidateError::Mistakes(violations) => {
                ArgumentError::Invalid(InvalidArguments(violations))
            }
        }
    }
}

impl Input {
    #[inline]
    pub(crate) fn new(
        parameters: &'static [Property],
        receiver: Option<Shared>,
        context: CallContext,
        text: String,
        is_lenient: bool,
    ) -> Input {
        Input {
            parameters,
            receiver,
            context,
            text,
            is_lenient,
            respelled: OnceLock::new(),
        }
    }

    /// The call came to its own end. Gives what was taken for something else.
    #[inline]
    pub(crate) fn finish(&mut self) -> Vec<Coercion> {
        self.context.finish();
        match self.respelled.get_mut() {
            Some(respelled) => std::mem::take(&mut respelled.coercions),
            None => Vec::new(),
        }
    }

    /// What its result needs to know of the call.
    #[inline]
    pub(crate) fn take_head(&mut self) -> CallHead {
        std::mem::take(&mut self.context.head)
    }

    /// The token of the call, which outlives it.
    pub(crate) fn cancellation(&self) -> &CancellationToken {
        self.context.cancellation()
    }

    /// What the application gave: a value of this type, or the call itself.
    pub fn context<T: Any + Send + Sync>(&self) -> Result<&T, ArgumentError> {
        self.optional_context()
            .ok_or_else(|| ArgumentError::Lacking(type_name::<T>()))
    }

    /// The same where it may be absent.
    pub fn optional_context<T: Any + Send + Sync>(&self) -> Option<&T> {
        if TypeId::of::<T>() == TypeId::of::<CallContext>() {
            return (&self.context as &dyn Any).downcast_ref();
        }
        self.context.get()
    }

    /// What the tool is a method of.
    ///
    /// # Panics
    ///
    /// When the tool is no method of this type.
    pub fn receiver<T: Any>(&self) -> &T {
        self.receiver
            .as_ref()
            .and_then(|receiver| receiver.downcast_ref())
            .expect("a method is called on what its toolset was given for")
    }

    /// Fills one slot a parameter, or says everything that is wrong.
    pub fn read<'a>(&'a self, slots: &mut [&mut dyn Decode<'a>]) -> Result<(), ArgumentError> {
        match fill(&self.text, self.parameters, slots) {
            true => Ok(()),
            false => self.decode_slow(slots),
        }
    }

    /// The text of the arguments.
    #[cfg(feature = "dynamic")]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The slow path. It starts over, so that its verdict does not depend on how far the fast one
    /// came.
    #[cold]
    fn decode_slow<'a>(&'a self, slots: &mut [&mut dyn Decode<'a>]) -> Result<(), ArgumentError> {
        let schema = Schema::object(self.parameters);
        let respelled = normalise(&schema, &self.text, self.is_lenient)?;
        let respelled = self.respelled.get_or_init(|| Box::new(respelled));
        let filled = fill_trusted(&respelled.text, schema.properties(), slots);
        filled.map_err(|unread| {
            let violations = match unread {
                Some(DecodeFailure {
                    property,
                    problem,
                    at,
                }) => {
                    let value = respelled.text.get(at.start..).unwrap_or_default();
                    let inner = path_at(value, at.len());
                    let path = format!("{}{inner}", property.name());
                    // The schema is that of the parameter, not of what stands inside of it.
                    let refused = match inner.is_empty() {
                        true => refused(&problem.to_string(), Some(property.schema)),
                        false => refused(&problem.to_string(), None),
                    };
                    Violations::one(path, &refused)
                }
                None => Violations::one(String::new(), "could not be read"),
            };
            ValidateError::Mistakes(violations).into()
        })
    }
}
