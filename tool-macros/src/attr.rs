//! Attributes and signatures as written.

mod function;
mod keys;

pub(crate) use function::{Function, ParameterKind, hides};
pub(crate) use keys::Keys;
