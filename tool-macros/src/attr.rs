//! Attributes and signatures as written.

mod block;
mod function;
mod keys;
mod parameter;

pub(crate) use block::{Block, Member};
pub(crate) use function::Function;
pub(crate) use keys::Keys;
pub(crate) use parameter::{ParameterKind, is_conditional};
