//! Attributes and signatures as written.

mod function;
mod keys;
mod parameter;

pub(crate) use function::Function;
pub(crate) use keys::Keys;
pub(crate) use parameter::{ParameterKind, hides};
